//! `auto` for Coulomb's cone and polygons: picks a solver, escalates when it fails, and says who answered.
//!
//! Islands are solved apart. The warm start is judged first: an island that is well within tolerance is left alone. Then Gauss-Seidel sweeps, as
//! long as they promise to end soon. On islands of many contacts they have momentum, and where they do not get on, Newton steps in the speeds of bodies help
//! (`through_bodies`; where contacts are between free bodies). Then Newton from the states that were found; then, for the islands that
//! are left, more sweeps, the proximal Newton methods, and sweeps to the end. An island may leave its share of the tolerance; those that find it hard get what
//! the others did not need.
//!
//! Sweeps, and Newton on small islands, aim below the tolerance (`goal`) as long as that costs little: what a step of a simulation leaves is the
//! next step's speed and gap, so that errors near the tolerance would have bodies at rest solved again and again. A start that is nearly good
//! belongs to bodies at rest: they are brought to rounding once, and then left alone (`calm`).
//!
//! Factored operators are swept through the bodies, and multiplied out only for the Newton methods that come last.

use super::gauss_seidel::{self, Momentum, relax};
use super::newton::exact::{self, Centres};
use super::newton::through_bodies::ThroughBodies;
use super::newton::{self, Steps, With};
use super::{End, Outcome};
use crate::bench::{Bench, Done, Task, allowance, by_rows, size_of};
use crate::one_contact::{self, Local};
use crate::operator::Operator;
use crate::problem::ConeProblem;

/// Name in reports of a warm start that is kept.
pub const WARM_START: &str = "warm-start";
/// Least relative residual to aim at: rounding; and up to which any warm start is left as it is.
const LEAST_GOAL: f64 = 2e-14;
const LEAST_KEPT: f64 = 1e-13;
/// Newton steps towards the goal on an island that is within tolerance.
const NEAR_STEPS: usize = 3;
/// A start with at most this relative residual is that of bodies at rest.
const AT_REST: f64 = 1e-8;

/// Settings of [`ConeSolver`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Share of the tolerance up to which a warm start is left as it is, if bodies are calm.
    pub keep: f64,
    /// Share of the tolerance to aim at while that is cheap.
    pub goal: f64,
    /// Further sweeps that Gauss-Seidel may foresee before others take over.
    pub patience: f64,
    /// Contacts of an island up to which a Newton step costs a few sweeps; beyond, sweeps with momentum come first.
    pub small: usize,
    /// Sweeps with momentum before Newton takes over.
    pub momentum_sweeps: usize,
    /// Contacts of an island beyond which Newton methods that multiply `A` out are not tried.
    pub large: usize,
    /// Contacts of an island beyond which Newton through bodies is not tried either.
    pub huge: usize,
    /// Sweeps at the very end.
    pub max_sweeps: usize,
    /// Whether an island that Newton through bodies does not solve soon is pursued; else all is given up there. A simulator may rather make a shorter step.
    pub stubborn: bool,
    /// Of Newton's method, plain and proximal; tolerance and kind are set here.
    pub newton: newton::Settings,
    /// Of the exact proximal method; the tolerance is set here.
    pub exact: exact::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            keep: 0.5,
            goal: 0.01,
            patience: 5.0,
            small: 100,
            momentum_sweeps: 3000,
            large: 4000,
            huge: 20_000,
            max_sweeps: 10_000,
            stubborn: true,
            newton: newton::Settings { max_centres: 150, ..newton::Settings::default() },
            exact: exact::Settings::default(),
        }
    }
}

/// All cone solvers with their memory.
#[derive(Debug, Clone, Default)]
pub struct ConeSolver {
    /// May be changed between solves.
    pub settings: Settings,
    /// Whether the forces of the warm start are those of bodies at rest: the solve before also had a good start. Forces that have just stopped a
    /// body are not: they would set it moving again.
    pub calm: bool,
    bench: Bench,
    steps: Steps,
    centres: Centres,
    momentum: Momentum,
    through_bodies: ThroughBodies,
    /// Islands that are left, with their residuals.
    left: Vec<(usize, f64)>,
    kept: Vec<f64>,
    /// The warm start.
    given: Vec<f64>,
}

/// Who did how much.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    sweeps: usize,
    through_bodies: usize,
    newton: usize,
    proximal: usize,
    exact: usize,
    last_sweeps: usize,
}

