//! Where the bodies of a scene are at its start.

use super::model::Scene;
use crate::dynamics::Joint;
use crate::space::{Pose, Quaternion, scale};

impl Scene {
    /// Poses of the bodies in the world, at the start.
    pub fn initial_poses(&self) -> Vec<Pose> {
        let mut poses: Vec<Pose> = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            let parent = body.link.parent.map_or(Pose::IDENTITY, |i| poses[i]);
            let motion = displacement(&body.link.joint, &body.position);
            poses.push(parent.then(&body.link.mount).then(&motion));
        }
        poses
    }
}

/// What a joint does at coordinates `q`.
fn displacement(joint: &Joint, q: &[f64]) -> Pose {
    let still = Pose::IDENTITY;
    match (*joint, q) {
        (Joint::Free, &[x, y, z, a, b, c, d]) => {
            Pose { position: [x, y, z], attitude: Quaternion([a, b, c, d]) }
        }
        (Joint::Planar, &[x, y, angle]) => {
            Pose { position: [x, y, 0.0], attitude: Quaternion::turn([0.0, 0.0, angle]) }
        }
        (Joint::Revolute { axis }, &[angle]) => {
            Pose { attitude: Quaternion::turn(scale(angle, axis)), ..still }
        }
        (Joint::Prismatic { axis }, &[along]) => Pose { position: scale(along, axis), ..still },
        (Joint::Spherical, &[a, b, c, d]) => Pose { attitude: Quaternion([a, b, c, d]), ..still },
        _ => still,
    }
}
