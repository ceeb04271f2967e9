//! Radau IIA with three stages, order 5, for stiff equations.
//!
//! Source: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (Springer 1996), section IV.8, cited as HW. With stages
//! `Y_i = y + Z_i` at `t + c_i h`,
//!
//! ```text
//! Z = h (A x I) F(y + Z)                                   (8.2)
//! (I - h A x J) dZ = -Z + h (A x I) F(y + Z)               (8.4)   simplified Newton
//! y+ = y + Z_3
//! err = (I - h gamma_0 J)^-1 (h gamma_0 f(t, y) + e_1 Z_1 + e_2 Z_2 + e_3 Z_3)     (8.19)
//! ```
//!
//! `J` is a forward difference and is kept while Newton's method converges fast ([`Blocks`]).

use super::blocks::{Blocks, GAMMA};
use super::{Field, norm};

/// Order of the error estimate: it falls as `h^ORDER`.
const ORDER: i32 = 4;
/// Most iterations of Newton's method.
const ITERATIONS: usize = 10;
/// Newton's method ends where what is left is this share of the error allowed.
const LEFT: f64 = 1e-3;
/// Newton's method keeps its Jacobian for the next step if it converges faster than this.
const FAST: f64 = 1e-2;
/// Lengths up to this share of each other have the same factors, where the same step is repeated.
const SAME_FACTORS: f64 = 0.05;

