//! One step of time: `Model`, `State`, `Inputs` -> place -> detect -> assemble -> solve -> advance -> `State`, `StepReport`.
//!
//! Each arrow is a function whose result is a value: [`place`] gives a [`Motion`], [`detect()`] a [`ContactSet`],
//! [`crate::formulation::assemble`] a [`ContactProblem`], [`ContactSolver::solve`] the [`Forces`], [`advance()`] the next state. A
//! [`Workspace`] holds the memory of all of them, so that steps allocate nothing once it has grown.
//!
//! The scheme is the theta rule of pang2005 (15)-(16), with the forces f at the old state or implicit; theta = 0 with the
//! former is song2004. With `W` the contacts' Jacobian, `E = h K + C` (absent for rigid contacts) and `delta` the deformations,
//!
//! ```text
//! s = A lambda + b      A = (1-theta) h W M^-1 W' + E^-1      b = W (v + (1-theta) h M^-1 f) - E^-1 K delta
//! ```
//!
//! (f without velocity products, which follow in a [`crate::dynamics::Drift`] after the kick of all forces) is closed by `0 <= lambda_n _|_ g/h + s_n >= 0` with `g = psi + delta_n`, and by friction as cone, pyramid or polygon. The normal
//! points from the first body to the second; `lambda` acts on the second. `K` and `C` may depend on the overlap `-psi` at the
//! start of the step.

mod advance;
mod approach;
mod auto;
mod compliant;
mod detect;
mod event;
mod flush;
mod impact;
mod implicit;
mod jam;
mod load;
mod motion;
mod overlap;
mod project;
mod report;
mod retry;
mod servos;
mod solve;
mod surfaces;
mod theta;
mod travel;
mod trust;

pub use crate::model::InvalidModel;
pub use advance::{Scratch, Solved, advance};
pub use detect::{Detection, Undetected, detect};
pub(crate) use load::each_load;
pub(crate) use motion::CLOSED;
pub(crate) use motion::applied_force;
pub use motion::{Motion, place};
pub(crate) use motion::{fall, set_targets, targets_at};
pub use overlap::{Overlap, overlaps};
pub use project::Projection;
pub(crate) use project::close;
pub use report::{
    BranchChange, Branched, ElementReport, Energy, Failed, Located, ModelChange, StandingReport, Status,
    StepReport, elements, standing,
};
pub use servos::{Eliminated, Servos};
pub use solve::{ContactSolver, Forces};
pub use surfaces::Surfaces;
pub use trust::Trust;

use crate::contact::set::ContactSet;
use crate::dynamics::Kinematics;
use crate::formulation::{ContactProblem, Laws};
use crate::inputs::Inputs;
use crate::model::{Model, Resolved};
use crate::scene::{Scene, Scheme};
use crate::state::{RowId, State};
use complementarity::problem::FrictionProblem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// All memory that steps of a model use. One per thread; its contents after a step are the values of the step's arrows.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Of the last step's last part: the state of the bodies when it began.
    pub motion: Motion,
    /// The contacts found there.
    pub contacts: ContactSet,
    /// Their contact problem.
    pub problem: ContactProblem,
    /// Its solution.
    pub forces: Forces,
    /// What the elements did, in order of their contacts' ids.
    pub elements: Vec<ElementReport>,
    /// What the standing rows did, in order of their ids.
    pub standing: Vec<StandingReport>,
    /// Attempts at steps, or parts of them, that were made so far.
    pub attempts: u64,
    /// Rows of the last step whose overlap no motion was found to undo ([`ContactProblem::relax`]), part by part of the step.
    pub relaxed: Vec<RowId>,
    /// Rows of islands whose motion was not unique when a step was last examined ([`Stepper::examine`]).
    pub other_motion: Vec<RowId>,
    /// Changes of contacts in the last step, in order of time, if the scheme locates them.
    pub located: Vec<Located>,
    /// Changes between rigid and compliant contacts in the last step (`law = "auto"`), in order of time.
    pub changes: Vec<ModelChange>,
    /// Where the last step began or ceased to follow one of several motions, in order of time.
    pub branches: Vec<Branched>,
    laws: Laws,
    detection: Detection,
    solver: ContactSolver,
    advancing: Scratch,
    settling: theta::Scratch,
    impacts: impact::Impacts,
    compliant: compliant::Scratch,
    event: event::Scratch,
    auto: auto::Scratch,
    retry: retry::Memory,
    implicit: implicit::Scratch,
    approach: approach::Approach,
}

