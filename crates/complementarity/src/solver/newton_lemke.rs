//! Newton-Lemke: mixed nonlinear complementarity problems by Newton's method, with the linearised problem solved exactly.
//!
//! Problem: [`Nonlinear`], in the form of the normal map `F(z) + x - z = 0`, `z` the projection of `x` on the box.
//!
//! Source: N. Josephy (1979) for the Newton step; S. Dirkse, M. Ferris, The PATH solver (Optimization Methods and Software
//! 5, 1995) for the path search and the nonmonotone watchdog; S. Billups (1995) for the Fischer-Burmeister equations of a
//! box, T. De Luca, F. Facchinei, C. Kanzow (1996) for steps on their merit function.
//!
//! Each iteration linearises `F` at `z` and follows the path of the linearised problem from `x` to its Newton point
//! (`path.rs`). The Newton point is taken if it decreases the normal map's norm against the worst of the last few, or
//! unconditionally up to [`Settings::watchdog`] times in a row; then the best point so far comes back and a point of its path is
//! searched that does. Where there is none, or no path, Levenberg-Marquardt steps on the Fischer-Burmeister equations
//! take over until they have gained. Where these end in a local minimum, the iteration starts again from a random point nearby.
//!
//! Deviations: rows and variables are scaled by powers of two from the Jacobian at the start; a start basis that is
//! singular gets a proximal term `mu I`.

mod fischer_burmeister;
mod path;

use crate::matrix::{Matrix, norm};
use crate::problem::{InvalidProblem, Nonlinear, SparseRows, check_nonlinear};
use crate::report::{Certificate, Progress, Report, Status};
use crate::residual::{self, Residual, with_jacobian};
use crate::scaling;
use crate::solver::{Budget, End};
use fischer_burmeister::Merit;
use path::Path;

/// Name in reports.
pub const NAME: &str = "newton-lemke";

/// Settings of the method.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Newton steps and steps on the merit function of each start: some problems have solutions at infinity that attract.
    pub max_iterations: usize,
    /// Newton points that may be taken in a row without a decrease (PATH: 5 to 10).
    pub watchdog: usize,
    /// Norms against the largest of which a decrease counts.
    pub memory: usize,
    /// Starts after the first: from the point of the box nearest to 0, then from random points near the first.
    pub restarts: usize,
    /// Share of the decrease along a path that a point of it must show.
    pub decrease: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 100, watchdog: 4, memory: 5, restarts: 19, decrease: 1e-2 }
    }
}

/// Shortest part of a path that is searched, as a share of its length.
const SHORTEST: f64 = 1e-4;
/// Proximal terms tried where the start has no basis, in scaled units.
const PROXIMAL: [f64; 3] = [1e-6, 1e-3, 0.1];
/// Steps on the merit function in a row, and their gain that ends them.
const MERIT_STEPS: usize = 30;
const MERIT_GAIN: f64 = 0.1;
/// Shortest step on the merit function.
const SHORTEST_MERIT: f64 = 1e-8;
/// Gradient over merit below which a point is a local minimum.
const STATIONARY: f64 = 1e-7;

const LIMIT: &str = "the limit of iterations was reached";

/// How a round of iterations ended.
enum Round {
    Solved,
    /// No path and no gain; the words say why.
    Stuck(&'static str),
    Ended(End),
}

/// The method with its memory.
#[derive(Debug, Clone, Default)]
pub struct NewtonLemke {
    /// May be changed between solves.
    pub settings: Settings,
    /// Work that the next solves may do, and a flag that ends them.
    pub budget: Budget,
    path: Path,
    merit: Merit,
    sparse: SparseRows,
    j: Matrix,
    /// Scales of rows and variables: `z = C z~`, `F~ = R F`.
    rows: Vec<f64>,
    columns: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Scaled variables of the normal map and their projection.
    x: Vec<f64>,
    z: Vec<f64>,
    /// Scaled `F`.
    f: Vec<f64>,
    r: Vec<f64>,
    q: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
    /// Unscaled.
    at: Vec<f64>,
    value: Vec<f64>,
    /// The best point so far and its residual.
    best: Vec<f64>,
    residual: Residual,
    norms: Vec<f64>,
    iterations: usize,
    /// Iterations after which this start is given up.
    most: usize,
}

/// Solves one problem from `start`. For many keep a [`NewtonLemke`].
///
/// # Errors
/// If the bounds or the length of `start` do not fit.
pub fn solve(problem: &dyn Nonlinear, start: &[f64], settings: &Settings) -> Result<Report, InvalidProblem> {
    NewtonLemke::new(settings.clone(), Budget::default()).solve(problem, start, &mut |_| ())
}

impl NewtonLemke {
    /// Empty memory.
    pub fn new(settings: Settings, budget: Budget) -> Self {
        Self { settings, budget, ..Self::default() }
    }

