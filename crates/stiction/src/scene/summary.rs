//! A scene in a few lines.

use super::{FrictionKind, GapLevel, Scene};
use crate::contact::{Influence, Law, PatchDamping};
use crate::dynamics::Joint;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Most bodies that are listed one by one.
const LISTED: usize = 30;

/// What a scene holds: bodies, joints, degrees of freedom, contact pairs and their laws, steps.
pub fn summary(scene: &Scene) -> String {
    let mut lines = vec![heading(scene)];
    for (i, body) in scene.bodies.iter().enumerate().take(LISTED) {
        let parent = body.link.parent.map_or("world", |p| scene.bodies[p].name.as_str());
        let shapes = match body.parts.len() {
            0 => "no shape".to_owned(),
            1 => "1 shape".to_owned(),
            n => format!("{n} shapes"),
        };
        let (name, joint, mass) = (&body.name, joint(&body.link.joint), body.link.inertia.mass);
        lines.push(format!("  body {i} '{name}': {joint} on {parent}, {mass} kg, {shapes}"));
    }
    if scene.bodies.len() > LISTED {
        lines.push(format!("  and {} more", scene.bodies.len() - LISTED));
    }
    contacts(scene, &mut lines);
    let forces =
        [("loads", scene.loads.len()), ("springs", scene.springs.len()), ("motors", scene.motors.len())];
    let forces: Vec<String> =
        forces.iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{n} {what}")).collect();
    if !forces.is_empty() {
        lines.push(forces.join(", "));
    }
    lines.push(steps(scene));
    lines.join("\n") + "\n"
}

fn heading(scene: &Scene) -> String {
    let freedom: usize = scene.bodies.iter().map(|b| b.velocity.len()).sum();
    let trees = scene.bodies.iter().filter(|b| b.link.parent.is_none()).count();
    let kind = if scene.planar { "planar" } else { "spatial" };
    format!(
        "{}: {kind}, {} bodies in {trees} trees, {freedom} degrees of freedom, {} world shapes",
        scene.name,
        scene.bodies.len(),
        scene.world.len()
    )
}

fn joint(joint: &Joint) -> &'static str {
    match joint {
        Joint::Free => "free",
        Joint::Planar => "planar",
        Joint::Revolute { .. } => "revolute",
        Joint::Prismatic { .. } => "prismatic",
        Joint::Spherical => "spherical",
        Joint::Fixed => "fixed",
    }
}

/// Pairs that can touch, counted by their materials, law and friction.
fn contacts(scene: &Scene, lines: &mut Vec<String>) {
    let pairs = scene.touching_owners();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for &[a, b] in &pairs {
        for p in scene.parts(a) {
            for q in scene.parts(b) {
                let Some(rule) = scene.contact_rule((a, p.material), (b, q.material)) else { continue };
                let mut names = [p, q].map(|part| scene.materials[part.material].name.as_str());
                names.sort_unstable();
                let [first, second] = names;
                let kind = format!("{first} on {second}: {}, friction {}", law(&rule.law), rule.friction);
                *kinds.entry(kind).or_default() += 1;
            }
        }
    }
    lines.push(format!("{} pairs of bodies can touch", pairs.len()));
    lines.extend(kinds.iter().map(|(kind, count)| format!("  {count} shape pairs, {kind}")));
}

fn law(law: &Law) -> String {
    match law {
        Law::Rigid => "rigid".to_owned(),
        Law::KelvinVoigt { stiffness: [kn, kt], damping: [cn, ct] } => {
            format!("Kelvin-Voigt (stiffness {kn:e}, {kt:e} N/m, damping {cn}, {ct} N s/m)")
        }
        Law::HalfSpace { elements, spacing, influence, damping } => {
            let influence = match influence {
                Influence::Rectangle => "rectangles",
                Influence::PointForce => "point forces",
            };
            let damping = match damping {
                PatchDamping::Root => "2 sqrt(K)".to_owned(),
                PatchDamping::Proportional { time } => format!("{time} s K"),
            };
            format!(
                "half-space patch ({elements} a side, {spacing:e} m apart, {influence}, damping {damping})"
            )
        }
    }
}

fn steps(scene: &Scene) -> String {
    let step = &scene.step;
    let mut text = format!("{} steps of {} s: {} s", step.count(), step.h, step.duration);
    let gap = match step.gap {
        GapLevel::Position => "position",
        GapLevel::Velocity => "velocity",
    };
    let friction = match step.friction {
        FrictionKind::Frictionless => "no friction".to_owned(),
        FrictionKind::Pyramid => "friction pyramid".to_owned(),
        FrictionKind::Polygon { sides } => format!("friction {sides}-gon"),
    };
    let theta = step.explicit_share;
    // writing to a string cannot fail
    let _ = write!(
        text,
        ", theta {theta}, gaps at {gap} level, {friction}; recorded every {} s",
        scene.record.interval
    );
    text
}
