//! The frictional contact problem.

use super::{InvalidProblem, check_square, check_vector};
use crate::cone::Shape;
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

/// The friction sets of a problem's contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sets<'a> {
    /// The same for all.
    All(Friction),
    /// One a contact.
    Each(&'a [Friction]),
}

impl Sets<'_> {
    /// Of a contact.
    #[inline]
    pub fn of(&self, contact: usize) -> Friction {
        match self {
            Self::All(set) => *set,
            Self::Each(sets) => sets[contact],
        }
    }

    /// Of a contact; where its coefficient is 0 all sets are the same, and one with corners stands for them.
    pub(super) fn with_corners(&self, contact: usize, mu: f64) -> Friction {
        if mu == 0.0 { Friction::Pyramid } else { self.of(contact) }
    }
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
    /// Of all contacts, where `each` is empty.
    friction: Friction,
    /// Of each contact, where they differ.
    each: Vec<Friction>,
    /// `e_k`, one for each row but the first of each contact, 1 where the set is no ellipsoid; empty if none is.
    axes: Vec<f64>,
    rows_per_contact: usize,
}

/// A friction problem in borrowed parts: what the cone solvers work on. All contacts rolling; the friction set of a contact is a disc of one dimension
/// less than `rows`, or a polygon (3 rows).
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
    /// Discs or polygons; with 2 rows both are the interval. Ellipsoids are discs in other units: [`FrictionProblem::as_disc`].
    pub sets: Sets<'a>,
}

impl ConeProblem<'_> {
    /// Cross-section of a contact's force cone.
    #[inline]
    pub(crate) fn shape(&self, contact: usize) -> Shape {
        Shape::of(self.sets.of(contact), self.rows)
    }

    /// Whether all of some contacts have discs.
    pub(crate) fn round(&self, contacts: &[usize]) -> bool {
        self.sets == Sets::All(Friction::Cone) || contacts.iter().all(|&c| self.shape(c) == Shape::Disc)
    }
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
        Ok(Self { a, b, mu, modes, friction, each: vec![], axes, rows_per_contact })
    }

    /// The same problem with an ellipsoid of friction forces: semi-axes `e_k >= 0` for `mu lambda_n = 1`, one for each row but the
    /// first of each contact. Where sets were given contact by contact ([`Self::with_frictions`]), the axes of contacts with another set must be 1. Contacts
    /// that slide already are not foreseen.
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
        if self.each.is_empty() {
            self = self.with_friction(Friction::Ellipsoid)?;
        }
        let each = self.rows_per_contact - 1;
        let unused = |k: &usize| self.friction_of(k / each) != Friction::Ellipsoid && axes[*k] != 1.0;
        if let Some(index) = (0..axes.len()).find(unused) {
            return Err(InvalidProblem::VectorEntry {
                part: "axes",
                index,
                value: axes[index],
                expected: "1 at a contact whose set is no ellipsoid",
            });
        }
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
                check_sliding(self.friction_of(index), self.rows_per_contact)?;
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
        self.each = vec![];
        self.axes = unit_axes(friction, self.size() - self.contacts());
        Ok(self)
    }

    /// The same problem with a friction set for each contact; ellipsoids have all axes 1 ([`Self::with_axes`] gives them others).
    pub fn with_frictions(mut self, each: Vec<Friction>) -> Result<Self, InvalidProblem> {
        if each.len() != self.contacts() {
            return Err(InvalidProblem::Size {
                part: "friction sets",
                found: each.len(),
                expected: self.contacts(),
            });
        }
        if let Some((first, rest)) = each.split_first()
            && rest.iter().all(|f| f == first)
        {
            return self.with_friction(*first);
        }
        for (&friction, mode) in each.iter().zip(&self.modes) {
            check_friction(friction, self.rows_per_contact)?;
            if *mode != Mode::Rolling {
                check_sliding(friction, self.rows_per_contact)?;
            }
        }
        let any = each.iter().copied().find(|&f| f == Friction::Ellipsoid).unwrap_or(Friction::Cone);
        self.axes = unit_axes(any, self.size() - self.contacts());
        self.each = each;
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

    /// What the cone solvers see; `None` if a contact slides already, or has an ellipsoid ([`Self::as_disc`]).
    pub fn as_cone(&self) -> Option<ConeProblem<'_>> {
        let rolling = self.modes.iter().all(|m| *m == Mode::Rolling);
        let (a, b, mu, rows) = (&self.a, &self.b[..], &self.mu[..], self.rows_per_contact);
        (rolling && self.axes.is_empty()).then_some(ConeProblem { a, b, mu, rows, sets: self.sets() })
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

    /// The friction set that all contacts have; `None` if they differ.
    pub fn friction(&self) -> Option<Friction> {
        self.each.is_empty().then_some(self.friction)
    }

    /// The friction set of a contact.
    pub fn friction_of(&self, contact: usize) -> Friction {
        self.sets().of(contact)
    }

    /// Cross-section of a contact's force cone; an ellipsoid's as if it were scaled to a disc.
    pub(crate) fn shape(&self, contact: usize) -> Shape {
        Shape::of(self.friction_of(contact), self.rows_per_contact)
    }

    /// The friction sets.
    pub fn sets(&self) -> Sets<'_> {
        if self.each.is_empty() { Sets::All(self.friction) } else { Sets::Each(&self.each) }
    }

    /// Semi-axes of the ellipsoids, one for each row but the first of each contact; empty if there are none.
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
