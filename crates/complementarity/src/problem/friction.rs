//! The frictional contact problem, with elements of several kinds.

use super::{InvalidProblem, check_square, check_vector};
use crate::element::{Contact, Element, Friction, Mode};
use crate::matrix::Matrix;
use crate::operator::Operator;
use std::borrow::Cow;
use std::ops::Range;

/// Forces `lambda` and velocities `s = A lambda + b` of elements, each under its own law ([`Element`]).
///
/// A gap `g` over a step `h` enters as `b_n + g/h`. Units are physical: N and N m, m/s and rad/s.
#[derive(Debug, Clone, PartialEq)]
pub struct FrictionProblem {
    a: Operator,
    b: Vec<f64>,
    elements: Vec<Element>,
    /// First row of each element, and the number of rows.
    offsets: Vec<usize>,
}

/// A contact problem in borrowed parts: what the solvers work on.
#[derive(Debug, Clone, Copy)]
pub struct ContactProblem<'a> {
    /// `A`; its rows are those of the elements, one after another.
    pub a: &'a Operator,
    /// `b`.
    pub b: &'a [f64],
    /// What the rows are.
    pub elements: &'a [Element],
    /// Sizes of the terms summed in `b`, row by row, if they are known: residuals below their rounding mean nothing. Empty: the size of `b` itself.
    pub terms: &'a [f64],
    /// Reference speed of each element, m/s, for a rotational row rad/s: what is slow is a small share of it ([`crate::residual`]). Empty: a thousandth of what
    /// its own `b` and force make, and the residual of elements is then reported but not asked for.
    pub reference: &'a [f64],
}

impl<'a> ContactProblem<'a> {
    /// With no more known of `b` than its value.
    pub fn new(a: &'a Operator, b: &'a [f64], elements: &'a [Element]) -> Self {
        Self { a, b, elements, terms: &[], reference: &[] }
    }

    /// Writes the first row of each element, and the number of rows.
    pub(crate) fn write_offsets(&self, offsets: &mut Vec<usize>) {
        write_offsets(self.elements, offsets);
    }

    /// Whether all elements are rolling contacts of so many rows.
    pub(crate) fn is_uniform(&self, rows: usize) -> bool {
        let same = |e: &Element| e.rows() == rows && e.as_contact().is_some() && !e.slides();
        self.elements.iter().all(same)
    }
}

fn write_offsets(elements: &[Element], offsets: &mut Vec<usize>) {
    offsets.clear();
    offsets.push(0);
    let mut rows = 0;
    offsets.extend(elements.iter().map(|element| {
        rows += element.rows();
        rows
    }));
}

impl FrictionProblem {
    /// Rolling contacts that all have the same friction set and `rows_per_contact` rows: 2 (n, t), 3 (n, t, o), or up to 6 with torsion and rolling. An
    /// ellipsoid has all axes 1 at first.
    pub fn new(
        a: impl Into<Operator>,
        b: Vec<f64>,
        mu: Vec<f64>,
        rows_per_contact: usize,
        friction: Friction,
    ) -> Result<Self, InvalidProblem> {
        check_vector("mu", &mu, mu.len())?;
        if let (true, Some((part, value, expected))) =
            (mu.is_empty(), Element::contact(rows_per_contact, 0.0, friction).fault())
        {
            return Err(InvalidProblem::Setting { part, value, expected });
        }
        let elements = mu.into_iter().map(|mu| Element::contact(rows_per_contact, mu, friction)).collect();
        Self::from_elements(a, b, elements)
    }

    /// Elements of any kinds.
    pub fn from_elements(
        a: impl Into<Operator>,
        b: Vec<f64>,
        elements: Vec<Element>,
    ) -> Result<Self, InvalidProblem> {
        check_elements(&elements)?;
        let a = a.into();
        match &a {
            Operator::Dense(a) => check_square("A", a)?,
            other if other.is_finite() => {}
            other => check_square("A", &other.to_dense())?,
        }
        check_vector("b", &b, a.size())?;
        let mut offsets = vec![];
        write_offsets(&elements, &mut offsets);
        let rows = offsets[elements.len()];
        if a.size() != rows || !a.fits(&offsets) {
            return Err(InvalidProblem::Size { part: "b", found: a.size(), expected: rows });
        }
        Ok(Self { a, b, elements, offsets })
    }

    /// The same problem with other elements of the same rows.
    fn with_elements(mut self, change: impl FnMut((usize, &mut Contact))) -> Result<Self, InvalidProblem> {
        let contacts = self.elements.iter_mut().filter_map(|element| match element {
            Element::Contact(contact) => Some(contact),
            _ => None,
        });
        contacts.enumerate().for_each(change);
        check_elements(&self.elements)?;
        Ok(self)
    }

    /// The same problem with an ellipsoid of friction forces: semi-axes `e_k >= 0` for `mu lambda_n = 1`, one for each row but the
    /// first of each contact. Where contacts have different sets ([`Self::with_frictions`]), the axes of those with another set must be 1.
    pub fn with_axes(self, axes: Vec<f64>) -> Result<Self, InvalidProblem> {
        let contacts = || self.elements.iter().filter_map(Element::as_contact);
        check_vector("axes", &axes, contacts().map(|c| c.rows - 1).sum())?;
        let wrong = |index: usize, expected| {
            let value = axes[index];
            Err(InvalidProblem::VectorEntry { part: "axes", index, value, expected })
        };
        if let Some(index) = axes.iter().position(|&e| e < 0.0) {
            return wrong(index, "a semi-axis >= 0");
        }
        let all = self.friction().is_some();
        let mut at = 0;
        for contact in contacts() {
            let own = at..at + contact.rows - 1;
            let unused = |k: &usize| !all && contact.friction != Friction::Ellipsoid && axes[*k] != 1.0;
            if let Some(index) = own.clone().find(unused) {
                return wrong(index, "1 at a contact whose set is no ellipsoid");
            }
            at = own.end;
        }
        let mut axes = axes.into_iter();
        self.with_elements(|(_, contact)| {
            let rows = contact.rows - 1;
            contact.axes[..rows].iter_mut().zip(axes.by_ref()).for_each(|(own, e)| *own = e);
            if all {
                contact.friction = Friction::Ellipsoid;
            }
        })
    }

