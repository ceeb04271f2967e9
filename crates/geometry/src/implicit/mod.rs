//! Bodies given by functions `f(x) <= 0`: surfaces with derivatives, and closest points of any pair.

mod closest;
mod interior;
mod newton;
mod sides;

pub use crate::surface::{Monomial, Surface, Value};
pub use closest::{Body, Closest, GOOD, Memory, closest, closest_from, closest_of_unlike};
pub use sides::feature;
pub(super) use sides::{bounds, is_bounded, rims, size_of};

use super::shape::{Shape, symmetric};
use super::solid::Solid;
use super::touch::Touch;
use crate::space::{Pose, Tensor, Vector, add, dot, scale, sub, times};

/// Surfaces of a solid, with their poses in the shape.
pub(super) fn surfaces(shape: &Shape, solid: &Solid) -> Vec<(Surface, Pose)> {
    let planes = || {
        let of = |f: &super::Face| {
            let normal = f.normal;
            Surface::Plane { normal, offset: dot(normal, solid.corners()[f.corners[0] as usize]) }
        };
        solid.faces().iter().map(of).collect::<Vec<_>>()
    };
    let plain = match shape {
        Shape::HalfSpace if solid.planar() => vec![Surface::Plane { normal: [0.0, 1.0, 0.0], offset: 0.0 }],
        Shape::HalfSpace => vec![Surface::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 }],
        Shape::Sphere { radius } => vec![Surface::ellipsoid([*radius; 3])],
        Shape::Ellipsoid { semi_axes } => vec![Surface::ellipsoid(*semi_axes)],
        Shape::Ellipse { semi_axes: [a, b] } => {
            let matrix = [[1.0 / (a * a), 0.0, 0.0], [0.0, 1.0 / (b * b), 0.0], [0.0; 3]];
            vec![Surface::Quadric { matrix, vector: [0.0; 3], constant: -1.0 }]
        }
        Shape::Capsule { radius, half_length } => {
            vec![Surface::Segment { half_length: *half_length, radius: *radius }]
        }
        Shape::Cylinder { radius, half_length, .. } => {
            let r = 1.0 / (radius * radius);
            let matrix = [[r, 0.0, 0.0], [0.0, r, 0.0], [0.0; 3]];
            vec![
                Surface::Quadric { matrix, vector: [0.0; 3], constant: -1.0 },
                Surface::Plane { normal: [0.0, 0.0, 1.0], offset: *half_length },
                Surface::Plane { normal: [0.0, 0.0, -1.0], offset: *half_length },
            ]
        }
        Shape::Box { .. } | Shape::Polytope { .. } | Shape::Polygon { .. } => planes(),
        Shape::Superellipsoid { semi_axes, exponent } => {
            vec![Surface::Superellipsoid { semi_axes: *semi_axes, exponent: *exponent }]
        }
        Shape::Quadric { matrix, vector, constant } => {
            vec![Surface::Quadric { matrix: symmetric(*matrix), vector: *vector, constant: *constant }]
        }
        Shape::Polynomial { terms, .. } => {
            vec![Surface::Polynomial(terms.iter().map(|t| (t.coefficient, t.powers)).collect())]
        }
        Shape::Intersection { members } => {
            let of = |m: &super::shape::Member| {
                let pose = m.pose();
                let Ok(inner) = Solid::new(&m.shape, false) else { return vec![] };
                inner.surfaces.into_iter().map(|(s, p)| (s, pose.then(&p))).collect::<Vec<_>>()
            };
            return members.iter().flat_map(of).collect();
        }
    };
    plain.into_iter().map(|s| (s, Pose::IDENTITY)).collect()
}

/// A body of a solid at a pose.
pub(super) fn body<'a>(solid: &'a Solid, pose: &'a Pose) -> Body<'a> {
    Body { surfaces: &solid.surfaces, pose, inside: pose.point(solid.inside) }
}

/// A deepest point that is no lower than a point of a flat side, to this share of the size, is one of the side's.
const LEVEL: f64 = 1e-12;

/// Adds the touches of two solids, one of which at least is given by functions, whose gap is at most `margin`; with the closest points if they are that near. `Err` if those
/// are not found. `start` are points nearby.
///
/// The closest points are one touch. A flat side and a half-space have no single closest points: corners of the side, and points on its rim, are touches, too, and stand for the
/// closest points where they are as near.
pub(super) fn touch(
    (a, pose_a): (&Solid, &Pose),
    (b, pose_b): (&Solid, &Pose),
    margin: f64,
    start: Option<&Closest>,
    memory: &mut Memory,
    out: &mut Vec<Touch>,
) -> Result<Option<Closest>, ()> {
    // far apart, without solving anything
    for ((plane, pose), (other, other_pose)) in [((a, pose_a), (b, pose_b)), ((b, pose_b), (a, pose_a))] {
        if plane.is_half_space() {
            let n = super::plane::outward(pose, plane.planar());
            if dot(n, sub(other_pose.position, pose.position)) > other.reach + margin {
                return Ok(None);
            }
        }
    }
    let apart = sub(pose_b.position, pose_a.position);
    if dot(apart, apart).sqrt() > a.reach + b.reach + margin && !a.is_half_space() && !b.is_half_space() {
        return Ok(None);
    }
    let found = if let Some(found) = over_plane((a, pose_a), (b, pose_b)) {
        found
    } else if let Some(found) = over_plane((b, pose_b), (a, pose_a)) {
        let [x, y] = found.points;
        let [one, two] = found.active;
        Closest { points: [y, x], normal: scale(-1.0, found.normal), active: [two, one], ..found }
    } else {
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let size = (finite(a.reach) + finite(b.reach)).max(f64::MIN_POSITIVE);
        let (mut one, mut two) = (body(a, pose_a), body(b, pose_b));
        // a body without bounds counts where the other one is
        if !a.reach.is_finite() {
            one.inside = two.inside;
        }
        if !b.reach.is_finite() {
            two.inside = one.inside;
        }
        let found = closest_from(start, &one, &two, size, memory);
        let unlike = || closest_of_unlike([&one, &two], [finite(a.reach), finite(b.reach)], memory);
        found.or_else(unlike).ok_or(())?
    };
    if found.gap > margin {
        return Ok(None);
    }
    let mut nearest = f64::INFINITY;
    for (plane, at, other, pose) in [(a, pose_a, b, pose_b), (b, pose_b, a, pose_a)] {
        if plane.is_half_space() {
            let n = super::plane::outward(at, plane.planar());
            for (k, p) in (0..).zip(&other.rims) {
                let x = pose.point(*p);
                let gap = dot(n, sub(x, at.position));
                nearest = nearest.min(gap - LEVEL * other.reach);
                if gap <= margin {
                    let point = sub(x, scale(0.5 * gap, n));
                    out.push(Touch { point, normal: found.normal, gap, feature: super::manifold::OTHER | k });
                }
            }
        }
    }
    if found.gap < nearest {
        let point = scale(0.5, add(found.points[0], found.points[1]));
        out.push(Touch { point, normal: found.normal, gap: found.gap, feature: feature(&found) });
    }
    Ok(Some(found))
}

