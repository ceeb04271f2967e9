//! The linear system of a step.

use super::cones::Cones;
use super::point::{Direction, Point, Target};
use crate::matrix::dot;
use crate::solver::scaled::{Scaled, tangential};
use crate::solver::system::System;

/// The linear system of a point: `force du + speed dx = target` contact by contact, `du = W dx + f`, so that `(speed + force W) dx = target - force f`. Disc:
/// `speed = L_y` and `force = L_x G`, where `L_x` is the matrix of `x o .` and `G = dy/du`, row by row: the identity, and `u_t / |u_t|` beside the corner.
/// Polygon: [`Sides::blocks`](super::cones::Sides::blocks).
#[derive(Debug, Clone, Default)]
pub(super) struct Newton {
    system: System,
    force: Vec<f64>,
    speed: Vec<f64>,
    right: Vec<f64>,
}

impl Newton {
    /// Reads the pattern of a problem.
    pub fn prepare(&mut self, scaled: &Scaled) {
        self.system.prepare(scaled);
    }

    /// Factors the matrix of a point; `None` if it is singular.
    pub fn factor(&mut self, scaled: &Scaled, cones: &Cones, point: &Point) -> Option<()> {
        let d = scaled.rows;
        self.force.clear();
        self.speed.clear();
        for c in 0..scaled.n / d {
            let at = d * c..d * (c + 1);
            let (x, u, y) = (&point.x[at.clone()], &point.u[at.clone()], &point.y[at]);
            if let Some(own) = point.sides(cones, c) {
                let [force, speed] = own.blocks(x[0], u[0]);
                self.force.extend_from_slice(force.as_flattened());
                self.speed.extend_from_slice(speed.as_flattened());
                continue;
            }
            let length = tangential(u);
            // L_x G = L_x + x (0, u_t / |u_t|)'
            self.force.extend((0..d * d).map(|k| {
                let lift = if k % d > 0 && length > 0.0 { x[k / d] * u[k % d] / length } else { 0.0 };
                arrow(x, k / d, k % d) + lift
            }));
            self.speed.extend((0..d * d).map(|k| arrow(y, k / d, k % d)));
        }
        self.system.factor(scaled, &self.force, &self.speed)
    }

    /// The direction of a target for the products, refined once; `None` if it is not finite.
    pub fn solve(
        &mut self,
        scaled: &Scaled,
        cones: &Cones,
        point: &Point,
        target: &Target,
        out: &mut Direction,
    ) -> Option<()> {
        let Self { system, force, speed, right } = self;
        let (n, d) = (scaled.n, scaled.rows);
        right.clear();
        for c in 0..n / d {
            let f = &point.f[d * c..][..d];
            let row = |i: usize| &force[d * (d * c + i)..][..d];
            if let Some(own) = point.sides(cones, c) {
                let shift = own.shift(&target.sides[cones.places(c)]);
                let goal = [-f[0], shift[1] - f[1], shift[2] - f[2]];
                right.extend((0..d).map(|i| target.rows[d * c + i] + dot(row(i), &goal)));
            } else {
                right.extend((0..d).map(|i| target.rows[d * c + i] - dot(row(i), f)));
            }
        }
        system.solve_refined(scaled, force, speed, right, &mut out.x)?;
        scaled.times(&out.x, &mut out.u);
        out.u.iter_mut().zip(&point.f).for_each(|(u, f)| *u += f);
        out.find_sides(cones, point, target);
        let mut all = out.u.iter().chain(&out.z);
        all.all(|u| u.is_finite()).then_some(())
    }
}

/// Entry of `L_x`, the matrix of `x o .`: `x` in the first row and column, `x_n` on the diagonal.
fn arrow(x: &[f64], i: usize, j: usize) -> f64 {
    match (i, j) {
        (0, k) | (k, 0) => x[k],
        _ if i == j => x[0],
        _ => 0.0,
    }
}
