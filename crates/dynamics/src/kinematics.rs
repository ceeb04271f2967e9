//! Poses and velocities of the links at one state.
//!
//! Symbols: `S` motion subspace of a joint (one column per dof), `V` spatial velocity, `zeta` the rate of `S`
//! times the joint's velocities (RBDA Table 5.1: `c_J + v x S q'`), `a x m` the spatial cross product.

use super::spatial::{Spatial, SpatialInertia, Symmetric};
use super::{Joint, System, Tree};
use crate::space::{Pose, Quaternion, Tensor, Vector, add, cross, dot, scale, sub, times};

/// Poses, velocities and derived quantities at the state of the last [`update`](Self::update); before it, at
/// the neutral configuration and at rest. All buffers are allocated by [`new`](Self::new) and reused.
#[derive(Debug, Clone)]
pub struct Kinematics {
    pub(super) system: System,
    pub(super) states: Vec<State>,
    /// Motion subspaces `S`, one column per dof.
    pub(super) columns: Vec<Spatial>,
    /// Reference of each tree.
    pub(super) references: Vec<Reference>,
    /// Pose of each link.
    poses: Vec<Pose>,
    /// The state itself, for [`go_to`](Self::go_to).
    pub(super) at: (Vec<f64>, Vec<f64>),
    /// Accelerations and forces of each body, for the recursions of [`bias`](Self::bias).
    pub(super) acceleration: Vec<Spatial>,
    pub(super) force: Vec<Spatial>,
}

/// Point at which the spatial vectors of a tree are taken, and the velocity of the frame they are seen from.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reference {
    pub point: Vector,
    pub velocity: Vector,
}

/// A body at the current state.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    pub pose: Pose,
    /// Rotation matrix of the attitude.
    pub rotation: Tensor,
    /// Spatial velocity `V`, seen from the tree's frame.
    pub velocity: Spatial,
    pub zeta: Spatial,
    /// Centre of mass relative to the reference.
    pub center: Vector,
    /// Inertia about the centre of mass, in world axes.
    pub central: Symmetric,
    pub inertia: SpatialInertia,
}

impl Kinematics {
    /// Kinematics at the neutral configuration, at rest.
    pub fn new(system: &System) -> Self {
        let model = &system.model;
        let state = State {
            pose: Pose::IDENTITY,
            rotation: Quaternion::IDENTITY.matrix(),
            velocity: Spatial::default(),
            zeta: Spatial::default(),
            center: [0.0; 3],
            central: Symmetric::default(),
            inertia: SpatialInertia::default(),
        };
        let mut kinematics = Self {
            system: system.clone(),
            states: vec![state; model.bodies.len()],
            columns: vec![Spatial::default(); model.rows.len()],
            references: vec![Reference::default(); model.trees.len()],
            // stays right where a link is fixed to the world
            poses: model.places.iter().map(|p| p.1).collect(),
            at: (vec![0.0; model.configuration_size], vec![0.0; model.rows.len()]),
            acceleration: vec![Spatial::default(); model.bodies.len()],
            force: vec![Spatial::default(); model.bodies.len()],
        };
        for tree in model.trees.iter().filter(|t| t.free) {
            kinematics.columns[tree.dofs.start..][..6].copy_from_slice(&Joint::free_columns());
        }
        kinematics.update(&system.neutral_configuration(), &vec![0.0; system.velocity_size()]);
        kinematics
    }

    /// The system this belongs to.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Updates to the state `q`, `v`. Allocates nothing.
    ///
    /// # Panics
    /// If the length of a slice is not the system's.
    pub fn update(&mut self, q: &[f64], v: &[f64]) {
        assert_eq!(q.len(), self.at.0.len(), "length of q");
        assert_eq!(v.len(), self.at.1.len(), "length of v");
        for t in 0..self.references.len() {
            self.update_tree(t, q, v);
        }
    }

