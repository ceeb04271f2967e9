//! States in files: JSON whose numbers read back bit by bit.

use super::{RecordError, STATE_FILE};
use crate::model::Model;
use crate::scene::{Method, Scheme};
use crate::state::{ContactId, Memory, Remembered, RowId, SolverMemory, State};
use serde::{Deserialize, Serialize};
use std::path::Path;

const VERSION: u32 = 3;
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
    /// Rows that are no contacts; none before version 3.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<SavedRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solver: Option<SolverMemory>,
    /// Version 1 in place of `solver`: the basis of Lemke's method, or one entry if bodies were at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    basis: Option<Vec<usize>>,
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedRow {
    row: String,
    force: f64,
}

impl SavedContact {
    fn id(&self) -> ContactId {
        ContactId { part_a: self.part_a, part_b: self.part_b, feature: self.feature }
    }
}

/// Writes a state; a file that is there is replaced at once.
pub fn save_state(path: &Path, model: &Model, state: &State) -> Result<(), RecordError> {
    recording::replace(path, &state_text(path, model, state)?)
}

/// The content of a state's file, which [`state_from_text`] reads; `path` is its name in errors.
pub fn state_text(path: &Path, model: &Model, state: &State) -> Result<Vec<u8>, RecordError> {
    let contact = |m: Remembered<'_>| {
        let RowId::Contact(id) = m.id else { return None };
        let ContactId { part_a, part_b, feature } = id;
        let (deformation, force) = (m.deformations.to_vec(), m.forces.to_vec());
        let contact = model.contact_name(id).unwrap_or_default();
        Some(SavedContact { contact, part_a, part_b, feature, deformation, force })
    };
    let row = |m: Remembered<'_>| {
        let row = model.standing().iter().find(|row| row.id == m.id)?;
        Some(SavedRow { row: row.name(model.scene()), force: m.forces.first().copied()? })
    };
    let saved = Saved {
        version: VERSION,
        scene: model.scene().name.clone(),
        time: state.time,
        position: state.position.clone(),
        velocity: state.velocity.clone(),
        contacts: state.memory.iter().filter_map(contact).collect(),
        rows: state.memory.iter().filter_map(row).collect(),
        solver: Some(state.solver.clone()),
        basis: None,
    };
    let mut text = serde_json::to_vec_pretty(&saved).map_err(|e| RecordError::io(path, e.into()))?;
    text.push(b'\n');
    Ok(text)
}

/// Reads a state of a model: a state's file, or a recording's folder, which holds its last state.
pub fn read_state(path: &Path, model: &Model) -> Result<State, RecordError> {
    let path = if path.is_dir() { path.join(STATE_FILE) } else { path.to_owned() };
    let text = std::fs::read(&path).map_err(|e| RecordError::io(&path, e))?;
    state_from_text(&path, &text, model)
}

/// Reads a state of a model from the content of its file ([`state_text`]); `path` is the file's name in errors.
pub fn state_from_text(path: &Path, text: &[u8], model: &Model) -> Result<State, RecordError> {
    let fault = |message: String| RecordError::malformed(path, message);
    let saved: Saved = serde_json::from_slice(text).map_err(|e| fault(format!("no saved state: {e}")))?;
    if !(1..=VERSION).contains(&saved.version) {
        let found = saved.version;
        return Err(fault(format!("a state of version {found}; this program reads versions 1 to {VERSION}")));
    }
    check(&saved, model).map_err(fault)?;
    let mut memory = Memory::default();
    for c in &saved.contacts {
        memory.push(RowId::Contact(c.id()), &c.force, &c.deformation);
    }
    // in the model's order, which is that of the ids
    for row in model.standing() {
        let name = row.name(model.scene());
        if let Some(known) = saved.rows.iter().find(|r| r.row == name) {
            memory.push(row.id, &[known.force], &[]);
        }
    }
    let solver = saved.solver.unwrap_or_else(|| {
        let (basis, lemke) = (saved.basis.unwrap_or_default(), model.scene().step.solver == Method::Lemke);
        match lemke {
            true => SolverMemory { basis, ..SolverMemory::default() },
            false => SolverMemory { at_rest: !basis.is_empty(), ..SolverMemory::default() },
        }
    });
    let (time, position, velocity) = (saved.time, saved.position, saved.velocity);
    Ok(State { time, position, velocity, memory, solver })
}

