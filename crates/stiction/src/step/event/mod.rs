//! Rigid motion with located events: between events the motion with its contact modes is integrated to high order with error control
//! ([`DormandPrince`]), and what follows an event is decided by the contact problem at that instant (trinkle1995) or by an impact.
//!
//! A contact touches where its gap vanishes, opens where its normal force does, begins to slip where its friction reaches the bound, and may stick
//! where its slip vanishes. Touching contacts that approach go through the impact law of the theta scheme, and so do slips for which no finite
//! forces exist (impact without collision).

pub(super) mod field;

use super::impact::bounce;
use super::{ElementReport, Failed, Located, Status, StepReport, Trust, Workspace};
use super::{detect, place};
use crate::analysis::accelerate::{
    Answer, Given, NotAccelerated, Possible, Question, Transition, accelerate,
};
use crate::analysis::instant::InvalidInstant;
use crate::contact::set::ContactSet;
use crate::formulation::assemble;
use crate::inputs::Inputs;
use crate::integrate::{DormandPrince, Field, next_length};
use crate::model::Model;
use crate::space::length;
use crate::state::{ContactId, RowId, State, next_time};
use complementarity::report::Status as Decision;
use complementarity::residual::Residual;
use field::{Buffers, Closed, Equations, Mode};
use std::sync::atomic::Ordering;

/// Margins count as used up below minus this: gaps in metres, slips in metres per second, forces in units of weight.
const USED_UP: f64 = 1e-12;
/// Margins up to this are used up together with the one that ended the step.
const TOGETHER: f64 = 1e-11;
/// Forces differ by more than this share of the weight.
const DIFFERS: f64 = 1e-6;
/// Bracket of an event, s.
const LOCATED: f64 = 1e-15;
/// Evaluations after which the location of an event is as good as it gets.
const LOOKS: usize = 80;
/// Gaps, and velocities, up to which contacts take part in what an event decides, m and m/s.
pub(super) const CLOSED: f64 = 1e-9;
pub(super) const REST: f64 = 1e-9;
/// Gaps that are watched, m.
const AHEAD: f64 = 1e-2;
/// Length of the step whose contact problem is an impact, s.
const INSTANT: f64 = 1e-12;
/// Events at one time before the motion counts as stuck.
const MOST_AT_ONCE: usize = 100;
/// Least step of the integrator, as a share of the scene's.
const LEAST: f64 = 1e-13;
/// Contacts up to which all solutions at an event are sought.
const ALL: usize = 6;

/// Memory of [`step`].
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    closed: Vec<Closed>,
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

/// One step of length `h`. On failure the state is as it was.
pub(super) fn step(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    h: f64,
    work: &mut Workspace,
) -> Result<StepReport, Failed> {
    step_while(model, state, inputs, h, work, None).map(|(report, _)| report)
}

/// One step of length `h`, or up to where the rigid motion is no longer the only one: where [`Closed::slip_margin`] of a contact that slips falls below
/// `least`, or where what follows an event is not unique or does not exist. Then the state is that of the time reached, and the contact is returned
/// that says so. On failure the state is as it was.
pub(super) fn step_while(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    h: f64,
    work: &mut Workspace,
    least: Option<f64>,
) -> Result<(StepReport, Option<ContactId>), Failed> {
    let mut scratch = std::mem::take(&mut work.event);
    work.located.clear();
    scratch.kept.copy_from(state);
    let report = StepReport { solver: "dormand-prince", ..StepReport::default() };
    let mut path = Path { model, inputs, h, work, s: &mut scratch, report, at_once: 0, least, left: None };
    let made = path.run(state);
    let (report, left) = (path.report, path.left);
    if made.is_err() {
        state.copy_from(&scratch.kept);
    }
    work.event = scratch;
    made.map(|()| (report, left))
}

struct Path<'a> {
    model: &'a Model,
    inputs: &'a Inputs,
    h: f64,
    work: &'a mut Workspace,
    s: &'a mut Scratch,
    report: StepReport,
    /// Events at the present time.
    at_once: usize,
    /// Least [`Closed::slip_margin`] up to which the rigid motion is followed; `None`: always.
    least: Option<f64>,
    /// The contact at which it is not followed further.
    left: Option<ContactId>,
}

/// Borrows the equations out of a path.
macro_rules! equations {
    ($path:ident) => {
        Equations {
            model: $path.model,
            inputs: $path.inputs,
            closed: &mut $path.s.closed,
            unit: unit($path.model),
            powers: [0.0; 2],
            memory: &mut $path.s.buffers,
        }
    };
}

