//! Choice of forces where they are not unique: the limit of solutions with equal compliance `eps` on every
//! rigid element, `eps -> 0`.
//!
//! In the regimes of a solution (`Regime`) the law is linear, and with compliance its forces are
//! `lambda(eps) = lambda0 + eps lambda1 + ...`. The limit `lambda0` follows from one factorisation at a fixed
//! small `eps`: the solution about the centre zero, then the solution about the centre it gave, and so on.
//! Each centre reduces the error by the factor `eps / (sigma + eps)`, with `sigma` the smallest nonzero
//! singular value, and none adds a component that a compliance would not, since they start at zero (iterated
//! Tikhonov regularisation; the steps `q <- eps w dlambda` below). Their changes are a geometric series, which
//! is summed in a few iterations (`krylov.rs`). The regimes of the result are compared
//! with those it was computed in; where they differ, or the direction of a slip has changed, the next round
//! begins there. This is Newton's method on the limit itself: from the forces of the last step one or two
//! rounds suffice.
//!
//! Where an element slips only as far as the compliance yields, its velocity vanishes with `eps` and its
//! friction stays at the limit. The direction of its friction is then extrapolated from the solutions with two
//! small `eps`, and rounds with this direction follow. Where rounds do not converge, solutions are computed at
//! three small `eps` and extrapolated. If Newton's method does not reach the first of them from the current
//! forces, the solution is followed from a large `eps`, where it is unique. Where many parts move, contacts change their states
//! at every scale of `eps`, since their gaps differ by as little as rounding; the forces returned are then a solution near the
//! extrapolated ones (`Choice::Near`). If the solution cannot be followed, there is
//! no limit on this branch. The path does not depend on the start and takes little more than a solution by other means:
//! on large islands that move it is taken at once, instead of them.

use super::run::{Ended, FIRST, MOST, Run};
use crate::solver::Choice;

/// The small compliance, as a share of the geometric mean of the least and the largest diagonal entry of `A`.
const SMALL: f64 = 1e-5;
/// Largest number of rounds, and the relative change at which centres have converged.
const ROUNDS: usize = 6;
const SETTLED: f64 = 1e-11;
/// Centres end where more than this share of the change before is left: constraints that contradict each other
/// by rounding or by the tolerance of earlier steps add the same forces with every centre.
const STAGNATES: f64 = 0.97;
/// Directions of slip that differ by less than this between two rounds count as equal, and so do forces
/// (relative).
const SAME: f64 = 1e-8;
/// Forces that differ by less than this (relative) from those extrapolated to no compliance count as the limit.
const ALIKE: f64 = 1e-6;
/// A slip vanishes with the compliance if its `tau` is at most this multiple of the compliance.
const VANISHES: f64 = 1e3;
/// Forces are unique if at most this share of arbitrary forces leaves the velocities unchanged.
const UNIQUE: f64 = 1e-3;
/// Factor of `eps` between solutions that are extrapolated.
const APART: f64 = 0.25;
/// Largest number of Newton steps to a solution with compliance where the forces are not yet a solution.
const FEW_STEPS: usize = 6;
/// Factor of `eps` along the path, the largest factor after failures before the path is abandoned, and the largest number
/// of linear systems. (The islands of 36 parts in a bin take 37 on average.)
const DOWN: f64 = 0.2;
const CAREFUL: f64 = 0.97;
const PATH_SYSTEMS: usize = 250;
/// Least factor of `eps` where contacts hardly change their states any more: below the second number, as a share of the mean
/// diagonal of `A`, and after a solution that took at most so many linear systems.
const FAST: (f64, f64, usize) = (0.04, 1e-2, 2);
/// Solutions before the end of the path are computed to this share of what compliance adds to the velocities (square), in
/// at most so many Newton steps: more are better spent at another `eps`.
const ON_THE_WAY: (f64, usize) = (0.1, 12);
/// A solution on the path is computed to this share of what compliance adds to the velocities (square).
const ACCURACY: f64 = 1e-15;
/// Forces grow without bound if they grow by this factor over the last two decades of the path.
const GROWTH: f64 = 30.0;

