//! Deformation that goes on with a corner from one part to the next, where these lie flush: on one plate the contact would be the same.

use crate::Model;
use crate::contact::set::{Contact, ContactSet};
use crate::state::{ContactId, Remembered, RowId, State};

/// Bits that tell whose corner a feature is; the others number it.
const KIND: u32 = 3 << 30;
/// Share of the deformation by which the overlap of the new contact may differ from it.
const SAME_DEPTH: f64 = 0.1;

/// What the contact that a new one continues remembers: the same corner, on another part and as deep, in touch in the last step and no more.
pub(super) fn before<'s>(
    model: &Model,
    state: &'s State,
    contacts: &ContactSet,
    c: &Contact,
) -> Option<Remembered<'s>> {
    let depth = -contacts.elements[c.first].gap;
    if c.count > 1 || depth <= 0.0 {
        return None;
    }
    let corner = corner(c.id)?;
    let gone = |id: ContactId| contacts.contacts.binary_search_by_key(&id, |c| c.id).is_err();
    state.memory.iter().find(|m| {
        let RowId::Contact(id) = m.id else { return false };
        let same = id != c.id && self::corner(id) == Some(corner) && gone(id);
        let rows = model.contacts().rule_of(id).is_some_and(|r| r.layers.is_empty());
        same && rows && m.deformations.first().is_some_and(|d| (d - depth).abs() <= SAME_DEPTH * d)
    })
}

/// The part whose corner a contact is at, and the corner's number.
fn corner(id: ContactId) -> Option<(u32, u32)> {
    match id.feature & KIND {
        0 => Some((id.part_a, id.feature)),
        k if k == 1 << 30 => Some((id.part_b, id.feature & !KIND)),
        _ => None,
    }
}
