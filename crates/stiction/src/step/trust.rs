//! How far the result of a step can be trusted: whether its forces and its motion are the only ones.

use crate::formulation::ContactProblem;
use crate::model::Model;
use crate::state::State;
use complementarity::certificate::{Certificate, Settings};
use serde::{Deserialize, Serialize};

/// What is known of a step's solution beside its residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The step was not examined: that costs too much to be done in every step.
    #[default]
    NotExamined,
    /// Proved to be the only solution; also where nothing is near.
    Unique,
    /// There is no other solution nearby.
    LocallyUnique,
    /// The motion is locally unique, the forces are not: some contacts are redundant.
    ForcesNotUnique,
    /// Neither is shown to be unique, nearby: forces may change in a way that changes the motion.
    MotionNotUnique,
    /// With the slip that a contact had when the step began, no accelerations and finite forces satisfy the rigid laws (Painleve): it was
    /// stopped by an impact without a collision.
    NoRigidSolution,
}

impl Trust {
    /// All of them, from good to bad; those not examined first.
    pub const ALL: [Self; 6] = [
        Self::NotExamined,
        Self::Unique,
        Self::LocallyUnique,
        Self::ForcesNotUnique,
        Self::MotionNotUnique,
        Self::NoRigidSolution,
    ];

    /// As it is written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotExamined => "not-examined",
            Self::Unique => "unique",
            Self::LocallyUnique => "locally-unique",
            Self::ForcesNotUnique => "forces-not-unique",
            Self::MotionNotUnique => "motion-not-unique",
            Self::NoRigidSolution => "no-rigid-solution",
        }
    }

    fn of(known: &Certificate) -> Self {
        if known.uniqueness.is_some_and(|bound| bound.holds) {
            return Self::Unique;
        }
        match &known.forces {
            None => Self::NotExamined,
            Some(forces) if forces.isolated => Self::LocallyUnique,
            Some(forces) => match forces.motion_isolated {
                // an edge may hold forces that can grow one way only
                Some(true) if forces.dimension_at_most == 0 => Self::LocallyUnique,
                Some(true) => Self::ForcesNotUnique,
                Some(false) => Self::MotionNotUnique,
                None => Self::NotExamined,
            },
        }
    }
}

/// Rows up to which a problem is examined: the cost grows with their third power.
const MOST_ROWS: usize = 450;

/// Every how many steps a problem of so many rows is examined, so that examinations take at most about a twentieth of a run's time. Measured, in us: an
/// examination of 3, 12, 20, 48, 120 rows takes 9, 39, 90, 943, 3084, the cheapest step with 12 and 120 rows 2.6 and 37.
fn stride(rows: usize) -> u64 {
    let n = rows as f64;
    let (examination, step) = (10.0 + 0.3 * n * n + 0.001 * n * n * n, 0.2 * n);
    (examination / (0.05 * step)).ceil() as u64
}

/// What is known of a step without an examination: nothing is near, or bodies stay at rest that were examined (`kept`).
pub(super) fn known(rows: usize, before: Trust, kept: bool) -> Trust {
    match rows {
        0 => Trust::Unique,
        _ if kept => before,
        _ => Trust::NotExamined,
    }
}

/// Whether a step that ended at `state` is one of those that are examined. Steps are sampled by their number, so that runs repeat.
pub(super) fn is_due(model: &Model, problem: &ContactProblem, state: &State) -> bool {
    let (rows, number) = (problem.b.len(), (state.time / model.scene().step.h).round() as u64);
    rows > 0 && rows <= MOST_ROWS && number.is_multiple_of(stride(rows))
}

/// Examines the solution of a contact problem. Allocates memory.
pub(super) fn examine(problem: &ContactProblem, lambda: &[f64]) -> Trust {
    let settings = Settings { most_basis: 0, ..Settings::default() };
    problem.certificate(lambda, &settings).map_or(Trust::NotExamined, |known| Trust::of(&known))
}
