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
//! - closest points are eliminated, not unknowns of the same system: each iterate has its own exactly; but for nearly flat spots, where they are unknowns ([`running`]);
//! - derivatives of `W' lambda` are left out of the linearisation, so that convergence is linear, at a rate of `h |v| times a curvature` or less: two to
//!   five iterations reach rounding; the accepted end satisfies the nonlinear equations all the same;
//! - where convergence is slow the velocities of each tree are extrapolated from their last iterates;
//! - sigma of (5) does not appear: the friction law is the natural map of the element, which leaves nothing open at `p_n = 0`;
//! - velocity products follow in the [`crate::dynamics::Drift`] as in the theta scheme, and the contact laws hold for the velocities after it; the
//!   linearisation uses the masses at the end.
//!
//! With `explicit_share = 1/2` the rule is the midpoint's, of second order: directions and slip at the middle of the step, gaps at its end, springs at the mean of
//! both deformations, applied forces at the middle; the velocity at the end is projected on what stays closed and sticks ([`tangent`]). It is used where the same contacts carry
//! force before and after the step, no core is met or left and nothing approaches; elsewhere the step is that of `explicit_share = 0`, and counted.
//!
//! An end is accepted if the velocities have settled to rounding, or if they change no less from iteration to iteration (noise of the solver) and the forces solve the contact
//! problem of the end that they led to within the tolerance; if nothing overlaps there; and if no pair has passed through each other on the way ([`between`]). Where the features
//! of a pair take turns from iteration to iteration, both are kept ([`keep_missing`]): linearised gaps at the end hold for both.

mod between;
mod ending;
mod middle;
mod running;
mod secant;
mod tangent;

use super::carrier::{Ways, carry_round};
use super::detect::detect_again;
use super::project::OPEN;
use super::theta::remember_solver;
use super::{Failed, StepReport, Workspace, detect, place};
use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::{Drift, Kinematics, NotDrifted};
use crate::formulation::{ContactProblem, Soft, meet_between_layers};
use crate::geometry::{Touch, Workspace as Touching};
use crate::inputs::Inputs;
use crate::model::{InvalidModel, Model, Owner};
use crate::motion::{CLOSED, Motion, Surfaces};
use crate::space::{dot, length, sub};
use crate::state::{ContactId, RowId, State};
use complementarity::problem::Element;
use complementarity::residual::{self, Evaluation, Residual};
use middle::{forces as forces_at_middle, is_smooth};
use running::Points;
use secant::Secant;
use std::ops::Range;

/// Iterations after which a step counts as not settled.
const ROUNDS: usize = 40;
/// Velocities have settled when they change by at most this share of the largest.
const SETTLED: f64 = 1e-12;
/// Where changes do not fall to this share of the ones before, they may be noise of the solver: the residual decides.
const CONTRACTS: f64 = 0.5;
/// Rounding of a place, over its distance from the origin.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Overlap at the end of a step that counts as rounding: share of the way that the fastest point makes, and of the bodies' size.
const OVERLAP: f64 = 1e-8;
const OVERLAP_SIZE: f64 = 1e-11;
/// A start that is deeper than the core by more than this share of the bodies' size is refused.
const DEEP: f64 = 1e-6;
/// Where changes do not fall to this share of the ones before, they are extrapolated.
const SLOW: f64 = 0.1;
const EXTRAPOLATED: f64 = 1e-11;
/// Iterations that are plain: extrapolation that has not led to the end by then may hold it up. Later ones are extrapolated again.
const PLAIN: Range<usize> = 20..32;
/// Changes up to this share of the largest velocity are near the end of an iteration.
const LATE: f64 = 1e-7;
/// Iterations with other contacts than the ones before, after which contacts that vanish are kept: where features take turns, the end
/// has both.
const FLIPS: usize = 2;
/// Approach, over the velocity that the contact's force changes in a step, up to which a contact counts as resting.
const RESTING: f64 = 0.2;

