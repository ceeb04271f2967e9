//! What a step did: what it cost, what its elements did, where the energy is; and why a step fails.

use super::{InvalidModel, Solved, load};
use crate::dynamics::{Kinematics, SingularMass};
use crate::model::Model;
use crate::model::Owner;
use crate::space::{Frame, Vector};
use crate::state::{ContactId, RowId, State};
use complementarity::matrix::{dot, norm};
use complementarity::residual::Residual;
use std::borrow::Cow;

/// Elements whose slip is below this share of the largest free velocity are said to stick.
const STILL: f64 = 1e-9;

/// Why a step did not happen. The state is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failed {
    /// The contact problem was not solved, whatever the step.
    #[error(
        "contact problem at t = {time} s not solved, down to a step of {h:e} s: {solver} {end}, relative residual {residual:e}{cause}"
    )]
    Unsolved {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// The method that tried last.
        solver: &'static str,
        /// How that ended.
        end: Cow<'static, str>,
        /// Residual of the best forces.
        residual: f64,
        /// What is wrong with it, and whether there is a solution; begins with a colon, or is empty.
        cause: String,
    },
    /// The forces at the middle of the step, which depend on its end, were not found, whatever the step.
    #[error(
        "forces at t = {time} s did not settle, down to a step of {h:e} s: they still change v by {change:e}"
    )]
    Unsettled {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// Last change of a velocity, m/s or rad/s.
        change: f64,
    },
    /// Positions or velocities overflow: the step is too long for the stiffest spring or the fastest motion.
    #[error("the motion is not finite after t = {time} s: a smaller step may help")]
    NotFinite {
        /// s.
        time: f64,
    },
    /// The mass matrix cannot be factored.
    #[error(transparent)]
    Mass(#[from] SingularMass),
    /// A law cannot be evaluated at this step.
    #[error(transparent)]
    Model(#[from] InvalidModel),
}

/// What an element does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No force.
    Open,
    /// Force, no slip; nor spin or turn where friction resists them.
    Stick,
    /// Force and slip, spin or turn.
    Slip,
}

/// An element of a contact after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementReport {
    /// Contact this element belongs to.
    pub id: ContactId,
    /// Number within the contact.
    pub element: usize,
    /// First body: the force on it is the opposite.
    pub body_a: Owner,
    /// Second body.
    pub body_b: Owner,
    /// World, m.
    pub point: Vector,
    /// Axes n (from the first body to the second), t, o.
    pub frame: Frame,
    /// `psi + delta_n` before the step, m.
    pub gap: f64,
    /// On the second body, along n, t, o, N.
    pub force: Vector,
    /// Moment of friction on the second body, about n, t, o through `point`, N m; 0 without torsion and rolling friction.
    pub moment: Vector,
    /// `s`, along n, t, o, m/s.
    pub speed: Vector,
    /// Angular velocity of the second body relative to the first, about n, t, o, rad/s, where torsion or rolling friction resists it; else 0.
    pub turn: Vector,
    /// `delta` after the step, m.
    pub deformation: Vector,
    /// What it does.
    pub status: Status,
}

/// Energies, J.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energy {
    /// Kinetic.
    pub kinetic: f64,
    /// Gravity and springs.
    pub potential: f64,
    /// In deformed contacts.
    pub elastic: f64,
}

/// What a step did.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Pivots, sweeps or Newton steps of the methods that answered, all parts of the step together.
    pub iterations: usize,
    /// Iterations of methods that did not answer, and of abandoned attempts.
    pub wasted: usize,
    /// The method that answered, where the residual is worst.
    pub solver: &'static str,
    /// Worst residual of its parts.
    pub residual: Residual,
    /// 0 if nothing was near, 1, or the parts the step was cut into after failed attempts.
    pub parts: usize,
    /// Evaluations of forces that depend on the end of the step; 0 with `forces = "start"`.
    pub rounds: usize,
    /// Work lost to friction, J.
    pub friction_loss: f64,
    /// Work lost in contact dampers, J.
    pub damping_loss: f64,
    /// Work of loads, motors and the dampers of springs, J.
    pub work: f64,
}

