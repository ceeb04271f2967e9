//! Which pairs of bodies can touch at all.
//!
//! Sweep and prune along the axis over which the boxes are most spread. Boxes without bounds (half-spaces) are
//! compared with all others apart from the sweep. Time grows with the number of boxes and of those that overlap
//! along that axis; memory is kept from call to call.

use super::plane::outward;
use super::solid::Solid;
use crate::space::{Pose, Vector, dot, transpose_times};

/// A box along the world's axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// Lowest coordinates.
    pub min: Vector,
    /// Highest coordinates.
    pub max: Vector,
}

impl Aabb {
    /// Whether two boxes share a point.
    pub fn meets(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    fn is_bounded(&self) -> bool {
        (0..3).all(|i| self.min[i].is_finite() && self.max[i].is_finite())
    }
}

/// The smallest box around a solid, grown by `margin` on every side. A half-space's box ends only across an axis of
/// the world it faces along.
pub fn bounding_box(solid: &Solid, pose: &Pose, margin: f64) -> Aabb {
    if solid.is_half_space() {
        let (mut min, mut max) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]);
        let n = outward(pose, solid.planar());
        for i in 0..3 {
            if n[i] == 1.0 {
                max[i] = pose.position[i] + margin;
            } else if n[i] == -1.0 {
                min[i] = pose.position[i] - margin;
            }
        }
        return Aabb { min, max };
    }
    let matrix = pose.attitude.matrix();
    let (mut min, mut max) = ([0.0; 3], [0.0; 3]);
    for i in 0..3 {
        let mut axis = [0.0; 3];
        axis[i] = 1.0;
        let n = transpose_times(&matrix, axis);
        let a = solid.semi_axes;
        let w = [a[0] * n[0], a[1] * n[1], a[2] * n[2]];
        let around = dot(w, w).sqrt() + solid.radius + margin;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &c in solid.corners() {
            let h = dot(n, c);
            (low, high) = (low.min(h), high.max(h));
        }
        (min[i], max[i]) = (pose.position[i] + low - around, pose.position[i] + high + around);
    }
    Aabb { min, max }
}

/// Finds pairs of boxes that meet.
#[derive(Debug, Clone, Default)]
pub struct BroadPhase {
    /// Bounded boxes in the order of the sweep, which changes little from call to call.
    order: Vec<u32>,
    /// Boxes in that order.
    sorted: Vec<Aabb>,
    unbounded: Vec<u32>,
    axis: usize,
}

impl BroadPhase {
    /// Puts into `out` all pairs `[i, j]`, i < j, of boxes that meet, in ascending order. Two unbounded boxes are no
    /// pair. The same boxes give the same pairs, whatever was asked before.
    pub fn pairs(&mut self, boxes: &[Aabb], out: &mut Vec<[u32; 2]>) {
        out.clear();
        self.arrange(boxes);
        for (i, a) in self.sorted.iter().enumerate() {
            let end = a.max[self.axis];
            for (j, b) in self.sorted.iter().enumerate().skip(i + 1) {
                if b.min[self.axis] > end {
                    break;
                }
                if a.meets(b) {
                    let (p, q) = (self.order[i], self.order[j]);
                    out.push([p.min(q), p.max(q)]);
                }
            }
        }
        for &u in &self.unbounded {
            for &i in &self.order {
                if boxes[u as usize].meets(&boxes[i as usize]) {
                    out.push([u.min(i), u.max(i)]);
                }
            }
        }
        out.sort_unstable();
    }

    fn arrange(&mut self, boxes: &[Aabb]) {
        let bounded = boxes.iter().filter(|b| b.is_bounded()).count();
        let stale = self.order.len() != bounded
            || self.order.iter().any(|&i| boxes.get(i as usize).is_none_or(|b| !b.is_bounded()));
        if stale {
            self.order.clear();
            self.order.extend((0..boxes.len() as u32).filter(|&i| boxes[i as usize].is_bounded()));
        }
        self.unbounded.clear();
        self.unbounded.extend((0..boxes.len() as u32).filter(|&i| !boxes[i as usize].is_bounded()));
        let axis = widest(&self.order, boxes);
        let key = |i: u32| (boxes[i as usize].min[axis], i);
        let less = |p: u32, q: u32| {
            let (a, b) = (key(p), key(q));
            a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
        };
        if stale || axis != self.axis {
            self.axis = axis;
            self.order.sort_unstable_by(|&p, &q| key(p).0.total_cmp(&key(q).0).then(p.cmp(&q)));
        }
        // nearly sorted since the last call: by insertion
        for i in 1..self.order.len() {
            let mut k = i;
            while k > 0 && less(self.order[k], self.order[k - 1]) {
                self.order.swap(k, k - 1);
                k -= 1;
            }
        }
        self.sorted.clear();
        self.sorted.extend(self.order.iter().map(|&i| boxes[i as usize]));
    }
}

/// The axis over which the boxes' centres vary most.
fn widest(order: &[u32], boxes: &[Aabb]) -> usize {
    let mut best = (0, -1.0);
    for axis in 0..3 {
        let centre = |i: u32| 0.5 * (boxes[i as usize].min[axis] + boxes[i as usize].max[axis]);
        let count = order.len().max(1) as f64;
        let mean = order.iter().map(|&i| centre(i)).sum::<f64>() / count;
        let variance = order.iter().map(|&i| (centre(i) - mean).powi(2)).sum::<f64>() / count;
        if variance > best.1 {
            best = (axis, variance);
        }
    }
    best.0
}
