//! The search for the estimates, and what is reported about them.

use super::problem::{Derivatives, Problem};
use super::quantile::two_sided;
use super::statistics::Spread;
use super::trajectory::Fault;
use super::{ColumnFit, Combination, End, Estimate, Fit};
use crate::boundary::least_squares::{Limits, Residuals, Stop, free, minimise, norm, spread_points};
use complementarity::matrix::Matrix;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Share of the sum of squares that a step must promise to gain.
const GAIN: f64 = 1e-10;
/// Shortest step, over the sizes of the parameters.
const SHORTEST: f64 = 1e-12;
/// Largest residual, over the spread of its column, of a run that goes through the data.
const EXACT: f64 = 1e-10;
/// First difference of parameters over their sizes; later ones are standard errors, within bounds.
const FIRST: f64 = 1e-4;
const DIFFERENCES: [f64; 2] = [1e-6, 1e-2];
/// Difference of parameters that are not determined, over their sizes: it is not to pass for an effect.
const UNKNOWN: f64 = 1e-3;
/// Singular values below this share of the largest are errors of differences.
const OPEN: f64 = 1e-5;
/// Rounds of estimating the standard deviations of columns, and the change of their ratios that ends them.
const ROUNDS: usize = 8;
const SETTLED: f64 = 0.01;
/// Distance from the minimum, in standard errors, of a solution.
const NEAR: f64 = 0.1;
/// Values of the certificates beyond which there is a warning.
const NONLINEAR: f64 = 0.25;
const COARSE: f64 = 0.5;

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Runs made.
    pub runs: usize,
    /// Root of the mean square of the residuals over their standard deviations, at the best point.
    pub rms: f64,
}

/// Estimates the parameters of a problem. `progress` is called after every few runs.
pub fn fit(problem: &Problem, progress: &mut dyn FnMut(Progress)) -> Fit {
    let mut task = Task::new(problem, progress);
    let (sizes, bounds) = (problem.sizes(), problem.parameters.iter().map(|p| p.bounds).collect::<Vec<_>>());
    let mut z: Vec<f64> = problem.parameters.iter().map(|p| p.guess).collect();
    if problem.starts > 1 {
        z = task.best_start(&spread_points(&z, &sizes, &bounds, problem.starts));
    }
    let (mut iterations, mut limit) = (0, false);
    let mut values = vec![];
    for _ in 0..ROUNDS {
        let limits = Limits {
            iterations: problem.iterations,
            tolerance: task.tolerance(),
            gain: GAIN,
            shortest: SHORTEST,
            open: OPEN,
        };
        let minimum = minimise(&mut task, &z, &sizes, &bounds, limits);
        iterations += minimum.iterations;
        z = minimum.unknowns;
        limit = minimum.stop == Stop::Limit;
        let failed = match minimum.stop {
            _ if task.is_stopped() => Some(End::Interrupted),
            Stop::Failed(why) => Some(End::Failed(why)),
            _ => None,
        };
        match (failed, minimum.point) {
            (Some(end), point) => {
                let values = point.map(|p| p.values).unwrap_or_default();
                return without_statistics(&task, end, &z, &values, iterations);
            }
            (None, Some(point)) => values = point.values,
            (None, None) => {}
        }
        if task.weigh(&values) {
            break;
        }
    }
    match statistics(&mut task, &z, &values, &sizes, &bounds) {
        Ok(found) if found.distance > NEAR && task.exact && !task.through => {
            // kinks that derivatives at a point do not see: search on by differences
            task.exact = false;
            task.not_exact = Some("the search by derivatives stalled".to_owned());
            task.known = None;
            let limits = Limits {
                iterations: problem.iterations,
                tolerance: 0.0,
                gain: GAIN,
                shortest: SHORTEST,
                open: OPEN,
            };
            let minimum = minimise(&mut task, &z, &sizes, &bounds, limits);
            iterations += minimum.iterations;
            limit = minimum.stop == Stop::Limit;
            z = minimum.unknowns;
            values = minimum.point.map_or(values, |p| p.values);
            task.weigh(&values);
            match statistics(&mut task, &z, &values, &sizes, &bounds) {
                Ok(found) => report(&mut task, found, &z, &values, iterations, limit),
                Err(end) => without_statistics(&task, end, &z, &values, iterations),
            }
        }
        Ok(found) => report(&mut task, found, &z, &values, iterations, limit),
        Err(end) => without_statistics(&task, end, &z, &values, iterations),
    }
}

