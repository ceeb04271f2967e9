//! Report of a solve as one JSON object.
//!
//! JSON has no infinity: where there is no solution the members of `residual` are null, and the `radius` of
//! a proof that holds for every `z` is null.

use super::unsolved::Unsolved;
use super::{Answer, States, friction_name, friction_words};
use complementarity::certificate::Certificate as Known;
use complementarity::report::{Certificate, Piece, Status};
use complementarity::residual::Residual;
use problem_files::Problem;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct Object<'a> {
    file: &'a str,
    problem: Described,
    status: Status,
    solver: &'a str,
    iterations: usize,
    seconds: f64,
    residual: Residual,
    /// Residual under Coulomb's cone; null unless a friction problem has a solution.
    residual_cone: Option<Residual>,
    /// Contact states; null unless a friction problem has a solution.
    contacts: Option<States>,
    solution: Option<&'a [f64]>,
    /// All solutions; present with `--all`, null if the search did not list them.
    #[serde(skip_serializing_if = "Option::is_none")]
    solutions: Option<Option<&'a [Piece]>>,
    certificate: Value,
    /// Certificate of a friction problem; else null.
    known: Option<&'a Known>,
    /// Why the problem is unsolved; null if it was decided.
    unsolved: Option<&'a Unsolved>,
}

#[derive(Serialize)]
struct Described {
    kind: &'static str,
    size: usize,
    /// Number of contacts of a friction problem; else null.
    contacts: Option<usize>,
    /// Friction set as typed after `--friction`; `mixed` if contacts differ, null for other problems.
    friction: Option<String>,
    /// Friction set of each contact, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    sets: Option<Vec<String>>,
    /// Number of equalities of a mixed problem; else null.
    equalities: Option<usize>,
}

pub fn render(answer: &Answer) -> String {
    let report = &answer.report;
    let solution = answer.solution();
    let pieces: Option<&[Piece]> = match &report.certificate {
        Certificate::Solutions { pieces, .. } => Some(pieces),
        Certificate::NoSolution(_) => Some(&[]),
        _ => None,
    };
    let object = Object {
        file: &answer.file,
        problem: describe(&answer.problem),
        status: report.status,
        solver: report.solver,
        iterations: report.iterations,
        seconds: answer.seconds,
        residual: if solution.is_some() { report.residual } else { Residual::NONE },
        residual_cone: answer.contacts.as_ref().map(|c| c.cone),
        contacts: answer.contacts.as_ref().map(|c| c.states),
        solution,
        solutions: answer.settings.all.then_some(pieces),
        certificate: certificate(&report.certificate, answer.settings.all),
        known: answer.known.as_ref(),
        unsolved: answer.unsolved.as_ref(),
    };
    let mut text = serde_json::to_string(&object).expect("plain data");
    text.push('\n');
    text
}

/// The certificate without the pieces, which are in `solutions`.
fn certificate(certificate: &Certificate, listed: bool) -> Value {
    let mut value = serde_json::to_value(certificate).expect("plain data");
    if let (Certificate::Solutions { .. }, true, Value::Object(members)) = (certificate, listed, &mut value) {
        members.remove("pieces");
    }
    value
}

fn describe(problem: &Problem) -> Described {
    let size = problem.size();
    let plain = |kind| Described { kind, size, contacts: None, friction: None, sets: None, equalities: None };
    match problem {
        Problem::Lcp(_) => plain("lcp"),
        Problem::Mixed(p) => {
            let equalities = p.complementary().iter().filter(|&&c| !c).count();
            Described { equalities: Some(equalities), ..plain("mixed-lcp") }
        }
        Problem::Boxed(p) => {
            let free = (0..size).filter(|&i| p.lower()[i].is_infinite() && p.upper()[i].is_infinite());
            Described { equalities: Some(free.count()), ..plain("boxed-lcp") }
        }
        Problem::Friction(p) => Described {
            contacts: Some(p.contacts()),
            friction: Some(friction_words(p)),
            sets: p
                .friction()
                .is_none()
                .then(|| (0..p.elements().len()).map(|c| friction_name(p.friction_of(c))).collect()),
            ..plain("friction")
        },
    }
}
