//! `auto`: the one escalation policy, for a step of a simulation and for a problem from a file alike.
//!
//! The warm start is evaluated first: forces that are well within tolerance stay. Then islands are solved apart, each by the next method that promises to
//! end soon:
//!
//! 1. Gauss-Seidel sweeps, as long as few more are foreseen; on large islands with momentum;
//! 2. the proximal Newton method in velocities, where an island has more rows than its bodies have velocities; on other large islands of free bodies Newton
//!    steps in velocities for the forces at hand (`through_bodies`);
//! 3. Newton from the states that were found;
//! 4. more sweeps, the proximal point method with Newton inside, and sweeps to the end.
//!
//! If an island is left, the whole problem is tried by Lemke's method where all friction is polygonal, and by the interior point for cones; by both only if the problem
//! is small or [`Settings::try_harder`] is set, for a simulation may rather make a shorter step.
//!
//! Sweeps, and Newton on small islands, aim below the tolerance (`goal`) as long as that costs little: what a step of a simulation leaves is the
//! next step's velocity and gap, so that errors near the tolerance would have bodies at rest solved again and again. A start that is nearly good
//! belongs to bodies at rest: they are brought to rounding once, and then left alone (`at_rest`).
//!
//! Factored operators are swept through the bodies, and multiplied out only for the Newton methods that come last.

use super::cone_interior_point::ConeInteriorPoint;
use super::gauss_seidel::{self, Momentum, relax};
use super::newton::proximal::{self, Centres, ProximalNewton};
use super::newton::through_bodies::ThroughBodies;
use super::newton::{self, Steps, With};
use super::polyhedral::Polyhedral;
use super::velocity_newton::{self, Velocities};
use super::{Budget, Choice, End, Outcome};
use crate::bench::{Bench, Done, Goal, Job, Limits, Task, Work};
use crate::operator::Operator;
use crate::problem::ContactProblem;
use crate::sweep::Sweeper;

/// Name in reports of a warm start that is kept.
pub const WARM_START: &str = "warm-start";
/// Least relative residual to aim at: rounding; and up to which any warm start is left as it is.
const LEAST_GOAL: f64 = 2e-14;
const LEAST_KEPT: f64 = 1e-13;
const NOTHING_KEPT: f64 = -1.0;
/// Rounds of the choice of forces from the warm start, before other methods solve a redundant island.
const ROUNDS: usize = 3;
/// Forces over the load, in the measure of the residual, that are expected of a bad start.
const FORESIGHT: f64 = 4.0;
/// Newton steps towards the goal on an island that is within tolerance; and on a redundant one from a start with at most this relative residual.
const NEAR_STEPS: usize = 3;
const FEW_STEPS: usize = 4;
const GOOD_START: f64 = 1e-3;
/// A start with at most this relative residual is that of bodies at rest.
const AT_REST: f64 = 1e-8;
/// Elements of a problem, and rows, up to which it is handed on as a whole.
const FEW: usize = 40;
const MOST_ROWS: usize = 1000;
/// Rows up to which the proximal point method starts again from zero at the very end.
const FEW_ROWS: usize = 150;

/// Settings of [`Auto`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Share of the tolerance up to which a warm start is left as it is, if bodies are at rest.
    pub keep: f64,
    /// Share of the tolerance to aim at while that is cheap.
    pub goal: f64,
    /// Further sweeps that Gauss-Seidel may foresee before others take over.
    pub foreseen_sweeps: f64,
    /// Elements of an island up to which a Newton step costs a few sweeps; beyond, sweeps with momentum come first.
    pub small: usize,
    /// Elements from which on an island with more rows than velocities is handed to Newton in velocities.
    pub redundant: usize,
    /// Sweeps with momentum before Newton takes over.
    pub momentum_sweeps: usize,
    /// Elements of an island beyond which Newton methods that multiply `A` out are not tried.
    pub large: usize,
    /// Elements of an island beyond which Newton through bodies is not tried either.
    pub huge: usize,
    /// Sweeps at the very end.
    pub max_sweeps: usize,
    /// Whether islands and problems that are not solved soon are pursued. A simulation may rather make a shorter step.
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

