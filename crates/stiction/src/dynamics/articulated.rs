//! The mass matrix of long chains, never written out: all operations take time and memory in proportion to the links.
//!
//! Row `k` of the factor `L` of `M = L' D L` ([`super::mass`]) is `L_kj = G_k . S_j` at every dof `j` that moves dof `k`, where
//!
//! ```text
//! G_k = A_k S_k / D_k      D_k = S_k . A_k S_k + armature      A := A - A_k S_k (A_k S_k)' / D_k, towards the root
//! ```
//!
//! and `A_k` is the articulated inertia of what dof `k` carries (RBDA chapter 7; Rodriguez, Jain and Kreutz-Delgado 1992). So products with `L`, its inverse and its
//! transpose are sweeps along the tree that carry one motion or one force. All spatial vectors of a tree are taken at one point: nothing is transformed on the way.

use super::Kinematics;
use super::spatial::{Spatial, SpatialInertia, Symmetric};
use super::system::{Body, Model};
use crate::space::Tensor;
use std::cell::RefCell;
use std::ops::Range;

/// A pivot below this share of its diagonal entry counts as rounding.
pub(super) const LEAST_PIVOT: f64 = 1e-14;

/// The mass matrix is not positive definite: links without mass are in a singular configuration, or the
/// configuration is not finite.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("mass matrix is not positive definite: pivot {pivot} at the joint of link {link}")]
pub struct SingularMass {
    /// Link whose joint has the pivot.
    pub link: usize,
    /// The pivot, which should be positive.
    pub pivot: f64,
}

/// Symmetric 6 x 6 matrix, angular rows first.
type Matrix6 = [[f64; 6]; 6];

thread_local! {
    /// Motions or forces of the bodies of a tree, during a sweep.
    static FLOW: RefCell<Vec<Spatial>> = const { RefCell::new(vec![]) };
}

/// The factor of one tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Articulated {
    /// Of each body by itself, and of all that it carries.
    inertia: Vec<SpatialInertia>,
    composite: Vec<SpatialInertia>,
    /// Motion subspace and gain `G` of each dof, `D^1/2`, and what adds to the diagonal of the matrix.
    columns: Vec<Spatial>,
    gains: Vec<Spatial>,
    roots: Vec<f64>,
    diagonal: Vec<f64>,
    /// Scratch: articulated inertia of each body.
    articulated: Vec<Matrix6>,
}

/// The bodies of a tree with their dofs, counted from the tree's first.
struct Sweep<'a> {
    model: &'a Model,
    bodies: Range<usize>,
    first_dof: usize,
}

impl<'a> Sweep<'a> {
    fn new(model: &'a Model, tree: usize) -> Self {
        let tree = &model.trees[tree];
        Self { model, bodies: tree.bodies.clone(), first_dof: tree.dofs.start }
    }

    fn body(&self, b: usize) -> &'a Body {
        &self.model.bodies[b]
    }

    fn dofs(&self, b: usize) -> Range<usize> {
        let dofs = self.body(b).dofs();
        dofs.start - self.first_dof..dofs.end - self.first_dof
    }

    /// Index in the tree of a body's parent.
    fn parent(&self, b: usize) -> Option<usize> {
        self.body(b).parent.map(|p| p - self.bodies.start)
    }

    /// From the root on: `each` takes a body's dofs, and the motion that its parent passes on.
    fn outward(&self, mut each: impl FnMut(usize, Range<usize>, Spatial) -> Spatial) {
        FLOW.with_borrow_mut(|flow| {
            flow.clear();
            for b in self.bodies.clone() {
                let from = self.parent(b).map_or(Spatial::default(), |p| flow[p]);
                let passed = each(b, self.dofs(b), from);
                flow.push(passed);
            }
        });
    }

    /// Towards the root: `each` takes a body's dofs, and the sum of the forces that its children pass on.
    fn inward(&self, mut each: impl FnMut(usize, Range<usize>, Spatial) -> Spatial) {
        FLOW.with_borrow_mut(|flow| {
            flow.clear();
            flow.resize(self.bodies.len(), Spatial::default());
            for b in self.bodies.clone().rev() {
                let passed = each(b, self.dofs(b), flow[b - self.bodies.start]);
                if let Some(p) = self.parent(b) {
                    flow[p] = flow[p].plus(passed);
                }
            }
        });
    }
}

