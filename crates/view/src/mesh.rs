//! The one place that turns a shape into triangles: page, report and image draw what it returns.

use serde::Serialize;
use std::f64::consts::{FRAC_PI_2, PI};
use stiction::geometry::{Shape, Solid};
use stiction::space::{Frame, Vector, add, length, sub, unit};

/// Segments around a round shape.
const AROUND: usize = 48;
/// Segments of a quarter circle from pole to equator.
const QUARTER: usize = 12;

/// Triangles and outlines of a shape in its own coordinates, m.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Mesh {
    /// Corners of triangles.
    #[serde(serialize_with = "short")]
    pub vertices: Vec<Vector>,
    /// Outward unit normal at each vertex.
    #[serde(serialize_with = "short")]
    pub normals: Vec<Vector>,
    /// Vertices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Ends of line segments: edges, and circles that show how a round shape turns.
    pub lines: Vec<[Vector; 2]>,
}

/// Pages need no more digits than floats have.
fn short<S: serde::Serializer>(list: &[Vector], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(list.iter().map(|v| v.map(|x| x as f32)))
}

impl Mesh {
    /// Triangulates a shape. A half-space becomes a square (planar: a rectangle below the surface) that extends `reach` to each side.
    pub fn of(solid: &Solid, reach: f64) -> Self {
        let mut mesh = Self::default();
        if solid.planar() {
            mesh.planar(solid, reach);
            return mesh;
        }
        match solid.shape() {
            Shape::HalfSpace => {
                let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
                mesh.face(&corners.map(|[x, y]| [reach * x, reach * y, 0.0]), [0.0, 0.0, 1.0]);
            }
            Shape::Sphere { radius } => mesh.ellipsoid([*radius; 3]),
            Shape::Ellipsoid { semi_axes } => mesh.ellipsoid(*semi_axes),
            Shape::Capsule { radius, half_length } => mesh.capsule(*radius, *half_length),
            Shape::Cylinder { radius, half_length, .. } => {
                mesh.cylinder(*radius, [-half_length, *half_length]);
            }
            Shape::Box { .. } | Shape::Polytope { .. } => mesh.hull(solid),
            Shape::Superellipsoid { .. }
            | Shape::Quadric { .. }
            | Shape::Polynomial { .. }
            | Shape::Intersection { .. } => mesh.by_functions(solid, reach),
            // planar shapes
            Shape::Ellipse { .. } | Shape::Polygon { .. } => mesh.planar(solid, reach),
        }
        mesh
    }

    /// A rod of a radius from one point to another: links without a shape, arrows.
    pub fn rod(from: Vector, to: Vector, radius: f64) -> Self {
        let mut mesh = Self::default();
        let axis = sub(to, from);
        if length(axis) > 0.0 {
            mesh.cylinder(radius, [0.0, length(axis)]);
            mesh.lines.clear();
            let frame = Frame::new(unit(axis), [1.0, 0.0, 0.0]);
            let turn = |[x, y, z]: Vector| frame.world([z, x, y]);
            mesh.normals.iter_mut().for_each(|n| *n = turn(*n));
            for v in &mut mesh.vertices {
                *v = add(from, turn(*v));
            }
        }
        mesh
    }

