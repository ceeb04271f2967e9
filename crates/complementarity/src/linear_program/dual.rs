//! The dual simplex: feasible, or a row that no point satisfies.
//!
//! What is asked is feasibility alone, so the costs are free to choose: they are random and positive, and where a
//! pivot leaves one at zero or below it is drawn again. Ties, and with them cycles, then have probability zero. The
//! ratio test follows P. Harris, Pivot selection methods of the Devex LP code, 1973: among the columns that nearly
//! tie the largest pivot is taken.

use super::farkas::SOUND;
use super::{
    FEASIBLE, FINE_PIVOT_SHARE, Kind, PIVOT_FLOOR, PIVOT_SHARE, PIVOTS_PER_VARIABLE, Program, System,
};
use crate::outcome::Budget;

/// What is zero in strict runs, from a dictionary just built.
const STRICT: f64 = 1e-12;
/// Slack of the ratio test (costs are near 1).
const HARRIS: f64 = 1e-9;

/// How the dual simplex ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feasibility {
    Feasible,
    /// The row's variable cannot come back to its bound.
    Infeasible {
        row: usize,
    },
    /// Too many pivots, the budget ended it, or rounding took over.
    Unclear,
}

impl Program {
    pub(super) fn draw(&mut self) -> f64 {
        // xorshift64, Marsaglia 2003
        let mut x = self.random | 1 << 40;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random = x;
        0.5 + (x >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a cost for every column, or for those at zero or below alone.
    fn draw_costs(&mut self, all: bool) {
        let cost = self.rows();
        for j in 0..self.table.columns() {
            if all || (self.open[j] > 0.0 && self.table.entry(cost, j) <= 0.0) {
                let x = self.open[j] * self.draw();
                self.table.row_mut(cost)[j] = if all { x } else { 1e-6 * x };
            }
        }
    }

    /// Forgets the costs: the next run of the dual simplex draws them afresh.
    pub fn forget_costs(&mut self) {
        let cost = self.rows();
        self.table.row_mut(cost).fill(0.0);
    }

    /// Dual simplex: to a feasible vertex, or to a row that no feasible point satisfies.
    pub fn dual(&mut self, system: &System, budget: &mut Budget) -> Feasibility {
        let mut scratch = vec![];
        for attempt in 0..3 {
            self.share = if attempt == 0 { PIVOT_SHARE } else { FINE_PIVOT_SHARE };
            let end = self.dual_run(budget);
            let sound = match end {
                Feasibility::Feasible => self.is_accurate(system, &mut scratch),
                Feasibility::Infeasible { row } => self.flaw(system, &self.farkas(row)) <= SOUND,
                Feasibility::Unclear => false,
            };
            if sound || self.age == 0 || attempt == 2 || budget.ended().is_some() {
                return if sound { end } else { Feasibility::Unclear };
            }
            self.rebuild(system, budget);
            self.age = 0;
        }
        Feasibility::Unclear
    }

    fn dual_run(&mut self, budget: &mut Budget) -> Feasibility {
        let (rows, columns) = (self.rows(), self.table.columns());
        self.mark_open();
        let none = (0..columns).all(|j| self.table.entry(rows, j) * self.open[j] <= 0.0);
        self.draw_costs(none);
        let (redraw, most) =
            (1 + PIVOTS_PER_VARIABLE.0 * (rows + columns), 1 + PIVOTS_PER_VARIABLE.1 * (rows + columns));
        for count in 1..=most {
            let Some((row, sign, floor)) = self.leaving() else { return Feasibility::Feasible };
            let Some(column) = self.entering(row, sign, floor) else {
                return Feasibility::Infeasible { row };
            };
            if !self.exchange(row, column, budget) {
                return Feasibility::Unclear;
            }
            self.draw_costs(count % redraw == 0);
        }
        Feasibility::Unclear
    }

    /// The row furthest out of bounds for the size of its entries; `sign`: +1 if it must grow; the
    /// smallest usable pivot. A row that no column can mend comes before all others.
    fn leaving(&self) -> Option<(usize, f64, f64)> {
        let tolerance = if self.strict { STRICT } else { FEASIBLE };
        let mut best = (0.0, None);
        for i in 0..self.rows() {
            let value = self.table.constant(i);
            let violation = match self.kind[self.table.basic[i]] {
                Kind::Bounded => -value,
                Kind::Fixed => value.abs(),
                Kind::Free => 0.0,
            };
            if violation <= tolerance {
                continue;
            }
            let sign = if value < 0.0 { 1.0 } else { -1.0 };
            let (mut square, mut size, mut top) = (0.0, 0.0f64, 0.0f64);
            for (&a, &open) in self.table.row(i).iter().zip(&self.open) {
                let a = a * open;
                square += a * a;
                size = if a.abs() > size { a.abs() } else { size };
                top = if sign * a > top { sign * a } else { top };
            }
            let floor = (self.share * size).max(PIVOT_FLOOR);
            let score = if top > floor { violation / square.sqrt() } else { 1e100 * violation };
            if score > best.0 {
                best = (score, Some((i, sign, floor)));
            }
        }
        best.1
    }

    /// Harris' ratio test.
    fn entering(&self, row: usize, sign: f64, floor: f64) -> Option<usize> {
        let (costs, entries) = (self.table.row(self.rows()), self.table.row(row));
        let mut bound = f64::INFINITY;
        for j in 0..entries.len() {
            let a = sign * entries[j] * self.open[j];
            if a > floor {
                bound = bound.min((costs[j] + HARRIS) / a);
            }
        }
        let (mut best, mut chosen) = (0.0, None);
        for j in 0..entries.len() {
            let a = sign * entries[j] * self.open[j];
            if a > floor && costs[j] <= bound * a && a > best {
                (best, chosen) = (a, Some(j));
            }
        }
        chosen
    }
}
