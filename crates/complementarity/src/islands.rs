//! Islands: connected elements, which influence each other directly or through others. Each is a problem of its own.

use crate::operator::{Factored, Operator};

/// Elements by island.
#[derive(Debug, Clone, Default)]
pub(crate) struct Islands {
    parent: Vec<usize>,
    starts: Vec<usize>,
    contacts: Vec<usize>,
    group: Vec<usize>,
    /// First velocity of each body of a factored operator, and an element on it.
    bodies: Vec<(usize, usize)>,
}

impl Islands {
    /// Finds the islands of elements with these first rows.
    pub fn find(&mut self, a: &Operator, offsets: &[usize]) {
        let n = offsets.len().saturating_sub(1);
        self.parent.clear();
        self.parent.extend(0..n);
        self.bodies.clear();
        match a {
            Operator::Dense(a) => {
                for c in 0..n {
                    for k in 0..n {
                        let part = |i: usize| &a.row(i)[offsets[k]..offsets[k + 1]];
                        if (offsets[c]..offsets[c + 1]).any(|i| part(i).iter().any(|&x| x != 0.0)) {
                            self.join(c, k);
                        }
                    }
                }
            }
            Operator::Blocks(a) => {
                for c in 0..n {
                    for &k in a.row(c).0 {
                        self.join(c, k);
                    }
                }
            }
            Operator::Factored(a) => self.join_factored(a),
        }
        self.collect(n);
    }

    /// Becomes a copy; allocates only when it grows.
    pub fn copy_from(&mut self, other: &Self) {
        let Self { parent, starts, contacts, group, bodies } = other;
        self.parent.clone_from(parent);
        self.starts.clone_from(starts);
        self.contacts.clone_from(contacts);
        self.group.clone_from(group);
        self.bodies.clone_from(bodies);
    }

    fn join_factored(&mut self, a: &Factored) {
        self.group.clear();
        self.group.resize(a.speeds(), usize::MAX);
        for c in 0..a.elements() {
            for (s, ..) in a.segments(c) {
                match self.group[s.first] {
                    usize::MAX => {
                        self.group[s.first] = c;
                        self.bodies.push((s.first, c));
                    }
                    other => self.join(c, other),
                }
            }
            if let Some(first) = a.patch_elements(c).next() {
                self.join(c, first);
            }
        }
    }

    fn root(&mut self, mut c: usize) -> usize {
        while self.parent[c] != c {
            self.parent[c] = self.parent[self.parent[c]];
            c = self.parent[c];
        }
        c
    }

    fn join(&mut self, c: usize, k: usize) {
        let (c, k) = (self.root(c), self.root(k));
        self.parent[c.max(k)] = c.min(k);
    }

    /// Counting sort by root; the root is the island's first contact.
    fn collect(&mut self, n: usize) {
        self.starts.clear();
        self.starts.push(0);
        self.group.clear();
        self.group.resize(n, 0);
        for c in 0..n {
            let root = self.root(c);
            if root == c {
                self.group[c] = self.starts.len() - 1;
                self.starts.push(0);
            }
            let island = self.group[root];
            self.parent[c] = root;
            self.starts[island + 1] += 1;
        }
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.contacts.clear();
        self.contacts.resize(n, 0);
        for c in 0..n {
            let at = &mut self.starts[self.group[self.parent[c]]];
            self.contacts[*at] = c;
            *at += 1;
        }
        // each start has moved to the next one's place
        self.starts.pop();
        self.starts.insert(0, 0);
    }

    /// First velocity of each body that elements of a factored operator see, and one of these elements.
    pub fn bodies(&self) -> &[(usize, usize)] {
        &self.bodies
    }

    /// Number of islands.
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The island of each element: its root, the first element of the island, by element.
    pub fn number_of(&self, element: usize) -> usize {
        self.group[self.parent[element]]
    }

    /// Elements of an island, ascending.
    pub fn island(&self, k: usize) -> &[usize] {
        &self.contacts[self.starts[k]..self.starts[k + 1]]
    }
}
