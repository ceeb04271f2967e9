//! The geometrically implicit scheme: contact points, normals and gaps are those at the end of the step (chakraborty2007 (4), (14)-(15)).
//!
//! Unknown are the velocities `v+`, the closest points, the deformations of soft layers and the forces. With `psi` and `W` at `q+ = q + h G v_theta`,
//!
//! ```text
//! M (v+ - v) = h (f + W' lambda)        0 <= lambda_n _|_ psi(q+) + delta_n+ >= 0        lambda_t: friction against s = W v_theta + (delta+ - delta)/h
//! ```
//!
//! and the layers of `contact/layer.rs`. It is solved by Josephy's Newton method: bodies are placed at the end as it is known, the closest points (9), (11)
//! are solved there, the gap is linearised (`d psi/dq = W_n`), and the contact problem that is left, friction ellipsoid, layers and all, is
//! solved as the theta scheme's is; then again from the new end. Deviations from the paper:
//!
//! - closest points are eliminated, not unknowns of the same system: each iterate has its own exactly;
//! - derivatives of `W' lambda` are left out of the linearisation, so that convergence is linear, at a rate of `h |v| times a curvature` or less: two to
//!   five iterations reach rounding; the accepted end satisfies the nonlinear equations all the same;
//! - where convergence is slow (nearly flat surfaces, whose contact point runs far for a small turn) the velocities of each tree are extrapolated along their last two iterates;
//! - sigma of (5) does not appear: the friction law is the natural map of the element, which leaves nothing open at `p_n = 0`;
//! - velocity products follow in the [`crate::dynamics::Drift`] as in the theta scheme, and the contact laws hold for the velocities after it; the
//!   linearisation uses the masses at the end.
//!
//! With `explicit_share = 1/2` the rule is the midpoint's, of second order: directions and slip at the middle of the step, gaps at its end, springs at the mean of
//! both deformations. It is used where the same contacts carry force before and after the step, no core is met or left and nothing approaches; elsewhere the
//! step is that of `explicit_share = 0`.
//!
//! An end is accepted if the velocities have settled, nothing overlaps there, and no pair has passed through each other on the way ([`between`]).

mod between;
mod ending;
mod secant;

use super::detect::detect_again;
use super::motion::Motion;
use super::project::OPEN;
use super::surfaces::Surfaces;
use super::theta::remember_solver;
use super::{Failed, StepReport, Workspace, detect, place};
use crate::contact::set::ContactSet;
use crate::dynamics::{Drift, Kinematics, NotDrifted};
use crate::formulation::Soft;
use crate::geometry::{Touch, Workspace as Touching};
use crate::inputs::Inputs;
use crate::model::{InvalidModel, Model, Owner};
use crate::space::{dot, length, sub};
use crate::state::{ContactId, RowId, State};
use complementarity::problem::Element;
use secant::Secant;

/// Iterations after which a step counts as not settled.
const ROUNDS: usize = 40;
/// Velocities have settled when they change by at most this share of the largest.
const SETTLED: f64 = 1e-12;
/// Where changes have not decreased for this many iterations, those up to this share of the largest velocity are accepted: near flat faces the contact point runs farther than
/// the tolerance of the contact problem tells. They count in the residual of the step, and above the tolerance as loose.
const STALE: usize = 4;
const ROUNDED: f64 = 1e-7;
/// Rounding of a place, over its distance from the origin.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Overlap at the end of a step that counts as rounding: share of the way that the fastest point makes, and of the bodies' size.
const OVERLAP: f64 = 1e-8;
const OVERLAP_SIZE: f64 = 1e-11;
/// A start that is deeper than the core by more than this share of the bodies' size is refused.
const DEEP: f64 = 1e-6;
/// Where changes do not fall to this share of the ones before, they are extrapolated.
const SLOW: f64 = 0.1;
/// Approach, over the velocity that the contact's force changes in a step, up to which a contact counts as resting.
const RESTING: f64 = 0.2;

/// Memory of the scheme.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// Bodies at the end as it is known.
    end: Option<Motion>,
    /// Contacts there, before they are those of the next iteration.
    next: ContactSet,
    /// Bodies and contacts at the middle, for the midpoint rule.
    middle: Option<Motion>,
    between: ContactSet,
    soft: Vec<Soft>,
    known: Vec<Soft>,
    position: Vec<f64>,
    half: Vec<f64>,
    /// `theta v + (1-theta) v'` of the iterate, with which bodies drift; the same with `v+`; and `v+`.
    mean: Vec<f64>,
    seen: Vec<f64>,
    after: Vec<f64>,
    secant: Secant,
    /// `v' - free`, then the momentum `h W' lambda`, of the iterate.
    kick: Vec<f64>,
    impulse: Vec<f64>,
    /// Gaps and their rates at the beginning of the step.
    begin: Vec<(ContactId, f64, f64)>,
    path: Option<Kinematics>,
    surfaces: Surfaces,
    touching: Touching,
    found: Vec<Touch>,
}

