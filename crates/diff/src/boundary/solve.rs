//! Solvers of boundary-value problems.
//!
//! - *Newton's method with a trust region*, on `|r(z)|^2` with the exact derivative, within bounds
//!   (`least_squares.rs`). Square problems, over- and under-determined ones alike.
//! - *The fixed-point map*, pang2005 (27): `z := z - P^-1 r(z)` with `P = M_v + N_v`, or `P + T N_q` where that is
//!   singular (position targets), which is exact for free flight. Theorem 8 promises a fixed point, not convergence:
//!   the rate is measured.
//! - *Multiple shooting*: the states at the ends of segments are unknowns too, so that errors do not grow over the
//!   whole run; each step condenses to the unknowns of the problem.
//! - *Several starts*, on all cores: every distinct solution is listed.

use super::least_squares::{Limits, Residuals, Stop, largest, minimise, norm, spread_points};
use super::linear::Factor;
use super::problem::{Problem, Shot};
use super::svd::{Svd, dot};
use crate::scene::ShootMethod;
use crate::state::State;
use crate::stepper::Stepper;
use complementarity::matrix::Matrix;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Singular values below this share of the largest are zero: the problem leaves a direction open.
pub(super) const OPEN: f64 = 1e-7;
/// Length of a step, over the size of the unknowns, below which the search ends.
pub(super) const SHORT: f64 = 1e-13;
/// Solutions nearer than this, over the size of the unknowns, are the same.
const SAME: f64 = 1e-5;
/// Solutions that are listed.
const MOST: usize = 50;
/// Iterations of the fixed-point map.
const FIXED_ROUNDS: usize = 500;

/// How a search ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The residual is within the tolerance.
    Solved,
    /// No step makes the residual smaller: the nearest miss.
    Miss,
    /// The limit of iterations.
    Limit,
    /// The fixed-point map went away from every solution.
    Repelled,
    /// A shot failed, or has no derivative.
    Failed(String),
}

/// What the fixed-point map did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedPoint {
    /// Factor by which steps shrink from one to the next, measured; above 1 the map repels.
    pub rate: f64,
    /// Whether the map of free flight was used, because `M_v + N_v` is singular.
    pub shifted: bool,
}

/// Where a search ended.
#[derive(Debug, Clone)]
pub struct Found {
    /// How it ended.
    pub end: End,
    /// Values of the unknowns.
    pub unknowns: Vec<f64>,
    /// Residual of each condition.
    pub residual: Vec<f64>,
    /// State at the start and at the end of the run.
    pub states: Option<Box<[State; 2]>>,
    /// Iterations.
    pub iterations: usize,
    /// Shots, each a run.
    pub shots: usize,
    /// Ratio of the largest to the smallest singular value of the derivative; infinite if it is singular.
    pub condition: f64,
    /// Dimension of the family of solutions through this one, to first order; 0 if it is isolated.
    pub family: usize,
    /// A direction of the family.
    pub direction: Vec<f64>,
    /// Steps of the run whose derivative is one of several.
    pub noted: usize,
    /// What the fixed-point map did, if it was used.
    pub fixed_point: Option<FixedPoint>,
    /// Whether the root was bracketed and halved: the search by derivatives had stalled.
    pub bracketed: bool,
    /// Norm of the residual, iteration by iteration.
    pub history: Vec<f64>,
}

impl Found {
    /// Largest residual of a condition.
    pub fn miss(&self) -> f64 {
        self.residual.iter().fold(0.0, |m, r| m.max(r.abs()))
    }

    /// Whether no other solution is near, to first order.
    pub fn is_isolated(&self) -> bool {
        self.family == 0
    }
}

/// The answer to a problem.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Distinct solutions, by increasing distance from the guess.
    pub solutions: Vec<Found>,
    /// The nearest miss, where there is no solution.
    pub nearest: Option<Found>,
    /// Starting points.
    pub starts: usize,
    /// Searches that ended without a solution.
    pub unsolved: usize,
}

