//! The Newton point of a linearised problem, and the path to it, by complementary pivots.
//!
//! With `x` the variable of the normal map (`z` its projection on the box, `w = z - x`), the linearised problem at a point
//! with residual `r = F(z) + x - z` is followed from `t = 0`, where that point solves it, to `t = 1`:
//!
//! ```text
//! w = J z + q - (1 - t) r        z_i = l_i and w_i >= 0,  or  z_i = u_i and w_i <= 0,  or  w_i = 0
//! ```
//!
//! The dictionary's variables: `w_i` is `i`, `z_i` is `n + i`, `t` is `2 n`. One of each pair is basic, and once `t` has
//! entered, the complement of what leaves enters next (Lemke's rule; the path generation of Dirkse and Ferris 1995,
//! section 3.2).

use crate::dictionary::Dictionary;
use crate::matrix::Matrix;
use crate::solver::Budget;

/// Pivots smaller than this, with entries of about 1, are none.
const SMALLEST_PIVOT: f64 = 1e-11;

/// Where a path ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// At `t = 1`: the Newton point.
    Newton,
    /// Nothing blocks, the path came back to `t = 0`, or it took too many pivots.
    Short,
    /// The start has no basis: the linearised problem does not determine its free variables.
    Singular,
}

/// A path, knot by knot, and the memory to follow it.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    dictionary: Dictionary,
    /// Value of each variable.
    value: Vec<f64>,
    /// `x` of each knot, and its `t`.
    knots: Vec<f64>,
    share: Vec<f64>,
}

/// What blocks an entering variable.
enum Block {
    /// `t` reaches 1.
    End,
    /// `t` returns to 0.
    Start,
    /// A basic variable reaches a bound.
    Row(usize, f64),
    /// The entering `z` itself reaches its other bound.
    Flip(f64),
}

impl Path {
    /// Number of knots, the start included.
    pub fn knots(&self) -> usize {
        self.share.len()
    }

    /// Share `t` of the way at the last knot.
    pub fn reached(&self) -> f64 {
        self.share.last().copied().unwrap_or(0.0)
    }

    /// `x` and `t` at a place of the path, from 0 to the number of knots less one.
    pub fn at(&self, place: f64, x: &mut [f64]) -> f64 {
        let (n, last) = (x.len(), self.knots() - 1);
        let k = (place.max(0.0) as usize).min(last.saturating_sub(1));
        let s = if last == 0 { 0.0 } else { place - k as f64 };
        let next = (k + 1).min(last);
        for (i, x) in x.iter_mut().enumerate() {
            *x = (1.0 - s) * self.knots[n * k + i] + s * self.knots[n * next + i];
        }
        (1.0 - s) * self.share[k] + s * self.share[next]
    }

    fn keep(&mut self, n: usize) {
        let Self { value, knots, share, .. } = self;
        share.push(value[2 * n]);
        knots.extend((0..n).map(|i| value[n + i] - value[i]));
    }

    /// Follows the path of `w = J z + q - (1 - t) r` from `x`, for at most `most` pivots.
    pub fn follow(
        &mut self,
        (j, q, r): (&Matrix, &[f64], &[f64]),
        (lower, upper): (&[f64], &[f64]),
        x: &[f64],
        most: usize,
        budget: &mut Budget,
    ) -> End {
        let n = x.len();
        self.knots.clear();
        self.share.clear();
        self.value.clear();
        self.value.resize(2 * n + 1, 0.0);
        for i in 0..n {
            self.value[n + i] = x[i].clamp(lower[i], upper[i]);
            self.value[i] = self.value[n + i] - x[i];
        }
        self.keep(n);
        self.dictionary.reset(n, n + 1);
        for i in 0..n {
            self.dictionary.set_constant(i, q[i] - r[i]);
            let row = self.dictionary.row_mut(i);
            row[..n].copy_from_slice(j.row(i));
            row[n] = r[i];
        }
        if !self.enter_basis(n, (lower, upper), x, budget) {
            return End::Singular;
        }
        // t enters first
        let (mut entering, mut sign) = (2 * n, 1.0);
        for _ in 0..most {
            if budget.ended().is_some() {
                return End::Short;
            }
            let Some(column) = self.dictionary.column_of(entering) else { return End::Short };
            let Some((block, step)) = self.block(n, (lower, upper), (entering, column, sign)) else {
                return End::Short;
            };
            for row in 0..n {
                let by = sign * step * self.dictionary.entry(row, column);
                self.value[self.dictionary.basic[row]] += by;
            }
            self.value[entering] += sign * step;
            match block {
                Block::End => {
                    self.value[2 * n] = 1.0;
                    self.keep(n);
                    return End::Newton;
                }
                Block::Start => return End::Short,
                Block::Flip(bound) => {
                    self.value[entering] = bound;
                    self.keep(n);
                    entering -= n;
                    sign = -sign;
                }
                Block::Row(row, bound) => {
                    let leaving = self.dictionary.basic[row];
                    self.value[leaving] = bound;
                    self.keep(n);
                    budget.spend_pivot(n, n + 1);
                    self.dictionary.pivot(row, column);
                    if leaving < n {
                        // w became 0: z leaves its bound
                        entering = n + leaving;
                        sign = if self.value[entering] == lower[leaving] { 1.0 } else { -1.0 };
                    } else {
                        entering = leaving - n;
                        sign = if bound == lower[entering] { 1.0 } else { -1.0 };
                    }
                }
            }
        }
        End::Short
    }

