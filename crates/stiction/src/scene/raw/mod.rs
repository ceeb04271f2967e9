//! The file as it is written: what serde reads, before any name is looked up. The comments of the fields are the
//! descriptions in the schema.

mod body;
mod contact;
mod load;
mod settings;
mod value;

pub use body::{Body, Joint, Orientation, Shape, WorldPart};
pub use contact::{FrictionRule, Grain, Influence, Law, Material, Pair, PatchDamping};
pub use load::{Axes, Course, End, Load, Motor, Spring};
pub use settings::{ForceTime, FrictionKind, GapLevel, Record, SolverKind, Step, Table};
pub use value::{At, Numbers};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scene of Stiction: bodies on joints, in frictional contact. SI units throughout (m, kg, s, N, rad). In a planar
/// scene vectors have two components (x, y), turns and torques are one number about z.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Stiction scene", rename = "Scene")]
pub struct File {
    /// What the scene is called; the file's name by default.
    pub name: Option<String>,
    /// Whether everything happens in the x-y plane; false by default.
    #[serde(default)]
    pub planar: bool,
    /// Acceleration of gravity, m/s^2; [0, 0, -9.81] by default, [0, -9.81] in a planar scene.
    pub gravity: Option<Numbers>,
    /// How the friction of two materials combines where no pair says otherwise; geometric_mean by default.
    pub friction_rule: Option<FrictionRule>,
    /// Materials. A shape without one is of the material 'default': rigid, friction 0.5.
    #[serde(default, rename = "material", skip_serializing_if = "Vec::is_empty")]
    pub materials: Vec<Material>,
    /// Shapes that never move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub world: Vec<WorldPart>,
    /// Bodies, each on a joint.
    #[serde(default, rename = "body", skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Body>,
    /// Exceptions for pairs of materials or bodies.
    #[serde(default, rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// Applied forces and torques.
    #[serde(default, rename = "load", skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<Load>,
    /// Springs and dampers between points.
    #[serde(default, rename = "spring", skip_serializing_if = "Vec::is_empty")]
    pub springs: Vec<Spring>,
    /// Prescribed efforts on joints.
    #[serde(default, rename = "motor", skip_serializing_if = "Vec::is_empty")]
    pub motors: Vec<Motor>,
    /// Steps of time.
    #[serde(default)]
    pub step: Step,
    /// What is kept of a run.
    #[serde(default)]
    pub record: Record,
}
