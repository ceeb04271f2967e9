//! Bodies, joints, shapes.

use super::{At, Numbers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body on a joint.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Unique among bodies and world parts; not 'world'.
    pub name: At<String>,
    /// Name of the body that carries the joint; the world by default. It may stand later in the file.
    pub parent: Option<At<String>>,
    /// The joint; planar by default in a planar scene, else free.
    pub joint: Option<At<Joint>>,
    /// Where the joint sits, in the parent's coordinates; its origin by default. Not for free bodies.
    pub mount: Option<At<Pose>>,
    /// Mass, kg; by default from shapes and density.
    pub mass: Option<At<f64>>,
    /// Centre of mass in body coordinates, m; by default from the shapes, or the origin if `inertia` is given.
    pub center: Option<Numbers>,
    /// About the centre of mass, kg m^2: [xx, yy, zz] or [xx, yy, zz, xy, xz, yz] (entries of the tensor); planar: one
    /// number. By default from the shapes.
    pub inertia: Option<Numbers>,
    /// kg/m^3 (planar: kg/m^2); by default the materials'.
    pub density: Option<At<f64>>,
    /// A single shape at the body's origin.
    pub shape: Option<At<Shape>>,
    /// Material of the shapes that name none.
    pub material: Option<At<String>>,
    /// More shapes, each with its place.
    #[serde(default, rename = "part", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Start, in the mount's coordinates, m: [x, y, z] (free), [x, y] (planar), one number (prismatic).
    pub position: Option<Numbers>,
    /// Start (free, spherical); no turn by default.
    pub orientation: Option<At<Orientation>>,
    /// Start, rad (planar, revolute).
    pub angle: Option<At<f64>>,
    /// Start, degrees (planar, revolute).
    pub angle_deg: Option<At<f64>>,
    /// Start, m/s: of the body's origin in world axes [x, y, z] (free), [x, y] (planar), one number (prismatic).
    pub velocity: Option<Numbers>,
    /// Start, rad/s: [x, y, z] in world axes (free) or mount axes (spherical), one number (planar, revolute).
    pub angular_velocity: Option<Numbers>,
}

/// A joint.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
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
    },
    /// A displacement along an axis.
    Prismatic {
        /// In mount coordinates, any length.
        axis: Numbers,
    },
    /// Any turn about the mount.
    Spherical,
    /// No motion.
    Fixed,
}

/// A place and a turn.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pose {
    /// m; the origin by default.
    pub position: Option<Numbers>,
    /// No turn by default.
    pub orientation: Option<At<Orientation>>,
    /// About z, rad.
    pub angle: Option<At<f64>>,
    /// About z, degrees.
    pub angle_deg: Option<At<f64>>,
}

/// A turn: a quaternion, or an axis and an angle.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Orientation {
    /// [w, x, y, z], scaled to length 1.
    pub quaternion: Option<Numbers>,
    /// Any length.
    pub axis: Option<Numbers>,
    /// About `axis`, rad.
    pub angle: Option<At<f64>>,
    /// About `axis`, degrees.
    pub angle_deg: Option<At<f64>>,
}

/// A shape of a body, with its place.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The shape.
    pub shape: At<Shape>,
    /// By default the body's.
    pub material: Option<At<String>>,
    /// In body coordinates, m; the origin by default.
    pub position: Option<Numbers>,
    /// No turn by default.
    pub orientation: Option<At<Orientation>>,
    /// About z, rad.
    pub angle: Option<At<f64>>,
    /// About z, degrees.
    pub angle_deg: Option<At<f64>>,
}

/// A shape that never moves.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldPart {
    /// Unique among bodies and world parts; not 'world'.
    pub name: At<String>,
    /// The shape.
    pub shape: At<Shape>,
    /// Its material.
    pub material: Option<At<String>>,
    /// m; the origin by default.
    pub position: Option<Numbers>,
    /// No turn by default.
    pub orientation: Option<At<Orientation>>,
    /// About z, rad.
    pub angle: Option<At<f64>>,
    /// About z, degrees.
    pub angle_deg: Option<At<f64>>,
}

/// A convex shape in its own coordinates. Planar scenes: half_space, ellipse, polygon, sphere (a disc), box (a
/// rectangle); others: all but ellipse and polygon.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// All points with z <= 0 (planar scenes: y <= 0). On a body only if mass and inertia are given.
    HalfSpace,
    /// About the origin.
    Sphere {
        /// m.
        radius: At<f64>,
    },
    /// About the origin, axes along x, y, z.
    Ellipsoid {
        /// Half lengths of the axes, m.
        semi_axes: Numbers,
    },
    /// All points within the radius of a segment along z about the origin.
    Capsule {
        /// m.
        radius: At<f64>,
        /// Half length of the segment, m.
        half_length: At<f64>,
    },
    /// Axis along z, about the origin.
    Cylinder {
        /// m.
        radius: At<f64>,
        /// Half height, m.
        half_length: At<f64>,
    },
    /// About the origin, edges along x, y, z.
    Box {
        /// Half lengths of the edges, m; planar: two.
        half: Numbers,
    },
    /// Convex hull.
    Polytope {
        /// Corners [x, y, z], m; at least four, not in one plane.
        vertices: At<Vec<Numbers>>,
    },
    /// About the origin, axes along x, y.
    Ellipse {
        /// Half lengths of the axes, m.
        semi_axes: Numbers,
    },
    /// Convex polygon.
    Polygon {
        /// Corners [x, y], m, counter-clockwise.
        vertices: At<Vec<Numbers>>,
    },
}