/// Weight of all bodies, or their mass times 1 m/s^2, N.
pub(super) fn unit(model: &Model) -> f64 {
    let gravity = length(model.scene().gravity);
    let mass: f64 = model.scene().bodies.iter().map(|b| b.link.inertia.mass).sum();
    mass * if gravity > 0.0 { gravity } else { 1.0 }
}

impl Path<'_> {
    fn run(&mut self, state: &mut State) -> Result<(), Failed> {
        let (start, end) = (state.time, state.time + self.h);
        self.report.trust = state.solver.trust;
        self.begin(state)?;
        let mut length = self.h * 0.5f64.powi(state.solver.level as i32);
        let mut worst = 0.0f64;
        self.evaluate(state.time);
        self.watch_margin();
        while end - state.time > LEAST * self.h && self.left.is_none() {
            if self.work.solver.stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed)) {
                return Err(Failed::Interrupted { time: start });
            }
            let tried = length.min(end - state.time);
            if tried < LEAST * self.h {
                return Err(Failed::Integration { time: state.time, h: tried });
            }
            self.load(state);
            let Some(error) = self.attempt(state.time, tried) else {
                length = 0.25 * tried;
                continue;
            };
            if error > 1.0 {
                length = next_length(tried, error, DormandPrince::ORDER);
                continue;
            }
            length = next_length(tried, error, DormandPrince::ORDER).min(self.h);
            worst = worst.max(error);
            let event = self.used_up_within(state.time, tried);
            let made = match event {
                None => tried,
                Some(within) => self
                    .locate(state.time, within)
                    .ok_or(Failed::Integration { time: state.time, h: tried })?,
            };
            self.at_once = if made > 1e-10 * self.h { 0 } else { self.at_once + 1 };
            if self.at_once > MOST_AT_ONCE {
                return Err(Failed::Integration { time: state.time, h: made });
            }
            self.accept(state, made)?;
            if event.is_some() && !self.watch_margin() {
                self.decide(state)?;
                self.evaluate(state.time);
                self.watch_margin();
            }
        }
        state.solver.level = (self.h / length).log2().ceil().clamp(0.0, 40.0) as u32;
        let error = worst * self.model.scene().step.accuracy;
        self.report.residual = Residual { absolute: error, relative: error, fclib: error };
        self.finish(state, start)
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
        for c in &self.s.near.contacts {
            let known = state.memory.find(RowId::Contact(c.id));
            if known.is_some_and(|m| m.forces.first().is_some_and(|n| *n > 0.0)) {
                self.s.closed.push(Closed::new(c.id, Mode::Stick));
            }
        }
        self.load(state);
        self.evaluate(state.time);
        for c in &mut self.s.closed {
            let slip = c.velocity[1].hypot(c.velocity[2]);
            if slip > REST {
                c.mode = Mode::Slip([c.velocity[1] / slip, c.velocity[2] / slip]);
            }
        }
        let holds = self.evaluate(state.time)
            && self.s.closed.iter().all(|c| c.margins.iter().all(|m| *m >= -USED_UP));
        // contacts that touch and are not among the closed ones may have to close
        let known = self.s.closed.len() == self.s.near.contacts.len();
        if holds && known { Ok(()) } else { self.decide(state) }
    }

    /// Finds contacts with gaps up to `margin`.
    fn find_near(&mut self, state: &State, margin: f64) -> Result<(), Failed> {
        let Workspace { motion, detection, .. } = &mut *self.work;
        motion.kinematics.go_to(&state.position, &state.velocity);
        detect(self.model, motion, margin, detection, &mut self.s.near);
        Ok(())
    }

    fn load(&mut self, state: &State) {
        let y = &mut self.s.y;
        y.clear();
        y.extend_from_slice(&state.position);
        y.extend_from_slice(&state.velocity);
        y.extend_from_slice(&[0.0; 2]);
        let accuracy = self.model.scene().step.accuracy;
        self.s.scale.clear();
        self.s.scale.extend(y.iter().map(|y| accuracy * (1.0 + y.abs())));
        let n = y.len();
        // losses and work follow the motion
        self.s.scale[n - 2..].fill(f64::INFINITY);
    }

    /// Forces and margins at the present place; false if the modes have none.
    fn evaluate(&mut self, t: f64) -> bool {
        self.s.rate.resize(self.s.y.len(), 0.0);
        let mut equations = equations!(self);
        equations.rate(t, &self.s.y, &mut self.s.rate);
        self.s.rate.iter().all(|x| x.is_finite())
    }

    fn attempt(&mut self, t: f64, h: f64) -> Option<f64> {
        self.report.iterations += 1;
        let mut equations = equations!(self);
        self.s.method.attempt(&mut equations, (t, &self.s.y), h, &self.s.scale)
    }

    /// The least margin at a place, that of open contacts included.
    fn least(&mut self, t: f64, y: &[f64]) -> f64 {
        let mut equations = equations!(self);
        let (nq, nv) = equations.sizes();
        self.s.rate.resize(y.len(), 0.0);
        equations.rate(t, y, &mut self.s.rate);
        if !self.s.rate.iter().all(|x| x.is_finite()) {
            return -1.0;
        }
        let mut closed = self.s.closed.iter().flat_map(|c| c.margins).fold(f64::INFINITY, f64::min);
        if let Some(least) = self.least {
            closed = self.s.closed.iter().map(|c| c.slip_margin - least).fold(closed, f64::min);
        }
        let Workspace { motion, detection, .. } = &mut *self.work;
        motion.kinematics.go_to(&y[..nq], &y[nq..nq + nv]);
        detect(self.model, motion, AHEAD, detection, &mut self.s.near);
        let is_open = |id: ContactId| self.s.closed.binary_search_by_key(&id, |c| c.id).is_err();
        let open = self.s.near.contacts.iter().filter(|c| is_open(c.id));
        open.map(|c| self.s.near.elements[c.first].gap).fold(closed, f64::min)
    }

    /// The first place of the last attempt at which a mode does not hold, as a time after its begin.
    fn used_up_within(&mut self, t: f64, h: f64) -> Option<f64> {
        for x in [0.25, 0.5, 0.75, 1.0] {
            let mut stage = std::mem::take(&mut self.s.stage);
            self.s.method.between(x, h, &mut stage);
            let least = self.least(t + x * h, &stage);
            self.s.stage = stage;
            if least < -USED_UP {
                return Some(x * h);
            }
        }
        None
    }

    /// Length of the step at whose end the first margin is used up, and the attempt of that length.
    fn locate(&mut self, t: f64, within: f64) -> Option<f64> {
        let value_at = |path: &mut Self, at: f64| {
            path.attempt(t, at)?;
            let mut stage = std::mem::take(&mut path.s.stage);
            stage.clear();
            stage.extend_from_slice(path.s.method.end());
            let value = path.least(t + at, &stage) + 0.5 * USED_UP;
            path.s.stage = stage;
            Some(value)
        };
        let (mut low, mut high) = ((0.0, USED_UP), (within, value_at(self, within)?));
        // the polynomial was too low: nothing happens
        if high.1 > 0.0 {
            return Some(within);
        }
        for look in 0..LOOKS {
            if high.0 - low.0 <= LOCATED || high.1 > -0.1 * USED_UP {
                break;
            }
            let secant = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let inside = secant > low.0 && secant < high.0;
            let at = if inside && look % 3 != 2 { secant } else { 0.5 * (low.0 + high.0) };
            let value = value_at(self, at)?;
            if value <= 0.0 {
                high = (at, value);
                low.1 *= 0.5;
            } else {
                low = (at, value);
                high.1 *= 0.5;
            }
        }
        value_at(self, high.0)?;
        Some(high.0)
    }

    /// Moves to the end of the last attempt.
    fn accept(&mut self, state: &mut State, h: f64) -> Result<(), Failed> {
        let (nq, nv) = (state.position.len(), state.velocity.len());
        self.s.y.clear();
        let end = self.s.method.end();
        self.s.y.extend_from_slice(end);
        self.report.friction_loss += end[nq + nv];
        self.report.work += end[nq + nv + 1];
        self.report.rounds += 1;
        self.model.system().scale_attitudes(&mut self.s.y[..nq]);
        let time = state.time + h;
        let mut y = std::mem::take(&mut self.s.y);
        let mut equations = equations!(self);
        let projected = equations.project(time, &mut y);
        self.s.y = y;
        if projected.is_none() && !self.s.closed.is_empty() {
            return Err(Failed::Integration { time: state.time, h });
        }
        state.time = time;
        state.position.copy_from_slice(&self.s.y[..nq]);
        state.velocity.copy_from_slice(&self.s.y[nq..nq + nv]);
        Ok(())
    }

    /// What follows at a state: impacts, then the modes by the contact problem at the instant.
    fn decide(&mut self, state: &mut State) -> Result<(), Failed> {
        let mut without_collision = false;
        for _ in 0..MOST_AT_ONCE {
            let given =
                Given { inputs: self.inputs.clone(), gap: CLOSED, velocity: REST, ..Given::default() };
            self.find_near(state, CLOSED)?;
            let all = self.s.near.contacts.len() <= ALL;
            let question = Question { given, all, conditions: false, tolerance: 1e-9, ..Question::default() };
            let answer = match accelerate(self.model, state, &question) {
                Ok(answer) => answer,
                Err(NotAccelerated::Instant(InvalidInstant::Approaching { .. })) => {
                    self.impact(state)?;
                    continue;
                }
                Err(_) => return Err(Failed::Integration { time: state.time, h: 0.0 }),
            };
            let trust = answer.trust();
            if self.least.is_some() && matches!(trust, Trust::MotionNotUnique | Trust::NoRigidSolution) {
                // contacts that do not slip cannot be the cause alone, but may be all there are
                let first = answer.contacts.iter().find(|c| c.slips).or(answer.contacts.first());
                self.left = first.map(|c| c.id);
                return Ok(());
            }
            self.report.trust = self.report.trust.max(trust);
            state.solver.trust = trust;
            match self.choose(&answer) {
                Some(chosen) => {
                    let modes = self.modes(&answer, &chosen);
                    self.change(state.time, modes);
                    self.load(state);
                    let mut y = std::mem::take(&mut self.s.y);
                    let _ = equations!(self).project(state.time, &mut y);
                    let (nq, nv) = (state.position.len(), state.velocity.len());
                    state.position.copy_from_slice(&y[..nq]);
                    state.velocity.copy_from_slice(&y[nq..nq + nv]);
                    self.s.y = y;
                    return Ok(());
                }
                None if answer.pyramid.status == Decision::NoSolution && !without_collision => {
                    without_collision = true;
                    self.impact(state)?;
                }
                None => return Err(Failed::Undecided { time: state.time }),
            }
        }
        Err(Failed::Integration { time: state.time, h: 0.0 })
    }

    /// Of several solutions the one whose forces are nearest to the last.
    fn choose(&self, answer: &Answer) -> Option<Possible> {
        let list = match &answer.cone {
            Some(cone) if !cone.list.is_empty() => &cone.list,
            _ => &answer.pyramid.list,
        };
        let far = |p: &Possible| -> f64 {
            let each = answer.contacts.iter().zip(&p.contacts).map(|(at, c)| {
                let last = self.s.closed.iter().find(|k| k.id == at.id).map_or(0.0, |k| k.force[0]);
                (c.force[0] - last).powi(2)
            });
            each.sum()
        };
        list.iter().min_by(|a, b| far(a).total_cmp(&far(b))).cloned()
    }

    /// Modes of the contacts in a solution.
    fn modes(&self, answer: &Answer, chosen: &Possible) -> Vec<Closed> {
        let least = 1e-11 * unit(self.model);
        let mode = |(at, c): (
            &crate::analysis::accelerate::ContactAt,
            &crate::analysis::accelerate::ContactForce,
        )| {
            let along = |v: [f64; 3]| {
                let size = v[1].hypot(v[2]);
                Mode::Slip([v[1] / size, v[2] / size])
            };
            let mode = match c.transition {
                Transition::StickToOpen | Transition::SlipToOpen => return None,
                Transition::StickToStick => Mode::Stick,
                Transition::StickToSlip if at.mu > 0.0 => along(c.acceleration),
                Transition::StickToSlip => Mode::Stick,
                Transition::SlipToSlip => along(at.velocity),
            };
            (c.force[0] > least).then(|| Closed {
                force: c.force,
                velocity: at.velocity,
                ..Closed::new(at.id, mode)
            })
        };
        let mut modes: Vec<Closed> = answer.contacts.iter().zip(&chosen.contacts).filter_map(mode).collect();
        // forces that differ from those of the modes make the same motion: contacts are redundant
        let differs = |c: &Closed| {
            let own = modes.iter().find(|m| m.id == c.id);
            own.is_some_and(|m| (0..3).any(|i| (m.force[i] - c.force[i]).abs() > DIFFERS * unit(self.model)))
        };
        let redundant = self.s.closed.iter().any(differs);
        for c in self.s.closed.iter().filter(|c| c.mode == Mode::Stick && c.margins[1] <= TOGETHER) {
            let [_, t, o] = c.force;
            let size = t.hypot(o);
            let Some(own) = modes.iter_mut().find(|m| m.id == c.id && m.mode == Mode::Stick) else {
                continue;
            };
            if redundant {
                own.shares = true;
            } else if size > 0.0 {
                // friction has just reached its bound, and the slip begins with no acceleration: the instant cannot tell it from sticking
                own.mode = Mode::Slip([-t / size, -o / size]);
            }
        }
        modes
    }

    /// Takes new modes, and notes what changed.
    fn change(&mut self, time: f64, modes: Vec<Closed>) {
        let status = |list: &[Closed], id: ContactId| match list.iter().find(|c| c.id == id).map(|c| c.mode) {
            None => Status::Open,
            Some(Mode::Stick) => Status::Stick,
            Some(Mode::Slip(_)) => Status::Slip,
        };
        let mut ids: Vec<ContactId> = modes.iter().chain(&self.s.closed).map(|c| c.id).collect();
        ids.sort_unstable();
        ids.dedup();
        for contact in ids {
            let (was, is) = (status(&self.s.closed, contact), status(&modes, contact));
            if was != is {
                self.work.located.push(Located { time, contact, was, is });
            }
        }
        self.s.closed = modes;
    }

    /// The velocities after an impact at a state, by the impact law of the theta scheme: its contact problem in a step of no length.
    fn impact(&mut self, state: &mut State) -> Result<(), Failed> {
        let Workspace { motion, detection, contacts, problem, laws, solver, impacts, forces, .. } =
            &mut *self.work;
        laws.set_step(self.model, INSTANT)?;
        place(self.model, state, self.inputs, INSTANT, motion)?;
        detect(self.model, motion, CLOSED, detection, contacts);
        contacts.elements.iter_mut().for_each(|e| e.gap = 0.0);
        assemble(self.model, laws, state, motion, contacts, problem);
        forces.lambda.clear();
        forces.lambda.resize(problem.b.len(), 0.0);
        forces.memory.clear();
        solver.begin_step();
        let mut report = StepReport::default();
        solver.solve(problem, state.time, forces, &mut report)?;
        let bounced = bounce(
            self.model,
            (motion, contacts),
            problem,
            forces,
            solver,
            impacts,
            (state.time, &mut report),
        )?;
        let velocity = &mut self.s.velocity;
        if bounced {
            velocity.clone_from(&impacts.velocity);
        } else {
            velocity.clone_from(&motion.free);
            problem.push(&motion.mass, &forces.lambda, &mut self.s.stage, velocity);
        }
        state.velocity.copy_from_slice(velocity);
        self.report.iterations += report.iterations;
        Ok(())
    }

    /// Takes forces within friction's bounds where those of the modes are not.
    fn share(&mut self, state: &State) {
        let given = Given { inputs: self.inputs.clone(), gap: CLOSED, velocity: REST, ..Given::default() };
        let question = Question { given, conditions: false, tolerance: 1e-9, ..Question::default() };
        let Ok(answer) = accelerate(self.model, state, &question) else { return };
        let Some(chosen) = self.choose(&answer) else { return };
        for (at, found) in answer.contacts.iter().zip(&chosen.contacts) {
            if let Some(own) = self.s.closed.iter_mut().find(|c| c.id == at.id) {
                own.force = found.force;
            }
        }
    }

    /// What the contacts do at the end.
    fn finish(&mut self, state: &mut State, start: f64) -> Result<(), Failed> {
        self.load(state);
        self.evaluate(state.time);
        if self.s.closed.iter().any(|c| c.shares) {
            self.share(state);
        }
        self.find_near(state, CLOSED)?;
        if self.left.is_none() {
            state.time = next_time(start, self.h);
        }
        state.memory.clear();
        let rows = self.model.contacts().linear_rows();
        let Workspace { elements, motion, .. } = &mut *self.work;
        elements.clear();
        for c in &self.s.closed {
            let Some(found) = self.s.near.contacts.iter().find(|n| n.id == c.id) else { continue };
            state.memory.push(RowId::Contact(c.id), &c.force[..rows], &[]);
            elements.push(ElementReport {
                id: c.id,
                element: 0,
                body_a: found.owners[0],
                body_b: found.owners[1],
                point: self.s.near.elements[found.first].point,
                frame: found.frame,
                gap: self.s.near.elements[found.first].gap,
                force: c.force,
                core: c.force[0],
                moment: [0.0; 3],
                speed: c.velocity,
                turn: [0.0; 3],
                deformation: [0.0; 3],
                status: if c.mode == Mode::Stick { Status::Stick } else { Status::Slip },
                impact: false,
            });
        }
        self.report.parts = usize::from(!elements.is_empty());
        // joints see the change of momentum over the whole step
        let kept = &self.s.kept;
        motion.kinematics.go_to(&kept.position, &kept.velocity);
        (motion.h, motion.time) = (state.time - start, start);
        Ok(())
    }
}