    /// Makes the `z` between their bounds basic; false if there is no such basis.
    fn enter_basis(
        &mut self,
        n: usize,
        (lower, upper): (&[f64], &[f64]),
        x: &[f64],
        budget: &mut Budget,
    ) -> bool {
        let inside = |i: usize| lower[i] < x[i] && x[i] < upper[i];
        let t = &mut self.dictionary;
        for j in (0..n).filter(|&j| inside(j)) {
            let Some(column) = t.column_of(n + j) else { return false };
            let (mut best, mut row) = (SMALLEST_PIVOT, None);
            for i in (0..n).filter(|&i| inside(i)) {
                if let Some(r) = t.row_of(i)
                    && t.entry(r, column).abs() > best
                {
                    (best, row) = (t.entry(r, column).abs(), Some(r));
                }
            }
            let Some(row) = row else { return false };
            budget.spend_pivot(n, n + 1);
            t.pivot(row, column);
        }
        true
    }

    /// What blocks the entering variable first, and after how much.
    fn block(
        &self,
        n: usize,
        (lower, upper): (&[f64], &[f64]),
        (entering, column, sign): (usize, usize, f64),
    ) -> Option<(Block, f64)> {
        let (mut least, mut pivot, mut found) = (f64::INFINITY, 0.0f64, None);
        if entering == 2 * n {
            (least, found) = (1.0 - self.value[entering], Some(Block::End));
        } else if entering >= n {
            let i = entering - n;
            if upper[i] - lower[i] < least {
                let bound = if sign > 0.0 { upper[i] } else { lower[i] };
                (least, found) = (upper[i] - lower[i], Some(Block::Flip(bound)));
            }
        }
        for row in 0..n {
            let rate = sign * self.dictionary.entry(row, column);
            if rate.abs() <= SMALLEST_PIVOT {
                continue;
            }
            let v = self.dictionary.basic[row];
            let value = self.value[v];
            let (bound, block) = if v == 2 * n {
                if rate > 0.0 { (1.0, Block::End) } else { (0.0, Block::Start) }
            } else if v >= n {
                let bound = if rate > 0.0 { upper[v - n] } else { lower[v - n] };
                (bound, Block::Row(row, bound))
            } else {
                // w of a bound variable: at the lower one it is not negative, at the upper one not positive
                let (at, i) = (self.value[n + v], v);
                let toward = if at == lower[i] { rate < 0.0 } else { rate > 0.0 };
                if !toward || lower[i] == upper[i] {
                    continue;
                }
                (0.0, Block::Row(row, 0.0))
            };
            if !bound.is_finite() {
                continue;
            }
            let step = ((bound - value) / rate).max(0.0);
            // of ties the largest pivot
            let tied = step <= least + 1e-13 * (1.0 + least.min(1e300)) && rate.abs() > pivot;
            if step < least - 1e-13 * (1.0 + step) || (tied && !matches!(found, Some(Block::End))) {
                least = step.min(least);
                pivot = rate.abs();
                found = Some(block);
            }
        }
        found.map(|block| (block, least))
    }
}
