//! Nonlinear least squares within bounds: Gauss and Newton's method with a trust region.
//!
//! The step is Gauss and Newton's where the trust region allows it, otherwise Levenberg and Marquardt's of its length;
//! the step of least length where it is not unique. Unknowns that a bound stops are left out of it. A point that cannot
//! be evaluated shortens the step.

use super::svd::{Svd, dot};
use complementarity::matrix::Matrix;

/// Gain of a step, over the predicted one, from which it is accepted.
const ACCEPT: f64 = 1e-4;

/// Residuals of unknowns, and their derivative.
pub(crate) trait Residuals {
    /// What is kept of an evaluation.
    type Point;

    /// Evaluates the residuals at a choice of the unknowns; the reason if that is not possible.
    fn evaluate(&mut self, z: &[f64]) -> Result<Self::Point, String>;

    /// The residuals of a point.
    fn residual<'a>(&self, point: &'a Self::Point) -> &'a [f64];

    /// The derivative of the residuals at a point that is evaluated.
    fn jacobian(&mut self, z: &[f64], point: &Self::Point) -> Result<Matrix, String>;

    /// Whether the search shall end.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// When a search ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub iterations: usize,
    /// Largest residual of a solution.
    pub tolerance: f64,
    /// Share of the sum of squares that a step must promise to gain.
    pub gain: f64,
    /// Length of a step, over the sizes of the unknowns, below which the search ends.
    pub shortest: f64,
    /// Singular values below this share of the largest leave a direction open: no step is made along it.
    pub open: f64,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    /// All residuals are within the tolerance.
    Solved,
    /// No step gains: the nearest miss.
    Miss,
    /// The limit of iterations.
    Limit,
    /// The first point or a derivative could not be evaluated, or the search was stopped.
    Failed(String),
}

/// Where a search ended.
pub(crate) struct Minimum<P> {
    pub stop: Stop,
    pub unknowns: Vec<f64>,
    /// The point there, unless the first one failed.
    pub point: Option<P>,
    pub iterations: usize,
    pub evaluations: usize,
    /// Norm of the residual, iteration by iteration.
    pub history: Vec<f64>,
}

/// Searches a minimum of the sum of squares from `z` on, with the sizes and bounds of the unknowns.
pub(crate) fn minimise<R: Residuals>(
    task: &mut R,
    z: &[f64],
    sizes: &[f64],
    bounds: &[[f64; 2]],
    limits: Limits,
) -> Minimum<R::Point> {
    let mut out = Minimum {
        stop: Stop::Limit,
        unknowns: z.to_vec(),
        point: None,
        iterations: 0,
        evaluations: 1,
        history: vec![],
    };
    let mut point = match task.evaluate(z) {
        Ok(point) => point,
        Err(why) => return Minimum { stop: Stop::Failed(why), ..out },
    };
    let mut radius = 1.0;
    out.history.push(norm(task.residual(&point)));
    loop {
        let z = &out.unknowns;
        if largest(task.residual(&point)) <= limits.tolerance {
            out.stop = Stop::Solved;
            break;
        }
        if out.iterations == limits.iterations {
            break;
        }
        let jacobian = match task.jacobian(z, &point) {
            Ok(jacobian) => jacobian,
            Err(why) => {
                out.stop = Stop::Failed(why);
                break;
            }
        };
        let r = task.residual(&point).to_vec();
        let free = free(&jacobian, &r, z, bounds);
        let scaled = Matrix::from_fn(r.len(), free.len(), |i, j| jacobian[(i, free[j])] * sizes[free[j]]);
        let svd = Svd::new(&scaled);
        let against: Vec<f64> = r.iter().map(|r| -r).collect();
        // shrink the trust region until a step gains
        let mut accepted = None;
        while radius > limits.shortest && !task.is_stopped() {
            let p = step_within(&svd, &against, radius, limits.open);
            let mut next = z.clone();
            free.iter()
                .zip(&p)
                .for_each(|(&j, p)| next[j] = (z[j] + p * sizes[j]).clamp(bounds[j][0], bounds[j][1]));
            let moved: Vec<f64> = next.iter().zip(z).map(|(a, b)| a - b).collect();
            let predicted: Vec<f64> = (0..r.len()).map(|i| r[i] + dot(jacobian.row(i), &moved)).collect();
            let (before, hoped) = (dot(&r, &r), dot(&predicted, &predicted));
            let length = free.iter().map(|&j| (moved[j] / sizes[j]).powi(2)).sum::<f64>().sqrt();
            if length <= limits.shortest || before - hoped <= limits.gain * before {
                break;
            }
            out.evaluations += 1;
            let Ok(other) = task.evaluate(&next) else {
                radius = 0.25 * length;
                continue;
            };
            let after = task.residual(&other);
            let gain = (before - dot(after, after)) / (before - hoped);
            if gain > ACCEPT {
                radius = match gain {
                    g if g > 0.75 => radius.max(2.0 * length),
                    g if g < 0.25 => 0.25 * length,
                    _ => radius,
                };
                accepted = Some((next, other));
                break;
            }
            radius = 0.25 * length;
        }
        match accepted {
            Some((next, other)) => (out.unknowns, point) = (next, other),
            None if task.is_stopped() => {
                out.stop = Stop::Failed("interrupted".to_owned());
                break;
            }
            None => {
                out.stop = Stop::Miss;
                break;
            }
        }
        out.iterations += 1;
        out.history.push(norm(task.residual(&point)));
    }
    out.point = Some(point);
    out
}

/// The unknowns that no bound stops on the way down.
pub(crate) fn free(jacobian: &Matrix, r: &[f64], z: &[f64], bounds: &[[f64; 2]]) -> Vec<usize> {
    let gradient = jacobian.transpose_times(r);
    (0..z.len())
        .filter(|&j| {
            !(z[j] <= bounds[j][0] && gradient[j] > 0.0 || z[j] >= bounds[j][1] && gradient[j] < 0.0)
        })
        .collect()
}

/// The step of least squares, not longer than `radius`, and across directions that are open.
pub(super) fn step_within(svd: &Svd, b: &[f64], radius: f64, open: f64) -> Vec<f64> {
    let full = svd.solve(b, 0.0, open);
    if norm(&full) <= radius {
        return full;
    }
    let most = svd.values.first().copied().unwrap_or(0.0);
    let (mut low, mut high) = (0.0, (most * norm(b) / radius).max(most * most));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if norm(&svd.solve(b, middle, 0.0)) > radius { low = middle } else { high = middle }
    }
    svd.solve(b, high, 0.0)
}

/// The guess, and points spread evenly over the bounds (Halton's sequence); twice the size around the guess without.
pub(crate) fn spread_points(
    guess: &[f64],
    sizes: &[f64],
    bounds: &[[f64; 2]],
    count: usize,
) -> Vec<Vec<f64>> {
    const PRIMES: [u32; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    let share = |mut k: u32, base: u32| {
        let (mut out, mut by) = (0.0, 1.0);
        while k > 0 {
            by /= f64::from(base);
            out += by * f64::from(k % base);
            k /= base;
        }
        out
    };
    let mut list = vec![guess.to_vec()];
    for k in 1..count.max(1) {
        let point = (0..guess.len()).map(|j| {
            let at = share(k as u32, PRIMES[j % PRIMES.len()]);
            let [a, b] = bounds[j];
            match (a.is_finite(), b.is_finite()) {
                (true, true) => a + at * (b - a),
                _ => (guess[j] + (4.0 * at - 2.0) * sizes[j]).clamp(a, b),
            }
        });
        list.push(point.collect());
    }
    list
}

pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}
