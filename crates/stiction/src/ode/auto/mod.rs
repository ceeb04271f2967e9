//! `law = "auto"`: contacts are rigid while the rigid motion is unique and stable, and compliant while it is not (song2001 sections 4, 5 and 8).
//!
//! All contacts of a scene are in one phase. The *rigid phase* is stepped by the scene's scheme, theta or event. It is left before `A` of song2001 (29) reaches
//! 0 at a contact that slips, and where several motions, or none, follow from a state (`examination`). The *compliant phase* is stepped by
//! [`compliant`], with the layer of each contact. It is left at the end of a step at which the rigid motion is unique and stable
//! again and the layers have settled. The state is handed over on the slow manifold (`handover`).
//!
//! A state is in the compliant phase if some of its contacts are deformed; nothing else is remembered.

mod examination;
mod handover;

use super::{CompliantScheme, EventScheme};
use crate::inputs::Inputs;
use crate::model::Model;
use crate::scene::Scheme;
use crate::state::{ContactId, RowId, State, next_time};
use crate::step::{Failed, Located, ModelChange, StepReport, StepScheme, TimeStepping, Workspace};
use complementarity::residual::Residual;
use examination::{ENTER, LEAVE, find_left, is_suspicious, question};

/// `law = "auto"`: the schemes that it changes between, and the memory that its steps use.
#[derive(Debug, Clone, Default)]
pub struct AutoScheme {
    time_stepping: TimeStepping,
    event: EventScheme,
    compliant: CompliantScheme,
    /// The state when the step began.
    kept: State,
    located: Vec<Located>,
}

/// Share of a step below which no compliant step is made for the rest of it.
const REST_OF_STEP: f64 = 1e-9;

/// Whether contacts of a state are compliant: some are deformed.
pub(super) fn is_compliant(state: &State) -> bool {
    state.memory.iter().any(|m| !m.deformations.is_empty())
}

impl StepScheme for AutoScheme {
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
    ) -> Result<StepReport, Failed> {
        self.kept.copy_from(state);
        work.changes.clear();
        let made = match (is_compliant(state), model.scene().step.scheme) {
            (true, _) => self.compliant_step(model, state, inputs, h, work),
            (false, Scheme::Event) => self.event_step(model, state, inputs, h, work),
            (false, _) => self.theta_step(model, state, inputs, h, work),
        };
        if made.is_err() {
            state.copy_from(&self.kept);
            work.changes.clear();
        }
        made
    }

    fn boxed(&self) -> Box<dyn StepScheme> {
        Box::new(self.clone())
    }
}

impl AutoScheme {
    /// A step of the theta scheme; if the rigid motion was not the only one when it began, it is made again with compliant contacts.
    fn theta_step(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
    ) -> Result<StepReport, Failed> {
        let made = self.time_stepping.step(model, state, inputs, h, work);
        let suspicious = match &made {
            Ok(report) => is_suspicious(model, work, report, self.kept.solver.trust),
            Err(Failed::Interrupted { .. }) => false,
            Err(_) => true,
        };
        if !suspicious {
            return made;
        }
        let consistent = handover::consistent(model, &self.kept, inputs);
        let Some(contact) = find_left(model, &consistent, &question(model, inputs), ENTER) else {
            return made;
        };
        state.copy_from(&self.kept);
        work.located.clear();
        work.struck.clear();
        let mut report = leave_rigid(model, state, inputs, contact, work);
        add(&mut report, &self.compliant_step(model, state, inputs, h, work)?);
        Ok(report)
    }

    /// A step of the event scheme, up to where the rigid motion is the only one; the rest with compliant contacts.
    fn event_step(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
    ) -> Result<StepReport, Failed> {
        let start = state.time;
        // single contacts are watched on the way, and at events
        let several = state.memory.len() > 1;
        if several && let Some(contact) = find_left(model, state, &question(model, inputs), ENTER) {
            work.located.clear();
            work.struck.clear();
            let mut report = leave_rigid(model, state, inputs, contact, work);
            add(&mut report, &self.compliant_step(model, state, inputs, h, work)?);
            return Ok(report);
        }
        let (mut report, left) = self.event.step_while(model, state, inputs, h, work, Some(ENTER))?;
        let Some(contact) = left else { return Ok(report) };
        let rest = start + h - state.time;
        self.located.clone_from(&work.located);
        let mut struck = std::mem::take(&mut work.struck);
        add(&mut report, &leave_rigid(model, state, inputs, contact, work));
        if rest > REST_OF_STEP * h {
            // the integrators' lengths have nothing to do with each other
            state.solver.level = 0;
            add(&mut report, &self.compliant_step(model, state, inputs, rest, work)?);
            self.located.append(&mut work.located);
            std::mem::swap(&mut self.located, &mut work.located);
        }
        struck.append(&mut work.struck);
        work.struck = struck;
        state.time = next_time(start, h);
        Ok(report)
    }

    /// A step with compliant contacts, and the return to rigid ones at its end, if the rigid motion may be followed there.
    fn compliant_step(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
    ) -> Result<StepReport, Failed> {
        let deformed = |state: &State| {
            let mut ids = state.memory.iter().filter(|m| !m.deformations.is_empty()).map(|m| m.id);
            ids.find_map(|id| if let RowId::Contact(id) = id { Some(id) } else { None })
        };
        let before = deformed(state);
        let mut report = self.compliant.step(model, state, inputs, h, work)?;
        report.compliant_time = h;
        if let Some(work_done) = handover::to_rigid(model, state, inputs, work, LEAVE) {
            report.handover_work += work_done;
            state.solver.level = 0;
            let last = work.changes.last().map(|c| c.contact);
            if let Some(contact) = deformed(state).or(before).or(last) {
                work.changes.push(ModelChange { time: state.time, contact, compliant: false });
            }
        }
        Ok(report)
    }
}

/// Hands a state over to compliant contacts.
fn leave_rigid(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    contact: ContactId,
    work: &mut Workspace,
) -> StepReport {
    let handover_work = handover::to_compliant(model, state, inputs);
    work.changes.push(ModelChange { time: state.time, contact, compliant: true });
    StepReport { handover_work, ..StepReport::default() }
}

/// Adds what a later part of a step did.
fn add(report: &mut StepReport, later: &StepReport) {
    report.iterations += later.iterations;
    report.wasted += later.wasted;
    report.parts = report.parts.max(later.parts);
    report.rounds += later.rounds;
    report.friction_loss += later.friction_loss;
    report.damping_loss += later.damping_loss;
    report.release_loss += later.release_loss;
    report.impact_loss += later.impact_loss;
    report.work += later.work;
    report.recovery_work += later.recovery_work;
    report.handover_work += later.handover_work;
    report.compliant_time += later.compliant_time;
    if later.residual.relative > report.residual.relative || report.residual == Residual::ZERO {
        (report.residual, report.solver) = (later.residual, later.solver);
    }
    report.trust = report.trust.max(later.trust);
}
