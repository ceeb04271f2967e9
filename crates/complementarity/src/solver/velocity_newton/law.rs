//! Element laws with compliance: the force of an element as an explicit function of its velocity, and its derivative.
//!
//! An element with the relative velocity `y` (contributed by the bodies), its own compliance `e` per row and a proximal
//! term about the centre `lambda0` obeys its law for `s = y + e lambda + eps (lambda - lambda0)`. With
//! `p = eps lambda0 - y` and `d = e + eps > 0` that is `s = d lambda - p`, and `lambda(p)` is explicit. A contact has the
//! normal force `max(0, p_n / d_n)` first; its friction force then minimises `sum d_k x_k^2 / 2 - p_k x_k` over the
//! friction set of `mu lambda_n`. That is not the projection on the whole cone: the normal forces of sticking contacts
//! are not shifted by friction.

use crate::element::law::Law;
use crate::element::polygon::Polygon;

/// Writes `lambda(p)` of an element under a law with friction `mu` into `force` and, if there is one, `d lambda_i / d p_j` into `slope`, row by row.
pub(super) fn force(
    (law, mu): (Law, f64),
    p: &[f64],
    d: &[f64],
    force: &mut [f64],
    mut slope: Option<&mut [f64]>,
) {
    if let Some(slope) = &mut slope {
        slope.fill(0.0);
    }
    let unbounded = p[0] / d[0];
    let (value, free) = match law {
        Law::Row { limit } => (unbounded.clamp(-limit, limit), unbounded.abs() < limit),
        Law::Disc | Law::Polygon(_) => (unbounded.max(0.0), unbounded > 0.0),
    };
    force[0] = value;
    if let (Some(slope), true) = (&mut slope, free) {
        slope[0] = 1.0 / d[0];
    }
    if !law.is_contact() {
        return force[1..].fill(0.0);
    }
    let grows = if free { mu / d[0] } else { 0.0 };
    friction(law, (mu * value, grows), p, d, force, slope);
}

/// The friction force for the limit `(r, dr / d p_n)`, and its rows of the slope.
fn friction(
    law: Law,
    (r, grows): (f64, f64),
    p: &[f64],
    d: &[f64],
    force: &mut [f64],
    slope: Option<&mut [f64]>,
) {
    let rows = p.len();
    (1..rows).for_each(|k| force[k] = p[k] / d[k]);
    match (law.gauge(force) <= r, law) {
        (true, _) => {
            if let Some(slope) = slope {
                (1..rows).for_each(|k| slope[(rows + 1) * k] = 1.0 / d[k]);
            }
        }
        (false, Law::Polygon(polygon)) => side(polygon, (r, grows), p, d, force, slope),
        (false, _) => ball((r, grows), p, d, force, slope),
    }
}

fn length(x: &[f64]) -> f64 {
    x[1..].iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// On the boundary of the ball `|x| <= r`: `lambda_k = p_k / (d_k + tau)` with `tau >= 0`.
fn ball((r, grows): (f64, f64), p: &[f64], d: &[f64], force: &mut [f64], slope: Option<&mut [f64]>) {
    let rows = p.len();
    if r <= 0.0 {
        let all = length(p);
        force[1..].fill(0.0);
        if let Some(slope) = slope {
            (1..rows).for_each(|k| slope[rows * k] = grows * p[k] / all);
        }
        return;
    }
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
    (1..rows).for_each(|k| force[k] = p[k] / (d[k] + tau));
    let Some(slope) = slope else { return };
    // with H = 1 / (d + tau): d lambda = H dp - H lambda dtau and lambda . d lambda = r dr
    let turned = |k: usize| force[k] / (d[k] + tau);
    let total: f64 = (1..rows).map(|k| force[k] * turned(k)).sum();
    for i in 1..rows {
        slope[rows * i] = grows * r * turned(i) / total;
        (1..rows).for_each(|k| slope[rows * i + k] = -turned(i) * turned(k) / total);
        slope[(rows + 1) * i] += 1.0 / (d[i] + tau);
    }
}

/// On the boundary of `r` times a polygon: `lambda_t = r a n + x t` on the side with the normal `n = (c, s)` and the
/// distance `a`, `t = (-s, c)`, where the cost is least for `x = (t . p - r a t . D n) / (t . D t)`, within the side.
fn side(
    polygon: Polygon,
    (r, grows): (f64, f64),
    p: &[f64],
    d: &[f64],
    force: &mut [f64],
    slope: Option<&mut [f64]>,
) {
    let (a, half, z) = (polygon.apothem(), r * polygon.half_side(), [p[1] / d[1], p[2] / d[2]]);
    let nearest = |k: usize| {
        let [c, s] = polygon.normal(k);
        let stiff = d[1] * s * s + d[2] * c * c;
        let skew = a * s * c * (d[2] - d[1]) / stiff;
        let free = (c * p[2] - s * p[1]) / stiff - r * skew;
        let x = free.clamp(-half, half);
        ([r * a * c - x * s, r * a * s + x * c], x == free, [c, s], stiff, skew)
    };
    let cost = |k: usize| {
        let at = nearest(k).0;
        (0..2).map(|i| d[i + 1] * (at[i] - z[i]).powi(2)).sum::<f64>()
    };
    let k = match d[1] == d[2] {
        true => polygon.sector(z),
        false => (0..polygon.sides()).min_by(|&i, &j| cost(i).total_cmp(&cost(j))).unwrap_or(0),
    };
    let (at, within, [c, s], stiff, skew) = nearest(k);
    force[1..3].copy_from_slice(&at);
    force[3..].fill(0.0);
    let Some(slope) = slope else { return };
    let rows = p.len();
    let outward = match within {
        true => [a * c + s * skew, a * s - c * skew],
        false if r > 0.0 => at.map(|x| x / r),
        false => polygon.farthest(z),
    };
    (slope[rows], slope[2 * rows]) = (grows * outward[0], grows * outward[1]);
    if within {
        (slope[rows + 1], slope[rows + 2]) = (s * s / stiff, -s * c / stiff);
        (slope[2 * rows + 1], slope[2 * rows + 2]) = (-s * c / stiff, c * c / stiff);
    }
}

/// Steps of the root search of `ball`; five are usual.
const ROOT_STEPS: usize = 50;

#[cfg(test)]
mod tests {
    use super::{force as force_of, *};
    use crate::problem::Friction;
    use proptest::prelude::*;

    /// A law with its friction, and a number of rows; a polygon may be padded.
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
        force_of(law, p, d, &mut out, None);
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

        /// The slope is that of differences, wherever these are smooth.
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
            force_of(law, &p[..rows], &d[..rows], &mut out, Some(&mut slope));
            for i in 0..rows {
                let expected: f64 = (0..rows).map(|j| slope[rows * i + j] * along[j]).sum();
                prop_assert!((one[i] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{} {:?} {}", i, one, expected);
            }
        }
    }
}
