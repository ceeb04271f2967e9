//! Everything needed to go on, and nothing else.

use crate::scene::Scene;

/// Names a contact from step to step: shapes by their place in the list of all parts, and the features that meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactId {
    /// Part of the first body, in the order bodies, then world, part by part.
    pub part_a: u32,
    /// Part of the second body.
    pub part_b: u32,
    /// Feature of [`crate::geometry::Touch`].
    pub feature: u32,
}

/// What a contact remembers of the last step, rows n, t(, o) element by element.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Whose.
    pub id: ContactId,
    /// `delta`, m; empty for rigid contacts. Of a point with a grain in the frame without it.
    pub deformation: Vec<f64>,
    /// `lambda`, N, in the solver's units (with a grain or moments: over the ellipsoid's axes): where the next step's solver starts.
    pub force: Vec<f64>,
}

impl Memory {
    /// Of nothing.
    pub(crate) fn blank(id: ContactId) -> Self {
        Self { id, deformation: vec![], force: vec![] }
    }
}

/// A system at a time. A plain value: a copy has bitwise the same future.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// s.
    pub time: f64,
    /// Configuration `q`, laid out as [`crate::dynamics::System`] says.
    pub position: Vec<f64>,
    /// Velocity `v`.
    pub velocity: Vec<f64>,
    /// Of the contacts of the last step, in order of their ids.
    pub memory: Vec<Memory>,
    /// What the solver remembers beside the forces while the contacts stay the same: the basis on which Lemke's method ended, if it
    /// did; one entry if `auto` found the bodies calm.
    pub basis: Vec<usize>,
}

impl State {
    /// The scene's start. `system` must be made of the scene's links.
    pub fn initial(scene: &Scene, system: &crate::dynamics::System) -> Self {
        let mut position = system.neutral_configuration();
        let mut velocity = vec![0.0; system.velocity_size()];
        for (i, body) in scene.bodies.iter().enumerate() {
            position[system.coordinates(i)].copy_from_slice(&body.position);
            velocity[system.dofs(i)].copy_from_slice(&body.velocity);
        }
        Self { time: 0.0, position, velocity, memory: vec![], basis: vec![] }
    }

    /// Becomes a copy of another; memory of contacts comes from `spare`, and what is left goes there.
    pub(crate) fn copy_from(&mut self, other: &Self, spare: &mut Vec<Memory>) {
        self.time = other.time;
        self.position.clone_from(&other.position);
        self.velocity.clone_from(&other.velocity);
        self.basis.clone_from(&other.basis);
        spare.append(&mut self.memory);
        for from in &other.memory {
            let mut own = spare.pop().unwrap_or_else(|| Memory::blank(from.id));
            own.id = from.id;
            own.deformation.clone_from(&from.deformation);
            own.force.clone_from(&from.force);
            self.memory.push(own);
        }
    }

    /// What is remembered of a contact; `None` if it is new.
    pub fn remembered(&self, id: ContactId) -> Option<&Memory> {
        let at = self.memory.binary_search_by_key(&id, |m| m.id).ok()?;
        Some(&self.memory[at])
    }
}
