//! The answer as text and as one JSON object.

use super::Found;
use serde_json::{Value, json};
use std::fmt::Write;
use stiction::analysis::accelerate::{Jam, Possible, Solutions};

/// Solutions that are printed as text.
const SHOWN: usize = 6;

pub fn text(found: &Found) -> String {
    let (answer, scene) = (&found.answer, found.model.scene());
    let mut out = String::new();
    let slipping = answer.contacts.iter().filter(|c| c.slips).count();
    let _ = writeln!(
        out,
        "{} at t = {} s: {} contacts ({} stick, {slipping} slip){}",
        scene.name,
        found.state.time,
        answer.contacts.len(),
        answer.contacts.len() - slipping,
        if answer.quasistatic { ", quasistatic" } else { "" }
    );
    for warning in &found.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    law(&mut out, "pyramid", &answer.pyramid);
    if let Some(cone) = &answer.cone {
        law(&mut out, "cone", cone);
    }
    let list = &answer.pyramid.list;
    let shown = if list.is_empty() { answer.cone.as_ref().map_or(&[][..], |c| &c.list) } else { list };
    for (k, possible) in shown.iter().take(SHOWN).enumerate() {
        solution(&mut out, found, possible, (k, shown.len()));
    }
    if shown.len() > SHOWN {
        let _ = writeln!(out, "... {} more solutions (--json lists them all)", shown.len() - SHOWN);
    }
    if list.len() > 1 || list.iter().any(|p| p.dimension > 0) {
        for (contact, [low, high]) in answer.contacts.iter().zip(&answer.ranges) {
            let name = found.model.contact_name(contact.id).unwrap_or_default();
            let _ = writeln!(
                out,
                "range     {name:24} normal force from {} to {} N",
                number(*low),
                number(*high)
            );
        }
    }
    for sentence in answer.words() {
        let _ = writeln!(out, "{sentence}");
    }
    out
}

fn law(out: &mut String, name: &str, s: &Solutions) {
    let _ = write!(out, "{name:9} {} ({}, {} iterations", s.status, s.solver, s.iterations);
    if let Some(worst) = s.list.iter().map(|p| p.residual.relative).reduce(f64::max) {
        let _ = write!(out, ", relative residual {worst:.1e}");
    }
    out.push(')');
    if let Some(reason) = &s.reason {
        let _ = write!(out, ": {reason}");
    }
    out.push('\n');
}

fn solution(out: &mut String, found: &Found, p: &Possible, (k, of): (usize, usize)) {
    let (model, answer) = (&found.model, &found.answer);
    if of > 1 || p.dimension > 0 {
        let kind = match (p.dimension, p.unbounded) {
            (0, _) => String::new(),
            (d, false) => format!(", a point of a continuum of dimension {d}"),
            (d, true) => {
                format!(", a point of a continuum of dimension {d} on which forces grow without bound")
            }
        };
        let _ = writeln!(out, "solution {} of {of}{kind}", k + 1);
    }
    for (at, c) in answer.contacts.iter().zip(&p.contacts) {
        let name = model.contact_name(at.id).unwrap_or_default();
        let planar = model.scene().planar;
        let _ = write!(
            out,
            "contact   {name:24} force {} N",
            list(if planar { &c.force[..2] } else { &c.force })
        );
        if c.moment != [0.0; 3] {
            let _ = write!(out, ", moment {} N m", list(&c.moment));
        }
        let _ = writeln!(out, "  {}", c.transition.name());
    }
    for (index, force) in answer.standing.iter().zip(&p.standing) {
        let name = model.standing()[*index].name(model.scene());
        let _ = writeln!(out, "joint row {name:24} effort {}", number(*force));
    }
    for (i, body) in model.scene().bodies.iter().enumerate() {
        let dofs = model.system().dofs(i);
        if dofs.is_empty() {
            continue;
        }
        let what = if answer.quasistatic { "moves by" } else { "accelerates by" };
        let _ = writeln!(out, "body      {:24} {what} {}", body.name, list(&p.accelerations[dofs]));
    }
    for (dof, effort) in found.given.iter().zip(&p.efforts) {
        let _ =
            writeln!(out, "effort    {:24} {}", name_of(found, *dof), number(effort + found.efforts[*dof]));
    }
}

/// Name of a degree of freedom, as options take it.
fn name_of(found: &Found, dof: usize) -> String {
    let bodies = found.model.scene().bodies.iter().enumerate();
    let own = bodies.map(|(i, b)| (b, found.model.system().dofs(i))).find(|(_, dofs)| dofs.contains(&dof));
    match own {
        Some((body, dofs)) if dofs.len() == 1 => body.name.clone(),
        Some((body, dofs)) => format!("{}:{}", body.name, dof - dofs.start),
        None => String::new(),
    }
}

