//! What of a scene is allowed and most likely not meant, for a user to know before it runs.

use crate::contact::Law;
use crate::contact::set::ContactSet;
use crate::dynamics::Kinematics;
use crate::geometry::{Workspace, bounding_box, distance};
use crate::inputs::Inputs;
use crate::model::{Model, Owner, Part};
use crate::motion::{CLOSED, Motion, place};
use crate::scene::{Fault, Scheme};
use crate::space::{Pose, length};
use crate::state::State;
use crate::step::{Detection, Failed, detect};

/// Times at which the course of a world part is looked at.
const TIMES: usize = 64;
/// Most pairs of world parts whose courses are compared.
const MOST_PAIRS: usize = 2000;
/// World parts that meet deeper than this share of the smaller one pass through each other.
const THROUGH: f64 = 0.01;
/// Most warnings of one kind.
const MOST: usize = 5;

/// What is most likely not meant: of the scene's values, of the step, and of the state in which a run begins.
pub fn warnings(model: &Model, state: &State) -> Vec<Fault> {
    let mut found = model.scene().warnings.clone();
    found.extend(of_step(model, state));
    found.extend(of_impacts(model));
    found.extend(of_world(model));
    // a state that cannot be placed fails in its first step, with its cause
    let deep = deep_overlaps(model, state).unwrap_or_default();
    let more = deep.len().saturating_sub(MOST);
    found.extend(deep.into_iter().take(MOST).map(|words| warning("", words)));
    if more > 0 {
        found.push(warning("", format!("{more} more pairs overlap as deeply")));
    }
    found
}

fn warning(path: &str, message: impl Into<String>) -> Fault {
    Fault { path: path.to_owned(), message: message.into(), ..Fault::default() }
}

/// Least extent of a part, m; infinite where it has no end.
fn extent(part: &Part, planar: bool) -> f64 {
    let around = bounding_box(&part.solid, &Pose::IDENTITY, 0.0);
    (0..if planar { 2 } else { 3 }).map(|k| around.max[k] - around.min[k]).fold(f64::INFINITY, f64::min)
}

/// Steps in which a body moves farther than it is long: their contacts are found late, or not where they begin.
fn of_step(model: &Model, state: &State) -> Option<Fault> {
    let (scene, step) = (model.scene(), &model.scene().step);
    if !matches!(step.scheme, Scheme::Theta | Scheme::Implicit) || model.contacts().rules().is_empty() {
        return None;
    }
    let mut sizes = vec![0.0f64; scene.bodies.len()];
    for part in model.parts() {
        if let Owner::Body(i) = part.owner {
            sizes[i] = sizes[i].max(extent(part, scene.planar));
        }
    }
    let mut kinematics = Kinematics::new(model.system());
    kinematics.update(&state.position, &state.velocity);
    let fall = length(scene.gravity) * step.h;
    let moves = |i: &usize| sizes[*i] > 0.0 && model.system().tree_of(*i).is_some();
    let speed = |i: usize| length(kinematics.velocity(i).0).max(fall);
    let worst = (0..scene.bodies.len())
        .filter(moves)
        .max_by(|&a, &b| (speed(a) / sizes[a]).total_cmp(&(speed(b) / sizes[b])))?;
    let (far, size) = (speed(worst) * step.h, sizes[worst]);
    (far > size).then(|| {
        let name = &scene.bodies[worst].name;
        let by = if speed(worst) > fall { "its velocity" } else { "its weight" };
        let most = if speed(worst) > fall { size / speed(worst) } else { (size / length(scene.gravity)).sqrt() };
        warning(
            "step.h",
            format!(
                "in a step of {} s {by} moves '{name}' by {far:.2e} m, and it is only {size:.2e} m long: contacts are not resolved; take h below {:.1e} s",
                step.h, most
            ),
        )
    })
}

