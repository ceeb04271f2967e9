//! Ellipsoids and boxes: inertia, surface, curvature, support point.

use crate::analysis::bodies::Surface;
use crate::space::{Frame, Tensor, Vector, add, dot, length, scale, times, transpose_times, turned, unit};

/// A solid of uniform density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// Ellipsoid, by its semi-axes.
    Ellipsoid(Vector),
    /// Box, by its half extents.
    Cuboid(Vector),
}

/// A point on the surface: arm from the centre, and outward normal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub arm: Vector,
    pub outward: Vector,
}

impl Shape {
    fn half(&self) -> Vector {
        match self {
            Self::Ellipsoid(d) | Self::Cuboid(d) => *d,
        }
    }

    /// Mean half width.
    pub fn radius(&self) -> f64 {
        self.half().iter().sum::<f64>() / 3.0
    }

    /// Mass, and inertia rotated by `r`.
    pub fn mass_properties(&self, density: f64, r: &Tensor) -> (f64, Tensor) {
        let d = self.half();
        let (volume, share) = match self {
            Self::Ellipsoid(_) => (4.0 / 3.0 * std::f64::consts::PI * d[0] * d[1] * d[2], 5.0),
            Self::Cuboid(_) => (8.0 * d[0] * d[1] * d[2], 3.0),
        };
        let mass = density * volume;
        let s = d.map(|x| x * x * mass / share);
        (mass, turned(r, [s[1] + s[2], s[0] + s[2], s[0] + s[1]]))
    }

    /// A walk over the surface rotated by `r`: an arc from direction `from` to direction `to` on an
    /// ellipsoid; on a box a line in the face that `from` meets first.
    pub fn walk(&self, r: &Tensor, from: Vector, to: Vector) -> impl Fn(f64) -> Spot + use<> {
        let (shape, r) = (*self, *r);
        // the face, and the ends of the line in it, in units of the half sides
        let face = (0..3).fold(0, |k, j| if from[j].abs() > from[k].abs() { j } else { k });
        let end = |x: Vector| [0, 1, 2].map(|k| if k == face { from[face].signum() } else { 0.9 * x[k] });
        let (start, stop) = (end(from), end(to));
        move |s| {
            let between = |x: Vector, y: Vector| add(scale(1.0 - s, x), scale(s, y));
            match shape {
                Self::Ellipsoid(d) => {
                    let u = unit(between(from, to));
                    Spot {
                        arm: times(&r, [0, 1, 2].map(|k| d[k] * u[k])),
                        outward: unit(times(&r, [0, 1, 2].map(|k| u[k] / d[k]))),
                    }
                }
                Self::Cuboid(d) => {
                    let u = between(start, stop);
                    let normal = [0, 1, 2].map(|k| if k == face { start[k] } else { 0.0 });
                    Spot { arm: times(&r, [0, 1, 2].map(|k| d[k] * u[k])), outward: times(&r, normal) }
                }
            }
        }
    }

    /// Surface at a spot of [`Self::walk`], in the frame's t, o.
    pub fn surface(&self, r: &Tensor, arm: Vector, frame: &Frame) -> Surface {
        match self {
            // F = x' Q x / 2: curvature of the level surface = Q in the plane over the gradient's length
            Self::Ellipsoid(d) => {
                let q = turned(r, d.map(|x| 1.0 / (x * x)));
                let steep = length(times(&q, arm));
                let bend = |x: Vector, y: Vector| dot(x, times(&q, y)) / steep;
                let twist = bend(frame.t, frame.o);
                Surface::Smooth {
                    curvature: [[bend(frame.t, frame.t), twist], [twist, bend(frame.o, frame.o)]],
                }
            }
            Self::Cuboid(_) => Surface::FLAT,
        }
    }

    /// Support point in direction `n`, and whether it is a corner.
    pub fn farthest(&self, r: &Tensor, n: Vector) -> (Vector, bool) {
        let m = transpose_times(r, n);
        match self {
            Self::Ellipsoid(d) => {
                let stretched = [0, 1, 2].map(|k| d[k] * m[k]);
                let reach = length(stretched);
                (times(r, [0, 1, 2].map(|k| d[k] * stretched[k] / reach)), false)
            }
            Self::Cuboid(d) => (times(r, [0, 1, 2].map(|k| d[k] * m[k].signum())), true),
        }
    }

    /// The four corners of a box's face towards `-z` in its own axes, rotated by `r`.
    pub fn soles(&self, r: &Tensor) -> [Vector; 4] {
        let d = self.half();
        [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
            .map(|[x, y]| times(r, [x * d[0], y * d[1], -d[2]]))
    }
}
