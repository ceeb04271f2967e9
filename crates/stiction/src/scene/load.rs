//! Loads, springs and motors of a scene.

use super::Numbers;
use crate::space::{Vector, add, scale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value over time: a constant, or a piecewise linear course.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Course")]
pub enum Course<T> {
    /// Constant value.
    Constant(T),
    /// Linear between points with increasing times, constant before the first and after the last.
    Points(Vec<Point<T>>),
}

/// A point of a course.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Point")]
pub struct Point<T> {
    /// Time, s.
    pub time: f64,
    /// Value at that time.
    pub value: T,
}

impl<T: Default> Default for Course<T> {
    fn default() -> Self {
        Self::Constant(T::default())
    }
}

impl Course<f64> {
    /// The value at `time` (s).
    pub fn at(&self, time: f64) -> f64 {
        self.between(time, |a, b, share| a + share * (b - a))
    }
}

impl Course<Vector> {
    /// The value at `time` (s).
    pub fn at(&self, time: f64) -> Vector {
        self.between(time, |a, b, share| add(scale(1.0 - share, a), scale(share, b)))
    }
}

impl<T: Copy + Default> Course<T> {
    fn between(&self, time: f64, mix: impl Fn(T, T, f64) -> T) -> T {
        match self {
            Self::Constant(value) => *value,
            Self::Points(points) => {
                let after = points.partition_point(|p| p.time <= time);
                match (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after)) {
                    (Some(p), Some(q)) => mix(p.value, q.value, (time - p.time) / (q.time - p.time)),
                    (Some(p), None) | (None, Some(p)) => p.value,
                    (None, None) => T::default(),
                }
            }
        }
    }
}

/// A force and a torque on a body.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["body"]))]
pub struct Load {
    /// Name of the body.
    pub body: String,
    /// Point at which the force acts, in body coordinates, m; the centre of mass by default.
    pub point: Option<Numbers>,
    /// Axes of force and torque; those of the world by default.
    pub axes: Axes,
    /// Force, N.
    pub force: Option<Course<Numbers>>,
    /// Torque, N m; planar: one number.
    pub torque: Option<Course<Numbers>>,
}

/// Axes of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axes {
    /// Axes of the world.
    #[default]
    World,
    /// Axes of the body, which rotate with it.
    Body,
}

/// An end of a spring.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct End {
    /// Name of the body; the world by default.
    pub body: Option<String>,
    /// Attachment point in coordinates of the body or the world, m; the origin by default.
    pub point: Option<Numbers>,
}

/// A straight spring with a damper beside it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["from", "to"]))]
pub struct Spring {
    /// One end.
    pub from: End,
    /// The other end.
    pub to: End,
    /// Stiffness, N/m; 0 by default.
    pub stiffness: Option<f64>,
    /// Damping, N s/m; 0 by default.
    pub damping: Option<f64>,
    /// Length at which the spring is without force, m; by default the length at the start.
    pub rest_length: Option<f64>,
}

/// A prescribed effort on a joint.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["body", "effort"]))]
pub struct Motor {
    /// Name of the body whose joint (revolute or prismatic) is driven.
    pub body: String,
    /// Effort over time, N m (revolute) or N (prismatic).
    pub effort: Course<Numbers>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_is_linear_between_its_points_and_held_outside() {
        let course = Course::Points(
            [(1.0, 2.0), (3.0, 6.0), (4.0, 0.0)].map(|(time, value)| Point { time, value }).to_vec(),
        );
        assert_eq!([0.0, 1.0, 2.0, 3.0, 3.5, 9.0].map(|t| course.at(t)), [2.0, 2.0, 4.0, 6.0, 3.0, 0.0]);
        assert_eq!(Course::Constant([1.0, 2.0, 3.0]).at(7.0), [1.0, 2.0, 3.0]);
    }
}
