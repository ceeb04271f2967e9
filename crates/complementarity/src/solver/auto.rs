//! `auto`: the one escalation policy, for a step of a simulation and for a problem from a file alike.
//!
//! The warm start is evaluated first: forces that are well within tolerance are kept. Otherwise each island
//! is solved by itself, by the next method that is expected to converge soon:
//!
//! 1. Gauss-Seidel sweeps, as long as few more are predicted; on large islands with momentum;
//! 2. the proximal Newton method in velocities, where an island has more rows than its bodies have
//!    velocities: first in the form that also chooses among several forces; on other large islands of free bodies Newton steps in velocities from the current forces
//!    (`through_bodies`);
//! 3. Newton's method from the states (open, stick, slip) of the sweeps;
//! 4. more sweeps, the proximal point method with Newton inside, and sweeps up to their limit.
//!
//! If an island stays unsolved, the whole problem is tried by Lemke's method, where all friction is
//! polygonal, and by the interior point for cones. Both are tried only if the problem is small or
//! [`Settings::try_harder`] is set: a simulation may prefer a shorter step.
//!
//! Sweeps, and Newton on small islands, aim below the tolerance (`goal`) as long as that costs little. The
//! error of a step is part of the next step's velocity and gap, so that errors near the tolerance would have
//! bodies at rest solved again and again. A nearly good start belongs to bodies at rest: they are solved to
//! rounding once, and their forces are kept from then on (`at_rest`).
//!
//! Sweeps use factored operators through the bodies; `A` is multiplied out only for the Newton methods that
//! come last.

use super::cone_interior_point::ConeInteriorPoint;
use super::gauss_seidel::{self, Momentum, relax};
use super::newton::proximal::{self, Centres, ProximalNewton};
use super::newton::through_bodies::ThroughBodies;
use super::newton::{self, Steps, With};
use super::polyhedral::Polyhedral;
use super::velocity_newton::{self, Chooser, Velocities};
use super::{Budget, Choice, End, Outcome};
use crate::bench::{Bench, Done, Goal, Job, Limits, Task, Work};
use crate::operator::Operator;
use crate::problem::ContactProblem;
use crate::sweep::Sweeper;

/// The path to chosen forces takes at most one in so many parts of the work that is left, so that the methods which follow it
/// have some where it cannot be followed, as with overlap that nothing undoes.
const PATH_SHARE: u64 = 2;

/// Name in reports of a warm start whose forces are kept.
pub const WARM_START: &str = "warm-start";
/// Least relative residual to aim at (rounding); any warm start up to it is kept.
const LEAST_GOAL: f64 = 2e-14;
const LEAST_KEPT: f64 = 1e-13;
const NOTHING_KEPT: f64 = -1.0;
/// Rounds of the choice of forces from the warm start, before other methods solve a redundant island.
const ROUNDS: usize = 3;
/// Number of elements of a redundant island up to which forces are chosen.
const MOST_CHOSEN: usize = 1000;
/// Ratio of forces to load, in the measure of the residual, that is expected of a bad start.
const FORESIGHT: f64 = 4.0;
/// Numbers of Newton steps: towards the goal on an island that is within tolerance; and on a redundant island
/// whose start has at most the relative residual `GOOD_START`.
const NEAR_STEPS: usize = 3;
const FEW_STEPS: usize = 4;
const GOOD_START: f64 = 1e-3;
/// A start with at most this relative residual counts as that of bodies at rest.
const AT_REST: f64 = 1e-8;
/// Numbers of elements and of rows up to which a problem is solved as a whole.
const FEW: usize = 40;
const MOST_ROWS: usize = 1000;
/// Number of rows up to which the proximal point method starts again from zero as the last resort, and the forces of a
/// redundant island are chosen after it was solved, not along the path at once.
const FEW_ROWS: usize = 150;

