//! `place`: the state of the bodies when a step begins, and their velocity after applied forces, were there no contact.

pub mod load;
mod servos;
mod surfaces;

pub use load::each_load;
pub use servos::{Eliminated, Servos};
pub use surfaces::Surfaces;
pub use surfaces::carried;

use crate::dynamics::{Kinematics, MassMatrix, SingularMass};
use crate::geometry::bounding_box;
use crate::inputs::Inputs;
use crate::scene::resolved::Drive;
use crate::space::{Pose, Vector, dot, length};
use crate::state::State;
use crate::{Model, Owner, Part, StandingKind, Target};

/// Gaps up to this count as closed where the normal law is about velocities, m.
pub const CLOSED: f64 = 1e-9;

/// Why bodies could not be placed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotPlaced {
    /// The mass matrix is singular.
    #[error(transparent)]
    Mass(#[from] SingularMass),
    /// Velocities overflow.
    #[error("the motion is not finite after t = {time} s: a smaller step may help")]
    NotFinite {
        /// s.
        time: f64,
    },
}

/// How far ahead courses are differentiated, s.
const AHEAD: f64 = 1e-5;

/// The overlap whose stiffness an earlier round of the step gave to a contact, m.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Given {
    /// The overlap; 0 if none was given.
    pub overlap: f64,
    /// Largest overlap found too soft, and smallest found too stiff; 0 if none was.
    pub bounds: [f64; 2],
    /// Normal force that an earlier round found at a contact with smooth friction, N.
    pub normal: Option<f64>,
}

/// Poses, velocities, the factored mass matrix, and the velocity without contact forces.
#[derive(Debug, Clone)]
pub struct Motion {
    /// Length of the step, s.
    pub h: f64,
    /// Explicit share `theta` of the step: that of the scene, or 0 where the step does not resolve a contact whose stiffness varies.
    pub theta: f64,
    /// Time at which the applied forces were evaluated, s.
    pub time: f64,
    /// Poses and velocities when the step begins.
    pub kinematics: Kinematics,
    /// The mass matrix there.
    pub mass: MassMatrix,
    /// Configuration `q` when the step begins.
    pub position: Vec<f64>,
    /// Velocity `v` when the step begins.
    pub velocity: Vec<f64>,
    /// Velocity `v + h M^-1 f` after the applied forces of the step, were there no contact forces.
    pub free: Vec<f64>,
    /// Generalised force of what does work from outside: loads, motors, dampers of springs, inputs.
    pub outside: Vec<f64>,
    /// Largest velocity of any point of each body when the step begins, m/s.
    pub fastest: Vec<f64>,
    /// Distance up to which shapes may meet within the step, m; 0 if nothing can touch.
    pub margin: f64,
    /// Targets of the motors in the step, in their order.
    pub targets: Vec<Target>,
    /// Surfaces that move by themselves in the step.
    pub surfaces: Surfaces,
    /// Springs, dampers and servos of joints that are eliminated from the contact problem.
    pub servos: Servos,
    /// Limits that an earlier round of the step passed, as places in [`Model::standing`]: they are rows now.
    pub passed: Vec<usize>,
    /// Stiffness that an earlier round of the step gave to contacts; empty in the first.
    pub given: Vec<Given>,
    /// Scratch: velocities with those of drives.
    driven: Vec<f64>,
}

impl Motion {
    /// Memory for a model, at its neutral configuration and at rest.
    pub fn new(model: &Model) -> Self {
        let none = vec![0.0; model.system().velocity_size()];
        Self {
            h: model.scene().step.h,
            theta: model.scene().step.explicit_share,
            time: 0.0,
            kinematics: Kinematics::new(model.system()),
            mass: MassMatrix::new(model.system()),
            position: model.system().neutral_configuration(),
            velocity: none.clone(),
            free: none.clone(),
            outside: none.clone(),
            driven: none,
            targets: vec![],
            surfaces: Surfaces::default(),
            servos: Servos::default(),
            passed: vec![],
            given: vec![],
            fastest: vec![0.0; model.scene().bodies.len()],
            margin: 0.0,
        }
    }

