//! Bodies that surfaces carry round: how a part that turns carries a body depends on the way that the body makes in the step.
//!
//! Two terms of its velocities are not known when the step begins. Friction acts against the slip over the material that the body meets on its way
//! ([`crate::motion::Surfaces::relative`]), and bodies keep apart where they and the part, whose place then is known, are at the end of the step. Both are linear in the
//! unknown velocities, nearly, and make `A` unsymmetric. The step is solved with the way of the last round until it stays, which contracts by half the angle by which the
//! part turns in the step.

use super::carrier::{ROUNDING, Ways, any_carried, carry_round};
use super::detect::detect_at;
use super::settle::{SLOW, settle};
use super::{Failed, Motion, StepReport, Workspace};
use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::{Drift, Kinematics};
use crate::inputs::Inputs;
use crate::model::{Model, Owner};
use crate::motion::Surfaces;
use crate::scene::ForceTime;
use crate::space::{Vector, dot, length, sub};
use crate::state::State;

/// Rounds after which a step counts as not settled; shorter ones contract faster.
const ROUNDS: usize = 40;
/// Ways have settled when they change the velocities of surfaces by at most this share of the largest velocity, or by noise: by no less than [`CONTRACTS`] of the
/// change before, and at most the tolerance of the step.
const SETTLED: f64 = 1e-12;
const CONTRACTS: f64 = 0.5;
/// A gap at the end of the step that is off by more than this many times what turning can do in it belongs to other features.
const OTHER: f64 = 2.0;

/// Memory of [`settle_ways`].
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    velocity: Vec<f64>,
    after: Vec<f64>,
    impulse: Vec<f64>,
    position: Vec<f64>,
    /// Bodies at the beginning of the step with the velocities of the candidate, and at its end.
    way: Option<Kinematics>,
    end: Option<Kinematics>,
    /// Moving parts at the end.
    surfaces: Surfaces,
    /// Contacts of a pair there.
    found: ContactSet,
}

/// Solves again until surfaces that turn carry bodies along the ways that come out. The contact problem has been solved with those at hand. `before`: parts and
/// iterations before that.
pub(super) fn settle_ways(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    before: (usize, usize),
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    let on_surfaces = work.motion.surfaces.any_turns() && !work.contacts.contacts.is_empty();
    if !on_surfaces && !any_carried(model, &work.contacts) {
        return Ok(());
    }
    let tolerance = model.scene().step.tolerance;
    let mut change = f64::INFINITY;
    for _ in 0..ROUNDS {
        let Some(fastest) = follow(model, state, inputs, work) else {
            change = f64::INFINITY;
            break;
        };
        let last = std::mem::replace(&mut change, carry_along(model, work).max(carried(model, work)));
        let scale = fastest.max(work.motion.h * length(model.scene().gravity)).max(SLOW);
        let noise = change >= CONTRACTS * last && change <= tolerance * scale;
        if change <= SETTLED * scale || noise {
            return Ok(());
        }
        report.rounds += 1;
        report.parts = before.0;
        let at_rest = work.forces.memory.at_rest;
        let Workspace { rest, solver, problem, motion, forces, .. } = &mut *work;
        rest.solve_or_relax(model, solver, (problem, motion), (state.time, forces, report))?;
        // the first answer of a step is a good start of the next round, whether or not the bodies are at rest
        work.forces.memory.at_rest &= at_rest;
        if model.scene().step.force_time() == ForceTime::Theta {
            settle(model, state, inputs, before, work, report)?;
        }
    }
    report.parts = before.0;
    report.wasted += std::mem::replace(&mut report.iterations, before.1) - before.1;
    Err(Failed::Unsettled { time: state.time, h: work.motion.h, change })
}

