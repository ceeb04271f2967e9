//! Element laws with compliance: the force of an element as an explicit function of its velocity, and the
//! regime of the law.
//!
//! An element with the relative velocity `y` (contributed by the bodies), its own compliance `e` per row and
//! a proximal term about the centre `lambda0` obeys its law for `s = y + e lambda + eps (lambda - lambda0)`.
//! With `p = eps lambda0 - y` and `d = e + eps > 0` that is `s = d lambda - p`, and `lambda(p)` is explicit.
//! A contact has the normal force `max(0, p_n / d_n)` first; its friction force then minimises
//! `sum d_k x_k^2 / 2 - p_k x_k` over the friction set of `mu lambda_n`. That is not the projection on the
//! whole cone: the normal forces of sticking contacts are not shifted by friction.

use crate::element::law::Law;
use crate::element::linear::Regime;
use crate::element::polygon::Polygon;
use crate::operator::MOST_ROWS;

/// Writes `lambda(p)` of an element with friction `mu` into `force`; returns the regime of the law there.
pub(super) fn respond((law, mu): (Law, f64), p: &[f64], d: &[f64], force: &mut [f64]) -> Regime<MOST_ROWS> {
    let unbounded = p[0] / d[0];
    let (value, free) = match law {
        Law::Row { limit } => (unbounded.clamp(-limit, limit), unbounded.abs() < limit),
        Law::Disc | Law::Polygon(_) => (unbounded.max(0.0), unbounded > 0.0),
    };
    force[0] = value;
    force[1..].fill(0.0);
    if !free {
        return Regime::Fixed;
    }
    if !law.is_contact() {
        return Regime::Slip { along: [0.0; MOST_ROWS], across: None };
    }
    let r = mu * value;
    // an infinite force without friction has no bound that is a number
    if r <= 0.0 || r.is_nan() {
        return Regime::Slip { along: [0.0; MOST_ROWS], across: None };
    }
    (1..p.len()).for_each(|k| force[k] = p[k] / d[k]);
    match law {
        _ if law.gauge(force) <= r => Regime::Stick,
        Law::Polygon(polygon) => side(polygon, r, p, d, force),
        _ => ball(r, p, d, force),
    }
}

/// Which law rigid contacts with friction obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Act {
    /// Coulomb's: friction against the slip, up to `mu` times the normal force.
    #[default]
    Coulomb,
    /// The associated one: force against velocity, within the whole cone (`rest.rs`).
    Cone,
    /// Friction up to given forces, whatever the normal force is (`rest/borne.rs`).
    Bounded,
}

/// Whether the laws of an element differ: rigid contacts with friction.
pub(super) fn is_rigid_friction((law, mu): (Law, f64), compliance: &[f64]) -> bool {
    // the rows of padding yield by themselves
    law.is_contact() && mu > 0.0 && compliance.iter().take(2).all(|e| *e == 0.0)
}

/// Associated force `P_K(p / d)` of a rigid contact, with one `d` for all rows.
pub(super) fn respond_associated((law, mu): (Law, f64), p: &[f64], d: f64, force: &mut [f64]) {
    force.iter_mut().zip(p).for_each(|(f, p)| *f = p / d);
    law.project(mu, force);
}

/// Writes its derivative `d lambda / dp`, row by row.
pub(super) fn slope_associated((law, mu): (Law, f64), p: &[f64], d: f64, out: &mut [f64]) {
    let rows = p.len();
    let at: [f64; MOST_ROWS] = std::array::from_fn(|i| if i < rows { p[i] / d } else { 0.0 });
    out.fill(0.0);
    let Some(slope) = law.slope(mu, &at) else { return };
    for i in 0..rows {
        (0..rows).for_each(|j| out[rows * i + j] = slope[i][j] / d);
    }
}

/// Force of a rigid contact whose friction is bounded by `most`, with one `d` for all rows.
pub(super) fn respond_bounded(most: f64, p: &[f64], d: f64, force: &mut [f64]) {
    force.iter_mut().zip(p).for_each(|(f, p)| *f = p / d);
    force[0] = force[0].max(0.0);
    let size = length(force);
    if size > most {
        force[1..].iter_mut().for_each(|f| *f *= most / size);
    }
}

/// Writes its derivative `d lambda / dp`, row by row.
pub(super) fn slope_bounded(most: f64, p: &[f64], d: f64, out: &mut [f64]) {
    let rows = p.len();
    out.fill(0.0);
    out[0] = if p[0] > 0.0 { 1.0 / d } else { 0.0 };
    let size = length(p);
    // no bound is infinite
    let slips = size > most * d;
    let share = if slips { most / size } else { 1.0 / d };
    for i in 1..rows {
        out[(rows + 1) * i] = share;
        if slips {
            (1..rows).for_each(|j| out[rows * i + j] -= share * p[i] * p[j] / (size * size));
        }
    }
}

