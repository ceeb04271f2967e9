//! Standing rows: rows of the contact problem that belong to the model and are not contacts: joint limits
//! and joint friction.

use super::resolved::Resolved;
use crate::dynamics::System;
use crate::state::RowId;
use complementarity::problem::Element;

/// Constraint of a standing row on the velocity `v` of a joint with one degree of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StandingKind {
    /// Lower limit: `0 <= lambda _|_ q - bound + h v >= 0`.
    LowerLimit(f64),
    /// Upper limit: `0 <= lambda _|_ bound - q - h v >= 0`.
    UpperLimit(f64),
    /// Coulomb friction in the joint with this largest effort: `|lambda| <= limit`, against the motion at the
    /// limit.
    Friction(f64),
}

/// A row of the contact problem that is not a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandingRow {
    /// Identifier of the row, the same in all steps.
    pub id: RowId,
    /// Body whose joint it constrains.
    pub body: usize,
    /// Degree of freedom of the joint in `v`.
    pub dof: usize,
    /// Coordinate of the joint in `q`.
    pub coordinate: usize,
    /// Constraint of the row.
    pub kind: StandingKind,
}

impl StandingRow {
    /// Element of the row in the contact problem.
    pub fn element(&self) -> Element {
        match self.kind {
            StandingKind::LowerLimit(_) | StandingKind::UpperLimit(_) => Element::Unilateral,
            StandingKind::Friction(limit) => Element::Bounded { limit },
        }
    }

    /// Sign of the joint's velocity in the row.
    pub fn sign(&self) -> f64 {
        if matches!(self.kind, StandingKind::UpperLimit(_)) { -1.0 } else { 1.0 }
    }

    /// Distance of a configuration from the limit, m or rad; `None` if the row has no limit.
    pub fn gap(&self, position: &[f64]) -> Option<f64> {
        let q = position[self.coordinate];
        match self.kind {
            StandingKind::LowerLimit(bound) => Some(q - bound),
            StandingKind::UpperLimit(bound) => Some(bound - q),
            StandingKind::Friction(_) => None,
        }
    }

    /// Name of the row in messages, with the name of its body.
    pub fn name(&self, scene: &Resolved) -> String {
        let of = match self.kind {
            StandingKind::LowerLimit(_) => "lower limit",
            StandingKind::UpperLimit(_) => "upper limit",
            StandingKind::Friction(_) => "friction",
        };
        format!("{} (joint {of})", scene.bodies[self.body].name)
    }
}

/// Standing rows of a scene, in order of their ids.
pub(super) fn rows(scene: &Resolved, system: &System) -> Vec<StandingRow> {
    let mut rows = vec![];
    for (body, given) in scene.bodies.iter().enumerate() {
        let (dof, coordinate) = (system.dofs(body).start, system.coordinates(body).start);
        let number = dof as u32;
        let mut add = |id, kind| rows.push(StandingRow { id, body, dof, coordinate, kind });
        if let Some([lower, upper]) = given.limits {
            add(RowId::Limit(2 * number), StandingKind::LowerLimit(lower));
            add(RowId::Limit(2 * number + 1), StandingKind::UpperLimit(upper));
        }
        if given.friction > 0.0 {
            add(RowId::Friction(number), StandingKind::Friction(given.friction));
        }
    }
    rows.sort_unstable_by_key(|row| row.id);
    rows
}
