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
use crate::dynamics::{Kinematics, PivotedCholesky};
use crate::formulation::ContactProblem;
use crate::model::Model;
use complementarity::problem::Element;

/// Rows are closed when they are open by at most this, m or rad.
const CLOSED: f64 = 1e-12;
/// A step fails if a row stays open by more than this, m or rad.
pub(super) const OPEN: f64 = 1e-9;
/// Largest number of rounds.
const ROUNDS: usize = 20;
/// Memory of the projection; after it, what it did.
#[derive(Debug, Clone, Default)]
pub struct Projection {
    /// Rows that are projected, as places in [`ContactProblem::standing`].
    pub rows: Vec<usize>,
    gram: PivotedCholesky,
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
    pub fn kicked(&self) -> &Vec<f64> {
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
