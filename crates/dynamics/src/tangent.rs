//! Derivatives of kinematics, momenta and loads of a tree with its configuration and velocities.
//!
//! Directions in configuration space are given like velocities: `xi` displaces the joints as `G xi` does, so that a
//! free body moves by `xi[0..3]` and rotates by the rotation vector `xi[3..6]`, in world axes. While a tree is
//! displaced along `xi`, body `b` moves by the spatial displacement `d_b = sum S_i xi_i` over its chain; all spatial
//! vectors are taken at one fixed point, the tree's reference, and
//!
//! ```text
//! dS_i = c_i x S_i              c_i: displacement of what carries the axis (the parent; a planar joint's own shifts)
//! dU_b = dU_parent + sum (dS_i v_i + S_i dv_i)                  absolute velocity
//! d(I_b U_b) = d_b x* I_b U_b + I_b (dU_b - d_b x U_b)          momentum
//! ```
//!
//! so that `p = S' P` and `g = (dS/dt)' P` of `drift.rs` are differentiated term by term. No differences are taken.

use super::joint::three;
use super::spatial::{Spatial, SpatialInertia};
use super::{Joint, Kinematics, System};
use crate::space::{Quaternion, Vector, add, cross, dot, length, scale, sub};
use complementarity::matrix::Matrix;

/// First-order change of a tree along one direction of its configuration or velocities.
#[derive(Debug, Clone, Default)]
pub struct Variation {
    /// Displacement of each body of the tree.
    delta: Vec<Spatial>,
    /// Change of each column `S`.
    columns: Vec<Spatial>,
    /// Change of each body's absolute velocity.
    velocity: Vec<Spatial>,
}

/// Change of a link: displacement of its material and change of its velocity, at a point.
#[derive(Debug, Clone, Copy, Default)]
pub struct LinkChange {
    /// Rotation vector of the displacement.
    pub turn: Vector,
    /// Displacement of the material at the point.
    pub shift: Vector,
    /// Change of the angular velocity.
    pub angular: Vector,
    /// Change of the velocity of the material at the fixed point in space.
    pub linear: Vector,
}

impl Kinematics {
    /// Absolute spatial velocity of a body at the reference of its tree.
    pub fn absolute(&self, t: usize, b: usize) -> Spatial {
        self.states[b].velocity.plus(Spatial { angular: [0.0; 3], linear: self.references[t].velocity })
    }

    /// Change of a tree where its configuration is displaced along `xi` and its velocities change by `dv`, both over
    /// the dofs of the tree.
    pub fn vary(&self, t: usize, xi: &[f64], dv: &[f64]) -> Variation {
        let mut out = Variation::default();
        self.vary_into(t, xi, dv, &mut out);
        out
    }