/// Settings of [`Auto`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Largest relative residual of a solution.
    pub tolerance: f64,
    /// Share of the tolerance up to which a warm start is kept, if bodies are at rest.
    pub keep: f64,
    /// Share of the tolerance to aim at while that is cheap.
    pub goal: f64,
    /// Number of further sweeps that Gauss-Seidel may predict before other methods take over.
    pub foreseen_sweeps: f64,
    /// Number of elements of an island up to which a Newton step costs a few sweeps; on larger islands sweeps
    /// with momentum come first.
    pub small: usize,
    /// Number of elements from which on an island with more rows than velocities is solved by Newton in
    /// velocities.
    pub redundant: usize,
    /// Number of sweeps with momentum before Newton takes over.
    pub momentum_sweeps: usize,
    /// Number of elements of an island beyond which Newton methods that multiply `A` out are not tried.
    pub large: usize,
    /// Number of elements of an island beyond which Newton through bodies is not tried either.
    pub huge: usize,
    /// Number of sweeps of the last attempt.
    pub max_sweeps: usize,
    /// Whether islands and problems that do not converge soon are pursued by further methods. A simulation
    /// may prefer a shorter step.
    pub try_harder: bool,
    /// Settings of Newton's method; the tolerance is set here.
    pub newton: newton::Settings,
    /// Settings of the proximal point method; the tolerance is set here.
    pub proximal: proximal::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            keep: 0.5,
            goal: 0.01,
            foreseen_sweeps: 5.0,
            small: 100,
            redundant: 2,
            momentum_sweeps: 3000,
            large: 4000,
            huge: 20_000,
            max_sweeps: 10_000,
            try_harder: true,
            newton: newton::Settings::default(),
            proximal: proximal::Settings::default(),
        }
    }
}

/// The escalation policy with the memory of its methods.
#[derive(Debug, Clone, Default)]
pub struct Auto {
    /// Settings; they may be changed between solves.
    pub settings: Settings,
    /// Whether the forces of the warm start are those of bodies at rest: the previous solve also had a good
    /// start. Forces that have just stopped a body are not: they would set it moving again.
    pub at_rest: bool,
    /// Choice of the forces of the warm start, reported if they are kept; after a solve, the choice of the
    /// result.
    pub choice: Choice,
    pub(crate) bench: Bench,
    escalation: Escalation,
    polyhedral: Option<Box<Polyhedral>>,
    interior_point: Option<Box<ConeInteriorPoint>>,
    proximal: Option<Box<ProximalNewton>>,
    chooser: Option<Box<Chooser>>,
    /// Forces of the warm start.
    given: Vec<f64>,
}

/// Number of iterations of each method.
#[derive(Debug, Clone, Copy, Default)]
struct Iterations {
    sweeps: usize,
    through_bodies: usize,
    velocity: usize,
    newton: usize,
    proximal: usize,
    last_sweeps: usize,
    /// Linear systems of the choice of forces.
    choice: usize,
}

/// Methods for islands, with their memory.
#[derive(Debug, Clone, Default)]
struct Escalation {
    settings: Settings,
    steps: Steps,
    centres: Centres,
    momentum: Momentum,
    through_bodies: ThroughBodies,
    velocities: Velocities,
    kept: Vec<f64>,
    done: Iterations,
    choice: Choice,
}

impl Auto {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Islands that the last solve did not bring within tolerance: their numbers of elements, and the norm
    /// `R` of their natural map.
    pub fn unsolved(&self) -> impl Iterator<Item = (usize, f64)> {
        self.bench.unsolved.iter().copied()
    }

    /// `s = A lambda + b` of the last result.
    pub fn speed(&self) -> &[f64] {
        &self.bench.evaluation.speed
    }

    /// Sets the work that the next solves may do.
    pub fn set_budget(&mut self, budget: Budget) {
        self.bench.sweeper.budget = budget;
    }