/// Runs as residuals of least squares.
struct Task<'a> {
    problem: &'a Problem,
    progress: &'a mut dyn FnMut(Progress),
    /// Standard deviation of each column.
    sigma: Vec<f64>,
    /// Whether derivatives are those of the chain rule; why they are not, if that was tried.
    exact: bool,
    not_exact: Option<String>,
    /// Differences of the parameters.
    apart: Vec<f64>,
    /// The last derivative of the run, and where it was computed.
    known: Option<(Vec<f64>, Matrix)>,
    runs: usize,
    failed: usize,
    first_failure: Option<String>,
    /// Least sum of squares so far, over the number of values.
    best: f64,
    /// Whether the run goes through the data: they have no errors.
    through: bool,
}

struct Point {
    /// The quantities along the run.
    values: Vec<f64>,
    /// Less what was measured, over the standard deviations.
    residual: Vec<f64>,
}

impl Residuals for Task<'_> {
    type Point = Point;

    fn evaluate(&mut self, z: &[f64]) -> Result<Point, String> {
        let run = self.problem.run(z, false);
        self.count(1);
        let values = run.map_err(|why| self.failed(z, why))?;
        let residual = self.residuals(&values);
        self.best = self.best.min((residual.iter().map(|r| r * r).sum::<f64>() / values.len() as f64).sqrt());
        Ok(Point { values, residual })
    }

    fn residual<'a>(&self, point: &'a Point) -> &'a [f64] {
        &point.residual
    }

    fn jacobian(&mut self, z: &[f64], point: &Point) -> Result<Matrix, String> {
        if self.known.as_ref().is_none_or(|(at, _)| at != z) {
            let found = self.derivative(z, &point.values)?;
            self.known = Some((z.to_vec(), found));
        }
        let Some((_, slopes)) = &self.known else { return Err("no derivative".to_owned()) };
        let jacobian = self.weighted(slopes);
        // the next differences are as large as what the data can tell apart
        let sizes = self.problem.sizes();
        let degrees = point.residual.len().saturating_sub(sizes.len()).max(1);
        let scatter = (point.residual.iter().map(|r| r * r).sum::<f64>() / degrees as f64).sqrt();
        let errors = Spread::new(&jacobian, &sizes).errors;
        let [least, most] = DIFFERENCES;
        self.apart = errors.iter().zip(&sizes).map(|(e, s)| width(scatter * e, *s, [least, most])).collect();
        Ok(jacobian)
    }

    fn is_stopped(&self) -> bool {
        self.problem.stop.load(Ordering::Relaxed)
    }
}

impl<'a> Task<'a> {
    fn new(problem: &'a Problem, progress: &'a mut dyn FnMut(Progress)) -> Self {
        let sigma =
            (0..problem.quantities.len()).map(|k| problem.sigma[k].unwrap_or_else(|| spread(problem, k)));
        Self {
            problem,
            progress,
            sigma: sigma.collect(),
            exact: problem.derivatives == Derivatives::Auto,
            not_exact: None,
            apart: problem.sizes().iter().map(|s| FIRST * s).collect(),
            known: None,
            runs: 0,
            failed: 0,
            first_failure: None,
            best: f64::INFINITY,
            through: false,
        }
    }

    /// Residual at which a run goes through the data: where a standard deviation is given, none does.
    fn tolerance(&self) -> f64 {
        if self.problem.sigma.iter().all(Option::is_none) { EXACT } else { 0.0 }
    }

    fn count(&mut self, runs: usize) {
        self.runs += runs;
        (self.progress)(Progress { runs: self.runs, rms: self.best });
    }

    /// Books a failed run.
    fn failed(&mut self, z: &[f64], why: Fault) -> String {
        let why = match why {
            Fault::Interrupted => return "interrupted".to_owned(),
            Fault::Failed(why) | Fault::NotDifferentiated(why) => why,
        };
        let at = self.problem.parameters.iter().zip(z).map(|(p, z)| format!("{} = {z}", p.path));
        let words = format!("at {}: {why}", at.collect::<Vec<_>>().join(", "));
        self.failed += 1;
        self.first_failure.get_or_insert_with(|| words.clone());
        words
    }

