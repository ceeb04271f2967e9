//! The primal simplex: the largest value of a linear function.

use super::{FEASIBLE, Feasibility, Kind, PIVOT_FLOOR, PIVOT_SHARE, PIVOTS_PER_VARIABLE, Program, System};
use crate::outcome::Budget;

/// How the primal simplex ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maximum {
    Optimal,
    /// The function grows without bound as this column's variable does.
    Unbounded {
        column: usize,
    },
    Unclear,
}

impl Program {
    /// Primal simplex from a feasible vertex: the largest value of `sum weight(v) x_v`. Largest gain a
    /// unit first, then (for long runs) Bland's rule, 1977. Unclear if the budget ended it.
    pub fn maximise(
        &mut self,
        system: &System,
        budget: &mut Budget,
        weight: impl Fn(usize) -> f64,
    ) -> Maximum {
        let mut scratch = vec![];
        for _ in 0..3 {
            let end = self.primal_run(budget, &weight);
            if end != Maximum::Unclear && self.is_accurate(system, &mut scratch) {
                return end;
            }
            self.forget_costs();
            self.rebuild(system, budget);
            if self.dual(system, budget) != Feasibility::Feasible {
                return Maximum::Unclear;
            }
        }
        Maximum::Unclear
    }

    fn primal_run(&mut self, budget: &mut Budget, weight: impl Fn(usize) -> f64) -> Maximum {
        let (rows, columns) = (self.rows(), self.table.columns());
        self.mark_open();
        self.set_function(weight);
        for count in 0..=PIVOTS_PER_VARIABLE.1 * (rows + columns) {
            let bland = count > PIVOTS_PER_VARIABLE.0 * (rows + columns);
            let gains = self.table.row(rows);
            let (mut best, mut entering) = (FEASIBLE, None);
            for j in 0..columns {
                let gain = gains[j] * self.open[j];
                let earlier = entering.is_none_or(|k: usize| self.table.nonbasic[j] < self.table.nonbasic[k]);
                let better = if bland { gain > FEASIBLE && earlier } else { gain > best };
                if better {
                    (best, entering) = (gain, Some(j));
                }
            }
            let Some(column) = entering else { return Maximum::Optimal };
            match self.blocking(column, bland) {
                Some(row) if self.exchange(row, column, budget) => (),
                Some(_) => return Maximum::Unclear,
                None => return Maximum::Unbounded { column },
            }
        }
        Maximum::Unclear
    }

    /// Writes a linear function into the cost row.
    fn set_function(&mut self, weight: impl Fn(usize) -> f64) {
        let rows = self.rows();
        let mut row: Vec<f64> = self.table.nonbasic.iter().map(|&v| weight(v)).collect();
        let mut constant = 0.0;
        for i in 0..rows {
            let factor = weight(self.table.basic[i]);
            if factor != 0.0 {
                constant += factor * self.table.constant(i);
                for (x, a) in row.iter_mut().zip(self.table.row(i)) {
                    *x += factor * a;
                }
            }
        }
        self.table.set_constant(rows, constant);
        self.table.row_mut(rows).copy_from_slice(&row);
    }

    /// The row that stops the column's variable first; fixed variables stop it at once.
    fn blocking(&self, column: usize, bland: bool) -> Option<usize> {
        let rows = self.rows();
        let size = (0..rows).fold(0.0f64, |m, i| m.max(self.table.entry(i, column).abs()));
        let floor = (PIVOT_SHARE * size).max(PIVOT_FLOOR);
        let steps = |slack: f64| {
            (0..rows).filter_map(move |i| {
                let (a, value) = (self.table.entry(i, column), self.table.constant(i).max(0.0));
                match self.kind[self.table.basic[i]] {
                    Kind::Bounded if a < -floor => Some((i, (value + slack) / -a, -a)),
                    Kind::Fixed if a.abs() > floor => Some((i, slack / a.abs(), a.abs())),
                    _ => None,
                }
            })
        };
        let slack = if bland { 0.0 } else { FEASIBLE };
        let bound = steps(slack).fold(f64::INFINITY, |m, s| m.min(s.1));
        let ties = steps(0.0).filter(|s| s.1 <= bound);
        if bland {
            return ties.min_by_key(|s| self.table.basic[s.0]).map(|s| s.0);
        }
        ties.max_by(|a, b| a.2.total_cmp(&b.2)).map(|s| s.0)
    }
}
