//! Velocities that belong to the constraints at the end of a midpoint step.
//!
//! The midpoint rule keeps gaps at the end and slip at the middle: `W v_theta = 0` gives `W v+ = -W v`, so that an error of the velocity along a contact returns with the other
//! sign in every step, for ever, and the force alternates. As in RATTLE (Andersen 1983) the velocity at the end is therefore projected on the contacts and joints that carry
//! force and do not slip:
//!
//! ```text
//! v+ := v+ + M(q+)^-1 J(q+)' p      J(q+) v+ = 0
//! ```
//!
//! `p` is of third order in h where constraints go on, and belongs to the force of the step. Where the force with it leaves its cone, the step does not continue what was before: the
//! midpoint rule does not stand.

use super::super::{Failed, Workspace};
use super::ending::STILL;
use super::{Scratch, detect_again, relative};
use crate::dynamics::PivotedCholesky;
use crate::formulation::relative_row;
use crate::model::{Model, StandingKind};
use crate::motion::Motion;
use crate::space::dot as dot3;
use complementarity::matrix::dot;
use complementarity::problem::Element;

/// Share by which a friction force may leave its cone by the projection: rounding.
const ROUNDING: f64 = 1e-6;

/// Memory of [`project`].
#[derive(Debug, Clone, Default)]
pub(super) struct Tangent {
    /// Rows of the contact problem that are kept at rest.
    kept: Vec<usize>,
    /// Their `J`, and `M^-1 J'`, one after the other over all velocities.
    rows: Vec<f64>,
    solved: Vec<f64>,
    /// `J v+`, then the impulses.
    impulse: Vec<f64>,
    lambda: Vec<f64>,
    gram: PivotedCholesky,
}

impl Tangent {
    /// A new row, zero.
    fn add(&mut self, row: usize, dofs: usize) -> &mut [f64] {
        self.kept.push(row);
        let at = self.rows.len();
        self.rows.resize(at + dofs, 0.0);
        &mut self.rows[at..]
    }
}

/// Projects the velocity at the end of the step; false if the forces with it leave their cones, and nothing is changed.
pub(super) fn project(model: &Model, work: &mut Workspace) -> Result<bool, Failed> {
    let Workspace { motion, contacts, problem, forces, detection, implicit, .. } = work;
    let Scratch { end, next, tangent, position, after, .. } = implicit;
    let end = end.get_or_insert_with(|| Motion::new(model));
    end.kinematics.go_to(position, after);
    end.mass.go_to(&end.kinematics)?;
    detect_again(model, end, motion.margin, detection, next)?;
    let (dofs, linear, still) = (after.len(), problem.linear_rows, STILL * problem.fastest);
    tangent.kept.clear();
    tangent.rows.clear();
    tangent.impulse.clear();
    for c in &contacts.contacts {
        let rows = problem.rows_of(c.first);
        if forces.lambda[rows.start] <= 0.0 || problem.factors().patch(c.first).is_some() {
            continue;
        }
        // a feature that another one has taken over is kept as it was
        let known = next.contacts.binary_search_by_key(&c.id, |e| e.id).ok().map(|k| &next.contacts[k]);
        let at = known.map_or((c, contacts.elements[c.first].point), |e| (e, next.elements[e.first].point));
        let slip =
            forces.velocity[rows.start + 1..rows.start + linear].iter().map(|s| s * s).sum::<f64>().sqrt();
        let sticks = slip <= still && problem.elements[c.first].mu() > 0.0;
        let axes = [at.0.frame.n, at.0.frame.t, at.0.frame.o];
        for (i, axis) in axes.into_iter().enumerate().take(if sticks { linear } else { 1 }) {
            let row = tangent.add(rows.start + i, dofs);
            relative_row(&end.kinematics, c, at.1, (axis, false), row);
            tangent.impulse.push(dot3(axis, relative(&end.kinematics, c.owners, at.1)));
        }
    }
    for (element, standing) in (contacts.elements.len()..).zip(&problem.standing) {
        let (at, own) = (problem.rows_of(element).start, &model.standing()[standing.row]);
        let held = match own.kind {
            StandingKind::Friction(limit) => {
                forces.velocity[at].abs() <= still && forces.lambda[at].abs() < limit
            }
            _ => own.is_limit() && forces.lambda[at] > 0.0,
        };
        if held && own.compliance.is_none() {
            let row = tangent.add(at, dofs);
            own.add_row(model.scene(), &end.kinematics, row);
            let speed = dot(row, after);
            tangent.impulse.push(speed);
        }
    }
    if tangent.kept.is_empty() {
        return Ok(true);
    }
    tangent.solved.clone_from(&tangent.rows);
    tangent.solved.chunks_exact_mut(dofs).for_each(|row| end.mass.solve(row));
    let (rows, solved) = (&tangent.rows, &tangent.solved);
    tangent
        .gram
        .factor(tangent.kept.len(), |i, j| dot(&rows[i * dofs..][..dofs], &solved[j * dofs..][..dofs]));
    tangent.gram.solve(&mut tangent.impulse);
    tangent.lambda.clone_from(&forces.lambda);
    for (k, p) in tangent.kept.iter().zip(&tangent.impulse) {
        tangent.lambda[*k] -= p / motion.h;
    }
    let within = (0..problem.elements.len()).all(|k| {
        let rows = problem.rows_of(k);
        is_within(&problem.elements[k], &forces.lambda[rows.clone()], &tangent.lambda[rows])
    });
    if within {
        forces.lambda.copy_from_slice(&tangent.lambda);
        for (solved, p) in tangent.solved.chunks_exact(dofs).zip(&tangent.impulse) {
            after.iter_mut().zip(solved).for_each(|(v, x)| *v -= p * x);
        }
    }
    Ok(within)
}

/// Whether a force that has changed is still in its set.
fn is_within(element: &Element, before: &[f64], now: &[f64]) -> bool {
    let over = |f: &[f64], bound: &dyn Fn(usize) -> f64| {
        let share = |(i, f): (usize, &f64)| if bound(i) > 0.0 { (f / bound(i)).powi(2) } else { 0.0 };
        f.iter().enumerate().skip(1).map(share).sum::<f64>().sqrt()
    };
    match element {
        Element::Contact(c) => {
            let share = |f: &[f64]| over(f, &|i| c.mu * c.axes[i - 1] * f[0]);
            now[0] >= 0.0 && share(now) <= share(before).max(1.0) + ROUNDING
        }
        Element::Unilateral => now[0] >= 0.0,
        Element::Bounded { limit } => now[0].abs() <= before[0].abs().max(*limit),
        Element::Bilateral => true,
    }
}