/// Places the bodies where the forces at hand lead; returns the largest velocity, and nothing if it is not finite.
fn follow(model: &Model, state: &State, inputs: &Inputs, work: &mut Workspace) -> Option<f64> {
    let Workspace { motion, problem, forces, carry, advancing, .. } = work;
    let Scratch { velocity, after, impulse, position, way, end, surfaces, .. } = carry;
    velocity.clone_from(&motion.free);
    if !problem.is_empty() {
        problem.push(motion.kick(), &forces.lambda, impulse, velocity);
    }
    let fastest = velocity.iter().chain(&state.velocity).fold(0.0f64, |m, v| m.max(v.abs()));
    let theta = problem.theta;
    after.clone_from(velocity);
    velocity.iter_mut().zip(&state.velocity).for_each(|(v, old)| *v = theta * old + (1.0 - theta) * *v);
    position.resize(state.position.len(), 0.0);
    let drift = advancing.drift.get_or_insert_with(|| Drift::new(model.system()));
    drift.advance(&motion.kinematics, &motion.mass, motion.h, velocity, (position, after)).ok()?;
    if !velocity.iter().chain(&*position).all(|x| x.is_finite()) {
        return None;
    }
    let [way, end] = [way, end].map(|k| k.get_or_insert_with(|| Kinematics::new(model.system())));
    way.go_to(&state.position, velocity);
    end.go_to(position, velocity);
    surfaces.clone_from(&motion.surfaces);
    surfaces.place(model, inputs, state.time + motion.h, 1.0);
    Some(fastest)
}

/// Takes the velocities of surfaces that turn for these ways of the bodies; returns their largest change, m/s.
fn carry_along(model: &Model, work: &mut Workspace) -> f64 {
    let Workspace { motion, contacts, problem, detection, carry, .. } = work;
    let Scratch { way: Some(way), end: Some(end), surfaces, found, .. } = carry else { return 0.0 };
    let (mut change, mut pair) = (0.0f64, None);
    for c in contacts.contacts.iter().filter(|c| c.owners.iter().any(|o| motion.surfaces.turns(*o))) {
        let parts = (c.id.part_a, c.id.part_b);
        if pair.replace(parts) != Some(parts) {
            let poses = [parts.0, parts.1].map(|k| {
                let part = &model.parts()[k as usize];
                match part.owner {
                    Owner::Body(i) => end.pose(i).then(&part.local),
                    Owner::World(_) => surfaces.pose(part.owner).unwrap_or(part.local),
                }
            });
            found.clear();
            detect_at(model, motion, (parts, c.rule), poses, detection, found);
        }
        for k in c.elements() {
            let element = contacts.elements[k];
            let [moving, _] = motion.surfaces.relative(way, c.owners, element.point, c.frame.n);
            let row = problem.rows_of(k).start;
            let mut normal = dot(c.frame.n, moving);
            if let (1, Some(e)) = (c.count, found.contacts.iter().find(|e| e.id == c.id)) {
                let gap = found.elements[e.first].gap;
                normal = at_end(motion, way, c, (element.point, normal), (gap - element.gap) / motion.h);
            }
            let rounding = ROUNDING * length(element.point) / motion.h;
            change = change.max(problem.set_moving(row, normal) - rounding);
            for (i, axis) in [c.frame.t, c.frame.o].iter().enumerate().take(problem.linear_rows - 1) {
                change = change.max(problem.set_moving(row + 1 + i, dot(*axis, moving)));
            }
        }
    }
    change
}

/// Takes the velocities of contacts with carriers for these ways of the bodies; returns their largest change, m/s.
fn carried(model: &Model, work: &mut Workspace) -> f64 {
    let Workspace { motion, contacts, problem, carry, .. } = work;
    let Scratch { way: Some(rows), end: Some(end), .. } = carry else { return 0.0 };
    let ways = Ways { start: rows, rows, end, share: 0.0, h: motion.h };
    carry_round(model, ways, contacts, problem)
}

/// Velocity of a surface along the normal with which a contact has the gap at the end of the step that the bodies have there; `normal` is that when it begins, `rate` is that
/// of the gap.
fn at_end(motion: &Motion, way: &Kinematics, c: &Contact, (point, normal): (Vector, f64), rate: f64) -> f64 {
    let of = |owner: Owner| match owner {
        Owner::Body(i) => (way.point_velocity(i, point), way.angular_velocity(i)),
        Owner::World(_) => ([0.0; 3], [0.0; 3]),
    };
    let [(a, turn_a), (b, turn_b)] = c.owners.map(of);
    let own = rate - dot(c.frame.n, sub(b, a));
    let [carried, angular] = motion.surfaces.relative(way, c.owners, point, c.frame.n);
    let speed = length(a) + length(b) + length(carried);
    let turn = length(angular) + length(turn_a) + length(turn_b);
    if (own - normal).abs() <= OTHER * motion.h * turn * speed { own } else { normal }
}
