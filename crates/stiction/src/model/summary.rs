//! Summary of a scene in a few lines.

use super::{Model, Resolved, Rule};
use crate::contact::short;
use crate::dynamics::Inertia;
use crate::scene::{ForceTime, FrictionKind, GapLevel, Scheme};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Largest number of bodies that are listed one by one.
const LISTED: usize = 30;
/// Products of inertia up to this share of the moments, and places up to this share of the radius of gyration, are rounding.
const OFF: f64 = 1e-12;
/// Largest number of shapes whose pairs are counted.
const COUNTED: usize = 1000;

/// Summary of a scene: bodies, joints, degrees of freedom, contact pairs and their laws, time steps.
pub fn summary(model: &Model) -> String {
    let scene = model.scene();
    let mut lines = vec![heading(scene)];
    for (i, body) in scene.bodies.iter().enumerate().take(LISTED) {
        let parent = body.link.parent.map_or("world", |p| scene.bodies[p].name.as_str());
        let shapes = count(body.parts.len(), "shape");
        let (name, joint, mass) = (&body.name, body.link.joint.name(), short(body.link.inertia.mass));
        let inertia = inertia_words(&body.link.inertia, scene.planar);
        lines.push(format!("  body {i} '{name}': {joint} on {parent}, {mass} kg{inertia}, {shapes}"));
    }
    if scene.bodies.len() > LISTED {
        lines.push(format!("  and {} more", scene.bodies.len() - LISTED));
    }
    contacts(model, &mut lines);
    let forces = [
        ("load", scene.loads.len()),
        ("spring", scene.springs.len()),
        ("motor", scene.motors.len()),
        ("loop", scene.loops.len()),
        ("gear", scene.gears.len()),
    ];
    let forces: Vec<String> =
        forces.iter().filter(|(_, n)| *n > 0).map(|(what, n)| count(*n, what)).collect();
    if !forces.is_empty() {
        lines.push(forces.join(", "));
    }
    lines.push(steps(scene));
    lines.join("\n") + "\n"
}

/// Centre of mass and inertia about it; of a tensor whose axes are not the body's all six numbers.
fn inertia_words(inertia: &Inertia, planar: bool) -> String {
    let (center, t) = (inertia.center, inertia.tensor);
    if inertia.mass == 0.0 {
        return String::new();
    }
    let list = |numbers: &[f64]| numbers.iter().map(|x| short(*x)).collect::<Vec<_>>().join(", ");
    let size = ((t[0][0] + t[1][1] + t[2][2]) / inertia.mass).sqrt();
    let center = center.map(|x| if x.abs() <= OFF * size { 0.0 } else { x });
    let center = list(if planar { &center[..2] } else { &center });
    let off = [t[0][1], t[0][2], t[1][2]];
    let moments = match () {
        () if planar => short(t[2][2]),
        () if off.iter().all(|x| x.abs() <= OFF * (t[0][0] + t[1][1] + t[2][2])) => {
            format!("[{}]", list(&[t[0][0], t[1][1], t[2][2]]))
        }
        () => format!("[{}]", list(&[t[0][0], t[1][1], t[2][2], off[0], off[1], off[2]])),
    };
    format!(" at [{center}] m, inertia {moments} kg m^2")
}

