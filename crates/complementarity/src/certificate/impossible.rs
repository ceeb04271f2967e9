//! Proofs that a friction problem has no solution.
//!
//! Weights `y >= 0` of the normal velocities `s_n = A_n lambda + b_n` with `y' A_n lambda <= 0` for all forces within friction cones, that is, with `u = A_n' y`
//! and the friction set's support function `sigma`, `u_n + mu sigma(u_t) <= 0` at each contact, and with `y' b_n < 0`: whatever the forces, the weighted
//! normal velocities are negative, and some contact closes. (Farkas' lemma for the cone.) They are sought by a linear program in which friction is a
//! box, and checked without it.

use crate::islands::Islands;
use crate::linear_program::{Feasibility, Program, System};
use crate::matrix::{Matrix, norm};
use crate::operator::Operator;
use crate::problem::FrictionProblem;
use crate::solver::Budget;
use crate::units::padded_rows;
use serde::Serialize;

/// Contacts of an island up to which it is tried.
const MOST: usize = 100;
/// Contacts with weights below this share of the largest are not named in words.
const SMALL: f64 = 1e-2;
/// Coefficients that are positive by more than so many times the rounding in them are real: then there is no proof.
const DOUBTS: f64 = 1e3;
/// A proof must hold for forces so many times as large as those that stop each contact alone.
const FAR: f64 = 1e4;

/// No forces within friction keep all of these contacts from closing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Impossible {
    /// Contacts with a weight, from 0.
    pub contacts: Vec<usize>,
    /// Their weights `y`, of sum 1; contacts with small ones have little part in it.
    pub weights: Vec<f64>,
    /// `y' b_n`: mean normal velocity, which no forces can raise.
    pub speed: f64,
    /// The proof holds for normal forces of at most this sum: `A` is known to rounding only, and may give way under forces beyond. `None`: for all.
    pub radius: Option<f64>,
}

impl Impossible {
    /// In words, with names for contacts.
    pub fn words(&self, name: impl Fn(usize) -> String) -> String {
        let largest = self.weights.iter().fold(0.0f64, |m, y| m.max(*y));
        let part = |(_, y): &(&usize, &f64)| **y > SMALL * largest;
        let main: Vec<usize> =
            self.contacts.iter().zip(&self.weights).filter(part).map(|(c, _)| *c).collect();
        let mut names: Vec<String> = main.iter().take(4).map(|&c| name(c)).collect();
        if let more @ 1.. = main.len().saturating_sub(names.len()) {
            names.push(format!("... ({more} more)"));
        }
        let (names, speed) = (names.join(", "), -self.speed);
        let within = match self.radius {
            Some(radius) => format!("there is no solution with normal forces up to {radius:.0e} in the sum"),
            None => "there is no solution, whatever the forces".to_owned(),
        };
        format!("{within}: contacts close at {speed:.1e} in the mean ({names})")
    }
}

/// `None` if no proof was found.
pub(super) fn impossible(problem: &FrictionProblem, budget: &mut Budget) -> Option<Impossible> {
    if problem.slides() {
        return None;
    }
    let blocks = super::blocks_of(problem);
    let mut islands = Islands::default();
    islands.find(&blocks, problem.offsets());
    (0..islands.count())
        .map(|k| islands.island(k))
        .filter(|contacts| contacts.len() <= MOST)
        .find_map(|contacts| of_island(problem, &blocks, contacts, budget))
}

fn of_island(
    problem: &FrictionProblem,
    blocks: &Operator,
    contacts: &[usize],
    budget: &mut Budget,
) -> Option<Impossible> {
    let Operator::Blocks(matrix) = blocks else { return None };
    if contacts.iter().any(|&c| !problem.elements()[c].law().is_contact()) {
        return None;
    }
    // elements with fewer rows have columns of zeros
    let (rows, n) = (padded_rows(problem.elements(), contacts), contacts.len());
    let b: Vec<f64> = contacts.iter().map(|&c| problem.vector()[problem.offsets()[c]]).collect();
    // normal rows of A
    let mut a = Matrix::zeros(n, rows * n);
    for (i, &c) in contacts.iter().enumerate() {
        for (k, block) in matrix.blocks_of(c) {
            let (j, width) = (contacts.binary_search(&k).ok()?, problem.rows_of(k).len());
            a.row_mut(i)[rows * j..][..width].copy_from_slice(&block[..width]);
        }
    }
    let unit = |c: usize| {
        let trace: f64 = matrix.diagonal(c).iter().step_by(problem.rows_of(c).len() + 1).sum();
        if trace > 0.0 { 1.0 / trace.sqrt() } else { 1.0 }
    };
    let units: Vec<f64> = contacts.iter().map(|&c| unit(c)).collect();
    let mu: Vec<f64> = contacts.iter().map(|&c| problem.elements()[c].mu()).collect();
    let y = weights(&a, &b, &mu, &units, rows, budget)?;
    check(problem, &a, &b, &mu, &units, (contacts, &y))
}

