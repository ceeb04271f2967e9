//! Implicit surfaces: a body is where convex functions `f(x) <= 0`; each with its gradient and Hessian.

use crate::space::{Pose, Tensor, Vector, add, dot, inverse_spd, scale, sub, times, transpose_times};

/// A term of a polynomial: `coefficient x^i y^j z^k`.
pub type Monomial = (f64, [u32; 3]);

/// A convex function of a point, in the coordinates of a shape, m. Negative inside.
#[derive(Debug, Clone, PartialEq)]
pub enum Surface {
    /// `n . x - offset`.
    Plane {
        /// Outward, unit.
        normal: Vector,
        /// Distance from the origin, m.
        offset: f64,
    },
    /// `x' A x + 2 b . x + c`, with `A` positive semidefinite.
    Quadric {
        /// `A`.
        matrix: Tensor,
        /// `b`.
        vector: Vector,
        /// `c`.
        constant: f64,
    },
    /// `(r^2 - 1) / 2` with `r = (sum |x_i / a_i|^p)^(1/p)`: unlike `r` itself smooth in the middle.
    Superellipsoid {
        /// `a`, m.
        semi_axes: Vector,
        /// `p`, at least 2.
        exponent: f64,
    },
    /// `(d^2 - r^2) / 2 r` with `d` the distance from a segment along z, `r` the radius (capsule).
    Segment {
        /// m.
        half_length: f64,
        /// m.
        radius: f64,
    },
    /// A sum of monomials; convex near where bodies touch, which is checked there.
    Polynomial(Vec<Monomial>),
}

/// Function, gradient and Hessian at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// `f`.
    pub f: f64,
    /// `grad f`.
    pub gradient: Vector,
    /// Second derivatives.
    pub hessian: Tensor,
}

impl Surface {
    /// An ellipsoid about the origin.
    pub fn ellipsoid(semi_axes: Vector) -> Self {
        let mut matrix = [[0.0; 3]; 3];
        (0..3).for_each(|i| matrix[i][i] = 1.0 / (semi_axes[i] * semi_axes[i]));
        Self::Quadric { matrix, vector: [0.0; 3], constant: -1.0 }
    }

