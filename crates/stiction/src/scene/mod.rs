//! The description of a mechanical system: plain data, built in code or read from TOML.
//!
//! A [`Scene`] is read by [`Scene::from_toml`], [`Scene::read`] or [`Scene::from_json`], or built from struct literals with
//! `..Default::default()`; [`Scene::check`] lists what is wrong with it, wherever it came from, and [`Scene::resolve`] makes of
//! it what steps work with. Units are SI throughout: metres, kilograms, seconds, newtons, radians. What a file may hold is
//! in [`schema`] (`scenes/scene.schema.json`). Every value has a path (`body[box].mass`), by which [`Scene::get`] and
//! [`Scene::set`] find it and a [`Fault`] names it.
//!
//! In a planar scene everything happens in the x-y plane: vectors have two components, rotations and torques are one number
//! about z.

mod body;
mod check;
mod fault;
mod file;
mod load;
mod material;
mod numbers;
mod path;
mod schema;
mod settings;
mod summary;

pub use crate::contact::FrictionRule;
pub use crate::geometry::Shape;
pub use body::{Body, Joint, Orientation, Part, Pose, WorldPart};
pub use complementarity::solver::Method;
pub use fault::{Fault, Place, SceneError, nearest};
pub use load::{Axes, Course, End, Load, Motor, Point, Spring};
pub use material::{Grain, Law, Material, Pair};
pub use numbers::Numbers;
pub use schema::schema;
pub use settings::{ForceTime, FrictionKind, GapLevel, RecordSettings, StepSettings, Table};
pub use summary::summary;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scene of Stiction: bodies on joints, in frictional contact. SI units throughout (m, kg, s, N, rad). In a planar
/// scene vectors have two components (x, y), turns and torques are one number about z.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Stiction scene")]
pub struct Scene {
    /// What the scene is called; the file's name by default.
    pub name: String,
    /// Whether everything happens in the x-y plane; false by default.
    pub planar: bool,
    /// Acceleration of gravity, m/s^2; [0, 0, -9.81] by default, [0, -9.81] in a planar scene.
    pub gravity: Option<Numbers>,
    /// How the friction of two materials combines where no pair says otherwise; geometric_mean by default.
    pub friction_rule: FrictionRule,
    /// Materials. A shape without one is of the material 'default': rigid, friction 0.5.
    #[serde(rename = "material", skip_serializing_if = "Vec::is_empty")]
    pub materials: Vec<Material>,
    /// Shapes that never move.
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
    /// Prescribed efforts on joints.
    #[serde(rename = "motor", skip_serializing_if = "Vec::is_empty")]
    pub motors: Vec<Motor>,
    /// Steps of time.
    pub step: StepSettings,
    /// What is kept of a run.
    pub record: RecordSettings,
}
