//! Unknown forces, island by island: bodies that closed contacts, limits and loops connect.
//!
//! Redundant rows make `B` singular, and of all solutions the limit of `(B + eps I) x = -b` as `eps -> 0` is wanted. It lies in the range of `B`, which is that of the rows' Jacobian `J`
//! (of normal forces, and of friction where contacts stick): a matter of geometry, whatever the masses. With an orthonormal basis `Q` of that range,
//!
//! ```text
//! x = Q z        (Q' B Q) z = -Q' b
//! ```
//!
//! is regular, and no `eps` has to be chosen. Rows about angles count by the length of their body, so that `x` does not depend on units. What `B x + b` has beside the range is the defect, which is reported.

use super::cluster::orthonormal;
use super::field::{Equations, Of, Row};
use crate::analysis::instant::Instant;
use crate::model::{Model, Owner, Scale};
use complementarity::factor::Lu;
use complementarity::matrix::{Matrix, dot, norm};

/// Most corrections of a solution.
const CORRECTIONS: usize = 4;
/// Rows count in a defect with at least this share of the largest of their island.
const LEAST: f64 = 1e-12;
/// Forces below this share of the largest of their island do not show in its unit of force.
const SMALL: f64 = 0.01;

/// Rows whose forces depend on each other.
#[derive(Debug, Clone, Default)]
pub struct Island {
    /// Places in the list of rows, ascending.
    pub rows: Vec<usize>,
    /// Orthonormal basis of the range of their Jacobian.
    basis: Vec<Vec<f64>>,
    /// Weight of its bodies, N.
    weight: f64,
}

/// Islands of a list of rows, and their memory.
#[derive(Debug, Clone, Default)]
pub struct Islands {
    pub list: Vec<Island>,
    /// Lever of each row: see [`Scale::lever`].
    pub levers: Vec<f64>,
    lu: Lu,
}

/// Trees that are connected, each under one of them.
#[derive(Debug, Clone)]
pub struct Connected(Vec<usize>);

impl Connected {
    pub fn new(trees: usize) -> Self {
        Self((0..trees).collect())
    }

    /// The tree under which one is.
    pub fn root(&self, mut tree: usize) -> usize {
        while self.0[tree] != tree {
            tree = self.0[tree];
        }
        tree
    }

    pub fn join(&mut self, trees: impl Iterator<Item = usize>) {
        let mut first = None;
        for tree in trees {
            let (root, to) = (self.root(tree), self.root(*first.get_or_insert(tree)));
            self.0[root.max(to)] = root.min(to);
        }
    }

    /// Connects the trees of two parts.
    pub fn join_owners(&mut self, model: &Model, owners: [Owner; 2]) {
        let bodies = owners.into_iter().filter_map(Owner::body);
        self.join(bodies.filter_map(|i| model.system().tree_of(i)));
    }
}

/// Weight of the bodies of each tree, or their mass times the acceleration that goes with their length, N.
pub fn weights(model: &Model) -> Vec<f64> {
    let mut weights = vec![0.0; model.system().trees().len()];
    for (i, body) in model.scene().bodies.iter().enumerate() {
        if let Some(tree) = model.system().tree_of(i) {
            weights[tree] += body.link.inertia.mass * model.scales().acceleration(model.scales().body(i));
        }
    }
    weights
}

