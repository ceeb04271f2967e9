//! Interior-point methods for LCP(M, q): find `z >= 0` with `w = M z + q >= 0` and `z' w = 0`.
//!
//! # Sources
//! [`Variant::Feasible`]: trinkle1995, appendix, Steps 0 to 3 with (38), (39), after Kojima, Megiddo, Noma,
//! Yoshise 1991. By Theorem 4 it converges if `M` is a P0-matrix, a strictly feasible point exists and the
//! level sets are bounded; by Theorem 3 this holds for the slack LCP (32)-(35) of contacts with independent
//! rows and small positive friction. [`Variant::PredictorCorrector`]: Mehrotra 1992 and Wright 1997, for
//! monotone problems. Elsewhere both are heuristics: what they find is checked, what they miss proves nothing.
//!
//! # Deviations
//! - The right-hand side of (38) has the opposite sign: as printed, the step increases `w' z`.
//! - The problem is scaled first (`z = size D z~`); `epsilon` is compared with the scaled gap.
//! - Reaching `epsilon` is not the end: the complementary basis is identified and solved from the original
//!   data (`finish`), and steps go on until that succeeds or rounding stops them. A basis that proves right
//!   before `epsilon` ends the iteration early.
//! - The centering parameter is constant.
//! - `q >= 0` is answered by `z = 0` without a step.
//!
//! # Symbols
//! `xi`, `mu`: mean of `w_i z_i`; `beta`: centering; `psi`, `zeta`: potential; `lambda`, `alpha`: step;
//! `rho`, `sigma`, `eta`: line search; `r`: infeasibility `M z + q - w`; `D`, `size`: scaling.

mod face;
mod feasible;
mod finish;
mod predictor_corrector;
mod settings;
mod start;
mod system;

pub use settings::{Settings, Variant};

use crate::problem::Lcp;
use crate::report::{Certificate, Progress, Report, Status};
use crate::residual::{self, Residual};
use crate::solver::{Budget, End};
use feasible::Feasible;
use finish::{Answer, Finish};
use predictor_corrector::PredictorCorrector;
use system::{Point, Scaled};

const NAME: &str = "interior-point";

/// Why an iteration ended without a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Overflow,
    NoInterior,
    Step,
    Singular,
    Diverging,
    Limit,
    /// No more work may be done.
    Ended(End),
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
            Self::Ended(End::Interrupted) => "interrupted",
            Self::Ended(_) => "the budget was used up",
        }
    }

    fn end(self) -> End {
        match self {
            Self::Limit => End::Limit,
            Self::Overflow => End::Invalid,
            Self::Ended(end) => end,
            _ => End::Stalled,
        }
    }
}

/// Solves an LCP within a budget; `watch` hears of every Newton step.
///
/// `Solved` carries a basis, or the residual alone where the solution found is not that of a nonsingular one.
/// `Stalled` carries the reason and the best iterate with its residual.
pub fn solve(lcp: &Lcp, settings: &Settings, budget: &mut Budget, watch: &mut dyn FnMut(Progress)) -> Report {
    if let Err(invalid) = settings.validate() {
        return stalled(None, 0, End::Invalid, invalid.to_string());
    }
    if lcp.vector().iter().all(|&q| q >= 0.0) {
        let z = vec![0.0; lcp.size()];
        let residual = residual::lcp(lcp, &z);
        return solved(Answer { z, residual, active: Some(vec![]) }, 0);
    }
    let Some(p) = Scaled::new(lcp) else {
        return stalled(None, 0, End::Invalid, Stop::Overflow.reason().to_owned());
    };
    let counter = Counter { order: lcp.size(), iterations: 0, budget, watch };
    let mut search = Search { lcp, p: &p, settings, counter, best: None };
    let outcome = match settings.variant {
        Variant::Feasible => search.feasible(),
        Variant::PredictorCorrector => search.predictor_corrector(),
    };
    match outcome {
        Ok(answer) => solved(answer, search.counter.iterations),
        Err(stop) => stalled(search.best, search.counter.iterations, stop.end(), stop.reason().to_owned()),
    }
}

/// Counts Newton steps, and ends the solve when no more work may be done.
struct Counter<'a> {
    order: usize,
    iterations: usize,
    budget: &'a mut Budget,
    watch: &'a mut dyn FnMut(Progress),
}

