//! The shapes a body can have.

use crate::space::Vector;

/// A convex shape in its own coordinates, in metres. A body may carry several.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// All points with z <= 0 (planar scenes: y <= 0).
    HalfSpace,
    /// About the origin.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// About the origin, axes along x, y, z.
    Ellipsoid {
        /// Half lengths of the axes.
        semi_axes: Vector,
    },
    /// All points within `radius` of the segment from z = -half_length to z = half_length.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half length of the segment.
        half_length: f64,
    },
    /// Axis along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half height.
        half_length: f64,
    },
    /// Edges along x, y, z.
    Box {
        /// Half lengths of the edges.
        half: Vector,
    },
    /// Convex hull.
    Polytope {
        /// Corners.
        vertices: Vec<Vector>,
    },
    /// Planar scenes: axes along x, y.
    Ellipse {
        /// Half lengths of the axes.
        semi_axes: [f64; 2],
    },
    /// Planar scenes: convex polygon.
    Polygon {
        /// Corners, counter-clockwise.
        vertices: Vec<[f64; 2]>,
    },
}
