//! The problem with Coulomb's cone, trinkle1995 (24), (27)-(29): rolling contacts through the solvers of a simulation,
//! others by Newton steps on Alart and Curnier's equations (1991), from given starts.
//!
//! ```text
//! normal     c_n = max(0, c_n - rho a_n)
//! friction   c_t = P(c_t - rho a_t),   P the projection on the disc of radius mu (c_n - rho a_n)
//! ```
//!
//! in units in which an ellipsoid of friction forces and moments is a ball. There is no proof that a cone problem has no
//! solution: where no start leads to one, the result is `stalled`.

use super::{Friction, Outcome, Settings, Solution, as_contacts, auto};
use crate::factor::Lu;
use crate::matrix::{Matrix, norm};
use crate::problem::{Group, InstantProblem};
use crate::report::Status;
use crate::residual::Residual;

/// Newton steps from one start.
const STEPS: usize = 80;
/// Halvings of a step.
const HALVINGS: usize = 12;
/// Solutions whose forces differ by less than this share are one.
const SAME: f64 = 1e-7;

/// Solves the problem with cones from the given starts (forces and displacements). With `all` every start is followed;
/// the list of solutions is never said to be complete.
pub fn solve_cone(problem: &InstantProblem, settings: &Settings, starts: &[(Vec<f64>, Vec<f64>)]) -> Outcome {
    let mut found = as_contacts(problem, Friction::Cone).and_then(|p| auto(&p, settings));
    if let Some(outcome) = &mut found {
        for solution in &mut outcome.solutions {
            solution.residual = cone_residual(problem, &solution.forces, &[]);
        }
        outcome.solutions.retain(|s| s.residual.relative <= settings.tolerance);
        if outcome.solutions.is_empty() {
            found = None;
        }
    }
    let mut outcome = match found {
        Some(outcome) if !settings.all => return outcome,
        Some(outcome) => outcome,
        None => Outcome::unsolved(Status::Stalled, "newton", String::new()),
    };
    let mut newton = Newton::new(problem);
    for (forces, displacements) in starts {
        if settings.budget.ended().is_some() {
            break;
        }
        let Some((forces, displacements)) = newton.run(forces, displacements) else { continue };
        outcome.iterations += newton.steps;
        let residual = cone_residual(problem, &forces, &displacements);
        if residual.relative > settings.tolerance {
            continue;
        }
        let size = norm(&forces).max(f64::MIN_POSITIVE);
        let near = |s: &Solution| {
            let apart: Vec<f64> = s.forces.iter().zip(&forces).map(|(x, y)| x - y).collect();
            norm(&apart) <= SAME * size
        };
        if !outcome.solutions.iter().any(near) {
            outcome.solutions.push(Solution {
                forces,
                displacements,
                residual,
                dimension: 0,
                motion_dimension: 0,
                unbounded: false,
                ranges: vec![],
            });
        }
        if !settings.all {
            break;
        }
    }
    (outcome.status, outcome.reason) = match outcome.solutions.len() {
        0 => (Status::Stalled, Some("no start led to a solution of the cone problem".to_owned())),
        1 => (Status::Solved, None),
        _ => (Status::Several, None),
    };
    outcome
}

/// Residual of forces and displacements under Coulomb's cone: the equations above, in the units of forces, over the larger of
/// the forces and of the loads `rho b`.
pub fn cone_residual(problem: &InstantProblem, forces: &[f64], displacements: &[f64]) -> Residual {
    let newton = Newton::new(problem);
    let (x, u) = (newton.pick(forces), displacements);
    let y: Vec<f64> = x.iter().chain(u).copied().collect();
    if y.len() != newton.size() {
        return Residual::NONE;
    }
    let (f, _) = newton.equations(&y, false);
    // friction of sliding contacts must be what their normal force makes it
    let off: Vec<f64> = newton.expand(&x).iter().zip(forces).map(|(a, b)| a - b).collect();
    let absolute = norm(&f).hypot(norm(&off));
    let load: Vec<f64> =
        newton.rows.iter().zip(&newton.rho).map(|(r, rho)| rho * problem.vector()[*r]).collect();
    let outside = problem.border().map_or(0.0, |border| norm(&border.load));
    let size = norm(forces).max(norm(&load)).max(outside);
    let relative = if size > 0.0 { absolute / size } else { absolute };
    if relative.is_nan() { Residual::NONE } else { Residual::plain(absolute, relative, relative) }
}