    /// At a point.
    pub fn at(&self, x: Vector) -> Value {
        let mut hessian = [[0.0; 3]; 3];
        match self {
            Self::Plane { normal, offset } => {
                Value { f: dot(*normal, x) - offset, gradient: *normal, hessian }
            }
            Self::Quadric { matrix, vector, constant } => {
                let ax = times(matrix, x);
                for i in 0..3 {
                    (0..3).for_each(|j| hessian[i][j] = 2.0 * matrix[i][j]);
                }
                let gradient = [0, 1, 2].map(|i| 2.0 * (ax[i] + vector[i]));
                Value { f: dot(x, ax) + 2.0 * dot(*vector, x) + constant, gradient, hessian }
            }
            Self::Superellipsoid { semi_axes, exponent: p } => {
                let u = [0, 1, 2].map(|i| x[i].abs() / semi_axes[i]);
                // scaled, so that high powers neither vanish nor overflow
                let largest = u[0].max(u[1]).max(u[2]);
                if largest == 0.0 {
                    (0..3).for_each(|i| hessian[i][i] = 1.0 / (semi_axes[i] * semi_axes[i]));
                    return Value { f: -0.5, gradient: [0.0; 3], hessian };
                }
                let w = u.map(|u| u / largest);
                let sum: f64 = w.iter().map(|w| w.powf(*p)).sum();
                let norm = sum.powf(1.0 / p);
                let g = [0, 1, 2].map(|i| (w[i] / norm).powf(p - 1.0) * x[i].signum() / semi_axes[i]);
                let r = norm * largest;
                for i in 0..3 {
                    for j in 0..3 {
                        let own = if i == j {
                            (w[i] / norm).powf(p - 2.0) / (semi_axes[i] * semi_axes[i])
                        } else {
                            0.0
                        };
                        // of r^2 / 2: g g' + r times the Hessian of r
                        hessian[i][j] = (p - 1.0) * own - (p - 2.0) * g[i] * g[j];
                    }
                }
                Value { f: 0.5 * (r * r - 1.0), gradient: g.map(|g| r * g), hessian }
            }
            Self::Segment { half_length, radius } => {
                let r = [x[0], x[1], x[2] - x[2].clamp(-half_length, *half_length)];
                (0..if r[2] == 0.0 { 2 } else { 3 }).for_each(|i| hessian[i][i] = 1.0 / radius);
                Value { f: 0.5 * (dot(r, r) / radius - radius), gradient: r.map(|r| r / radius), hessian }
            }
            Self::Polynomial(terms) => {
                let (mut f, mut gradient) = (0.0, [0.0; 3]);
                // value, first and second derivative of x^k
                let power = |x: f64, k: u32| -> [f64; 3] {
                    let at = |k: u32| x.powi(k as i32);
                    let (n, low) = (f64::from(k), |by: u32| k.checked_sub(by).map_or(0.0, at));
                    [at(k), n * low(1), n * (n - 1.0) * low(2)]
                };
                for (c, k) in terms {
                    let p = [0, 1, 2].map(|i| power(x[i], k[i]));
                    let product =
                        |orders: [usize; 3]| c * p[0][orders[0]] * p[1][orders[1]] * p[2][orders[2]];
                    f += product([0, 0, 0]);
                    for i in 0..3 {
                        let mut orders = [0; 3];
                        orders[i] += 1;
                        gradient[i] += product(orders);
                        for j in 0..3 {
                            let mut orders = orders;
                            orders[j] += 1;
                            hessian[i][j] += product(orders);
                        }
                    }
                }
                Value { f, gradient, hessian }
            }
        }
    }

    /// The point farthest along a direction, where there is a closed form.
    pub fn support(&self, d: Vector) -> Option<Vector> {
        match self {
            Self::Superellipsoid { semi_axes, exponent: p } => {
                // u_i = x_i / a_i with |u|_p = 1 that is largest along a_i d_i
                let w = [0, 1, 2].map(|i| semi_axes[i] * d[i].abs());
                let largest = w[0].max(w[1]).max(w[2]);
                let w = w.map(|w| (w / largest).powf(1.0 / (p - 1.0)));
                let norm = w.iter().map(|w| w.powf(*p)).sum::<f64>().powf(1.0 / p);
                (largest > 0.0).then(|| [0, 1, 2].map(|i| semi_axes[i] * d[i].signum() * w[i] / norm))
            }
            Self::Quadric { matrix, vector, constant } => {
                let inverse = inverse_spd(matrix)?;
                let (middle, along) = (times(&inverse, vector.map(|b| -b)), times(&inverse, d));
                let (size, length) = (dot(middle, times(matrix, middle)) - constant, dot(d, along));
                let x = add(middle, scale((size / length).sqrt(), along));
                x.iter().all(|x| x.is_finite()).then_some(x)
            }
            Self::Segment { half_length, radius } => {
                let length = dot(d, d).sqrt();
                let end = [0.0, 0.0, if d[2] == 0.0 { 0.0 } else { half_length * d[2].signum() }];
                (length > 0.0).then(|| add(end, scale(radius / length, d)))
            }
            Self::Plane { .. } | Self::Polynomial(_) => None,
        }
    }

    /// At a point of the world, for a shape at a pose.
    pub fn placed(&self, pose: &Pose, x: Vector) -> Value {
        let r = pose.attitude.matrix();
        let own = self.at(transpose_times(&r, sub(x, pose.position)));
        let columns: Tensor = [0, 1, 2].map(|j| times(&r, [0, 1, 2].map(|i| own.hessian[i][j])));
        // R H R': columns[j] = R H_j
        let hessian = [0, 1, 2].map(|i| {
            let row = [0, 1, 2].map(|j| columns[j][i]);
            times(&r, row)
        });
        Value { f: own.f, gradient: times(&r, own.gradient), hessian }
    }

