//! Coordinates and how they follow speeds: `q' = G(q) v`.

use super::{Joint, System};
use crate::space::{Quaternion, Vector};

/// Three neighbours in `x`.
pub(super) fn three(x: &[f64], at: usize) -> Vector {
    [x[at], x[at + 1], x[at + 2]]
}

/// The attitude in `q`, scaled to length 1.
pub(super) fn attitude(q: &[f64], at: usize) -> Quaternion {
    Quaternion([q[at], q[at + 1], q[at + 2], q[at + 3]]).unit()
}

impl System {
    /// All joints at zero; quaternions at no turn.
    pub fn neutral_configuration(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.configuration_size()];
        for body in &self.model.bodies {
            match body.joint {
                Joint::Free => q[body.q + 3] = 1.0,
                Joint::Spherical => q[body.q] = 1.0,
                _ => {}
            }
        }
        q
    }

    /// `q+ = q + h G(q) v`. Attitudes turn by the exponential map of `h` times the angular velocity
    /// and come out with length 1.
    ///
    /// # Panics
    /// If a slice has not the system's length.
    pub fn advance(&self, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
        assert_eq!(
            (q.len(), out.len()),
            (self.configuration_size(), self.configuration_size()),
            "length of q"
        );
        assert_eq!(v.len(), self.velocity_size(), "length of v");
        let turn = |at: usize, w: Vector, out: &mut [f64]| {
            let next = Quaternion::turn(w.map(|x| h * x)).after(attitude(q, at)).unit();
            out[at..at + 4].copy_from_slice(&next.0);
        };
        for body in &self.model.bodies {
            match body.joint {
                Joint::Free => {
                    // v is in world axes, q against the mount
                    let to_mount = body.mount.attitude.inverse();
                    let velocity = to_mount.apply(three(v, body.v));
                    for k in 0..3 {
                        out[body.q + k] = q[body.q + k] + h * velocity[k];
                    }
                    turn(body.q + 3, to_mount.apply(three(v, body.v + 3)), out);
                }
                Joint::Spherical => turn(body.q, three(v, body.v), out),
                Joint::Planar | Joint::Revolute { .. } | Joint::Prismatic { .. } | Joint::Fixed => {
                    for k in 0..body.joint.velocity_size() {
                        out[body.q + k] = q[body.q + k] + h * v[body.v + k];
                    }
                }
            }
        }
    }
}
