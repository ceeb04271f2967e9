//! Standing rows: rows of the contact problem that belong to the model and are not contacts: limits, friction
//! and springs of joints, drives, gears and loops.
//!
//! With `J v` the velocity of a row, positive along the axis of a joint, and `g` what a constraint at position
//! level is short of (its gap), the rows are
//!
//! ```text
//! s = J v + u + g/h                        rigid
//! s = J v + E^-1 (lambda + K g - C u)      compliant: lambda = -K (g + (1-theta) h J v) - C (J v - u), E = (1-theta) h K + C
//! ```
//!
//! `v` is `v_theta`, and the force of a compliant row that of pang2005 (15), at `q_theta` and `v_theta`. Rows that cannot pull (stops) are contacts, and their
//! spring is that of pang2005 (16), at the end of the step: `E = h K + C`.//!
//! with `s = 0` (bilateral), `0 <= lambda _|_ s >= 0` (unilateral) or `|lambda| <= limit` (bounded). A servo
//! with gains is the compliant row of its target; while its effort is bounded the row is a bounded one.

use crate::dynamics::{Kinematics, System};
use crate::scene::LoopKind;
use crate::scene::capabilities::Thing;
use crate::scene::resolved::{Compliant, Drive, Resolved};
use crate::state::RowId;
use complementarity::problem::Element;

/// Share of `h K + C` that a compliant row damps at least in a step: an explicit spring without damper has an inverse, too.
const LEAST_DAMPING: f64 = 1e-9;

/// What a standing row is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StandingKind {
    /// Lower limit: `0 <= lambda _|_ q - bound + h v >= 0`.
    LowerLimit(f64),
    /// Upper limit: `0 <= lambda _|_ bound - q - h v >= 0`.
    UpperLimit(f64),
    /// Coulomb friction in the joint with this largest effort: `|lambda| <= limit`, against the motion at the
    /// limit.
    Friction(f64),
    /// Spring and damper in the joint, without force at this coordinate.
    Spring(f64),
    /// Motor that prescribes a velocity or position or is a servo, by its index.
    Drive(usize),
    /// Gear, by its index.
    Gear(usize),
    /// One row of a loop.
    Loop {
        /// Index of the loop.
        index: usize,
        /// Number of the row within it.
        row: usize,
    },
}

/// A degree of freedom of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointDof {
    /// Body whose joint it is.
    pub body: usize,
    /// Place of its velocity in `v`.
    pub dof: usize,
    /// Place of its coordinate in `q`.
    pub coordinate: usize,
}

/// A row of the contact problem that is not a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandingRow {
    /// Identifier of the row, the same in all steps.
    pub id: RowId,
    /// The joint it acts on, of a gear the first; `None` for loops.
    pub joint: Option<JointDof>,
    /// The second joint of a gear, with the factor of its velocity in the row.
    pub other: Option<(JointDof, f64)>,
    /// What it is.
    pub kind: StandingKind,
    /// Spring and damper of the row; `None` if it is rigid.
    pub compliance: Option<Compliant>,
    /// Restitution of a rigid limit.
    pub restitution: f64,
    /// Element of the row in the contact problem.
    pub element: Element,
}

/// Target of a motor in a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Target {
    /// Value at the end of the step: position, velocity or effort.
    pub end: f64,
    /// Velocity at which the damping of a position servo has no effort.
    pub velocity: f64,
}

impl StandingRow {
    /// What is small for the row, at a configuration.
    pub fn scale(&self, model: &super::Model, position: &[f64]) -> super::Scale {
        model.scales().row(model.scene(), self, self.joint.map_or(0.0, |j| position[j.coordinate]))
    }

    /// Bodies that it acts on.
    pub fn bodies(&self, scene: &Resolved) -> impl Iterator<Item = usize> + use<> {
        let ends = match self.kind {
            StandingKind::Loop { index, .. } => scene.loops[index].ends.each_ref().map(|end| end.body),
            _ => [None; 2],
        };
        let joints = [self.joint, self.other.map(|(j, _)| j)].map(|j| j.map(|j| j.body));
        ends.into_iter().chain(joints).flatten()
    }

    /// Sign of the joint's velocity in the row.
    pub fn sign(&self) -> f64 {
        if matches!(self.kind, StandingKind::UpperLimit(_)) { -1.0 } else { 1.0 }
    }

    /// Whether the row keeps a position that no compliance yields: positions are projected on it after every step.
    /// A row that cannot pull (a rope) is one while it carries force.
    pub fn is_projected(&self, scene: &Resolved) -> bool {
        self.compliance.is_none()
            && match self.kind {
                StandingKind::Loop { .. } | StandingKind::Gear(_) => true,
                StandingKind::Drive(k) => {
                    self.element == Element::Bilateral
                        && matches!(scene.motors[k].drive, Drive::Position { .. })
                }
                _ => false,
            }
    }

    /// Whether the row is a drive that never gives way.
    pub fn is_rigid_drive(&self) -> bool {
        let drive = matches!(self.kind, StandingKind::Drive(_));
        drive && self.compliance.is_none() && self.element == Element::Bilateral
    }