    /// Solves from the warm start `lambda`, which is overwritten by the result.
    pub fn solve(&mut self, problem: ContactProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        let good = (self.settings.keep * tolerance).max(LEAST_KEPT).min(tolerance);
        let keep = match problem.a {
            _ if self.at_rest => good,
            // other forces may solve the problem too
            Operator::Factored(_) => NOTHING_KEPT,
            _ => LEAST_KEPT.min(tolerance),
        };
        if let Some(outcome) = self.bench.begin(problem, lambda, keep, WARM_START) {
            return Outcome { choice: self.choice, ..outcome };
        }
        self.at_rest = self.bench.start <= good;
        self.given.clear();
        self.given.extend_from_slice(lambda);
        let within = self.bench.start <= tolerance;
        // forces of bodies at rest are good, even where an element's own are not
        let goal =
            if self.bench.evaluation.natural <= AT_REST { 0.0 } else { self.settings.goal * tolerance };
        let goal = goal.max(LEAST_GOAL).min(tolerance);
        let limits = Limits { tolerance, goal, foresight: FORESIGHT };
        self.escalation.settings.clone_from(&self.settings);
        self.escalation.done = Iterations::default();
        let by = (gauss_seidel::NAME, End::Stalled);
        let outcome = self.bench.solve(problem, lambda, limits, by, &mut self.escalation);
        let done = self.escalation.done;
        let (solver, iterations) = match done {
            Iterations { last_sweeps: n @ 1.., .. } => (gauss_seidel::NAME, n),
            Iterations { proximal: n @ 1.., .. } => (proximal::NAME, n),
            Iterations { newton: n @ 1.., .. } => (newton::NAME, n),
            Iterations { velocity: n @ 1.., .. } => (velocity_newton::NAME, n),
            Iterations { through_bodies: n @ 1.., .. } => (newton::THROUGH_BODIES, n),
            Iterations { sweeps, .. } => (gauss_seidel::NAME, sweeps),
        };
        let Iterations { sweeps, through_bodies, velocity, newton, proximal, last_sweeps, .. } = done;
        let total = sweeps + through_bodies + velocity + newton + proximal + last_sweeps;
        let (wasted, iterations) = (total - iterations, iterations + done.choice);
        let outcome = Outcome { solver, iterations, wasted, choice: self.escalation.choice, ..outcome };
        if outcome.is_solved() {
            self.choice = outcome.choice;
            // forces that may not be the only ones are not kept
            self.at_rest &= outcome.choice <= Choice::NotExamined;
            return outcome;
        }
        if within {
            // the warm start was a solution
            lambda.copy_from_slice(&self.given);
            let kept = self.bench.outcome(problem, lambda, tolerance, (WARM_START, 0, End::Stalled));
            return Outcome { wasted: total, ..kept };
        }
        if outcome.end != End::Stalled || !(self.settings.try_harder || problem.elements.len() <= FEW) {
            return outcome;
        }
        self.as_a_whole(problem, lambda, outcome)
    }

    /// Tries Lemke's method where friction is polygonal, then the interior point for cones; keeps the best
    /// forces, the current ones included.
    fn as_a_whole(&mut self, problem: ContactProblem<'_>, lambda: &mut [f64], first: Outcome) -> Outcome {
        let (tolerance, budget) = (self.settings.tolerance, self.bench.sweeper.budget.clone());
        let mut wasted = first.wasted + first.iterations;
        self.given.copy_from_slice(lambda);
        if problem.b.len() <= MOST_ROWS {
            let polyhedral = self.polyhedral.get_or_insert_default();
            polyhedral.tolerance = tolerance;
            polyhedral.budget.clone_from(&budget);
            if let Ok(outcome) = polyhedral.solve(problem, lambda, &mut vec![]) {
                if outcome.is_solved() {
                    let outcome = self.solved_by(problem, lambda, outcome);
                    return Outcome { wasted: wasted + outcome.wasted, ..outcome };
                }
                wasted += outcome.iterations + outcome.wasted;
            }
        }
        let interior_point = self.interior_point.get_or_insert_default();
        interior_point.settings.tolerance = tolerance;
        interior_point.bench.sweeper.budget = budget;
        lambda.fill(0.0);
        let mut outcome = interior_point.solve(problem, lambda);
        if !outcome.is_solved() && problem.b.len() <= FEW_ROWS {
            // the escalation started it from what other methods left; from zero it may converge
            wasted += outcome.iterations;
            let proximal = self.proximal.get_or_insert_default();
            proximal.settings.clone_from(&self.settings.proximal);
            proximal.settings.tolerance = tolerance;
            proximal.bench.sweeper.budget = interior_point.bench.sweeper.budget.clone();
            lambda.fill(0.0);
            outcome = proximal.solve(problem, lambda);
        }
        if outcome.is_solved() {
            return Outcome { wasted, ..self.solved_by(problem, lambda, outcome) };
        }
        lambda.copy_from_slice(&self.given);
        let by = (first.solver, first.iterations, first.end);
        let kept = self.bench.outcome(problem, lambda, tolerance, by);
        Outcome { wasted: wasted + outcome.iterations - first.iterations, ..kept }
    }