/// Memory of the scheme.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// Bodies at the end as it is known.
    end: Option<Motion>,
    /// Contacts there, before they are those of the next iteration.
    next: ContactSet,
    merged: ContactSet,
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
    points: Points,
    tangent: tangent::Tangent,
    /// `v' - free`, then the momentum `h W' lambda`, of the iterate.
    kick: Vec<f64>,
    impulse: Vec<f64>,
    /// Gaps and their rates at the beginning of the step.
    begin: Vec<(ContactId, f64, f64)>,
    path: Option<Kinematics>,
    /// Of each body, [`extent`].
    extents: Vec<f64>,
    evaluation: Evaluation,
    surfaces: Surfaces,
    touching: Touching,
    found: Vec<Touch>,
    /// Whether contacts were left out where the iteration began.
    waits: bool,
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
        let found = solve(model, state, inputs, (share, Begins::All), work, report).and_then(|()| {
            let stands = is_smooth(model, state, work) && tangent::project(model, work)?;
            if stands { Ok(()) } else { Err(unsettled(state, h, 0.0)) }
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
        report.left_midpoint += 1;
        work.motion.fall(model, state, inputs)?;
    }
    let before = *report;
    // what touched nothing flies on, if that meets nothing
    let free = solve(model, state, inputs, (0.0, Begins::Touching), work, report)
        .and_then(|()| between::check(model, state, inputs, work));
    if let Err(why) = free {
        if !work.implicit.waits {
            return Err(why);
        }
        let wasted = report.iterations - before.iterations;
        *report = before;
        report.wasted += wasted;
        solve(model, state, inputs, (0.0, Begins::All), work, report)?;
    }
    ending::finish(model, state, inputs, work, report)
}

/// The contacts with which the iteration begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// All that are near.
    All,
    /// Those that carried a force in the last step, or overlap. A body that comes by an edge is then first let fly on: begun with a push, the iteration may settle
    /// with one, for gap and force at the end of a step are both zero there at a turned normal, too.
    Touching,
}

fn unsettled(state: &State, h: f64, change: f64) -> Failed {
    Failed::Unsettled { time: state.time, h, change }
}

/// Velocity of the second body's point relative to the first's.
fn relative(kinematics: &Kinematics, owners: [Owner; 2], point: [f64; 3]) -> [f64; 3] {
    let of = |owner: Owner| match owner {
        Owner::Body(i) => kinematics.point_velocity(i, point),
        Owner::World(_) => [0.0; 3],
    };
    sub(of(owners[1]), of(owners[0]))
}

/// Iterates to the end of the step. Of the residuals of its parts the largest is reported.
fn solve(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    (theta, begins): (f64, Begins),
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    let earlier = std::mem::replace(&mut report.residual, Residual::ZERO);
    work.rest.begin();
    let found = iterate(model, state, inputs, (theta, begins), work, report);
    if found.is_err() || report.residual.relative < earlier.relative {
        report.residual = earlier;
    }
    found
}