    /// Adds another mesh.
    pub fn add(&mut self, other: &Self) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(&other.vertices);
        self.normals.extend(&other.normals);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| first + i)));
        self.lines.extend(&other.lines);
    }

    /// A ball about a point.
    pub fn ball(center: Vector, radius: f64) -> Self {
        let mut mesh = Self::default();
        mesh.ellipsoid([radius; 3]);
        mesh.lines.clear();
        mesh.vertices.iter_mut().for_each(|v| *v = add(center, *v));
        mesh
    }

    /// A flat convex face, counter-clockwise seen against the normal.
    fn face(&mut self, corners: &[Vector], normal: Vector) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(corners);
        self.normals.extend(corners.iter().map(|_| normal));
        self.triangles.extend((1..corners.len() as u32 - 1).map(|k| [first, first + k, first + k + 1]));
    }

    fn outline(&mut self, corners: &[Vector]) {
        self.lines.extend((0..corners.len()).map(|k| [corners[k], corners[(k + 1) % corners.len()]]));
    }

    fn hull(&mut self, solid: &Solid) {
        let corners = solid.corners();
        for face in solid.faces() {
            let loop_: Vec<Vector> = face.corners.iter().map(|&c| corners[c as usize]).collect();
            self.face(&loop_, face.normal);
        }
        self.lines.extend(solid.edges().iter().map(|e| e.corners.map(|c| corners[c as usize])));
    }

    /// A surface of revolution about z: radius and height of each ring, and its normal (outward, along z).
    fn revolve(&mut self, rings: &[[f64; 4]]) {
        let first = self.vertices.len();
        for &[radius, z, out, along] in rings {
            for k in 0..=AROUND {
                let (sin, cos) = (2.0 * PI * k as f64 / AROUND as f64).sin_cos();
                self.vertices.push([radius * cos, radius * sin, z]);
                self.normals.push([out * cos, out * sin, along]);
            }
        }
        let at = |ring: usize, k: usize| (first + ring * (AROUND + 1) + k) as u32;
        for ring in 1..rings.len() {
            // the side of a ring of radius 0 has no area
            for k in 0..AROUND {
                let (a, b, c, d) = (at(ring - 1, k), at(ring - 1, k + 1), at(ring, k), at(ring, k + 1));
                if rings[ring - 1][0] > 0.0 {
                    self.triangles.push([a, b, d]);
                }
                if rings[ring][0] > 0.0 {
                    self.triangles.push([a, d, c]);
                }
            }
        }
    }

    fn ellipsoid(&mut self, semi_axes: Vector) {
        let ring = |k: usize| {
            let (sin, cos) = (-FRAC_PI_2 + FRAC_PI_2 * k as f64 / QUARTER as f64).sin_cos();
            let cos = if k.is_multiple_of(2 * QUARTER) { 0.0 } else { cos };
            [cos, sin, cos, sin]
        };
        self.revolve(&(0..=2 * QUARTER).map(ring).collect::<Vec<_>>());
        let [a, b, c] = semi_axes;
        for (v, n) in self.vertices.iter_mut().zip(&mut self.normals) {
            *v = [a * v[0], b * v[1], c * v[2]];
            *n = unit([n[0] / a, n[1] / b, n[2] / c]);
        }
        for axes in [[0, 1], [1, 2], [2, 0]] {
            self.outline(&circle([0.0; 3], axes, semi_axes));
        }
    }

    /// A convex body given by functions: where rays from a point inside leave it, up to `reach` away.
    fn by_functions(&mut self, solid: &Solid, reach: f64) {
        self.ellipsoid([1.0; 3]);
        self.lines.clear();
        let inside = solid.inside();
        // the largest function, and the direction in which it grows
        let at = |x: Vector| {
            let values = solid.surfaces().iter().map(|(surface, pose)| surface.placed(pose, x));
            let first = (f64::NEG_INFINITY, [0.0; 3]);
            values.fold(first, |m, v| if v.f > m.0 { (v.f, v.gradient) } else { m })
        };
        let leave = |along: Vector| {
            let point = |t: f64| add(inside, along.map(|x| t * x));
            let (mut low, mut high) = (0.0, reach);
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                *(if at(point(middle)).0 < 0.0 { &mut low } else { &mut high }) = middle;
            }
            point(high)
        };
        for (v, n) in self.vertices.iter_mut().zip(&mut self.normals) {
            *v = leave(unit(*v));
            *n = unit(at(*v).1);
        }
        for axes in [[0, 1], [1, 2], [2, 0]] {
            let rim: Vec<Vector> = circle([0.0; 3], axes, [1.0; 3]).into_iter().map(leave).collect();
            self.outline(&rim);
        }
    }

    fn capsule(&mut self, radius: f64, half_length: f64) {
        let cap = |k: usize, side: f64| {
            let (sin, cos) = (FRAC_PI_2 * k as f64 / QUARTER as f64).sin_cos();
            let cos = if k == QUARTER { 0.0 } else { cos };
            [radius * cos, side * (half_length + radius * sin), cos, side * sin]
        };
        let below = (0..=QUARTER).rev().map(|k| cap(k, -1.0));
        self.revolve(&below.chain((0..=QUARTER).map(|k| cap(k, 1.0))).collect::<Vec<_>>());
        for z in [-half_length, half_length] {
            self.outline(&circle([0.0, 0.0, z], [0, 1], [radius; 3]));
        }
        self.sides(radius, [-half_length, half_length]);
    }

    fn cylinder(&mut self, radius: f64, [low, high]: [f64; 2]) {
        self.revolve(&[[0.0, low, 0.0, -1.0], [radius, low, 0.0, -1.0]]);
        self.revolve(&[[radius, low, 1.0, 0.0], [radius, high, 1.0, 0.0]]);
        self.revolve(&[[radius, high, 0.0, 1.0], [0.0, high, 0.0, 1.0]]);
        for z in [low, high] {
            let rim = circle([0.0, 0.0, z], [0, 1], [radius; 3]);
            self.outline(&rim);
            self.lines.push([[0.0, 0.0, z], rim[0]]);
        }
        self.sides(radius, [low, high]);
    }

    /// Four lines along z.
    fn sides(&mut self, radius: f64, [low, high]: [f64; 2]) {
        for [x, y] in [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]] {
            self.lines.push([low, high].map(|z| [radius * x, radius * y, z]));
        }
    }

    /// A flat shape in the x-y plane.
    fn planar(&mut self, solid: &Solid, reach: f64) {
        let up = [0.0, 0.0, 1.0];
        let round = |mesh: &mut Self, semi_axes: Vector| {
            let rim = circle([0.0; 3], [0, 1], semi_axes);
            mesh.face(&rim, up);
            mesh.outline(&rim);
            mesh.lines.extend([[[0.0; 3], rim[0]], [[0.0; 3], rim[AROUND / 2]]]);
        };
        match solid.shape() {
            Shape::HalfSpace => {
                let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 0.0], [-1.0, 0.0]];
                self.face(&corners.map(|[x, y]| [reach * x, reach * y, 0.0]), up);
                self.lines.push([-1.0, 1.0].map(|x| [reach * x, 0.0, 0.0]));
            }
            Shape::Sphere { radius } => round(self, [*radius; 3]),
            Shape::Ellipse { semi_axes: [a, b] } => round(self, [*a, *b, 0.0]),
            _ => {
                let corners = solid.corners().to_vec();
                self.face(&corners, up);
                self.outline(&corners);
            }
        }
    }
}

