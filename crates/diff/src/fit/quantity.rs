//! Measured quantities: names of columns, and their values along a run.

use crate::boundary::components;
use crate::dynamics::{Joint, Kinematics};
use crate::model::Model;
use crate::scene::nearest;
use crate::space::Quaternion;
use crate::state::State;

/// Components of every body, as the table `bodies` of recordings has them, with their units.
const WORLD: [(&str, &str); 13] = [
    ("x", "m"),
    ("y", "m"),
    ("z", "m"),
    ("qw", ""),
    ("qx", ""),
    ("qy", ""),
    ("qz", ""),
    ("vx", "m/s"),
    ("vy", "m/s"),
    ("vz", "m/s"),
    ("wx", "rad/s"),
    ("wy", "rad/s"),
    ("wz", "rad/s"),
];

/// A quantity that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Its name, in the form `body[NAME].x` or `joint[NAME].position`.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    kind: Kind,
    /// Units of the column in one of the quantity: for degrees.
    factor: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Coordinate of a body's origin in the world.
    Position {
        body: usize,
        axis: usize,
    },
    /// Entry of a body's quaternion.
    Attitude {
        body: usize,
        entry: usize,
    },
    Velocity {
        body: usize,
        axis: usize,
    },
    AngularVelocity {
        body: usize,
        axis: usize,
    },
    /// Coordinate of a joint, and its degree of freedom.
    Coordinate {
        coordinate: usize,
        dof: usize,
    },
    Rate {
        dof: usize,
    },
}

impl Quantity {
    /// The quantity that a name stands for: `body[NAME].COMPONENT`, `NAME.COMPONENT`, `COMPONENT` alone in a scene
    /// with one body, or `joint[NAME].position` and `joint[NAME].velocity` (with `[k]` behind it for degree of freedom
    /// k of several).
    ///
    /// # Errors
    /// What is wrong with the name, with the nearest known one.
    pub fn new(model: &Model, name: &str) -> Result<Self, String> {
        let bodies = &model.scene().bodies;
        let (list, body, component) = if let Some(rest) = name.strip_prefix("joint[") {
            let (body, component) = rest.rsplit_once("].").ok_or_else(|| unknown(name))?;
            ("joint", body, component)
        } else if let Some(rest) = name.strip_prefix("body[") {
            let (body, component) = rest.rsplit_once("].").ok_or_else(|| unknown(name))?;
            ("body", body, component)
        } else if let Some((body, component)) = name.rsplit_once('.') {
            ("body", body, component)
        } else if let [only] = &bodies[..] {
            ("body", only.name.as_str(), name)
        } else {
            return Err(unknown(name));
        };
        let Some(i) = bodies.iter().position(|b| b.name == body) else {
            let known: Vec<&str> = bodies.iter().map(|b| b.name.as_str()).collect();
            let near = match nearest(body, &known) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("expected one of {}", known.join(", ")),
            };
            return Err(format!("unknown body '{body}' in '{name}', {near}"));
        };
        let found =
            if list == "joint" { joint_component(model, i, component) } else { of_body(model, i, component) };
        let (kind, unit, factor) = found.ok_or_else(|| {
            let known = known_components(model, i, list);
            let expected = match &known[..] {
                [] => format!("'{body}' has no joint coordinate"),
                list => format!("expected one of {}", list.join(", ")),
            };
            format!("unknown component '{component}' of '{body}', {expected}")
        })?;
        Ok(Self { name: format!("{list}[{body}].{component}"), unit, kind, factor })
    }

    /// Its value at a state, whose kinematics are given.
    pub(super) fn value(&self, at: &Kinematics, state: &State) -> f64 {
        self.factor
            * match self.kind {
                Kind::Position { body, axis } => at.pose(body).position[axis],
                Kind::Attitude { body, entry } => at.pose(body).attitude.0[entry],
                Kind::Velocity { body, axis } => at.velocity(body).0[axis],
                Kind::AngularVelocity { body, axis } => at.velocity(body).1[axis],
                Kind::Coordinate { coordinate, .. } => state.position[coordinate],
                Kind::Rate { dof } => state.velocity[dof],
            }
    }

    /// Its rate of change, of positions; `None` of velocities.
    pub(super) fn rate(&self, at: &Kinematics, state: &State) -> Option<f64> {
        let rate = match self.kind {
            Kind::Position { body, axis } => at.velocity(body).0[axis],
            Kind::Attitude { body, entry } => {
                // q' = (0, w) q / 2
                let [x, y, z] = at.velocity(body).1;
                0.5 * Quaternion([0.0, x, y, z]).after(at.pose(body).attitude).0[entry]
            }
            Kind::Coordinate { dof, .. } => state.velocity[dof],
            _ => return None,
        };
        Some(self.factor * rate)
    }
}

