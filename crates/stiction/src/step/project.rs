//! Projection of positions on the rigid loops, gears and drives to positions.
//!
//! The contact problem holds these rows to first order in h. After the drift the rest, of the order of
//! `(h v)^2`, is closed by further impulses of the same rows, taken where the step began:
//!
//! ```text
//! v' := v' + M^-1 J' p      h J M^-1 J' p = -g(q+)      until |g(q+)| is rounding
//! ```
//!
//! (SHAKE: Ryckaert, Ciccotti and Berendsen 1977). Velocities keep pace with positions, so that a loop in motion
//! neither gains nor loses energy by it: the contact problem takes the velocity out of the chord of the path, and
//! the projection gives it back. Redundant rows are left out by pivots. The work of both is booked.

use super::{Failed, Motion};
use crate::dynamics::{Kinematics, MassMatrix};
use crate::formulation::ContactProblem;
use crate::model::{Model, StandingKind};
use crate::state::State;
use complementarity::problem::Element;

/// Rows are closed when they are open by at most this, m or rad.
const CLOSED: f64 = 1e-12;
/// A step fails if a row stays open by more than this, m or rad.
pub(super) const OPEN: f64 = 1e-9;
/// Largest number of rounds.
const ROUNDS: usize = 20;
/// Pivots below this share of a row's own mobility are those of redundant rows.
const REDUNDANT: f64 = 1e-11;

/// Cholesky factor of a positive semidefinite matrix with pivots.
#[derive(Debug, Clone, Default)]
struct Gram {
    n: usize,
    /// Row by row, in the order of `order`.
    l: Vec<f64>,
    order: Vec<usize>,
    scale: Vec<f64>,
    rank: usize,
    x: Vec<f64>,
}

impl Gram {
    fn factor(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64) {
        self.n = n;
        self.scale.clear();
        self.scale.extend((0..n).map(|i| entry(i, i)).map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }));
        self.l.clear();
        for i in 0..n {
            self.l.extend((0..n).map(|j| entry(i, j) * self.scale[i] * self.scale[j]));
        }
        self.order.clear();
        self.order.extend(0..n);
        self.rank = 0;
        for k in 0..n {
            let largest =
                (k..n).max_by(|&a, &b| self.l[a * n + a].total_cmp(&self.l[b * n + b])).unwrap_or(k);
            let pivot = self.l[largest * n + largest];
            if pivot <= REDUNDANT || pivot.is_nan() {
                return;
            }
            self.order.swap(k, largest);
            for j in 0..n {
                self.l.swap(k * n + j, largest * n + j);
            }
            for i in 0..n {
                self.l.swap(i * n + k, i * n + largest);
            }
            let root = self.l[k * n + k].sqrt();
            for i in k..n {
                self.l[i * n + k] /= root;
            }
            for i in k + 1..n {
                for j in k + 1..n {
                    self.l[i * n + j] -= self.l[i * n + k] * self.l[j * n + k];
                }
            }
            // the part above the diagonal is still that of the matrix; it is not read again
            self.rank = k + 1;
        }
    }

    /// Solves in place; redundant rows get 0.
    fn solve(&mut self, g: &mut [f64]) {
        let (n, l) = (self.n, &self.l);
        self.x.clear();
        self.x.extend(self.order[..self.rank].iter().map(|&i| g[i] * self.scale[i]));
        for i in 0..self.rank {
            let above: f64 = (0..i).map(|j| l[i * n + j] * self.x[j]).sum();
            self.x[i] = (self.x[i] - above) / l[i * n + i];
        }
        for i in (0..self.rank).rev() {
            let below: f64 = (i + 1..self.rank).map(|j| l[j * n + i] * self.x[j]).sum();
            self.x[i] = (self.x[i] - below) / l[i * n + i];
        }
        g.fill(0.0);
        for (k, &i) in self.order[..self.rank].iter().enumerate() {
            g[i] = self.x[k] * self.scale[i];
        }
    }
}

