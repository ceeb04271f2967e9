//! Mass, centre and inertia of shapes and of bodies made of several.

use super::hull::hull;
use super::shape::Shape;
use crate::space::{Pose, Tensor, Vector, add, cross, dot, scale, sub, times};
use std::f64::consts::PI;

/// How a body resists being moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// In kilograms; in planar scenes per metre of depth.
    pub mass: f64,
    /// Centre of mass.
    pub center: Vector,
    /// Inertia tensor about the centre of mass. In planar scenes that of a sheet: `[2][2]` is what turns the body.
    pub tensor: Tensor,
}

/// Mass properties of a shape of even density (kg/m^3), in its own coordinates; `None` for a half-space, and for
/// a shape that is invalid or belongs to the other kind of scene.
pub fn mass_properties(shape: &Shape, density: f64, planar: bool) -> Option<MassProperties> {
    shape.validate().ok()?;
    let about = |volume: f64, moments: Vector| symmetric(density * volume, moments);
    if planar {
        return Some(match shape {
            Shape::Sphere { radius: r } => about(PI * r * r, [r * r / 4.0, r * r / 4.0, 0.0]),
            Shape::Ellipse { semi_axes: [a, b] } => about(PI * a * b, [a * a / 4.0, b * b / 4.0, 0.0]),
            Shape::Box { half: [a, b, _] } => about(4.0 * a * b, [a * a / 3.0, b * b / 3.0, 0.0]),
            Shape::Polygon { vertices } => sheet(vertices, density),
            _ => return None,
        });
    }
    Some(match shape {
        Shape::Sphere { radius: r } => about(4.0 / 3.0 * PI * r.powi(3), [r * r / 5.0; 3]),
        Shape::Ellipsoid { semi_axes: s } => {
            about(4.0 / 3.0 * PI * s[0] * s[1] * s[2], s.map(|a| a * a / 5.0))
        }
        Shape::Box { half: s } => about(8.0 * s[0] * s[1] * s[2], s.map(|a| a * a / 3.0)),
        Shape::Cylinder { radius: r, half_length: l, .. } => {
            about(2.0 * PI * r * r * l, [r * r / 4.0, r * r / 4.0, l * l / 3.0])
        }
        Shape::Capsule { radius: r, half_length: l } => {
            let (rod, ball) = (2.0 * PI * r * r * l, 4.0 / 3.0 * PI * r.powi(3));
            let x2 = (rod * r * r / 4.0 + ball * r * r / 5.0) / (rod + ball);
            // half balls at the ends: <(l + z)^2> with <z> = 3 r / 8 and <z^2> = r^2 / 5
            let z2 = (rod * l * l / 3.0 + ball * (l * l + 0.75 * l * r + r * r / 5.0)) / (rod + ball);
            about(rod + ball, [x2, x2, z2])
        }
        Shape::Polytope { vertices } => polytope(vertices, density)?,
        Shape::Superellipsoid { semi_axes: s, exponent: p } => {
            // Dirichlet's integrals: 8 times those of an octant
            let integral = |powers: [f64; 3]| {
                let sum: f64 = powers.iter().sum();
                let product: f64 = (0..3).map(|i| s[i].powf(powers[i]) * gamma(powers[i] / p)).product();
                8.0 * product / (p.powi(3) * gamma(1.0 + sum / p))
            };
            let volume = integral([1.0; 3]);
            about(
                volume,
                [0, 1, 2].map(|i| integral([0, 1, 2].map(|j| if i == j { 3.0 } else { 1.0 })) / volume),
            )
        }
        Shape::HalfSpace
        | Shape::Ellipse { .. }
        | Shape::Polygon { .. }
        | Shape::Quadric { .. }
        | Shape::Polynomial { .. }
        | Shape::Intersection { .. } => return None,
    })
}

/// The gamma function of a positive number (Lanczos' approximation, to some 1e-15).
fn gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const C: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return PI / ((PI * x).sin() * gamma(1.0 - x));
    }
    let x = x - 1.0;
    let sum = C.iter().enumerate().skip(1).fold(C[0], |s, (i, c)| s + c / (x + i as f64));
    let t = x + G + 0.5;
    (2.0 * PI).sqrt() * t.powf(x + 0.5) * (-t).exp() * sum
}

