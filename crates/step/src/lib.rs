//! One step of time: `Model`, `State`, `Inputs` -> place -> detect -> assemble -> solve -> advance -> `State`, `StepReport`.
//!
//! It knows no differential equations, no runs and no files. Start reading in [`theta`], then [`StepScheme`].
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

use stiction_contact as contact;
use stiction_dynamics as dynamics;
use stiction_geometry::{self as geometry, space};
use stiction_model::{self as model, formulation, inputs, motion, state};
use stiction_scene as scene;

mod advance;
mod approach;
pub(crate) mod books;
pub mod carrier;
mod carry;
pub mod detect;
mod flush;
pub mod impact;
mod implicit;
pub mod jam;
mod overlap;
mod project;
pub mod report;
mod rest;
pub(crate) mod retry;
mod settle;
pub mod soft_row;
mod solve;
pub mod theta;
mod travel;
pub mod trust;

pub use crate::model::InvalidModel;
pub use crate::motion::{Eliminated, Motion, NotPlaced, Servos, Surfaces, place};
pub use crate::state::Trust;
pub use advance::{Scratch, Solved, advance};
pub use books::{Books, Made};
pub use detect::{Detection, Undetected, detect};
pub use overlap::{Overlap, overlaps};
pub use project::Projection;
pub use report::{
    BranchChange, Branched, ElementReport, Energy, Failed, Located, ModelChange, StandingReport, Status,
    StepReport, Struck, StruckKind, elements, standing,
};
pub use solve::{ContactSolver, Forces};

use crate::contact::set::ContactSet;
use crate::formulation::{ContactProblem, Laws};
use crate::inputs::Inputs;
use crate::model::Model;
use crate::state::{RowId, State};

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
    /// Rows of islands whose motion was not unique when a step was last examined (`Stepper::examine`).
    pub other_motion: Vec<RowId>,
    /// Changes of contacts in the last step, in order of time, if the scheme locates them.
    pub located: Vec<Located>,
    /// Impacts in the last step of a scheme that locates events.
    pub struck: Vec<Struck>,
    /// Changes between rigid and compliant contacts in the last step (`law = "auto"`), in order of time.
    pub changes: Vec<ModelChange>,
    /// Where the last step began or ceased to follow one of several motions, in order of time.
    pub branches: Vec<Branched>,
    /// Energy that contacts and standing rows made in the last step.
    pub books: Books,
    /// Compliant laws at the length of the step.
    pub laws: Laws,
    /// Memory of the search for contacts.
    pub detection: Detection,
    /// Memory of the solver, with its budget and the flag that stops it.
    pub solver: ContactSolver,
    pub(crate) advancing: Scratch,
    settling: settle::Scratch,
    /// Memory of impacts with restitution.
    pub impacts: impact::Impacts,
    /// Memory of attempts, and whether unsolved problems are kept.
    pub retry: retry::Memory,
    implicit: implicit::Scratch,
    approach: approach::Approach,
    carry: carry::Scratch,
    /// Whether a step at whose end bodies have turned into each other is tried again in halves.
    may_cut: bool,
    rest: rest::Rest,
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
            struck: vec![],
            changes: vec![],
            branches: vec![],
            books: Books::default(),
            laws: Laws::default(),
            detection: Detection::default(),
            solver: ContactSolver::new(model),
            advancing: Scratch::default(),
            settling: settle::Scratch::default(),
            impacts: impact::Impacts::default(),
            retry: retry::Memory::default(),
            implicit: implicit::Scratch::default(),
            approach: approach::Approach::default(),
            carry: carry::Scratch::default(),
            may_cut: false,
            rest: rest::Rest::default(),
        }
    }
}

impl Workspace {
    /// Compliant laws at the length of the last step.
    pub fn laws(&self) -> &Laws {
        &self.laws
    }

    /// Whether velocities after the last step are those after impacts with restitution.
    pub fn bounced(&self) -> bool {
        !self.advancing.bounced.is_empty()
    }

    /// The projection of the last step's positions; without rows there was none.
    pub fn projection(&self) -> &Projection {
        &self.advancing.projection
    }

    /// Configuration at the end of the last step.
    pub fn end_position(&self) -> &[f64] {
        self.advancing.position()
    }

    /// The drift of the last step.
    pub fn drift(&self) -> Option<&dynamics::Drift> {
        self.advancing.drift.as_ref()
    }

    /// Parts of the last drift of a tree.
    pub fn drift_parts(&self, tree: usize) -> usize {
        self.advancing.drift.as_ref().map_or(1, |drift| drift.parts(tree))
    }
}

/// A moment of a step that is watched: a step that is cut has several parts.
pub enum Moment<'a> {
    /// A part begins at this state.
    Before(&'a State),
    /// It was made, with these values.
    After(&'a Workspace),
}

/// A scheme: how a state gets from the beginning of a step to its end. It holds what it remembers between steps only to use memory again.
pub trait StepScheme: std::fmt::Debug + Send + Sync {
    /// One step of length `h`. On failure the state is as it was.
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
    ) -> Result<StepReport, Failed>;

    /// A copy.
    fn boxed(&self) -> Box<dyn StepScheme>;
}

/// The schemes that solve one contact problem for a whole step: the theta rule, and the implicit scheme.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeStepping;

impl StepScheme for TimeStepping {
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
    ) -> Result<StepReport, Failed> {
        retry::step(model, state, inputs, h, work, &mut |_| {})
    }

    fn boxed(&self) -> Box<dyn StepScheme> {
        Box::new(*self)
    }
}

/// A step of [`TimeStepping`], shown to `watch` part by part.
pub fn step_watched(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    h: f64,
    work: &mut Workspace,
    watch: &mut dyn FnMut(Moment<'_>),
) -> Result<StepReport, Failed> {
    work.books.begin();
    retry::step(model, state, inputs, h, work, watch)
}
