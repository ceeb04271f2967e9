//! Alternating directions (ADMM) for Coulomb's cone and polygons, with a penalty taken from the spectrum.
//!
//! Problem, in the units of `scaled`: `u = W x + q`; for each contact `x` in `L = { |x_t| <= x_n }`, `y = u + |u_t| e_1` in `L`, `x' y = 0`. Under a
//! polygon `L` is its cone, `y` in the dual of that, and instead of `|u_t|` there is its support function at `-u_t`.
//!
//! Source: Carpentier, Le Lidec, Montaut, "From compliant to rigid contact simulation: a unified and efficient approach" (2024). With De Saxce's
//! term `s = |g_t| e_1` frozen at the last iterate, `x` minimises a quadratic function and `z` a distance to `L`, held together by the multiplier
//! `g`, which becomes the speed `y`:
//!
//! ```text
//! x+ = (W + (rho + eta) I)^-1 (eta x + rho z + g - q - s)
//! z+ = P_L(x+ - g / rho)
//! g+ = g - rho (x+ - z+)
//! ```
//!
//! `rho = sqrt(m l)` at first, `l` and `m` the largest and smallest eigenvalues of `W`; it grows or shrinks by a factor when the primal
//! `|x - z|` and dual `rho |z+ - z|` residuals are out of balance, which costs a factorisation.
//!
//! Deviations: `W` is scaled contact by contact (which brings most problems down to about a hundred iterations); `m` is at least
//! `least_ratio l`, so that rank-deficient problems start alike; `rho` changes by a fixed factor. The method is slow at the end where
//! forces are undetermined or elements at the verge of slipping.

use super::scaled::Scaled;
use super::system::System;
use super::{End, Outcome};
use crate::bench::Bench;
use crate::matrix::{dot, norm};
use crate::problem::ConeProblem;
use crate::residual::{self, ConeScratch};

/// Name in reports.
pub const NAME: &str = "admm";

/// Settings of ADMM. Defaults were set on the FCLIB problems that come with Siconos.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Iterations (one linear system each) before it gives up.
    pub max_iterations: usize,
    /// `eta`: weight of the last `x`, which keeps the matrix regular (the paper: 1e-6).
    pub proximal: f64,
    /// Least smallest eigenvalue that counts, relative to the largest.
    pub least_ratio: f64,
    /// Power iterations for each of the two eigenvalues.
    pub power_iterations: usize,
    /// Ratio of the residuals beyond which `rho` is changed (the paper: 10).
    pub imbalance: f64,
    /// Factor by which it is changed.
    pub growth: f64,
    /// Iterations between two changes.
    pub patience: usize,
    /// Iterations between two looks at the residual.
    pub check_every: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_iterations: 5000,
            proximal: 1e-6,
            least_ratio: 1e-3,
            power_iterations: 20,
            imbalance: 10.0,
            growth: 1.6,
            patience: 10,
            check_every: 4,
        }
    }
}

/// The method with its memory.
#[derive(Debug, Clone, Default)]
pub struct Admm {
    /// May be changed between solves.
    pub settings: Settings,
    scaled: Scaled,
    system: System,
    rho: f64,
    x: Vec<f64>,
    z: Vec<f64>,
    g: Vec<f64>,
    last: Vec<f64>,
    identity: Vec<f64>,
    shift: Vec<f64>,
    forces: Vec<f64>,
    bench: Bench,
    judge: ConeScratch,
}

impl Admm {
    /// `s = A lambda + b` of the last answer.
    pub fn speed(&self) -> &[f64] {
        &self.bench.judged.speed
    }

