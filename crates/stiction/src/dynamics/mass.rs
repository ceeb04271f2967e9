//! The mass matrix `M(q)`, block diagonal by tree.
//!
//! The composite rigid body algorithm (RBDA Table 6.2): with `I_i` the inertia of all that body `i` carries,
//! `M_ij = S_j' I_i S_i` for every dof `j` that moves dof `i`, and zero if neither moves the other.
//!
//! Factor: `M = H' H` with `H = D^1/2 L`, `L` unit lower triangular, without fill-in (RBDA section 6.5). Row
//! `i` of `L` has entries only at the dofs that move `i`; these are stored together, root first, so that rows
//! of a chain share their beginnings and the inner loop runs over neighbours.
//!
//! Of long chains neither `M` nor `L` is written out: [`super::articulated`].
//!
//! A single free body needs no factorisation: with `c` from its origin to its centre,
//! `M (a, w') = (F, c x F + I w')`, `F = m (a + w' x c)`; and with `I^-1 = K K'`,
//! `H (a, w') = (m^1/2 (a + w' x c), K^-1 w')`.

use std::ops::Range;
use std::sync::Arc;

use complementarity::matrix::dot;

use super::articulated::{Articulated, LEAST_PIVOT, SingularMass};
use super::joint::three;
use super::kinematics::same;
use super::spatial::{SpatialInertia, Symmetric};
use super::system::{Model, Row, Tree};
use super::{Kinematics, System};
use crate::space::{Tensor, Vector, add, cross, dot as dot3, root_spd, scale, sub, times, transpose_times};

/// Mass matrix `M` and its factor at the state of the last [`update`](Self::update).
#[derive(Debug, Clone)]
pub struct MassMatrix {
    system: System,
    /// One entry per tree, used where the tree is one free body.
    free: Vec<FreeBody>,
    /// Rows of `M`, and of the factor: `L` with `D^-1/2` on the diagonal.
    entries: Vec<f64>,
    factor: Vec<f64>,
    /// In place of rows, the trees that are long chains; `None` for others.
    long: Vec<Option<Articulated>>,
    /// Composite inertia of each body.
    composite: Vec<SpatialInertia>,
    /// Configuration of the trees that are not free bodies; NaN before they are factored.
    at: Vec<f64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct FreeBody {
    mass: f64,
    /// Square root `m^1/2` of the mass.
    root: f64,
    /// Reference of the tree, from which `center` is measured.
    origin: Vector,
    center: Vector,
    inertia: Symmetric,
    /// Factor `K` of the inverse inertia, `I^-1 = K K'`.
    turn: Tensor,
}

/// A point of a free body along three directions, from [`MassMatrix::free_point`].
#[derive(Debug, Clone, Copy)]
pub struct FreePoint {
    /// Rows of `J H^-1`, where `J v` are the velocities of the point along the directions.
    pub w: [[f64; 6]; 3],
    /// Velocities `J v` of the point along the directions.
    pub speed: [f64; 3],
    /// Size of the terms that are summed in `J v`.
    pub size: f64,
}

impl MassMatrix {
    /// Allocates the matrix; [`update`](Self::update) sets it.
    pub fn new(system: &System) -> Self {
        let model = &system.model;
        Self {
            system: system.clone(),
            free: vec![FreeBody::default(); model.trees.len()],
            entries: vec![0.0; model.entries()],
            factor: vec![0.0; model.entries()],
            long: (0..model.trees.len())
                .map(|t| model.trees[t].long.then(|| Articulated::new(model, t)))
                .collect(),
            composite: vec![SpatialInertia::default(); model.bodies.len()],
            at: vec![f64::NAN; model.configuration_size],
        }
    }