    /// Mean angular velocity about `n` of the two bodies or world parts of a contact, rad/s: tangential springs turn with it.
    pub fn spin(&self, owners: [Owner; 2], n: Vector) -> f64 {
        let of = |owner: Owner| match owner {
            Owner::Body(i) => self.kinematics.angular_velocity(i),
            Owner::World(_) => self.surfaces.velocity(owner, n).1,
        };
        owners.iter().map(|o| 0.5 * dot(of(*o), n)).sum()
    }

    /// Mass matrix that impulses of the step meet: `M`, with the eliminated rows of joints.
    pub fn kick(&self) -> &MassMatrix {
        self.servos.mass().unwrap_or(&self.mass)
    }

    /// Sets the velocity after the applied forces, with the eliminated rows as they are chosen now.
    pub fn fall(&mut self, model: &Model, state: &State, inputs: &Inputs) -> Result<(), NotPlaced> {
        let (h, at) = (self.h, (&self.kinematics, &self.mass, &state.position[..]));
        self.servos.set(model, at, &self.targets, (h, self.theta))?;
        let Self { kinematics, free, outside, servos, .. } = self;
        fall(model, inputs, kinematics, state.time, outside, free);
        servos.add(&state.velocity, free);
        servos.mass().unwrap_or(&self.mass).solve(free);
        self.free.iter_mut().zip(&state.velocity).for_each(|(a, v)| *a = v + h * *a);
        Ok(())
    }

    /// How far apart shapes can be and still meet within the step, by the velocities now and those without contact.
    fn find_margin(&mut self, model: &Model, state: &State, inputs: &Inputs) -> Result<(), NotPlaced> {
        self.margin = 0.0;
        if model.contacts().rules().is_empty() && model.standing().is_empty() {
            return Ok(());
        }
        self.fastest.clear();
        for i in 0..model.reaches().len() {
            self.fastest.push(self.fastest_point(model, i));
        }
        let mut fastest =
            self.fastest.iter().fold(0.0f64, |m, v| m.max(*v)) + self.h * length(model.scene().gravity);
        fastest = fastest.max(self.surfaces.fastest(&self.kinematics, model.reaches()));
        // weight alone adds no more than that; other forces and drives may
        if model.has_loads() || !inputs.is_empty() {
            self.driven.clone_from(&self.free);
            for row in model.standing() {
                if let (StandingKind::Drive(_), Some(j)) = (row.kind, row.joint) {
                    let gap = row.gap(model.scene(), &self.kinematics, &state.position, &self.targets);
                    let rate = row.drive_velocity(model.scene(), &self.targets) - gap.unwrap_or(0.0) / self.h;
                    let own = &mut self.driven[j.dof];
                    *own = if row.compliance.is_none() { rate } else { *own };
                }
            }
            self.kinematics.go_to(&state.position, &self.driven);
            fastest =
                (0..model.reaches().len()).map(|i| self.fastest_point(model, i)).fold(fastest, f64::max);
            self.kinematics.go_to(&state.position, &state.velocity);
        }
        self.margin = 4.0 * self.h * fastest + CLOSED;
        if self.margin.is_finite() { Ok(()) } else { Err(NotPlaced::NotFinite { time: state.time }) }
    }

    /// Largest velocity of any point of a body, m/s.
    fn fastest_point(&self, model: &Model, body: usize) -> f64 {
        let (v, omega) = self.kinematics.velocity(body);
        let reach = match model.reaches()[body] {
            reach if reach.is_finite() => reach,
            _ => self.farthest_other(model, body),
        };
        length(v) + length(omega) * reach
    }

    /// Distance from a body's origin within which all parts of others lie, half-spaces aside: how far out a half-space can be touched.
    fn farthest_other(&self, model: &Model, body: usize) -> f64 {
        let at = self.kinematics.pose(body).position;
        let others = model.parts().iter().filter(|part| part.owner != Owner::Body(body));
        let distances = others.map(|part| {
            let pose = part_pose(model, self, part);
            let around = bounding_box(&part.solid, &pose, 0.0);
            length([0, 1, 2].map(|k| (around.min[k] - at[k]).abs().max((around.max[k] - at[k]).abs())))
        });
        distances.filter(|d| d.is_finite()).fold(0.0, f64::max)
    }
}

