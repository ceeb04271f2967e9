//! Bodies, joints, shapes.

use super::{Course, Joint, Numbers, WorldMotion};
use crate::geometry::Shape;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body on a joint.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub struct Body {
    /// Name, unique among bodies and world parts; not 'world'.
    pub name: String,
    /// Name of the parent body, which carries the joint; the world by default. The parent may come later in
    /// the file.
    pub parent: Option<String>,
    /// Joint of the body; by default planar in a planar scene, else free.
    pub joint: Option<Joint>,
    /// Pose of the joint in the parent's coordinates; the parent's origin by default. Not for free bodies.
    pub mount: Option<Pose>,
    /// Mass, kg; by default computed from shapes and density. 0 for a link that only connects joints: what its joint moves must have inertia.
    pub mass: Option<f64>,
    /// Centre of mass in body coordinates, m; by default computed from the shapes, the origin without them.
    pub center: Option<Numbers>,
    /// Inertia tensor about the centre of mass, kg m^2: [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]; planar: one
    /// number. By default computed from the shapes.
    pub inertia: Option<Numbers>,
    /// Density, kg/m^3 (planar: kg/m^2); by default that of the materials.
    pub density: Option<f64>,
    /// A single shape at the body's origin.
    pub shape: Option<Shape>,
    /// Name of the material of the shapes that name none.
    pub material: Option<String>,
    /// Further shapes, each with its pose.
    #[serde(rename = "part", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Initial position in the mount's coordinates, m: [x, y, z] (free), [x, y] (planar), one number
    /// (prismatic, cylindrical).
    pub position: Option<Numbers>,
    /// Initial attitude (free, spherical); the identity by default.
    pub orientation: Option<Orientation>,
    /// Initial angle, rad (planar, revolute, screw, cylindrical).
    pub angle: Option<f64>,
    /// Initial angle, degrees (planar, revolute, screw, cylindrical).
    pub angle_deg: Option<f64>,
    /// Initial angles about both axes, rad (universal).
    pub angles: Option<[f64; 2]>,
    /// Initial angles about both axes, degrees (universal).
    pub angles_deg: Option<[f64; 2]>,
    /// Initial velocity, m/s: of the body's origin in world axes [x, y, z] (free), [x, y] (planar), one
    /// number (prismatic, cylindrical).
    pub velocity: Option<Numbers>,
    /// Initial angular velocity, rad/s: [x, y, z] in world axes (free) or mount axes (spherical), one number
    /// (planar, revolute, screw, cylindrical), two (universal).
    pub angular_velocity: Option<Numbers>,
    /// Velocity at which the surface runs over the body, in body axes, m/s: the tread of a conveyor or a
    /// crawler. Only its part along the surface counts.
    pub surface_velocity: Option<Course<Numbers>>,
}

/// A pose: position and rotation.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pose {
    /// Position, m; the origin by default.
    pub position: Option<Numbers>,
    /// Rotation; the identity by default.
    pub orientation: Option<Orientation>,
    /// Angle about z, rad.
    pub angle: Option<f64>,
    /// Angle about z, degrees.
    pub angle_deg: Option<f64>,
}

/// A rotation: a quaternion, or an axis and an angle.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Orientation {
    /// Quaternion [w, x, y, z], scaled to length 1.
    pub quaternion: Option<[f64; 4]>,
    /// Axis of rotation, of any length.
    pub axis: Option<Numbers>,
    /// Angle about `axis`, rad.
    pub angle: Option<f64>,
    /// Angle about `axis`, degrees.
    pub angle_deg: Option<f64>,
}

/// A shape of a body, with its pose.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["shape"]))]
pub struct Part {
    /// The shape.
    pub shape: Shape,
    /// Name of the material; by default the body's.
    pub material: Option<String>,
    /// Position in body coordinates, m; the origin by default.
    pub position: Option<Numbers>,
    /// Rotation; the identity by default.
    pub orientation: Option<Orientation>,
    /// Angle about z, rad.
    pub angle: Option<f64>,
    /// Angle about z, degrees.
    pub angle_deg: Option<f64>,
}

/// A shape of the world, which no force moves.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name", "shape"]))]
pub struct WorldPart {
    /// Name, unique among bodies and world parts; not 'world'.
    pub name: String,
    /// The shape.
    pub shape: Shape,
    /// Name of the material.
    pub material: Option<String>,
    /// Position, m; the origin by default.
    pub position: Option<Numbers>,
    /// Rotation; the identity by default.
    pub orientation: Option<Orientation>,
    /// Angle about z, rad.
    pub angle: Option<f64>,
    /// Angle about z, degrees.
    pub angle_deg: Option<f64>,
    /// Prescribed motion about this place: a feeder, a shaker, a turntable; none by default.
    pub motion: Option<WorldMotion>,
    /// Velocity at which the surface runs over the part, in the part's axes, m/s: a conveyor. Only its part
    /// along the surface counts.
    pub surface_velocity: Option<Course<Numbers>>,
}
