//! The driver: steps a model from a state to a time, and shows every step to observers.
//!
//! [`run`] is all that a program, a notebook or a viewer needs: recorders ([`crate::record::Recorder`]), a [`Summary`], a
//! [`Progress`] display are [`Observer`]s. Once memory has grown the driver allocates nothing per step.

mod balance;
mod events;
mod judge;
mod motions;
mod stepwise;
mod strikes;
mod summary;
#[cfg(test)]
mod tests;
pub mod timeline;

pub(crate) use balance::FIRST_ENTRIES;
pub use balance::{Account, Balance, ENTRIES, Entry, UNIT};
pub use events::{Event, EventKind};
pub use judge::EnergyWarning;
pub use motions::{MotionWarning, TwoMotions};
pub use stepwise::Stepwise;
pub use summary::Summary;

use crate::analysis::joints::{self, JointReport, joints};
use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::model::{Model, Resolved};
use crate::scene::{Scheme, StepSettings};
use crate::state::State;
use crate::step::{ElementReport, Energy, Failed, StepReport, Workspace};
use crate::stepper::Stepper;
use complementarity::problem::FrictionProblem;
use events::Watch;
use std::any::Any;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use strikes::Made;

/// Least time between two calls of a [`Progress`].
const FRAME: Duration = Duration::from_millis(100);
/// Most steps without a look at the clock.
const UNSEEN: usize = 64;
/// Share of a step by which records may be early, for times are rounded numbers.
const EARLY: f64 = 1e-3;

/// Why an observer ends a run.
pub type Fault = Box<dyn Error + Send + Sync>;

/// Watches a run. Observers are called one after the other, in the order given, and change nothing but the inputs of the next
/// step; a copy of the view's state is a snapshot to go on from. An error ends the run at once.
pub trait Observer {
    /// Called once, before the first step.
    fn start(&mut self, _: &mut View<'_>) -> Result<(), Fault> {
        Ok(())
    }

    /// Called before every step: adds efforts and forces to it. The inputs are empty when the first observer gets them.
    fn inputs(&mut self, _: &mut View<'_>, _: &mut Inputs) -> Result<(), Fault> {
        Ok(())
    }

    /// Called after every step.
    fn step(&mut self, _: &mut View<'_>) -> Result<(), Fault> {
        Ok(())
    }

    /// Called if a step fails. The state is the last good one; elements and contact problem are those of the failed attempt.
    fn failed(&mut self, _: &mut View<'_>, _: &Failed) -> Result<(), Fault> {
        Ok(())
    }

    /// Called once at the end, however the run ended.
    fn finish(&mut self, _: &mut View<'_>) -> Result<(), Fault> {
        Ok(())
    }
}

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Until {
    /// At the scene's duration.
    #[default]
    Duration,
    /// At this time, s; the last step may go beyond it by less than its length.
    Time(f64),
    /// After so many steps.
    Steps(usize),
}

impl Until {
    /// The number of steps from a state on.
    pub fn steps(self, scene: &Resolved, state: &State) -> usize {
        let end = match self {
            Self::Duration => scene.step.duration,
            Self::Time(time) => time,
            Self::Steps(steps) => return steps,
        };
        let rest = StepSettings { duration: end - state.time, ..scene.step.clone() };
        // half a step before the end is the end, unless that is all there is
        if rest.duration < 0.5 * rest.h.min(end) { 0 } else { rest.count() }
    }
}

/// How a run is made.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// When it ends.
    pub until: Until,
    /// Once this is true the run ends after the current step.
    pub stop: Arc<AtomicBool>,
    /// Whether steps that are cut keep a copy of the contact problem that was not solved ([`View::unsolved`]).
    pub keep_unsolved: bool,
    /// Whether no step is examined for [`StepReport::trust`].
    pub unexamined: bool,
}

/// How a run ended.
#[must_use]
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// All steps were made.
    Finished,
    /// [`Options::stop`] became true before that.
    Interrupted,
    /// A step failed; the state is the one before it.
    Failed(Failed),
}

/// What observers see of a run.
#[derive(Debug)]
pub struct View<'a> {
    /// The state reached.
    pub state: &'a State,
    /// What the last step did; nothing before the first.
    pub report: &'a StepReport,
    /// What changed in it, in order of contacts and elements.
    pub events: &'a [Event],
    /// Whether it reached the next multiple of the scene's interval between records.
    pub is_record: bool,
    /// Steps made.
    pub made: usize,
    /// Steps requested.
    pub asked: usize,
    stepper: &'a Stepper,
    here: &'a mut Here,
}

