//! Proofs of infeasibility, read off a dictionary.

use super::{Kind, PIVOT_FLOOR, Program, System};
use crate::matrix::dot;
use crate::outcome::Budget;

/// A Farkas vector may have wrong signs of this size, over its gap: it then speaks for all points below the inverse,
/// in scaled units.
pub(super) const SOUND: f64 = 1e-7;
/// Below this it is as good as rounding allows.
const CLEAN: f64 = 1e-14;
/// Smallest and largest share with which another row is added to a Farkas vector.
const LIFT: (f64, f64) = (1e-11, 1e-4);

impl Program {
    /// The vector `y` over the row variables that proves the row infeasible: in
    /// `y' x_row - (M' y)' x_column = y' q` all terms on the left are >= 0 and the right is < 0.
    ///
    /// The row itself gives one (Chvatal 16). Basic variables have coefficient zero there, up to
    /// rounding; so other rows are added with small shares as long as no sign turns, which lifts these
    /// coefficients above what rounding can spoil.
    pub fn farkas(&self, row: usize) -> Vec<f64> {
        let (rows, columns) = (self.rows(), self.table.columns());
        let negative = self.table.constant(row) < 0.0;
        let sign = if negative { 1.0 } else { -1.0 };
        let closed = |v: usize| self.kind[v] == Kind::Fixed;
        let gap = self.table.constant(row).abs();
        let mut left: Vec<f64> = (0..columns)
            .map(|j| {
                let coefficient = -sign * self.table.entry(row, j);
                if closed(self.table.nonbasic[j]) { coefficient } else { coefficient.max(0.0) }
            })
            .collect();
        let mut share = vec![0.0; rows];
        share[row] = sign;
        let budget = left.clone();
        for k in (0..rows).filter(|&k| k != row && self.kind[self.table.basic[k]] == Kind::Bounded) {
            let mut most = LIFT.1 * gap.min(1.0);
            if self.table.constant(k) > 0.0 {
                most = most.min(gap / self.table.constant(k));
            }
            for j in (0..columns).filter(|&j| !closed(self.table.nonbasic[j])) {
                let a = self.table.entry(k, j);
                if a > PIVOT_FLOOR {
                    most = most.min(budget[j] / a);
                }
            }
            most /= 2.0 * rows as f64;
            if most > LIFT.0 * gap.min(1.0) {
                share[k] = most;
                for (l, a) in left.iter_mut().zip(self.table.row(k)) {
                    *l -= most * a;
                }
            }
        }
        (0..rows)
            .map(|v| match (self.table.row_of(v), self.table.column_of(v)) {
                (Some(k), _) => share[k],
                (None, Some(j)) if closed(v) => left[j],
                (None, Some(j)) => left[j].max(0.0),
                (None, None) => 0.0,
            })
            .collect()
    }

    /// The Farkas vector of an infeasible row; from a dictionary built afresh where that is cleaner.
    pub fn certificate(&mut self, system: &System, row: usize, budget: &mut Budget) -> Vec<f64> {
        let y = self.farkas(row);
        let flaw = self.flaw(system, &y);
        if flaw <= CLEAN || self.age == 0 {
            return y;
        }
        let variable = self.table.basic[row];
        if !self.rebuild(system, budget) {
            return y;
        }
        let again = self.table.row_of(variable).map(|row| self.farkas(row));
        match again {
            Some(again) if self.flaw(system, &again) < flaw => again,
            _ => y,
        }
    }

    /// The largest coefficient with a wrong sign that `y` gives a column variable by the original equations, over the
    /// gap `-y' q`: zero for a clean proof.
    pub(super) fn flaw(&self, system: &System, y: &[f64]) -> f64 {
        let first = self.rows() + 1;
        let gap = -dot(y, &system.q);
        if gap.is_nan() || gap <= 0.0 {
            return f64::INFINITY;
        }
        let product = system.m.transpose_times(y);
        let wrong = product.iter().zip(&self.kind[first..]).map(|(&p, kind)| match kind {
            Kind::Fixed => 0.0,
            Kind::Bounded => p,
            Kind::Free => p.abs(),
        });
        wrong.fold(0.0, f64::max) / gap
    }
}
