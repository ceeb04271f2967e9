//! Mass properties of shapes of uniform density.

use crate::dynamics::Inertia;
use crate::geometry::Shape;
use crate::space::{Pose, Tensor, Vector, add, dot, scale, sub, transpose_times};
use std::f64::consts::PI;

/// Mass properties in the shape's own coordinates; `None` for a half-space (infinite) and a polytope (not known
/// here). `density` in kg/m^3, planar shapes kg/m^2; the tensor of a planar shape is its moment about z times the
/// identity.
pub(super) fn of_shape(shape: &Shape, density: f64) -> Option<Inertia> {
    let about_origin = |mass: f64, moments: Vector| Inertia {
        mass,
        center: [0.0; 3],
        tensor: [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { mass * moments[i] } else { 0.0 })),
    };
    // moments a unit of mass of a body with mean squares of x, y, z
    let moments = |[x, y, z]: Vector| [y + z, x + z, x + y];
    Some(match *shape {
        Shape::HalfSpace | Shape::Polytope { .. } => return None,
        Shape::Sphere { radius: r } => about_origin(density * 4.0 / 3.0 * PI * r.powi(3), [0.4 * r * r; 3]),
        Shape::Ellipsoid { semi_axes: [a, b, c] } => {
            about_origin(density * 4.0 / 3.0 * PI * a * b * c, moments([a, b, c].map(|s| s * s / 5.0)))
        }
        Shape::Box { half: [a, b, c] } => {
            about_origin(density * 8.0 * a * b * c, moments([a, b, c].map(|s| s * s / 3.0)))
        }
        Shape::Cylinder { radius: r, half_length: l } => {
            let across = r * r / 4.0;
            about_origin(density * 2.0 * PI * r * r * l, moments([across, across, l * l / 3.0]))
        }
        Shape::Capsule { radius: r, half_length: l } => {
            // a cylinder and two half balls; z of a half ball: mean 3/8 r, mean square r^2/5, from the segment's end
            let (barrel, balls) = (2.0 * PI * r * r * l, 4.0 / 3.0 * PI * r.powi(3));
            let across = (barrel * r * r / 4.0 + balls * r * r / 5.0) / (barrel + balls);
            let ends = l * l + 0.75 * r * l + r * r / 5.0;
            let along = (barrel * l * l / 3.0 + balls * ends) / (barrel + balls);
            about_origin(density * (barrel + balls), moments([across, across, along]))
        }
        Shape::Ellipse { semi_axes: [a, b] } => {
            about_origin(density * PI * a * b, [(a * a + b * b) / 4.0; 3])
        }
        Shape::Polygon { ref vertices } => polygon(vertices, density),
    })
}

/// Sum over the triangles of a fan from the first corner.
fn polygon(vertices: &[[f64; 2]], density: f64) -> Inertia {
    let first = vertices[0];
    let edges: Vec<[f64; 2]> = vertices.iter().map(|v| [v[0] - first[0], v[1] - first[1]]).collect();
    let (mut area, mut moment, mut square) = (0.0, [0.0; 2], 0.0);
    for pair in edges.windows(2) {
        let ([a, b], [c, d]) = (pair[0], pair[1]);
        let part = 0.5 * (a * d - b * c);
        area += part;
        moment = [moment[0] + part * (a + c) / 3.0, moment[1] + part * (b + d) / 3.0];
        // mean of r^2 over a triangle with corners 0, p, q: (p.p + q.q + p.q) / 6
        square += part * (a * a + b * b + c * c + d * d + a * c + b * d) / 6.0;
    }
    let mean = [moment[0] / area, moment[1] / area];
    let polar = density * (square - area * (mean[0] * mean[0] + mean[1] * mean[1]));
    Inertia {
        mass: density * area,
        center: [first[0] + mean[0], first[1] + mean[1], 0.0],
        tensor: [[polar, 0.0, 0.0], [0.0, polar, 0.0], [0.0, 0.0, polar]],
    }
}

/// The mass properties given in a pose's coordinates, outside it.
pub(super) fn moved(inner: &Inertia, pose: &Pose) -> Inertia {
    let r = pose.attitude.matrix();
    // R I R'
    let tensor = [0, 1, 2].map(|i| {
        let row = transpose_times(&inner.tensor, r[i]);
        [0, 1, 2].map(|j| dot(row, r[j]))
    });
    Inertia { mass: inner.mass, center: pose.point(inner.center), tensor }
}

