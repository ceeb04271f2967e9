//! Round faces that come to lie flat.
//!
//! A tilted cylinder rolls on the lowest point of its rim, one that lies flat rests on the points of its face. As the tilt falls the lowest point travels round the rim ever faster, and
//! there is no rigid motion through tilt 0. Up to the tilt [`FLAT`] a face is therefore flat: as it comes to touch, it is turned onto the other part (by at most
//! `FLAT`), and all its points strike at once. If none of them leaves faster than impacts bounce, the face stays: plastic impacts from point to point would follow
//! each other without end in a finite time.

use super::field::{Closed, Mode};
use super::islands::scale_of;
use super::{CLOSED, Path, REST, near_velocity};
use crate::contact::set::Contact;
use crate::model::Model;
use crate::state::{ContactId, State};
use crate::step::detect::FLAT;
use crate::step::{Failed, Workspace};

/// Least velocity with which a point of a flat face leaves after it struck, as a share of its contact's scale of speed.
const LEAVES: f64 = 1e-3;

impl Path<'_> {
    /// Turns round faces that touch and approach onto what they touch. Returns their contacts.
    pub(super) fn lay_flat(&mut self, state: &mut State) -> Result<Vec<ContactId>, Failed> {
        let has_faces = self.model.parts().iter().any(|part| part.solid.face_radius().is_some());
        if !has_faces {
            return Ok(vec![]);
        }
        // lengths are four radii
        self.find_near(state, CLOSED + FLAT)?;
        let Workspace { motion, .. } = &mut *self.work;
        let near = &self.s.near;
        let mut flat: Vec<ContactId> = vec![];
        for own in near.contacts.chunk_by(|a, b| a.id.part_a == b.id.part_a && a.id.part_b == b.id.part_b) {
            let on_face = own.iter().filter(|c| is_on_face(self.model, c.id)).count();
            let nearest = own.iter().map(|c| near.elements[c.first].gap).fold(f64::INFINITY, f64::min);
            let scale = scale_of(self.model, near, &own[0]);
            let radii = [own[0].id.part_a, own[0].id.part_b]
                .map(|k| self.model.parts()[k as usize].solid.face_radius());
            let radius = radii.into_iter().flatten().fold(0.0, f64::max);
            let touches = CLOSED * scale.length + 0.5 * radius * FLAT;
            let rest = REST * scale.speed;
            let approaches = own.iter().any(|c| near_velocity(&motion.kinematics, near, c)[0] < -rest);
            if on_face > 2 && nearest <= touches && approaches {
                flat.extend(own.iter().map(|c| c.id));
            }
        }
        if flat.is_empty() {
            return Ok(flat);
        }
        let velocity = state.velocity.clone();
        self.project_flat(state, &flat);
        state.velocity.copy_from_slice(&velocity);
        Ok(flat)
    }

    /// Leaves round faces at rest on what they struck if no point of them leaves it faster than impacts bounce.
    pub(super) fn rest_flat(&mut self, state: &mut State, flat: &[ContactId]) {
        if flat.is_empty() || self.find_near(state, CLOSED).is_err() {
            return;
        }
        let threshold = self.model.scene().step.bounce_threshold;
        let Workspace { motion, .. } = &mut *self.work;
        let (model, near) = (self.model, &self.s.near);
        let most = |c: &Contact| threshold.max(LEAVES * scale_of(model, near, c).speed);
        let mut own = near.contacts.iter().filter(|c| flat.contains(&c.id));
        if !own.any(|c| near_velocity(&motion.kinematics, near, c)[0] > most(c)) {
            self.project_flat(state, flat);
        }
    }

    /// Moves a state to where these contacts, and those that are closed already, touch and do not separate.
    fn project_flat(&mut self, state: &mut State, flat: &[ContactId]) {
        let found = |id: &ContactId| self.s.near.contacts.binary_search_by_key(id, |n| n.id).is_ok();
        let mut ids: Vec<ContactId> = self.s.closed.iter().map(|c| c.id).filter(found).collect();
        ids.extend(flat.iter().filter(|id| found(id)));
        ids.sort_unstable();
        ids.dedup();
        let all = ids.into_iter().map(|id| Closed::new(id, Mode::Slip([1.0, 0.0]))).collect();
        self.project_on(state, all);
    }
}

/// Whether a contact is at one of the points that a round face has while it lies flat: see `geometry/outline.rs`.
fn is_on_face(model: &Model, id: ContactId) -> bool {
    let parts = [id.part_a, id.part_b].map(|k| model.parts()[k as usize].solid.face_radius().is_some());
    let (kind, number) = (id.feature >> 30, (id.feature & 0x3fff_ffff) >> 1);
    let own = match kind {
        0 => parts[0] || parts[1],
        1 => parts[1],
        _ => false,
    };
    own && number >= 4
}
