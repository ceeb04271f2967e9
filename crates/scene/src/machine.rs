//! Motors, loops, gears, and the motion of world parts.

use super::{Course, End, Numbers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A drive on one degree of freedom of a joint: a prescribed effort, velocity or position, or a servo.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["body"]))]
pub struct Motor {
    /// Name of the body whose joint is driven.
    pub body: String,
    /// Number of the driven degree of freedom in a joint that has several, from 0; 0 by default.
    pub dof: Option<usize>,
    /// Effort over time, N or N m. Not beside the other courses.
    pub effort: Option<Course<Numbers>>,
    /// Velocity over time, m/s or rad/s: prescribed, or with `damping` the target of a servo. Beside
    /// `position` it is the velocity at which the servo's damping has no effort.
    pub velocity: Option<Course<Numbers>>,
    /// Position over time, m or rad: prescribed, or with `stiffness` the target of a servo.
    pub position: Option<Course<Numbers>>,
    /// Gain of a servo on positions, N/m or N m/rad.
    pub stiffness: Option<f64>,
    /// Gain of a servo on velocities, N s/m or N m s/rad.
    pub damping: Option<f64>,
    /// Largest effort, N or N m; unbounded by default. Not for `effort`.
    pub max_effort: Option<f64>,
}

/// A constraint between any two bodies, which may close a loop.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["kind", "from", "to"]))]
pub struct Loop {
    /// Name in tables and messages; 'loop 0', 'loop 1'... by default.
    pub name: Option<String>,
    /// What is constrained.
    pub kind: LoopKind,
    /// One end.
    pub from: End,
    /// The other end.
    pub to: End,
    /// Axis of a hinge in coordinates of `from`, of any length; z by default.
    pub axis: Option<Numbers>,
    /// Length of a distance or a rope, m; by default that at the start.
    pub length: Option<f64>,
    /// Stiffness of a compliant constraint, N/m (and N m/rad about a hinge or weld); rigid by default.
    pub stiffness: Option<f64>,
    /// Damping of a compliant constraint, N s/m (N m s/rad); 0 by default.
    pub damping: Option<f64>,
}

/// What a loop constrains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    /// The two points coincide.
    #[default]
    Point,
    /// The points coincide, and the bodies rotate relative to each other about one axis only.
    Hinge,
    /// The bodies do not move relative to each other.
    Weld,
    /// The distance of the points is constant: a rod between two ball joints.
    Distance,
    /// The distance of the points is at most the length.
    Rope,
}

impl LoopKind {
    /// Name in scene files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Hinge => "hinge",
            Self::Weld => "weld",
            Self::Distance => "distance",
            Self::Rope => "rope",
        }
    }
}

/// An equation between the coordinates of two joints: `q_1 = ratio q_2 + offset`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["joints"]))]
pub struct Gear {
    /// Names of the two bodies whose joints are coupled.
    pub joints: [String; 2],
    /// Numbers of the coupled degrees of freedom, from 0; [0, 0] by default.
    pub dofs: Option<[usize; 2]>,
    /// Ratio of the first joint's velocity to the second's; 1 by default, negative if they turn against each
    /// other.
    pub ratio: Option<f64>,
    /// Offset, m or rad; by default that of the start.
    pub offset: Option<f64>,
    /// Stiffness of a compliant gear, N/m or N m/rad at the first joint; rigid by default.
    pub stiffness: Option<f64>,
    /// Damping of a compliant gear, at the first joint; 0 by default.
    pub damping: Option<f64>,
}

/// Prescribed motion of a world part about its place.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorldMotion {
    /// Displacement over time in world axes, m.
    pub position: Option<Course<Numbers>>,
    /// Axis of rotation through the part's origin, in world axes, of any length; z by default.
    pub axis: Option<Numbers>,
    /// Angle about the axis over time, rad.
    pub angle: Option<Course<Numbers>>,
}
