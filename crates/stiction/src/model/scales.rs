//! What is small in a scene: tolerances of lengths, speeds and times are shares of these scales, so that no result depends on the units of a scene, or on what else is in it.
//!
//! The length of a body is four times the radius of its shapes. The speed that goes with a length is that of a fall by it, `sqrt(g L)`, or, without gravity, the length
//! in the duration of the run; the time is their ratio. Positions far from the origin are known to their rounding alone, so that a
//! contact's length is at least [`FAR`] of its coordinates.

use super::{JointDof, Owner, Part, StandingKind, StandingRow};
use crate::dynamics::{Joint, System};
use crate::geometry::bounding_box;
use crate::scene::resolved::{Body, Resolved};
use crate::space::{Vector, length};

/// Length of a body as a multiple of the radius of its shapes.
const RADII: f64 = 4.0;
/// Least length of a contact as a share of the distance from the origin, and of the larger body: a tolerance of 1e-13 lengths is then above the rounding of positions.
const FAR: f64 = 0.01;
/// Length of a body without extent, m.
const POINT: f64 = 1.0;

/// Scales at a contact or row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// m; of a row about angles 1 rad.
    pub length: f64,
    /// m/s or rad/s.
    pub speed: f64,
    /// s.
    pub time: f64,
    /// Lever by which a force of a contact becomes a force of the row: 1, or m of a row about angles.
    pub lever: f64,
}

impl Default for Scale {
    fn default() -> Self {
        Self { length: 1.0, speed: 1.0, time: 1.0, lever: 1.0 }
    }
}

/// Lengths, speeds and times of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Scales {
    /// Length of each body, m.
    bodies: Vec<f64>,
    /// Whether each velocity is an angular one, and the length of its body.
    dofs: Vec<(bool, f64)>,
    /// Tree of each velocity.
    trees: Vec<Option<usize>>,
    gravity: f64,
    duration: f64,
    /// Least time of a body that moves, s.
    time: f64,
}

impl Scales {
    pub(super) fn new(scene: &Resolved, system: &System, parts: &[Part]) -> Self {
        let bodies: Vec<f64> = (0..scene.bodies.len()).map(|i| size(i, &scene.bodies[i], parts)).collect();
        let mut dofs = vec![(false, POINT); system.velocity_size()];
        let mut trees = vec![None; dofs.len()];
        for (i, body) in scene.bodies.iter().enumerate() {
            let own = system.dofs(i);
            let linear = match body.link.joint {
                Joint::Free => 3,
                Joint::Planar => 2,
                Joint::Prismatic { .. } | Joint::Cylindrical { .. } => 1,
                _ => 0,
            };
            trees[own.clone()].fill(system.tree_of(i));
            own.enumerate().for_each(|(k, dof)| dofs[dof] = (k >= linear, bodies[i]));
        }
        let duration = scene.step.duration;
        let duration = if duration.is_finite() && duration > 0.0 { duration } else { 1.0 };
        let mut scales =
            Self { bodies, dofs, trees, gravity: length(scene.gravity), duration, time: f64::INFINITY };
        let moving = (0..scales.bodies.len()).filter(|i| system.tree_of(*i).is_some());
        let time = moving.map(|i| scales.of(scales.bodies[i]).time).fold(f64::INFINITY, f64::min);
        scales.time = if time.is_finite() { time } else { duration };
        scales
    }

    /// Scales that go with a length.
    pub fn of(&self, length: f64) -> Scale {
        let speed = match self.gravity > 0.0 {
            true => (self.gravity * length).sqrt(),
            false => length / self.duration,
        };
        Scale { length, speed, time: length / speed, lever: 1.0 }
    }

    /// Least time of a body that moves, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Acceleration that goes with a length, m/s^2.
    pub fn acceleration(&self, length: f64) -> f64 {
        let Scale { speed, time, .. } = self.of(length);
        speed / time
    }

    /// Length of a body, m.
    pub fn body(&self, body: usize) -> f64 {
        self.bodies[body]
    }