    /// The same in memory that is reused.
    pub fn vary_into(&self, t: usize, xi: &[f64], dv: &[f64], out: &mut Variation) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        let (first, start) = (tree.bodies.start, tree.dofs.start);
        out.delta.clear();
        out.velocity.clear();
        out.columns.clear();
        for b in tree.bodies.clone() {
            let body = &model.bodies[b];
            let parent = body.parent.map(|p| p - first);
            let (mut delta, mut velocity) =
                parent.map_or((Spatial::default(), Spatial::default()), |p| (out.delta[p], out.velocity[p]));
            let dofs = body.dofs();
            // what carries the axes
            let mut carrier = delta;
            if body.joint == Joint::Free {
                carrier = Spatial { angular: [0.0; 3], linear: three(xi, dofs.start - start) };
            }
            for i in dofs.clone() {
                let k = i - start;
                if body.joint == Joint::Planar && i + 1 == dofs.end {
                    // the axis of rotation moves along with the shifts
                    carrier = delta;
                }
                let change = carrier.cross_motion(self.columns[i]);
                delta = delta.plus(self.columns[i].times(xi[k]));
                velocity =
                    velocity.plus(change.times(self.velocity_of(i))).plus(self.columns[i].times(dv[k]));
                out.columns.push(change);
            }
            out.delta.push(delta);
            out.velocity.push(velocity);
        }
    }

    /// Momenta `p = M v` of all joints.
    pub fn momentum_of_joints(&mut self, out: &mut [f64]) {
        let mut rate = vec![0.0; out.len()];
        for t in 0..self.references.len() {
            self.momenta(t, out, &mut rate);
        }
    }

    /// Changes of the momenta `p` and their rates `g` of a tree.
    pub fn vary_momenta(&self, t: usize, by: &Variation, dp: &mut [f64], dg: &mut [f64]) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        let (first, start) = (tree.bodies.start, tree.dofs.start);
        let mut own: Vec<[Spatial; 2]> = tree
            .bodies
            .clone()
            .map(|b| {
                let (u, inertia) = (self.absolute(t, b), self.states[b].inertia);
                let (delta, du) = (by.delta[b - first], by.velocity[b - first]);
                let p = inertia.times(u);
                let moved = du.plus(delta.cross_motion(u).times(-1.0));
                [p, delta.cross_force(p).plus(inertia.times(moved))]
            })
            .collect();
        for b in tree.bodies.clone().rev() {
            let (body, [p, change]) = (&model.bodies[b], own[b - first]);
            let turned = |of: usize| {
                let (w, dw) = (self.absolute(t, of), by.velocity[of - first]);
                [w.cross_force(p), dw.cross_force(p).plus(w.cross_force(change))]
            };
            let by_parent = body.parent.map_or([Spatial::default(); 2], turned);
            for i in body.dofs() {
                let (s, ds, k) = (self.columns[i], by.columns[i - start], i - start);
                dp[k] = ds.dot(p) + s.dot(change);
                let axis = body.joint == Joint::Planar && i + 1 == body.dofs().end && body.parent.is_some();
                let [rate, drate] = if axis { turned(b) } else { by_parent };
                dg[k] = -(ds.dot(rate) + s.dot(drate));
            }
            if let Some(parent) = body.parent {
                let sum = &mut own[parent - first];
                *sum = [sum[0].plus(p), sum[1].plus(change)];
            }
        }
    }

    /// Change of the centre of mass of a tree relative to its root's origin.
    pub fn vary_center(&self, t: usize, by: &Variation) -> Vector {
        let tree = &self.system.model.trees[t];
        let (mut mass, mut sum) = (0.0, [0.0; 3]);
        for (state, delta) in self.states[tree.bodies.clone()].iter().zip(&by.delta) {
            mass += state.inertia.mass;
            let moved = add(delta.linear, cross(delta.angular, state.center));
            sum = add(sum, scale(state.inertia.mass, moved));
        }
        sub(scale(1.0 / mass, sum), by.delta[0].linear)
    }

    /// Adds the change of the generalised force of weight.
    pub fn vary_weight(&self, t: usize, by: &Variation, gravity: Vector, out: &mut [f64]) {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        let (first, start) = (tree.bodies.start, tree.dofs.start);
        let mut own: Vec<[Spatial; 2]> = tree
            .bodies
            .clone()
            .map(|b| {
                let SpatialInertia { mass, first: moment, .. } = self.states[b].inertia;
                let delta = by.delta[b - first];
                let moved = scale(mass, add(delta.linear, cross(delta.angular, self.states[b].center)));
                let force = Spatial { angular: cross(moment, gravity), linear: scale(mass, gravity) };
                [force, Spatial { angular: cross(moved, gravity), linear: [0.0; 3] }]
            })
            .collect();
        for b in tree.bodies.clone().rev() {
            let (body, [force, change]) = (&model.bodies[b], own[b - first]);
            for i in body.dofs() {
                out[i - start] += by.columns[i - start].dot(force) + self.columns[i].dot(change);
            }
            if let Some(parent) = body.parent {
                let sum = &mut own[parent - first];
                *sum = [sum[0].plus(force), sum[1].plus(change)];
            }
        }
    }

    /// Change of a link at a point in space.
    pub fn vary_link(&self, link: usize, by: &Variation, point: Vector) -> LinkChange {
        let model = &*self.system.model;
        let Some(b) = model.places[link].0 else { return LinkChange::default() };
        let tree = model.bodies[b].tree;
        let k = b - model.trees[tree].bodies.start;
        let (arm, delta, velocity) = (sub(point, self.references[tree].point), by.delta[k], by.velocity[k]);
        LinkChange {
            turn: delta.angular,
            shift: add(delta.linear, cross(delta.angular, arm)),
            angular: velocity.angular,
            linear: add(velocity.linear, cross(velocity.angular, arm)),
        }
    }

    /// Adds to `out`, over the dofs of the link's tree, the change of the generalised force of a wrench on a link,
    /// where its point moves by `moved` and force and torque change by `change`.
    pub fn vary_wrench(
        &self,
        link: usize,
        by: &Variation,
        (point, moved): (Vector, Vector),
        [force, torque]: [Vector; 2],
        change: [Vector; 2],
        out: &mut [f64],
    ) {
        let model = &*self.system.model;
        let Some(b) = model.places[link].0 else { return };
        let body = &model.bodies[b];
        let tree = &model.trees[body.tree];
        let arm = sub(point, self.references[body.tree].point);
        let wrench = Spatial { angular: add(torque, cross(arm, force)), linear: force };
        let turning = add(change[1], add(cross(moved, force), cross(arm, change[0])));
        let changed = Spatial { angular: turning, linear: change[0] };
        for &i in &model.chains[body.chain.clone()] {
            let k = i - tree.dofs.start;
            out[k] += by.columns[k].dot(wrench) + self.columns[i].dot(changed);
        }
    }
}

