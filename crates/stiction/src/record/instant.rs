//! The state of a recorded run at a time, from its tables.

use super::{RecordError, Recording, Rows};
use crate::dynamics::Joint;
use crate::model::Model;
use crate::scene::Table;
use crate::space::{Quaternion, Vector};
use crate::state::State;

impl Recording {
    /// The recorded state nearest to a time, without the forces of its step. Bodies on joints need the table of joints.
    pub fn state_near(&self, model: &Model, time: f64) -> Result<State, RecordError> {
        let (bodies, joints) = (self.read(Table::Bodies)?, self.joints()?);
        self.state_among(&bodies, joints.as_ref(), model, time)
    }

    /// Recorded states at about even distances, the first and the last among them; all if there are no more than `most`.
    pub fn states(&self, model: &Model, most: usize) -> Result<Vec<State>, RecordError> {
        let (bodies, joints) = (self.read(Table::Bodies)?, self.joints()?);
        let mut times = bodies.numbers("time").to_vec();
        times.dedup();
        let last = times.len().saturating_sub(1);
        let count = most.max(2).min(times.len());
        let pick = |k: usize| times[if count > 1 { (k * last + (count - 1) / 2) / (count - 1) } else { 0 }];
        (0..count).map(|k| self.state_among(&bodies, joints.as_ref(), model, pick(k))).collect()
    }

    fn joints(&self) -> Result<Option<Rows>, RecordError> {
        self.tables().contains(&Table::Joints).then(|| self.read(Table::Joints)).transpose()
    }

    fn state_among(
        &self,
        bodies: &Rows,
        joints: Option<&Rows>,
        model: &Model,
        time: f64,
    ) -> Result<State, RecordError> {
        let fault = |message: String| RecordError::malformed(self.folder(), message);
        let times = bodies.numbers("time");
        let away = |t: &f64| (t - time).abs();
        let nearest = times.iter().copied().min_by(|a, b| away(a).total_cmp(&away(b)));
        let nearest = nearest.ok_or_else(|| fault("no record of bodies".to_owned()))?;
        let (first, last) = (times[0], times[times.len() - 1]);
        if !(first..=last).contains(&time) {
            return Err(fault(format!(
                "no record at t = {time} s: it has records from {first} s to {last} s"
            )));
        }
        let names: Vec<&str> = bodies.words("body").collect();
        let system = model.system();
        let mut state = State {
            time: nearest,
            position: system.neutral_configuration(),
            velocity: vec![0.0; system.velocity_size()],
            ..State::default()
        };
        for (i, body) in model.scene().bodies.iter().enumerate() {
            let (q, v) = (system.coordinates(i), system.dofs(i));
            let at_root = body.link.parent.is_none();
            match body.link.joint {
                Joint::Fixed => {}
                Joint::Free | Joint::Planar if at_root => {
                    let row = (0..names.len()).find(|k| times[*k] == nearest && names[*k] == body.name);
                    let row = row.ok_or_else(|| fault(format!("no record of body '{}'", body.name)))?;
                    let three = |columns: [&str; 3]| -> Vector { columns.map(|c| bodies.numbers(c)[row]) };
                    let attitude = Quaternion(["qw", "qx", "qy", "qz"].map(|c| bodies.numbers(c)[row]));
                    let (mount, back) = (&body.link.mount, body.link.mount.attitude.inverse());
                    let position = mount.local(three(["x", "y", "z"]));
                    let turned = back.after(attitude).unit();
                    let (linear, angular) = (three(["vx", "vy", "vz"]), three(["wx", "wy", "wz"]));
                    if body.link.joint == Joint::Free {
                        state.position[q.clone()][..3].copy_from_slice(&position);
                        state.position[q][3..].copy_from_slice(&turned.0);
                        state.velocity[v.clone()][..3].copy_from_slice(&linear);
                        state.velocity[v][3..].copy_from_slice(&angular);
                    } else {
                        let angle = 2.0 * turned.0[3].atan2(turned.0[0]);
                        state.position[q].copy_from_slice(&[position[0], position[1], angle]);
                        let (linear, angular) = (back.apply(linear), back.apply(angular));
                        state.velocity[v].copy_from_slice(&[linear[0], linear[1], angular[2]]);
                    }
                }
                joint => {
                    let none = || fault(format!("no record of the joint of '{}' (record.tables)", body.name));
                    let rows = joints.ok_or_else(none)?;
                    let (when, who) = (rows.numbers("time"), rows.words("joint").collect::<Vec<_>>());
                    let own: Vec<usize> =
                        (0..who.len()).filter(|k| when[*k] == nearest && who[*k] == body.name).collect();
                    // joints have no record before the first step
                    if own.len() != v.len() {
                        if nearest == 0.0 {
                            state.position[q].copy_from_slice(&body.position);
                            state.velocity[v].copy_from_slice(&body.velocity);
                            continue;
                        }
                        return Err(none());
                    }
                    let column = |name: &str| own.iter().map(|k| rows.numbers(name)[*k]).collect::<Vec<_>>();
                    let position = column("position");
                    state.velocity[v].copy_from_slice(&column("velocity"));
                    match joint {
                        Joint::Spherical => {
                            let turn = Quaternion::turn([position[0], position[1], position[2]]);
                            state.position[q].copy_from_slice(&turn.0);
                        }
                        _ => state.position[q].copy_from_slice(&position),
                    }
                }
            }
        }
        Ok(state)
    }
}
