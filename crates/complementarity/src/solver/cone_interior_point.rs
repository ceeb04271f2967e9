//! Interior-point method for Coulomb's cone, with the nonsmooth term of friction in the Newton system.
//!
//! Problem, in the units of `scaled`: `u = W x + q`, and for each contact
//!
//! ```text
//! x in L,  y = u + |u_t| e_1 in L,  x o y = 0        L = { |x_t| <= x_n },  x o y = (x' y, x_n y_t + y_n x_t)
//! ```
//!
//! Source: Acary, Armand, Nguyen, Shpakovych, "Second-order cone programming for frictional contact mechanics using interior point
//! algorithm" (2024), whose nonsmooth variant keeps De Saxce's term `|u_t|` among the unknowns of each step; predictor and corrector of Mehrotra.
//!
//! Deviations:
//! - the unknown is `u`, not `y`: `y` is interior exactly if `u_n > 0`, the equation `u = W x + q` stays linear, and
//!   `y_n - |y_t| = u_n` is known without cancellation;
//! - no Nesterov-Todd scaling: the product `x o y` is linearised as it stands (the direction of Alizadeh, Haeberly and Overton). With the
//!   scaling, the angle between `x_t` and `y_t` of a sliding contact converges only as the root of the gap, and 1e-8 is out of reach;
//! - the step may go nearer to the boundary as the gap closes, which makes the end quadratic.
//!
//! Warm start: a solution is kept. Other forces, unless they are all zero, with their `z = x - y` give the point on which `x - y = z` and `x o y` is a
//! multiple of the centre (the smoothing function of Chen, Harker, Kanzow and Smale); how far inside it is follows from the natural map of the
//! forces. If that stalls, the method starts from its own centre, as it does without a warm start. Random problems, boxes and spheres of the
//! crate's tests and Siconos' (362 to 380, solved from zero) take 2097 to 2243 steps from zero; from the forces before `b` was changed 385, 470, 682 and 982
//! for changes of 1e-4, 1e-3, 1e-2 and 1e-1 of its length.
//!
//! One factorisation a step. `A` may be singular, and need not be symmetric.

use super::scaled::{Scaled, tangential};
use super::system::System;
use super::{End, Outcome};
use crate::bench::Bench;
use crate::cone::project_in_place;
use crate::matrix::dot;
use crate::problem::{ConeProblem, Friction, Sets};
use crate::residual::{self, ConeScratch, Residual};

/// Name in reports.
pub const NAME: &str = "cone-interior-point";

/// Settings of the interior point. Defaults were set on the FCLIB problems that come with Siconos.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Lengths of the starting points of its own, tried one after another; `q` has length 1.
    pub starts: [f64; 3],
    /// Newton steps from a start before it is given up (a solution takes 4 to 30).
    pub max_iterations: usize,
    /// Share of the way to the boundary that a step may take; where a step of `long_step` is possible, the share is `1 - gap` if that is more.
    pub fraction: f64,
    /// See `fraction`. Shorter steps must not end near the boundary: later ones would be caught there.
    pub long_step: f64,
    /// A step shorter than this is taken without the corrector's second-order term and with `safe_centering` at the least.
    pub short_step: f64,
    /// See `short_step`: weight of the centre, as a share of the gap.
    pub safe_centering: f64,
    /// Short steps in a row after which it gives up.
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
    scaled: Scaled,
    point: Point,
    newton: Newton,
    predictor: Direction,
    corrector: Direction,
    target: Vec<f64>,
    forces: Vec<f64>,
    bench: Bench,
    judge: ConeScratch,
}

/// The iterate.
#[derive(Debug, Clone, Default)]
struct Point {
    x: Vec<f64>,
    u: Vec<f64>,
    /// `u + |u_t| e_1`.
    y: Vec<f64>,
    /// `W x + q - u`.
    f: Vec<f64>,
    /// `x' y` a contact.
    gap: f64,
}

#[derive(Debug, Clone, Default)]
struct Direction {
    x: Vec<f64>,
    u: Vec<f64>,
}

/// The linear system of a point: `(L_y + L_x G W) dx = target - L_x G f`, `du = W dx + f`, where `L_x` is the matrix of `x o .` and
/// `G = dy/du`, row by row: the identity, and `u_t / |u_t|` beside the corner.
#[derive(Debug, Clone, Default)]
struct Newton {
    system: System,
    /// Blocks `L_x G`.
    force: Vec<f64>,
    /// Blocks `L_y`.
    speed: Vec<f64>,
    right: Vec<f64>,
}

