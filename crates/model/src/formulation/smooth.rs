//! Smooth friction in a step, song2001 (42): `lambda_t = -mu lambda_n tanh(s/gamma) s/|s|`.
//!
//! A step has the secant of the law at the slip `s` with which it begins, a damper along the tangents,
//!
//! ```text
//! lambda_t = -C s+        C = mu lambda_n tanh(|s|/gamma)/|s|
//! ```
//!
//! within Coulomb's cone. Its slip `s+` is that of the end of the step, so that friction never pushes; with `lambda_n` steady, steps of any length lead to the law's own slip under a steady load,
//! without passing it. `lambda_n` is the force of the step before; where that of the step turns out to be another (an impact), the step is solved again with it.

use super::ContactProblem;
use crate::contact::set::{Contact, ContactSet};
use crate::motion::{Given, Motion};
use crate::scene::FrictionKind;
use crate::space::sub;
use crate::{Model, Owner};

/// Share by which the normal force of a step may differ from the one that its friction was taken at.
const SAME: f64 = 0.01;
/// The least `C` over the effective mass per step: without normal force `C` is 0.
const LEAST: f64 = 1e-6;

impl ContactProblem {
    /// `1/C` of a contact, m/(N s); 0 if its friction is not smooth.
    pub(super) fn grip(
        &self,
        model: &Model,
        motion: &Motion,
        contacts: &ContactSet,
        (index, c): (usize, &Contact),
    ) -> f64 {
        let rule = &model.contacts().rules()[c.rule];
        let FrictionKind::Smooth { velocity: gamma } = rule.given.friction_set else { return 0.0 };
        let first = self.rows_of(c.first).start;
        let velocity = |owner: Owner| match owner {
            Owner::Body(i) => motion.kinematics.point_velocity(i, contacts.elements[c.first].point),
            Owner::World(_) => [0.0; 3],
        };
        let own = c.frame.components(sub(velocity(c.owners[1]), velocity(c.owners[0])));
        let moving = |i: usize| self.moving.get(first + i).copied().unwrap_or(0.0);
        let slip = (1..self.linear_rows).map(|i| (own[i] + moving(i)).powi(2)).sum::<f64>().sqrt();
        let secant = if slip > 1e-8 * gamma { (slip / gamma).tanh() / slip } else { 1.0 / gamma };
        let least = LEAST / (self.h * self.mobility[c.first]);
        1.0 / (rule.friction * self.normal_before(motion, (index, c)) * secant).max(least)
    }

    /// Normal force at which the friction of a contact is taken, N.
    fn normal_before(&self, motion: &Motion, (index, c): (usize, &Contact)) -> f64 {
        let found = motion.given.get(index).and_then(|g| g.normal);
        found.unwrap_or(self.start[self.rows_of(c.first).start]).max(0.0)
    }

    /// Finds contacts with smooth friction whose normal force in the step is not the one that their friction was taken at; it is given to them in the next
    /// round. Whether there is such a contact.
    pub fn regrip(&self, model: &Model, motion: &mut Motion, contacts: &ContactSet, lambda: &[f64]) -> bool {
        let mut any = false;
        for (index, c) in contacts.contacts.iter().enumerate() {
            let rule = &model.contacts().rules()[c.rule];
            if !matches!(rule.given.friction_set, FrictionKind::Smooth { .. }) {
                continue;
            }
            let (found, used) = (lambda[self.rows_of(c.first).start], self.normal_before(motion, (index, c)));
            if (found - used).abs() > SAME * found.max(used) {
                motion.given.resize(contacts.contacts.len(), Given::default());
                motion.given[index].normal = Some(found);
                any = true;
            }
        }
        any
    }
}
