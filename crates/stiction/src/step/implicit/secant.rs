//! Extrapolation of a slow fixed-point iteration, tree by tree: Anderson's method of depth one (D. Anderson 1965).
//!
//! With `x` the point of an iteration, `g` its image and `r = g - x`, the next point is `g - gamma (g - g_last)` with
//! `gamma = r . (r - r_last) / |r - r_last|^2` in the metric of the masses.

use crate::dynamics::MassMatrix;
use complementarity::matrix::dot;

/// Extrapolations are at most this many changes long.
const LONGEST: f64 = 5.0;

/// The last iterates.
#[derive(Debug, Clone, Default)]
pub(super) struct Secant {
    /// Velocities at which the last image was evaluated.
    pub point: Vec<f64>,
    residual: Vec<f64>,
    last_residual: Vec<f64>,
    image: Vec<f64>,
    kick: Vec<f64>,
    last_image: Vec<f64>,
    last_kick: Vec<f64>,
    scratch: Vec<f64>,
    product: Vec<f64>,
}

impl Secant {
    /// Forgets all iterates.
    pub fn clear(&mut self) {
        self.point.clear();
        self.residual.clear();
        self.last_image.clear();
    }

    /// Largest change from the point to its image; infinite for the first image.
    pub fn residual(&mut self, image: &[f64]) -> f64 {
        std::mem::swap(&mut self.residual, &mut self.last_residual);
        self.residual.clear();
        if self.point.len() != image.len() {
            return f64::INFINITY;
        }
        self.residual.extend(image.iter().zip(&self.point).map(|(g, x)| g - x));
        self.residual.iter().fold(0.0, |m, r| r.abs().max(m))
    }

    /// Keeps the image and the momentum that belongs to it; where convergence is slow, replaces them by extrapolations.
    pub fn accelerate(&mut self, mass: &MassMatrix, slow: bool, image: &mut [f64], kick: &mut [f64]) {
        let known = self.last_residual.len() == image.len() && self.last_image.len() == image.len();
        self.image.clear();
        self.image.extend_from_slice(image);
        self.kick.clear();
        self.kick.extend_from_slice(kick);
        if known && slow {
            self.scratch.clear();
            self.scratch.extend(self.residual.iter().zip(&self.last_residual).map(|(r, l)| r - l));
            self.product.clear();
            self.product.resize(image.len(), 0.0);
            mass.multiply(&self.scratch, &mut self.product);
            for (_, dofs) in mass.trees() {
                let size = dot(&self.scratch[dofs.clone()], &self.product[dofs.clone()]);
                let along = dot(&self.residual[dofs.clone()], &self.product[dofs.clone()]);
                if size > 0.0 && along.is_finite() {
                    let gamma = (along / size).clamp(-LONGEST, LONGEST);
                    for i in dofs {
                        image[i] -= gamma * (image[i] - self.last_image[i]);
                        kick[i] -= gamma * (kick[i] - self.last_kick[i]);
                    }
                }
            }
        }
        std::mem::swap(&mut self.image, &mut self.last_image);
        std::mem::swap(&mut self.kick, &mut self.last_kick);
    }
}
