//! Solutions at rest: forces within the friction sets that leave no slip. `borne` finds out whether loads make them.
//!
//! Whether there are any is a convex question. With the associated law (velocity against the whole cone, without De Saxce's `mu |s_t|`) the
//! problem is `min 1/2 lambda' A lambda + b' lambda` over the friction sets: the least kinetic energy that admissible forces leave, whose
//! velocities `A lambda + b` are unique. If forces exist with `A lambda + b = 0`, that is the least, so that it is found; and there the
//! associated law and Coulomb's agree, since De Saxce's term vanishes without slip. So the search cannot miss a solution at rest where
//! friction holds with some margin, however many other motions the step's problem has.
//!
//! The method is that of [`super`]: proximal centres with a decreasing compliance `eps`, and Newton's method on
//! `G(u) = u - W' lambda(W u + b) = 0`, with `lambda = P_K(p / eps)`, the projection on the cone, in the place of Coulomb's explicit law. `G` is the
//! gradient of a convex function then, and steps end where that is least along them. Forces start from zero, and those found depend on no warm start. Where the law's own rounds
//! (`velocity_newton::choice`) reach the limit of equal compliance without another motion, forces are chosen as everywhere.

mod borne;

use super::law::Act;
use super::run::{Ended, FIRST, Run};
use super::{Velocities, Want};
use crate::bench::{Bench, Done, Job, Limits, Task, Work};
use crate::operator::Operator;
use crate::outcome::{Budget, Choice, End, Outcome};
use crate::problem::ContactProblem;

/// Name in reports.
pub const NAME: &str = "rest";

/// Factor of `eps` from centre to centre, and its least value as a share of the mean diagonal of `A`.
const DOWN: f64 = 0.1;
const LEAST: f64 = 1e-9;
/// A centre is solved to this share of what the proximal term adds to the velocities (square), in at most so many Newton steps.
const ACCURACY: f64 = 1e-4;
const STEPS: usize = 40;
/// Below this `eps`, as a share of the mean diagonal, a centre that leaves more than this share of the residual (square) of the one before
/// ends the search: where forces hold, each centre takes a factor of `eps` off.
const DECIDED: (f64, f64) = (1e-4, 0.5);
/// Along a step the slope is brought to this share of the first, in at most so many trials.
const FLAT: f64 = 0.1;
const TRIALS: usize = 30;
/// A solution is sought to this share of the tolerance: forces, and what residuals are relative to, are not known yet, and each element is judged by itself.
const TARGET: f64 = 0.01;
/// Residual, as a share of the load (square), from which Coulomb's own iterations may end the search.
const NEAR: f64 = 1e-8;
/// Rounds of the choice of forces.
const ROUNDS: usize = 6;
/// Velocities that differ by less than this share of the load (square) are the same motion.
const SAME: f64 = 1e-16;

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Found {
    /// No solution at rest.
    #[default]
    Nothing,
    /// A solution at rest.
    Rest,
    /// A solution at rest with forces that loads do not make, see `borne`.
    Wedged,
}

