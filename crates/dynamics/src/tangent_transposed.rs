//! The maps of `tangent.rs` transposed: gradients with the changes of a tree, carried back to its configuration and
//! velocities. Each runs over the tree once.

use super::joint::three;
use super::spatial::{Spatial, SpatialInertia};
use super::tangent::{left_jacobian, rotations};
use super::{Joint, Kinematics, System};
use crate::space::{Quaternion, Vector, add, cross, scale};

/// Gradients with the parts of a [`super::Variation`].
#[derive(Debug, Clone, Default)]
pub struct Covariation {
    delta: Vec<Spatial>,
    columns: Vec<Spatial>,
    velocity: Vec<Spatial>,
    /// Scratch: momentum of what each body carries, and the gradient with its change.
    carried: Vec<Spatial>,
    change: Vec<Spatial>,
}

impl Covariation {
    /// Sets all gradients of a tree to zero.
    pub fn clear(&mut self, kinematics: &Kinematics, t: usize) {
        let tree = &kinematics.system.model.trees[t];
        for (list, n) in [
            (&mut self.delta, tree.bodies.len()),
            (&mut self.velocity, tree.bodies.len()),
            (&mut self.columns, tree.dofs.len()),
        ] {
            list.clear();
            list.resize(n, Spatial::default());
        }
    }
}

