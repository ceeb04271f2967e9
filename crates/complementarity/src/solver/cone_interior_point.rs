//! Interior-point method for Coulomb's cone and polygons, with the nonsmooth term of friction in the Newton system.
//!
//! Problem, in the units of `scaled`: `u = W x + q`, and for each contact
//!
//! ```text
//! x in L,  y = u + |u_t| e_1 in L,  x o y = 0        L = { |x_t| <= x_n },  x o y = (x' y, x_n y_t + y_n x_t)
//! ```
//!
//! Where the friction set is a polygon, with normals `e_j` of the sides at the distance `a`, maximum dissipation is a linear program. Its
//! multipliers `z_j` are unknowns too, and `a sum z_j` is in the place of `|u_t|`, so that `x' y` is the sum of all products:
//!
//! ```text
//! w_j = a x_n - e_j . x_t,  u_t = -sum z_j e_j,  x_n u_n = 0,  z_j w_j = 0        x_n, u_n, z_j, w_j >= 0
//! ```
//!
//! Source: Acary, Armand, Nguyen, Shpakovych, "Second-order cone programming for frictional contact mechanics using interior point
//! algorithm" (2024), whose nonsmooth variant keeps De Saxce's term `|u_t|` among the unknowns of each step; predictor and corrector of Mehrotra.
//! Polygons are not in it: they are treated as in linear programs, with `dz_j` eliminated, so that the systems are no larger than with discs.
//!
//! Deviations:
//! - the unknown is `u`, not `y`: `y` is interior exactly if `u_n > 0`, the equation `u = W x + q` stays linear, and
//!   `y_n - |y_t| = u_n` is known without cancellation;
//! - no Nesterov-Todd scaling: the product `x o y` is linearised as it stands (the direction of Alizadeh, Haeberly and Overton). With the
//!   scaling, the angle between `x_t` and `y_t` of a sliding contact converges only as the root of the gap, and 1e-8 is out of reach;
//! - the step may go nearer to the boundary as the gap closes, which makes the end quadratic;
//! - a polygon's products are not all alike on the central path: `x_n u_n` is a fifth of the contact's gap, however many sides there are.
//!
//! Warm start: a solution is kept. Other forces, unless they are all zero, with their `v = x - y` give the point on which `x - y = v` and `x o y` is a
//! multiple of the centre (the smoothing function of Chen, Harker, Kanzow and Smale; polygons alike, by small Newton steps contact by contact); how far
//! inside it is follows from the natural map of the forces. If that stalls, the method starts from its own centre, as it does without a warm start. Discs: random problems, boxes and spheres of the
//! crate's tests and Siconos' (362 to 380, solved from zero) take 2097 to 2243 steps from zero; from the forces before `b` was changed 385, 470, 682 and 982
//! for changes of 1e-4, 1e-3, 1e-2 and 1e-1 of its length.
//!
//! One factorisation a step. `A` may be singular, and need not be symmetric.

mod cones;
mod newton;
mod point;

use super::scaled::Scaled;
use super::{End, Outcome};
use crate::bench::{Bench, Goal, Job, Limits, Work};
use crate::problem::ContactProblem;
use cones::Cones;
use newton::Newton;
use point::{Direction, Point, Target};

/// Name in reports.
pub const NAME: &str = "cone-interior-point";

/// Settings of the interior point. Defaults were set on the FCLIB problems that come with Siconos.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Lengths of the starting points of its own, tried one after another; `q` has length 1.
    pub starts: [f64; 3],
    /// Newton steps from a start before it is abandoned (a solution takes 4 to 30).
    pub max_iterations: usize,
    /// Share of the way to the boundary that a step may take; where a step of `long_step` is possible, the share is `1 - gap` if that is more.
    pub fraction: f64,
    /// See `fraction`. Shorter steps must not end near the boundary: later ones would be caught there.
    pub long_step: f64,
    /// A step shorter than this is taken without the corrector's second-order term and with `safe_centering` at the least.
    pub short_step: f64,
    /// See `short_step`: weight of the centre, as a share of the gap.
    pub safe_centering: f64,
    /// Short steps in a row after which a start is abandoned.
    pub max_short_steps: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            starts: [1.0, 1000.0, 100000.0],
            max_iterations: 100,
            fraction: 0.95,
            long_step: 0.9,
            short_step: 0.1,
            safe_centering: 0.3,
            max_short_steps: 10,
        }
    }
}

impl Settings {
    /// Length of a step, with the boundary at `most`.
    fn length(&self, most: f64, gap: f64) -> f64 {
        let near = most * self.fraction.max(1.0 - gap);
        if near >= self.long_step { near.min(1.0) } else { self.fraction * most }
    }
}

/// The centre's weight is (gap after the predictor / gap before)^this (Mehrotra), kept within `LEAST_CENTERING..=1`.
const CENTERING_EXPONENT: i32 = 3;
const LEAST_CENTERING: f64 = 1e-6;

/// The method with its memory.
#[derive(Debug, Clone, Default)]
pub struct ConeInteriorPoint {
    /// May be changed between solves.
    pub settings: Settings,
    pub(crate) bench: Bench,
    path: Path,
}

/// The path to the solution of a scaled problem.
#[derive(Debug, Clone, Default)]
struct Path {
    settings: Settings,
    scaled: Scaled,
    cones: Cones,
    point: Point,
    newton: Newton,
    predictor: Direction,
    corrector: Direction,
    target: Target,
    projected: Vec<f64>,
    forces: Vec<f64>,
    best: Vec<f64>,
}

