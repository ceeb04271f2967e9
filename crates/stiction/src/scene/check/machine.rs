//! Motors, loops, gears, motion of world parts.

use super::doubt::is_rotation;
use super::load::Names;
use super::{At, Checker};
use crate::scene::resolved::{Compliant, Drive, End, Gear, Loop, Motor, Resolved, WorldMotion as Motion};
use crate::scene::{self, Course, LoopKind, Method, Numbers, WorldMotion};
use crate::space::{Frame, Quaternion, Vector, length, sub};

/// Distance up to which the points of a loop coincide at the start, m; what is left is closed before the first
/// step.
const OPEN: f64 = 1e-5;

impl Checker<'_> {
    pub fn world_motion(&mut self, m: &WorldMotion, at: At<'_>) -> Motion {
        if m.position.is_none() && m.angle.is_none() {
            self.fault(at, "a motion without position or angle, expected one of them");
        }
        if self.planar && m.axis.is_some() {
            self.fault(at.key("axis"), "axis in a planar scene, expected none: it is z");
        }
        let axis = m.axis.as_ref().filter(|_| !self.planar);
        if let Some(angle) = &m.angle {
            self.doubt_course(angle, at.key("angle"));
        }
        Motion {
            position: m
                .position
                .as_ref()
                .map(|c| self.course(c, at.key("position"), Self::vector))
                .unwrap_or_default(),
            axis: axis.map_or([0.0, 0.0, 1.0], |a| self.axis(a, at.key("axis"))),
            angle: m.angle.as_ref().map(|c| self.number_course(c, at.key("angle"))).unwrap_or_default(),
        }
    }

    fn number_course(&mut self, course: &Course<Numbers>, at: At<'_>) -> Course<f64> {
        self.course(course, at, |checker, x, at| checker.list::<1>(x, at)[0])
    }

    pub fn motors(&mut self, resolved: &Resolved, names: &Names) -> Vec<Motor> {
        let list = At::ROOT.key("motor");
        let mut motors: Vec<Motor> = Vec::new();
        for (i, m) in self.scene.motors.iter().enumerate() {
            let at = list.index(i);
            let drive = self.drive(m, at);
            let Some(body) = self.body_named(&m.body, resolved, names, at.key("body")) else { continue };
            let dof = m.dof.unwrap_or(0);
            self.driven(&m.body, resolved.bodies[body].axes.len(), dof, at, "dof");
            if motors.iter().any(|other| (other.body, other.dof) == (body, dof)) {
                let message = format!("'{}' has two motors on one joint, expected one", m.body);
                self.fault(at.key("body"), message);
            }
            if let Some(position) =
                m.position.as_ref().filter(|_| is_rotation(&resolved.bodies[body].link.joint, dof))
            {
                self.doubt_course(position, at.key("position"));
            }
            let max_effort = m.max_effort.map_or(f64::INFINITY, |x| self.positive(x, at.key("max_effort")));
            let start = resolved.bodies[body].position.get(dof);
            if let (Drive::Position { course, gains: None, .. }, Some(q), true) =
                (&drive, start, max_effort.is_infinite())
                && (course.at(0.0) - q).abs() > OPEN
            {
                let message = format!(
                    "the motor starts at {}, but the joint at {q}: expected the same, a servo or max_effort",
                    course.at(0.0)
                );
                self.fault(at.key("position"), message);
            }
            motors.push(Motor { body, dof, drive, max_effort });
        }
        motors
    }

    /// Whether a joint has a degree of freedom that motors and gears can act on.
    fn driven(&mut self, name: &str, axes: usize, dof: usize, at: At<'_>, key: &str) {
        if axes == 0 {
            let expected = "expected one that is revolute, prismatic, screw, cylindrical or universal";
            self.fault(at.key("body"), format!("'{name}' is not on a joint with axes, {expected}"));
        } else if dof >= axes {
            self.fault(at.key(key), format!("dof is {dof}, expected a number below {axes}"));
        }
    }

    fn drive(&mut self, m: &scene::Motor, at: At<'_>) -> Drive {
        let stiffness = m.stiffness.map(|k| self.positive(k, at.key("stiffness")));
        let damping = m.damping.map(|d| self.not_negative(d, at.key("damping")));
        let velocity = m.velocity.as_ref().map(|c| self.number_course(c, at.key("velocity")));
        let alone = |checker: &mut Self, key: &str, given: bool, of: &str| {
            if given {
                checker.fault(at.key(key), format!("{key} beside {of}, expected one of them"));
            }
        };
        if let Some(effort) = &m.effort {
            let course = self.number_course(effort, at.key("effort"));
            alone(self, "velocity", velocity.is_some(), "effort");
            alone(self, "position", m.position.is_some(), "effort");
            alone(self, "stiffness", stiffness.is_some(), "effort");
            alone(self, "damping", damping.is_some(), "effort");
            alone(self, "max_effort", m.max_effort.is_some(), "effort");
            return Drive::Effort(course);
        }
        if let Some(position) = &m.position {
            let course = self.number_course(position, at.key("position"));
            if stiffness.is_none() && (damping.is_some() || velocity.is_some()) {
                let message = "a position with damping or velocity but without stiffness, expected a servo with stiffness, or position alone";
                self.fault(at.key("position"), message);
            }
            let gains = stiffness.map(|k| Compliant { stiffness: k, damping: damping.unwrap_or(0.0) });
            return Drive::Position { course, velocity, gains };
        }
        let Some(course) = velocity else {
            self.fault(at.key("body"), "a motor without a course, expected effort, velocity or position");
            return Drive::Effort(Course::default());
        };
        alone(self, "stiffness", stiffness.is_some(), "velocity without position");
        if damping == Some(0.0) {
            self.fault(at.key("damping"), "damping is 0, expected a number above 0");
        }
        Drive::Velocity { course, damping }
    }

    pub fn gears(&mut self, resolved: &Resolved, names: &Names) -> Vec<Gear> {
        let list = At::ROOT.key("gear");
        let mut gears = Vec::new();
        for (i, g) in self.scene.gears.iter().enumerate() {
            let at = list.index(i);
            let joints = at.key("joints");
            let found = [0, 1].map(|k| self.body_named(&g.joints[k], resolved, names, joints.index(k)));
            let [Some(a), Some(b)] = found else { continue };
            let (bodies, dofs) = ([a, b], g.dofs.unwrap_or([0, 0]));
            let before = self.faults.len();
            for k in 0..2 {
                self.driven(&g.joints[k], resolved.bodies[bodies[k]].axes.len(), dofs[k], at, "dofs");
            }
            if (a, dofs[0]) == (b, dofs[1]) {
                self.fault(joints, "both are the same joint, expected two");
            }
            let ratio = g.ratio.unwrap_or(1.0);
            let ratio = self.number(ratio, at.key("ratio"), |x| x != 0.0, "a number that is not 0");
            let compliance = self.compliance(g.stiffness, g.damping, at);
            if self.faults.len() > before {
                continue;
            }
            let [p, q] = [0, 1].map(|k| resolved.bodies[bodies[k]].position[dofs[k]]);
            let start = p - ratio * q;
            if let Some(offset) = g.offset.filter(|x| (x - start).abs() > OPEN && compliance.is_none()) {
                let message = format!("offset is {offset}, but the joints start with {start}, expected that");
                self.fault(at.key("offset"), message);
            }
            gears.push(Gear { bodies, dofs, ratio, offset: g.offset.unwrap_or(start), compliance });
        }
        gears
    }

    pub fn loops(&mut self, resolved: &Resolved, names: &Names) -> Vec<Loop> {
        let (given, list) = (&self.scene.loops, At::ROOT.key("loop"));
        let known = !given.is_empty() && self.faults.is_empty();
        let poses = known.then(|| resolved.initial_poses());
        let mut loops: Vec<Loop> = Vec::new();
        for (i, l) in given.iter().enumerate() {
            let at = list.index(i);
            let from = self.end(&l.from, resolved, names, at.key("from"));
            let to = self.end(&l.to, resolved, names, at.key("to"));
            let (Some(from), Some(to)) = (from, to) else { continue };
            let ends = [from, to];
            let name = l.name.clone().unwrap_or_else(|| format!("loop {i}"));
            if name.trim().is_empty() || loops.iter().any(|other| other.name == name) {
                self.fault(at.key("name"), format!("the name '{name}' is empty or taken, expected another"));
            }
            if from.body == to.body {
                self.fault(at.key("to"), "both ends are on the same body, expected two bodies");
            }
            let axis = self.loop_axis(l, at);
            let compliance = self.compliance(l.stiffness, l.damping, at);
            let (kind, long) = (l.kind, matches!(l.kind, LoopKind::Distance | LoopKind::Rope));
            if l.length.is_some() && !long {
                self.fault(at.key("length"), "length of a loop that has none, expected distance or rope");
            }
            let pose = |end: &End| match (end.body, &poses) {
                (Some(b), Some(poses)) => Some(poses[b]),
                (None, Some(_)) => Some(crate::space::Pose::IDENTITY),
                (_, None) => None,
            };
            let (Some(a), Some(b)) = (pose(&ends[0]), pose(&ends[1])) else { continue };
            let start = length(sub(b.point(to.point), a.point(from.point)));
            let size = l.length.map(|x| self.positive(x, at.key("length"))).unwrap_or(start);
            self.closed(kind, start, size, compliance.is_some(), at);
            let frame = about(axis);
            let other = b.attitude.inverse().after(a.attitude.after(frame)).unit();
            let (frames, planar) = ([frame, other], self.planar);
            loops.push(Loop { name, kind, ends, frames, planar, length: size, compliance });
        }
        loops
    }

    fn loop_axis(&mut self, l: &scene::Loop, at: At<'_>) -> Vector {
        let at = at.key("axis");
        match &l.axis {
            Some(_) if l.kind != LoopKind::Hinge => {
                self.fault(at, "axis of a loop that is no hinge, expected none");
                [0.0, 0.0, 1.0]
            }
            Some(_) if self.planar => {
                self.fault(at, "axis in a planar scene, expected none: it is z");
                [0.0, 0.0, 1.0]
            }
            Some(axis) => self.axis(axis, at),
            None => [0.0, 0.0, 1.0],
        }
    }

    /// Whether a loop is closed at the start.
    fn closed(&mut self, kind: LoopKind, start: f64, size: f64, compliant: bool, at: At<'_>) {
        let (open, words) = match kind {
            LoopKind::Point | LoopKind::Hinge | LoopKind::Weld => {
                (start, "its points are that far apart; expected points that coincide")
            }
            LoopKind::Distance => {
                ((start - size).abs(), "its length differs from the distance of its points")
            }
            LoopKind::Rope => ((start - size).max(0.0), "its points are farther apart than its length"),
        };
        if open > OPEN && !compliant {
            self.fault(at.key("to"), format!("the loop is open by {open:.3e} m at the start: {words}"));
        }
        if matches!(kind, LoopKind::Distance | LoopKind::Rope) && size < OPEN {
            self.fault(at.key("length"), format!("length is {size:.3e} m, expected a point in its place"));
        }
    }

    /// What rows of loops, gears and drives need of the step.
    pub fn rows_of_machines(&mut self, resolved: &Resolved) {
        let step = &self.scene.step;
        let rows = resolved.motors.iter().any(|m| !matches!(m.drive, Drive::Effort(_)));
        if !(rows || !resolved.loops.is_empty() || !resolved.gears.is_empty()) {
            return;
        }
        if step.solver == Method::Lemke {
            let message =
                "lemke is for contacts alone, expected \"auto\" where there are drives, loops or gears";
            self.fault(At::ROOT.key("step").key("solver"), message);
        }
        if step.explicit_share > 0.0 {
            let share = step.explicit_share;
            let message = format!(
                "explicit_share is {share}, expected 0 where there are drives, loops or gears: above, their forces would oscillate"
            );
            self.fault(At::ROOT.key("step").key("explicit_share"), message);
        }
    }
}

/// A rotation that takes z to a unit axis.
fn about(axis: Vector) -> Quaternion {
    let Frame { n: z, t: x, o: y } = Frame::new(axis, [1.0, 0.0, 0.0]);
    // the quaternion of the matrix with columns x, y, z (the largest component first)
    let (xx, yy, zz) = (x[0], y[1], z[2]);
    let q = [
        [1.0 + xx + yy + zz, y[2] - z[1], z[0] - x[2], x[1] - y[0]],
        [y[2] - z[1], 1.0 + xx - yy - zz, x[1] + y[0], z[0] + x[2]],
        [z[0] - x[2], x[1] + y[0], 1.0 - xx + yy - zz, y[2] + z[1]],
        [x[1] - y[0], z[0] + x[2], y[2] + z[1], 1.0 - xx - yy + zz],
    ];
    let largest = (0..4).max_by(|&a, &b| q[a][a].total_cmp(&q[b][b])).unwrap_or(0);
    Quaternion(q[largest]).unit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_turn_z_to_their_axis() {
        for axis in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -0.6, 0.8], [-0.6, 0.8, 0.0]] {
            assert!(length(sub(about(axis).apply([0.0, 0.0, 1.0]), axis)) < 1e-14, "{axis:?}");
        }
    }
}
