//! Direction of friction where contacts slip slowly, in space.
//!
//! The direction `d` of a slip `s` turns towards its equilibrium, in which the slip's acceleration `a(d)` is along `d`, at the rate `mu lambda_n w/|s|` (`w` the mobility along the tangents): slips
//! of nanometres a second, as they begin or all but stop, would ask an explicit method for steps of picoseconds. There `d` is the direction of the slip a little later, under the friction against `d` itself,
//!
//! ```text
//! d || s + tau a(d)        tau = TIME (1 - (|s|/SLOW)^2)^2
//! ```
//!
//! which is `s/|s|` from [`SLOW`] on and the equilibrium as `s` goes to 0. A slip that stops within `tau` keeps its direction, so that the time
//! at which it stops is that of Coulomb's law; if it never was faster than `10 STOP`, it ends at once.

use super::field::{Equations, Mode, Of, Row, contact_of};
use crate::analysis::instant::Instant;
use complementarity::factor::Lu;
use complementarity::matrix::{Matrix, dot, norm};

/// Slip from which friction is against it, as a share of the contact's scale of speed.
const SLOW: f64 = 1e-5;
/// Time by which the direction of slower slips looks ahead, as a share of its scale of time.
const TIME: f64 = 1e-6;
/// Most steps of Newton's method, and the turn by whose effect its derivatives are found, rad.
const STEPS: usize = 20;
const DIFFERENCE: f64 = 1e-7;
/// Largest turn in one step, rad.
const TURN: f64 = 0.5;
/// Relative defect at which a direction is right.
const RIGHT: f64 = 1e-13;

/// `A` and `b` of trinkle1995 (21)-(23).
pub type System = (Matrix, Vec<f64>);

/// A contact that slips slowly: its place among the closed ones, its first row, and `tau`.
type Slow = (usize, usize, f64);

impl Equations<'_> {
    /// Turns the directions of slow slips to where they lead; `None` if there are no forces.
    pub fn turn_slow_slips(
        &mut self,
        (instant, system): (&Instant, &System),
        rows: &[Row],
        along: &mut [[f64; 2]],
        forces: &mut Vec<f64>,
    ) -> Option<()> {
        self.closed.iter_mut().for_each(|c| c.ends = false);
        let mu = instant.mu();
        let slow = rows.iter().filter_map(|&(row, of)| {
            let Of::Contact(k) = of else { return None };
            let (c, at) = (&self.closed[k], contact_of(instant, row));
            let in_space = instant.offsets()[at + 1] - instant.offsets()[at] > 2;
            let slips = matches!(c.mode, Mode::Slip(_)) && !c.fixed && mu[at] > 0.0 && in_space;
            let share = c.slip() / (SLOW * c.scale.speed);
            let tau = TIME * c.scale.time * (1.0 - share * share).powi(2);
            (slips && share < 1.0).then(|| (k, instant.offsets()[at], tau))
        });
        let slow: Vec<Slow> = slow.collect();
        if slow.is_empty() {
            return Some(());
        }
        let explicit = along.to_vec();
        self.turn((instant, system), rows, &slow, along, forces)?;
        let leads = |&(k, row, tau): &Slow| {
            let [defect, slope] = self.defect(system, (k, row, tau), along[k], forces);
            let later = self.later(system, (k, row, tau), forces);
            defect.abs() <= 1e3 * RIGHT
                && slope > 0.0
                && later[0] * along[k][0] + later[1] * along[k][1] > 0.0
        };
        let lost: Vec<usize> = slow.iter().filter(|s| !leads(s)).map(|s| s.0).collect();
        if !lost.is_empty() {
            // it stops, or has no such direction
            along.copy_from_slice(&explicit);
            *forces = self.forces_along((instant, system), rows, along)?;
        }
        for k in lost {
            let c = &mut self.closed[k];
            c.ends = !c.moves && !c.begins && c.slip() < 10.0 * c.stop();
        }
        Some(())
    }

    /// Newton's method for the directions of all slow slips, which depend on each other: their defects by differences of the directions.
    fn turn(
        &mut self,
        (instant, system): (&Instant, &System),
        rows: &[Row],
        slow: &[Slow],
        along: &mut [[f64; 2]],
        forces: &mut Vec<f64>,
    ) -> Option<()> {
        let n = slow.len();
        let defects = |own: &Self, along: &[[f64; 2]], forces: &[f64]| -> Vec<f64> {
            slow.iter().map(|s| own.defect(system, *s, along[s.0], forces)[0]).collect()
        };
        let mut defect = defects(self, along, forces);
        for _ in 0..STEPS {
            let size = norm(&defect);
            if !size.is_finite() || defect.iter().all(|d| d.abs() <= RIGHT) {
                break;
            }
            let mut slopes = Matrix::zeros(n, n);
            for (j, s) in slow.iter().enumerate() {
                let before = along[s.0];
                along[s.0] = turned(before, DIFFERENCE);
                let other = self.forces_along((instant, system), rows, along)?;
                for (i, (d, first)) in defects(self, along, &other).iter().zip(&defect).enumerate() {
                    slopes[(i, j)] = (d - first) / DIFFERENCE;
                }
                along[s.0] = before;
            }
            let mut by: Vec<f64> = defect.iter().map(|d| -d).collect();
            let mut lu = Lu::default();
            if lu.factor(n, |i, j| slopes[(i, j)]).is_err() {
                break;
            }
            lu.solve(&mut by);
            let largest = by.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let (start, mut share) = (along.to_vec(), (TURN / largest).min(1.0));
            // NaN fails too
            let better = loop {
                for (s, by) in slow.iter().zip(&by) {
                    along[s.0] = turned(start[s.0], share * by);
                }
                *forces = self.forces_along((instant, system), rows, along)?;
                defect = defects(self, along, forces);
                if norm(&defect) < size {
                    break true;
                }
                share *= 0.25;
                if share <= 1e-3 || share.is_nan() {
                    break false;
                }
            };
            if !better {
                along.copy_from_slice(&start);
                *forces = self.forces_along((instant, system), rows, along)?;
                break;
            }
        }
        Some(())
    }

    /// Slip of a contact after the time `tau`, along t and o.
    fn later(&self, (a, b): &System, (k, row, tau): Slow, forces: &[f64]) -> [f64; 2] {
        [1, 2].map(|i| self.closed[k].velocity[i] + tau * (b[row + i] + dot(a.row(row + i), forces)))
    }

    /// Part of the later slip across a direction, over the size of what makes it, and minus about its derivative by the direction.
    fn defect(&self, system: &System, (k, row, tau): Slow, d: [f64; 2], forces: &[f64]) -> [f64; 2] {
        let (later, a) = (self.later(system, (k, row, tau), forces), &system.0);
        let [_, t, o] = self.closed[k].velocity;
        let friction = forces[row + 1].hypot(forces[row + 2]);
        let mobility = a[(row + 1, row + 1)].max(a[(row + 2, row + 2)]);
        let (across, ahead) = (d[0] * later[1] - d[1] * later[0], d[0] * later[0] + d[1] * later[1]);
        let size = t.hypot(o) + tau * friction * mobility;
        [across / size, (ahead.max(0.0) + tau * friction * mobility) / size]
    }
}

/// A direction turned by an angle.
fn turned(d: [f64; 2], angle: f64) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    [d[0] * cos - d[1] * sin, d[1] * cos + d[0] * sin]
}
