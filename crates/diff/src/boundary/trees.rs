//! Maps of trees that products evaluate body by body instead of by their matrices: the drift, and how momenta and weight
//! change with the configuration.

use super::linear::Sparse;
use crate::dynamics::{Covariation, Kinematics, Points, TreeDrift, Variation};
use crate::space::Vector;
use std::ops::Range;

/// The derivative of the drift of all trees: from `xi`, `v_theta`, `v'`, one after the other, to `xi+`, `v+`.
#[derive(Debug, Clone, Default)]
pub(super) struct DriftMap {
    /// Of trees that are one body, or whose mass matrix is constant.
    pub flat: Sparse,
    /// Of the others, with their dofs.
    pub trees: Vec<(TreeDrift, Range<usize>)>,
    pub points: Points,
}

impl DriftMap {
    /// `y += D x`.
    pub fn times(&self, x: &[f64], y: &mut [f64]) {
        self.flat.times(1.0, x, y);
        let n = y.len() / 2;
        let (place, velocity) = y.split_at_mut(n);
        for (tree, dofs) in &self.trees {
            let [xi, theta, after] = [0, 1, 2].map(|k| &x[k * n..][dofs.clone()]);
            let out = (&mut place[dofs.clone()], &mut velocity[dofs.clone()]);
            tree.times(&self.points, (xi, theta, after), None, out);
        }
    }

    /// `x += D' y`.
    pub fn transpose_times(&self, y: &[f64], x: &mut [f64]) {
        self.flat.transpose_times(1.0, y, x);
        let n = y.len() / 2;
        let (xi, rest) = x.split_at_mut(n);
        let (theta, after) = rest.split_at_mut(n);
        for (tree, dofs) in &self.trees {
            let given = (&y[..n][dofs.clone()], &y[n..][dofs.clone()]);
            let own = (&mut xi[dofs.clone()], &mut theta[dofs.clone()], &mut after[dofs.clone()]);
            tree.transpose_times(&self.points, given, own);
        }
    }

    /// Memory that it holds, roughly.
    pub fn bytes(&self) -> usize {
        self.flat.bytes() + self.points.bytes()
    }
}

/// `d(W - M a)` with the configuration, for given `a`; `W` is the weight times `h`, or zero.
#[derive(Debug, Clone)]
pub(super) struct InertiaMap {
    /// At the configuration, with the velocities `a`.
    kinematics: Kinematics,
    /// `h` times the acceleration of gravity.
    gravity: Vector,
}

impl InertiaMap {
    pub fn new(at: &Kinematics, q: &[f64], a: &[f64], gravity: Vector) -> Self {
        let mut kinematics = at.clone();
        kinematics.go_to(q, a);
        Self { kinematics, gravity }
    }

    /// `y += F xi`.
    pub fn times(&self, xi: &[f64], y: &mut [f64]) {
        let k = &self.kinematics;
        let mut by = Variation::default();
        let [zero, mut dp, mut dg] = [(); 3].map(|()| vec![0.0; xi.len()]);
        for (t, tree) in k.system().trees().iter().enumerate() {
            let (dofs, n) = (tree.dofs.clone(), tree.dofs.len());
            k.vary_into(t, &xi[dofs.clone()], &zero[..n], &mut by);
            k.vary_momenta(t, &by, &mut dp[..n], &mut dg[..n]);
            let out = &mut y[dofs];
            out.iter_mut().zip(&dp).for_each(|(y, p)| *y -= p);
            if self.gravity != [0.0; 3] {
                k.vary_weight(t, &by, self.gravity, out);
            }
        }
    }

    /// `xi += F' y`.
    pub fn transpose_times(&self, y: &[f64], xi: &mut [f64]) {
        let k = &self.kinematics;
        let mut by = Covariation::default();
        let (mut unused, down) = (vec![0.0; y.len()], y.iter().map(|y| -y).collect::<Vec<f64>>());
        for (t, tree) in k.system().trees().iter().enumerate() {
            let (dofs, n) = (tree.dofs.clone(), tree.dofs.len());
            by.clear(k, t);
            k.momenta_transposed(t, &down[dofs.clone()], None, &mut by);
            if self.gravity != [0.0; 3] {
                k.weight_transposed(t, self.gravity, &y[dofs.clone()], &mut by);
            }
            k.vary_transposed(t, &mut by, &mut xi[dofs], &mut unused[..n]);
        }
    }
}
