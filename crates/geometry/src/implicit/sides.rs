//! Extent of bodies given by functions, and the points with which their flat sides lie on a half-space.

use super::closest::{Body, Closest, LEAN, Memory, closest_from};
use crate::solid::Solid;
use crate::space::{Frame, Pose, Vector, add, cross, dot, length, scale, sub};
use crate::surface::Surface;

/// Directions from the middle of a flat side in which points of its rim are the farthest. A corner with an outer angle of more than 30 degrees is one of them.
const RIM: usize = 12;
/// Points nearer to each other than this share of the size are one.
const SAME: f64 = 1e-9;
/// Sine of an angle that counts as none.
const PARALLEL: f64 = 1e-9;

/// Whether functions have no direction in common in which none of them ever becomes positive.
///
/// Such directions `d` have `n . d <= 0` for planes, `A d = 0` and `b . d <= 0` for quadrics, and there are none for the others: a cone with flat sides. If it is more than its tip it has
/// a straight edge, or a line in it, along which two of the conditions are equations.
pub(crate) fn is_bounded(surfaces: &[(Surface, Pose)]) -> bool {
    let mut conditions: Vec<Vector> = vec![];
    let unit = |a: Vector, size: f64| (length(a) > PARALLEL * size).then(|| scale(1.0 / length(a), a));
    for (surface, pose) in surfaces {
        match surface {
            Surface::Plane { normal, .. } => conditions.push(pose.attitude.apply(*normal)),
            Surface::Quadric { matrix, vector, .. } => {
                let largest = matrix.iter().map(|row| length(*row)).fold(0.0, f64::max);
                let rows =
                    matrix.iter().flat_map(|row| [unit(*row, largest), unit(scale(-1.0, *row), largest)]);
                let all = rows.chain([unit(*vector, 0.0)]).flatten();
                conditions.extend(all.map(|row| pose.attitude.apply(row)));
            }
            Surface::Superellipsoid { .. } | Surface::Segment { .. } | Surface::Polynomial(_) => return true,
        }
    }
    let (mut any, mut open) = (false, false);
    for (i, a) in conditions.iter().enumerate() {
        for d in conditions[..i].iter().filter_map(|b| unit(cross(*a, *b), 1.0)) {
            any = true;
            open |= [d, scale(-1.0, d)].iter().any(|d| conditions.iter().all(|c| dot(*c, *d) <= PARALLEL));
        }
    }
    any && !open
}

/// About the size of a bounded body of planes and quadrics.
pub(crate) fn size_of(surfaces: &[(Surface, Pose)]) -> f64 {
    let of = |(surface, pose): &(Surface, Pose)| {
        let own = match surface {
            Surface::Plane { offset, .. } => offset.abs(),
            Surface::Quadric { matrix, vector, constant } => {
                let largest = matrix.iter().map(|row| length(*row)).fold(0.0, f64::max);
                (constant.abs() / largest).sqrt() + length(*vector) / largest
            }
            _ => 0.0,
        };
        length(pose.position) + own
    };
    surfaces.iter().map(of).filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// The farthest point of a body of about this size along a direction, in its own coordinates.
fn farthest(solid: &Solid, d: Vector, size: f64, memory: &mut Memory) -> Option<Vector> {
    let ground = [(Surface::Plane { normal: scale(-1.0, d), offset: 0.0 }, Pose::IDENTITY)];
    let ground = Body { surfaces: &ground, pose: &Pose::IDENTITY, inside: solid.inside };
    let found = closest_from(None, &ground, &super::body(solid, &Pose::IDENTITY), size, memory)?;
    Some(found.points[1])
}

/// A box along the axes around a bounded body; `None` if it is not found.
pub(crate) fn bounds(solid: &Solid, size: f64) -> Option<[Vector; 2]> {
    let (mut found, mut memory) = ([[0.0; 3]; 2], Memory::default());
    for (end, sign) in found.iter_mut().zip([-1.0, 1.0]) {
        for i in 0..3 {
            let mut d = [0.0; 3];
            d[i] = sign;
            end[i] = farthest(solid, d, size, &mut memory)?[i];
        }
    }
    Some(found)
}

/// Corners of the flat sides of a bounded body, and points on their round rims; `None` if one is not found.
pub(crate) fn rims(solid: &Solid) -> Option<Vec<Vector>> {
    let (mut found, mut memory): (Vec<Vector>, _) = (vec![], Memory::default());
    let size = solid.reach;
    for (surface, local) in &solid.surfaces {
        let Surface::Plane { normal, offset } = surface else { continue };
        let frame = Frame::new(local.attitude.apply(*normal), [1.0, 0.0, 0.0]);
        let level = offset + dot(frame.n, local.position);
        for k in 0..RIM {
            let (sin, cos) = ((k as f64 + 0.3) * std::f64::consts::TAU / RIM as f64).sin_cos();
            let lean = add(frame.n, scale(LEAN, frame.in_plane([cos, sin])));
            let x = farthest(solid, scale(1.0 / length(lean), lean), size, &mut memory)?;
            // a plane that touches no more than an edge has no side
            let on = level - dot(frame.n, x) < SAME * size;
            if on && found.iter().all(|p| length(sub(*p, x)) > SAME * size) {
                found.push(x);
            }
        }
    }
    Some(found)
}

/// Number of the touch of closest points. Curved faces keep one; edges and corners of intersections have theirs.
pub fn feature(found: &Closest) -> u32 {
    (found.active[0] & 0x7fff) << 15 | found.active[1] & 0x7fff
}