    fn residuals(&self, values: &[f64]) -> Vec<f64> {
        let p = self.problem;
        let both = values.iter().zip(&p.measured).zip(&p.samples);
        both.map(|((run, measured), (_, k))| (run - measured) / self.sigma[*k]).collect()
    }

    fn weighted(&self, slopes: &Matrix) -> Matrix {
        let samples = &self.problem.samples;
        Matrix::from_fn(slopes.rows(), slopes.columns(), |i, j| slopes[(i, j)] / self.sigma[samples[i].1])
    }

    /// The point with the least sum of squares; the first one if no run succeeds.
    fn best_start(&mut self, points: &[Vec<f64>]) -> Vec<f64> {
        let problem = self.problem;
        let made = in_parallel(points, |z| problem.run(z, false));
        self.count(points.len());
        let mut best = (f64::INFINITY, 0);
        for (k, made) in made.into_iter().enumerate() {
            match made {
                Ok(values) => {
                    let sum = norm(&self.residuals(&values));
                    best = if sum < best.0 { (sum, k) } else { best };
                }
                Err(why) => drop(self.failed(&points[k], why)),
            }
        }
        points[best.1].clone()
    }

    /// The derivative of the run: by the chain rule, or by differences where that is not known.
    fn derivative(&mut self, z: &[f64], values: &[f64]) -> Result<Matrix, String> {
        if self.exact {
            let run = self.problem.run_with_derivatives(z);
            self.count(1);
            match run {
                Ok(slopes) => return Ok(slopes),
                Err(Fault::NotDifferentiated(why)) => (self.exact, self.not_exact) = (false, Some(why)),
                Err(why) => return Err(self.failed(z, why)),
            }
        }
        let apart = self.apart.clone();
        self.differences(z, values, &apart).map(|(slopes, _)| slopes)
    }

    /// The derivative by differences of the parameters, central where bounds and runs allow; and of each parameter how
    /// far the run is from a line through its neighbours, over their difference.
    fn differences(
        &mut self,
        z: &[f64],
        values: &[f64],
        apart: &[f64],
    ) -> Result<(Matrix, Vec<f64>), String> {
        let problem = self.problem;
        let jobs: Vec<(usize, f64)> = (0..z.len())
            .flat_map(|j| [-1.0, 1.0].map(|sign| (j, sign)))
            .map(|(j, sign)| {
                let [low, high] = problem.parameters[j].bounds;
                (j, (z[j] + sign * apart[j]).clamp(low, high))
            })
            .collect();
        let made = in_parallel(&jobs, |&(j, x)| {
            let mut other = z.to_vec();
            other[j] = x;
            if x == z[j] { Ok(values.to_vec()) } else { problem.run(&other, false) }
        });
        self.count(jobs.len());
        let mut ends: Vec<(f64, Option<Vec<f64>>)> = vec![];
        for ((j, x), made) in jobs.into_iter().zip(made) {
            let mut other = z.to_vec();
            other[j] = x;
            ends.push((x, made.map_err(|why| self.failed(&other, why)).ok()));
        }
        if self.is_stopped() {
            return Err("interrupted".to_owned());
        }
        let mut slopes = Matrix::zeros(values.len(), z.len());
        let mut bends = vec![f64::NAN; z.len()];
        for j in 0..z.len() {
            let ends = [&ends[2 * j], &ends[2 * j + 1]];
            let [a, b] = ends.map(|(x, run)| match run {
                Some(run) => (*x, &run[..]),
                None => (z[j], values),
            });
            let width = b.0 - a.0;
            if width <= 0.0 {
                let path = &problem.parameters[j].path;
                return Err(format!("no derivative with {path}: runs fail on both sides of {}", z[j]));
            }
            let (mut bend, mut rise) = (0.0, 0.0);
            let share = (z[j] - a.0) / width;
            for i in 0..values.len() {
                let sigma = self.sigma[problem.samples[i].1];
                slopes[(i, j)] = (b.1[i] - a.1[i]) / width;
                let line = a.1[i] + share * (b.1[i] - a.1[i]);
                bend += ((values[i] - line) / sigma).powi(2);
                rise += ((b.1[i] - a.1[i]) / sigma).powi(2);
            }
            if rise > 0.0 && share > 0.0 && share < 1.0 {
                bends[j] = (bend / rise).sqrt();
            }
        }
        Ok((slopes, bends))
    }