/// Iterates to the end of the step: `scratch.position`, `scratch.after`, with `work.contacts`, `work.problem` and `work.forces` of the last iteration.
fn iterate(
    model: &Model,
    state: &State,
    inputs: &Inputs,
    (theta, begins): (f64, Begins),
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    let Workspace { motion, contacts, problem, forces, detection, solver, advancing, implicit, rest, .. } =
        work;
    let Scratch {
        end,
        next,
        merged,
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
        points,
        kick,
        impulse,
        begin,
        path,
        extents,
        evaluation,
        waits,
        ..
    } = implicit;
    if extents.is_empty() {
        extents.extend((0..model.reaches().len()).map(|i| extent(model, i)));
    }
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
    points.clear();
    *waits = false;
    let drift = advancing.drift.get_or_insert_with(|| Drift::new(model.system()));
    let path = path.get_or_insert_with(|| Kinematics::new(model.system()));
    path.go_to(&state.position, &motion.free);
    let fastest = motion.fastest.iter().fold(fastest_point(path, extents), |m, v| m.max(*v));
    let scale = fastest.max(h * length(model.scene().gravity)).max(f64::MIN_POSITIVE);
    let (mut change, mut before) = (f64::INFINITY, f64::INFINITY);
    let (mut regimes, tolerance) = (false, model.scene().step.tolerance);
    // whether the end may be accepted, and how far rows are open there
    let (mut within, mut open, mut extrapolated) = (false, 0.0, false);
    // iterations whose contacts were not those of the one before
    let mut flips = 0;
    // a change that moves nothing farther than this within the step
    let far = farthest(model, motion);
    let rounding = ROUNDING / h * far;
    for round in 0..ROUNDS {
        end.kinematics.go_to(position, seen);
        if round == 1 {
            end.surfaces.place(model, inputs, state.time + h, 1.0);
        }
        if round == 0 {
            detect(model, end, motion.margin, detection, next)?;
            if begins == Begins::Touching {
                begin.extend(gaps(motion, next));
                next.retain(|c, elements| {
                    let known = state.memory.find(RowId::Contact(c.id));
                    known.is_some_and(|k| k.forces.iter().any(|f| *f != 0.0))
                        || elements.iter().any(|e| e.gap <= CLOSED)
                });
                *waits = next.contacts.len() < begin.len();
            }
        } else {
            detect_again(model, end, motion.margin, detection, next)?;
        }
        if theta == 0.0 {
            let last = (round > 0).then_some((&*contacts, &*problem, &forces.lambda[..]));
            points.place(model, detection, next, last, h);
        }
        if round > 0 {
            open = open_rows(model, end, position);
            within = !regimes
                && points.are_parallel()
                && open <= OPEN
                && lies_within(model, next, soft, h * scale)
                && (flips < FLIPS
                    || carry(model, (contacts, next), soft, &forces.lambda, problem, h * scale));
            let settled = change <= SETTLED * scale || (!extrapolated && change <= rounding);
            if within && settled {
                points.apply_points(contacts);
                report.violation = report.violation.max(open);
                let left = (change - rounding) / scale;
                report.residual.relative = report.residual.relative.max(left);
                return Ok(());
            }
        } else {
            if begins == Begins::All {
                begin.extend(gaps(motion, next));
            }
            refuse_deep(model, state, next)?;
        }
        impulse.clear();
        if theta > 0.0 && round > 0 {
            // directions at the middle of the step, gaps at its end
            let middle = middle.get_or_insert_with(|| Motion::new(model));
            half.resize(position.len(), 0.0);
            model.system().advance(&state.position, mean, 0.5 * h, half);
            middle.kinematics.go_to(half, seen);
            detect_again(model, middle, motion.margin, detection, between)?;
            meet_between_layers(model, (state, soft), theta, between);
            for c in &mut next.contacts {
                if let Ok(k) = between.contacts.binary_search_by_key(&c.id, |m| m.id) {
                    c.frame = between.contacts[k].frame;
                    next.elements[c.first].point = between.elements[between.contacts[k].first].point;
                }
            }
            end.kinematics.go_to(half, seen);
            forces_at_middle(model, (state, inputs), theta, motion, (&mut *path, half, seen), impulse);
        } else {
            meet_between_layers(model, (state, soft), 0.0, next);
        }
        points.apply(model, next);
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
        if flips >= FLIPS {
            keep_missing(contacts, next, merged);
        }
        std::mem::swap(contacts, next);
        // layers keep what the last iteration found of them
        std::mem::swap(soft, known);
        soft.clear();
        let same = known.len() == contacts.contacts.len();
        for c in &contacts.contacts {
            let found = known.iter().find(|s| s.id == c.id).copied();
            soft.push(found.unwrap_or_else(|| {
                let mut new = Soft::new(c.id, linear, state, h * motion.spin(c.owners, c.frame.n));
                new.press(
                    &model.contacts().rules()[c.rule].layers,
                    depth(begin, c.id, contacts.elements[c.first].gap),
                );
                new
            }));
        }
        let same = same && known.iter().zip(&contacts.contacts).all(|(s, c)| s.id == c.id);
        flips += usize::from(round > 1 && !same);
        // velocities at the end without contact forces, as the masses there see them
        end.mass.go_to(&end.kinematics)?;
        end.free.clear();
        if round == 0 {
            end.free.extend_from_slice(&motion.free);
        } else {
            end.mass.add_inertia(&end.kinematics, points.inertia(h))?;
            points.lean(&end.kinematics, h, kick);
            end.mass.solve(kick);
            end.free.extend(after.iter().zip(&*kick).map(|(v, by)| v - by));
            end.free.iter_mut().zip(&*impulse).for_each(|(v, by)| *v += by);
        }
        let at = (&position[..], &seen[..]);
        problem.assemble_implicit(model, (state, end, contacts), at, soft, (theta, springs, far));
        if round > 0 && theta == 0.0 {
            let (start, end) = (&motion.kinematics, &end.kinematics);
            carry_round(model, Ways { start, rows: end, end, share: 1.0, h }, contacts, problem);
        }
        let noise = !extrapolated && change <= LATE * scale && change >= CONTRACTS * before;
        if within && same && noise && forces.lambda.len() == problem.b.len() {
            // velocities change no less: noise, if the forces solve the problem of the end that they led to
            let found = residual::contact(problem.view(), &forces.lambda, evaluation);
            if found.relative <= tolerance {
                forces.velocity.clone_from(&evaluation.speed);
                evaluation.write_rest(problem.view(), &forces.lambda, tolerance, &mut forces.rest);
                report.violation = report.violation.max(open);
                report.residual = found;
                return Ok(());
            }
        }
        if round == 0 {
            remember_solver(model, state, contacts, problem, forces);
        } else if !same || forces.lambda.len() != problem.b.len() {
            forces.lambda.clone_from(&problem.start);
            forces.memory.clear();
        }
        if round > 0 && !problem.is_empty() {
            report.parts = report.parts.saturating_sub(1);
        }
        report.residual = Residual::ZERO;
        rest.solve(model, solver, (problem, end), (state.time, forces, report))?;
        regimes = false;
        for (c, soft) in contacts.contacts.iter().zip(&mut *soft) {
            let at = problem.rows_of(c.first);
            let own = &forces.lambda[at.start..at.start + linear];
            let tolerance = 1e-9 * own[0].abs();
            regimes |= soft.update(&model.contacts().rules()[c.rule].layers, (h, theta), own, tolerance);
        }
        let mut left = 0.0f64;
        if !problem.is_empty() {
            problem.push(&end.mass, &forces.lambda, impulse, kick_of(kick, after.len()));
            // h W' lambda, then v' of the masses at the beginning
            end.mass.multiply(kick, impulse);
            if points.any() {
                // the change of the velocities
                after.iter_mut().zip(&end.free).zip(&*kick).for_each(|((v, free), by)| *v = free + by - *v);
                path.go_to(position, after);
                left = points.run(model, detection, (path, &end.kinematics), h, impulse);
            }
            after.clone_from(&motion.free);
            kick.clone_from(impulse);
            motion.mass.solve(impulse);
            after.iter_mut().zip(&*impulse).for_each(|(v, by)| *v += by);
        } else {
            after.clone_from(&motion.free);
        }
        before = change;
        change = f64::INFINITY;
        if let Some(residual) = secant.residual(after) {
            path.go_to(position, residual);
            change = fastest_point(path, extents).max(left);
        }
        // near the end every second iteration is plain, so that its image can be accepted
        let after_another = extrapolated && change <= LATE * scale;
        let plain = round < 2 || PLAIN.contains(&round) || regimes || after_another;
        extrapolated = !plain && change > EXTRAPOLATED * scale && change > SLOW * before;
        let smooth = same && !regimes && !points.changed;
        secant.accelerate(&motion.mass, (smooth, extrapolated), (after, kick), |tree, gamma| {
            points.extrapolate(model, tree, gamma);
        });
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
        if problem.is_empty() && theta == 0.0 && (begins == Begins::All || begin.is_empty()) {
            return Ok(());
        }
    }
    report.wasted += report.iterations;
    Err(unsettled(state, h, change))
}

