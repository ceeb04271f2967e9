//! `stiction solve`: solves a problem from a file and reports the result with its residual and certificate.

mod certificate;
mod json;
mod text;
mod unsolved;

use crate::args::{FrictionSet, Solve};
use crate::progress::Display;
use crate::{InputError, print, signals};
use complementarity::certificate::Certificate;
use complementarity::problem::{Friction, FrictionProblem};
use complementarity::report::{Report, Status};
use complementarity::residual::{self, Residual};
use complementarity::solver::Method;
use complementarity::solver::portfolio::{Settings, solve_boxed, solve_friction, solve_lcp, solve_mixed};
use problem_files::Problem;
use serde::Serialize;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use unsolved::Unsolved;

/// Result of a solve: everything that is reported.
struct Answer {
    file: String,
    problem: Problem,
    settings: Settings,
    report: Report,
    seconds: f64,
    contacts: Option<Contacts>,
    known: Option<Certificate>,
    unsolved: Option<Unsolved>,
}

/// Contact states and residual of the forces of a friction problem.
struct Contacts {
    states: States,
    /// Residual under Coulomb's cone, whatever friction set the problem was solved with.
    cone: Residual,
}

/// Numbers of contacts in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct States {
    open: usize,
    stick: usize,
    slip: usize,
}

pub fn run(arguments: &Solve) -> Result<ExitCode, InputError> {
    let mut settings = settings(arguments)?;
    let problem = problem_files::read(&arguments.file).map_err(|e| InputError(e.to_string()))?;
    let problem = with_friction(problem, arguments, &mut settings.method)?;
    let stop = Arc::new(AtomicBool::new(false));
    let signals = signals::listen(&stop);
    settings.budget.stop = Some(stop.clone());

    let mut display = Display::new(!arguments.json && !arguments.quiet);
    let mut solve = || {
        let start = Instant::now();
        let mut watch = |progress| display.hear(progress);
        let report = match &problem {
            Problem::Lcp(p) => solve_lcp(p, &settings, &mut watch),
            Problem::Mixed(p) => solve_mixed(p, &settings, &mut watch),
            Problem::Boxed(p) => solve_boxed(p, &settings, &mut watch),
            Problem::Friction(p) => solve_friction(p, &settings, &mut watch),
        };
        (start.elapsed().as_secs_f64(), report)
    };
    let (mut seconds, report) = solve();
    for _ in 1..arguments.repeat {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        seconds = solve().0.min(seconds);
    }
    display.finish();
    let interrupted = stop.load(Ordering::Relaxed);

    let contacts = match &problem {
        Problem::Friction(p) if has_solution(&report, p.size()) => Contacts::new(p, &report.solution),
        _ => None,
    };
    // an interrupted solve is reported at once, without an examination
    let brief = arguments.quiet || interrupted;
    let known = if brief { None } else { certificate::of(&problem, &report, &settings.budget.stop) };
    let unsolved = if brief { None } else { unsolved::of(&problem, &report, &settings, known.as_ref()) };
    let file = arguments.file.display().to_string();
    let answer = Answer { file, problem, settings, report, seconds, contacts, known, unsolved };
    print(&match (arguments.json, arguments.quiet) {
        (true, _) => json::render(&answer),
        (false, true) => text::outcome(&answer),
        (false, false) => text::render(&answer),
    })?;
    Ok(match answer.report.status.is_decided() {
        _ if interrupted => ExitCode::from(signals.code()),
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    })
}

fn settings(arguments: &Solve) -> Result<Settings, InputError> {
    let method = arguments.solver;
    if arguments.all && !matches!(method, Method::Auto | Method::Decide) {
        return Err(InputError(
            "--all needs --solver auto or decide: the others stop at one solution".to_owned(),
        ));
    }
    let default = Settings::default();
    let max_nodes = arguments.limit.unwrap_or(default.max_nodes);
    Ok(Settings { method, tolerance: arguments.tol, all: arguments.all, max_nodes, ..default })
}

