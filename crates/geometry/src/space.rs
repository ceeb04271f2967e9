//! Vectors, 3 x 3 matrices, frames, quaternions and poses.

/// A vector with three components.
pub type Vector = [f64; 3];

/// A 3 x 3 matrix, row by row.
pub type Tensor = [[f64; 3]; 3];

/// Dot product `a . b`.
pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Cross product `a x b`.
pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Sum `a + b`.
pub fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Difference `a - b`.
pub fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Product `s a` with a scalar.
pub fn scale(s: f64, a: Vector) -> Vector {
    [s * a[0], s * a[1], s * a[2]]
}

/// Length `|a|`.
pub fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// Unit vector `a / |a|`.
pub fn unit(a: Vector) -> Vector {
    scale(1.0 / length(a), a)
}

/// Product `m a` of a matrix and a vector.
pub fn times(m: &Tensor, a: Vector) -> Vector {
    [dot(m[0], a), dot(m[1], a), dot(m[2], a)]
}

/// Product `m' a` of a transposed matrix and a vector.
pub fn transpose_times(m: &Tensor, a: Vector) -> Vector {
    add(add(scale(a[0], m[0]), scale(a[1], m[1])), scale(a[2], m[2]))
}

/// Diagonal matrix in rotated axes, `R diag(d) R'`.
pub fn turned(r: &Tensor, d: Vector) -> Tensor {
    let entry = |i: usize, j: usize| (0..3).map(|k| r[i][k] * d[k] * r[j][k]).sum();
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
}

/// Inverse of a symmetric positive definite matrix; `None` if it is not positive definite (Sylvester).
pub fn inverse_spd(m: &Tensor) -> Option<Tensor> {
    let symmetric = (0..3)
        .all(|i| (0..3).all(|j| (m[i][j] - m[j][i]).abs() <= 1e-12 * (m[i][i].abs() * m[j][j].abs()).sqrt()));
    let minor = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    // the rows of the inverse, times the determinant, are cross products of columns
    let columns = [0, 1, 2].map(|j| [m[0][j], m[1][j], m[2][j]]);
    let rows = [cross(columns[1], columns[2]), cross(columns[2], columns[0]), cross(columns[0], columns[1])];
    let determinant = dot(columns[0], rows[0]);
    (symmetric && m[0][0] > 0.0 && minor > 0.0 && determinant > 0.0 && determinant.is_finite())
        .then(|| rows.map(|r| scale(1.0 / determinant, r)))
}

/// Upper triangular factor `U` of a symmetric positive definite matrix `U' U`.
pub fn root_spd(m: &Tensor) -> Tensor {
    let mut u = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in i..3 {
            let rest = m[i][j] - (0..i).map(|p| u[p][i] * u[p][j]).sum::<f64>();
            u[i][j] = if i == j { rest.sqrt() } else { rest / u[i][i] };
        }
    }
    u
}

/// A right-handed orthonormal frame: normal and two tangents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Normal.
    pub n: Vector,
    /// First tangent.
    pub t: Vector,
    /// Second tangent, `n x t`.
    pub o: Vector,
}

