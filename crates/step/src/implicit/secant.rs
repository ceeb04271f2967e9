//! Extrapolation of a slow fixed-point iteration, tree by tree: Anderson's method (D. Anderson 1965).
//!
//! With `x` the point of an iteration, `g` its image and `r = g - x`, the next point is `g - sum_j gamma_j dg_j`, where `dr_j` and `dg_j` are the last changes of `r` and `g`
//! and `gamma` minimises `|r - sum_j gamma_j dr_j|` in the metric of the masses. With as many changes as a body has velocities it is a secant method.

use crate::dynamics::MassMatrix;
use complementarity::matrix::dot;

/// Extrapolations are at most this many changes long.
const LONGEST: f64 = 5.0;
/// Changes that are kept.
pub(super) const DEPTH: usize = 5;
/// Share of a change that must lie across the newer ones, squared.
const ACROSS: f64 = 1e-10;

/// Changes from one iteration to the next.
#[derive(Debug, Clone, Default)]
struct Change {
    residual: Vec<f64>,
    /// Masses times `residual`.
    product: Vec<f64>,
    image: Vec<f64>,
    kick: Vec<f64>,
}

/// The last iterates.
#[derive(Debug, Clone, Default)]
pub(super) struct Secant {
    /// Velocities at which the last image was evaluated.
    pub point: Vec<f64>,
    residual: Vec<f64>,
    last_residual: Vec<f64>,
    last_image: Vec<f64>,
    last_kick: Vec<f64>,
    /// The newest first; `known` of them are valid.
    changes: [Change; DEPTH],
    known: usize,
}

impl Secant {
    /// Forgets all iterates.
    pub fn clear(&mut self) {
        self.point.clear();
        self.residual.clear();
        self.last_image.clear();
        self.known = 0;
    }

    /// The change from the point to its image; `None` for the first image.
    pub fn residual(&mut self, image: &[f64]) -> Option<&[f64]> {
        std::mem::swap(&mut self.residual, &mut self.last_residual);
        self.residual.clear();
        if self.point.len() != image.len() {
            return None;
        }
        self.residual.extend(image.iter().zip(&self.point).map(|(g, x)| g - x));
        Some(&self.residual)
    }

    /// Keeps the image and the momentum that belongs to it; where convergence is slow, replaces them by extrapolations. After an iteration whose contacts are not those
    /// of the one before (`smooth` is false) earlier changes are forgotten. `carry` is called with the
    /// coefficients of each tree, the newest first.
    pub fn accelerate(
        &mut self,
        mass: &MassMatrix,
        (smooth, slow): (bool, bool),
        (image, kick): (&mut [f64], &mut [f64]),
        mut carry: impl FnMut(usize, &[f64]),
    ) {
        let n = image.len();
        if !smooth {
            self.known = 0;
        } else if self.last_residual.len() == n && self.residual.len() == n && self.last_image.len() == n {
            self.changes.rotate_right(1);
            self.known = (self.known + 1).min(DEPTH);
            let newest = &mut self.changes[0];
            for (to, now, last) in [
                (&mut newest.residual, &self.residual[..], &self.last_residual),
                (&mut newest.image, &*image, &self.last_image),
                (&mut newest.kick, &*kick, &self.last_kick),
            ] {
                to.clear();
                to.extend(now.iter().zip(last).map(|(a, b)| a - b));
            }
            newest.product.clear();
            newest.product.resize(n, 0.0);
            mass.multiply(&newest.residual, &mut newest.product);
        }
        self.last_image.clear();
        self.last_image.extend_from_slice(image);
        self.last_kick.clear();
        self.last_kick.extend_from_slice(kick);
        if !slow {
            return;
        }
        for (tree, dofs) in mass.trees() {
            let gamma = self.coefficients(dofs.clone());
            for (change, gamma) in self.changes.iter().zip(gamma).take(self.known) {
                for i in dofs.clone() {
                    image[i] -= gamma * change.image[i];
                    kick[i] -= gamma * change.kick[i];
                }
            }
            carry(tree, &gamma[..self.known]);
        }
    }

    /// `gamma` of a tree: least squares by Cholesky, without changes that are nearly combinations of newer ones.
    fn coefficients(&self, dofs: std::ops::Range<usize>) -> [f64; DEPTH] {
        let changes = &self.changes[..self.known.min(dofs.len())];
        let (mut l, mut y, mut used) = ([[0.0; DEPTH]; DEPTH], [0.0; DEPTH], [false; DEPTH]);
        for (i, change) in changes.iter().enumerate() {
            let product = &change.product[dofs.clone()];
            let mut sum = dot(&self.residual[dofs.clone()], product);
            for j in (0..i).filter(|j| used[*j]) {
                let mut inner = dot(&changes[j].residual[dofs.clone()], product);
                (0..j).for_each(|k| inner -= l[i][k] * l[j][k]);
                l[i][j] = inner / l[j][j];
                sum -= l[i][j] * y[j];
            }
            let own = dot(&change.residual[dofs.clone()], product);
            let across = own - (0..i).map(|k| l[i][k] * l[i][k]).sum::<f64>();
            if across > ACROSS * own && sum.is_finite() {
                (l[i][i], used[i]) = (across.sqrt(), true);
                y[i] = sum / l[i][i];
            } else {
                l[i] = [0.0; DEPTH];
            }
        }
        let mut gamma = [0.0; DEPTH];
        for i in (0..changes.len()).rev().filter(|i| used[*i]) {
            let sum: f64 = (i + 1..changes.len()).map(|k| l[k][i] * gamma[k]).sum();
            gamma[i] = (y[i] - sum) / l[i][i];
        }
        let longest = gamma.iter().fold(0.0f64, |m, g| m.max(g.abs()));
        if longest > LONGEST {
            gamma = gamma.map(|g| g * LONGEST / longest);
        }
        gamma
    }
}
