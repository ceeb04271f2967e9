//! Compliant standing rows of schemes that integrate: what they do at a state.

use super::{StandingReport, Status};
use crate::dynamics::Kinematics;
use crate::model::{Model, Target};
use crate::state::State;
use complementarity::problem::Element;

/// What a compliant standing row does at a state and the targets of its time. `own` is scratch.
pub(crate) fn compliant_row(
    model: &Model,
    index: usize,
    (kinematics, state, targets): (&Kinematics, &State, &[Target]),
    own: &mut Vec<f64>,
) -> StandingReport {
    let (row, scene) = (&model.standing()[index], model.scene());
    own.clear();
    own.resize(state.velocity.len(), 0.0);
    row.add_row(scene, kinematics, own);
    let velocity = own.iter().zip(&state.velocity).map(|(j, v)| j * v).sum::<f64>();
    let gap = row.gap(scene, kinematics, &state.position, targets);
    let force = row.compliant_force(gap, velocity - row.drive_velocity(scene, targets)).unwrap_or(0.0);
    let status = match row.element {
        Element::Unilateral if force <= 0.0 => Status::Open,
        Element::Bounded { limit } if force.abs() >= limit => Status::Slip,
        _ => Status::Stick,
    };
    let (effort, velocity) = (row.sign() * force, row.sign() * velocity);
    StandingReport { row: index, gap: gap.unwrap_or(0.0), effort, velocity, status }
}