/// Product `J_l(turn) x` of the left Jacobian of the exponential map: `exp(turn + x) = exp(J_l x) exp(turn)` to first order.
pub fn left_jacobian(turn: Vector, x: Vector) -> Vector {
    let angle = length(turn);
    let (a, b, c) = if angle < 1e-2 {
        // series, to rounding at this size
        let s = angle * angle;
        (
            1.0 - s / 6.0 * (1.0 - s / 20.0),
            0.5 * (1.0 - s / 12.0 * (1.0 - s / 30.0)),
            (1.0 - s / 20.0 * (1.0 - s / 42.0)) / 6.0,
        )
    } else {
        let (sin, cos) = angle.sin_cos();
        (sin / angle, (1.0 - cos) / (angle * angle), (angle - sin) / (angle * angle * angle))
    };
    add(add(scale(a, x), scale(b, cross(turn, x))), scale(c * dot(turn, x), turn))
}

/// Rotation vectors of a tree's joints that rotate in space, and the places of their velocities.
pub fn rotations<'a>(
    system: &'a System,
    t: usize,
    v: &'a [f64],
    h: f64,
) -> impl Iterator<Item = (usize, Vector)> + 'a {
    let tree = &system.model.trees[t];
    system.model.bodies[tree.bodies.clone()].iter().filter_map(move |body| {
        let at = body.joint.quaternion()? + body.v - tree.dofs.start;
        Some((at, scale(h, three(v, at))))
    })
}

/// Product of the derivative of `q+ = q + h G v` of one tree: `out := A xi + B dv`, over its dofs.
pub fn advance_times(
    system: &System,
    t: usize,
    v: &[f64],
    h: f64,
    (xi, dv): (&[f64], &[f64]),
    out: &mut [f64],
) {
    (0..out.len()).for_each(|i| out[i] = xi[i] + h * dv[i]);
    for (at, turn) in rotations(system, t, v, h) {
        let carried = Quaternion::turn(turn).apply(three(xi, at));
        let turned = left_jacobian(turn, three(dv, at));
        (0..3).for_each(|k| out[at + k] = carried[k] + h * turned[k]);
    }
}

/// Derivative of `q+ = q + h G v` of one tree: `xi+ = A xi + B dv`, over its dofs.
pub fn advance_derivative(system: &System, t: usize, v: &[f64], h: f64) -> [Matrix; 2] {
    let model = &*system.model;
    let tree = &model.trees[t];
    let n = tree.dofs.len();
    let (mut a, mut b) = (Matrix::identity(n), Matrix::from_fn(n, n, |i, j| if i == j { h } else { 0.0 }));
    for body in &model.bodies[tree.bodies.clone()] {
        let at = match body.joint {
            Joint::Free => body.v - tree.dofs.start + 3,
            Joint::Spherical => body.v - tree.dofs.start,
            _ => continue,
        };
        let turn = scale(h, three(v, at));
        let rotation = Quaternion::turn(turn);
        for j in 0..3 {
            let axis: Vector = std::array::from_fn(|i| f64::from(u8::from(i == j)));
            let (moved, turned) = (rotation.apply(axis), left_jacobian(turn, axis));
            for i in 0..3 {
                (a[(at + i, at + j)], b[(at + i, at + j)]) = (moved[i], h * turned[i]);
            }
        }
    }
    [a, b]
}

/// Difference of two configurations as a direction, `xi` with `to = from + G xi`: exact for the quaternions of nearby
/// attitudes to second order, as central differences need it.
pub fn difference(system: &System, to: &[f64], from: &[f64], out: &mut [f64]) {
    for body in &system.model.bodies {
        let (q, dofs) = (body.coordinates(), body.dofs());
        let (a, b, out) = (&to[q.clone()], &from[q], &mut out[dofs]);
        let Some(at) = body.joint.quaternion() else {
            out.iter_mut().zip(a.iter().zip(b)).for_each(|(x, (a, b))| *x = a - b);
            continue;
        };
        let [to, from] = [a, b].map(|q| Quaternion([q[at], q[at + 1], q[at + 2], q[at + 3]]).unit());
        let [w, x, y, z] = to.after(from.inverse()).0;
        let (size, sign) = (length([x, y, z]), if w < 0.0 { -1.0 } else { 1.0 });
        let angle = 2.0 * size.atan2(sign * w);
        let factor = if size > 0.0 { sign * angle / size } else { 2.0 };
        let turn = scale(factor, [x, y, z]);
        if at == 3 {
            // tangents of free bodies are in world axes
            let mount = body.mount.attitude;
            let shift = mount.apply([a[0] - b[0], a[1] - b[1], a[2] - b[2]]);
            out[..3].copy_from_slice(&shift);
            out[3..].copy_from_slice(&mount.apply(turn));
        } else {
            out.copy_from_slice(&turn);
        }
    }
}
