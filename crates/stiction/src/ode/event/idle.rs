//! Contacts that touch and carry nothing.
//!
//! Where contacts are redundant, even compliance may unload one of them (a leg of a table that is pushed) while the others keep it touching: its gap and its normal
//! acceleration `a` are 0 whether it carries force or not. With forces `(B + eps I) x = -b` of the others, `x = x_0 + eps x_1 + ...`, the complementarity `x_n >= 0`, `a + eps x_n >= 0`,
//! `x_n (a + eps x_n) = 0` leaves it unloaded as long as
//!
//! ```text
//! a = eps w + ...        w = B_i x_1 >= 0,        B x_1 = -x_0
//! ```
//!
//! (`B_i` the row of its normal acceleration), and `w = 0` is located like any other event. For the fourth of four feet at the corners of a rectangle it is `x_2 - x_1 - x_3`, the feet numbered around it.

use super::field::{Closed, Equations, Mode, Row, Touch};
use super::{Path, TOGETHER};
use crate::analysis::instant::Instant;
use crate::state::{ContactId, State};
use complementarity::matrix::{Matrix, dot};

/// Normal accelerations below this share of what they are made of are 0.
const KEPT: f64 = 1e-9;
/// Most exchanges between contacts that carry force and those that do not, for each contact.
const EXCHANGES: usize = 8;

impl Equations<'_> {
    /// Margins of contacts that carry no force; `rows` are those of the last solution, and `along` its directions of slip.
    pub(super) fn watch_idle(
        &mut self,
        (instant, (a, b)): (&Instant, &(Matrix, Vec<f64>)),
        rows: &[Row],
        along: &[[f64; 2]],
        forces: &[f64],
    ) {
        if self.closed.iter().all(|c| c.touch == Touch::Carries) {
            return;
        }
        let columns = self.columns(instant, rows, along);
        let solution = self.memory.solution.clone();
        self.memory.right.clear();
        self.memory.right.extend(solution.iter().map(|x| -x));
        self.solve();
        let change = std::mem::replace(&mut self.memory.solution, solution.clone());
        for k in 0..self.closed.len() {
            if self.closed[k].touch == Touch::Carries {
                continue;
            }
            let found = &instant.contacts().contacts;
            let Ok(at) = found.binary_search_by_key(&self.closed[k].id, |f| f.id) else {
                (self.closed[k].touch, self.closed[k].margins[0]) = (Touch::Leaves, -1.0);
                continue;
            };
            let row = instant.offsets()[at];
            let acceleration = b[row] + dot(a.row(row), forces);
            let size = b[row].abs() + a.row(row).iter().zip(forces).map(|(a, f)| (a * f).abs()).sum::<f64>();
            let by =
                |column: &Vec<(usize, f64)>| column.iter().map(|(at, share)| a[(row, *at)] * share).sum();
            let weights: Vec<f64> = columns.iter().map(by).collect();
            let leaves = acceleration > KEPT * size || !self.depends(instant, row, rows);
            let c = &mut self.closed[k];
            c.touch = if leaves { Touch::Leaves } else { Touch::Idle };
            c.margins[0] = match acceleration.abs() > KEPT * size || leaves {
                true => -1.0,
                false => dot(&weights, &change) / c.unit,
            };
            if acceleration < -KEPT * size {
                c.touch = Touch::Idle;
            }
        }
        self.memory.solution = solution;
    }
}

impl Path<'_> {
    /// Decides which of the closed contacts carry force, by even compliance: `before` are those that led here, with their margins. Where that finds no end, those of the
    /// instant's solution do.
    pub(super) fn settle(&mut self, state: &State, before: &[Closed]) {
        let answer = self.s.closed.clone();
        for c in &mut self.s.closed {
            let Some(was) = before.iter().find(|b| b.id == c.id) else { continue };
            let changes = was.margins[0] <= TOGETHER;
            c.touch = if (was.touch == Touch::Carries) != changes { Touch::Carries } else { Touch::Idle };
        }
        self.load(state);
        let most = EXCHANGES * (self.s.closed.len() + 1);
        for round in 0..most {
            self.s.closed.iter_mut().filter(|c| c.touch == Touch::Leaves).for_each(|c| c.touch = Touch::Idle);
            if !self.evaluate(state.time) {
                break;
            }
            let wrong = |c: &&Closed| c.touch != Touch::Leaves && c.margins[0] < -TOGETHER;
            let list = self.s.closed.iter().filter(wrong);
            // the worst; later the first, which cannot go round in circles
            let worst: Option<ContactId> = match round < most / 2 {
                true => list.min_by(|a, b| a.margins[0].total_cmp(&b.margins[0])),
                false => list.min_by_key(|c| c.id),
            }
            .map(|c| c.id);
            let Some(worst) = worst else {
                self.s.closed.retain(|c| c.touch != Touch::Leaves);
                let bare = |c: &Closed| c.touch == Touch::Carries && c.mode == Mode::Stick && c.is_bare();
                self.s.closed.iter_mut().for_each(|c| c.bare = bare(c));
                return;
            };
            for c in self.s.closed.iter_mut().filter(|c| c.id == worst) {
                c.touch = if c.touch == Touch::Carries { Touch::Idle } else { Touch::Carries };
            }
        }
        self.s.closed = answer;
        self.s.closed.retain(|c| c.touch == Touch::Carries);
    }
}
