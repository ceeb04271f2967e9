//! The contacts of a step: who is near whom, where, in which frame and at what gap.

use crate::ids::ContactId;
use crate::ids::Owner;
use crate::space::{Frame, Vector, add, scale};

/// Contacts in order of their ids, and their elements contact by contact.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContactSet {
    /// The contacts.
    pub contacts: Vec<Contact>,
    /// The elements of all contacts.
    pub elements: Vec<Element>,
}

/// Two features that touch or may touch within the step: elements with gaps, in one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Its parts and features.
    pub id: ContactId,
    /// The bodies or world parts that meet; the normal points from the first to the second.
    pub owners: [Owner; 2],
    /// Axes n, t, o.
    pub frame: Frame,
    /// Share of the overlap that the first body takes: where its force acts between the two surfaces. 0: on the first body's
    /// surface; 1: on the second's.
    pub share: f64,
    /// Index of its rule in the model's contact table.
    pub rule: usize,
    /// Its first element in [`ContactSet::elements`].
    pub first: usize,
    /// Number of its elements.
    pub count: usize,
    /// Angular velocity about n of the materials under a patch, the mean of both, rad/s.
    pub spin: f64,
}

/// A place where a contact can carry force.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Element {
    /// Where the force acts, in the world, m.
    pub point: Vector,
    /// Gap `psi` of the undeformed surfaces, m.
    pub gap: f64,
    /// How it travels with the contact; at rest unless it belongs to a patch.
    pub travel: Travel,
}

/// How an element of a patch travels with the contact over the materials of the two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Travel {
    /// Velocity `V` along t and o, the mean of those over the two materials, m/s.
    pub velocity: [f64; 2],
    /// Rate `V . grad psi` of the gap, each surface with the velocity over its own material, m/s.
    pub gap_rate: f64,
}

impl Contact {
    /// Its elements in [`ContactSet::elements`].
    pub fn elements(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }

    /// Moves the point of its one element to another share of the overlap; `element` with the gap of the shapes.
    pub fn place(&mut self, element: &mut Element, share: f64) {
        element.point = add(element.point, scale((share - self.share) * element.gap, self.frame.n));
        self.share = share;
    }

    /// Midway between the two undeformed surfaces, as touches are found; `element` with the gap of the shapes.
    pub fn middle(&self, element: &Element) -> Vector {
        add(element.point, scale((0.5 - self.share) * element.gap, self.frame.n))
    }
}

impl ContactSet {
    /// Forgets all contacts and keeps the memory.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.elements.clear();
    }

    /// Keeps the contacts that pass a test, and their elements.
    pub fn retain(&mut self, mut keep: impl FnMut(&Contact, &[Element]) -> bool) {
        let (elements, mut packed) = (&mut self.elements, 0);
        self.contacts.retain_mut(|c| {
            if !keep(c, &elements[c.elements()]) {
                return false;
            }
            elements.copy_within(c.elements(), packed);
            c.first = packed;
            packed += c.count;
            true
        });
        elements.truncate(packed);
    }
}
