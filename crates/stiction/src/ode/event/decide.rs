//! What follows at a state: impacts, then the modes of contacts and standing rows by the contact problem at the instant; of several
//! solutions one is followed, and where that begins and ends is noted.

use super::field::{Closed, Held, Hold, Mode, Touch};
use super::{CLOSED, MOST_AT_ONCE, Path, REST, TOGETHER, unit};
use crate::analysis::accelerate::{
    Answer, ContactAt, ContactForce, Given, NotAccelerated, Possible, Question, Transition, accelerate,
};
use crate::analysis::instant::InvalidInstant;
use crate::contact::set::Contact;
use crate::formulation::assemble;
use crate::scene::Branch;
use crate::state::{ContactId, RowId, State};
use crate::step::impact::bounce;
use crate::step::{
    BranchChange, Branched, Failed, Located, Status, StepReport, Trust, Workspace, detect, place,
};
use complementarity::problem::Element;
use complementarity::report::Status as Decision;
use complementarity::solver::Budget;

/// Length of the step whose contact problem is an impact, s.
const INSTANT: f64 = 1e-15;
/// Time for which connected contacts that have begun to slip keep the directions in which their bounds were reached, s: slips that begin with no
/// acceleration have no direction of their own.
const FIXED: f64 = 1e-6;
/// Contacts up to which all solutions are sought at an event (half a second), and at a result (two milliseconds).
const ALL: usize = 6;
const ALL_AT_RESULT: usize = 4;
/// Work of the search for all solutions, and for one: see [`Budget`].
const WORK_FOR_ALL: u64 = 1_000_000;
const WORK_FOR_ONE: u64 = 40_000_000;
/// Friction of a joint is at its bound within this share of it.
const AT_BOUND: f64 = 1e-9;

