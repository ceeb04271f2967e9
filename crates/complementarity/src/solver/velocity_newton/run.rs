//! The loops around Newton's method on one island: proximal centres, and the choice of forces.

use super::island::Island;
use super::{Memory, Settings};

/// `eps` where there is no warm start, as a share of the mean diagonal of `A`; it is also the largest at first.
const FIRST: f64 = 1.0;
/// `eps` after a warm start: this many times its relative residual, and at least the second number. (A start may be nearly
/// right in velocities and far off in forces: large shares, which leave the forces near the start, need the fewest steps.)
const WARM: (f64, f64) = (1e3, 1e-2);
/// Least and largest `eps`.
const LEAST: f64 = 1e-10;
const MOST: f64 = 1e3;
/// Factor of `eps` after a centre that took at most `EASY` steps, and after failures (in turn, for with one alone centres
/// and weights can come back to themselves); the largest factor after a centre once one has failed.
const DOWN: f64 = 0.2;
const EASY: usize = 6;
const UP: [f64; 4] = [4.0, 2.0, 3.0, 1.5];
const CAREFUL: f64 = 0.6;
/// Newton steps per centre, least length of a step, and the fall of `|G|^2` that a full step must reach.
const STEPS: usize = 20;
const LEAST_LENGTH: f64 = 1e-3;
const FALL: f64 = 1e-4;
/// A centre is solved to this share of what the proximal term adds to the velocities, or of the target (squares).
const ACCURACY: f64 = 1e-2;
/// Forces grow without bound if the residual (square) at the least `eps` is this share of that at the second number.
const GROWTH: (f64, f64) = (0.25, 1e-6);
/// The choice of forces: `eps` at first, its factor, its least, and the change of the estimate (relative) that ends it.
const CHOICE_FIRST: f64 = 1e-2;
const CHOICE_DOWN: f64 = 0.1;
const CHOICE_LEAST: f64 = 1e-7;
const CHOICE_CHANGE: f64 = 1e-8;
/// As [`ACCURACY`], for the choice of forces.
const CHOICE_ACCURACY: f64 = 1e-12;

/// How an island ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Solved,
    /// Forces grow as `1 / eps`: there is no solution nearby.
    Unbounded,
    /// The budget is used up.
    Limit,
    Stalled,
}

/// A solve of one island.
#[derive(Debug)]
pub(super) struct Run<'a, const D: usize, const P: usize> {
    pub island: &'a mut Island<D, P>,
    pub settings: &'a Settings,
    /// Sum of squares of the natural map that is good enough.
    pub target: f64,
    pub memory: &'a mut Memory,
    /// Mean diagonal of `A`.
    pub mean: f64,
}

