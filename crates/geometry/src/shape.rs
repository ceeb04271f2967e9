//! The shapes a body can have.

use crate::space::{Pose, Quaternion, Tensor, Vector, cross, dot, length, sub};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A convex shape in its own coordinates, in metres; a body may carry several. Planar scenes: half_space, ellipse, polygon,
/// sphere (a disc), box (a rectangle); others: all but ellipse and polygon.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// All points with z <= 0 (planar scenes: y <= 0). On a body only if mass and inertia are given.
    #[default]
    HalfSpace,
    /// About the origin.
    Sphere {
        /// m.
        radius: f64,
    },
    /// About the origin, axes along x, y, z.
    Ellipsoid {
        /// Half lengths of the axes, m.
        semi_axes: Vector,
    },
    /// All points within the radius of a segment along z about the origin.
    Capsule {
        /// m.
        radius: f64,
        /// Half length of the segment, m.
        half_length: f64,
    },
    /// Axis along z, about the origin.
    Cylinder {
        /// m.
        radius: f64,
        /// Half height, m.
        half_length: f64,
        /// Points per ring with which a flat face touches; the outermost ring is the rim, and it tips over a polygon of them.
        #[serde(default = "default_rim_points")]
        rim_points: u32,
        /// Rings of points on a flat face: 1 is the rim alone; from 2 the friction moment of a spinning face is that of uniform
        /// pressure.
        #[serde(default = "default_rings")]
        rings: u32,
    },
    /// About the origin, edges along x, y, z.
    Box {
        /// Half lengths of the edges, m; planar: two (the third is then 0).
        #[serde(with = "edges")]
        #[schemars(with = "Vector", extend("minItems" = 2))]
        half: Vector,
    },
    /// Convex hull.
    Polytope {
        /// Corners [x, y, z], m; at least four, not in one plane.
        vertices: Vec<Vector>,
    },
    /// About the origin, axes along x, y.
    Ellipse {
        /// Half lengths of the axes, m.
        semi_axes: [f64; 2],
    },
    /// All points with `|x/a|^p + |y/b|^p + |z/c|^p <= 1`, about the origin. Above an exponent of 2 it is flat at the middles of its six faces.
    Superellipsoid {
        /// Half lengths a, b, c of the axes, m.
        semi_axes: Vector,
        /// Exponent p, from 2 (an ellipsoid) to 20 (nearly a box).
        exponent: f64,
    },
    /// All points with `x' A x + 2 b . x + c <= 0`: an ellipsoid, or an unbounded convex quadric (elliptic cylinder or
    /// paraboloid). On a body only if mass and inertia are given.
    Quadric {
        /// `A`, positive semidefinite: [xx, yy, zz, xy, xz, yz].
        matrix: [f64; 6],
        /// `b`.
        #[serde(default)]
        vector: Vector,
        /// `c`.
        constant: f64,
    },
    /// All points within a box where a polynomial is not positive. It must be convex where bodies touch it. On a body only if mass and
    /// inertia are given.
    Polynomial {
        /// Terms `coefficient x^i y^j z^k`.
        terms: Vec<Term>,
        /// Lowest and highest corner of a box around the body, m.
        within: [Vector; 2],
    },
    /// What several shapes have in common. On a body only if mass and inertia are given.
    Intersection {
        /// The shapes, each with its pose; not intersections again.
        members: Vec<Member>,
    },
    /// Convex polygon.
    Polygon {
        /// Corners [x, y], m, counter-clockwise.
        vertices: Vec<[f64; 2]>,
    },
}

/// A term of a polynomial.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Coefficient.
    pub coefficient: f64,
    /// Powers [i, j, k] of x, y, z; together at most 20.
    pub powers: [u32; 3],
}

/// A shape of an intersection.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The shape.
    pub shape: Shape,
    /// Position, m; the origin by default.
    #[serde(default)]
    pub position: Vector,
    /// Quaternion [w, x, y, z], scaled to length 1; the identity by default.
    #[serde(default = "identity")]
    pub quaternion: [f64; 4],
}