/// The policy and the memory of its methods.
#[derive(Debug, Clone, Default)]
pub struct Auto {
    /// May be changed between solves.
    pub settings: Settings,
    /// Whether the forces of the warm start are those of bodies at rest: the solve before also had a good start. Forces that have just stopped a
    /// body are not: they would set it moving again.
    pub at_rest: bool,
    /// Choice of the forces of the warm start, reported if they are kept; then that of the result.
    pub choice: Choice,
    pub(crate) bench: Bench,
    escalation: Escalation,
    polyhedral: Option<Box<Polyhedral>>,
    interior_point: Option<Box<ConeInteriorPoint>>,
    proximal: Option<Box<ProximalNewton>>,
    /// The warm start.
    given: Vec<f64>,
}

/// Iterations of each method.
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

/// Methods for islands, and their memory.
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

    /// Islands that the last solve did not bring within tolerance: how many elements each has, and the norm of their natural map, `R`.
    pub fn unsolved(&self) -> impl Iterator<Item = (usize, f64)> {
        self.bench.unsolved.iter().copied()
    }

    /// `s = A lambda + b` of the last result.
    pub fn speed(&self) -> &[f64] {
        &self.bench.evaluation.speed
    }

    /// Work that the next solves may do.
    pub fn set_budget(&mut self, budget: Budget) {
        self.bench.sweeper.budget = budget;
    }

    /// Solves from the warm start `lambda`, which takes the result.
    pub fn solve(&mut self, problem: ContactProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        let good = (self.settings.keep * tolerance).max(LEAST_KEPT).min(tolerance);
        let keep = match problem.a {
            _ if self.at_rest => good,
            // there may be others
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
        let goal = if self.bench.start <= AT_REST { 0.0 } else { self.settings.goal * tolerance };
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
            // forces of which there may be others are not kept
            self.at_rest &= outcome.choice <= Choice::NotExamined;
            return outcome;
        }
        if within {
            // what was given was a solution
            lambda.copy_from_slice(&self.given);
            let kept = self.bench.outcome(problem, lambda, tolerance, (WARM_START, 0, End::Stalled));
            return Outcome { wasted: total, ..kept };
        }
        if outcome.end != End::Stalled || !(self.settings.try_harder || problem.elements.len() <= FEW) {
            return outcome;
        }
        self.as_a_whole(problem, lambda, outcome)
    }

    /// Lemke's method where friction is polygonal, then the interior point for cones; the best of their forces and those at hand.
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
            // it had gone on from what the others left: from zero it may find its way
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

    /// The same with the velocities at hand.
    fn solved_by(&mut self, problem: ContactProblem<'_>, lambda: &[f64], by: Outcome) -> Outcome {
        self.bench.unsolved.clear();
        let Outcome { solver, iterations, wasted, .. } = by;
        let outcome =
            self.bench.outcome(problem, lambda, self.settings.tolerance, (solver, iterations, by.end));
        Outcome { wasted, ..outcome }
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
            let small = task.contacts.len() <= self.settings.small;
            if redundant && small && self.chosen_at_once(&mut job, k, y) {
                continue;
            }
            let Some(sweeps) = self.pursue::<D>(&mut job, k, redundant, y) else { break };
            most_sweeps = most_sweeps.max(sweeps);
            self.choose(&mut job, k, y);
        }
        self.done.sweeps += most_sweeps;
        0
    }
}

