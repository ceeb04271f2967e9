//! A run in words, and as one JSON object.

use super::{Forces, Outcome};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;
use stiction::run::{Balance, ENTRIES, Ended, Entry, Event, EventKind, Summary, UNIT};
use stiction::state::RowId;
use stiction::step::{Status, Trust};

/// Cut steps and events that are shown; the tables have them all.
const SHOWN: usize = 5;
/// Share of the largest change of any energy above which energy was made; and share of the energies that is rounding.
const MADE: f64 = 0.01;
const ROUNDING: f64 = 1e-9;
/// Iterations a step above which rigid contacts are hard.
const HARD: usize = 200;

pub fn text(o: &Outcome) -> String {
    let s = &o.summary;
    let mut lines = vec![("outcome", outcome_words(o))];
    lines.extend(o.warnings.iter().chain(&o.misfit).chain(&o.overlaps).map(|line| ("warning", line.clone())));
    lines.extend(o.unstable.iter().map(|line| ("warning", line.clone())));
    let (wall, recording) = (duration(o.wall), duration(o.spent));
    lines.push(("time", format!("{wall}, {:.2} us a step; {recording} of it recording", per_step(o))));
    let (worst, at) = s.worst;
    lines.push(("residual", format!("worst {:.1e} relative, at t = {at:.6} s", worst.relative)));
    lines.extend(loose_words(o).map(|words| ("warning", words)));
    let solvers: Vec<String> = s.solvers.iter().map(|(name, n)| format!("{name} in {}", steps(*n))).collect();
    if !solvers.is_empty() {
        let work = format!("{} iterations, {} more wasted", s.iterations, s.wasted);
        lines.push(("solver", format!("{}; {work}", solvers.join(", "))));
    }
    if rigid_and_hard(o) {
        let law = "law = { kelvin_voigt = { .. } }";
        lines.push(("", format!("rigid contacts are hard here: with their stiffness given, {law} of the")));
        lines.push(("", "material, a few dozen iterations a step are usual (docs/speed.md)".to_owned()));
    }
    if !s.cut.is_empty() {
        let mut list: Vec<String> =
            s.cut.iter().take(SHOWN).map(|(t, n)| format!("t = {t:.6} s ({n})")).collect();
        if s.cut.len() > SHOWN {
            list.push("...".to_owned());
        }
        lines.push(("cut", format!("{} into parts: {}", steps(s.cut.len()), list.join(", "))));
    }
    lines.extend(stepped_words(s).map(|words| ("stepped", words)));
    lines.extend(relaxed_words(o).map(|words| ("overlap", words)));
    let shown = EventKind::ALL
        .into_iter()
        .filter(|k| s.count(*k) > 0 || (*k as usize) < EventKind::ImpactWithoutCollision as usize);
    let counts: Vec<String> = shown.map(|k| format!("{} {}", s.count(k), k.name())).collect();
    lines.push(("events", counts.join(", ")));
    lines.extend(s.first_events.iter().take(SHOWN).map(|e| ("", event_words(o, e))));
    if s.events.iter().sum::<usize>() > SHOWN {
        lines.push(("", "...".to_owned()));
    }
    lines.extend(
        trust_words(o).into_iter().enumerate().map(|(k, words)| (if k == 0 { "trust" } else { "" }, words)),
    );
    lines.extend(model_words(s).map(|words| ("model", words)));
    lines.extend(force_words(&o.forces).map(|words| ("forces", words)));
    let listed = |balance: &Balance, which: fn(&Entry) -> bool, label: fn(&Entry) -> &'static str| {
        let entries = ENTRIES.iter().zip(balance).filter(|(entry, _)| which(entry));
        entries.map(|(entry, x)| format!("{} {x:.6e}", label(entry))).collect::<Vec<_>>().join(", ")
    };
    let energies = |balance| listed(balance, Entry::is_stored, |e| e.name);
    lines.push(("energy", format!("{} {UNIT} at the start", energies(&s.start))));
    lines.push(("", format!("{} {UNIT} at the end", energies(&s.now))));
    let losses = listed(&s.now, |e| !e.is_stored() && !e.is_supplied(), |e| e.label);
    lines.push(("", format!("{losses} {UNIT}")));
    if ENTRIES.iter().zip(s.now).any(|(entry, x)| entry.is_supplied() && x != 0.0) {
        lines.push(("", format!("{} {UNIT}", listed(&s.now, Entry::is_supplied, |e| e.label))));
    }
    let lost = s.relative_balance_error() < -MADE;
    let why = if lost { ": rigid impacts and the damping of the time step took it" } else { "" };
    lines.push((
        "",
        format!(
            "the sum changed by {:+.2e} {UNIT}, {:.1e} of the largest change{why}",
            s.balance_error(),
            s.relative_balance_error().abs()
        ),
    ));
    if made(s) {
        let explicit = o.model.scene().step.explicit_share > 0.0;
        let or = if explicit { ", or explicit_share = 0, which damps" } else { "" };
        lines.push((
            "warning",
            format!("energy was made that nothing accounts for: try a smaller step.h{or}"),
        ));
    }
    if let Some(hardest) = o.problems.first() {
        let (n, file) = (o.problems.len(), hardest.file.display());
        lines.push(("problems", format!("the {n} hardest written, the hardest is {file}")));
    }
    lines.push(("recording", o.recording.display().to_string()));
    let mut out = String::new();
    for (head, line) in lines {
        // writing to a String cannot fail
        let _ = writeln!(out, "{head:<9} {line}");
    }
    out
}