/// Memory of the projection; after it, what it did.
#[derive(Debug, Clone, Default)]
pub struct Projection {
    /// Rows that are projected, as places in [`ContactProblem::standing`].
    pub(crate) rows: Vec<usize>,
    gram: Gram,
    gaps: Vec<f64>,
    /// Force that the projection adds to each row of the contact problem; empty if there is none.
    pub lambda: Vec<f64>,
    /// Velocity that it adds to each standing row.
    pub velocity: Vec<f64>,
    round: Vec<f64>,
    scratch: Vec<f64>,
    kicked: Vec<f64>,
    kinematics: Option<Kinematics>,
    /// Largest gap after the projection, m or rad.
    pub open: f64,
}

impl Projection {
    /// Chooses the rows; false if there are none.
    pub(super) fn begin(&mut self, model: &Model, problem: &ContactProblem, lambda: &[f64]) -> bool {
        self.rows.clear();
        self.lambda.clear();
        self.velocity.clear();
        self.open = 0.0;
        let contacts = problem.elements.len() - problem.standing.len();
        for (k, standing) in problem.standing.iter().enumerate() {
            let row = &model.standing()[standing.row];
            let loaded =
                row.element != Element::Unilateral || lambda[problem.rows_of(contacts + k).start] > 0.0;
            if loaded && row.is_projected(model.scene()) {
                self.rows.push(k);
            }
        }
        !self.rows.is_empty()
    }

    /// Projects: `go` drifts from a velocity `v'` to the configuration and velocity at the end. `after` is `v'` on
    /// entry, and the velocity at the end on return.
    pub(super) fn run(
        &mut self,
        model: &Model,
        (motion, problem): (&Motion, &ContactProblem),
        time: f64,
        (position, after): (&mut Vec<f64>, &mut Vec<f64>),
        go: &mut impl FnMut(&mut Vec<f64>, &mut Vec<f64>) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let (h, contacts) = (problem.h, problem.elements.len() - problem.standing.len());
        self.kicked.clone_from(after);
        self.lambda.resize(problem.b.len(), 0.0);
        self.velocity.resize(problem.standing.len(), 0.0);
        let mut kinematics = self.kinematics.take().unwrap_or_else(|| Kinematics::new(model.system()));
        let mut last = f64::INFINITY;
        for round in 0..=ROUNDS {
            go(position, after)?;
            kinematics.go_to(position, after);
            self.gaps.clear();
            self.gaps.extend(self.rows.iter().map(|&k| {
                let row = &model.standing()[problem.standing[k].row];
                row.gap(model.scene(), &kinematics, position, &motion.targets).unwrap_or(0.0)
            }));
            self.open = self.gaps.iter().fold(0.0f64, |m, g| m.max(g.abs()));
            let stuck = self.open >= 0.5 * last && self.open <= OPEN;
            if self.open <= CLOSED || stuck || round == ROUNDS || !self.open.is_finite() {
                break;
            }
            last = self.open;
            if round == 0 {
                self.factor(problem, contacts);
            }
            for (k, g) in self.rows.iter().zip(&self.gaps) {
                self.velocity[*k] -= g / h;
            }
            self.gram.solve(&mut self.gaps);
            self.round.clear();
            self.round.resize(problem.b.len(), 0.0);
            for (k, p) in self.rows.iter().zip(&self.gaps) {
                let row = problem.rows_of(contacts + k).start;
                self.round[row] = -p;
                self.lambda[row] -= p;
            }
            problem.push(motion.kick(), &self.round, &mut self.scratch, &mut self.kicked);
            after.clone_from(&self.kicked);
        }
        self.kinematics = Some(kinematics);
        if self.open <= OPEN {
            return Ok(());
        }
        let worst = (0..self.rows.len()).max_by(|&a, &b| self.gaps[a].abs().total_cmp(&self.gaps[b].abs()));
        let row = worst.map(|i| model.standing()[problem.standing[self.rows[i]].row].name(model.scene()));
        Err(Failed::Open { time, h, row: row.unwrap_or_default(), gap: self.open })
    }

    /// Velocity `v'` after the projection.
    pub(crate) fn kicked(&self) -> &Vec<f64> {
        &self.kicked
    }

