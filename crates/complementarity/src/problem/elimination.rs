//! Mixed LCP -> LCP: the free variables eliminated by principal pivots.

use super::{Lcp, MixedLcp};
use crate::dictionary::Dictionary;
use crate::matrix::{Matrix, dot};
use crate::scaling;

/// Why the free variables of a mixed LCP cannot be eliminated.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "free variable {variable} and equality {variable} cannot be eliminated: no principal pivot of usable size \
     (largest {largest:e} after scaling)"
)]
pub struct NotEliminable {
    /// Index of the free variable.
    pub variable: usize,
    /// The largest pivot on offer.
    pub largest: f64,
}

/// An LCP in the complementary pairs alone, and the way back.
///
/// Where the free block itself is singular, a pair is pivoted along with a free variable: that pair then
/// enters the LCP with `z` and `w` exchanged.
#[derive(Debug, Clone)]
pub struct Elimination {
    /// The LCP that is left, one variable a complementary pair, scaled.
    pub lcp: Lcp,
    pairs: Vec<Pair>,
    free: Vec<FreeRow>,
    size: usize,
}

/// Pair `index` of the mixed problem; `exchanged`: the LCP's variable is its `w`.
#[derive(Debug, Clone)]
struct Pair {
    index: usize,
    exchanged: bool,
    scale: f64,
}

/// `z_index = scale (constant + row . x)`.
#[derive(Debug, Clone)]
struct FreeRow {
    index: usize,
    scale: f64,
    constant: f64,
    row: Vec<f64>,
}

/// Pivots above this, with entries scaled to about 1, are taken at once; below, a pair that offers
/// a larger one goes along.
const GOOD_PIVOT: f64 = 1e-4;

/// Pivots below this are no pivots.
const SMALLEST_PIVOT: f64 = 1e-10;

impl MixedLcp {
    /// Eliminates the free variables: the largest entry among equality rows and free columns is
    /// pivoted first; where none is left, a complementary pair goes along.
    pub fn eliminate(&self) -> Result<Elimination, NotEliminable> {
        let n = self.size();
        let (r, c) = scaling::two_sided(self.matrix());
        // variables: w_i is i, z_i is n + i
        let mut t = Dictionary::default();
        t.reset(n, n);
        for i in 0..n {
            t.set_constant(i, r[i] * self.vector()[i]);
            for (j, (x, a)) in t.row_mut(i).iter_mut().zip(self.matrix().row(i)).enumerate() {
                *x = r[i] * a * c[j];
            }
        }
        let is_free = |i: usize| !self.complementary()[i];
        let mut rows: Vec<usize> = (0..n).filter(|&i| is_free(i)).collect();
        let mut columns = rows.clone();
        while !rows.is_empty() {
            let (mut best, mut at) = (0.0, (0, 0));
            for (a, &row) in rows.iter().enumerate() {
                for (b, &column) in columns.iter().enumerate() {
                    let size = t.entry(row, column).abs();
                    if size > best {
                        (best, at) = (size, (a, b));
                    }
                }
            }
            if best > GOOD_PIVOT {
                t.pivot(rows.swap_remove(at.0), columns.swap_remove(at.1));
                continue;
            }
            // equality `row` through pair j's column, free `column` through pair j's row
            let (direct, mut chosen) = (best, None);
            for (a, &row) in rows.iter().enumerate() {
                for (b, &column) in columns.iter().enumerate() {
                    for j in (0..n).filter(|&j| !is_free(j)) {
                        let (w, z) = (j, n + j);
                        let pair_row = t.row_of(w).or(t.row_of(z));
                        let pair_column = t.column_of(z).or(t.column_of(w));
                        let (Some(pair_row), Some(pair_column)) = (pair_row, pair_column) else { continue };
                        let size = t.entry(row, pair_column).abs().min(t.entry(pair_row, column).abs());
                        if size > best {
                            (best, chosen) = (size, Some((a, b, pair_row, pair_column)));
                        }
                    }
                }
            }
            match chosen {
                None if direct > SMALLEST_PIVOT => {
                    t.pivot(rows.swap_remove(at.0), columns.swap_remove(at.1));
                }
                Some((a, b, pair_row, pair_column)) if best > SMALLEST_PIVOT => {
                    t.pivot(rows.swap_remove(a), pair_column);
                    t.pivot(pair_row, columns.swap_remove(b));
                }
                _ => {
                    return Err(NotEliminable { variable: t.nonbasic[columns[0]] - n, largest: best });
                }
            }
        }
        let beyond = (0..n).find(|&i| is_free(i)).unwrap_or(0);
        Elimination::read_off(&t, &c, self).ok_or(NotEliminable { variable: beyond, largest: f64::INFINITY })
    }
}

impl Elimination {
    /// `None` if the pivots overflowed.
    fn read_off(t: &Dictionary, scale: &[f64], mixed: &MixedLcp) -> Option<Self> {
        let n = mixed.size();
        let mut pairs = vec![];
        let (mut pair_rows, mut pair_columns, mut free) = (vec![], vec![], vec![]);
        for i in (0..n).filter(|&i| mixed.complementary()[i]) {
            let exchanged = t.column_of(i).is_some();
            pairs.push(Pair { index: i, exchanged, scale: scale[i] });
            pair_columns
                .push(t.column_of(if exchanged { i } else { n + i }).expect("one of a pair is nonbasic"));
            pair_rows.push(t.row_of(if exchanged { n + i } else { i }).expect("one of a pair is basic"));
        }
        for i in (0..n).filter(|&i| !mixed.complementary()[i]) {
            let row = t.row_of(n + i).expect("every free variable was made basic");
            free.push(FreeRow {
                index: i,
                scale: scale[i],
                constant: t.constant(row),
                row: pair_columns.iter().map(|&c| t.entry(row, c)).collect(),
            });
        }
        let m = Matrix::from_fn(pairs.len(), pairs.len(), |i, j| t.entry(pair_rows[i], pair_columns[j]));
        let q = pair_rows.iter().map(|&r| t.constant(r)).collect();
        let lcp = Lcp::new(m, q).ok()?;
        Some(Self { lcp, pairs, free, size: n })
    }

    /// The mixed problem's `z` for the LCP's solution `x`.
    pub fn recover(&self, x: &[f64]) -> Vec<f64> {
        let w = self.lcp.slack(x);
        let mut z = vec![0.0; self.size];
        for (k, pair) in self.pairs.iter().enumerate() {
            z[pair.index] = pair.scale * if pair.exchanged { w[k].max(0.0) } else { x[k] };
        }
        for f in &self.free {
            z[f.index] = f.scale * (f.constant + dot(&f.row, x));
        }
        z
    }
}
