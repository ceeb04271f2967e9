//! How far the result of a step can be trusted: whether its forces and its motion are the only ones.

use super::StepReport;
use crate::formulation::ContactProblem;
use crate::state::SolverMemory;
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

/// One examination is made for every so many times the work it takes: examinations take at most about a twentieth of a run's time.
const SHARE: u64 = 20;

/// Estimated time of an examination, ns. Measured: with 3, 12, 20, 48, 120 rows 9, 39, 90, 943, 3084 us.
fn cost(rows: usize) -> u64 {
    let n = rows as u64;
    10_000 + 300 * n * n + n * n * n
}

/// Estimated time of a step, ns, rather too short. Measured: at rest with 12 and 120 rows 2.6 and 37 us.
fn time(rows: usize, report: &StepReport) -> u64 {
    let (n, iterations) = (rows as u64, (report.iterations + report.wasted) as u64);
    300 + n * (200 + 30 * iterations)
}

/// What is known of a step without an examination: nothing is near, or bodies stay at rest that were examined (`kept`).
pub(super) fn known(rows: usize, before: Trust, kept: bool) -> Trust {
    match rows {
        0 => Trust::Unique,
        _ if kept => before,
        _ => Trust::NotExamined,
    }
}

/// Whether a step is one of those that are examined: the first with contacts, and then one whenever the steps since have taken a multiple of the work of the
/// last examination. Work is estimated, not measured, so that runs repeat.
pub(super) fn is_due(problem: &ContactProblem, memory: &mut SolverMemory, report: &StepReport) -> bool {
    let rows = problem.b.len();
    memory.until_examined = memory.until_examined.saturating_sub(time(rows, report));
    let due =
        memory.until_examined == 0 && report.trust == Trust::NotExamined && (1..=MOST_ROWS).contains(&rows);
    if due {
        memory.until_examined = SHARE * cost(rows);
    }
    due
}

/// Examines the solution of a contact problem: what is known of it, and the elements of islands whose motion is not unique. Allocates memory.
pub(super) fn examine(problem: &ContactProblem, lambda: &[f64]) -> (Trust, Vec<usize>) {
    let settings = Settings { most_basis: 0, ..Settings::default() };
    let Some(known) = problem.certificate(lambda, &settings) else { return (Trust::NotExamined, vec![]) };
    let trust = Trust::of(&known);
    let open = known.forces.filter(|_| trust == Trust::MotionNotUnique).map(|forces| forces.other_motion);
    (trust, open.unwrap_or_default())
}
