//! The compiled form of a scene: everything that does not change during a simulation.
//!
//! A [`Model`] is compiled once from a [`Scene`] and never changes. Any number of threads may step it at the
//! same time, each with a [`crate::state::State`] and a [`crate::step::Workspace`] of its own. The
//! [`Resolved`] scene is the form between the two.

pub use crate::scene::resolved;

mod close;
mod contacts;
mod loops;
mod place;
mod rule;
mod scales;
mod standing;
mod summary;

pub use crate::ids::Owner;
pub use crate::scene::resolved::Resolved;
pub use contacts::{ContactTable, Rule};
pub use rule::ContactRule;
pub use scales::{Scale, Scales};
pub use standing::{JointDof, StandingKind, StandingRow, Target};
pub use summary::summary;

use crate::contact::Law;
use crate::dynamics::{InvalidSystem, System};
use crate::geometry::{Solid, bounding_box};
use crate::scene::{Fault, Scene, Scheme};
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
        let resolved = scene.resolve_alone()?;
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
pub(crate) fn parts_and_rules(scene: &Resolved) -> Result<(System, Vec<Part>, ContactTable), Vec<Fault>> {
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
    let auto = contacts.is_auto();
    if (scene.step.scheme != Scheme::Theta || auto)
        && let Some(what) = beyond_scheme(scene, &system, auto)
    {
        if auto {
            let message = format!("expected a law without choice: law = \"auto\" does not know {what}");
            let k = scene.laws.iter().position(|l| matches!(l, Law::Auto(_)));
            return Err(vec![Fault::new(format!("material[{}].law", k.unwrap_or_default()), message)]);
        }
        let message = format!("expected \"theta\": this scheme does not know {what}");
        return Err(vec![Fault::new("step.scheme".to_owned(), message)]);
    }
    Ok((system, parts, contacts))
}

/// What of a scene a scheme other than theta does not know: some standing rows, and surfaces that move by themselves. With `law = "auto"` (`auto`) no scheme
/// knows any of them.
fn beyond_scheme(scene: &Resolved, system: &System, auto: bool) -> Option<String> {
    let implicit = scene.step.scheme == Scheme::Implicit;
    let midpoint = scene.step.explicit_share > 0.0;
    let rigid = |row: &StandingRow| row.compliance.is_none();
    let of_joint = |row: &StandingRow| row.is_limit() || matches!(row.kind, StandingKind::Friction(_));
    let known = |row: &StandingRow| match scene.step.scheme {
        _ if auto => false,
        Scheme::Theta => true,
        Scheme::Implicit => {
            row.restitution == 0.0
                && (!midpoint || of_joint(row) && rigid(row) || matches!(row.kind, StandingKind::Spring(_)))
        }
        Scheme::Compliant => !rigid(row),
        Scheme::Event => !rigid(row) || !matches!(row.kind, StandingKind::Drive(_)),
    };
    let rest =
        |name: String| if implicit && midpoint { format!("{name} (explicit_share = 0 does)") } else { name };
    let name = |row: StandingRow| match scene.step.scheme {
        _ if auto => row.name(scene),
        Scheme::Implicit if row.restitution > 0.0 => format!("{}: restitution", row.name(scene)),
        Scheme::Compliant => format!("rigid rows: {}, expected a spring and damper of it", row.name(scene)),
        Scheme::Event => {
            format!("drives that prescribe a motion: {}, expected gains or an effort", row.name(scene))
        }
        _ => rest(row.name(scene)),
    };
    let row = standing::rows(scene, system).into_iter().find(|row| !known(row)).map(name);
    if implicit && !midpoint {
        return row;
    }
    let running = scene.bodies.iter().find(|b| b.surface.is_some()).map(|b| &b.name);
    let moving = scene.world.iter().find(|w| w.motion.is_some() || w.surface.is_some()).map(|w| &w.name);
    row.or_else(|| running.or(moving).map(|name| rest(format!("a surface that moves by itself: '{name}'"))))
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
