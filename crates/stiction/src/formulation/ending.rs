//! Rows about the velocities at the end of the step, where `theta > 0`.
//!
//! A row at `v_theta` keeps positions. Where a contact stays closed, sticks or stops to slip, `W v_theta = 0` gives `W v+ = -theta / (1-theta) W v`: at `theta = 1/2` what
//! is left of a velocity returns with the other sign in every step, for ever, and the force with it. Different terms may have different `theta` (pang2005, after (15)), and
//! the velocity-level laws of time stepping are about `v+` (Moreau 1988). So, of rows that no spring yields,
//!
//! ```text
//! s = (1-theta) (W v+ + g/h)      normals of contacts and limits that are closed and are not struck; friction of contacts and joints
//! s = W v_theta + g/h             normals that close in the step
//! ```
//!
//! The factor leaves every law as it is and A symmetric, so that only b differs, by `theta W v`. Gaps `g` of closed rows (the curvature of the bodies) fade by `sqrt(theta)` a step.

use super::ContactProblem;
use crate::model::Model;
use crate::motion::{CLOSED, Motion};
use complementarity::problem::Element;

impl ContactProblem {
    /// Whether a row is about the velocity at the end of the step.
    pub fn is_at_end(&self, row: usize) -> bool {
        self.at_end.get(row).copied().unwrap_or(false)
    }

    /// What is missing in `s` of a row to its velocity at `v_theta`, m/s: `theta W v` of rows at the end, else 0.
    pub fn left_out(&self, row: usize) -> f64 {
        self.left.get(row).copied().unwrap_or(0.0)
    }

    /// Velocity of a row of which `s` less what its gap adds is `s`: at the end or at `v_theta`, as the row is posed.
    pub fn row_velocity(&self, row: usize, s: f64) -> f64 {
        if self.is_at_end(row) { s / (1.0 - self.theta) } else { s }
    }

    /// What of `g/h` is in `s` of a row.
    pub(crate) fn gap_share(&self, row: usize) -> f64 {
        if self.is_at_end(row) { 1.0 - self.theta } else { 1.0 }
    }

    /// Poses rows at the end of the step. The problem is assembled but for that.
    pub(super) fn pose_at_end(&mut self, model: &Model, motion: &Motion) {
        let (mut left, mut scratch) = (std::mem::take(&mut self.left), std::mem::take(&mut self.carried));
        self.at_end.clear();
        left.clear();
        if self.theta > 0.0 && self.theta < 1.0 {
            // (1-theta) (W v + u)
            self.relative_velocities(motion.kick(), &motion.velocity, &mut scratch, &mut left);
            self.at_end.resize(self.b.len(), false);
            for k in 0..self.elements.len() {
                self.pose_element(model, k, &mut left);
            }
        }
        (self.left, self.carried) = (left, scratch);
    }

    fn pose_element(&mut self, model: &Model, k: usize, left: &mut [f64]) {
        let (theta, rows) = (self.theta, self.rows_of(k));
        let rigid = self.factors().patch(k).is_none() && self.elements[k] != Element::Bilateral;
        let unilateral = !matches!(self.elements[k], Element::Bounded { .. });
        for row in rows.clone() {
            let start = std::mem::take(&mut left[row]) / (1.0 - theta);
            let normal = unilateral && row == rows.start;
            if !rigid || normal && !self.stays_closed(model, (k, row), start) {
                continue;
            }
            self.at_end[row] = true;
            left[row] = theta * start;
            self.b[row] -= left[row];
            if normal {
                let rate = self.gap_rate[k];
                self.gap_rate[k] = (1.0 - theta) * rate;
                self.b[row] += self.gap_rate[k] - rate;
            }
        }
    }

    /// Whether an element is closed when the step begins, and approaches no faster than a step or two of acceleration, or the threshold of impacts.
    fn stays_closed(&self, model: &Model, (k, row): (usize, usize), start: f64) -> bool {
        let free = (self.b[row] - self.gap_rate[k] - self.theta * start) / (1.0 - self.theta);
        let least = model.scene().step.bounce_threshold.max(2.0 * (free - start).abs());
        (self.start[row] > 0.0 || self.gap[k] <= CLOSED) && -start <= least
    }
}
