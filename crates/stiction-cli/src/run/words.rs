//! The summary of a run, for people: what came out first, then how far it can be trusted, then the rest.

use super::{Forces, Outcome};
use crate::numbers::{count, instant, measured, of, seconds, share, short};
use std::fmt::Write;
use stiction::run::{Balance, ENTRIES, Ended, Entry, Event, EventKind, Summary, UNIT};
use stiction::state::RowId;
use stiction::step::{Status, Trust};

/// Cut steps, events and names that are shown; the tables have them all.
const SHOWN: usize = 5;
/// Iterations a step above which rigid contacts are hard.
const HARD: usize = 200;
/// Share of the largest change of any energy above which the time step damps.
const DAMPED: f64 = 0.01;
/// Share of the energies that is rounding.
const ROUNDING: f64 = 1e-9;

/// A line of the summary: what it is about, and the words.
type Line = (&'static str, String);

/// The summary; `verbose` adds the first events and every term of the energy balance.
pub fn text(o: &Outcome, verbose: bool) -> String {
    let mut out = format!("{}\n\n", outcome(o));
    let mut lines: Vec<Line> = warnings(o).into_iter().map(|words| ("warning", words)).collect();
    lines.push(accuracy(o));
    lines.extend(trust(o));
    lines.extend(energy(&o.summary, verbose));
    lines.extend(solver(o));
    lines.extend(events(o, verbose));
    if let Some(hardest) = o.problems.first() {
        let (n, file) = (o.problems.len(), hardest.file.display());
        lines.push(("problems", format!("the {n} hardest written, the hardest is {file}")));
    }
    let recording = o.recording.display();
    lines.push(("recording", format!("{recording}    view it: stiction view {recording}")));
    let mut last = "";
    for (head, line) in lines {
        // writing to a String cannot fail
        let _ = writeln!(out, "{:<10} {line}", if head == last { "" } else { head });
        last = head;
    }
    out
}

/// How the run ended, in one line.
pub fn outcome(o: &Outcome) -> String {
    let (scene, made) = (o.model.scene(), o.summary.steps);
    let name = &scene.name;
    let (wall, each) = (o.wall.as_secs_f64(), o.wall.as_secs_f64() / made.max(1) as f64);
    let done = format!("{} of {}", count(made), of(o.asked, "step"));
    match &o.ended {
        Ended::Finished => {
            let (steps, h) = (of(made, "step"), seconds(scene.step.h));
            format!(
                "{name}    {steps} of {h} in {} ({} per step), reached {}",
                measured(wall),
                measured(each),
                instant(o.time)
            )
        }
        Ended::Interrupted => {
            format!("{name}    interrupted at {}, after {done} in {}", instant(o.time), measured(wall))
        }
        Ended::Failed(why) => format!("{name}    failed after {done}, {}: {why}", instant(o.time)),
    }
}

/// What a user should look at, each with what to do.
fn warnings(o: &Outcome) -> Vec<String> {
    let s = &o.summary;
    let mut list: Vec<String> =
        o.warnings.iter().chain(&o.misfit).chain(&o.overlaps).chain(&o.unstable).cloned().collect();
    if s.loose > 0 {
        let worst = s.worst.0;
        // single elements are worse than what is accepted of a problem as a whole
        let single =
            if worst.relative > worst.natural { ", of a contact or joint row by itself" } else { "" };
        list.push(format!(
            "the tolerance of {:e} was not reached in {}, first at {}: accepted at up to {:.1e}{single}",
            o.model.scene().step.tolerance,
            of(s.loose, "step"),
            instant(s.first_loose),
            worst.relative
        ));
    }
    if let Some((time, rows)) = &s.first_relaxed {
        let (n, names) = (of(s.relaxed, "step"), names(o, rows));
        list.push(format!(
            "overlap was not undone in {n}, for no motion was found to: first at {} ({names})",
            instant(*time)
        ));
    }
    if let Some(e) = &s.first_impact {
        let (time, contact, impulse) = (instant(e.time), contact_name(o, e), short(e.impulse));
        list.push(format!(
            "no rigid solution with this slip at {time}: an impact without collision at {contact}, {impulse} N s"
        ));
    }
    list.extend(s.motion_warnings(&o.model).into_iter().map(|w| w.message));
    list.extend(s.energy_warnings(&o.model).into_iter().map(|w| w.message));
    list
}

fn accuracy(o: &Outcome) -> Line {
    let (worst, at) = o.summary.worst;
    let tolerance = o.model.scene().step.tolerance;
    let when = if worst.relative == 0.0 { String::new() } else { format!(" at {}", instant(at)) };
    ("accuracy", format!("worst residual {:.1e} (tolerance {tolerance:e}){when}", worst.relative))
}

/// Whether there are other solutions, and which one is shown.
fn trust(o: &Outcome) -> Vec<Line> {
    let s = &o.summary;
    let mut lines = vec![verdict(s)];
    if let Some((time, rows)) = &s.first_without_motion {
        let group =
            |status| rows.iter().filter(move |(_, s)| *s == status).map(|(id, _)| *id).collect::<Vec<_>>();
        let branch: Vec<String> = [(Status::Stick, "stick"), (Status::Slip, "slip"), (Status::Open, "open")]
            .into_iter()
            .filter(|(status, _)| !group(*status).is_empty())
            .map(|(status, word)| format!("{word}: {}", names(o, &group(status))))
            .collect();
        let (time, branch) = (instant(*time), branch.join("; "));
        lines.push(format!("motion not unique first at {time}; the motion shown has {branch}"));
    }
    lines.extend(forces_at_the_end(&o.forces));
    if s.trust[Trust::ForcesNotUnique as usize] + s.trust[Trust::MotionNotUnique as usize] > 0 {
        let but = |n: usize, what: &str| match n {
            0 => String::new(),
            n => format!("; {what} in {}", of(n, "step")),
        };
        lines.push(format!(
            "shown: the limit of equal, vanishing compliance{}{}. More: stiction analyze {}",
            but(s.near, "only near it"),
            but(s.unchosen, "another solution, for that limit was not found or not looked for,"),
            o.file
        ));
    }
    lines.extend(s.branches.iter().map(|e| branch_words(o, e)));
    lines.extend(model_words(s));
    lines.into_iter().map(|words| ("trust", words)).collect()
}

/// What was found in the steps that were examined.
fn verdict(s: &Summary) -> String {
    // where nothing is near, there is nothing to examine
    let mut steps_by = s.trust;
    let free = s.free.min(steps_by[Trust::Unique as usize]);
    steps_by[Trust::Unique as usize] -= free;
    let touching = s.steps - free;
    let examined = touching.saturating_sub(steps_by[Trust::NotExamined as usize]);
    if touching == 0 {
        return "nothing touched".to_owned();
    }
    if examined == 0 {
        return format!("not examined: none of the {} with contacts", of(touching, "step"));
    }
    let words = |t: Trust| match t {
        Trust::NotExamined => "not examined",
        Trust::Unique => "motion and forces unique",
        Trust::LocallyUnique => "no other solution nearby",
        Trust::ForcesNotUnique => "motion unique, contact forces not unique",
        Trust::MotionNotUnique => "motion not unique",
        Trust::NoRigidSolution => "no rigid solution",
    };
    let known = Trust::ALL.iter().zip(steps_by).filter(|(t, n)| **t != Trust::NotExamined && *n > 0);
    let shares: Vec<String> = known
        .map(|(t, n)| match n == examined {
            true => words(*t).to_owned(),
            false => format!("{} in {}", words(*t), share(n, examined)),
        })
        .collect();
    match examined == touching {
        true => shares.join("; "),
        false => format!(
            "{} ({} examined of {} with contacts)",
            shares.join("; "),
            of(examined, "step"),
            count(touching)
        ),
    }
}

/// Whether forces of the last step are unique; `None` if there are none.
fn forces_at_the_end(forces: &Forces) -> Option<String> {
    Some(match forces {
        Forces::None => return None,
        Forces::Unknown(why) => format!("at the end: not known whether forces are unique: {why}"),
        Forces::Known(found, _) if found.dimension_at_most == 0 => "at the end: forces unique".to_owned(),
        Forces::Known(found, elements) => {
            let (least, most) = (found.dimension, found.dimension_at_most);
            let dimensions = match least == most {
                true => of(least, "dimension"),
                false => format!("{least} to {most} dimensions"),
            };
            let normal = found.undetermined_normal().map_or(String::new(), |n| match n.len() {
                n if n <= *elements => format!(", {n} of {elements} normal forces"),
                n => format!(", {n} forces of contacts, limits and loops"),
            });
            format!("at the end: forces not unique in {dimensions}{normal}")
        }
    })
}

/// The sum at the start and the end, what took and gave energy, and the error.
fn energy(s: &Summary, verbose: bool) -> Vec<Line> {
    let stored = |b: &Balance| terms(b, Entry::is_stored).map(|(_, x)| x).sum::<f64>();
    let (start, end) = (stored(&s.start), stored(&s.now));
    let largest =
        terms(&s.now, |_| true).chain(terms(&s.start, |_| true)).fold(0.0f64, |m, (_, x)| m.max(x.abs()));
    let error = s.balance_error();
    let cause = match s.relative_balance_error() {
        _ if error == 0.0 => String::new(),
        _ if error.abs() <= ROUNDING * largest => " (round-off)".to_owned(),
        r if r < -DAMPED => {
            format!(" ({} of the largest change): the damping of the time step took it", percent(-r))
        }
        r => format!(" ({} of the largest change)", percent(r.abs())),
    };
    let mut lines = vec![format!(
        "{} {UNIT} at the start, {} {UNIT} at the end; error {} {UNIT}{cause}",
        short(start),
        short(end),
        short(error)
    )];
    if verbose {
        for (when, balance) in [("start", &s.start), ("end", &s.now)] {
            let list: Vec<String> = terms(balance, Entry::is_stored)
                .map(|(e, x)| format!("{} {x:.6e} {UNIT}", e.label))
                .collect();
            lines.push(format!("at the {when}: {}", list.join("; ")));
        }
    }
    // what is rounding beside the rest is left out
    let mut flows: Vec<(&Entry, f64)> =
        terms(&s.now, |e| !e.is_stored()).filter(|(_, x)| verbose || x.abs() > ROUNDING * largest).collect();
    flows.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let number = |x: f64| if verbose { format!("{x:.6e}") } else { short(x) };
    let list: Vec<String> = flows.iter().map(|(e, x)| format!("{} {} {UNIT}", e.label, number(*x))).collect();
    lines.extend((!list.is_empty()).then(|| list.join("; ")));
    lines.into_iter().map(|words| ("energy", words)).collect()
}

/// Entries of a balance of some kind, with their values.
fn terms(b: &Balance, which: fn(&Entry) -> bool) -> impl Iterator<Item = (&'static Entry, f64)> {
    ENTRIES.iter().zip(*b).filter(move |(entry, _)| which(entry))
}

fn percent(share: f64) -> String {
    format!("{} %", short(100.0 * share))
}

/// Which methods solved the steps, and what was hard.
fn solver(o: &Outcome) -> Vec<Line> {
    let s = &o.summary;
    let mut lines = vec![];
    let solvers: Vec<String> =
        s.solvers.iter().map(|(name, n)| format!("{name} {}", of(*n, "step"))).collect();
    if !solvers.is_empty() {
        let wasted = if s.wasted > 0 { format!(", {} wasted", count(s.wasted)) } else { String::new() };
        lines.push(("solver", format!("{}; {}{wasted}", solvers.join(", "), of(s.iterations, "iteration"))));
    }
    if rigid_and_hard(o) {
        let law = "law = { kelvin_voigt = { .. } }";
        lines.push((
            "solver",
            format!("rigid contacts are hard here: with their stiffness given, {law} of the"),
        ));
        lines
            .push(("solver", "material, a few dozen iterations a step are usual (docs/speed.md)".to_owned()));
    }
    if !s.cut.is_empty() {
        let mut list: Vec<String> =
            s.cut.iter().take(SHOWN).map(|(t, n)| format!("{} ({n})", instant(*t))).collect();
        if s.cut.len() > SHOWN {
            list.push("...".to_owned());
        }
        lines.push(("cut", format!("{} into parts: {}", of(s.cut.len(), "step"), list.join(", "))));
    }
    if s.stepped > 0 {
        let (n, time, first) = (of(s.stepped, "step"), measured(s.stepped_time), instant(s.first_stepped));
        lines.push((
            "stepped",
            format!("{time} in {n} of the theta scheme where located events crowd, first before {first}"),
        ));
    }
    if s.left_midpoint > 0 {
        let (n, all, first) = (count(s.left_midpoint), of(s.steps, "step"), instant(s.first_left_midpoint));
        let share = o.model.scene().step.explicit_share;
        lines.push((
            "rule",
            format!("{n} of {all} were made with explicit_share = 0 instead of {share}: of first order, first at {first}"),
        ));
    }
    lines
}

fn events(o: &Outcome, verbose: bool) -> Vec<Line> {
    let s = &o.summary;
    let counts: Vec<String> = EventKind::ALL
        .into_iter()
        .filter(|k| s.count(*k) > 0)
        .map(|k| format!("{} {}", count(s.count(k)), k.name()))
        .collect();
    if counts.is_empty() {
        return vec![];
    }
    let mut lines = vec![("events", counts.join(", "))];
    if verbose {
        lines.extend(s.first_events.iter().map(|e| ("events", event_words(o, e))));
        if s.events.iter().sum::<usize>() > s.first_events.len() {
            lines.push(("events", "...".to_owned()));
        }
    }
    lines
}

/// Which contacts were rigid and compliant for how long; `None` without `law = "auto"`.
fn model_words(s: &Summary) -> Option<String> {
    let (all, compliant) = (s.auto_time, s.compliant_time);
    let phases = s.count(EventKind::ToCompliant);
    match () {
        () if all == 0.0 => None,
        () if compliant == 0.0 => {
            Some("rigid contacts throughout: their motion was unique and stable".to_owned())
        }
        () => Some(format!(
            "rigid contacts in {:.1} % of the time, compliant ones in {:.1} %; they became compliant {phases} time{}",
            100.0 * (all - compliant) / all,
            100.0 * compliant / all,
            if phases == 1 { "" } else { "s" }
        )),
    }
}

/// Where one of several motions is followed, and why that ends.
fn branch_words(o: &Outcome, e: &Event) -> String {
    let (time, contact) = (instant(e.time), contact_name(o, e));
    let what = match e.kind {
        EventKind::Branch => "one of several motions is followed",
        EventKind::BranchEndsForce => "that motion ends: the normal force vanishes",
        EventKind::BranchEndsSlip => "that motion ends: the slip stops",
        EventKind::BranchEndsFriction => "that motion ends: friction reaches its bound",
        EventKind::BranchEndsTouch => "that motion ends: a contact touches",
        EventKind::BranchEndsJoint => "that motion ends: a joint's limit or friction changes",
        _ => "that motion is the only one from here on",
    };
    format!("{time}, {contact}: {what}")
}

/// Names of groups of rows, a few of them.
fn names(o: &Outcome, rows: &[RowId]) -> String {
    let mut names: Vec<String> = rows.iter().map(|id| o.model.row_name(*id)).collect();
    names.dedup();
    if names.len() > SHOWN {
        names.truncate(SHOWN);
        names.push("...".to_owned());
    }
    names.join(", ")
}

/// Whether some contacts may be rigid and steps took many iterations.
fn rigid_and_hard(o: &Outcome) -> bool {
    let s = &o.summary;
    let rigid = o.model.contacts().rules().iter().any(|r| r.compliance.is_none());
    rigid && s.iterations + s.wasted > HARD * s.steps
}

pub fn contact_name(o: &Outcome, e: &Event) -> String {
    o.model.contact_name(e.contact).unwrap_or_default()
}

fn event_words(o: &Outcome, e: &Event) -> String {
    format!("{}  {:<5}  {}, element {}", instant(e.time), e.kind.name(), contact_name(o, e), e.element)
}
