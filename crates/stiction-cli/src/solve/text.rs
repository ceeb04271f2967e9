//! Report of a solve as text.

use super::{Answer, certificate, friction_name, friction_words};
use complementarity::problem::{Friction, FrictionProblem};
use complementarity::report::{Certificate, Piece, Proof, ProofNode, Report, Status};
use complementarity::residual::Residual;
use problem_files::Problem;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Largest number of solutions, or of entries of one, that are shown; `--json` lists all.
const SHOWN: usize = 6;
const PIECES_SHOWN: usize = 12;

pub fn render(answer: &Answer) -> String {
    let report = &answer.report;
    let mut lines = vec![("problem", problem(answer))];
    lines.push(("outcome", outcome_words(answer)));
    if answer.solution().is_some() {
        let set = match &answer.problem {
            Problem::Friction(p) => format!(" ({})", friction_words(p)),
            _ => String::new(),
        };
        lines.push(("residual", format!("{}{set}", residual(report.residual))));
        let is_cone = matches!(&answer.problem, Problem::Friction(p) if p.friction() == Some(Friction::Cone));
        if let Some(contacts) = answer.contacts.as_ref().filter(|_| !is_cone) {
            lines.push(("", cone(answer, contacts.cone)));
        }
    }
    lines.push(("evidence", evidence(report)));
    if let Certificate::Solutions { pieces, .. } = &report.certificate {
        lines.extend(pieces.iter().take(PIECES_SHOWN).map(|p| ("", piece(p))));
        if pieces.len() > PIECES_SHOWN {
            lines.push(("", format!("... {} in all; --json lists them", pieces.len())));
        }
    }
    if let Some(unsolved) = &answer.unsolved {
        let what = if matches!(answer.problem, Problem::Friction(_)) { "contact" } else { "row" };
        let why = unsolved.diagnosis.lines(|at| format!("{what} {at}"));
        lines.extend(why.into_iter().enumerate().map(|(k, line)| (if k == 0 { "why" } else { "" }, line)));
    }
    if let Some(contacts) = &answer.contacts {
        let s = contacts.states;
        lines.push(("contacts", format!("{} open, {} stick, {} slip", s.open, s.stick, s.slip)));
    }
    if let Some(known) = &answer.known {
        lines.extend(certificate::lines(known, report.status));
    }
    if let Some(solution) = answer.solution() {
        lines.push((if report.status.is_decided() { "solution" } else { "best try" }, entries(solution)));
    }
    if let Some(unsolved) = &answer.unsolved {
        lines.push(("try next", unsolved.advice.clone()));
    }
    let mut out = String::new();
    for (head, line) in lines {
        // writing to a String cannot fail
        let _ = writeln!(out, "{head:<9} {line}");
    }
    out
}

/// The one line that is printed with `--quiet`.
pub fn outcome(answer: &Answer) -> String {
    format!("{}\n", outcome_words(answer))
}

fn problem(answer: &Answer) -> String {
    let rows = answer.problem.size();
    let what = match &answer.problem {
        Problem::Lcp(_) => format!("LCP, {}", count(rows, "row")),
        Problem::Mixed(p) => {
            let pairs = p.complementary().iter().filter(|&&c| c).count();
            let (pairs, rest) = (count(pairs, "complementarity"), count(rows - pairs, "equality"));
            format!("mixed LCP, {}: {pairs}, {rest}", count(rows, "row"))
        }
        Problem::Boxed(p) => {
            let bounds =
                |i: &usize| usize::from(p.lower()[*i].is_finite()) + usize::from(p.upper()[*i].is_finite());
            let with = |k: usize| (0..rows).filter(|i| bounds(i) == k).count();
            let [none, one, two] = [0, 1, 2].map(with);
            format!(
                "boxed mixed LCP, {}: {none} free, {one} with one bound, {two} with two",
                count(rows, "row")
            )
        }
        Problem::Friction(p) => {
            let set = match p.friction() {
                Some(Friction::Cone) => "Coulomb's cone".to_owned(),
                Some(Friction::Pyramid) => "friction pyramid".to_owned(),
                Some(Friction::Polygon { sides }) => format!("friction polygon with {sides} sides"),
                Some(Friction::Ellipsoid) => "ellipsoids of friction".to_owned(),
                None => mixed(p),
            };
            let contacts = count(p.contacts(), "contact");
            match p.rows_per_contact() {
                Some(each) => {
                    format!("friction, {contacts} of {each} rows, {} in all, {set}", count(rows, "row"))
                }
                None => format!("friction, {contacts}, {} in all, {set}", count(rows, "row")),
            }
        }
    };
    format!("{}: {what}", answer.file)
}