/// Impacts on springs that are over within a step.
fn of_impacts(model: &Model) -> Vec<Fault> {
    let (scene, h) = (model.scene(), model.scene().step.h);
    if !matches!(scene.step.scheme, Scheme::Theta | Scheme::Implicit) {
        return vec![];
    }
    let mut lightest = vec![f64::INFINITY; scene.materials.len()];
    for part in model.parts().iter().filter(|p| p.moves) {
        if let Owner::Body(i) = part.owner {
            let mass = scene.bodies[i].link.inertia.mass;
            if mass > 0.0 {
                lightest[part.material] = lightest[part.material].min(mass);
            }
        }
    }
    let mut found: Vec<Fault> = vec![];
    for rule in model.contacts().rules() {
        let (k, c) = match rule.given.law {
            Law::KelvinVoigt { stiffness, damping } | Law::Layer { stiffness, damping, .. } => {
                (stiffness[0], damping[0])
            }
            _ => continue,
        };
        let mass = rule.materials.iter().map(|&m| lightest[m]).fold(f64::INFINITY, f64::min);
        let lasts = std::f64::consts::PI * (mass / k).sqrt();
        // what is damped more does not rebound
        if mass.is_finite() && lasts < h && c < 2.0 * (k * mass).sqrt() {
            let [a, b] = rule.materials.map(|m| &scene.materials[m].name);
            let words = format!(
                "an impact of '{a}' on '{b}' lasts {lasts:.1e} s, less than a step of {h} s: it is damped by the step, and rebounds are lost; take h below {:.1e} s, or rigid contacts with restitution",
                0.1 * lasts
            );
            if found.len() < MOST && found.iter().all(|f| f.message != words) {
                found.push(warning("step.h", words));
            }
        }
    }
    found
}

/// Parts that overlap by more than half of the smaller one, or deeper than their patch: which way they part is chance.
fn deep_overlaps(model: &Model, state: &State) -> Result<Vec<String>, Failed> {
    let planar = model.scene().planar;
    let (mut motion, mut contacts) = (Motion::new(model), ContactSet::default());
    place(model, state, &Inputs::default(), model.scene().step.h, &mut motion)?;
    detect(model, &motion, CLOSED, &mut Detection::default(), &mut contacts)?;
    let mut told: Vec<[u32; 2]> = vec![];
    let mut found = vec![];
    for c in &contacts.contacts {
        let parts = [c.id.part_a, c.id.part_b];
        let [a, b] = parts.map(|k| &model.parts()[k as usize]);
        let depth = contacts.elements[c.elements()].iter().fold(0.0f64, |most, e| most.max(-e.gap));
        let size = 0.5 * extent(a, planar).min(extent(b, planar));
        let patch = match model.contacts().rules()[c.rule].given.law {
            Law::HalfSpace { elements, spacing, .. } => 0.5 * elements as f64 * spacing,
            _ => f64::INFINITY,
        };
        if depth <= size.min(patch) || told.contains(&parts) {
            continue;
        }
        told.push(parts);
        let than = match depth > size {
            true => format!("more than half of the smaller one, {:.3e} m", 2.0 * size),
            false => format!("more than half of their patch, {:.3e} m", 2.0 * patch),
        };
        found.push(format!(
            "'{}' and '{}' overlap by {depth:.3e} m, {than}: place them apart",
            a.name, b.name
        ));
    }
    Ok(found)
}

/// World parts whose prescribed motion leads through other world parts, which do not hold it.
fn of_world(model: &Model) -> Vec<Fault> {
    let scene = model.scene();
    let parts: Vec<(usize, &Part)> = model
        .parts()
        .iter()
        .filter_map(|part| match part.owner {
            Owner::World(i) => Some((i, part)),
            Owner::Body(_) => None,
        })
        .collect();
    let moving = |i: usize| scene.world[i].motion.is_some();
    let mut pairs = vec![];
    for (i, one) in parts.iter().filter(|(i, _)| moving(*i)) {
        pairs.extend(
            parts
                .iter()
                .filter(|(j, _)| i != j && (!moving(*j) || i < j))
                .map(|(j, other)| [(*i, *one), (*j, *other)]),
        );
        if pairs.len() > MOST_PAIRS {
            return vec![];
        }
    }
    let (mut workspace, mut scratch) = (Workspace::default(), vec![]);
    let mut found = vec![];
    for pair in pairs {
        let size = pair.iter().map(|(_, part)| extent(part, scene.planar)).fold(f64::INFINITY, f64::min);
        let mut depth = |time: f64| {
            let [a, b] = pair.map(|(i, part)| (&part.solid, scene.world[i].pose(time)));
            let apart = distance((a.0, &a.1), (b.0, &b.1), 0.0, &mut workspace, &mut scratch);
            apart.map_or(0.0, |(_, gap)| -gap)
        };
        if !size.is_finite() || depth(0.0) > THROUGH * size {
            continue;
        }
        let duration = scene.step.duration;
        let times = (1..=TIMES).map(|k| duration * k as f64 / TIMES as f64);
        if let Some(time) = times.into_iter().find(|t| depth(*t) > THROUGH * size) {
            let [(i, one), (_, other)] = pair;
            let words = format!(
                "'{}' has moved into '{}' at t = {time:.3} s: both are parts of the world, and nothing holds it there",
                one.name, other.name
            );
            found.push(warning(&format!("world[{}].motion", scene.world[i].name), words));
        }
    }
    found.truncate(MOST);
    found
}