/// Pose of a part in the world when the step begins.
pub fn part_pose(model: &Model, motion: &Motion, part: &Part) -> Pose {
    match part.owner {
        Owner::Body(i) => motion.kinematics.pose(i).then(&part.local),
        Owner::World(i) if model.scene().world[i].motion.is_some() => {
            motion.surfaces.pose(part.owner).unwrap_or_else(|| model.scene().world[i].pose(motion.time))
        }
        Owner::World(_) => part.local,
    }
}

/// Places the bodies at a state and lets them move without contact forces for a step of length `h`.
pub fn place(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    h: f64,
    motion: &mut Motion,
) -> Result<(), NotPlaced> {
    (motion.h, motion.theta, motion.time) = (h, model.scene().step.explicit_share, state.time);
    motion.kinematics.go_to(&state.position, &state.velocity);
    motion.mass.go_to(&motion.kinematics)?;
    motion.position.copy_from_slice(&state.position);
    motion.velocity.copy_from_slice(&state.velocity);
    set_targets(model, inputs, state.time, h, &mut motion.targets);
    motion.surfaces.set(model, inputs, &motion.kinematics, state.time, h);
    motion.servos.begin(model, state);
    motion.passed.clear();
    motion.given.clear();
    motion.fall(model, state, inputs)?;
    motion.find_margin(model, state, inputs)
}

/// Targets of the motors in the step from `time` over `h`.
pub fn set_targets(model: &Model, inputs: &Inputs, time: f64, h: f64, targets: &mut Vec<Target>) {
    targets.clear();
    for (k, motor) in model.scene().motors.iter().enumerate() {
        let course = motor.drive.course();
        let end = inputs.targets.get(k).copied().flatten();
        let velocity = match &motor.drive {
            Drive::Position { velocity: Some(velocity), .. } => velocity.at(time + h),
            Drive::Position { .. } if end.is_none() => (course.at(time + h) - course.at(time)) / h,
            _ => 0.0,
        };
        let at = if matches!(motor.drive, Drive::Effort(_)) { time } else { time + h };
        targets.push(Target { end: end.unwrap_or_else(|| course.at(at)), velocity });
    }
}

/// Targets of the motors at a time; the rates of positions are from differences ahead of it.
pub fn targets_at(model: &Model, inputs: &Inputs, time: f64, targets: &mut Vec<Target>) {
    targets.clear();
    for (k, motor) in model.scene().motors.iter().enumerate() {
        let course = motor.drive.course();
        let end = inputs.targets.get(k).copied().flatten();
        let velocity = match &motor.drive {
            Drive::Position { velocity: Some(velocity), .. } => velocity.at(time),
            Drive::Position { .. } if end.is_none() => {
                let [now, next, last] = [0.0, 1.0, 2.0].map(|k| course.at(time + k * AHEAD));
                (4.0 * next - 3.0 * now - last) / (2.0 * AHEAD)
            }
            _ => 0.0,
        };
        targets.push(Target { end: end.unwrap_or_else(|| course.at(time)), velocity });
    }
}

/// The applied force `f` at a time and where `kinematics` is, without velocity products, and the part of it that does work from outside.
pub fn fall(
    model: &Model,
    inputs: &Inputs,
    kinematics: &mut Kinematics,
    time: f64,
    outside: &mut [f64],
    f: &mut [f64],
) {
    outside.fill(0.0);
    kinematics.weight(model.scene().gravity, f);
    load::add_springs(model.scene(), kinematics, f);
    load::add_outside(model.scene(), kinematics, inputs, time, outside);
    f.iter_mut().zip(outside).for_each(|(f, outside)| *f += *outside);
}

/// The applied force `f` at a time and where `kinematics` is, without velocity products.
pub fn applied_force(model: &Model, inputs: &Inputs, kinematics: &mut Kinematics, time: f64, f: &mut [f64]) {
    fall(model, inputs, kinematics, time, &mut vec![0.0; f.len()], f);
}