impl Path<'_> {
    /// What follows at a state: impacts, then the modes by the contact problem at the instant.
    pub(super) fn decide(&mut self, state: &mut State) -> Result<(), Failed> {
        let mut without_collision = false;
        let gives_way = self.s.closed.iter().any(|c| c.gives.is_some());
        let mut most = ALL;
        for _ in 0..MOST_AT_ONCE {
            let flat = self.lay_flat(state)?;
            self.find_near(state, CLOSED)?;
            let all = self.s.near.contacts.len() <= most;
            let question = self.question(all);
            let answer = match accelerate(self.model, state, &question) {
                Ok(answer) => answer,
                Err(NotAccelerated::Instant(InvalidInstant::Approaching { .. })) => {
                    let touching = self.touching(state);
                    self.impact(state)?;
                    self.rest_flat(state, &flat);
                    self.keep(state, &touching);
                    continue;
                }
                Err(_) => return Err(Failed::Integration { time: state.time, h: 0.0 }),
            };
            let trust = answer.trust_under_cone();
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
                    let modes = if gives_way { self.giving_way() } else { self.modes(&answer, &chosen) };
                    let held = self.holds(state, &answer, &chosen);
                    if trust == Trust::MotionNotUnique {
                        self.note_other_motions(&answer);
                        let differs = answer.contacts.first().map(|c| c.id);
                        self.note_branch(state.time, differs, BranchChange::Begins);
                    }
                    let before = std::mem::take(&mut self.s.closed);
                    self.s.held = held;
                    self.s.closed = modes;
                    self.settle(state, &before);
                    self.note_changes(state.time, &before);
                    self.project_at_rest(state, &answer);
                    self.part(state);
                    return if gives_way { self.leave_rest(state) } else { Ok(()) };
                }
                None if answer.pyramid.status == Decision::NoSolution && !without_collision => {
                    without_collision = true;
                    self.impact(state)?;
                }
                // the search for all came to its end before it found one
                None if all => most = 0,
                None => return Err(Failed::Undecided { time: state.time }),
            }
        }
        Err(Failed::Integration { time: state.time, h: 0.0 })
    }

    /// Goes on by [`FIXED`] with directions of friction as they are.
    fn leave_rest(&mut self, state: &mut State) -> Result<(), Failed> {
        let by = FIXED.min(self.s.kept.time + self.h - state.time);
        self.load(state);
        if by > 0.0 && self.attempt(state.time, by).is_some() {
            self.accept(state, by)?;
        }
        self.s.closed.iter_mut().for_each(|c| c.fixed = false);
        Ok(())
    }

    /// Modes where connected contacts can no longer stick. At the very place slips begin with no acceleration, and the instant cannot tell them from
    /// sticking; the bounds that are reached can.
    fn giving_way(&self) -> Vec<Closed> {
        let give = |c: &Closed| match c.gives {
            Some(along) => Closed { mode: Mode::Slip(along), gives: None, begins: true, fixed: true, ..*c },
            None => *c,
        };
        self.s.closed.iter().map(give).collect()
    }

    /// Projects a state on its modes. Contacts at rest that begin to slip have no slip yet.
    fn project_at_rest(&mut self, state: &mut State, answer: &Answer) {
        let modes: Vec<Mode> = self.s.closed.iter().map(|c| c.mode).collect();
        for c in &mut self.s.closed {
            if answer.contacts.iter().any(|at| at.id == c.id && !at.slips) {
                c.mode = Mode::Stick;
            }
        }
        self.project(state);
        self.s.closed.iter_mut().zip(modes).for_each(|(c, mode)| c.mode = mode);
    }

    /// Moves a state to where open contacts that slide past do not overlap: rounding would find them closed again and again.
    fn part(&mut self, state: &mut State) {
        let touching = self.touching(state);
        let near = &self.s.near;
        let is_closed = |id: ContactId| self.s.closed.binary_search_by_key(&id, |c| c.id).is_ok();
        let overlaps =
            |c: &Contact| near.elements[c.first].gap < 0.0 && !is_closed(c.id) && touching.contains(&c.id);
        if !near.contacts.iter().any(overlaps) {
            return;
        }
        let all = near.contacts.iter().filter(|c| overlaps(c) || is_closed(c.id));
        let all = all.map(|c| Closed::new(c.id, Mode::Slip([1.0, 0.0]))).collect();
        let velocity = state.velocity.clone();
        self.project_on(state, all);
        state.velocity.copy_from_slice(&velocity);
    }

    /// Notes which contacts take part in several motions.
    fn note_other_motions(&mut self, answer: &Answer) {
        let all = answer.contacts.iter().map(|c| RowId::Contact(c.id));
        self.work.other_motion.clear();
        self.work.other_motion.extend(all);
    }

    /// Notes where one of several motions is followed, or ceases to be.
    pub(super) fn note_branch(&mut self, time: f64, contact: Option<ContactId>, change: BranchChange) {
        if let Some(contact) = contact {
            self.work.branches.push(Branched { time, contact, change });
        }
    }

    /// Asks at a result whether the motion that is followed is one of several: that may begin and end between events.
    pub(super) fn look_again(&mut self, state: &mut State) {
        let was_several = state.solver.trust == Trust::MotionNotUnique;
        // models that change where the motion is not unique watch for it themselves
        let watched = self.least.is_some();
        if self.stays(state) || watched && !was_several {
            return;
        }
        if !was_several && self.s.closed.len() > ALL_AT_RESULT {
            state.solver.trust = Trust::NotExamined;
            return;
        }
        let Ok(answer) = accelerate(self.model, state, &self.question(true)) else { return };
        let trust = answer.trust_under_cone();
        let is_several = trust == Trust::MotionNotUnique;
        if trust == Trust::NoRigidSolution || was_several && trust == Trust::NotExamined {
            // there is the motion that is followed, and nothing shows that it has become the only one
            return;
        }
        state.solver.trust = trust;
        self.report.trust = self.report.trust.max(trust);
        if is_several {
            self.note_other_motions(&answer);
        }
        if was_several != is_several {
            let change = if is_several { BranchChange::Begins } else { BranchChange::Unique };
            self.note_branch(state.time, self.s.closed.first().map(|c| c.id), change);
        }
    }

    /// Whether contacts stick with the forces that they had at the last result.
    fn stays(&self, state: &State) -> bool {
        let same = 1e-9 * unit(self.model);
        let stays = |c: &Closed| {
            let last = state.memory.find(RowId::Contact(c.id));
            let mut pairs = last.into_iter().flat_map(|m| m.forces.iter().zip(&c.force));
            c.slip() <= REST && last.is_some() && pairs.all(|(a, b)| (a - b).abs() <= same)
        };
        self.s.closed.iter().all(stays)
    }

    fn question(&self, all: bool) -> Question {
        let given = Given { inputs: self.inputs.clone(), gap: CLOSED, velocity: REST, ..Given::default() };
        let rows = if all { WORK_FOR_ALL } else { WORK_FOR_ONE };
        let budget = Budget { rows, stop: self.work.solver.stop.clone() };
        Question { given, all, conditions: false, tolerance: 1e-9, budget, ..Question::default() }
    }

    /// Of several solutions one of the scene's branch; of these the one whose forces are nearest to the last.
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
        let branch = self.model.scene().step.branch;
        let is_wanted = |c: &&ContactForce| {
            let opens = matches!(c.transition, Transition::StickToOpen | Transition::SlipToOpen);
            match branch {
                Branch::Rest | Branch::Nearest => false,
                Branch::KeepContact => !opens,
                Branch::Separate => opens,
                Branch::Slip => matches!(c.transition, Transition::StickToSlip | Transition::SlipToSlip),
                Branch::Stick => c.transition == Transition::StickToStick,
            }
        };
        // contacts that all stick, and may all go on to
        let rests = |p: &Possible| p.contacts.iter().all(|c| c.transition == Transition::StickToStick);
        let wanted = |p: &Possible| match branch {
            Branch::Rest => usize::from(rests(p)),
            _ => p.contacts.iter().filter(is_wanted).count(),
        };
        list.iter().min_by(|a, b| wanted(b).cmp(&wanted(a)).then(far(a).total_cmp(&far(b)))).cloned()
    }

    /// Modes of the contacts in a solution.
    fn modes(&self, answer: &Answer, chosen: &Possible) -> Vec<Closed> {
        let least = 1e-11 * unit(self.model);
        let mode = |(at, c): (&ContactAt, &ContactForce)| {
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
            let touch = if c.force[0] > least { Touch::Carries } else { Touch::Idle };
            Some(Closed { force: c.force, velocity: at.velocity, touch, ..Closed::new(at.id, mode) })
        };
        let mut modes: Vec<Closed> = answer.contacts.iter().zip(&chosen.contacts).filter_map(mode).collect();
        for c in &self.s.closed {
            let Some(own) = modes.iter_mut().find(|m| m.id == c.id) else { continue };
            let [_, t, o] = c.force;
            let size = t.hypot(o);
            let at_bound = c.mode == Mode::Stick && c.margins[1] <= TOGETHER && !c.together;
            if at_bound && own.mode == Mode::Stick && size > 0.0 {
                // friction has just reached its bound, and the slip begins with no acceleration: the instant cannot tell it from sticking
                own.mode = Mode::Slip([-t / size, -o / size]);
            }
            own.begins = c.mode == Mode::Stick && own.mode != Mode::Stick;
        }
        modes
    }

    /// What the rigid standing rows do in a solution.
    fn holds(&self, state: &State, answer: &Answer, chosen: &Possible) -> Vec<Held> {
        let least = 1e-11 * unit(self.model);
        let hold = |held: &Held| {
            let row = &self.model.standing()[held.row];
            let found = answer.standing.iter().position(|index| *index == held.row);
            let force = found.and_then(|k| chosen.standing.get(k)).copied();
            let velocity = row.joint.map_or(0.0, |j| row.sign() * state.velocity[j.dof]);
            match row.element {
                Element::Unilateral if force.is_some_and(|f| f > least) => Hold::Closed,
                Element::Unilateral => Hold::Open,
                Element::Bounded { limit } => match force {
                    // at its bound it begins to move against its force
                    Some(f) if f.abs() >= limit * (1.0 - AT_BOUND) => Hold::Slip(-f.signum()),
                    Some(_)
                        if held.hold == Hold::Stick
                            && held.margin <= TOGETHER
                            && held.force.abs() >= limit * (1.0 - 1e-6) =>
                    {
                        Hold::Slip(-held.force.signum())
                    }
                    Some(_) => Hold::Stick,
                    None => Hold::Slip(velocity.signum()),
                },
                _ => Hold::Bilateral,
            }
        };
        self.s.held.iter().map(|held| Held::new(held.row, hold(held))).collect()
    }

    /// Notes what changed.
    fn note_changes(&mut self, time: f64, before: &[Closed]) {
        let status = |list: &[Closed], id: ContactId| match list.iter().find(|c| c.id == id) {
            Some(c) if c.touch == Touch::Carries && c.mode == Mode::Stick => Status::Stick,
            Some(c) if c.touch == Touch::Carries => Status::Slip,
            _ => Status::Open,
        };
        let mut ids: Vec<ContactId> = self.s.closed.iter().chain(before).map(|c| c.id).collect();
        ids.sort_unstable();
        ids.dedup();
        for contact in ids {
            let (was, is) = (status(before, contact), status(&self.s.closed, contact));
            if was != is {
                self.work.located.push(Located { time, contact, was, is });
            }
        }
    }

    /// The velocities after an impact at a state, by the impact law of the theta scheme: its contact problem in a step of no length.
    fn impact(&mut self, state: &mut State) -> Result<(), Failed> {
        let Workspace { motion, detection, contacts, problem, laws, solver, impacts, forces, .. } =
            &mut *self.work;
        laws.set_step(self.model, INSTANT)?;
        place(self.model, state, self.inputs, INSTANT, motion)?;
        detect(self.model, motion, CLOSED, detection, contacts)?;
        contacts.elements.iter_mut().for_each(|e| e.gap = 0.0);
        assemble(self.model, laws, state, motion, contacts, problem);
        for k in contacts.elements.len()..problem.elements.len() {
            let row = problem.rows_of(k).start;
            problem.b[row] -= std::mem::take(&mut problem.gap_rate[k]);
            problem.gap[k] = 0.0;
        }
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
}
