//! Elements of a contact problem: contacts with friction, unilateral, bounded and bilateral rows.
//!
//! A contact has 2 rows (n, t), 3 rows (n, t, o), 4 rows (with torsion) or up to 6 rows (with rolling about t
//! and o); every other element has one row. The first three rows are forces (N) and velocities (m/s); the
//! rows after them are moments (N m) and angular velocities (rad/s). `element/law.rs` defines what solvers,
//! residual and certificates need of each kind: projection, support function and natural map;
//! `element/linear.rs` holds its one linearisation, and `element/tangent.rs` gives it at a solution, for derivatives.

pub(crate) mod ellipsoid;
pub(crate) mod law;
pub(crate) mod linear;
pub(crate) mod polygon;
mod tangent;

pub use ellipsoid::{project_ellipsoid, support_ellipsoid};
pub use law::{project, project_in_place, support};
pub use tangent::{ElementTangent, Status};

use crate::operator::MOST_ROWS;
use ellipsoid::natural_ellipsoid;
use law::{Law, natural_row};

/// Number of rows of an element that are forces and linear velocities; the rows after them are moments and
/// angular velocities.
pub const LINEAR_ROWS: usize = 3;

/// Numbers of sides that a friction polygon may have; the number must also be even.
pub const SIDES: std::ops::RangeInclusive<usize> = 4..=64;
/// [`SIDES`] in words.
pub const SIDES_EXPECTED: &str = "an even number from 4 to 64";

/// Set of admissible friction forces of a contact, for `mu lambda_n = 1`.
///
/// With one tangent direction (2 rows) disc, square and polygon are the interval `[-1, 1]`. With more than
/// two (4 to 6 rows) the disc is a ball, and polygons are not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Friction {
    /// Disc: circular friction, Coulomb's cone.
    Cone,
    /// Square `|t| <= 1, |o| <= 1`, circumscribed about the disc (trinkle1995 (15), song2004 4.1).
    Pyramid,
    /// Regular polygon inscribed in the disc, with a corner on the t axis (Stewart and Trinkle).
    Polygon {
        /// Number of sides: even, within [`SIDES`].
        sides: usize,
    },
    /// Ellipsoid with one semi-axis for each row but the first, torsion and rolling included (chakraborty2007
    /// (5)).
    Ellipsoid,
}

/// Whether a contact is known to slide when the problem is posed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// The contact may stick or slip: friction force and slip are unknown (set R of trinkle1995).
    Rolling,
    /// The contact slides already (set S of trinkle1995): the friction force is `-mu lambda_n direction`, and
    /// the tangential acceleration is unconstrained.
    Sliding {
        /// Direction of sliding, a unit vector in (t, o); with one tangent direction `[+-1, 0]`.
        direction: [f64; 2],
    },
}

/// A contact: `0 <= lambda_n _|_ s_n >= 0`, and `lambda_t` in argmin `{ s_t . x : x in F(mu lambda_n) }`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Number of rows, 2 to 6.
    pub rows: usize,
    /// Friction coefficient `mu`.
    pub mu: f64,
    /// Set of admissible friction forces.
    pub friction: Friction,
    /// Semi-axes `e_k >= 0` of an ellipsoid for `mu lambda_n = 1`, one for each row after the first:
    /// dimensionless for t and o, in metres for moments. Other sets have 1.
    pub axes: [f64; MOST_ROWS - 1],
    /// Whether the contact may stick or slides already.
    pub mode: Mode,
}

/// One element of a contact problem: the rows that one law couples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Element {
    /// Unilateral contact with friction.
    Contact(Contact),
    /// One row, `0 <= lambda _|_ s >= 0`: a joint limit, a cable.
    Unilateral,
    /// One row, `|lambda| <= limit`: `s = 0` inside, and at the bound the force opposes `s`: joint friction,
    /// brakes, servos.
    Bounded {
        /// Largest force or moment.
        limit: f64,
    },
    /// One row, `s = 0`: a closed loop, a weld, prescribed motion.
    Bilateral,
}

impl Element {
    /// A contact that may stick or slip; an ellipsoid starts with all axes 1 ([`Self::with_axes`]).
    pub const fn contact(rows: usize, mu: f64, friction: Friction) -> Self {
        Self::Contact(Contact { rows, mu, friction, axes: [1.0; MOST_ROWS - 1], mode: Mode::Rolling })
    }

    /// The same contact with these semi-axes of its ellipsoid; other elements, and axes beyond the rows, are
    /// unchanged.
    #[must_use]
    pub fn with_axes(mut self, axes: &[f64]) -> Self {
        if let Self::Contact(contact) = &mut self {
            contact.friction = Friction::Ellipsoid;
            contact.axes[..axes.len().min(MOST_ROWS - 1)]
                .copy_from_slice(&axes[..axes.len().min(MOST_ROWS - 1)]);
        }
        self
    }

    /// Number of rows.
    #[inline]
    pub const fn rows(&self) -> usize {
        match self {
            Self::Contact(contact) => contact.rows,
            _ => 1,
        }
    }

    /// The contact, or `None` if the element is another kind of row.
    pub fn as_contact(&self) -> Option<&Contact> {
        if let Self::Contact(contact) = self { Some(contact) } else { None }
    }

    /// Friction coefficient; 0 for elements without friction.
    #[inline]
    pub fn mu(&self) -> f64 {
        self.as_contact().map_or(0.0, |contact| contact.mu)
    }

