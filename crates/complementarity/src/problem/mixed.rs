//! The mixed linear complementarity problem.

use super::{InvalidProblem, Lcp, check_square, check_vector};
use crate::matrix::Matrix;

/// Mixed LCP: `w = M z + q`; a complementarity row has `0 <= z_i _|_ w_i >= 0`, an equality row
/// has `w_i = 0` and `z_i` free.
#[derive(Debug, Clone, PartialEq)]
pub struct MixedLcp {
    m: Matrix,
    q: Vec<f64>,
    complementary: Vec<bool>,
}

impl MixedLcp {
    /// `complementary[i]`: whether row `i` is a complementarity (else an equality with `z_i` free).
    pub fn new(m: Matrix, q: Vec<f64>, complementary: Vec<bool>) -> Result<Self, InvalidProblem> {
        check_square("M", &m)?;
        check_vector("q", &q, m.rows())?;
        if complementary.len() != m.rows() {
            return Err(InvalidProblem::Size {
                part: "comp",
                found: complementary.len(),
                expected: m.rows(),
            });
        }
        Ok(Self { m, q, complementary })
    }

    /// Number of rows, equalities and complementarities together.
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

    /// Which rows are complementarities.
    pub fn complementary(&self) -> &[bool] {
        &self.complementary
    }

    /// `w = M z + q`.
    pub fn slack(&self, z: &[f64]) -> Vec<f64> {
        self.m.times(z).iter().zip(&self.q).map(|(w, q)| w + q).collect()
    }
}

impl From<&Lcp> for MixedLcp {
    fn from(lcp: &Lcp) -> Self {
        Self { m: lcp.matrix().clone(), q: lcp.vector().to_vec(), complementary: vec![true; lcp.size()] }
    }
}
