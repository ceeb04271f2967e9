//! What acts on a system from outside during a step, beside what its scene prescribes.

use crate::space::Vector;

/// Efforts, targets and external forces of a step. Empty lists mean none; [`Inputs::default`] leaves the scene as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// Effort on each degree of freedom, N or N m, in the order of `v`; added to all others.
    pub efforts: Vec<f64>,
    /// Value of each motor in place of its course, in the order of the model's motors; `None` keeps the course.
    pub targets: Vec<Option<f64>>,
    /// External forces on bodies.
    pub wrenches: Vec<Wrench>,
}

/// A force and a torque on a body, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wrench {
    /// Index of the body.
    pub body: usize,
    /// Point at which the force acts, in the coordinates of the body, m.
    pub point: Vector,
    /// N.
    pub force: Vector,
    /// N m.
    pub torque: Vector,
}

impl Inputs {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.efforts.is_empty() && self.targets.is_empty() && self.wrenches.is_empty()
    }
}