    /// Updates one tree to the state `q`, `v`, both over all trees.
    pub(super) fn update_tree(&mut self, t: usize, q: &[f64], v: &[f64]) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        for b in tree.bodies.clone() {
            let body = &model.bodies[b];
            let mount = body.parent.map_or(body.mount, |p| self.states[p].pose.then(&body.mount));
            let pose = body.joint.place(&mount, &q[body.coordinates()]);
            if body.parent.is_none() {
                self.references[t].point = pose.position;
            }
            let reference = self.references[t].point;
            body.joint.set_columns(&mount, sub(reference, pose.position), &mut self.columns[body.dofs()]);
            let rotation = rotation(pose.attitude);
            let center = add(sub(pose.position, reference), times(&rotation, body.inertia.center));
            let central = Symmetric::turned(&rotation, &body.inertia.tensor);
            let inertia = SpatialInertia::new(body.inertia.mass, center, &central);
            let (velocity, zeta) = (Spatial::default(), Spatial::default());
            self.states[b] = State { pose, rotation, velocity, zeta, center, central, inertia };
        }
        for &link in &tree.links {
            let (body, place) = &model.places[link];
            if let Some(b) = *body {
                let at = &self.states[b].pose;
                self.poses[link] = if *place == Pose::IDENTITY { *at } else { at.then(place) };
            }
        }
        self.at.0[tree.coordinates.clone()].copy_from_slice(&q[tree.coordinates.clone()]);
        self.set_velocity(t, v);
    }

    /// Updates one tree to its state in `other`.
    pub(super) fn copy_tree(&mut self, t: usize, other: &Self) {
        let Tree { bodies, dofs, coordinates, links, .. } = &self.system.model.trees[t];
        self.references[t] = other.references[t];
        self.states[bodies.clone()].copy_from_slice(&other.states[bodies.clone()]);
        self.columns[dofs.clone()].copy_from_slice(&other.columns[dofs.clone()]);
        links.iter().for_each(|&link| self.poses[link] = other.poses[link]);
        self.at.0[coordinates.clone()].copy_from_slice(&other.at.0[coordinates.clone()]);
        self.at.1[dofs.clone()].copy_from_slice(&other.at.1[dofs.clone()]);
    }

    /// Sets the velocities `v` (over all trees) of one tree, and keeps its configuration.
    pub(super) fn set_velocity(&mut self, t: usize, v: &[f64]) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        for b in tree.bodies.clone() {
            let body = &model.bodies[b];
            let (columns, v) = (&self.columns[body.dofs()], &v[body.dofs()]);
            let parent = body.parent.map_or(Spatial::default(), |p| self.states[p].velocity);
            let (joint, zeta) = body.joint.velocity(parent, columns, v);
            let state = &mut self.states[b];
            if body.parent.is_none() {
                self.references[t].velocity = joint.linear;
                // in the frame that moves with the root's origin, the axes of its joint are at rest
                (state.velocity, state.zeta) = (Spatial { linear: [0.0; 3], ..joint }, Spatial::default());
            } else {
                (state.velocity, state.zeta) = (parent.plus(joint), zeta);
            }
        }
        self.at.1[tree.dofs.clone()].copy_from_slice(&v[tree.dofs.clone()]);
    }

    /// Like [`update`](Self::update), but trees whose state is bitwise the same are left alone, and trees
    /// whose `q` is the same only take the velocities.
    ///
    /// # Panics
    /// If the length of a slice is not the system's.
    pub fn go_to(&mut self, q: &[f64], v: &[f64]) {
        assert_eq!(q.len(), self.at.0.len(), "length of q");
        assert_eq!(v.len(), self.at.1.len(), "length of v");
        for t in 0..self.references.len() {
            let tree = &self.system.model.trees[t];
            let (own, dofs) = (tree.coordinates.clone(), tree.dofs.clone());
            if !same(&self.at.0[own.clone()], &q[own]) {
                self.update_tree(t, q, v);
            } else if !same(&self.at.1[dofs.clone()], &v[dofs]) {
                self.set_velocity(t, v);
            }
        }
    }

    /// Whether the configuration is bitwise equal to `q`.
    pub fn is_at(&self, q: &[f64]) -> bool {
        same(&self.at.0, q)
    }

    /// Velocity of a degree of freedom.
    pub fn velocity_of(&self, dof: usize) -> f64 {
        self.at.1[dof]
    }

    /// Configuration of the last [`update`](Self::update).
    pub(super) fn configuration(&self) -> &[f64] {
        &self.at.0
    }

    /// Pose of a link in the world.
    pub fn pose(&self, link: usize) -> Pose {
        self.poses[link]
    }

    /// Velocity of a link's origin and its angular velocity, in world axes.
    pub fn velocity(&self, link: usize) -> (Vector, Vector) {
        (self.point_velocity(link, self.poses[link].position), self.angular_velocity(link))
    }

    /// Angular velocity of a link, in world axes.
    pub fn angular_velocity(&self, link: usize) -> Vector {
        self.system.model.places[link].0.map_or([0.0; 3], |b| self.states[b].velocity.angular)
    }

    /// Velocity of the point of a link that is now at `point` (world coordinates).
    pub fn point_velocity(&self, link: usize, point: Vector) -> Vector {
        let model = &self.system.model;
        model.places[link].0.map_or([0.0; 3], |b| {
            let reference = &self.references[model.bodies[b].tree];
            self.body_velocity(b, sub(point, reference.point))
        })
    }

    /// Centre of mass of a link by itself, in world coordinates.
    pub fn center(&self, link: usize) -> Vector {
        self.poses[link].point(self.system.model.links[link].inertia.center)
    }

    /// Velocity of a body's point at `arm` from the reference.
    fn body_velocity(&self, body: usize, arm: Vector) -> Vector {
        let reference = &self.references[self.system.model.bodies[body].tree];
        let velocity = &self.states[body].velocity;
        add(add(reference.velocity, velocity.linear), cross(velocity.angular, arm))
    }

    /// Kinetic energy `1/2 v' M v`, J.
    pub fn kinetic_energy(&self) -> f64 {
        let energy = |(b, state): (usize, &State)| {
            let (velocity, w) = (self.body_velocity(b, state.center), state.velocity.angular);
            0.5 * (state.inertia.mass * dot(velocity, velocity) + dot(w, state.central.times(w)))
        };
        let drives = self.system.model.armature.iter().zip(&self.at.1).map(|(i, v)| 0.5 * i * v * v);
        self.states.iter().enumerate().map(energy).sum::<f64>() + drives.sum::<f64>()
    }

    /// Potential energy of the weight of the moving links, zero at the world's origin, J.
    pub fn potential_energy(&self, gravity: Vector) -> f64 {
        let bodies = self.system.model.bodies.iter().zip(&self.states);
        bodies
            .map(|(body, s)| -s.inertia.mass * dot(gravity, add(self.references[body.tree].point, s.center)))
            .sum()
    }

    /// Linear momentum, and angular momentum about the world's origin, of all links.
    pub fn momentum(&self) -> (Vector, Vector) {
        let (mut linear, mut angular) = ([0.0; 3], [0.0; 3]);
        for (b, (body, state)) in self.system.model.bodies.iter().zip(&self.states).enumerate() {
            let p = scale(state.inertia.mass, self.body_velocity(b, state.center));
            let arm = add(self.references[body.tree].point, state.center);
            linear = add(linear, p);
            angular = add(angular, add(cross(arm, p), state.central.times(state.velocity.angular)));
        }
        (linear, angular)
    }
}

/// Whether numbers are bitwise equal.
pub(super) fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
}

/// Rotation matrix of a quaternion, by its polynomial.
pub(super) fn rotation(attitude: Quaternion) -> Tensor {
    let [w, x, y, z] = attitude.0;
    let (wx, wy, wz) = (2.0 * w * x, 2.0 * w * y, 2.0 * w * z);
    let (xx, xy, xz) = (2.0 * x * x, 2.0 * x * y, 2.0 * x * z);
    let (yy, yz, zz) = (2.0 * y * y, 2.0 * y * z, 2.0 * z * z);
    [
        [1.0 - (yy + zz), xy - wz, xz + wy],
        [xy + wz, 1.0 - (xx + zz), yz - wx],
        [xz - wy, yz + wx, 1.0 - (xx + yy)],
    ]
}
