//! Bias forces `f(q, v)` of `M v' = f`: weight and velocity products (Coriolis, centrifugal, gyroscopic); and
//! weight alone.
//!
//! The recursive Newton-Euler algorithm (RBDA Table 5.1) with `v' = 0`, in world axes at the tree's
//! reference:
//!
//! ```text
//! A_i = A_parent + zeta_i                  A_world = -gravity
//! F_i = I_i A_i + V_i x* I_i V_i           summed to the parents
//! f_i = -S_i' F_i
//! ```

use super::Kinematics;
use super::spatial::{Spatial, SpatialInertia};
use crate::space::{Vector, add, cross, scale, sub, times, transpose_times};

impl Kinematics {
    /// Sets `out` to `f(q, v)` under `gravity` (an acceleration, world axes). Allocates nothing.
    ///
    /// # Panics
    /// If `out` has not the length of `v`.
    pub fn bias(&mut self, gravity: Vector, out: &mut [f64]) {
        assert_eq!(out.len(), self.columns.len(), "length of f");
        for t in 0..self.references.len() {
            self.bias_tree(t, gravity, out);
        }
    }

    /// Sets the entries of one tree in `out`, which is over all trees.
    pub(super) fn bias_tree(&mut self, t: usize, gravity: Vector, out: &mut [f64]) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        if tree.is_free_body() {
            return self.free_body_bias(tree.bodies.start, gravity, &mut out[tree.dofs.clone()]);
        }
        let weight = Spatial { angular: [0.0; 3], linear: scale(-1.0, gravity) };
        for b in tree.bodies.clone() {
            let state = &self.states[b];
            let parent = model.bodies[b].parent.map_or(weight, |p| self.acceleration[p]);
            let acceleration = parent.plus(state.zeta);
            let momentum = state.inertia.times(state.velocity);
            self.acceleration[b] = acceleration;
            self.force[b] = state.inertia.times(acceleration).plus(state.velocity.cross_force(momentum));
        }
        for b in tree.bodies.clone().rev() {
            let (body, force) = (&model.bodies[b], self.force[b]);
            for i in body.dofs() {
                out[i] = -self.columns[i].dot(force);
            }
            if let Some(p) = body.parent {
                self.force[p] = self.force[p].plus(force);
            }
        }
    }

    /// Sets `out` to the generalised force of weight under `gravity` (an acceleration, world axes). Allocates
    /// nothing.
    ///
    /// # Panics
    /// If `out` has not the length of `v`.
    pub fn weight(&mut self, gravity: Vector, out: &mut [f64]) {
        let model = &*self.system.model;
        assert_eq!(out.len(), model.rows.len(), "length of f");
        for tree in &model.trees {
            if tree.is_free_body() {
                let state = &self.states[tree.bodies.start];
                let force = scale(state.inertia.mass, gravity);
                out[tree.dofs.start..][..3].copy_from_slice(&force);
                out[tree.dofs.start + 3..][..3].copy_from_slice(&cross(state.center, force));
                continue;
            }
            for b in tree.bodies.clone() {
                let SpatialInertia { mass, first, .. } = self.states[b].inertia;
                self.force[b] = Spatial { angular: cross(first, gravity), linear: scale(mass, gravity) };
            }
            for b in tree.bodies.clone().rev() {
                let (body, force) = (&model.bodies[b], self.force[b]);
                for i in body.dofs() {
                    out[i] = self.columns[i].dot(force);
                }
                if let Some(p) = body.parent {
                    self.force[p] = self.force[p].plus(force);
                }
            }
        }
    }

    /// Acceleration of the point of a link that is now at `point` (world coordinates), and the link's angular
    /// acceleration, while the velocities `v` do not change: `J' v` of the point.
    pub fn bias_acceleration(&self, link: usize, point: Vector) -> (Vector, Vector) {
        let model = &*self.system.model;
        let Some(body) = model.places[link].0 else { return ([0.0; 3], [0.0; 3]) };
        let (mut sum, mut next) = (Spatial::default(), Some(body));
        while let Some(b) = next {
            sum = sum.plus(self.states[b].zeta);
            next = model.bodies[b].parent;
        }
        let (velocity, arm) =
            (self.states[body].velocity, sub(point, self.references[model.bodies[body].tree].point));
        // from the spatial acceleration to that of a point (RBDA section 2.11)
        let relative = add(velocity.linear, cross(velocity.angular, arm));
        let linear = add(sum.linear, add(cross(sum.angular, arm), cross(velocity.angular, relative)));
        (linear, sum.angular)
    }

    /// Newton-Euler equations of one body, with `c` from its origin to its centre of mass: the force at the
    /// centre is `F = m (g - w x (w x c))`, the moment about the origin `c x F - w x I w`.
    fn free_body_bias(&self, b: usize, gravity: Vector, out: &mut [f64]) {
        let (state, body) = (&self.states[b], &self.system.model.bodies[b]);
        let (w, c) = (state.velocity.angular, state.center);
        let force = scale(state.inertia.mass, sub(gravity, cross(w, cross(w, c))));
        // in body axes and without their common moment, so that a body with equal moments of inertia gets
        // exactly zero
        let mut uneven = body.inertia.tensor;
        for k in 0..3 {
            uneven[k][k] -= body.inertia.tensor[0][0];
        }
        let turning = transpose_times(&state.rotation, w);
        let gyroscopic = times(&state.rotation, cross(turning, times(&uneven, turning)));
        out[..3].copy_from_slice(&force);
        out[3..6].copy_from_slice(&sub(cross(c, force), gyroscopic));
    }
}