    /// Outcome of a method that solved the whole problem, with residual and velocities of its forces, which are chosen
    /// if they are not unique.
    fn solved_by(&mut self, problem: ContactProblem<'_>, lambda: &mut [f64], by: Outcome) -> Outcome {
        self.bench.unsolved.clear();
        let tolerance = self.settings.tolerance;
        let (chooser, budget) = (self.chooser.get_or_insert_default(), &mut self.bench.sweeper.budget);
        let by = chooser.choose(problem, lambda, (by, tolerance), budget).unwrap_or(by);
        let Outcome { solver, iterations, wasted, choice, .. } = by;
        self.choice = choice;
        let outcome = self.bench.outcome(problem, lambda, tolerance, (solver, iterations, by.end));
        Outcome { wasted, choice, ..outcome }
    }
}

impl Work for Escalation {
    fn run<const D: usize>(&mut self, mut job: Job<'_>, y: &mut [f64]) -> usize {
        self.centres.settings.clone_from(&self.settings.proximal);
        self.choice = Choice::Unique;
        let mut most_sweeps = 0;
        for k in 0..job.islands.count() {
            let task = Job::task(job.problem, job.islands, job.goals, k);
            let redundant = self.is_redundant(task);
            if redundant && self.chosen_directly(&mut job, k, y) {
                continue;
            }
            let Some(sweeps) = self.pursue::<D>(&mut job, k, redundant, y) else { break };
            most_sweeps = most_sweeps.max(sweeps);
            self.choose(&mut job, k, redundant, y);
        }
        self.done.sweeps += most_sweeps;
        0
    }
}

impl Escalation {
    /// Solves a redundant island and chooses its forces in one: in a few rounds where the current forces and their states
    /// are near the choice, as on islands that are small or move slowly; on others along the path from a large
    /// compliance, whose solution does not depend on the start.
    fn chosen_directly(&mut self, job: &mut Job<'_>, k: usize, y: &mut [f64]) -> bool {
        let task = Job::task(job.problem, job.islands, job.goals, k);
        let (goal, count) = (&job.goals[k], task.contacts.len());
        let slow = goal.start <= GOOD_START * GOOD_START * goal.size;
        let few = task.problem.rows * count <= FEW_ROWS;
        let budget = &mut job.sweeper.budget;
        let (mut systems, mut choice, mut residual) = (0, Choice::NotExamined, goal.left);
        if few || slow && count <= MOST_CHOSEN {
            let (done, made) = self.velocities.choose_within((ROUNDS, true), budget, task, y);
            (systems, choice, residual) = (done.iterations, made, done.residual);
        }
        if !(choice.is_made() || few) && count <= MOST_CHOSEN {
            let spared = budget.rows - budget.rows / PATH_SHARE;
            budget.rows /= PATH_SHARE;
            let (done, made) = self.velocities.choose_along_path(budget, task, y);
            budget.rows += spared;
            (systems, choice, residual) = (systems + done.iterations, made, done.residual);
        }
        self.done.velocity += systems;
        if choice.is_made() {
            job.goals[k].left = residual;
            self.choice = self.choice.max(choice);
            job.sweeper.set_speeds_of(task.problem, task.contacts, y);
        }
        choice.is_made()
    }

