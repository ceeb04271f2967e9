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

use super::broad::bounding_box;
use super::hull::{Edge, Face, Hull, hull};
use super::implicit::{self, Surface, symmetric};
use super::shape::{InvalidShape, Shape};
use crate::space::{Pose, Vector, add, cross, dot, inverse_spd, length, scale, sub, times, unit};

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
    shape: Shape,
    planar: bool,
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
    /// Checks and prepares a shape for a planar scene (bodies in the x-y plane) or a spatial one.
    ///
    /// Planar scenes take half-spaces (y <= 0), spheres (as discs), boxes (as rectangles), ellipses and polygons;
    /// spatial scenes everything but ellipses and polygons.
    pub fn new(shape: &Shape, planar: bool) -> Result<Self, InvalidShape> {
        shape.validate()?;
        let (mut round, mut semi_axes, mut radius, mut face_points) =
            (Round::None, [0.0; 3], 0.0, Vec::new());
        let fits = match shape {
            Shape::Ellipse { .. } | Shape::Polygon { .. } => planar,
            Shape::HalfSpace | Shape::Sphere { .. } | Shape::Box { .. } => true,
            _ => !planar,
        };
        if !fits {
            let scene = if planar { "planar" } else { "spatial" };
            return Err(InvalidShape::Scene { shape: shape.name(), scene });
        }
        let point = || Hull { corners: vec![[0.0; 3]], ..Hull::default() };
        let hull = match shape {
            Shape::HalfSpace => Hull::default(),
            Shape::Sphere { radius: r } => {
                radius = *r;
                point()
            }
            Shape::Ellipsoid { semi_axes: a } => {
                (round, semi_axes) = (Round::Ellipsoid, *a);
                point()
            }
            Shape::Ellipse { semi_axes: [a, b] } => {
                (round, semi_axes) = (Round::Ellipsoid, [*a, *b, 0.0]);
                point()
            }
            Shape::Capsule { radius: r, half_length } => {
                radius = *r;
                segment(*half_length)
            }
            Shape::Cylinder { radius: r, half_length, rim_points, rings } => {
                (round, semi_axes) = (Round::Disc, [*r, *r, 0.0]);
                face_points = on_face(*r, *rim_points, *rings);
                segment(*half_length)
            }
            Shape::Box { half: [a, b, _] } if planar => polygon(&[[-a, -b], [*a, -b], [*a, *b], [-a, *b]]),
            Shape::Box { half: [_, _, 0.0] } => {
                return Err(InvalidShape::Size { parameter: "half[2]", value: 0.0 });
            }
            Shape::Box { half: [a, b, c] } => {
                let corner = |k: usize| {
                    let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                    [sign(0) * a, sign(1) * b, sign(2) * c]
                };
                hull(&[0, 1, 2, 3, 4, 5, 6, 7].map(corner))?
            }
            Shape::Polytope { vertices } => hull(vertices)?,
            Shape::Polygon { vertices } => polygon(vertices),
            Shape::Superellipsoid { semi_axes: a, .. } => around([a.map(|a| -a), *a]),
            Shape::Polynomial { within, .. } => around(*within),
            Shape::Quadric { .. } | Shape::Intersection { .. } => Hull::default(),
        };
        let far = hull.corners.iter().map(|&c| length(c)).fold(0.0, f64::max);
        let reach = far + semi_axes.iter().copied().fold(0.0, f64::max) + radius;
        let mut solid = Self {
            shape: shape.clone(),
            planar,
            hull,
            round,
            semi_axes,
            radius,
            reach,
            face_points,
            surfaces: vec![],
            implicit: false,
            inside: [0.0; 3],
            rims: vec![],
        };
        solid.surfaces = implicit::surfaces(shape, &solid);
        solid.find_bounds()?;
        Ok(solid)
    }

    /// Bounds of a body that is given by functions, and a point inside.
    fn find_bounds(&mut self) -> Result<(), InvalidShape> {
        let fault =
            |parameter, message: &str| Err(InvalidShape::Function { parameter, message: message.to_owned() });
        match &self.shape {
            Shape::Superellipsoid { .. } => self.implicit = true,
            Shape::Quadric { matrix, vector, constant } => {
                self.implicit = true;
                let m = symmetric(*matrix);
                match inverse_spd(&m) {
                    Some(inverse)
                        if inverse
                            .iter()
                            .flatten()
                            .all(|x| x.is_finite() && x.abs() < 1e12 / largest(&m)) =>
                    {
                        let center = times(&inverse, vector.map(|b| -b));
                        let size = dot(center, times(&m, center)) - constant;
                        if size <= 0.0 {
                            return fault("constant", "the quadric has no points inside");
                        }
                        let half = [0, 1, 2].map(|i| (size * inverse[i][i]).sqrt());
                        self.hull = around([sub(center, half), add(center, half)]);
                        self.inside = center;
                    }
                    _ => self.unbounded(),
                }
            }
            Shape::Polynomial { within: [low, high], .. } => {
                self.implicit = true;
                self.inside = scale(0.5, add(*low, *high));
            }
            Shape::Intersection { members } => {
                self.implicit = true;
                let (mut low, mut high) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]);
                for m in members {
                    let own = bounding_box(&Self::new(&m.shape, false)?, &m.pose(), 0.0);
                    for i in 0..3 {
                        (low[i], high[i]) = (low[i].max(own.min[i]), high[i].min(own.max[i]));
                    }
                }
                if (0..3).any(|i| low[i] >= high[i]) {
                    return fault("members", "the shapes have nothing in common");
                }
                if low.iter().chain(&high).all(|x| x.is_finite()) {
                    self.hull = around([low, high]);
                    self.inside = scale(0.5, add(low, high));
                } else if implicit::is_bounded(&self.surfaces) {
                    // the members are not, but what they have in common is
                    let size = implicit::size_of(&self.surfaces);
                    let Some(inside) = implicit::innermost(self, size) else {
                        return fault("members", "the shapes have nothing in common");
                    };
                    self.inside = inside;
                    let Some(bounds) = implicit::bounds(self, size) else {
                        return fault("members", "the bounds of the shape were not found");
                    };
                    self.hull = around(bounds);
                } else {
                    self.unbounded();
                }
            }
            _ => return Ok(()),
        }
        if self.reach.is_finite() {
            self.reach = self.hull.corners.iter().map(|&c| length(c)).fold(0.0, f64::max);
        }
        if self.reach.is_finite() && !self.is_half_space() {
            match implicit::innermost(self, self.reach) {
                Some(inside) => self.inside = inside,
                None => return fault(self.parameter(), "the shape has no points inside"),
            }
            match implicit::rims(self) {
                Some(rims) => self.rims = rims,
                None => return fault(self.parameter(), "the rims of its flat sides were not found"),
            }
        }
        Ok(())
    }

    fn unbounded(&mut self) {
        self.reach = f64::INFINITY;
    }

    fn parameter(&self) -> &'static str {
        match self.shape {
            Shape::Polynomial { .. } => "terms",
            Shape::Intersection { .. } => "members",
            _ => "constant",
        }
    }

    /// A point inside, in the coordinates of the shape.
    pub fn inside(&self) -> Vector {
        self.inside
    }

    /// Functions whose common negative part it is, with their poses in the shape.
    pub fn surfaces(&self) -> &[(Surface, Pose)] {
        &self.surfaces
    }

    /// Whether it reaches to infinity: a half-space, some quadrics.
    pub(crate) fn is_unbounded(&self) -> bool {
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
    pub(crate) fn least_radius(&self) -> f64 {
        match &self.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
            Shape::Ellipsoid { semi_axes: a } => least_of_ellipsoid(a),
            Shape::Ellipse { semi_axes: a } => least_of_ellipsoid(a),
            _ => 0.0,
        }
    }

    /// How far it reaches from its origin, beyond a ball about it whose radius is that of its edges: 0 for a ball.
    pub(crate) fn uneven(&self) -> f64 {
        self.reach - self.radius
    }

    /// Whether it touches along normals that are given: as shapes do that are known by corners and what is round about them.
    pub(crate) fn has_faces(&self) -> bool {
        !self.implicit && !self.is_half_space()
    }

    pub(crate) fn is_half_space(&self) -> bool {
        self.shape == Shape::HalfSpace
    }

    /// Radius of the flat round faces of a cylinder; `None` of other shapes.
    pub(crate) fn face_radius(&self) -> Option<f64> {
        (self.round == Round::Disc).then_some(self.semi_axes[0])
    }
}

