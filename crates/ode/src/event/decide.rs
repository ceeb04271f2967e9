//! What follows at a state: impacts, then the modes of contacts and standing rows by the contact problem at the instant; of several
//! solutions one is followed, and where that begins and ends is noted.

use super::chatter::LEAVES;
use super::field::{Closed, Held, Hold, Mode, Touch};
use super::islands::{Connected, weights};
use super::{CLOSED, MOST_AT_ONCE, Path, REST, TOGETHER, near_velocity};
use crate::analysis::accelerate::{
    Answer, ContactAt, ContactForce, Given, NotAccelerated, Possible, Question, Transition, accelerate,
};
use crate::analysis::instant::InvalidInstant;
use crate::contact::set::Contact;
use crate::formulation::assemble;
use crate::model::{Owner, StandingRow};
use crate::scene::Branch;
use crate::state::{ContactId, RowId, State};
use crate::step::detect::detect_share;
use crate::step::impact::{bounce, kinetic};
use crate::step::{
    BranchChange, Branched, Failed, Located, Status, StepReport, Struck, StruckKind, Trust, Workspace, place,
};
use complementarity::matrix::dot;
use complementarity::problem::Element;
use complementarity::report::Status as Decision;
use complementarity::solver::Budget;

/// Length of the step whose contact problem is an impact, in the least time of a body.
const INSTANT: f64 = 1e-15;
/// Time for which connected contacts that have begun to slip keep the directions in which their bounds were reached, in their scale of time: slips that begin with no
/// acceleration have no direction of their own.
const FIXED: f64 = 1e-6;
/// Contacts up to which all solutions are sought at an event (half a second), and at a result (two milliseconds).
const ALL: usize = 6;
const ALL_AT_RESULT: usize = 4;
/// Work of the search for all solutions, and for one: see [`Budget`].
const WORK_FOR_ALL: u64 = 1_000_000;
const WORK_FOR_ONE: u64 = 40_000_000;
/// Forces up to this share of the weight of their island are none.
const NO_FORCE: f64 = 1e-11;
/// Friction of a joint is at its bound within this share of it.
const AT_BOUND: f64 = 1e-9;

/// Bodies that contacts and rigid rows connect.
struct Group {
    /// Whether each tree is one of them.
    trees: Vec<bool>,
    contacts: usize,
    /// N.
    weight: f64,
}

/// What is possible for an island, and what of it is followed.
type Decided<'a> = (&'a Answer, Possible);

