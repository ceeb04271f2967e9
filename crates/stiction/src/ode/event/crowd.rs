//! Where located events crowd, a time step takes their place.
//!
//! Slips of connected contacts that begin and end within nanoseconds of each other, and instants whose contact problem is not decided, can keep a path from getting on. It is then continued
//! by a step of the theta scheme, whose contact problem decides all contacts at once at the end of the step: of [`SHORT`], and four times as long where that was not enough,
//! up to [`LONG`]. Its error is that of a time step, and an impact that falls into it is one of time-stepping; the report counts such steps and their time, and events in them are at their end.

use super::Path;
use crate::state::State;
use crate::step::{Failed, StepReport, theta};
use std::sync::atomic::Ordering;

/// Length of the shortest and the longest time step, in the least time of a body ([`crate::model::Scales::time`]), and the ratio of two that follow each other.
const SHORT: f64 = 1e-6;
const LONG: f64 = 1e-4;
const RATIO: f64 = 4.0;
/// Most events, and tries of the integrator, within this many lengths of the next time step, where that is the shortest; fewer for longer ones.
const MOST: [f64; 2] = [100.0, 300.0];
const SPAN: f64 = 100.0;
/// But at least so many.
const LEAST: [f64; 2] = [16.0, 100.0];
/// Time steps follow each other if they begin within this many lengths of the last one.
const SOON: f64 = 100.0;

/// What happened of late.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crowd {
    /// When counting began, s, and events and tries from then on.
    since: f64,
    counts: [f64; 2],
    /// Length of the next time step, s, and the end of the last one.
    length: f64,
    last: f64,
    /// The least time, s.
    unit: f64,
}

impl Crowd {
    pub fn new(unit: f64) -> Self {
        let none = f64::NEG_INFINITY;
        Self { since: none, counts: [0.0; 2], length: SHORT * unit, last: none, unit }
    }

    /// Counts events and tries at a time.
    ///
    /// # Errors
    /// If there are too many.
    pub fn count(&mut self, time: f64, more: [f64; 2]) -> Result<(), Failed> {
        if time - self.since > SPAN * self.length {
            (self.since, self.counts) = (time, [0.0; 2]);
        }
        let share = SHORT * self.unit / self.length;
        for k in 0..2 {
            self.counts[k] += more[k];
            if self.counts[k] > (share * MOST[k]).max(LEAST[k]) {
                return Err(Failed::Integration { time, h: time - self.since });
            }
        }
        Ok(())
    }

    /// The next time step begins.
    fn begin(&mut self, time: f64) -> f64 {
        let soon = time - self.last < SOON * self.length;
        self.length = self.unit * if soon { (RATIO * self.length / self.unit).min(LONG) } else { SHORT };
        self.length
    }
}

impl Path<'_> {
    /// Goes on by time steps, where the path could not because of `why`, until it can.
    pub(super) fn step_over(
        &mut self,
        state: &mut State,
        end: f64,
        crowd: &mut Crowd,
        mut why: Failed,
    ) -> Result<(), Failed> {
        loop {
            if self.work.solver.stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed)) {
                return Err(Failed::Interrupted { time: self.s.kept.time });
            }
            let passes = matches!(
                why,
                Failed::Integration { .. } | Failed::Undecided { .. } | Failed::Unsolved { .. }
            );
            if !passes || state.time >= end {
                return Err(why);
            }
            let by = crowd.begin(state.time).min(end - state.time);
            let mut report = StepReport::default();
            self.work.solver.begin_step();
            let made = theta::step(self.model, state, self.inputs, by, self.work, &mut report);
            if made.is_err() {
                return Err(why);
            }
            self.add(&report, by);
            (crowd.last, crowd.since) = (state.time, f64::NEG_INFINITY);
            // margins are those of the last place
            for c in &mut self.s.closed {
                (c.margins, c.gives, c.together) = ([f64::INFINITY; 2], None, false);
            }
            self.hold(state);
            match self.decide(state) {
                Ok(()) => return Ok(()),
                Err(again) => why = again,
            }
        }
    }

    /// Adds what a time step did to the report.
    fn add(&mut self, made: &StepReport, by: f64) {
        let report = &mut self.report;
        report.stepped += 1;
        report.stepped_time += by;
        report.friction_loss += made.friction_loss;
        report.damping_loss += made.damping_loss;
        report.release_loss += made.release_loss;
        report.impact_loss += made.impact_loss;
        report.work += made.work;
        report.recovery_work += made.recovery_work;
        report.constraint_work += made.constraint_work;
        report.iterations += made.iterations;
        report.wasted += made.wasted;
        report.relaxed += made.relaxed;
        report.loose += made.loose;
        if made.residual.relative > report.residual.relative {
            report.residual = made.residual;
        }
    }
}
