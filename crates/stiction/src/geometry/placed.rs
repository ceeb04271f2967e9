//! A solid at a place: support function and its derivatives in world axes.

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
}

impl<'a> Placed<'a> {
    /// Places a solid relative to `origin`; its corners go into `corners`.
    pub fn new(solid: &'a Solid, pose: &Pose, origin: Vector, corners: &'a mut Vec<Vector>) -> Self {
        let matrix = pose.attitude.matrix();
        let position = sub(pose.position, origin);
        corners.clear();
        corners.extend(solid.hull.corners.iter().map(|&c| add(position, times(&matrix, c))));
        Self { solid, matrix, position, corners }
    }

    /// The body's own z axis.
    pub fn axis(&self) -> Vector {
        self.matrix.map(|row| row[2])
    }

    /// Outward normal of a face.
    pub fn normal(&self, face: usize) -> Vector {
        times(&self.matrix, self.solid.hull.faces[face].normal)
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

    /// `q(n) = |diag(a) R' n|`, the support function of the ellipsoid about zero.
    pub fn bulge(&self, n: Vector) -> f64 {
        if self.solid.round == Round::None {
            return 0.0;
        }
        let m = transpose_times(&self.matrix, n);
        let a = self.solid.semi_axes;
        let w = [a[0] * m[0], a[1] * m[1], a[2] * m[2]];
        dot(w, w).sqrt()
    }

    /// The gradient of `q`: the ellipsoid's point farthest along `n`; zero where `q` has a kink.
    pub fn bulge_point(&self, n: Vector) -> Vector {
        if self.solid.round == Round::None {
            return [0.0; 3];
        }
        let (q, g) = self.bulge_local(n);
        if q > 0.0 { times(&self.matrix, g) } else { [0.0; 3] }
    }

    fn bulge_local(&self, n: Vector) -> (f64, Vector) {
        let m = transpose_times(&self.matrix, n);
        let a = self.solid.semi_axes;
        let w = [a[0] * m[0], a[1] * m[1], a[2] * m[2]];
        let q = dot(w, w).sqrt();
        let s = if q > 0.0 { 1.0 / q } else { 0.0 };
        (q, [s * a[0] * w[0], s * a[1] * w[1], s * a[2] * w[2]])
    }

    /// `t' H u` for `H` the second derivative of `q` at `n`: `H = (A^2 - g g') / q`.
    pub fn bulge_curvature(&self, n: Vector, pairs: &[(Vector, Vector)], out: &mut [f64]) {
        if self.solid.round == Round::None {
            return;
        }
        let (q, g) = self.bulge_local(n);
        if q <= 0.0 {
            return;
        }
        let a = self.solid.semi_axes;
        for (&(t, u), o) in pairs.iter().zip(out) {
            let (t, u) = (transpose_times(&self.matrix, t), transpose_times(&self.matrix, u));
            let product: f64 = (0..3).map(|i| a[i] * a[i] * t[i] * u[i]).sum();
            *o += (product - dot(g, t) * dot(g, u)) / q;
        }
    }

    /// The point of the surface that belongs to a point of the core, seen along the unit `n`.
    pub fn on_surface(&self, core: Vector, n: Vector) -> Vector {
        add(core, add(self.bulge_point(n), scale(self.solid.radius, n)))
    }
}
