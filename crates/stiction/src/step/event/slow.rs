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

use super::field::{Equations, Mode, Of, Row, STOP, contact_of};
use crate::analysis::instant::Instant;
use complementarity::matrix::{Matrix, dot};

/// Slip from which friction is against it, m/s.
const SLOW: f64 = 1e-5;
/// Time by which the direction of slower slips looks ahead, s.
const TIME: f64 = 1e-6;
/// Rounds over all contacts that slip slowly, and steps of the secant method in each.
const ROUNDS: usize = 8;
const SECANTS: usize = 12;
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
            let slips = matches!(c.mode, Mode::Slip(_)) && mu[at] > 0.0 && in_space;
            let share = c.velocity[1].hypot(c.velocity[2]) / SLOW;
            (slips && share < 1.0).then(|| (k, instant.offsets()[at], TIME * (1.0 - share * share).powi(2)))
        });
        let slow: Vec<Slow> = slow.collect();
        if slow.is_empty() {
            return Some(());
        }
        let (first, explicit) = (forces.clone(), along.to_vec());
        for _ in 0..ROUNDS {
            let mut right = true;
            for &(k, row, tau) in &slow {
                let mut before: Option<[f64; 2]> = None;
                let start = along[k];
                let mut turn = 0.0f64;
                for step in 0..SECANTS {
                    if step > 0 {
                        let (sin, cos) = turn.sin_cos();
                        along[k] = [start[0] * cos - start[1] * sin, start[1] * cos + start[0] * sin];
                        *forces = self.forces_along((instant, system), rows, along)?;
                    }
                    let [defect, slope] = self.defect(system, (k, row, tau), along[k], forces);
                    if !defect.is_finite() || defect.abs() <= RIGHT {
                        break;
                    }
                    right = false;
                    let by = match before {
                        Some([last, other]) if other != defect => defect * (turn - last) / (other - defect),
                        _ => defect / slope,
                    };
                    before = Some([turn, defect]);
                    turn += by.clamp(-TURN, TURN);
                }
            }
            if right {
                break;
            }
        }
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
            *forces = first;
        }
        for k in lost {
            let c = &mut self.closed[k];
            c.ends = !c.moves && c.velocity[1].hypot(c.velocity[2]) < 10.0 * STOP;
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
