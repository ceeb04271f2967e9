//! The two sides of a contact at an instant, and the velocity terms `W'. q'` of its rows (see [`super::instant`]).

use crate::contact::set::Contact;
use crate::geometry::{Rates, Velocity};
use crate::model::{Model, Owner};
use crate::space::{Pose, Vector, add, cross, dot, length, sub};
use crate::step::{Detection, Motion};

/// One of the two sides of a contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// Pose of its part, and the velocity of that pose.
    pub pose: Pose,
    pub motion: Velocity,
    /// Velocity of the material at the contact, and its acceleration while `v` does not change.
    pub velocity: Vector,
    pub acceleration: Vector,
    /// Angular acceleration while `v` does not change.
    pub turning: Vector,
    /// Size of the terms that are summed in `velocity`.
    pub size: f64,
}

impl End {
    pub fn new(
        model: &Model,
        motion: &Motion,
        memory: &Detection,
        c: &Contact,
        k: usize,
        point: Vector,
    ) -> Self {
        let part = [c.id.part_a, c.id.part_b][k] as usize;
        let (pose, kinematics) = (memory.pose(part), &motion.kinematics);
        let Owner::Body(link) = model.parts()[part].owner else {
            let still = [0.0; 3];
            return Self {
                pose,
                motion: Velocity::default(),
                velocity: still,
                acceleration: still,
                turning: still,
                size: 0.0,
            };
        };
        let linear = kinematics.point_velocity(link, pose.position);
        let motion = Velocity { linear, angular: kinematics.angular_velocity(link) };
        let velocity = kinematics.point_velocity(link, point);
        let size = length(linear) + length(motion.angular) * length(sub(point, pose.position));
        let (acceleration, turning) = kinematics.bias_acceleration(link, point);
        Self { pose, motion, velocity, acceleration, turning, size }
    }
}

/// `W'. q'` of one contact, along n, t, o.
pub(super) fn velocity_product(c: &Contact, [a, b]: &[End; 2], rates: &Rates) -> Vector {
    // rate of the velocity of the material under the moving point
    let under =
        |end: &End, point: Vector| add(end.acceleration, cross(end.motion.angular, sub(point, end.velocity)));
    let rate = sub(under(b, rates.points[1]), under(a, rates.points[0]));
    let [n, t, o] = c.frame.components(rate);
    [n + dot(rates.normal, sub(b.velocity, a.velocity)), t, o]
}

/// `W'. q'` of the rotations of one contact, about n, t, o.
pub(super) fn angular_product(c: &Contact, [a, b]: &[End; 2], rates: &Rates) -> Vector {
    let [n, t, o] = c.frame.components(sub(b.turning, a.turning));
    [n + dot(rates.normal, sub(b.motion.angular, a.motion.angular)), t, o]
}