    /// Chooses the forces of an island that is solved.
    fn choose(&mut self, job: &mut Job<'_>, k: usize, redundant: bool, y: &mut [f64]) {
        let task = Job::task(job.problem, job.islands, job.goals, k);
        let goal = &mut job.goals[k];
        let solved = matches!(task.problem.a, Operator::Factored(_)) && goal.left <= goal.target;
        if solved && !self.velocities.may_be_open(task, y) {
            return;
        }
        // on large piles of single contacts the choice would cost more than the solution; on large redundant islands the
        // path has failed
        let most = if redundant { FEW_ROWS / task.problem.rows } else { self.settings.small };
        if !(solved && task.contacts.len() <= most) {
            self.choice = self.choice.max(Choice::NotExamined);
        } else {
            let (done, choice) = self.velocities.choose(&mut job.sweeper.budget, task, y);
            self.done.choice += done.iterations;
            goal.left = done.residual;
            self.choice = self.choice.max(choice);
            job.sweeper.set_speeds_of(task.problem, task.contacts, y);
        }
    }

    /// Solves an island by one method after another; returns the number of sweeps, `None` if the island is
    /// abandoned.
    fn pursue<const D: usize>(
        &mut self,
        job: &mut Job<'_>,
        k: usize,
        redundant: bool,
        y: &mut [f64],
    ) -> Option<usize> {
        let Job { problem, islands, goals, sweeper, formed, .. } = job;
        let problem = *problem;
        let task = Job::task(problem, islands, goals, k);
        let goal = &mut goals[k];
        let soon = self.soon::<D>(sweeper, task, *goal, redundant, y);
        goal.left = soon.residual;
        let small = task.contacts.len() <= self.settings.small;
        // from a good start plain Newton needs one or two steps
        let first = redundant && !(small && goal.start <= GOOD_START * GOOD_START * goal.size);
        let by_velocities = first && goal.left > goal.target && sweeper.budget.ended().is_none();
        if by_velocities {
            self.in_velocities(sweeper, task, goal, y);
        }
        let near = goal.left <= goal.target;
        let long = self.done.through_bodies > 0 || redundant && !small;
        let abandon = !self.settings.try_harder && long && !near;
        if abandon || sweeper.budget.ended().is_some() {
            self.done.sweeps += soon.iterations;
            return None;
        }
        // Newton in velocities ends above what plain Newton reaches in one or two steps
        let least = 0.25 * LEAST_KEPT * LEAST_KEPT * goal.size;
        let aim = if by_velocities { goal.aim.min(least) } else { goal.aim };
        let enough = if small { aim } else { goal.target };
        if goal.left > enough && task.contacts.len() <= self.settings.large {
            let (blocks, a) = formed.blocks(problem);
            // within tolerance already: a few steps towards the goal
            let (target, max_steps) = match (near, redundant && !first) {
                (true, _) => (aim, NEAR_STEPS),
                (false, true) => (goal.target, FEW_STEPS),
                (false, false) => (goal.target, self.settings.newton.max_steps),
            };
            let own = newton::Settings { max_steps, ..self.settings.newton.clone() };
            let newton = Task { problem: blocks, target, ..task };
            let done = self.steps.plain::<D>(With { sweeper, a, task: newton, settings: &own }, y);
            let by = if near && by_velocities { &mut self.done.velocity } else { &mut self.done.newton };
            *by += done.iterations;
            goal.left = done.residual;
            sweeper.set_speeds_of(problem, task.contacts, y);
        }
        if goal.left > goal.target && redundant && !first {
            self.in_velocities(sweeper, task, goal, y);
        }
        if goal.left > goal.target {
            let last = self.last::<D>(sweeper, formed, task, goal.left, y);
            goal.left = last;
        }
        Some(soon.iterations)
    }