impl Equations<'_> {
    /// Finds the islands of rows, and scales and units of force of closed contacts and held rows.
    pub fn find_islands(&mut self, instant: &Instant, rows: &[Row]) {
        let model = self.model;
        let dofs: Vec<Option<usize>> =
            (0..instant.jacobian().columns()).map(|k| model.scales().tree(k)).collect();
        let mut connected = Connected::new(model.system().trees().len());
        let found = &instant.contacts().contacts;
        for c in &mut *self.closed {
            let Ok(at) = found.binary_search_by_key(&c.id, |f| f.id) else { continue };
            connected.join_owners(model, found[at].owners);
            c.scale = model.scales().contact(found[at].owners, instant.contacts().elements[at].point);
        }
        let trees = |row: usize| {
            let own = instant.jacobian().row(row).iter().zip(&dofs);
            own.filter(|(j, _)| **j != 0.0).filter_map(|(_, tree)| *tree)
        };
        rows.iter().for_each(|(row, _)| connected.join(trees(*row)));
        let weights = weights(model);
        let weight = |root: usize| {
            let own = weights.iter().enumerate().filter(|(t, _)| connected.root(*t) == root);
            own.map(|(_, w)| w).sum::<f64>().max(f64::MIN_POSITIVE)
        };
        for c in &mut *self.closed {
            let Ok(at) = found.binary_search_by_key(&c.id, |f| f.id) else { continue };
            let tree =
                found[at].owners.into_iter().filter_map(Owner::body).find_map(|i| model.system().tree_of(i));
            c.unit = tree.map_or(1.0, |t| weight(connected.root(t)));
        }
        for held in &mut *self.held {
            let row = &model.standing()[held.row];
            held.scale = row.scale(model, &self.memory.state.position);
            let tree = row.bodies(model.scene()).find_map(|i| model.system().tree_of(i));
            held.unit = held.scale.lever * tree.map_or(1.0, |t| weight(connected.root(t)));
        }
        let islands = &mut self.memory.islands;
        islands.list.clear();
        islands.levers.clear();
        islands.levers.extend(rows.iter().map(|(_, of)| match of {
            Of::Contact(_) => 1.0,
            Of::Held(k) => self.held[*k].scale.lever,
        }));
        let mut roots: Vec<(Option<usize>, usize)> = vec![];
        for (place, (row, _)) in rows.iter().enumerate() {
            let root = trees(*row).next().map(|t| connected.root(t));
            match roots.iter().find(|(r, _)| *r == root) {
                Some((_, island)) => islands.list[*island].rows.push(place),
                None => {
                    roots.push((root, islands.list.len()));
                    let weight = root.map_or(1.0, weight);
                    islands.list.push(Island { rows: vec![place], basis: vec![], weight });
                }
            }
        }
        for ((root, _), island) in roots.iter().zip(&mut islands.list) {
            let own = |k: usize| dofs[k].map(|t| connected.root(t)) == *root;
            let column = |k: usize| {
                let (angular, size) = model.scales().dof(k);
                let unit = if angular { 1.0 / size } else { 1.0 };
                let entry = |i: &usize| unit * islands.levers[*i] * instant.jacobian()[(rows[*i].0, k)];
                island.rows.iter().map(entry).collect::<Vec<f64>>()
            };
            let columns: Vec<Vec<f64>> = (0..dofs.len()).filter(|k| own(*k)).map(column).collect();
            let most = columns.len().min(island.rows.len());
            island.basis = orthonormal(columns, most);
        }
    }

    /// Solves `B x = right`, see the module's head; false if that has no solution. [`Buffers::defect`](super::field::Buffers::defect) is the largest defect of a row, relative to the
    /// terms that are summed in it.
    pub fn solve(&mut self) -> bool {
        let super::field::Buffers { islands, b, right, solution, defect, .. } = &mut *self.memory;
        let Islands { list, levers, lu } = islands;
        solution.clear();
        solution.resize(b.rows(), 0.0);
        *defect = 0.0;
        for island in &*list {
            let (n, rank) = (island.rows.len(), island.basis.len());
            if rank == 0 {
                continue;
            }
            let image = island.image(b, levers);
            if lu.factor(rank, |i, k| dot(&island.basis[i], &image[k])).is_err() {
                return false;
            }
            let given: Vec<f64> = island.rows.iter().map(|i| levers[*i] * right[*i]).collect();
            let (mut z, mut left, mut before) = (vec![0.0; rank], given.clone(), f64::INFINITY);
            for _ in 0..CORRECTIONS {
                let mut by: Vec<f64> = island.basis.iter().map(|q| dot(q, &left)).collect();
                lu.solve(&mut by);
                let size = norm(&by);
                if !size.is_finite() {
                    return false;
                }
                if size >= 0.5 * before {
                    break;
                }
                before = size;
                z.iter_mut().zip(&by).for_each(|(z, by)| *z += by);
                let made = |i: usize| image.iter().zip(&z).map(|(w, z)| w[i] * z).sum::<f64>();
                left = (0..n).map(|i| given[i] - made(i)).collect();
                if size <= f64::EPSILON * norm(&z) {
                    break;
                }
            }
            for (k, i) in island.rows.iter().enumerate() {
                solution[*i] = levers[*i] * island.basis.iter().zip(&z).map(|(q, z)| q[k] * z).sum::<f64>();
            }
            let terms = |(k, i): (usize, &usize)| {
                let made = |j: &usize| (b[(*i, *j)] * solution[*j]).abs();
                given[k].abs() + levers[*i] * island.rows.iter().map(made).sum::<f64>()
            };
            let terms: Vec<f64> = island.rows.iter().enumerate().map(terms).collect();
            let least = LEAST * terms.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(*x));
            let worst = left.iter().zip(&terms).map(|(d, size)| d.abs() / size.max(least));
            *defect = worst.fold(*defect, f64::max);
        }
        true
    }

    /// Raises the units of force to what shows beside the largest forces of an island; `forces` of all rows.
    pub fn raise_units(&mut self, rows: &[Row]) {
        let solution = &self.memory.solution;
        for island in &mut self.memory.islands.list {
            let levers = &self.memory.islands.levers;
            let largest = island.rows.iter().fold(0.0f64, |m, i| m.max((solution[*i] / levers[*i]).abs()));
            island.weight = island.weight.max(SMALL * largest);
            for i in &island.rows {
                match rows[*i].1 {
                    Of::Contact(k) => self.closed[k].unit = island.weight,
                    Of::Held(k) => self.held[k].unit = island.weight * self.held[k].scale.lever,
                }
            }
        }
    }

    /// Whether what other rows keep keeps a row too.
    pub fn depends(&self, instant: &Instant, row: usize, rows: &[Row]) -> bool {
        let scaled = |row: usize| -> Vec<f64> {
            let unit = |k: usize| match self.model.scales().dof(k) {
                (true, size) => 1.0 / size,
                _ => 1.0,
            };
            instant.jacobian().row(row).iter().enumerate().map(|(k, j)| unit(k) * j).collect()
        };
        let mut own = scaled(row);
        let size = norm(&own);
        let others = rows.iter().filter(|(other, _)| *other != row).map(|(other, _)| scaled(*other));
        for q in orthonormal(others.collect(), own.len()) {
            let part = dot(&own, &q);
            own.iter_mut().zip(&q).for_each(|(x, q)| *x -= part * q);
        }
        norm(&own) <= DEPENDS * size
    }
}

