//! Equilibration: scaling that brings the largest entries of rows and columns near 1.
//!
//! Symmetric: `z = D z~`, `w = D^-1 w~` keeps signs and complementarity, and unlike two-sided scaling it keeps what
//! Lemke's guarantees rest on (positive definite, copositive). Ruiz' iteration; factors are powers of two,
//! so that scaling rounds nothing.

use crate::matrix::Matrix;

/// Sweeps: each halves the spread of the exponents.
const SWEEPS: usize = 8;

/// Fills `d`; `largest` is scratch.
pub(crate) fn symmetric(m: &Matrix, d: &mut Vec<f64>, largest: &mut Vec<f64>) {
    let n = m.rows();
    d.clear();
    d.resize(n, 1.0);
    for _ in 0..SWEEPS {
        largest.clear();
        largest.resize(n, 0.0);
        for i in 0..n {
            let row = sweep_row(m.row(i), d, d[i], largest);
            largest[i] = largest[i].max(row);
        }
        let mut even = true;
        for (x, &l) in d.iter_mut().zip(largest.iter()) {
            if l > 0.0 && !(0.1..=10.0).contains(&l) {
                even = false;
                *x = power_of_two(*x / l.sqrt());
            }
        }
        if even {
            break;
        }
    }
}

/// Two-sided: `R M C`, powers of two. Signs and complementarity survive any positive scaling of `w` and of `z`: for linear
/// programs, and for mixed problems before their free variables are eliminated (D. Ruiz, RAL-TR-2001-034). Factors
/// are 1 where all entries are zero.
pub(crate) fn two_sided(m: &Matrix) -> (Vec<f64>, Vec<f64>) {
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

/// Largest `|di a_j d_j|` of a row, and its part in the columns' `largest`.
fn sweep_row(row: &[f64], d: &[f64], di: f64, largest: &mut [f64]) -> f64 {
    const LANES: usize = 8;
    let (a, a_tail) = row.as_chunks::<LANES>();
    let (d, d_tail) = d.as_chunks::<LANES>();
    let (l, l_tail) = largest.as_chunks_mut::<LANES>();
    let mut lanes = [0.0f64; LANES];
    for ((a, d), l) in a.iter().zip(d).zip(l) {
        for k in 0..LANES {
            let size = (di * a[k] * d[k]).abs();
            lanes[k] = if size > lanes[k] { size } else { lanes[k] };
            l[k] = if size > l[k] { size } else { l[k] };
        }
    }
    for ((a, d), l) in a_tail.iter().zip(d_tail).zip(l_tail) {
        let size = (di * a * d).abs();
        lanes[0] = lanes[0].max(size);
        *l = l.max(size);
    }
    lanes.iter().fold(0.0, |m, &x| m.max(x))
}

/// The power of two at or below `x`, clamped away from overflow.
pub(crate) fn power_of_two(x: f64) -> f64 {
    let exponent = x.clamp(1e-140, 1e140).to_bits() & 0x7ff0_0000_0000_0000;
    f64::from_bits(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evens_out_a_symmetric_scaling_of_sixteen_decades() {
        let n = 6;
        let scale: Vec<f64> = (0..n).map(|i| 10f64.powi(3 * i - 8)).collect();
        let size = scale.len();
        let m = Matrix::from_fn(size, size, |i, j| scale[i] * scale[j] * if i == j { 2.0 } else { 1.0 });
        let (mut d, mut scratch) = (vec![], vec![]);
        symmetric(&m, &mut d, &mut scratch);
        for i in 0..size {
            let largest = (0..size).map(|j| (d[i] * m[(i, j)] * d[j]).abs()).fold(0.0, f64::max);
            assert!((0.1..10.0).contains(&largest), "row {i}: {largest}");
        }
    }

    #[test]
    fn leaves_empty_rows_alone() {
        let (mut d, mut scratch) = (vec![], vec![]);
        symmetric(&Matrix::zeros(3, 3), &mut d, &mut scratch);
        assert_eq!(d, [1.0; 3]);
    }

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