    /// Its row of the table of capabilities.
    pub fn thing(&self) -> Thing {
        let rigid = self.compliance.is_none();
        match self.kind {
            StandingKind::LowerLimit(_) | StandingKind::UpperLimit(_) if self.restitution > 0.0 => {
                Thing::BouncingLimit
            }
            StandingKind::LowerLimit(_) | StandingKind::UpperLimit(_) if rigid => Thing::Limit,
            StandingKind::LowerLimit(_) | StandingKind::UpperLimit(_) => Thing::SoftLimit,
            StandingKind::Friction(_) => Thing::JointFriction,
            StandingKind::Spring(_) => Thing::JointSpring,
            StandingKind::Drive(_) if rigid => Thing::Motion,
            StandingKind::Drive(_) => Thing::Servo,
            StandingKind::Gear(_) if rigid => Thing::Gear,
            StandingKind::Gear(_) => Thing::SoftGear,
            StandingKind::Loop { .. } if rigid => Thing::Loop,
            StandingKind::Loop { .. } => Thing::SoftLoop,
        }
    }

    /// Whether the row is a limit of a joint.
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, StandingKind::LowerLimit(_) | StandingKind::UpperLimit(_))
    }

    /// Gap of the row: the distance from a limit, what a loop or gear is open by, the coordinate of a spring from
    /// its rest, of a joint from the drive's target; m or rad. `None` for rows about velocities alone.
    pub fn gap(
        &self,
        scene: &Resolved,
        kinematics: &Kinematics,
        position: &[f64],
        targets: &[Target],
    ) -> Option<f64> {
        let q = self.joint.map_or(0.0, |j| position[j.coordinate]);
        match self.kind {
            StandingKind::LowerLimit(bound) => Some(q - bound),
            StandingKind::UpperLimit(bound) => Some(bound - q),
            StandingKind::Friction(_) => None,
            StandingKind::Spring(rest) => Some(q - rest),
            StandingKind::Drive(k) => match scene.motors[k].drive {
                Drive::Position { .. } => Some(q - targets[k].end),
                _ => None,
            },
            StandingKind::Gear(k) => {
                let second = self.other.map_or(0.0, |(j, factor)| factor * position[j.coordinate]);
                Some(q + second - scene.gears[k].offset)
            }
            StandingKind::Loop { index, row } => Some(scene.loops[index].gap(kinematics, row)),
        }
    }

    /// Velocity of the drive in the row: subtracted from `J v` in rigid rows, `u` of compliant ones.
    pub fn drive_velocity(&self, scene: &Resolved, targets: &[Target]) -> f64 {
        let StandingKind::Drive(k) = self.kind else { return 0.0 };
        match scene.motors[k].drive {
            Drive::Velocity { .. } => targets[k].end,
            Drive::Position { gains: Some(_), .. } => targets[k].velocity,
            _ => 0.0,
        }
    }

    /// `E` of a compliant row in a step of length `h` with the explicit share `theta`; at least a small share of `h K + C`.
    pub fn step_damping(&self, h: f64, theta: f64) -> f64 {
        let Some(c) = self.compliance else { return 0.0 };
        let (whole, share) = (
            h * c.stiffness + c.damping,
            if self.element == Element::Unilateral { 1.0 } else { 1.0 - theta },
        );
        (share * h * c.stiffness + c.damping).max(LEAST_DAMPING * whole)
    }

    /// Force of a compliant row where it is explicit, `-K g - C (J v - u)` within the row's bounds, N or N m; `None` if the row is rigid.
    pub fn compliant_force(&self, gap: Option<f64>, slip: f64) -> Option<f64> {
        let c = self.compliance?;
        let force = -c.stiffness * gap.unwrap_or(0.0) - c.damping * slip;
        Some(match self.element {
            Element::Unilateral if gap.is_some_and(|gap| gap > 0.0) => 0.0,
            Element::Unilateral => force.max(0.0),
            Element::Bounded { limit } => force.clamp(-limit, limit),
            _ => force,
        })
    }

    /// Power that a compliant row's damper takes at such a force, W: what the force takes and the spring does not keep.
    pub fn damping_power(&self, gap: f64, velocity: f64, force: f64) -> f64 {
        let kept = match self.element {
            Element::Unilateral => gap.min(0.0),
            _ => gap,
        };
        -force * velocity - self.compliance.map_or(0.0, |c| c.stiffness) * kept * velocity
    }

    /// Adds the row of `J`, over all of `v`.
    pub fn add_row(&self, scene: &Resolved, kinematics: &Kinematics, row: &mut [f64]) {
        if let Some(j) = self.joint {
            row[j.dof] += self.sign();
        }
        if let Some((j, factor)) = self.other {
            row[j.dof] += factor;
        }
        if let StandingKind::Loop { index, row: k } = self.kind {
            scene.loops[index].each(kinematics, k, 1.0, &mut |body, point, force, torque| {
                kinematics.add_wrench(body, point, force, torque, row);
            });
        }
    }

    /// The trees that the row acts on; the second is `None` if it is the first.
    pub fn trees(&self, scene: &Resolved, system: &System) -> [Option<usize>; 2] {
        let [a, b] = match self.kind {
            StandingKind::Loop { index, .. } => {
                scene.loops[index].ends.map(|e| e.body.and_then(|b| system.tree_of(b)))
            }
            _ => [self.joint, self.other.map(|(j, _)| j)].map(|j| j.and_then(|j| system.tree_of(j.body))),
        };
        if a == b { [a, None] } else { [a, b] }
    }

    /// Name of the row in messages, with the name of its joint or loop.
    pub fn name(&self, scene: &Resolved) -> String {
        let of = match self.kind {
            StandingKind::LowerLimit(_) => "lower limit",
            StandingKind::UpperLimit(_) => "upper limit",
            StandingKind::Friction(_) => "friction",
            StandingKind::Spring(_) => "spring",
            StandingKind::Drive(_) => "motor",
            StandingKind::Gear(k) => {
                let [a, b] = scene.gears[k].bodies.map(|b| &scene.bodies[b].name);
                return format!("{a} and {b} (gear {k})");
            }
            StandingKind::Loop { index, row } => {
                return format!("{} (loop, row {row})", scene.loops[index].name);
            }
        };
        let Some(joint) = self.joint else { return of.to_owned() };
        let body = &scene.bodies[joint.body];
        match body.axes.len() {
            1 => format!("{} (joint {of})", body.name),
            _ => {
                // dofs of a joint are neighbours, and so are its rows' ids
                let number = match self.id {
                    RowId::Limit(k) => k / 2,
                    RowId::Friction(k) | RowId::Spring(k) => k,
                    _ => joint.dof as u32,
                };
                format!("{} (joint {of} of v[{number}])", body.name)
            }
        }
    }
}