impl Path<'_> {
    /// What follows at a state: impacts, then the modes by the contact problem at the instant.
    pub(super) fn decide(&mut self, state: &mut State) -> Result<(), Failed> {
        let mut without_collision = false;
        let gives_way = self.s.closed.iter().any(|c| c.gives.is_some());
        let mut most = ALL;
        for _ in 0..MOST_AT_ONCE {
            let flat = self.lay_flat(state)?;
            self.find_near(state, CLOSED)?;
            let near: Vec<ContactId> = self.s.near.contacts.iter().map(|c| c.id).collect();
            let groups = self.groups(&near);
            let answers = match self.answers(state, &groups, most) {
                Ok(answers) => answers,
                Err(NotAccelerated::Instant(InvalidInstant::Approaching { .. })) => {
                    let touching = self.touching(state);
                    self.impact(state, false)?;
                    self.rest_flat(state, &flat);
                    self.keep(state, &touching);
                    continue;
                }
                Err(_) => return Err(Failed::Integration { time: state.time, h: 0.0 }),
            };
            let trust = answers.iter().map(Answer::trust_under_cone).fold(Trust::Unique, Trust::max);
            if self.least.is_some() && matches!(trust, Trust::MotionNotUnique | Trust::NoRigidSolution) {
                // contacts that do not slip cannot be the cause alone, but may be all there are
                let wrong = answers.iter().find(|a| a.trust_under_cone() == trust);
                let first = wrong.and_then(|a| a.contacts.iter().find(|c| c.slips).or(a.contacts.first()));
                self.left = first.map(|c| c.id);
                return Ok(());
            }
            self.report.trust = self.report.trust.max(trust);
            state.solver.trust = trust;
            let chosen: Vec<Option<Possible>> = answers.iter().map(|a| self.choose(a)).collect();
            let Some(open) = chosen.iter().position(Option::is_none) else {
                let all: Vec<Decided> = answers.iter().zip(chosen.into_iter().flatten()).collect();
                self.follow(state, &groups, &all, gives_way);
                return if gives_way { self.leave_rest(state) } else { Ok(()) };
            };
            match answers[open].pyramid.status {
                Decision::NoSolution if !without_collision => {
                    without_collision = true;
                    self.impact(state, true)?;
                }
                // the search for all came to its end before it found one
                _ if most > 0 => most = 0,
                _ => return Err(Failed::Undecided { time: state.time }),
            }
        }
        Err(Failed::Integration { time: state.time, h: 0.0 })
    }

    /// Answers of the islands: all solutions where an island has at most so many contacts.
    fn answers(&self, state: &State, groups: &[Group], most: usize) -> Result<Vec<Answer>, NotAccelerated> {
        let ask =
            |group: &Group| accelerate(self.model, state, &self.question(group.contacts <= most, group));
        groups.iter().map(ask).collect()
    }

    /// Takes the modes of the solutions that were chosen.
    fn follow(&mut self, state: &mut State, groups: &[Group], all: &[Decided], gives_way: bool) {
        let modes = if gives_way { self.giving_way() } else { self.modes(groups, all) };
        let held = self.holds(state, groups, all);
        for (answer, _) in all.iter().filter(|(a, _)| a.trust_under_cone() == Trust::MotionNotUnique) {
            self.note_other_motions(answer);
            let differs = answer.contacts.first().map(|c| c.id);
            self.note_branch(state.time, differs, BranchChange::Begins);
        }
        let before = std::mem::take(&mut self.s.closed);
        self.s.held = held;
        self.s.closed = modes;
        self.settle(state, &before);
        self.note_changes(state.time, &before);
        self.project_at_rest(state, all);
        self.part(state);
    }

    /// Islands that have contacts of this list or rigid rows: bodies that these connect.
    fn groups(&self, contacts: &[ContactId]) -> Vec<Group> {
        let (model, trees) = (self.model, self.model.system().trees().len());
        let owners = |id: &ContactId| [id.part_a, id.part_b].map(|k| model.parts()[k as usize].owner);
        let tree = |i: usize| model.system().tree_of(i);
        let mut connected = Connected::new(trees);
        contacts.iter().for_each(|id| connected.join_owners(model, owners(id)));
        let rows: Vec<&StandingRow> = self.s.held.iter().map(|h| &model.standing()[h.row]).collect();
        rows.iter().for_each(|row| connected.join(row.bodies(model.scene()).filter_map(tree)));
        let root = |mut bodies: Box<dyn Iterator<Item = usize> + '_>| {
            bodies.find_map(tree).map(|t| connected.root(t))
        };
        let own: Vec<Option<usize>> = contacts
            .iter()
            .map(|id| root(Box::new(owners(id).into_iter().filter_map(Owner::body))))
            .collect();
        let mut roots: Vec<usize> = own.iter().copied().flatten().collect();
        roots.extend(rows.iter().filter_map(|row| root(Box::new(row.bodies(model.scene())))));
        roots.sort_unstable();
        roots.dedup();
        let weights = weights(model);
        let group = |r: &usize| {
            let in_it: Vec<bool> = (0..trees).map(|t| connected.root(t) == *r).collect();
            let weight = in_it.iter().zip(&weights).filter(|(is, _)| **is).map(|(_, w)| w).sum();
            Group { contacts: own.iter().filter(|o| **o == Some(*r)).count(), trees: in_it, weight }
        };
        roots.iter().map(group).collect()
    }

    /// Goes on by [`FIXED`] with directions of friction as they are.
    fn leave_rest(&mut self, state: &mut State) -> Result<(), Failed> {
        let own = self.s.closed.iter().filter(|c| c.fixed).map(|c| c.scale.time);
        let own = own.fold(f64::INFINITY, f64::min);
        let by = (FIXED * own).min(self.s.kept.time + self.h - state.time);
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
    fn project_at_rest(&mut self, state: &mut State, all: &[Decided]) {
        let modes: Vec<Mode> = self.s.closed.iter().map(|c| c.mode).collect();
        for c in &mut self.s.closed {
            if all.iter().flat_map(|(a, _)| &a.contacts).any(|at| at.id == c.id && !at.slips) {
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
        let closed: Vec<ContactId> = self.s.closed.iter().map(|c| c.id).collect();
        let (mut all, mut several) = (Trust::Unique, None);
        for group in &self.groups(&closed) {
            if !was_several && group.contacts > ALL_AT_RESULT {
                all = all.max(Trust::NotExamined);
                continue;
            }
            let Ok(answer) = accelerate(self.model, state, &self.question(true, group)) else { return };
            let trust = answer.trust_under_cone();
            if trust == Trust::NoRigidSolution || was_several && trust == Trust::NotExamined {
                // there is the motion that is followed, and nothing shows that it has become the only one
                return;
            }
            all = all.max(trust);
            if trust == Trust::MotionNotUnique {
                several = Some(answer);
            }
        }
        state.solver.trust = all;
        if all == Trust::NotExamined {
            return;
        }
        self.report.trust = self.report.trust.max(all);
        if let Some(answer) = &several {
            self.note_other_motions(answer);
        }
        if was_several != several.is_some() {
            let change = if several.is_some() { BranchChange::Begins } else { BranchChange::Unique };
            let of_several = several.and_then(|a| a.contacts.first().map(|c| c.id));
            self.note_branch(state.time, of_several.or(closed.first().copied()), change);
        }
    }

    /// Whether contacts stick with the forces that they had at the last result.
    fn stays(&self, state: &State) -> bool {
        let stays = |c: &Closed| {
            let same = 1e-9 * c.unit;
            let last = state.memory.find(RowId::Contact(c.id));
            let mut pairs = last.into_iter().flat_map(|m| m.forces.iter().zip(&c.force));
            c.slip() <= REST * c.scale.speed && last.is_some() && pairs.all(|(a, b)| (a - b).abs() <= same)
        };
        self.s.closed.iter().all(stays)
    }

    fn question(&self, all: bool, group: &Group) -> Question {
        let (inputs, trees) = (self.inputs.clone(), Some(group.trees.clone()));
        let given = Given { inputs, gap: CLOSED, velocity: REST, scaled: true, trees, ..Given::default() };
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
        let wanted = |p: &Possible| p.contacts.iter().filter(is_wanted).count();
        list.iter().min_by(|a, b| wanted(b).cmp(&wanted(a)).then(far(a).total_cmp(&far(b)))).cloned()
    }

    /// Modes of the contacts in a solution.
    fn modes(&self, groups: &[Group], all: &[Decided]) -> Vec<Closed> {
        let mode = |(least, at, c): (f64, &ContactAt, &ContactForce)| {
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
        let each = groups.iter().zip(all).flat_map(|(group, (answer, chosen))| {
            let own = answer.contacts.iter().zip(&chosen.contacts);
            own.map(|(at, c)| (NO_FORCE * group.weight, at, c))
        });
        let mut modes: Vec<Closed> = each.filter_map(mode).collect();
        modes.sort_unstable_by_key(|c| c.id);
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
    fn holds(&self, state: &State, groups: &[Group], all: &[Decided]) -> Vec<Held> {
        let hold = |held: &Held| {
            let row = &self.model.standing()[held.row];
            let find = |(group, (answer, chosen)): (&Group, &Decided)| {
                let found = answer.standing.iter().position(|index| *index == held.row)?;
                Some((*chosen.standing.get(found)?, group.weight))
            };
            let found = groups.iter().zip(all).find_map(find);
            let scale = row.scale(self.model, &state.position);
            let least = found.map_or(0.0, |(_, weight)| NO_FORCE * weight * scale.lever);
            let force = found.map(|(force, _)| force);
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
            let along = |list: &[Closed]| match list.iter().find(|c| c.id == contact).map(|c| c.mode) {
                Some(Mode::Slip(along)) => along,
                _ => [0.0; 2],
            };
            let reverses = dot(&along(before), &along(&self.s.closed)) < 0.0;
            if was != is || was == Status::Slip && reverses {
                self.work.located.push(Located { time, contact, was, is });
            }
        }
    }

    /// The velocities after an impact at a state, by the impact law of the theta scheme: its contact problem in a step of no length.
    fn impact(&mut self, state: &mut State, without_collision: bool) -> Result<(), Failed> {
        let instant = INSTANT * self.model.scales().time();
        let Workspace { motion, detection, contacts, problem, laws, solver, impacts, forces, struck, .. } =
            &mut *self.work;
        laws.set_step(self.model, instant)?;
        place(self.model, state, self.inputs, instant, motion)?;
        detect_share(self.model, motion, CLOSED, detection, contacts)?;
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
        let scratch = &mut self.s.stage;
        let taken = kinetic(motion, &state.velocity, scratch) - kinetic(motion, velocity, scratch);
        self.report.impact_loss += taken;
        let own = if bounced { &impacts.forces.lambda } else { &forces.lambda };
        let impulse = |c: &Contact| own[problem.rows_of(c.first).start] * instant;
        let largest = contacts.contacts.iter().map(impulse).fold(0.0, f64::max);
        let hit = contacts.contacts.iter().filter(|c| impulse(c) > NO_FORCE * largest);
        let time = state.time;
        let kind = if without_collision { StruckKind::WithoutCollision } else { StruckKind::Impact };
        struck.extend(hit.clone().map(|c| Struck { time, contact: c.id, impulse: impulse(c), kind }));
        motion.kinematics.go_to(&state.position, velocity);
        for c in hit {
            let least = self.model.scales().contact(c.owners, contacts.elements[c.first].point).speed;
            if near_velocity(&motion.kinematics, contacts, c)[0] > LEAVES * least {
                struck.push(Struck { time, contact: c.id, impulse: impulse(c), kind: StruckKind::Bounce });
            }
        }
        state.velocity.copy_from_slice(velocity);
        self.report.iterations += report.iterations;
        Ok(())
    }
}