/// One step of length `h`. On failure the state is as it was.
pub(super) fn step(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    h: f64,
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    if let Some(drift) = &mut work.advancing.drift {
        drift.hand_over(&state.position, &mut work.motion.kinematics, &mut work.motion.mass);
    }
    place(model, state, inputs, h, &mut work.motion)?;
    let share = model.scene().step.explicit_share;
    if share > 0.0 {
        let before = *report;
        let found = solve(model, state, inputs, share, work, report).and_then(|()| {
            if is_smooth(model, state, work) { Ok(()) } else { Err(unsettled(state, h, 0.0)) }
        });
        match found {
            Ok(()) => return ending::finish(model, state, inputs, work, report),
            Err(Failed::Unsettled { .. } | Failed::Unsolved { .. }) => {
                let wasted = report.iterations - before.iterations;
                *report = before;
                report.wasted += wasted;
            }
            Err(why) => return Err(why),
        }
    }
    solve(model, state, inputs, 0.0, work, report)?;
    ending::finish(model, state, inputs, work, report)
}

fn unsettled(state: &State, h: f64, change: f64) -> Failed {
    Failed::Unsettled { time: state.time, h, change }
}

/// Whether the midpoint rule may stand: the same contacts carry force as before the step, at the same layers, and they rest at its beginning.
fn is_smooth(model: &Model, state: &State, work: &Workspace) -> bool {
    let Workspace { motion, contacts, problem, forces, .. } = work;
    let scratch = &work.implicit;
    let loaded = |m: &crate::state::Remembered<'_>| {
        matches!(m.id, RowId::Contact(_)) && m.forces.first().is_some_and(|f| *f > 0.0)
    };
    let before = state.memory.iter().filter(loaded).count();
    let mut now = 0;
    for (c, soft) in contacts.contacts.iter().zip(&scratch.soft) {
        let at = problem.rows_of(c.first).start;
        if forces.lambda[at] <= 0.0 {
            continue;
        }
        now += 1;
        let Some(known) = state.memory.find(RowId::Contact(c.id)).filter(loaded) else { return false };
        let was_core = |l: usize| {
            let layer = model.contacts().rules()[c.rule].layers[l];
            soft.before[l][0] >= layer.thickness
        };
        let layers = model.contacts().rules()[c.rule].layers.len();
        if (0..layers).any(|l| soft.core[l] != was_core(l)) {
            return false;
        }
        // rigid contacts must not approach or open; springs may
        if (0..layers).all(|l| soft.core[l]) {
            let Ok(k) = scratch.begin.binary_search_by_key(&c.id, |b| b.0) else { return false };
            let kick = motion.h * known.forces[0].max(forces.lambda[at]) * problem.mobility(c.first);
            if scratch.begin[k].2.abs() > RESTING * kick {
                return false;
            }
        }
    }
    now == before
}

/// Velocity of the second body's point relative to the first's.
fn relative(kinematics: &Kinematics, owners: [Owner; 2], point: [f64; 3]) -> [f64; 3] {
    let of = |owner: Owner| match owner {
        Owner::Body(i) => kinematics.point_velocity(i, point),
        Owner::World(_) => [0.0; 3],
    };
    sub(of(owners[1]), of(owners[0]))
}

