//! What bodies and contacts are called.

use crate::model::Model;
use crate::model::Owner;
use crate::state::ContactId;
use std::collections::HashMap;
use std::sync::Arc;

/// A word of a table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name {
    Word(&'static str),
    Owner(Owner),
    Contact(ContactId),
    Loop(usize),
}

/// Names of a model's bodies and contacts.
#[derive(Debug)]
pub(super) struct Names {
    model: Arc<Model>,
    /// Those that have been asked for, and where each is.
    contacts: Vec<(ContactId, String)>,
    known: HashMap<ContactId, usize>,
    /// The last.
    last: usize,
}

impl Names {
    pub fn new(model: &Arc<Model>) -> Self {
        Self { model: model.clone(), contacts: vec![], known: HashMap::new(), last: 0 }
    }

    #[inline]
    pub fn get(&mut self, name: Name) -> &str {
        match name {
            Name::Word(word) => word,
            Name::Owner(owner) => self.model.scene().name_of(owner),
            Name::Contact(id) => self.contact(id),
            Name::Loop(k) => &self.model.scene().loops[k].name,
        }
    }

    /// Kept once made.
    fn contact(&mut self, id: ContactId) -> &str {
        // likely the one before, or the one after it
        let is = |at: &usize| self.contacts.get(*at).is_some_and(|c| c.0 == id);
        let at = [self.last, self.last + 1, 0].into_iter().find(is);
        self.last = at.or_else(|| self.known.get(&id).copied()).unwrap_or_else(|| {
            self.known.insert(id, self.contacts.len());
            self.contacts.push((id, self.model.contact_name(id).unwrap_or_default()));
            self.contacts.len() - 1
        });
        &self.contacts[self.last].1
    }
}