    /// Computes and factors `M`. Allocates nothing, unless `kinematics` belongs to another system.
    ///
    /// # Errors
    /// If `M` is not positive definite.
    pub fn update(&mut self, kinematics: &Kinematics) -> Result<(), SingularMass> {
        if !Arc::ptr_eq(&self.system.model, &kinematics.system.model) {
            *self = Self::new(&kinematics.system);
        }
        (0..self.free.len()).try_for_each(|t| self.update_tree(t, kinematics))
    }

    /// Like [`update`](Self::update), but trees whose configuration is bitwise the same keep their factor.
    ///
    /// # Errors
    /// If `M` is not positive definite.
    pub(crate) fn go_to(&mut self, kinematics: &Kinematics) -> Result<(), SingularMass> {
        for t in 0..self.free.len() {
            let tree = &self.system.model.trees[t];
            let own = tree.coordinates.clone();
            let (at, now) = (&self.at[own.clone()], &kinematics.configuration()[own]);
            if tree.is_free_body() || at[0].is_nan() || !same(at, now) {
                self.update_tree(t, kinematics)?;
            }
        }
        Ok(())
    }

    /// Sets this to another matrix with `diagonal` added, over all of `v`; trees that are one free body stay without.
    ///
    /// # Errors
    /// If the sum is not positive definite.
    ///
    /// # Panics
    /// If the length of `diagonal` is not that of `v`, or the systems differ.
    pub(crate) fn assign_with(&mut self, other: &Self, diagonal: &[f64]) -> Result<(), SingularMass> {
        assert_eq!(diagonal.len(), self.system.velocity_size(), "length of the diagonal");
        self.free.copy_from_slice(&other.free);
        self.entries.copy_from_slice(&other.entries);
        let model = &*self.system.model;
        for (t, (own, other)) in self.long.iter_mut().zip(&other.long).enumerate() {
            if let (Some(own), Some(other)) = (own, other) {
                own.assign_with(other, &diagonal[model.trees[t].dofs.clone()], model, t)?;
            }
        }
        for tree in model.trees.iter().filter(|t| !t.is_free_body() && !t.long) {
            for (row, more) in model.rows[tree.dofs.clone()].iter().zip(&diagonal[tree.dofs.clone()]) {
                self.entries[row.start + row.depth] += more;
            }
            let stored = stored(model, &tree.dofs);
            self.factor[stored.clone()].copy_from_slice(&self.entries[stored]);
            factorise(model, tree.dofs.clone(), &self.entries, &mut self.factor)?;
        }
        Ok(())
    }

    /// Adds rotational inertias of links, in world axes, kg m^2, to the matrix of [`go_to`](Self::go_to), until that is called again.
    ///
    /// # Errors
    /// If the sum is not positive definite.
    pub(crate) fn add_inertia(
        &mut self,
        kinematics: &Kinematics,
        more: &[(usize, Tensor)],
    ) -> Result<(), SingularMass> {
        let model = &*self.system.model;
        for (link, tensor) in more {
            let Some(body) = model.places[*link].0.map(|b| &model.bodies[b]) else { continue };
            let tree = &model.trees[body.tree];
            if tree.is_free_body() {
                self.free[body.tree].add_inertia(*link, tensor)?;
                continue;
            }
            if let (Some(long), Some(b)) = (&mut self.long[body.tree], model.places[*link].0) {
                long.add_inertia(b, tensor, model, body.tree)?;
                self.at[tree.coordinates.clone()].fill(f64::NAN);
                continue;
            }
            let chain = &model.chains[body.chain.clone()];
            for (a, &i) in chain.iter().enumerate() {
                let moment = times(tensor, kinematics.columns[i].angular);
                for (b, &j) in chain[..=a].iter().enumerate() {
                    self.entries[model.rows[i].start + b] += dot3(kinematics.columns[j].angular, moment);
                }
            }
            let stored = stored(model, &tree.dofs);
            self.factor[stored.clone()].copy_from_slice(&self.entries[stored]);
            factorise(model, tree.dofs.clone(), &self.entries, &mut self.factor)?;
            self.at[tree.coordinates.clone()].fill(f64::NAN);
        }
        Ok(())
    }

