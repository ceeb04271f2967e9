//! The midpoint rule, `explicit_share = 1/2`: its forces, and whether it may stand.

use super::super::Workspace;
use super::RESTING;
use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::motion::{Motion, fall};
use crate::state::{Remembered, RowId, State};

/// Evaluates f at the middle of the step, `(t + (1-theta) h, q_theta, v_theta)` (pang2005 (15)), for the velocity `v + h M^-1 f` without contact forces; `change` becomes its change.
/// `half`: the configuration there, `seen`: `v_theta`.
pub(super) fn forces(
    model: &Model,
    (state, inputs): (&State, &Inputs),
    theta: f64,
    motion: &mut Motion,
    (kinematics, half, seen): (&mut Kinematics, &[f64], &[f64]),
    change: &mut Vec<f64>,
) {
    kinematics.go_to(half, seen);
    change.clear();
    change.resize(seen.len(), 0.0);
    let h = motion.h;
    fall(model, inputs, kinematics, state.time + (1.0 - theta) * h, &mut motion.outside, change);
    motion.mass.solve(change);
    for ((change, free), v) in change.iter_mut().zip(&mut motion.free).zip(&state.velocity) {
        let now = v + h * *change;
        *change = now - std::mem::replace(free, now);
    }
}

/// Whether the midpoint rule may stand: the same contacts carry force as before the step, at the same layers, and they rest at its beginning.
pub(super) fn is_smooth(model: &Model, state: &State, work: &Workspace) -> bool {
    let Workspace { motion, contacts, problem, forces, .. } = work;
    let scratch = &work.implicit;
    let loaded =
        |m: &Remembered<'_>| matches!(m.id, RowId::Contact(_)) && m.forces.first().is_some_and(|f| *f > 0.0);
    let (before, starts) = (state.memory.iter().filter(loaded).count(), state.memory.is_empty());
    let mut now = 0;
    for (c, soft) in contacts.contacts.iter().zip(&scratch.soft) {
        let at = problem.rows_of(c.first).start;
        if forces.lambda[at] <= 0.0 {
            continue;
        }
        now += 1;
        // a state that remembers nothing is a start: its contacts were there before, if they rest
        let known = match state.memory.find(RowId::Contact(c.id)).filter(loaded) {
            Some(known) => known.forces[0],
            None if starts => 0.0,
            None => return false,
        };
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
            let kick = motion.h * known.max(forces.lambda[at]) * problem.mobility(c.first);
            if scratch.begin[k].2.abs() > RESTING * kick {
                return false;
            }
        }
    }
    starts || now == before
}
