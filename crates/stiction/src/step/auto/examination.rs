//! Whether the rigid motion at a state is the only one, and stable.
//!
//! For a contact that slips with the unit vector `d` of its slip, `A = W_n M^-1 (W_n - mu d W_t)'` (song2001 (29)) over `W_n M^-1 W_n'` is its *uniqueness*: 1
//! without friction, and positive where its normal force is unique and the boundary layer stable (Theorem 5.1). One that does not slip may begin to in any
//! direction: the least over all of them is `(W_n M^-1 W_n' - mu |W_n M^-1 W_t'|) / W_n M^-1 W_n'`; where it is positive, a single contact has one solution.

use crate::analysis::accelerate::{Given, Question, accelerate};
use crate::analysis::instant::Instant;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::space::length;
use crate::state::{ContactId, State};
use crate::step::{StepReport, Trust, Workspace, event, jam};
use complementarity::problem::Group;

/// The rigid phase is left where the uniqueness of a contact that slips falls below this, before it reaches 0.
pub const ENTER: f64 = 0.1;
/// It is begun again above this.
pub const LEAVE: f64 = 0.2;
/// Contacts up to which all solutions are sought.
const ALL: usize = 6;

/// Gaps (m) and relative velocities (m/s) that count as none.
#[derive(Debug, Clone, Copy)]
pub struct Tolerance {
    pub gap: f64,
    pub velocity: f64,
}

impl Tolerance {
    /// That of states after a step of length `h` by the scene's scheme.
    pub fn of_step(model: &Model, h: f64) -> Self {
        match model.scene().step.scheme {
            crate::scene::Scheme::Event => Self { gap: event::CLOSED, velocity: event::REST },
            _ => Self { gap: 1e-6, velocity: h * length(model.scene().gravity) },
        }
    }
}

/// What was found at a state.
#[derive(Debug, Clone, Default)]
pub struct Examined {
    /// A contact because of which the rigid motion must not be followed.
    pub left: Option<ContactId>,
    /// Accelerations of the rigid motion, if one was found.
    pub accelerations: Option<Vec<f64>>,
}

/// Examines the rigid motion at a state. Instants that the problem of accelerations does not describe (impacts) count as unique, and so do those whose
/// solutions were not counted because there are too many contacts. Allocates memory.
pub fn examine(model: &Model, state: &State, inputs: &Inputs, tolerance: Tolerance, least: f64) -> Examined {
    let Tolerance { gap, velocity } = tolerance;
    let given = Given { inputs: inputs.clone(), gap, velocity, ..Given::default() };
    let mut found = Examined::default();
    let Ok(instant) = Instant::with(model, state, &given) else { return found };
    let contacts = &instant.contacts().contacts;
    let (a, _) = instant.system();
    for (k, group) in instant.groups().iter().enumerate().take(contacts.len()) {
        let Group::Sliding { ray } = group else { continue };
        let first = instant.offsets()[k];
        let own: f64 = ray.iter().enumerate().map(|(i, x)| a[(first, first + i)] * x).sum();
        if own < least * a[(first, first)] {
            found.left = Some(contacts[k].id);
            return found;
        }
    }
    let all = contacts.len() <= ALL;
    let question = Question { given, all, conditions: false, tolerance: 1e-9, ..Question::default() };
    let Ok(answer) = accelerate(model, state, &question) else { return found };
    if matches!(answer.trust(), Trust::MotionNotUnique | Trust::NoRigidSolution) {
        let slips = answer.contacts.iter().find(|c| c.slips).or(answer.contacts.first());
        found.left = slips.map(|c| c.id);
        return found;
    }
    let list = match &answer.cone {
        Some(cone) if !cone.list.is_empty() => &cone.list,
        _ => &answer.pyramid.list,
    };
    found.accelerations = list.first().map(|p| p.accelerations.clone());
    found
}

/// Whether the state at which a step of the theta scheme began must be examined. Allocates nothing.
pub fn is_suspicious(model: &Model, work: &Workspace, report: &StepReport, before: Trust) -> bool {
    let doubtful = |trust: Trust| matches!(trust, Trust::MotionNotUnique | Trust::NoRigidSolution);
    doubtful(report.trust) || doubtful(before) || jam::least_uniqueness(model, work) < ENTER
}