    /// Estimates the standard deviations of columns that are not given; whether their ratios were right already.
    fn weigh(&mut self, values: &[f64]) -> bool {
        let p = self.problem;
        let mut sums = vec![(0.0, 0usize); self.sigma.len()];
        for (i, (_, k)) in p.samples.iter().enumerate() {
            sums[*k].0 += (values[i] - p.measured[i]).powi(2);
            sums[*k].1 += 1;
        }
        let share = 1.0 - p.parameters.len() as f64 / p.samples.len() as f64;
        let (mut ratios, mut exact) = (vec![], true);
        for k in 0..sums.len() {
            let (sum, count) = sums[k];
            if p.sigma[k].is_some() {
                ratios.push(1.0);
                exact = false;
                continue;
            }
            let least = 1e-12 * spread(p, k);
            let sigma = (sum / (count as f64 * share)).sqrt().max(least);
            exact &= sigma <= 1e3 * EXACT * spread(p, k);
            ratios.push(sigma / self.sigma[k]);
            self.sigma[k] = sigma;
        }
        let (low, high) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
        (self.best, self.through) = (f64::INFINITY, exact);
        exact || high <= (1.0 + SETTLED) * low
    }
}

/// Width of a difference: the standard error, within shares of the parameter's size.
fn width(error: f64, size: f64, [least, most]: [f64; 2]) -> f64 {
    if error.is_finite() { error.clamp(least * size, most * size) } else { UNKNOWN * size }
}

