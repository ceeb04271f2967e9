//! LCPs with known solutions: choose complementary `z*`, `w* >= 0` and set `q = w* - M z*`.
#![allow(dead_code, missing_docs)]

use complementarity::matrix::Matrix;
use complementarity::problem::Lcp;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Positive definite plus skew: a P-matrix, one solution.
    Positive,
    /// As `Positive`, with pairs where both `z*` and `w*` are zero.
    Degenerate,
    /// Semidefinite of half rank plus skew: monotone, a convex set of solutions.
    Singular,
    /// Positive entries: strictly copositive, at least one solution.
    Copositive,
    /// `D M D` of a P-matrix with `D` from 1e-8 to 1e8.
    BadlyScaled,
}

pub const ALL: [Family; 5] =
    [Family::Positive, Family::Degenerate, Family::Singular, Family::Copositive, Family::BadlyScaled];

#[derive(Debug, Clone)]
pub struct Known {
    pub lcp: Lcp,
    pub z: Vec<f64>,
    pub unique: bool,
    /// Natural size of each `z_i`.
    pub scale: Vec<f64>,
}

/// Deterministic uniform numbers in [0, 1) (splitmix64).
pub struct Uniform(pub u64);

impl Uniform {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn signed(&mut self) -> f64 {
        2.0 * self.next() - 1.0
    }
}

pub fn build(family: Family, n: usize, seed: u64) -> Known {
    let mut u = Uniform(seed ^ (n as u64) << 32 ^ (family as u64) << 56);
    let rank = if family == Family::Singular { n.div_ceil(2) } else { n };
    let b = Matrix::from_fn(rank, n, |_, _| u.signed());
    let k = Matrix::from_fn(n, n, |_, _| u.signed());
    let shift = if family == Family::Singular { 0.0 } else { 0.1 };
    let mut m = Matrix::from_fn(n, n, |i, j| {
        let gram: f64 = (0..rank).map(|r| b[(r, i)] * b[(r, j)]).sum();
        let skew = if i < j { k[(i, j)] } else { -k[(j, i)] };
        gram + if i == j { shift } else { skew }
    });
    if family == Family::Copositive {
        m = Matrix::from_fn(n, n, |_, _| 0.05 + u.next());
    }
    let scale: Vec<f64> = (0..n)
        .map(|_| if family == Family::BadlyScaled { 10f64.powf(8.0 * u.signed()) } else { 1.0 })
        .collect();
    // D M D with z = D^-1 z~
    m = Matrix::from_fn(n, n, |i, j| scale[i] * m[(i, j)] * scale[j]);
    let scale: Vec<f64> = scale.iter().map(|d| 1.0 / d).collect();
    let mut z = vec![0.0; n];
    let mut w = vec![0.0; n];
    for i in 0..n {
        let choice = u.next();
        let empty = family == Family::Degenerate && u.next() < 0.3;
        if empty {
        } else if choice < 0.5 {
            z[i] = (0.1 + u.next()) * scale[i];
        } else {
            w[i] = (0.1 + u.next()) / scale[i];
        }
    }
    let q: Vec<f64> = m.times(&z).iter().zip(&w).map(|(mz, w)| w - mz).collect();
    let unique = !matches!(family, Family::Singular | Family::Copositive);
    Known { lcp: Lcp::new(m, q).expect("finite"), z, unique, scale }
}

pub fn known(largest: usize) -> impl Strategy<Value = (Family, Known)> {
    (0..ALL.len(), 1..=largest, any::<u64>()).prop_map(|(f, n, seed)| (ALL[f], build(ALL[f], n, seed)))
}

/// Murty's P-matrix on which his least-index pivoting takes 2^n - 1 steps: 1 on and 2 below the diagonal.
pub fn murty(n: usize) -> Lcp {
    let m = Matrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Greater => 2.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Less => 0.0,
    });
    Lcp::new(m, vec![-1.0; n]).expect("finite")
}