/// Rows of which less than this share is independent of other rows depend on them.
const DEPENDS: f64 = 3e-5;

impl Island {
    /// `B` times the basis, in the levers of the rows.
    fn image(&self, b: &Matrix, levers: &[f64]) -> Vec<Vec<f64>> {
        let entry = |q: &Vec<f64>, i: usize| {
            let own = self.rows.iter().zip(q).map(|(j, q)| b[(i, *j)] * levers[*j] * q);
            levers[i] * own.sum::<f64>()
        };
        self.basis.iter().map(|q| self.rows.iter().map(|i| entry(q, *i)).collect()).collect()
    }

    /// Rows whose null space is that of `B`, in the levers of the rows: `(Q' B Q)^-1 Q' B`, which is `Q'` where nothing slips.
    pub fn kept(&self, b: &Matrix, levers: &[f64]) -> Option<Vec<Vec<f64>>> {
        let (image, rank, mut lu) = (self.image(b, levers), self.basis.len(), Lu::default());
        lu.factor(rank, |i, k| dot(&self.basis[i], &image[k])).ok()?;
        let mut kept = vec![vec![0.0; self.rows.len()]; rank];
        for (at, j) in self.rows.iter().enumerate() {
            let column: Vec<f64> = self.rows.iter().map(|i| levers[*i] * b[(*i, *j)] * levers[*j]).collect();
            let mut by: Vec<f64> = self.basis.iter().map(|q| dot(q, &column)).collect();
            lu.solve(&mut by);
            by.iter().zip(&mut kept).for_each(|(x, row)| row[at] = *x);
        }
        Some(kept)
    }

    /// Unit of its forces, N.
    pub fn unit(&self) -> f64 {
        self.weight
    }
}

/// What is small at a contact that is not closed.
pub fn scale_of(
    model: &Model,
    near: &crate::contact::set::ContactSet,
    c: &crate::contact::set::Contact,
) -> Scale {
    model.scales().contact(c.owners, near.elements[c.first].point)
}