    /// The same problem with the contacts' modes given.
    pub fn with_modes(self, modes: Vec<Mode>) -> Result<Self, InvalidProblem> {
        check_count("modes", modes.len(), self.contacts())?;
        let mut modes = modes.into_iter();
        self.with_elements(|(_, contact)| contact.mode = modes.next().unwrap_or(Mode::Rolling))
    }

    /// The same problem under another friction set; an ellipsoid has all axes 1.
    pub fn with_friction(self, friction: Friction) -> Result<Self, InvalidProblem> {
        self.with_elements(|(_, contact)| (contact.friction, contact.axes) = (friction, [1.0; 5]))
    }

    /// The same problem with a friction set for each contact; ellipsoids have all axes 1 ([`Self::with_axes`] gives them others).
    pub fn with_frictions(self, each: Vec<Friction>) -> Result<Self, InvalidProblem> {
        check_count("friction sets", each.len(), self.contacts())?;
        let mut each = each.into_iter();
        self.with_elements(|(_, contact)| {
            (contact.friction, contact.axes) = (each.next().unwrap_or(Friction::Cone), [1.0; 5]);
        })
    }

    /// What solvers see.
    pub fn view(&self) -> ContactProblem<'_> {
        ContactProblem::new(&self.a, &self.b, &self.elements)
    }

    /// What the rows are.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// Rows of an element.
    pub fn rows_of(&self, element: usize) -> Range<usize> {
        self.offsets[element]..self.offsets[element + 1]
    }

    /// First row of each element, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Number of elements that are contacts.
    pub fn contacts(&self) -> usize {
        self.elements.iter().filter(|e| e.as_contact().is_some()).count()
    }

    /// Number of rows of `A`.
    pub fn size(&self) -> usize {
        self.b.len()
    }

    /// Rows that every element has, if all are contacts of as many rows; `None` also if there are none.
    pub fn rows_per_contact(&self) -> Option<usize> {
        let rows = self.elements.first()?.as_contact()?.rows;
        let same = |e: &Element| e.as_contact().is_some_and(|c| c.rows == rows);
        self.elements.iter().all(same).then_some(rows)
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

    /// `b`.
    pub fn vector(&self) -> &[f64] {
        &self.b
    }

    /// Friction coefficient of each element, 0 where it is no contact.
    pub fn mu(&self) -> Vec<f64> {
        self.elements.iter().map(Element::mu).collect()
    }

    /// The friction set that all contacts have; `None` if they differ, or there are none.
    pub fn friction(&self) -> Option<Friction> {
        let mut sets = self.elements.iter().filter_map(Element::as_contact).map(|c| c.friction);
        let first = sets.next()?;
        sets.all(|set| set == first).then_some(first)
    }

    /// The friction set of an element; a cone where it is no contact.
    pub fn friction_of(&self, element: usize) -> Friction {
        self.elements[element].as_contact().map_or(Friction::Cone, |c| c.friction)
    }

    /// Semi-axes of an element's ellipsoid; empty if it has none.
    pub fn axes_of(&self, element: usize) -> &[f64] {
        match &self.elements[element] {
            Element::Contact(c) if c.friction == Friction::Ellipsoid => &c.axes[..c.rows - 1],
            _ => &[],
        }
    }

    /// Semi-axes of all contacts, one for each row but the first; empty if none has an ellipsoid.
    pub fn axes(&self) -> Vec<f64> {
        let contacts = || self.elements.iter().filter_map(Element::as_contact);
        match contacts().any(|c| c.friction == Friction::Ellipsoid) {
            true => contacts().flat_map(|c| c.axes.into_iter().take(c.rows - 1)).collect(),
            false => vec![],
        }
    }

    /// Rolling or sliding, contact by contact.
    pub fn modes(&self) -> Vec<Mode> {
        self.elements.iter().filter_map(Element::as_contact).map(|c| c.mode).collect()
    }

    /// Whether a contact slides already.
    pub fn slides(&self) -> bool {
        self.elements.iter().any(Element::slides)
    }

    /// `s = A lambda + b`.
    pub fn speed(&self, lambda: &[f64]) -> Vec<f64> {
        let mut s = vec![0.0; self.size()];
        self.a.times(lambda, &mut s, &mut vec![]);
        s.iter_mut().zip(&self.b).for_each(|(s, b)| *s += b);
        s
    }
}

fn check_count(part: &'static str, found: usize, expected: usize) -> Result<(), InvalidProblem> {
    if found == expected { Ok(()) } else { Err(InvalidProblem::Size { part, found, expected }) }
}

fn check_elements(elements: &[Element]) -> Result<(), InvalidProblem> {
    let faults = elements.iter().enumerate().filter_map(|(index, e)| Some((index, e.fault()?)));
    faults
        .take(1)
        .map(|(index, (part, value, expected))| {
            Err(match part {
                "mu" | "sliding direction" | "limit" | "axes" => {
                    InvalidProblem::VectorEntry { part, index, value, expected }
                }
                _ => InvalidProblem::Setting { part, value, expected },
            })
        })
        .next()
        .unwrap_or(Ok(()))
}
