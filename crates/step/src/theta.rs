//! The theta rule, pang2005 (15)-(16), and forces f that depend on the end of the step.
//!
//! With f at `(t_theta, q_theta, v_theta)` known, (15)-(16) are the contact problem; with its answer f is evaluated again, at the middle
//! `v_theta = theta v + (1-theta) v+` and `q_theta`, and so on: the contraction in the proof of pang2005 Proposition 3, for h
//! small. M, W and G stay those of the old state; velocity products are no part of f, see [`crate::dynamics::Drift`]. Its rate is about `(1-theta) h |M^-1 df/dv| + (1-theta)^2 h^2 |M^-1 df/dq|`.

use super::approach::{foresee, meets_more, turns_into};
use super::books::{Deformation, End};
use super::carry::settle_ways;
use super::detect::refuse_dent;
use super::impact::bounce;
use super::settle::settle;
use super::{Failed, Forces, Solved, StepReport, Workspace, advance, detect, elements, place, standing};
use crate::contact::set::ContactSet;
use crate::formulation::{ContactProblem, assemble};
use crate::inputs::Inputs;
use crate::model::{Model, StandingRow};
use crate::motion::CLOSED;
use crate::scene::{ForceTime, GapLevel};
use crate::state::{RowId, State};

/// Rounds after which the stiffness of contacts counts as not settled.
const STIFFNESS_ROUNDS: usize = 30;

/// Rounds after which smooth friction is taken at the normal force of the last one.
const GRIP_ROUNDS: usize = 5;

/// One step of length `h`. On failure the state is as it was.
pub fn step(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    h: f64,
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    work.laws.set_step(model, h)?;
    work.rest.begin();
    if let Some(drift) = &mut work.advancing.drift {
        drift.hand_over(&state.position, &mut work.motion.kinematics, &mut work.motion.mass);
    }
    place(model, state, inputs, h, &mut work.motion)?;
    detect(model, &work.motion, work.motion.margin, &mut work.detection, &mut work.contacts)?;
    match model.scene().step.gap {
        GapLevel::Distance => {
            work.approach.begin(model, &work.motion, &state.memory, &mut work.contacts);
            foresee(model, state, inputs, work);
        }
        GapLevel::Velocity => keep_closed(model, state, work),
        GapLevel::Position => {}
    }
    let before = (report.parts, report.iterations);
    loop {
        solve(model, state, inputs, before, work, report)?;
        if model.scene().step.gap != GapLevel::Distance || !meets_more(model, state, inputs, work) {
            break;
        }
        report.parts = before.0;
        work.motion.given.clear();
        work.motion.fall(model, state, inputs)?;
    }
    if model.scene().step.gap == GapLevel::Distance
        && work.may_cut
        && work.solver.has_budget()
        && let Some(depth) = turns_into(model, state, inputs, work)
    {
        // shorter steps are tried, and the last is accepted
        return Err(Failed::Passes { time: state.time, h, names: String::new(), depth });
    }
    for c in &work.contacts.contacts {
        if work.forces.lambda[work.problem.rows_of_contact(c).start] > 0.0 {
            refuse_dent(model, &work.detection, c, &work.contacts.elements[c.first], state.time)?;
        }
    }
    let Workspace {
        laws,
        motion,
        contacts,
        problem,
        forces,
        advancing,
        solver,
        impacts,
        rest,
        other_motion,
        ..
    } = work;
    if state.memory.is_empty() {
        report.recovery_work += problem.pressed_energy(model, laws, contacts);
    }
    let bounced = bounce(model, (motion, contacts), problem, forces, solver, impacts, (state.time, report))?;
    advancing.bounced.clear();
    if bounced {
        advancing.bounced.extend_from_slice(&impacts.velocity);
    }
    let mut solved = Solved { laws, motion, contacts, problem, forces };
    advance(model, solved, advancing, state, report)?;
    rest.note((model, contacts, problem), state, report, other_motion);
    if bounced {
        solved.forces = &impacts.forces;
    }
    report.relaxed += problem.relaxed.len();
    work.relaxed.extend(problem.relaxed.iter().map(|&k| row_id(model, contacts, problem, k)));
    elements(model, solved, advancing.deformation(), &mut work.elements, report);
    let velocity = if bounced { &impacts.velocity } else { &advancing.kicked };
    let deformation = Deformation::Elements(advancing.deformation());
    let end = End { mass: motion.kick(), velocity, bounced, deformation };
    work.books.contacts(model, solved, end, &work.elements, report);
    let rows = (&mut work.standing, &mut work.books);
    standing(model, solved, (&advancing.projection, &advancing.kicked), bounced, rows, report);
    Ok(())
}

