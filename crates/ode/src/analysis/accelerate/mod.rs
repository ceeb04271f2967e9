//! `accelerate`: what accelerates how at an instant, under which contact forces, and whether that is the only possibility
//! (trinkle1995).
//!
//! The problem with friction pyramids, (32)-(35), is solved as a mixed LCP: one solution, or all of them, or a verified proof
//! that there is none. The problem with Coulomb's cone, (27)-(29), is solved beside it. `docs/accelerate.md` states the formulas.

mod quasistatic;
mod words;

pub use super::instant::{Given, InvalidInstant};
pub use complementarity::solver::instant::{Conditions, Jam};

use super::instant::Instant;
use crate::model::Model;
use crate::space::{Frame, Vector};
use crate::state::Trust;
use crate::state::{ContactId, State};
use complementarity::matrix::norm;
use complementarity::problem::{Group, InstantProblem, InvalidProblem};
use complementarity::report::{Proof, Status};
use complementarity::residual::Residual;
use complementarity::solver::Budget;
use complementarity::solver::instant::{self, Outcome, Settings, Solution};

/// What is asked at an instant.
#[derive(Debug, Clone)]
pub struct Question {
    /// Inputs, joints whose accelerations are given (displacements in a quasistatic problem), and what counts as touching.
    pub given: Given,
    /// Find every solution of the pyramid problem, with the ranges of the normal forces.
    pub all: bool,
    /// Solve the problem with Coulomb's cone too.
    pub cone: bool,
    /// Test the conditions of existence and uniqueness.
    pub conditions: bool,
    /// Drop mass and velocity products: equilibrium and displacements instead of accelerations, with these stiffnesses of
    /// degrees of freedom (N/m, N m/rad) beside the springs of the scene.
    pub quasistatic: Option<Vec<(usize, f64)>>,
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Nodes after which the search for a decision ends.
    pub max_nodes: usize,
    /// Work that may be done, and a flag that ends it.
    pub budget: Budget,
}

impl Default for Question {
    fn default() -> Self {
        let Settings { tolerance, max_nodes, budget, .. } = Settings::default();
        Self {
            given: Given::default(),
            all: false,
            cone: true,
            conditions: true,
            quasistatic: None,
            tolerance,
            max_nodes,
            budget,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotAccelerated {
    /// Accelerations at the instant are not defined.
    #[error(transparent)]
    Instant(#[from] InvalidInstant),
    /// Numbers of the problem are not finite.
    #[error("the problem at this instant: {0}")]
    Problem(#[from] InvalidProblem),
    /// A stiffness is not one.
    #[error("stiffness of degree of freedom {dof} is {value}, expected 0 or more, once for each of {count}")]
    Stiffness {
        /// Degree of freedom in `v`.
        dof: usize,
        /// Stiffness given.
        value: f64,
        /// Number of degrees of freedom.
        count: usize,
    },
}

/// What a contact does at the instant: from its state before to its state after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transition {
    /// It sticks and goes on sticking: rolling to rolling.
    StickToStick,
    /// It sticks and begins to slip: rolling to sliding.
    StickToSlip,
    /// It slips and goes on slipping: sliding to sliding.
    SlipToSlip,
    /// It sticks and opens: rolling to breaking.
    StickToOpen,
    /// It slips and opens: sliding to breaking.
    SlipToOpen,
}

impl Transition {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::StickToStick => "stick-to-stick",
            Self::StickToSlip => "stick-to-slip",
            Self::SlipToSlip => "slip-to-slip",
            Self::StickToOpen => "stick-to-open",
            Self::SlipToOpen => "slip-to-open",
        }
    }
}

/// A contact that is closed at the instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactAt {
    /// Its parts and features; [`Model::contact_name`] names it.
    pub id: ContactId,
    /// Where it is, m.
    pub point: Vector,
    /// Axes n, t, o; the normal points into the second body.
    pub frame: Frame,
    /// Whether it slips already (it slides, or spins where it has torsional friction).
    pub slips: bool,
    /// Friction coefficient.
    pub mu: f64,
    /// Relative velocity along n, t, o, m/s.
    pub velocity: Vector,
}

/// A contact in a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactForce {
    /// Force on the second body along n, t, o, N.
    pub force: Vector,
    /// Moment on it about n, t, o, N m; zero without torsion and rolling friction.
    pub moment: Vector,
    /// Relative acceleration along n, t, o, m/s^2 (quasistatic: displacement, m).
    pub acceleration: Vector,
    /// What the contact does.
    pub transition: Transition,
}