/// Steps accepted above the tolerance; `None` if there are none.
fn loose_words(o: &Outcome) -> Option<String> {
    let (s, asked) = (&o.summary, o.model.scene().step.tolerance);
    let (n, first) = (steps(s.loose), s.first_loose);
    (s.loose > 0).then(|| {
        format!("the tolerance of {asked:e} was not reached in {n}, first at t = {first:.6} s: accepted at up to 1e-6")
    })
}

/// Where time steps took the place of located events; `None` if nowhere.
fn stepped_words(s: &Summary) -> Option<String> {
    let (n, time, first) = (steps(s.stepped), s.stepped_time, s.first_stepped);
    (s.stepped > 0).then(|| {
        format!("{time:.1e} s in {n} of the theta scheme where located events crowd, first before t = {first:.6} s")
    })
}

/// Steps with overlap that could not be undone; `None` if there are none.
fn relaxed_words(o: &Outcome) -> Option<String> {
    let (time, rows) = o.summary.first_relaxed.as_ref()?;
    let (n, names) = (steps(o.summary.relaxed), names(o, rows));
    Some(format!("not undone in {n}, for no motion was found to: t = {time:.6} s ({names})"))
}

/// What is known of the solutions beside their residual, and what to know of it.
fn trust_words(o: &Outcome) -> Vec<String> {
    let s = &o.summary;
    // where nothing is near, there is nothing to examine
    let mut steps_by = s.trust;
    let free = s.free.min(steps_by[Trust::Unique as usize]);
    steps_by[Trust::Unique as usize] -= free;
    let touching = s.steps - free;
    let examined = touching.saturating_sub(steps_by[Trust::NotExamined as usize]);
    let known = Trust::ALL.iter().zip(steps_by).filter(|(t, n)| **t != Trust::NotExamined && *n > 0);
    let shares: Vec<String> =
        known.map(|(t, n)| format!("{} in {:.0} %", t.name(), 100.0 * n as f64 / examined as f64)).collect();
    let mut lines = vec![match examined {
        _ if touching == 0 => "nothing touched".to_owned(),
        0 => format!("none of the {} with contacts was examined", steps(touching)),
        n if n == touching => shares.join(", "),
        n => format!("{} of the {n} steps examined, of {touching} with contacts", shares.join(", ")),
    }];
    if let Some((time, rows)) = &s.first_without_motion {
        let of =
            |status| rows.iter().filter(move |(_, s)| *s == status).map(|(id, _)| *id).collect::<Vec<_>>();
        let branch: Vec<String> = [(Status::Stick, "stick"), (Status::Slip, "slip"), (Status::Open, "open")]
            .into_iter()
            .filter(|(status, _)| !of(*status).is_empty())
            .map(|(status, word)| format!("{word}: {}", names(o, &of(status))))
            .collect();
        lines.push(format!(
            "motion not unique: first at t = {time:.6} s, at the contacts that follow; the branch taken has {}",
            branch.join("; ")
        ));
    }
    if s.rested > 0 {
        lines.push(format!(
            "kept at rest in {}, first in the step to t = {:.6} s: a solution at rest exists, and the solver found another motion; step.branch = \"nearest\" follows that",
            steps(s.rested),
            s.first_rested
        ));
    }
    let several = s.trust[Trust::ForcesNotUnique as usize] + s.trust[Trust::MotionNotUnique as usize] > 0;
    if several {
        let but =
            |n: usize, what: &str| if n > 0 { format!("; in {} {what}", steps(n)) } else { String::new() };
        lines.push(format!(
            "of several forces those are taken that equal, vanishing compliance gives{}{}",
            but(s.near, "only near it, since contacts change state down to the least compliance"),
            but(s.unchosen, "there is no such limit, or it was not examined")
        ));
    }
    lines.extend(s.branches.iter().map(|e| branch_words(o, e)));
    if let Some(e) = &s.first_impact {
        let (time, contact, impulse) = (e.time, contact_name(o, e), e.impulse);
        lines.push(format!(
            "no rigid solution with this slip at t = {time:.6} s: an impact without collision at {contact}, {impulse:.3e} N s"
        ));
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
    let (time, contact) = (e.time, contact_name(o, e));
    let what = match e.kind {
        EventKind::Branch => "one of several motions is followed",
        EventKind::BranchEndsForce => "that motion ends: the normal force vanishes",
        EventKind::BranchEndsSlip => "that motion ends: the slip stops",
        EventKind::BranchEndsFriction => "that motion ends: friction reaches its bound",
        EventKind::BranchEndsTouch => "that motion ends: a contact touches",
        EventKind::BranchEndsJoint => "that motion ends: a joint's limit or friction changes",
        _ => "that motion is the only one from here on",
    };
    format!("t = {time:.6} s, {contact}: {what}")
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

/// Whether forces are unique; `None` if there are none.
fn force_words(forces: &Forces) -> Option<String> {
    Some(match forces {
        Forces::None => return None,
        Forces::Unknown(why) => format!("not known whether they are unique: {why}"),
        Forces::Known(found, _) if found.dimension_at_most == 0 => "determined at the end".to_owned(),
        Forces::Known(found, elements) => {
            let (least, most) = (found.dimension, found.dimension_at_most);
            let dimensions = match least == most {
                true => format!("{least} dimension{}", if least == 1 { "" } else { "s" }),
                false => format!("{least} to {most} dimensions"),
            };
            let normal = found
                .undetermined_normal()
                .map_or(String::new(), |n| format!(" ({} normal forces)", n.len()));
            let moved = found.undetermined.len();
            format!(
                "not unique: {dimensions}, {moved} of {elements} elements{normal} undetermined at the end"
            )
        }
    })
}

/// The one line that `--quiet` leaves.
pub fn outcome_line(o: &Outcome) -> String {
    format!("{}\n", outcome_words(o))
}

pub fn json(o: &Outcome) -> String {
    let s = &o.summary;
    let counts: serde_json::Map<String, Value> =
        EventKind::ALL.iter().map(|k| (k.name().to_owned(), s.count(*k).into())).collect();
    let object = json!({
        "file": o.file,
        "scene": o.model.scene().name,
        "status": match o.ended {
            Ended::Finished => "finished",
            Ended::Interrupted => "interrupted",
            Ended::Failed(_) => "failed",
        },
        "failure": if let Ended::Failed(why) = &o.ended { Some(why.to_string()) } else { None },
        "time": o.time,
        "steps": s.steps,
        "steps_asked": o.asked,
        "h": o.model.scene().step.h,
        "seconds": o.wall.as_secs_f64(),
        "recording_seconds": o.spent.as_secs_f64(),
        "us_per_step": per_step(o),
        "residual": {"absolute": s.worst.0.absolute, "relative": s.worst.0.relative, "time": s.worst.1},
        "solvers": s.solvers.iter().map(|(name, n)| ((*name).to_owned(), (*n).into())).collect::<serde_json::Map<String, Value>>(),
        "iterations": s.iterations,
        "wasted": s.wasted,
        "cut": s.cut.iter().map(|(t, n)| json!({"time": t, "parts": n})).collect::<Vec<_>>(),
        "warnings": o.warnings,
        "stability": o.unstable,
        "misfit": o.misfit,
        "overlaps": o.overlaps,
        "relaxed_steps": s.relaxed,
        "loose_steps": s.loose,
        "time_steps": s.stepped,
        "time_steps_seconds": s.stepped_time,
        "rested_steps": s.rested,
        "near_steps": s.near,
        "unchosen_steps": s.unchosen,
        "trust": Trust::ALL.iter().zip(s.trust).map(|(t, n)| (t.name().to_owned(), n.into())).collect::<serde_json::Map<String, Value>>(),
        "impact": s.first_impact.map(|e| json!({"time": e.time, "contact": contact_name(o, &e), "impulse": e.impulse})),
        "model": (s.auto_time > 0.0).then(|| json!({"time": s.auto_time, "compliant_time": s.compliant_time})),
        "events": counts,
        "first_events": s.first_events.iter().map(|e| json!({
            "time": e.time,
            "contact": contact_name(o, e),
            "element": e.element,
            "event": e.kind.name(),
        })).collect::<Vec<_>>(),
        "forces": match &o.forces {
            Forces::None => Value::Null,
            Forces::Unknown(why) => json!({"unknown": why}),
            Forces::Known(found, elements) => json!({
                "freedom": found.dimension,
                "freedom_at_most": found.dimension_at_most,
                "elements": elements,
                "undetermined": found.undetermined.len(),
                "undetermined_normal": found.undetermined_normal().map(|n| n.len()),
            }),
        },
        "problems": o.problems.iter().map(|p| json!({
            "file": p.file.display().to_string(),
            "time": p.time,
            // of a step that failed nobody counts
            "iterations": (p.work < usize::MAX).then_some(p.work),
            "solver": p.answer.map(|a| a.0),
            "residual": p.answer.map(|a| a.1),
        })).collect::<Vec<_>>(),
        "energy": energy_json(s),
        "recording": o.recording.display().to_string(),
    });
    format!("{object:#}\n")
}

/// Energies at the start and the end; losses and works; what became of their sum.
fn energy_json(s: &Summary) -> Value {
    let values = |balance: &Balance, stored: bool| -> serde_json::Map<String, Value> {
        let entries = ENTRIES.iter().zip(balance).filter(|(entry, _)| entry.is_stored() == stored);
        entries.map(|(entry, x)| (entry.name.to_owned(), (*x).into())).collect()
    };
    let mut object = values(&s.now, false);
    object.extend([
        ("start".to_owned(), values(&s.start, true).into()),
        ("end".to_owned(), values(&s.now, true).into()),
        ("largest_change".to_owned(), s.largest_change.into()),
        ("error".to_owned(), s.balance_error().into()),
        ("relative_error".to_owned(), s.relative_balance_error().into()),
    ]);
    object.into()
}

fn outcome_words(o: &Outcome) -> String {
    let (scene, made) = (o.model.scene(), o.summary.steps);
    let name = &scene.name;
    let of = || format!("{made} of {}", steps(o.asked));
    match &o.ended {
        Ended::Finished => {
            format!("{name}: {} of {} s, t = {:.6} s reached", steps(made), scene.step.h, o.time)
        }
        Ended::Interrupted => format!("{name}: interrupted at t = {:.6} s, after {}", o.time, of()),
        Ended::Failed(why) => format!("{name}: failed after {}, t = {:.6} s: {why}", of(), o.time),
    }
}

fn contact_name(o: &Outcome, e: &Event) -> String {
    o.model.contact_name(e.contact).unwrap_or_default()
}

fn event_words(o: &Outcome, e: &Event) -> String {
    let contact = contact_name(o, e);
    format!("t = {:.6} s  {:<5}  {contact}, element {}", e.time, e.kind.name(), e.element)
}

fn duration(d: Duration) -> String {
    let seconds = d.as_secs_f64();
    if seconds < 1.0 { format!("{:.2} ms", 1e3 * seconds) } else { format!("{seconds:.2} s") }
}

fn steps(n: usize) -> String {
    if n == 1 { "1 step".to_owned() } else { format!("{n} steps") }
}

fn per_step(o: &Outcome) -> f64 {
    1e6 * o.wall.as_secs_f64() / o.summary.steps.max(1) as f64
}

/// Energy made is reported from this share of the kinetic energy on.
const SMALL: f64 = 1e-4;

/// Whether the sum of energies and losses grew by a share of the largest change, and not by rounding nor by a small share of the
/// kinetic energy: where that hardly changes, errors of the time step are all there is to change.
fn made(s: &Summary) -> bool {
    let stored = |b: &Balance| -> f64 {
        ENTRIES.iter().zip(b).filter(|(entry, _)| entry.is_stored()).map(|(_, x)| x.abs()).sum()
    };
    let largest = [stored(&s.start), stored(&s.now)];
    let kinetic =
        ENTRIES.iter().position(|entry| entry.name == "kinetic").map_or(0.0, |k| s.start[k].max(s.now[k]));
    s.relative_balance_error() > MADE
        && s.balance_error() > (ROUNDING * largest[0].max(largest[1])).max(SMALL * kinetic)
}
