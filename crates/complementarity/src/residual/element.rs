//! The residual of one element by itself: two numbers without units, in which nothing but its own forces, velocities and reference speed occurs.
//!
//! Sums over an island or a body ([`super`]) cannot see a row whose velocity is far below that of another row: a slider of 0.1 g under 1,000 N would be "solved" with
//! any friction, for its slip is 1e-10 of what the load alone would do to its normal velocity. So each element is also judged alone. With `sigma` the support function
//! of its friction set at `-s_t` (for a disc the slip speed), `V` its reference speed and `S = max(V, sigma)`:
//!
//! - *feasibility*: the part of the friction force that is beyond its bound, as a share of the force; the velocity at which a gap closes beyond zero, over `S`;
//! - *work gap* (De Saxce and Feng 1998), where the element carries a force: `min(s_n, A_nn lambda_n) / S` at the normal. The gap of friction, `mu sigma + lambda_t . s_t / lambda_n`,
//!   has two causes. Either the element rests, `sigma / V`, or both are small: what its friction lacks to its bound, as a share of the bound; and the gap of the same
//!   friction grown to its bound, over `S`. On a disc the latter is of second order in the angle, so that the distance of the slip from one against the friction is used.
//!
//! So an element with the residual `r` obeys the law exactly for velocities that differ by at most `r S` from its own and a friction that differs by a share `r`.
//! The angle is then at most `r V / sigma`: the slower the slip, the less it has a direction.
//!
//! Velocities count from the rounding of their own row on: `s_i` is a sum, and what its terms lose is no residual. Friction counts from the force on that changes
//! the element's own velocity by that rounding.

use crate::element::law::Law;
use crate::element::{Contact, Element, Mode};
use crate::operator::MOST_ROWS;

/// Roundings of the sum of a row's terms that are no velocity, in an island of one element; of more elements the root of their number times as many.
const ROUNDINGS: f64 = 8.0;
/// Reference speed over what an element's own `b` and force make, where a problem does not say what is slow.
const SHARE_OF_OWN: f64 = 1e-3;
/// A normal force that changes the element's own velocity by at most this share of `S` is no load.
const DUST: f64 = 1e-14;

/// What an element is judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged<'a> {
    pub element: &'a Element,
    pub lambda: &'a [f64],
    /// `A lambda + b`.
    pub s: &'a [f64],
    /// Mean eigenvalue of the linear rows of its own block of `A`.
    pub mobility: f64,
    /// `V`.
    pub reference: f64,
    /// Sums of the absolute values of the terms of `s`; empty: rounding is not looked at.
    pub terms: &'a [f64],
    /// Elements of the island.
    pub count: usize,
}

/// Friction in the units in which its set has `mu = 1` along each row: force and velocity in the plane.
struct Friction {
    gauge: f64,
    sigma: f64,
    /// Velocity that is not against the friction: of a disc its length, else the work gap of the friction at its bound.
    astray: f64,
    /// Rounding of the velocities, and the sum of their terms.
    rounding: f64,
}

