//! How far solids reach in a direction, and how far a direction separates them.

use super::plane::outward;
use super::solid::Solid;
use crate::space::{Pose, Vector, dot, length, scale, sub, times, transpose_times};

/// Half-spaces are separated by their own normal alone, to this rounding.
const OWN: f64 = 1e-12;

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
