//! Where a line leaves a solid: gaps of the elements of a patch.

use super::implicit;
use super::plane::outward;
use super::shape::Shape;
use super::solid::Solid;
use crate::space::{Pose, Vector, add, dot, scale, sub};

/// Signed distance, from `point` along the unit `direction`, of the place where that line leaves the solid;
/// `-inf` if the line misses it, `inf` if it never leaves. Exact for every shape.
///
/// The surface meant is thus the one that faces along `direction`. Seen from a touch with normal n (from a to b),
/// a's surface is at `height(a, n)` and b's at `-height(b, -n)` along n: see [`gap_along`].
pub fn height(solid: &Solid, pose: &Pose, point: Vector, direction: Vector) -> f64 {
    let turn = pose.attitude.inverse();
    let (p, d) = (pose.local(point), turn.apply(direction));
    match solid.shape() {
        Shape::HalfSpace => {
            let n = outward(&Pose::IDENTITY, solid.planar());
            let (level, speed) = (dot(n, p), dot(n, d));
            match speed {
                s if s > 0.0 => -level / s,
                _ if speed < 0.0 || level <= 0.0 => f64::INFINITY,
                _ => f64::NEG_INFINITY,
            }
        }
        Shape::Sphere { radius } => quadric(p, d, [1.0 / radius; 3]).1,
        Shape::Ellipsoid { semi_axes } => quadric(p, d, semi_axes.map(|a| 1.0 / a)).1,
        Shape::Ellipse { semi_axes: [a, b] } => quadric(p, d, [1.0 / a, 1.0 / b, 0.0]).1,
        Shape::Capsule { radius, half_length } => {
            let end = |z: f64| quadric(sub(p, [0.0, 0.0, z]), d, [1.0 / radius; 3]).1;
            end(*half_length).max(end(-half_length)).max(rod(p, d, *radius, *half_length))
        }
        Shape::Cylinder { radius, half_length, .. } => rod(p, d, *radius, *half_length),
        Shape::Superellipsoid { .. }
        | Shape::Quadric { .. }
        | Shape::Polynomial { .. }
        | Shape::Intersection { .. } => implicit::height(solid, p, d),
        Shape::Box { .. } | Shape::Polytope { .. } | Shape::Polygon { .. } => {
            let mut span = (f64::NEG_INFINITY, f64::INFINITY);
            for f in solid.faces() {
                let corner = solid.corners()[f.corners[0] as usize];
                span = clipped(span, dot(f.normal, sub(corner, p)), dot(f.normal, d));
            }
            leaves(span)
        }
    }
}

/// Gap of two solids along the unit `normal` (from a to b) on the line through `point`: positive apart; `inf` where
/// the line misses one of them.
pub fn gap_along(a: &Solid, pose_a: &Pose, b: &Solid, pose_b: &Pose, point: Vector, normal: Vector) -> f64 {
    let (top, bottom) = (height(a, pose_a, point, normal), height(b, pose_b, point, scale(-1.0, normal)));
    if top == f64::NEG_INFINITY || bottom == f64::NEG_INFINITY { f64::INFINITY } else { -bottom - top }
}

fn leaves(span: (f64, f64)) -> f64 {
    if span.0 <= span.1 { span.1 } else { f64::NEG_INFINITY }
}

/// The part of a span of the line with `s speed <= room`.
fn clipped(span: (f64, f64), room: f64, speed: f64) -> (f64, f64) {
    if speed > 0.0 {
        (span.0, span.1.min(room / speed))
    } else if speed < 0.0 {
        (span.0.max(room / speed), span.1)
    } else if room < 0.0 {
        (f64::INFINITY, f64::NEG_INFINITY)
    } else {
        span
    }
}

/// The span of the line within `|diag(w) x| <= 1`; empty: from infinity to minus infinity.
fn quadric(p: Vector, d: Vector, w: Vector) -> (f64, f64) {
    let by = |x: Vector| [w[0] * x[0], w[1] * x[1], w[2] * x[2]];
    let u = by(d);
    let a = dot(u, u);
    if a == 0.0 {
        let held = dot(by(p), by(p)) <= 1.0;
        return if held { (f64::NEG_INFINITY, f64::INFINITY) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    }
    // from the point nearest the centre, which spares the difference of large numbers
    let middle = -dot(by(p), u) / a;
    let near = by(add(p, scale(middle, d)));
    let root = (1.0 - dot(near, near)) / a;
    if root < 0.0 {
        return (f64::INFINITY, f64::NEG_INFINITY);
    }
    (middle - root.sqrt(), middle + root.sqrt())
}

fn rod(p: Vector, d: Vector, radius: f64, half_length: f64) -> f64 {
    let span = quadric(p, d, [1.0 / radius, 1.0 / radius, 0.0]);
    leaves(clipped(clipped(span, half_length - p[2], d[2]), half_length + p[2], -d[2]))
}