/// Solves a problem from its guess and, if it wants several starts, from others, on all cores.
pub fn shoot(problem: &Problem) -> Answer {
    let starts = spread_points(&problem.guess(), &sizes(problem), &problem.bounds(), problem.starts);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::<(usize, Found)>::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(starts.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut stepper = Stepper::of(problem.model.clone());
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let Some(z) = starts.get(k) else { return };
                    let one = search(problem, &mut stepper, z);
                    found.lock().unwrap_or_else(PoisonError::into_inner).push((k, one));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    // the same list whatever the threads did
    found.sort_by_key(|(k, _)| *k);
    let sizes = sizes(problem);
    let apart = |a: &[f64], b: &[f64]| {
        let sum: f64 = a.iter().zip(b).zip(&sizes).map(|((a, b), s)| ((a - b) / s).powi(2)).sum();
        sum.sqrt()
    };
    let mut answer = Answer { solutions: vec![], nearest: None, starts: starts.len(), unsolved: 0 };
    for (_, one) in found {
        if one.end == End::Solved {
            let new = answer.solutions.iter().all(|other| apart(&other.unknowns, &one.unknowns) > SAME);
            if new && answer.solutions.len() < MOST {
                answer.solutions.push(one);
            }
            continue;
        }
        answer.unsolved += 1;
        let score = |f: &Found| if matches!(f.end, End::Failed(_)) { f64::INFINITY } else { f.miss() };
        if answer.nearest.as_ref().is_none_or(|best| score(&one) < score(best)) {
            answer.nearest = Some(one);
        }
    }
    let guess = problem.guess();
    answer.solutions.sort_by(|a, b| apart(&a.unknowns, &guess).total_cmp(&apart(&b.unknowns, &guess)));
    if !answer.solutions.is_empty() {
        answer.nearest = None;
    }
    answer
}

/// The residuals of runs from several choices of the unknowns, on all cores, without derivatives; `None` where a step
/// fails.
pub fn residual_map(problem: &Problem, points: &[Vec<f64>]) -> Vec<Option<Vec<f64>>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = points.len().div_ceil(threads).max(1);
    let one = |stepper: &mut Stepper, z: &[f64]| {
        let (start, h) = (problem.start(z), problem.step(z));
        let mut state = start.clone();
        for _ in 0..problem.steps {
            let _ = stepper.step_by(&mut state, &crate::inputs::Inputs::default(), h).ok()?;
        }
        Some(problem.residual(&start, &state))
    };
    let mut out = vec![None; points.len()];
    std::thread::scope(|scope| {
        for (points, out) in points.chunks(size).zip(out.chunks_mut(size)) {
            scope.spawn(move || {
                let mut stepper = Stepper::of(problem.model.clone());
                for (z, out) in points.iter().zip(out) {
                    *out = one(&mut stepper, z);
                }
            });
        }
    });
    out
}

/// One search by the problem's method.
fn search(problem: &Problem, stepper: &mut Stepper, z: &[f64]) -> Found {
    match problem.method {
        ShootMethod::Auto => {
            let found = newton(problem, stepper, z);
            match found.end {
                End::Miss if z.len() == 1 && found.residual.len() == 1 => bracket(problem, stepper, found),
                _ => found,
            }
        }
        ShootMethod::Newton => newton(problem, stepper, z),
        ShootMethod::FixedPoint => fixed_point(problem, stepper, z),
        ShootMethod::MultipleShooting => super::multiple::multiple(problem, stepper, z),
    }
}

/// Size of each unknown: the width of its bounds, or its guess, at least 1.
pub(super) fn sizes(problem: &Problem) -> Vec<f64> {
    let both = problem.bounds().into_iter().zip(problem.guess());
    both.map(|([a, b], z)| if (b - a).is_finite() { b - a } else { z.abs().max(1.0) }).collect()
}

