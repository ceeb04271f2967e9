//! A run as one JSON object.

use super::words::contact_name;
use super::{Forces, Outcome};
use serde_json::{Value, json};
use stiction::run::{Balance, ENTRIES, Ended, EventKind, Summary};
use stiction::step::Trust;

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
        "residual": {
            "absolute": s.worst.0.absolute,
            "relative": s.worst.0.relative,
            "natural": s.worst.0.natural,
            "element": s.worst.0.element,
            "time": s.worst.1,
        },
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
        "left_midpoint_steps": s.left_midpoint,
        "time_steps_seconds": s.stepped_time,
        "rested_steps": s.rested.steps,
        "left_rest_steps": s.left_rest.steps,
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
        "motion_warnings": s.motion_warnings(&o.model).into_iter().map(|w| json!({
            "steps": w.steps, "first": w.first, "places": w.places, "message": w.message
        })).collect::<Vec<_>>(),
        "energy_warnings": s.energy_warnings(&o.model).into_iter().map(|w| json!({
            "place": w.place,
            "energy": w.energy,
            "first": w.first,
            "worst": w.worst,
            "message": w.message,
        })).collect::<Vec<_>>(),
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

fn per_step(o: &Outcome) -> f64 {
    1e6 * o.wall.as_secs_f64() / o.summary.steps.max(1) as f64
}
