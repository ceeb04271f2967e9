//! `advance`: contact forces -> the next state.

use super::project::Projection;
use super::report::elastic;
use super::{Failed, Forces, Motion, StepReport, trust};
use crate::contact::set::ContactSet;
use crate::dynamics::{Drift, NotDrifted};
use crate::formulation::{ContactProblem, Laws, rotates};
use crate::model::Model;
use crate::state::{RowId, State, next_time};
use complementarity::matrix::dot;
use complementarity::solver::auto::WARM_START;

/// The values of a step up to its forces.
#[derive(Debug, Clone, Copy)]
pub struct Solved<'a> {
    /// Compliant laws at the length of the step.
    pub laws: &'a Laws,
    /// The state of the bodies when it began.
    pub motion: &'a Motion,
    /// The contacts.
    pub contacts: &'a ContactSet,
    /// Their contact problem.
    pub problem: &'a ContactProblem,
    /// Its solution.
    pub forces: &'a Forces,
}

/// Memory of [`advance`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// `v'`, then `v+`.
    after: Vec<f64>,
    /// `W' lambda`, then `v_theta`.
    velocity: Vec<f64>,
    position: Vec<f64>,
    /// Deformation of all elements after the step, rows n, t(, o).
    deformation: Vec<f64>,
    forces: Vec<f64>,
    remembered: Vec<f64>,
    /// Velocity `v'` after impacts with restitution; empty without. Positions do not see it.
    pub(super) bounced: Vec<f64>,
    /// Made when it is first needed.
    pub(super) drift: Option<Drift>,
    /// Velocity `v'` after the forces of the step.
    pub(super) kicked: Vec<f64>,
    /// Projection on rigid loops, gears and drives to positions.
    pub(super) projection: Projection,
}

impl Scratch {
    /// Configuration at the end of the last step.
    pub fn position(&self) -> &[f64] {
        &self.position
    }

    /// Deformation of all elements after the last step, rows n, t(, o).
    pub fn deformation(&self) -> &[f64] {
        &self.deformation
    }
}

/// `v' = v + h M^-1 (f + W' lambda)`, `delta+ = delta + h E^-1 (lambda - K delta)`, and the [`Drift`] from `q`, `v_theta` and `v'` to `q+` and `v+`:
/// without velocity products `q+ = q + h G v_theta`, `v+ = v'`. On failure, and if a number is not finite, the state stays as it is.
pub fn advance(
    model: &Model,
    solved: Solved<'_>,
    scratch: &mut Scratch,
    state: &mut State,
    report: &mut StepReport,
) -> Result<(), Failed> {
    let Solved { motion, problem, forces, .. } = solved;
    let (theta, h) = (problem.theta, motion.h);
    let Scratch { after, velocity, position, drift, bounced, projection, kicked, .. } = scratch;
    after.clone_from(&motion.free);
    if !problem.is_empty() {
        problem.push(motion.kick(), &forces.lambda, velocity, after);
    }
    position.resize(state.position.len(), 0.0);
    let drift = drift.get_or_insert_with(|| Drift::new(model.system()));
    let (start, time) = (&state.velocity, state.time);
    let mut go = |position: &mut Vec<f64>, after: &mut Vec<f64>| {
        velocity.clear();
        velocity.extend(start.iter().zip(&*after).map(|(v, after)| theta * v + (1.0 - theta) * after));
        drift.advance(&motion.kinematics, &motion.mass, h, velocity, (position, after)).map_err(|e| match e {
            NotDrifted::Mass(e) => Failed::Mass(e),
            NotDrifted::Unsettled { change } => Failed::Unsettled { time, h, change },
        })
    };
    if !bounced.is_empty() {
        go(position, bounced)?;
    }
    if projection.begin(model, problem, &forces.lambda) {
        projection.run(model, (motion, problem), time, (position, after), &mut go)?;
        kicked.clone_from(projection.kicked());
    } else {
        kicked.clone_from(after);
        go(position, after)?;
    }
    if !bounced.is_empty() {
        std::mem::swap(after, bounced);
    }
    if !position.iter().chain(&*after).all(|x| x.is_finite()) {
        return Err(Failed::NotFinite { time: state.time });
    }
    report.work += h * dot(&motion.outside, velocity);
    state.time = next_time(state.time, h);
    state.position.copy_from_slice(position);
    state.velocity.copy_from_slice(after);
    report.trust = trust::known(problem.b.len(), forces.memory.trust, report.solver == WARM_START);
    let until_examined = state.solver.until_examined;
    state.solver.copy_from(&forces.memory);
    (state.solver.trust, state.solver.until_examined) = (report.trust, until_examined);
    remember(model, solved, scratch, state, report);
    Ok(())
}

/// What the contacts remember after the step, and the work of their dampers.
fn remember(
    model: &Model,
    Solved { laws, contacts, problem, forces, .. }: Solved<'_>,
    scratch: &mut Scratch,
    state: &mut State,
    report: &mut StepReport,
) {
    let (linear, h) = (problem.linear_rows, problem.h);
    let Scratch { deformation, forces: own, remembered, .. } = scratch;
    deformation.clear();
    deformation.resize(problem.deformation.len(), 0.0);
    for m in state.memory.iter().filter(|m| !m.deformations.is_empty()) {
        let remains = contacts.contacts.binary_search_by_key(&m.id, |c| RowId::Contact(c.id));
        let Some(c) = remains.ok().map(|k| &contacts.contacts[k]) else {
            if problem.inherited.contains(&m.id) {
                continue;
            }
            report.release_loss += elastic(model, m);
            continue;
        };
        if let Some(law) = laws.of(model, c.rule).filter(|law| law.patch().transports()) {
            let carried = &problem.deformation[linear * c.first..][..linear * c.count];
            report.transport_loss += elastic(model, m) - law.elastic_energy(carried);
        }
    }
    state.memory.clear();
    for (k, c) in contacts.contacts.iter().enumerate() {
        let lambda = &forces.lambda[problem.rows_of_contact(c)];
        remembered.clear();
        if let Some(law) = laws.of(model, c.rule) {
            let span = linear * c.first..linear * (c.first + c.count);
            let (before, after) = (&problem.deformation[span.clone()], &mut deformation[span]);
            let (scale, rows) = (problem.scale[k], model.contacts().rules()[c.rule].rows);
            // rotations are rigid
            own.clear();
            own.extend(lambda.chunks_exact(rows).flat_map(|f| &f[..linear]));
            law.deformation_after(scale, own, before, after);
            if problem.grip[k] > 0.0 {
                // smooth friction has no springs
                after[1..].fill(0.0);
            }
            remembered.extend_from_slice(after);
            if rotates(model, c) {
                let to = c.frame.along_x();
                remembered.as_chunks_mut().0.iter_mut().for_each(|d| *d = to.from(&c.frame, *d));
            }
            own.clear();
            if law.patch().transports() && before.iter().any(|d| *d != 0.0) {
                own.extend(after.iter().zip(before).map(|(a, d)| a - d));
                report.transport_loss += law.elastic_energy(own);
                own.clear();
            }
            own.extend(after.iter().zip(before).map(|(a, d)| (a - d) / h));
            own.resize(2 * after.len(), 0.0);
            let (rate, damping) = own.split_at_mut(after.len());
            report.damping_loss += h * law.damping_power(scale, rate, damping);
        }
        state.memory.push(RowId::Contact(c.id), lambda, remembered);
    }
    for (element, standing) in (contacts.elements.len()..).zip(&problem.standing) {
        let id = model.standing()[standing.row].id;
        state.memory.push(id, &forces.lambda[problem.rows_of(element)], &[]);
    }
}
