//! Orthonormal bases.

use crate::matrix::{Matrix, dot, norm};

/// So much larger than others of the same size by rounding is no reason to be preferred.
const CLEARLY: f64 = 1.0 + 1e-9;

/// `count` orthonormal vectors that are orthogonal to the first `rank` columns of `v`, which are orthonormal: unit vectors without their part in those and in
/// each other, the largest first.
pub(super) fn complement(v: &Matrix, rank: usize, count: usize) -> Vec<Vec<f64>> {
    let n = v.rows();
    let mut left: Vec<f64> =
        (0..n).map(|j| 1.0 - (0..rank).map(|k| v[(j, k)].powi(2)).sum::<f64>()).collect();
    let mut basis: Vec<Vec<f64>> = vec![];
    while basis.len() < count.min(n.saturating_sub(rank)) {
        let mut x = vec![0.0; n];
        x[first_largest(&left)] = 1.0;
        // twice, for accuracy
        for _ in 0..2 {
            let mut along = vec![0.0; rank];
            for (j, x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                along.iter_mut().zip(v.row(j)).for_each(|(along, v)| *along += v * x);
            }
            for (j, x) in x.iter_mut().enumerate() {
                *x -= dot(&v.row(j)[..rank], &along);
            }
            remove(&mut x, &basis);
        }
        normalise(&mut x);
        left.iter_mut().zip(&x).for_each(|(left, x)| *left -= x * x);
        basis.push(x);
    }
    basis
}

/// The same space in orthonormal vectors: Gram and Schmidt's, the largest first, or the first one.
pub(super) fn orthonormal(vectors: &mut [Vec<f64>], keep_first: bool) {
    for k in 0..vectors.len() {
        if k > 0 || !keep_first {
            let sizes: Vec<f64> = vectors[k..].iter().map(|v| norm(v)).collect();
            vectors.swap(k, k + first_largest(&sizes));
        }
        let (done, rest) = vectors.split_at_mut(k + 1);
        let (before, own) = done.split_at_mut(k);
        remove(&mut own[0], before);
        normalise(&mut own[0]);
        rest.iter_mut().for_each(|v| remove(v, &done[k..]));
    }
}

/// Without its part in orthonormal vectors.
fn remove(x: &mut [f64], basis: &[Vec<f64>]) {
    for e in basis {
        let along = dot(x, e);
        x.iter_mut().zip(e).for_each(|(x, e)| *x -= along * e);
    }
}

fn normalise(x: &mut [f64]) {
    let length = norm(x);
    if length > 0.0 {
        x.iter_mut().for_each(|x| *x /= length);
    }
}

fn first_largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (k, value) in values.iter().enumerate() {
        if *value > CLEARLY * values[best] {
            best = k;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_orthonormal(basis: &[Vec<f64>]) -> bool {
        basis.iter().enumerate().all(|(i, a)| {
            basis.iter().enumerate().all(|(j, b)| (dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-14)
        })
    }

    #[test]
    fn complement_is_orthonormal_and_complete() {
        // a plane in four dimensions
        let v = Matrix::from_rows(&[&[0.5, 0.5], &[0.5, -0.5], &[0.5, 0.5], &[0.5, -0.5]]);
        let found = complement(&v, 2, 9);
        assert_eq!(found.len(), 2);
        assert!(is_orthonormal(&found));
        assert!(found.iter().all(|x| v.transpose_times(x).iter().all(|x| x.abs() < 1e-15)));
        assert_eq!(complement(&v, 2, 1), found[..1]);
        assert_eq!(complement(&Matrix::zeros(2, 0), 0, 2), [[1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn vectors_of_very_different_sizes_become_orthonormal() {
        let given = [vec![1.0, 1e-6, 0.0], vec![1e8, 1.0, 1e-3], vec![1.0, 1.0, 1.0]];
        for (keep_first, first) in [(false, 1), (true, 0)] {
            let mut vectors = given.clone();
            orthonormal(&mut vectors, keep_first);
            assert!(is_orthonormal(&vectors), "{vectors:?}");
            let along = dot(&vectors[0], &given[first]) / norm(&given[first]);
            assert!((along - 1.0).abs() < 1e-15, "{along}");
        }
    }
}
