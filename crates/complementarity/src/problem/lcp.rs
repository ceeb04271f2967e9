//! The linear complementarity problem.

use super::{InvalidProblem, check_square, check_vector};
use crate::matrix::Matrix;

/// LCP(M, q): find `z >= 0` with `w = M z + q >= 0` and `z' w = 0`.
#[derive(Debug, Clone, PartialEq)]
pub struct Lcp {
    m: Matrix,
    q: Vec<f64>,
}

impl Lcp {
    /// Checks that `m` is square, `q` as long, and all entries finite.
    pub fn new(m: Matrix, q: Vec<f64>) -> Result<Self, InvalidProblem> {
        check_square("M", &m)?;
        check_vector("q", &q, m.rows())?;
        Ok(Self { m, q })
    }

    /// No pairs at all.
    pub(super) fn empty() -> Self {
        Self { m: Matrix::default(), q: vec![] }
    }

    /// Writes another problem into the same memory, and checks it. It is left empty if it is not valid.
    pub(super) fn refill(
        &mut self,
        write: impl FnOnce(&mut Matrix, &mut Vec<f64>),
    ) -> Result<(), InvalidProblem> {
        write(&mut self.m, &mut self.q);
        let checked = check_square("M", &self.m).and_then(|()| check_vector("q", &self.q, self.m.rows()));
        if checked.is_err() {
            *self = Self::empty();
        }
        checked
    }

    /// Number of complementary pairs.
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

    /// `w = M z + q`.
    pub fn slack(&self, z: &[f64]) -> Vec<f64> {
        self.m.times(z).iter().zip(&self.q).map(|(w, q)| w + q).collect()
    }
}
