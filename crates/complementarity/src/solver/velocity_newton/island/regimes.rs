//! The law of an island's elements in fixed regimes, where it is linear: forces chosen as the limit of equal
//! compliance (`choice.rs`) are computed here.

use super::super::law::respond;
use super::{Element, Island, square};
use crate::element::law::Law;
use crate::element::linear::Regime;
use crate::operator::MOST_ROWS;

/// Slip directions at a solution and with a small compliance count as equal if they differ by less than this.
const ALIKE: f64 = 1e-2;

impl<const D: usize, const P: usize> Island<D, P> {
    /// Determines the regimes of the law at the forces whose residual was evaluated last, and the forces that
    /// obey the law in them. With `eps` they are forces of the limit: an element that is between two regimes
    /// there (no force and no velocity, for instance) takes that of the solution with compliance `eps`.
    /// Returns by how much slip directions differ from those of the previous regimes (infinite if the regimes
    /// differ), and whether some slips are at most `small` times what the compliance yields.
    pub fn find_regimes(&mut self, eps: Option<f64>, small: f64) -> (f64, bool) {
        let (mut rotated, mut vanishes) = (0.0f64, false);
        for ((e, last), kept) in self.elements.iter().zip(&mut self.regimes).zip(&self.kept_slip) {
            let (at, mut p) = (e.row..e.row + e.rows, [0.0; MOST_ROWS]);
            if let (true, Regime::Slip { along, .. }) = (*kept, &*last) {
                // no more than its share of a force that pushes
                let normal = self.force[e.row].max(0.0);
                let share = |i: usize| if i == 0 { normal } else { e.law.1 * normal * along[i] };
                at.for_each(|i| self.change[i] = share(i - e.row));
                continue;
            }
            at.clone().for_each(|i| p[i - e.row] = self.force[i] - self.s[i]);
            let own = &mut self.change[at.clone()];
            let mut regime = respond(e.law, &p[..e.rows], &[1.0; MOST_ROWS][..e.rows], own);
            if let Some(eps) = eps {
                let (mut d, mut force) = ([0.0; MOST_ROWS], [0.0; MOST_ROWS]);
                at.clone().for_each(|i| d[i - e.row] = eps * self.weight[i] + self.compliance[i]);
                let near = respond(e.law, &self.p[at], &d[..e.rows], &mut force[..e.rows]);
                if difference(&regime, &near) > ALIKE {
                    own.copy_from_slice(&force[..e.rows]);
                    regime = near;
                }
                // both tangents have the same compliance
                let slip = |i: usize| (d[i] * force[i] - self.p[e.row + i]).abs();
                let slips = matches!(near, Regime::Slip { .. }) && e.law.1 > 0.0;
                let yields = |i: usize| small * d[i] * force[0] * e.law.1;
                let turns = e.law.0 == Law::Disc && e.rows > 2;
                vanishes |= slips && turns && (1..e.rows).all(|i| slip(i) <= yields(i));
            }
            rotated = rotated.max(difference(&regime, last));
            *last = regime;
        }
        (rotated, vanishes)
    }

    /// Keeps the directions of friction of `forces` at elements that slip at most `small` times as far as the
    /// compliance `eps` of the last evaluation yields; their slip is none in the limit.
    pub fn keep_slips(&mut self, forces: &[f64], eps: f64, small: f64) {
        for ((e, regime), kept) in self.elements.iter().zip(&mut self.regimes).zip(&mut self.kept_slip) {
            let Regime::Slip { along, across: Some(tau) } = regime else { continue };
            let d = eps * self.weight[e.row + 1] + self.compliance[e.row + 1];
            let tangent = &forces[e.row + 1..e.row + e.rows];
            let size = square(tangent).sqrt();
            if e.law.0 == Law::Disc && e.rows > 2 && *tau <= small * d && size > 0.0 {
                (1..e.rows).for_each(|i| along[i] = tangent[i - 1] / size);
                (*regime, *kept) = (Regime::Slip { along: *along, across: None }, true);
            }
        }
    }

    /// No longer keeps directions of friction.
    pub fn release_slips(&mut self) {
        self.kept_slip.clear();
        self.kept_slip.resize(self.elements.len(), false);
    }

    /// Moves to the solution with compliance `eps` about the centre zero in the regimes of the last round;
    /// false if there is none.
    pub fn begin_at(&mut self, eps: f64) -> bool {
        for e in &self.elements {
            let (at, mut d) = (e.row..e.row + e.rows, [0.0; MOST_ROWS]);
            at.clone().for_each(|i| d[i - e.row] = eps * self.weight[i] + self.compliance[i]);
            _ = respond(e.law, &self.p[at.clone()], &d[..e.rows], &mut self.force[at]);
        }
        self.recentre_at_zero();
        self.predict(eps, eps)
    }

    /// Factors the system of the laws linearised in the current regimes, with compliance `eps`; false if it
    /// is singular.
    pub fn factor_in_regimes(&mut self, eps: f64) -> bool {
        self.linearise(eps);
        self.factor()
    }