/// Standing rows of a scene, in order of their ids.
pub(super) fn rows(scene: &Resolved, system: &System) -> Vec<StandingRow> {
    let mut rows = vec![];
    let at = |body: usize, k: usize| JointDof {
        body,
        dof: system.dofs(body).start + k,
        coordinate: system.coordinates(body).start + k,
    };
    let new = |id, joint, kind, element| StandingRow {
        id,
        joint,
        other: None,
        kind,
        compliance: None,
        restitution: 0.0,
        element,
    };
    for (body, given) in scene.bodies.iter().enumerate() {
        for (k, axis) in given.axes.iter().enumerate() {
            let joint = at(body, k);
            let number = joint.dof as u32;
            if let Some([lower, upper]) = axis.limits {
                let kinds = [StandingKind::LowerLimit(lower), StandingKind::UpperLimit(upper)];
                rows.extend((2 * number..).zip(kinds).map(|(id, kind)| StandingRow {
                    compliance: axis.stop,
                    restitution: axis.restitution,
                    ..new(RowId::Limit(id), Some(joint), kind, Element::Unilateral)
                }));
            }
            if axis.friction > 0.0 {
                let (kind, limit) = (StandingKind::Friction(axis.friction), axis.friction);
                rows.push(new(RowId::Friction(number), Some(joint), kind, Element::Bounded { limit }));
            }
            if axis.spring.is_some() {
                let kind = StandingKind::Spring(axis.rest);
                let row = new(RowId::Spring(number), Some(joint), kind, Element::Bilateral);
                rows.push(StandingRow { compliance: axis.spring, ..row });
            }
        }
    }
    for (k, motor) in scene.motors.iter().enumerate() {
        let compliance = match motor.drive {
            Drive::Effort(_) => continue,
            Drive::Velocity { damping, .. } => damping.map(|damping| Compliant { stiffness: 0.0, damping }),
            Drive::Position { gains, .. } => gains,
        };
        let element = match motor.max_effort {
            limit if limit.is_finite() => Element::Bounded { limit },
            _ => Element::Bilateral,
        };
        let (id, joint) = (RowId::Drive(k as u32), at(motor.body, motor.dof));
        rows.push(StandingRow { compliance, ..new(id, Some(joint), StandingKind::Drive(k), element) });
    }
    for (k, gear) in scene.gears.iter().enumerate() {
        let [a, b] = [0, 1].map(|i| at(gear.bodies[i], gear.dofs[i]));
        let row = new(RowId::Gear(k as u32), Some(a), StandingKind::Gear(k), Element::Bilateral);
        rows.push(StandingRow { other: Some((b, -gear.ratio)), compliance: gear.compliance, ..row });
    }
    for (index, given) in scene.loops.iter().enumerate() {
        let [a, b] = given.ends.map(|end| end.body.map_or(&[][..], |body| system.chain(body)));
        if a == b {
            // both ends move as one, and rows of rounding would be all that is left
            continue;
        }
        let element = match given.kind {
            LoopKind::Rope => Element::Unilateral,
            _ => Element::Bilateral,
        };
        rows.extend((0..given.rows()).map(|row| {
            let id = RowId::Loop(8 * index as u32 + row as u32);
            let kind = StandingKind::Loop { index, row };
            StandingRow { compliance: given.compliance, ..new(id, None, kind, element) }
        }));
    }
    rows.sort_unstable_by_key(|row| row.id);
    rows
}
