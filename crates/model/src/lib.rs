//! The compiled form of a scene: everything that does not change during a simulation; and what does: states and inputs.
//!
//! It knows no time step and no solver. Start reading in [`Model`], [`state`], [`motion`] (bodies where a step begins) and
//! [`formulation`] (the contact problem of a step).
//!
//! A [`Model`] is compiled once from a [`Scene`] and never changes. Any number of threads may step it at the
//! same time, each with a [`state::State`] and memory of its own. The
//! [`Resolved`] scene is the form between the two.

use stiction_contact::{self as contact, ids};
use stiction_dynamics as dynamics;
use stiction_geometry::{self as geometry, space};
use stiction_scene as scene;

pub mod formulation;
pub mod inputs;
pub mod motion;
pub mod state;

pub use crate::scene::resolved;

mod close;
mod contacts;
mod scales;
mod standing;
mod summary;

pub use crate::ids::Owner;
pub use crate::scene::resolved::Resolved;
pub use contacts::{ContactTable, Rule};
pub use scales::{Scale, Scales};
pub use scene::resolved::ContactRule;
pub use standing::{JointDof, StandingKind, StandingRow, Target};
pub use summary::summary;

use crate::contact::Law;
use crate::dynamics::{InvalidSystem, System};
use crate::geometry::{Solid, bounding_box};
use crate::scene::capabilities::{Condition, Thing, Use};
use crate::scene::{Fault, Scene};
use crate::space::{Pose, length};
use crate::state::{ContactId, RowId, State};

/// Why a scene cannot be simulated, one line per fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidModel(pub String);

impl From<Vec<Fault>> for InvalidModel {
    fn from(faults: Vec<Fault>) -> Self {
        Self(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }
}

/// A mechanical system, ready to be stepped. Immutable: share it by [`std::sync::Arc`].
#[derive(Debug)]
pub struct Model {
    scene: Resolved,
    system: System,
    parts: Vec<Part>,
    contacts: ContactTable,
    standing: Vec<StandingRow>,
    reaches: Vec<f64>,
    scales: Scales,
}

/// A shape of a body or of the world. Parts are numbered body by body, then world part by world part.
#[derive(Debug, Clone)]
pub struct Part {
    /// The body or world part it belongs to.
    pub owner: Owner,
    /// The body's name, with the part's number where the body has several; a world part's name.
    pub name: String,
    /// The shape.
    pub solid: Solid,
    /// Pose in its body, or in the world for a world part.
    pub local: Pose,
    /// Index of its material.
    pub material: usize,
    /// Whether it belongs to a body that is not fixed to the world.
    pub moves: bool,
}

impl Model {
    /// Compiles a scene: checks it, lays out the trees, prepares the shapes, and resolves the contact rule of
    /// any two of them.
    pub fn new(scene: &Scene) -> Result<Self, Vec<Fault>> {
        let named = |faults: Vec<Fault>| scene.named(faults);
        let resolved = scene.resolve()?;
        let (system, parts, mut contacts) = parts_and_rules(&resolved).map_err(named)?;
        contacts.compile(&resolved).map_err(named)?;
        let reaches = reaches(&parts, resolved.bodies.len());
        let standing = standing::rows(&resolved, &system);
        let scales = Scales::new(&resolved, &system, &parts);
        Ok(Self { scene: resolved, system, parts, contacts, standing, reaches, scales })
    }

    /// The resolved scene that the model was compiled from.
    pub fn scene(&self) -> &Resolved {
        &self.scene
    }

    /// The kinematic trees.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The shapes, in the order in which a [`ContactId`] numbers them.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Contact rules of all pairs of parts.
    pub fn contacts(&self) -> &ContactTable {
        &self.contacts
    }

    /// Standing rows: rows of the contact problem that are not contacts, in order of their ids.
    pub fn standing(&self) -> &[StandingRow] {
        &self.standing
    }

    /// Distance of the farthest point of each body's shapes from its origin, m.
    pub fn reaches(&self) -> &[f64] {
        &self.reaches
    }

    /// What is small in the scene.
    pub fn scales(&self) -> &Scales {
        &self.scales
    }

    /// State at the start of the scene, with its loops and gears closed to rounding.
    pub fn initial(&self) -> State {
        let mut state = self.given_start();
        close::close(self, &mut state);
        state
    }

    /// State at the start of the scene as it is given.
    fn given_start(&self) -> State {
        let mut position = self.system.neutral_configuration();
        let mut velocity = vec![0.0; self.system.velocity_size()];
        for (i, body) in self.scene.bodies.iter().enumerate() {
            position[self.system.coordinates(i)].copy_from_slice(&body.position);
            velocity[self.system.dofs(i)].copy_from_slice(&body.velocity);
        }
        State { position, velocity, ..State::default() }
    }

    /// Name of a contact, `a/b#feature`: its parts, and the number of the feature after a letter for its
    /// kind, which is in the two highest bits. `None` if there are no such parts.
    pub fn contact_name(&self, id: ContactId) -> Option<String> {
        let (a, b) = (self.parts.get(id.part_a as usize)?, self.parts.get(id.part_b as usize)?);
        let kind = ["", "b", "e", "x"][(id.feature >> 30) as usize];
        Some(format!("{}/{}#{kind}{}", a.name, b.name, id.feature & ((1 << 30) - 1)))
    }