    /// Solves from the warm start `lambda`, which takes the answer, or the best try.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        if let Some(outcome) = self.bench.begin(problem, lambda, tolerance, NAME) {
            return outcome;
        }
        if !self.scaled.fill(problem) {
            lambda.fill(0.0);
            return self.bench.judge(problem, lambda, tolerance, NAME, 0, End::Stalled);
        }
        self.system.prepare(&self.scaled);
        self.forces.resize(lambda.len(), 0.0);
        self.start(problem, lambda);
        let (end, iterations) = self.run(problem, lambda);
        self.bench.judge(problem, lambda, tolerance, NAME, iterations, end)
    }

    /// Iterates; `lambda` takes the best `z`.
    fn run(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> (End, usize) {
        let mut best = residual::cone(problem, lambda, &mut self.judge);
        if self.factor().is_none() {
            return (End::Stalled, 0);
        }
        let mut changed = 0;
        for iteration in 1..=self.settings.max_iterations {
            let (primal, dual) = self.iterate(problem);
            if !(primal + dual).is_finite() {
                return (End::Stalled, iteration);
            }
            if iteration % self.settings.check_every == 0 {
                self.scaled.forces(&self.z, &mut self.forces);
                let found = residual::cone(problem, &self.forces, &mut self.judge);
                if found.relative < best.relative {
                    best = found;
                    lambda.copy_from_slice(&self.forces);
                }
                if best.relative <= self.settings.tolerance {
                    return (End::Solved, iteration);
                }
            }
            if iteration - changed >= self.settings.patience {
                let Settings { imbalance, growth, .. } = self.settings;
                let factor = match () {
                    () if primal > imbalance * dual => growth,
                    () if dual > imbalance * primal => 1.0 / growth,
                    () => continue,
                };
                changed = iteration;
                self.rho *= factor;
                if self.factor().is_none() {
                    return (End::Stalled, iteration);
                }
            }
        }
        (End::Limit, self.settings.max_iterations)
    }

    /// `z` from the forces given, `g` from their speeds, `rho` from the spectrum.
    fn start(&mut self, problem: ConeProblem<'_>, lambda: &[f64]) {
        let rows = self.scaled.rows;
        self.scaled.unknowns(lambda, &mut self.x);
        let contacts = self.x.chunks_exact_mut(rows).enumerate();
        contacts.for_each(|(c, x)| problem.shape(c).project(1.0, x));
        self.z.clone_from(&self.x);
        self.scaled.speeds(&self.x, &mut self.g);
        self.last.resize(rows, 0.0);
        for (c, g) in self.g.chunks_exact_mut(rows).enumerate() {
            let shape = problem.shape(c);
            g[0] += shape.lift(g);
            // onto the dual cone: g + P_L(-g) (Moreau)
            let opposite = &mut self.last[..rows];
            opposite.iter_mut().zip(&*g).for_each(|(o, g)| *o = -g);
            shape.project(1.0, opposite);
            g.iter_mut().zip(opposite).for_each(|(g, o)| *g += *o);
        }
        let largest = self.power(0.0);
        let smallest = largest - self.power(largest);
        self.rho = largest * (smallest / largest).clamp(self.settings.least_ratio, 1.0).sqrt();
    }

    /// Largest eigenvalue of `W`, or of `shift I - W` where `shift > 0`, by power iteration.
    fn power(&mut self, shift: f64) -> f64 {
        let Self { scaled, last, forces, settings, .. } = self;
        let v = forces;
        // a start with a part along every eigenvector, in all likelihood
        v.iter_mut().enumerate().for_each(|(k, v)| *v = 1.0 + (k as f64).sin());
        let mut value = 0.0;
        for _ in 0..settings.power_iterations {
            let size = norm(v);
            v.iter_mut().for_each(|v| *v /= size);
            scaled.times(v, last);
            if shift > 0.0 {
                last.iter_mut().zip(v.iter()).for_each(|(w, v)| *w = shift * v - *w);
            }
            value = dot(last, v);
            if norm(last) == 0.0 {
                break;
            }
            v.copy_from_slice(last);
        }
        value
    }

    /// Factors `W + (rho + eta) I`.
    fn factor(&mut self) -> Option<()> {
        let Scaled { n, rows, .. } = self.scaled;
        let diagonal = |k: usize| if k / rows % rows == k % rows { 1.0 } else { 0.0 };
        self.identity.clear();
        self.identity.extend((0..n * rows).map(diagonal));
        let shift = self.rho + self.settings.proximal;
        self.shift.clear();
        self.shift.extend(self.identity.iter().map(|x| shift * x));
        self.system.factor(&self.scaled, &self.identity, &self.shift)
    }

    /// One iteration; the primal and the dual residual.
    fn iterate(&mut self, problem: ConeProblem<'_>) -> (f64, f64) {
        let Self { scaled, system, rho, x, z, g, last, settings, .. } = self;
        let (rho, eta) = (*rho, settings.proximal);
        for (k, x) in x.iter_mut().enumerate() {
            *x = eta * *x + rho * z[k] + g[k] - scaled.q[k];
        }
        for (c, (x, g)) in x.chunks_exact_mut(scaled.rows).zip(g.chunks_exact(scaled.rows)).enumerate() {
            x[0] -= problem.shape(c).lift(g);
        }
        system.solve(scaled.rows, x);
        last.clone_from(z);
        for ((z, x), g) in z.iter_mut().zip(x.iter()).zip(g.iter()) {
            *z = x - g / rho;
        }
        let contacts = z.chunks_exact_mut(scaled.rows).enumerate();
        contacts.for_each(|(c, z)| problem.shape(c).project(1.0, z));
        let (mut primal, mut dual) = (0.0, 0.0);
        for k in 0..x.len() {
            let apart = x[k] - z[k];
            g[k] -= rho * apart;
            primal += apart * apart;
            dual += (z[k] - last[k]).powi(2);
        }
        (primal.sqrt(), rho * dual.sqrt())
    }
}