impl Counter<'_> {
    /// Counts a Newton step.
    fn step(&mut self) -> Result<(), Stop> {
        self.factorisation()?;
        self.iterations += 1;
        (self.watch)(Progress { solver: NAME, iterations: self.iterations, share: None });
        Ok(())
    }

    /// Counts the work of a factorisation.
    fn factorisation(&mut self) -> Result<(), Stop> {
        if let Some(end) = self.budget.ended() {
            return Err(Stop::Ended(end));
        }
        self.budget.spend_factorisation(self.order);
        Ok(())
    }
}

/// One solve at work.
struct Search<'a> {
    lcp: &'a Lcp,
    p: &'a Scaled,
    settings: &'a Settings,
    counter: Counter<'a>,
    /// The iterate with the least residual, of those evaluated.
    best: Option<Answer>,
}

impl Search<'_> {
    fn feasible(&mut self) -> Result<Answer, Stop> {
        let (lcp, p, settings) = (self.lcp, self.p, self.settings);
        let at = start::strictly_feasible(lcp, p, settings, &mut self.counter)?;
        let mut method = Feasible::new(p.order());
        self.run(at, |at| method.advance(p, at, settings))
    }

    fn predictor_corrector(&mut self) -> Result<Answer, Stop> {
        let (p, settings) = (self.p, self.settings);
        let mut outcome = Err(Stop::Limit);
        let mut size = 1.0;
        for _ in 0..settings.max_starts {
            let mut method = PredictorCorrector::new(p.order());
            outcome = self.run(start::positive(p, size), |at| method.advance(p, at, settings));
            if matches!(outcome, Ok(_) | Err(Stop::Limit | Stop::Ended(_))) {
                break;
            }
            size *= settings.start_growth;
        }
        outcome
    }

    /// Steps from `at` until a basis or the iterate itself is within tolerance.
    fn run(
        &mut self,
        mut at: Point,
        mut advance: impl FnMut(&mut Point) -> Result<f64, Stop>,
    ) -> Result<Answer, Stop> {
        let (lcp, p, settings) = (self.lcp, self.p, self.settings);
        let mut finish = Finish::default();
        let mut before = at.clone();
        let mut further = settings.max_further_steps;
        loop {
            before.copy_from(&at);
            let stop = self.step(&mut at, &mut advance).err();
            if stop.is_some() {
                at.copy_from(&before);
            }
            if stop.is_none() && at.gap() > settings.epsilon {
                match finish.early(lcp, p, &at, settings) {
                    Some(answer) if self.within(&answer) => return Ok(answer),
                    _ => continue,
                }
            }
            let least = self.note(&at);
            let found = finish.thorough(lcp, p, &at, settings, &mut self.counter);
            if let Some(answer) = found.filter(|a| self.within(a) && a.residual.absolute <= least) {
                return Ok(answer);
            }
            match (self.best.take(), stop) {
                (Some(best), _) if self.within(&best) && (stop.is_some() || further == 0) => return Ok(best),
                (best, Some(stop)) => {
                    self.best = best;
                    return Err(stop);
                }
                (best, None) => {
                    further -= usize::from(best.as_ref().is_some_and(|b| self.within(b)));
                    self.best = best;
                }
            }
        }
    }

    /// One step, if there is one.
    fn step(
        &mut self,
        at: &mut Point,
        advance: &mut impl FnMut(&mut Point) -> Result<f64, Stop>,
    ) -> Result<(), Stop> {
        if self.counter.iterations >= self.settings.max_iterations {
            return Err(Stop::Limit);
        }
        self.counter.step()?;
        let length = advance(at)?;
        if length <= self.settings.least_step {
            return Err(Stop::Step);
        }
        let diverges = at.z.iter().chain(&at.w).any(|&x| x > self.settings.divergence);
        if diverges { Err(Stop::Diverging) } else { Ok(()) }
    }

    fn within(&self, answer: &Answer) -> bool {
        answer.residual.relative <= self.settings.tolerance
    }

    /// Evaluates an iterate and returns the least residual so far.
    fn note(&mut self, at: &Point) -> f64 {
        let z = self.p.original(&at.z);
        let residual = residual::lcp(self.lcp, &z);
        let finite = z.iter().all(|z| z.is_finite());
        let least = self.best.as_ref().map_or(f64::INFINITY, |b| b.residual.absolute);
        if finite && residual.absolute < least {
            self.best = Some(Answer { z, residual, active: None });
        }
        least.min(residual.absolute)
    }
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

fn stalled(best: Option<Answer>, iterations: usize, end: End, reason: String) -> Report {
    let (solution, residual) = best.map_or((vec![], Residual::NONE), |answer| (answer.z, answer.residual));
    Report {
        status: Status::Stalled,
        solver: NAME,
        iterations,
        residual,
        solution,
        certificate: Certificate::Stopped { end, reason },
    }
}
