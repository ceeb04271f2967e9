//! Surfaces that move by themselves: world parts with a prescribed motion, and surfaces that run over their
//! body (conveyors). Contacts see their velocity in `b`; they have no inertia and add no row.

use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::space::{Pose, Quaternion, Vector, add, cross, dot, length, scale, sub};
use crate::{Model, Owner};

/// Half of the turn of a part in a step, rad, from which on a body is not thought to be carried round by it.
const QUARTER: f64 = std::f64::consts::FRAC_PI_4;

/// Velocities of the surfaces that move by themselves in a step.
#[derive(Debug, Default)]
pub struct Surfaces {
    moving: Vec<(Owner, Surface)>,
    /// Length of the step, s, and the share of it after which bodies and contact points are where they are seen.
    h: f64,
    share: f64,
}

impl Clone for Surfaces {
    fn clone(&self) -> Self {
        Self { moving: self.moving.clone(), h: self.h, share: self.share }
    }

    /// Keeps the memory.
    fn clone_from(&mut self, other: &Self) {
        let Self { moving, h, share } = self;
        moving.clone_from(&other.moving);
        (*h, *share) = (other.h, other.share);
    }
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
        (self.h, self.share) = (h, 0.0);
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
            let over = over(owner, part.surface.as_ref().map(|c| c.at(time + h)), pose.attitude);
            let pose = part.motion.is_some().then_some(pose);
            self.moving.push((owner, Surface { linear, angular, origin, pose, over }));
        }
        for (i, body) in model.scene().bodies.iter().enumerate().filter(|(_, b)| b.surface.is_some()) {
            let (owner, attitude) = (Owner::Body(i), at.pose(i).attitude);
            let over = over(owner, body.surface.as_ref().map(|c| c.at(time + h)), attitude);
            self.moving.push((owner, Surface { over, ..Surface::default() }));
        }
    }

    /// Places world parts where they are at a time, after this share of the step. Bodies and contact points are seen there from now on.
    pub fn place(&mut self, model: &Model, inputs: &Inputs, time: f64, share: f64) {
        self.share = share;
        for (owner, surface) in &mut self.moving {
            if let (Owner::World(i), Some(pose)) = (*owner, &mut surface.pose) {
                let input = inputs.motions.iter().rev().find(|m| m.part == i);
                *pose = model.scene().world[i].driven_pose(input, time);
            }
        }
    }

    /// Pose of a world part that moves, when the step begins or where it was placed.
    pub fn pose(&self, owner: Owner) -> Option<Pose> {
        self.of(owner).and_then(|s| s.pose)
    }

    fn of(&self, owner: Owner) -> Option<&Surface> {
        self.moving.iter().find(|(of, _)| *of == owner).map(|(_, surface)| surface)
    }

    /// Whether a part turns in the step: how it carries a body depends on the way of the body in the step.
    pub fn turns(&self, owner: Owner) -> bool {
        self.of(owner).is_some_and(|s| s.angular != [0.0; 3])
    }

    /// Whether any part turns in the step.
    pub fn any_turns(&self) -> bool {
        self.moving.iter().any(|(_, s)| s.angular != [0.0; 3])
    }

    /// Velocity of an owner's origin and its angular velocity beside those in `v`, and the point where the former
    /// holds.
    pub fn velocity(&self, owner: Owner, normal: Vector) -> (Vector, Vector, Vector) {
        let Some(s) = self.of(owner) else { return ([0.0; 3], [0.0; 3], [0.0; 3]) };
        let origin = add(s.origin, scale(self.share * self.h, s.linear));
        (add(s.linear, flat(s.over, normal)), s.angular, origin)
    }

    /// Velocity and angular velocity of the second surface relative to the first at a point, beside those in `v`; `at` has the bodies, and the velocities
    /// with which they make their way in the step.
    ///
    /// Along the normal it is that of the material at the point, across it that of the material which the body meets on its way.
    pub fn relative(
        &self,
        at: &Kinematics,
        owners: [Owner; 2],
        point: Vector,
        normal: Vector,
    ) -> [Vector; 2] {
        let [a, b] = [0, 1].map(|k| {
            let (linear, angular, origin) = self.velocity(owners[k], normal);
            let instant = add(linear, cross(angular, sub(point, origin)));
            let Owner::Body(i) = owners[1 - k] else { return [instant, angular] };
            if angular == [0.0; 3] {
                return [instant, angular];
            }
            let center = at.center(i);
            let way = sub(at.point_velocity(i, center), self.of(owners[k]).map_or([0.0; 3], |s| s.linear));
            let more = carried(angular, way, self.h, self.share);
            [add(instant, flat(more, normal)), angular]
        });
        [sub(b[0], a[0]), sub(b[1], a[1])]
    }

    /// Change of the velocity of a part's point over the step, `w^2 r h`, m/s: the velocity at its beginning is off by half of that.
    pub fn bend(&self, owner: Owner, point: Vector) -> f64 {
        let bend = |s: &Surface| self.h * length(s.angular) * length(cross(s.angular, sub(point, s.origin)));
        self.of(owner).map_or(0.0, bend)
    }

    /// Largest velocity of a moving world part at the bodies, m/s.
    pub fn fastest(&self, at: &Kinematics, reaches: &[f64]) -> f64 {
        let world = self.moving.iter().filter(|(owner, _)| matches!(owner, Owner::World(_)));
        let speed = |s: &Surface| {
            let far = |(i, reach): (usize, &f64)| length(sub(at.pose(i).position, s.origin)) + reach;
            let far = reaches.iter().enumerate().map(far).filter(|x| x.is_finite()).fold(0.0, f64::max);
            length(s.linear) + length(s.angular) * far
        };
        world.map(|(_, s)| speed(s)).fold(0.0, f64::max)
    }
}

/// What a surface that turns by `x = angular h` adds to its velocity where a body is seen, after this share of the step, for a body that moves at `way` over the step, relative to the
/// part's origin. With `r` the body's place when the step begins, the surface carries it by
///
/// ```text
/// u = w x (r + h way/2) + (1 - x/2 cot(x/2)) way        (way across the axis)
/// ```
///
/// the velocity of the material at the middle of the way. A body that sticks, `way = u`, makes the chord of its circle: the first term keeps its radius
/// (Cayley's form of the rotation), the second, of order `x^2/12`, its angle.
pub fn carried(angular: Vector, way: Vector, h: f64, share: f64) -> Vector {
    let rate = length(angular);
    if rate == 0.0 {
        return [0.0; 3];
    }
    let axis = scale(1.0 / rate, angular);
    let half = 0.5 * rate * h;
    // beyond a quarter turn a chord says nothing
    let lag = if half < QUARTER { 1.0 - half / half.tan() } else { 0.0 };
    let across = sub(way, scale(dot(axis, way), axis));
    add(scale((0.5 - share) * h, cross(angular, way)), scale(lag, across))
}

/// The part of a velocity along a surface.
fn flat(v: Vector, normal: Vector) -> Vector {
    sub(v, scale(dot(v, normal), normal))
}
