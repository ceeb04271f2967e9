//! Deformation that goes on with a corner from one part to the next, where these lie flush: on one plate the contact would be the same.

use crate::Model;
use crate::contact::set::{Contact, ContactSet};
use crate::geometry::reaches;
use crate::motion::{Motion, part_pose};
use crate::space::{Vector, dot, scale};
use crate::state::{ContactId, Remembered, RowId, State};

/// Bits that tell whose corner a feature is; the others number it.
const KIND: u32 = 3 << 30;
/// Share of the deformation by which the overlap of the new contact may differ from it, where the two parts do not lie in one plane.
const SAME_DEPTH: f64 = 0.1;
/// Distance up to which two planes are one, m.
const FLUSH: f64 = 2e-6;

/// What the contact that a new one continues remembers: the same corner, in touch in the last step and no more, on another part that lies in one plane with the new one or
/// in which it was as deep.
pub(super) fn before<'s>(
    model: &Model,
    state: &'s State,
    motion: &Motion,
    contacts: &ContactSet,
    c: &Contact,
) -> Option<Remembered<'s>> {
    let depth = -contacts.elements[c.first].gap;
    if c.count > 1 {
        return None;
    }
    let corner = corner(c.id)?;
    let gone = |id: ContactId| contacts.contacts.binary_search_by_key(&id, |c| c.id).is_err();
    state.memory.iter().find(|m| {
        let RowId::Contact(id) = m.id else { return false };
        let same = id != c.id && self::corner(id) == Some(corner) && gone(id);
        let rows = model.contacts().rule_of(id).is_some_and(|r| r.layers.is_empty());
        let as_deep = |d: &f64| depth > 0.0 && (d - depth).abs() <= SAME_DEPTH * d;
        same && rows && m.deformations.first().is_some_and(|d| as_deep(d) || are_level(model, motion, c, id))
    })
}

/// Whether the parts of two contacts of one corner lie in one plane.
fn are_level(model: &Model, motion: &Motion, c: &Contact, other: ContactId) -> bool {
    let is_a = c.id.feature & KIND == 0;
    let [own, before] = [c.id, other].map(|id| match id.feature & KIND {
        0 => id.part_b,
        _ => id.part_a,
    });
    let n = if is_a { scale(-1.0, c.frame.n) } else { c.frame.n };
    let height = |p: u32, n: Vector| {
        let part = &model.parts()[p as usize];
        let pose = part_pose(model, motion, part);
        Some(reaches(&part.solid, &pose, n)? + dot(n, pose.position))
    };
    height(own, n).zip(height(before, n)).is_some_and(|(x, y)| (x - y).abs() <= FLUSH)
}

/// The part whose corner a contact is at, and the corner's number.
fn corner(id: ContactId) -> Option<(u32, u32)> {
    match id.feature & KIND {
        0 => Some((id.part_a, id.feature)),
        k if k == 1 << 30 => Some((id.part_b, id.feature & !KIND)),
        _ => None,
    }
}
