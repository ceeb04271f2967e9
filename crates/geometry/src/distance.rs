//! Signed distance of two placed solids.

use super::closest::separation;
use super::placed::Placed;
use super::plane::outward;
use super::reach::separates;
use super::solid::Solid;
use super::touch::Touch;
use super::touches::{Unknown, Workspace, supported, touches};
use crate::space::{Pose, Vector, length, scale, sub};

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
