//! Points of a face `{ z : (M z + q)_a = 0, z = 0 elsewhere }` whose matrix `M_aa` may be singular, by
//! elimination with complete pivoting; and the way along the face to a point with fewer positive entries.

use super::system::Scaled;
use crate::matrix::{Matrix, dot};
use crate::solver::Budget;

/// Corrections after the first solve, as in [`crate::basis`].
const REFINEMENTS: usize = 2;
/// Entries of a null vector below this share of its largest do not block: a step that they stop is mostly
/// rounding.
const NEGLIGIBLE: f64 = 1e-8;

/// `P M_aa Q = L U` up to the numerical rank.
pub(super) struct Face<'a> {
    p: &'a Scaled,
    active: &'a [usize],
    lu: Matrix,
    rows: Vec<usize>,
    columns: Vec<usize>,
    rank: usize,
}

impl<'a> Face<'a> {
    /// Pivots below `rank_tolerance` times the first one count as zero. `None` if the budget ended the elimination.
    pub fn new(p: &'a Scaled, active: &'a [usize], rank_tolerance: f64, budget: &mut Budget) -> Option<Self> {
        let n = active.len();
        let mut lu = Matrix::from_fn(n, n, |i, j| p.m[(active[i], active[j])]);
        let mut rows: Vec<usize> = (0..n).collect();
        let mut columns = rows.clone();
        let (mut rank, mut first) = (0, 0.0);
        for k in 0..n {
            if budget.ended().is_some() {
                return None;
            }
            budget.spend_pivot(n - k, n - k);
            let (mut best, mut at) = (0.0, (k, k));
            for i in k..n {
                for (j, x) in lu.row(i).iter().enumerate().skip(k) {
                    if x.abs() > best {
                        (best, at) = (x.abs(), (i, j));
                    }
                }
            }
            first = if k == 0 { best } else { first };
            if best <= rank_tolerance * first {
                break;
            }
            rank += 1;
            exchange(&mut lu, k, at);
            rows.swap(k, at.0);
            columns.swap(k, at.1);
            let pivot: Vec<f64> = lu.row(k)[k..].to_vec();
            for i in k + 1..n {
                let row = &mut lu.row_mut(i)[k..];
                let factor = row[0] / pivot[0];
                row[0] = factor;
                for (x, u) in row[1..].iter_mut().zip(&pivot[1..]) {
                    *x -= factor * u;
                }
            }
        }
        Some(Self { p, active, lu, rows, columns, rank })
    }

