//! A shape made ready for contact: every shape is a polytope's corners, plus an ellipsoid, plus a ball.
//!
//! | shape | corners | ellipsoid's semi-axes | ball |
//! | --- | --- | --- | --- |
//! | sphere | 1 | - | r |
//! | capsule | 2 | - | r |
//! | cylinder | 2 | (r, r, 0): a disc | - |
//! | ellipsoid, ellipse | 1 | a, b, c | - |
//! | box, polytope, polygon | all | - | - |
//!
//! The sum is Minkowski's: the shape's support function is `max_i n . v_i + |diag(a) n| + r |n|`. All pairs but
//! those with a half-space are found from it.

use super::hull::{Edge, Face, Hull};
use super::shape::Shape;
use super::surface::Surface;
use crate::space::{Pose, Vector};

/// The least radius of curvature of an ellipsoid: `min^2 / max` of its semi-axes.
fn least_of_ellipsoid(semi_axes: &[f64]) -> f64 {
    let (least, most) = semi_axes.iter().fold((f64::INFINITY, 0.0f64), |(l, m), a| (l.min(*a), m.max(*a)));
    least * least / most
}

/// What is added to the corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    /// Nothing.
    None,
    /// A disc across z.
    Disc,
    /// An ellipsoid or ellipse.
    Ellipsoid,
}

/// A validated shape with its corners, faces and edges; built once, placed by poses.
#[derive(Debug, Clone, PartialEq)]
pub struct Solid {
    pub(super) shape: Shape,
    pub(super) planar: bool,
    pub(super) hull: Hull,
    pub(super) round: Round,
    /// Semi-axes of the ellipsoid in the shape's own axes; zero where there is none.
    pub(super) semi_axes: Vector,
    /// Radius of the ball.
    pub(super) radius: f64,
    /// Greatest distance of a point from the shape's origin.
    pub(super) reach: f64,
    /// Points with which the face of a cylinder touches, from the centre of the face.
    pub(super) face_points: Vec<Vector>,
    /// Functions whose common negative part it is, with their poses in the shape.
    pub(super) surfaces: Vec<(Surface, Pose)>,
    /// Whether it is known by its functions alone; its corners are then those of a box around it.
    pub(super) implicit: bool,
    /// A point inside.
    pub(super) inside: Vector,
    /// Points of its flat sides that touch half-spaces, if it is given by functions.
    pub(super) rims: Vec<Vector>,
}

impl Solid {
    /// A point inside, in the coordinates of the shape.
    pub fn inside(&self) -> Vector {
        self.inside
    }

    /// Functions whose common negative part it is, with their poses in the shape.
    pub fn surfaces(&self) -> &[(Surface, Pose)] {
        &self.surfaces
    }

    /// Whether it reaches to infinity: a half-space, some quadrics.
    pub fn is_unbounded(&self) -> bool {
        self.is_half_space() || !self.reach.is_finite()
    }

    /// The shape it was made from.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether it was made for a planar scene.
    pub fn planar(&self) -> bool {
        self.planar
    }

    /// Corners, in the shape's own coordinates; for round shapes those of the core (module documentation).
    pub fn corners(&self) -> &[Vector] {
        &self.hull.corners
    }

    /// Flat faces; none for round shapes.
    pub fn faces(&self) -> &[Face] {
        &self.hull.faces
    }

    /// Edges.
    pub fn edges(&self) -> &[Edge] {
        &self.hull.edges
    }

    /// A radius below which the surface is nowhere curved: 0 with edges and corners.
    pub fn least_radius(&self) -> f64 {
        match &self.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
            Shape::Ellipsoid { semi_axes: a } => least_of_ellipsoid(a),
            Shape::Ellipse { semi_axes: a } => least_of_ellipsoid(a),
            _ => 0.0,
        }
    }

    /// How far it reaches from its origin, beyond a ball about it whose radius is that of its edges: 0 for a ball.
    pub fn uneven(&self) -> f64 {
        self.reach - self.radius
    }

    /// Whether it touches along normals that are given: as shapes do that are known by corners and what is round about them.
    pub fn has_faces(&self) -> bool {
        !self.implicit && !self.is_half_space()
    }

    /// Whether it is a half-space.
    pub fn is_half_space(&self) -> bool {
        self.shape == Shape::HalfSpace
    }

    /// Radius of the flat round faces of a cylinder; `None` of other shapes.
    pub fn face_radius(&self) -> Option<f64> {
        (self.round == Round::Disc).then_some(self.semi_axes[0])
    }
}