impl Articulated {
    /// Memory for a tree.
    pub fn new(model: &Model, tree: usize) -> Self {
        let (bodies, dofs) = (model.trees[tree].bodies.len(), model.trees[tree].dofs.len());
        Self {
            inertia: vec![SpatialInertia::default(); bodies],
            composite: vec![SpatialInertia::default(); bodies],
            columns: vec![Spatial::default(); dofs],
            gains: vec![Spatial::default(); dofs],
            roots: vec![0.0; dofs],
            diagonal: vec![0.0; dofs],
            articulated: vec![[[0.0; 6]; 6]; bodies],
        }
    }

    pub fn bytes(&self) -> usize {
        let body = 2 * size_of::<SpatialInertia>() + size_of::<Matrix6>();
        body * self.inertia.len() + (2 * size_of::<Spatial>() + 16) * self.columns.len()
    }

    /// Takes the tree as it is placed, and factors its matrix.
    pub fn update(&mut self, model: &Model, tree: usize, at: &Kinematics) -> Result<(), SingularMass> {
        let sweep = Sweep::new(model, tree);
        let dofs = model.trees[tree].dofs.clone();
        self.columns.copy_from_slice(&at.columns[dofs.clone()]);
        self.diagonal.copy_from_slice(&model.armature[dofs]);
        for (own, b) in self.inertia.iter_mut().zip(sweep.bodies.clone()) {
            *own = at.states[b].inertia;
        }
        self.factor(&sweep)
    }

    /// The same matrix as another, with more on its diagonal.
    pub fn assign_with(
        &mut self,
        other: &Self,
        more: &[f64],
        model: &Model,
        tree: usize,
    ) -> Result<(), SingularMass> {
        self.columns.copy_from_slice(&other.columns);
        self.inertia.copy_from_slice(&other.inertia);
        for ((own, other), more) in self.diagonal.iter_mut().zip(&other.diagonal).zip(more) {
            *own = other + more;
        }
        self.factor(&Sweep::new(model, tree))
    }

    /// Adds the rotational inertia of a body of the tree, in world axes.
    pub fn add_inertia(
        &mut self,
        body: usize,
        tensor: &Tensor,
        model: &Model,
        tree: usize,
    ) -> Result<(), SingularMass> {
        let sweep = Sweep::new(model, tree);
        let t = tensor;
        let second = Symmetric([t[0][0], t[0][1], t[0][2], t[1][1], t[1][2], t[2][2]]);
        let own = &mut self.inertia[body - sweep.bodies.start];
        *own = own.plus(&SpatialInertia { mass: 0.0, first: [0.0; 3], second });
        self.factor(&sweep)
    }

    fn factor(&mut self, sweep: &Sweep<'_>) -> Result<(), SingularMass> {
        self.composite.copy_from_slice(&self.inertia);
        for (a, own) in self.articulated.iter_mut().zip(&self.inertia) {
            *a = matrix(own);
        }
        for b in sweep.bodies.clone().rev() {
            let k = b - sweep.bodies.start;
            let (carried, mut a) = (self.composite[k], self.articulated[k]);
            for i in sweep.dofs(b).rev() {
                let s = self.columns[i];
                let u = times(&a, s);
                let pivot = s.dot(u) + self.diagonal[i];
                let entry = s.dot(carried.times(s)) + self.diagonal[i];
                // also catches NaN
                if !(pivot > LEAST_PIVOT * entry && pivot.is_finite()) {
                    return Err(SingularMass { link: sweep.body(b).link, pivot });
                }
                (self.gains[i], self.roots[i]) = (u.times(1.0 / pivot), pivot.sqrt());
                remove(&mut a, u, 1.0 / pivot);
            }
            if let Some(p) = sweep.parent(b) {
                self.composite[p] = self.composite[p].plus(&carried);
                for (row, own) in self.articulated[p].iter_mut().zip(&a) {
                    row.iter_mut().zip(own).for_each(|(x, y)| *x += y);
                }
            }
        }
        Ok(())
    }

