//! States in files: JSON whose numbers read back bit by bit.

use super::RecordError;
use super::names::Names;
use super::sink::replace;
use crate::contact::Law;
use crate::dynamics::Joint;
use crate::scene::{Owner, Scene};
use crate::state::{ContactId, Memory, State};
use crate::step::Stepper;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name of the state's file in a recording.
pub const STATE_FILE: &str = "state.json";
const VERSION: u32 = 1;
/// By how much the length of a quaternion may differ from 1; steps keep it to rounding.
const ROUNDING: f64 = 1e-6;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    version: u32,
    scene: String,
    time: f64,
    position: Vec<f64>,
    velocity: Vec<f64>,
    contacts: Vec<SavedContact>,
    basis: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedContact {
    contact: String,
    part_a: u32,
    part_b: u32,
    feature: u32,
    deformation: Vec<f64>,
    force: Vec<f64>,
}

/// Writes a state; a file that is there is replaced at once.
pub fn save_state(path: &Path, scene: &Scene, state: &State) -> Result<(), RecordError> {
    replace(path, &state_text(path, scene, state)?)
}

/// What the state's file holds.
pub(super) fn state_text(path: &Path, scene: &Scene, state: &State) -> Result<Vec<u8>, RecordError> {
    let names = Names::new(scene);
    let contact = |m: &Memory| SavedContact {
        contact: names.make(m.id).unwrap_or_default(),
        part_a: m.id.part_a,
        part_b: m.id.part_b,
        feature: m.id.feature,
        deformation: m.deformation.clone(),
        force: m.force.clone(),
    };
    let saved = Saved {
        version: VERSION,
        scene: scene.name.clone(),
        time: state.time,
        position: state.position.clone(),
        velocity: state.velocity.clone(),
        contacts: state.memory.iter().map(contact).collect(),
        basis: state.basis.clone(),
    };
    let mut text = serde_json::to_vec_pretty(&saved).map_err(|e| RecordError::io(path, e.into()))?;
    text.push(b'\n');
    Ok(text)
}

/// Reads a state of the stepper's scene: a state's file, or a recording's folder, which holds its last state.
pub fn read_state(path: &Path, stepper: &Stepper) -> Result<State, RecordError> {
    let path = if path.is_dir() { path.join(STATE_FILE) } else { path.to_owned() };
    let text = std::fs::read(&path).map_err(|e| RecordError::io(&path, e))?;
    let fault = |message: String| RecordError::malformed(&path, message);
    let saved: Saved = serde_json::from_slice(&text).map_err(|e| fault(format!("no saved state: {e}")))?;
    if saved.version != VERSION {
        let found = saved.version;
        return Err(fault(format!("a state of version {found}; this program reads version {VERSION}")));
    }
    let state = State {
        time: saved.time,
        position: saved.position,
        velocity: saved.velocity,
        memory: saved
            .contacts
            .iter()
            .map(|c| Memory {
                id: ContactId { part_a: c.part_a, part_b: c.part_b, feature: c.feature },
                deformation: c.deformation.clone(),
                force: c.force.clone(),
            })
            .collect(),
        basis: saved.basis,
    };
    check(&state, &saved.contacts, stepper).map_err(fault)?;
    Ok(state)
}

/// Whether the state is one of the scene.
fn check(state: &State, contacts: &[SavedContact], stepper: &Stepper) -> Result<(), String> {
    let scene = stepper.scene();
    let asked = stepper.initial();
    for (what, found, asked) in [
        ("positions", state.position.len(), asked.position.len()),
        ("velocities", state.velocity.len(), asked.velocity.len()),
    ] {
        if found != asked {
            return Err(format!("{found} {what}, but the scene {:?} has {asked}", scene.name));
        }
    }
    // JSON has no other numbers than finite ones, but some are too large for a double
    let contact = state.memory.iter().flat_map(|m| m.deformation.iter().chain(&m.force));
    let mut numbers = state.position.iter().chain(&state.velocity).chain(contact).chain([&state.time]);
    if let Some(x) = numbers.find(|x| !x.is_finite()) {
        return Err(format!("a number is not finite: {x}"));
    }
    if state.time < 0.0 {
        return Err(format!("time is {}, expected 0 or more", state.time));
    }
    let mut rest = &state.position[..];
    for body in &scene.bodies {
        let (q, after) = rest.split_at(body.link.joint.configuration_size());
        rest = after;
        let quaternion = match body.link.joint {
            Joint::Free => &q[3..],
            Joint::Spherical => q,
            _ => continue,
        };
        let length = quaternion.iter().fold(0.0, |m: f64, x| m.hypot(*x));
        if (length - 1.0).abs() > ROUNDING {
            return Err(format!("body {:?}: a quaternion of length {length}, expected 1", body.name));
        }
    }
    let names = Names::new(scene);
    for (memory, saved) in state.memory.iter().zip(contacts) {
        let name = names.make(memory.id);
        if name.as_ref() != Some(&saved.contact) {
            let here = name.map_or("the scene has no such parts".to_owned(), |n| format!("here it is {n}"));
            return Err(format!("contact {}: {here}; the state is of another scene", saved.contact));
        }
        let (found, asked) = (memory.deformation.len(), rows(scene, memory.id));
        if found != asked {
            let contact = &saved.contact;
            return Err(format!("contact {contact}: {found} deformations, but its law has {asked}"));
        }
    }
    if let Some(w) = state.memory.windows(2).position(|w| w[0].id >= w[1].id) {
        return Err(format!(
            "contact {}: contacts must be in the order of their parts",
            contacts[w + 1].contact
        ));
    }
    Ok(())
}

/// Rows of deformation of a contact.
fn rows(scene: &Scene, id: ContactId) -> usize {
    let owners = (0..scene.bodies.len()).map(Owner::Body).chain((0..scene.world.len()).map(Owner::World));
    let parts: Vec<(Owner, usize)> =
        owners.flat_map(|o| scene.parts(o).iter().map(move |p| (o, p.material))).collect();
    let rule = scene.contact_rule(parts[id.part_a as usize], parts[id.part_b as usize]);
    let per = if scene.planar { 2 } else { 3 };
    match rule.map(|r| r.law) {
        None | Some(Law::Rigid) => 0,
        Some(Law::KelvinVoigt { .. } | Law::HertzMindlin { .. }) => per,
        Some(Law::HalfSpace { elements, .. }) => {
            per * if scene.planar { elements } else { elements * elements }
        }
    }
}

impl RecordError {
    pub(super) fn malformed(path: &Path, message: String) -> Self {
        Self::Malformed { path: PathBuf::from(path), message }
    }
}
