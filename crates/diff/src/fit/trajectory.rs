//! A run that is looked at when something was measured.
//!
//! The schemes with error control ("event", "compliant") make their results at the measured times. The others keep the
//! scene's step, of which their results are a function, and are interpolated in between: positions by cubics through
//! positions and velocities at both ends of a step, velocities by lines. Both agree with the results to the order of
//! the scheme or better, so that interpolation adds no error of lower order.

use super::Quantity;
use crate::boundary::{NotDifferentiable, Parameters, displace, step_with_derivatives, tangent_size};
use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::scene::Scheme;
use crate::state::State;
use crate::step::Failed;
use crate::stepper::Stepper;
use complementarity::matrix::Matrix;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Times this share of a step beyond a result count as it.
const SLACK: f64 = 1e-6;
/// Displacement along a tangent by which quantities are differentiated.
const NEAR: f64 = 1e-5;

/// What is looked at, and when: times in order, each with the quantity (by index).
pub(super) struct Plan<'a> {
    pub quantities: &'a [Quantity],
    pub samples: &'a [(f64, usize)],
    pub stop: &'a Arc<AtomicBool>,
}

/// Why a run has no values.
pub(super) enum Fault {
    Interrupted,
    Failed(String),
    /// It has no derivative.
    NotDifferentiated(String),
}

impl From<NotDifferentiable> for Fault {
    fn from(why: NotDifferentiable) -> Self {
        match why {
            NotDifferentiable::Failed(failed) => failed.into(),
            why => Self::NotDifferentiated(why.to_string()),
        }
    }
}

impl From<Failed> for Fault {
    fn from(why: Failed) -> Self {
        if matches!(why, Failed::Interrupted { .. }) {
            Self::Interrupted
        } else {
            Self::Failed(why.to_string())
        }
    }
}

/// The quantities along a run.
pub(super) fn run(model: Arc<Model>, plan: &Plan<'_>) -> Result<Vec<f64>, Fault> {
    let mut values = vec![];
    let mut eyes = Eyes::new(&model);
    let mut stepper = Stepper::of(model);
    stepper.set_stop(Some(plan.stop.clone()));
    let mut state = stepper.initial();
    let mut before = state.clone();
    loop {
        eyes.look(plan, [&before, &state], slack(&stepper), &mut values);
        if values.len() == plan.samples.len() {
            return Ok(values);
        }
        if plan.stop.load(Ordering::Relaxed) {
            return Err(Fault::Interrupted);
        }
        let h = next_step(&stepper, &state, plan.samples[values.len()].0);
        before.copy_from(&state);
        let _ = stepper.step_by(&mut state, &Inputs::default(), h)?;
    }
}

/// The quantities along a run of the theta scheme, and their derivatives with the parameters.
pub(super) fn run_with_derivatives(
    model: &Arc<Model>,
    plan: &Plan<'_>,
    parameters: &Parameters,
) -> Result<(Vec<f64>, Matrix), Fault> {
    let (n, p) = (model.system().velocity_size(), parameters.len());
    let (mut values, mut slopes) = (vec![], vec![vec![]; p]);
    let mut eyes = Eyes::new(model);
    let mut stepper = Stepper::of(model.clone());
    stepper.set_stop(Some(plan.stop.clone()));
    let mut state = stepper.initial();
    let mut before = state.clone();
    let mut tangents: Vec<Vec<f64>> = (0..p).map(|k| parameters.start(k).to_vec()).collect();
    tangents.iter_mut().for_each(|t| t.resize(tangent_size(model, &state), 0.0));
    let mut tangents_before = tangents.clone();
    loop {
        let (seen, slack) = (values.len(), slack(&stepper));
        eyes.look(plan, [&before, &state], slack, &mut values);
        if values.len() > seen {
            for (k, slope) in slopes.iter_mut().enumerate() {
                let both = [&tangents_before[k], &tangents[k]];
                let size = both.iter().flat_map(|t| &t[..2 * n]).fold(0.0f64, |m, x| m.max(x.abs()));
                if size == 0.0 {
                    slope.resize(values.len(), 0.0);
                    continue;
                }
                let by = NEAR / size;
                let ends = [by, -by].map(|by| {
                    let mut ends = [before.clone(), state.clone()];
                    for (end, tangent) in ends.iter_mut().zip(both) {
                        let moved: Vec<f64> = tangent[..2 * n].iter().map(|x| by * x).collect();
                        displace(model, end, &moved);
                    }
                    let mut out = vec![f64::NAN; seen];
                    eyes.look(plan, [&ends[0], &ends[1]], slack, &mut out);
                    out
                });
                slope.extend((seen..values.len()).map(|i| (ends[0][i] - ends[1][i]) / (2.0 * by)));
            }
        }
        if values.len() == plan.samples.len() {
            let jacobian = Matrix::from_fn(values.len(), p, |i, k| slopes[k][i]);
            return Ok((values, jacobian));
        }
        if plan.stop.load(Ordering::Relaxed) {
            return Err(Fault::Interrupted);
        }
        let h = next_step(&stepper, &state, plan.samples[values.len()].0);
        before.copy_from(&state);
        let (_, step) = step_with_derivatives(&mut stepper, &mut state, &Inputs::default(), h, parameters)?;
        tangents_before.clone_from(&tangents);
        for (k, tangent) in tangents.iter_mut().enumerate() {
            let direction: Vec<f64> = (0..p).map(|j| f64::from(u8::from(j == k))).collect();
            *tangent = step.forward(tangent, &[], &direction);
        }
    }
}

/// By how much a time may be beyond a result, s.
fn slack(stepper: &Stepper) -> f64 {
    SLACK * stepper.scene().step.h
}

/// Length of the next step: the scene's, or what brings a scheme with error control to a time in equal parts.
fn next_step(stepper: &Stepper, state: &State, time: f64) -> f64 {
    let step = &stepper.scene().step;
    match step.scheme {
        Scheme::Theta | Scheme::Implicit => step.h,
        Scheme::Compliant | Scheme::Event => {
            let rest = time - state.time;
            rest / (rest / step.h - SLACK).ceil().max(1.0)
        }
    }
}

/// Kinematics at both ends of a step.
struct Eyes([Kinematics; 2]);

impl Eyes {
    fn new(model: &Model) -> Self {
        Self([0, 1].map(|_| Kinematics::new(model.system())))
    }

    /// Adds the values of all samples up to the second of two states.
    fn look(&mut self, plan: &Plan<'_>, states: [&State; 2], slack: f64, out: &mut Vec<f64>) {
        let due = |k: usize| plan.samples.get(k).is_some_and(|(time, _)| *time <= states[1].time + slack);
        if !due(out.len()) {
            return;
        }
        for (kinematics, state) in self.0.iter_mut().zip(states) {
            kinematics.go_to(&state.position, &state.velocity);
        }
        while due(out.len()) {
            let (time, k) = plan.samples[out.len()];
            out.push(self.value(&plan.quantities[k], states, time));
        }
    }

    fn value(&self, of: &Quantity, states: [&State; 2], time: f64) -> f64 {
        let h = states[1].time - states[0].time;
        let [x, y] = [0, 1].map(|i| of.value(&self.0[i], states[i]));
        if h <= 0.0 {
            return y;
        }
        let s = (time - states[0].time) / h;
        match [0, 1].map(|i| of.rate(&self.0[i], states[i])) {
            [Some(u), Some(w)] => {
                let t = 1.0 - s;
                t * t * (1.0 + 2.0 * s) * x + s * s * (1.0 + 2.0 * t) * y + s * t * h * (t * u - s * w)
            }
            _ => x + s * (y - x),
        }
    }
}