/// Points with which a round face of the given radius touches: `rings` rings of `count` points each, the outermost on the rim.
///
/// Ring i of m would lie at `R sqrt((i - 1/2)/m)` if each stood for the same area. The outermost lies at R instead, for the
/// face to tip over its rim, and the others are drawn inwards by one factor that keeps the mean radius of all points `2/3 R`:
/// under equal forces the friction moment is then that of uniform pressure, `2/3 mu N R`.
fn on_face(radius: f64, count: u32, rings: u32) -> Vec<Vector> {
    let m = f64::from(rings);
    let even = |i: u32| ((f64::from(i) - 0.5) / m).sqrt();
    let inwards = (2.0 / 3.0 * m - 1.0) / (1..rings).map(even).sum::<f64>();
    let points = (1..=rings).rev().flat_map(|i| {
        let r = if i == rings { radius } else { radius * inwards * even(i) };
        (0..count).map(move |k| {
            let angle =
                std::f64::consts::TAU * (f64::from(k) + 0.5 * f64::from(rings - i)) / f64::from(count);
            [r * angle.cos(), r * angle.sin(), 0.0]
        })
    });
    points.collect()
}

/// The corners of a box.
fn around([low, high]: [Vector; 2]) -> Hull {
    let corner = |k: usize| [0, 1, 2].map(|i| if k >> i & 1 == 1 { high[i] } else { low[i] });
    Hull { corners: (0..8).map(corner).collect(), ..Hull::default() }
}

fn largest(m: &crate::space::Tensor) -> f64 {
    m.iter().flatten().fold(0.0f64, |a, x| a.max(x.abs()))
}

fn segment(half_length: f64) -> Hull {
    let corners = vec![[0.0, 0.0, -half_length], [0.0, 0.0, half_length]];
    Hull { corners, faces: Vec::new(), edges: vec![Edge { corners: [0, 1], faces: None }] }
}

fn polygon(vertices: &[[f64; 2]]) -> Hull {
    let corners: Vec<Vector> = vertices.iter().map(|v| [v[0], v[1], 0.0]).collect();
    let n = corners.len();
    let side = |i: usize| Face {
        normal: unit(cross(sub(corners[(i + 1) % n], corners[i]), [0.0, 0.0, 1.0])),
        corners: vec![i as u32, ((i + 1) % n) as u32],
        edges: vec![i as u32],
    };
    let edge = |i: usize| Edge { corners: [i as u32, ((i + 1) % n) as u32], faces: None };
    Hull { faces: (0..n).map(side).collect(), edges: (0..n).map(edge).collect(), corners }
}
