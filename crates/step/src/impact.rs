//! Impacts with restitution.
//!
//! A step is solved without restitution first: its positions end where bodies touch. If a rigid contact closes faster than the scene's
//! threshold, the velocities after the step are computed again, by rounds of impacts in which only contacts take part that approach:
//!
//! ```text
//! 0 <= p_n _|_ s+_n + e s_n >= 0      s+ = s + J M^-1 J' p      friction by the contact's set
//! ```
//!
//! with Newton's coefficient of restitution `e`. A row of balls that touch passes a blow on in as many rounds, as one that does not touch would;
//! all contacts at once would not. Newton's law with friction can make energy: where a round would, its `e` is reduced (with `e = 0` none is made).
//! Contacts that approach more slowly than the threshold do not bounce, and the last round, without restitution, leaves none that approaches.
//!
//! With theta above 0 the position rule alone would return a part of the velocity, `v+ = -theta / (1 - theta) v`: then the velocities of all impacts are computed so.
//!
//! The velocity at the impact is that when the gap closes, `s + tau (s_free - s)` after the share `tau` of the step: it does not depend on where in a
//! step the impact falls, to the order of `g h`. The rest of the step is waited out at the place of the impact.

use super::solve::{ContactSolver, Forces};
use super::{Failed, Motion, StepReport};
use crate::contact::set::ContactSet;
use crate::formulation::ContactProblem;
use crate::model::Model;
use complementarity::problem::Element;

/// Rounds of impacts in a step.
const ROUNDS: usize = 100;
/// Times that restitution is halved where a round makes energy, before it is left out.
const HALVINGS: usize = 6;
/// Energy that a round may make by rounding, relative.
const ROUNDING: f64 = 1e-12;
/// Contacts approach if their velocity is above this share of the fastest impact.
const APPROACHES: f64 = 1e-9;
/// Contacts that take no part are this many times the fastest velocity from closing.
const FAR: f64 = 1e3;

/// Memory of [`bounce`]; after an impact, its result.
#[derive(Debug, Clone, Default)]
pub struct Impacts {
    /// Velocity `v'` after the impacts.
    pub velocity: Vec<f64>,
    /// Forces of the step, N, with those of the impacts, and the relative velocities after them.
    pub forces: Forces,
    /// Restitution of each element, and its velocity at the impact that the step begins with; 0 where there is none.
    bouncing: Vec<(f64, f64)>,
    /// Whether an element takes part.
    takes_part: Vec<bool>,
    /// Whether a body, by its first velocity, takes part.
    bodies: Vec<bool>,
    /// `b` and the elements of the step.
    b: Vec<f64>,
    elements: Vec<Element>,
    /// Relative velocities at the start of the step and without contact.
    start: Vec<f64>,
    free: Vec<f64>,
    round: Forces,
    before: Vec<f64>,
    scratch: Vec<f64>,
}

/// The velocities after a step that was solved without restitution; false if nothing bounces.
pub fn bounce(
    model: &Model,
    (motion, contacts): (&Motion, &ContactSet),
    problem: &mut ContactProblem,
    forces: &Forces,
    solver: &mut ContactSolver,
    memory: &mut Impacts,
    (time, report): (f64, &mut StepReport),
) -> Result<bool, Failed> {
    let stops = model.standing().iter().any(|row| row.restitution > 0.0);
    let possible = model.contacts().bounces() || stops || problem.theta > 0.0;
    if !possible || problem.is_empty() || !memory.find(model, motion, contacts, problem, forces) {
        return Ok(false);
    }
    memory.choose(problem, forces);
    memory.forces.lambda.clone_from(&forces.lambda);
    memory.forces.rest.clone_from(&forces.rest);
    for k in (0..problem.elements.len()).filter(|&k| memory.takes_part[k]) {
        memory.forces.lambda[problem.rows_of(k)].fill(0.0);
    }
    memory.velocity.clone_from(&motion.free);
    problem.push(motion.kick(), &memory.forces.lambda, &mut memory.scratch, &mut memory.velocity);
    memory.b.clone_from(&problem.b);
    let parts = report.parts;
    memory.elements.clone_from(&problem.elements);
    memory.release(problem);
    let ended = memory.rounds(model, motion, problem, solver, (time, report));
    report.parts = parts;
    problem.elements.copy_from_slice(&memory.elements);
    problem.b.copy_from_slice(&memory.b);
    ended.map(|()| true)
}

