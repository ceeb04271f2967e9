//! Text report on the certificate of a friction problem: rank, uniqueness of the forces, existence.

use complementarity::certificate::{Bound, Certificate, Direction, Existence, Forces, Settings, examine};
use complementarity::report::{Report, Status};
use problem_files::Problem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Largest number of contacts that are listed; `--json` lists all.
const SHOWN: usize = 8;
/// Largest number of directions of a family that are shown, and of entries of each.
const DIRECTIONS: usize = 3;
const ENTRIES: usize = 4;
/// Entries below this share of a direction's largest entry are not shown.
const SMALL: f64 = 0.05;
/// Names of the rows of a contact.
const ROWS: [&str; 6] = ["n", "t", "o", "4th row", "5th row", "6th row"];

/// Examines a friction problem, and its forces if they are a solution; `stop` interrupts it.
pub fn of(problem: &Problem, report: &Report, stop: &Option<Arc<AtomicBool>>) -> Option<Certificate> {
    let Problem::Friction(p) = problem else { return None };
    let solved =
        matches!(report.status, Status::Solved | Status::Several) && report.solution.len() == p.size();
    let settings = Settings { stop: stop.clone(), ..Settings::default() };
    Some(examine(p, solved.then_some(&report.solution), &settings))
}

/// Lines of the report, each with its heading.
pub fn lines(known: &Certificate, status: Status) -> Vec<(&'static str, String)> {
    let mut out = vec![];
    if let Some(rank) = known.rank {
        let below = format!("singular values below {:.0e} of the largest count as zero", rank.tolerance);
        out.push(("rank of A", format!("{} of {} ({below})", rank.rank, rank.size)));
    }
    if let Some(forces) = &known.forces {
        out.push(("forces", forces_words(forces)));
        out.extend(basis_words(forces).into_iter().map(|line| ("", line)));
    }
    // where the problem is unsolved, the reasons for that include it; a proof that there is no solution says
    // more
    let shown = status.is_decided() || known.existence != Existence::NotCovered;
    if known.rank.is_some() && shown && status != Status::NoSolution {
        out.push(("theory", theory(known)));
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

/// How forces can change together, one line per direction.
fn basis_words(forces: &Forces) -> Vec<String> {
    let Some(basis) = &forces.basis else {
        return vec!["too many directions to list them".to_owned()];
    };
    let mut out: Vec<String> = basis.iter().take(DIRECTIONS).map(direction_words).collect();
    if let more @ 1.. = basis.len().saturating_sub(DIRECTIONS) {
        out.push(format!("... and {more} more: --json"));
    }
    out
}

/// The largest changes, relative to the largest of all: `+1 n at 0, -1 n at 1`.
fn direction_words(direction: &Direction) -> String {
    let Direction { contacts, change, one_sided } = direction;
    let rows = change.len() / contacts.len().max(1);
    let largest = change.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut entries: Vec<usize> = (0..change.len()).filter(|&i| change[i].abs() >= SMALL * largest).collect();
    // the largest entries, in their order; entries that differ by rounding stay in order
    entries.sort_by_key(|&i| std::cmp::Reverse((1e6 * change[i].abs() / largest).round() as u64));
    let more = entries.len().saturating_sub(ENTRIES);
    entries.truncate(ENTRIES);
    entries.sort_unstable();
    let words = |&i: &usize| {
        let size = format!("{:+.2}", change[i] / largest);
        let size = size.trim_end_matches('0').trim_end_matches('.');
        format!("{size} {} at {}", ROWS[i % rows], contacts[i / rows])
    };
    let mut shown: Vec<String> = entries.iter().map(words).collect();
    if more > 0 {
        shown.push(format!("... ({more} more)"));
    }
    let way = if *one_sided { "as far as cones allow" } else { "or the opposite" };
    format!("they can change together by {}, {way}", shown.join(", "))
}

fn theory(known: &Certificate) -> String {
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
    let why = known.uncovered.map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{existence}{why}{unique}")
}

fn list(contacts: &[usize]) -> String {
    let mut shown: Vec<String> = contacts.iter().take(SHOWN).map(usize::to_string).collect();
    if contacts.len() > SHOWN {
        shown.push(format!("... ({})", contacts.len()));
    }
    shown.join(", ")
}