impl ConeInteriorPoint {
    /// `s = A lambda + b` of the last answer.
    pub fn speed(&self) -> &[f64] {
        &self.bench.judged.speed
    }

    /// Solves from the warm start `lambda`, which takes the answer, or the best try. Polygons are not known here.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        if problem.sets != Sets::All(Friction::Cone) && problem.first_polygon().is_some() {
            return Outcome::invalid(NAME);
        }
        if let Some(outcome) = self.bench.begin(problem, lambda, tolerance, NAME) {
            return outcome;
        }
        if !self.scaled.fill(problem) {
            lambda.fill(0.0);
            return self.bench.judge(problem, lambda, tolerance, NAME, 0, End::Stalled);
        }
        self.newton.system.prepare(&self.scaled);
        let mut best = residual::cone(problem, lambda, &mut self.judge);
        self.forces.resize(lambda.len(), 0.0);
        let mut iterations = 0;
        let warm = lambda.iter().any(|l| *l != 0.0);
        for length in warm.then_some(None).into_iter().chain(self.settings.starts.map(Some)) {
            match length {
                None => self.point.start_near(&self.scaled, lambda, &mut self.target),
                Some(length) => self.point.start(&self.scaled, length),
            }
            if self.descend(problem, lambda, &mut best, &mut iterations) {
                break;
            }
        }
        self.bench.judge(problem, lambda, tolerance, NAME, iterations, End::Stalled)
    }

    /// Steps from the point at hand until there is a solution (true), or no further progress.
    fn descend(
        &mut self,
        problem: ConeProblem<'_>,
        lambda: &mut [f64],
        best: &mut Residual,
        iterations: &mut usize,
    ) -> bool {
        let mut short = 0;
        for _ in 0..self.settings.max_iterations {
            let Some(step) = self.step() else { return false };
            *iterations += 1;
            for projected in [false, true] {
                if projected {
                    self.point.project(self.scaled.rows, &mut self.target);
                    self.scaled.forces(&self.target, &mut self.forces);
                } else {
                    self.scaled.forces(&self.point.x, &mut self.forces);
                }
                let found = residual::cone(problem, &self.forces, &mut self.judge);
                if found.relative < best.relative {
                    *best = found;
                    lambda.copy_from_slice(&self.forces);
                }
            }
            if best.relative <= self.settings.tolerance {
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
        let Self { settings, scaled, point, newton, predictor, corrector, target, .. } = self;
        let rows = scaled.rows;
        newton.factor(scaled, point)?;

        // predictor: x o y = 0
        target.clear();
        target.resize(scaled.n, 0.0);
        point.products(rows, target, |product, t| *t = -product);
        newton.solve(scaled, point, target, predictor)?;
        let alpha = point.step_to_boundary(rows, predictor).min(1.0);
        let ratio = (point.gap_after(rows, predictor, alpha) / point.gap).clamp(0.0, 1.0);
        let sigma = if alpha > settings.short_step { ratio.powi(CENTERING_EXPONENT) } else { 0.5 };
        let sigma = sigma.max(LEAST_CENTERING);

        // corrector: x o y = sigma gap e - dx o dy
        point.second_order(rows, predictor, target);
        add_centre(target, rows, sigma * point.gap);
        newton.solve(scaled, point, target, corrector)?;
        let mut alpha = settings.length(point.step_to_boundary(rows, corrector), point.gap);
        if alpha < settings.short_step {
            point.products(rows, target, |product, t| *t = -product);
            add_centre(target, rows, sigma.max(settings.safe_centering) * point.gap);
            newton.solve(scaled, point, target, corrector)?;
            alpha = settings.length(point.step_to_boundary(rows, corrector), point.gap);
        }
        point.advance(scaled, corrector, alpha).then_some(alpha)
    }
}

fn add_centre(target: &mut [f64], rows: usize, weight: f64) {
    target.chunks_exact_mut(rows).for_each(|t| t[0] += weight);
}

impl Point {
    /// The centre of the cones, of a length given.
    fn start(&mut self, scaled: &Scaled, length: f64) {
        self.x.clear();
        self.x.resize(scaled.n, 0.0);
        self.start_at(scaled, length * length * (scaled.rows as f64 / scaled.n as f64));
    }

    /// Near forces given, the nearer the better they are: the gap is the mean square of their natural map.
    fn start_near(&mut self, scaled: &Scaled, lambda: &[f64], projected: &mut Vec<f64>) {
        let Self { x, u, y, .. } = self;
        let rows = scaled.rows;
        scaled.unknowns(lambda, x);
        scaled.speeds(x, u);
        y.clone_from(u);
        y.chunks_exact_mut(rows).for_each(|y| y[0] += tangential(y));
        self.project(rows, projected);
        let Self { x, y, .. } = self;
        let mut square = 0.0;
        for ((x, y), p) in x.iter_mut().zip(y.iter()).zip(projected.iter()) {
            square += (*x - p).powi(2);
            *x -= y;
        }
        self.start_at(scaled, square * (rows as f64 / scaled.n as f64));
    }

    /// From `z` in the place of `x`, the point with `x - y = z` and `x o y = gap e`: each eigenvalue of `z`, `z_n +- |z_t|`, is split in two of that product.
    fn start_at(&mut self, scaled: &Scaled, gap: f64) {
        let split = |z: f64| {
            let large = 0.5 * (z.abs() + (z * z + 4.0 * gap).sqrt());
            if z > 0.0 { (large, gap / large) } else { (gap / large, large) }
        };
        self.u.resize(scaled.n, 0.0);
        let contacts = self.x.chunks_exact_mut(scaled.rows).zip(self.u.chunks_exact_mut(scaled.rows));
        for (x, u) in contacts {
            let length = tangential(x);
            let ((x_1, y_1), (x_2, y_2)) = (split(x[0] + length), split(x[0] - length));
            x[0] = 0.5 * (x_1 + x_2);
            u[0] = y_1;
            let unit = if length > 0.0 { 0.5 / length } else { 0.0 };
            for (x, u) in x[1..].iter_mut().zip(&mut u[1..]) {
                *u = unit * (y_1 - y_2) * *x;
                *x *= unit * (x_1 - x_2);
            }
        }
        self.refresh(scaled);
    }

    /// `y`, `f` and the gap of `x` and `u`; `false` if they are not finite.
    fn refresh(&mut self, scaled: &Scaled) -> bool {
        let rows = scaled.rows;
        self.y.clone_from(&self.u);
        for y in self.y.chunks_exact_mut(rows) {
            y[0] += tangential(y);
        }
        scaled.speeds(&self.x, &mut self.f);
        self.f.iter_mut().zip(&self.u).for_each(|(f, u)| *f -= u);
        self.gap = dot(&self.x, &self.y) / (scaled.n / rows) as f64;
        self.gap.is_finite() && self.gap > 0.0 && self.f.iter().all(|f| f.is_finite())
    }

    fn advance(&mut self, scaled: &Scaled, direction: &Direction, alpha: f64) -> bool {
        self.x.iter_mut().zip(&direction.x).for_each(|(x, d)| *x += alpha * d);
        self.u.iter_mut().zip(&direction.u).for_each(|(u, d)| *u += alpha * d);
        self.refresh(scaled)
    }

    /// `P_L(x - y)`: at the end nearer to a solution than `x`, where open contacts still have a force.
    fn project(&self, rows: usize, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.x.iter().zip(&self.y).map(|(x, y)| x - y));
        out.chunks_exact_mut(rows).for_each(|x| project_in_place(1.0, x));
    }

    /// Calls `put` with each entry of `x o y` and its place.
    fn products(&self, rows: usize, out: &mut [f64], put: impl Fn(f64, &mut f64)) {
        let contacts = self.x.chunks_exact(rows).zip(self.y.chunks_exact(rows));
        for ((x, y), out) in contacts.zip(out.chunks_exact_mut(rows)) {
            put(dot(x, y), &mut out[0]);
            for k in 1..rows {
                put(x[0] * y[k] + y[0] * x[k], &mut out[k]);
            }
        }
    }

    /// `target -= dx o G du`.
    fn second_order(&self, rows: usize, d: &Direction, target: &mut [f64]) {
        for (c, t) in target.chunks_exact_mut(rows).enumerate() {
            let at = rows * c..rows * (c + 1);
            let (u, dx, du) = (&self.u[at.clone()], &d.x[at.clone()], &d.u[at]);
            let length = tangential(u);
            let lift = if length > 0.0 { dot(&u[1..], &du[1..]) / length } else { 0.0 };
            let dy_n = du[0] + lift;
            t[0] -= dx[0] * dy_n + dot(&dx[1..], &du[1..]);
            for k in 1..rows {
                t[k] -= dx[0] * du[k] + dy_n * dx[k];
            }
        }
    }

    /// Largest step that leaves every `x` in `L` and every `u_n >= 0`.
    fn step_to_boundary(&self, rows: usize, d: &Direction) -> f64 {
        let mut most = f64::INFINITY;
        for c in 0..self.x.len() / rows {
            let at = rows * c..rows * (c + 1);
            let (u_n, du_n) = (self.u[rows * c], d.u[rows * c]);
            if du_n < 0.0 {
                most = most.min(-u_n / du_n);
            }
            most = most.min(step_in_cone(&self.x[at.clone()], &d.x[at]));
        }
        most
    }

    fn gap_after(&self, rows: usize, d: &Direction, alpha: f64) -> f64 {
        let mut sum = 0.0;
        for c in 0..self.x.len() / rows {
            let at = |k: usize| (self.x[k] + alpha * d.x[k], self.u[k] + alpha * d.u[k]);
            let (x_n, u_n) = at(rows * c);
            let mut slip = 0.0;
            for k in rows * c + 1..rows * (c + 1) {
                let (x, u) = at(k);
                sum += x * u;
                slip += u * u;
            }
            sum += x_n * (u_n + slip.sqrt());
        }
        sum / (self.x.len() / rows) as f64
    }
}