    /// Computes and factors the block of one tree.
    pub(super) fn update_tree(&mut self, t: usize, kinematics: &Kinematics) -> Result<(), SingularMass> {
        let model = &*self.system.model;
        let tree = &model.trees[t];
        if tree.is_free_body() {
            self.free[t] = FreeBody::new(model, tree.bodies.start, kinematics)?;
            return Ok(());
        }
        let own = tree.coordinates.clone();
        self.at[own.clone()].fill(f64::NAN);
        if let Some(long) = &mut self.long[t] {
            long.update(model, t, kinematics)?;
            self.at[own.clone()].copy_from_slice(&kinematics.configuration()[own]);
            return Ok(());
        }
        compose(model, tree.bodies.clone(), kinematics, &mut self.composite, &mut self.entries);
        let stored = stored(model, &tree.dofs);
        self.factor[stored.clone()].copy_from_slice(&self.entries[stored]);
        factorise(model, tree.dofs.clone(), &self.entries, &mut self.factor)?;
        self.at[own.clone()].copy_from_slice(&kinematics.configuration()[own]);
        Ok(())
    }

    /// `x := M^-1 x`.
    ///
    /// # Panics
    /// If the length of `x` is not that of `v`.
    pub fn solve(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.system.velocity_size(), "length of x");
        for (t, dofs) in self.trees() {
            self.solve_tree(t, &mut x[dofs]);
        }
    }

    /// The trees with their dofs.
    pub fn trees(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.system.trees().iter().map(|t| t.dofs.clone()).enumerate()
    }

    /// `x := M_t^-1 x` for the block of one tree; `x` over its dofs.
    ///
    /// # Panics
    /// If the length of `x` is not the number of the tree's dofs.
    pub fn solve_tree(&self, tree: usize, x: &mut [f64]) {
        self.solve_root_transposed(tree, x);
        self.solve_root(tree, x);
    }

    /// Maps forces on one tree to forces that act on `H v`: `x := H_t'^-1 x`.
    ///
    /// # Panics
    /// If the length of `x` is not the number of the tree's dofs.
    pub fn solve_root_transposed(&self, tree: usize, x: &mut [f64]) {
        let (model, dofs) = self.dofs(tree, x);
        if model.trees[tree].is_free_body() {
            return self.free[tree].solve_root_transposed(x);
        }
        if let Some(long) = &self.long[tree] {
            return long.solve_root_transposed(model, tree, x);
        }
        for i in dofs.clone().rev() {
            let (row, chain) = model.row(i);
            let (l, root) = self.factor_row(row);
            let xi = x[i - dofs.start];
            x[i - dofs.start] = root * xi;
            if row.depth == i - dofs.start {
                // every dof before it moves it
                for (xj, l) in x.iter_mut().zip(l) {
                    *xj -= l * xi;
                }
            } else {
                for (&j, l) in chain.iter().zip(l) {
                    x[j - dofs.start] -= l * xi;
                }
            }
        }
    }

    /// Rows and velocities of a point (world coordinates) of a tree that is one free body with velocities
    /// `v`; `None` for other trees. Equivalent to [`Kinematics::jacobian_row`] and
    /// [`solve_root_transposed`](Self::solve_root_transposed), for three rows at once.
    ///
    /// # Panics
    /// If the length of `v` is not the number of the tree's dofs.
    #[inline]
    pub fn free_point(&self, tree: usize, point: Vector, v: &[f64], along: [Vector; 3]) -> Option<FreePoint> {
        self.system.model.trees[tree].is_free_body().then(|| self.free[tree].point(point, v, along))
    }

