//! A model together with all that steps it: the one place that knows which schemes there are.

use crate::dynamics::{Kinematics, SingularMass};
use crate::inputs::Inputs;
use crate::model::{InvalidModel, Model, Resolved};
use crate::ode::{AutoScheme, CompliantScheme, EventScheme};
use crate::scene::{Scene, Scheme};
use crate::state::{RowId, State};
use crate::step::theta::row_id;
use crate::step::trust::{examine, is_due};
use crate::step::{
    ElementReport, Energy, Failed, Moment, StepReport, StepScheme, TimeStepping, Workspace, step_watched,
};
use complementarity::problem::FrictionProblem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes a scheme.
type Make = fn() -> Box<dyn StepScheme>;

/// The schemes of a scene by name.
const SCHEMES: [(Scheme, Make); 4] = [
    (Scheme::Theta, || Box::new(TimeStepping)),
    (Scheme::Implicit, || Box::new(TimeStepping)),
    (Scheme::Compliant, || Box::new(CompliantScheme::default())),
    (Scheme::Event, || Box::new(EventScheme::default())),
];

/// The scheme of a model; `law = "auto"` changes between two of them.
fn scheme_of(model: &Model) -> Box<dyn StepScheme> {
    let scheme = model.scene().step.scheme;
    if model.contacts().is_auto() && scheme != Scheme::Compliant {
        return Box::new(AutoScheme::default());
    }
    let known = SCHEMES.iter().find(|(name, _)| *name == scheme);
    known.map_or_else(|| Box::new(TimeStepping) as Box<dyn StepScheme>, |(_, make)| make())
}

/// A model together with the memory to step it.
#[derive(Debug)]
pub struct Stepper {
    model: Arc<Model>,
    work: Workspace,
    scheme: Box<dyn StepScheme>,
}

impl Stepper {
    /// Checks and compiles a scene.
    #[allow(clippy::needless_pass_by_value, reason = "a scene is rarely needed after")]
    pub fn new(scene: Scene) -> Result<Self, InvalidModel> {
        Ok(Self::of(Arc::new(Model::new(&scene)?)))
    }

    /// Steps a model that others may step too.
    pub fn of(model: Arc<Model>) -> Self {
        let (work, scheme) = (Workspace::new(&model), scheme_of(&model));
        Self { model, work, scheme }
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The scene, resolved.
    pub fn scene(&self) -> &Resolved {
        self.model.scene()
    }

    /// The values of the last step.
    pub fn workspace(&self) -> &Workspace {
        &self.work
    }

    /// The same, for a driver that knows the next step's kinematics.
    pub(crate) fn workspace_mut(&mut self) -> &mut Workspace {
        &mut self.work
    }

    /// The scene's start.
    pub fn initial(&self) -> State {
        self.model.initial()
    }

    /// Positions and velocities of the bodies at a state.
    pub fn kinematics(&mut self, state: &State) -> &Kinematics {
        self.work.motion.kinematics.go_to(&state.position, &state.velocity);
        &self.work.motion.kinematics
    }

    /// Energies at a state.
    pub fn energy(&mut self, state: &State) -> Energy {
        Energy::at(&self.model, state, &mut self.work.motion.kinematics)
    }

    /// Elements of the last step, in order of their contacts' ids.
    pub fn elements(&self) -> &[ElementReport] {
        &self.work.elements
    }

    /// The contact problem of the last step (of its last part, if it was cut), as it was solved: see [`crate::formulation::ContactProblem::to_friction`].
    /// `None` if nothing was near.
    pub fn problem(&self) -> Option<FrictionProblem> {
        self.work.problem.to_friction()
    }

    /// Whether steps that are cut keep a copy of their problem for [`Self::unsolved`].
    pub fn set_keep_unsolved(&mut self, keep: bool) {
        self.work.retry.keep_unsolved = keep;
    }

    /// A flag that others raise to end a step while its contact problem is being solved ([`Failed::Interrupted`]).
    pub fn set_stop(&mut self, stop: Option<Arc<AtomicBool>>) {
        self.work.solver.stop = stop;
    }

    /// The first contact problem of the last step that was not solved, or abandoned, before the step was cut. It is kept if the step failed, or
    /// on demand ([`Self::set_keep_unsolved`]).
    pub fn unsolved(&self) -> Option<&FrictionProblem> {
        self.work.retry.unsolved.as_ref()
    }

    /// One step of the scene's `h`. Where the contact problem is not solved, or abandoned because it makes no progress, the step is
    /// tried again in halves, as often as the scene allows; the report says so.
    pub fn step(&mut self, state: &mut State) -> Result<StepReport, Failed> {
        self.step_by(state, &Inputs::default(), self.model.scene().step.h)
    }

    /// Examines the last step, which ended at `state`, if it is one of those that are sampled: [`StepReport::trust`]. Examinations take at
    /// most about a twentieth of the time of the steps, and allocate memory.
    pub fn examine(&mut self, state: &mut State, report: &mut StepReport) {
        let Workspace { problem, forces, contacts, .. } = &self.work;
        if is_due(problem, &mut state.solver, report) {
            let (trust, open) = examine(problem, &forces.lambda);
            let row = |k: usize| row_id(&self.model, contacts, problem, k);
            let mut rows: Vec<RowId> = open.into_iter().map(row).collect();
            rows.dedup();
            (report.trust, state.solver.trust, self.work.other_motion) = (trust, trust, rows);
        }
    }

    /// Forgets what steps have left in memory, which does not change later ones; after a panic it may be anything.
    pub(crate) fn renew(&mut self) {
        let (stop, keep) = (self.work.solver.stop.take(), self.work.retry.keep_unsolved);
        *self = Self::of(self.model.clone());
        self.set_stop(stop);
        self.set_keep_unsolved(keep);
    }

    /// One step of length `h` under inputs.
    pub fn step_by(&mut self, state: &mut State, inputs: &Inputs, h: f64) -> Result<StepReport, Failed> {
        let time = state.time;
        self.work.books.begin();
        let made = self.scheme.step(&self.model, state, inputs, h, &mut self.work);
        made.map_err(|why| match why {
            Failed::Mass(SingularMass { link, pivot }) => {
                let body = self.model.scene().bodies.get(link).map_or(String::new(), |b| b.name.clone());
                Failed::Massless { time, body, pivot }
            }
            other => other,
        })
    }

    /// A step of the theta scheme, shown to `watch` part by part.
    pub(crate) fn step_watched(
        &mut self,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        watch: &mut dyn FnMut(Moment<'_>),
    ) -> Result<StepReport, Failed> {
        step_watched(&self.model, state, inputs, h, &mut self.work, watch)
    }
}

impl Clone for Stepper {
    fn clone(&self) -> Self {
        Self { model: self.model.clone(), work: self.work.clone(), scheme: self.scheme.boxed() }
    }
}
