//! Where margins are used up: the first event of an attempt, and the step that ends there.

use super::field::{Asked, Equations, POWERS};
use super::islands::scale_of;
use super::{AHEAD, CLOSED, Path, REST, USED_UP, equations, near_velocity};
use crate::contact::set::Contact;
use crate::integrate::Field;
use crate::model::Scale;
use crate::state::ContactId;
use crate::step::Workspace;
use crate::step::detect::detect_share;

/// Bracket of an event, in the least time of a body, and as a multiple of the rounding of its time.
const LOCATED: f64 = 1e-15;
const ROUNDING: f64 = 2.0 * f64::EPSILON;
/// Evaluations after which the location of an event is as good as it gets.
const LOOKS: usize = 80;

impl Path<'_> {
    /// The least margin at a place, that of open contacts included.
    fn least(&mut self, t: f64, y: &[f64]) -> f64 {
        let mut equations = equations!(self, Asked::Margins);
        let (nq, nv) = equations.sizes();
        self.s.rate.resize(y.len(), 0.0);
        equations.rate(t, y, &mut self.s.rate);
        if !self.s.rate.iter().all(|x| x.is_finite()) {
            return -1.0;
        }
        let mut closed = self.s.closed.iter().flat_map(|c| c.margins).fold(f64::INFINITY, f64::min);
        if let Some(least) = self.least {
            closed = self.s.closed.iter().map(|c| c.slip_margin - least).fold(closed, f64::min);
        }
        let closed = self.s.held.iter().map(|h| h.margin).fold(closed, f64::min);
        let Workspace { motion, detection, .. } = &mut *self.work;
        motion.kinematics.go_to(&y[..nq], &y[nq..nq + nv]);
        if detect_share(self.model, motion, AHEAD, detection, &mut self.s.near).is_err() {
            return -1.0;
        }
        let is_open = |id: ContactId| self.s.closed.binary_search_by_key(&id, |c| c.id).is_err();
        let near = &self.s.near;
        // features that appear with an overlap, as faces cease to be flat, and separate are no event
        let model = self.model;
        let parts = |gap: f64, c: &Contact, scale: &Scale| {
            gap < 0.0 && gap > -CLOSED && near_velocity(&motion.kinematics, near, c)[0] > REST * scale.speed
        };
        let margin = |c: &Contact| {
            let scale = scale_of(model, near, c);
            let gap = near.elements[c.first].gap / scale.length;
            (!parts(gap, c, &scale)).then_some(gap)
        };
        near.contacts.iter().filter(|c| is_open(c.id)).filter_map(margin).fold(closed, f64::min)
    }

    /// The first place of the last attempt at which a mode does not hold, as a time after its begin.
    pub(super) fn used_up_within(&mut self, t: f64, h: f64) -> Option<f64> {
        for x in [0.25, 0.5, 0.75, 1.0] {
            let mut stage = std::mem::take(&mut self.s.stage);
            self.s.method.between(x, h, &mut stage);
            let least = self.least(t + x * h, &stage);
            self.s.stage = stage;
            if least < -USED_UP {
                return Some(x * h);
            }
        }
        None
    }

    /// Length of the step at whose end the first margin is used up, and the attempt of that length.
    pub(super) fn locate(&mut self, t: f64, within: f64) -> Option<f64> {
        let (start, time) = (self.s.y.clone(), self.model.scales().time());
        let first = self.least(t, &start);
        let slack = 0.5 * USED_UP;
        let bracket = |high: f64| (LOCATED * time).max(ROUNDING * high);
        let value_at = |path: &mut Self, at: f64| {
            path.attempt(t, at)?;
            let mut stage = std::mem::take(&mut path.s.stage);
            stage.clear();
            stage.extend_from_slice(path.s.method.end());
            let value = path.least(t + at, &stage) + slack;
            path.s.stage = stage;
            Some(value)
        };
        let (mut low, mut high) = ((0.0, first + slack), (within, value_at(self, within)?));
        // the polynomial was too low: nothing happens
        if high.1 > 0.0 {
            return Some(within);
        }
        // what has just touched and leaves is used up at the begin, but not after it
        while low.0 == 0.0 && low.1 <= 0.2 * USED_UP && high.0 > LOCATED * time {
            let at = 0.5 * high.0;
            let value = value_at(self, at)?;
            if value > 0.0 {
                low = (at, value);
            } else {
                high = (at, value);
            }
        }
        low.1 = low.1.max(USED_UP);
        let (mut last, mut side) = (high.1, 0);
        // the secant method with halved values of an end that stays (Illinois), and bisection in between
        for look in 0..LOOKS {
            if high.0 - low.0 <= bracket(high.0) || last > -0.1 * USED_UP {
                break;
            }
            let secant = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let inside = secant > low.0 && secant < high.0;
            let at = if inside && look % 5 != 4 { secant } else { 0.5 * (low.0 + high.0) };
            let value = value_at(self, at)?;
            if value <= 0.0 {
                low.1 *= if side < 0 { 0.5 } else { 1.0 };
                (high, last, side) = ((at, value), value, -1);
            } else {
                high.1 *= if side > 0 { 0.5 } else { 1.0 };
                (low, side) = ((at, value), 1);
            }
        }
        value_at(self, high.0)?;
        Some(high.0)
    }
}
