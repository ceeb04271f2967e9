//! Rigid motion with located events: between events the motion with its contact modes is integrated to high order with error control
//! ([`DormandPrince`]), and what follows an event is decided by the contact problem at that instant (trinkle1995) or by an impact.
//!
//! A contact touches where its gap vanishes, opens where its normal force does, begins to slip where its friction reaches the bound, and may stick
//! where its slip vanishes. Touching contacts that approach go through the impact law of the theta scheme, and so do slips for which no finite
//! forces exist (impact without collision).

mod chatter;
mod cluster;
mod crowd;
mod decide;
mod ending;
pub(super) mod field;
mod flat;
mod idle;
mod islands;
mod locate;
mod slow;

use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::integrate::{DormandPrince, Field, next_length};
use crate::model::{Model, Owner};
use crate::space::{Vector, sub};
use crate::state::{ContactId, RowId, State};
use crate::step::detect::detect_share;
use crate::step::{BranchChange, Failed, StepReport, StepScheme, Trust, Workspace};
use complementarity::problem::Element;
use complementarity::residual::Residual;
use crowd::Crowd;
use field::{Asked, Buffers, Closed, Equations, Held, Hold, Mode, POWERS, STOP, Touch};
use std::sync::atomic::Ordering;

/// Margins count as used up below minus this: gaps in the lengths of their contacts, slips in their speeds ([`crate::model::Scales`]), forces in weights of their islands.
const USED_UP: f64 = 1e-13;
/// Margins up to this are used up together with the one that ended the step.
const TOGETHER: f64 = 1e-11;
/// Gaps, and velocities, up to which contacts take part in what an event decides, in the same lengths and speeds.
pub(super) const CLOSED: f64 = 1e-9;
pub(super) const REST: f64 = 1e-9;
/// Gaps that are watched, lengths.
const AHEAD: f64 = 1e-2;
/// Slips faster than this many times [`STOP`] are not stopped in one step, and the share of the time to their end that is gone first.
const FAST: f64 = 200.0;
const NEARER: f64 = 0.9;
/// Time by which a change of features is passed, in the least time of a body.
const SWITCH: f64 = 1e-9;
/// Events at one time before the motion counts as stuck.
const MOST_AT_ONCE: usize = 100;
/// Least step of the integrator, as a share of the scene's.
const LEAST: f64 = 1e-13;

/// `scheme = "event"`, with the memory that its steps use.
#[derive(Debug, Clone, Default)]
pub struct EventScheme {
    closed: Vec<Closed>,
    held: Vec<Held>,
    buffers: Buffers,
    method: DormandPrince,
    near: ContactSet,
    y: Vec<f64>,
    scale: Vec<f64>,
    stage: Vec<f64>,
    rate: Vec<f64>,
    velocity: Vec<f64>,
    kept: State,
}

impl StepScheme for EventScheme {
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
    ) -> Result<StepReport, Failed> {
        self.step_while(model, state, inputs, h, work, None).map(|(report, _)| report)
    }

    fn boxed(&self) -> Box<dyn StepScheme> {
        Box::new(self.clone())
    }
}

impl EventScheme {
    /// One step of length `h`, or up to where the rigid motion is no longer the only one: where [`Closed::slip_margin`] of a contact that slips falls below
    /// `least`, or where what follows an event is not unique or does not exist. Then the state is that of the time reached, and the contact is returned
    /// that says so. On failure the state is as it was.
    pub(super) fn step_while(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
        least: Option<f64>,
    ) -> Result<(StepReport, Option<ContactId>), Failed> {
        work.located.clear();
        work.struck.clear();
        work.branches.clear();
        self.kept.copy_from(state);
        let report = StepReport { solver: "dormand-prince", ..StepReport::default() };
        let mut path = Path { model, inputs, h, work, s: &mut *self, report, at_once: 0, least, left: None };
        let made = path.run(state);
        let (report, left) = (path.report, path.left);
        if made.is_err() {
            state.copy_from(&self.kept);
        }
        made.map(|()| (report, left))
    }
}

/// How a path gets on.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Length of the next step of the integrator, s.
    length: f64,
    /// Largest estimated error of a step, in units of the accuracy.
    worst: f64,
    /// An attempt met a place where closed contacts have other features.
    changes: bool,
    crowd: Crowd,
}

struct Path<'a> {
    model: &'a Model,
    inputs: &'a Inputs,
    h: f64,
    work: &'a mut Workspace,
    s: &'a mut EventScheme,
    report: StepReport,
    /// Changes of features without progress.
    at_once: usize,
    /// Least [`Closed::slip_margin`] up to which the rigid motion is followed; `None`: always.
    least: Option<f64>,
    /// The contact at which it is not followed further.
    left: Option<ContactId>,
}