/// Fills in what is known at the end of a search.
pub(super) fn finish(
    problem: &Problem,
    end: End,
    z: Vec<f64>,
    shot: Option<Shot>,
    counts: (usize, usize),
    history: Vec<f64>,
) -> Found {
    let mut found = Found {
        end,
        unknowns: z,
        residual: vec![],
        states: None,
        iterations: counts.0,
        shots: counts.1,
        condition: f64::NAN,
        family: 0,
        direction: vec![],
        noted: 0,
        fixed_point: None,
        bracketed: false,
        history,
    };
    let Some(shot) = shot else { return found };
    let sizes = sizes(problem);
    let scaled = Matrix::from_fn(shot.jacobian.rows(), sizes.len(), |i, j| shot.jacobian[(i, j)] * sizes[j]);
    let svd = Svd::new(&scaled);
    let (most, least) =
        (svd.values.first().copied().unwrap_or(0.0), svd.values.last().copied().unwrap_or(0.0));
    let rank = svd.values.iter().filter(|s| **s > OPEN * most).count();
    // a ratio beyond rounding is no number
    found.condition = if least > f64::EPSILON * most { most / least } else { f64::INFINITY };
    found.family = sizes.len() - rank;
    if found.family > 0 {
        found.direction =
            open_direction(&svd, rank, sizes.len()).iter().zip(&sizes).map(|(x, s)| x * s).collect();
    }
    found.residual = shot.residual;
    found.noted = shot.noted;
    found.states = Some(Box::new([shot.start, shot.end]));
    found
}

/// A unit vector across the first `rank` right singular vectors.
fn open_direction(svd: &Svd, rank: usize, n: usize) -> Vec<f64> {
    let mut best = vec![0.0; n];
    for k in 0..n {
        let mut x = vec![0.0; n];
        x[k] = 1.0;
        for v in &svd.right[..rank] {
            let along = dot(v, &x);
            x.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
        }
        if norm(&x) > norm(&best) + 1e-9 {
            best = x;
        }
    }
    let size = norm(&best);
    best.iter().map(|x| x / size).collect()
}

/// A problem as residuals of least squares.
struct Shots<'a> {
    problem: &'a Problem,
    stepper: &'a mut Stepper,
}

impl Residuals for Shots<'_> {
    type Point = Shot;

    fn evaluate(&mut self, z: &[f64]) -> Result<Shot, String> {
        self.problem.shoot(self.stepper, z).map_err(|why| why.to_string())
    }

    fn residual<'a>(&self, shot: &'a Shot) -> &'a [f64] {
        &shot.residual
    }

    fn jacobian(&mut self, _: &[f64], shot: &Shot) -> Result<Matrix, String> {
        Ok(shot.jacobian.clone())
    }
}

/// Newton's method with a trust region.
pub(super) fn newton(problem: &Problem, stepper: &mut Stepper, z: &[f64]) -> Found {
    let limits = Limits {
        iterations: problem.iterations,
        tolerance: problem.tolerance,
        gain: 1e-12,
        shortest: SHORT,
        open: OPEN,
    };
    let minimum = minimise(&mut Shots { problem, stepper }, z, &sizes(problem), &problem.bounds(), limits);
    let end = match minimum.stop {
        Stop::Solved => End::Solved,
        Stop::Miss => End::Miss,
        Stop::Limit => End::Limit,
        Stop::Failed(why) => End::Failed(why),
    };
    let counts = (minimum.iterations, minimum.evaluations);
    finish(problem, end, minimum.unknowns, minimum.point, counts, minimum.history)
}

