//! Interior-point methods for LCP(M, q): find `z >= 0` with `w = M z + q >= 0` and `z' w = 0`.
//!
//! # Sources
//! [`Variant::Feasible`]: trinkle1995, appendix (after Kojima, Megiddo, Noma, Yoshise 1991), Steps 0 to 3 with
//! (38), (39) and Theorem 4: converges if `M` is a P0-matrix, a strictly feasible point exists and the level
//! sets are bounded; by Theorem 3 so for the slack LCP (32)-(35) of contacts with independent rows and
//! small positive friction. [`Variant::PredictorCorrector`]: Mehrotra 1992; Wright 1997.
//!
//! # Deviations
//! - The right-hand side of (38) has the opposite sign: as printed, the step increases `w' z`.
//! - The problem is scaled first (`z = size D z~`); `epsilon` is compared with the scaled gap.
//! - Reaching `epsilon` is not the end: the complementary basis is identified and solved from the original
//!   data ([`finish`]); an earlier basis that proves right ends the iteration early. Where neither works, steps
//!   go on until the residual is within tolerance.
//! - `q >= 0` is answered by `z = 0` without a step.
//!
//! # Symbols
//! `z`, `w`; `xi` or `mu`: mean of `w_i z_i`; `beta`: centering; `zeta`, `psi`: potential; `lambda`, `alpha`:
//! step; `rho`, `sigma`, `eta`: line search; `epsilon`: gap.

mod face;
mod feasible;
mod finish;
mod predictor_corrector;
mod start;
mod system;

use crate::problem::Lcp;
use crate::report::{Certificate, Progress, Report, Status};
use crate::residual::{self, Residual};
use feasible::Feasible;
use finish::{Answer, Finish};
use predictor_corrector::PredictorCorrector;
use system::{Point, Scaled};

const NAME: &str = "interior-point";

/// Which of the two methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// Potential reduction from a strictly feasible start, trinkle1995 appendix.
    Feasible,
    /// Mehrotra's predictor-corrector from any positive start: fewer steps, no start to build.
    #[default]
    PredictorCorrector,
}

/// Settings of [`solve`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which method.
    pub variant: Variant,
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Steps after which the method stops (trinkle1995 section 6: 300).
    pub max_iterations: usize,
    /// `epsilon`: gap `w' z`, of the scaled problem, below which the end is tried (trinkle1995 section 6: 1e-6).
    pub epsilon: f64,
    /// Further steps in search of a basis once the iterate itself is within tolerance.
    pub max_further_steps: usize,
    /// Mean gap below which a basis that two points agree on is tried.
    pub early_gap: f64,
    /// `eta`: share of the way to the boundary that a step may take (trinkle1995 Step 2).
    pub eta: f64,
    /// `rho`: factor by which a refused step is shortened (trinkle1995 Step 2).
    pub rho: f64,
    /// Refusals after which a step counts as zero.
    pub max_backtracks: usize,
    /// `sigma`: share of the promised decrease of `psi` that is asked for, (39). Feasible.
    pub sigma: f64,
    /// `zeta / n`: weight of the gap in `psi` (Kojima et al.: any positive; large values permit long steps). Feasible.
    pub zeta: f64,
    /// `beta_0`: first centering parameter (trinkle1995 Step 0). Feasible.
    pub centering: f64,
    /// `beta_{k+1} / beta_k` after a step of at least `long_step` (trinkle1995 Step 3 asks for at most 1). Feasible.
    pub centering_decay: f64,
    /// Least `beta_k`. Feasible.
    pub centering_least: f64,
    /// See `centering_decay`. Feasible.
    pub long_step: f64,
    /// Newton steps spent on a strictly feasible start before the linear program. Feasible.
    pub max_start_steps: usize,
    /// Least weight of the centre in the corrector. Predictor-corrector.
    pub sigma_least: f64,
    /// `gamma`: least `w_i z_i / mu` (Wright 1997: 1e-3). Predictor-corrector.
    pub gamma: f64,
    /// `C`: bound on `|r| / mu` over its first value (Wright 1997, (6.1)). Predictor-corrector.
    pub infeasibility: f64,
    /// A corrector step below this is compared with a plain centering step. Predictor-corrector.
    pub short_step: f64,
    /// Weight of the centre in that step. Predictor-corrector.
    pub recentering: f64,
    /// A step below this counts as zero.
    pub least_step: f64,
    /// Largest scaled `z` or `w` beyond which the iteration counts as diverging.
    pub divergence: f64,
    /// What counts as zero, relative to the largest scaled entry.
    pub rounding: f64,
    /// Pivots below this, relative to the first, count as zero when `M_aa` is singular.
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
            max_further_steps: 12,
            early_gap: 1e-2,
            eta: 0.99,
            rho: 0.7,
            max_backtracks: 60,
            sigma: 0.1,
            zeta: 1.0,
            centering: 0.2,
            centering_decay: 0.5,
            centering_least: 0.01,
            long_step: 0.8,
            max_start_steps: 15,
            sigma_least: 1e-6,
            gamma: 1e-3,
            infeasibility: 1e3,
            short_step: 0.1,
            recentering: 0.5,
            least_step: 1e-10,
            divergence: 1e14,
            rounding: 1e-12,
            rank_tolerance: 1e-10,
            max_exchanges: 6,
            doubtful_ratio: 1e3,
            max_doubtful: 8,
        }
    }
}