impl Frame {
    /// Frame of a unit normal, with `t` as near to `along` as possible (any tangent if that is parallel).
    pub fn new(n: Vector, along: Vector) -> Self {
        let flat = sub(along, scale(dot(along, n), n));
        let t = if length(flat) > 1e-6 * length(along) {
            unit(flat)
        } else {
            let axis = if n[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
            unit(sub(axis, scale(dot(axis, n), n)))
        };
        Self { n, t, o: cross(n, t) }
    }

    /// Frame with the same normal and `t` as near to the world's x axis as possible.
    pub fn along_x(&self) -> Self {
        Self::new(self.n, [1.0, 0.0, 0.0])
    }

    /// Converts components from another frame with the same normal to this frame.
    pub fn from(&self, other: &Self, [n, t, o]: Vector) -> Vector {
        let (cos, sin) = (dot(self.t, other.t), dot(self.t, other.o));
        [n, cos * t + sin * o, cos * o - sin * t]
    }

    /// The vector with these components along n, t, o.
    pub fn world(&self, [n, t, o]: Vector) -> Vector {
        add(add(scale(n, self.n), scale(t, self.t)), scale(o, self.o))
    }

    /// Components of `a` in n, t, o.
    pub fn components(&self, a: Vector) -> Vector {
        [dot(self.n, a), dot(self.t, a), dot(self.o, a)]
    }

    /// Tangential vector `s_t t + s_o o`.
    pub fn in_plane(&self, s: [f64; 2]) -> Vector {
        add(scale(s[0], self.t), scale(s[1], self.o))
    }

    /// Whether the axes are orthonormal and right-handed to rounding.
    pub fn is_orthonormal(&self) -> bool {
        let gram = [dot(self.n, self.n), dot(self.t, self.t), dot(self.o, self.o)];
        let across = sub(cross(self.n, self.t), self.o);
        gram.iter().all(|g| (g - 1.0).abs() < 1e-12)
            && dot(self.n, self.t).abs() < 1e-12
            && length(across) < 1e-12
    }
}

/// A unit quaternion, scalar first: the rotation that takes body axes to world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quaternion(pub [f64; 4]);

impl Quaternion {
    /// The identity rotation.
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 0.0]);

    /// Rotation by the rotation vector `angle` (radians along the axis): the exponential map.
    pub fn turn(angle: Vector) -> Self {
        let half = 0.5 * length(angle);
        // sin(half) / (2 half), by its series where the quotient would lose digits
        let sinc = if half < 1e-4 { 0.5 * (1.0 - half * half / 6.0) } else { 0.5 * half.sin() / half };
        Self([half.cos(), sinc * angle[0], sinc * angle[1], sinc * angle[2]])
    }

    /// The rotation vector of the rotation, of the shorter way: the inverse of [`Quaternion::turn`].
    pub fn angle(self) -> Vector {
        let [w, x, y, z] = if self.0[0] < 0.0 { self.0.map(|c| -c) } else { self.0 };
        let sin = length([x, y, z]);
        let ratio = if sin > 0.0 { 2.0 * sin.atan2(w) / sin } else { 2.0 };
        scale(ratio, [x, y, z])
    }

    /// Composition: first `other`, then `self`.
    pub fn after(self, other: Self) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = other.0;
        Self([
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ])
    }

    /// The inverse rotation.
    pub fn inverse(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([a, -b, -c, -d])
    }

    /// The quaternion scaled to length 1.
    pub fn unit(self) -> Self {
        let length = self.0.iter().map(|x| x * x).sum::<f64>().sqrt();
        Self(self.0.map(|x| x / length))
    }

    /// Rotates a vector.
    pub fn apply(self, x: Vector) -> Vector {
        let [a, b, c, d] = self.0;
        let axis = [b, c, d];
        let twice = scale(2.0, cross(axis, x));
        add(add(x, scale(a, twice)), cross(axis, twice))
    }

    /// Rotation matrix: its columns are the body axes in world axes.
    pub fn matrix(self) -> Tensor {
        let columns = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|e| self.apply(e));
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| columns[j][i]))
    }
}

/// Pose of a body: its origin in the world and its attitude.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Origin, m.
    pub position: Vector,
    /// Rotation from body axes to world axes.
    pub attitude: Quaternion,
}

impl Pose {
    /// Pose at the world's origin, along its axes.
    pub const IDENTITY: Self = Self { position: [0.0; 3], attitude: Quaternion::IDENTITY };

    /// World coordinates of a point given in body coordinates.
    pub fn point(&self, local: Vector) -> Vector {
        add(self.position, self.attitude.apply(local))
    }

    /// Body coordinates of a point given in world coordinates.
    pub fn local(&self, point: Vector) -> Vector {
        self.attitude.inverse().apply(sub(point, self.position))
    }

    /// Composition: the pose `inner`, given in the coordinates of this one, in the world.
    pub fn then(&self, inner: &Self) -> Self {
        Self { position: self.point(inner.position), attitude: self.attitude.after(inner.attitude) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Vector, b: Vector) -> bool {
        length(sub(a, b)) < 1e-14
    }

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y() {
        let q = Quaternion::turn([0.0, 0.0, std::f64::consts::FRAC_PI_2]);
        assert!(near(q.apply([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]));
        assert!(near(times(&q.matrix(), [1.0, 2.0, 3.0]), q.apply([1.0, 2.0, 3.0])));
        assert!(near(q.inverse().apply(q.apply([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0]));
    }

    #[test]
    fn turns_compose_and_tiny_turns_keep_their_angle() {
        let (a, b) = (Quaternion::turn([0.3, -0.2, 0.9]), Quaternion::turn([-1.0, 0.4, 0.1]));
        assert!(near(a.after(b).apply([1.0, 2.0, 3.0]), a.apply(b.apply([1.0, 2.0, 3.0]))));
        let tiny = Quaternion::turn([0.0, 0.0, 1e-9]).apply([1.0, 0.0, 0.0]);
        assert!((tiny[1] - 1e-9).abs() < 1e-24);
    }

    #[test]
    fn poses_nest() {
        let outer = Pose { position: [1.0, 2.0, 3.0], attitude: Quaternion::turn([0.1, 0.2, 0.3]) };
        let inner = Pose { position: [0.5, 0.0, -1.0], attitude: Quaternion::turn([1.0, 0.0, 0.0]) };
        let x = [0.3, 0.7, -0.2];
        assert!(near(outer.then(&inner).point(x), outer.point(inner.point(x))));
        assert!(near(outer.local(outer.point(x)), x));
    }
}
