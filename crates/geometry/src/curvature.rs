//! Curvature of a solid's surface where another one touches it.
//!
//! With `n` the outward normal, a point that moves over the surface by `tau` sees the normal rotate by `S tau`; `S` is
//! the shape operator. It is held by its principal directions and *radii* of curvature, which stay finite or infinite
//! numbers for every kind of feature, where `S` itself does not:
//!
//! | feature | radii |
//! | --- | --- |
//! | smooth point of a sphere, ellipsoid or capsule's end | both positive |
//! | side of a cylinder or capsule | infinite along the axis, `r` around it |
//! | rim of a cylinder, its axis at the angle `a` to the normal | `r / sin a` along the rim, 0 across it |
//! | face of a polytope, cap of a cylinder, half-space | both infinite |
//! | edge of a polytope; where the face beside it touches, also the rim of a cap | infinite along it, 0 across it |
//! | vertex of a polytope, point of a rim that is marked on the body | both 0 |
//!
//! In a planar scene every solid is a prism along z: that radius is infinite.
//!
//! The inverse `L = S^-1` is the Hessian of the support function across `n`: the ellipsoid's plus `r` for the ball. With
//! `w`, `u`, `v` what `diag(a) R'` makes of `n` and two tangents, and `q = |w|`, the ellipsoid's entries are
//! `(w x u).(w x v) / q^3`, and its determinant is `(w . u x v)^2 / q^4`.

use super::outline::STRAIGHT;
use super::placed::Placed;
use super::solid::Round;
use crate::space::{Frame, Vector, add, cross, dot, scale};

/// Curvature of one side of a contact, in the plane across the normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapeOperator {
    /// Principal directions in the world: orthonormal, and across the normal.
    pub directions: [Vector; 2],
    /// Principal radii of curvature, m: infinite along planes and straight lines, 0 across sharp edges.
    pub radii: [f64; 2],
}

impl ShapeOperator {
    /// A plane.
    pub(super) fn flat(frame: &Frame) -> Self {
        Self { directions: [frame.t, frame.o], radii: [f64::INFINITY; 2] }
    }

    /// A vertex.
    pub(super) fn sharp(frame: &Frame) -> Self {
        Self { directions: [frame.t, frame.o], radii: [0.0; 2] }
    }

    /// A line along `along`, with the radius `across` around it.
    pub(super) fn line(n: Vector, along: Vector, across: f64) -> Self {
        let frame = Frame::new(n, along);
        Self { directions: [frame.t, frame.o], radii: [f64::INFINITY, across] }
    }

    /// Principal curvatures, 1/m: 0 along planes and straight lines, infinite across sharp edges.
    pub fn curvatures(&self) -> [f64; 2] {
        self.radii.map(|r| 1.0 / r)
    }

    /// The shape operator `S` in the tangents t and o of a frame with the same normal, 1/m; `None` at edges and vertices,
    /// where it is infinite.
    pub fn matrix(&self, frame: &Frame) -> Option<[[f64; 2]; 2]> {
        let k = self.curvatures();
        let axes = [frame.t, frame.o];
        let entry = |i: usize, j: usize| {
            (0..2).map(|m| k[m] * dot(axes[i], self.directions[m]) * dot(self.directions[m], axes[j])).sum()
        };
        (k[0].is_finite() && k[1].is_finite())
            .then(|| [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]])
    }

    /// `L turn`: how far the point of contact moves over the surface when the outward normal rotates by `turn` beside the
    /// body; along infinite radii, where no rotation is possible, 0.
    pub fn rolled(&self, turn: Vector) -> Vector {
        let mut sum = [0.0; 3];
        for (d, r) in self.directions.into_iter().zip(self.radii) {
            if r.is_finite() {
                sum = add(sum, scale(r * dot(d, turn), d));
            }
        }
        sum
    }
}

impl Placed<'_> {
    /// Curvature that a corner of the core gets from the ellipsoid and the ball, with the outward normal `out`.
    /// A cap straight across `out` counts as marked points.
    pub fn rounding(&self, out: Vector) -> ShapeOperator {
        let frame = Frame::new(out, [1.0, 0.0, 0.0]);
        let mut operator = ShapeOperator::sharp(&frame);
        let cap = self.solid.round == Round::Disc && dot(self.axis(), out).abs() > STRAIGHT;
        if self.solid.round != Round::None && !cap {
            let [w, u, v] = [out, frame.t, frame.o].map(|x| self.stretched(x));
            let q = dot(w, w).sqrt();
            let (x, y) = (cross(w, u), cross(w, v));
            let [a, b, c] = [dot(x, x), dot(x, y), dot(y, y)].map(|h| h / (q * q * q));
            if self.solid.planar() {
                operator.radii[0] = a;
            } else {
                let root = dot(w, cross(u, v)) / (q * q);
                let larger = 0.5 * (a + c) + (0.25 * (a - c) * (a - c) + b * b).sqrt();
                let (sin, cos) = (0.5 * (2.0 * b).atan2(a - c)).sin_cos();
                operator.directions = [frame.in_plane([cos, sin]), frame.in_plane([-sin, cos])];
                operator.radii = [larger, root * root / larger];
            }
        }
        operator.radii = operator.radii.map(|r| r + self.solid.radius);
        if self.solid.planar() {
            operator.radii[1] = f64::INFINITY;
        }
        operator
    }
}