    /// Solves an island by Newton in velocities.
    fn in_velocities(&mut self, sweeper: &mut Sweeper, task: Task<'_>, goal: &mut Goal, y: &mut [f64]) {
        let done = self.velocities.solve(&mut sweeper.budget, task, y);
        self.done.velocity += done.iterations;
        goal.left = done.residual;
        sweeper.set_speeds_of(task.problem, task.contacts, y);
    }

    /// Whether an island is solved by Newton in velocities: it has several elements, more rows than
    /// velocities, and no patch that couples most of them.
    fn is_redundant(&mut self, task: Task<'_>) -> bool {
        task.contacts.len() >= self.settings.redundant
            && !is_dense(task.problem.a, task.contacts)
            && self.velocities.is_redundant(task)
    }

    /// Sweeps an island, and takes Newton steps through bodies on large islands.
    fn soon<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        task: Task<'_>,
        goal: Goal,
        redundant: bool,
        y: &mut [f64],
    ) -> Done {
        let Settings { small, huge, max_sweeps, momentum_sweeps, foreseen_sweeps, try_harder, .. } =
            self.settings;
        let count = task.contacts.len();
        if count <= small || redundant || is_dense(task.problem.a, task.contacts) {
            let task = Task { target: goal.aim, ..task };
            return relax::<D>(sweeper, task, y, goal.start, max_sweeps, foreseen_sweeps);
        }
        let most = if count > huge { max_sweeps } else { momentum_sweeps };
        let done = self.momentum.relax::<D>(sweeper, task, y, goal.start, most, count <= huge);
        if done.residual > task.target
            && count <= huge
            && let Some(better) = self.through_bodies.solve::<D>(sweeper, task, y, try_harder)
        {
            self.done.through_bodies += better.iterations;
            return Done { residual: better.residual, ..done };
        }
        done
    }

    /// Tries more sweeps, the proximal point method, and sweeps up to their limit; returns the residual that
    /// is left.
    fn last<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        formed: &mut crate::bench::Formed,
        task: Task<'_>,
        left: f64,
        y: &mut [f64],
    ) -> f64 {
        let Task { problem, contacts, target, .. } = task;
        let Settings { small, large, max_sweeps, .. } = self.settings;
        let mut left = left;
        // on large islands the proximal method costs as much as thousands of sweeps
        if contacts.len() > small && !is_dense(problem.a, contacts) {
            let start = sweeper.residual::<D>(problem, contacts, y);
            let done = self.momentum.relax::<D>(sweeper, task, y, start, max_sweeps, false);
            let sweeps =
                if done.residual <= target { &mut self.done.last_sweeps } else { &mut self.done.sweeps };
            *sweeps += done.iterations;
            left = done.residual;
        }
        if left > target && contacts.len() <= large {
            let (blocks, a) = formed.blocks(problem);
            let done = self.centres.island::<D>(sweeper, a, Task { problem: blocks, ..task }, y);
            self.done.proximal += done.iterations;
            left = done.residual;
            sweeper.set_speeds_of(problem, contacts, y);
        }
        if left > target {
            self.kept.clear();
            self.kept.extend_from_slice(y);
            let start = sweeper.residual::<D>(problem, contacts, y);
            let swept = relax::<D>(sweeper, task, y, start, max_sweeps, f64::INFINITY);
            if swept.residual <= left {
                left = swept.residual;
                self.done.last_sweeps += swept.iterations;
            } else {
                self.done.sweeps += swept.iterations;
                y.copy_from_slice(&self.kept);
                sweeper.set_speeds_of(problem, contacts, y);
            }
        }
        left
    }
}

/// Whether most elements of an island influence each other directly, as those of a patch do: a Newton step
/// then costs less than `n` sweeps.
fn is_dense(a: &Operator, contacts: &[usize]) -> bool {
    let neighbours = match a {
        Operator::Dense(_) => contacts.len(),
        Operator::Blocks(a) => a.row(contacts[0]).0.len(),
        Operator::Factored(a) => a.patch_elements(contacts[0]).len(),
    };
    2 * neighbours > contacts.len()
}
