//! Inputs of a step: external efforts and forces beside those that the scene prescribes.

use crate::space::Vector;

/// Efforts, targets and external forces of a step. Empty lists mean none; [`Inputs::default`] leaves the
/// scene unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// Effort on each degree of freedom, N or N m, in the order of `v`; added to all other efforts.
    pub efforts: Vec<f64>,
    /// Value of each motor that replaces its course over time, in the order of the model's motors; `None`
    /// keeps the course.
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
    /// Force, N.
    pub force: Vector,
    /// Torque, N m.
    pub torque: Vector,
}

impl Inputs {
    /// Removes all efforts, targets and forces, and keeps the memory.
    pub fn clear(&mut self) {
        self.efforts.clear();
        self.targets.clear();
        self.wrenches.clear();
    }

    /// Whether the inputs change nothing.
    pub fn is_empty(&self) -> bool {
        self.efforts.is_empty() && self.targets.is_empty() && self.wrenches.is_empty()
    }
}