impl Workspace {
    /// Memory for a model.
    pub fn new(model: &Model) -> Self {
        Self {
            motion: Motion::new(model),
            contacts: ContactSet::default(),
            problem: ContactProblem::new(model),
            forces: Forces::default(),
            elements: vec![],
            standing: vec![],
            attempts: 0,
            relaxed: vec![],
            other_motion: vec![],
            located: vec![],
            changes: vec![],
            branches: vec![],
            laws: Laws::default(),
            detection: Detection::default(),
            solver: ContactSolver::new(model),
            advancing: Scratch::default(),
            settling: theta::Scratch::default(),
            impacts: impact::Impacts::default(),
            compliant: compliant::Scratch::default(),
            event: event::Scratch::default(),
            auto: auto::Scratch::default(),
            retry: retry::Memory::default(),
            implicit: implicit::Scratch::default(),
            approach: approach::Approach::default(),
        }
    }
}

impl Workspace {
    /// Compliant laws at the length of the last step.
    pub(crate) fn laws(&self) -> &Laws {
        &self.laws
    }

    /// Whether velocities after the last step are those after impacts with restitution.
    pub(crate) fn bounced(&self) -> bool {
        !self.advancing.bounced.is_empty()
    }

    /// The projection of the last step's positions; without rows there was none.
    pub(crate) fn projection(&self) -> &Projection {
        &self.advancing.projection
    }

    /// Configuration at the end of the last step.
    pub(crate) fn end_position(&self) -> &[f64] {
        self.advancing.position()
    }

    /// The drift of the last step.
    pub(crate) fn drift(&self) -> Option<&crate::dynamics::Drift> {
        self.advancing.drift.as_ref()
    }

    /// Parts of the last drift of a tree.
    pub(crate) fn drift_parts(&self, tree: usize) -> usize {
        self.advancing.drift.as_ref().map_or(1, |drift| drift.parts(tree))
    }
}

/// A moment of a step that is watched: a step that is cut has several parts.
pub(crate) enum Moment<'a> {
    /// A part begins at this state.
    Before(&'a State),
    /// It was made, with these values.
    After(&'a Workspace),
}

/// A model together with the memory to step it.
#[derive(Debug, Clone)]
pub struct Stepper {
    model: Arc<Model>,
    work: Workspace,
}

impl Stepper {
    /// Checks and compiles a scene.
    #[allow(clippy::needless_pass_by_value, reason = "a scene is rarely needed after")]
    pub fn new(scene: Scene) -> Result<Self, InvalidModel> {
        Ok(Self::of(Arc::new(Model::new(&scene)?)))
    }

    /// Steps a model that others may step too.
    pub fn of(model: Arc<Model>) -> Self {
        let work = Workspace::new(&model);
        Self { model, work }
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

    /// The contact problem of the last step (of its last part, if it was cut), as it was solved: see [`ContactProblem::to_friction`].
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
        if trust::is_due(problem, &mut state.solver, report) {
            let (trust, open) = trust::examine(problem, &forces.lambda);
            let row = |k: usize| theta::row_id(&self.model, contacts, problem, k);
            let mut rows: Vec<RowId> = open.into_iter().map(row).collect();
            rows.dedup();
            (report.trust, state.solver.trust, self.work.other_motion) = (trust, trust, rows);
        }
    }

    /// One step of length `h` under inputs.
    pub fn step_by(&mut self, state: &mut State, inputs: &Inputs, h: f64) -> Result<StepReport, Failed> {
        let scheme = self.model.scene().step.scheme;
        if self.model.contacts().is_auto() && scheme != Scheme::Compliant {
            return auto::step(&self.model, state, inputs, h, &mut self.work);
        }
        match scheme {
            Scheme::Theta | Scheme::Implicit => {
                retry::step(&self.model, state, inputs, h, &mut self.work, &mut |_| {})
            }
            Scheme::Compliant => compliant::step(&self.model, state, inputs, h, &mut self.work),
            Scheme::Event => event::step(&self.model, state, inputs, h, &mut self.work),
        }
    }

    /// A step of the theta scheme, shown to `watch` part by part.
    pub(crate) fn step_watched(
        &mut self,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        watch: &mut dyn FnMut(Moment<'_>),
    ) -> Result<StepReport, Failed> {
        retry::step(&self.model, state, inputs, h, &mut self.work, watch)
    }
}
