//! Starts: a strictly feasible point for the feasible method, a positive one for the other.

use super::predictor_corrector::Infeasible;
use super::system::{Point, Scaled, Step};
use super::{Counter, Settings, Stop};
use crate::factor::Lu;
use crate::linear_program;
use crate::matrix::dot;
use crate::problem::Lcp;

/// `z = w = size e`, in scaled variables.
pub(super) fn positive(p: &Scaled, size: f64) -> Point {
    Point { z: vec![size; p.order()], w: vec![size; p.order()] }
}

/// Step 0 of trinkle1995's appendix: `(w, z) > 0` with `w = M z + q`. The cheap ways first:
/// along `e`, along `M^-1 e`, by Newton steps towards the central path; then by a linear program,
/// which decides whether there is such a point.
/// `counter` hears of every Newton step.
pub(super) fn strictly_feasible(
    lcp: &Lcp,
    p: &Scaled,
    settings: &Settings,
    counter: &mut Counter<'_>,
) -> Result<Point, Stop> {
    let n = p.order();
    if let Some(point) = along(p, &vec![1.0; n]) {
        return Ok(point);
    }
    let mut x = vec![1.0; n];
    let mut lu = Lu::default();
    counter.factorisation()?;
    if lu.factor(n, |i, j| p.m[(i, j)]).is_ok() {
        lu.solve(&mut x);
        if let Some(point) = along(p, &x) {
            return Ok(point);
        }
    }
    if let Some(point) = towards_path(p, settings, counter)? {
        return Ok(point);
    }
    let point = linear_program::strictly_feasible(lcp, counter.budget).and_then(|z| exact(p, p.scaled(&z)));
    point.ok_or_else(|| counter.budget.ended().map_or(Stop::NoInterior, Stop::Ended))
}

/// `z = tau x` with the least `tau` that gives `w = tau M x + q >= 1/2 tau M x > 0`, if `x > 0` and `M x > 0`.
fn along(p: &Scaled, x: &[f64]) -> Option<Point> {
    if !x.iter().all(|&x| x > 0.0 && x.is_finite()) {
        return None;
    }
    let mut tau = 1.0f64;
    for i in 0..p.order() {
        let y = dot(p.m.row(i), x);
        if y.is_nan() || y <= f64::EPSILON {
            return None;
        }
        tau = tau.max(-2.0 * p.q[i] / y);
    }
    exact(p, x.iter().map(|x| tau * x).collect())
}

/// Damped Newton steps on `w = M z + q`, `w o z = e` from `w = z = e`: the first full one is feasible.
fn towards_path(p: &Scaled, settings: &Settings, counter: &mut Counter<'_>) -> Result<Option<Point>, Stop> {
    let mut at = positive(p, 1.0);
    let mut system = Infeasible::new(p.order());
    let mut step = Step::zeros(p.order());
    for _ in 0..settings.max_start_steps {
        counter.step()?;
        if system.factor(p, &at).and_then(|()| system.solve(p, &at, |_| 1.0, &mut step)).is_err() {
            return Ok(None);
        }
        let alpha = (settings.eta * at.boundary(&step)).min(1.0);
        if at.advance(&step, alpha).is_err() {
            return Ok(None);
        }
        if alpha == 1.0 {
            return Ok(exact(p, at.z));
        }
    }
    Ok(None)
}

/// `z` with its own `w`, if both are positive.
fn exact(p: &Scaled, z: Vec<f64>) -> Option<Point> {
    let w: Vec<f64> = (0..p.order()).map(|i| p.slack(i, &z)).collect();
    let positive = z.iter().chain(&w).all(|&x| x > 0.0 && x.is_finite());
    positive.then_some(Point { z, w })
}
