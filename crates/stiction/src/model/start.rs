//! Poses of the bodies of a scene at its start.

use super::resolved::Resolved;
use crate::space::Pose;

impl Resolved {
    /// Poses of the bodies in the world, at the start.
    pub fn initial_poses(&self) -> Vec<Pose> {
        let mut poses: Vec<Pose> = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            let parent = body.link.parent.map_or(Pose::IDENTITY, |i| poses[i]);
            poses.push(body.link.joint.place(&parent.then(&body.link.mount), &body.position));
        }
        poses
    }
}