/// How rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounds {
    /// The forces are the limit.
    Made(Choice),
    /// Slip vanishes with the compliance.
    Vanishing,
    /// They did not converge.
    Open,
}

impl<const D: usize, const P: usize> Run<'_, D, P> {
    /// Chooses forces, starting from the current ones, which are a solution. On success the chosen forces
    /// replace them; otherwise they stay.
    pub fn choose(&mut self) -> Choice {
        self.begin_choice();
        let Some(eps) = self.small() else { return self.end_choice(Choice::Unique) };
        let choice = match self.rounds(eps, ROUNDS, false) {
            Rounds::Made(choice) => choice,
            _ => match self.reach(eps) {
                Ended::Solved => self.limit(eps),
                Ended::Stalled => self.branch(eps),
                Ended::Unbounded => Choice::Unbounded,
                Ended::Limit => Choice::NotExamined,
            },
        };
        self.end_choice(choice)
    }

    /// Solves and chooses along the path, which does not depend on the current forces; if it cannot be followed to the limit,
    /// restores these and returns `NotExamined`.
    pub fn choose_along_path(&mut self) -> Choice {
        self.begin_choice();
        let choice = match self.small() {
            Some(eps) if self.path(eps) == Ended::Solved => self.limit(eps),
            _ => Choice::NotExamined,
        };
        self.end_choice(if choice.is_made() { choice } else { Choice::NotExamined })
    }

    /// Result where the path cannot be followed: the limit near its end or, if there is none, a solution near
    /// it.
    fn branch(&mut self, eps: f64) -> Choice {
        self.memory.estimate.clone_from(&self.island.force);
        match self.rounds(eps, ROUNDS, true) {
            Rounds::Made(choice) => choice,
            _ => {
                self.polish(eps);
                Choice::NoLimit
            }
        }
    }

    /// Computes a solution near the estimate, by centres that begin with `eps`; if there is none, restores the forces before
    /// the choice and returns false.
    fn polish(&mut self, eps: f64) -> bool {
        self.island.weight.fill(1.0);
        self.island.force.clone_from(&self.memory.estimate);
        self.island.recentre();
        let mut left = f64::INFINITY;
        let found = self.good(&mut left) || self.follow(eps / self.mean, &mut left) == Ended::Solved;
        self.island.force.clone_from(if found { &self.memory.best } else { &self.memory.given });
        found
    }

    /// Solves and chooses by this number of rounds alone; if they do not suffice, restores the forces and
    /// returns `NotExamined`.
    pub fn choose_within(&mut self, (rounds, vanishing): (usize, bool)) -> Choice {
        self.begin_choice();
        let choice = self.small().and_then(|eps| match self.rounds(eps, rounds, false) {
            Rounds::Made(choice) => Some(choice),
            Rounds::Vanishing if vanishing => self.near(eps),
            Rounds::Vanishing | Rounds::Open => None,
        });
        self.end_choice(choice.unwrap_or(Choice::NotExamined))
    }

    /// The limit by way of the solution with compliance `eps`, if a few steps from the last round suffice.
    fn near(&mut self, eps: f64) -> Option<Choice> {
        self.memory.steps += 1;
        self.budget.spend(D * self.island.work());
        let found = self.island.begin_at(eps) && self.newton_within(FEW_STEPS, eps, ACCURACY);
        if found { self.close(eps) } else { None }
    }

    /// Rounds from the solution with compliance `eps`, with directions of vanishing slip extrapolated from it and
    /// another.
    fn close(&mut self, eps: f64) -> Option<Choice> {
        self.memory.estimate.clone_from(&self.island.force);
        self.island.recentre_at_zero();
        self.island.keep();
        self.predict(eps, APART * eps);
        if !self.newton_within(FEW_STEPS, APART * eps, ACCURACY) {
            return None;
        }
        for (estimate, force) in self.memory.estimate.iter_mut().zip(&self.island.force) {
            *estimate = (force - APART * *estimate) / (1.0 - APART);
        }
        self.island.keep_slips(&self.memory.estimate, APART * eps, VANISHES);
        self.island.force.clone_from(&self.memory.estimate);
        let made = self.rounds(APART * eps, ROUNDS, true);
        self.island.release_slips();
        if let Rounds::Made(choice) = made { Some(choice) } else { None }
    }

    fn begin_choice(&mut self) {
        self.memory.given.clone_from(&self.island.force);
        self.island.weight.copy_from_slice(self.weights);
    }

    fn end_choice(&mut self, choice: Choice) -> Choice {
        self.island.weight.fill(1.0);
        if !(choice.is_made() || choice == Choice::NoLimit) {
            self.island.force.clone_from(&self.memory.given);
        }
        choice
    }

    /// Value of the small compliance; `None` if no row is rigid.
    fn small(&self) -> Option<f64> {
        let rigid = self.weights.iter().filter(|w| **w > 0.0);
        let (least, most) = rigid.fold((f64::INFINITY, 0.0f64), |(a, b), w| (a.min(*w), b.max(*w)));
        (most > 0.0).then(|| SMALL / (least * most).sqrt())
    }

    /// Newton rounds on the limit, from any forces or from those with compliance `eps`, to forces within the
    /// target.
    fn rounds(&mut self, eps: f64, most: usize, at_eps: bool) -> Rounds {
        self.island.recentre();
        let mut residual = self.island.residual();
        let mut change = f64::INFINITY;
        for round in 0..=most {
            let (rotated, vanishes) =
                self.island.find_regimes((at_eps || round > 0).then_some(eps), VANISHES);
            let same = rotated <= SAME || rotated.is_finite() && change <= SAME;
            if vanishes && rotated.is_finite() {
                return Rounds::Vanishing;
            }
            if round > 0 && residual <= self.target && same {
                return Rounds::Made(self.leaves_open(eps));
            }
            if round == most || self.spent() {
                break;
            }
            self.memory.best.clone_from(&self.island.force);
            if !self.round(eps) {
                break;
            }
            change = distance(&self.memory.best, &self.island.force);
            self.island.recentre();
            residual = self.island.residual();
        }
        Rounds::Open
    }

    /// Computes the limit in the current regimes; false if there is none.
    fn round(&mut self, eps: f64) -> bool {
        self.memory.steps += 1;
        self.budget.spend(D * self.island.work());
        if !self.island.factor_in_regimes(eps) {
            return false;
        }
        self.island.move_in_regimes(eps);
        self.island.sum_centres(eps, (SETTLED, STAGNATES));
        if !self.island.force.iter().all(|f| f.is_finite()) {
            return false;
        }
        self.island.refine();
        self.island.refine();
        true
    }

    /// Whether other forces have the same velocities, by the current factors.
    fn leaves_open(&mut self, eps: f64) -> Choice {
        let mut seed = 0.5;
        let mut probe = || {
            seed = f64::fract(seed + 0.618_033_988_749_895);
            seed - 0.5
        };
        let (still, size) = self.island.null_part(eps, &mut probe);
        if still > UNIQUE * UNIQUE * size { Choice::Chosen } else { Choice::Unique }
    }

    /// Computes the solution with compliance `eps`, from the last round or along the path.
    fn reach(&mut self, eps: f64) -> Ended {
        self.memory.steps += 1;
        self.budget.spend(D * self.island.work());
        if self.island.begin_at(eps) && self.newton(eps, ACCURACY) {
            return Ended::Solved;
        }
        self.path(eps)
    }

    /// Follows the solutions about the centre zero with decreasing `eps`, down to `last`.
    fn path(&mut self, last: f64) -> Ended {
        let (mut eps, mut factor, mut found, first) = (FIRST * self.mean, DOWN, 0, self.memory.steps);
        self.island.force.fill(0.0);
        self.island.recentre_at_zero();
        self.island.keep();
        let (mut before, mut early) = (eps, 0.0);
        loop {
            let start = self.memory.steps;
            if found > 0 {
                self.predict(before, eps);
            }
            let solved = match eps > last {
                true => self.newton_within(ON_THE_WAY.1, eps, ON_THE_WAY.0),
                false => self.newton(eps, ACCURACY),
            };
            if solved {
                found += 1;
                let size = self.island.force.iter().map(|f| f * f).sum::<f64>().sqrt();
                if eps >= 1e2 * last {
                    early = size;
                }
                if eps <= last {
                    return if size > GROWTH * early { Ended::Unbounded } else { Ended::Solved };
                }
                let fast = eps < FAST.1 * self.mean && self.memory.steps - start <= FAST.2;
                factor = (factor * factor).max(if fast { FAST.0 } else { DOWN });
                // velocities are relative to this origin, so that digits are kept
                self.island.recentre_at_zero();
                self.island.keep();
                before = eps;
                eps = if eps * factor < last / DOWN.sqrt() { last } else { eps * factor };
            } else {
                self.island.restore();
                factor = factor.sqrt();
                eps = if found > 0 { before * factor } else { eps / DOWN };
            }
            if self.spent() || self.memory.steps - first > PATH_SYSTEMS {
                return Ended::Limit;
            }
            if factor > CAREFUL || eps > MOST * self.mean {
                self.island.restore();
                return Ended::Stalled;
            }
        }
    }

    /// Computes the limit from the solution with compliance `eps`.
    fn limit(&mut self, eps: f64) -> Choice {
        self.island.recentre_at_zero();
        self.island.keep();
        let choice = match self.rounds(eps, ROUNDS, true) {
            Rounds::Made(choice) => Some(choice),
            _ => {
                self.island.restore();
                self.memory.reached.clone_from(&self.island.force);
                self.close(eps)
            }
        };
        choice.unwrap_or_else(|| {
            self.island.force.clone_from(&self.memory.reached);
            self.island.recentre_at_zero();
            self.newton(eps, ACCURACY);
            self.extrapolate(eps)
        })
    }

    /// Extrapolates the limit from the solution with compliance `eps` and two more, and computes a solution
    /// near it.
    fn extrapolate(&mut self, eps: f64) -> Choice {
        let q = APART;
        for k in 0..3 {
            let own = eps * q.powi(k);
            if k > 0 {
                self.island.recentre_at_zero();
                self.island.keep();
                self.predict(own / q, own);
                if !self.newton(own, ACCURACY) {
                    self.island.restore();
                    self.memory.estimate.clone_from(&self.island.force);
                    return if self.polish(own) { Choice::Near } else { Choice::NoLimit };
                }
            }
            // Neville: terms in eps and eps^2 cancel
            let share = [q * q * q, -q * (1.0 + q), 1.0][k as usize] / ((1.0 - q) * (1.0 - q * q));
            self.memory.estimate.resize(self.island.force.len(), 0.0);
            for (sum, force) in self.memory.estimate.iter_mut().zip(&self.island.force) {
                *sum = share * force + if k == 0 { 0.0 } else { *sum };
            }
        }
        let last = eps * q * q;
        self.memory.steps += 1;
        let choice = match self.island.factor_in_regimes(last) {
            true => self.leaves_open(last),
            false => Choice::Chosen,
        };
        match self.polish(last) {
            true if distance(&self.memory.estimate, &self.island.force) <= ALIKE => choice,
            true => Choice::Near,
            false => Choice::NoLimit,
        }
    }
}

/// Relative difference `|a - b| / |b|`.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square = |x: f64| x * x;
    let change: f64 = a.iter().zip(b).map(|(a, b)| square(a - b)).sum();
    (change / b.iter().map(|b| square(*b)).sum::<f64>()).sqrt()
}
