//! Springs, dampers and servos of single joints, eliminated from the contact problem.
//!
//! Such a row is linear in the velocity of its own joint, `lambda = -K g - E v_theta + C u` with `E = (1-theta) h K + C`, as long as it is not at
//! a bound: the force of spring and damper at `(q_theta, v_theta)`, as pang2005 (15) takes f. Its elimination adds `(1-theta) h E` to the joint's entry of
//! the mass matrix and leaves
//!
//! ```text
//! (M + (1-theta) h E) (v+ - v) = h (f - K g + C u - E v + W' lambda)
//! ```
//!
//! exactly the same motion as with the row. A servo that reaches its largest effort becomes a row of the contact problem again, in the step in
//! which it does, and stays one while it is at its bound.

use crate::dynamics::{Kinematics, MassMatrix, SingularMass};
use crate::model::{Model, StandingRow, Target};
use crate::scene::Scheme;
use crate::state::State;
use complementarity::problem::Element;

/// Efforts from this share of the bound on are at it.
const AT_BOUND: f64 = 1.0 - 1e-9;

/// A row that is eliminated.
#[derive(Debug, Clone, Copy)]
pub struct Eliminated {
    /// Its place in [`Model::standing`].
    pub row: usize,
    pub(crate) dof: usize,
    /// `E = (1-theta) h K + C`.
    e: f64,
    /// Explicit share `theta`.
    theta: f64,
    /// `-K g + C u`.
    base: f64,
    /// Largest effort.
    pub(crate) limit: f64,
}

impl Eliminated {
    /// Effort of a step from the velocities `before` to `after`, and the velocity `v_theta` of the joint.
    pub fn effort(&self, before: &[f64], after: &[f64]) -> (f64, f64) {
        let velocity = self.theta * before[self.dof] + (1.0 - self.theta) * after[self.dof];
        (self.base - self.e * velocity, velocity)
    }

    /// `h theta E`: what the row takes from the momentum of a unit of its joint's velocity at the start, beyond what it adds to the mass.
    pub(crate) fn held(&self, h: f64) -> f64 {
        h * self.theta * self.e
    }
}

/// The eliminated rows of a step.
#[derive(Debug, Clone, Default)]
pub struct Servos {
    /// In the order of [`Model::standing`].
    pub rows: Vec<Eliminated>,
    /// Whether each standing row is eliminated.
    out: Vec<bool>,
    /// Rows at their bound, which are not.
    kept: Vec<usize>,
    diagonal: Vec<f64>,
    /// `M + (1-theta) h E`, if there are such rows.
    mass: Option<MassMatrix>,
}

impl Servos {
    /// Whether a standing row is eliminated.
    pub fn eliminates(&self, row: usize) -> bool {
        self.out.get(row).copied().unwrap_or(false)
    }

    /// Mass matrix with the eliminated rows; `None` if there are none.
    pub fn mass(&self) -> Option<&MassMatrix> {
        self.mass.as_ref().filter(|_| !self.rows.is_empty())
    }

    /// Forgets the rows at their bound, but those that were so in the step before.
    pub(crate) fn begin(&mut self, model: &Model, state: &State) {
        self.kept.clear();
        for (k, row) in model.standing().iter().enumerate() {
            if let Element::Bounded { limit } = row.element
                && can(model, row)
                && state
                    .memory
                    .find(row.id)
                    .is_some_and(|m| m.forces.iter().any(|f| f.abs() >= AT_BOUND * limit))
            {
                self.kept.push(k);
            }
        }
    }

    /// Chooses the rows, and factors the mass matrix with them.
    pub(crate) fn set(
        &mut self,
        model: &Model,
        (kinematics, own, position): (&Kinematics, &MassMatrix, &[f64]),
        targets: &[Target],
        (h, theta): (f64, f64),
    ) -> Result<(), SingularMass> {
        self.rows.clear();
        self.out.clear();
        self.out.resize(model.standing().len(), false);
        self.diagonal.clear();
        for (k, row) in model.standing().iter().enumerate() {
            let (Some(c), Some(joint), true) = (row.compliance, row.joint, can(model, row)) else { continue };
            if self.kept.contains(&k) {
                continue;
            }
            let gap = row.gap(model.scene(), kinematics, position, targets).unwrap_or(0.0);
            let base = c.damping * row.drive_velocity(model.scene(), targets) - c.stiffness * gap;
            let limit = if let Element::Bounded { limit } = row.element { limit } else { f64::INFINITY };
            let e = row.step_damping(h, theta);
            self.rows.push(Eliminated { row: k, dof: joint.dof, e, theta, base, limit });
            self.out[k] = true;
            self.diagonal.resize(model.system().velocity_size(), 0.0);
            self.diagonal[joint.dof] += (1.0 - theta) * h * e;
        }
        if self.rows.is_empty() {
            return Ok(());
        }
        let mass = self.mass.get_or_insert_with(|| MassMatrix::new(model.system()));
        mass.assign_with(own, &self.diagonal)
    }

    /// Adds what the rows do at the velocities `v` to the force `f`.
    pub(crate) fn add(&self, v: &[f64], f: &mut [f64]) {
        for row in &self.rows {
            f[row.dof] += row.base - row.e * v[row.dof];
        }
    }

    /// Whether some may reach a bound.
    pub(crate) fn are_bounded(&self) -> bool {
        self.rows.iter().any(|row| row.limit.is_finite())
    }

    /// Keeps rows whose effort is above their bound; whether there are any.
    pub(crate) fn keep(&mut self, before: &[f64], after: &[f64]) -> bool {
        let known = self.kept.len();
        let above = self.rows.iter().filter(|row| row.effort(before, after).0.abs() > row.limit);
        self.kept.extend(above.map(|row| row.row));
        self.kept.len() > known
    }
}

/// Whether a row can be eliminated: it yields, acts on one joint, both ways. The implicit
/// scheme iterates its rows and eliminates none.
fn can(model: &Model, row: &StandingRow) -> bool {
    model.scene().step.scheme != Scheme::Implicit
        && row.compliance.is_some()
        && row.joint.is_some()
        && row.other.is_none()
        && row.element != Element::Unilateral
}