impl Judged<'_> {
    /// Rounding of a sum over the sum of its terms.
    fn roundings(&self) -> f64 {
        ROUNDINGS * f64::EPSILON * (self.count as f64).sqrt()
    }

    /// Sums of terms of the first row.
    fn own_terms(&self) -> f64 {
        self.terms.first().copied().unwrap_or(0.0)
    }

    fn terms_of_friction(&self) -> f64 {
        let own = self.terms.iter().enumerate().skip(1).map(|(k, t)| (self.element.axis(k) * t).powi(2));
        own.sum::<f64>().sqrt()
    }

    /// Speed up to which the element rests, at a tolerance: m/s, for a rotational row rad/s.
    pub fn rest(&self, tolerance: f64) -> f64 {
        let terms = if self.element.rows() > 1 { self.terms_of_friction() } else { self.own_terms() };
        // what is below that is not looked at
        (tolerance.max(super::ELEMENT_ABOVE_ROUNDING) * self.reference).max(self.roundings() * terms)
    }

    /// The larger of both numbers.
    pub fn residual(&self) -> f64 {
        let rounding = self.roundings() * self.own_terms();
        let (l, s) = (self.lambda[0], self.s[0]);
        match self.element {
            Element::Bilateral => over(s.abs() - rounding, self.reference),
            Element::Unilateral => self.normal(rounding, self.reference),
            Element::Bounded { limit } => {
                let beyond = over(l.abs() - limit, l.abs());
                let share = if *limit > 0.0 { l / limit } else { 0.0 };
                let ratio = 0.5 * (1.0 + share * s.signum());
                let loaded = *limit > 0.0;
                let work = over(s.abs() - rounding, self.reference).min(ratio.max(0.0));
                if loaded { beyond.max(work) } else { beyond }
            }
            Element::Contact(contact) => self.contact(contact, rounding),
        }
    }

    fn contact(&self, contact: &Contact, rounding: f64) -> f64 {
        let Contact { mu, mode, .. } = *contact;
        if let Mode::Sliding { direction } = mode {
            let (limit, t) = (mu * self.lambda[0], &self.lambda[1..]);
            let apart = t.iter().zip(direction).map(|(t, d)| (t + limit * d).abs()).sum::<f64>();
            let size = limit.abs() + t.iter().map(|t| t.abs()).sum::<f64>();
            return self.normal(rounding, self.reference).max(over(apart, size));
        }
        let friction = self.friction(contact);
        let scale = self.reference.max(friction.sigma);
        let mut worst = self.normal(rounding, scale);
        let n = self.lambda[0].max(0.0);
        let load = (mu * n + friction.gauge) * self.mobility;
        // a friction that changes velocities by no more than their rounding is none
        let dust = if self.mobility > 0.0 { friction.rounding / self.mobility } else { 0.0 };
        if load > DUST * scale {
            worst = worst.max(over(friction.gauge - mu * n - dust, friction.gauge));
        }
        if mu > 0.0 && n * self.mobility > DUST * scale {
            let rests = over(friction.sigma - friction.rounding, self.reference);
            let lacks = over(mu * n - friction.gauge - dust, mu * n);
            // as much turns the friction by its share
            let astray = friction.astray - friction.sigma * dust / (mu * n);
            worst = worst.max(rests.min(lacks.max(over(astray, scale))));
        }
        worst
    }

    fn friction(&self, contact: &Contact) -> Friction {
        let rows = self.lambda.len();
        let (mut l, mut s) = ([0.0; MOST_ROWS], [0.0; MOST_ROWS]);
        for k in 1..rows {
            let axis = self.element.axis(k);
            (l[k], s[k]) = (if axis > 0.0 { self.lambda[k] / axis } else { 0.0 }, axis * self.s[k]);
        }
        let law = Law::of(contact.friction, rows);
        let (gauge, sigma) = (law.gauge(&l[..rows]), law.lift(&s[..rows]));
        let rounding = self.roundings() * self.terms_of_friction();
        l[1..rows].iter_mut().for_each(|l| *l /= gauge.max(f64::MIN_POSITIVE));
        let along = l[1..rows].iter().zip(&s[1..rows]).map(|(l, s)| l * s).sum::<f64>();
        let astray = match law {
            Law::Disc => {
                let across = l[1..rows].iter().zip(&s[1..rows]).map(|(l, s)| s - along.min(0.0) * l);
                across.map(|s| s * s).sum::<f64>().sqrt() - rounding
            }
            // both terms lose as much
            _ => sigma + along - 2.0 * rounding,
        };
        Friction { gauge, sigma, astray, rounding }
    }

    /// `0 <= lambda_n _|_ s_n >= 0`, over a speed.
    fn normal(&self, rounding: f64, scale: f64) -> f64 {
        let (l, s) = (self.lambda[0], self.s[0]);
        let closing = over(-s - rounding, scale);
        let pulls = over(-l * self.mobility - rounding, scale);
        let opens = over((s - rounding).min(l * self.mobility), scale);
        closing.max(pulls).max(opens)
    }
}

/// Reference speed of an element from its own rows, where the problem does not say it: a share of what its `b` (or the terms of that) and its force alone
/// make. `units`: `sqrt(rho)` row by row.
pub(super) fn own_reference(element: &Element, lambda: &[f64], b: &[f64], units: &[f64]) -> f64 {
    let own = |k: usize| element.axis(k) * (b[k].abs() + lambda[k].abs() / (units[k] * units[k]));
    let friction = (1..lambda.len()).map(|k| own(k).powi(2)).sum::<f64>().sqrt();
    SHARE_OF_OWN * own(0).max(friction)
}

/// `x / scale` where `x` is positive, else 0; NaN stays, and nothing over nothing is all of it.
fn over(x: f64, scale: f64) -> f64 {
    match x {
        x if x <= 0.0 => 0.0,
        x if scale > 0.0 => x / scale,
        x if x.is_nan() || scale.is_nan() => f64::NAN,
        _ => 1.0,
    }
}
