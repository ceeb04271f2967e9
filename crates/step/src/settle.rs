//! Forces that depend on the end of the step, in the theta rule.

use super::{Failed, StepReport, Workspace};
use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::motion::fall;
use crate::space::length;
use crate::state::State;

/// Rounds after which the forces count as not settled.
const ROUNDS: usize = 50;

/// Forces have settled when they change velocities by at most this share of the largest.
const SETTLED: f64 = 1e-10;

/// Changes of velocities are measured against at least this velocity, m/s or rad/s: below it they are rounding.
pub(super) const SLOW: f64 = 1e-3;

/// Memory of [`settle`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// Where the forces are evaluated; made when it is first needed.
    kinematics: Option<Kinematics>,
    position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    pub(super) free: Vec<f64>,
    change: Vec<f64>,
}

/// Evaluates f at `(t_theta, q_theta, v_theta)`, `t_theta = t + (1-theta) h` (pang2005 (15) has `t + h`, of first order), and solves again, until f stays. The contact problem has been solved with
/// the f of `motion.free`. `before`: parts and iterations before that.
pub(super) fn settle(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    (parts, iterations): (usize, usize),
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    let Workspace { motion, problem, solver, forces, settling, rest, .. } = work;
    let Scratch { kinematics, position, velocity, free, change: by } = settling;
    let kinematics = kinematics.get_or_insert_with(|| Kinematics::new(model.system()));
    let (theta, h) = (problem.theta, motion.h);
    let mut change = f64::INFINITY;
    for _ in 0..ROUNDS {
        velocity.clone_from(&motion.free);
        problem.push(motion.kick(), &forces.lambda, free, velocity);
        let fastest = velocity.iter().chain(&state.velocity).fold(0.0f64, |m, v| m.max(v.abs()));
        for (after, v) in velocity.iter_mut().zip(&state.velocity) {
            *after = theta * v + (1.0 - theta) * *after;
        }
        position.resize(state.position.len(), 0.0);
        // theta q + (1-theta) q+, for attitudes along the rotation
        model.system().advance(&state.position, velocity, (1.0 - theta) * h, position);
        kinematics.update(position, velocity);
        motion.time = state.time + (1.0 - theta) * h;
        fall(model, inputs, kinematics, motion.time, &mut motion.outside, free);
        motion.servos.add(&state.velocity, free);
        motion.kick().solve(free);
        free.iter_mut().zip(&state.velocity).for_each(|(a, v)| *a = v + h * *a);
        report.rounds += 1;

        by.clear();
        by.extend(free.iter().zip(&motion.free).map(|(new, old)| new - old));
        change = by.iter().fold(0.0, |m, by| by.abs().max(m));
        if !by.iter().all(|by| by.is_finite()) {
            change = f64::INFINITY;
            break;
        }
        std::mem::swap(&mut motion.free, free);
        // the newest f is nearer still: it moves the bodies, and the answer of the contact problem stays
        if change <= SETTLED * fastest.max(h * length(model.scene().gravity)).max(SLOW) {
            return Ok(());
        }
        problem.add_velocity(motion.kick(), by);
        report.parts = parts;
        let at_rest = forces.memory.at_rest;
        rest.solve_or_relax(model, solver, (problem, motion), (state.time, forces, report))?;
        // the first answer of a step is a good start of the next round, whether or not the bodies are at rest
        forces.memory.at_rest &= at_rest;
    }
    report.parts = parts;
    report.wasted += std::mem::replace(&mut report.iterations, iterations) - iterations;
    Err(Failed::Unsettled { time: state.time, h, change })
}