    /// Maps `H v` of one tree to its `v`: `x := H_t^-1 x`.
    ///
    /// # Panics
    /// If the length of `x` is not the number of the tree's dofs.
    pub fn solve_root(&self, tree: usize, x: &mut [f64]) {
        let (model, dofs) = self.dofs(tree, x);
        if model.trees[tree].is_free_body() {
            return self.free[tree].solve_root(x);
        }
        if let Some(long) = &self.long[tree] {
            return long.solve_root(model, tree, x);
        }
        for i in dofs.clone() {
            let (row, chain) = model.row(i);
            let (l, root) = self.factor_row(row);
            let above = above(l, chain, &x[..i - dofs.start], dofs.start);
            x[i - dofs.start] = x[i - dofs.start] * root - above;
        }
    }

    /// Maps `v` of one tree to its `H v`: `x := H_t x`.
    ///
    /// # Panics
    /// If the length of `x` is not the number of the tree's dofs.
    pub fn times_root(&self, tree: usize, x: &mut [f64]) {
        let (model, dofs) = self.dofs(tree, x);
        if model.trees[tree].is_free_body() {
            return self.free[tree].times_root(x);
        }
        if let Some(long) = &self.long[tree] {
            return long.times_root(model, tree, x);
        }
        for i in dofs.clone().rev() {
            let (row, chain) = model.row(i);
            let (l, root) = self.factor_row(row);
            let above = above(l, chain, &x[..i - dofs.start], dofs.start);
            x[i - dofs.start] = (x[i - dofs.start] + above) / root;
        }
    }

    /// The tree's dofs, checked against the length of `x`.
    fn dofs(&self, tree: usize, x: &[f64]) -> (&Model, Range<usize>) {
        let model = &*self.system.model;
        let dofs = model.trees[tree].dofs.clone();
        assert_eq!(x.len(), dofs.len(), "length of x");
        (model, dofs)
    }

    /// Entries of `L` left of the diagonal of a row, and its entry of `D^-1/2`.
    fn factor_row(&self, row: Row) -> (&[f64], f64) {
        (&self.factor[row.start..row.start + row.depth], self.factor[row.start + row.depth])
    }

    /// `out := M x`.
    ///
    /// # Panics
    /// If the length of a slice is not that of `v`.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let size = self.system.velocity_size();
        assert_eq!((x.len(), out.len()), (size, size), "length of x");
        for (t, dofs) in self.trees() {
            self.multiply_tree(t, &x[dofs.clone()], &mut out[dofs]);
        }
    }

    /// `out := M_t x` for the block of one tree.
    ///
    /// # Panics
    /// If the length of a slice is not the number of the tree's dofs.
    pub fn multiply_tree(&self, tree: usize, x: &[f64], out: &mut [f64]) {
        let (model, dofs) = self.dofs(tree, x);
        assert_eq!(out.len(), dofs.len(), "length of x");
        if model.trees[tree].is_free_body() {
            return self.free[tree].multiply(x, out);
        }
        if let Some(long) = &self.long[tree] {
            return long.multiply(model, tree, x, out);
        }
        let start = dofs.start;
        for i in dofs {
            let (row, chain) = model.row(i);
            let entries = &self.entries[row.start..=row.start + row.depth];
            let xi = x[i - start];
            let mut sum = entries[row.depth] * xi;
            for (&j, m) in chain[..row.depth].iter().zip(entries) {
                sum += m * x[j - start];
                out[j - start] += m * xi;
            }
            out[i - start] = sum;
        }
    }

    /// Memory that it holds, roughly.
    pub(crate) fn bytes(&self) -> usize {
        8 * (self.entries.len() + self.factor.len())
            + self.long.iter().flatten().map(Articulated::bytes).sum::<usize>()
            + size_of::<FreeBody>() * self.free.len()
            + size_of::<SpatialInertia>() * self.composite.len()
    }

    /// `M_ij`.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        let model = &*self.system.model;
        let (i, j) = (i.max(j), i.min(j));
        let (row, chain) = model.row(i);
        let t = model.bodies[row.body].tree;
        if model.trees[t].is_free_body() {
            let start = model.trees[t].dofs.start;
            return if j < start { 0.0 } else { self.free[t].entry(i - start, j - start) };
        }
        let Some(d) = chain.iter().position(|&k| k == j) else { return 0.0 };
        match &self.long[t] {
            Some(long) => {
                let Tree { bodies, dofs, .. } = &model.trees[t];
                long.entry(row.body - bodies.start, i - dofs.start, j - dofs.start)
            }
            None => self.entries[row.start + d],
        }
    }
}