fn identity() -> [f64; 4] {
    [1.0, 0.0, 0.0, 0.0]
}

impl Member {
    /// Pose in the intersection.
    pub fn pose(&self) -> Pose {
        Pose { position: self.position, attitude: rotation(self.quaternion) }
    }
}

fn default_rim_points() -> u32 {
    8
}

fn default_rings() -> u32 {
    1
}

/// Edges of a box in a file: three, or two of a rectangle, which has no third.
mod edges {
    use crate::space::Vector;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(half: &Vector, serializer: S) -> Result<S::Ok, S::Error> {
        half[..if half[2] == 0.0 { 2 } else { 3 }].serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vector, D::Error> {
        match Vec::deserialize(deserializer)?[..] {
            [a, b] => Ok([a, b, 0.0]),
            [a, b, c] => Ok([a, b, c]),
            ref list => Err(D::Error::invalid_length(list.len(), &"two or three half lengths")),
        }
    }
}

/// Why a shape is not one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidShape {
    /// A size must be positive and finite.
    #[error("{parameter} must be positive and finite, but is {value}")]
    Size {
        /// Which parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
    },
    /// A coordinate must be finite.
    #[error("vertices[{vertex}][{axis}] must be finite, but is {value}")]
    Coordinate {
        /// Which corner.
        vertex: usize,
        /// Which coordinate.
        axis: usize,
        /// Its value.
        value: f64,
    },
    /// Too few or too many corners.
    #[error("vertices: {count} given, but {least} to {most} are needed")]
    Count {
        /// Corners given.
        count: usize,
        /// Fewest allowed.
        least: usize,
        /// Most allowed.
        most: usize,
    },
    /// Too few or too many points on the face of a cylinder.
    #[error("{parameter}: {count} given, but {least} to {most} are possible")]
    FacePoints {
        /// Which parameter.
        parameter: &'static str,
        /// Its value.
        count: u32,
        /// Fewest allowed.
        least: u32,
        /// Most allowed.
        most: u32,
    },
    /// All corners of a polytope lie in one plane.
    #[error("vertices: all within {thickness} of a plane; a polytope needs a volume")]
    Flat {
        /// Extent across the plane, in metres.
        thickness: f64,
    },
    /// A polygon must turn left at every corner, once around.
    #[error("vertices[{vertex}] is not a corner of a convex polygon given counter-clockwise")]
    NotConvex {
        /// Which corner.
        vertex: usize,
    },
    /// A body given by functions is not one.
    #[error("{parameter}: {message}")]
    Function {
        /// Which parameter.
        parameter: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// The shape belongs to the other kind of scene.
    #[error("shape {shape} cannot be used in a {scene} scene")]
    Scene {
        /// Name of the shape.
        shape: &'static str,
        /// `planar` or `spatial`.
        scene: &'static str,
    },
}

/// Most corners a polytope or polygon may have: the ids of contact points hold two edge numbers of 15 bits.
pub const MOST_VERTICES: usize = 5_000;

/// Thickness of a polytope, and sine of a polygon's corner, below which it counts as flat; relative to size.
pub(super) const FLAT: f64 = 1e-9;

fn size(parameter: &'static str, value: f64) -> Result<(), InvalidShape> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(InvalidShape::Size { parameter, value }) }
}

fn function(
    parameter: &'static str,
    good: bool,
    message: impl FnOnce() -> String,
) -> Result<(), InvalidShape> {
    if good { Ok(()) } else { Err(InvalidShape::Function { parameter, message: message() }) }
}

/// Least eigenvalue of a symmetric matrix, by shifted inverse-free bisection on its definiteness.
fn least_eigenvalue(matrix: [f64; 6]) -> f64 {
    let m = symmetric(matrix);
    let bound = m.iter().flatten().map(|x| x.abs()).sum::<f64>();
    // positive definite: all leading minors are
    let definite = |shift: f64| {
        let a = [0, 1, 2].map(|i| [0, 1, 2].map(|j| m[i][j] - if i == j { shift } else { 0.0 }));
        let two = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        a[0][0] > 0.0 && two > 0.0 && dot(a[0], cross(a[1], a[2])) > 0.0
    };
    let (mut low, mut high) = (-bound - 1e-300, bound + 1e-300);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if definite(middle) { low = middle } else { high = middle }
    }
    low
}

