//! Linear programs on a dictionary: the dual simplex (feasible, or a row that proves it is not), the primal
//! simplex (the largest value of a linear function), Farkas vectors, and a strictly feasible point.
//!
//! ```text
//! x_row = q + M x_column     every variable >= 0, or fixed (= 0), or free
//! ```
//!
//! Source: Chvatal, Linear Programming, 1983, chapters 2, 3 and 10 (dictionaries), 16 (Farkas).
//!
//! Numbering: row variable `i` is `i`, the cost is `rows`, column variable `j` is `rows + 1 + j`.

mod dual;
mod farkas;
mod interior;
mod primal;

pub(crate) use dual::Feasibility;
pub(crate) use interior::strictly_feasible;
pub(crate) use primal::Maximum;

use crate::dictionary::Dictionary;
use crate::matrix::{Matrix, dot};
use crate::outcome::Budget;

/// Data are scaled so that the entries of `M` and `q` are near 1; a value below this is zero.
pub(crate) const FEASIBLE: f64 = 1e-9;
/// A pivot must exceed this share of the largest entry in its row (the second, nearer to rounding, in a dictionary
/// built afresh because the first left a row unclear),
const PIVOT_SHARE: f64 = 1e-9;
const FINE_PIVOT_SHARE: f64 = 1e-12;
/// and this.
const PIVOT_FLOOR: f64 = 1e-11;
/// Equations may be off by this, over the size of their terms, before the dictionary is built afresh.
const DRIFT: f64 = 1e-10;
/// Pivots per variable after which costs are drawn again, and after which the simplex ends without a result.
const PIVOTS_PER_VARIABLE: (usize, usize) = (10, 100);

/// What is asked of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `>= 0`.
    Bounded,
    /// `= 0`.
    Fixed,
    /// Anything.
    Free,
}

/// `x_row = q + M x_column`, kept to build dictionaries from and to check them against.
#[derive(Debug, Clone, Default)]
pub(crate) struct System {
    pub m: Matrix,
    pub q: Vec<f64>,
}

/// A dictionary (its last row the cost) and what is asked of its variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub table: Dictionary,
    pub kind: Vec<Kind>,
    /// Pivots since the dictionary was built.
    age: usize,
    random: u64,
    strict: bool,
    /// Smallest pivot for the size of its row.
    share: f64,
    /// Scratch: 1 for columns that may move, 0 for fixed ones.
    open: Vec<f64>,
}

impl Program {
    /// All row variables basic, all bounded, all costs zero.
    pub fn start(&mut self, system: &System) {
        let (rows, columns) = (system.m.rows(), system.m.columns());
        self.kind.clear();
        self.kind.resize(rows + 1 + columns, Kind::Bounded);
        self.kind[rows] = Kind::Free;
        self.load(system);
    }

    fn load(&mut self, system: &System) {
        let (rows, columns) = (system.m.rows(), system.m.columns());
        self.table.reset(rows + 1, columns);
        for i in 0..rows {
            self.table.set_constant(i, system.q[i]);
            self.table.row_mut(i).copy_from_slice(system.m.row(i));
        }
        self.age = 0;
    }

    /// Becomes a copy; allocates only when it grows.
    pub fn copy_from(&mut self, other: &Self) {
        self.table.copy_from(&other.table);
        self.kind.clone_from(&other.kind);
        self.age = other.age;
        self.random = other.random;
        self.strict = other.strict;
    }

    /// Rows without the cost.
    pub fn rows(&self) -> usize {
        self.table.rows() - 1
    }

    /// Value of a variable at the dictionary's vertex.
    pub fn value(&self, variable: usize) -> f64 {
        self.table.row_of(variable).map_or(0.0, |row| self.table.constant(row))
    }

    /// The column variables at the vertex.
    pub fn point(&self, x: &mut Vec<f64>) {
        let first = self.rows() + 1;
        x.clear();
        x.extend((first..first + self.table.columns()).map(|v| self.value(v)));
    }

    /// Whether the vertex satisfies the original equations to rounding.
    pub fn is_accurate(&self, system: &System, x: &mut Vec<f64>) -> bool {
        self.point(x);
        let largest = x.iter().fold(1.0f64, |a, b| a.max(b.abs()));
        (0..self.rows()).all(|i| {
            let error = self.value(i) - dot(system.m.row(i), x) - system.q[i];
            error.abs() <= DRIFT * largest
        })
    }

    /// The dictionary of the same basis from the original data: Gaussian elimination with complete
    /// pivoting. `false` if the basis is singular or the budget ended it; the dictionary is then that of another basis.
    pub fn rebuild(&mut self, system: &System, budget: &mut Budget) -> bool {
        let rows = self.rows();
        let mut enter: Vec<usize> = self.table.basic.iter().copied().filter(|&v| v > rows).collect();
        let mut leave: Vec<usize> = self.table.nonbasic.iter().copied().filter(|&v| v < rows).collect();
        self.load(system);
        while !enter.is_empty() {
            let (mut best, mut at) = (PIVOT_FLOOR, None);
            for (a, &out) in leave.iter().enumerate() {
                let row = self.table.row(out);
                for (b, &into) in enter.iter().enumerate() {
                    let size = row[into - rows - 1].abs();
                    if size > best {
                        (best, at) = (size, Some((a, b)));
                    }
                }
            }
            let Some((a, b)) = at else { return false };
            if budget.ended().is_some() {
                return false;
            }
            budget.spend_pivot(rows, self.table.columns());
            self.table.pivot(leave.swap_remove(a), enter.swap_remove(b) - rows - 1);
        }
        true
    }