impl FreeBody {
    fn new(model: &Model, b: usize, kinematics: &Kinematics) -> Result<Self, SingularMass> {
        let (body, state) = (&model.bodies[b], &kinematics.states[b]);
        let turn = state.rotation.map(|r| body.root.map(|k| dot3(r, k)));
        let pivot = body.inertia.mass.min(dot3(turn[0], turn[0]));
        // also catches NaN
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(SingularMass { link: body.link, pivot });
        }
        let mass = body.inertia.mass;
        let origin = kinematics.references[body.tree].point;
        Ok(Self { mass, root: mass.sqrt(), origin, center: state.center, inertia: state.central, turn })
    }

    fn add_inertia(&mut self, link: usize, tensor: &Tensor) -> Result<(), SingularMass> {
        let [xx, xy, xz, yy, yz, zz] = self.inertia.0;
        let more = [(xx, 0, 0), (xy, 0, 1), (xz, 0, 2), (yy, 1, 1), (yz, 1, 2), (zz, 2, 2)];
        self.inertia = Symmetric(more.map(|(own, i, j)| own + tensor[i][j]));
        // I = U' U, K = U^-1
        let u = root_spd(&self.inertia.full());
        let pivot = u[0][0].min(u[1][1]).min(u[2][2]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(SingularMass { link, pivot });
        }
        let [a, b, c] = [1.0 / u[0][0], 1.0 / u[1][1], 1.0 / u[2][2]];
        let (x, z) = (-u[0][1] * a * b, -u[1][2] * b * c);
        let y = -(u[0][1] * z + u[0][2] * c) * a;
        self.turn = [[a, x, y], [0.0, b, z], [0.0, 0.0, c]];
        Ok(())
    }

    fn point(&self, point: Vector, v: &[f64], along: [Vector; 3]) -> FreePoint {
        let arm = sub(point, self.origin);
        let (from_center, lightness) = (sub(arm, self.center), 1.0 / self.root);
        let w = along.map(|d| {
            let ([x, y, z], moment) = (scale(lightness, d), cross(from_center, d));
            let [a, b, c] = transpose_times(&self.turn, moment);
            [x, y, z, a, b, c]
        });
        let (linear, angular) = (three(v, 0), three(v, 3));
        let velocity = add(linear, cross(angular, arm));
        let sum = |x: Vector| x[0].abs() + x[1].abs() + x[2].abs();
        let size = sum(linear) + sum(angular) * sum(arm);
        FreePoint { w, speed: along.map(|d| dot3(d, velocity)), size }
    }

    fn solve_root_transposed(&self, x: &mut [f64]) {
        let (force, moment) = (three(x, 0), three(x, 3));
        let moment = sub(moment, cross(self.center, force));
        x[..3].copy_from_slice(&scale(1.0 / self.root, force));
        (0..3).for_each(|i| x[3 + i] = (0..3).map(|j| self.turn[j][i] * moment[j]).sum());
    }

    fn solve_root(&self, x: &mut [f64]) {
        let (linear, turning) = (three(x, 0), three(x, 3));
        let turning = self.turn.map(|k| dot3(k, turning));
        let linear = add(scale(1.0 / self.root, linear), cross(self.center, turning));
        x[..3].copy_from_slice(&linear);
        x[3..].copy_from_slice(&turning);
    }

    fn times_root(&self, x: &mut [f64]) {
        let (linear, turning) = (three(x, 0), three(x, 3));
        x[..3].copy_from_slice(&scale(self.root, add(linear, cross(turning, self.center))));
        // K^-1 = K' I
        let moment = self.inertia.times(turning);
        (0..3).for_each(|i| x[3 + i] = (0..3).map(|j| self.turn[j][i] * moment[j]).sum());
    }

    fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let (linear, turning) = (three(x, 0), three(x, 3));
        let force = scale(self.mass, add(linear, cross(turning, self.center)));
        out[..3].copy_from_slice(&force);
        out[3..].copy_from_slice(&add(cross(self.center, force), self.inertia.times(turning)));
    }

    /// `i >= j`: the blocks are `m 1`, `m [c x]` below it and the inertia about the origin.
    fn entry(&self, i: usize, j: usize) -> f64 {
        let [x, y, z] = scale(self.mass, self.center);
        match (i < 3, j < 3) {
            (true, true) => [0.0, self.mass][usize::from(i == j)],
            (false, true) => [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]][i - 3][j],
            _ => self.inertia.shifted(self.mass, self.center).full()[i - 3][j - 3],
        }
    }
}

