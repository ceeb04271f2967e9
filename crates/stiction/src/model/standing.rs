//! Standing rows: rows of the contact problem that are no contacts and that a model has from the start.

use super::resolved::Resolved;
use crate::dynamics::System;
use crate::state::RowId;
use complementarity::problem::Element;

/// What a standing row demands of the velocity `v` of a joint with one degree of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StandingKind {
    /// The joint does not go below a bound: `0 <= lambda _|_ q - bound + h v >= 0`.
    LowerLimit(f64),
    /// The joint does not go above a bound.
    UpperLimit(f64),
    /// Coulomb friction in the joint with this largest effort: `|lambda| <= limit`, against the motion at the limit.
    Friction(f64),
}

/// A row of the contact problem that is no contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandingRow {
    /// Its name from step to step.
    pub id: RowId,
    /// Body whose joint it constrains.
    pub body: usize,
    /// Degree of freedom of the joint in `v`, and its coordinate in `q`.
    pub dof: usize,
    /// Coordinate of the joint in `q`.
    pub coordinate: usize,
    /// What it demands.
    pub kind: StandingKind,
}

impl StandingRow {
    /// Its law.
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

    /// Its name in words, given the name of its body.
    pub fn name(&self, scene: &Resolved) -> String {
        let of = match self.kind {
            StandingKind::LowerLimit(_) => "lower limit",
            StandingKind::UpperLimit(_) => "upper limit",
            StandingKind::Friction(_) => "friction",
        };
        format!("{} (joint {of})", scene.bodies[self.body].name)
    }
}

/// The standing rows of a scene in order of their ids.
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