const ROOT: f64 = 2.449_489_742_783_178; // sqrt(6)
/// Nodes `c`.
pub(super) const C: [f64; 3] = [(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0];
/// Matrix `A`; its last row are the weights of the quadrature.
pub(super) const A: [[f64; 3]; 3] = [
    [(88.0 - 7.0 * ROOT) / 360.0, (296.0 - 169.0 * ROOT) / 1800.0, (-2.0 + 3.0 * ROOT) / 225.0],
    [(296.0 + 169.0 * ROOT) / 1800.0, (88.0 + 7.0 * ROOT) / 360.0, (-2.0 - 3.0 * ROOT) / 225.0],
    [(16.0 - ROOT) / 36.0, (16.0 + ROOT) / 36.0, 1.0 / 9.0],
];

/// The method and its memory.
#[derive(Debug, Clone, Default)]
pub struct Radau {
    blocks: Blocks,
    /// Whether `J` may be used, and whether it belongs to the step's start or is older.
    known: bool,
    fresh: bool,
    /// The `h` that the factors are for.
    factored: f64,
    /// Stages `Z`, those of the last step and its length, and those of an attempt at this step and its length; a length of 0: none.
    z: Vec<f64>,
    last: (Vec<f64>, f64),
    tried: (Vec<f64>, f64),
    /// Rate of convergence of the last attempt.
    rate: f64,
    rates: Vec<f64>,
    right: Vec<f64>,
    start: Vec<f64>,
    point: Vec<f64>,
    error: Vec<f64>,
    /// Newton iterations of the last attempt.
    iterations: usize,
}

impl Radau {
    /// Order of the error estimate, for [`super::next_length`].
    pub const ORDER: i32 = ORDER;
    /// Nodes of the stages, as shares of the step.
    pub const NODES: [f64; 3] = C;
    /// Weights of the stages in an integral over the step.
    pub const WEIGHTS: [f64; 3] = A[2];

    /// Forgets what is known of the equations: they have changed, or their solution is not smooth here.
    pub fn forget(&mut self) {
        (self.known, self.fresh, self.last.1, self.tried.1) = (false, false, 0.0, 0.0);
    }

    /// Newton iterations of the last attempt.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// The deviation `Z_i` of a stage of the last attempt from its start; that of stage 2 is the solution's.
    pub fn stage(&self, i: usize) -> &[f64] {
        let n = self.z.len() / 3;
        &self.z[i * n..][..n]
    }

    /// A step of length `h` from `(t, y)`, which is where the last accepted step ended, or the same as in the last attempt, or follows [`Self::forget`].
    /// Errors are measured by `scale`. Returns the error (at most 1 if it is small enough), or `None` where
    /// the equations of the stages were not solved.
    pub fn attempt(
        &mut self,
        field: &mut impl Field,
        (t, y): (f64, &[f64]),
        h: f64,
        scale: &[f64],
    ) -> Option<f64> {
        let n = y.len();
        self.iterations = 0;
        self.start.resize(n, 0.0);
        field.rate(t, y, &mut self.start);
        if !self.known {
            self.differentiate(field, t, y);
        }
        loop {
            // of the same step repeated with about the same length the factors do
            let same = self.tried.1 > 0.0 && (h - self.factored).abs() <= SAME_FACTORS * self.factored;
            if !same && self.factored != h && !self.factor(h) {
                return None;
            }
            self.predict(n, h);
            match self.newton(field, (t, y), h, scale) {
                Some(rate) => {
                    self.rate = rate;
                    self.tried.0.clone_from(&self.z);
                    self.tried.1 = h;
                    return Some(self.estimate(field, (t, y), h, scale));
                }
                // not from there, or not with these factors
                None if self.tried.1 > 0.0 => (self.tried.1, self.factored) = (0.0, 0.0),
                None if self.fresh => return None,
                None => self.differentiate(field, t, y),
            }
        }
    }

    /// The last attempt is accepted: its stages predict those of the next.
    pub fn accept(&mut self, h: f64) {
        self.last.0.clone_from(&self.z);
        self.last.1 = h;
        self.tried.1 = 0.0;
        // a Jacobian that is good enough here may be used in the next step
        (self.known, self.fresh) = (self.rate < FAST, false);
    }

    fn differentiate(&mut self, field: &mut impl Field, t: f64, y: &[f64]) {
        self.blocks.differentiate(field, (t, y), &self.start);
        (self.known, self.fresh, self.factored) = (true, true, 0.0);
    }

    fn factor(&mut self, h: f64) -> bool {
        self.factored = if self.blocks.factor(h) { h } else { 0.0 };
        self.factored == h
    }

    /// Stages by the polynomial of another attempt at this step or of the last step, or zero.
    fn predict(&mut self, n: usize, h: f64) {
        self.z.clear();
        self.z.resize(3 * n, 0.0);
        let again = self.tried.1 > 0.0;
        let (last, length) = if again { &self.tried } else { &self.last };
        if *length == 0.0 || last.len() != 3 * n {
            return;
        }
        for (i, c) in C.iter().enumerate() {
            let w = c * h / length + if again { 0.0 } else { 1.0 };
            // Lagrange's polynomials through 0 (where Z is 0) and the nodes
            let at = |k: usize| {
                let others = (0..3).filter(|&m| m != k);
                others.fold(w / C[k], |product, m| product * (w - C[m]) / (C[k] - C[m]))
            };
            let weights = [at(0), at(1), at(2)];
            for j in 0..n {
                let ahead: f64 = (0..3).map(|k| weights[k] * last[k * n + j]).sum();
                self.z[i * n + j] = ahead - if again { 0.0 } else { last[2 * n + j] };
            }
        }
    }

    /// Solves for the stages; returns the rate of convergence.
    fn newton(
        &mut self,
        field: &mut impl Field,
        (t, y): (f64, &[f64]),
        h: f64,
        scale: &[f64],
    ) -> Option<f64> {
        let n = y.len();
        self.rates.resize(3 * n, 0.0);
        let (mut before, mut rate) = (f64::INFINITY, 0.0f64);
        for k in 0..ITERATIONS {
            self.iterations += 1;
            for i in 0..3 {
                self.point.clear();
                self.point.extend(y.iter().zip(&self.z[i * n..]).map(|(y, z)| y + z));
                field.rate(t + C[i] * h, &self.point, &mut self.rates[i * n..][..n]);
            }
            self.right.clone_from(&self.rates);
            self.blocks.step(h, &self.z, &mut self.right);
            self.z.iter_mut().zip(&self.right).for_each(|(z, by)| *z += by);
            let change = norm(self.right.iter(), scale);
            if !change.is_finite() {
                return None;
            }
            if k > 0 {
                rate = change / before;
                if rate >= 1.0 && change > LEFT {
                    return None;
                }
            }
            let left = if k == 0 { change } else { rate / (1.0 - rate).max(1e-3) * change };
            if change == 0.0 || left <= LEFT {
                return Some(rate);
            }
            before = change;
        }
        None
    }

    /// (8.19), and once more with the field there, (8.20), where the first is too large.
    fn estimate(&mut self, field: &mut impl Field, (t, y): (f64, &[f64]), h: f64, scale: &[f64]) -> f64 {
        let n = y.len();
        let gamma = 1.0 / GAMMA;
        let e = [-13.0 - 7.0 * ROOT, -13.0 + 7.0 * ROOT, -1.0].map(|e| gamma / 3.0 * e);
        self.right.clear();
        self.right.extend((0..n).map(|j| (0..3).map(|i| e[i] * self.z[i * n + j]).sum::<f64>()));
        self.error.clear();
        self.error.extend((0..n).map(|j| h * gamma * self.start[j] + self.right[j]));
        self.filter();
        let error = norm(self.error.iter(), scale);
        if error <= 1.0 {
            return error;
        }
        self.point.clear();
        self.point.extend(y.iter().zip(&self.error).map(|(y, e)| y + e));
        field.rate(t, &self.point, &mut self.error);
        (0..n).for_each(|j| self.error[j] = h * gamma * self.error[j] + self.right[j]);
        self.filter();
        let again = norm(self.error.iter(), scale);
        if again.is_finite() { again } else { error }
    }

    /// `(I - h gamma_0 J)^-1` of the error.
    fn filter(&mut self) {
        self.blocks.solve_real(&mut self.error);
        self.error.iter_mut().for_each(|e| *e *= GAMMA / self.factored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::next_length;

    /// Integrates with error control and returns the end and the number of steps.
    fn integrate(mut f: impl Field, mut y: Vec<f64>, end: f64, tolerance: f64) -> (Vec<f64>, usize) {
        let (mut radau, mut t, mut h, mut steps) = (Radau::default(), 0.0, 1e-4, 0);
        while t < end {
            h = f64::min(h, end - t);
            let scale: Vec<f64> = y.iter().map(|y| tolerance * (1.0 + y.abs())).collect();
            match radau.attempt(&mut f, (t, &y), h, &scale) {
                None => h *= 0.5,
                Some(error) if error > 1.0 => h = next_length(h, error, ORDER),
                Some(error) => {
                    y.iter_mut().zip(radau.stage(2)).for_each(|(y, z)| *y += z);
                    radau.accept(h);
                    (t, steps) = (t + h, steps + 1);
                    h = next_length(h, error, ORDER);
                }
            }
            assert!(steps < 100_000);
        }
        (y, steps)
    }

    #[test]
    fn fixed_steps_are_of_order_five() {
        // a pendulum without small angles, against itself in fine steps
        let mut f = |_: f64, y: &[f64], out: &mut [f64]| (out[0], out[1]) = (y[1], -y[0].sin());
        let mut at = |steps: usize| {
            let (mut y, mut radau) = (vec![2.0, 0.0], Radau::default());
            let h = 2.0 / steps as f64;
            for k in 0..steps {
                let _ = radau.attempt(&mut f, (k as f64 * h, &y), h, &[1e-14, 1e-14]).unwrap();
                y.iter_mut().zip(radau.stage(2)).for_each(|(y, z)| *y += z);
                radau.accept(h);
            }
            y[0]
        };
        let exact = at(400);
        let [coarse, fine] = [at(10), at(20)].map(|x| (x - exact).abs());
        let order = (coarse / fine).log2();
        assert!((4.7..5.5).contains(&order), "order {order}, errors {coarse:e} {fine:e}");
    }

    #[test]
    fn stiff_relaxation_follows_its_slow_solution_in_few_steps() {
        // Prothero and Robinson: y = cos t whatever the stiffness
        let f = |t: f64, y: &[f64], out: &mut [f64]| out[0] = -1e6 * (y[0] - t.cos()) - t.sin();
        let (y, steps) = integrate(f, vec![1.0], 3.0, 1e-8);
        assert!((y[0] - 3f64.cos()).abs() < 1e-8 && steps < 100, "{} in {steps} steps", y[0] - 3f64.cos());
    }

    #[test]
    fn robertson_s_reaction_ends_where_the_literature_says() {
        let f = |_: f64, y: &[f64], out: &mut [f64]| {
            out[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
            out[2] = 3e7 * y[1] * y[1];
            out[1] = -out[0] - out[2];
        };
        let (y, steps) = integrate(f, vec![1.0, 0.0, 0.0], 40.0, 1e-10);
        // HW IV.10 and the test set for IVP solvers, t = 40
        let exact = [0.715_827_068_718_9, 9.185_534_764e-6, 0.284_163_745_7];
        for k in [0, 1, 2] {
            assert!((y[k] - exact[k]).abs() < 1e-8 * exact[k].max(1e-2), "{k}: {} not {}", y[k], exact[k]);
        }
        assert!(steps < 400, "{steps}");
    }
}
