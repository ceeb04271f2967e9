//! Element laws with compliance: the force of an element as an explicit function of its velocity, and its derivative.
//!
//! An element with the relative velocity `y` (contributed by the bodies), its own compliance `e` per row and a proximal
//! term about the centre `lambda0` obeys its law for `s = y + e lambda + eps (lambda - lambda0)`. With
//! `p = eps lambda0 - y` and `d = e + eps > 0` that is `s = d lambda - p`, and `lambda(p)` is explicit. A contact has the
//! normal force `max(0, p_n / d_n)` first; its friction force then minimises `sum d_k x_k^2 / 2 - p_k x_k` over the
//! friction set of `mu lambda_n`. That is not the projection on the whole cone: the normal forces of sticking contacts
//! are not shifted by friction.

use crate::cone::{Shape, natural_disc};
use crate::operator::MOST_ROWS;

/// What an element may do. The rows of a contact are normal first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Law {
    /// Unilateral contact with Coulomb friction: a disc or ball in 1 to 5 tangential rows, or a polygon in two.
    Contact {
        /// Friction coefficient.
        mu: f64,
        /// Cross-section of the force cone.
        shape: Shape,
    },
    /// One row, `0 <= lambda _|_ s >= 0`.
    Unilateral,
    /// One row, `|lambda| <= limit`, `s = 0` inside, against the motion at the limit.
    Bounded {
        /// Largest force.
        limit: f64,
    },
    /// One row, `s = 0`.
    Bilateral,
}

impl Law {
    /// Writes `lambda(p)` into `force` and, if there is one, `d lambda_i / d p_j` into `slope`, row by row.
    pub fn force(&self, p: &[f64], d: &[f64], force: &mut [f64], mut slope: Option<&mut [f64]>) {
        if let Some(slope) = &mut slope {
            slope.fill(0.0);
        }
        let unbounded = p[0] / d[0];
        let (value, free) = match *self {
            Self::Bilateral => (unbounded, true),
            Self::Bounded { limit } => (unbounded.clamp(-limit, limit), unbounded.abs() < limit),
            Self::Unilateral | Self::Contact { .. } => (unbounded.max(0.0), unbounded > 0.0),
        };
        force[0] = value;
        if let (Some(slope), true) = (&mut slope, free) {
            slope[0] = 1.0 / d[0];
        }
        if let Self::Contact { mu, shape } = *self {
            let grows = if free { mu / d[0] } else { 0.0 };
            friction(shape, (mu * value, grows), p, d, force, slope);
        }
    }

    /// The natural map of the law, zero exactly where `lambda` and `s` obey it.
    pub fn natural(&self, lambda: &[f64], s: &[f64], out: &mut [f64]) {
        match *self {
            Self::Contact { mu, shape } => shape.natural(mu, lambda, s, out),
            Self::Unilateral => natural_disc(0.0, lambda, s, 0.0, out),
            Self::Bounded { limit } => out[0] = lambda[0] - (lambda[0] - s[0]).clamp(-limit, limit),
            Self::Bilateral => out[0] = s[0],
        }
    }
}

