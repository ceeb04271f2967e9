//! Derivatives of a whole run: tangents carried along with the steps, and gradients carried back through them.

use super::{
    Adjoint, NotDifferentiable, Note, Parameters, StepDerivative, step_with_derivatives, tangent_size,
};
use crate::inputs::Inputs;
use crate::state::State;
use crate::stepper::Stepper;

/// Notes that are kept of a run.
const MOST_NOTES: usize = 20;
/// Bytes of derivatives that an adjoint run keeps; beyond it, steps are made again from checkpoints.
const MOST_BYTES: usize = 200_000_000;

/// Why the derivative of a run is not known.
pub type RunError = NotDifferentiable;

/// The derivative of the state at the end of a run.
#[derive(Debug, Clone, Default)]
pub struct Sensitivity {
    /// The state at the end.
    pub state: State,
    /// One tangent at the end for each direction.
    pub tangents: Vec<Vec<f64>>,
    /// Steps whose derivative is one of several; the first of them.
    pub notes: Vec<Note>,
    /// Number of such notes in all.
    pub noted: usize,
}

/// A direction at the start of a run: a tangent of the state, and changes of the parameters.
pub type Direction = (Vec<f64>, Vec<f64>);

/// Makes steps of the lengths given and carries tangents along. `h` lists the lengths; the tangents of deformations may
/// be left out at the start.
///
/// # Errors
/// If a step fails, or has no derivative.
pub fn forward(
    stepper: &mut Stepper,
    start: &State,
    h: impl IntoIterator<Item = f64>,
    directions: &[Direction],
    parameters: &Parameters,
) -> Result<Sensitivity, RunError> {
    let size = tangent_size(stepper.model(), start);
    let mut out = Sensitivity { state: start.clone(), ..Sensitivity::default() };
    out.tangents = directions.iter().map(|(x, _)| x.clone()).collect();
    out.tangents.iter_mut().for_each(|x| x.resize(size, 0.0));
    for h in h {
        let (_, step) = step_with_derivatives(stepper, &mut out.state, &Inputs::default(), h, parameters)?;
        for (tangent, (_, p)) in out.tangents.iter_mut().zip(directions) {
            *tangent = step.forward(tangent, &[], p);
        }
        keep(&mut out, &step);
    }
    Ok(out)
}

fn keep(out: &mut Sensitivity, step: &StepDerivative) {
    for note in step.notes() {
        out.noted += 1;
        if out.notes.len() < MOST_NOTES {
            out.notes.push(note.clone());
        }
    }
}

/// The gradient of a function of the state at the end of a run, whose gradient there `gradient` gives, with the state
/// at the start and the parameters. Efforts are summed over the run. Derivatives of steps are kept while they fit in
/// memory; of longer runs every so many states are, and steps are made again from these.
///
/// # Errors
/// If a step fails, or has no derivative.
pub fn adjoint(
    stepper: &mut Stepper,
    start: &State,
    h: &[f64],
    parameters: &Parameters,
    gradient: impl FnOnce(&State) -> Vec<f64>,
) -> Result<(State, Adjoint), RunError> {
    adjoint_within(stepper, start, h, parameters, MOST_BYTES, gradient)
}

/// The same with at most so many bytes of derivatives.
pub(crate) fn adjoint_within(
    stepper: &mut Stepper,
    start: &State,
    h: &[f64],
    parameters: &Parameters,
    most: usize,
    gradient: impl FnOnce(&State) -> Vec<f64>,
) -> Result<(State, Adjoint), RunError> {
    let none = Inputs::default();
    let mut state = start.clone();
    let (mut kept, mut bytes, mut first) = (vec![], 0, 0);
    // states at which segments begin that are not kept
    let mut checkpoints: Vec<(usize, State)> = vec![(0, start.clone())];
    for (k, &h) in h.iter().enumerate() {
        let (_, step) = step_with_derivatives(stepper, &mut state, &none, h, parameters)?;
        bytes += step.bytes();
        if bytes > most && !kept.is_empty() {
            // a checkpoint where the segment ends; the segment is made again later
            (first, bytes) = (k + 1, 0);
            kept.clear();
            checkpoints.push((first, state.clone()));
            continue;
        }
        kept.push(step);
    }
    debug_assert!(first + kept.len() == h.len());
    let mut y = gradient(&state);
    y.resize(tangent_size(stepper.model(), &state), 0.0);
    let mut out = Adjoint { state: y, ..Adjoint::default() };
    let pull = |kept: &[StepDerivative], out: &mut Adjoint| {
        for step in kept.iter().rev() {
            let own = step.adjoint(&out.state);
            out.state = own.state;
            add(&mut out.efforts, &own.efforts);
            add(&mut out.targets, &own.targets);
            add(&mut out.parameters, &own.parameters);
        }
    };
    pull(&kept, &mut out);
    let mut end = first;
    checkpoints.pop();
    for (begin, at) in checkpoints.into_iter().rev() {
        let mut again = at;
        kept.clear();
        for &h in &h[begin..end] {
            kept.push(step_with_derivatives(stepper, &mut again, &none, h, parameters)?.1);
        }
        pull(&kept, &mut out);
        end = begin;
    }
    Ok((state, out))
}

fn add(sum: &mut Vec<f64>, x: &[f64]) {
    sum.resize(x.len().max(sum.len()), 0.0);
    sum.iter_mut().zip(x).for_each(|(s, x)| *s += x);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps made again from checkpoints give the gradient of a run that keeps all derivatives, bit by bit.
    #[test]
    fn checkpoints_do_not_change_a_gradient() {
        let text = "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n[[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = { radius = 0.1 } }\nposition = [0, 0, 0.11]\nvelocity = [1, 0.2, 0]\n";
        let scene = crate::scene::from_text("test", text, &[], |_, _| vec![]).unwrap();
        let mut stepper = Stepper::new(scene).unwrap();
        let (start, h) = (stepper.initial(), [1e-3; 60]);
        let none = Parameters::default();
        let mut run = |most: usize| {
            let weights = |s: &State| (0..s.velocity.len() * 2).map(|k| 1.0 + k as f64).collect();
            adjoint_within(&mut stepper, &start, &h, &none, most, weights).unwrap()
        };
        let (whole, cut) = (run(usize::MAX), run(20_000));
        assert_eq!(whole.0.position, cut.0.position);
        assert_eq!(whole.1, cut.1);
    }
}