impl<const D: usize, const P: usize> Run<'_, D, P> {
    /// Searches forces that leave no slip. If there are none that it can find, the forces are the best it met.
    pub fn rest(&mut self) -> (Found, Choice) {
        self.island.weight.fill(1.0);
        self.island.force.fill(0.0);
        self.island.recentre();
        self.memory.best.clone_from(&self.island.force);
        let accuracy = TARGET * self.settings.tolerance;
        self.target = self.target.max(accuracy * accuracy * self.island.size());
        let mut left = self.island.residual_at_rest();
        self.island.set_act(Act::Cone);
        let mut found = left <= self.target || self.centres(&mut left);
        self.island.set_act(Act::Coulomb);
        self.island.force.clone_from(&self.memory.best);
        if !found && left <= NEAR * self.island.size() && self.solve() == Ended::Solved {
            self.island.recentre();
            found = self.island.residual_at_rest() <= NEAR * self.island.size();
        }
        match () {
            () if !found => (Found::Nothing, Choice::NotExamined),
            () if !self.is_borne() => (Found::Wedged, Choice::NotExamined),
            () => (Found::Rest, self.choose_at_rest()),
        }
    }

    /// Runs the proximal centres; whether the residual of both laws came within the target.
    fn centres(&mut self, left: &mut f64) -> bool {
        let (mut eps, mut last) = (FIRST * self.mean, *left);
        while eps >= LEAST * self.mean {
            // where Newton's method stops short, the next centre begins at what it reached
            let solved = self.descend(eps);
            let residual = self.island.residual_at_rest();
            if residual < *left {
                *left = residual;
                self.memory.best.clone_from(&self.island.force);
            }
            let decided = eps <= DECIDED.0 * self.mean && solved && residual > DECIDED.1 * last;
            if residual <= self.target || decided || self.spent() {
                return residual <= self.target;
            }
            last = residual;
            self.island.recentre();
            eps *= DOWN;
        }
        false
    }

    /// Newton's method where `G` is the gradient of a convex function: steps end where that is least along them, so that they always lower it.
    fn descend(&mut self, eps: f64) -> bool {
        let worth = self.mean * self.island.redundancy();
        let mut merit = self.island.evaluate(eps);
        for _ in 0..=STEPS {
            if worth * merit <= ACCURACY * self.island.shift(eps).max(self.target) {
                return true;
            }
            if self.spent() || !self.island.find_step(eps) {
                return false;
            }
            self.memory.steps += 1;
            self.budget.spend(D * self.island.work());
            merit = self.least_along(eps);
        }
        false
    }

    /// Moves along the Newton step to where the function is least, by regula falsi (Illinois) on its slope; returns `|G|^2` there.
    fn least_along(&mut self, eps: f64) -> f64 {
        let first = self.island.slope_along();
        self.island.begin_search();
        let (mut low, mut high) = ((0.0, first), (1.0, 0.0));
        let mut t = 1.0;
        let mut merit = f64::INFINITY;
        for trial in 0..TRIALS {
            self.island.move_to(t);
            merit = self.island.evaluate(eps);
            let slope = self.island.slope_along();
            if slope.abs() <= FLAT * first.abs() || trial == 0 && slope < 0.0 {
                break;
            }
            if slope > 0.0 {
                // the other end moves in when one stays
                low.1 *= if trial > 0 && high.1 > 0.0 { 0.5 } else { 1.0 };
                high = (t, slope);
            } else {
                high.1 *= 0.5;
                low = (t, slope);
            }
            t = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
        }
        merit
    }

    /// Chooses forces, if that leaves the motion as it is.
    fn choose_at_rest(&mut self) -> Choice {
        self.island.recentre();
        self.island.residual();
        let mut rest = std::mem::take(&mut self.memory.rest);
        rest.0.clone_from(&self.island.force);
        rest.1.clear();
        rest.1.extend_from_slice(self.island.speeds());
        let mut choice = self.choose_within((ROUNDS, true));
        self.island.recentre();
        let residual = self.island.residual();
        let apart: f64 = self.island.speeds().iter().zip(&rest.1).map(|(a, b)| (a - b) * (a - b)).sum();
        if !choice.is_made() || residual > self.target || apart > SAME * self.island.size() {
            self.island.force.clone_from(&rest.0);
            choice = Choice::NoLimit;
        }
        self.memory.rest = rest;
        choice
    }
}

/// What is known of an element when a step begins, m/s.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Beginning {
    /// Relative velocity with which a closed rigid contact with friction begins the step; `None` if it is another element, or open.
    pub speed: Option<f64>,
    /// Change of its relative velocity by the loads of the step, without contact forces.
    pub load: f64,
    /// Velocity that a gap within rounding may add.
    pub noise: f64,
}

/// Relative velocity with which an element ends a step, m/s, from its number, its forces and velocities; 0 where it does not count.
pub type Ending<'a> = dyn Fn(usize, &[f64], &[f64]) -> f64 + 'a;

/// Velocities below this share of what the loads of the island change in a step are rest.
pub const REST: f64 = 1e-6;