impl ConeInteriorPoint {
    /// `s = A lambda + b` of the last result.
    pub fn speed(&self) -> &[f64] {
        &self.bench.evaluation.speed
    }

    /// Solves from the warm start `lambda`, which takes the result, or the best try. Bounded and bilateral rows are not known to it: islands with them stay as they are.
    pub fn solve(&mut self, problem: ContactProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        if let Some(outcome) = self.bench.begin(problem, lambda, tolerance, NAME) {
            return outcome;
        }
        self.path.settings.clone_from(&self.settings);
        let limits = Limits { tolerance, goal: tolerance, foresight: 1.0 };
        self.bench.solve(problem, lambda, limits, (NAME, End::Stalled), &mut self.path)
    }
}

/// The largest residual of an island over its target; each island's is left in its goal. Islands that were solved from the start are left out: where nothing is loaded
/// the target is zero, which no interior point reaches.
fn worst<const D: usize>(job: &mut Job<'_>, y: &[f64]) -> f64 {
    job.sweeper.set_speeds(job.problem, y);
    let mut most = 0.0f64;
    for (k, goal) in job.goals.iter_mut().enumerate().filter(|(_, g)| g.start > g.target) {
        let Goal { target, left, .. } = goal;
        *left = job.sweeper.residual::<D>(job.problem, job.islands.island(k), y);
        most = most.max(*left / target.max(f64::MIN_POSITIVE));
    }
    most
}

impl Work for Path {
    fn run<const D: usize>(&mut self, mut job: Job<'_>, y: &mut [f64]) -> usize {
        let problem = job.problem;
        if problem.laws.iter().any(|law| !law.is_contact()) {
            return 0;
        }
        let (blocks, _) = job.formed.blocks(problem);
        if !self.scaled.fill(blocks) {
            y.fill(0.0);
            worst::<D>(&mut job, y);
            return 0;
        }
        self.cones.fill(problem);
        self.newton.prepare(&self.scaled);
        let mut best = worst::<D>(&mut job, y);
        self.best.clear();
        self.best.extend_from_slice(y);
        self.forces.resize(y.len(), 0.0);
        let mut iterations = 0;
        let warm = y.iter().any(|l| *l != 0.0);
        for length in warm.then_some(None).into_iter().chain(self.settings.starts.map(Some)) {
            match length {
                None => self.point.start_near(&self.scaled, &self.cones, problem, y, &mut self.projected),
                Some(length) => self.point.start(&self.scaled, &self.cones, length),
            }
            if self.descend::<D>(&mut job, &mut best, &mut iterations) {
                break;
            }
        }
        for k in (0..job.islands.count()).filter(|&k| job.goals[k].start > job.goals[k].target) {
            for &c in job.islands.island(k) {
                y[D * c..][..D].copy_from_slice(&self.best[D * c..][..D]);
            }
        }
        worst::<D>(&mut job, y);
        iterations
    }
}

impl Path {
    /// Steps from the point at hand until there is a solution (true), or no further progress.
    fn descend<const D: usize>(&mut self, job: &mut Job<'_>, best: &mut f64, iterations: &mut usize) -> bool {
        let mut short = 0;
        for _ in 0..self.settings.max_iterations {
            if job.sweeper.budget.ended().is_some() {
                return true;
            }
            let Some(step) = self.step() else { return false };
            *iterations += 1;
            job.sweeper.budget.spend(D * self.scaled.w.blocks());
            for projected in [false, true] {
                if projected {
                    self.point.project(job.problem, &mut self.projected);
                    self.scaled.forces(&self.projected, &mut self.forces);
                } else {
                    self.scaled.forces(&self.point.x, &mut self.forces);
                }
                let found = worst::<D>(job, &self.forces);
                if found < *best {
                    *best = found;
                    self.best.copy_from_slice(&self.forces);
                }
            }
            if *best <= 1.0 {
                return true;
            }
            short = if step < self.settings.short_step { short + 1 } else { 0 };
            if short > self.settings.max_short_steps {
                return false;
            }
        }
        false
    }

    /// One predictor-corrector step; its length. `None` if the linear system cannot be solved.
    fn step(&mut self) -> Option<f64> {
        let Self { settings, scaled, cones, point, newton, predictor, corrector, target, .. } = self;
        newton.factor(scaled, cones, point)?;

        // predictor: x o y = 0
        point.to_zero(cones, target);
        newton.solve(scaled, cones, point, target, predictor)?;
        let alpha = point.step_to_boundary(cones, predictor).min(1.0);
        let ratio = (point.gap_after(cones, predictor, alpha) / point.gap).clamp(0.0, 1.0);
        let sigma = if alpha > settings.short_step { ratio.powi(CENTERING_EXPONENT) } else { 0.5 };
        let sigma = sigma.max(LEAST_CENTERING);

        // corrector: x o y = sigma gap e - dx o dy
        point.second_order(cones, predictor, target);
        target.add_centre(cones, sigma * point.gap);
        newton.solve(scaled, cones, point, target, corrector)?;
        let mut alpha = settings.length(point.step_to_boundary(cones, corrector), point.gap);
        if alpha < settings.short_step {
            point.to_zero(cones, target);
            target.add_centre(cones, sigma.max(settings.safe_centering) * point.gap);
            newton.solve(scaled, cones, point, target, corrector)?;
            alpha = settings.length(point.step_to_boundary(cones, corrector), point.gap);
        }
        point.advance(scaled, cones, corrector, alpha).then_some(alpha)
    }
}
