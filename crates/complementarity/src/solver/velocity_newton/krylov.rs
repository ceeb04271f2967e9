//! Sums of geometric series `x = d + T d + T^2 d + ...` by GMRES on `x - T x = d`.
//!
//! Terms that converge slowly, with factors near 1, cost one iteration each, where adding term by term takes hundreds.

/// Largest number of iterations.
const MOST: usize = 24;
/// A vector that `T` changes by at most this share has no sum: what changes is rounding.
const LEAST: f64 = 1e-9;

/// Memory of the sums.
#[derive(Debug, Clone, Default)]
pub(super) struct Krylov {
    /// Orthonormal vectors that span `d, T d, ...`, one after another.
    basis: Vec<f64>,
}

impl Krylov {
    /// Replaces `x`, on entry `d`, by the sum; `times` computes `T v`. Vectors are measured with the weights `w`. Ends when the part of
    /// `d` that is left is at most a share `settled` of it, or more than `stagnates` of the part left before: that part
    /// has no sum. Returns the number of iterations.
    pub fn sum(
        &mut self,
        x: &mut [f64],
        w: &[f64],
        (settled, stagnates): (f64, f64),
        mut times: impl FnMut(&[f64], &mut [f64]),
    ) -> usize {
        let rows = x.len();
        self.basis.resize((MOST + 1) * rows, 0.0);
        let size = dot(x, x, w).sqrt();
        if !size.is_normal() {
            return 0;
        }
        self.basis.iter_mut().zip(&*x).for_each(|(v, x)| *v = x / size);
        // columns of the triangular factor, rotations, and the right-hand side in the rotated basis
        let (mut columns, mut turns, mut rest) =
            ([[0.0; MOST + 1]; MOST], [[1.0, 0.0]; MOST], [0.0; MOST + 1]);
        rest[0] = size;
        let mut count = 0;
        while count < MOST && rest[count].abs() > settled * size {
            let (done, next) = self.basis.split_at_mut(rows * (count + 1));
            let (last, next) = (&done[rows * count..], &mut next[..rows]);
            times(last, next);
            next.iter_mut().zip(last).for_each(|(next, last)| *next = last - *next);
            let mut column = [0.0; MOST + 1];
            // twice: the first projection leaves rounding
            for _ in 0..2 {
                for (entry, v) in column.iter_mut().zip(done.chunks_exact(rows)) {
                    let along = dot(next, v, w);
                    next.iter_mut().zip(v).for_each(|(next, v)| *next -= along * v);
                    *entry += along;
                }
            }
            let length = dot(next, next, w).sqrt();
            column[count + 1] = length;
            for (k, [c, s]) in turns[..count].iter().enumerate() {
                [column[k], column[k + 1]] =
                    [c * column[k] + s * column[k + 1], c * column[k + 1] - s * column[k]];
            }
            let pivot = column[count].hypot(length);
            let [c, s] = [column[count] / pivot, length / pivot];
            if !(pivot > LEAST && s <= stagnates) {
                break;
            }
            column[count] = pivot;
            (turns[count], columns[count]) = ([c, s], column);
            [rest[count], rest[count + 1]] = [c * rest[count], -s * rest[count]];
            next.iter_mut().for_each(|next| *next /= length);
            count += 1;
            if length <= 0.0 {
                break;
            }
        }
        for k in (0..count).rev() {
            let known: f64 = (k + 1..count).map(|j| columns[j][k] * rest[j]).sum();
            rest[k] = (rest[k] - known) / columns[k][k];
        }
        if count > 0 {
            x.fill(0.0);
            for (share, v) in rest[..count].iter().zip(self.basis.chunks_exact(rows)) {
                x.iter_mut().zip(v).for_each(|(x, v)| *x += share * v);
            }
        }
        count
    }
}

fn dot(a: &[f64], b: &[f64], w: &[f64]) -> f64 {
    a.iter().zip(b).zip(w).map(|((a, b), w)| a * b * w).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Factors of a diagonal `T`, one of them 1 - 1e-4: `x_i = d_i / (1 - t_i)`.
    #[test]
    fn slow_terms_are_summed_in_as_many_iterations_as_there_are() {
        let t = [0.0, 1e-6, 0.5, 0.9, 0.9999, 0.0, 1e-6, 0.5];
        let d = [1.0, -2.0, 0.3, 0.1, 1e-4, 5.0, 1.0, 1.0];
        let mut x = d;
        let count = Krylov::default().sum(&mut x, &[1.0; 8], (1e-13, 0.999_999), |v, out| {
            (0..8).for_each(|i| out[i] = t[i] * v[i]);
        });
        assert_eq!(count, 5);
        for i in 0..8 {
            assert!((x[i] - d[i] / (1.0 - t[i])).abs() < 1e-8, "{x:?}");
        }
    }

    /// What is left unchanged by `T` has no sum; the rest has its own.
    #[test]
    fn a_term_without_a_sum_ends_the_iterations() {
        let mut x = [1.0, 1.0, 1e-6];
        let t = [0.0, 0.5, 1.0];
        Krylov::default().sum(&mut x, &[1.0; 3], (1e-13, 0.97), |v, out| {
            (0..3).for_each(|i| out[i] = t[i] * v[i]);
        });
        assert!((x[0] - 1.0).abs() < 1e-5 && (x[1] - 2.0).abs() < 1e-5 && x[2].abs() < 1e-4, "{x:?}");
    }
}