    /// The point of the face next to `z`: entries outside the face zero, the dependent columns held.
    pub fn nearest(&self, z: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; z.len()];
        for &i in self.active {
            out[i] = z[i];
        }
        for _ in 0..=REFINEMENTS {
            let right: Vec<f64> = self.active.iter().map(|&i| -self.p.slack(i, &out)).collect();
            for (column, x) in self.columns.iter().zip(self.pivot_solve(&right)) {
                out[self.active[*column]] += x;
            }
        }
        out
    }

    /// Forward and back substitution on the pivots.
    fn pivot_solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.rank];
        for i in 0..self.rank {
            x[i] = right[self.rows[i]] - dot(&self.lu.row(i)[..i], &x[..i]);
        }
        self.back(x)
    }

    fn back(&self, mut x: Vec<f64>) -> Vec<f64> {
        for i in (0..self.rank).rev() {
            let row = &self.lu.row(i)[..self.rank];
            x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..])) / row[i];
        }
        x
    }

    /// Vectors `v` with `M_aa v = 0`, zero outside the face.
    fn null_space(&self) -> Vec<Vec<f64>> {
        let dependent = self.rank..self.active.len();
        dependent
            .map(|j| {
                let x = self.back((0..self.rank).map(|i| -self.lu[(i, j)]).collect());
                let mut v = vec![0.0; self.p.order()];
                for (column, x) in self.columns.iter().zip(x) {
                    v[self.active[*column]] = x;
                }
                v[self.active[self.columns[j]]] = 1.0;
                v
            })
            .collect()
    }

    /// Moves from `z` in the face along null vectors of `M_aa`, each time until a further `z_i` or `w_j`
    /// is zero, until none are left (purification). Returns the pairs with `w = 0` held there.
    pub fn vertex(&self, z: &[f64]) -> Vec<usize> {
        let n = self.p.order();
        let mut in_face = vec![false; n];
        self.active.iter().for_each(|&i| in_face[i] = true);
        // what can block: z_i in the face, w_j outside it; and how each null vector moves it
        let mut level: Vec<f64> =
            (0..n).map(|i| if in_face[i] { z[i] } else { self.p.slack(i, z) }).collect();
        let change = |v: Vec<f64>| -> Vec<f64> {
            (0..n).map(|i| if in_face[i] { v[i] } else { dot(self.p.m.row(i), &v) }).collect()
        };
        let mut moves: Vec<Vec<f64>> = self.null_space().into_iter().map(change).collect();
        let mut blocked = vec![false; n];
        while let Some(mut v) = moves.pop() {
            let size = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let hit = (0..n)
                .filter(|&i| !blocked[i] && v[i].abs() > NEGLIGIBLE * size)
                .map(|i| (i, (level[i] / v[i]).abs()))
                .min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((i, _)) = hit else { continue };
            let t = -level[i] / v[i];
            level.iter_mut().zip(&v).for_each(|(x, v)| *x += t * v);
            blocked[i] = true;
            // the others no longer move entry i
            let pivot = v[i];
            v.iter_mut().for_each(|x| *x /= pivot);
            for other in &mut moves {
                let factor = other[i];
                for (x, v) in other.iter_mut().zip(&v) {
                    *x -= factor * v;
                }
                other[i] = 0.0;
            }
        }
        (0..n).filter(|&i| in_face[i] != blocked[i]).collect()
    }
}

fn exchange(a: &mut Matrix, k: usize, (i, j): (usize, usize)) {
    let n = a.columns();
    for c in 0..n {
        (a[(k, c)], a[(i, c)]) = (a[(i, c)], a[(k, c)]);
    }
    for r in 0..n {
        let row = a.row_mut(r);
        row.swap(k, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Lcp;

    /// `w = z_1 + z_2 - 1` twice: the solutions are the segment from (1, 0) to (0, 1).
    #[test]
    fn a_singular_face_is_met_at_its_nearest_point_and_left_at_a_vertex() {
        let m = Matrix::from_rows(&[&[1.0, 1.0], &[1.0, 1.0]]);
        let p = Scaled::new(&Lcp::new(m, vec![-1.0, -1.0]).unwrap()).unwrap();
        let face = Face::new(&p, &[0, 1], 1e-10, &mut Budget::default()).unwrap();
        assert_eq!(face.rank, 1);
        let z = face.nearest(&[0.6, 0.39]);
        assert!((z[0] + z[1] - 1.0).abs() < 1e-15 && z[0] > 0.5 && z[1] > 0.3);
        assert_eq!(face.vertex(&z).len(), 1);
    }

    #[test]
    fn a_move_along_the_face_stops_where_an_idle_w_would_turn_negative() {
        // w_3 = 1 - z_1: z_1 may not grow beyond 1 while z_1 + z_2 = 3; z_1 = 1 is nearer than z_1 = 0
        let m = Matrix::from_rows(&[&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0], &[-1.0, 0.0, 0.0]]);
        let p = Scaled::new(&Lcp::new(m, vec![-3.0, -3.0, 1.0]).unwrap()).unwrap();
        let face = Face::new(&p, &[0, 1], 1e-10, &mut Budget::default()).unwrap();
        let scale = p.size;
        let z = face.nearest(&[0.9 / scale, 2.1 / scale, 0.0]);
        assert_eq!(face.vertex(&z), [0, 1, 2]);
    }
}