impl View<'_> {
    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        self.stepper.model()
    }

    /// The scene.
    pub fn scene(&self) -> &Resolved {
        self.stepper.scene()
    }

    /// Whether contacts are rigid or compliant by `law = "auto"`.
    pub fn chooses_model(&self) -> bool {
        self.model().contacts().is_auto() && self.scene().step.scheme != Scheme::Compliant
    }

    /// The values of the last step, from the motion when it began to its forces.
    pub fn workspace(&self) -> &Workspace {
        self.stepper.workspace()
    }

    /// Elements of the last step, in order of their contacts' ids.
    pub fn elements(&self) -> &[ElementReport] {
        self.stepper.elements()
    }

    /// The first contact problem of the last step that was not solved: see [`Stepper::unsolved`].
    pub fn unsolved(&self) -> Option<&FrictionProblem> {
        self.stepper.unsolved()
    }

    /// Poses and velocities at the state; computed once for all observers and the next step.
    pub fn kinematics(&mut self) -> &Kinematics {
        if !self.here.placed {
            self.here.kinematics.go_to(&self.state.position, &self.state.velocity);
            self.here.placed = true;
        }
        &self.here.kinematics
    }

    /// Joints after the last step; nothing before the first.
    pub fn joints(&mut self, scratch: &mut joints::Scratch, out: &mut Vec<JointReport>) {
        self.kinematics();
        joints(
            self.stepper.model(),
            self.stepper.workspace(),
            self.state,
            &self.here.kinematics,
            scratch,
            out,
        );
    }

    /// Energies at the state, and losses and work since the run began, in the order of [`ENTRIES`], J. Computed once for all observers.
    pub fn balance(&mut self) -> Balance {
        if !self.here.balanced {
            self.kinematics();
            let energy = Energy::at(self.stepper.model(), self.state, &mut self.here.kinematics);
            balance::store(&energy, &mut self.here.balance);
            self.here.balanced = true;
        }
        self.here.balance
    }
}

/// What is known at the state reached.
#[derive(Debug)]
struct Here {
    kinematics: Kinematics,
    placed: bool,
    /// Losses and work are always those at the state, energies once it is balanced.
    balance: Balance,
    balanced: bool,
}

/// A run between two steps.
struct Driver {
    stepper: Stepper,
    here: Here,
    report: StepReport,
    watch: Watch,
    /// Of the next step.
    inputs: Inputs,
    made: usize,
    asked: usize,
    unexamined: bool,
    /// The state in which the step began.
    before: State,
    /// From when on the next record is due, s.
    due: f64,
    is_record: bool,
}

impl Driver {
    fn new(model: &Arc<Model>, state: &State, options: &Options) -> Self {
        let mut stepper = Stepper::of(model.clone());
        stepper.set_keep_unsolved(options.keep_unsolved);
        stepper.set_stop(Some(options.stop.clone()));
        let kinematics = Kinematics::new(model.system());
        let mut driver = Self {
            stepper,
            here: Here { kinematics, placed: false, balance: [0.0; ENTRIES.len()], balanced: false },
            report: StepReport::default(),
            watch: Watch::default(),
            inputs: Inputs::default(),
            made: 0,
            asked: options.until.steps(model.scene(), state),
            unexamined: options.unexamined,
            before: State::default(),
            due: 0.0,
            is_record: true,
        };
        driver.set_due(state.time);
        driver
    }

    /// The next record is at the first multiple of the interval after `time`.
    fn set_due(&mut self, time: f64) {
        let scene = self.stepper.scene();
        let (interval, early) = (scene.record.interval, EARLY * scene.step.h);
        self.due = (((time + early) / interval).floor() + 1.0) * interval - early;
    }

    /// A step. A panic in it is a failure like others: the state is as it was, and what was recorded is kept.
    fn step(&mut self, state: &mut State) -> Result<(), Failed> {
        let made = catch_unwind(AssertUnwindSafe(|| {
            self.step_by(state, |stepper, state, inputs, h| stepper.step_by(state, inputs, h))
        }));
        made.unwrap_or_else(|panic| {
            std::mem::swap(state, &mut self.before);
            self.stepper.renew();
            self.here.kinematics = Kinematics::new(self.stepper.model().system());
            (self.here.placed, self.here.balanced) = (false, false);
            Err(Failed::Internal { time: state.time, message: panic_message(&*panic) })
        })
    }