/// Weights from a linear program: `lambda_n >= 0`, `lambda_t = w - mu lambda_n` with `0 <= w <= 2 mu lambda_n`, `s_n >= 0`.
fn weights(
    a: &Matrix,
    b: &[f64],
    mu: &[f64],
    units: &[f64],
    rows: usize,
    budget: &mut Budget,
) -> Option<Vec<f64>> {
    let n = b.len();
    let scaled: Vec<f64> = b.iter().zip(units).map(|(b, d)| b * d).collect();
    let size = norm(&scaled);
    if size == 0.0 {
        return None;
    }
    let mut q = vec![0.0; rows * n];
    q.iter_mut().zip(&scaled).for_each(|(q, b)| *q = b / size);
    let m = Matrix::from_fn(rows * n, rows * n, |i, j| {
        let (c, k) = (j / rows, j % rows);
        if i < n {
            let entry = |k: usize| units[i] * a[(i, rows * c + k)] * units[c];
            let friction: f64 = if k == 0 { (1..rows).map(entry).sum() } else { 0.0 };
            return entry(k) - mu[c] * friction;
        }
        // 2 mu lambda_n - w
        let (own, along) = ((i - n) / (rows - 1), (i - n) % (rows - 1) + 1);
        match (own == c, k) {
            (true, 0) => 2.0 * mu[c],
            (true, k) if k == along => -1.0,
            _ => 0.0,
        }
    });
    let system = System { m, q };
    let mut program = Program::default();
    program.start(&system);
    let Feasibility::Infeasible { row } = program.dual(&system, budget) else { return None };
    let y = program.certificate(&system, row, budget);
    // back from units
    let y: Vec<f64> = y[..n].iter().zip(units).map(|(y, d)| y.max(0.0) * d).collect();
    let total: f64 = y.iter().sum();
    (total > 0.0 && total.is_finite()).then(|| y.iter().map(|y| y / total).collect())
}

