//! Whether the rigid motion at a state is the only one, and stable: [`stability::examine`], and a sieve before it that costs little.
//!
//! The *margin* of a contact that slips along `d` is `A = W_n M^-1 (W_n - mu d W_t)'` of song2001 (29) over `W_n M^-1 W_n'`: 1 without friction, and
//! positive where its normal force alone is unique and stable (Theorem 5.1). [`stability::Margin`] is the same for several contacts.

use crate::analysis::stability::{self, Preferred, Question};
use crate::inputs::Inputs;
use crate::model::Model;
use crate::ode::event;
use crate::scene::Scheme;
use crate::state::{ContactId, State};
use crate::step::{StepReport, Trust, Workspace, jam};

/// The rigid phase is left where a margin falls below this, before it reaches 0.
pub const ENTER: f64 = 0.1;
/// It is begun again above this.
pub const LEAVE: f64 = 0.2;

/// What is asked at states that steps of the scene's scheme led to.
pub fn question(model: &Model, inputs: &Inputs) -> Question {
    let mut question = Question { vary: false, ..Question::default() };
    question.given.inputs.clone_from(inputs);
    if model.scene().step.scheme != Scheme::Event {
        return question.after_steps(model);
    }
    (question.given.gap, question.given.velocity) = (event::CLOSED, event::REST);
    question.given.scaled = true;
    question
}

/// A contact because of which the rigid motion at a state must not be followed: a margin is below `least`, several motions or none are possible, or the one there
/// is is unstable. Instants that the problem of accelerations does not describe (impacts) count as unique, and so do those of which not all solutions
/// were found. Allocates memory.
pub fn find_left(model: &Model, state: &State, question: &Question, least: f64) -> Option<ContactId> {
    let found = stability::examine(model, state, question).ok()?;
    let cluster = found.clusters.iter().find(|c| {
        let unique = matches!(c.trust, Trust::Unique | Trust::ForcesNotUnique);
        c.margin.value < least
            || matches!(c.trust, Trust::MotionNotUnique | Trust::NoRigidSolution)
            || unique && matches!(c.preferred, Preferred::Compliant)
    })?;
    let least = cluster.margin.contacts.first().and_then(|k| cluster.contacts.get(*k));
    least.or(cluster.contacts.iter().find(|c| c.slips)).or(cluster.contacts.first()).map(|c| c.id)
}

/// Whether the state at which a step of the theta scheme began must be examined. Allocates nothing.
pub fn is_suspicious(model: &Model, work: &Workspace, report: &StepReport, before: Trust) -> bool {
    let doubtful = |trust: Trust| matches!(trust, Trust::MotionNotUnique | Trust::NoRigidSolution);
    doubtful(report.trust) || doubtful(before) || jam::least_margin(model, work) < ENTER
}
