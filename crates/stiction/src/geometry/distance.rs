//! Signed distance of two placed solids, and how far a direction separates them.

use super::closest::separation;
use super::placed::Placed;
use super::plane::outward;
use super::solid::Solid;
use super::touch::{Touch, Unknown, Workspace, supported, touches};
use crate::space::{Pose, Vector, dot, length, scale, sub, times, transpose_times};

/// Half-spaces are separated by their own normal alone, to this rounding.
const OWN: f64 = 1e-12;

/// The signed distance of two solids: the unit normal from a to b that separates them most, and by how much (negative: the least depth). `None` if it
/// is more than `margin`, or not known.
pub fn distance(
    (a, pose_a): (&Solid, &Pose),
    (b, pose_b): (&Solid, &Pose),
    margin: f64,
    workspace: &mut Workspace,
    scratch: &mut Vec<Touch>,
) -> Option<(Vector, f64)> {
    if !supported(a, b) {
        return None;
    }
    if a.implicit || b.implicit {
        scratch.clear();
        let found: Result<(), Unknown> = touches(a, pose_a, b, pose_b, margin, workspace, scratch);
        let least = scratch.iter().min_by(|s, t| s.gap.total_cmp(&t.gap));
        return found.ok().and(least.map(|t| (t.normal, t.gap)));
    }
    let (n, gap) = if a.is_half_space() {
        let n = outward(pose_a, a.planar());
        (n, separates((a, pose_a), (b, pose_b), n)?)
    } else if b.is_half_space() {
        let n = scale(-1.0, outward(pose_b, b.planar()));
        (n, separates((a, pose_a), (b, pose_b), n)?)
    } else {
        let apart = sub(pose_b.position, pose_a.position);
        if length(apart) > a.reach + b.reach + margin {
            return None;
        }
        let [memory_a, memory_b] = &mut workspace.memory;
        let origin = pose_a.position;
        let pair = [Placed::new(a, pose_a, origin, memory_a), Placed::new(b, pose_b, origin, memory_b)];
        let (n, core) = separation(&pair);
        (n, core - a.radius - b.radius)
    };
    (gap <= margin).then_some((n, gap))
}

/// How far the unit normal `n` from a to b separates two solids: no normal separates them by more than their signed distance. `None` for shapes given
/// by functions alone.
pub fn separates((a, pose_a): (&Solid, &Pose), (b, pose_b): (&Solid, &Pose), n: Vector) -> Option<f64> {
    // places are taken relative to a's, so that far from the origin nothing is lost
    let apart = dot(n, sub(pose_b.position, pose_a.position));
    Some(apart - reaches(a, pose_a, n)? - reaches(b, pose_b, scale(-1.0, n))?)
}

/// How far a solid reaches along `n` from its origin; infinite for a half-space that faces elsewhere. `None` for shapes given by functions alone.
pub fn reaches(solid: &Solid, pose: &Pose, n: Vector) -> Option<f64> {
    if solid.is_half_space() {
        let own = outward(pose, solid.planar());
        return Some(if dot(own, n) >= 1.0 - OWN { 0.0 } else { f64::INFINITY });
    }
    if solid.implicit {
        return None;
    }
    let matrix = pose.attitude.matrix();
    let local = transpose_times(&matrix, n);
    let corner = solid.corners().iter().map(|&c| dot(local, c)).fold(f64::NEG_INFINITY, f64::max);
    let a = solid.semi_axes;
    let round = length([a[0] * local[0], a[1] * local[1], a[2] * local[2]]);
    debug_assert!((length(times(&matrix, local)) - 1.0).abs() < 1e-6, "the normal is a unit vector");
    Some(corner + round + solid.radius)
}
