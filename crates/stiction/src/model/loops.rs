//! Geometry of loops: what each of their rows is open by, and the forces on the two bodies.
//!
//! With `p` the points of the ends `a` (from) and `b` (to), `F` the frames fixed to them, and `omega` angular
//! velocities:
//!
//! ```text
//! point:     g = p_b - p_a, along x, y(, z) of the world             J v = (v_b - v_a) along them
//! weld:      besides, the rotation from F_a to F_b about these axes  J v = (omega_b - omega_a) along them
//! hinge:     besides, z_a x z_b along x_a, y_a                       J v = (omega_b - omega_a) along them
//! distance:  g = |p_b - p_a| - length                                J v = its rate
//! rope:      g = length - |p_b - p_a| >= 0
//! ```

use crate::dynamics::Kinematics;
use crate::scene::LoopKind;
use crate::scene::resolved::{End, Loop};
use crate::space::{Pose, Quaternion, Vector, add, cross, dot, length, scale, sub};

const AXES: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

impl Loop {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match (self.kind, self.planar) {
            (LoopKind::Point | LoopKind::Hinge, true) => 2,
            (LoopKind::Point, false) | (LoopKind::Weld, true) => 3,
            (LoopKind::Hinge, false) => 5,
            (LoopKind::Weld, false) => 6,
            (LoopKind::Distance | LoopKind::Rope, _) => 1,
        }
    }

    /// Whether a row is about rotation.
    pub fn turns(&self, row: usize) -> bool {
        match self.kind {
            LoopKind::Weld => row >= if self.planar { 2 } else { 3 },
            LoopKind::Hinge => row >= 3,
            _ => false,
        }
    }

    /// Axis of a row in the world, and whether the row is about rotation.
    pub(crate) fn axis(&self, kinematics: &Kinematics, row: usize) -> (Vector, bool) {
        match self.kind {
            LoopKind::Distance => (self.along(kinematics), false),
            LoopKind::Rope => (scale(-1.0, self.along(kinematics)), false),
            LoopKind::Point => (AXES[row], false),
            // in a planar scene the rows are x, y and the rotation about z
            LoopKind::Weld if row < if self.planar { 2 } else { 3 } => (AXES[row], false),
            LoopKind::Weld => (AXES[if self.planar { 2 } else { row - 3 }], true),
            LoopKind::Hinge if row < 3 => (AXES[row], false),
            LoopKind::Hinge => (self.frame(kinematics, 0).apply(AXES[row - 3]), true),
        }
    }

    /// Direction from the first point to the second; any if they coincide.
    fn along(&self, kinematics: &Kinematics) -> Vector {
        let across = sub(self.point(kinematics, 1), self.point(kinematics, 0));
        let far = length(across);
        if far > 0.0 { scale(1.0 / far, across) } else { AXES[0] }
    }

    /// Changes of a row's axis and of what it is open by, where the points of the ends move by `shift` and their
    /// bodies rotate by `turn`.
    pub(crate) fn vary(
        &self,
        kinematics: &Kinematics,
        row: usize,
        turn: [Vector; 2],
        shift: [Vector; 2],
    ) -> (Vector, f64) {
        let (axis, turns) = self.axis(kinematics, row);
        let apart = sub(shift[1], shift[0]);
        match (self.kind, turns) {
            (LoopKind::Distance | LoopKind::Rope, _) => {
                // along the axis, which a rope has the other way round
                let far = length(sub(self.point(kinematics, 1), self.point(kinematics, 0)));
                let longer = dot(axis, apart);
                let across = sub(apart, scale(longer, axis));
                let sign = if self.kind == LoopKind::Rope { -1.0 } else { 1.0 };
                let daxis = if far > 0.0 { scale(sign / far, across) } else { [0.0; 3] };
                (daxis, longer)
            }
            (LoopKind::Hinge, true) => {
                let [a, b] = [0, 1].map(|end| self.frame(kinematics, end).apply(AXES[2]));
                let gap = dot(sub(turn[1], turn[0]), cross(b, cross(axis, a)));
                (cross(turn[0], axis), gap)
            }
            (_, true) => {
                let [a, b] = [0, 1].map(|end| self.frame(kinematics, end));
                let [w, x, y, z] = b.after(a.inverse()).0;
                let both = cross(add(turn[0], turn[1]), [x, y, z]);
                let rotated = add(scale(w, sub(turn[1], turn[0])), both);
                ([0.0; 3], w.signum() * dot(axis, rotated))
            }
            (_, false) => ([0.0; 3], dot(axis, apart)),
        }
    }

    /// Point of an end in the world.
    pub(crate) fn point(&self, kinematics: &Kinematics, end: usize) -> Vector {
        pose(kinematics, &self.ends[end]).point(self.ends[end].point)
    }

    /// Frame of an end in the world.
    fn frame(&self, kinematics: &Kinematics, end: usize) -> Quaternion {
        pose(kinematics, &self.ends[end]).attitude.after(self.frames[end])
    }

    /// What a row is open by, m or rad.
    pub fn gap(&self, kinematics: &Kinematics, row: usize) -> f64 {
        let across = || sub(self.point(kinematics, 1), self.point(kinematics, 0));
        match self.axis(kinematics, row) {
            (_, false) if self.kind == LoopKind::Distance => length(across()) - self.length,
            (_, false) if self.kind == LoopKind::Rope => self.length - length(across()),
            (axis, false) => dot(axis, across()),
            (axis, true) => {
                let [a, b] = [0, 1].map(|end| self.frame(kinematics, end));
                if self.kind == LoopKind::Hinge {
                    return dot(axis, cross(a.apply(AXES[2]), b.apply(AXES[2])));
                }
                let [w, x, y, z] = b.after(a.inverse()).0;
                2.0 * w.signum() * dot(axis, [x, y, z])
            }
        }
    }

    /// Rate of a row's velocity while `v` does not change, `J' v`, m/s^2 or rad/s^2.
    pub fn velocity_product(&self, kinematics: &Kinematics, row: usize) -> f64 {
        let (axis, turns) = self.axis(kinematics, row);
        // velocity and acceleration of the points, angular velocity and acceleration of the bodies
        let [a, b] = [0, 1].map(|end| {
            let still = [[0.0; 3]; 4];
            self.ends[end].body.map_or(still, |body| {
                let point = self.point(kinematics, end);
                let (acceleration, turning) = kinematics.bias_acceleration(body, point);
                [
                    kinematics.point_velocity(body, point),
                    acceleration,
                    kinematics.angular_velocity(body),
                    turning,
                ]
            })
        });
        let apart = |k: usize| sub(b[k], a[k]);
        match self.kind {
            LoopKind::Distance | LoopKind::Rope => {
                let (along, rate) = (self.along(kinematics), apart(0));
                let far = length(sub(self.point(kinematics, 1), self.point(kinematics, 0)));
                let across = dot(rate, rate) - dot(along, rate).powi(2);
                let sign = if self.kind == LoopKind::Rope { -1.0 } else { 1.0 };
                sign * (dot(along, apart(1)) + if far > 0.0 { across / far } else { 0.0 })
            }
            // its axes turn with the first body
            LoopKind::Hinge if turns => dot(axis, apart(3)) + dot(cross(a[2], axis), apart(2)),
            _ if turns => dot(axis, apart(3)),
            _ => dot(axis, apart(1)),
        }
    }

    /// Shows the forces and torques of a row on the bodies: the body, the point in the world, force and torque.
    pub fn each(
        &self,
        kinematics: &Kinematics,
        row: usize,
        force: f64,
        each: &mut impl FnMut(usize, Vector, Vector, Vector),
    ) {
        let (axis, turns) = self.axis(kinematics, row);
        for (end, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(body) = self.ends[end].body {
                let (point, along) = (self.point(kinematics, end), scale(sign * force, axis));
                let (force, torque) = if turns { ([0.0; 3], along) } else { (along, [0.0; 3]) };
                each(body, point, force, torque);
            }
        }
    }
}

fn pose(kinematics: &Kinematics, end: &End) -> Pose {
    end.body.map_or(Pose::IDENTITY, |body| kinematics.pose(body))
}
