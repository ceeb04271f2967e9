//! Factor of a Gram matrix whose rows may depend on each other.

/// Pivots below this share of a row's own mobility are those of redundant rows.
const REDUNDANT: f64 = 1e-11;

/// Cholesky factor of a positive semidefinite matrix with pivots.
#[derive(Debug, Clone, Default)]
pub struct PivotedCholesky {
    n: usize,
    /// Row by row, in the order of `order`.
    l: Vec<f64>,
    order: Vec<usize>,
    scale: Vec<f64>,
    rank: usize,
    x: Vec<f64>,
}

impl PivotedCholesky {
    /// Factors the matrix with these entries; its lower part is read.
    pub fn factor(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64) {
        self.n = n;
        self.scale.clear();
        self.scale.extend((0..n).map(|i| entry(i, i)).map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }));
        self.l.clear();
        for i in 0..n {
            self.l.extend((0..n).map(|j| entry(i, j) * self.scale[i] * self.scale[j]));
        }
        self.order.clear();
        self.order.extend(0..n);
        self.rank = 0;
        for k in 0..n {
            let largest =
                (k..n).max_by(|&a, &b| self.l[a * n + a].total_cmp(&self.l[b * n + b])).unwrap_or(k);
            let pivot = self.l[largest * n + largest];
            if pivot <= REDUNDANT || pivot.is_nan() {
                return;
            }
            self.order.swap(k, largest);
            for j in 0..n {
                self.l.swap(k * n + j, largest * n + j);
            }
            for i in 0..n {
                self.l.swap(i * n + k, i * n + largest);
            }
            let root = self.l[k * n + k].sqrt();
            for i in k..n {
                self.l[i * n + k] /= root;
            }
            for i in k + 1..n {
                for j in k + 1..n {
                    self.l[i * n + j] -= self.l[i * n + k] * self.l[j * n + k];
                }
            }
            // the part above the diagonal is still that of the matrix; it is not read again
            self.rank = k + 1;
        }
    }

    /// Solves in place; redundant rows get 0.
    pub fn solve(&mut self, g: &mut [f64]) {
        let (n, l) = (self.n, &self.l);
        self.x.clear();
        self.x.extend(self.order[..self.rank].iter().map(|&i| g[i] * self.scale[i]));
        for i in 0..self.rank {
            let above: f64 = (0..i).map(|j| l[i * n + j] * self.x[j]).sum();
            self.x[i] = (self.x[i] - above) / l[i * n + i];
        }
        for i in (0..self.rank).rev() {
            let below: f64 = (i + 1..self.rank).map(|j| l[j * n + i] * self.x[j]).sum();
            self.x[i] = (self.x[i] - below) / l[i * n + i];
        }
        g.fill(0.0);
        for (k, &i) in self.order[..self.rank].iter().enumerate() {
            g[i] = self.x[k] * self.scale[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PivotedCholesky;

    /// A Gram matrix of three rows of which one is the sum of the others.
    #[test]
    fn redundant_rows_get_no_force_and_all_are_met() {
        let rows = [[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [1.0, 3.0, 3.0]];
        let entry = |i: usize, j: usize| (0..3).map(|k| rows[i][k] * rows[j][k]).sum::<f64>();
        let mut gram = PivotedCholesky::default();
        gram.factor(3, entry);
        assert_eq!(gram.rank, 2);
        let given = [0.5, -1.0, -0.5];
        let mut p = given;
        gram.solve(&mut p);
        assert_eq!(p.iter().filter(|p| **p == 0.0).count(), 1);
        for i in 0..3 {
            let met: f64 = (0..3).map(|j| entry(i, j) * p[j]).sum();
            assert!((met - given[i]).abs() < 1e-12, "{i}: {met}");
        }
    }
}