/// Gaps of contacts and their rates, m and m/s, in order of the contacts.
fn gaps<'a>(
    motion: &'a Motion,
    contacts: &'a ContactSet,
) -> impl Iterator<Item = (ContactId, f64, f64)> + 'a {
    contacts.contacts.iter().map(|c| {
        let element = contacts.elements[c.first];
        (c.id, element.gap, dot(c.frame.n, relative(&motion.kinematics, c.owners, element.point)))
    })
}

/// How deep the parts of a contact were in each other when the step began, m: at the contact, or where it was not found then, by its `gap` as it is linear about the end, and
/// at most the deepest of the pair. `begin`: gaps when the step began.
fn depth(begin: &[(ContactId, f64, f64)], id: ContactId, gap: f64) -> f64 {
    if let Ok(k) = begin.binary_search_by_key(&id, |b| b.0) {
        return (-begin[k].1).max(0.0);
    }
    let pair = begin.iter().filter(|b| (b.0.part_a, b.0.part_b) == (id.part_a, id.part_b));
    pair.map(|b| -b.1).fold(0.0, f64::max).min((-gap).max(0.0))
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

/// Distance from a body's origin within which its shapes lie, or that of its mass if there are none, m.
fn extent(model: &Model, body: usize) -> f64 {
    let inertia = &model.system().links()[body].inertia;
    let polar = inertia.tensor[0][0] + inertia.tensor[1][1] + inertia.tensor[2][2];
    let gyration = if inertia.mass > 0.0 { (0.5 * polar / inertia.mass).sqrt() } else { 0.0 };
    match (model.reaches()[body], length(inertia.center) + gyration) {
        (reach, _) if reach > 0.0 && reach.is_finite() => reach,
        (_, mass) if mass > 0.0 => mass,
        _ => 1.0,
    }
}

/// Largest velocity of a point of a body, m/s.
fn fastest_point(kinematics: &Kinematics, extents: &[f64]) -> f64 {
    let of = |(i, extent): (usize, &f64)| {
        let (v, omega) = kinematics.velocity(i);
        length(v) + extent * length(omega)
    };
    extents.iter().enumerate().map(of).fold(0.0, f64::max)
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

/// Adds to the contacts of an iteration those of the last one that are missing, with the gaps that were linearised there.
fn keep_missing(last: &ContactSet, next: &mut ContactSet, merged: &mut ContactSet) {
    merged.clear();
    let mut old = last.contacts.iter().peekable();
    let mut add = |set: &ContactSet, c: &Contact| {
        let first = merged.elements.len();
        merged.elements.extend_from_slice(&set.elements[c.elements()]);
        merged.contacts.push(Contact { first, ..*c });
    };
    for c in &next.contacts {
        while let Some(o) = old.next_if(|o| o.id <= c.id) {
            if o.id != c.id {
                add(last, o);
            }
        }
        add(next, c);
    }
    old.for_each(|o| add(last, o));
    std::mem::swap(next, merged);
}

/// Whether contacts that carry force but are not among those of the end belong to pairs that touch there.
fn carry(
    model: &Model,
    (last, end): (&ContactSet, &ContactSet),
    soft: &[Soft],
    lambda: &[f64],
    problem: &ContactProblem,
    way: f64,
) -> bool {
    last.contacts.iter().zip(soft).all(|(c, own)| {
        if lambda[problem.rows_of(c.first).start] <= 0.0 || end.contacts.iter().any(|e| e.id == c.id) {
            return true;
        }
        let same = |e: &&Contact| (e.id.part_a, e.id.part_b) == (c.id.part_a, c.id.part_b);
        let most = OVERLAP * way + OVERLAP_SIZE * size(model, c.owners);
        let gap = |e: &Contact| end.elements[e.first].gap + own.compression();
        end.contacts.iter().filter(same).any(|e| gap(e) <= most)
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
