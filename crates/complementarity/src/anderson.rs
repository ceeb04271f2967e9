//! Anderson acceleration of a fixed-point iteration `x -> g(x)`.
//!
//! Problem: find `f(x) = g(x) - x = 0` from values of `g` alone. Source: Anderson (1965) in the form of Walker and Ni (2011): with the last
//! differences `dF` of `f` and `dG` of `g`, the next `x` is `g - dG gamma`, `gamma` the least squares solution of `dF gamma = f`.
//!
//! Deviations: normal equations, kept from one iteration to the next and slightly regularised, instead of a QR factorisation; `f` is weighted
//! by the caller. Judging whether a proposal helped is the caller's, too.

/// Most differences remembered.
pub(crate) const MOST: usize = 16;
/// Regularisation, in units of each diagonal entry of the normal equations.
const REGULAR: f64 = 1e-12;

/// The last differences.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anderson {
    size: usize,
    depth: usize,
    /// Differences held, and where the next goes.
    held: usize,
    next: usize,
    /// One after another, `size` entries each.
    df: Vec<f64>,
    dg: Vec<f64>,
    /// The last `f` and `g`, if there are any.
    f: Vec<f64>,
    g: Vec<f64>,
    begun: bool,
    /// `dF' dF`.
    gram: [[f64; MOST]; MOST],
}

impl Anderson {
    /// Forgets everything; `size` unknowns, `depth` differences.
    pub fn reset(&mut self, size: usize, depth: usize) {
        (self.size, self.depth) = (size, depth.min(MOST));
        self.df.resize(self.depth * size, 0.0);
        self.dg.resize(self.depth * size, 0.0);
        self.f.resize(size, 0.0);
        self.g.resize(size, 0.0);
        self.forget();
    }

    /// Forgets all values.
    pub fn forget(&mut self) {
        (self.held, self.next, self.begun) = (0, 0, false);
    }

    /// Takes the values at the last proposal (`f` weighted) and writes the change `-dG gamma` by which the next differs from `g`. False if
    /// there is none yet.
    pub fn propose(&mut self, f: &[f64], g: &[f64], change: &mut [f64]) -> bool {
        let n = self.size;
        if !self.begun {
            self.f.copy_from_slice(f);
            self.g.copy_from_slice(g);
            self.begun = true;
            return false;
        }
        let at = self.next;
        self.next = (at + 1) % self.depth;
        self.held = (self.held + 1).min(self.depth);
        let own = at * n..(at + 1) * n;
        for (d, (last, x)) in self.df[own.clone()].iter_mut().zip(self.f.iter_mut().zip(f)) {
            *d = x - *last;
            *last = *x;
        }
        for (d, (last, x)) in self.dg[own.clone()].iter_mut().zip(self.g.iter_mut().zip(g)) {
            *d = x - *last;
            *last = *x;
        }
        let mut gamma = [0.0; MOST];
        for k in 0..self.held {
            let column = &self.df[k * n..][..n];
            let product = crate::matrix::dot(column, &self.df[own.clone()]);
            (self.gram[k][at], self.gram[at][k]) = (product, product);
            gamma[k] = crate::matrix::dot(column, f);
        }
        if !self.solve(&mut gamma) {
            return false;
        }
        change.fill(0.0);
        for k in 0..self.held {
            let factor = gamma[k];
            change.iter_mut().zip(&self.dg[k * n..][..n]).for_each(|(c, d)| *c -= factor * d);
        }
        true
    }

    /// Cholesky factorisation of the normal equations; false if that fails.
    fn solve(&self, x: &mut [f64; MOST]) -> bool {
        let (n, mut l) = (self.held, self.gram);
        for i in 0..n {
            l[i][i] *= 1.0 + REGULAR;
            for j in 0..=i {
                let sum = l[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
                if i > j {
                    l[i][j] = sum / l[j][j];
                } else if sum > 1e-14 * self.gram[i][i] {
                    l[i][i] = sum.sqrt();
                } else {
                    // depends on the others: takes no part
                    l[i][i] = f64::INFINITY;
                }
            }
        }
        for i in 0..n {
            x[i] = (x[i] - (0..i).map(|k| l[i][k] * x[k]).sum::<f64>()) / l[i][i];
        }
        for i in (0..n).rev() {
            x[i] = (x[i] - (i + 1..n).map(|k| l[k][i] * x[k]).sum::<f64>()) / l[i][i];
        }
        x[..n].iter().all(|x| x.is_finite())
    }
}