    /// Solves from `start`, which is projected on the box; `watch` hears of the progress.
    ///
    /// # Errors
    /// If the bounds or the length of `start` do not fit.
    pub fn solve(
        &mut self,
        problem: &dyn Nonlinear,
        start: &[f64],
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Report, InvalidProblem> {
        check_nonlinear(problem)?;
        let n = problem.lower().len();
        if start.len() != n {
            return Err(InvalidProblem::Size { part: "start", found: start.len(), expected: n });
        }
        if let Some(index) = start.iter().position(|x| !x.is_finite()) {
            let (part, value, expected) = ("start", start[index], "a finite number");
            return Err(InvalidProblem::VectorEntry { part, index, value, expected });
        }
        self.best.clear();
        self.best.extend((0..n).map(|i| start[i].clamp(problem.lower()[i], problem.upper()[i])));
        self.residual = residual::nonlinear(problem, &self.best);
        self.iterations = 0;
        let (mut end, mut why) = (End::Stalled, "");
        let mut random = 0x5eed;
        for attempt in 0..=self.settings.restarts {
            self.begin(problem, start, attempt, &mut random);
            self.most = self.iterations + self.settings.max_iterations;
            match self.round(problem, watch) {
                Round::Solved => end = End::Solved,
                Round::Ended(by) => end = by,
                Round::Stuck(words) => {
                    (end, why) = (if words == LIMIT { End::Limit } else { End::Stalled }, words);
                    continue;
                }
            }
            break;
        }
        Ok(self.report(end, why))
    }

    fn report(&self, end: End, why: &str) -> Report {
        let (relative, iterations) = (self.residual.relative, self.iterations);
        let reason = match end {
            End::Limit if self.budget.ended().is_some() => {
                format!("the budget was used up after {iterations} iterations")
            }
            End::Interrupted => format!("interrupted at relative residual {relative:.1e}"),
            _ => format!(
                "{why}, from {} starts; best relative residual {relative:.1e}",
                self.settings.restarts + 1
            ),
        };
        let solved = end == End::Solved;
        Report {
            status: if solved { Status::Solved } else { Status::Stalled },
            solver: NAME,
            iterations,
            residual: self.residual,
            solution: self.best.clone(),
            certificate: if solved { Certificate::Residual } else { Certificate::Stopped { end, reason } },
        }
    }

    /// Scales and start point of an attempt.
    fn begin(&mut self, problem: &dyn Nonlinear, start: &[f64], attempt: usize, random: &mut u64) {
        let n = start.len();
        self.at.clear();
        for i in 0..n {
            let (l, u) = (problem.lower()[i], problem.upper()[i]);
            let mut z = start[i].clamp(l, u);
            if attempt == 1 {
                // the point of the box nearest to 0
                z = 0.0f64.clamp(l, u);
            } else if attempt > 1 {
                // between 1/4 and 4 times as far from the bound, or from 0
                let from = if l.is_finite() {
                    l
                } else if u.is_finite() {
                    u
                } else {
                    0.0
                };
                let size = (z - from).abs().max(0.1 * (1.0 + from.abs()));
                let by = (4.0 * uniform(random) - 2.0).exp2() * size;
                let sign = if l.is_finite() {
                    1.0
                } else if u.is_finite() {
                    -1.0
                } else {
                    2.0 * (uniform(random) - 0.5)
                };
                z = (from + sign * by).clamp(l, u);
            }
            self.at.push(z);
        }
        problem.jacobian(&self.at, &mut self.sparse);
        self.sparse.to_dense(n, &mut self.j);
        if self.j.data().iter().all(|x| x.is_finite()) {
            (self.rows, self.columns) = scaling::two_sided(&self.j);
        } else {
            (self.rows, self.columns) = (vec![1.0; n], vec![1.0; n]);
        }
        let c = &self.columns;
        for (own, bound) in [(&mut self.lower, problem.lower()), (&mut self.upper, problem.upper())] {
            own.clear();
            own.extend(bound.iter().zip(c).map(|(b, c)| b / c));
        }
        self.x.clear();
        self.x.extend(self.at.iter().zip(c).map(|(z, c)| z / c));
        self.norms.clear();
    }

    /// `F` at the projection of `x`, with `r` of the normal map and its norm; infinite where `F` is not defined.
    fn evaluate(&mut self, problem: &dyn Nonlinear) -> f64 {
        let n = self.x.len();
        self.z.clear();
        self.z.extend((0..n).map(|i| self.x[i].clamp(self.lower[i], self.upper[i])));
        self.at.clear();
        // exactly at the bound where the scaled variable is
        self.at.extend(
            (0..n).map(|i| (self.z[i] * self.columns[i]).clamp(problem.lower()[i], problem.upper()[i])),
        );
        self.value.resize(n, 0.0);
        problem.value(&self.at, &mut self.value);
        self.f.clear();
        self.f.extend(self.value.iter().zip(&self.rows).map(|(f, r)| f * r));
        self.r.clear();
        self.r.extend((0..n).map(|i| self.f[i] + self.x[i] - self.z[i]));
        let size = norm(&self.r);
        if size.is_finite() { size } else { f64::INFINITY }
    }

    /// The multiplier of the bounds that are active: `x` where the normal map is least for this `z`.
    fn set_multipliers(&mut self) {
        for i in 0..self.x.len() {
            if self.z[i] <= self.lower[i] {
                self.x[i] = self.z[i] - self.f[i].max(0.0);
            } else if self.z[i] >= self.upper[i] {
                self.x[i] = self.z[i] - self.f[i].min(0.0);
            } else {
                self.x[i] = self.z[i];
            }
        }
    }

    /// Linearises at the evaluated point; false if that fails. Keeps the point if it is the best, and says whether it solves.
    fn linearise(&mut self, problem: &dyn Nonlinear) -> Result<bool, ()> {
        let n = self.x.len();
        problem.jacobian(&self.at, &mut self.sparse);
        let found = with_jacobian(problem, &self.at, &self.value, &self.sparse, 1.0);
        if found.relative < self.residual.relative || self.residual.relative.is_nan() {
            self.residual = found;
            self.best.clone_from(&self.at);
        }
        if found.relative <= self.settings.tolerance {
            return Ok(true);
        }
        self.sparse.to_dense(n, &mut self.j);
        for i in 0..n {
            let r = self.rows[i];
            self.j.row_mut(i).iter_mut().zip(&self.columns).for_each(|(x, c)| *x *= r * c);
        }
        if self.j.data().iter().all(|x| x.is_finite()) { Ok(false) } else { Err(()) }
    }

    /// Iterates from `x`.
    fn round(&mut self, problem: &dyn Nonlinear, watch: &mut dyn FnMut(Progress)) -> Round {
        let n = self.x.len();
        if !self.evaluate(problem).is_finite() {
            return Round::Stuck("F is not finite at the start");
        }
        self.set_multipliers();
        let mut size = self.evaluate(problem);
        let (mut unchecked, mut kept, mut kept_size) = (0, self.x.clone(), size);
        loop {
            if let Some(end) = self.budget.ended() {
                return Round::Ended(end);
            }
            if self.iterations >= self.most {
                return Round::Stuck(LIMIT);
            }
            self.iterations += 1;
            watch(Progress { solver: NAME, iterations: self.iterations, share: None });
            match self.linearise(problem) {
                Ok(true) => return Round::Solved,
                Ok(false) => (),
                Err(()) => return Round::Stuck("the Jacobian is not finite"),
            }
            if size < kept_size || unchecked == 0 {
                kept.clone_from(&self.x);
                kept_size = size;
                unchecked = 0;
            }
            let worst =
                self.norms.iter().fold(size.min(kept_size), |m, x| m.max(*x)).max(size.min(kept_size));
            let end = self.follow();
            if end == path::End::Newton {
                self.trial.clone_from(&self.x);
                let last = (self.path.knots() - 1) as f64;
                self.path.at(last, &mut self.x);
                let found = self.evaluate(problem);
                let decreased = found <= (1.0 - self.settings.decrease) * worst;
                if found.is_finite() && (decreased || unchecked < self.settings.watchdog) {
                    unchecked = if decreased { 0 } else { unchecked + 1 };
                    size = found;
                    if decreased {
                        self.keep_norm(found);
                    }
                    continue;
                }
                std::mem::swap(&mut self.x, &mut self.trial);
                size = self.evaluate(problem);
            }
            // the watchdog: back to the best point, and along its path
            if unchecked > 0 {
                self.x.clone_from(&kept);
                size = self.evaluate(problem);
                if self.linearise(problem).is_err() {
                    return Round::Stuck("the Jacobian is not finite");
                }
                self.follow();
                unchecked = 0;
            }
            if let Some(found) = self.search(problem, worst.max(size)) {
                size = found;
                self.keep_norm(found);
                kept_size = f64::INFINITY;
                continue;
            }
            // steps on the merit function
            match self.descend(problem) {
                Ok(true) => return Round::Solved,
                Ok(false) => (),
                Err(round) => return round,
            }
            self.set_multipliers();
            size = self.evaluate(problem);
            self.norms.clear();
            kept_size = f64::INFINITY;
            debug_assert_eq!(self.x.len(), n);
        }
    }

    fn keep_norm(&mut self, size: f64) {
        self.norms.push(size);
        if self.norms.len() > self.settings.memory {
            self.norms.remove(0);
        }
    }

    /// The path of the linearised problem from `x`; with a proximal term where there is no basis.
    fn follow(&mut self) -> path::End {
        let n = self.x.len();
        let most = 10 * n + 50;
        let mut end = path::End::Singular;
        for mu in [0.0].into_iter().chain(PROXIMAL) {
            if mu > 0.0 {
                // J + mu I about z
                (0..n).for_each(|i| self.j[(i, i)] += mu);
            }
            self.q.clear();
            self.q.extend((0..n).map(|i| self.f[i] - crate::matrix::dot(self.j.row(i), &self.z)));
            let problem = (&self.j, &self.q[..], &self.r[..]);
            end = self.path.follow(problem, (&self.lower, &self.upper), &self.x, most, &mut self.budget);
            if mu > 0.0 {
                (0..n).for_each(|i| self.j[(i, i)] -= mu);
            }
            if end != path::End::Singular {
                break;
            }
        }
        end
    }

    /// A point of the path that decreases the norm against `reference`; `x` moves there. `None` if there is none.
    fn search(&mut self, problem: &dyn Nonlinear, reference: f64) -> Option<f64> {
        let last = self.path.knots() as f64 - 1.0;
        if last < 1.0 || self.path.reached() <= 0.0 {
            return None;
        }
        self.trial.clone_from(&self.x);
        let mut place = last;
        while place >= SHORTEST * last {
            let t = self.path.at(place, &mut self.x);
            let found = self.evaluate(problem);
            if t > 0.0 && found <= (1.0 - self.settings.decrease * t) * reference && self.x != self.trial {
                return Some(found);
            }
            place *= 0.5;
        }
        std::mem::swap(&mut self.x, &mut self.trial);
        self.evaluate(problem);
        None
    }

    /// Levenberg-Marquardt steps on the Fischer-Burmeister equations from `z`, until they have gained. True if a point solves.
    fn descend(&mut self, problem: &dyn Nonlinear) -> Result<bool, Round> {
        self.x.clone_from(&self.z);
        self.evaluate(problem);
        let n = self.x.len();
        let first = self.merit.of(&self.z, &self.f, (&self.lower, &self.upper));
        let mut merit = first;
        for _ in 0..MERIT_STEPS {
            if let Some(end) = self.budget.ended() {
                return Err(Round::Ended(end));
            }
            if self.iterations >= self.most {
                return Err(Round::Stuck(LIMIT));
            }
            self.iterations += 1;
            match self.linearise(problem) {
                Ok(true) => return Ok(true),
                Ok(false) => (),
                Err(()) => return Err(Round::Stuck("the Jacobian is not finite")),
            }
            self.budget.spend_factorisation(n);
            let mu = 1e-12 + merit.sqrt().min(0.1) * 1e-3;
            let bounds = (&self.lower[..], &self.upper[..]);
            self.merit.of(&self.z, &self.f, bounds);
            let Some(slope) = self.merit.step((&self.z, &self.f), bounds, &self.j, mu, &mut self.step) else {
                return Err(Round::Stuck("the merit function has a stationary point that is no solution"));
            };
            if self.merit.gradient() <= STATIONARY * merit.sqrt() {
                return Err(Round::Stuck("the merit function has a local minimum that is no solution"));
            }
            self.trial.clone_from(&self.z);
            let mut along = 1.0;
            let before = merit;
            loop {
                for i in 0..n {
                    self.x[i] = (self.trial[i] + along * self.step[i]).clamp(self.lower[i], self.upper[i]);
                }
                let finite = self.evaluate(problem).is_finite();
                merit = self.merit.of(&self.z, &self.f, (&self.lower, &self.upper));
                if finite && merit <= before + 1e-4 * along * slope {
                    break;
                }
                along *= 0.5;
                if along < SHORTEST_MERIT {
                    return Err(Round::Stuck("steps on the merit function gain nothing"));
                }
            }
            if merit <= MERIT_GAIN * first {
                return Ok(false);
            }
        }
        if merit < 0.999 * first {
            Ok(false)
        } else {
            Err(Round::Stuck("steps on the merit function gain little"))
        }
    }
}

/// Uniform in [0, 1) (Steele, Lea, Flood: splitmix64).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