impl Impacts {
    /// Finds the elements that bounce; false if there are none.
    fn find(
        &mut self,
        model: &Model,
        motion: &Motion,
        contacts: &ContactSet,
        problem: &ContactProblem,
        forces: &Forces,
    ) -> bool {
        let step = &model.scene().step;
        problem.relative_velocities(motion.kick(), &motion.velocity, &mut self.scratch, &mut self.start);
        problem.relative_velocities(motion.kick(), &motion.free, &mut self.scratch, &mut self.free);
        self.bouncing.clear();
        self.bouncing.resize(problem.elements.len(), (0.0, 0.0));
        let mut any = false;
        for c in &contacts.contacts {
            let rule = &model.contacts().rules()[c.rule];
            if rule.compliance.is_some() {
                continue;
            }
            for k in c.elements() {
                let law = (rule.given.restitution, step.bounce_threshold);
                any |= self.find_one(k, law, problem, forces);
            }
        }
        for (standing, k) in problem.standing.iter().zip(contacts.elements.len()..) {
            let row = &model.standing()[standing.row];
            if row.element == Element::Unilateral && row.compliance.is_none() {
                let law = (row.restitution, step.bounce_threshold);
                any |= self.find_one(k, law, problem, forces);
            }
        }
        any
    }

    /// Whether an element with this restitution is at an impact.
    fn find_one(
        &mut self,
        k: usize,
        (restitution, threshold): (f64, f64),
        problem: &ContactProblem,
        forces: &Forces,
    ) -> bool {
        let (theta, h) = (problem.theta, problem.h);
        self.bouncing[k].0 = restitution;
        // the position of a step without restitution is that after an impact; its velocity is only if theta = 0
        if restitution == 0.0 && theta == 0.0 {
            return false;
        }
        let row = problem.rows_of(k).start;
        let share = 1.0 / (1.0 - theta);
        let (start, free) = (share * self.start[row], share * self.free[row]);
        if problem.is_at_end(row) {
            return false;
        }
        let middle = theta * start + (1.0 - theta) * free;
        let closes = (problem.gap[k].max(0.0) / (-h * middle)).clamp(0.0, 1.0);
        let velocity = start + closes * (free - start);
        // what a step or two of acceleration give is no impact; a row that is not at the end of the step would return it
        let least = threshold.max(2.0 * (free - start).abs());
        let met = forces.lambda[row] > 0.0 && -velocity > if theta > 0.0 { 0.0 } else { least };
        if met && -velocity <= least {
            self.bouncing[k].0 = 0.0;
        }
        if met {
            self.bouncing[k].1 = (1.0 - theta) * velocity;
        }
        met
    }

    /// Rigid contacts that are closed take part, if their bodies are connected with an impact.
    fn choose(&mut self, problem: &ContactProblem, forces: &Forces) {
        let a = problem.factors();
        let Self { bouncing, takes_part, bodies, .. } = self;
        bodies.clear();
        bodies.resize(a.speeds(), false);
        takes_part.clear();
        takes_part.extend(bouncing.iter().map(|(_, velocity)| *velocity != 0.0));
        let closed = |k: usize| {
            let row = problem.rows_of(k).start;
            let carries = forces.lambda[row] != 0.0 || problem.gap[k] <= crate::motion::CLOSED;
            let takes_part = match problem.elements[k] {
                Element::Contact(_) | Element::Unilateral => carries,
                Element::Bilateral => true,
                // bounded efforts give no impulse
                Element::Bounded { .. } => false,
            };
            takes_part && a.patch(k).is_none()
        };
        loop {
            let mut grown = false;
            for k in 0..problem.elements.len() {
                let met = takes_part[k] || a.segments(k).any(|(s, _)| bodies[s.first]) && closed(k);
                if met {
                    takes_part[k] = true;
                    for (s, _) in a.segments(k) {
                        grown |= !std::mem::replace(&mut bodies[s.first], true);
                    }
                }
            }
            if !grown {
                return;
            }
        }
    }

    /// Leaves rows without impulses out of the rounds: friction, springs and servos of joints.
    fn release(&self, problem: &mut ContactProblem) {
        for (k, element) in problem.elements.iter_mut().enumerate() {
            if !self.takes_part[k] && matches!(element, Element::Bounded { .. } | Element::Bilateral) {
                *element = Element::Bounded { limit: 0.0 };
            }
        }
    }

    /// Work that moving surfaces and drives do in a round, J.
    fn supplied(&self, problem: &ContactProblem) -> f64 {
        let moving = self.round.lambda.iter().enumerate().map(|(row, f)| f * problem.moved(row)).sum::<f64>();
        let bilateral = (0..problem.elements.len()).filter(|&k| problem.elements[k] == Element::Bilateral);
        let driven = bilateral.map(|k| self.round.lambda[problem.rows_of(k).start] * problem.gap_rate[k]);
        -problem.h * (moving + driven.sum::<f64>())
    }

