//! Standing rows of the contact problem, see [`crate::model::StandingRow`].

use super::ContactProblem;
use crate::model::{Model, Owner, StandingRow};
use crate::motion::{CLOSED, Motion};
use crate::scene::{GapLevel, Scheme};
use crate::state::State;
use complementarity::matrix::dot;
use complementarity::operator::Operator;
use complementarity::problem::Element;

/// A standing row of a step: `s = J v + shift + e_inv lambda + g/h`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Standing {
    /// Its place in [`Model::standing`].
    pub row: usize,
    /// Velocity of the row when the step begins, `J v`.
    pub start: f64,
    /// Velocity that led to where the gap is known: 0 in the theta scheme, whose gaps are those at the beginning.
    pub known: f64,
    /// What drives and springs add to the velocity.
    pub shift: f64,
    /// `E^-1` of a compliant row; 0 if it is rigid.
    pub e_inv: f64,
}

impl ContactProblem {
    /// Selects the standing rows of the step: limits that the joint's own motion may reach within the step, or that an
    /// earlier round of the step was found to pass ([`Motion::passed`]); all others that are not eliminated
    /// ([`crate::step::Servos`]) always.
    pub(super) fn choose_standing(&mut self, model: &Model, state: &State, motion: &Motion) {
        let step = &model.scene().step;
        let near = |row: &StandingRow| {
            let gap = row.gap(model.scene(), &motion.kinematics, &state.position, &motion.targets);
            match (gap, step.gap) {
                (Some(gap), GapLevel::Velocity) if row.compliance.is_none() => gap <= CLOSED,
                (Some(gap), _) => {
                    let speed = |v: &[f64]| row.joint.map_or(0.0, |j| v[j.dof].abs());
                    let fastest = speed(&motion.velocity).max(speed(&motion.free));
                    gap <= 4.0 * self.h * fastest + CLOSED
                }
                (None, _) => true,
            }
        };
        self.standing.clear();
        let all = model.standing().iter().enumerate().filter(|(k, _)| !motion.servos.eliminates(*k));
        // the implicit scheme does not look for limits that its forces pass
        let every = step.scheme == Scheme::Implicit;
        let chosen =
            all.filter(|(k, row)| every || !row.is_limit() || motion.passed.contains(k) || near(row));
        self.standing.extend(chosen.map(|(row, _)| Standing { row, ..Standing::default() }));
    }

    /// Adds limits that are no rows of the problem and that the velocities `v+` pass to `passed`; whether there are any.
    pub(crate) fn find_passed(
        &self,
        model: &Model,
        motion: &Motion,
        after: &[f64],
        passed: &mut Vec<usize>,
    ) -> bool {
        let (before, scene) = (passed.len(), model.scene());
        if scene.step.gap == GapLevel::Velocity {
            return false;
        }
        let mut present = self.standing.iter().peekable();
        for (k, row) in model.standing().iter().enumerate().filter(|(_, row)| row.is_limit()) {
            while present.next_if(|s| s.row < k).is_some() {}
            if present.peek().is_some_and(|s| s.row == k) {
                continue;
            }
            let gap = row.gap(scene, &motion.kinematics, &motion.position, &motion.targets).unwrap_or(0.0);
            let v = row
                .joint
                .map_or(0.0, |j| self.theta * motion.velocity[j.dof] + (1.0 - self.theta) * after[j.dof]);
            if gap + self.h * row.sign() * v < -CLOSED {
                passed.push(k);
            }
        }
        passed.len() > before
    }