fn number(x: f64) -> String {
    match x {
        x if x.is_infinite() => if x > 0.0 { "infinity" } else { "-infinity" }.to_owned(),
        x if x == 0.0 || (1e-3..1e6).contains(&x.abs()) => format!("{:.6}", if x == 0.0 { 0.0 } else { x }),
        x => format!("{x:.4e}"),
    }
}

fn list(numbers: &[f64]) -> String {
    // what is rounding beside the largest is zero
    let largest = numbers.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let clean = |x: f64| if x.abs() <= 1e-13 * largest { 0.0 } else { x };
    format!("[{}]", numbers.iter().map(|x| number(clean(*x))).collect::<Vec<_>>().join(", "))
}

pub fn json(found: &Found) -> String {
    let (answer, scene) = (&found.answer, found.model.scene());
    let name = |k: usize| found.model.contact_name(answer.contacts[k].id).unwrap_or_default();
    let ranges: Vec<Value> = (answer.ranges.iter().enumerate())
        .map(|(k, [low, high])| json!({ "contact": name(k), "normal": [finite(*low), finite(*high)] }))
        .collect();
    let contacts: Vec<Value> = (answer.contacts.iter().enumerate())
        .map(|(k, c)| {
            json!({
                "name": name(k),
                "state": if c.slips { "slip" } else { "stick" },
                "friction": c.mu,
                "point": c.point,
                "normal": c.frame.n,
                "tangent": c.frame.t,
                "velocity": c.velocity,
            })
        })
        .collect();
    let conditions = answer.conditions.as_ref().map(|c| {
        let (jam, least) = match c.jam {
            Jam::None => ("no-balanced-forces", None),
            Jam::Holds => ("holds", None),
            Jam::Fails(value) => ("fails", finite(value)),
            Jam::Unknown => ("not-examined", None),
        };
        json!({
            "rows": c.rows,
            "rank": c.rank,
            "condition_36": jam,
            "condition_36_least": least,
            "positive_definite": c.positive_definite,
            "p_matrix": c.p_matrix,
            "mu_bar_existence": c.mu_bar_existence.and_then(finite),
            "mu_bar_uniqueness": c.mu_bar_uniqueness.and_then(finite),
            "exists": c.exists,
            "unique": c.unique,
        })
    });
    let object = json!({
        "scene": scene.name,
        "time": found.state.time,
        "quasistatic": answer.quasistatic,
        "status": answer.status(),
        "trust": answer.trust().name(),
        "contacts": contacts,
        "solver": answer.pyramid.solver,
        "iterations": answer.pyramid.iterations,
        "complete": answer.pyramid.complete,
        "reason": answer.pyramid.reason,
        "solutions": solutions(found, &answer.pyramid),
        "proof": answer.pyramid.proof.as_ref().map(|p| json!({ "nodes": p.nodes.len(), "radius": finite(p.radius), "verified": true })),
        "ranges": ranges,
        "cone": answer.cone.as_ref().map(|c| json!({
            "status": c.status, "solver": c.solver, "iterations": c.iterations, "reason": c.reason, "solutions": solutions(found, c),
        })),
        "conditions": conditions,
        "words": answer.words(),
        "warnings": found.warnings,
    });
    format!("{object:#}\n")
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn solutions(found: &Found, s: &Solutions) -> Vec<Value> {
    let (model, answer) = (&found.model, &found.answer);
    let one = |p: &Possible| {
        let bodies = model.scene().bodies.iter().enumerate();
        let by_body: serde_json::Map<String, Value> =
            bodies.map(|(i, b)| (b.name.clone(), json!(p.accelerations[model.system().dofs(i)]))).collect();
        let efforts: serde_json::Map<String, Value> = (found.given.iter().zip(&p.efforts))
            .map(|(dof, e)| (name_of(found, *dof), json!(e + found.efforts[*dof])))
            .collect();
        let contacts: Vec<Value> = (answer.contacts.iter().zip(&p.contacts))
            .map(|(at, c)| {
                json!({
                    "name": model.contact_name(at.id).unwrap_or_default(),
                    "force": c.force,
                    "moment": c.moment,
                    "force_world": at.frame.world(c.force),
                    "acceleration": c.acceleration,
                    "transition": c.transition.name(),
                })
            })
            .collect();
        let standing: Vec<Value> = (answer.standing.iter().zip(&p.standing))
            .map(|(i, f)| json!({ "name": model.standing()[*i].name(model.scene()), "effort": f }))
            .collect();
        let ranges: Vec<Value> =
            p.ranges.iter().map(|[low, high]| json!([finite(*low), finite(*high)])).collect();
        json!({
            if answer.quasistatic { "displacements" } else { "accelerations" }: by_body,
            "efforts": efforts,
            "contacts": contacts,
            "joint_rows": standing,
            "residual": p.residual.relative,
            "dimension": p.dimension,
            "motion_dimension": p.motion_dimension,
            "unbounded": p.unbounded,
            "ranges": ranges,
            "within_cone": p.within_cone,
        })
    };
    s.list.iter().map(one).collect()
}
