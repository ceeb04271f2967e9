//! Forces, springs, motors.

use super::{At, Numbers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value over time.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Course {
    /// Always the same.
    Constant(Numbers),
    /// Linear between points, held before the first and after the last; times rising.
    Points(At<Vec<Point>>),
}

/// A point of a course.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// s.
    pub time: At<f64>,
    /// The value then.
    pub value: Numbers,
}

/// A force and a torque on a body.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Name of the body.
    pub body: At<String>,
    /// Where the force acts, in body coordinates, m; the centre of mass by default.
    pub point: Option<Numbers>,
    /// Axes of force and torque; world by default.
    pub axes: Option<Axes>,
    /// N.
    pub force: Option<Course>,
    /// N m; planar: one number.
    pub torque: Option<Course>,
}

/// Axes of a load.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axes {
    /// Fixed in the world.
    World,
    /// Turning with the body.
    Body,
}

/// An end of a spring.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Name of the body; the world by default.
    pub body: Option<At<String>>,
    /// In coordinates of the body or the world, m; the origin by default.
    pub point: Option<Numbers>,
}

/// A straight spring with a damper beside it.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// One end.
    pub from: At<End>,
    /// The other end.
    pub to: At<End>,
    /// N/m; 0 by default.
    pub stiffness: Option<At<f64>>,
    /// N s/m; 0 by default.
    pub damping: Option<At<f64>>,
    /// Length without force, m; by default the length at the start.
    pub rest_length: Option<At<f64>>,
}

/// A prescribed effort on a joint.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Name of the body whose joint (revolute or prismatic) is driven.
    pub body: At<String>,
    /// N m (revolute) or N (prismatic).
    pub effort: Course,
}