impl Escalation {
    /// The choice of forces directly, where those at hand and their states are near it.
    fn chosen_at_once(&mut self, job: &mut Job<'_>, k: usize, y: &mut [f64]) -> bool {
        let task = Job::task(job.problem, job.islands, job.goals, k);
        let (done, choice) = self.velocities.choose_within(ROUNDS, &mut job.sweeper.budget, task, y);
        self.done.velocity += done.iterations;
        if choice.is_made() {
            job.goals[k].left = done.residual;
            self.choice = self.choice.max(choice);
            job.sweeper.set_speeds_of(task.problem, task.contacts, y);
        }
        choice.is_made()
    }

    /// Chooses the forces of an island that is solved.
    fn choose(&mut self, job: &mut Job<'_>, k: usize, y: &mut [f64]) {
        let task = Job::task(job.problem, job.islands, job.goals, k);
        let goal = &mut job.goals[k];
        // on large islands it would cost more than the solution
        let examined = matches!(task.problem.a, Operator::Factored(_))
            && goal.left <= goal.target
            && task.contacts.len() <= self.settings.small;
        if !examined {
            self.choice = self.choice.max(Choice::NotExamined);
        } else if self.velocities.may_be_open(task, y) {
            let (done, choice) = self.velocities.choose(&mut job.sweeper.budget, task, y);
            self.done.choice += done.iterations;
            goal.left = done.residual;
            self.choice = self.choice.max(choice);
            job.sweeper.set_speeds_of(task.problem, task.contacts, y);
        }
    }

    /// Solves an island by one method after another: the number of sweeps, `None` if it is abandoned.
    fn pursue<const D: usize>(
        &mut self,
        job: &mut Job<'_>,
        k: usize,
        redundant: bool,
        y: &mut [f64],
    ) -> Option<usize> {
        let Job { problem, islands, goals, sweeper, formed } = job;
        let problem = *problem;
        let task = Job::task(problem, islands, goals, k);
        let goal = &mut goals[k];
        let soon = self.soon::<D>(sweeper, task, *goal, redundant, y);
        goal.left = soon.residual;
        let small = task.contacts.len() <= self.settings.small;
        // from a good start plain Newton needs a step or two
        let first = redundant && !(small && goal.start <= GOOD_START * GOOD_START * goal.size);
        let by_velocities = first && goal.left > goal.target && sweeper.budget.ended().is_none();
        if by_velocities {
            self.in_velocities(sweeper, task, goal, y);
        }
        let near = goal.left <= goal.target;
        let long = self.done.through_bodies > 0 || redundant && !small;
        let give_up = !self.settings.try_harder && long && !near;
        if give_up || sweeper.budget.ended().is_some() {
            self.done.sweeps += soon.iterations;
            return None;
        }
        // Newton in velocities ends above what plain Newton reaches in a step or two
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

    /// Newton in velocities.
    fn in_velocities(&mut self, sweeper: &mut Sweeper, task: Task<'_>, goal: &mut Goal, y: &mut [f64]) {
        let done = self.velocities.solve(&mut sweeper.budget, task, y);
        self.done.velocity += done.iterations;
        goal.left = done.residual;
        sweeper.set_speeds_of(task.problem, task.contacts, y);
    }

    /// Whether Newton in velocities is the method for an island: it has several elements, more rows than velocities, and no patch that couples most of them.
    fn is_redundant(&mut self, task: Task<'_>) -> bool {
        task.contacts.len() >= self.settings.redundant
            && !is_dense(task.problem.a, task.contacts)
            && self.velocities.is_redundant(task)
    }

    /// Sweeps, and Newton through bodies on large islands.
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

    /// More sweeps, the proximal point method, sweeps to the end; what is left.
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

/// Whether most elements of an island influence each other at once, as those of a patch do: a Newton step then costs less than `n` sweeps.
fn is_dense(a: &Operator, contacts: &[usize]) -> bool {
    let neighbours = match a {
        Operator::Dense(_) => contacts.len(),
        Operator::Blocks(a) => a.row(contacts[0]).0.len(),
        Operator::Factored(a) => a.patch_elements(contacts[0]).len(),
    };
    2 * neighbours > contacts.len()
}
