//! Forces, springs, motors.

use super::Reader;
use crate::dynamics::Joint;
use crate::scene::raw::{self, At, Numbers};
use crate::scene::{Axes, Course, End, Load, Motor, Scene, Spring};
use crate::space::{length, sub};
use std::collections::HashMap;

type Names = HashMap<String, usize>;

impl Reader<'_> {
    pub fn loads(&mut self, raw: &[raw::Load], scene: &Scene, names: &Names) -> Vec<Load> {
        let mut loads = Vec::new();
        for l in raw {
            let Some(body) = self.body_named(&l.body, scene, names) else { continue };
            if l.force.is_none() && l.torque.is_none() {
                self.fault(&l.body.span(), "a load without force or torque, expected one of them");
            }
            let point = l.point.as_ref().map(|p| self.vector(p, "point"));
            let none = || Course::Constant([0.0; 3]);
            loads.push(Load {
                body,
                point: point.unwrap_or(scene.bodies[body].link.inertia.center),
                axes: match l.axes {
                    Some(raw::Axes::Body) => Axes::Body,
                    Some(raw::Axes::World) | None => Axes::World,
                },
                force: l
                    .force
                    .as_ref()
                    .map_or_else(none, |c| self.course(c, |reader, x| reader.vector(x, "force"))),
                torque: l
                    .torque
                    .as_ref()
                    .map_or_else(none, |c| self.course(c, |reader, x| reader.spin(x, "torque"))),
            });
        }
        loads
    }

    pub fn springs(&mut self, raw: &[raw::Spring], scene: &Scene, names: &Names) -> Vec<Spring> {
        // poses only of bodies that are in order
        let poses =
            if raw.is_empty() || !self.faults.is_empty() { None } else { Some(scene.initial_poses()) };
        let mut springs = Vec::new();
        for s in raw {
            let (Some(from), Some(to)) =
                (self.end(s.from.get(), scene, names), self.end(s.to.get(), scene, names))
            else {
                continue;
            };
            if s.stiffness.is_none() && s.damping.is_none() {
                self.fault(&s.from.span(), "a spring without stiffness or damping, expected one of them");
            }
            if from == to {
                self.fault(&s.to.span(), "both ends are the same point, expected two");
            }
            let at = |end: &End| match (end.body, &poses) {
                (Some(i), Some(poses)) => poses[i].point(end.point),
                _ => end.point,
            };
            springs.push(Spring {
                stiffness: s.stiffness.as_ref().map_or(0.0, |x| self.not_negative(x, "stiffness")),
                damping: s.damping.as_ref().map_or(0.0, |x| self.not_negative(x, "damping")),
                rest_length: match &s.rest_length {
                    Some(x) => self.not_negative(x, "rest_length"),
                    None => {
                        let start = length(sub(at(&from), at(&to)));
                        if !start.is_finite() {
                            self.fault(
                                &s.from.span(),
                                "the ends are too far apart, expected a finite length",
                            );
                        }
                        start
                    }
                },
                ends: [from, to],
            });
        }
        springs
    }

    pub fn motors(&mut self, raw: &[raw::Motor], scene: &Scene, names: &Names) -> Vec<Motor> {
        let mut motors = Vec::new();
        for m in raw {
            let effort = self.course(&m.effort, |reader, x| reader.list::<1>(x, "effort")[0]);
            let Some(body) = self.body_named(&m.body, scene, names) else { continue };
            let joint = &scene.bodies[body].link.joint;
            if !matches!(joint, Joint::Revolute { .. } | Joint::Prismatic { .. }) {
                let message =
                    format!("'{}' is not on a revolute or prismatic joint, expected one", m.body.get());
                self.fault(&m.body.span(), message);
            }
            motors.push(Motor { body, effort });
        }
        motors
    }

    fn end(&mut self, raw: &raw::End, scene: &Scene, names: &Names) -> Option<End> {
        let point = raw.point.as_ref().map_or([0.0; 3], |p| self.vector(p, "point"));
        let body = match raw.body.as_ref().filter(|b| b.get() != "world") {
            Some(name) => Some(self.body_named(name, scene, names)?),
            None => None,
        };
        Some(End { body, point })
    }

    fn body_named(&mut self, name: &At<String>, scene: &Scene, names: &Names) -> Option<usize> {
        let found = names.get(name.get()).copied();
        if found.is_none() {
            let known: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
            self.unknown(&name.span(), "body", name.get(), &known);
        }
        found
    }

    fn course<T>(&mut self, raw: &raw::Course, value: impl Fn(&mut Self, &Numbers) -> T) -> Course<T> {
        match raw {
            raw::Course::Constant(x) => Course::Constant(value(self, x)),
            raw::Course::Points(list) => {
                if list.get().is_empty() {
                    self.fault(&list.span(), "no points, expected at least one");
                }
                let mut points: Vec<(f64, T)> = Vec::new();
                for point in list.get() {
                    let time = *point.time.get();
                    if points.last().is_some_and(|&(before, _)| before >= time) {
                        let message = format!("time is {time}, expected more than at the point before");
                        self.fault(&point.time.span(), message);
                    }
                    points.push((time, value(self, &point.value)));
                }
                Course::Points(points)
            }
        }
    }
}