    /// Whether the surface curves outward at a point: its Hessian across the gradient has no negative eigenvalue (to 1e-9 of the largest entry).
    pub fn is_convex_at(&self, x: Vector) -> bool {
        if !matches!(self, Self::Polynomial(_)) {
            return true;
        }
        let Value { gradient, hessian, .. } = self.at(x);
        let size = dot(gradient, gradient).sqrt();
        if size == 0.0 {
            return false;
        }
        let frame = crate::space::Frame::new(gradient.map(|g| g / size), [1.0, 0.0, 0.0]);
        let by = |a: Vector, b: Vector| dot(a, times(&hessian, b));
        let (a, b, c) = (by(frame.t, frame.t), by(frame.t, frame.o), by(frame.o, frame.o));
        let least = 0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt();
        let largest = hessian.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        least >= -1e-9 * largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Quaternion;

    fn all() -> Vec<Surface> {
        vec![
            Surface::Plane { normal: [0.6, 0.0, 0.8], offset: 0.3 },
            Surface::ellipsoid([0.3, 0.2, 0.5]),
            Surface::Quadric {
                matrix: [[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 0.0]],
                vector: [0.1, 0.0, -0.5],
                constant: -0.2,
            },
            Surface::Superellipsoid { semi_axes: [0.3, 0.2, 0.5], exponent: 4.0 },
            Surface::Superellipsoid { semi_axes: [0.3, 0.2, 0.5], exponent: 2.5 },
            Surface::Segment { half_length: 0.2, radius: 0.1 },
            Surface::Polynomial(vec![
                (1.0, [4, 0, 0]),
                (2.0, [0, 2, 0]),
                (1.0, [0, 0, 2]),
                (0.5, [1, 1, 0]),
                (-1.0, [0, 0, 0]),
            ]),
        ]
    }

    /// Gradient and Hessian are those of central differences, in the shape's axes and placed.
    #[test]
    fn derivatives_agree_with_differences() {
        let pose = Pose { position: [0.1, -0.2, 0.3], attitude: Quaternion::turn([0.3, -0.5, 0.9]) };
        for surface in all() {
            for x in [[0.21, 0.13, 0.34], [-0.4, 0.25, -0.31], [0.15, -0.3, 0.11]] {
                let found = surface.placed(&pose, x);
                let e = 1e-5;
                for i in 0..3 {
                    let mut unit = [0.0; 3];
                    unit[i] = e;
                    let (up, down) =
                        (surface.placed(&pose, add(x, unit)), surface.placed(&pose, sub(x, unit)));
                    let slope = (up.f - down.f) / (2.0 * e);
                    assert!(
                        (slope - found.gradient[i]).abs() < 1e-6 * (1.0 + slope.abs()),
                        "{surface:?} {i}"
                    );
                    let rate = scale(0.5 / e, sub(up.gradient, down.gradient));
                    for j in 0..3 {
                        assert!(
                            (rate[j] - found.hessian[i][j]).abs() < 2e-5 * (1.0 + rate[j].abs()),
                            "{surface:?} {i} {j}: {rate:?} {:?}",
                            found.hessian
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_dent_is_not_convex() {
        // a torus-like profile: x^4 - x^2 + y^2 + z^2 - 1/8
        let dented = Surface::Polynomial(vec![
            (1.0, [4, 0, 0]),
            (-1.0, [2, 0, 0]),
            (1.0, [0, 2, 0]),
            (1.0, [0, 0, 2]),
            (-0.125, [0, 0, 0]),
        ]);
        assert!(!dented.is_convex_at([0.0, 0.125f64.sqrt(), 0.0]));
        assert!(dented.is_convex_at([1.0, 0.0, 0.3]));
    }
}