/// Newton's method on the reduced unknowns `x` (without the friction of sliding contacts) and displacements.
struct Newton<'a> {
    problem: &'a InstantProblem,
    offsets: Vec<usize>,
    rows: Vec<usize>,
    expand: Matrix,
    /// `A` over the reduced rows and unknowns, displacements included.
    a: Matrix,
    rho: Vec<f64>,
    steps: usize,
}

impl<'a> Newton<'a> {
    fn new(problem: &'a InstantProblem) -> Self {
        let reduced = problem.reduced();
        let (n, free) = (reduced.rows.len(), problem.border().map_or(0, |border| border.load.len()));
        let mut a = Matrix::zeros(n, n + free);
        for (i, &row) in reduced.rows.iter().enumerate() {
            let own = reduced.expand.transpose_times(problem.matrix().row(row));
            a.row_mut(i)[..n].copy_from_slice(&own);
            if let Some(border) = problem.border() {
                a.row_mut(i)[n..].copy_from_slice(border.jacobian.row(row));
            }
        }
        let mean = (0..n).map(|i| problem.matrix()[(reduced.rows[i], reduced.rows[i])]).sum::<f64>()
            / n.max(1) as f64;
        let rho = (0..n)
            .map(|i| match problem.matrix()[(reduced.rows[i], reduced.rows[i])] {
                own if own > 1e-12 * mean => 1.0 / own,
                _ if mean > 0.0 => 1.0 / mean,
                _ => 1.0,
            })
            .collect();
        Self {
            problem,
            offsets: reduced.offsets,
            rows: reduced.rows,
            expand: reduced.expand,
            a,
            rho,
            steps: 0,
        }
    }

    fn size(&self) -> usize {
        self.a.columns()
    }