/// Borrows the equations out of a path.
macro_rules! equations {
    ($path:ident, $asked:expr) => {
        Equations {
            model: $path.model,
            inputs: $path.inputs,
            closed: &mut $path.s.closed,
            held: &mut $path.s.held,
            powers: [0.0; POWERS],
            asked: $asked,
            memory: &mut $path.s.buffers,
        }
    };
}
use equations;

impl Path<'_> {
    fn run(&mut self, state: &mut State) -> Result<(), Failed> {
        let (start, end) = (state.time, state.time + self.h);
        self.report.trust = state.solver.trust;
        let begun = self.begin(state);
        if self.s.closed.is_empty() && self.report.trust == Trust::NotExamined {
            (self.report.trust, state.solver.trust) = (Trust::Unique, Trust::Unique);
        }
        let length = self.h * 0.5f64.powi(state.solver.level as i32);
        let crowd = Crowd::new(self.model.scales().time());
        let mut pace = Pace { length, worst: 0.0, changes: false, crowd };
        if let Err(why) = begun {
            self.step_over(state, end, &mut pace.crowd, why)?;
        }
        self.evaluate(state.time);
        self.watch_margin();
        while end - state.time > LEAST * self.h && self.left.is_none() {
            if self.work.solver.stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed)) {
                return Err(Failed::Interrupted { time: start });
            }
            if let Err(why) = self.go(state, end, &mut pace) {
                self.step_over(state, end, &mut pace.crowd, why)?;
                (pace.length, pace.changes) = (1e-3 * self.h, false);
                self.evaluate(state.time);
                self.watch_margin();
            }
        }
        state.solver.level = (self.h / pace.length).log2().ceil().clamp(0.0, 40.0) as u32;
        let error = pace.worst * self.model.scene().step.accuracy;
        let located = Residual { absolute: error, relative: error, fclib: error };
        if located.relative > self.report.residual.relative {
            self.report.residual = located;
        }
        self.finish(state, start)
    }

    /// Goes on by one step of the integrator, at most to the next event, and decides what follows that.
    fn go(&mut self, state: &mut State, end: f64, pace: &mut Pace) -> Result<(), Failed> {
        pace.crowd.count(state.time, [0.0, 1.0])?;
        let tried = pace.length.min(end - state.time);
        if tried < LEAST * self.h || pace.changes && tried < 1e-2 * self.passing() {
            if self.switch(state)? {
                (pace.length, pace.changes) = (1e-3 * self.h, false);
                return Ok(());
            }
            if tried < LEAST * self.h {
                return Err(Failed::Integration { time: state.time, h: tried });
            }
        }
        self.load(state);
        self.evaluate(state.time);
        for c in &mut self.s.closed {
            c.moves = c.slip() > 10.0 * c.stop();
            c.begins &= !c.moves;
            c.bare &= c.force[0].abs() < 10.0 * TOGETHER * c.unit;
        }
        let slips: Vec<f64> = self.s.closed.iter().map(Closed::slip).collect();
        let Some(error) = self.attempt(state.time, tried) else {
            (pace.length, pace.changes) = (0.25 * tried, true);
            return Ok(());
        };
        pace.length = next_length(tried, error, DormandPrince::ORDER);
        if error > 1.0 {
            return Ok(());
        }
        pace.length = pace.length.min(self.h);
        pace.worst = pace.worst.max(error);
        let event = self.used_up_within(state.time, tried);
        let made = match event.map(|within| (within, self.locate(state.time, within))) {
            None => tried,
            Some((_, Some(made))) => made,
            Some((within, None)) => {
                (pace.length, pace.changes) = (0.25 * within, true);
                return Ok(());
            }
        };
        let ended = event.is_some().then(|| self.cause());
        if self.slip_falls_far(&ended, &slips) {
            // towards its end by steps that fall with it: the direction of what is left of it is known to rounding of the slip with which a step begins
            if self.attempt(state.time, NEARER * made).is_some() {
                return self.accept(state, NEARER * made);
            }
        }
        self.accept(state, made)?;
        let Some((contact, why)) = ended else { return Ok(()) };
        if self.watch_margin() {
            return Ok(());
        }
        if why == BranchChange::Slip {
            self.stop(state);
            self.end_slow_slips(state);
        }
        if state.solver.trust == Trust::MotionNotUnique {
            self.note_branch(state.time, contact, why);
        }
        self.decide(state)?;
        self.evaluate(state.time);
        self.watch_margin();
        pace.crowd.count(state.time, [1.0, 0.0])
    }

    /// Whether an attempt ends where a slip stops that was much faster at its begin.
    fn slip_falls_far(&self, ended: &Option<(Option<ContactId>, BranchChange)>, slips: &[f64]) -> bool {
        let Some((Some(id), BranchChange::Slip)) = ended else { return false };
        let at = self.s.closed.binary_search_by_key(id, |c| c.id);
        // one that has turned across the direction in which it began does not stop
        let stops = |c: &Closed| c.moves && c.slip() < 10.0 * c.stop();
        at.is_ok_and(|k| stops(&self.s.closed[k]) && slips[k] > FAST * self.s.closed[k].stop())
    }

    /// Whether the rigid motion is no longer to be followed, by the last evaluation of the contacts that slip.
    fn watch_margin(&mut self) -> bool {
        if let Some(least) = self.least
            && let Some(c) = self.s.closed.iter().find(|c| c.slip_margin < least + TOGETHER)
        {
            self.left = Some(c.id);
        }
        self.left.is_some()
    }

    /// Modes as the last step left them, or, where they do not hold, as the instant decides.
    fn begin(&mut self, state: &mut State) -> Result<(), Failed> {
        self.s.closed.clear();
        self.find_near(state, CLOSED)?;
        let forces = state.memory.iter().filter_map(|m| m.forces.first()).fold(0.0f64, |m, n| m.max(n.abs()));
        for c in &self.s.near.contacts {
            let known = state.memory.find(RowId::Contact(c.id));
            if let Some(&n) = known.and_then(|m| m.forces.first()) {
                let touch = if n > 0.0 { Touch::Carries } else { Touch::Idle };
                let bare = n < TOGETHER * forces;
                self.s.closed.push(Closed { touch, bare, ..Closed::new(c.id, Mode::Stick) });
            }
        }
        let held_known = self.hold(state);
        self.load(state);
        self.evaluate(state.time);
        for c in &mut self.s.closed {
            let slip = c.slip();
            c.bare &= slip <= REST * c.scale.speed && c.is_bare();
            if slip > REST * c.scale.speed {
                c.mode = Mode::Slip([c.velocity[1] / slip, c.velocity[2] / slip]);
            }
        }
        let holds = self.evaluate(state.time)
            && self.s.closed.iter().all(|c| c.margins.iter().all(|m| *m >= -USED_UP))
            && self.s.held.iter().all(|h| h.margin >= -USED_UP);
        // contacts that touch and are not among the closed ones may have to close
        let known = self.s.closed.len() == self.s.near.contacts.len();
        if holds && known && held_known { Ok(()) } else { self.decide(state) }
    }

    /// Standing rows as the last step left them; false if that is not known of all.
    fn hold(&mut self, state: &State) -> bool {
        self.s.held.clear();
        let mut known = true;
        let Workspace { motion, .. } = &mut *self.work;
        motion.kinematics.go_to(&state.position, &state.velocity);
        let rigid = self.model.standing().iter().enumerate().filter(|(_, row)| row.compliance.is_none());
        for (index, row) in rigid {
            let force = state.memory.find(row.id).and_then(|m| m.forces.first()).copied();
            let gap = row.gap(self.model.scene(), &motion.kinematics, &state.position, &[]);
            let velocity = row.joint.map_or(0.0, |j| row.sign() * state.velocity[j.dof]);
            let scale = row.scale(self.model, &state.position);
            let closed = gap.is_some_and(|gap| gap <= CLOSED * scale.length);
            let hold = match row.element {
                Element::Unilateral if closed && force.is_some_and(|f| f > 0.0) => Hold::Closed,
                Element::Unilateral => Hold::Open,
                Element::Bounded { .. } if velocity.abs() > REST * scale.speed => {
                    Hold::Slip(velocity.signum())
                }
                Element::Bounded { .. } => Hold::Stick,
                _ => Hold::Bilateral,
            };
            known &= force.is_some() && !(closed && hold == Hold::Open);
            self.s.held.push(Held::new(index, hold));
        }
        known
    }

    /// Why the modes do not hold at the end of the last attempt, and which contact that is about.
    fn cause(&self) -> (Option<ContactId>, BranchChange) {
        for c in &self.s.closed {
            let why = match (c.margins.map(|m| m <= TOGETHER), c.mode) {
                ([true, _], _) => BranchChange::Force,
                ([_, true], Mode::Stick) => BranchChange::Friction,
                ([_, true], Mode::Slip(_)) => BranchChange::Slip,
                _ => continue,
            };
            return (Some(c.id), why);
        }
        if self.s.held.iter().any(|h| h.margin <= TOGETHER) {
            return (self.s.closed.first().map(|c| c.id), BranchChange::Joint);
        }
        let is_open = |id: ContactId| self.s.closed.binary_search_by_key(&id, |c| c.id).is_err();
        let near = &self.s.near;
        let length = |c: &Contact| islands::scale_of(self.model, near, c).length;
        let touches = |c: &&Contact| is_open(c.id) && near.elements[c.first].gap <= TOGETHER * length(c);
        (near.contacts.iter().find(touches).map(|c| c.id), BranchChange::Touch)
    }

    /// Time by which a change of features is passed, s.
    fn passing(&self) -> f64 {
        SWITCH * self.model.scales().time()
    }

    /// Finds contacts with gaps up to `margin`, lengths.
    fn find_near(&mut self, state: &State, margin: f64) -> Result<(), Failed> {
        let Workspace { motion, detection, .. } = &mut *self.work;
        motion.kinematics.go_to(&state.position, &state.velocity);
        Ok(detect_share(self.model, motion, margin, detection, &mut self.s.near)?)
    }

    fn load(&mut self, state: &State) {
        let y = &mut self.s.y;
        y.clear();
        y.extend_from_slice(&state.position);
        y.extend_from_slice(&state.velocity);
        y.extend_from_slice(&[0.0; POWERS]);
        let (model, accuracy, nq) = (self.model, self.model.scene().step.accuracy, state.position.len());
        let scale = &mut self.s.scale;
        scale.clear();
        // quaternions and angles by 1
        scale.extend(y.iter().map(|y| accuracy * (1.0 + y.abs())));
        for i in 0..model.scene().bodies.len() {
            let (coordinates, own) =
                (model.system().coordinates(i), model.scales().of(model.scales().body(i)));
            for (k, dof) in model.system().dofs(i).enumerate() {
                let angular = model.scales().dof(dof).0;
                let speed = if angular { 1.0 / own.time } else { own.speed };
                scale[nq + dof] = accuracy * (speed + y[nq + dof].abs());
                if !angular {
                    let at = coordinates.start + k;
                    scale[at] = accuracy * (own.length + y[at].abs());
                }
            }
        }
        let n = y.len();
        // losses and work follow the motion
        self.s.scale[n - POWERS..].fill(f64::INFINITY);
    }

    /// Forces and margins at the present place; false if the modes have none.
    fn evaluate(&mut self, t: f64) -> bool {
        self.ask(t, Asked::Margins)
    }

    fn ask(&mut self, t: f64, asked: Asked) -> bool {
        self.s.rate.resize(self.s.y.len(), 0.0);
        let mut equations = equations!(self, asked);
        equations.rate(t, &self.s.y, &mut self.s.rate);
        self.s.rate.iter().all(|x| x.is_finite())
    }

    fn attempt(&mut self, t: f64, h: f64) -> Option<f64> {
        self.report.iterations += 1;
        let mut equations = equations!(self, Asked::Motion);
        self.s.method.attempt(&mut equations, (t, &self.s.y), h, &self.s.scale)
    }

    /// Moves to the end of the last attempt.
    fn accept(&mut self, state: &mut State, h: f64) -> Result<(), Failed> {
        let (nq, nv) = (state.position.len(), state.velocity.len());
        self.s.y.clear();
        let end = self.s.method.end();
        self.s.y.extend_from_slice(end);
        self.report.friction_loss += end[nq + nv];
        self.report.damping_loss += end[nq + nv + 1];
        self.report.work += end[nq + nv + 2];
        self.report.rounds += 1;
        self.model.system().scale_attitudes(&mut self.s.y[..nq]);
        let time = state.time + h;
        let mut y = std::mem::take(&mut self.s.y);
        let mut equations = equations!(self, Asked::Motion);
        let projected = equations.project(time, &mut y);
        self.s.y = y;
        if projected.is_none() && !(self.s.closed.is_empty() && self.s.held.is_empty()) {
            return Err(Failed::Integration { time: state.time, h });
        }
        state.time = time;
        state.position.copy_from_slice(&self.s.y[..nq]);
        state.velocity.copy_from_slice(&self.s.y[nq..nq + nv]);
        Ok(())
    }

    /// Goes on to where a slip that is about to stop has stopped, by the accelerations of the present place: a few nanoseconds.
    fn stop(&mut self, state: &mut State) {
        self.load(state);
        let stopping = |c: &&Closed| c.touch == Touch::Carries && c.moves && c.slip() < 10.0 * c.stop();
        if !self.evaluate(state.time) {
            return;
        }
        let before: Vec<(ContactId, [f64; 2])> =
            self.s.closed.iter().filter(stopping).map(|c| (c.id, [c.velocity[1], c.velocity[2]])).collect();
        if before.is_empty() {
            return;
        }
        let (rate, start, time) = (self.s.rate.clone(), self.s.y.clone(), self.model.scales().time());
        let go = |path: &mut Self, by: f64| {
            path.s.y.clear();
            path.s.y.extend(start.iter().zip(&rate).map(|(y, rate)| y + by * rate));
        };
        let trial = STOP * time;
        go(self, trial);
        self.evaluate(state.time + trial);
        // contacts that stop together differ by rounding: their mean stops
        let (mut slowing, mut squares) = (0.0, 0.0);
        for (id, v) in &before {
            let Some(c) = self.s.closed.iter().find(|c| c.id == *id) else { continue };
            for (v, after) in v.iter().zip(&c.velocity[1..]) {
                let change = (after - v) / trial;
                (slowing, squares) = (slowing - v * change, squares + v * v);
            }
        }
        let by = squares / slowing;
        let longest = self.s.closed.iter().fold(time, |m, c| m.max(c.scale.time));
        if (0.0..100.0 * STOP * longest).contains(&by) {
            go(self, by);
            let (nq, nv) = (state.position.len(), state.velocity.len());
            self.model.system().scale_attitudes(&mut self.s.y[..nq]);
            state.position.copy_from_slice(&self.s.y[..nq]);
            state.velocity.copy_from_slice(&self.s.y[nq..nq + nv]);
            state.time += by;
        }
    }

    /// Takes what is left of slips that end out of a state.
    fn end_slow_slips(&mut self, state: &mut State) {
        let modes: Vec<Mode> = self.s.closed.iter().map(|c| c.mode).collect();
        let mut any = false;
        for c in self.s.closed.iter_mut().filter(|c| c.ends) {
            (c.mode, any) = (Mode::Stick, true);
        }
        if any {
            self.project(state);
        }
        self.s.closed.iter_mut().zip(modes).for_each(|(c, mode)| (c.mode, c.ends) = (mode, false));
    }

    /// Goes on where a closed contact is about to have other features (the rim of a disc that comes to lie flat): past that place by the motion of
    /// [`SWITCH`], where what touches is looked for afresh. False if its contacts remain.
    fn switch(&mut self, state: &mut State) -> Result<bool, Failed> {
        self.at_once += 1;
        if self.at_once > MOST_AT_ONCE {
            return Ok(false);
        }
        let (old, passing) = (state.position.clone(), self.passing());
        self.load(state);
        // rounding may decide which features there are at the very place
        let on_edge = !self.evaluate(state.time);
        self.model.system().advance(&old, &state.velocity, passing, &mut state.position);
        self.find_near(state, AHEAD)?;
        let found = |c: &Closed| self.s.near.contacts.binary_search_by_key(&c.id, |n| n.id).is_ok();
        if !on_edge && self.s.closed.iter().all(found) {
            state.position.copy_from_slice(&old);
            return Ok(false);
        }
        state.time += passing;
        self.decide(state)?;
        Ok(true)
    }

    /// Moves a state to where these contacts touch and do not separate, and those that stick do not slip.
    fn project_on(&mut self, state: &mut State, closed: Vec<Closed>) {
        let own = std::mem::replace(&mut self.s.closed, closed);
        self.project(state);
        self.s.closed = own;
    }

    /// Moves a state to where the modes hold.
    fn project(&mut self, state: &mut State) {
        self.load(state);
        let mut y = std::mem::take(&mut self.s.y);
        let _ = equations!(self, Asked::Motion).project(state.time, &mut y);
        let (nq, nv) = (state.position.len(), state.velocity.len());
        state.position.copy_from_slice(&y[..nq]);
        state.velocity.copy_from_slice(&y[nq..nq + nv]);
        self.s.y = y;
    }
}

/// Relative velocity of the two parts of a contact along n, t, o, m/s.
fn near_velocity(kinematics: &Kinematics, near: &ContactSet, c: &Contact) -> Vector {
    let velocity = |owner: Owner| match owner {
        Owner::Body(i) => kinematics.point_velocity(i, near.elements[c.first].point),
        Owner::World(_) => [0.0; 3],
    };
    c.frame.components(sub(velocity(c.owners[1]), velocity(c.owners[0])))
}