/// Iterates to the end of the step: `scratch.position`, `scratch.after`, with `work.contacts`, `work.problem` and `work.forces` of the last iteration.
fn solve(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    theta: f64,
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    let Workspace { motion, contacts, problem, forces, detection, solver, advancing, implicit, .. } = work;
    let Scratch {
        end,
        next,
        middle,
        between,
        soft,
        known,
        position,
        half,
        mean,
        seen,
        after,
        secant,
        kick,
        impulse,
        begin,
        ..
    } = implicit;
    let (h, springs) = (motion.h, model.scene().step.tangential_springs);
    let linear = model.contacts().linear_rows();
    let end = end.get_or_insert_with(|| Motion::new(model));
    (end.h, end.time, end.margin) = (h, motion.time, motion.margin);
    end.velocity.copy_from_slice(&motion.velocity);
    end.fastest.clone_from(&motion.fastest);
    end.targets.clone_from(&motion.targets);
    end.surfaces.clone_from(&motion.surfaces);
    position.clone_from(&state.position);
    after.clone_from(&state.velocity);
    for list in [&mut *mean, &mut *seen, &mut *kick] {
        list.clear();
        list.resize(after.len(), 0.0);
    }
    soft.clear();
    begin.clear();
    secant.clear();
    let drift = advancing.drift.get_or_insert_with(|| Drift::new(model.system()));
    let fastest = motion.fastest.iter().chain(&motion.free).fold(0.0f64, |m, v| m.max(v.abs()));
    let scale = fastest.max(h * length(model.scene().gravity)).max(f64::MIN_POSITIVE);
    let (mut change, mut before) = (f64::INFINITY, f64::INFINITY);
    let (mut regimes, tolerance) = (false, model.scene().step.tolerance);
    // the least change so far, and iterations since
    let (mut least, mut stale) = (f64::INFINITY, 0);
    // a change that moves nothing farther than this within the step
    let rounding = ROUNDING / h * farthest(model, motion);
    for round in 0..ROUNDS {
        end.kinematics.go_to(position, seen);
        if round == 1 {
            end.surfaces.place(model, inputs, state.time + h);
        }
        if round == 0 {
            detect(model, end, motion.margin, detection, next)?;
        } else {
            detect_again(model, end, motion.margin, detection, next)?;
        }
        if round > 0 {
            let open = open_rows(model, end, position);
            let settled = change <= SETTLED * scale
                || (change >= 0.5 * before && change <= tolerance * scale + rounding)
                || (stale >= STALE && change <= ROUNDED * scale);
            if settled && !regimes && open <= OPEN && lies_within(model, next, soft, h * scale) {
                report.violation = report.violation.max(open);
                let left = (change - rounding) / scale;
                report.residual.relative = report.residual.relative.max(left);
                report.loose += usize::from(left > tolerance);
                return Ok(());
            }
        } else {
            begin.extend(next.contacts.iter().map(|c| {
                let element = next.elements[c.first];
                (c.id, element.gap, dot(c.frame.n, relative(&motion.kinematics, c.owners, element.point)))
            }));
            refuse_deep(model, state, next)?;
        }
        if theta > 0.0 && round > 0 {
            // directions at the middle of the step, gaps at its end
            let middle = middle.get_or_insert_with(|| Motion::new(model));
            half.resize(position.len(), 0.0);
            model.system().advance(&state.position, mean, 0.5 * h, half);
            middle.kinematics.go_to(half, seen);
            detect_again(model, middle, motion.margin, detection, between)?;
            for c in &mut next.contacts {
                if let Ok(k) = between.contacts.binary_search_by_key(&c.id, |m| m.id) {
                    c.frame = between.contacts[k].frame;
                    next.elements[c.first].point = between.elements[between.contacts[k].first].point;
                }
            }
            end.kinematics.go_to(half, seen);
        }
        // linear in the velocities: psi(q+) + h W_n (v_theta - that of q+)
        for c in &next.contacts {
            let point = next.elements[c.first].point;
            let mut rate = dot(c.frame.n, relative(&end.kinematics, c.owners, point));
            if round > 0 {
                let moving = end.surfaces.relative(&end.kinematics, c.owners, point, c.frame.n);
                rate += dot(c.frame.n, moving[0]);
            }
            next.elements[c.first].gap -= h * rate;
        }
        std::mem::swap(contacts, next);
        // layers keep what the last iteration found of them
        std::mem::swap(soft, known);
        soft.clear();
        let same = known.len() == contacts.contacts.len();
        for c in &contacts.contacts {
            let found = known.iter().find(|s| s.id == c.id).copied();
            soft.push(found.unwrap_or_else(|| Soft::new(c.id, linear, state)));
        }
        let same = same && known.iter().zip(&contacts.contacts).all(|(s, c)| s.id == c.id);
        // velocities at the end without contact forces, as the masses there see them
        end.mass.go_to(&end.kinematics)?;
        end.free.clear();
        if round == 0 {
            end.free.extend_from_slice(&motion.free);
        } else {
            end.mass.solve(kick);
            end.free.extend(after.iter().zip(&*kick).map(|(v, by)| v - by));
        }
        let at = (&position[..], &seen[..]);
        problem.assemble_implicit(model, (state, end, contacts), at, soft, (theta, springs));
        if round == 0 {
            remember_solver(model, state, contacts, problem, forces);
        } else if !same || forces.lambda.len() != problem.b.len() {
            forces.lambda.clone_from(&problem.start);
            forces.memory.clear();
        }
        if round > 0 && !problem.is_empty() {
            report.parts = report.parts.saturating_sub(1);
        }
        solver.solve(problem, state.time, forces, report)?;
        regimes = false;
        for (c, soft) in contacts.contacts.iter().zip(&mut *soft) {
            let at = problem.rows_of(c.first);
            let own = &forces.lambda[at.start..at.start + linear];
            let tolerance = 1e-9 * own[0].abs();
            regimes |= soft.update(&model.contacts().rules()[c.rule].layers, (h, theta), own, tolerance);
        }
        after.clone_from(&motion.free);
        if !problem.is_empty() {
            problem.push(&end.mass, &forces.lambda, impulse, kick_of(kick, after.len()));
            // h W' lambda, then v' of the masses at the beginning
            end.mass.multiply(kick, impulse);
            kick.clone_from(impulse);
            motion.mass.solve(impulse);
            after.iter_mut().zip(&*impulse).for_each(|(v, by)| *v += by);
        }
        (before, change) = (change, secant.residual(after));
        stale = if change < 0.5 * least { 0 } else { stale + 1 };
        least = least.min(change);
        let slow = round > 1 && !regimes && change > ROUNDED * scale && change > SLOW * before;
        secant.accelerate(&motion.mass, slow, after, kick);
        secant.point.clone_from(after);
        mean.clear();
        mean.extend(motion.velocity.iter().zip(&*after).map(|(v, a)| theta * v + (1.0 - theta) * a));
        drift.advance(&motion.kinematics, &motion.mass, h, mean, (position, after)).map_err(|e| match e {
            NotDrifted::Mass(e) => Failed::Mass(e),
            NotDrifted::Unsettled { change } => unsettled(state, h, change),
        })?;
        seen.clear();
        seen.extend(motion.velocity.iter().zip(&*after).map(|(v, a)| theta * v + (1.0 - theta) * a));
        if !position.iter().chain(&*after).all(|x| x.is_finite()) {
            return Err(Failed::NotFinite { time: state.time });
        }
        report.rounds += 1;
        if problem.is_empty() {
            return Ok(());
        }
    }
    report.wasted += report.iterations;
    Err(unsettled(state, h, change))
}

