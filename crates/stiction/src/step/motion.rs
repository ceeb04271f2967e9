//! `place`: the state of the bodies when a step begins, and their velocity after applied forces, were there no contact.

use super::{Failed, load};
use crate::dynamics::{Kinematics, MassMatrix};
use crate::geometry::bounding_box;
use crate::inputs::Inputs;
use crate::model::{Model, Owner};
use crate::space::length;
use crate::state::State;

/// Gaps up to this count as closed where the normal law is about velocities, m.
pub(crate) const CLOSED: f64 = 1e-9;

/// Poses, velocities, the factored mass matrix, and the velocity without contact forces.
#[derive(Debug, Clone)]
pub struct Motion {
    /// Length of the step, s.
    pub h: f64,
    /// Time at which the applied forces were evaluated, s.
    pub time: f64,
    /// Poses and velocities when the step begins.
    pub kinematics: Kinematics,
    /// The mass matrix there.
    pub mass: MassMatrix,
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
}

impl Motion {
    /// Memory for a model, at its neutral configuration and at rest.
    pub fn new(model: &Model) -> Self {
        let none = vec![0.0; model.system().velocity_size()];
        Self {
            h: model.scene().step.h,
            time: 0.0,
            kinematics: Kinematics::new(model.system()),
            mass: MassMatrix::new(model.system()),
            velocity: none.clone(),
            free: none.clone(),
            outside: none,
            fastest: vec![0.0; model.scene().bodies.len()],
            margin: 0.0,
        }
    }

    /// How far apart shapes can be and still meet within the step, by the velocities now and those without contact.
    fn find_margin(&mut self, model: &Model, state: &State, inputs: &Inputs) -> Result<(), Failed> {
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
        // weight alone adds no more than that; other forces may
        if model.has_loads() || !inputs.is_empty() {
            self.kinematics.go_to(&state.position, &self.free);
            fastest =
                (0..model.reaches().len()).map(|i| self.fastest_point(model, i)).fold(fastest, f64::max);
            self.kinematics.go_to(&state.position, &state.velocity);
        }
        self.margin = 4.0 * self.h * fastest + CLOSED;
        if self.margin.is_finite() { Ok(()) } else { Err(Failed::NotFinite { time: state.time }) }
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
            let pose = match part.owner {
                Owner::Body(i) => self.kinematics.pose(i).then(&part.local),
                Owner::World(_) => part.local,
            };
            let around = bounding_box(&part.solid, &pose, 0.0);
            length([0, 1, 2].map(|k| (around.min[k] - at[k]).abs().max((around.max[k] - at[k]).abs())))
        });
        distances.filter(|d| d.is_finite()).fold(0.0, f64::max)
    }
}

/// Places the bodies at a state and lets them move without contact forces for a step of length `h`.
pub fn place(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    h: f64,
    motion: &mut Motion,
) -> Result<(), Failed> {
    (motion.h, motion.time) = (h, state.time);
    motion.kinematics.go_to(&state.position, &state.velocity);
    motion.mass.go_to(&motion.kinematics)?;
    motion.velocity.copy_from_slice(&state.velocity);
    let Motion { kinematics, mass, free, outside, .. } = motion;
    fall(model, inputs, kinematics, state.time, outside, free);
    mass.solve(free);
    free.iter_mut().zip(&state.velocity).for_each(|(a, v)| *a = v + h * *a);
    motion.find_margin(model, state, inputs)
}

/// The applied force `f` at a time and where `kinematics` is, without velocity products, and the part of it that does work from outside.
pub(crate) fn fall(
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