/// Closest points of a half-space and a body whose farthest point along a direction is known in closed form.
fn over_plane((plane, at): (&Solid, &Pose), (other, pose): (&Solid, &Pose)) -> Option<Closest> {
    let (true, [(surface, local)]) = (plane.is_half_space(), other.surfaces.as_slice()) else { return None };
    let n = super::plane::outward(at, plane.planar());
    let pose = pose.then(local);
    let y = pose.point(surface.support(pose.attitude.inverse().apply(scale(-1.0, n)))?);
    let gap = dot(n, sub(y, at.position));
    Some(Closest { points: [sub(y, scale(gap, n)), y], normal: n, gap, active: [1, 1], residual: 0.0 })
}

/// A function of a solid at a point of the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sheet {
    /// The function over the length of its gradient: about the distance from its surface, m.
    pub distance: f64,
    /// Outward, unit.
    pub normal: Vector,
    /// Shape operator: change of the normal with the point, across the normal, 1/m.
    pub curvature: Tensor,
    /// Whether it is a plane.
    pub is_plane: bool,
}

/// The one function of a solid that is active (a bit, as in [`Closest::active`]); `None` where it has no normal.
pub fn sheet(solid: &Solid, pose: &Pose, active: u32, point: Vector) -> Option<Sheet> {
    let (surface, local) = solid.surfaces.get(active.trailing_zeros() as usize)?;
    let pose = pose.then(local);
    let value = surface.at(pose.local(point));
    let size = dot(value.gradient, value.gradient).sqrt();
    if !(size > 0.0 && size.is_finite()) {
        return None;
    }
    let n = scale(1.0 / size, value.gradient);
    let across = |x: Vector| sub(x, scale(dot(x, n), n));
    // (1 - n n') H (1 - n n'), which is symmetric
    let half = value.hessian.map(|row| across(scale(1.0 / size, row)));
    let own = [0, 1, 2].map(|j| across([half[0][j], half[1][j], half[2][j]]));
    let r = pose.attitude.matrix();
    let turned = [0, 1, 2].map(|i| times(&own, r[i]));
    Some(Sheet {
        distance: value.f / size,
        normal: pose.attitude.apply(n),
        curvature: [0, 1, 2].map(|i| [0, 1, 2].map(|j| dot(r[i], turned[j]))),
        is_plane: matches!(surface, Surface::Plane { .. }),
    })
}

/// Whether the surface of a solid curves outward where a body touches it.
pub fn is_convex_at(solid: &Solid, pose: &Pose, point: Vector) -> bool {
    solid.surfaces.iter().all(|(s, local)| {
        let pose = pose.then(local);
        !matches!(s, Surface::Polynomial(_)) || s.is_convex_at(pose.local(point))
    })
}

/// Where a line from `p` along `d` leaves the body, both in its own coordinates: `-inf` if it misses it, `inf` if it never leaves.
pub(super) fn height(solid: &Solid, p: Vector, d: Vector) -> f64 {
    let identity = Pose::IDENTITY;
    let body = body(solid, &identity);
    let reach = if solid.reach.is_finite() { 2.0 * solid.reach } else { 1e6 };
    let middle = dot(sub(solid.inside, p), d);
    let depth = |s: f64| body.depth(add(p, scale(s, d)));
    let (mut low, mut high) = (middle - reach, middle + reach);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if depth(a) < depth(b) { high = b } else { low = a }
    }
    let inside = 0.5 * (low + high);
    if depth(inside) > 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mut low, mut high) = (inside, middle + reach);
    if depth(high) <= 0.0 {
        return f64::INFINITY;
    }
    for _ in 0..200 {
        let half = 0.5 * (low + high);
        if depth(half) <= 0.0 { low = half } else { high = half }
    }
    low
}

/// A point inside a bounded solid, far from its surface; `None` if there is none.
pub(super) fn innermost(solid: &Solid, size: f64) -> Option<Vector> {
    let identity = Pose::IDENTITY;
    let one = body(solid, &identity);
    closest::innermost(&one, size)
}

#[cfg(test)]
mod random_pairs;
#[cfg(test)]
mod tests;
