//! The feasible method: trinkle1995 appendix, Steps 1 to 3. Starts are made in `start`.

use super::system::{Newton, Point, Scaled, Step};
use super::{Settings, Stop};
use crate::matrix::dot;

/// What is kept from step to step.
#[derive(Debug)]
pub(super) struct Feasible {
    newton: Newton,
    step: Step,
}

impl Feasible {
    pub fn new(n: usize) -> Self {
        Self { newton: Newton::default(), step: Step::zeros(n) }
    }

    /// One step from a strictly feasible point to the next; returns the step size.
    pub fn advance(&mut self, p: &Scaled, at: &mut Point, settings: &Settings) -> Result<f64, Stop> {
        let n = p.order();
        let xi = at.gap() / n as f64;
        let beta = settings.beta;
        let zeta = settings.zeta * n as f64;

        // Step 1, (38) with the sign corrected and dw = M dz eliminated
        self.newton.factor(&p.m, at).map_err(|_| Stop::Singular)?;
        for i in 0..n {
            self.step.dz[i] = beta * xi / at.z[i] - at.w[i];
        }
        self.newton.solve(&mut self.step.dz).map_err(|_| Stop::Singular)?;
        for i in 0..n {
            self.step.dw[i] = dot(p.m.row(i), &self.step.dz);
        }

        // Step 2, (39)
        let mut lambda = settings.eta * at.boundary(&self.step).min(1.0);
        let wanted = settings.sigma * (1.0 - beta) * zeta;
        let mut trials = 0;
        while potential_change(at, &self.step, lambda, zeta) > -wanted * lambda {
            lambda *= settings.rho;
            trials += 1;
            if trials > settings.max_backtracks {
                return Err(Stop::Step);
            }
        }

        // Step 3
        at.advance(&self.step, lambda)?;
        Ok(lambda)
    }
}

/// `psi(w + lambda dw, z + lambda dz) - psi(w, z)` with
/// `psi = (n + zeta) log w'z - sum log w_i z_i`, from ratios, free of cancellation.
fn potential_change(at: &Point, step: &Step, lambda: f64, zeta: f64) -> f64 {
    let n = at.z.len();
    let ratio = at.gap_after(step, lambda) / at.gap();
    let barrier: f64 = (0..n)
        .map(|i| (1.0 + lambda * step.dw[i] / at.w[i]) * (1.0 + lambda * step.dz[i] / at.z[i]))
        .map(f64::ln)
        .sum();
    let change = (n as f64 + zeta) * ratio.ln() - barrier;
    if change.is_nan() { f64::INFINITY } else { change }
}