/// The friction force for the limit `(r, dr / d p_n)`, and its rows of the slope.
fn friction(
    shape: Shape,
    (r, grows): (f64, f64),
    p: &[f64],
    d: &[f64],
    force: &mut [f64],
    slope: Option<&mut [f64]>,
) {
    let rows = p.len();
    // d lambda_t / d p_t, and d lambda_t / d r
    let mut across = [[0.0; MOST_ROWS]; MOST_ROWS];
    let mut outward = [0.0; MOST_ROWS];
    match shape {
        Shape::Disc => ball(r, p, d, force, &mut across, &mut outward),
        Shape::Polygon(polygon) => {
            let z = [p[1] / d[1], p[2] / d[2]];
            if polygon.gauge(z) <= r {
                force[1..].copy_from_slice(&z);
                (across[1][1], across[2][2]) = (1.0 / d[1], 1.0 / d[2]);
            } else {
                let side = |k: usize| {
                    let (n @ [c, s], a, half) = (polygon.normal(k), polygon.apothem(), polygon.half_side());
                    // lambda_t = r a n + x t, t = (-s, c): least for x = (t . p - r a t . D n) / (t . D t)
                    let stiff = d[1] * s * s + d[2] * c * c;
                    let skew = a * s * c * (d[2] - d[1]);
                    let free = (c * p[2] - s * p[1] - r * skew) / stiff;
                    let x = free.clamp(-r * half, r * half);
                    let at = [r * a * n[0] - x * s, r * a * n[1] + x * c];
                    (at, n, x == free, stiff, skew)
                };
                let cost = |at: [f64; 2]| (0..2).map(|k| d[k + 1] * (at[k] - z[k]).powi(2)).sum::<f64>();
                let nearest = |i: &usize, j: &usize| cost(side(*i).0).total_cmp(&cost(side(*j).0));
                let k = match d[1] == d[2] {
                    true => polygon.sector(z),
                    false => (0..polygon.sides()).min_by(nearest).unwrap_or(0),
                };
                let (at, [c, s], inside, stiff, skew) = side(k);
                force[1..].copy_from_slice(&at);
                if inside {
                    let (a, t) = (polygon.apothem(), [-s, c]);
                    (0..4).for_each(|m| across[1 + m / 2][1 + m % 2] = t[m / 2] * t[m % 2] / stiff);
                    (outward[1], outward[2]) = (a * c + s * skew / stiff, a * s - c * skew / stiff);
                } else if r > 0.0 {
                    (outward[1], outward[2]) = (at[0] / r, at[1] / r);
                } else {
                    [outward[1], outward[2]] = polygon.farthest(z);
                }
            }
        }
    }
    if let Some(slope) = slope {
        for i in 1..rows {
            slope[rows * i] = outward[i] * grows;
            slope[rows * i + 1..][..rows - 1].copy_from_slice(&across[i][1..rows]);
        }
    }
}

/// The ball `|x| <= r`: `lambda_k = p_k / (d_k + tau)`, with `tau >= 0` such that it lies inside.
fn ball(
    r: f64,
    p: &[f64],
    d: &[f64],
    force: &mut [f64],
    across: &mut [[f64; MOST_ROWS]; MOST_ROWS],
    outward: &mut [f64; MOST_ROWS],
) {
    let rows = p.len();
    let length = |x: &[f64]| x[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
    (1..rows).for_each(|k| force[k] = p[k] / d[k]);
    if length(force) <= r {
        (1..rows).for_each(|k| across[k][k] = 1.0 / d[k]);
        return;
    }
    if r <= 0.0 {
        let all = length(p);
        force[1..].fill(0.0);
        (1..rows).for_each(|k| outward[k] = p[k] / all);
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
    // with H = 1 / (d + tau): d lambda = H dp - H lambda dtau and lambda . d lambda = r dr
    let mut turned = [0.0; MOST_ROWS];
    let mut total = 0.0;
    for k in 1..rows {
        force[k] = p[k] / (d[k] + tau);
        turned[k] = force[k] / (d[k] + tau);
        total += force[k] * turned[k];
    }
    for i in 1..rows {
        outward[i] = r * turned[i] / total;
        (1..rows).for_each(|k| across[i][k] = -turned[i] * turned[k] / total);
        across[i][i] += 1.0 / (d[i] + tau);
    }
}

/// Steps of the root search of [`ball`]; five are usual.
const ROOT_STEPS: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Friction;
    use proptest::prelude::*;

    fn laws() -> impl Strategy<Value = (Law, usize)> {
        let contact = |mu: f64, friction: Friction, rows: usize| {
            (Law::Contact { mu, shape: Shape::of(friction, rows) }, rows)
        };
        prop_oneof![
            (0.0..2.0f64, 2usize..=6).prop_map(move |(mu, rows)| contact(mu, Friction::Cone, rows)),
            (0.0..2.0f64).prop_map(move |mu| contact(mu, Friction::Pyramid, 3)),
            (0.0..2.0f64, 2usize..8).prop_map(move |(mu, k)| contact(
                mu,
                Friction::Polygon { sides: 2 * k },
                3
            )),
            Just((Law::Unilateral, 1)),
            (0.0..2.0f64).prop_map(|limit| (Law::Bounded { limit }, 1)),
            Just((Law::Bilateral, 1)),
        ]
    }

    fn force(law: Law, p: &[f64], d: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; p.len()];
        law.force(p, d, &mut out, None);
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
            law.natural(&lambda, &s, &mut r);
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
            law.force(&p[..rows], &d[..rows], &mut out, Some(&mut slope));
            for i in 0..rows {
                let expected: f64 = (0..rows).map(|j| slope[rows * i + j] * along[j]).sum();
                prop_assert!((one[i] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{} {:?} {}", i, one, expected);
            }
        }
    }
}