/// One body of several; `planar`: only offsets in the x-y plane, moment about z times the identity.
pub(super) fn together(parts: &[Inertia], planar: bool) -> Inertia {
    let mass: f64 = parts.iter().map(|p| p.mass).sum();
    let center = parts.iter().fold([0.0; 3], |sum, p| add(sum, scale(p.mass / mass, p.center)));
    let mut tensor: Tensor = [[0.0; 3]; 3];
    for part in parts {
        let d = sub(part.center, center);
        for i in 0..3 {
            for j in 0..3 {
                // parallel axes: m (d.d E - d d')
                let shift = match (planar, i == j) {
                    (true, true) => dot(d, d),
                    (true, false) => 0.0,
                    (false, true) => dot(d, d) - d[i] * d[j],
                    (false, false) => -d[i] * d[j],
                };
                tensor[i][j] += part.tensor[i][j] + part.mass * shift;
            }
        }
    }
    Inertia { mass, center, tensor }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Quaternion;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    #[test]
    fn a_square_is_an_ellipse_of_corners_wherever_it_stands() {
        let corners = |x: f64, y: f64| vec![[x, y], [x + 2.0, y], [x + 2.0, y + 2.0], [x, y + 2.0]];
        for (x, y) in [(-1.0, -1.0), (30.0, -7.0)] {
            let square = of_shape(&Shape::Polygon { vertices: corners(x, y) }, 3.0).unwrap();
            assert!(near(square.mass, 12.0) && near(square.tensor[2][2], 12.0 * 8.0 / 12.0));
            assert!(near(square.center[0], x + 1.0) || square.center[0].abs() < 1e-15);
        }
        let many = (0..10_000).map(|i| (2.0 * PI * f64::from(i) / 1e4).sin_cos());
        let polygon = Shape::Polygon { vertices: many.map(|(s, c)| [2.0 * c, s]).collect() };
        let (polygon, ellipse) =
            (of_shape(&polygon, 1.0), of_shape(&Shape::Ellipse { semi_axes: [2.0, 1.0] }, 1.0));
        let ratio = polygon.unwrap().tensor[2][2] / ellipse.unwrap().tensor[2][2];
        assert!((ratio - 1.0).abs() < 1e-6, "{ratio}");
    }

    #[test]
    fn a_short_capsule_is_a_sphere_and_a_thin_one_a_rod() {
        let sphere = of_shape(&Shape::Sphere { radius: 0.3 }, 2.0).unwrap();
        let capsule = of_shape(&Shape::Capsule { radius: 0.3, half_length: 1e-14 }, 2.0).unwrap();
        assert!(
            near(capsule.mass, sphere.mass)
                && (capsule.tensor[0][0] / sphere.tensor[0][0] - 1.0).abs() < 1e-12
        );
        let rod = of_shape(&Shape::Capsule { radius: 1e-7, half_length: 0.5 }, 1.0).unwrap();
        assert!((rod.tensor[0][0] / (rod.mass / 12.0) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn two_half_boxes_make_a_box_in_any_pose() {
        let pose = Pose { position: [1.0, -2.0, 0.5], attitude: Quaternion::turn([0.4, 0.2, -0.7]) };
        let whole = moved(&of_shape(&Shape::Box { half: [2.0, 0.3, 0.5] }, 5.0).unwrap(), &pose);
        let half = of_shape(&Shape::Box { half: [1.0, 0.3, 0.5] }, 5.0).unwrap();
        let parts = [-1.0, 1.0].map(|x| {
            let place = Pose { position: [x, 0.0, 0.0], attitude: Quaternion::IDENTITY };
            moved(&half, &pose.then(&place))
        });
        let sum = together(&parts, false);
        assert!(near(sum.mass, whole.mass));
        for i in 0..3 {
            assert!((sum.center[i] - whole.center[i]).abs() < 1e-14);
            for j in 0..3 {
                assert!(
                    (sum.tensor[i][j] - whole.tensor[i][j]).abs()
                        < 1e-12 * whole.tensor[0][0].abs().max(1.0) * 10.0
                );
            }
        }
    }
}