fn face_points(parameter: &'static str, count: u32, [least, most]: [u32; 2]) -> Result<(), InvalidShape> {
    let possible = (least..=most).contains(&count);
    if possible { Ok(()) } else { Err(InvalidShape::FacePoints { parameter, count, least, most }) }
}

fn corners<const N: usize>(vertices: &[[f64; N]], least: usize) -> Result<(), InvalidShape> {
    let count = vertices.len();
    if count < least || count > MOST_VERTICES {
        return Err(InvalidShape::Count { count, least, most: MOST_VERTICES });
    }
    for (vertex, x) in vertices.iter().enumerate() {
        if let Some((axis, &value)) = x.iter().enumerate().find(|(_, v)| !v.is_finite()) {
            return Err(InvalidShape::Coordinate { vertex, axis, value });
        }
    }
    Ok(())
}

impl Shape {
    /// A cylinder whose faces touch with the default points.
    pub fn cylinder(radius: f64, half_length: f64) -> Self {
        Self::Cylinder { radius, half_length, rim_points: default_rim_points(), rings: default_rings() }
    }

    /// Name, as scenes write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::HalfSpace => "half_space",
            Self::Sphere { .. } => "sphere",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Box { .. } => "box",
            Self::Polytope { .. } => "polytope",
            Self::Ellipse { .. } => "ellipse",
            Self::Polygon { .. } => "polygon",
            Self::Superellipsoid { .. } => "superellipsoid",
            Self::Quadric { .. } => "quadric",
            Self::Polynomial { .. } => "polynomial",
            Self::Intersection { .. } => "intersection",
        }
    }

    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), InvalidShape> {
        match self {
            Self::HalfSpace => Ok(()),
            Self::Sphere { radius } => size("radius", *radius),
            Self::Ellipsoid { semi_axes: [a, b, c] } => {
                size("semi_axes[0]", *a)?;
                size("semi_axes[1]", *b)?;
                size("semi_axes[2]", *c)
            }
            Self::Capsule { radius, half_length } => {
                size("radius", *radius)?;
                size("half_length", *half_length)
            }
            Self::Cylinder { radius, half_length, rim_points, rings } => {
                size("radius", *radius)?;
                size("half_length", *half_length)?;
                face_points("rim_points", *rim_points, [3, 64])?;
                face_points("rings", *rings, [1, 16])
            }
            Self::Box { half: [a, b, c] } => {
                size("half[0]", *a)?;
                size("half[1]", *b)?;
                // a rectangle has none
                if *c == 0.0 { Ok(()) } else { size("half[2]", *c) }
            }
            Self::Polytope { vertices } => {
                corners(vertices, 4)?;
                thick(vertices)
            }
            Self::Ellipse { semi_axes: [a, b] } => {
                size("semi_axes[0]", *a)?;
                size("semi_axes[1]", *b)
            }
            Self::Polygon { vertices } => {
                corners(vertices, 3)?;
                convex(vertices)
            }
            Self::Superellipsoid { semi_axes, exponent } => {
                Self::Ellipsoid { semi_axes: *semi_axes }.validate()?;
                let message = format!("exponent is {exponent}, expected a number from 2 to 20");
                function("exponent", (2.0..=20.0).contains(exponent), || message)
            }
            Self::Quadric { matrix, vector, constant } => {
                let finite = matrix.iter().chain(vector).all(|x| x.is_finite()) && constant.is_finite();
                function("constant", finite, || "expected finite numbers".to_owned())?;
                let least = least_eigenvalue(*matrix);
                let largest = matrix.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                let message = || {
                    format!(
                        "matrix has the eigenvalue {least:.3e}, expected none below 0: the quadric is not convex"
                    )
                };
                function("matrix", least >= -1e-12 * largest && largest > 0.0, message)
            }
            Self::Polynomial { terms, within: [low, high] } => {
                let known =
                    terms.iter().all(|t| t.coefficient.is_finite() && t.powers.iter().sum::<u32>() <= 20);
                function("terms", known && !terms.is_empty(), || {
                    "expected terms of finite coefficients and degrees up to 20".to_owned()
                })?;
                let inside = (0..3).all(|i| low[i].is_finite() && high[i].is_finite() && low[i] < high[i]);
                function("within", inside, || {
                    "expected the lowest and the highest corner of a box".to_owned()
                })
            }
            Self::Intersection { members } => {
                function("members", (1..=15).contains(&members.len()), || {
                    format!("{} given, expected 1 to 15", members.len())
                })?;
                for m in members {
                    let flat = matches!(
                        m.shape,
                        Self::Intersection { .. } | Self::Ellipse { .. } | Self::Polygon { .. }
                    );
                    function("members", !flat, || format!("a {} cannot be a member", m.shape.name()))?;
                    let placed = m.position.iter().chain(&m.quaternion).all(|x| x.is_finite())
                        && m.quaternion.iter().any(|x| *x != 0.0);
                    function("members", placed, || {
                        "expected finite positions and quaternions above 0".to_owned()
                    })?;
                    m.shape.validate()?;
                }
                Ok(())
            }
        }
    }
}

