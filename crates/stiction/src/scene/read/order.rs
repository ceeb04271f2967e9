//! The order of the links: parents may stand after their children in the file; the model has them before.

use super::Reader;
use crate::scene::raw;
use std::collections::HashMap;

impl Reader<'_> {
    /// Indices into the file's bodies with every parent before its children, otherwise in the order of the file;
    /// and each body's parent as an index into the file. Cycles and unknown parents are faults.
    pub fn order(&mut self, bodies: &[raw::Body]) -> (Vec<usize>, Vec<Option<usize>>) {
        let mut index = HashMap::new();
        for (i, body) in bodies.iter().enumerate() {
            index.entry(body.name.get().as_str()).or_insert(i);
        }
        let mut parents = vec![None; bodies.len()];
        for (i, body) in bodies.iter().enumerate() {
            let Some(parent) = body.parent.as_ref().filter(|p| p.get() != "world") else { continue };
            parents[i] = index.get(parent.get().as_str()).copied();
            if parents[i].is_none() {
                let mut known: Vec<&str> = bodies.iter().map(|b| b.name.get().as_str()).collect();
                known.push("world");
                self.unknown(&parent.span(), "body", parent.get(), &known);
            }
        }
        let (mut order, mut placed, mut seen) =
            (Vec::new(), vec![false; bodies.len()], vec![usize::MAX; bodies.len()]);
        for i in 0..bodies.len() {
            let (mut chain, mut next) = (Vec::new(), Some(i));
            while let Some(k) = next.filter(|&k| !placed[k]) {
                if seen[k] == i {
                    let span = bodies[k].parent.as_ref().map_or(bodies[k].name.span(), |p| p.span());
                    let message = format!("'{}' is its own ancestor, expected a tree", bodies[k].name.get());
                    self.fault(&span, message);
                    parents[k] = None;
                    break;
                }
                seen[k] = i;
                chain.push(k);
                next = parents[k];
            }
            for k in chain.into_iter().rev() {
                placed[k] = true;
                order.push(k);
            }
        }
        // a cut cycle leaves its links in some order, but there is a fault then
        (order, parents)
    }
}
