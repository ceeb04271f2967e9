//! Jacobian rows, and their transpose: forces on links as generalised forces.

use super::Kinematics;
use super::spatial::Spatial;
use crate::space::{Vector, add, cross, scale, sub};

impl Kinematics {
    /// Adds to `row` (over all of `v`) the row whose product with `v` is `factor * direction . velocity` of
    /// the point of `link` that is now at `point` (world coordinates).
    pub fn jacobian_row(&self, link: usize, point: Vector, direction: Vector, factor: f64, row: &mut [f64]) {
        self.add_wrench(link, point, scale(factor, direction), [0.0; 3], row);
    }

    /// Adds to `row` the row whose product with `v` is `factor * direction . angular velocity` of `link`.
    pub fn angular_row(&self, link: usize, direction: Vector, factor: f64, row: &mut [f64]) {
        self.add_moment(link, Spatial { angular: scale(factor, direction), linear: [0.0; 3] }, |i, x| {
            row[i] += x;
        });
    }

    /// Like [`jacobian_row`](Self::jacobian_row), but adds only to the entries of the link's
    /// [`chain`](super::System::chain), in its order.
    pub fn jacobian_chain(
        &self,
        link: usize,
        point: Vector,
        direction: Vector,
        factor: f64,
        row: &mut [f64],
    ) {
        let wrench = self.at_reference(link, point, scale(factor, direction), [0.0; 3]);
        let mut entries = row.iter_mut();
        self.add_moment(link, wrench, |_, x| {
            if let Some(entry) = entries.next() {
                *entry += x;
            }
        });
    }

    /// Like [`angular_row`](Self::angular_row), but adds only to the entries of the link's chain.
    pub fn angular_chain(&self, link: usize, direction: Vector, factor: f64, row: &mut [f64]) {
        let mut entries = row.iter_mut();
        self.add_moment(link, Spatial { angular: scale(factor, direction), linear: [0.0; 3] }, |_, x| {
            if let Some(entry) = entries.next() {
                *entry += x;
            }
        });
    }

    /// Adds the generalised forces `f += J' w` of a force that acts on `link` at `point` and of a torque, all
    /// in world axes.
    pub fn add_wrench(&self, link: usize, point: Vector, force: Vector, torque: Vector, f: &mut [f64]) {
        let wrench = self.at_reference(link, point, force, torque);
        self.add_moment(link, wrench, |i, x| f[i] += x);
    }

    fn at_reference(&self, link: usize, point: Vector, force: Vector, torque: Vector) -> Spatial {
        let reference = self.system.tree_of(link).map_or([0.0; 3], |t| self.references[t].point);
        Spatial { angular: add(torque, cross(sub(point, reference), force)), linear: force }
    }

    /// Adds `S' w` for the dofs that move the link, root first.
    #[inline]
    fn add_moment(&self, link: usize, wrench: Spatial, mut put: impl FnMut(usize, f64)) {
        let model = &self.system.model;
        let Some(body) = model.places[link].0.map(|b| &model.bodies[b]) else { return };
        let mut chain = &model.chains[body.chain.clone()];
        let tree = &model.trees[body.tree];
        if tree.free {
            // the columns of a free root are unit vectors
            for k in 0..3 {
                put(tree.dofs.start + k, wrench.linear[k]);
            }
            for k in 0..3 {
                put(tree.dofs.start + 3 + k, wrench.angular[k]);
            }
            chain = &chain[6..];
        }
        for &i in chain {
            put(i, self.columns[i].dot(wrench));
        }
    }
}
