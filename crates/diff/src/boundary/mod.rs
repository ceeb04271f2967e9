//! Derivatives of steps and runs through contact, and boundary-value problems (pang2005).
//!
//! - [`StepDerivative`]: the derivative of one step with state, efforts and parameters, by the implicit function
//!   theorem on the contact problem; products forward and adjoint. [`step_with_derivatives`] makes a step and gives it.
//! - [`Parameters`]: values of a scene by path, to differentiate by.
//! - [`forward`], [`adjoint`]: derivatives of a whole run.
//! - [`Problem`]: a boundary-value problem, pang2005 (13); [`shoot`] solves it.
//!
//! The tangent of a state is one list of numbers: the displacement `xi` of the configuration, in the coordinates of
//! velocities (a free body's rotation is a rotation vector in world axes); the change of the velocities; and the change
//! of the deformations that contacts remember, in the order of [`crate::state::State::memory`].

mod columns;
mod contacts;
mod converge;
mod derivative;
mod forces;
pub(crate) mod least_squares;
mod linear;
mod linearise;
mod memory;
mod multiple;
mod parameters;
mod problem;
mod solve;
mod standing;
pub(crate) mod svd;
mod trajectory;
mod trees;

pub use converge::{Errors, Level, Study, Weak, converge, converge_against};
pub use derivative::{Adjoint, NotDifferentiable, Note, StepDerivative, step_with_derivatives};
pub(crate) use linearise::linearise;
pub use parameters::Parameters;
pub(crate) use problem::components;
pub use problem::{ConditionAt, Problem, Residual, ResidualSlope, Shot, UnknownAt};
pub use solve::{Answer, End, FixedPoint, Found, residual_map, shoot};
pub use trajectory::{RunError, Sensitivity, adjoint, forward};

use crate::dynamics::difference;
use crate::model::Model;
use crate::state::State;

/// Size of the tangent of a state: twice the degrees of freedom, and the deformations that contacts remember.
pub fn tangent_size(model: &Model, state: &State) -> usize {
    2 * model.system().velocity_size() + deformations(state)
}

/// Number of deformations that a state remembers.
pub(crate) fn deformations(state: &State) -> usize {
    state.memory.iter().map(|m| m.deformations.len()).sum()
}

/// The tangent from one state to another, without deformations: `to` less `from`.
pub fn separation(model: &Model, to: &State, from: &State) -> Vec<f64> {
    let n = model.system().velocity_size();
    let mut out = vec![0.0; 2 * n];
    difference(model.system(), &to.position, &from.position, &mut out[..n]);
    (0..n).for_each(|i| out[n + i] = to.velocity[i] - from.velocity[i]);
    out
}

/// Displaces a state along a tangent; deformations too, if the tangent has them.
pub fn displace(model: &Model, state: &mut State, tangent: &[f64]) {
    let n = model.system().velocity_size();
    let from = state.position.clone();
    model.system().advance(&from, &tangent[..n], 1.0, &mut state.position);
    state.velocity.iter_mut().zip(&tangent[n..2 * n]).for_each(|(v, d)| *v += d);
    if tangent.len() > 2 * n {
        state.memory.add_to_deformations(&tangent[2 * n..]);
    }
}
