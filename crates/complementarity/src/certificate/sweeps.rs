//! What sweeps of Gauss and Seidel's method do where a problem was not solved: a symptom, no proof.

use crate::matrix::norm;
use crate::problem::FrictionProblem;
use crate::residual;
use crate::solver::Budget;
use crate::solver::gauss_seidel::{GaussSeidel, Settings};
use serde::Serialize;
use std::fmt;

/// Contacts up to which sweeps are tried.
const MOST: usize = 5000;
/// Sweeps from the forces at hand, and from none.
const FROM_HERE: usize = 100;
const FROM_ZERO: usize = 256;
/// Longest cycle that is looked for.
const LONGEST: usize = 8;
/// Forces come back if they miss themselves by less than this share of the change in a sweep.
const BACK: f64 = 1e-3;
/// Growth of forces in the last half of the sweeps (linear growth: 2); share of the residual that is left if sweeps make progress.
const GROWTH: f64 = 1.5;
const PROGRESS: f64 = 0.5;

/// What sweeps do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Sweeps {
    /// Forces repeat themselves, and the residual stays: contacts stick, slip or open in turn.
    Cycle {
        /// Number of sweeps after which the forces repeat.
        period: usize,
    },
    /// Forces grow, from none, without an end in sight: there is no solution, or sweeps are slow.
    Grow,
    /// The residual decreases, slowly.
    #[serde(rename = "get-on")]
    Progress,
    /// None of these.
    Stand,
}

impl fmt::Display for Sweeps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle { period } => write!(f, "forces cycle: sweeps bring them back after {period}"),
            Self::Grow => write!(f, "forces still grow after {FROM_ZERO} sweeps"),
            Self::Progress => f.write_str("sweeps still lower the residual, slowly"),
            Self::Stand => write!(f, "{FROM_HERE} sweeps do not halve the residual"),
        }
    }
}

/// `None` if a contact slides already, the problem is too large, or the budget ended the sweeps.
pub(super) fn tendency(problem: &FrictionProblem, lambda: &[f64], budget: &mut Budget) -> Option<Sweeps> {
    if problem.slides() || problem.elements().len() > MOST {
        return None;
    }
    let cone = problem.view();
    let one = Settings { tolerance: f64::MIN_POSITIVE, max_sweeps: 1, momentum: false };
    let mut solver = GaussSeidel::new(one);
    solver.bench.sweeper.budget.clone_from(budget);
    let mut forces = lambda.to_vec();
    // the last ones, the newest at the end
    let mut past: Vec<Vec<f64>> = vec![];
    for _ in 0..FROM_HERE {
        if past.len() > LONGEST {
            past.remove(0);
        }
        past.push(forces.clone());
        let _ = solver.solve(cone, &mut forces);
    }
    let left = residual::friction(problem, &forces).absolute;
    let here = residual::friction(problem, lambda).absolute;
    let change = |k: usize| {
        let then = &past[past.len() - k];
        norm(&forces.iter().zip(then).map(|(a, b)| a - b).collect::<Vec<_>>())
    };
    let last = change(1);
    if let Some(period) = (2..=LONGEST).find(|&k| change(k) < BACK * last && last > BACK * norm(&forces)) {
        return Some(Sweeps::Cycle { period });
    }
    forces.fill(0.0);
    let mut half = 0.0;
    for k in 0..FROM_ZERO {
        if k == FROM_ZERO / 2 {
            half = norm(&forces);
        }
        let _ = solver.solve(cone, &mut forces);
    }
    budget.clone_from(&solver.bench.sweeper.budget);
    if budget.ended().is_some() {
        return None;
    }
    Some(match norm(&forces) {
        grown if half > 0.0 && grown > GROWTH * half => Sweeps::Grow,
        _ if left < PROGRESS * here => Sweeps::Progress,
        _ => Sweeps::Stand,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use crate::problem::Friction;

    fn problem(a: Matrix, b: &[f64], mu: f64) -> FrictionProblem {
        FrictionProblem::new(a, b.to_vec(), vec![mu; b.len() / 2], 2, Friction::Cone).unwrap()
    }

    #[test]
    fn forces_between_two_walls_grow() {
        let a = Matrix::from_rows(&[
            &[1.0, 0.0, -1.0, 0.0],
            &[0.0, 1.0, 0.0, 1.0],
            &[-1.0, 0.0, 1.0, 0.0],
            &[0.0, 1.0, 0.0, 1.0],
        ]);
        let p = problem(a, &[-0.1, 0.0, -0.1, 0.0], 0.5);
        assert_eq!(tendency(&p, &[0.0; 4], &mut Budget::default()), Some(Sweeps::Grow));
    }

    /// Two contacts that feel each other more than themselves, with opposite signs: each sweep turns both over.
    #[test]
    fn contacts_that_turn_each_other_over_cycle() {
        let a = Matrix::from_rows(&[
            &[1.0, 0.0, 2.0, 0.0],
            &[0.0, 1.0, 0.0, 0.0],
            &[-2.0, 0.0, 1.0, 0.0],
            &[0.0, 0.0, 0.0, 1.0],
        ]);
        let p = problem(a, &[-1.0, 0.0, 0.5, 0.0], 0.0);
        assert_eq!(
            tendency(&p, &[0.1, 0.0, 0.2, 0.0], &mut Budget::default()),
            Some(Sweeps::Cycle { period: 2 })
        );
    }

    #[test]
    fn sweeps_that_converge_make_progress() {
        let a = Matrix::from_rows(&[
            &[1.0, 0.0, -0.98, 0.0],
            &[0.0, 1.0, 0.0, 0.0],
            &[-0.98, 0.0, 1.0, 0.0],
            &[0.0, 0.0, 0.0, 1.0],
        ]);
        let p = problem(a, &[-1.0, 0.0, -1.0, 0.0], 0.0);
        assert_eq!(tendency(&p, &[0.0; 4], &mut Budget::default()), Some(Sweeps::Progress));
    }
}
