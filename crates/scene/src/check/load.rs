//! Values over time, forces, springs.

use super::{At, Checker};
use crate::load::spline_rates;
use crate::resolved::{End, Load, Resolved, Spring};
use crate::space::{Vector, add, length, scale, sub};
use crate::{self as scene, Course, Knot, Numbers, Point, Sinusoid};
use std::collections::HashMap;

pub(super) type Names = HashMap<String, usize>;

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

    pub(super) fn end(
        &mut self,
        end: &scene::End,
        resolved: &Resolved,
        names: &Names,
        at: At<'_>,
    ) -> Option<End> {
        let point = end.point.as_ref().map_or([0.0; 3], |p| self.vector(p, at.key("point")));
        let body = match end.body.as_ref().filter(|b| *b != "world") {
            Some(name) => Some(self.body_named(name, resolved, names, at.key("body"))?),
            None => None,
        };
        Some(End { body, point })
    }

    pub(super) fn body_named(
        &mut self,
        name: &str,
        resolved: &Resolved,
        names: &Names,
        at: At<'_>,
    ) -> Option<usize> {
        let found = names.get(name).copied();
        if found.is_none() {
            let known: Vec<&str> = resolved.bodies.iter().map(|b| b.name.as_str()).collect();
            self.unknown(at, "body", name, &known);
        }
        found
    }

    pub(super) fn course<T: Sums>(
        &mut self,
        course: &Course<Numbers>,
        at: At<'_>,
        value: impl Fn(&mut Self, &Numbers, At<'_>) -> T,
    ) -> Course<T> {
        let list = match course {
            Course::Constant(x) => return Course::Constant(value(self, x, at.key("constant"))),
            Course::Spline(list) => return self.spline(list, at.key("spline"), value),
            Course::Sinusoid(s) => {
                let at = at.key("sinusoid");
                let offset = s.offset.as_ref().map(|x| value(self, x, at.key("offset")));
                let amplitude = value(self, &s.amplitude, at.key("amplitude"));
                return Course::Sinusoid(Sinusoid {
                    amplitude,
                    offset,
                    frequency: s.frequency,
                    phase: s.phase,
                });
            }
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

    fn spline<T: Sums>(
        &mut self,
        list: &[Knot<Numbers>],
        at: At<'_>,
        value: impl Fn(&mut Self, &Numbers, At<'_>) -> T,
    ) -> Course<T> {
        if list.is_empty() {
            self.fault(at, "no points, expected at least one");
        }
        let (mut values, mut times): (Vec<T>, Vec<f64>) = (vec![], vec![]);
        for (i, knot) in list.iter().enumerate() {
            let (here, time) = (at.index(i), knot.time);
            if times.last().is_some_and(|before| *before >= time) {
                let message = format!("time is {time}, expected more than at the point before");
                self.fault(here.key("time"), message);
            }
            times.push(time);
            values.push(value(self, &knot.value, here.key("value")));
        }
        let rates = spline_rates(&times);
        let rate = |k: usize| T::sum(&values, &rates[k]);
        Course::Spline(
            (0..times.len())
                .map(|k| Knot { time: times[k], value: values[k], rate: Some(rate(k)) })
                .collect(),
        )
    }
}

/// Values of courses.
pub(super) trait Sums: Copy {
    /// Sum of shares of values.
    fn sum(values: &[Self], shares: &[f64]) -> Self;
}

impl Sums for f64 {
    fn sum(values: &[Self], shares: &[f64]) -> Self {
        values.iter().zip(shares).map(|(x, share)| x * share).sum()
    }
}

impl Sums for Vector {
    fn sum(values: &[Self], shares: &[f64]) -> Self {
        values.iter().zip(shares).fold([0.0; 3], |sum, (x, share)| add(sum, scale(*share, *x)))
    }
}
