//! Forces, springs, motors.

use super::{At, Checker};
use crate::dynamics::Joint;
use crate::model::resolved::{End, Load, Motor, Resolved, Spring};
use crate::scene::{self, Course, Numbers, Point};
use crate::space::{length, sub};
use std::collections::HashMap;

type Names = HashMap<String, usize>;

impl Checker<'_> {
    pub fn loads(&mut self, resolved: &Resolved, names: &Names) -> Vec<Load> {
        let list = At::ROOT.key("load");
        let mut loads = Vec::new();
        for (i, l) in self.scene.loads.iter().enumerate() {
            let at = list.index(i);
            let Some(body) = self.body_named(&l.body, resolved, names, at.key("body")) else { continue };
            if l.force.is_none() && l.torque.is_none() {
                self.fault(at.key("body"), "a load without force or torque, expected one of them");
            }
            let point = l.point.as_ref().map(|p| self.vector(p, at.key("point")));
            let (force, torque) = (at.key("force"), at.key("torque"));
            let force = l.force.as_ref().map(|c| self.course(c, force, Self::vector));
            let torque = l.torque.as_ref().map(|c| self.course(c, torque, Self::spin));
            loads.push(Load {
                body,
                point: point.unwrap_or(resolved.bodies[body].link.inertia.center),
                axes: l.axes,
                force: force.unwrap_or_default(),
                torque: torque.unwrap_or_default(),
            });
        }
        loads
    }

    pub fn springs(&mut self, resolved: &Resolved, names: &Names) -> Vec<Spring> {
        let (given, list) = (&self.scene.springs, At::ROOT.key("spring"));
        // poses only of bodies that are in order
        let known = !given.is_empty() && self.faults.is_empty();
        let poses = known.then(|| resolved.initial_poses());
        let mut springs = Vec::new();
        for (i, s) in given.iter().enumerate() {
            let at = list.index(i);
            let from = self.end(&s.from, resolved, names, at.key("from"));
            let to = self.end(&s.to, resolved, names, at.key("to"));
            let (Some(from), Some(to)) = (from, to) else { continue };
            if s.stiffness.is_none() && s.damping.is_none() {
                self.fault(at.key("from"), "a spring without stiffness or damping, expected one of them");
            }
            if from == to {
                self.fault(at.key("to"), "both ends are the same point, expected two");
            }
            let place = |end: &End| match (end.body, &poses) {
                (Some(i), Some(poses)) => poses[i].point(end.point),
                _ => end.point,
            };
            let start = length(sub(place(&from), place(&to)));
            if s.rest_length.is_none() && !start.is_finite() {
                self.fault(at.key("from"), "the ends are too far apart, expected a finite length");
            }
            let mut size = |x: Option<f64>, key| x.map(|x| self.not_negative(x, at.key(key)));
            springs.push(Spring {
                stiffness: size(s.stiffness, "stiffness").unwrap_or(0.0),
                damping: size(s.damping, "damping").unwrap_or(0.0),
                rest_length: size(s.rest_length, "rest_length").unwrap_or(start),
                ends: [from, to],
            });
        }
        springs
    }

    pub fn motors(&mut self, resolved: &Resolved, names: &Names) -> Vec<Motor> {
        let list = At::ROOT.key("motor");
        let mut motors = Vec::new();
        for (i, m) in self.scene.motors.iter().enumerate() {
            let at = list.index(i);
            let effort =
                self.course(&m.effort, at.key("effort"), |checker, x, at| checker.list::<1>(x, at)[0]);
            let Some(body) = self.body_named(&m.body, resolved, names, at.key("body")) else { continue };
            let joint = &resolved.bodies[body].link.joint;
            if !matches!(joint, Joint::Revolute { .. } | Joint::Prismatic { .. }) {
                let message = format!("'{}' is not on a revolute or prismatic joint, expected one", m.body);
                self.fault(at.key("body"), message);
            }
            motors.push(Motor { body, effort });
        }
        motors
    }

    fn end(&mut self, end: &scene::End, resolved: &Resolved, names: &Names, at: At<'_>) -> Option<End> {
        let point = end.point.as_ref().map_or([0.0; 3], |p| self.vector(p, at.key("point")));
        let body = match end.body.as_ref().filter(|b| *b != "world") {
            Some(name) => Some(self.body_named(name, resolved, names, at.key("body"))?),
            None => None,
        };
        Some(End { body, point })
    }

    fn body_named(&mut self, name: &str, resolved: &Resolved, names: &Names, at: At<'_>) -> Option<usize> {
        let found = names.get(name).copied();
        if found.is_none() {
            let known: Vec<&str> = resolved.bodies.iter().map(|b| b.name.as_str()).collect();
            self.unknown(at, "body", name, &known);
        }
        found
    }

    fn course<T>(
        &mut self,
        course: &Course<Numbers>,
        at: At<'_>,
        value: impl Fn(&mut Self, &Numbers, At<'_>) -> T,
    ) -> Course<T> {
        let list = match course {
            Course::Constant(x) => return Course::Constant(value(self, x, at.key("constant"))),
            Course::Points(list) => list,
        };
        let at = at.key("points");
        if list.is_empty() {
            self.fault(at, "no points, expected at least one");
        }
        let mut points: Vec<Point<T>> = Vec::new();
        for (i, point) in list.iter().enumerate() {
            let (here, time) = (at.index(i), point.time);
            if points.last().is_some_and(|before| before.time >= time) {
                let message = format!("time is {time}, expected more than at the point before");
                self.fault(here.key("time"), message);
            }
            points.push(Point { time, value: value(self, &point.value, here.key("value")) });
        }
        Course::Points(points)
    }
}
