//! Solvers of the contact problem at an instant: one solution of the pyramid problem, or all of them, or a proof
//! that there is none ([`solve_pyramid`]); solutions of the cone problem ([`solve_cone`]); and what the theorems
//! of trinkle1995 say of existence and uniqueness ([`conditions()`]).

mod conditions;
mod cone;
mod pieces;

pub use conditions::{Balancing, Conditions, Jam, balancing, conditions};
pub use cone::{cone_residual, solve_cone};

use super::{Budget, decide, portfolio};
use crate::problem::{
    Converted, Element, Friction, FrictionProblem, Group, InstantProblem, InvalidProblem, Lcp, MixedLcp,
};
use crate::report::{Certificate, Proof, Report, Status};
use crate::residual::{self, Residual};

/// Settings of [`solve_pyramid`] and [`solve_cone`].
#[derive(Debug, Clone)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Find all solutions instead of one.
    pub all: bool,
    /// Nodes after which the search for a decision ends undecided.
    pub max_nodes: usize,
    /// Work that may be done, and a flag that ends it.
    pub budget: Budget,
}

impl Default for Settings {
    fn default() -> Self {
        let max_nodes = decide::Settings::default().max_nodes;
        Self { tolerance: 1e-8, all: false, max_nodes, budget: Budget::default() }
    }
}

/// A solution, or a continuum of solutions with a point of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Forces, row by row.
    pub forces: Vec<f64>,
    /// Displacements, where the problem has them.
    pub displacements: Vec<f64>,
    /// Residual of the forces and displacements.
    pub residual: Residual,
    /// 0: an isolated solution; else the dimension of the continuum of forces.
    pub dimension: usize,
    /// Dimension of the continuum in accelerations and displacements: 0 if all its forces have the same effect.
    pub motion_dimension: usize,
    /// Whether forces grow without bound on the continuum.
    pub unbounded: bool,
    /// Least and largest force of the first row of each group; empty unless all solutions were requested.
    pub ranges: Vec<[f64; 2]>,
}

/// What is known of the solutions of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Solved, several, no-solution, undecided or stalled.
    pub status: Status,
    /// Method that produced the result.
    pub solver: &'static str,
    /// Its pivots, steps or nodes.
    pub iterations: usize,
    /// The solutions that were found.
    pub solutions: Vec<Solution>,
    /// Whether there are no others.
    pub complete: bool,
    /// Proof that there is no solution, verified by [`decide::verify`].
    pub proof: Option<Proof>,
    /// Why no decision was reached.
    pub reason: Option<String>,
}

impl Outcome {
    fn unsolved(status: Status, solver: &'static str, reason: String) -> Self {
        let (solutions, proof) = (vec![], None);
        Self { status, solver, iterations: 0, solutions, complete: false, proof, reason: Some(reason) }
    }
}

/// Solves the problem with friction pyramids (boxes, with a soft finger's moments), trinkle1995 (32)-(35).
pub fn solve_pyramid(problem: &InstantProblem, settings: &Settings) -> Result<Outcome, InvalidProblem> {
    if !settings.all
        && let Some(outcome) = as_contacts(problem, Friction::Pyramid).and_then(|p| auto(&p, settings))
    {
        return Ok(outcome);
    }
    let converted = problem.as_pyramid()?;
    if converted.problem.size() == 0 {
        return Ok(nothing_to_solve());
    }
    let portfolio = portfolio::Settings {
        tolerance: settings.tolerance,
        all: settings.all,
        max_nodes: settings.max_nodes,
        budget: settings.budget.clone(),
        ..Default::default()
    };
    let mixed = &converted.problem;
    let report = match plain(mixed) {
        Some(lcp) if !settings.all => portfolio::solve_lcp(&lcp, &portfolio, &mut |_| ()),
        _ => portfolio::solve_mixed(mixed, &portfolio, &mut |_| ()),
    };
    Ok(read(problem, &converted, report, settings))
}

/// No rows: no forces.
fn nothing_to_solve() -> Outcome {
    let (forces, displacements, ranges) = (vec![], vec![], vec![]);
    let (residual, dimension, motion_dimension, unbounded) = (Residual::ZERO, 0, 0, false);
    let solution =
        Solution { forces, displacements, residual, dimension, motion_dimension, unbounded, ranges };
    Outcome {
        status: Status::Solved,
        solver: "none",
        iterations: 0,
        solutions: vec![solution],
        complete: true,
        proof: None,
        reason: None,
    }
}