/// Search for solutions at rest, with its memory.
#[derive(Debug, Clone, Default)]
pub struct RestSearch {
    bench: Bench,
    search: Search,
    /// Of each island, by its first element: what loads change and gaps add, whether it began at rest, and whether it moves.
    islands: Vec<Seen>,
    given: Vec<f64>,
    kept: Vec<usize>,
    left: Vec<usize>,
    searched: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    load: f64,
    noise: f64,
    began: f64,
    ended: f64,
    /// Whether contacts with friction are closed.
    closed: bool,
    wanted: bool,
    wedged: bool,
}

impl Seen {
    fn limit(&self) -> f64 {
        REST * self.load + 2.0 * self.noise
    }
}

/// The part of the search that works island by island.
#[derive(Debug, Clone, Default)]
struct Search {
    velocities: Velocities,
    /// Of each element, whether its island is sought, and what was found.
    wanted: Vec<bool>,
    found: Vec<Found>,
    choice: Choice,
}

impl Work for Search {
    fn run<const D: usize>(&mut self, job: Job<'_>, y: &mut [f64]) -> usize {
        let Job { problem, islands, members, goals, sweeper, .. } = job;
        let mut total = 0;
        for k in 0..islands.count() {
            if !self.wanted[members[islands.island(k)[0]]] {
                goals[k].left = goals[k].start;
                continue;
            }
            let task = Job::task(problem, islands, goals, k);
            let (done, (found, choice)) = self.velocities.rest(&mut sweeper.budget, task, y);
            goals[k].left = done.residual;
            total += done.iterations;
            self.choice = self.choice.max(if found == Found::Rest { choice } else { Choice::Unique });
            islands.island(k).iter().for_each(|&c| self.found[members[c]] = found);
        }
        total
    }
}

impl Velocities {
    /// Searches a solution at rest of one island.
    fn rest(&mut self, budget: &mut Budget, task: Task<'_>, y: &mut [f64]) -> (Done, (Found, Choice)) {
        let (_, choice, done) = self.island(Want::Rest, budget, task, y);
        (done, (self.memory.found, choice))
    }
}

impl RestSearch {
    /// `s = A lambda + b` of the last result.
    pub fn speed(&self) -> &[f64] {
        &self.bench.evaluation.speed
    }

    /// Writes the speed up to which each element rests at the tolerance, with the forces of the last result: m/s, for a rotational row rad/s.
    pub fn write_rest(
        &self,
        problem: ContactProblem<'_>,
        lambda: &[f64],
        tolerance: f64,
        out: &mut Vec<f64>,
    ) {
        self.bench.evaluation.write_rest(problem, lambda, tolerance, out);
    }

    /// Elements of the islands that the last search kept at rest.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Elements of the islands that could stay at rest, by forces that no load makes, and do not.
    pub fn left(&self) -> &[usize] {
        &self.left
    }

    /// Whether the last call had an island to search.
    pub fn has_searched(&self) -> bool {
        self.searched
    }

    /// What is left of the work that the last search was allowed.
    pub fn budget(&self) -> &Budget {
        &self.bench.sweeper.budget
    }

