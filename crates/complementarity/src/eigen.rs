//! Eigenvalues of dense matrices, eigenvectors of symmetric ones and singular values, by faer.

use crate::matrix::Matrix;
use faer::{MatRef, Side};

/// `A = U diag(x) U'` of a symmetric matrix: `x` in ascending order and `U`, whose column `k` belongs to
/// `x[k]`. Only the lower triangle of `a` is read. `None` if `a` is not square, has an entry that is not
/// finite, or the iteration does not converge.
///
/// The matrix is scaled by a power of two first, so that tiny or huge entries neither underflow nor
/// overflow: each eigenvalue is right to rounding of the largest.
pub fn symmetric_eigen(a: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let n = a.rows();
    if n != a.columns() || !a.data().iter().all(|x| x.is_finite()) {
        return None;
    }
    let largest = a.data().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 {
        return Some((vec![0.0; n], Matrix::identity(n)));
    }
    // the power of two at or below the largest entry (scaling::power_of_two stops at 1e-140)
    let unit = f64::from_bits(largest.max(f64::MIN_POSITIVE).to_bits() & 0x7ff0_0000_0000_0000);
    let scaled: Vec<f64> = a.data().iter().map(|x| x / unit).collect();
    let eigen = MatRef::from_row_major_slice(&scaled, n, n).self_adjoint_eigen(Side::Lower).ok()?;
    let values: Vec<f64> = (0..n).map(|k| eigen.S()[k] * unit).collect();
    let vectors = Matrix::from_fn(n, n, |i, k| eigen.U()[(i, k)]);
    let finite = values.iter().chain(vectors.data()).all(|x| x.is_finite());
    finite.then_some((values, vectors))
}

/// Eigenvalues of a square matrix, real and imaginary part of each. `None` if it is not square, has an entry that is not finite, or the iteration does
/// not converge.
pub fn eigenvalues(a: &Matrix) -> Option<Vec<[f64; 2]>> {
    if a.rows() != a.columns() {
        return None;
    }
    let values = finite(a)?.eigenvalues().ok()?;
    let values: Vec<[f64; 2]> = values.iter().map(|x| [x.re, x.im]).collect();
    values.iter().flatten().all(|x| x.is_finite()).then_some(values)
}

/// Singular values `x`, descending, and right singular vectors `V` of a matrix: column `k` of `V` belongs to `x[k]`. With fewer rows than columns there
/// are as many of both as rows: what is orthogonal to `V` is null. `None` if an entry is not finite or the iteration does not converge.
pub(crate) fn singular(a: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let svd = finite(a)?.thin_svd().ok()?;
    let count = a.rows().min(a.columns());
    let values: Vec<f64> = (0..count).map(|k| svd.S()[k]).collect();
    let vectors = Matrix::from_fn(a.columns(), count, |i, k| svd.V()[(i, k)]);
    values.iter().chain(vectors.data()).all(|x| x.is_finite()).then_some((values, vectors))
}

/// Singular values, descending, as [`singular`] has them.
pub(crate) fn singular_values(a: &Matrix) -> Option<Vec<f64>> {
    let values = finite(a)?.singular_values().ok()?;
    values.iter().all(|x| x.is_finite()).then_some(values)
}

/// Eigenvalues of a symmetric matrix, ascending. Only its lower triangle is read.
pub(crate) fn symmetric_eigenvalues(a: &Matrix) -> Option<Vec<f64>> {
    let values = finite(a)?.self_adjoint_eigenvalues(Side::Lower).ok()?;
    values.iter().all(|x| x.is_finite()).then_some(values)
}