/// Mass properties of several parts as one body, in the coordinates the poses are given in; `None` if there are
/// none, or they weigh nothing.
pub fn combined(parts: &[(MassProperties, Pose)]) -> Option<MassProperties> {
    let mass: f64 = parts.iter().map(|(p, _)| p.mass).sum();
    if parts.is_empty() || mass <= 0.0 || !mass.is_finite() {
        return None;
    }
    let moment = parts.iter().fold([0.0; 3], |sum, (p, pose)| add(sum, scale(p.mass, pose.point(p.center))));
    let center = scale(1.0 / mass, moment);
    let mut tensor = [[0.0; 3]; 3];
    for (part, pose) in parts {
        let r = pose.attitude.matrix();
        let d = sub(pose.point(part.center), center);
        // R I R' + m (d . d 1 - d d')
        let turned: Tensor = [0, 1, 2].map(|i| times(&r, times(&part.tensor, r[i])));
        for i in 0..3 {
            for j in 0..3 {
                let unit = if i == j { dot(d, d) } else { 0.0 };
                tensor[i][j] += turned[i][j] + part.mass * (unit - d[i] * d[j]);
            }
        }
    }
    Some(MassProperties { mass, center, tensor })
}

/// A body with three planes of symmetry, from the mean squares of its coordinates.
fn symmetric(mass: f64, [x2, y2, z2]: Vector) -> MassProperties {
    let [a, b, c] = [mass * (y2 + z2), mass * (x2 + z2), mass * (x2 + y2)];
    MassProperties { mass, center: [0.0; 3], tensor: [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]] }
}

/// From mass, centre relative to `from`, and second moments `sum m x x'` about `from`.
fn gathered(mass: f64, center: Vector, second: Tensor, from: Vector) -> MassProperties {
    let about = |i: usize, j: usize| second[i][j] - mass * center[i] * center[j];
    let trace = about(0, 0) + about(1, 1) + about(2, 2);
    let tensor =
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { trace - about(i, i) } else { -about(i, j) }));
    MassProperties { mass, center: add(from, center), tensor }
}

/// Adds a simplex with one corner at the origin: mean of x, and of x x' = (sum v v' + (sum v)(sum v)') / divisor.
fn gather(corners: &[Vector], mass: f64, sums: &mut (f64, Vector, Tensor)) {
    let k = corners.len() as f64;
    let sum = corners.iter().fold([0.0; 3], |s, &c| add(s, c));
    sums.0 += mass;
    sums.1 = add(sums.1, scale(mass / (k + 1.0), sum));
    for i in 0..3 {
        for j in 0..3 {
            let squares: f64 = corners.iter().map(|c| c[i] * c[j]).sum();
            sums.2[i][j] += mass * (squares + sum[i] * sum[j]) / ((k + 1.0) * (k + 2.0));
        }
    }
}

fn polytope(vertices: &[Vector], density: f64) -> Option<MassProperties> {
    let h = hull(vertices).ok()?;
    let from = h.corners[0];
    let at = |i: u32| sub(h.corners[i as usize], from);
    let mut sums = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for f in &h.faces {
        for k in 1..f.corners.len() - 1 {
            let t = [at(f.corners[0]), at(f.corners[k]), at(f.corners[k + 1])];
            gather(&t, density * dot(t[0], cross(t[1], t[2])) / 6.0, &mut sums);
        }
    }
    Some(gathered(sums.0, scale(1.0 / sums.0, sums.1), sums.2, from))
}

fn sheet(vertices: &[[f64; 2]], density: f64) -> MassProperties {
    let from = [vertices[0][0], vertices[0][1], 0.0];
    let at = |i: usize| sub([vertices[i][0], vertices[i][1], 0.0], from);
    let mut sums = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for k in 1..vertices.len() - 1 {
        let t = [at(k), at(k + 1)];
        gather(&t, density * 0.5 * cross(t[0], t[1])[2], &mut sums);
    }
    gathered(sums.0, scale(1.0 / sums.0, sums.1), sums.2, from)
}