    fn pick(&self, forces: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| forces.get(*row).copied().unwrap_or(0.0)).collect()
    }

    fn expand(&self, x: &[f64]) -> Vec<f64> {
        self.expand.times(x)
    }

    /// Values of the equations, in forces, and their derivatives if they are asked for.
    fn equations(&self, y: &[f64], derive: bool) -> (Vec<f64>, Matrix) {
        let (n, size) = (self.rows.len(), self.size());
        let a: Vec<f64> = (0..n)
            .map(|i| crate::matrix::dot(self.a.row(i), y) + self.problem.vector()[self.rows[i]])
            .collect();
        let mut f = vec![0.0; size];
        let mut jacobian = if derive { Matrix::zeros(size, size) } else { Matrix::default() };
        // rows of `factor a_k + shift e_k`, for the derivative
        let set = |jacobian: &mut Matrix, i: usize, terms: &[(usize, f64, f64)]| {
            if derive {
                for &(k, by_a, by_c) in terms {
                    for (x, w) in jacobian.row_mut(i).iter_mut().zip(self.a.row(k)) {
                        *x += by_a * w;
                    }
                    jacobian[(i, k)] += by_c;
                }
            }
        };
        for (g, group) in self.problem.groups().iter().enumerate() {
            let i = self.offsets[g];
            let rho = self.rho[i];
            let pushed = y[i] - rho * a[i];
            match group {
                Group::Bilateral => {
                    f[i] = rho * a[i];
                    set(&mut jacobian, i, &[(i, rho, 0.0)]);
                    continue;
                }
                Group::Bounded { limit } if pushed.abs() > *limit => {
                    f[i] = y[i] - limit.copysign(pushed);
                    set(&mut jacobian, i, &[(i, 0.0, 1.0)]);
                    continue;
                }
                Group::Bounded { .. } => {
                    f[i] = rho * a[i];
                    set(&mut jacobian, i, &[(i, rho, 0.0)]);
                    continue;
                }
                _ if pushed > 0.0 => {
                    f[i] = rho * a[i];
                    set(&mut jacobian, i, &[(i, rho, 0.0)]);
                }
                _ => {
                    f[i] = y[i];
                    set(&mut jacobian, i, &[(i, 0.0, 1.0)]);
                }
            }
            let Group::Rolling { mu, axes } = group else { continue };
            // friction in units of the ball: c / e, a e; one rho for all directions
            let first = i + 1;
            let of = |k: usize| self.rho[first + k] / (axes[k] * axes[k]);
            let open: Vec<usize> = (0..axes.len()).filter(|k| axes[*k] > 0.0 && *mu > 0.0).collect();
            for k in (0..axes.len()).filter(|k| !open.contains(k)) {
                f[first + k] = y[first + k];
                set(&mut jacobian, first + k, &[(first + k, 0.0, 1.0)]);
            }
            if open.is_empty() {
                continue;
            }
            let common = open.iter().map(|&k| of(k)).sum::<f64>() / open.len() as f64;
            let trial: Vec<f64> =
                open.iter().map(|&k| y[first + k] / axes[k] - common * axes[k] * a[first + k]).collect();
            let (length, radius) = (norm(&trial), mu * pushed.max(0.0));
            for (p, &k) in open.iter().enumerate() {
                let (row, e) = (first + k, axes[k]);
                if radius <= 0.0 {
                    f[row] = y[row];
                    set(&mut jacobian, row, &[(row, 0.0, 1.0)]);
                } else if length <= radius {
                    // in forces: e times the equation of the ball
                    f[row] = common * e * e * a[row];
                    set(&mut jacobian, row, &[(row, common * e * e, 0.0)]);
                } else {
                    let along: Vec<f64> = trial.iter().map(|x| x / length).collect();
                    f[row] = y[row] - e * radius * along[p];
                    let mut terms = vec![(row, 0.0, 1.0)];
                    // radius = mu (c_n - rho a_n)
                    terms.push((i, e * mu * along[p] * rho, -e * mu * along[p]));
                    for (s, &other) in open.iter().enumerate() {
                        let share = f64::from(p == s) - along[p] * along[s];
                        let by = e * radius * share / length;
                        let at = first + other;
                        terms.push((at, by * common * axes[other], -by / axes[other]));
                    }
                    set(&mut jacobian, row, &terms);
                }
            }
        }
        if let Some(border) = self.problem.border() {
            let forces = self.expand(&y[..n]);
            let pushed = border.jacobian.transpose_times(&forces);
            let held = border.stiffness.times(&y[n..]);
            for k in 0..border.load.len() {
                f[n + k] = held[k] - pushed[k] - border.load[k];
                if derive {
                    let column: Vec<f64> =
                        (0..self.problem.size()).map(|r| border.jacobian[(r, k)]).collect();
                    let by = self.expand.transpose_times(&column);
                    let row = jacobian.row_mut(n + k);
                    row[..n].iter_mut().zip(by).for_each(|(x, b)| *x -= b);
                    row[n..].iter_mut().zip(border.stiffness.row(k)).for_each(|(x, s)| *x += s);
                }
            }
        }
        (f, jacobian)
    }

    /// Newton's method with halved steps; `None` if numbers are no longer finite.
    fn run(&mut self, forces: &[f64], displacements: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = self.rows.len();
        let mut y = self.pick(forces);
        y.extend_from_slice(displacements);
        y.resize(self.size(), 0.0);
        let mut lu = Lu::default();
        let (mut value, mut jacobian) = self.equations(&y, true);
        self.steps = 0;
        let scale = norm(&y).max(1e-300);
        while self.steps < STEPS && norm(&value) > 1e-14 * scale.max(norm(&y)) {
            self.steps += 1;
            let largest = jacobian.data().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let mut step: Vec<f64> = value.iter().map(|x| -x).collect();
            // redundant contacts leave directions open: a small diagonal keeps to the nearest solution
            let solved = [0.0, 1e-12, 1e-9, 1e-6].into_iter().any(|share| {
                step = value.iter().map(|x| -x).collect();
                let entry =
                    |i: usize, j: usize| jacobian[(i, j)] + if i == j { share * largest } else { 0.0 };
                lu.factor(self.size(), entry).is_ok() && {
                    lu.solve(&mut step);
                    step.iter().all(|x| x.is_finite()) && norm(&step) < 1e8 * (scale + norm(&y))
                }
            });
            if !solved {
                break;
            }
            let (mut share, before) = (1.0, norm(&value));
            let mut best: Option<(f64, Vec<f64>)> = None;
            for _ in 0..HALVINGS {
                let trial: Vec<f64> = y.iter().zip(&step).map(|(y, d)| y + share * d).collect();
                let size = norm(&self.equations(&trial, false).0);
                if best.as_ref().is_none_or(|(least, _)| size < *least) {
                    best = Some((size, trial));
                }
                if size < (1.0 - 1e-4 * share) * before {
                    break;
                }
                share *= 0.5;
            }
            let (size, next) = best?;
            // a kink may need a step that does not descend
            if size >= before && self.steps > STEPS / 2 {
                break;
            }
            y = next;
            (value, jacobian) = self.equations(&y, true);
        }
        let forces = self.expand(&y[..n]);
        y.iter().all(|x| x.is_finite()).then(|| (forces, y[n..].to_vec()))
    }
}