    /// Islands that began at rest, and that do not end there with the forces `lambda` and velocities `speed`: replaces their forces by
    /// those of a solution at rest, where there is one. `None` if nothing has changed; then `lambda` is what it was. `speed` is empty
    /// where no solution is known: all islands that began at rest are searched.
    pub fn solve(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &mut [f64],
        speed: &[f64],
        (beginnings, ending): (&[Beginning], &Ending<'_>),
        (tolerance, budget): (f64, Budget),
    ) -> Option<Outcome> {
        self.kept.clear();
        self.left.clear();
        self.searched = false;
        self.bench.sweeper.budget = budget;
        if !matches!(problem.a, Operator::Factored(_)) || !self.bench.evaluation.prepare(problem) {
            return None;
        }
        if !self.select(lambda, speed, beginnings, ending) {
            return None;
        }
        self.searched = true;
        self.given.clear();
        self.given.extend_from_slice(lambda);
        for k in 0..beginnings.len() {
            let evaluation = &self.bench.evaluation;
            if self.islands[evaluation.islands.number_of(k)].wanted {
                lambda[evaluation.offsets[k]..evaluation.offsets[k + 1]].fill(0.0);
            }
        }
        // a solution that is wedged is better than none
        let found = self.search(problem, lambda, (ending, !speed.is_empty()), tolerance);
        if found.is_none() {
            lambda.copy_from_slice(&self.given);
            self.kept.clear();
        }
        found
    }

    /// Finds the islands to search; whether there are any.
    fn select(
        &mut self,
        lambda: &[f64],
        speed: &[f64],
        beginnings: &[Beginning],
        ending: &Ending<'_>,
    ) -> bool {
        let evaluation = &self.bench.evaluation;
        self.islands.clear();
        self.islands.resize(evaluation.islands.count(), Seen::default());
        for (k, begin) in beginnings.iter().enumerate() {
            let seen = &mut self.islands[evaluation.islands.number_of(k)];
            seen.load = seen.load.max(begin.load);
            seen.noise = seen.noise.max(begin.noise);
            let Some(began) = begin.speed else { continue };
            seen.closed = true;
            seen.began = seen.began.max(began);
            let at = evaluation.offsets[k]..evaluation.offsets[k + 1];
            seen.ended = match speed.is_empty() {
                true => f64::INFINITY,
                false => seen.ended.max(ending(k, &lambda[at.clone()], &speed[at])),
            };
        }
        for seen in &mut self.islands {
            seen.wanted = seen.closed && seen.began <= seen.limit() && seen.ended > seen.limit();
        }
        self.islands.iter().any(|seen| seen.wanted)
    }

    /// Searches the islands that are wanted and keeps what it finds.
    fn search(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &mut [f64],
        (ending, solved): (&Ending<'_>, bool),
        tolerance: f64,
    ) -> Option<Outcome> {
        let Self { bench, search, islands, given, kept, left, .. } = self;
        let elements = 0..problem.elements.len();
        search.choice = Choice::Unique;
        search.velocities.settings.tolerance = tolerance;
        search.wanted.clear();
        search.wanted.extend(elements.clone().map(|k| islands[bench.evaluation.islands.number_of(k)].wanted));
        search.found.clear();
        search.found.resize(elements.len(), Found::Nothing);
        if bench.begin(problem, lambda, -1.0, NAME).is_some() {
            return None;
        }
        let limits = Limits { tolerance: 0.5 * tolerance, goal: 0.5 * tolerance, foresight: 1.0 };
        let done = bench.solve(problem, lambda, limits, (NAME, End::Stalled), search);
        // what was not found, or does not rest, keeps its forces
        let evaluation = &bench.evaluation;
        let number = |k: usize| evaluation.islands.number_of(k);
        for k in elements.clone() {
            let at = evaluation.offsets[k]..evaluation.offsets[k + 1];
            let seen = &mut islands[number(k)];
            let ends = ending(k, &lambda[at.clone()], &evaluation.speed[at]);
            let rests = evaluation.relative[number(k)] <= tolerance && ends <= seen.limit();
            seen.wanted &= rests && search.found[k] != Found::Nothing;
            seen.wedged |= solved && search.found[k] == Found::Wedged;
        }
        let is_kept = |k: &usize| islands[number(*k)].wanted && !islands[number(*k)].wedged;
        kept.extend(elements.clone().filter(is_kept));
        left.extend(elements.clone().filter(|&k| islands[number(k)].wanted && islands[number(k)].wedged));
        if kept.is_empty() {
            return None;
        }
        for k in elements.filter(|k| !is_kept(k)) {
            let at = evaluation.offsets[k]..evaluation.offsets[k + 1];
            lambda[at.clone()].copy_from_slice(&given[at]);
        }
        let by = (NAME, done.iterations, done.end);
        let outcome = bench.outcome(problem, lambda, tolerance, by);
        outcome.is_solved().then_some(Outcome { choice: search.choice, ..outcome })
    }
}