impl<const D: usize, const P: usize> Run<'_, D, P> {
    /// Solves from the forces as they are. What it leaves is not worse than what it was given.
    pub fn solve(&mut self) -> Ended {
        self.mean = self.island.mean_diagonal();
        self.island.recentre();
        let given = self.island.residual();
        self.memory.best.clone_from(&self.island.force);
        let mut left = given;
        let mut ended = if given <= self.target { Ended::Solved } else { Ended::Stalled };
        if ended != Ended::Solved && self.island.force.iter().any(|f| *f != 0.0) {
            let relative = (given / self.island.size()).sqrt();
            ended = self.follow((WARM.0 * relative).clamp(WARM.1, FIRST), &mut left);
        }
        if ended == Ended::Stalled || ended == Ended::Unbounded {
            self.island.force.fill(0.0);
            self.island.recentre();
            ended = self.follow(FIRST, &mut left);
        }
        if ended == Ended::Solved && self.settings.choose_forces {
            self.choose();
        }
        self.island.force.clone_from(&self.memory.best);
        ended
    }

    fn spent(&self) -> bool {
        self.memory.steps >= self.settings.max_steps || self.memory.work >= self.settings.budget
    }

    /// Keeps the best forces; true if they are good enough.
    fn good(&mut self, left: &mut f64) -> bool {
        let residual = self.island.residual();
        if residual < *left {
            *left = residual;
            self.memory.best.clone_from(&self.island.force);
        }
        residual <= self.target
    }

    /// Proximal centres from the one that is set, `eps` being `first` times the mean diagonal at first.
    fn follow(&mut self, first: f64, left: &mut f64) -> Ended {
        let (mut eps, mut factor, mut failures) = (first * self.mean, DOWN, 0);
        // `eps` of the last centre that was solved, and the residual when it was GROWTH.1
        let (mut before, mut early) = (None, f64::INFINITY);
        self.island.keep();
        loop {
            let start = self.memory.steps;
            let solved = self.newton(eps, ACCURACY);
            if self.good(left) {
                return Ended::Solved;
            }
            if self.spent() {
                return Ended::Limit;
            }
            if solved {
                let residual = self.island.residual();
                if eps >= GROWTH.1 * self.mean {
                    early = residual;
                } else if eps <= LEAST * self.mean {
                    let grows = residual > GROWTH.0 * early;
                    return if grows { Ended::Unbounded } else { Ended::Stalled };
                }
                if self.memory.steps - start <= EASY {
                    factor = (factor * factor).max(DOWN);
                }
                self.island.recentre();
                self.island.keep();
                before = Some(eps);
                eps = (eps * factor).max(LEAST * self.mean);
            } else {
                self.island.restore();
                factor = factor.sqrt().min(CAREFUL);
                eps *= UP[failures % UP.len()];
                failures += 1;
                if eps > MOST * self.mean {
                    return Ended::Stalled;
                }
            }
            if let Some(before) = before {
                self.predict(before, eps);
            }
        }
    }

    /// The first step at a new `eps` or centre, in the states found.
    fn predict(&mut self, before: f64, eps: f64) {
        self.memory.steps += 1;
        self.memory.work += self.island.work();
        if !self.island.predict(before, eps) {
            self.island.restore();
        }
    }

    /// Newton's method on `G(u) = 0` with a line search on `|G|^2`; false if it does not converge.
    fn newton(&mut self, eps: f64, accuracy: f64) -> bool {
        // |W G|^2 of a G that has no preferred direction
        let worth = self.mean * self.island.redundancy();
        let mut merit = self.island.evaluate(eps);
        for _ in 0..STEPS {
            if worth * merit <= accuracy * self.island.shift(eps).max(self.target) {
                return true;
            }
            if self.spent() || !self.island.find_step() {
                return false;
            }
            self.memory.steps += 1;
            self.memory.work += self.island.work();
            self.island.begin_search();
            let mut t = 1.0;
            loop {
                self.island.move_to(t);
                let trial = self.island.evaluate(eps);
                if trial <= (1.0 - FALL * t) * merit {
                    merit = trial;
                    break;
                }
                t *= 0.5;
                if t < LEAST_LENGTH {
                    return false;
                }
            }
        }
        false
    }

    /// From a solution to the limit of solutions with equal compliance `eps` on every element, `eps -> 0`: solves about the
    /// centre zero with falling `eps`, extrapolated to `eps = 0` (the solution is smooth in `eps` as long as states do not
    /// change), and then removes what residual that leaves. If a part of this fails, the forces stay as they were.
    fn choose(&mut self) {
        let (mut eps, mut factor, mut found) = (CHOICE_FIRST * self.mean, CHOICE_DOWN, 0);
        let Memory { best, estimates: [estimate, unchosen], .. } = &mut *self.memory;
        unchosen.clone_from(best);
        estimate.clone_from(best);
        self.island.force.clone_from(&self.memory.best);
        self.island.recentre_at_zero(eps);
        self.island.keep();
        let mut before = eps;
        loop {
            self.predict(before, eps);
            if self.newton(eps, CHOICE_ACCURACY) {
                if found > 0 && self.extrapolate(eps / before) || eps <= CHOICE_LEAST * self.mean {
                    break;
                }
                found += 1;
                factor = CHOICE_DOWN.max(factor.min(CAREFUL) * factor.min(CAREFUL));
                self.island.keep();
                before = eps;
            } else {
                self.island.restore();
                factor = if found > 0 { factor.sqrt() } else { 1.0 / CHOICE_DOWN };
                eps = if found > 0 { before } else { eps };
            }
            eps *= factor;
            if self.spent() || (found > 0 && factor > CAREFUL) || eps > MOST * self.mean {
                return;
            }
        }
        self.island.force.clone_from(&self.memory.estimates[0]);
        self.island.recentre();
        let mut left = f64::INFINITY;
        if !self.good(&mut left) && self.follow(WARM.1, &mut left) != Ended::Solved {
            self.memory.best.clone_from(&self.memory.estimates[1]);
        }
    }

    /// Extrapolates forces at two `eps`, the second `q` times the first, to zero; true if the estimate has settled.
    fn extrapolate(&mut self, q: f64) -> bool {
        let (mut change, mut size) = (0.0, 0.0);
        let forces = self.island.force.iter().zip(self.island.kept_force());
        for (estimate, (force, last)) in self.memory.estimates[0].iter_mut().zip(forces) {
            let next = (force - q * last) / (1.0 - q);
            change += (next - *estimate).powi(2);
            size += next * next;
            *estimate = next;
        }
        change <= CHOICE_CHANGE * CHOICE_CHANGE * size
    }
}
