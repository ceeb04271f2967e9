//! Surfaces that move by themselves: world parts with a prescribed motion, and surfaces that run over their
//! body (conveyors). Contacts see their velocity in `b`; they have no inertia and add no row.

use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::model::{Model, Owner};
use crate::space::{Pose, Quaternion, Vector, add, cross, dot, length, scale, sub};

/// Velocities of the surfaces that move by themselves in a step.
#[derive(Debug, Clone, Default)]
pub struct Surfaces {
    moving: Vec<(Owner, Surface)>,
}

/// Motion of one surface over a step, in world axes.
#[derive(Debug, Clone, Copy, Default)]
struct Surface {
    /// Mean velocity of the part's origin, and mean angular velocity.
    linear: Vector,
    angular: Vector,
    /// The part's origin when the step begins.
    origin: Vector,
    /// Pose of a world part there.
    pose: Option<Pose>,
    /// Rotation over the step, and its length, s.
    turn: Option<(Quaternion, f64)>,
    /// Velocity over the part.
    over: Vector,
}

impl Surfaces {
    /// Whether no surface moves by itself.
    pub fn is_empty(&self) -> bool {
        self.moving.is_empty()
    }

    /// Sets the velocities in the step from `time` over `h`.
    pub(crate) fn set(&mut self, model: &Model, inputs: &Inputs, at: &Kinematics, time: f64, h: f64) {
        self.moving.clear();
        let over = |owner: Owner, given: Option<Vector>, attitude: Quaternion| {
            let input = inputs.surfaces.iter().rev().find(|(of, _)| *of == owner).map(|(_, v)| *v);
            given.map_or([0.0; 3], |v| attitude.apply(input.unwrap_or(v)))
        };
        for (i, part) in model.scene().world.iter().enumerate() {
            if part.motion.is_none() && part.surface.is_none() {
                continue;
            }
            let input = inputs.motions.iter().rev().find(|m| m.part == i);
            let (owner, (linear, angular)) = (Owner::World(i), part.velocity(input, time, h));
            let pose = part.driven_pose(input, time);
            let origin = pose.position;
            let turn = (angular != [0.0; 3]).then(|| (Quaternion::turn(scale(h, angular)), h));
            let over = over(owner, part.surface.as_ref().map(|c| c.at(time + h)), pose.attitude);
            let pose = part.motion.is_some().then_some(pose);
            self.moving.push((owner, Surface { linear, angular, origin, pose, turn, over }));
        }
        for (i, body) in model.scene().bodies.iter().enumerate().filter(|(_, b)| b.surface.is_some()) {
            let (owner, attitude) = (Owner::Body(i), at.pose(i).attitude);
            let over = over(owner, body.surface.as_ref().map(|c| c.at(time + h)), attitude);
            self.moving.push((owner, Surface { over, ..Surface::default() }));
        }
    }

    /// Places world parts where they are at a time.
    pub(crate) fn place(&mut self, model: &Model, inputs: &Inputs, time: f64) {
        for (owner, surface) in &mut self.moving {
            if let (Owner::World(i), Some(pose)) = (*owner, &mut surface.pose) {
                let input = inputs.motions.iter().rev().find(|m| m.part == i);
                *pose = model.scene().world[i].driven_pose(input, time);
            }
        }
    }

    /// Pose of a world part that moves, when the step begins or where it was placed.
    pub(crate) fn pose(&self, owner: Owner) -> Option<Pose> {
        self.of(owner).and_then(|s| s.pose)
    }

    fn of(&self, owner: Owner) -> Option<&Surface> {
        self.moving.iter().find(|(of, _)| *of == owner).map(|(_, surface)| surface)
    }

    /// Velocity of an owner's origin and its angular velocity beside those in `v`, and the point where the former
    /// holds.
    pub fn velocity(&self, owner: Owner, normal: Vector) -> (Vector, Vector, Vector) {
        let Some(s) = self.of(owner) else { return ([0.0; 3], [0.0; 3], [0.0; 3]) };
        (add(s.linear, flat(s.over, normal)), s.angular, s.origin)
    }

    /// Velocity and angular velocity of the second surface relative to the first at a point, beside those in `v`. What
    /// a part that rotates carries along goes on a circle: a body that sticks moves with its centre of mass from
    /// where it is to where the rotation of the step takes it.
    pub fn relative(
        &self,
        at: &Kinematics,
        owners: [Owner; 2],
        point: Vector,
        normal: Vector,
    ) -> [Vector; 2] {
        let [a, b] = [0, 1].map(|k| {
            let (linear, angular, origin) = self.velocity(owners[k], normal);
            match (owners[1 - k], self.of(owners[k]).and_then(|s| s.turn)) {
                (Owner::Body(i), Some((turn, h))) => {
                    let arm = sub(at.center(i), origin);
                    let along = scale(1.0 / h, sub(turn.apply(arm), arm));
                    let about = cross(angular, sub(point, at.center(i)));
                    [add(linear, add(along, about)), angular]
                }
                _ => [add(linear, cross(angular, sub(point, origin))), angular],
            }
        });
        [sub(b[0], a[0]), sub(b[1], a[1])]
    }

    /// Largest velocity of a moving world part at the bodies, m/s.
    pub(crate) fn fastest(&self, at: &Kinematics, reaches: &[f64]) -> f64 {
        let world = self.moving.iter().filter(|(owner, _)| matches!(owner, Owner::World(_)));
        let speed = |s: &Surface| {
            let far = |(i, reach): (usize, &f64)| length(sub(at.pose(i).position, s.origin)) + reach;
            let far = reaches.iter().enumerate().map(far).filter(|x| x.is_finite()).fold(0.0, f64::max);
            length(s.linear) + length(s.angular) * far
        };
        world.map(|(_, s)| speed(s)).fold(0.0, f64::max)
    }
}

/// The part of a velocity along a surface.
fn flat(v: Vector, normal: Vector) -> Vector {
    sub(v, scale(dot(v, normal), normal))
}
