//! A solid at a place: support function and its derivatives in world axes.

use super::shape::Shape;
use super::solid::{Round, Solid};
use crate::space::{Pose, Tensor, Vector, add, dot, scale, sub, times, transpose_times};

/// A solid, its axes in the world, and its corners relative to a common origin.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub solid: &'a Solid,
    /// Columns are the body's axes.
    pub matrix: Tensor,
    pub position: Vector,
    pub corners: &'a [Vector],
    /// Outward normals of the faces.
    pub normals: &'a [Vector],
}

impl<'a> Placed<'a> {
    /// Places a solid relative to `origin`; its corners and normals go into `memory`.
    pub fn new(solid: &'a Solid, pose: &Pose, origin: Vector, memory: &'a mut [Vec<Vector>; 2]) -> Self {
        let matrix = pose.attitude.matrix();
        let position = sub(pose.position, origin);
        let [corners, normals] = memory;
        corners.clear();
        normals.clear();
        corners.extend(solid.hull.corners.iter().map(|&c| add(position, times(&matrix, c))));
        normals.extend(solid.hull.faces.iter().map(|f| times(&matrix, f.normal)));
        Self { solid, matrix, position, corners, normals }
    }

    /// The body's own z axis.
    pub fn axis(&self) -> Vector {
        self.matrix.map(|row| row[2])
    }

    /// Direction of an edge, not scaled.
    pub fn edge(&self, edge: usize) -> Vector {
        let [u, v] = self.solid.hull.edges[edge].corners;
        sub(self.corners[v as usize], self.corners[u as usize])
    }

    /// The corner farthest along `n`, and how far that is.
    pub fn farthest(&self, n: Vector) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, &c) in self.corners.iter().enumerate() {
            let h = dot(n, c);
            if h > best.1 {
                best = (i, h);
            }
        }
        best
    }

    /// How far the corners reach along `n`.
    pub fn level(&self, n: Vector) -> f64 {
        match self.solid.shape() {
            Shape::Box { half } if !self.solid.planar() => {
                let m = transpose_times(&self.matrix, n);
                dot(n, self.position) + half[0] * m[0].abs() + half[1] * m[1].abs() + half[2] * m[2].abs()
            }
            _ => self.farthest(n).1,
        }
    }

    /// `w = diag(a) R' n`, of which `q(n) = |w|` is the support function of the ellipsoid about zero.
    pub fn stretched(&self, n: Vector) -> Vector {
        let m = transpose_times(&self.matrix, n);
        let a = self.solid.semi_axes;
        [a[0] * m[0], a[1] * m[1], a[2] * m[2]]
    }

    /// `q(n)`.
    pub fn bulge(&self, n: Vector) -> f64 {
        if self.solid.round == Round::None {
            return 0.0;
        }
        let w = self.stretched(n);
        dot(w, w).sqrt()
    }

    /// The gradient of `q`: the ellipsoid's point farthest along `n`; zero where `q` has a kink.
    pub fn bulge_point(&self, n: Vector) -> Vector {
        let w = self.stretched(n);
        let q = dot(w, w).sqrt();
        if q == 0.0 {
            return [0.0; 3];
        }
        let a = self.solid.semi_axes;
        times(&self.matrix, [a[0] * w[0] / q, a[1] * w[1] / q, a[2] * w[2] / q])
    }

    /// The point of the surface that belongs to a point of the core, seen along the unit `n`.
    pub fn on_surface(&self, core: Vector, n: Vector) -> Vector {
        add(core, add(self.bulge_point(n), scale(self.solid.radius, n)))
    }
}