    /// Moves the forces to the solution about the centre zero in the current regimes.
    pub fn move_in_regimes(&mut self, eps: f64) {
        self.force.copy_from_slice(&self.change);
        self.recentre();
        for i in 0..self.force.len() {
            let d = eps * self.weight[i] + self.compliance[i];
            self.q[i] = -self.base[i] - d * self.force[i];
        }
        self.respond_in_regimes();
        // p of the solution with compliance: s = d lambda - p
        for i in 0..self.force.len() {
            let d = eps * self.weight[i] + self.compliance[i];
            self.p[i] = self.q[i] + d * self.origin[i];
        }
    }

    /// Moves the forces from the solution about the centre zero to the limit of the solutions about the centre of each last
    /// one: the sum of all their changes. Returns the number of linear systems solved.
    pub fn sum_centres(&mut self, eps: f64, end: (f64, f64)) -> usize {
        let (mut krylov, mut force) = (std::mem::take(&mut self.krylov), std::mem::take(&mut self.sum));
        let weight = std::mem::take(&mut self.weight);
        force.clone_from(&self.force);
        let count = krylov.sum(&mut force, &weight, end, |change, next| {
            for (q, (w, change)) in self.q.iter_mut().zip(weight.iter().zip(change)) {
                *q = eps * w * change;
            }
            self.respond_in_regimes();
            next.copy_from_slice(&self.change);
        });
        self.force.copy_from_slice(&force);
        (self.krylov, self.sum, self.weight) = (krylov, force, weight);
        count
    }

    /// Corrects the forces by the rounding error of the laws linearised in the current regimes.
    pub fn refine(&mut self) {
        self.recentre();
        for (e, regime) in self.elements.iter().zip(&self.regimes) {
            let at = e.row..e.row + e.rows;
            at.clone().for_each(|i| self.q[i] = -self.base[i] - self.compliance[i] * self.force[i]);
            if let Regime::Slip { along, across: Some(tau) } = regime {
                let (q, force) = (&mut self.q[at.clone()], &self.force[at]);
                let size: f64 = (1..e.rows).map(|i| along[i] * along[i]).sum();
                let share = (1..e.rows).map(|i| along[i] * force[i]).sum::<f64>() / size;
                (1..e.rows).for_each(|i| q[i] -= tau * (force[i] - share * along[i]));
            }
        }
        self.respond_in_regimes();
    }

    /// Projects arbitrary forces on those that leave the velocities unchanged; returns the squares of the
    /// projection and of all of them.
    pub fn null_part(&mut self, eps: f64, probe: &mut impl FnMut() -> f64) -> (f64, f64) {
        let mut size = 0.0;
        for (e, regime) in self.elements.iter().zip(&self.regimes) {
            for i in e.row..e.row + e.rows {
                let arbitrary = if *regime == Regime::Fixed { 0.0 } else { probe() };
                size += arbitrary * arbitrary;
                self.q[i] = eps * self.weight[i] * arbitrary;
            }
        }
        self.origin.copy_from_slice(&self.force);
        self.respond_in_regimes();
        self.force.copy_from_slice(&self.origin);
        (square(&self.change), size)
    }

    /// Adds to the forces their response to the velocities `-q` in the current regimes: `D q'` with
    /// `q' = q - W (I + W' D W)^-1 W' D q`, which replaces `q`.
    fn respond_in_regimes(&mut self) {
        let mut defect = std::mem::take(&mut self.defect);
        defect.fill([0.0; D]);
        for (k, e) in self.elements.iter().enumerate() {
            let mut force = [0.0; MOST_ROWS];
            self.times_slope(e, &self.q[e.row..][..e.rows], -1.0, &mut force);
            self.push_force(k, &force, &mut defect);
        }
        self.defect = defect;
        if !self.solve_step() {
            self.force.fill(f64::NAN);
            return;
        }
        for k in 0..self.elements.len() {
            let e = self.elements[k];
            let (mut y, mut change) = ([0.0; MOST_ROWS], [0.0; MOST_ROWS]);
            self.pull(k, &self.step, &mut y);
            (0..e.rows).for_each(|i| y[i] = self.q[e.row + i] - y[i]);
            self.q[e.row..][..e.rows].copy_from_slice(&y[..e.rows]);
            self.times_slope(&e, &y[..e.rows], 1.0, &mut change);
            for i in 0..e.rows {
                self.change[e.row + i] = change[i];
                self.force[e.row + i] += change[i];
            }
        }
    }

    /// Sets `out = sign D_k q`.
    fn times_slope(&self, e: &Element, q: &[f64], sign: f64, out: &mut [f64; MOST_ROWS]) {
        let slope = &self.slope[e.slope..][..e.rows * e.rows];
        for (out, row) in out.iter_mut().zip(slope.chunks_exact(e.rows)) {
            *out = sign * row.iter().zip(q).map(|(a, q)| a * q).sum::<f64>();
        }
    }
}

/// Difference of the slip directions of two regimes; infinite if the regimes are of different kinds.
fn difference(one: &Regime<MOST_ROWS>, other: &Regime<MOST_ROWS>) -> f64 {
    match (one, other) {
        (Regime::Slip { along: a, across: x }, Regime::Slip { along: b, across: y }) => {
            let rotated = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            match (x, y) {
                (Some(x), Some(y)) => rotated.max((x - y).abs() / (x + y + 1.0)),
                (None, None) => rotated,
                _ => f64::INFINITY,
            }
        }
        _ if one == other => 0.0,
        _ => f64::INFINITY,
    }
}