/// How far the values of a column spread: their standard deviation, or their size if all are equal.
fn spread(problem: &Problem, k: usize) -> f64 {
    let list: Vec<f64> = problem.data.values[k].iter().copied().filter(|x| !x.is_nan()).collect();
    let n = list.len().max(1) as f64;
    let mean = list.iter().sum::<f64>() / n;
    let spread = (list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let size = list.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    match () {
        () if spread > 1e-9 * size => spread,
        () if size > 0.0 => size,
        () => 1.0,
    }
}

/// What is known at the estimates.
struct Found {
    spread: Spread,
    /// The parameters that no bound stops, to which `spread` belongs.
    free: Vec<usize>,
    distance: f64,
    nonlinearity: Vec<f64>,
}

/// Differentiates over one standard error to both sides, where the derivative so far says how large that is.
fn statistics(
    task: &mut Task<'_>,
    z: &[f64],
    values: &[f64],
    sizes: &[f64],
    bounds: &[[f64; 2]],
) -> Result<Found, End> {
    let failed =
        |task: &Task<'_>, why: String| if task.is_stopped() { End::Interrupted } else { End::Failed(why) };
    let residual = task.residuals(values);
    let slopes = match &task.known {
        Some((at, slopes)) if at == z => slopes.clone(),
        _ => task.derivative(z, values).map_err(|why| failed(task, why))?,
    };
    let errors = Spread::new(&task.weighted(&slopes), sizes).errors;
    let [least, most] = [0.1 * DIFFERENCES[0], 5.0 * DIFFERENCES[1]];
    let apart: Vec<f64> = errors.iter().zip(sizes).map(|(e, s)| width(*e, *s, [least, most])).collect();
    let (slopes, nonlinearity) = task.differences(z, values, &apart).map_err(|why| failed(task, why))?;
    let jacobian = task.weighted(&slopes);
    let free = free(&jacobian, &residual, z, bounds);
    let own = Matrix::from_fn(jacobian.rows(), free.len(), |i, j| jacobian[(i, free[j])]);
    let spread = Spread::new(&own, &free.iter().map(|&j| sizes[j]).collect::<Vec<_>>());
    let distance = spread.distance(&residual);
    Ok(Found { spread, free, distance, nonlinearity })
}

/// The result without what needs a derivative.
fn without_statistics(task: &Task<'_>, end: End, z: &[f64], values: &[f64], iterations: usize) -> Fit {
    let p = task.problem;
    let estimate = |(p, z): (&super::Parameter, &f64)| Estimate {
        path: p.path.clone(),
        guess: p.guess,
        value: *z,
        standard_error: None,
        interval: None,
        at_bound: false,
        refinement: None,
        nonlinearity: None,
    };
    let residual = if values.is_empty() { vec![] } else { task.residuals(values) };
    Fit {
        end,
        parameters: p.parameters.iter().zip(z).map(estimate).collect(),
        undetermined: vec![],
        columns: columns(task, values),
        level: p.level,
        sum: residual.iter().map(|r| r * r).sum(),
        degrees: 0,
        distance: f64::NAN,
        condition: f64::NAN,
        correlation: vec![],
        iterations,
        runs: task.runs,
        failed_runs: task.failed,
        first_failure: task.first_failure.clone(),
        exact: task.exact,
        not_exact: task.not_exact.clone(),
        warnings: vec![],
    }
}

fn report(
    task: &mut Task<'_>,
    found: Found,
    z: &[f64],
    values: &[f64],
    iterations: usize,
    limit: bool,
) -> Fit {
    let p = task.problem;
    let Found { spread, free, distance, nonlinearity } = found;
    // what a finer run changes
    let finer = p.run(z, true);
    task.count(1);
    let finer: Option<Vec<f64>> = finer.map_err(|why| task.failed(z, why)).ok();
    let shift = finer.map(|finer| {
        let both = finer.iter().zip(values).zip(&p.samples);
        spread.shift(&both.map(|((a, b), (_, k))| (a - b) / task.sigma[*k]).collect::<Vec<_>>())
    });
    let mut fit = without_statistics(task, End::Solved, z, values, iterations);
    fit.degrees = values.len() - spread.rank();
    let known = p.sigma.iter().all(Option::is_some);
    let quantile = two_sided(p.level, if known { f64::INFINITY } else { fit.degrees as f64 });
    for (j, estimate) in fit.parameters.iter_mut().enumerate() {
        let Some(k) = free.iter().position(|f| *f == j) else {
            estimate.at_bound = true;
            continue;
        };
        let error = spread.errors[k];
        if !error.is_finite() {
            continue;
        }
        let [low, high] = p.parameters[j].bounds;
        estimate.standard_error = Some(error);
        estimate.interval = Some([(z[j] - quantile * error).max(low), (z[j] + quantile * error).min(high)]);
        estimate.refinement = shift.as_ref().map(|s| s[k]);
        estimate.nonlinearity = Some(nonlinearity[j]).filter(|x| x.is_finite());
    }
    fit.undetermined = spread.open.iter().map(|open| combination(task, &free, open, z)).collect();
    let correlation = spread.correlation();
    let place = |j: usize| free.iter().position(|f| *f == j);
    let of = |i: usize, j: usize| match (place(i), place(j)) {
        (Some(a), Some(b)) => correlation[a][b],
        _ => f64::from(u8::from(i == j)),
    };
    fit.correlation = (0..z.len()).map(|i| (0..z.len()).map(|j| of(i, j)).collect()).collect();
    fit.condition = spread.condition;
    fit.distance = distance;
    fit.end = match () {
        () if limit || distance > NEAR && !task.through => End::Undecided,
        () if !fit.undetermined.is_empty() => End::Several,
        () => End::Solved,
    };
    fit.warnings = warnings(p, &fit, known);
    if spread.rank() == 0 && !free.is_empty() {
        let why = "runs do not depend on the parameters near the result: another guess (--set), or the best of several (--starts), may show an effect";
        fit.warnings.push(why.to_owned());
    }
    fit
}

fn combination(task: &Task<'_>, free: &[usize], open: &[f64], z: &[f64]) -> Combination {
    let parameters = &task.problem.parameters;
    let sizes = task.problem.sizes();
    let share = |j: usize, x: f64| if z[j] == 0.0 { x * sizes[j] } else { x * sizes[j] / z[j].abs() };
    let parts = open.iter().enumerate().filter(|(_, x)| **x != 0.0);
    let mut changes: Vec<(usize, f64)> = parts.map(|(k, x)| (free[k], share(free[k], *x))).collect();
    let most = changes.iter().fold(0.0f64, |m, c| if c.1.abs() > m.abs() { c.1 } else { m });
    changes.iter_mut().for_each(|c| c.1 /= most);
    let one = |&(j, x): &(usize, f64)| match z[j] == 0.0 {
        false => format!("{} by {x:+.3} %", parameters[j].path),
        true => format!("{} by {:+.5}", parameters[j].path, 0.01 * x),
    };
    let words = match &changes[..] {
        [(j, _)] => format!("{} has no effect that the data show", parameters[*j].path),
        list => {
            let all = list.iter().map(one).collect::<Vec<_>>().join(" with ");
            format!("{all} has no effect that the data show: only other combinations are determined")
        }
    };
    Combination { changes, words }
}

/// The residuals of each column.
fn columns(task: &Task<'_>, values: &[f64]) -> Vec<ColumnFit> {
    let p = task.problem;
    let of = |(k, quantity): (usize, &super::Quantity)| {
        let mine = || (0..values.len()).filter(|&i| p.samples[i].1 == k);
        let residual: Vec<f64> = mine().map(|i| values[i] - p.measured[i]).collect();
        let sum: f64 = residual.iter().map(|r| r * r).sum();
        let neighbours: f64 = residual.windows(2).map(|w| w[0] * w[1]).sum();
        ColumnFit {
            name: quantity.name.clone(),
            unit: quantity.unit,
            times: mine().map(|i| p.samples[i].0).collect(),
            measured: mine().map(|i| p.measured[i]).collect(),
            fitted: mine().map(|i| values[i]).collect(),
            rms: (sum / residual.len() as f64).sqrt(),
            sigma: task.sigma[k],
            given: p.sigma[k].is_some(),
            autocorrelation: if sum > 0.0 { neighbours / sum } else { 0.0 },
        }
    };
    p.quantities.iter().enumerate().map(of).collect()
}

/// What makes a result less trustworthy.
fn warnings(problem: &Problem, fit: &Fit, known: bool) -> Vec<String> {
    let mut list = vec![];
    if fit.end == End::Undecided {
        let why = match fit.distance > NEAR {
            true => format!(
                "no step comes nearer to the minimum, which is about {:.2} standard errors away",
                fit.distance
            ),
            false => "the limit of iterations was met".to_owned(),
        };
        list.push(format!("{why}: runs may depend on the parameters with jumps or kinks"));
    }
    for e in fit.parameters.iter().filter(|e| e.at_bound) {
        list.push(format!("{} is at its bound {}: it has no interval", e.path, e.value));
    }
    for e in &fit.parameters {
        let Some(error) = e.standard_error else { continue };
        if let Some(x) = e.nonlinearity.filter(|x| *x > NONLINEAR) {
            list.push(format!(
                "runs one standard error of {} to both sides are {x:.2} of their difference off a line: its interval is rough",
                e.path
            ));
        }
        if let Some(x) = e.refinement.filter(|x| x.abs() > COARSE * error) {
            let what = match problem.scene.step.scheme {
                crate::scene::Scheme::Theta | crate::scene::Scheme::Implicit => "half the step",
                _ => "a tenth of the allowed error",
            };
            list.push(format!(
                "{what} moves {} by {x:.2e}, {:.1} standard errors: its interval does not hold the error of the step",
                e.path,
                x.abs() / error
            ));
        }
    }
    for c in &fit.columns {
        let count = c.times.len() as f64;
        let exact = c.rms <= 1e3 * EXACT * c.measured.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        if count >= 20.0 && c.autocorrelation > 3.0 / count.sqrt() && !exact {
            list.push(format!(
                "residuals of {} are correlated ({:.2} between neighbours): errors are not independent or the model misses something, and intervals are too narrow",
                c.name, c.autocorrelation
            ));
        }
    }
    let degrees = fit.degrees as f64;
    if known && degrees > 0.0 && (fit.sum - degrees).abs() > 4.0 * (2.0 * degrees).sqrt() {
        let ratio = (fit.sum / degrees).sqrt();
        list.push(format!(
            "residuals are {ratio:.2} times the standard deviations given: these or the model are wrong"
        ));
    }
    list
}

/// The results of jobs, on all cores, in order.
fn in_parallel<T: Sync, R: Send>(jobs: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(k) else { return };
                    let made = work(job);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((k, made));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, made)| made).collect()
}
