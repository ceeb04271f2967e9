//! Two-sided equilibration: `R M C` with the largest entry of each row and column near 1.
//!
//! Signs and complementarity survive any positive scaling of `w` and of `z`, and linear programs ask for no
//! symmetry, so rows and columns go their own ways (D. Ruiz, RAL-TR-2001-034). Factors are powers of two and round
//! nothing.

use crate::matrix::Matrix;
use crate::scaling::power_of_two;

/// Each sweep halves the spread of the exponents.
const SWEEPS: usize = 8;

/// Factors of rows and columns; 1 where all entries are zero.
pub(super) fn two_sided(m: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let n = m.rows();
    let (mut rows, mut columns) = (vec![1.0; n], vec![1.0; n]);
    for _ in 0..SWEEPS {
        let (mut row_top, mut column_top) = (vec![0.0f64; n], vec![0.0f64; n]);
        for i in 0..n {
            for (j, a) in m.row(i).iter().enumerate() {
                let size = (rows[i] * a * columns[j]).abs();
                row_top[i] = row_top[i].max(size);
                column_top[j] = column_top[j].max(size);
            }
        }
        for (factors, tops) in [(&mut rows, row_top), (&mut columns, column_top)] {
            for (x, top) in factors.iter_mut().zip(tops) {
                if top > 0.0 {
                    *x = (*x / top.sqrt()).clamp(1e-100, 1e100);
                }
            }
        }
    }
    for x in rows.iter_mut().chain(&mut columns) {
        *x = power_of_two(*x);
    }
    (rows, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_of_any_units_come_near_one() {
        let unit = |k: usize| 10f64.powi((k * 7 % 5) as i32 * 4 - 8);
        let m = Matrix::from_fn(5, 5, |i, j| unit(i) * unit(j + 2) * if i == j { 0.0 } else { 1.0 });
        let (r, c) = two_sided(&m);
        for i in 0..5 {
            let top = (0..5).map(|j| (r[i] * m[(i, j)] * c[j]).abs()).fold(0.0, f64::max);
            assert!((0.1..10.0).contains(&top), "row {i}: {top}");
        }
        assert_eq!(two_sided(&Matrix::zeros(2, 2)), (vec![1.0; 2], vec![1.0; 2]));
    }
}
