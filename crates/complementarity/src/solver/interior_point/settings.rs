//! Settings of both variants.

use crate::problem::InvalidProblem;

/// Which of the two methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// Potential reduction from a strictly feasible start, trinkle1995 appendix.
    Feasible,
    /// Mehrotra's predictor-corrector from any positive start: fewer steps, and no interior is needed.
    #[default]
    PredictorCorrector,
}

/// Settings of [`super::solve`]. Defaults without a source were set on random P, monotone and friction
/// problems of order 5 to 200.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which method.
    pub variant: Variant,
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Newton steps after which the method stops (trinkle1995 section 6: 300).
    pub max_iterations: usize,
    /// `epsilon`: gap `w' z` of the scaled problem below which the end is tried (trinkle1995 section 6: 1e-6).
    pub epsilon: f64,
    /// Mean gap below which a basis that two points in a row agree on is tried.
    pub early_gap: f64,
    /// Further steps in search of a basis once the iterate itself is within tolerance.
    pub max_further_steps: usize,

    /// `eta`: share of the way to the boundary that a step may take (trinkle1995 Step 2).
    pub eta: f64,
    /// `rho`: factor by which a refused step is shortened (trinkle1995 Step 2).
    pub rho: f64,
    /// Refusals after which a step counts as zero.
    pub max_backtracks: usize,
    /// A step below this counts as zero.
    pub least_step: f64,
    /// A scaled `z` or `w` beyond this counts as divergence.
    pub divergence: f64,

    /// Feasible. `sigma`: share of the promised decrease of `psi` that is asked for, (39).
    pub sigma: f64,
    /// Feasible. `zeta / n`: weight of the gap in `psi` (any positive; 1 to 10 cost the same number of steps).
    pub zeta: f64,
    /// Feasible. `beta`: centering parameter, the same at every step (trinkle1995 Step 3 asks that it never
    /// grow; 0.1 to 0.5, shrinking or not, cost the same number of steps within 5 %).
    pub beta: f64,
    /// Feasible. Newton steps spent on a strictly feasible start before the linear program.
    pub max_start_steps: usize,

    /// Predictor-corrector. Starts: `z = w = e`, then larger by `start_growth` each.
    pub max_starts: usize,
    /// See `max_starts`.
    pub start_growth: f64,
    /// Predictor-corrector. Least weight of the centre in the corrector.
    pub least_centering: f64,
    /// Predictor-corrector. `gamma`: least `w_i z_i / mu` (Wright 1997, chapter 6: 1e-3).
    pub gamma: f64,
    /// Predictor-corrector. `C`: bound on `|r| / mu` over its first value (Wright 1997, (6.1)).
    pub infeasibility: f64,
    /// Predictor-corrector. A corrector step below this is compared with a plain centering step.
    pub short_step: f64,
    /// Predictor-corrector. Weight of the centre in that step.
    pub recentering: f64,

    /// What counts as zero at the end, relative to the largest scaled entry.
    pub rounding: f64,
    /// Pivots below this, relative to the first, count as zero where `M_aa` is singular.
    pub rank_tolerance: f64,
    /// Rounds of exchanges of pairs with wrong signs.
    pub max_exchanges: usize,
    /// A pair is doubtful while its larger entry is below this times the smaller.
    pub doubtful_ratio: f64,
    /// Doubtful pairs tried on the other side.
    pub max_doubtful: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            tolerance: 1e-8,
            max_iterations: 300,
            epsilon: 1e-6,
            early_gap: 0.1,
            max_further_steps: 12,
            eta: 0.99,
            rho: 0.7,
            max_backtracks: 60,
            least_step: 1e-10,
            divergence: 1e14,
            sigma: 0.1,
            zeta: 1.0,
            beta: 0.2,
            max_start_steps: 15,
            max_starts: 3,
            start_growth: 10.0,
            least_centering: 1e-6,
            gamma: 1e-3,
            infeasibility: 1e3,
            short_step: 0.1,
            recentering: 0.5,
            rounding: 1e-12,
            rank_tolerance: 1e-10,
            max_exchanges: 6,
            doubtful_ratio: 1e3,
            max_doubtful: 8,
        }
    }
}

impl Settings {
    /// Names the first value outside its range.
    pub fn validate(&self) -> Result<(), InvalidProblem> {
        let open = [
            ("eta", self.eta),
            ("rho", self.rho),
            ("sigma", self.sigma),
            ("gamma", self.gamma),
            ("recentering", self.recentering),
        ];
        for (part, value) in open {
            check(part, value, value > 0.0 && value < 1.0, "a number between 0 and 1")?;
        }
        let centering = [("beta", self.beta), ("least centering", self.least_centering)];
        for (part, value) in centering {
            check(part, value, (0.0..1.0).contains(&value), "a number from 0 to below 1")?;
        }
        let positive = [
            ("tolerance", self.tolerance),
            ("epsilon", self.epsilon),
            ("zeta", self.zeta),
            ("start growth", self.start_growth),
            ("infeasibility", self.infeasibility),
            ("divergence", self.divergence),
            ("doubtful ratio", self.doubtful_ratio),
        ];
        for (part, value) in positive {
            check(part, value, value > 0.0, "a positive number")?;
        }
        let nonnegative = [
            ("early gap", self.early_gap),
            ("least step", self.least_step),
            ("short step", self.short_step),
            ("rounding", self.rounding),
            ("rank tolerance", self.rank_tolerance),
        ];
        for (part, value) in nonnegative {
            check(part, value, value >= 0.0, "a number >= 0")?;
        }
        Ok(())
    }
}

fn check(part: &'static str, value: f64, good: bool, expected: &'static str) -> Result<(), InvalidProblem> {
    if good { Ok(()) } else { Err(InvalidProblem::Setting { part, value, expected }) }
}
