//! Reference speeds: what is slow for a body, without looking at forces.
//!
//! A body of size `L` falls by half of that in the time `T = sqrt(L / g)`, so that its speed is `L / T = sqrt(L g)`; without gravity `T` is
//! [`STEPS`] steps. No force, no mass and no other body occurs in it, and neither does the step in a scene with gravity. It scales with the units of length and time.

use crate::dynamics::{Joint, System};
use crate::scene::resolved::Resolved;
use crate::space::length;

/// Steps of a scene without gravity in which a body moves by its size at its reference speed.
const STEPS: f64 = 1000.0;

/// Reference speeds of a model.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// Of each body, m/s and rad/s.
    pub of_body: Vec<[f64; 2]>,
    /// Of each velocity in `v`, m/s or rad/s.
    pub of_dof: Vec<f64>,
}

impl Pace {
    /// Sizes are the reaches of shapes; of bodies without shapes the largest one in the scene, and without any shape the radius of gyration.
    pub(super) fn new(scene: &Resolved, system: &System, reaches: &[f64]) -> Self {
        let largest = reaches.iter().copied().filter(|r| r.is_finite()).fold(0.0, f64::max);
        let gravity = length(scene.gravity);
        let mut pace =
            Self { of_body: Vec::with_capacity(reaches.len()), of_dof: vec![0.0; system.velocity_size()] };
        for (i, (body, &reach)) in scene.bodies.iter().zip(reaches).enumerate() {
            let inertia = &body.link.inertia;
            let gyration = ((0..3).map(|k| inertia.tensor[k][k]).sum::<f64>() / inertia.mass).sqrt();
            let known = |x: &f64| x.is_finite() && *x > 0.0;
            let size = [reach, largest, gyration].into_iter().find(known).unwrap_or(1.0);
            let time = match gravity > 0.0 {
                true => (size / gravity).sqrt(),
                false => STEPS * scene.step.h,
            };
            pace.of_body.push([size / time, 1.0 / time]);
            let shifts = match body.link.joint {
                Joint::Free => 3,
                Joint::Planar => 2,
                Joint::Prismatic { .. } | Joint::Cylindrical { .. } => 1,
                _ => 0,
            };
            for (k, dof) in system.dofs(i).enumerate() {
                pace.of_dof[dof] = if k < shifts { size } else { 1.0 } / time;
            }
        }
        pace
    }

    /// Of rows between parts that belong to bodies: that of the slower one that moves, m/s, or rad/s if the row is about rotation. Infinite if none moves.
    pub fn between(&self, system: &System, bodies: [Option<usize>; 2], turns: bool) -> f64 {
        let moving = bodies.into_iter().flatten().filter(|&i| system.tree_of(i).is_some());
        moving.map(|i| self.of_body[i][usize::from(turns)]).fold(f64::INFINITY, f64::min)
    }
}