    /// Factors `h^2 J M^-1 J'` of the rows.
    fn factor(&mut self, problem: &ContactProblem, contacts: usize) {
        let (a, h, rows) = (problem.factors(), problem.h, &self.rows);
        self.gram.factor(rows.len(), |i, j| {
            let mut sum = 0.0;
            for (s, w) in a.segments(contacts + rows[i]) {
                for (_, x) in a.segments(contacts + rows[j]).filter(|(t, _)| t.first == s.first) {
                    sum += w.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
                }
            }
            h * h * sum
        });
    }
}

/// Closes loops and gears at a state without motion: `q := q - M^-1 J' (J M^-1 J')^-1 g`, as often as needed.
pub(crate) fn close(model: &Model, state: &mut State) {
    let system = model.system();
    let rows: Vec<_> = model
        .standing()
        .iter()
        .filter(|row| row.is_projected(model.scene()) && !matches!(row.kind, StandingKind::Drive(_)))
        .collect();
    if rows.is_empty() {
        return;
    }
    let (mut kinematics, mut mass) = (Kinematics::new(system), MassMatrix::new(system));
    let (mut gram, mut last, mut next) = (Gram::default(), f64::INFINITY, state.position.clone());
    for _ in 0..ROUNDS {
        kinematics.update(&next, &state.velocity);
        let gap = |row: &&&crate::model::StandingRow| {
            row.gap(model.scene(), &kinematics, &next, &[]).unwrap_or(0.0)
        };
        let open: Vec<(f64, _)> = rows.iter().map(|row| (gap(&row), *row)).collect();
        // slack ropes are left alone
        let open: Vec<_> =
            open.into_iter().filter(|(g, row)| row.element != Element::Unilateral || *g < 0.0).collect();
        let worst = open.iter().fold(0.0f64, |m, (g, _)| m.max(g.abs()));
        if worst >= last || worst.is_nan() || mass.update(&kinematics).is_err() {
            return;
        }
        state.position.copy_from_slice(&next);
        if worst <= 1e-15 {
            return;
        }
        last = worst;
        let mut w: Vec<Vec<f64>> = vec![];
        for (_, row) in &open {
            let mut own = vec![0.0; system.velocity_size()];
            row.add_row(model.scene(), &kinematics, &mut own);
            for (t, dofs) in mass.trees() {
                mass.solve_root_transposed(t, &mut own[dofs]);
            }
            w.push(own);
        }
        gram.factor(open.len(), |i, j| w[i].iter().zip(&w[j]).map(|(a, b)| a * b).sum());
        let mut p: Vec<f64> = open.iter().map(|(g, _)| -g).collect();
        gram.solve(&mut p);
        let mut shift = vec![0.0; system.velocity_size()];
        for (p, w) in p.iter().zip(&w) {
            shift.iter_mut().zip(w).for_each(|(s, w)| *s += p * w);
        }
        for (t, dofs) in mass.trees() {
            mass.solve_root(t, &mut shift[dofs]);
        }
        let from = next.clone();
        system.advance(&from, &shift, 1.0, &mut next);
    }
}

#[cfg(test)]
mod tests {
    use super::Gram;

    /// A Gram matrix of three rows of which one is the sum of the others.
    #[test]
    fn redundant_rows_get_no_force_and_all_are_met() {
        let rows = [[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [1.0, 3.0, 3.0]];
        let entry = |i: usize, j: usize| (0..3).map(|k| rows[i][k] * rows[j][k]).sum::<f64>();
        let mut gram = Gram::default();
        gram.factor(3, entry);
        assert_eq!(gram.rank, 2);
        let given = [0.5, -1.0, -0.5];
        let mut p = given;
        gram.solve(&mut p);
        assert_eq!(p.iter().filter(|p| **p == 0.0).count(), 1);
        for i in 0..3 {
            let met: f64 = (0..3).map(|j| entry(i, j) * p[j]).sum();
            assert!((met - given[i]).abs() < 1e-12, "{i}: {met}");
        }
    }
}
