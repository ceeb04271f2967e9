//! Impacts that follow each other ever faster.
//!
//! Where a body comes to rest on several points, each plastic impact of one of them may lift another one: a block that rocks, a capsule that lies down, a polygon that settles like a coin. Speeds fall by a
//! factor from impact to impact, and infinitely many of them end in a finite time. Where such a body slides or rolls on, impacts would even go on after that, at rounding's distance from
//! each other. Contacts that take part in an impact and would leave it slower than [`LEAVES`] therefore stay: what they lose is the velocity of a flight of microseconds and of less than
//! [`CLOSED`](super::CLOSED). Whether they carry force is for the instant to say.

use super::field::{Closed, Mode};
use super::islands::scale_of;
use super::{Path, REST, near_velocity};
use crate::contact::set::Contact;
use crate::state::{ContactId, State};
use crate::step::Workspace;

/// Least velocity with which a contact leaves an impact, as a share of its scale of speed.
pub(super) const LEAVES: f64 = 1e-5;

impl Path<'_> {
    /// Contacts found near that do not leave each other.
    pub(super) fn touching(&mut self, state: &State) -> Vec<ContactId> {
        let Workspace { motion, .. } = &mut *self.work;
        motion.kinematics.go_to(&state.position, &state.velocity);
        let near = &self.s.near;
        let model = self.model;
        let rest = |c: &Contact| REST * scale_of(model, near, c).speed;
        let stays = |c: &&Contact| near_velocity(&motion.kinematics, near, c)[0] <= rest(c);
        near.contacts.iter().filter(stays).map(|c| c.id).collect()
    }

    /// Takes the velocities of contacts that slowly leave an impact out of a state; `touching` are those that took part.
    pub(super) fn keep(&mut self, state: &mut State, touching: &[ContactId]) {
        let Workspace { motion, .. } = &mut *self.work;
        motion.kinematics.go_to(&state.position, &state.velocity);
        let near = &self.s.near;
        let mut stay: Vec<Closed> = vec![];
        let mut any = false;
        for c in near.contacts.iter().filter(|c| touching.contains(&c.id)) {
            let velocity = near_velocity(&motion.kinematics, near, c);
            let scale = scale_of(self.model, near, c).speed;
            if velocity[0] <= LEAVES * scale {
                any |= velocity[0] > REST * scale;
                let slip = velocity[1].hypot(velocity[2]);
                let mode = if slip > REST * scale {
                    Mode::Slip([velocity[1] / slip, velocity[2] / slip])
                } else {
                    Mode::Stick
                };
                stay.push(Closed::new(c.id, mode));
            }
        }
        if any {
            self.project_on(state, stay);
        }
    }
}