/// A solution, or a continuum of solutions with a point of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Possible {
    /// Acceleration of each degree of freedom, m/s^2 or rad/s^2; displacement, m or rad, in a quasistatic problem.
    pub accelerations: Vec<f64>,
    /// Effort of each joint whose acceleration is given, N or N m, beside its motor, in the order of [`Given::accelerations`].
    pub efforts: Vec<f64>,
    /// Contacts, in the order of [`Answer::contacts`].
    pub contacts: Vec<ContactForce>,
    /// Efforts of joint limits and joint friction, in the order of [`Answer::standing`].
    pub standing: Vec<f64>,
    /// Forces of all rows, as the problem has them.
    pub forces: Vec<f64>,
    /// Residual, relative and absolute.
    pub residual: Residual,
    /// 0: an isolated solution; else the dimension of the continuum of forces.
    pub dimension: usize,
    /// Dimension of the continuum in accelerations: 0 if all its forces have the same effect.
    pub motion_dimension: usize,
    /// Whether forces grow without bound on the continuum.
    pub unbounded: bool,
    /// Least and largest normal force of each contact on the continuum; empty unless all solutions were requested.
    pub ranges: Vec<[f64; 2]>,
    /// Whether the forces satisfy Coulomb's cone too: then they solve both problems (Proposition 1).
    pub within_cone: bool,
}

/// Solutions under one friction law.
#[derive(Debug, Clone, PartialEq)]
pub struct Solutions {
    /// Solved, several, no-solution, undecided or stalled.
    pub status: Status,
    /// Method that produced the result.
    pub solver: &'static str,
    /// Its pivots, steps or nodes.
    pub iterations: usize,
    /// The solutions that were found.
    pub list: Vec<Possible>,
    /// Whether there are no others.
    pub complete: bool,
    /// Verified proof that there is no solution.
    pub proof: Option<Proof>,
    /// Why no decision was reached.
    pub reason: Option<String>,
}

/// What is possible at an instant.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Contacts that are closed, in order of their ids.
    pub contacts: Vec<ContactAt>,
    /// Standing rows that take part, as indices into [`Model::standing`].
    pub standing: Vec<usize>,
    /// Under friction pyramids (with a soft finger's moments, boxes).
    pub pyramid: Solutions,
    /// Under Coulomb's cone; `None` if it was not asked for. Where contacts have one direction of friction it is the same.
    pub cone: Option<Solutions>,
    /// Conditions of existence and uniqueness; `None` if they were not asked for.
    pub conditions: Option<Conditions>,
    /// Least and largest normal force of each contact over all solutions of the pyramid problem; empty unless all were requested.
    pub ranges: Vec<[f64; 2]>,
    /// Whether mass was dropped: accelerations are then displacements.
    pub quasistatic: bool,
    /// Size of the accelerations without contact forces.
    loads: f64,
}

impl Answer {
    /// Decision of the pyramid problem.
    pub fn status(&self) -> Status {
        self.pyramid.status
    }

    /// How far forces and motion under friction pyramids are determined.
    pub fn trust(&self) -> Trust {
        let Solutions { status, list, complete, proof, .. } = &self.pyramid;
        let proved = self.conditions.as_ref().is_some_and(|c| c.unique);
        match () {
            () if proof.is_some() => Trust::NoRigidSolution,
            () if self.motions_differ(list) => Trust::MotionNotUnique,
            () if *status == Status::Solved && (*complete || proved) => Trust::Unique,
            () if *status == Status::Several && *complete => Trust::ForcesNotUnique,
            () => Trust::NotExamined,
        }
    }

