//! A run that its caller makes step by step, with inputs that may change from step to step.

use super::{Driver, Options, View};
use crate::boundary::{NotDifferentiable, Parameters, StepDerivative, step_with_derivatives};
use crate::inputs::Inputs;
use crate::model::Model;
use crate::state::State;
use crate::step::{Failed, StepReport};
use std::sync::Arc;

/// A run between two steps of its caller: what [`super::run`] does, one step at a time. The caller passes [`Self::view`] to
/// observers, and may change the state between steps.
pub struct Stepwise(Driver);

impl Stepwise {
    /// Begins a run at a state. The end in `options` is only what [`View::asked`] shows.
    pub fn new(model: &Arc<Model>, state: &State, options: &Options) -> Self {
        Self(Driver::new(model, state, options))
    }

    /// One step of the scene's `h` under inputs. On failure the state is as it was.
    #[inline]
    pub fn step(&mut self, state: &mut State, inputs: &Inputs) -> Result<StepReport, Failed> {
        self.0.inputs.clone_from(inputs);
        self.0.step(state)?;
        Ok(self.0.report)
    }

    /// One step of the scene's `h` under inputs, and its derivative. On failure the state is as it was.
    ///
    /// # Errors
    /// The step fails, or has no derivative.
    pub fn step_with_derivatives(
        &mut self,
        state: &mut State,
        inputs: &Inputs,
        parameters: &Parameters,
    ) -> Result<(StepReport, StepDerivative), NotDifferentiable> {
        self.0.inputs.clone_from(inputs);
        let (before, mut derivative) = (state.clone(), StepDerivative::default());
        let made = self.0.step_by(state, |stepper, state, inputs, h| {
            let (report, made) = step_with_derivatives(stepper, state, inputs, h, parameters)?;
            derivative = made;
            Ok(report)
        });
        match made {
            Ok(()) => Ok((self.0.report, derivative)),
            Err(why) => {
                *state = before;
                Err(why)
            }
        }
    }

    /// To be called when the state was changed by other means than a step.
    pub fn state_changed(&mut self, state: &State) {
        (self.0.here.placed, self.0.here.balanced) = (false, false);
        self.0.set_due(state.time);
    }

    /// What observers see at the state reached.
    pub fn view<'a>(&'a mut self, state: &'a State) -> View<'a> {
        let Driver { stepper, here, report, watch, made, asked, is_record, .. } = &mut self.0;
        let (events, made, asked, is_record) = (watch.events(), *made, *asked, *is_record);
        View { state, report, events, is_record, made, asked, stepper, here }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Ended, Observer, Summary, run};

    const SLIDING: &str = "
        [[world]]
        name = 'ground'
        shape = 'half_space'
        [[body]]
        name = 'ball'
        shape = { sphere = { radius = 0.1 } }
        mass = 2
        position = [0, 0, 0.1]
        velocity = [1, 0, 0]
        [step]
        duration = 0.1
        ";

    fn model() -> Arc<Model> {
        Arc::new(Model::new(&crate::from_toml("slide", SLIDING).unwrap()).unwrap())
    }

    #[test]
    fn steps_one_by_one_are_those_of_a_run() {
        let model = model();
        let (mut whole, mut single) = (model.initial(), model.initial());
        let (mut seen, mut shown) = (Summary::default(), Summary::default());
        let ended = run(&model, &mut whole, &Options::default(), &mut [&mut seen]).unwrap();
        let mut steps = Stepwise::new(&model, &single, &Options::default());
        shown.start(&mut steps.view(&single)).unwrap();
        for _ in 0..100 {
            let report = steps.step(&mut single, &Inputs::default()).unwrap();
            assert!(report.residual.relative < 1e-10);
            shown.step(&mut steps.view(&single)).unwrap();
        }
        shown.finish(&mut steps.view(&single)).unwrap();
        assert_eq!((ended, &seen, &whole), (Ended::Finished, &shown, &single));
    }

    /// An effort F along x on a sphere of mass m whose ground has no friction left to give: F = m a in flight.
    #[test]
    fn inputs_push_and_a_changed_state_is_seen() {
        let model = model();
        let mut state = model.initial();
        let mut steps = Stepwise::new(&model, &state, &Options::default());
        state.position[2] = 5.0;
        state.velocity[0] = 0.0;
        steps.state_changed(&state);
        let inputs = Inputs { efforts: vec![3.0, 0.0, 0.0, 0.0, 0.0, 0.0], ..Inputs::default() };
        for _ in 0..10 {
            let _ = steps.step(&mut state, &inputs).unwrap();
        }
        assert!((state.velocity[0] - 3.0 / 2.0 * 0.01).abs() < 1e-15, "{:?}", state.velocity);
        assert_eq!(steps.view(&state).kinematics().pose(0).position[0], state.position[0]);
    }

    /// A step with its derivative is a step; m v' = -mu m g while it slides, so that dv+/dv = 1 along x.
    #[test]
    fn a_step_with_its_derivative_is_the_same_step() {
        let model = model();
        let (mut plain, mut other) = (model.initial(), model.initial());
        let [mut steps, mut watched] = [0, 1].map(|_| Stepwise::new(&model, &plain, &Options::default()));
        let report = steps.step(&mut plain, &Inputs::default()).unwrap();
        let made = watched.step_with_derivatives(&mut other, &Inputs::default(), &Parameters::default());
        let (watched_report, derivative) = made.unwrap();
        assert_eq!((&plain, report), (&other, watched_report));
        assert_eq!((steps.view(&plain).made, watched.view(&other).made), (1, 1));
        assert!((derivative.matrix()[6][6] - 1.0).abs() < 1e-9);
    }
}