fn length(x: &[f64]) -> f64 {
    x[1..].iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Force on the boundary of the ball `|x| <= r`: `lambda_k = p_k / (d_k + tau)` with `tau >= 0`.
fn ball(r: f64, p: &[f64], d: &[f64], force: &mut [f64]) -> Regime<MOST_ROWS> {
    let rows = p.len();
    let mut tau = length(p) / r - d[1];
    if d[2..].iter().any(|x| *x != d[1]) {
        // Newton on 1 / |lambda(tau)| = 1 / r, which is nearly linear and rises to its root from the left
        tau = 0.0;
        for _ in 0..ROOT_STEPS {
            (1..rows).for_each(|k| force[k] = p[k] / (d[k] + tau));
            let size = length(force);
            let fall: f64 = (1..rows).map(|k| force[k] * force[k] / (d[k] + tau)).sum();
            let step = size * size * (size - r) / (r * fall);
            tau += step;
            if step.abs() <= f64::EPSILON * tau {
                break;
            }
        }
    }
    let mut along = [0.0; MOST_ROWS];
    for k in 1..rows {
        force[k] = p[k] / (d[k] + tau);
        along[k] = force[k] / r;
    }
    Regime::Slip { along, across: Some(tau) }
}

/// Force on the boundary of `r` times a polygon: `lambda_t = r a n + x t` on the side with the normal
/// `n = (c, s)` and the distance `a`, `t = (-s, c)`. The cost is least for
/// `x = (t . p - r a t . D n) / (t . D t)`, restricted to the side.
fn side(polygon: Polygon, r: f64, p: &[f64], d: &[f64], force: &mut [f64]) -> Regime<MOST_ROWS> {
    let (a, half, z) = (polygon.apothem(), r * polygon.half_side(), [p[1] / d[1], p[2] / d[2]]);
    let nearest = |k: usize| {
        let [c, s] = polygon.normal(k);
        let stiff = d[1] * s * s + d[2] * c * c;
        let free = (c * p[2] - s * p[1] - r * a * s * c * (d[2] - d[1])) / stiff;
        let x = free.clamp(-half, half);
        ([r * a * c - x * s, r * a * s + x * c], x == free)
    };
    let cost = |k: usize| {
        let at = nearest(k).0;
        (0..2).map(|i| d[i + 1] * (at[i] - z[i]).powi(2)).sum::<f64>()
    };
    let k = match d[1] == d[2] {
        true => polygon.sector(z),
        false => (0..polygon.sides()).min_by(|&i, &j| cost(i).total_cmp(&cost(j))).unwrap_or(0),
    };
    let (at, within) = nearest(k);
    force[1..3].copy_from_slice(&at);
    force[3..].fill(0.0);
    let mut along = [0.0; MOST_ROWS];
    let seen = if within { polygon.normal(k).map(|x| a * x) } else { at.map(|x| x / r) };
    along[1..3].copy_from_slice(&seen);
    Regime::Slip { along, across: within.then_some(0.0) }
}

/// Largest number of steps of the root search of `ball`; five are usual.
const ROOT_STEPS: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Friction;
    use proptest::prelude::*;

    /// A law with its friction, and a number of rows.
    fn laws() -> impl Strategy<Value = ((Law, f64), usize)> {
        let row = |limit| ((Law::Row { limit }, 0.0), 1);
        prop_oneof![
            (0.0..2.0f64, 1usize..=6).prop_map(|(mu, rows)| ((Law::Disc, mu), rows)),
            (0.0..2.0f64).prop_map(|mu| ((Law::of(Friction::Pyramid, 3), mu), 3)),
            (0.0..2.0f64, 2usize..8)
                .prop_map(|(mu, k)| ((Law::of(Friction::Polygon { sides: 2 * k }, 3), mu), 3)),
            (0.0..2.0f64).prop_map(row),
            Just(row(f64::INFINITY)),
        ]
    }

    fn force(law: (Law, f64), p: &[f64], d: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; p.len()];
        _ = respond(law, p, d, &mut out);
        out
    }

    proptest! {
        /// `s = d lambda - p` and `lambda` obey the law itself.
        #[test]
        fn force_obeys_the_law((law, rows) in laws(), p in prop::array::uniform6(-2.0..2.0f64),
            d in prop::array::uniform6(0.1..2.0f64), alike in any::<bool>()) {
            let d = if alike { [d[0], d[1], d[1], d[1], d[1], d[1]] } else { d };
            let (p, d) = (&p[..rows], &d[..rows]);
            let lambda = force(law, p, d);
            let s: Vec<f64> = (0..rows).map(|k| d[k] * lambda[k] - p[k]).collect();
            let mut r = vec![0.0; rows];
            law.0.natural(law.1, &lambda, &s, &mut r);
            prop_assert!(r.iter().all(|r| r.abs() < 1e-12), "{:?} {:?} {:?}", lambda, s, r);
        }

        /// The slope agrees with finite differences where the law is smooth.
        #[test]
        fn slope_is_that_of_differences((law, rows) in laws(), p in prop::array::uniform6(-2.0..2.0f64),
            d in prop::array::uniform6(0.1..2.0f64), along in prop::array::uniform6(-1.0..1.0f64),
            alike in any::<bool>()) {
            let d = if alike { [d[0], d[1], d[1], d[1], d[1], d[1]] } else { d };
            let at = |h: f64| {
                let p: Vec<f64> = (0..rows).map(|k| p[k] + h * along[k]).collect();
                force(law, &p, &d[..rows])
            };
            let differ = |h: f64| -> Vec<f64> {
                at(h).iter().zip(at(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
            };
            let h = 1e-5;
            let (one, two) = (differ(h), differ(2.0 * h));
            let here = at(0.0);
            let bend = (0..rows).map(|k| (at(h)[k] + at(-h)[k] - 2.0 * here[k]).abs() / h).fold(0.0, f64::max);
            prop_assume!(bend < 1e-2 && one.iter().zip(&two).all(|(a, b)| (a - b).abs() < 1e-6));
            let (mut out, mut slope) = (vec![0.0; rows], vec![0.0; rows * rows]);
            let regime = respond(law, &p[..rows], &d[..rows], &mut out);
            regime.slope(law.1, &d[..rows], &mut slope);
            for i in 0..rows {
                let expected: f64 = (0..rows).map(|j| slope[rows * i + j] * along[j]).sum();
                prop_assert!((one[i] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{} {:?} {}", i, one, expected);
            }
        }
    }
}