    /// `x := D^-1/2 L'^-1 x`.
    pub fn solve_root_transposed(&self, model: &Model, tree: usize, x: &mut [f64]) {
        Sweep::new(model, tree).inward(|_, dofs, mut force| {
            for i in dofs.rev() {
                x[i] -= self.columns[i].dot(force);
                force = force.plus(self.gains[i].times(x[i]));
                x[i] /= self.roots[i];
            }
            force
        });
    }

    /// `x := L^-1 D^-1/2 x`.
    pub fn solve_root(&self, model: &Model, tree: usize, x: &mut [f64]) {
        Sweep::new(model, tree).outward(|_, dofs, mut motion| {
            for i in dofs {
                x[i] = x[i] / self.roots[i] - self.gains[i].dot(motion);
                motion = motion.plus(self.columns[i].times(x[i]));
            }
            motion
        });
    }

    /// `x := D^1/2 L x`.
    pub fn times_root(&self, model: &Model, tree: usize, x: &mut [f64]) {
        Sweep::new(model, tree).outward(|_, dofs, mut motion| {
            for i in dofs {
                let (own, before) = (x[i], motion);
                motion = motion.plus(self.columns[i].times(own));
                x[i] = self.roots[i] * (own + self.gains[i].dot(before));
            }
            motion
        });
    }

    /// `out := M x`.
    pub fn multiply(&self, model: &Model, tree: usize, x: &[f64], out: &mut [f64]) {
        let sweep = Sweep::new(model, tree);
        let first = sweep.bodies.start;
        // the first sweep leaves motions where the second finds them
        sweep.outward(|_, dofs, motion| dofs.fold(motion, |sum, i| sum.plus(self.columns[i].times(x[i]))));
        FLOW.with_borrow_mut(|flow| {
            for b in sweep.bodies.clone() {
                flow[b - first] = self.inertia[b - first].times(flow[b - first]);
            }
            for b in sweep.bodies.clone().rev() {
                let force = flow[b - first];
                for i in sweep.dofs(b) {
                    out[i] = self.columns[i].dot(force) + self.diagonal[i] * x[i];
                }
                if let Some(p) = sweep.parent(b) {
                    flow[p] = flow[p].plus(force);
                }
            }
        });
    }

    /// `M_ij` with the body of `i`, which `j` moves or belongs to; `i` and `j` counted in the tree.
    pub fn entry(&self, body: usize, i: usize, j: usize) -> f64 {
        let carried = self.composite[body];
        let own = if i == j { self.diagonal[i] } else { 0.0 };
        self.columns[j].dot(carried.times(self.columns[i])) + own
    }
}

fn spatial(x: [f64; 6]) -> Spatial {
    Spatial { angular: [x[0], x[1], x[2]], linear: [x[3], x[4], x[5]] }
}

fn numbers(x: Spatial) -> [f64; 6] {
    let ([a, b, c], [d, e, f]) = (x.angular, x.linear);
    [a, b, c, d, e, f]
}

fn matrix(inertia: &SpatialInertia) -> Matrix6 {
    std::array::from_fn(|k| {
        let mut unit = [0.0; 6];
        unit[k] = 1.0;
        numbers(inertia.times(spatial(unit)))
    })
}

fn times(a: &Matrix6, s: Spatial) -> Spatial {
    let s = numbers(s);
    spatial(a.map(|row| row.iter().zip(&s).map(|(x, y)| x * y).sum()))
}

/// `a := a - factor u u'`.
fn remove(a: &mut Matrix6, u: Spatial, factor: f64) {
    let u = numbers(u);
    for (row, x) in a.iter_mut().zip(u) {
        row.iter_mut().zip(u).for_each(|(m, y)| *m -= factor * x * y);
    }
}