/// One unknown, one condition: where the search by derivatives stalled, looks for a change of sign nearby and halves it.
/// Impacts that a step hardly resolves make the run's result a saw: its slope is not its trend, but it is continuous.
fn bracket(problem: &Problem, stepper: &mut Stepper, miss: Found) -> Found {
    let (size, [low, high]) = (sizes(problem)[0], problem.bounds()[0]);
    let mut shots = miss.shots;
    let mut value = |z: f64, shots: &mut usize| -> Option<f64> {
        *shots += 1;
        let (start, h) = (problem.start(&[z]), problem.step(&[z]));
        let mut state = start.clone();
        for _ in 0..problem.steps {
            let _ = stepper.step_by(&mut state, &crate::inputs::Inputs::default(), h).ok()?;
        }
        problem.residual(&start, &state).first().copied()
    };
    let (at, here) = (miss.unknowns[0], miss.residual[0]);
    let mut ends = [(at, here); 2];
    let mut found = None;
    'search: for k in 0..14 {
        let reach = 1e-4 * size * f64::from(1u32 << k);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let next = (at + sign * reach).clamp(low, high);
            if next == ends[side].0 {
                continue;
            }
            let Some(r) = value(next, &mut shots) else { continue };
            if r * ends[side].1 <= 0.0 {
                found = Some([ends[side], (next, r)]);
                break 'search;
            }
            ends[side] = (next, r);
        }
    }
    let Some([mut a, mut b]) = found else { return Found { shots, ..miss } };
    for _ in 0..200 {
        let middle = 0.5 * (a.0 + b.0);
        let Some(r) = value(middle, &mut shots) else { break };
        if r.abs() <= problem.tolerance || middle == a.0 || middle == b.0 {
            a = (middle, r);
            break;
        }
        if r * a.1 <= 0.0 { b = (middle, r) } else { a = (middle, r) }
    }
    let end = if a.1.abs() <= problem.tolerance { End::Solved } else { End::Miss };
    match problem.shoot(stepper, &[a.0]) {
        Ok(shot) => {
            let counts = (miss.iterations, shots + 1);
            Found { bracketed: true, ..finish(problem, end, vec![a.0], Some(shot), counts, miss.history) }
        }
        Err(_) => Found { shots, ..miss },
    }
}

/// The fixed-point map, pang2005 (27).
fn fixed_point(problem: &Problem, stepper: &mut Stepper, z: &[f64]) -> Found {
    let Some((matrix, shifted)) = problem.fixed_point_matrix() else {
        let why =
            "the fixed-point map needs as many conditions as unknowns, and a nonsingular M_v + N_v + T N_q";
        return finish(problem, End::Failed(why.to_owned()), z.to_vec(), None, (0, 0), vec![]);
    };
    let factor = Factor::new(&matrix);
    let (mut z, mut rates, mut last) = (z.to_vec(), vec![], 0.0);
    let mut history = vec![];
    let rate = |rates: &[f64]| {
        // the geometric mean of the last few
        let tail = &rates[rates.len().saturating_sub(5)..];
        if tail.is_empty() {
            f64::NAN
        } else {
            (tail.iter().map(|r: &f64| r.ln()).sum::<f64>() / tail.len() as f64).exp()
        }
    };
    for k in 0..FIXED_ROUNDS {
        let shot = match problem.shoot(stepper, &z) {
            Ok(shot) => shot,
            Err(why) => {
                let mut found = finish(problem, End::Failed(why.to_string()), z, None, (k, k + 1), history);
                found.fixed_point = Some(FixedPoint { rate: rate(&rates), shifted });
                return found;
            }
        };
        let size = norm(&shot.residual);
        history.push(size);
        let mut step = shot.residual.clone();
        factor.solve(&mut step);
        let length = norm(&step);
        if last > 0.0 && length > 0.0 {
            rates.push(length / last);
        }
        last = length;
        let fixed = Some(FixedPoint { rate: rate(&rates), shifted });
        let away = rates.len() >= 8 && rate(&rates) > 1.0 && size > 10.0 * history[0].max(problem.tolerance);
        let end = match () {
            () if largest(&shot.residual) <= problem.tolerance => Some(End::Solved),
            () if away || !length.is_finite() => Some(End::Repelled),
            () if k + 1 == FIXED_ROUNDS => Some(if rate(&rates) >= 1.0 { End::Repelled } else { End::Limit }),
            () => None,
        };
        if let Some(end) = end {
            return Found { fixed_point: fixed, ..finish(problem, end, z, Some(shot), (k, k + 1), history) };
        }
        z.iter_mut().zip(&step).for_each(|(z, s)| *z -= s);
    }
    finish(problem, End::Limit, z, None, (FIXED_ROUNDS, FIXED_ROUNDS), history)
}
