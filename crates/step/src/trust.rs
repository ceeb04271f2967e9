//! How far the result of a step can be trusted: whether its forces and its motion are the only ones.

use super::StepReport;
use crate::formulation::ContactProblem;
use crate::state::{SolverMemory, Trust};
use complementarity::certificate::{Certificate, Settings};

/// What a certificate of a step's problem says of its solution.
fn trust_of(known: &Certificate) -> Trust {
    if known.uniqueness.is_some_and(|bound| bound.holds) {
        return Trust::Unique;
    }
    match &known.forces {
        None => Trust::NotExamined,
        Some(forces) if forces.isolated => Trust::LocallyUnique,
        Some(forces) => match forces.motion_isolated {
            // an edge may hold forces that can grow one way only
            Some(true) if forces.dimension_at_most == 0 => Trust::LocallyUnique,
            Some(true) => Trust::ForcesNotUnique,
            Some(false) => Trust::MotionNotUnique,
            None => Trust::NotExamined,
        },
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
pub(crate) fn known(rows: usize, before: Trust, kept: bool) -> Trust {
    match rows {
        0 => Trust::Unique,
        _ if kept => before,
        _ => Trust::NotExamined,
    }
}

/// Whether a step is one of those that are examined: the first with contacts, and then one whenever the steps since have taken a multiple of the work of the
/// last examination. Work is estimated, not measured, so that runs repeat.
pub fn is_due(problem: &ContactProblem, memory: &mut SolverMemory, report: &StepReport) -> bool {
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
pub fn examine(problem: &ContactProblem, lambda: &[f64]) -> (Trust, Vec<usize>) {
    let settings = Settings { most_basis: 0, ..Settings::default() };
    let Some(known) = problem.certificate(lambda, &settings) else { return (Trust::NotExamined, vec![]) };
    let trust = trust_of(&known);
    let open = known.forces.filter(|_| trust == Trust::MotionNotUnique).map(|forces| forces.other_motion);
    (trust, open.unwrap_or_default())
}