fn unknown(name: &str) -> String {
    format!("unknown column '{name}', expected time, body[NAME].x, joint[NAME].position or the like")
}

/// Components of a body: those of the world, then those of its joint.
fn of_body(model: &Model, body: usize, component: &str) -> Option<(Kind, &'static str, f64)> {
    if let Some(k) = WORLD.iter().position(|(name, _)| *name == component) {
        let kind = match k {
            0..3 => Kind::Position { body, axis: k },
            3..7 => Kind::Attitude { body, entry: k - 3 },
            7..10 => Kind::Velocity { body, axis: k - 7 },
            _ => Kind::AngularVelocity { body, axis: k - 10 },
        };
        return Some((kind, WORLD[k].1, 1.0));
    }
    let (component, factor) = match component.strip_suffix("_deg") {
        Some(angle @ "angle") => (angle, 1f64.to_degrees()),
        _ => (component, 1.0),
    };
    let (kind, unit) = coordinate(model, body, component)?;
    Some((kind, if factor == 1.0 { unit } else { "°" }, factor))
}

/// A coordinate of a joint or its rate, by the name that boundary problems use.
fn coordinate(model: &Model, body: usize, component: &str) -> Option<(Kind, &'static str)> {
    let joint = model.scene().bodies[body].link.joint;
    if joint.quaternion().is_some() {
        return None;
    }
    let (names, dofs) = (components(&joint), joint.velocity_size());
    let k = names.iter().position(|name| *name == component)?;
    let (q, v) = (model.system().coordinates(body).start, model.system().dofs(body).start);
    let length = matches!(component, "displacement" | "v" | "x" | "y" | "vx" | "vy");
    Some(match k < dofs {
        true => (Kind::Coordinate { coordinate: q + k, dof: v + k }, if length { "m" } else { "rad" }),
        false => (Kind::Rate { dof: v + k - dofs }, if length { "m/s" } else { "rad/s" }),
    })
}

/// `position` and `velocity` of a joint, with `[k]` for degree of freedom k.
fn joint_component(model: &Model, body: usize, component: &str) -> Option<(Kind, &'static str, f64)> {
    let joint = model.scene().bodies[body].link.joint;
    let (what, dof) = match component.strip_suffix(']').and_then(|c| c.split_once('[')) {
        Some((what, k)) => (what, k.parse::<usize>().ok()?),
        None => (component, 0),
    };
    let dofs = joint.velocity_size();
    if joint.quaternion().is_some() || dof >= dofs {
        return None;
    }
    let place = match what {
        "position" => dof,
        "velocity" => dofs + dof,
        _ => return None,
    };
    let (kind, unit) = coordinate(model, body, components(&joint)[place])?;
    Some((kind, unit, 1.0))
}

fn known_components(model: &Model, body: usize, list: &str) -> Vec<String> {
    let joint = model.scene().bodies[body].link.joint;
    let has_coordinates = joint.quaternion().is_none() && joint != Joint::Fixed;
    if list == "joint" {
        return if has_coordinates { vec!["position".to_owned(), "velocity".to_owned()] } else { vec![] };
    }
    let own = components(&joint).iter().filter(|c| has_coordinates && WORLD.iter().all(|(w, _)| w != *c));
    WORLD.iter().map(|(name, _)| name).chain(own).map(|name| (*name).to_owned()).collect()
}
