//! A run in words, and as one JSON object.

use super::{End, Forces, Outcome};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;
use stiction::contact::Law;
use stiction::record::{Event, EventKind, Summary};
use stiction::step::Energy;

/// Cut steps and events that are shown; the tables have them all.
const SHOWN: usize = 5;
/// Share of the largest change of any energy above which energy was made; and share of the energies that is rounding.
const MADE: f64 = 0.01;
const ROUNDING: f64 = 1e-9;
/// Iterations a step above which rigid contacts are hard.
const HARD: usize = 200;

pub fn text(o: &Outcome) -> String {
    let s = o.recorder.summary();
    let mut lines = vec![("outcome", outcome_words(o))];
    let (wall, recording) = (duration(o.wall), duration(o.recording));
    lines.push(("time", format!("{wall}, {:.2} us a step; {recording} of it recording", per_step(o))));
    let (worst, at) = s.worst;
    lines.push(("residual", format!("worst {:.1e} relative, at t = {at:.6} s", worst.relative)));
    let solvers: Vec<String> = s.solvers.iter().map(|(name, n)| format!("{name} in {}", steps(*n))).collect();
    if !solvers.is_empty() {
        let work = format!("{} iterations, {} more in vain", s.iterations, s.wasted);
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
    let counts = EventKind::ALL.map(|k| format!("{} {}", s.count(k), k.name()));
    lines.push(("events", counts.join(", ")));
    lines.extend(s.first_events.iter().take(SHOWN).map(|e| ("", event_words(o, e))));
    if s.events.iter().sum::<usize>() > SHOWN {
        lines.push(("", "...".to_owned()));
    }
    lines.extend(force_words(&o.forces).map(|words| ("forces", words)));
    let energy = |e: &Energy| {
        format!("kinetic {:.6e}, potential {:.6e}, elastic {:.6e} J", e.kinetic, e.potential, e.elastic)
    };
    lines.push(("energy", format!("{} at the start", energy(&s.start))));
    lines.push(("", format!("{} at the end", energy(&s.now))));
    lines.push((
        "",
        format!("lost to friction {:.6e}, to contact dampers {:.6e} J", s.friction_loss, s.damping_loss),
    ));
    if s.work != 0.0 {
        lines.push(("", format!("work of loads, motors and spring dampers {:.6e} J", s.work)));
    }
    lines.push((
        "",
        format!(
            "the sum changed by {:+.2e} J, {:.1e} of the largest change",
            s.balance_error(),
            s.relative_balance_error().abs()
        ),
    ));
    if made(s) {
        let explicit = o.stepper.scene().step.explicit_share > 0.0;
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
    lines.push(("recording", o.recorder.folder().display().to_string()));
    let mut out = String::new();
    for (head, line) in lines {
        // writing to a String cannot fail
        let _ = writeln!(out, "{head:<9} {line}");
    }
    out
}

/// Whether some contacts may be rigid and steps took many iterations.
fn rigid_and_hard(o: &Outcome) -> bool {
    let s = o.recorder.summary();
    let rigid = o.stepper.scene().laws.contains(&Law::Rigid);
    rigid && s.iterations + s.wasted > HARD * s.steps
}

/// Whether forces are unique; `None` if there are none.
fn force_words(forces: &Forces) -> Option<String> {
    Some(match forces {
        Forces::None => return None,
        Forces::Unknown(why) => format!("not known whether they are unique: {why}"),
        Forces::Known(found, _) if found.freedom == 0 => "determined at the end".to_owned(),
        Forces::Known(found, elements) => format!(
            "not unique: {} dimension{}, {} of {elements} elements ({} normal forces) undetermined at the end",
            found.freedom,
            if found.freedom == 1 { "" } else { "s" },
            found.undetermined.len(),
            found.undetermined_normal.len()
        ),
    })
}

/// The one line that `--quiet` leaves.
pub fn outcome_line(o: &Outcome) -> String {
    format!("{}\n", outcome_words(o))
}

pub fn json(o: &Outcome) -> String {
    let s = o.recorder.summary();
    let energy = |e: &Energy| json!({"kinetic": e.kinetic, "potential": e.potential, "elastic": e.elastic});
    let counts: serde_json::Map<String, Value> =
        EventKind::ALL.iter().map(|k| (k.name().to_owned(), s.count(*k).into())).collect();
    let object = json!({
        "file": o.file,
        "scene": o.stepper.scene().name,
        "status": match o.end {
            End::Finished => "finished",
            End::Interrupted => "interrupted",
            End::Failed(_) => "failed",
        },
        "failure": if let End::Failed(why) = &o.end { Some(why) } else { None },
        "time": o.time,
        "steps": s.steps,
        "steps_asked": o.asked,
        "h": o.stepper.scene().step.h,
        "seconds": o.wall.as_secs_f64(),
        "recording_seconds": o.recording.as_secs_f64(),
        "us_per_step": per_step(o),
        "residual": {"absolute": s.worst.0.absolute, "relative": s.worst.0.relative, "time": s.worst.1},
        "solvers": s.solvers.iter().map(|(name, n)| ((*name).to_owned(), (*n).into())).collect::<serde_json::Map<String, Value>>(),
        "iterations": s.iterations,
        "wasted": s.wasted,
        "cut": s.cut.iter().map(|(t, n)| json!({"time": t, "parts": n})).collect::<Vec<_>>(),
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
                "freedom": found.freedom,
                "elements": elements,
                "undetermined": found.undetermined.len(),
                "undetermined_normal": found.undetermined_normal.len(),
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
        "energy": {
            "start": energy(&s.start),
            "end": energy(&s.now),
            "friction_loss": s.friction_loss,
            "damping_loss": s.damping_loss,
            "largest_change": s.largest_change,
            "work": s.work,
            "error": s.balance_error(),
            "relative_error": s.relative_balance_error(),
        },
        "recording": o.recorder.folder().display().to_string(),
    });
    format!("{object:#}\n")
}

fn outcome_words(o: &Outcome) -> String {
    let (scene, made) = (o.stepper.scene(), o.recorder.summary().steps);
    let name = &scene.name;
    let of = || format!("{made} of {}", steps(o.asked));
    match &o.end {
        End::Finished => {
            format!("{name}: {} of {} s, t = {:.6} s reached", steps(made), scene.step.h, o.time)
        }
        End::Interrupted => format!("{name}: interrupted at t = {:.6} s, after {}", o.time, of()),
        End::Failed(why) => format!("{name}: failed after {}, t = {:.6} s: {why}", of(), o.time),
    }
}

fn contact_name(o: &Outcome, e: &Event) -> String {
    o.stepper.model().contact_name(e.contact).unwrap_or_default()
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
    1e6 * o.wall.as_secs_f64() / o.recorder.summary().steps.max(1) as f64
}

/// Whether the sum of energies and losses grew by a share of the largest change, and not by rounding.
fn made(s: &Summary) -> bool {
    let largest = [s.start, s.now].map(|e| e.kinetic.abs() + e.potential.abs() + e.elastic.abs());
    s.relative_balance_error() > MADE && s.balance_error() > ROUNDING * largest[0].max(largest[1])
}
