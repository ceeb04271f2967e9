//! Rigid bodies that overlap at a state, for a user to know before they are pushed apart.

use super::{Detection, Failed, detect, place};
use crate::contact::set::ContactSet;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::motion::{CLOSED, Motion};
use crate::state::State;
use std::fmt;

/// Two rigid parts that overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// Names of the parts.
    pub parts: [String; 2],
    /// Depth of the deepest point, m.
    pub depth: f64,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.parts;
        write!(f, "'{a}' and '{b}' overlap by {:.3e} m", self.depth)
    }
}

/// Rigid parts that overlap at a state by more than a step undoes at the scene's recovery velocity, deepest first.
pub fn overlaps(model: &Model, state: &State) -> Result<Vec<Overlap>, Failed> {
    let step = &model.scene().step;
    let least = step.recovery_velocity * step.h;
    let (mut motion, mut contacts) = (Motion::new(model), ContactSet::default());
    place(model, state, &Inputs::default(), step.h, &mut motion)?;
    detect(model, &motion, CLOSED, &mut Detection::default(), &mut contacts)?;
    let mut found: Vec<([u32; 2], f64)> = vec![];
    for c in contacts.contacts.iter().filter(|c| model.contacts().rules()[c.rule].compliance.is_none()) {
        let (parts, depth) = ([c.id.part_a, c.id.part_b], -contacts.elements[c.first].gap);
        match found.last_mut().filter(|(known, _)| *known == parts) {
            Some((_, deepest)) => *deepest = deepest.max(depth),
            None => found.push((parts, depth)),
        }
    }
    found.retain(|(_, depth)| *depth > least);
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let name = |k: u32| model.parts()[k as usize].name.clone();
    Ok(found.into_iter().map(|(parts, depth)| Overlap { parts: parts.map(name), depth }).collect())
}