fn finite(a: &Matrix) -> Option<MatRef<'_, f64>> {
    let view = MatRef::from_row_major_slice(a.data(), a.rows(), a.columns());
    a.data().iter().all(|x| x.is_finite()).then_some(view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// The second-difference matrix: eigenvalues `2 - 2 cos(k pi / (n + 1))`.
    fn second_difference(n: usize, size: f64) -> Matrix {
        Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => 2.0 * size,
            1 => -size,
            _ => 0.0,
        })
    }

    #[test]
    fn eigenvalues_of_the_second_difference_are_known_at_every_size_and_scale() {
        for n in [1, 2, 3, 12, 75, 200] {
            for size in [1e-300, 1e-17, 1.0, 1e300] {
                let a = second_difference(n, size);
                let (x, u) = symmetric_eigen(&a).unwrap();
                for k in 0..n {
                    let exact = 2.0 - 2.0 * ((k + 1) as f64 * PI / (n + 1) as f64).cos();
                    assert!((x[k] / size - exact).abs() < 1e-13, "n = {n}, size = {size}, k = {k}");
                }
                for i in 0..n {
                    for j in 0..n {
                        let back: f64 = (0..n).map(|k| u[(i, k)] * (x[k] / size) * u[(j, k)]).sum();
                        assert!((back - a[(i, j)] / size).abs() < 1e-13);
                    }
                }
            }
        }
    }

    #[test]
    fn singular_values_are_the_same_with_and_without_vectors_in_every_shape() {
        let full = second_difference(12, 1.0);
        let wide = Matrix::from_fn(11, 12, |i, j| full[(i, j)]);
        let tall = Matrix::from_fn(12, 11, |i, j| full[(i, j)]);
        for a in [&full, &wide, &tall] {
            let (x, v) = singular(a).unwrap();
            assert_eq!((x.len(), v.rows(), v.columns()), (a.rows().min(a.columns()), a.columns(), x.len()));
            for (x, y) in x.iter().zip(singular_values(a).unwrap()) {
                assert!((x - y).abs() < 1e-13, "{x} {y}");
            }
            for (k, x) in x.iter().enumerate() {
                let image = |i: usize| (0..a.columns()).map(|j| a[(i, j)] * v[(j, k)]).sum::<f64>();
                let length = (0..a.rows()).map(|i| image(i).powi(2)).sum::<f64>().sqrt();
                assert!((length - x).abs() < 1e-13, "{length} {x}");
            }
        }
        let (of, (both, _)) = (symmetric_eigenvalues(&full).unwrap(), symmetric_eigen(&full).unwrap());
        assert!(of.iter().zip(&both).all(|(x, y)| (x - y).abs() < 1e-13));
    }

    /// The companion matrix of `(x - 1)(x + 2)(x^2 + 2 x + 5)`.
    #[test]
    fn eigenvalues_of_a_companion_matrix_are_the_roots() {
        let [a, b, c, d] = [3.0, 5.0, 1.0, -10.0];
        let matrix = Matrix::from_rows(&[
            &[-a, -b, -c, -d],
            &[1.0, 0.0, 0.0, 0.0],
            &[0.0, 1.0, 0.0, 0.0],
            &[0.0, 0.0, 1.0, 0.0],
        ]);
        let mut found = eigenvalues(&matrix).unwrap();
        found.sort_by(|x, y| x[0].total_cmp(&y[0]).then(x[1].total_cmp(&y[1])));
        let roots = [[-2.0, 0.0], [-1.0, -2.0], [-1.0, 2.0], [1.0, 0.0]];
        for (found, root) in found.iter().zip(roots) {
            assert!((found[0] - root[0]).abs().max((found[1] - root[1]).abs()) < 1e-12, "{found:?} {root:?}");
        }
        assert_eq!(eigenvalues(&Matrix::zeros(2, 3)), None);
        assert_eq!(eigenvalues(&Matrix::from_rows(&[&[f64::NAN]])), None);
        assert_eq!(eigenvalues(&Matrix::zeros(0, 0)), Some(vec![]));
    }

    #[test]
    fn zero_and_empty_matrices_have_eigenvalues_and_bad_ones_have_none() {
        assert_eq!(symmetric_eigen(&Matrix::zeros(0, 0)).unwrap().0.len(), 0);
        assert_eq!(symmetric_eigen(&Matrix::zeros(2, 2)).unwrap().0, [0.0, 0.0]);
        assert_eq!(symmetric_eigen(&Matrix::zeros(2, 3)), None);
        assert_eq!(symmetric_eigen(&Matrix::from_rows(&[&[f64::NAN]])), None);
    }
}
