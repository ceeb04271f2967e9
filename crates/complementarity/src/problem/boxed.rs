//! Mixed LCPs with box bounds.

use super::{InvalidProblem, MixedLcp, check_square, check_vector};
use crate::matrix::Matrix;

/// Boxed mixed LCP: `l <= z <= u`, `w = M z + q`, and for each row `w_i = 0`, or `z_i = l_i` and `w_i >= 0`, or
/// `z_i = u_i` and `w_i <= 0`. Bounds may be infinite: a row without bounds is an equality with `z_i` free, one with
/// `l_i = 0` alone a complementarity.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxedLcp {
    m: Matrix,
    q: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Checks `l <= u`, with `l` below infinity and `u` above minus infinity.
pub(crate) fn check_bounds(lower: &[f64], upper: &[f64], size: usize) -> Result<(), InvalidProblem> {
    for (part, bound) in [("l", lower), ("u", upper)] {
        if bound.len() != size {
            return Err(InvalidProblem::Size { part, found: bound.len(), expected: size });
        }
    }
    for i in 0..size {
        let entry = |part, value, expected| InvalidProblem::VectorEntry { part, index: i, value, expected };
        if lower[i].is_nan() || lower[i] == f64::INFINITY {
            return Err(entry("l", lower[i], "a number or -inf"));
        }
        if upper[i].is_nan() || upper[i] == f64::NEG_INFINITY {
            return Err(entry("u", upper[i], "a number or inf"));
        }
        if upper[i] < lower[i] {
            return Err(entry("u", upper[i], "at least l of the same row"));
        }
    }
    Ok(())
}

impl BoxedLcp {
    /// Checks sizes, entries and that `l <= u`.
    pub fn new(m: Matrix, q: Vec<f64>, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, InvalidProblem> {
        check_square("M", &m)?;
        check_vector("q", &q, m.rows())?;
        check_bounds(&lower, &upper, m.rows())?;
        Ok(Self { m, q, lower, upper })
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.q.len()
    }

    /// `M`.
    pub fn matrix(&self) -> &Matrix {
        &self.m
    }

    /// `q`.
    pub fn vector(&self) -> &[f64] {
        &self.q
    }

    /// `l`; minus infinity where there is no lower bound.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// `u`; infinity where there is no upper bound.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// `w = M z + q`.
    pub fn slack(&self, z: &[f64]) -> Vec<f64> {
        self.m.times(z).iter().zip(&self.q).map(|(w, q)| w + q).collect()
    }

    /// The same problem as a mixed LCP. Variables are measured from a bound; a row with two bounds gets a second pair
    /// `0 <= y _|_ u - l - x >= 0`, whose `y` is added to `w`; variables with `l = u` are put in. The added columns are
    /// skew-symmetric, so that positive definite and copositive matrices stay so.
    pub fn to_mixed(&self) -> Unboxed {
        let mut rows = vec![];
        for i in 0..self.size() {
            let (l, u) = (self.lower[i], self.upper[i]);
            let (from, sign) = match (l.is_finite(), u.is_finite()) {
                (true, true) if l == u => continue,
                (true, _) => (l, 1.0),
                (false, true) => (u, -1.0),
                (false, false) => (0.0, 1.0),
            };
            rows.push(Row { index: i, from, sign, free: l == f64::NEG_INFINITY && u == f64::INFINITY });
        }
        let both: Vec<usize> = (0..rows.len()).filter(|&k| self.is_box(rows[k].index)).collect();
        let (n, size) = (rows.len(), rows.len() + both.len());
        let mut base = vec![0.0; self.size()];
        (0..self.size()).filter(|&i| self.lower[i] == self.upper[i]).for_each(|i| base[i] = self.lower[i]);
        rows.iter().for_each(|row| base[row.index] = row.from);
        let w = self.slack(&base);
        let mut m = Matrix::zeros(size, size);
        let mut q = vec![0.0; size];
        let mut complementary = vec![true; size];
        for (a, row) in rows.iter().enumerate() {
            q[a] = row.sign * w[row.index];
            complementary[a] = !row.free;
            for (b, column) in rows.iter().enumerate() {
                m[(a, b)] = row.sign * self.m[(row.index, column.index)] * column.sign;
            }
        }
        for (k, &a) in both.iter().enumerate() {
            let i = rows[a].index;
            m[(a, n + k)] = 1.0;
            m[(n + k, a)] = -1.0;
            q[n + k] = self.upper[i] - self.lower[i];
        }
        Unboxed {
            mixed: MixedLcp::new(m, q, complementary),
            rows,
            base,
            upper: self.upper.clone(),
            lower: self.lower.clone(),
        }
    }

    fn is_box(&self, i: usize) -> bool {
        self.lower[i].is_finite() && self.upper[i].is_finite()
    }
}

/// A boxed problem as a mixed one, and the way back.
#[derive(Debug, Clone)]
pub struct Unboxed {
    /// The mixed LCP; an error if its entries overflow.
    pub mixed: Result<MixedLcp, InvalidProblem>,
    rows: Vec<Row>,
    base: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// `z_index = from + sign x`.
#[derive(Debug, Clone)]
struct Row {
    index: usize,
    from: f64,
    sign: f64,
    free: bool,
}

impl Unboxed {
    /// The boxed problem's `z` for the mixed problem's `x`.
    pub fn recover(&self, x: &[f64]) -> Vec<f64> {
        let mut z = self.base.clone();
        for (row, x) in self.rows.iter().zip(x) {
            let i = row.index;
            z[i] = (row.from + row.sign * x).clamp(self.lower[i], self.upper[i]);
        }
        z
    }
}
