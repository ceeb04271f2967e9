//! What the search for rest asks of an island.

use super::super::law::{Act, is_rigid_friction};
use super::Island;
use crate::operator::MOST_ROWS;

/// Bounds of friction over those of the law: equal compliance is one of many ways in which loads may share their forces.
const SLACK: f64 = 1.5;

impl<const D: usize, const P: usize> Island<D, P> {
    /// Sets the law of rigid contacts with friction.
    pub fn set_act(&mut self, act: Act) {
        self.act = act;
    }

    /// Velocities `s` of the forces whose residual was evaluated last.
    pub fn speeds(&self) -> &[f64] {
        &self.s
    }

    /// Like [`Self::residual`]; of rigid contacts with friction by both laws, Coulomb's and the associated one: it vanishes where they carry force and rest.
    pub fn residual_at_rest(&mut self) -> f64 {
        let mut total = self.residual();
        for e in &self.elements {
            let at = e.row..e.row + e.rows;
            if !is_rigid_friction(e.law, &self.compliance[at.clone()]) {
                continue;
            }
            let mut image = [0.0; MOST_ROWS];
            let own = self.force[at.clone()].iter().zip(&self.s[at.clone()]);
            image.iter_mut().zip(own).for_each(|(x, (f, s))| *x = f - s);
            let (law, mu) = e.law;
            law.project(mu, &mut image[..e.rows]);
            total += image.iter().zip(&self.force[at]).map(|(x, f)| (x - f) * (x - f)).sum::<f64>();
        }
        total
    }

    /// Slope `G . step` along the Newton step, at the last evaluation.
    pub fn slope_along(&self) -> f64 {
        self.defect.as_flattened().iter().zip(self.step.as_flattened()).map(|(g, d)| g * d).sum()
    }

    /// Takes the friction forces of rigid contacts as the most that they may be, and what they are over the normal forces if that is above `mu` (sets with corners).
    pub fn begin_bounds(&mut self) {
        self.most.clear();
        for e in &self.elements {
            let own = &self.force[e.row..][..e.rows];
            let size = own[1..].iter().map(|f| f * f).sum::<f64>().sqrt();
            let share = if own[0] > 0.0 { e.law.1.max(size / own[0]) } else { e.law.1 };
            let share = SLACK * share;
            self.most.push((share * own[0].max(0.0), share));
        }
    }

    /// Takes the most friction from the normal forces; returns by how much that changes, over the sum.
    pub fn bound_friction(&mut self) -> f64 {
        let (mut change, mut sum) = (0.0, 0.0);
        for (e, (most, share)) in self.elements.iter().zip(&mut self.most) {
            let next = *share * self.force[e.row].max(0.0);
            change += (next - *most).abs();
            sum += next.max(*most);
            *most = next;
        }
        if sum > 0.0 { change / sum } else { 0.0 }
    }

    /// Square of the velocities of the contacts that carry force in the centre, at the last evaluation about zero.
    pub fn moved(&self) -> f64 {
        let loaded = self.elements.iter().filter(|e| {
            self.origin[e.row] > 0.0 && is_rigid_friction(e.law, &self.compliance[e.row..][..e.rows])
        });
        loaded.flat_map(|e| &self.p[e.row..e.row + e.rows]).map(|p| p * p).sum()
    }
}