/// Sum `sum_j L_ij x_j` over the dofs `j` before `i` that move it; `x` holds all dofs before it, from `start`
/// on.
fn above(l: &[f64], chain: &[usize], x: &[f64], start: usize) -> f64 {
    if l.len() == x.len() {
        // every dof before it moves it
        return dot(l, x);
    }
    chain.iter().zip(l).map(|(&j, l)| l * x[j - start]).sum()
}

/// Rows of a tree's dofs.
fn stored(model: &Model, dofs: &Range<usize>) -> Range<usize> {
    let end = model.rows.get(dofs.end).map_or(model.entries(), |r| r.start);
    model.rows[dofs.start].start..end
}

/// Computes the rows of `M` for the bodies of one tree.
fn compose(
    model: &Model,
    bodies: Range<usize>,
    kinematics: &Kinematics,
    composite: &mut [SpatialInertia],
    entries: &mut [f64],
) {
    for b in bodies.clone() {
        composite[b] = kinematics.states[b].inertia;
    }
    for b in bodies.rev() {
        let (body, carried) = (&model.bodies[b], composite[b]);
        if let Some(p) = body.parent {
            composite[p] = composite[p].plus(&carried);
        }
        for i in body.dofs() {
            let force = carried.times(kinematics.columns[i]);
            let (row, chain) = model.row(i);
            for (m, &j) in entries[row.start..=row.start + row.depth].iter_mut().zip(chain) {
                *m = kinematics.columns[j].dot(force);
            }
            entries[row.start + row.depth] += model.armature[i];
        }
    }
}

/// Computes `L` and `D^-1/2` of one tree, in place of a copy of `M`'s `entries`.
fn factorise(
    model: &Model,
    dofs: Range<usize>,
    entries: &[f64],
    factor: &mut [f64],
) -> Result<(), SingularMass> {
    for k in dofs.rev() {
        let (row, chain) = model.row(k);
        let (above, own) = factor.split_at_mut(row.start);
        let own = &mut own[..=row.depth];
        let pivot = own[row.depth];
        // also catches NaN
        if !(pivot > LEAST_PIVOT * entries[row.start + row.depth] && pivot.is_finite()) {
            return Err(SingularMass { link: model.bodies[row.body].link, pivot });
        }
        let inverse = 1.0 / pivot;
        for (d, &i) in chain[..row.depth].iter().enumerate() {
            let l = own[d] * inverse;
            let start = model.rows[i].start;
            for (m, x) in above[start..=start + d].iter_mut().zip(&own[..=d]) {
                *m -= l * x;
            }
        }
        for l in &mut own[..row.depth] {
            *l *= inverse;
        }
        own[row.depth] = inverse.sqrt();
    }
    Ok(())
}
