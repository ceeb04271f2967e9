//! Vectors and 3 x 3 matrices in space.

/// A vector in world axes.
pub type Vector = [f64; 3];

/// A 3 x 3 matrix, row by row.
pub type Tensor = [[f64; 3]; 3];

/// `a . b`.
pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a x b`.
pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `a + b`.
pub fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// `a - b`.
pub fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `s a`.
pub fn scale(s: f64, a: Vector) -> Vector {
    [s * a[0], s * a[1], s * a[2]]
}

/// `|a|`.
pub fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// `a / |a|`.
pub fn unit(a: Vector) -> Vector {
    scale(1.0 / length(a), a)
}

/// `m a`.
pub fn times(m: &Tensor, a: Vector) -> Vector {
    [dot(m[0], a), dot(m[1], a), dot(m[2], a)]
}

/// `m' a`.
pub fn transpose_times(m: &Tensor, a: Vector) -> Vector {
    add(add(scale(a[0], m[0]), scale(a[1], m[1])), scale(a[2], m[2]))
}

/// `R diag(d) R'`.
pub fn turned(r: &Tensor, d: Vector) -> Tensor {
    let entry = |i: usize, j: usize| (0..3).map(|k| r[i][k] * d[k] * r[j][k]).sum();
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
}

/// Inverse of a symmetric positive definite matrix; `None` if it is not one (Sylvester).
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
    /// The frame of a unit normal, with `t` as near as can be to `along` (any direction if that is parallel).
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

    /// Components of `a` in n, t, o.
    pub fn components(&self, a: Vector) -> Vector {
        [dot(self.n, a), dot(self.t, a), dot(self.o, a)]
    }

    /// `s_t t + s_o o`.
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
