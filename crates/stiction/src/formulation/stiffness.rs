//! Compliance of contacts, and stiffness that varies with the overlap (Hertz and Mindlin).
//!
//! A step has one stiffness `K = scale K0` per contact, so that its problem stays linear. With `d` the overlap that the contact remembers,
//! `d+` that at the end of the step and `U` Hertz' energy, the contact makes no energy if
//!
//! ```text
//! K d+ (d+ - d)  >=  U(d+) - U(d)        U(d) = 2/5 K0 sqrt(d/R) d^2
//! ```
//!
//! The stiffness at `d` satisfies this for any `d+` up to `3.45 d`. Beyond that, where a step goes in deep, it must be that of a larger overlap, which
//! depends on `d+`: it is estimated before the solve, checked after it ([`ContactProblem::restiffen`]), and the step is solved again where the
//! inequality fails. Tangential springs whose stiffness grows by more than 1 %
//! from one step to the next keep their force, not their deformation.

use super::{ContactProblem, Laws};
use crate::contact::Compliance;
use crate::contact::set::{Contact, ContactSet};
use crate::model::{Model, Rule};
use crate::motion::Given;
use complementarity::matrix::{Matrix, dot};
use complementarity::operator::Operator;

/// A step resolves a contact whose stiffness varies if `h^2 K` is at most this share of the effective mass: an impact then takes some 30 steps.
const RESOLVED_STIFFNESS: f64 = 0.01;

/// Of the work that undoes overlap, the share by which a contact may fail the inequality.
const BOOKED_SHARE: f64 = 0.1;

/// Energy below this share of what the contact holds is rounding.
const ROUNDING: f64 = 1e-13;

impl ContactProblem {
    /// Whether the step resolves all contacts whose stiffness varies, at the overlap that they have or reach within it. Elsewhere such a law makes energy
    /// with `theta > 0`: the stiffness is that of the start of the step.
    pub(super) fn resolves(&self, model: &Model, laws: &Laws, contacts: &ContactSet) -> bool {
        contacts.contacts.iter().all(|c| match laws.of(model, c.rule) {
            Some(law) if law.varies() => {
                let approach = (-self.b[self.rows_of(c.first).start]).max(0.0);
                let overlap = self.h * approach - contacts.elements[c.first].gap;
                overlap <= 0.0 || law.stiffness_share(overlap, self.mobility[c.first]) <= RESOLVED_STIFFNESS
            }
            _ => true,
        })
    }

    /// Adds `E^-1` of a compliant contact to `A`, and `-E^-1 K delta` to `b`; returns the scale of its
    /// stiffness. Rotational rows are rigid.
    pub(super) fn comply(
        &mut self,
        contacts: &ContactSet,
        (index, c): (usize, &Contact),
        rule: &Rule,
        law: &Compliance,
        (given, grip): (&[Given], f64),
    ) -> f64 {
        let (rows, linear, first) = (rule.rows, self.linear_rows, self.rows_of(c.first).start);
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        let (mut scale, mut e_inv) = (1.0, law.e_inv());
        if law.varies() {
            let (overlap, mobility) = (-contacts.elements[c.first].gap, self.mobility[c.first]);
            let ahead = overlap - self.h * self.b[first];
            let overlap = match given.get(index) {
                Some(given) if given.overlap > 0.0 => given.overlap,
                _ => overlap.max(law.least_overlap(ahead, (1.0 - self.theta) * mobility)),
            };
            scale = law.scale(overlap, mobility);
            law.keep_tangential(scale, &mut self.deformation[linear * c.first..][..linear]);
            for i in 0..linear {
                self.point[(i, i)] = law.point(scale, i)[0];
            }
            e_inv = &self.point;
        }
        if grip > 0.0 {
            let normal = e_inv[(0, 0)];
            self.point[(0, 0)] = normal;
            (1..linear).for_each(|i| self.point[(i, i)] = grip);
            e_inv = &self.point;
        }
        if rows > linear {
            widen(&mut self.wide, (rows, linear), e_inv);
            e_inv = &self.wide;
        }
        a.add_patch(c.first, e_inv);
        let own = &self.deformation[linear * c.first..][..law.rows()];
        for k in 0..c.count {
            for i in 0..linear {
                let relaxed = match law.varies() {
                    _ if grip > 0.0 && i > 0 => 0.0,
                    true => law.point(scale, i)[1] * own[i],
                    false => dot(law.e_inv_k().row(linear * k + i), own),
                };
                self.b[first + rows * k + i] -= relaxed;
                self.terms[first + rows * k + i] += relaxed.abs();
            }
        }
        scale
    }

    /// Elastic energy of the contacts as the step begins, J.
    pub(crate) fn pressed_energy(&self, model: &Model, laws: &Laws, contacts: &ContactSet) -> f64 {
        let linear = self.linear_rows;
        let energy = |c: &Contact| {
            let law = laws.of(model, c.rule)?;
            Some(law.elastic_energy(&self.deformation[linear * c.first..][..linear * c.count]))
        };
        contacts.contacts.iter().filter_map(energy).sum()
    }

    /// Checks that no contact whose stiffness varies makes energy in the step under the forces `lambda`; where one does, another stiffness
    /// is given to it in the next round. Whether there is such a contact.
    pub(crate) fn restiffen(
        &self,
        model: &Model,
        laws: &Laws,
        contacts: &ContactSet,
        lambda: &[f64],
        given: &mut Vec<Given>,
    ) -> bool {
        let mut any = false;
        for (index, c) in contacts.contacts.iter().enumerate() {
            let Some(law) = laws.of(model, c.rule).filter(|law| law.is_hertz()) else { continue };
            let (scale, force) = (self.scale[index], lambda[self.rows_of(c.first).start]);
            let (before, gap) = (self.deformation[self.linear_rows * c.first].max(0.0), self.gap[c.first]);
            let end = law.normal_after(scale, force, before);
            let spared = law.normal_balance(scale, before, end)
                + force * (gap.max(0.0) + BOOKED_SHARE * (-gap).max(0.0));
            let holds = law.hertz_energy(before).max(law.hertz_energy(end));
            let softest = law.scale(0.0, self.mobility[c.first]);
            // a contact cannot be softer than that, and at that stiffness it holds next to nothing
            if spared >= -ROUNDING * holds || (end <= before && scale <= softest) {
                continue;
            }
            any = true;
            given.resize(contacts.contacts.len(), Given::default());
            let ([soft, stiff], used) = (&mut given[index].bounds, law.overlap_of(scale));
            let wanted = if end > before {
                *soft = used;
                law.overlap_into(end)
            } else {
                *stiff = used;
                before
            };
            // between the bounds, once there are both
            given[index].overlap = if *soft > 0.0 && *stiff > 0.0 { (*soft * *stiff).sqrt() } else { wanted };
        }
        any
    }
}

/// `E^-1` of a contact with rotational rows, which are rigid.
pub(super) fn widen(wide: &mut Matrix, (rows, linear): (usize, usize), e_inv: &Matrix) {
    let n = e_inv.rows();
    wide.reset(rows * n / linear, rows * n / linear);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        wide[(rows * (i / linear) + i % linear, rows * (j / linear) + j % linear)] = e_inv[(i, j)];
    }
}
