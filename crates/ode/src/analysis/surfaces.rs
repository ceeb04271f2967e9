//! Second-order kinematics of one contact: how two touching surfaces roll and slide over each other.
//!
//! The relative acceleration of trinkle1995 (4) is `a = W' q'' + W'. q'`. The second term follows from the
//! motion of the contact point over both surfaces. With the normal n from b to a, the relative velocity
//! `v = v_a - v_b` of the material points that touch (`v_n = 0`), `omega = omega_a - omega_b`, and the
//! curvatures `K_a`, `K_b` of the surfaces in the contact plane (2 x 2, positive where the body is convex),
//! the contact point moves at `eta` over a and at `eta + v` over b, where
//!
//! ```text
//! (K_a + K_b) eta = -(m + K_b v)          m = (n x omega) in the plane      (the normals stay opposed)
//! n'   = omega_b x n + K_b (eta + v) = omega_a x n - K_a eta
//! v'   = (accelerations of the material points) + omega_a x eta - omega_b x (eta + v)
//! ```
//!
//! A surface that ends in a point has infinite curvature: the contact stays at the point (`eta = 0` for a,
//! `eta = -v` for b). With these, `a_n = n . v' + n' . v` is the second derivative of the gap, and `a_t`,
//! `a_o` are the rates of the slip along axes at rest. A rolling ball thus presses on its plane with its
//! weight at any velocity, which the centripetal terms alone would get wrong.

use crate::space::{Frame, Vector, add, cross, dot, sub};

/// Surface of a body at a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Surface {
    /// A smooth surface with this curvature (1/m) along t, o: `[[tt, to], [to, oo]]`; positive where the body
    /// is convex, zero where it is flat.
    Smooth {
        /// Curvature matrix in the contact frame's t, o.
        curvature: [[f64; 2]; 2],
    },
    /// A corner or the tip of a foot.
    Point,
}

impl Surface {
    /// A plane.
    pub const FLAT: Self = Self::Smooth { curvature: [[0.0; 2]; 2] };

    /// A sphere; concave if the radius is negative.
    pub fn sphere(radius: f64) -> Self {
        Self::Smooth { curvature: [[1.0 / radius, 0.0], [0.0, 1.0 / radius]] }
    }
}

/// Motion of one of two bodies at their contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Motion {
    /// Angular velocity.
    pub omega: Vector,
    /// Arm from the centre of mass to the contact.
    pub arm: Vector,
    /// Velocity of the centre of mass.
    pub velocity: Vector,
}

impl Motion {
    pub const REST: Self = Self { omega: [0.0; 3], arm: [0.0; 3], velocity: [0.0; 3] };

    /// Velocity of the material point at the contact.
    pub fn at_contact(&self) -> Vector {
        add(self.velocity, cross(self.omega, self.arm))
    }

    /// Centripetal acceleration `omega x (omega x r)`.
    fn centripetal(&self) -> Vector {
        cross(self.omega, cross(self.omega, self.arm))
    }
}

/// Velocity terms `W'. q'` of one contact in n, t, o; `None` unless the surfaces touch in a single point with
/// a common normal.
pub(super) fn velocity_product(
    frame: &Frame,
    a: &Motion,
    b: &Motion,
    surfaces: [Surface; 2],
) -> Option<Vector> {
    let v = sub(a.at_contact(), b.at_contact());
    let slip = [dot(frame.t, v), dot(frame.o, v)];
    let (eta, normal_rate) = match surfaces {
        [Surface::Point, Surface::Point] => return None,
        [Surface::Point, Surface::Smooth { curvature }] => {
            ([0.0; 2], add(cross(b.omega, frame.n), frame.in_plane(apply(&curvature, slip))))
        }
        [Surface::Smooth { curvature }, Surface::Point] => {
            (slip.map(|s| -s), add(cross(a.omega, frame.n), frame.in_plane(apply(&curvature, slip))))
        }
        [Surface::Smooth { curvature: k_a }, Surface::Smooth { curvature: k_b }] => {
            let m = cross(frame.n, sub(a.omega, b.omega));
            let bent = apply(&k_b, slip);
            let eta = solve(&k_a, &k_b, [-dot(frame.t, m) - bent[0], -dot(frame.o, m) - bent[1]])?;
            let over_b = [eta[0] + slip[0], eta[1] + slip[1]];
            (eta, add(cross(b.omega, frame.n), frame.in_plane(apply(&k_b, over_b))))
        }
    };
    let over_a = frame.in_plane(eta);
    let moved = sub(cross(a.omega, over_a), cross(b.omega, add(over_a, v)));
    let rate = add(sub(a.centripetal(), b.centripetal()), moved);
    let [n, t, o] = frame.components(rate);
    Some([n + dot(normal_rate, v), t, o])
}

fn apply(k: &[[f64; 2]; 2], x: [f64; 2]) -> [f64; 2] {
    [k[0][0] * x[0] + k[0][1] * x[1], k[1][0] * x[0] + k[1][1] * x[1]]
}

/// Solves with `K_a + K_b`, which must be positive definite.
fn solve(a: &[[f64; 2]; 2], b: &[[f64; 2]; 2], x: [f64; 2]) -> Option<[f64; 2]> {
    let k = [0, 1].map(|i| [0, 1].map(|j| a[i][j] + b[i][j]));
    let determinant = k[0][0] * k[1][1] - k[0][1] * k[1][0];
    let size = a.iter().chain(b).flatten().map(|x| x * x).sum::<f64>();
    (k[0][0] > 0.0 && determinant > 1e-12 * size).then(|| {
        [(k[1][1] * x[0] - k[0][1] * x[1]) / determinant, (k[0][0] * x[1] - k[1][0] * x[0]) / determinant]
    })
}