    /// [`trust`](Self::trust), but of several motions under friction pyramids those count that Coulomb's cone has too: if it is
    /// known to have one, whether there are others is not known.
    pub fn trust_under_cone(&self) -> Trust {
        let one = |cone: &Solutions| !cone.list.is_empty() && !self.motions_differ(&cone.list);
        match self.trust() {
            Trust::MotionNotUnique if self.cone.as_ref().is_some_and(one) => Trust::NotExamined,
            trust => trust,
        }
    }

    fn motions_differ(&self, list: &[Possible]) -> bool {
        let differ = |a: &Possible, b: &Possible| {
            let size = norm(&a.accelerations).max(norm(&b.accelerations)).max(f64::MIN_POSITIVE);
            let apart: Vec<f64> = a.accelerations.iter().zip(&b.accelerations).map(|(x, y)| x - y).collect();
            // accelerations of bodies at rest are rounding
            norm(&apart) > SAME_MOTION * size.max(self.loads)
        };
        list.iter().any(|p| p.motion_dimension > 0 || differ(p, &list[0]))
    }
}

/// Answers the question at a state of a model.
pub fn accelerate(model: &Model, state: &State, question: &Question) -> Result<Answer, NotAccelerated> {
    let posed = match &question.quasistatic {
        None => Posed::dynamic(model, state, question)?,
        Some(stiffness) => quasistatic::pose(model, state, question, stiffness)?,
    };
    let settings = Settings {
        tolerance: question.tolerance,
        all: question.all,
        max_nodes: question.max_nodes,
        budget: question.budget.clone(),
    };
    let pyramid = instant::solve_pyramid(&posed.problem, &settings)?;
    let cone = question.cone.then(|| match posed.problem.is_polyhedral() {
        true => pyramid.clone(),
        false => {
            let none = (vec![0.0; posed.problem.size()], vec![]);
            let starts = pyramid.solutions.iter().map(|s| (s.forces.clone(), s.displacements.clone()));
            let starts: Vec<_> = starts.chain([none]).collect();
            instant::solve_cone(&posed.problem, &settings, &starts)
        }
    });
    let conditions = question.conditions.then(|| {
        let (mu, free) = (posed.instant.mu(), posed.free_jacobian());
        instant::conditions(&posed.problem, &free, &mu)
    });
    let pyramid = posed.read(pyramid, question.tolerance);
    let cone = cone.map(|outcome| posed.read(outcome, question.tolerance));
    let wider = |a: [f64; 2], b: &[f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let ranges = match question.all && !pyramid.list.is_empty() {
        true => (0..posed.contacts.len())
            .map(|k| {
                pyramid.list.iter().map(|p| &p.ranges[k]).fold([f64::INFINITY, f64::NEG_INFINITY], wider)
            })
            .collect(),
        false => vec![],
    };
    let standing = posed.instant.standing().collect();
    let quasistatic = question.quasistatic.is_some();
    let loads = if quasistatic { 0.0 } else { norm(&posed.instant.free) };
    Ok(Answer { contacts: posed.contacts, standing, pyramid, cone, conditions, ranges, quasistatic, loads })
}

/// The problem, and how to read its solutions.
struct Posed {
    instant: Instant,
    contacts: Vec<ContactAt>,
    problem: InstantProblem,
    /// Displacements without inertia: their degrees of freedom, and their stiffness (all degrees of freedom).
    still: Option<quasistatic::Still>,
}

impl Posed {
    fn dynamic(model: &Model, state: &State, question: &Question) -> Result<Self, NotAccelerated> {
        let instant = Instant::with(model, state, &question.given)?;
        let problem = instant.instant_problem()?;
        Ok(Self { contacts: contacts(&instant, &problem), instant, problem, still: None })
    }

    /// `J` over the degrees of freedom whose acceleration is not given.
    fn free_jacobian(&self) -> complementarity::matrix::Matrix {
        let mut jacobian = self.instant.jacobian().clone();
        for &(dof, _) in self.instant.given() {
            (0..jacobian.rows()).for_each(|i| jacobian[(i, dof)] = 0.0);
        }
        jacobian
    }

    fn read(&self, outcome: Outcome, tolerance: f64) -> Solutions {
        let Outcome { status, solver, iterations, solutions, complete, proof, reason } = outcome;
        let list = solutions.into_iter().map(|s| self.possible(s, tolerance)).collect();
        Solutions { status, solver, iterations, list, complete, proof, reason }
    }

    fn possible(&self, solution: Solution, tolerance: f64) -> Possible {
        let Solution { forces, displacements, residual, dimension, motion_dimension, unbounded, mut ranges } =
            solution;
        let (accelerations, efforts) = match &self.still {
            None => {
                let accelerations = self.instant.accelerations(&forces).unwrap_or_default();
                (accelerations, self.instant.efforts(&forces).unwrap_or_default())
            }
            Some(still) => still.read(&self.instant, &forces, &displacements),
        };
        let relative = self.problem.accelerations(&forces, &displacements);
        let scale = norm(self.problem.vector())
            .max(norm(&relative))
            .max((0..forces.len()).fold(0.0, |m, i| m.max(self.problem.matrix()[(i, i)] * forces[i].abs())));
        let contacts: Vec<ContactForce> =
            (0..self.contacts.len()).map(|k| self.contact(k, &forces, &relative, scale)).collect();
        let within_cone =
            instant::cone_residual(&self.problem, &forces, &displacements).relative <= tolerance;
        ranges.truncate(self.contacts.len());
        let standing = forces[self.instant.offsets()[self.contacts.len()]..].to_vec();
        Possible {
            accelerations,
            efforts,
            contacts,
            standing,
            forces,
            residual,
            dimension,
            motion_dimension,
            unbounded,
            ranges,
            within_cone,
        }
    }

    fn contact(&self, k: usize, forces: &[f64], relative: &[f64], scale: f64) -> ContactForce {
        let rows = self.problem.rows_of(k);
        let (c, a) = (&forces[rows.clone()], &relative[rows]);
        let linear = c.len().min(3);
        let three = |x: &[f64]| [0, 1, 2].map(|i| x.get(i).copied().unwrap_or(0.0));
        let zero = NEGLIGIBLE * scale;
        let opens = a[0] > zero;
        let slip = match &self.problem.groups()[k] {
            Group::Rolling { axes, .. } => a[1..].iter().zip(axes).any(|(a, e)| e * a.abs() > zero),
            _ => true,
        };
        let transition = match (self.contacts[k].slips, opens, slip) {
            (false, true, _) => Transition::StickToOpen,
            (true, true, _) => Transition::SlipToOpen,
            (true, false, _) => Transition::SlipToSlip,
            (false, false, true) => Transition::StickToSlip,
            (false, false, false) => Transition::StickToStick,
        };
        ContactForce {
            force: three(&c[..linear]),
            moment: three(&c[linear..]),
            acceleration: three(&a[..linear]),
            transition,
        }
    }
}

/// Motions whose accelerations differ by less than this share are one.
const SAME_MOTION: f64 = 1e-7;

/// Accelerations below this share of the largest are zero.
const NEGLIGIBLE: f64 = 1e-8;

pub(super) fn contacts(instant: &Instant, problem: &InstantProblem) -> Vec<ContactAt> {
    let (set, mu) = (instant.contacts(), instant.mu());
    let contact = |(k, c): (usize, &crate::contact::set::Contact)| ContactAt {
        id: c.id,
        point: set.elements[c.first].point,
        frame: c.frame,
        slips: matches!(problem.groups()[k], Group::Sliding { .. }),
        mu: mu[k],
        velocity: instant.relative_velocity(k),
    };
    set.contacts.iter().enumerate().map(contact).collect()
}
