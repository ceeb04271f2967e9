//! A run in a few numbers.

use super::{Event, EventKind};
use crate::step::{Energy, StepReport};
use complementarity::residual::Residual;

/// How many of the first events are kept.
const KEPT: usize = 10;

/// What happened in a run so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Steps made.
    pub steps: usize,
    /// Worst relative residual of a step, and the time it ended, s.
    pub worst: (Residual, f64),
    /// Steps that were cut: the time they ended, s, and the number of parts.
    pub cut: Vec<(f64, usize)>,
    /// Who answered in how many steps; where a step has several contact problems, the one with the worst residual.
    pub solvers: Vec<(&'static str, usize)>,
    /// Iterations of those who answered, and of those who did not.
    pub iterations: usize,
    /// See `iterations`.
    pub wasted: usize,
    /// Number of events, kind by kind as in [`EventKind::ALL`].
    pub events: [usize; 4],
    /// The first of them.
    pub first_events: Vec<Event>,
    /// Energies at the start, J.
    pub start: Energy,
    /// Energies at the last record, J.
    pub now: Energy,
    /// Work lost to friction since the start, J.
    pub friction_loss: f64,
    /// Work lost in contact dampers since the start, J.
    pub damping_loss: f64,
    /// Largest change of an energy or loss seen at a record, J.
    pub largest_change: f64,
    /// Work of loads, motors and the dampers of springs since the start, J.
    pub work: f64,
}

impl Summary {
    pub(super) fn new() -> Self {
        Self {
            steps: 0,
            worst: (Residual::ZERO, 0.0),
            cut: vec![],
            solvers: vec![],
            iterations: 0,
            wasted: 0,
            events: [0; 4],
            first_events: vec![],
            start: Energy::default(),
            now: Energy::default(),
            friction_loss: 0.0,
            damping_loss: 0.0,
            largest_change: 0.0,
            work: 0.0,
        }
    }

    /// What any step has.
    pub(super) fn step(&mut self, report: &StepReport) {
        self.steps += 1;
        self.work += report.work;
    }

    /// What a step has besides where bodies are near each other.
    pub(super) fn contacts(&mut self, time: f64, report: &StepReport) {
        self.friction_loss += report.friction_loss;
        self.damping_loss += report.damping_loss;
        if report.residual.relative > self.worst.0.relative {
            self.worst = (report.residual, time);
        }
        self.iterations += report.iterations;
        self.wasted += report.wasted;
        match self.solvers.iter_mut().find(|(name, _)| *name == report.solver) {
            Some((_, steps)) => *steps += 1,
            None => self.solvers.push((report.solver, 1)),
        }
        if report.parts > 1 {
            self.cut.push((time, report.parts));
        }
    }

    pub(super) fn event(&mut self, event: &Event) {
        self.events[event.kind as usize] += 1;
        if self.first_events.len() < KEPT {
            self.first_events.push(*event);
        }
    }

    pub(super) fn energy(&mut self, energy: Energy) {
        self.now = energy;
        let changes = [
            energy.kinetic - self.start.kinetic,
            energy.potential - self.start.potential,
            energy.elastic - self.start.elastic,
            self.friction_loss,
            self.damping_loss,
            self.work,
        ];
        self.largest_change = changes.iter().fold(self.largest_change, |m, x| m.max(x.abs()));
    }

    /// Number of events of a kind.
    pub fn count(&self, kind: EventKind) -> usize {
        self.events[kind as usize]
    }

    /// Energies and losses at the last record less the energies at the start and the work of applied forces, J: negative
    /// where energy went that neither friction nor contact dampers took (rigid impacts, damping by the time step).
    pub fn balance_error(&self) -> f64 {
        let sum = |e: &Energy| e.kinetic + e.potential + e.elastic;
        sum(&self.now) + self.friction_loss + self.damping_loss - self.work - sum(&self.start)
    }

    /// The same over the largest change; 0 where nothing changed.
    pub fn relative_balance_error(&self) -> f64 {
        if self.largest_change > 0.0 { self.balance_error() / self.largest_change } else { 0.0 }
    }
}
