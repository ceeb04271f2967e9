//! Tests of the room as a whole, with support functions and memberships of their own.

mod bodies;
mod features;
mod flat;
mod measure;
mod pairs;
mod stacks;

use super::{Shape, Solid, Touch, Workspace, touches};
use crate::space::{Pose, Quaternion, Vector, add, dot, length, scale, sub};

/// Reproducible numbers (splitmix64).
struct Chance(u64);

impl Chance {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn vector(&mut self, size: f64) -> Vector {
        [0, 1, 2].map(|_| self.between(-size, size))
    }

    fn pose(&mut self, size: f64) -> Pose {
        Pose { position: self.vector(size), attitude: Quaternion::turn(self.vector(3.0)) }
    }

    fn shape(&mut self, kind: usize) -> Shape {
        let mut s = || self.between(0.05, 1.0);
        match kind {
            0 => Shape::Sphere { radius: s() },
            1 => Shape::Ellipsoid { semi_axes: [s(), s(), s()] },
            2 => Shape::Capsule { radius: s(), half_length: s() },
            3 => Shape::cylinder(s(), s()),
            4 => Shape::Box { half: [s(), s(), s()] },
            _ => Shape::Polytope { vertices: (0..12).map(|_| self.vector(1.0)).collect() },
        }
    }

    fn planar_shape(&mut self, kind: usize) -> Shape {
        let mut s = || self.between(0.2, 1.0);
        match kind {
            0 => Shape::Sphere { radius: s() },
            1 => Shape::Ellipse { semi_axes: [s(), s()] },
            2 => Shape::Box { half: [s(), s(), 1.0] },
            _ => {
                let (a, b, start) = (s(), s(), s());
                let corner = |k: i32| {
                    let angle = start + f64::from(k) * std::f64::consts::TAU / 5.0;
                    [a * angle.cos(), b * angle.sin()]
                };
                Shape::Polygon { vertices: (0..5).map(corner).collect() }
            }
        }
    }

    fn planar_pose(&mut self, size: f64) -> Pose {
        let [x, y, angle] = self.vector(1.0);
        Pose { position: [size * x, size * y, 0.0], attitude: Quaternion::turn([0.0, 0.0, 3.0 * angle]) }
    }
}

fn solid(shape: &Shape) -> Solid {
    Solid::new(shape, false).unwrap()
}

fn find(a: &Solid, p: &Pose, b: &Solid, q: &Pose, margin: f64) -> Vec<Touch> {
    let mut out = Vec::new();
    touches(a, p, b, q, margin, &mut Workspace::default(), &mut out).unwrap();
    out
}

fn deepest(touches: &[Touch]) -> Touch {
    *touches.iter().min_by(|s, t| s.gap.total_cmp(&t.gap)).unwrap()
}

/// How far a placed shape reaches along the unit `n`, from the definitions.
fn reach(shape: &Shape, pose: &Pose, n: Vector) -> f64 {
    let m = pose.attitude.inverse().apply(n);
    let most = |corners: &[Vector]| corners.iter().map(|&c| dot(c, m)).fold(f64::NEG_INFINITY, f64::max);
    let local = match shape {
        Shape::HalfSpace => unreachable!(),
        Shape::Sphere { radius } => *radius,
        Shape::Ellipsoid { semi_axes: a } => length([a[0] * m[0], a[1] * m[1], a[2] * m[2]]),
        Shape::Capsule { radius, half_length } => radius + half_length * m[2].abs(),
        Shape::Cylinder { radius, half_length, .. } => radius * m[0].hypot(m[1]) + half_length * m[2].abs(),
        Shape::Box { half: h } => h[0] * m[0].abs() + h[1] * m[1].abs() + h[2] * m[2].abs(),
        Shape::Polytope { vertices } => most(vertices),
        Shape::Ellipse { semi_axes: [a, b] } => (a * m[0]).hypot(b * m[1]),
        Shape::Polygon { vertices } => most(&vertices.iter().map(|v| [v[0], v[1], 0.0]).collect::<Vec<_>>()),
        _ => unreachable!("bodies by functions have their own tests"),
    };
    dot(pose.position, n) + local
}

/// Separation along the unit `n`.
fn apart(a: &Shape, p: &Pose, b: &Shape, q: &Pose, n: Vector) -> f64 {
    -reach(b, q, scale(-1.0, n)) - reach(a, p, n)
}

/// How far outside the shape a point is at least: 0 inside, at most rounding on the surface. By sampling of
/// directions for polytopes, as their faces are not known here.
fn outside(solid: &Solid, pose: &Pose, point: Vector) -> f64 {
    let x = pose.local(point);
    match solid.shape() {
        Shape::HalfSpace => x[2],
        Shape::Sphere { radius } => length(x) - radius,
        Shape::Ellipsoid { semi_axes: a } => {
            (length([x[0] / a[0], x[1] / a[1], x[2] / a[2]]) - 1.0) * a[0].min(a[1]).min(a[2])
        }
        Shape::Ellipse { semi_axes: [a, b] } => ((x[0] / a).hypot(x[1] / b) - 1.0) * a.min(*b),
        Shape::Capsule { radius, half_length } => {
            length(sub(x, [0.0, 0.0, x[2].clamp(-half_length, *half_length)])) - radius
        }
        Shape::Cylinder { radius, half_length, .. } => {
            (x[0].hypot(x[1]) - radius).max(x[2].abs() - half_length)
        }
        Shape::Box { half: h } => {
            let depth = [0, 1].map(|i| x[i].abs() - h[i]);
            let z = if solid.planar() { f64::NEG_INFINITY } else { x[2].abs() - h[2] };
            depth[0].max(depth[1]).max(z)
        }
        Shape::Polytope { .. } | Shape::Polygon { .. } => solid
            .faces()
            .iter()
            .map(|f| dot(f.normal, sub(x, solid.corners()[f.corners[0] as usize])))
            .fold(f64::NEG_INFINITY, f64::max),
        _ => unreachable!("bodies by functions have their own tests"),
    }
}

/// The greatest separation over very many directions, bettered by a pattern search.
fn searched(f: impl Fn(Vector) -> f64, planar: bool) -> f64 {
    let count = 3000;
    let mut tried: Vec<(f64, Vector)> = (0..count)
        .map(|i| {
            let z = if planar { 0.0 } else { 1.0 - 2.0 * (f64::from(i) + 0.5) / f64::from(count) };
            let angle = f64::from(i) * 2.399_963_229_728_653;
            let r = (1.0 - z * z).sqrt();
            let n = [r * angle.cos(), r * angle.sin(), z];
            (f(n), n)
        })
        .collect();
    tried.sort_by(|s, t| t.0.total_cmp(&s.0));
    let mut best = f64::NEG_INFINITY;
    for &(value, n) in tried.iter().take(8) {
        let (mut value, mut n, mut step) = (value, n, 0.05);
        let mut chance = Chance(5);
        while step > 1e-9 {
            let mut moved = false;
            for _ in 0..24 {
                let mut d = chance.vector(step);
                d[2] *= if planar { 0.0 } else { 1.0 };
                let m = crate::space::unit(add(n, d));
                if f(m) > value {
                    (value, n, moved) = (f(m), m, true);
                }
            }
            if !moved {
                step *= 0.6;
            }
        }
        best = best.max(value);
    }
    best
}
