//! The law of one element at a solution, linearised in the units in which the problem was posed: what derivatives of
//! a solution need.
//!
//! With `d lambda = C y + f` and `R ds + T y = 0` (`element/linear.rs`), a solution of `s = A lambda + b` changes
//! with `b` by `(R A C + T) y = -R (db + A f)`; `f` is what a change of the law itself, of its friction coefficient
//! or bound, does to the force.
//!
//! The regime is the one that the natural map with the step `rho` sees: no thresholds decide it, and units cancel.
//! At a degenerate point, where two regimes meet, it is one of the two, and the element says so: a contact that
//! touches without force counts as open, friction at its limit without slip as stick.

use super::law::Law;
use super::linear::{Linear, Regime};
use super::polygon::Face;
use super::{Contact, Element, Friction, Mode};
use crate::operator::MOST_ROWS;

/// Share of forces below which a force, or a velocity times `rho`, is zero: regimes then meet.
const DEGENERATE: f64 = 1e-7;

/// What an element does at a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No force.
    Open,
    /// The velocity is fixed.
    Stick,
    /// The friction force is at its limit, and moves with the normal force and the slip.
    Slip,
    /// The force is at its bound.
    Bound,
}

/// The linearised law of an element at a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementTangent {
    linear: Linear<MOST_ROWS>,
    /// Friction force over `lambda_n`, per coefficient of each row; for a bound its sign.
    along: [f64; MOST_ROWS],
    /// What the element does.
    pub status: Status,
    /// Whether another regime meets this one here, so that the derivatives are one-sided.
    pub degenerate: bool,
}

impl ElementTangent {
    /// Number of columns of `C`, and of equations.
    pub fn count(&self) -> usize {
        self.linear.count
    }

    /// Column `k` of `C`.
    pub fn column(&self, k: usize) -> &[f64; MOST_ROWS] {
        &self.linear.columns[k]
    }

    /// Row `k` of `R`.
    pub fn equation(&self, k: usize) -> &[f64; MOST_ROWS] {
        &self.linear.equations[k]
    }

    /// Entry `k` of the diagonal of `T`.
    pub fn weight(&self, k: usize) -> f64 {
        self.linear.weights[k]
    }

    /// Change `f` of the force where the coefficients of friction `mu e_k` of the rows after the first change by
    /// `coefficients`, or the bound of a bounded row by the first of them, at the solution `lambda`, `s`.
    pub fn law_change(&self, element: &Element, lambda: &[f64], s: &[f64], coefficients: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; lambda.len()];
        match (self.status, element) {
            (Status::Bound, _) => out[0] = self.along[0] * coefficients[0],
            (Status::Slip, Element::Contact(contact)) if contact.mu > 0.0 => {
                let rows = lambda.len();
                let disc = matches!(contact.friction, Friction::Cone | Friction::Ellipsoid) || rows == 2;
                let scale = |k: usize| contact.mu * element.axis(k);
                let slip = (1..rows).map(|k| (scale(k) * s[k]).powi(2)).sum::<f64>().sqrt();
                for k in 1..rows {
                    out[k] = lambda[0] * coefficients[k - 1] * self.along[k];
                }
                if disc && rows > 2 && slip > 0.0 {
                    // the direction e = -m s / |m s| turns with the coefficients m
                    let turn: Vec<f64> = (1..rows).map(|k| -coefficients[k - 1] * s[k] / slip).collect();
                    let own: f64 = (1..rows).map(|k| self.along[k] * turn[k - 1]).sum();
                    (1..rows)
                        .for_each(|k| out[k] += lambda[0] * scale(k) * (turn[k - 1] - own * self.along[k]));
                }
            }
            _ => {}
        }
        out
    }
}

