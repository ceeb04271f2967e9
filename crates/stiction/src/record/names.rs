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
    contacts: HashMap<ContactId, String>,
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
        Self { bodies, world, parts, contacts: HashMap::new() }
    }

    pub fn owner(&self, owner: Owner) -> &str {
        match owner {
            Owner::Body(i) => &self.bodies[i],
            Owner::World(i) => &self.world[i],
        }
    }

    /// Kept once made.
    pub fn contact(&mut self, id: ContactId) -> &str {
        if !self.contacts.contains_key(&id) {
            let name = self.make(id).unwrap_or_default();
            self.contacts.insert(id, name);
        }
        &self.contacts[&id]
    }

    /// `a/b#feature`: a number with a letter for the kind, as the two highest bits tell it. `None` if the scene has
    /// no such parts.
    pub fn make(&self, id: ContactId) -> Option<String> {
        let (a, b) = (self.parts.get(id.part_a as usize)?, self.parts.get(id.part_b as usize)?);
        let kind = ["", "b", "e", "x"][(id.feature >> 30) as usize];
        Some(format!("{a}/{b}#{kind}{}", id.feature & ((1 << 30) - 1)))
    }
}