/// The problem with the requested friction set; `interior-point` becomes the method for cones where friction
/// is circular or elliptic.
fn with_friction(problem: Problem, arguments: &Solve, method: &mut Method) -> Result<Problem, InputError> {
    let Problem::Friction(mut p) = problem else {
        let kind = if matches!(problem, Problem::Lcp(_)) { "an LCP" } else { "a mixed LCP" };
        let option = match arguments.friction {
            Some(_) => "--friction is",
            None if method.wants_contacts() => "this --solver is",
            None => return Ok(problem),
        };
        let file = arguments.file.display();
        return Err(InputError(format!("{file}: {option} for friction problems, this is {kind}")));
    };
    // --all and the solvers of LCPs need polygonal friction everywhere
    let polyhedral = arguments.all || matches!(method, Method::Lemke | Method::Decide);
    let requested = match arguments.friction {
        None if polyhedral && p.friction() == Some(Friction::Cone) => Some(Friction::Pyramid),
        None => None,
        Some(FrictionSet::Cone) => Some(Friction::Cone),
        Some(FrictionSet::Pyramid) => Some(Friction::Pyramid),
        Some(FrictionSet::Polygon(sides)) => Some(Friction::Polygon { sides }),
    };
    if let Some(friction) = requested {
        p = p.with_friction(friction).map_err(|e| InputError(format!("--friction: {e}")))?;
    }
    // in the plane discs are intervals, and without friction all sets are the same
    let curved = |c: &usize| match p.friction_of(*c) {
        Friction::Ellipsoid => true,
        Friction::Cone => p.rows_of(*c).len() > 2 && p.elements()[*c].mu() > 0.0,
        Friction::Pyramid | Friction::Polygon { .. } => false,
    };
    let first_curved = (0..p.elements().len()).find(curved);
    match first_curved {
        Some(_) if polyhedral && p.friction() == Some(Friction::Cone) => Err(InputError(
            "--friction cone needs --solver auto or one of the cone solvers, without --all".to_owned(),
        )),
        Some(c) if polyhedral => Err(InputError(format!(
            "{}: contact {c} has circular or elliptic friction: --all and this --solver need --friction pyramid or polygon:K",
            arguments.file.display()
        ))),
        _ => {
            let cone = first_curved.is_some() || p.friction() == Some(Friction::Cone);
            if cone && *method == Method::InteriorPoint {
                *method = Method::ConeInteriorPoint;
            }
            Ok(Problem::Friction(p))
        }
    }
}

/// Whether the report has a solution: without one its residual is infinite, and a proof that there is none
/// takes precedence.
fn has_solution(report: &Report, size: usize) -> bool {
    report.status != Status::NoSolution
        && report.solution.len() == size
        && report.residual.absolute.is_finite()
}

impl Answer {
    fn solution(&self) -> Option<&[f64]> {
        has_solution(&self.report, self.problem.size()).then_some(&self.report.solution)
    }
}

/// Forces and velocities below this share of the largest one count as zero.
const NEGLIGIBLE: f64 = 1e-8;

impl Contacts {
    fn new(p: &FrictionProblem, lambda: &[f64]) -> Option<Self> {
        let cone = p.clone().with_friction(Friction::Cone).ok()?;
        let s = p.speed(lambda);
        let largest = |v: &[f64]| v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let no_force = NEGLIGIBLE * largest(lambda);
        let no_velocity = NEGLIGIBLE * largest(p.vector()).max(largest(&s));
        let mut states = States::default();
        let contacts = (0..p.elements().len()).filter(|&c| p.elements()[c].as_contact().is_some());
        for at in contacts.map(|c| p.rows_of(c)) {
            let slip = s[at.start + 1..at.end].iter().fold(0.0f64, |norm, x| norm.hypot(*x));
            if lambda[at.start] <= no_force {
                states.open += 1;
            } else if slip <= no_velocity {
                states.stick += 1;
            } else {
                states.slip += 1;
            }
        }
        Some(Self { states, cone: residual::friction(&cone, lambda) })
    }
}

/// Friction set of a problem as typed after `--friction`; `mixed` if contacts differ.
fn friction_words(p: &FrictionProblem) -> String {
    p.friction().map_or_else(|| "mixed".to_owned(), friction_name)
}

/// Friction set as typed after `--friction`.
fn friction_name(friction: Friction) -> String {
    match friction {
        Friction::Cone => "cone".to_owned(),
        Friction::Pyramid => "pyramid".to_owned(),
        Friction::Polygon { sides } => format!("polygon:{sides}"),
        Friction::Ellipsoid => "ellipsoid".to_owned(),
    }
}
