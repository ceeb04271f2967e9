//! The frictional contact problem.

use super::{InvalidProblem, check_square, check_vector};
use crate::matrix::Matrix;
use crate::operator::{MOST_ROWS, Operator};
use std::borrow::Cow;

/// Numbers of corners that a polygon of friction may have, if even.
pub const SIDES: std::ops::RangeInclusive<usize> = 4..=64;
/// [`SIDES`] in words.
pub const SIDES_EXPECTED: &str = "an even number from 4 to 64";

/// The set that holds the friction force of a contact, for `mu lambda_n = 1`.
///
/// With one tangent direction (2 rows a contact) disc, square and polygon are the interval `[-1, 1]`; with more than two (4 to 6
/// rows) the disc is a ball, and there are no polygons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Friction {
    /// Disc: Coulomb's cone.
    Cone,
    /// Square `|t| <= 1, |o| <= 1`, circumscribed about the disc (trinkle1995 (15), song2004 4.1).
    Pyramid,
    /// Regular polygon inscribed in the disc, with a corner on the t axis (Stewart and Trinkle).
    Polygon {
        /// Number of corners: even, within [`SIDES`].
        sides: usize,
    },
    /// Ellipsoid with semi-axes of its own for each row but the first (torsion and rolling included), contact by contact:
    /// [`FrictionProblem::with_axes`].
    Ellipsoid,
}

/// What a contact is doing when the problem is posed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// Friction force and slip are unknown (set R of trinkle1995).
    Rolling,
    /// Slides already (set S of trinkle1995): the friction force is `-mu lambda_n direction`, the
    /// tangential acceleration is unconstrained. A unit vector in (t, o); with one tangent
    /// direction `[+-1, 0]`.
    Sliding {
        /// Direction of sliding.
        direction: [f64; 2],
    },
}

/// Forces `lambda` and speeds `s = A lambda + b` of contacts, rows n, t(, o) contact by contact:
/// `0 <= lambda_n _|_ s_n >= 0`, and `lambda_t` in argmin `{ s_t . x : x in F(mu lambda_n) }`.
///
/// A gap `g` over a step `h` enters as `b_n + g/h`.
#[derive(Debug, Clone, PartialEq)]
pub struct FrictionProblem {
    a: Operator,
    b: Vec<f64>,
    mu: Vec<f64>,
    modes: Vec<Mode>,
    friction: Friction,
    /// `e_k`, one for each row but the first of each contact; empty unless the friction is an ellipsoid.
    axes: Vec<f64>,
    rows_per_contact: usize,
}

/// A friction problem under Coulomb's cone in borrowed parts: what the cone solvers work on. All contacts rolling; the
/// friction of a contact is a disc of one dimension less than `rows`.
#[derive(Debug, Clone, Copy)]
pub struct ConeProblem<'a> {
    /// `A`.
    pub a: &'a Operator,
    /// `b`.
    pub b: &'a [f64],
    /// Friction coefficients, one a contact.
    pub mu: &'a [f64],
    /// Rows a contact, 2 to 6.
    pub rows: usize,
}

impl FrictionProblem {
    /// All contacts rolling. `rows_per_contact` is 2 (n, t), 3 (n, t, o), or up to 6 with torsion and rolling. An ellipsoid has
    /// all axes 1 at first.
    pub fn new(
        a: impl Into<Operator>,
        b: Vec<f64>,
        mu: Vec<f64>,
        rows_per_contact: usize,
        friction: Friction,
    ) -> Result<Self, InvalidProblem> {
        if !(2..=MOST_ROWS).contains(&rows_per_contact) {
            return Err(InvalidProblem::Setting {
                part: "rows per contact",
                value: rows_per_contact as f64,
                expected: "2 to 6",
            });
        }
        let a = a.into();
        check_operator(&a)?;
        check_vector("b", &b, a.size())?;
        if a.size() != rows_per_contact * mu.len() {
            return Err(InvalidProblem::Size {
                part: "b",
                found: a.size(),
                expected: rows_per_contact * mu.len(),
            });
        }
        check_vector("mu", &mu, mu.len())?;
        if let Some(index) = mu.iter().position(|&x| x < 0.0) {
            return Err(InvalidProblem::VectorEntry {
                part: "mu",
                index,
                value: mu[index],
                expected: "a coefficient >= 0",
            });
        }
        check_friction(friction, rows_per_contact)?;
        let modes = vec![Mode::Rolling; mu.len()];
        let axes = unit_axes(friction, b.len() - mu.len());
        Ok(Self { a, b, mu, modes, friction, axes, rows_per_contact })
    }

    /// The same problem with an ellipsoid of friction forces: semi-axes `e_k >= 0` for `mu lambda_n = 1`, one for each row but the
    /// first of each contact. Contacts that slide already are not foreseen.
    pub fn with_axes(mut self, axes: Vec<f64>) -> Result<Self, InvalidProblem> {
        check_vector("axes", &axes, self.size() - self.contacts())?;
        if let Some(index) = axes.iter().position(|&e| e < 0.0) {
            return Err(InvalidProblem::VectorEntry {
                part: "axes",
                index,
                value: axes[index],
                expected: "a semi-axis >= 0",
            });
        }
        self = self.with_friction(Friction::Ellipsoid)?;
        self.axes = axes;
        Ok(self)
    }

