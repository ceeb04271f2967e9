//! What a step did: what it cost, what its elements did, where the energy is; and why a step fails.

use super::jam::is_jammed;
use super::{Forces, InvalidModel, Solved, Trust, load};
use crate::contact::set::ContactSet;
use crate::dynamics::{Kinematics, SingularMass};
use crate::formulation::ContactProblem;
use crate::model::{Model, Owner, StandingKind};
use crate::space::{Frame, Vector};
use crate::state::{ContactId, Remembered, RowId, State};
use complementarity::residual::Residual;
use complementarity::solver::Choice;
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
    /// Two parts pass through each other within the step, though they are apart at its end.
    #[error(
        "{names} pass through each other after t = {time} s, {depth:.1e} m deep, down to a step of {h:e} s"
    )]
    Passes {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// Names of the parts.
        names: String,
        /// Depth on the way, m.
        depth: f64,
    },
    /// The stop flag was raised while the contact problem was solved.
    #[error("interrupted while the contact problem at t = {time} s was solved")]
    Interrupted {
        /// s.
        time: f64,
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
    /// Part of the normal force that the rigid core carries (scheme implicit; all of it if the contact is rigid), N.
    pub core: f64,
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
    /// It was stopped by an impact without a collision ([`Trust::NoRigidSolution`]).
    pub impact: bool,
}

/// A standing row after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandingReport {
    /// Its place in [`Model::standing`].
    pub row: usize,
    /// Distance from the limit before the step, m or rad; 0 for friction.
    pub gap: f64,
    /// Effort on the joint, positive along its axis, N or N m.
    pub effort: f64,
    /// Velocity of the joint, m/s or rad/s.
    pub velocity: f64,
    /// What it does: a limit is open or sticks, friction sticks or slips.
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
    /// Elastic energy of contacts that ended while they were deformed, J.
    pub release_loss: f64,
    /// Work of loads, motors and the dampers of springs, J.
    pub work: f64,
    /// Work of the forces that undo overlap (negative gaps), J.
    pub recovery_work: f64,
    /// Elements whose overlap no motion was found to undo; they do not approach further.
    pub relaxed: usize,
    /// Parts that were accepted at a relative residual above the scene's tolerance, up to 1e-6, because shorter ones did not reach it.
    pub loose: usize,
    /// Which of several forces were taken; the worst of the step's parts.
    pub choice: Choice,
    /// What is known of the solution of the step (of its last part, if it was cut).
    pub trust: Trust,
}

impl Default for StepReport {
    fn default() -> Self {
        Self {
            iterations: 0,
            wasted: 0,
            solver: "none",
            residual: Residual::ZERO,
            parts: 0,
            rounds: 0,
            friction_loss: 0.0,
            damping_loss: 0.0,
            release_loss: 0.0,
            work: 0.0,
            recovery_work: 0.0,
            relaxed: 0,
            loose: 0,
            choice: Choice::Unique,
            trust: Trust::Unique,
        }
    }
}

impl Energy {
    /// Energies of a model at a state, to which `kinematics` goes.
    pub fn at(model: &Model, state: &State, kinematics: &mut Kinematics) -> Self {
        kinematics.go_to(&state.position, &state.velocity);
        let elastic = state.memory.iter().map(|m| elastic(model, m));
        Self {
            elastic: elastic.sum(),
            kinetic: kinematics.kinetic_energy(),
            potential: kinematics.potential_energy(model.scene().gravity)
                + load::spring_energy(model.scene(), kinematics),
        }
    }
}

/// Elastic energy in what a contact remembers, J.
pub(super) fn elastic(model: &Model, m: Remembered<'_>) -> f64 {
    let RowId::Contact(id) = m.id else { return 0.0 };
    let Some(rule) = model.contacts().rule_of(id) else { return 0.0 };
    if !rule.layers.is_empty() {
        let springs = model.scene().step.tangential_springs;
        let own = m.deformations.chunks_exact(model.contacts().linear_rows());
        return rule.layers.iter().zip(own).map(|(l, d)| l.energy(if springs { d } else { &d[..1] })).sum();
    }
    let compliance = rule.compliance.as_ref();
    let known = compliance.filter(|c| c.rows() == m.deformations.len());
    known.map_or(0.0, |c| c.elastic_energy(m.deformations))
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
    let (linear, h) = (problem.linear_rows, problem.h);
    let still = STILL * problem.fastest;
    let pick = |v: &[f64]| [v[0], v[1], if linear == 3 { v[2] } else { 0.0 }];
    for c in &contacts.contacts {
        let rule = &model.contacts().rules()[c.rule];
        let impact = rule.friction > 0.0 && is_jammed(model, solved, c);
        if impact {
            report.trust = Trust::NoRigidSolution;
        }
        for k in c.elements() {
            let rows = problem.rows_of(k);
            let (lambda, s) = (&forces.lambda[rows.clone()], &forces.velocity[rows]);
            let (force, mut speed) = (pick(lambda), pick(s));
            speed[0] -= problem.gap_rate[k];
            report.recovery_work -= h * force[0] * problem.gap_rate[k].min(0.0);
            report.friction_loss -= h * (force[1] * speed[1] + force[2] * speed[2]);
            let (mut moment, mut turn, mut fastest) = ([0.0; 3], [0.0; 3], speed[1].hypot(speed[2]));
            for i in linear..lambda.len() {
                let axis = rule.element.as_contact().map_or(0.0, |e| e.axes[i - 1]);
                // where friction does not resist a rotation, its velocity is not reported
                if axis > 0.0 {
                    (moment[i - linear], turn[i - linear]) = (lambda[i], s[i]);
                    fastest = fastest.hypot(axis * s[i]);
                    report.friction_loss -= h * lambda[i] * s[i];
                }
            }
            let status = match () {
                () if force[0] <= 0.0 => Status::Open,
                () if fastest <= still => Status::Stick,
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
                core: if rule.compliance.is_some() { 0.0 } else { force[0] },
                moment,
                speed,
                turn,
                deformation: pick(&deformation[linear * k..]),
                status,
                impact,
            });
        }
    }
}

/// What the standing rows of a step did, and what friction in joints dissipated.
pub fn standing(model: &Model, solved: Solved<'_>, out: &mut Vec<StandingReport>, report: &mut StepReport) {
    let Solved { contacts, problem, forces, .. } = solved;
    standing_rows(model, problem, contacts, forces, out, report);
}

/// The same in parts.
pub(super) fn standing_rows(
    model: &Model,
    problem: &ContactProblem,
    contacts: &ContactSet,
    forces: &Forces,
    out: &mut Vec<StandingReport>,
    report: &mut StepReport,
) {
    out.clear();
    let (h, still) = (problem.h, STILL * problem.fastest);
    for (element, &k) in (contacts.elements.len()..).zip(&problem.standing) {
        let (row, at) = (&model.standing()[k], problem.rows_of(element).start);
        let (force, velocity) = (forces.lambda[at], forces.velocity[at] - problem.gap_rate[element]);
        let (gap, effort) = (problem.gap[element], row.sign() * force);
        let status = match row.kind {
            StandingKind::Friction(_) if velocity.abs() > still => Status::Slip,
            StandingKind::Friction(_) => Status::Stick,
            _ if force > 0.0 => Status::Stick,
            _ => Status::Open,
        };
        match row.kind {
            StandingKind::Friction(_) => report.friction_loss -= h * force * velocity,
            _ => report.recovery_work -= h * force * problem.gap_rate[element].min(0.0),
        }
        out.push(StandingReport { row: k, gap, effort, velocity: row.sign() * velocity, status });
    }
}