/// Smallest positive root of `(x + alpha d)_n^2 = |(x + alpha d)_t|^2`, or of `(x + alpha d)_n = 0`.
fn step_in_cone(x: &[f64], d: &[f64]) -> f64 {
    let mut most = if d[0] < 0.0 { -x[0] / d[0] } else { f64::INFINITY };
    // a alpha^2 + 2 b alpha + c = 0
    let length = tangential(x);
    let a = d[0] * d[0] - dot(&d[1..], &d[1..]);
    let b = x[0] * d[0] - dot(&x[1..], &d[1..]);
    let c = (x[0] - length) * (x[0] + length);
    let square = b * b - a * c;
    if square >= 0.0 {
        let larger = -(b + square.sqrt().copysign(b));
        for root in [larger / a, c / larger] {
            if root > 0.0 {
                most = most.min(root);
            }
        }
    }
    most
}

impl Newton {
    /// Factors the matrix of a point; `None` if it is singular.
    fn factor(&mut self, scaled: &Scaled, point: &Point) -> Option<()> {
        let d = scaled.rows;
        self.force.clear();
        self.speed.clear();
        for c in 0..scaled.n / d {
            let at = d * c..d * (c + 1);
            let (x, u, y) = (&point.x[at.clone()], &point.u[at.clone()], &point.y[at]);
            let length = tangential(u);
            // L_x G = L_x + x (0, u_t / |u_t|)'
            self.force.extend((0..d * d).map(|k| {
                let lift = if k % d > 0 && length > 0.0 { x[k / d] * u[k % d] / length } else { 0.0 };
                arrow(x, k / d, k % d) + lift
            }));
            self.speed.extend((0..d * d).map(|k| arrow(y, k / d, k % d)));
        }
        self.system.factor(scaled, &self.force, &self.speed)
    }

    /// The direction of a target for `x o y`, refined once; `None` if it is not finite.
    fn solve(&mut self, scaled: &Scaled, point: &Point, target: &[f64], out: &mut Direction) -> Option<()> {
        let Self { system, force, speed, right } = self;
        let (n, d) = (scaled.n, scaled.rows);
        right.clear();
        for c in 0..n / d {
            let f = &point.f[d * c..][..d];
            right.extend((0..d).map(|i| target[d * c + i] - dot(&force[d * (d * c + i)..][..d], f)));
        }
        system.solve_refined(scaled, force, speed, right, &mut out.x)?;
        scaled.times(&out.x, &mut out.u);
        out.u.iter_mut().zip(&point.f).for_each(|(u, f)| *u += f);
        out.u.iter().all(|u| u.is_finite()).then_some(())
    }
}

/// Entry of `L_x`, the matrix of `x o .`: `x` in the first row and column, `x_n` on the diagonal.
fn arrow(x: &[f64], i: usize, j: usize) -> f64 {
    match (i, j) {
        (0, k) | (k, 0) => x[k],
        _ if i == j => x[0],
        _ => 0.0,
    }
}