/// Points of a circle or ellipse about a centre, in the plane of two axes.
fn circle(center: Vector, [i, j]: [usize; 2], semi_axes: Vector) -> Vec<Vector> {
    let point = |k: usize| {
        let (sin, cos) = (2.0 * PI * k as f64 / (2 * AROUND) as f64).sin_cos();
        let mut p = center;
        p[i] += semi_axes[i] * cos;
        p[j] += semi_axes[j] * sin;
        p
    };
    (0..2 * AROUND).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction::space::{cross, dot};

    fn mesh(shape: &Shape, planar: bool) -> Mesh {
        Mesh::of(&Solid::new(shape, planar).expect("a shape"), 10.0)
    }

    /// Volume that the triangles enclose, m^3.
    fn volume(mesh: &Mesh) -> f64 {
        let part = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
            dot(a, cross(b, c)) / 6.0
        };
        mesh.triangles.iter().map(part).sum()
    }

    /// Triangles turn the same way as their normals point, and normals have length 1.
    fn check(mesh: &Mesh) {
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
            let across = cross(sub(b, a), sub(c, a));
            assert!(length(across) > 0.0);
            for i in t {
                assert!(dot(across, mesh.normals[*i as usize]) > 0.0);
            }
        }
        assert!(mesh.normals.iter().all(|n| (length(*n) - 1.0).abs() < 1e-12));
    }

    #[test]
    fn meshes_enclose_the_volume_of_their_shapes() {
        let (r, l) = (0.3, 0.7);
        let ball = 4.0 / 3.0 * PI;
        let tetrahedron = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for (shape, expected, share) in [
            (Shape::Sphere { radius: r }, ball * r.powi(3), 0.02),
            (Shape::Ellipsoid { semi_axes: [0.1, 0.2, 0.4] }, ball * 0.008, 0.02),
            (Shape::Capsule { radius: r, half_length: l }, ball * r.powi(3) + PI * r * r * 2.0 * l, 0.02),
            (Shape::cylinder(r, l), PI * r * r * 2.0 * l, 0.01),
            (Shape::Box { half: [0.1, 0.2, 0.3] }, 0.048, 1e-12),
            (Shape::Polytope { vertices: tetrahedron }, 1.0 / 6.0, 1e-12),
        ] {
            let mesh = mesh(&shape, false);
            check(&mesh);
            let found = volume(&mesh);
            assert!((found / expected - 1.0).abs() < share, "{found} instead of {expected}");
        }
    }

    #[test]
    fn a_superellipsoid_of_exponent_two_is_drawn_as_the_ellipsoid() {
        let semi_axes = [0.3, 0.2, 0.1];
        let drawn = mesh(&Shape::Superellipsoid { semi_axes, exponent: 2.0 }, false);
        check(&drawn);
        for v in &drawn.vertices {
            let f: f64 = (0..3).map(|k| (v[k] / semi_axes[k]).powi(2)).sum();
            assert!((f - 1.0).abs() < 1e-9, "{v:?}");
        }
    }

    #[test]
    fn planar_shapes_have_their_area() {
        let area = |mesh: &Mesh| -> f64 {
            let part = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
                0.5 * length(cross(sub(b, a), sub(c, a)))
            };
            mesh.triangles.iter().map(part).sum()
        };
        let triangle = vec![[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]];
        for (shape, expected) in [
            (Shape::HalfSpace, 200.0),
            (Shape::Sphere { radius: 2.0 }, 4.0 * PI),
            (Shape::Ellipse { semi_axes: [2.0, 0.5] }, PI),
            (Shape::Box { half: [0.5, 1.0, 0.0] }, 2.0),
            (Shape::Polygon { vertices: triangle }, 1.0),
        ] {
            let mesh = mesh(&shape, true);
            check(&mesh);
            assert!((area(&mesh) / expected - 1.0).abs() < 0.01);
        }
        check(&mesh(&Shape::HalfSpace, false));
    }
}