    /// Whether the element is a contact that slides already.
    pub fn slides(&self) -> bool {
        self.as_contact().is_some_and(|contact| contact.mode != Mode::Rolling)
    }

    /// Semi-axis of friction of the `k`-th row after the first.
    #[inline]
    pub(crate) fn axis(&self, k: usize) -> f64 {
        match self {
            Self::Contact(Contact { friction: Friction::Ellipsoid, axes, .. }) if k > 0 => axes[k - 1],
            _ => 1.0,
        }
    }

    /// Whether zero force solves the element alone, with `b` in its first row.
    #[inline]
    pub(crate) fn rests_without_force(&self, b: f64) -> bool {
        match self {
            Self::Contact(_) | Self::Unilateral => b >= 0.0,
            Self::Bounded { limit } => b == 0.0 || *limit == 0.0,
            Self::Bilateral => b == 0.0,
        }
    }

    /// The law in the units of the solvers, in which ellipsoids are discs.
    #[inline]
    pub(crate) fn law(&self) -> Law {
        match self {
            Self::Contact(contact) => Law::of(contact.friction, contact.rows),
            Self::Unilateral => Law::Disc,
            Self::Bounded { limit } => Law::Row { limit: *limit },
            Self::Bilateral => Law::Row { limit: f64::INFINITY },
        }
    }

    /// The same element with the unit of force of row `k` scaled by `1 / unit[k]`: forces become
    /// `lambda_k / unit_k`, and bounds and axes are scaled with them.
    pub(crate) fn in_units(mut self, unit: &[f64]) -> Self {
        match &mut self {
            Self::Bounded { limit } => *limit /= unit[0],
            Self::Contact(contact) if contact.rows > LINEAR_ROWS => {
                // a ball in other units is an ellipsoid
                if contact.friction == Friction::Cone {
                    contact.friction = Friction::Ellipsoid;
                }
                for (axis, unit_k) in contact.axes.iter_mut().zip(&unit[1..contact.rows]) {
                    *axis *= unit[0] / unit_k;
                }
            }
            _ => {}
        }
        self
    }

    /// The natural map `lambda - P(lambda - s~)`, `s~` being `s` with De Saxce's `mu sigma(-s_t)` added at
    /// the normal of a contact.
    pub fn natural(&self, lambda: &[f64], s: &[f64], out: &mut [f64]) {
        match self {
            Self::Contact(Contact { mode: Mode::Sliding { direction }, mu, .. }) => {
                out[0] = natural_row(0.0, f64::INFINITY, lambda[0], s[0]);
                (1..out.len()).for_each(|k| out[k] = lambda[k] + mu * lambda[0] * direction[k - 1]);
            }
            Self::Contact(Contact { friction: Friction::Ellipsoid, axes, mu, .. }) => {
                natural_ellipsoid(*mu, axes, lambda, s, out);
            }
            Self::Contact(Contact { friction: Friction::Cone, mu, .. }) => {
                Law::Disc.natural(*mu, lambda, s, out);
            }
            Self::Contact(contact) => self.law().natural(contact.mu, lambda, s, out),
            Self::Unilateral => out[0] = natural_row(0.0, f64::INFINITY, lambda[0], s[0]),
            Self::Bounded { limit } => out[0] = natural_row(-limit, *limit, lambda[0], s[0]),
            Self::Bilateral => out[0] = s[0],
        }
    }

    /// The first invalid number of the element: its name, its value, and what would be allowed.
    pub(crate) fn fault(&self) -> Option<(&'static str, f64, &'static str)> {
        let (rows, mu, friction, axes, mode) = match self {
            Self::Bounded { limit } => {
                return (!(limit.is_finite() && *limit >= 0.0)).then_some(("limit", *limit, "a force >= 0"));
            }
            Self::Unilateral | Self::Bilateral => return None,
            Self::Contact(Contact { rows, mu, friction, axes, mode }) => (*rows, *mu, friction, axes, mode),
        };
        if !(2..=MOST_ROWS).contains(&rows) {
            return Some(("rows per contact", rows as f64, "2 to 6"));
        }
        if !(mu.is_finite() && mu >= 0.0) {
            return Some(("mu", mu, "a coefficient >= 0"));
        }
        let bad_axis = axes[..rows - 1].iter().find(|e| !(e.is_finite() && **e >= 0.0));
        match (friction, bad_axis) {
            (Friction::Pyramid | Friction::Polygon { .. }, _) if rows > 3 => {
                return Some(("rows per contact", rows as f64, "2 or 3 under a pyramid or polygon"));
            }
            (Friction::Polygon { sides }, _) if sides % 2 == 1 || !SIDES.contains(sides) => {
                return Some(("polygon sides", *sides as f64, SIDES_EXPECTED));
            }
            (Friction::Ellipsoid, Some(e)) => return Some(("axes", *e, "a semi-axis >= 0")),
            _ => {}
        }
        let Mode::Sliding { direction: [t, o] } = mode else { return None };
        if rows > 3 || *friction == Friction::Ellipsoid {
            let expected = "2 or 3 and no ellipsoid, where a contact slides already";
            return Some(("rows per contact", rows as f64, expected));
        }
        let length = t.hypot(*o);
        let unit = (length - 1.0).abs() <= 1e-12 && (rows == 3 || *o == 0.0);
        (!unit).then_some(("sliding direction", length, "a unit vector in the contact plane"))
    }
}
