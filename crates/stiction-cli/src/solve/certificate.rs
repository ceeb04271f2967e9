//! What is known of a friction problem and its forces beside the residual, for people.

use complementarity::certificate::{Bound, Certificate, Existence, Forces, Settings, examine};
use complementarity::report::{Report, Status};
use problem_files::Problem;

/// Contacts that are listed; `--json` has them all.
const SHOWN: usize = 8;

/// Examines a friction problem, and the answer if it is one.
pub fn of(problem: &Problem, report: &Report) -> Option<Certificate> {
    let Problem::Friction(p) = problem else { return None };
    let solved =
        matches!(report.status, Status::Solved | Status::Several) && report.solution.len() == p.size();
    Some(examine(p, solved.then_some(&report.solution), &Settings::default()))
}

/// The lines of the report, with their heads.
pub fn lines(known: &Certificate, status: Status) -> Vec<(&'static str, String)> {
    let mut out = vec![];
    if let Some(rank) = known.rank {
        let below = format!("singular values below {:.0e} of the largest are none", rank.tolerance);
        out.push(("rank of A", format!("{} of {} ({below})", rank.rank, rank.size)));
    }
    if let Some(forces) = &known.forces {
        out.push(("forces", forces_words(forces)));
    }
    if known.rank.is_some() {
        out.push(("theory", theory(known, status)));
    }
    match &known.reason {
        Some(reason) if known.rank.is_none() => out.push(("theory", format!("not examined: {reason}"))),
        _ => {}
    }
    out
}

fn forces_words(forces: &Forces) -> String {
    let edge = match forces.edge.len() {
        0 => String::new(),
        n => format!("; {n} at the edge of slip or lift-off"),
    };
    match (forces.dimension, forces.dimension_at_most) {
        (0, 0) if forces.isolated => "unique nearby: no other solution close to this one".to_owned(),
        (0, 0) => format!("determined by the motion{edge}"),
        (0, most) => format!("a family of up to {most} dimensions with the same motion may exist{edge}"),
        (d, most) => {
            let range = if d == most { d.to_string() } else { format!("{d} to {most}") };
            let moved = list(&forces.undetermined);
            format!(
                "not unique: a family of dimension {range} with the same motion, at contacts {moved}{edge}"
            )
        }
    }
}

fn theory(known: &Certificate, status: Status) -> String {
    let existence = match known.existence {
        Existence::Always => {
            "A is positive definite, a solution exists for every b and mu (pang2005 Lemma 4)"
        }
        Existence::ForThisVector => {
            "b is in the range of A, a solution exists for every mu (trinkle1995 Theorem 1)"
        }
        Existence::NotCovered => "no theorem at hand promises a solution",
    };
    let unique = match known.uniqueness {
        Some(Bound { holds: true, mu_bar, .. }) => format!("; it is unique (mu < {mu_bar:.3e})"),
        Some(Bound { mu_bar, mu_max, .. }) if mu_bar > 0.0 => {
            format!("; unique for every b if mu < {mu_bar:.3e} (here up to {mu_max})")
        }
        _ => String::new(),
    };
    let unsolved = match (status.is_decided(), known.existence) {
        (true, _) => "",
        (false, Existence::NotCovered) => ": there may be none",
        (false, _) => ": the solver failed, not the problem",
    };
    format!("{existence}{unsolved}{unique}")
}

fn list(contacts: &[usize]) -> String {
    let mut shown: Vec<String> = contacts.iter().take(SHOWN).map(usize::to_string).collect();
    if contacts.len() > SHOWN {
        shown.push(format!("... ({})", contacts.len()));
    }
    shown.join(", ")
}