/// Numbers of contacts with each friction set.
fn mixed(p: &FrictionProblem) -> String {
    let mut sets: BTreeMap<String, usize> = BTreeMap::new();
    (0..p.elements().len()).for_each(|c| *sets.entry(friction_name(p.friction_of(c))).or_default() += 1);
    let shown: Vec<String> = sets.iter().map(|(set, n)| format!("{n} {set}")).collect();
    format!("mixed friction sets ({})", shown.join(", "))
}

fn outcome_words(answer: &Answer) -> String {
    let report = &answer.report;
    let status = match report.status {
        Status::Solved => "solved",
        Status::NoSolution => "no solution exists",
        Status::Several => "several solutions",
        Status::Undecided => "undecided",
        Status::Stalled => "stalled",
    };
    let work = match report.solver {
        "lemke" => "pivot",
        "interior-point" | "newton" | "newton-lemke" | "proximal-newton" => "Newton step",
        "gauss-seidel" => "sweep",
        "decide" => "node",
        _ => "iteration",
    };
    format!("{status}: {}, {}, {}", report.solver, count(report.iterations, work), time(answer.seconds))
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn residual(r: Residual) -> String {
    format!("{:.2e} absolute, {:.2e} relative (FCLIB: {:.2e})", r.absolute, r.relative, r.fclib)
}

fn cone(answer: &Answer, r: Residual) -> String {
    let verdict = match r.relative <= answer.settings.tolerance {
        true => "solves the cone problem too",
        false => "not a solution of the cone problem",
    };
    format!("{} (Coulomb's cone: {verdict})", residual(r))
}

pub fn evidence(report: &Report) -> String {
    match &report.certificate {
        Certificate::Residual => "the residual".to_owned(),
        Certificate::Basis { active } => format!("exact solution of a basis with {} active", active.len()),
        Certificate::Ray { covering, starts, .. } => {
            let starts = count(*starts, "start");
            format!("Lemke ended on a ray ({starts}, covering variable moves by {covering:.2e})")
        }
        Certificate::NoSolution(proof) => proof_words(proof),
        Certificate::Solutions { pieces, complete } => {
            let rest = if *complete { "there are no others" } else { "there may be others" };
            format!("solution set of {}; {rest}", count(pieces.len(), "piece"))
        }
        Certificate::Stopped { reason, .. } if reason.is_empty() => "stopped without a reason".to_owned(),
        Certificate::Stopped { reason, .. } => reason.clone(),
    }
}

fn proof_words(proof: &Proof) -> String {
    let leaves = proof.nodes.iter().filter(|n| matches!(n, ProofNode::Leaf { .. })).count();
    let range = match proof.radius {
        r if r == f64::INFINITY => "valid for every z".to_owned(),
        r => format!("valid for |z|_1 <= {r:.3e}"),
    };
    format!("proof with {}, checked; {range}", count(leaves, "leaf"))
}

fn piece(piece: &Piece) -> String {
    let shape = match (piece.dimension, piece.unbounded) {
        (0, _) => "point".to_owned(),
        (d, false) => format!("continuum of dimension {d}"),
        (d, true) => format!("unbounded continuum of dimension {d}"),
    };
    format!("{shape}, z > 0 at {}, w > 0 at {}", support(&piece.z_support), support(&piece.w_support))
}

fn support(indices: &[usize]) -> String {
    let mut shown: Vec<String> = indices.iter().take(SHOWN).map(usize::to_string).collect();
    if indices.len() > SHOWN {
        shown.push(format!("... ({})", indices.len()));
    }
    format!("{{{}}}", shown.join(", "))
}

fn entries(solution: &[f64]) -> String {
    let mut shown: Vec<String> = solution.iter().take(SHOWN).map(|x| format!("{x:.6}")).collect();
    if solution.iter().take(SHOWN).any(|x| *x != 0.0 && !(1e-4..1e6).contains(&x.abs())) {
        shown = solution.iter().take(SHOWN).map(|x| format!("{x:.4e}")).collect();
    }
    if solution.len() > SHOWN {
        shown.push(format!("... ({} entries; --json has them all)", solution.len()));
    }
    shown.join(", ")
}

fn count(n: usize, of: &str) -> String {
    match (n, of.strip_suffix('y'), of.strip_suffix('f')) {
        (1, ..) => format!("1 {of}"),
        (_, Some(stem), _) => format!("{n} {stem}ies"),
        (_, _, Some(stem)) => format!("{n} {stem}ves"),
        _ => format!("{n} {of}s"),
    }
}
