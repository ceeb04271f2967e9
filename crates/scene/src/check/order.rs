//! The order of the links: parents may stand after their children in the file; the model has them before.

use super::{At, Checker};
use std::collections::HashMap;

impl Checker<'_> {
    /// Indices into the file's bodies with every parent before its children, otherwise in the order of the file;
    /// and each body's parent as an index into the file. Cycles and unknown parents are faults.
    pub fn order(&mut self) -> (Vec<usize>, Vec<Option<usize>>) {
        let (bodies, list) = (&self.scene.bodies, At::ROOT.key("body"));
        let mut index = HashMap::new();
        for (i, body) in bodies.iter().enumerate() {
            index.entry(body.name.as_str()).or_insert(i);
        }
        let mut parents = vec![None; bodies.len()];
        for (i, body) in bodies.iter().enumerate() {
            let Some(parent) = body.parent.as_ref().filter(|p| *p != "world") else { continue };
            parents[i] = index.get(parent.as_str()).copied();
            if parents[i].is_none() {
                let mut known: Vec<&str> = bodies.iter().map(|b| b.name.as_str()).collect();
                known.push("world");
                self.unknown(list.index(i).key("parent"), "body", parent, &known);
            }
        }
        let (mut order, mut placed, mut seen) =
            (Vec::new(), vec![false; bodies.len()], vec![usize::MAX; bodies.len()]);
        for i in 0..bodies.len() {
            let (mut chain, mut next) = (Vec::new(), Some(i));
            while let Some(k) = next.filter(|&k| !placed[k]) {
                if seen[k] == i {
                    let message = format!("'{}' is its own ancestor, expected a tree", bodies[k].name);
                    self.fault(list.index(k).key("parent"), message);
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
