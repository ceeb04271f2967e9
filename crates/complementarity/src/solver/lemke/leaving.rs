//! Which variable leaves: the ratio test with lexicographic ties.
//!
//! With `B0` the base and `B` the present basis, row `i` stands for the vector
//! `(constant_i, (B^-1 B0)_i)`, kept lexicographically positive; the leaving row has the
//! lexicographically smallest such vector over its pivot. `(B^-1 B0)_ik` is read off the dictionary:
//! minus the entry under base variable `k` if that is nonbasic, else 1 in its own row.

use super::Lemke;

/// Among tied rows, pivots smaller than this share of the largest are passed over.
const SMALL_TIED_PIVOT: f64 = 1e-8;

impl Lemke {
    /// Row that `z0` replaces first: the lexicographically smallest `(constant_i, e_i) / c_i`. `None` if
    /// no constant is negative.
    pub(super) fn first_leaving(&self) -> Option<usize> {
        let n = self.t.rows();
        let mut best: Option<(f64, usize)> = None;
        for i in 0..n {
            let row = self.t.row_of(self.base[i])?;
            let ratio = self.t.constant(row) / self.c[i];
            // of equal ratios the later one: its unit vector is lexicographically smaller
            if ratio < 0.0 && best.is_none_or(|(least, _)| ratio <= least) {
                best = Some((ratio, row));
            }
        }
        best.map(|(_, row)| row)
    }

    /// Row that blocks `entering`; `None`: a ray.
    pub(super) fn leaving(&mut self, entering: usize) -> Option<usize> {
        let n = self.t.rows();
        let column = self.t.column_of(entering)?;
        self.t.gather(column, &mut self.constants, &mut self.pivots);
        let (mut largest, mut largest_constant) = (1.0f64, 1.0f64);
        for (&c, p) in self.constants.iter().zip(&mut self.pivots) {
            *p = -*p;
            largest = larger(p.abs(), largest);
            largest_constant = larger(c, largest_constant);
        }
        let smallest_pivot = self.settings.pivot_tolerance * largest;
        let mut least = f64::INFINITY;
        for (&c, &pivot) in self.constants.iter().zip(&self.pivots) {
            let ratio = if pivot > smallest_pivot { larger(c, 0.0) / pivot } else { f64::INFINITY };
            least = if ratio < least { ratio } else { least };
        }
        if least == f64::INFINITY {
            return None;
        }
        let tolerance = self.settings.tie_tolerance * largest_constant;
        self.ties.clear();
        let mut largest_tied = 0.0f64;
        for (i, (&c, &pivot)) in self.constants.iter().zip(&self.pivots).enumerate() {
            if pivot > smallest_pivot && c <= least * pivot + tolerance {
                self.ties.push(i);
                largest_tied = larger(pivot, largest_tied);
            }
        }
        if let Some(row) = self.t.row_of(2 * n)
            && self.ties.contains(&row)
        {
            return Some(row);
        }
        if self.ties.len() > 1 {
            let pivots = &self.pivots;
            self.ties.retain(|&i| pivots[i] >= SMALL_TIED_PIVOT * largest_tied);
            self.break_ties();
        }
        self.ties.first().copied()
    }

    fn break_ties(&mut self) {
        let (t, pivots) = (&self.t, &self.pivots);
        for &variable in &self.base {
            if self.ties.len() == 1 {
                return;
            }
            let Some(column) = t.column_of(variable) else {
                // basic: 1 in its own row, 0 in all others, so its own row is not the smallest
                let own = t.row_of(variable);
                self.ties.retain(|&i| Some(i) != own);
                continue;
            };
            let value = |i: usize| -t.entry(i, column) / pivots[i];
            let least = self.ties.iter().map(|&i| value(i)).fold(f64::INFINITY, f64::min);
            let tolerance = self.settings.tie_tolerance * least.abs().max(1.0);
            self.ties.retain(|&i| value(i) <= least + tolerance);
        }
    }
}

/// `f64::max` without its care for NaN: one instruction.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
