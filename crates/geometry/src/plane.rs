//! A half-space against every other shape: exact for all of them.

use super::outline::cap_points;
use super::placed::Placed;
use super::solid::{Round, Solid};
use super::touch::Touch;
use crate::space::{Pose, Vector, add, dot, scale, sub, times, transpose_times};

/// Outward normal of a half-space: its z axis, in a planar scene its y axis.
pub(super) fn outward(pose: &Pose, planar: bool) -> Vector {
    pose.attitude.apply(if planar { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] })
}

/// Touches of a half-space with a solid; `sign` = -1 if the half-space is body b; `down` and `flat` as in [`Workspace`](super::Workspace).
///
/// Ids: the corner's number; for a capsule its end; for a cylinder 2 k + cap, points k as in `cap_points`.
pub(super) fn touches(
    plane: &Pose,
    solid: &Solid,
    pose: &Pose,
    margin: f64,
    (sign, down, flat): (f64, Vector, Option<f64>),
    out: &mut Vec<Touch>,
) {
    let n = outward(plane, solid.planar());
    let matrix = pose.attitude.matrix();
    let body =
        Placed { solid, matrix, position: sub(pose.position, plane.position), corners: &[], normals: &[] };
    let normal = scale(sign, n);
    let mut push = |p: Vector, gap: f64, feature: u32| {
        if gap <= margin {
            let point = add(plane.position, sub(p, scale(0.5 * gap, n)));
            out.push(Touch { point, normal, gap, feature });
        }
    };
    let level = dot(n, body.position);
    let local = transpose_times(&matrix, n);
    let back = scale(-1.0, n);
    if solid.round == Round::Disc {
        for (cap, &c) in solid.hull.corners.iter().enumerate() {
            let turned = times(&matrix, c);
            // the cap that faces away touches with its lowest point only
            let facing = dot(turned, n) <= 0.0;
            for (k, r) in cap_points(&body, back, (down, flat)).filter(|&(k, _)| facing || k == 0) {
                let x = add(turned, r);
                push(add(body.position, x), level + dot(n, x), 2 * k + cap as u32);
            }
        }
        return;
    }
    let bulge = body.bulge_point(back);
    let lower = solid.radius + body.bulge(n);
    for (i, &c) in solid.hull.corners.iter().enumerate() {
        let gap = level + dot(local, c) - lower;
        if gap <= margin {
            let x = add(times(&matrix, c), sub(bulge, scale(solid.radius, n)));
            push(add(body.position, x), gap, i as u32);
        }
    }
}