/// Solves the contact problem of the contacts at hand. `before`: parts and iterations before the step.
fn solve(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    before: (usize, usize),
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    let by_distance = model.scene().step.gap == GapLevel::Distance;
    let (mut rounds, mut grips) = (0, 0);
    loop {
        assemble(model, &work.laws, state, &work.motion, &work.contacts, &mut work.problem);
        if work.problem.theta != work.motion.theta {
            // springs of joints are of the same rule
            work.motion.theta = work.problem.theta;
            report.left_midpoint += 1;
            work.motion.fall(model, state, inputs)?;
            assemble(model, &work.laws, state, &work.motion, &work.contacts, &mut work.problem);
        }
        remember_solver(model, state, &work.contacts, &work.problem, &mut work.forces);
        if by_distance {
            work.approach.start_from_last(model, &work.contacts, &work.problem, &mut work.forces);
        }
        let Workspace { rest, solver, problem, motion, forces, .. } = &mut *work;
        rest.solve_or_relax(model, solver, (problem, motion), (state.time, forces, report))?;
        if model.scene().step.force_time() == ForceTime::Theta {
            settle(model, state, inputs, before, work, report)?;
        }
        settle_ways(model, state, inputs, before, work, report)?;
        // servos beyond their largest effort and limits that are passed are rows in another round; each at most once
        let mut again = beyond(model, work);
        let Workspace { laws, motion, contacts, problem, forces, .. } = work;
        if problem.restiffen(model, laws, contacts, &forces.lambda, &mut motion.given) {
            rounds += 1;
            again = true;
        }
        if grips < GRIP_ROUNDS && problem.regrip(model, motion, contacts, &forces.lambda) {
            grips += 1;
            again = true;
        }
        if !again {
            return Ok(());
        }
        if rounds > STIFFNESS_ROUNDS {
            return Err(Failed::Unsettled { time: state.time, h: work.motion.h, change: f64::INFINITY });
        }
        report.parts = before.0;
        work.motion.fall(model, state, inputs)?;
    }
}

/// Whether servos that were eliminated are beyond their largest effort, or limits are passed that were far; both are rows
/// from now on.
fn beyond(model: &Model, work: &mut Workspace) -> bool {
    let Workspace { motion, problem, forces, settling, .. } = work;
    let limits = model.standing().iter().any(StandingRow::is_limit);
    if !motion.servos.are_bounded() && !limits {
        return false;
    }
    settling.velocity.clone_from(&motion.free);
    if !problem.is_empty() {
        problem.push(motion.kick(), &forces.lambda, &mut settling.free, &mut settling.velocity);
    }
    let mut passed = std::mem::take(&mut motion.passed);
    let any = problem.find_passed(model, motion, &settling.velocity, &mut passed);
    motion.passed = passed;
    motion.servos.keep(&motion.velocity, &settling.velocity) || any
}

/// What an element of the contact problem belongs to.
pub fn row_id(model: &Model, contacts: &ContactSet, problem: &ContactProblem, element: usize) -> RowId {
    match contacts.contacts.iter().find(|c| c.elements().contains(&element)) {
        Some(c) => RowId::Contact(c.id),
        None => model.standing()[problem.standing[element - contacts.elements.len()].row].id,
    }
}

/// Keeps contacts with an element that is closed, `psi + delta_n <= 0`: song2004 (13), (14).
fn keep_closed(model: &Model, state: &State, work: &mut Workspace) {
    let rows = model.contacts().linear_rows();
    work.contacts.retain(|c, elements| {
        let known = state.memory.find(RowId::Contact(c.id));
        let delta = |k: usize| known.and_then(|m| m.deformations.get(rows * k)).copied().unwrap_or(0.0);
        elements.iter().enumerate().any(|(k, e)| e.gap + delta(k) <= CLOSED)
    });
}

/// The solve starts from the last forces, and from what the solver remembers if the rows are the same.
pub(crate) fn remember_solver(
    model: &Model,
    state: &State,
    contacts: &ContactSet,
    problem: &ContactProblem,
    forces: &mut Forces,
) {
    let now = contacts.contacts.iter().map(|c| RowId::Contact(c.id));
    let now = now.chain(problem.standing.iter().map(|s| model.standing()[s.row].id));
    match now.eq(state.memory.iter().map(|m| m.id)) {
        true => forces.memory.copy_from(&state.solver),
        false => forces.memory.clear(),
    }
    forces.lambda.clone_from(&problem.start);
}