    /// Asks for feasibility beyond [`FEASIBLE`] from now on; `false` if that was done before.
    pub fn tighten(&mut self, system: &System, budget: &mut Budget) -> bool {
        let first = !self.strict;
        self.strict = true;
        if first {
            self.rebuild(system, budget);
        }
        first
    }

    fn mark_open(&mut self) {
        self.open.clear();
        self.open
            .extend(self.table.nonbasic.iter().map(|&v| if self.kind[v] == Kind::Fixed { 0.0 } else { 1.0 }));
    }

    /// Pivots, unless no more work may be done.
    fn exchange(&mut self, row: usize, column: usize, budget: &mut Budget) -> bool {
        if budget.ended().is_some() {
            return false;
        }
        budget.spend_pivot(self.rows(), self.table.columns());
        self.open[column] = if self.kind[self.table.basic[row]] == Kind::Fixed { 0.0 } else { 1.0 };
        self.table.pivot(row, column);
        self.age += 1;
        true
    }

    /// Makes free column variables basic, in rows of fixed variables first, largest pivot first. A free
    /// variable that meets no pivot is determined by nothing: it is fixed at zero, and returned.
    pub fn seat_free(&mut self, budget: &mut Budget) -> Vec<usize> {
        let rows = self.rows();
        self.mark_open();
        for fixed_rows in [true, false] {
            loop {
                let (mut best, mut at) = (PIVOT_SHARE, None);
                for i in 0..rows {
                    let kind = self.kind[self.table.basic[i]];
                    if kind == Kind::Free || fixed_rows != (kind == Kind::Fixed) {
                        continue;
                    }
                    for (j, a) in self.table.row(i).iter().enumerate() {
                        if a.abs() > best && self.kind[self.table.nonbasic[j]] == Kind::Free {
                            (best, at) = (a.abs(), Some((i, j)));
                        }
                    }
                }
                if !at.is_some_and(|(i, j)| self.exchange(i, j, budget)) {
                    break;
                }
            }
        }
        let idle: Vec<usize> =
            self.table.nonbasic.iter().copied().filter(|&v| self.kind[v] == Kind::Free).collect();
        for &v in &idle {
            self.kind[v] = Kind::Fixed;
        }
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(rows: &[&[f64]], q: &[f64]) -> (Program, System) {
        let system = System { m: Matrix::from_rows(rows), q: q.to_vec() };
        let mut p = Program::default();
        p.start(&system);
        (p, system)
    }

    #[test]
    fn the_dual_simplex_finds_a_feasible_vertex() {
        // x2 + x3 >= 1, x2 <= 1/2
        let (mut p, s) = program(&[&[1.0, 1.0], &[-1.0, 0.0]], &[-1.0, 0.5]);
        assert_eq!(p.dual(&s, &mut Budget::default()), Feasibility::Feasible);
        assert!((0..2).chain(3..5).all(|v| p.value(v) >= -FEASIBLE));
    }

    #[test]
    fn an_infeasible_program_yields_its_farkas_vector() {
        // x + y <= 1 and x + y >= 2
        let (mut p, s) = program(&[&[-1.0, -1.0], &[1.0, 1.0]], &[1.0, -2.0]);
        let Feasibility::Infeasible { row } = p.dual(&s, &mut Budget::default()) else { panic!("feasible") };
        let y = p.farkas(row);
        assert!(y.iter().all(|&x| x >= 0.0) && dot(&y, &s.q) < 0.0);
        assert!(s.m.transpose_times(&y).iter().all(|&x| x <= 0.0));
    }

    #[test]
    fn fixed_and_free_variables_are_respected() {
        // row 0 fixed: x + y = 1 with x free, y >= 0; row 1: -x - 3 >= 0, so x = -3, y = 4 at least
        let (mut p, s) = program(&[&[1.0, 1.0], &[-1.0, 0.0]], &[-1.0, -3.0]);
        p.kind[0] = Kind::Fixed;
        p.kind[3] = Kind::Free;
        assert!(p.seat_free(&mut Budget::default()).is_empty());
        assert_eq!(p.dual(&s, &mut Budget::default()), Feasibility::Feasible);
        assert!(p.value(0).abs() < 1e-12 && p.value(3) <= -3.0 + 1e-12);
        assert_eq!(
            p.maximise(&s, &mut Budget::default(), |v| if v == 3 { 1.0 } else { 0.0 }),
            Maximum::Optimal
        );
        assert!((p.value(3) + 3.0).abs() < 1e-12 && (p.value(4) - 4.0).abs() < 1e-12);
        let end = p.maximise(&s, &mut Budget::default(), |v| if v == 4 { 1.0 } else { 0.0 });
        assert!(matches!(end, Maximum::Unbounded { .. }));
    }

    #[test]
    fn a_rebuilt_dictionary_is_the_same() {
        let (mut p, s) = program(&[&[1.0, 2.0], &[3.0, 5.0]], &[-1.0, -7.0]);
        p.dual(&s, &mut Budget::default());
        let before: Vec<f64> = (0..5).map(|v| p.value(v)).collect();
        assert!(p.rebuild(&s, &mut Budget::default()));
        for (v, x) in before.iter().enumerate().filter(|x| x.0 != 2) {
            assert!((p.value(v) - x).abs() < 1e-12);
        }
    }
}
