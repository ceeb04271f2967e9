//! Why a problem was not solved, and what to try next.

use super::text;
use complementarity::certificate::{Certificate as Known, Diagnosis};
use complementarity::problem::Friction;
use complementarity::report::{Report, Status};
use complementarity::solver::Method;
use complementarity::solver::portfolio::Settings;
use problem_files::Problem;
use serde::Serialize;

/// Why a problem was not solved, as far as that is known.
#[derive(Serialize)]
pub struct Unsolved {
    /// What ended the solve.
    pub ended: String,
    /// Where the best try violates the problem, and whether there is a solution.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// What to try next.
    pub advice: String,
}

/// Diagnosis of a problem that was not decided, else `None`. `known` is the certificate of a friction
/// problem.
pub fn of(
    problem: &Problem,
    report: &Report,
    settings: &Settings,
    known: Option<&Known>,
) -> Option<Unsolved> {
    if report.status.is_decided() {
        return None;
    }
    let diagnosis = match (problem, known) {
        (Problem::Friction(p), Some(known)) => {
            Diagnosis::of_friction(p, Some(&report.solution), known, &mut settings.budget.clone())
        }
        (Problem::Lcp(p), _) => Diagnosis::of_mixed(&p.into(), &report.solution),
        (Problem::Mixed(p), _) => Diagnosis::of_mixed(p, &report.solution),
        // its rows as a mixed LCP have other numbers
        (Problem::Boxed(p), _) => Diagnosis::of_boxed(p, &report.solution),
        (Problem::Friction(_), None) => return None,
    };
    let advice = advice(problem, report.status, settings, &diagnosis);
    Some(Unsolved { ended: text::evidence(report), diagnosis, advice })
}

fn advice(problem: &Problem, status: Status, settings: &Settings, diagnosis: &Diagnosis) -> String {
    let polygon = |set: Option<Friction>| matches!(set, Some(Friction::Pyramid | Friction::Polygon { .. }));
    let on_cone = matches!(problem, Problem::Friction(p) if !polygon(p.friction()));
    let auto = settings.method == Method::Auto;
    if diagnosis.impossible.is_some() {
        return "change the problem: parts that overlap, or are driven against each other, must be free to separate, or compliant".to_owned();
    }
    match status {
        Status::Undecided => {
            let all = if settings.all { " --all" } else { "" };
            let limit = settings.max_nodes.saturating_mul(10).max(1_000_000);
            format!("--solver decide{all} --limit {limit}")
        }
        _ if on_cone && auto => {
            "--solver proximal-newton (slow, but robust), a larger --tol, or --friction polygon:16".to_owned()
        }
        _ if on_cone => "--solver auto, or a larger --tol".to_owned(),
        _ if auto || settings.method == Method::Decide => {
            "--solver interior-point, or a larger --tol".to_owned()
        }
        _ => "--solver auto, or --solver decide --limit 1000000".to_owned(),
    }
}