    /// Name of a group of rows: a contact or a standing row. Empty if there is no such group.
    pub fn row_name(&self, id: RowId) -> String {
        match id {
            RowId::Contact(id) => self.contact_name(id).unwrap_or_default(),
            _ => {
                let row = self.standing.iter().find(|row| row.id == id);
                row.map_or_else(String::new, |row| row.name(&self.scene))
            }
        }
    }

    /// Index of a body, by its name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.scene.bodies.iter().position(|b| b.name == name)
    }

    /// Whether forces other than weight act on bodies.
    pub(crate) fn has_loads(&self) -> bool {
        let Resolved { loads, springs, motors, .. } = &self.scene;
        !(loads.is_empty() && springs.is_empty() && motors.is_empty())
    }
}

/// Compiles trees, shapes and the contact table without compliances.
///
/// # Errors
/// All faults, with paths by list index.
pub fn parts_and_rules(scene: &Resolved) -> Result<(System, Vec<Part>, ContactTable), Vec<Fault>> {
    let alone = |message: String| vec![Fault { message, ..Fault::default() }];
    let armature: Vec<Vec<f64>> =
        scene.bodies.iter().map(|b| b.axes.iter().map(|a| a.armature).collect()).collect();
    let system = System::with_armature(scene.links(), &armature).map_err(|e| match e {
        InvalidSystem::NoInertia { link, .. } => {
            let body = &scene.bodies[link];
            let why = "expected mass, armature of the joint, or a child on a joint whose mass resists each motion of this one";
            let message = format!("'{}' can move without moving any mass: {why}", body.name);
            vec![Fault::new(format!("body[{}].mass", body.given), message)]
        }
        other => alone(other.to_string()),
    })?;
    let parts = parts(scene, &system).map_err(alone)?;
    let contacts = ContactTable::new(scene, &parts)?;
    match beyond(scene, &system, &parts, &contacts) {
        Some(fault) => Err(vec![fault]),
        None => Ok((system, parts, contacts)),
    }
}

/// What of a scene's standing rows, surfaces and motors is not supported in its use ([`scene::capabilities`]).
fn beyond(scene: &Resolved, system: &System, parts: &[Part], contacts: &ContactTable) -> Option<Fault> {
    let in_use = if contacts.is_auto() { Use::Auto } else { Use::from(scene.step.scheme) };
    let met = |condition| condition == Condition::EndOfStep && scene.step.explicit_share == 0.0;
    let rows = standing::rows(scene, system);
    let by_functions = |part: &&Part| !part.solid.has_faces() && !part.solid.is_half_space();
    let of_shapes = || {
        let part = parts.iter().find(by_functions)?;
        Some((format!("'{}'", part.name), Thing::Functions.refusal(scene.step.scheme.into(), met)?))
    };
    let (name, refused) =
        first_refused(scene, &rows, |thing| thing.refusal(in_use, met)).or_else(of_shapes)?;
    let path = match scene.laws.iter().position(|l| matches!(l, Law::Auto(_))) {
        Some(k) if in_use == Use::Auto => format!("material[{k}].law"),
        _ => "step.scheme".to_owned(),
    };
    Some(Fault::new(path, format!("{name}: {refused}")))
}

/// The first standing row or moving surface that is refused: its name, and why.
pub fn first_refused(
    scene: &Resolved,
    rows: &[StandingRow],
    refusal: impl Fn(Thing) -> Option<String>,
) -> Option<(String, String)> {
    let of_rows = rows.iter().find_map(|row| refusal(row.thing()).map(|why| (row.name(scene), why)));
    of_rows.or_else(|| {
        let running = scene.bodies.iter().find(|b| b.surface.is_some()).map(|b| &b.name);
        let moving = scene.world.iter().find(|w| w.motion.is_some() || w.surface.is_some()).map(|w| &w.name);
        let name = running.or(moving)?;
        Some((format!("'{name}'"), refusal(Thing::MovingSurface)?))
    })
}

/// Shapes of all bodies, then those of the world.
fn parts(scene: &Resolved, system: &System) -> Result<Vec<Part>, String> {
    let owners = (0..scene.bodies.len()).map(Owner::Body).chain((0..scene.world.len()).map(Owner::World));
    let mut parts = vec![];
    for owner in owners {
        let (name, own) = (scene.name_of(owner), scene.parts(owner));
        for (k, part) in own.iter().enumerate() {
            let solid = Solid::new(&part.shape, scene.planar).map_err(|e| format!("{name}: {e}"))?;
            let name = if own.len() == 1 { name.to_owned() } else { format!("{name}.{k}") };
            // bodies fixed to the world are part of it
            let moves = matches!(owner, Owner::Body(i) if system.tree_of(i).is_some());
            parts.push(Part { owner, name, solid, local: part.pose, material: part.material, moves });
        }
    }
    Ok(parts)
}

fn reaches(parts: &[Part], bodies: usize) -> Vec<f64> {
    let mut reach = vec![0.0f64; bodies];
    for part in parts {
        if let Owner::Body(i) = part.owner {
            let around = bounding_box(&part.solid, &part.local, 0.0);
            let far = [0, 1, 2].map(|k| around.min[k].abs().max(around.max[k].abs()));
            reach[i] = reach[i].max(length(far));
        }
    }
    reach
}