    fn rounds(
        &mut self,
        model: &Model,
        motion: &Motion,
        problem: &mut ContactProblem,
        solver: &mut ContactSolver,
        (time, report): (f64, &mut StepReport),
    ) -> Result<(), Failed> {
        let threshold = (1.0 - problem.theta) * model.scene().step.bounce_threshold;
        let fastest = self.bouncing.iter().fold(0.0f64, |m, (_, v)| m.max(v.abs()));
        for round in 0..=ROUNDS {
            let mut share = 1.0;
            self.before.clone_from(&self.velocity);
            let energy = kinetic(motion, &self.velocity, &mut self.scratch);
            for halving in 0..=HALVINGS {
                problem.relative_velocities(motion.kick(), &self.velocity, &mut self.scratch, &mut self.free);
                let last = round == ROUNDS || halving == HALVINGS;
                let bounces = self.pose(problem, (round == 0, last), (share, threshold, fastest));
                self.round.lambda.clear();
                self.round.lambda.resize(problem.b.len(), 0.0);
                self.round.memory.clear();
                solver.solve(problem, time, &mut self.round, report)?;
                problem.push(motion.kick(), &self.round.lambda, &mut self.scratch, &mut self.velocity);
                let after = kinetic(motion, &self.velocity, &mut self.scratch);
                if bounces && after - self.supplied(problem).max(0.0) > energy * (1.0 + ROUNDING) {
                    share *= 0.5;
                    self.velocity.clone_from(&self.before);
                    continue;
                }
                let sum = self.forces.lambda.iter_mut().zip(&self.round.lambda);
                sum.for_each(|(sum, own)| *sum += own);
                if !bounces {
                    problem.relative_velocities(
                        motion.kick(),
                        &self.velocity,
                        &mut self.scratch,
                        &mut self.free,
                    );
                    self.forces.velocity.clear();
                    let share = 1.0 / (1.0 - problem.theta);
                    let velocity = |(i, s): (usize, &f64)| if problem.is_at_end(i) { *s } else { share * s };
                    self.forces.velocity.extend(self.free.iter().enumerate().map(velocity));
                    for k in 0..problem.elements.len() {
                        self.forces.velocity[problem.rows_of(k).start] += problem.gap_rate[k];
                    }
                    return Ok(());
                }
                break;
            }
        }
        Ok(())
    }

    /// Poses the problem of a round from the relative velocities at hand; whether one of its contacts bounces. Otherwise it is the last, of
    /// all contacts that take part, without restitution.
    fn pose(
        &self,
        problem: &mut ContactProblem,
        (first, last): (bool, bool),
        (share, threshold, fastest): (f64, f64, f64),
    ) -> bool {
        // restitution of an element in this round, and the velocity that it is about
        let bounce = |k: usize, row: usize| {
            let (e, at_impact) = self.bouncing[k];
            let velocity = if first { at_impact } else { self.free[row] };
            (e * share, velocity)
        };
        let approaches = |row: usize| self.free[row] < -APPROACHES * fastest;
        let is_bouncing = |problem: &ContactProblem, k: usize| {
            let row = problem.rows_of(k).start;
            let (e, velocity) = bounce(k, row);
            e > 0.0 && approaches(row) && -velocity > threshold
        };
        let any = !last && (0..self.bouncing.len()).any(|k| is_bouncing(problem, k));
        for k in 0..self.bouncing.len() {
            let (rows, far) = (problem.rows_of(k), FAR * fastest);
            let row = rows.start;
            problem.b[rows.clone()].copy_from_slice(&self.free[rows]);
            if problem.elements[k] == Element::Bilateral {
                problem.b[row] += problem.gap_rate[k];
            } else if !self.takes_part[k] || any && !approaches(row) {
                problem.b[row] = far;
            } else if any && is_bouncing(problem, k) {
                let (e, velocity) = bounce(k, row);
                problem.b[row] += e * velocity;
            }
        }
        any
    }
}

/// Kinetic energy `v' M v / 2` at the configuration of a motion, J.
pub fn kinetic(motion: &Motion, v: &[f64], scratch: &mut Vec<f64>) -> f64 {
    scratch.clear();
    scratch.extend_from_slice(v);
    for (t, dofs) in motion.mass.trees() {
        motion.mass.times_root(t, &mut scratch[dofs]);
    }
    0.5 * scratch.iter().map(|x| x * x).sum::<f64>()
}