    /// Computes `W` and `b = J (theta v + (1-theta) free)` of the standing rows. `known`: velocities that led to where gaps are known; empty if these are
    /// at the beginning of the step.
    pub(super) fn standing_rows(&mut self, model: &Model, motion: &Motion, known: &[f64]) {
        let (system, Operator::Factored(a)) = (model.system(), &mut self.operator) else {
            unreachable!("made as factors")
        };
        for standing in &mut self.standing {
            let row = &model.standing()[standing.row];
            row.add_row(model.scene(), &motion.kinematics, &mut self.row);
            a.begin(1);
            let (mut velocity, mut terms) = (0.0, 0.0);
            (standing.start, standing.known) = (0.0, 0.0);
            for tree in row.trees(model.scene(), system).into_iter().flatten() {
                let dofs = system.trees()[tree].dofs.clone();
                let own = &mut self.row[dofs.clone()];
                let w = a.segment(dofs.start, dofs.len());
                w.copy_from_slice(own);
                motion.kick().solve_root_transposed(tree, w);
                velocity += dot(own, &self.middle[dofs.clone()]);
                terms += own.iter().zip(&self.middle[dofs.clone()]).map(|(j, v)| (j * v).abs()).sum::<f64>();
                standing.start += dot(own, &motion.velocity[dofs.clone()]);
                standing.known += known.get(dofs).map_or(0.0, |known| dot(own, known));
                own.fill(0.0);
            }
            self.b.push(velocity);
            self.terms.push(terms);
        }
    }

    /// Adds elements, compliance and gaps of the standing rows at a configuration.
    pub(super) fn standing_laws(&mut self, model: &Model, position: &[f64], motion: &Motion) {
        let scene = model.scene();
        for i in 0..self.standing.len() {
            let row = &model.standing()[self.standing[i].row];
            let element = self.elements.len();
            let at = self.rows_of(element).start;
            let given = row.gap(scene, &motion.kinematics, position, &motion.targets);
            // linear in the velocities about those that led here
            let gap = given.map_or(0.0, |gap| gap - self.h * self.standing[i].known);
            let drive = row.drive_velocity(scene, &motion.targets);
            self.elements.push(row.element);
            let (e_inv, shift) = match row.compliance {
                None if row.is_limit() => {
                    let gap = if scene.step.gap != GapLevel::Velocity { gap } else { 0.0 };
                    let owner = row.joint.map(|j| Owner::Body(j.body));
                    let slowest = match scene.step.scheme {
                        Scheme::Implicit => f64::NEG_INFINITY,
                        _ => -self.recovery_velocity(model, motion, owner.as_slice(), [0.0; 3]),
                    };
                    self.add_gap(element, gap, slowest);
                    (0.0, 0.0)
                }
                None => {
                    self.add_gap(element, gap, f64::NEG_INFINITY);
                    (0.0, -drive)
                }
                Some(c) => {
                    let e_inv = 1.0 / row.step_damping(self.h, self.theta);
                    let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
                    self.one[(0, 0)] = e_inv;
                    a.add_patch(element, &self.one);
                    if row.element == Element::Unilateral {
                        // the part of the gap below zero is the spring's deformation
                        self.add_gap(element, gap.max(0.0), 0.0);
                        (e_inv, e_inv * c.stiffness * gap.min(0.0))
                    } else {
                        self.add_gap(element, 0.0, 0.0);
                        (e_inv, e_inv * (c.stiffness * gap - c.damping * drive))
                    }
                }
            };
            (self.standing[i].e_inv, self.standing[i].shift) = (e_inv, shift);
            self.b[at] += shift;
            self.terms[at] += shift.abs();
        }
    }

    /// Velocity that drives and moving surfaces add to a row's `J v`.
    pub(super) fn add_moving(&mut self, contacts: usize) {
        // servos and springs are compliant, and take no part in impacts
        let rigid = self.standing.iter().enumerate().filter(|(_, s)| s.e_inv == 0.0 && s.shift != 0.0);
        for (k, standing) in rigid {
            let row = self.factors().offsets()[contacts + k];
            // contacts with moving surfaces have made it as long as their own rows
            self.moving.resize(self.b.len(), 0.0);
            self.moving[row] = standing.shift;
        }
        if !self.moving.is_empty() {
            self.moving.resize(self.b.len(), 0.0);
        }
    }
}