/// Why the iteration ended without a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Scaled numbers overflow.
    Overflow,
    /// The linear program found no strictly feasible point.
    NoInterior,
    /// The step went to zero.
    Step,
    /// The Newton system has no solution.
    Singular,
    /// The iterates run away.
    Diverging,
    /// `max_iterations`.
    Limit,
}

impl Stop {
    fn reason(self) -> &'static str {
        match self {
            Self::Overflow => "the problem's numbers overflow when scaled",
            Self::NoInterior => "no strictly feasible point: the interior is empty, or too thin to find",
            Self::Step => "the step went to zero",
            Self::Singular => "the Newton system is singular",
            Self::Diverging => "the iterates diverge",
            Self::Limit => "the limit on iterations was reached",
        }
    }
}

/// Solves an LCP; `watch` hears of every step.
pub fn solve(lcp: &Lcp, settings: &Settings, watch: &mut dyn FnMut(Progress)) -> Report {
    if lcp.vector().iter().all(|&q| q >= 0.0) {
        let z = vec![0.0; lcp.size()];
        let residual = residual::lcp(lcp, &z);
        return solved(Answer { z, residual, active: Some(vec![]) }, 0);
    }
    let Some(p) = Scaled::new(lcp) else {
        return stalled(None, 0, Stop::Overflow);
    };
    let mut iterations = 0;
    let mut count = || {
        iterations += 1;
        watch(Progress { solver: NAME, iterations, share: None });
    };
    let outcome = match settings.variant {
        Variant::Feasible => start::strictly_feasible(lcp, &p, settings).map_err(|stop| (None, stop)).and_then(|at| {
            let mut method = Feasible::new(p.order(), settings);
            iterate(lcp, &p, at, settings, |at| {
                count();
                method.advance(&p, at, settings)
            })
        }),
        Variant::PredictorCorrector => {
            let mut method = PredictorCorrector::new(p.order());
            iterate(lcp, &p, start::positive(&p), settings, |at| {
                count();
                method.advance(&p, at, settings)
            })
        }
    };
    match outcome {
        Ok(answer) => solved(answer, iterations),
        Err((best, stop)) => stalled(best, iterations, stop),
    }
}

/// Steps until a basis or the iterate itself is within tolerance.
fn iterate(
    lcp: &Lcp,
    p: &Scaled,
    mut at: Point,
    settings: &Settings,
    mut advance: impl FnMut(&mut Point) -> Result<f64, Stop>,
) -> Result<Answer, (Option<Answer>, Stop)> {
    let mut finish = Finish::default();
    let mut before = at.clone();
    let mut best: Option<Answer> = None;
    let mut patience = settings.max_further_steps;
    for _ in 0..settings.max_iterations {
        let stop = match advance(&mut at) {
            Ok(step) if step <= settings.least_step => Some(Stop::Step),
            Ok(_) if at.z.iter().chain(&at.w).any(|&x| x > settings.divergence) => Some(Stop::Diverging),
            Ok(_) => None,
            Err(stop) => {
                at.clone_from(&before);
                Some(stop)
            }
        };
        before.clone_from(&at);
        let gap = at.gap();
        if gap > settings.epsilon && stop.is_none() {
            let near = gap <= settings.early_gap * p.order() as f64;
            match near.then(|| finish.early(lcp, p, &at, settings)).flatten() {
                Some(answer) if within(&answer, settings) => return Ok(answer),
                _ => continue,
            }
        }
        let iterate = judge(lcp, p, &at);
        if let Some(answer) = finish.thorough(lcp, p, &at, settings) {
            let better = answer.residual.absolute <= iterate.residual.absolute;
            if better && within(&answer, settings) {
                return Ok(answer);
            }
        }
        if best.as_ref().is_none_or(|b| iterate.residual.absolute < b.residual.absolute) {
            best = Some(iterate);
        }
        match best.take() {
            Some(answer) if within(&answer, settings) && (stop.is_some() || patience == 0) => return Ok(answer),
            answer if stop.is_some() => return Err((answer, stop.unwrap_or(Stop::Limit))),
            answer => best = answer,
        }
        if best.as_ref().is_some_and(|b| within(b, settings)) {
            patience -= 1;
        }
    }
    match best {
        Some(answer) if within(&answer, settings) => Ok(answer),
        best => Err((best.or_else(|| Some(judge(lcp, p, &at))), Stop::Limit)),
    }
}

fn within(answer: &Answer, settings: &Settings) -> bool {
    answer.residual.relative <= settings.tolerance
}

fn judge(lcp: &Lcp, p: &Scaled, at: &Point) -> Answer {
    let z = p.original(&at.z);
    let residual = residual::lcp(lcp, &z);
    Answer { z, residual, active: None }
}

fn solved(answer: Answer, iterations: usize) -> Report {
    let certificate = match answer.active {
        Some(active) => Certificate::Basis { active },
        None => Certificate::Residual,
    };
    Report {
        status: Status::Solved,
        solver: NAME,
        iterations,
        residual: answer.residual,
        solution: answer.z,
        certificate,
    }
}

fn stalled(best: Option<Answer>, iterations: usize, stop: Stop) -> Report {
    let best = best.filter(|answer| answer.z.iter().all(|z| z.is_finite()));
    let (solution, residual) = best.map_or((vec![], Residual::NONE), |answer| (answer.z, answer.residual));
    Report {
        status: Status::Stalled,
        solver: NAME,
        iterations,
        residual,
        solution,
        certificate: Certificate::Stopped { reason: stop.reason().to_owned() },
    }
}
