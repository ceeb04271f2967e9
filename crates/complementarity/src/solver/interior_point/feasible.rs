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

#[cfg(test)]
mod tests {
    use super::super::{Counter, start};
    use super::*;
    use crate::matrix::Matrix;
    use crate::problem::Lcp;
    use crate::solver::Budget;

    /// `psi` as the paper prints it, apart from [`potential_change`].
    fn psi(at: &Point, zeta: f64) -> f64 {
        let n = at.z.len() as f64;
        let gap: f64 = at.z.iter().zip(&at.w).map(|(z, w)| z * w).sum();
        (n + zeta) * gap.ln() - at.z.iter().zip(&at.w).map(|(z, w)| (z * w).ln()).sum::<f64>()
    }

    /// Positive definite (diagonally dominant symmetric part) with a skew part.
    fn p_matrix(n: usize) -> Matrix {
        let a = |i: usize, j: usize| ((i * 31 + j * 17) % 13) as f64 / 13.0 - 0.5;
        Matrix::from_fn(
            n,
            n,
            |i, j| if i == j { 0.6 * n as f64 } else { a(i, j) + 3.0 * (a(i, j) - a(j, i)) },
        )
    }

    #[test]
    fn iterates_stay_strictly_feasible_while_psi_and_the_gap_fall_as_theorem_4_says() {
        let settings = Settings::default();
        for n in [1, 2, 7, 40, 80] {
            let q: Vec<f64> = (0..n).map(|i| ((i * 7) % 5) as f64 - 2.5).collect();
            let lcp = Lcp::new(p_matrix(n), q).unwrap();
            let p = Scaled::new(&lcp).unwrap();
            let counter =
                &mut Counter { order: n, iterations: 0, budget: &mut Budget::default(), watch: &mut |_| () };
            let mut at = start::strictly_feasible(&lcp, &p, &settings, counter).unwrap();
            let mut method = Feasible::new(n);
            let zeta = settings.zeta * n as f64;
            let first = at.gap();
            for _ in 0..200 {
                let before = at.clone();
                method.advance(&p, &mut at, &settings).unwrap();
                assert!(psi(&at, zeta) < psi(&before, zeta), "n = {n}, gap {}", at.gap());
                for i in 0..n {
                    assert!(at.z[i] > 0.0 && at.w[i] > 0.0);
                    assert!((p.slack(i, &at.z) - at.w[i]).abs() < 1e-12, "w = M z + q");
                }
                if at.gap() <= 1e-9 {
                    break;
                }
            }
            assert!(at.gap() <= 1e-9, "n = {n}: from {first} to {}", at.gap());
        }
    }

    #[test]
    fn the_step_of_38_with_the_printed_sign_would_increase_the_gap() {
        let lcp = Lcp::new(Matrix::identity(1), vec![-1.0]).unwrap();
        let p = Scaled::new(&lcp).unwrap();
        let settings = Settings::default();
        let mut at = Point { z: vec![3.0], w: vec![2.0] };
        // M dz = dw and z dw + w dz = w z - beta w z, for M = 1
        let dz = 6.0 * (1.0 - settings.beta) / 5.0;
        let printed = Step { dz: vec![dz], dw: vec![dz] };
        assert!(at.gap_after(&printed, 0.1) > at.gap());
        let before = at.gap();
        Feasible::new(1).advance(&p, &mut at, &settings).unwrap();
        assert!(at.gap() < before);
    }
}