/// Whether the weights prove it, rounding included.
fn check(
    problem: &FrictionProblem,
    a: &Matrix,
    b: &[f64],
    mu: &[f64],
    units: &[f64],
    (contacts, y): (&[usize], &[f64]),
) -> Option<Impossible> {
    let (rows, n) = (a.columns() / b.len(), b.len());
    let rounding = (n + 2) as f64 * f64::EPSILON;
    // sum and the rounding in it
    let sum = |of: &dyn Fn(usize) -> f64| -> (f64, f64) {
        let size: f64 = (0..n).map(|i| of(i).abs()).sum();
        ((0..n).map(of).sum(), rounding * size)
    };
    let (speed, doubt) = sum(&|i| y[i] * b[i]);
    if speed + doubt >= 0.0 {
        return None;
    }
    let mut excess = 0.0f64;
    for c in 0..n {
        let u: Vec<(f64, f64)> = (0..rows).map(|k| sum(&|i| y[i] * a[(i, rows * c + k)])).collect();
        // sets are symmetric: sigma(-u) = sigma(u)
        let sigma = problem.elements()[contacts[c]].law().lift(&u.iter().map(|u| u.0).collect::<Vec<_>>());
        // a square reaches out to sqrt 2
        let doubt = u[0].1 + 2.0 * mu[c] * u[1..].iter().map(|u| u.1).sum::<f64>();
        let rise = u[0].0 + mu[c] * sigma;
        if rise > DOUBTS * doubt {
            return None;
        }
        excess = excess.max(rise + doubt);
    }
    // y' s_n <= speed + excess sum(lambda_n)
    let radius = if excess > 0.0 { (-speed - doubt) / excess } else { f64::INFINITY };
    let alone: f64 = b.iter().zip(units).map(|(b, d)| d * d * b.abs()).sum();
    if radius.is_nan() || radius < FAR * alone {
        return None;
    }
    let weighted: Vec<usize> = (0..n).filter(|&i| y[i] > 0.0).collect();
    Some(Impossible {
        contacts: weighted.iter().map(|&i| contacts[i]).collect(),
        weights: weighted.iter().map(|&i| y[i]).collect(),
        speed,
        radius: radius.is_finite().then_some(radius),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::dot;
    use crate::problem::Friction;

    /// A point of mass 1 in the plane, between walls with normals at these angles; `b_n`: the velocities at which they come.
    fn point(angles: &[f64], closing: &[f64], mu: f64) -> FrictionProblem {
        let mut j = Matrix::zeros(2 * angles.len(), 2);
        for (c, angle) in angles.iter().enumerate() {
            let (sin, cos) = angle.to_radians().sin_cos();
            j.row_mut(2 * c).copy_from_slice(&[cos, sin]);
            j.row_mut(2 * c + 1).copy_from_slice(&[-sin, cos]);
        }
        let n = j.rows();
        let a = Matrix::from_fn(n, n, |r, c| dot(j.row(r), j.row(c)));
        let b = closing.iter().flat_map(|s| [-s, 0.0]).collect();
        FrictionProblem::new(a, b, vec![mu; angles.len()], 2, Friction::Cone).unwrap()
    }

    #[test]
    fn walls_that_close_from_all_sides_leave_no_solution() {
        for mu in [0.0, 0.3, 2.0] {
            let found = impossible(&point(&[0.0, 180.0], &[0.1, 0.1], mu), &mut Budget::default()).unwrap();
            assert_eq!(found.contacts, [0, 1]);
            assert!((found.speed + 0.1).abs() < 1e-12, "{found:?}");
            let found =
                impossible(&point(&[90.0, 210.0, 330.0], &[0.3, -0.1, 0.1], mu), &mut Budget::default())
                    .unwrap();
            assert_eq!(found.contacts, [0, 1, 2]);
            assert!((found.speed + 0.1).abs() < 1e-9, "{found:?}");
            assert!(found.weights.iter().all(|y| (y - 1.0 / 3.0).abs() < 1e-9));
        }
    }

    /// Walls that are not quite opposite squeeze the point out, with forces that grow as the inverse square of the angle.
    #[test]
    fn solutions_with_huge_forces_are_not_denied() {
        for angle in [1e-4f64, 1e-5, 1e-6, 1e-7] {
            let p = point(&[0.0, 180.0 - angle.to_degrees()], &[0.1, 0.1], 0.0);
            if let Some(found) = impossible(&p, &mut Budget::default()) {
                assert!(found.radius.unwrap() < 0.41 / (angle * angle), "{angle} {found:?}");
                assert!(found.words(|c| c.to_string()).contains("up to"));
            }
        }
        // two contacts whose rows differ by 2^-36, and one that is far stiffer sideways
        let near = 1.0 - 0.5f64.powi(36);
        let a = Matrix::from_fn(4, 4, |i, j| match (i, j) {
            (0, 2) | (2, 0) => -near,
            _ => f64::from(u8::from(i == j)),
        });
        let p = FrictionProblem::new(a, vec![-1.0, 0.0, -1.0, 0.0], vec![0.5; 2], 2, Friction::Cone);
        assert_eq!(impossible(&p.unwrap(), &mut Budget::default()), None);
        let a = Matrix::from_fn(3, 3, |i, j| if i != j { 0.0 } else { [1e-6, 1e6, 1e6][i] });
        let p = FrictionProblem::new(a, vec![-1.0, 0.0, 0.0], vec![0.5], 3, Friction::Cone);
        assert_eq!(impossible(&p.unwrap(), &mut Budget::default()), None);
    }

    #[test]
    fn nothing_is_claimed_where_the_point_can_give_way() {
        for mu in [0.0, 0.3, 2.0] {
            assert_eq!(impossible(&point(&[0.0, 180.0], &[0.1, -0.1], mu), &mut Budget::default()), None);
            assert_eq!(impossible(&point(&[0.0, 170.0], &[0.1, 0.1], mu), &mut Budget::default()), None);
            assert_eq!(
                impossible(&point(&[90.0, 210.0, 330.0], &[0.3, -0.1, -0.3], mu), &mut Budget::default()),
                None
            );
        }
    }
}
