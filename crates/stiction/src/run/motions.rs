//! Steps for which two methods found different motions ([`StepReport::rested`](crate::step::StepReport::rested)).

use super::Summary;
use crate::model::Model;
use crate::state::RowId;

/// Most names that a warning lists.
const MOST: usize = 5;

/// Steps of a run with two motions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TwoMotions {
    /// How many.
    pub steps: usize,
    /// When the first of them ended, s.
    pub first: f64,
    /// Contacts and other rows of the first that could do otherwise.
    pub rows: Vec<RowId>,
}

/// A warning of steps with two motions: see [`Summary::motion_warnings`].
#[derive(Debug, Clone, PartialEq)]
pub struct MotionWarning {
    /// How many.
    pub steps: usize,
    /// When the first of them ended, s.
    pub first: f64,
    /// Names of the contacts and other rows of the first that could do otherwise.
    pub places: Vec<String>,
    /// What happened, where and when, and what to do about it.
    pub message: String,
}

impl TwoMotions {
    /// Takes note of a step that ended at a time.
    pub(super) fn add(&mut self, time: f64, rows: &[RowId]) {
        if self.steps == 0 {
            self.first = time;
            self.rows.extend_from_slice(rows);
        }
        self.steps += 1;
    }

    fn warning(&self, model: &Model, what: &str) -> Option<MotionWarning> {
        let mut places: Vec<String> = self.rows.iter().map(|id| model.row_name(*id)).collect();
        places.dedup();
        let (steps, first, more) = (self.steps, self.first, places.len().saturating_sub(MOST));
        let names = places.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!(
            "two motions were found for {steps} step{}, first at t = {first:.6} s at {names}{more}: {what}",
            if steps == 1 { "" } else { "s" }
        );
        (steps > 0).then_some(MotionWarning { steps, first, places, message })
    }
}

impl Summary {
    /// Steps for which two methods found different motions: which is shown, and how to get the other.
    pub fn motion_warnings(&self, model: &Model) -> Vec<MotionWarning> {
        let rested = "shown is the one at rest; step.branch = \"nearest\" follows the other";
        let left = "shown is the one that leaves rest, for staying there takes forces that no load makes; preload the contacts, or join the bodies, if they shall hold";
        [self.rested.warning(model, rested), self.left_rest.warning(model, left)]
            .into_iter()
            .flatten()
            .collect()
    }
}
