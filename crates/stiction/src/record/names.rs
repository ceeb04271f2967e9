//! What bodies and contacts are called.

use crate::scene::{Owner, Scene};
use crate::state::ContactId;
use std::collections::HashMap;

/// Names of a scene's bodies and contacts.
#[derive(Debug)]
pub(super) struct Names {
    pub bodies: Vec<String>,
    world: Vec<String>,
    /// Part by part, as [`ContactId`] counts them.
    parts: Vec<String>,
    /// Those that have been asked for, and where each is.
    contacts: Vec<(ContactId, String)>,
    known: HashMap<ContactId, usize>,
    /// The last.
    last: usize,
}

impl Names {
    pub fn new(scene: &Scene) -> Self {
        let bodies: Vec<String> = scene.bodies.iter().map(|b| b.name.clone()).collect();
        let world: Vec<String> = scene.world.iter().map(|w| w.name.clone()).collect();
        let mut parts = vec![];
        for body in &scene.bodies {
            match body.parts.len() {
                1 => parts.push(body.name.clone()),
                n => parts.extend((0..n).map(|k| format!("{}.{k}", body.name))),
            }
        }
        parts.extend(world.iter().cloned());
        Self { bodies, world, parts, contacts: vec![], known: HashMap::new(), last: 0 }
    }

    pub fn owner(&self, owner: Owner) -> &str {
        match owner {
            Owner::Body(i) => &self.bodies[i],
            Owner::World(i) => &self.world[i],
        }
    }

    /// Kept once made.
    pub fn contact(&mut self, id: ContactId) -> &str {
        // likely the one before, or the one after it
        let is = |at: &usize| self.contacts.get(*at).is_some_and(|c| c.0 == id);
        let at = [self.last, self.last + 1, 0].into_iter().find(is);
        self.last = at.or_else(|| self.known.get(&id).copied()).unwrap_or_else(|| {
            self.known.insert(id, self.contacts.len());
            self.contacts.push((id, self.make(id).unwrap_or_default()));
            self.contacts.len() - 1
        });
        &self.contacts[self.last].1
    }

    /// `a/b#feature`: a number with a letter for the kind, as the two highest bits tell it. `None` if the scene has
    /// no such parts.
    pub fn make(&self, id: ContactId) -> Option<String> {
        let (a, b) = (self.parts.get(id.part_a as usize)?, self.parts.get(id.part_b as usize)?);
        let kind = ["", "b", "e", "x"][(id.feature >> 30) as usize];
        Some(format!("{a}/{b}#{kind}{}", id.feature & ((1 << 30) - 1)))
    }
}
