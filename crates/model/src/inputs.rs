//! Inputs of a step: external efforts and forces beside those that the scene prescribes.

use crate::Model;
use crate::ids::Owner;
pub use crate::scene::resolved::PartMotion;
use crate::space::Vector;

/// Efforts, targets and external forces of a step. Empty lists mean none; [`Inputs::default`] leaves the
/// scene unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// Effort on each degree of freedom, N or N m, in the order of `v`; added to all other efforts.
    pub efforts: Vec<f64>,
    /// Value of each motor that replaces its course over time, in the order of the model's motors; `None`
    /// keeps the course. It is the effort, the velocity or the position at the end of the step.
    pub targets: Vec<Option<f64>>,
    /// External forces on bodies.
    pub wrenches: Vec<Wrench>,
    /// Surface velocities that replace those of the scene: a body or world part, and the velocity in its axes,
    /// m/s. Only for owners to which the scene gives one.
    pub surfaces: Vec<(Owner, Vector)>,
    /// Motions of world parts that replace those of the scene. Only for parts to which the scene gives one.
    pub motions: Vec<PartMotion>,
}

/// Why a value cannot be set by name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// There is no such body.
    #[error("no body '{0}'")]
    Body(String),
    /// The joint has no such degree of freedom.
    #[error("the joint of '{body}' has {count} degrees of freedom, not one with the number {dof}")]
    Dof {
        /// Name of the body.
        body: String,
        /// Requested degree of freedom.
        dof: usize,
        /// Number of degrees of freedom.
        count: usize,
    },
    /// The joint has no motor.
    #[error("no motor on the joint of '{0}'")]
    Motor(String),
    /// The body or world part has no surface velocity.
    #[error("no body or world part '{0}' with a surface velocity")]
    Surface(String),
    /// The world part has no motion.
    #[error("no world part '{0}' with a motion")]
    Motion(String),
}

/// A force and a torque on a body, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wrench {
    /// Index of the body.
    pub body: usize,
    /// Point at which the force acts, in the coordinates of the body, m.
    pub point: Vector,
    /// Force, N.
    pub force: Vector,
    /// Torque, N m.
    pub torque: Vector,
}

impl Inputs {
    /// Whether the inputs change nothing.
    pub fn is_empty(&self) -> bool {
        self.efforts.is_empty()
            && self.targets.is_empty()
            && self.wrenches.is_empty()
            && self.surfaces.is_empty()
            && self.motions.is_empty()
    }

    /// Removes all inputs and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.efforts.clear();
        self.targets.clear();
        self.wrenches.clear();
        self.surfaces.clear();
        self.motions.clear();
    }

    /// Sets the effort on a degree of freedom of a body's joint, N or N m; it is added to all other efforts.
    pub fn set_effort(
        &mut self,
        model: &Model,
        body: &str,
        dof: usize,
        effort: f64,
    ) -> Result<(), InvalidInput> {
        let index = model.body(body).ok_or_else(|| InvalidInput::Body(body.to_owned()))?;
        let dofs = model.system().dofs(index);
        if dof >= dofs.len() {
            return Err(InvalidInput::Dof { body: body.to_owned(), dof, count: dofs.len() });
        }
        self.efforts.resize(model.system().velocity_size(), 0.0);
        self.efforts[dofs.start + dof] = effort;
        Ok(())
    }

    /// Sets the value of the motor on a degree of freedom of a body's joint: effort, velocity or position,
    /// whichever the motor prescribes.
    pub fn set_target(
        &mut self,
        model: &Model,
        body: &str,
        dof: usize,
        value: f64,
    ) -> Result<(), InvalidInput> {
        let index = model.body(body).ok_or_else(|| InvalidInput::Body(body.to_owned()))?;
        let motors = &model.scene().motors;
        let motor = motors.iter().position(|m| (m.body, m.dof) == (index, dof));
        let motor = motor.ok_or_else(|| InvalidInput::Motor(body.to_owned()))?;
        self.targets.resize(motors.len(), None);
        self.targets[motor] = Some(value);
        Ok(())
    }

    /// Adds a force that acts on a body at its centre of mass, and a torque, in world axes.
    pub fn push(
        &mut self,
        model: &Model,
        body: &str,
        force: Vector,
        torque: Vector,
    ) -> Result<(), InvalidInput> {
        let index = model.body(body).ok_or_else(|| InvalidInput::Body(body.to_owned()))?;
        let point = model.scene().bodies[index].link.inertia.center;
        self.wrenches.push(Wrench { body: index, point, force, torque });
        Ok(())
    }

    /// Sets the surface velocity of a body or world part, in its axes, m/s.
    pub fn set_surface(&mut self, model: &Model, name: &str, velocity: Vector) -> Result<(), InvalidInput> {
        let scene = model.scene();
        let bodies = scene.bodies.iter().enumerate().filter(|(_, b)| b.surface.is_some());
        let world = scene.world.iter().enumerate().filter(|(_, w)| w.surface.is_some());
        let body = bodies.clone().find(|(_, b)| b.name == name).map(|(i, _)| Owner::Body(i));
        let owner =
            body.or_else(|| world.clone().find(|(_, w)| w.name == name).map(|(i, _)| Owner::World(i)));
        let owner = owner.ok_or_else(|| InvalidInput::Surface(name.to_owned()))?;
        self.surfaces.retain(|(other, _)| *other != owner);
        self.surfaces.push((owner, velocity));
        Ok(())
    }

    /// Sets the motion of a world part over a step: displacement (m, in world axes) and angle (rad, about the axis of its motion) at the
    /// begin and the end of `time`.
    pub fn set_motion(
        &mut self,
        model: &Model,
        name: &str,
        time: [f64; 2],
        position: [Vector; 2],
        angle: [f64; 2],
    ) -> Result<(), InvalidInput> {
        let part = model.scene().world.iter().position(|w| w.name == name && w.motion.is_some());
        let part = part.ok_or_else(|| InvalidInput::Motion(name.to_owned()))?;
        self.motions.retain(|m| m.part != part);
        self.motions.push(PartMotion { part, time, position, angle });
        Ok(())
    }
}