fn heading(scene: &Resolved) -> String {
    let freedom: usize = scene.bodies.iter().map(|b| b.velocity.len()).sum();
    let trees = scene.bodies.iter().filter(|b| b.link.parent.is_none()).count();
    let kind = if scene.planar { "planar" } else { "spatial" };
    let bodies = match scene.bodies.len() {
        1 => "1 body".to_owned(),
        n => format!("{n} bodies"),
    };
    let (trees, freedom) = (count(trees, "tree"), count(freedom, "degree"));
    let world = count(scene.world.len(), "world shape");
    format!("{}: {kind}, {bodies} in {trees}, {freedom} of freedom, {world}", scene.name)
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Pairs of parts that can touch, counted by their materials, law and friction.
fn contacts(model: &Model, lines: &mut Vec<String>) {
    let (scene, parts) = (model.scene(), model.parts());
    if parts.len() > COUNTED {
        lines.push(format!("{} (pairs that can touch are not counted)", count(parts.len(), "shape")));
        lines.extend(model.contacts().rules().iter().map(|rule| format!("  {}", rule_words(scene, rule))));
        return;
    }
    let mut pairs = BTreeSet::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for i in 0..parts.len() {
        for j in i + 1..parts.len() {
            let Some((_, rule)) = model.contacts().find([i as u32, j as u32]) else { continue };
            pairs.insert([parts[i].owner, parts[j].owner]);
            *kinds.entry(rule_words(scene, &model.contacts().rules()[rule])).or_default() += 1;
        }
    }
    lines.push(format!("{} can touch", count(pairs.len(), "pair")));
    lines.extend(kinds.iter().map(|(kind, n)| format!("  {n} x {kind}")));
}

fn rule_words(scene: &Resolved, rule: &Rule) -> String {
    let mut names = rule.materials.map(|k| scene.materials[k].name.as_str());
    names.sort_unstable();
    let (place, [first, second], rule) = (place_words(scene, rule), names, &rule.given);
    let mut words =
        format!("{first} on {second}: {}, friction {}", rule.law.describe(), short(rule.friction));
    if rule.friction_set != scene.step.friction {
        words += &format!(", {}", set(rule.friction_set));
    }
    if let Some(grain) = rule.grain {
        let of = scene.name_of(grain.of);
        words += &format!(" along the grain of '{of}', {} across", short(grain.across));
    }
    for (what, length) in [("torsion", rule.torsion), ("rolling", rule.rolling)] {
        if length > 0.0 {
            words += &format!(", {what} {} m", short(length));
        }
    }
    if rule.restitution > 0.0 {
        words += &format!(", restitution {}", short(rule.restitution));
        if !rule.law.steps_rigid() {
            words += " without effect (contacts of a compliant law bounce by their stiffness and damping)";
        }
    }
    if !rule.law.steps_rigid() {
        words += &format!(", {place}");
    }
    words
}

/// Where the force acts between the two undeformed surfaces.
fn place_words(scene: &Resolved, rule: &Rule) -> String {
    let [first, second] = rule.materials.map(|k| scene.materials[k].name.as_str());
    match rule.given.share {
        _ if rule.meets_between_layers() => "force where the two layers meet".to_owned(),
        0.5 => "force in the middle of the overlap".to_owned(),
        share if share == 0.0 || share == 1.0 => match () {
            () if first == second => "force on the surface of one of the two".to_owned(),
            () => format!("force on the surface of {}", if share == 0.0 { first } else { second }),
        },
        share => format!("{first} takes {} % of the overlap", short((1000.0 * share).round() / 10.0)),
    }
}

fn set(kind: FrictionKind) -> String {
    match kind {
        FrictionKind::Frictionless => "no friction".to_owned(),
        FrictionKind::Cone => "Coulomb's cone".to_owned(),
        FrictionKind::Pyramid => "friction pyramid".to_owned(),
        FrictionKind::Polygon { sides } => format!("friction {sides}-gon"),
        FrictionKind::Smooth { velocity } => {
            format!("smooth friction (slip velocity {} m/s)", short(velocity))
        }
    }
}

fn steps(scene: &Resolved) -> String {
    let step = &scene.step;
    let mut text = format!("{} of {} s: {} s", count(step.count(), "step"), step.h, step.duration);
    let scheme = match step.scheme {
        Scheme::Theta | Scheme::Implicit => None,
        Scheme::Compliant => Some("compliant contacts as differential equations"),
        Scheme::Event => Some("rigid motion with located events"),
    };
    if let Some(scheme) = scheme {
        // writing to a string cannot fail
        let _ = write!(
            text,
            ", {scheme} to {}, {}; recorded every {} s",
            short(step.accuracy),
            set(step.friction),
            scene.record.interval
        );
        return text;
    }
    let gap = match step.gap {
        GapLevel::Distance => "distance",
        GapLevel::Position => "position",
        GapLevel::Velocity => "velocity",
    };
    let friction = set(step.friction);
    let theta = step.explicit_share;
    let forces = if step.force_time() == ForceTime::Theta { "implicit forces, " } else { "" };
    // writing to a string cannot fail
    let _ = write!(
        text,
        ", theta {theta}, {forces}gaps at {gap} level, {friction}; recorded every {} s",
        scene.record.interval
    );
    text
}