/// The most by which rigid rows that bind both ways are open at the end, or limits passed, m or rad.
fn open_rows(model: &Model, end: &Motion, position: &[f64]) -> f64 {
    let rigid = model.standing().iter().filter(|row| row.compliance.is_none());
    rigid
        .filter_map(|row| {
            let gap = row.gap(model.scene(), &end.kinematics, position, &end.targets)?;
            match row.element {
                Element::Bilateral => Some(gap.abs()),
                Element::Unilateral => Some(-gap),
                _ => None,
            }
        })
        .fold(0.0, f64::max)
}

/// The farthest that a point of a body is from the origin, m.
fn farthest(model: &Model, motion: &Motion) -> f64 {
    let of = |(i, reach): (usize, &f64)| {
        length(motion.kinematics.pose(i).position) + if reach.is_finite() { *reach } else { 0.0 }
    };
    model.reaches().iter().enumerate().map(of).fold(0.0, f64::max)
}

/// The list, all zero.
fn kick_of(list: &mut Vec<f64>, length: usize) -> &mut Vec<f64> {
    list.clear();
    list.resize(length, 0.0);
    list
}

/// Whether nothing overlaps at the end by more than rounding: `psi + delta_n >= 0`.
fn lies_within(model: &Model, contacts: &ContactSet, soft: &[Soft], way: f64) -> bool {
    contacts.contacts.iter().all(|c| {
        let known = soft.iter().find(|s| s.id == c.id);
        let gap = contacts.elements[c.first].gap + known.map_or(0.0, Soft::compression);
        gap >= -(OVERLAP * way + OVERLAP_SIZE * size(model, c.owners))
    })
}

/// Size of the smaller of two bodies, m.
fn size(model: &Model, owners: [Owner; 2]) -> f64 {
    let of = |owner: Owner| match owner {
        Owner::Body(i) => model.reaches()[i],
        Owner::World(_) => f64::INFINITY,
    };
    let least = of(owners[0]).min(of(owners[1]));
    if least.is_finite() { least } else { 1.0 }
}

/// A start that is deeper than the cores is refused by name.
fn refuse_deep(model: &Model, state: &State, contacts: &ContactSet) -> Result<(), Failed> {
    for c in &contacts.contacts {
        let layers = &model.contacts().rules()[c.rule].layers;
        let room: f64 = layers.iter().map(|l| l.thickness).sum();
        let depth = -contacts.elements[c.first].gap - room;
        if depth > DEEP * size(model, c.owners) {
            let [a, b] = [c.id.part_a, c.id.part_b].map(|k| &model.parts()[k as usize].name);
            return Err(Failed::Model(InvalidModel(format!(
                "'{a}' and '{b}' are {depth:.3e} m deeper in each other at t = {} s than their rigid cores allow",
                state.time
            ))));
        }
    }
    Ok(())
}