/// Indices of four corners that span a volume, found greedily, and that volume's thickness over its size.
pub(super) fn spanning(vertices: &[Vector]) -> ([usize; 4], f64, f64) {
    let farthest = |measure: &dyn Fn(Vector) -> f64| {
        let mut best = (0, -1.0);
        for (i, &v) in vertices.iter().enumerate() {
            let m = measure(v);
            if m > best.1 {
                best = (i, m);
            }
        }
        best
    };
    let a = 0;
    let (b, span) = farthest(&|v| length(sub(v, vertices[a])));
    let along = sub(vertices[b], vertices[a]);
    let (c, area) = farthest(&|v| length(cross(along, sub(v, vertices[a]))));
    let across = cross(along, sub(vertices[c], vertices[a]));
    let (d, volume) = farthest(&|v| dot(across, sub(v, vertices[a])).abs());
    ([a, b, c, d], if area > 0.0 { volume / area } else { 0.0 }, span)
}

fn thick(vertices: &[Vector]) -> Result<(), InvalidShape> {
    let (_, thickness, span) = spanning(vertices);
    if thickness > FLAT * span { Ok(()) } else { Err(InvalidShape::Flat { thickness }) }
}

fn convex(vertices: &[[f64; 2]]) -> Result<(), InvalidShape> {
    let n = vertices.len();
    let edge = |i: usize| {
        let (a, b) = (vertices[i % n], vertices[(i + 1) % n]);
        [b[0] - a[0], b[1] - a[1]]
    };
    let mut turned = 0.0;
    for i in 0..n {
        let (e, f) = (edge(i), edge(i + 1));
        let sine = e[0] * f[1] - e[1] * f[0];
        let cosine = e[0] * f[0] + e[1] * f[1];
        if sine <= FLAT * e[0].hypot(e[1]) * f[0].hypot(f[1]) {
            return Err(InvalidShape::NotConvex { vertex: (i + 1) % n });
        }
        turned += sine.atan2(cosine);
    }
    // a star turns left everywhere too, but goes round more than once
    if turned < 7.0 { Ok(()) } else { Err(InvalidShape::NotConvex { vertex: 0 }) }
}

/// xx, yy, zz, xy, xz, yz as a matrix.
pub(super) fn symmetric([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Tensor {
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
}

/// Rotation of a member of an intersection: the unit quaternion, or the identity if it is zero.
pub(super) fn rotation(q: [f64; 4]) -> Quaternion {
    Quaternion(q).unit()
}