    /// The same problem with the contacts' modes given.
    pub fn with_modes(mut self, modes: Vec<Mode>) -> Result<Self, InvalidProblem> {
        if modes.len() != self.contacts() {
            return Err(InvalidProblem::Size {
                part: "modes",
                found: modes.len(),
                expected: self.contacts(),
            });
        }
        for (index, mode) in modes.iter().enumerate() {
            if let Mode::Sliding { direction: [t, o] } = mode {
                check_sliding(self.friction, self.rows_per_contact)?;
                let length = t.hypot(*o);
                let planar_ok = self.rows_per_contact == 3 || *o == 0.0;
                if !((length - 1.0).abs() <= 1e-12 && planar_ok) {
                    return Err(InvalidProblem::VectorEntry {
                        part: "sliding direction",
                        index,
                        value: length,
                        expected: "a unit vector in the contact plane",
                    });
                }
            }
        }
        self.modes = modes;
        Ok(self)
    }

    /// The same problem under another friction set; an ellipsoid has all axes 1.
    pub fn with_friction(mut self, friction: Friction) -> Result<Self, InvalidProblem> {
        check_friction(friction, self.rows_per_contact)?;
        if self.modes.iter().any(|m| *m != Mode::Rolling) {
            check_sliding(friction, self.rows_per_contact)?;
        }
        self.friction = friction;
        self.axes = unit_axes(friction, self.size() - self.contacts());
        Ok(self)
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// Number of rows of `A`.
    pub fn size(&self) -> usize {
        self.b.len()
    }

    /// 2 (n, t), 3 (n, t, o), or up to 6.
    pub fn rows_per_contact(&self) -> usize {
        self.rows_per_contact
    }

    /// `A`, every entry.
    pub fn matrix(&self) -> Cow<'_, Matrix> {
        match &self.a {
            Operator::Dense(a) => Cow::Borrowed(a),
            other => Cow::Owned(other.to_dense()),
        }
    }

    /// `A` as it was given.
    pub fn operator(&self) -> &Operator {
        &self.a
    }

    /// What the cone solvers see; `None` unless the friction is a cone and all contacts roll. For ellipsoids: [`Self::as_disc`].
    pub fn as_cone(&self) -> Option<ConeProblem<'_>> {
        let rolling = self.modes.iter().all(|m| *m == Mode::Rolling);
        let disc = match self.friction {
            Friction::Cone => true,
            Friction::Pyramid | Friction::Polygon { .. } => self.rows_per_contact == 2,
            Friction::Ellipsoid => false,
        };
        let parts = ConeProblem { a: &self.a, b: &self.b, mu: &self.mu, rows: self.rows_per_contact };
        (rolling && disc).then_some(parts)
    }

    /// `b`.
    pub fn vector(&self) -> &[f64] {
        &self.b
    }

    /// Friction coefficients.
    pub fn mu(&self) -> &[f64] {
        &self.mu
    }

    /// Rolling or sliding, contact by contact.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The friction set.
    pub fn friction(&self) -> Friction {
        self.friction
    }

    /// Semi-axes of the ellipsoid, one for each row but the first of each contact; empty under another friction set.
    pub fn axes(&self) -> &[f64] {
        &self.axes
    }

    /// Semi-axes of a contact.
    pub fn axes_of(&self, contact: usize) -> &[f64] {
        let each = self.rows_per_contact - 1;
        self.axes.get(each * contact..each * (contact + 1)).unwrap_or_default()
    }

    /// `s = A lambda + b`.
    pub fn speed(&self, lambda: &[f64]) -> Vec<f64> {
        let mut s = vec![0.0; self.size()];
        self.a.times(lambda, &mut s, &mut vec![]);
        s.iter_mut().zip(&self.b).for_each(|(s, b)| *s += b);
        s
    }
}

fn check_operator(a: &Operator) -> Result<(), InvalidProblem> {
    match a {
        Operator::Dense(a) => check_square("A", a),
        other if other.is_finite() => Ok(()),
        other => check_square("A", &other.to_dense()),
    }
}

fn unit_axes(friction: Friction, count: usize) -> Vec<f64> {
    if friction == Friction::Ellipsoid { vec![1.0; count] } else { vec![] }
}

/// What slides already has its direction in the plane of t and o, and no ellipsoid.
fn check_sliding(friction: Friction, rows: usize) -> Result<(), InvalidProblem> {
    if rows <= 3 && friction != Friction::Ellipsoid {
        return Ok(());
    }
    Err(InvalidProblem::Setting {
        part: "rows per contact",
        value: rows as f64,
        expected: "2 or 3 and no ellipsoid, where a contact slides already",
    })
}

fn check_friction(friction: Friction, rows: usize) -> Result<(), InvalidProblem> {
    match friction {
        Friction::Pyramid | Friction::Polygon { .. } if rows > 3 => Err(InvalidProblem::Setting {
            part: "rows per contact",
            value: rows as f64,
            expected: "2 or 3 under a pyramid or polygon",
        }),
        Friction::Polygon { sides } if sides % 2 == 1 || !SIDES.contains(&sides) => {
            Err(InvalidProblem::Setting {
                part: "polygon sides",
                value: sides as f64,
                expected: SIDES_EXPECTED,
            })
        }
        _ => Ok(()),
    }
}
