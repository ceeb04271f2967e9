//! The mixed nonlinear complementarity problem (MCP).

use super::InvalidProblem;
use super::boxed::check_bounds;
use crate::matrix::Matrix;

/// MCP: find `l <= z <= u` such that for each `i` `F_i(z) = 0`, or `z_i = l_i` and `F_i(z) >= 0`, or `z_i = u_i` and
/// `F_i(z) <= 0`. Bounds may be infinite; a variable without bounds belongs to an equation.
pub trait Nonlinear {
    /// `l`, one entry per variable.
    fn lower(&self) -> &[f64];

    /// `u`, one entry per variable.
    fn upper(&self) -> &[f64];

    /// Writes `F(z)`. `z` lies within the bounds. Where `F` is not defined, entries that are not finite say so, and
    /// solvers take shorter steps.
    fn value(&self, z: &[f64], f: &mut [f64]);

    /// Writes the Jacobian of `F` at `z`, row by row ([`SparseRows::begin`]).
    fn jacobian(&self, z: &[f64], j: &mut SparseRows);

    /// A change of `z_i` that matters, in its units; 0 where the equations themselves say what is small, which they do
    /// unless their Jacobian vanishes at a solution.
    fn typical(&self, _i: usize) -> f64 {
        0.0
    }
}

/// A sparse matrix by rows, in memory that is used again.
#[derive(Debug, Clone, Default)]
pub struct SparseRows {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl SparseRows {
    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.columns.clear();
        self.values.clear();
    }

    /// Begins the next row.
    pub fn begin(&mut self) {
        self.starts.push(self.columns.len());
    }

    /// Adds an entry to the last row; entries in one column add up.
    pub fn add(&mut self, column: usize, value: f64) {
        self.columns.push(column);
        self.values.push(value);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Entries of a row, as columns and values.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        let end = self.starts.get(i + 1).copied().unwrap_or(self.columns.len());
        let own = self.starts[i]..end;
        self.columns[own.clone()].iter().copied().zip(self.values[own].iter().copied())
    }

    /// The same as a dense matrix.
    pub fn to_dense(&self, columns: usize, out: &mut Matrix) {
        out.reset(self.rows(), columns);
        for i in 0..self.rows() {
            for (j, x) in self.row(i) {
                out[(i, j)] += x;
            }
        }
    }
}

/// Checks the bounds of a problem.
///
/// # Errors
/// If `l` and `u` differ in length, or `l <= u` does not hold.
pub fn check(problem: &dyn Nonlinear) -> Result<(), InvalidProblem> {
    check_bounds(problem.lower(), problem.upper(), problem.lower().len())
}

/// Largest difference of the Jacobian from central differences of `F` at `z`, over the largest entry of each row: near
/// 1e-9 if the derivatives are right.
pub fn derivative_error(problem: &dyn Nonlinear, z: &[f64]) -> f64 {
    let n = z.len();
    let (mut sparse, mut dense) = (SparseRows::default(), Matrix::default());
    problem.jacobian(z, &mut sparse);
    sparse.to_dense(n, &mut dense);
    let (mut up, mut down, mut at) = (vec![0.0; n], vec![0.0; n], z.to_vec());
    let mut differences = Matrix::zeros(n, n);
    for j in 0..n {
        let step = f64::EPSILON.cbrt() * z[j].abs().max(problem.typical(j)).max(1e-3);
        at[j] = z[j] + step;
        problem.value(&at, &mut up);
        at[j] = z[j] - step;
        problem.value(&at, &mut down);
        at[j] = z[j];
        (0..n).for_each(|i| differences[(i, j)] = (up[i] - down[i]) / (2.0 * step));
    }
    let mut worst = 0.0f64;
    for i in 0..n {
        let size = differences.row(i).iter().fold(1e-12f64, |m, x| m.max(x.abs()));
        for j in 0..n {
            let off = (dense[(i, j)] - differences[(i, j)]).abs() / size;
            worst = if off.is_nan() { f64::INFINITY } else { worst.max(off) };
        }
    }
    worst
}