/// The LCP, if no variable is free.
fn plain(mixed: &MixedLcp) -> Option<Lcp> {
    let all = mixed.complementary().iter().all(|c| *c);
    all.then(|| Lcp::new(mixed.matrix().clone(), mixed.vector().to_vec()).ok())?
}

/// The problem as one of rolling contacts, if it is one that has such a form.
fn as_contacts(problem: &InstantProblem, friction: Friction) -> Option<FrictionProblem> {
    if problem.border().is_some() || problem.groups().is_empty() {
        return None;
    }
    let element = |group: &Group| match group {
        Group::Sliding { .. } => None,
        Group::Unilateral => Some(Element::Unilateral),
        Group::Bounded { limit } => Some(Element::Bounded { limit: *limit }),
        Group::Bilateral => Some(Element::Bilateral),
        Group::Rolling { mu, axes } => {
            let plain = axes.iter().all(|e| *e == 1.0) && axes.len() <= 2;
            match (plain, friction) {
                (true, _) => Some(Element::contact(1 + axes.len(), *mu, friction)),
                (false, Friction::Cone) => {
                    Some(Element::contact(1 + axes.len(), *mu, Friction::Ellipsoid).with_axes(axes))
                }
                _ => None,
            }
        }
    };
    let elements = problem.groups().iter().map(element).collect::<Option<Vec<_>>>()?;
    FrictionProblem::from_elements(problem.matrix().clone(), problem.vector().to_vec(), elements).ok()
}

/// One solution by the solvers of a simulation; `None` if they find none.
fn auto(problem: &FrictionProblem, settings: &Settings) -> Option<Outcome> {
    // forces are to be right to rounding, but a result within the caller's tolerance counts
    for tolerance in [FINE.min(settings.tolerance), settings.tolerance] {
        let portfolio =
            portfolio::Settings { tolerance, budget: settings.budget.clone(), ..Default::default() };
        let report = portfolio::solve_contacts(problem.view(), &portfolio);
        if report.status == Status::Solved {
            let solution = Solution {
                residual: residual::friction(problem, &report.solution),
                forces: report.solution,
                displacements: vec![],
                dimension: 0,
                motion_dimension: 0,
                unbounded: false,
                ranges: vec![],
            };
            return Some(Outcome {
                status: Status::Solved,
                solver: report.solver,
                iterations: report.iterations,
                solutions: vec![solution],
                complete: false,
                proof: None,
                reason: None,
            });
        }
    }
    None
}

/// Relative residual that is asked of a single solution first.
const FINE: f64 = 1e-12;

/// The result of the mixed LCP as one of the problem.
fn read(
    problem: &InstantProblem,
    converted: &Converted<MixedLcp>,
    report: Report,
    settings: &Settings,
) -> Outcome {
    let (solver, iterations) = (report.solver, report.iterations);
    let mut outcome = Outcome {
        status: report.status,
        solver,
        iterations,
        solutions: vec![],
        complete: false,
        proof: None,
        reason: None,
    };
    match report.certificate {
        Certificate::Solutions { pieces, complete } => {
            let mut budget = settings.budget.clone();
            outcome.solutions = pieces::in_forces(&pieces, problem, converted, &mut budget);
            outcome.complete = complete;
            let one = matches!(&outcome.solutions[..], [only] if only.dimension == 0);
            outcome.status = match (one, complete) {
                (true, true) => Status::Solved,
                (false, _) if !outcome.solutions.is_empty() => Status::Several,
                _ => Status::Undecided,
            };
            if !complete {
                let words = format!("the search for all solutions ended after {iterations} nodes");
                outcome.reason = Some(words);
            }
        }
        Certificate::NoSolution(proof) => outcome.proof = Some(proof),
        Certificate::Stopped { reason, .. } => outcome.reason = Some(reason),
        Certificate::Ray { starts, .. } => {
            outcome.reason = Some(format!("Lemke's method met a ray from each of {starts} starts"));
        }
        Certificate::Residual | Certificate::Basis { .. } => {}
    }
    if report.status == Status::Solved && outcome.solutions.is_empty() && !report.solution.is_empty() {
        outcome.solutions.push(Solution {
            forces: converted.forces(&report.solution),
            displacements: pieces::displacements(problem, &report.solution),
            residual: residual::mixed(&converted.problem, &report.solution),
            dimension: 0,
            motion_dimension: 0,
            unbounded: false,
            ranges: vec![],
        });
    }
    outcome
}
