//! How the elements of a patch travel over the materials of the two bodies.
//!
//! The elements travel with the contact, the materials do not. With `x'` the velocity of the contact point and `v_s(x)` that of body
//! s at the element, the element travels over body s with `V_s = x' - v_s`, across the normal. Then
//!
//! ```text
//! gap:         psi' = W_n v + sum_s V_s . grad psi_s          psi = psi_a + psi_b, a share for each surface
//! deformation: delta~(x) = T delta(x + V h)                   V = (V_a + V_b)/2, T turns by the mean spin of the bodies about n
//! ```
//!
//! In free rolling the two terms of the gap cancel; without the second the pressure is shifted, and a moment P h v brakes the
//! rolling. In steady rolling `(delta - delta~)/h` is Kalker's `-V d delta/dx`.

use crate::contact::set::Travel;
use crate::geometry::{Solid, Touch, Velocity, Workspace, feature, height};
use crate::model::{Owner, Part};
use crate::motion::Motion;
use crate::space::{Frame, Pose, Vector, add, cross, dot, length, scale, sub};

/// The motion of a touch over two bodies.
pub(super) struct Ride<'a> {
    sides: [(&'a Solid, Pose, Velocity); 2],
    frame: Frame,
    /// Velocity of the contact point; `None` where it has none, and a patch stays where it is.
    point: Option<Vector>,
    /// Distance over which slopes are taken, m.
    spacing: f64,
}

impl<'a> Ride<'a> {
    pub fn new(
        motion: &Motion,
        sides: [(&'a Part, &Pose); 2],
        (touch, share): (&Touch, f64),
        frame: Frame,
        spacing: f64,
        workspace: &mut Workspace,
    ) -> Self {
        let velocity = sides.map(|(part, pose)| match part.owner {
            Owner::World(_) if motion.surfaces.is_empty() => Velocity::default(),
            Owner::World(_) => {
                let (linear, angular, origin) = motion.surfaces.velocity(part.owner, frame.n);
                Velocity { linear: add(linear, cross(angular, sub(pose.position, origin))), angular }
            }
            Owner::Body(i) => {
                let (linear, angular) = motion.kinematics.velocity(i);
                let over = motion.surfaces.velocity(part.owner, frame.n).0;
                let arm = sub(pose.position, motion.kinematics.pose(i).position);
                Velocity { linear: add(over, add(linear, cross(angular, arm))), angular }
            }
        });
        let [(a, pose_a), (b, pose_b)] = sides;
        let found = feature(&a.solid, pose_a, &b.solid, pose_b, touch, workspace);
        let point = found.map(|f| f.rates(&velocity).point_at(share));
        let sides = [(&a.solid, *pose_a, velocity[0]), (&b.solid, *pose_b, velocity[1])];
        Self { sides, frame, point, spacing }
    }

    /// Mean angular velocity of the two bodies about the normal.
    pub fn spin(&self) -> f64 {
        match self.point {
            Some(_) => self.sides.iter().map(|(_, _, v)| 0.5 * dot(v.angular, self.frame.n)).sum(),
            None => 0.0,
        }
    }

    /// How the element at a point travels.
    pub fn at(&self, point: Vector) -> Travel {
        let Some(contact) = self.point else { return Travel::default() };
        let (mut travel, n) = (Travel::default(), self.frame.n);
        for (&(solid, pose, v), sign) in self.sides.iter().zip([1.0, -1.0]) {
            let material = add(v.linear, cross(v.angular, sub(point, pose.position)));
            let [_, t, o] = self.frame.components(sub(contact, material));
            travel.velocity = [travel.velocity[0] + 0.5 * t, travel.velocity[1] + 0.5 * o];
            let over = self.frame.in_plane([t, o]);
            let fast = length(over);
            if fast > 0.0 {
                let shift = scale(self.spacing / fast, over);
                let level = |x: Vector| height(solid, &pose, x, scale(sign, n));
                let slope = (level(add(point, shift)) - level(sub(point, shift))) / (2.0 * self.spacing);
                // a line beside it misses the body: no slope
                travel.gap_rate -= if slope.is_finite() { fast * slope } else { 0.0 };
            }
        }
        travel
    }
}
