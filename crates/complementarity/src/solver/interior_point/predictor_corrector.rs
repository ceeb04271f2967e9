//! The infeasible predictor-corrector method (Mehrotra 1992; Wright 1997, chapters 6 and 10), for LCPs.
//!
//! One factorisation a step serves both right-hand sides. With `r = M z + q - w`:
//!
//! ```text
//! predictor  dw = M dz + r    Z dw + W dz = -w o z
//! corrector  dw = M dz + r    Z dw + W dz = -w o z + s mu e - dw_p o dz_p    s = (mu_p / mu)^3
//! ```

use super::system::{Newton, Point, Scaled, Step};
use super::{Settings, Stop};
use crate::matrix::{dot, norm};

/// What is kept from step to step.
#[derive(Debug)]
pub(super) struct PredictorCorrector {
    system: Infeasible,
    predictor: Step,
    corrector: Step,
    plain: Step,
    /// `|r_0| / mu_0`.
    start_ratio: Option<f64>,
}

impl PredictorCorrector {
    pub fn new(n: usize) -> Self {
        Self {
            system: Infeasible::new(n),
            predictor: Step::zeros(n),
            corrector: Step::zeros(n),
            plain: Step::zeros(n),
            start_ratio: None,
        }
    }

    /// One step; returns its length.
    pub fn advance(&mut self, p: &Scaled, at: &mut Point, settings: &Settings) -> Result<f64, Stop> {
        let n = p.order() as f64;
        let mu = at.gap() / n;
        self.system.factor(p, at)?;
        let infeasibility = norm(&self.system.r);
        let start_ratio = *self.start_ratio.get_or_insert(infeasibility / mu);
        let near = Neighbourhood { mu, infeasibility, start_ratio };

        self.system.solve(p, at, |_| 0.0, &mut self.predictor)?;
        let alpha_p = at.boundary(&self.predictor).min(1.0);
        let mu_p = at.gap_after(&self.predictor, alpha_p) / n;
        let s = (mu_p / mu).powi(3).clamp(settings.least_centering, 1.0);

        let step = &self.predictor;
        let right = |i: usize| s * mu - step.dw[i] * step.dz[i];
        self.system.solve(p, at, right, &mut self.corrector)?;
        let mut alpha = near.longest(at, &self.corrector, settings);
        let mut step = &self.corrector;

        if alpha < settings.short_step {
            // far from the path the second-order term misleads: a plain step towards its middle
            self.system.solve(p, at, |_| settings.recentering * mu, &mut self.plain)?;
            let plain = near.longest(at, &self.plain, settings);
            if plain > alpha {
                (alpha, step) = (plain, &self.plain);
            }
        }
        at.advance(step, alpha)?;
        Ok(alpha)
    }
}

/// The Newton system of `w = M z + q`, `w o z = target` away from feasibility.
#[derive(Debug)]
pub(super) struct Infeasible {
    newton: Newton,
    /// `r = M z + q - w`.
    r: Vec<f64>,
}

impl Infeasible {
    pub fn new(n: usize) -> Self {
        Self { newton: Newton::default(), r: vec![0.0; n] }
    }

    pub fn factor(&mut self, p: &Scaled, at: &Point) -> Result<(), Stop> {
        for (i, r) in self.r.iter_mut().enumerate() {
            *r = p.slack(i, &at.z) - at.w[i];
        }
        self.newton.factor(&p.m, at).map_err(|_| Stop::Singular)
    }

    /// `dw = M dz + r`, `Z dw + W dz = -w o z + right`.
    pub fn solve(
        &mut self,
        p: &Scaled,
        at: &Point,
        right: impl Fn(usize) -> f64,
        step: &mut Step,
    ) -> Result<(), Stop> {
        for (i, x) in step.dz.iter_mut().enumerate() {
            *x = right(i) / at.z[i] - at.w[i] - self.r[i];
        }
        self.newton.solve(&mut step.dz).map_err(|_| Stop::Singular)?;
        for (i, x) in step.dw.iter_mut().enumerate() {
            *x = dot(p.m.row(i), &step.dz) + self.r[i];
        }
        Ok(())
    }
}

/// `w_i z_i >= gamma mu` and `|r| / mu <= C |r_0| / mu_0` (Wright 1997, (6.1)): no product runs ahead of
/// the others, and infeasibility does not outlast the gap.
struct Neighbourhood {
    mu: f64,
    infeasibility: f64,
    start_ratio: f64,
}

impl Neighbourhood {
    /// The step to a fraction of the boundary, shortened until the next point lies in the neighbourhood.
    fn longest(&self, at: &Point, step: &Step, settings: &Settings) -> f64 {
        let n = at.z.len();
        let fraction = settings.eta.max(1.0 - self.mu);
        let mut alpha = (fraction * at.boundary(step)).min(1.0);
        for _ in 0..settings.max_backtracks {
            let mu = at.gap_after(step, alpha) / n as f64;
            let product = |i| (at.w[i] + alpha * step.dw[i]) * (at.z[i] + alpha * step.dz[i]);
            let central = (0..n).all(|i| product(i) >= settings.gamma * mu);
            let r = (1.0 - alpha) * self.infeasibility;
            let bound = settings.infeasibility * self.start_ratio * mu;
            if central && (r <= bound || r <= settings.rounding) {
                return alpha;
            }
            alpha *= settings.rho;
        }
        0.0
    }
}