    /// Length of the smaller of two bodies, and of the larger one, m.
    pub fn sizes(&self, owners: [Owner; 2]) -> [f64; 2] {
        let own = owners.map(|owner| match owner {
            Owner::Body(i) => Some(self.bodies[i]),
            Owner::World(_) => None,
        });
        match own {
            [Some(a), Some(b)] => [a.min(b), a.max(b)],
            [Some(a), None] | [None, Some(a)] => [a, a],
            _ => [POINT, POINT],
        }
    }

    /// Scales of a contact at a point.
    pub fn contact(&self, owners: [Owner; 2], point: Vector) -> Scale {
        let [least, largest] = self.sizes(owners);
        self.of(least.max(FAR * largest.max(length(point))))
    }

    /// Gap up to which two parts are looked at, as a share of their smaller body, m.
    pub fn margin(&self, share: f64, owners: [Owner; 2], far: f64) -> f64 {
        let [least, largest] = self.sizes(owners);
        (share * least).max(CLOSED * FAR * largest.max(far))
    }

    /// What the two of these of a pair add up to is at least its [`Self::margin`], m; `far`: distance from the origin.
    pub fn reach(&self, share: f64, owner: Owner, far: f64) -> f64 {
        match owner {
            Owner::Body(i) => self.margin(share, [owner; 2], far.max(self.bodies[i])),
            Owner::World(_) => CLOSED * FAR * far,
        }
    }

    /// Whether a velocity is an angular one, and the length of its body, m.
    pub fn dof(&self, dof: usize) -> (bool, f64) {
        self.dofs[dof]
    }

    /// The tree that a velocity belongs to.
    pub fn tree(&self, dof: usize) -> Option<usize> {
        self.trees[dof]
    }

    /// Scales of a standing row; `coordinate` is that of its joint.
    pub fn row(&self, scene: &Resolved, row: &StandingRow, coordinate: f64) -> Scale {
        let of_joint = |j: JointDof| {
            let (angular, size) = self.dofs[j.dof];
            match angular {
                true => {
                    let own = self.of(size);
                    Scale { length: 1.0, speed: 1.0 / own.time, time: own.time, lever: size }
                }
                false => self.of(size.max(FAR * coordinate.abs())),
            }
        };
        match (row.joint, row.kind) {
            (Some(j), _) => of_joint(j),
            (None, StandingKind::Loop { index, row }) => {
                let ends = &scene.loops[index].ends;
                let sizes = ends.iter().filter_map(|end| end.body).map(|i| self.bodies[i]);
                let least = sizes.fold(f64::INFINITY, f64::min);
                let own = self.of(if least.is_finite() { least } else { POINT });
                match scene.loops[index].turns(row) {
                    true => Scale { length: 1.0, speed: 1.0 / own.time, lever: own.length, ..own },
                    false => own,
                }
            }
            (None, _) => self.of(POINT),
        }
    }
}

/// Share of a length up to which gaps are closed: see [`crate::ode`].
const CLOSED: f64 = 1e-9;

/// Four times the radius of a body's shapes, or of gyration, or the distance of its mass from its joint.
fn size(body: usize, own: &Body, parts: &[Part]) -> f64 {
    let half = |part: &Part| {
        let around = bounding_box(&part.solid, &part.local, 0.0);
        0.5 * length([0, 1, 2].map(|k| around.max[k] - around.min[k]))
    };
    let shapes = parts.iter().filter(|part| part.owner == Owner::Body(body)).map(half);
    let radius = shapes.filter(|r| r.is_finite()).fold(0.0, f64::max);
    if radius > 0.0 {
        return RADII * radius;
    }
    let inertia = &own.link.inertia;
    let trace = (0..3).map(|i| inertia.tensor[i][i]).sum::<f64>();
    let gyration = if inertia.mass > 0.0 { (trace / (2.0 * inertia.mass)).sqrt() } else { 0.0 };
    match [gyration, length(inertia.center)].into_iter().find(|r| *r > 0.0 && r.is_finite()) {
        Some(radius) => RADII * radius,
        None => POINT,
    }
}
