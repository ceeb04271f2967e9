//! A short cut before the search: principal pivots.
//!
//! K. Murty, Note on a Bard-type scheme for solving the complementarity problem, Opsearch 11 (1974): while a
//! basic variable is negative, exchange it with its complement. With the least index the way ends at the solution
//! of every LCP with a P-matrix; taking the most negative one is faster and may circle, so it goes first. Other
//! problems may be lucky; else nothing is lost but these pivots.

use super::{Search, Side};
use crate::linear_program::{FEASIBLE, Kind, Program};

/// Most negative first for this many pivots a pair; least index for so many.
const PIVOTS: (usize, usize) = (2, 20);
/// Pivots below this are no pivots.
const SMALLEST: f64 = 1e-9;

impl Search<'_> {
    /// Sets the answer if principal pivots from the root's dictionary end at a solution.
    pub(super) fn pivot_principally(&mut self, root: &Program) {
        let mut program = std::mem::take(&mut self.probe);
        program.copy_from(root);
        if self.ends_feasible(&mut program) {
            self.answer = self.polish(&program);
        }
        self.probe = program;
    }

    fn ends_feasible(&mut self, program: &mut Program) -> bool {
        let (greedy, most) = (PIVOTS.0 * self.pairs.len(), (PIVOTS.0 + PIVOTS.1) * self.pairs.len());
        for count in 0..=most {
            let (mut worst, mut chosen) = (-FEASIBLE, None);
            for &i in &self.pairs {
                let (z, w) = (self.variable(i, Side::Z), self.variable(i, Side::W));
                let table = &program.table;
                let (basic, nonbasic) = if table.row_of(w).is_some() { (w, z) } else { (z, w) };
                let (Some(row), Some(column)) = (table.row_of(basic), table.column_of(nonbasic)) else {
                    return false;
                };
                if table.constant(row) < worst {
                    chosen = Some((row, column));
                    if count >= greedy {
                        break;
                    }
                    worst = table.constant(row);
                }
            }
            let Some((row, column)) = chosen else {
                return (0..program.rows()).all(|row| {
                    program.kind[program.table.basic[row]] != Kind::Fixed
                        || program.table.constant(row).abs() <= FEASIBLE
                });
            };
            if program.table.entry(row, column).abs() < SMALLEST || self.budget.ended().is_some() {
                return false;
            }
            self.budget.spend_pivot(program.rows(), program.table.columns());
            program.table.pivot(row, column);
        }
        false
    }
}