impl Element {
    /// The law, linearised at a solution `lambda`, `s`. `rho` is a force per velocity of the size of `1 / A_ii`;
    /// `size` a force of the size of those around it, beside which zero is zero.
    pub fn tangent(&self, lambda: &[f64], s: &[f64], rho: f64, size: f64) -> ElementTangent {
        let (mu, law, rows) = (self.mu(), self.law(), lambda.len());
        let none = Regime::<MOST_ROWS>::Fixed;
        let mut out = ElementTangent {
            linear: none.linearise(mu, rows),
            along: [0.0; MOST_ROWS],
            status: Status::Open,
            degenerate: false,
        };
        let small = DEGENERATE * size;
        if let Law::Row { limit } = law {
            let beyond = (lambda[0] - rho * s[0]).abs() - limit;
            if limit.is_finite() && beyond > 0.0 {
                (out.status, out.along[0]) = (Status::Bound, lambda[0].signum());
            } else {
                out.linear = Regime::Stick.linearise(0.0, 1);
                out.status = Status::Stick;
            }
            out.degenerate = limit.is_finite() && beyond.abs() <= small.max(DEGENERATE * limit);
            return out;
        }
        out.degenerate = lambda[0].max(rho * s[0]) <= small;
        if lambda[0] <= rho * s[0] || out.degenerate {
            return out;
        }
        let mut along = [0.0; MOST_ROWS];
        if let Self::Contact(Contact { mode: Mode::Sliding { direction }, .. }) = self {
            (1..rows).for_each(|k| along[k] = -direction[k - 1]);
            return out.with(Regime::Slip { along, across: None }, mu, rows, Status::Slip);
        }
        if mu == 0.0 || rows == 1 {
            let status = if rows == 1 { Status::Stick } else { Status::Slip };
            return out.with(Regime::Slip { along, across: None }, mu, rows, status);
        }
        // an ellipsoid is a ball in these units
        let mut force = [0.0; MOST_ROWS];
        let mut slip = [0.0; MOST_ROWS];
        for k in 1..rows {
            let axis = self.axis(k);
            force[k] = if axis > 0.0 { lambda[k] / axis } else { 0.0 };
            slip[k] = axis * s[k];
        }
        let speed = slip[1..rows].iter().map(|x| x * x).sum::<f64>().sqrt();
        let limit = mu * lambda[0];
        let pushed: Vec<f64> =
            (0..rows).map(|k| if k == 0 { lambda[0] } else { force[k] - rho * slip[k] }).collect();
        let inside = limit - law.gauge(&force[..rows]);
        out.degenerate = rho * speed <= DEGENERATE * limit && inside <= DEGENERATE * limit;
        if law.gauge(&pushed) <= limit || out.degenerate {
            return out.with(Regime::Stick, mu, rows, Status::Stick).in_units(self, rows);
        }
        let across = match law {
            Law::Polygon(polygon) => match polygon.face([lambda[0], force[1], force[2]]) {
                Face::Corner([t, o]) => {
                    (along[1], along[2]) = (t, o);
                    None
                }
                Face::Side([t, o]) => {
                    (along[1], along[2]) = (polygon.apothem() * t, polygon.apothem() * o);
                    Some(0.0)
                }
            },
            _ => {
                (1..rows).for_each(|k| along[k] = -slip[k] / speed);
                Some(speed / limit)
            }
        };
        out.with(Regime::Slip { along, across }, mu, rows, Status::Slip).in_units(self, rows)
    }
}

impl ElementTangent {
    fn with(mut self, regime: Regime<MOST_ROWS>, mu: f64, rows: usize, status: Status) -> Self {
        self.linear = regime.linearise(mu, rows);
        self.status = status;
        if let Regime::Slip { along, .. } = regime {
            self.along = along;
        }
        self
    }

    /// From the units in which an ellipsoid is a ball to those of the problem; rows without friction drop out.
    fn in_units(mut self, element: &Element, rows: usize) -> Self {
        let mut kept = 0;
        for k in 0..self.linear.count {
            let (mut column, mut equation) = (self.linear.columns[k], self.linear.equations[k]);
            for i in 1..rows {
                column[i] *= element.axis(i);
                equation[i] *= element.axis(i);
            }
            if equation[..rows].iter().any(|x| *x != 0.0) || self.linear.weights[k] != 0.0 {
                (self.linear.columns[kept], self.linear.equations[kept]) = (column, equation);
                self.linear.weights[kept] = self.linear.weights[k];
                kept += 1;
            }
        }
        self.linear.count = kept;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contact alone, `s = a lambda + b` with `a` diagonal: its force in closed form where it slips.
    #[test]
    fn friction_follows_the_coefficient_and_the_slip() {
        let element = Element::contact(3, 0.5, Friction::Cone);
        // lambda_n = 2, slip along (0.6, 0.8) of size 1.5
        let (lambda, s) = ([2.0, -0.6, -0.8], [0.0, 0.9, 1.2]);
        let tangent = element.tangent(&lambda, &s, 1.0, 2.0);
        assert_eq!((tangent.status, tangent.count(), tangent.degenerate), (Status::Slip, 2, false));
        let change = tangent.law_change(&element, &lambda, &s, &[0.1, 0.1]);
        assert!((change[1] + 0.12).abs() < 1e-15 && (change[2] + 0.16).abs() < 1e-15, "{change:?}");
    }

    #[test]
    fn points_where_regimes_meet_are_reported() {
        let element = Element::contact(3, 0.5, Friction::Cone);
        let at = |l: [f64; 3], s: [f64; 3]| {
            let t = element.tangent(&l, &s, 2.0, 1.0);
            (t.status, t.degenerate)
        };
        assert_eq!(at([1.0, 0.1, 0.0], [0.0; 3]), (Status::Stick, false));
        assert_eq!(at([1.0, 0.5, 0.0], [0.0; 3]), (Status::Stick, true));
        assert_eq!(at([1.0, 0.5, 0.0], [0.0, -0.1, 0.0]), (Status::Slip, false));
        assert_eq!(at([0.0; 3], [0.1, 0.0, 0.0]), (Status::Open, false));
        assert_eq!(at([0.0; 3], [0.0, 0.3, 0.0]), (Status::Open, true));
        let bounded = Element::Bounded { limit: 2.0 };
        assert_eq!(bounded.tangent(&[2.0], &[-0.1], 1.0, 1.0).status, Status::Bound);
        assert_eq!(bounded.tangent(&[1.0], &[0.0], 1.0, 1.0).status, Status::Stick);
        assert!(bounded.tangent(&[2.0], &[0.0], 1.0, 1.0).degenerate);
    }
}