    /// A step that `make` makes.
    #[inline]
    fn step_by<E>(
        &mut self,
        state: &mut State,
        make: impl FnOnce(&mut Stepper, &mut State, &Inputs, f64) -> Result<StepReport, E>,
    ) -> Result<(), E> {
        if std::mem::take(&mut self.here.placed) {
            // the step begins where the kinematics are already
            std::mem::swap(&mut self.stepper.workspace_mut().motion.kinematics, &mut self.here.kinematics);
        }
        self.here.balanced = false;
        self.before.copy_from(state);
        let h = self.stepper.scene().step.h;
        let made = make(&mut self.stepper, state, &self.inputs, h);
        self.watch.forget_events();
        self.report = made?;
        if !self.unexamined {
            self.stepper.examine(state, &mut self.report);
        }
        self.made += 1;
        balance::add(&self.report, &mut self.here.balance);
        if matches!(self.stepper.scene().step.scheme, Scheme::Compliant | Scheme::Event) {
            let work = self.stepper.workspace();
            self.watch.take(self.stepper.model(), &work.located, &work.struck, &work.branches);
        } else if self.report.parts > 0 || self.watch.is_closed() {
            let (model, h) = (self.stepper.model(), self.stepper.workspace().problem.h);
            let (states, kinematics) = ([&self.before, &*state], &mut self.here.kinematics);
            let made = Made { model, states, h, kinematics };
            self.watch.step(Some(made), (state.time, h), self.stepper.elements());
        }
        self.watch.take_changes(self.stepper.model(), &self.stepper.workspace().changes);
        self.is_record = state.time >= self.due;
        if self.is_record {
            self.set_due(state.time);
        }
        Ok(())
    }

    /// Asks the observers for the inputs of the next step.
    fn ask(&mut self, state: &State, observers: &mut [&mut dyn Observer]) -> Result<(), Fault> {
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.clear();
        let asked = self.show(state, observers, |o, view| o.inputs(view, &mut inputs));
        self.inputs = inputs;
        asked
    }

    fn show(
        &mut self,
        state: &State,
        observers: &mut [&mut dyn Observer],
        mut hook: impl FnMut(&mut dyn Observer, &mut View<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Self { stepper, here, report, watch, made, asked, is_record, .. } = self;
        let (events, made, asked, is_record) = (watch.events(), *made, *asked, *is_record);
        let mut view = View { state, report, events, is_record, made, asked, stepper, here };
        observers.iter_mut().try_for_each(|o| hook(&mut **o, &mut view))
    }
}

/// What a panic said.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}

/// Steps a model from a state until the end of [`Options`]. On return the state is the last one reached; an error is that of an observer.
pub fn run(
    model: &Arc<Model>,
    state: &mut State,
    options: &Options,
    observers: &mut [&mut dyn Observer],
) -> Result<Ended, Fault> {
    let mut driver = Driver::new(model, state, options);
    let mut ended = Ended::Finished;
    driver.show(state, observers, |o, view| o.start(view))?;
    while driver.made < driver.asked {
        driver.ask(state, observers)?;
        if let Err(why) = driver.step(state) {
            if let Failed::Interrupted { .. } = why {
                ended = Ended::Interrupted;
                break;
            }
            driver.show(state, observers, |o, view| o.failed(view, &why))?;
            ended = Ended::Failed(why);
            break;
        }
        driver.show(state, observers, |o, view| o.step(view))?;
        if options.stop.load(Ordering::Relaxed) && driver.made < driver.asked {
            ended = Ended::Interrupted;
            break;
        }
    }
    driver.show(state, observers, |o, view| o.finish(view))?;
    Ok(ended)
}

/// Calls a function at most every 100 ms of wall-clock time.
#[derive(Debug)]
pub struct Progress<F> {
    show: F,
    /// When the clock was last read, and when the function was last called.
    seen: Instant,
    shown: Instant,
    /// The step at which the clock is read next, more seldom where steps are fast.
    look: usize,
    stride: usize,
}

impl<F: FnMut(&View<'_>)> Progress<F> {
    /// Calls `show`.
    pub fn new(show: F) -> Self {
        let now = Instant::now();
        Self { show, seen: now, shown: now, look: 0, stride: 1 }
    }
}

impl<F: FnMut(&View<'_>)> Observer for Progress<F> {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        if view.made >= self.look {
            let now = Instant::now();
            self.stride = if now - self.seen < FRAME / 10 { UNSEEN.min(2 * self.stride) } else { 1 };
            (self.seen, self.look) = (now, view.made + self.stride);
            if now - self.shown > FRAME {
                self.shown = now;
                (self.show)(view);
            }
        }
        Ok(())
    }
}