impl Default for StepReport {
    fn default() -> Self {
        Self {
            iterations: 0,
            wasted: 0,
            solver: "none",
            residual: Residual { absolute: 0.0, relative: 0.0 },
            parts: 0,
            rounds: 0,
            friction_loss: 0.0,
            damping_loss: 0.0,
            work: 0.0,
        }
    }
}

impl Energy {
    /// Energies of a model at a state, to which `kinematics` goes.
    pub fn at(model: &Model, state: &State, kinematics: &mut Kinematics) -> Self {
        kinematics.go_to(&state.position, &state.velocity);
        let elastic = state.memory.iter().map(|m| {
            let RowId::Contact(id) = m.id else { return 0.0 };
            let compliance = model.contacts().rule_of(id).and_then(|r| r.compliance.as_ref());
            let known = compliance.filter(|c| c.rows() == m.deformations.len());
            known.map_or(0.0, |c| c.elastic_energy(m.deformations))
        });
        Self {
            elastic: elastic.sum(),
            kinetic: kinematics.kinetic_energy(),
            potential: kinematics.potential_energy(model.scene().gravity)
                + load::spring_energy(model.scene(), kinematics),
        }
    }
}

/// What the elements of a step did, in newtons and metres per second, and what friction dissipated. `deformation`: after the step, rows n, t(, o).
pub fn elements(
    model: &Model,
    solved: Solved<'_>,
    deformation: &[f64],
    out: &mut Vec<ElementReport>,
    report: &mut StepReport,
) {
    out.clear();
    let Solved { contacts, problem, forces, .. } = solved;
    let (rows, linear, h) = (problem.rows, problem.linear_rows, problem.h);
    let (lambda, s) = (&forces.lambda, &forces.velocity);
    let still = STILL * problem.fastest;
    let pick = |v: &[f64], at: usize| [v[at], v[at + 1], if linear == 3 { v[at + 2] } else { 0.0 }];
    for c in &contacts.contacts {
        let rule = &model.contacts().rules()[c.rule];
        for k in c.elements() {
            let (mut force, mut speed) = (pick(lambda, rows * k), pick(s, rows * k));
            speed[0] -= problem.gap[k] / h;
            if rule.is_anisotropic() {
                for i in 1..3 {
                    force[i] *= rule.axis(i);
                    speed[i] /= rule.axis(i);
                }
            }
            report.friction_loss -= h * (force[1] * speed[1] + force[2] * speed[2]);
            let status = match () {
                () if force[0] <= 0.0 => Status::Open,
                () if speed[1].hypot(speed[2]) <= still => Status::Stick,
                () => Status::Slip,
            };
            out.push(ElementReport {
                id: c.id,
                element: k - c.first,
                body_a: c.owners[0],
                body_b: c.owners[1],
                point: contacts.elements[k].point,
                frame: c.frame,
                gap: problem.gap[k],
                force,
                moment: [0.0; 3],
                speed,
                turn: [0.0; 3],
                deformation: pick(deformation, linear * k),
                status,
            });
        }
    }
    if rows > linear {
        moments(model, solved, out, report);
    }
}

/// Moments and rotations: the unknowns of rotations are moments over the ellipsoid's axes.
fn moments(model: &Model, solved: Solved<'_>, out: &mut [ElementReport], report: &mut StepReport) {
    let Solved { contacts, problem, forces, .. } = solved;
    let (rows, linear) = (problem.rows, problem.linear_rows);
    let unknowns = forces.lambda.chunks_exact(rows).zip(forces.velocity.chunks_exact(rows));
    let rules = contacts.contacts.iter().flat_map(|c| std::iter::repeat_n(c.rule, c.count));
    for ((e, (lambda, s)), rule) in out.iter_mut().zip(unknowns).zip(rules) {
        let (lambda, s) = (&lambda[linear..], &s[linear..]);
        for (i, (l, s)) in lambda.iter().zip(s).enumerate() {
            let axis = model.contacts().rules()[rule].axis(linear + i);
            e.moment[i] = axis * l;
            e.turn[i] = if axis > 0.0 { s / axis } else { 0.0 };
        }
        if e.status == Status::Stick && norm(s) > STILL * problem.fastest {
            e.status = Status::Slip;
        }
        report.friction_loss -= problem.h * dot(lambda, s);
    }
}