impl ConeSolver {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Islands that the last solve did not bring within tolerance (or not try, after it had given one up): how many contacts each has, and the norm of their
    /// natural map.
    pub fn unsolved(&self) -> impl Iterator<Item = (usize, f64)> {
        self.left.iter().map(|&(k, residual)| (self.bench.islands.island(k).len(), residual.sqrt()))
    }

    /// `s = A lambda + b` of the last answer.
    pub fn speed(&self) -> &[f64] {
        &self.bench.judged.speed
    }

    /// Solves from the warm start `lambda`, which takes the answer.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        self.left.clear();
        let good = (self.settings.keep * tolerance).max(LEAST_KEPT).min(tolerance);
        let keep = if self.calm { good } else { LEAST_KEPT.min(tolerance) };
        if let Some(outcome) = self.bench.begin(problem, lambda, keep, WARM_START) {
            return outcome;
        }
        self.calm = self.bench.start <= good;
        self.given.clear();
        self.given.extend_from_slice(lambda);
        if problem.mu.len() == 1 {
            by_rows!(problem.rows, self.alone(problem, lambda));
            let outcome = self.bench.judge(problem, lambda, tolerance, gauss_seidel::NAME, 1, End::Stalled);
            if outcome.is_solved() {
                return outcome;
            }
        }
        let within = self.bench.start <= tolerance;
        let goal = if self.bench.start <= AT_REST { 0.0 } else { self.settings.goal * tolerance };
        let goal = goal.max(LEAST_GOAL).min(tolerance);
        let work = by_rows!(problem.rows, self.run(problem, lambda, goal));
        let (solver, iterations) = match work {
            Work { last_sweeps: n @ 1.., .. } => (gauss_seidel::NAME, n),
            Work { exact: n @ 1.., .. } => (exact::NAME, n),
            Work { proximal: n @ 1.., newton, .. } => (newton::PROXIMAL, n + newton),
            Work { newton: n @ 1.., .. } => (newton::NAME, n),
            Work { through_bodies: n @ 1.., .. } => (newton::THROUGH_BODIES, n),
            Work { sweeps, .. } => (gauss_seidel::NAME, sweeps),
        };
        let Work { sweeps, through_bodies, newton, proximal, exact, last_sweeps } = work;
        let wasted = sweeps + through_bodies + newton + proximal + exact + last_sweeps - iterations;
        let outcome = self.bench.judge(problem, lambda, tolerance, solver, iterations, End::Stalled);
        if within && !outcome.is_solved() {
            // what was given was a solution
            lambda.copy_from_slice(&self.given);
            let wasted = wasted + iterations;
            let kept = self.bench.judge(problem, lambda, tolerance, WARM_START, 0, End::Stalled);
            return Outcome { wasted, ..kept };
        }
        Outcome { wasted, ..outcome }
    }

    /// One contact, solved exactly.
    fn alone<const D: usize>(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) {
        let mut block = [[0.0; D]; D];
        problem.a.diagonal(D, 0, block.as_flattened_mut());
        let (b, force) = (problem.b.as_chunks::<D>().0, lambda.as_chunks_mut::<D>().0);
        force[0] = one_contact::solve(problem.shape(0), &block, &b[0], problem.mu[0], &mut Local::default());
    }

    fn run<const D: usize>(&mut self, given: ConeProblem<'_>, lambda: &mut [f64], goal: f64) -> Work {
        let Bench { sweeper, islands, formed, judged, .. } = &mut self.bench;
        let settings = &self.settings;
        let factored = matches!(given.a, Operator::Factored(_));
        let problem = formed.sparse(given);
        let n = problem.mu.len();
        sweeper.prepare_judged::<D>(problem, judged);
        islands.find(problem.a, D, n);
        let whole = size_of(problem.b);
        let mut allowed = allowance(whole, settings.tolerance);
        let share = allowed / n as f64;
        let aim = allowance(whole, goal) / n as f64;
        let mut work = Work::default();
        self.left.clear();
        for k in 0..islands.count() {
            let contacts = islands.island(k);
            let count = contacts.len() as f64;
            let task = Task { problem, contacts, target: aim * count, size: whole };
            let small = contacts.len() <= settings.small;
            let start = judged.square_of(D, contacts);
            let mut done = match small || is_dense(problem.a, contacts) {
                true => relax::<D>(sweeper, task, lambda, start, settings.max_sweeps, settings.patience),
                false => {
                    let task = Task { target: share * count, ..task };
                    let huge = contacts.len() > settings.huge;
                    let most = if huge { settings.max_sweeps } else { settings.momentum_sweeps };
                    self.momentum.relax::<D>(sweeper, task, lambda, start, most, !huge)
                }
            };
            work.sweeps = work.sweeps.max(done.iterations);
            if done.residual > share * count && !small && contacts.len() <= settings.huge {
                let task = Task { target: share * count, ..task };
                let stubborn = settings.stubborn;
                if let Some(better) = self.through_bodies.solve::<D>(sweeper, task, lambda, stubborn) {
                    work.through_bodies += better.iterations;
                    done = better;
                    if done.residual > task.target && !stubborn {
                        self.left.push((k, done.residual));
                        let untried = k + 1..islands.count();
                        self.left.extend(untried.map(|k| (k, judged.square_of(D, islands.island(k)))));
                        self.left.retain(|&(k, residual)| residual > share * islands.island(k).len() as f64);
                        return work;
                    }
                }
            }
            if done.residual <= if small { aim } else { share } * count {
                allowed -= done.residual;
            } else {
                self.left.push((k, done.residual));
            }
        }
        if self.left.is_empty() {
            return work;
        }
        // Newton wants blocks
        let problem = if factored { formed.blocks(given) } else { problem };
        let Operator::Blocks(a) = problem.a else { return work };
        for (k, residual) in &mut self.left {
            let contacts = islands.island(*k);
            let task = Task { problem, contacts, target: share * contacts.len() as f64, size: whole };
            // within tolerance already: a few steps towards the goal
            let near = *residual <= task.target;
            let (target, max_steps) = if near {
                (aim * contacts.len() as f64, NEAR_STEPS)
            } else {
                (task.target, settings.newton.max_steps)
            };
            let own = newton::Settings { max_steps, ..settings.newton.clone() };
            let with = With { sweeper, a, task: Task { target, ..task }, settings: &own };
            if contacts.len() <= settings.large {
                let done = self.steps.plain::<D>(with, lambda);
                work.newton += done.iterations;
                *residual = done.residual;
            }
            if *residual <= task.target {
                allowed -= *residual;
            }
        }
        let count = |k: usize| islands.island(k).len() as f64;
        self.left.retain(|&(k, residual)| residual > share * count(k));
        let mut rest: f64 = self.left.iter().map(|&(k, _)| count(k)).sum();
        for (k, residual) in &mut self.left {
            let contacts = islands.island(*k);
            let target = allowed * count(*k) / rest;
            let task = Task { problem, contacts, target, size: whole };
            let mut done = Done { iterations: 0, residual: *residual };
            // on large islands the proximal methods cost as much as thousands of sweeps
            if contacts.len() > settings.small && !is_dense(problem.a, contacts) {
                let most = settings.max_sweeps;
                let start = sweeper.residual::<D>(problem, contacts, lambda);
                done = self.momentum.relax::<D>(sweeper, task, lambda, start, most, false);
                let sweeps = if done.residual <= target { &mut work.last_sweeps } else { &mut work.sweeps };
                *sweeps += done.iterations;
            }
            if done.residual > target && contacts.len() <= settings.large {
                let with = With { sweeper, a, task, settings: &settings.newton };
                done = self.steps.proximal::<D>(with, lambda);
                work.proximal += done.iterations;
                if done.residual > target {
                    done = self.centres.run::<D>(sweeper, a, task, lambda, &settings.exact);
                    work.exact += done.iterations;
                }
            }
            if done.residual > target {
                self.kept.clear();
                self.kept.extend_from_slice(lambda);
                let start = sweeper.residual::<D>(problem, contacts, lambda);
                let swept = relax::<D>(sweeper, task, lambda, start, settings.max_sweeps, f64::INFINITY);
                if swept.residual <= done.residual {
                    done.residual = swept.residual;
                    work.last_sweeps += swept.iterations;
                } else {
                    work.sweeps += swept.iterations;
                    lambda.copy_from_slice(&self.kept);
                }
            }
            *residual = if done.residual <= target { 0.0 } else { done.residual };
            allowed = (allowed - done.residual).max(share);
            rest -= count(*k);
        }
        self.left.retain(|&(_, residual)| residual > 0.0);
        work
    }
}

/// Whether most contacts of an island influence each other at once, as the elements of a patch do: a Newton step then costs less than `n` sweeps.
fn is_dense(a: &Operator, contacts: &[usize]) -> bool {
    let neighbours = match a {
        Operator::Dense(_) => contacts.len(),
        Operator::Blocks(a) => a.row(contacts[0]).0.len(),
        Operator::Factored(a) => a.patch_contacts(contacts[0]).len(),
    };
    2 * neighbours > contacts.len()
}