impl Kinematics {
    /// Adds the gradients with `xi` and `dv` of [`Kinematics::vary`]. `by` is used up.
    pub fn vary_transposed(&self, t: usize, by: &mut Covariation, xi: &mut [f64], dv: &mut [f64]) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        let (first, start) = (tree.bodies.start, tree.dofs.start);
        for b in tree.bodies.clone().rev() {
            let body = &model.bodies[b];
            let (delta, velocity, dofs) = (by.delta[b - first], by.velocity[b - first], body.dofs());
            let mut carrier = delta;
            for i in dofs.clone() {
                let (s, k) = (self.columns[i], i - start);
                dv[k] += s.dot(velocity);
                xi[k] += s.dot(delta);
                // of c x S with c
                let own = s.cross_force(by.columns[k].plus(velocity.times(self.velocity_of(i))));
                if body.joint == Joint::Free {
                    (0..3).for_each(|m| xi[dofs.start - start + m] += own.linear[m]);
                    continue;
                }
                if body.joint == Joint::Planar && i + 1 == dofs.end {
                    for j in dofs.start..i {
                        xi[j - start] += self.columns[j].dot(own);
                    }
                }
                carrier = carrier.plus(own);
            }
            if let Some(parent) = body.parent {
                by.delta[parent - first] = by.delta[parent - first].plus(carrier);
                by.velocity[parent - first] = by.velocity[parent - first].plus(velocity);
            }
        }
    }

    /// Adds the gradient of `yp . p + yg . g` of [`Kinematics::vary_momenta`].
    pub fn momenta_transposed(&self, t: usize, yp: &[f64], yg: Option<&[f64]>, by: &mut Covariation) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        let (first, start) = (tree.bodies.start, tree.dofs.start);
        let momentum = |b: usize| self.states[b].inertia.times(self.absolute(t, b));
        by.carried.clear();
        by.carried.extend(tree.bodies.clone().map(momentum));
        by.change.clear();
        by.change.resize(tree.bodies.len(), Spatial::default());
        for b in tree.bodies.clone().rev() {
            let (body, p) = (&model.bodies[b], by.carried[b - first]);
            for i in body.dofs() {
                let (s, k) = (self.columns[i], i - start);
                by.columns[k] = by.columns[k].plus(p.times(yp[k]));
                by.change[b - first] = by.change[b - first].plus(s.times(yp[k]));
                let axis = body.joint == Joint::Planar && i + 1 == body.dofs().end && body.parent.is_some();
                let turned = if axis { Some(b) } else { body.parent };
                if let (Some(yg), Some(of)) = (yg, turned) {
                    let w = self.absolute(t, of);
                    by.columns[k] = by.columns[k].plus(w.cross_force(p).times(-yg[k]));
                    by.change[b - first] = by.change[b - first].plus(w.cross_motion(s).times(yg[k]));
                    by.velocity[of - first] = by.velocity[of - first].plus(s.cross_force(p).times(yg[k]));
                }
            }
            if let Some(parent) = body.parent {
                by.carried[parent - first] = by.carried[parent - first].plus(p);
            }
        }
        for b in tree.bodies.clone() {
            if let Some(parent) = model.bodies[b].parent {
                by.change[b - first] = by.change[b - first].plus(by.change[parent - first]);
            }
            let (u, m) = (self.absolute(t, b), by.change[b - first]);
            let own = self.states[b].inertia.times(m);
            let moved = m.cross_force(momentum(b)).plus(u.cross_force(own));
            by.delta[b - first] = by.delta[b - first].plus(moved.times(-1.0));
            by.velocity[b - first] = by.velocity[b - first].plus(own);
        }
    }

    /// Adds the gradient of `y . f` of [`Kinematics::vary_weight`].
    pub fn weight_transposed(&self, t: usize, gravity: Vector, y: &[f64], by: &mut Covariation) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        let (first, start) = (tree.bodies.start, tree.dofs.start);
        let force = |b: usize| {
            let SpatialInertia { mass, first: moment, .. } = self.states[b].inertia;
            Spatial { angular: cross(moment, gravity), linear: scale(mass, gravity) }
        };
        by.carried.clear();
        by.carried.extend(tree.bodies.clone().map(force));
        by.change.clear();
        by.change.resize(tree.bodies.len(), Spatial::default());
        for b in tree.bodies.clone().rev() {
            let (body, carried) = (&model.bodies[b], by.carried[b - first]);
            for i in body.dofs() {
                let k = i - start;
                by.columns[k] = by.columns[k].plus(carried.times(y[k]));
                by.change[b - first] = by.change[b - first].plus(self.columns[i].times(y[k]));
            }
            if let Some(parent) = body.parent {
                by.carried[parent - first] = by.carried[parent - first].plus(carried);
            }
        }
        for b in tree.bodies.clone() {
            if let Some(parent) = model.bodies[b].parent {
                by.change[b - first] = by.change[b - first].plus(by.change[parent - first]);
            }
            // of the moment m (shift + turn x c) x g
            let state = &self.states[b];
            let pulled = scale(state.inertia.mass, cross(gravity, by.change[b - first].angular));
            let own = Spatial { angular: cross(state.center, pulled), linear: pulled };
            by.delta[b - first] = by.delta[b - first].plus(own);
        }
    }

    /// Adds the gradient of `y . c` of [`Kinematics::vary_center`].
    pub fn center_transposed(&self, t: usize, y: Vector, by: &mut Covariation) {
        let tree = &self.system.model.trees[t];
        let states = &self.states[tree.bodies.clone()];
        let mass: f64 = states.iter().map(|s| s.inertia.mass).sum();
        for (state, delta) in states.iter().zip(&mut by.delta) {
            let own = scale(state.inertia.mass / mass, y);
            *delta = delta.plus(Spatial { angular: cross(state.center, own), linear: own });
        }
        by.delta[0].linear = add(by.delta[0].linear, scale(-1.0, y));
    }
}

/// The transposed of [`super::tangent::advance_times`]: adds `A' y` and `B' y`.
pub fn advance_transposed(
    system: &System,
    t: usize,
    v: &[f64],
    h: f64,
    y: &[f64],
    (xi, dv): (&mut [f64], &mut [f64]),
) {
    let mut own = y.to_vec();
    for (at, turn) in rotations(system, t, v, h) {
        let back = scale(-1.0, turn);
        let carried = Quaternion::turn(back).apply(three(y, at));
        let turned = left_jacobian(back, three(y, at));
        for k in 0..3 {
            xi[at + k] += carried[k];
            dv[at + k] += h * turned[k];
            own[at + k] = 0.0;
        }
    }
    for (k, y) in own.iter().enumerate() {
        xi[k] += y;
        dv[k] += h * y;
    }
}
