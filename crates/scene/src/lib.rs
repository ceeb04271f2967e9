//! The description of a mechanical system: plain data, built in code or read from TOML.
//!
//! It knows no model and no step: callers of [`from_text`] bring what is checked beyond the description. Start reading in [`Scene`], then [`resolved`].
//!
//! A [`Scene`] is read by [`from_text`] or [`Scene::from_json_with`], or built from struct
//! literals with `..Default::default()`. [`Scene::resolve`] lists its faults, wherever it came from, or converts it
//! to the form that a model is compiled from. Units are SI throughout: metres,
//! kilograms, seconds, newtons, radians. [`schema`] (`scenes/scene.schema.json`) defines the content of a
//! file. Every value has a path (`body[box].mass`), by which [`Scene::get`] and [`Scene::set`] access it and
//! a [`Fault`] refers to it.
//!
//! In a planar scene everything happens in the x-y plane: vectors have two components, rotations and torques
//! are one number about z.

use stiction_contact::{self as contact, ids};
use stiction_dynamics as dynamics;
use stiction_geometry::{self as geometry, space};

mod add;
mod at;
mod body;
mod boundary;
pub mod capabilities;
mod check;
mod expand;
mod fault;
mod file;
mod joint;
mod load;
mod machine;
mod material;
mod numbers;
mod path;
pub mod resolved;
mod schema;
mod settings;

pub use crate::contact::{ContactPoint, FrictionRule};
pub use crate::geometry::Shape;
pub use body::{Body, Orientation, Part, Pose, WorldPart};
pub use boundary::{Boundary, Condition, ShootMethod, Term, Unknown, When};
pub use complementarity::solver::Method;
pub use fault::{Fault, Place, SceneError, nearest, printable};
pub use file::{Further, from_text};
pub use joint::{Axis, Cylindrical, Joint, Prismatic, Revolute, Screw, Stop, Universal};
pub use load::{Axes, Course, End, Knot, Load, Point, Sinusoid, Spring};
pub use machine::{Gear, Loop, LoopKind, Motor, WorldMotion};
pub use material::{Grain, Law, Material, Pair};
pub use numbers::Numbers;
pub use schema::schema;
pub use settings::{Branch, ForceTime, FrictionKind, GapLevel, RecordSettings, Scheme, StepSettings, Table};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scene of Stiction: bodies on joints, in frictional contact. SI units throughout (m, kg, s, N, rad). In a
/// planar scene vectors have two components (x, y), and rotations and torques are one number about z.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Stiction scene")]
pub struct Scene {
    /// Name of the scene; the file's name by default.
    pub name: String,
    /// Whether everything happens in the x-y plane; false by default.
    pub planar: bool,
    /// Acceleration of gravity, m/s^2; [0, 0, -9.81] by default, [0, -9.81] in a planar scene.
    pub gravity: Option<Numbers>,
    /// How the coefficients of friction of two materials combine where no pair overrides it; geometric_mean
    /// by default.
    pub friction_rule: FrictionRule,
    /// Where between two undeformed surfaces contact forces act, where no pair overrides it: compliance (the default) or middle.
    pub contact_point: ContactPoint,
    /// Materials. A shape without a material has the material 'default': rigid, friction 0.5.
    #[serde(rename = "material", skip_serializing_if = "Vec::is_empty")]
    pub materials: Vec<Material>,
    /// Shapes of the world, which no force moves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub world: Vec<WorldPart>,
    /// Bodies, each on a joint.
    #[serde(rename = "body", skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Body>,
    /// Exceptions for pairs of materials or bodies.
    #[serde(rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// Applied forces and torques.
    #[serde(rename = "load", skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<Load>,
    /// Springs and dampers between points.
    #[serde(rename = "spring", skip_serializing_if = "Vec::is_empty")]
    pub springs: Vec<Spring>,
    /// Drives on joints.
    #[serde(rename = "motor", skip_serializing_if = "Vec::is_empty")]
    pub motors: Vec<Motor>,
    /// Constraints between any two bodies.
    #[serde(rename = "loop", skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<Loop>,
    /// Equations between the coordinates of two joints.
    #[serde(rename = "gear", skip_serializing_if = "Vec::is_empty")]
    pub gears: Vec<Gear>,
    /// Time stepping.
    pub step: StepSettings,
    /// What a run records.
    pub record: RecordSettings,
    /// A boundary-value problem, for `stiction shoot`; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<Boundary>,
    /// Warnings of the files that the scene was read from, such as meshes that are not convex.
    #[serde(skip)]
    #[schemars(skip)]
    pub warnings: Vec<String>,
}