/// Name of the scene whose state a file holds.
pub(super) fn scene_name(path: &Path) -> Result<String, RecordError> {
    #[derive(Deserialize)]
    struct Named {
        scene: String,
    }
    let text = std::fs::read(path).map_err(|e| RecordError::io(path, e))?;
    let named: Result<Named, _> = serde_json::from_slice(&text);
    named.map(|n| n.scene).map_err(|e| RecordError::malformed(path, format!("no saved state: {e}")))
}

/// Whether bytes are a state as this program saves it, of any version.
pub(super) fn is_state(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Like {
        version: u32,
        #[serde(rename = "scene")]
        _scene: String,
        #[serde(rename = "time")]
        _time: f64,
        #[serde(rename = "position")]
        _position: Vec<f64>,
        #[serde(rename = "velocity")]
        _velocity: Vec<f64>,
    }
    serde_json::from_slice::<Like>(bytes).is_ok_and(|like| (1..=VERSION).contains(&like.version))
}

/// Time of the state that a file holds, if it holds one.
pub(super) fn time(path: &Path) -> Option<f64> {
    #[derive(Deserialize)]
    struct Timed {
        time: f64,
    }
    let timed: Timed = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    Some(timed.time)
}

/// Whether the state is one of the model.
fn check(saved: &Saved, model: &Model) -> Result<(), String> {
    let system = model.system();
    for (what, found, asked) in [
        ("positions", saved.position.len(), system.configuration_size()),
        ("velocities", saved.velocity.len(), system.velocity_size()),
    ] {
        if found != asked {
            return Err(format!("{found} {what}, but the scene {:?} has {asked}", model.scene().name));
        }
    }
    // JSON has no other numbers than finite ones, but some are too large for a double
    let contact = saved.contacts.iter().flat_map(|c| c.deformation.iter().chain(&c.force));
    let rows = saved.rows.iter().map(|r| &r.force);
    let mut numbers =
        saved.position.iter().chain(&saved.velocity).chain(contact).chain(rows).chain([&saved.time]);
    if let Some(x) = numbers.find(|x| !x.is_finite()) {
        return Err(format!("a number is not finite: {x}"));
    }
    if saved.time < 0.0 {
        return Err(format!("time is {}, expected 0 or more", saved.time));
    }
    for (i, body) in model.scene().bodies.iter().enumerate() {
        let Some(at) = body.link.joint.quaternion() else { continue };
        let quaternion = &saved.position[system.coordinates(i)][at..];
        let length = quaternion.iter().fold(0.0, |m: f64, x| m.hypot(*x));
        if (length - 1.0).abs() > ROUNDING {
            return Err(format!("body {:?}: a quaternion of length {length}, expected 1", body.name));
        }
    }
    let known = |saved: &SavedRow| model.standing().iter().any(|row| row.name(model.scene()) == saved.row);
    if let Some(row) = saved.rows.iter().find(|row| !known(row)) {
        return Err(format!("row {}: the scene has no such row; the state is of another scene", row.row));
    }
    check_contacts(&saved.contacts, model)
}

fn check_contacts(contacts: &[SavedContact], model: &Model) -> Result<(), String> {
    for saved in contacts {
        let (name, contact) = (model.contact_name(saved.id()), &saved.contact);
        if name.as_ref() != Some(contact) {
            let here = name.map_or("the scene has no such parts".to_owned(), |n| format!("here it is {n}"));
            return Err(format!("contact {contact}: {here}; the state is of another scene"));
        }
        let (found, asked) = (saved.deformation.len(), model.contacts().deformation_rows(saved.id()));
        // compliant contacts that are open have none, nor have those of law = "auto" while they are rigid
        let none =
            found == 0 && (model.scene().step.scheme == Scheme::Compliant || model.contacts().is_auto());
        if found != asked && !none {
            return Err(format!("contact {contact}: {found} deformations, but its law has {asked}"));
        }
    }
    if let Some(w) = contacts.windows(2).position(|w| w[0].id() >= w[1].id()) {
        let contact = &contacts[w + 1].contact;
        return Err(format!("contact {contact}: contacts must be in the order of their parts"));
    }
    Ok(())
}
