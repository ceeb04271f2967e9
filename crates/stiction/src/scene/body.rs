//! Bodies, joints, shapes.

use super::Numbers;
use crate::geometry::Shape;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body on a joint.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub struct Body {
    /// Unique among bodies and world parts; not 'world'.
    pub name: String,
    /// Name of the body that carries the joint; the world by default. It may stand later in the file.
    pub parent: Option<String>,
    /// The joint; planar by default in a planar scene, else free.
    pub joint: Option<Joint>,
    /// Where the joint sits, in the parent's coordinates; its origin by default. Not for free bodies.
    pub mount: Option<Pose>,
    /// Mass, kg; by default from shapes and density.
    pub mass: Option<f64>,
    /// Centre of mass in body coordinates, m; by default from the shapes, or the origin if `inertia` is given.
    pub center: Option<Numbers>,
    /// About the centre of mass, kg m^2: [xx, yy, zz] or [xx, yy, zz, xy, xz, yz] (entries of the tensor); planar: one
    /// number. By default from the shapes.
    pub inertia: Option<Numbers>,
    /// kg/m^3 (planar: kg/m^2); by default the materials'.
    pub density: Option<f64>,
    /// A single shape at the body's origin.
    pub shape: Option<Shape>,
    /// Material of the shapes that name none.
    pub material: Option<String>,
    /// More shapes, each with its place.
    #[serde(rename = "part", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Start, in the mount's coordinates, m: [x, y, z] (free), [x, y] (planar), one number (prismatic).
    pub position: Option<Numbers>,
    /// Start (free, spherical); no turn by default.
    pub orientation: Option<Orientation>,
    /// Start, rad (planar, revolute).
    pub angle: Option<f64>,
    /// Start, degrees (planar, revolute).
    pub angle_deg: Option<f64>,
    /// Start, m/s: of the body's origin in world axes [x, y, z] (free), [x, y] (planar), one number (prismatic).
    pub velocity: Option<Numbers>,
    /// Start, rad/s: [x, y, z] in world axes (free) or mount axes (spherical), one number (planar, revolute).
    pub angular_velocity: Option<Numbers>,
}

/// A joint.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Joint {
    /// Six degrees of freedom; on the world only.
    Free,
    /// x, y and the angle about z, in the mount's x-y plane.
    Planar,
    /// An angle about an axis.
    Revolute {
        /// In mount coordinates, any length; z by default.
        axis: Option<Numbers>,
        /// Least and largest angle, rad; none by default.
        limits: Option<[f64; 2]>,
        /// Least and largest angle, degrees.
        limits_deg: Option<[f64; 2]>,
        /// Largest moment of Coulomb friction in the joint, N m; 0 by default.
        friction: Option<f64>,
    },
    /// A displacement along an axis.
    Prismatic {
        /// In mount coordinates, any length.
        axis: Numbers,
        /// Least and largest displacement, m; none by default.
        limits: Option<[f64; 2]>,
        /// Largest force of Coulomb friction in the joint, N; 0 by default.
        friction: Option<f64>,
    },
    /// Any turn about the mount.
    Spherical,
    /// No motion.
    Fixed,
}

/// A place and a turn.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pose {
    /// m; the origin by default.
    pub position: Option<Numbers>,
    /// No turn by default.
    pub orientation: Option<Orientation>,
    /// About z, rad.
    pub angle: Option<f64>,
    /// About z, degrees.
    pub angle_deg: Option<f64>,
}

/// A turn: a quaternion, or an axis and an angle.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Orientation {
    /// [w, x, y, z], scaled to length 1.
    pub quaternion: Option<[f64; 4]>,
    /// Any length.
    pub axis: Option<Numbers>,
    /// About `axis`, rad.
    pub angle: Option<f64>,
    /// About `axis`, degrees.
    pub angle_deg: Option<f64>,
}

/// A shape of a body, with its place.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["shape"]))]
pub struct Part {
    /// The shape.
    pub shape: Shape,
    /// By default the body's.
    pub material: Option<String>,
    /// In body coordinates, m; the origin by default.
    pub position: Option<Numbers>,
    /// No turn by default.
    pub orientation: Option<Orientation>,
    /// About z, rad.
    pub angle: Option<f64>,
    /// About z, degrees.
    pub angle_deg: Option<f64>,
}

/// A shape that never moves.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name", "shape"]))]
pub struct WorldPart {
    /// Unique among bodies and world parts; not 'world'.
    pub name: String,
    /// The shape.
    pub shape: Shape,
    /// Its material.
    pub material: Option<String>,
    /// m; the origin by default.
    pub position: Option<Numbers>,
    /// No turn by default.
    pub orientation: Option<Orientation>,
    /// About z, rad.
    pub angle: Option<f64>,
    /// About z, degrees.
    pub angle_deg: Option<f64>,
}
