//! Spatial vectors and inertias (RBDA chapter 2), all in world axes at one point per tree: its reference.

use crate::space::{Tensor, Vector, add, cross, dot, scale};

/// A motion (angular velocity, velocity of the material point at the reference)
/// or a force (moment about the reference, force).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spatial {
    pub angular: Vector,
    pub linear: Vector,
}

impl Spatial {
    pub fn plus(self, other: Self) -> Self {
        Self { angular: add(self.angular, other.angular), linear: add(self.linear, other.linear) }
    }

    pub fn times(self, s: f64) -> Self {
        Self { angular: scale(s, self.angular), linear: scale(s, self.linear) }
    }

    /// Power of a force on a motion.
    pub fn dot(self, other: Self) -> f64 {
        // two sums side by side
        let ([a, b, c], [d, e, f]) = (self.angular, self.linear);
        let ([p, q, r], [s, t, u]) = (other.angular, other.linear);
        (a * p + c * r + e * t) + (b * q + d * s + f * u)
    }

    /// `v x m`: the rate of a motion `m` that is carried along by the motion `self`.
    pub fn cross_motion(self, m: Self) -> Self {
        Self {
            angular: cross(self.angular, m.angular),
            linear: add(cross(self.angular, m.linear), cross(self.linear, m.angular)),
        }
    }

    /// `v x* f`: the rate of a force `f` that is carried along by the motion `self`.
    pub fn cross_force(self, f: Self) -> Self {
        Self {
            angular: add(cross(self.angular, f.angular), cross(self.linear, f.linear)),
            linear: cross(self.angular, f.linear),
        }
    }
}

/// A symmetric 3 x 3 matrix: xx, xy, xz, yy, yz, zz.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Symmetric(pub [f64; 6]);

impl Symmetric {
    /// `R m R'` of a symmetric `m`.
    pub fn turned(r: &Tensor, m: &Tensor) -> Self {
        // rows of R m (m being symmetric, m r_i is column i of m R')
        let [x, y, z] = r.map(|row| [dot(m[0], row), dot(m[1], row), dot(m[2], row)]);
        Self([dot(r[0], x), dot(r[0], y), dot(r[0], z), dot(r[1], y), dot(r[1], z), dot(r[2], z)])
    }

    pub fn times(&self, a: Vector) -> Vector {
        let [xx, xy, xz, yy, yz, zz] = self.0;
        [
            xx * a[0] + xy * a[1] + xz * a[2],
            xy * a[0] + yy * a[1] + yz * a[2],
            xz * a[0] + yz * a[1] + zz * a[2],
        ]
    }

    /// Adds the parallel-axis term `m (r.r 1 - r r')`.
    pub fn shifted(&self, mass: f64, r: Vector) -> Self {
        let [xx, xy, xz, yy, yz, zz] = self.0;
        let [mx, my, mz] = scale(mass, r);
        let (x2, y2, z2) = (mx * r[0], my * r[1], mz * r[2]);
        Self([xx + y2 + z2, xy - mx * r[1], xz - mx * r[2], yy + x2 + z2, yz - my * r[2], zz + x2 + y2])
    }

    pub fn full(&self) -> Tensor {
        let [xx, xy, xz, yy, yz, zz] = self.0;
        [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    }

    fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

/// Inertia of a rigid body at the reference (RBDA section 2.13): mass, first and second moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct SpatialInertia {
    pub mass: f64,
    /// First moment `m c`, with `c` from the reference to the centre of mass.
    pub first: Vector,
    /// Second moment about the reference.
    pub second: Symmetric,
}

impl SpatialInertia {
    /// Inertia at the reference, from the centre of mass and the inertia about it.
    pub fn new(mass: f64, center: Vector, central: &Symmetric) -> Self {
        Self { mass, first: scale(mass, center), second: central.shifted(mass, center) }
    }

    pub fn plus(&self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first: add(self.first, other.first),
            second: self.second.plus(&other.second),
        }
    }

    /// Momentum of a motion: `L = I w + m c x v`, `p = m v + w x m c`.
    pub fn times(&self, v: Spatial) -> Spatial {
        Spatial {
            angular: add(self.second.times(v.angular), cross(self.first, v.linear)),
            linear: add(scale(self.mass, v.linear), cross(v.angular, self.first)),
        }
    }
}
