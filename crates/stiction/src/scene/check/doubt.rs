//! What is allowed, and most likely not meant: warnings.

use super::{At, Checker};
use crate::dynamics::{Inertia, Joint};
use crate::geometry::{Solid, bounding_box};
use crate::scene::resolved::Part;
use crate::scene::{Course, Fault, Numbers};
use crate::space::{Tensor, Vector, length, sub};
use std::f64::consts::TAU;

/// Angles that are given in degrees are mostly multiples of this, and up to this.
const DEGREES: f64 = 15.0;
const MOST_DEGREES: f64 = 360.0;
/// Friction above this is not known of dry materials.
const MOST_USUAL_FRICTION: f64 = 5.0;
/// Largest usual radius of gyration, as a share of the reach of the shapes, which may be only a part of the body.
const MOST_RADIUS: f64 = 3.0;
/// Least usual inertia, as a share of that of the shapes with the same mass: a tenth of the radius of gyration.
const LEAST_INERTIA: f64 = 1e-2;

impl Checker<'_> {
    pub(super) fn warn(&mut self, at: At<'_>, message: impl Into<String>) {
        self.warnings.push(Fault::new(at.to_string(), message));
    }

    /// An angle in radians that is a usual number of degrees.
    pub(super) fn doubt_angle(&mut self, x: f64, at: At<'_>) {
        if is_like_degrees(x) {
            let name = at.name();
            self.warn(
                at,
                format!(
                    "{name} is {x} rad, which looks like degrees: {x} degrees are {:.4} rad",
                    x.to_radians()
                ),
            );
        }
    }

    /// Limits of a rotation, in radians, beyond a whole turn.
    pub(super) fn doubt_limits(&mut self, limits: [f64; 2], joint: &str, at: At<'_>) {
        if limits.iter().any(|x| x.is_finite() && x.abs() > TAU) {
            let [a, b] = limits;
            let help = "use limits_deg if they are degrees";
            self.warn(at, format!("limits of a {joint} joint are [{a}, {b}] rad, more than a turn: {help}"));
        }
    }

    /// Angles over time, in radians, that are usual numbers of degrees.
    pub(super) fn doubt_course(&mut self, course: &Course<Numbers>, at: At<'_>) {
        let one = |x: &Numbers| x.first().copied().filter(|_| x.len() == 1).unwrap_or(0.0);
        match course {
            Course::Constant(x) => self.doubt_angle(one(x), at.key("constant")),
            Course::Sinusoid(s) => self.doubt_angle(one(&s.amplitude), at.key("sinusoid").key("amplitude")),
            // what turns on and on passes any angle
            Course::Points(_) | Course::Spline(_) => {}
        }
    }

    pub(super) fn doubt_friction(&mut self, x: f64, at: At<'_>) {
        if x > MOST_USUAL_FRICTION && x.is_finite() {
            let why = "of dry materials it is mostly below 2; is it an angle or a percentage?";
            self.warn(at, format!("friction is {x}: {why}"));
        }
    }

    /// Whether a body of these shapes can have an inertia that was given.
    pub(super) fn doubt_inertia(
        &mut self,
        given: &Inertia,
        own: Option<&Tensor>,
        parts: &[Part],
        at: At<'_>,
    ) {
        let Some(reach) = reach(parts, given.center, self.planar) else { return };
        let planar = self.planar;
        // the sum of m r^2 about the centre, or about z
        let size = |t: &Tensor| if planar { t[2][2] } else { 0.5 * (t[0][0] + t[1][1] + t[2][2]) };
        let radius = (size(&given.tensor) / given.mass).sqrt();
        if radius > MOST_RADIUS * reach {
            self.warn(
                at,
                format!(
                    "the inertia is that of a mass {radius:.3} m from its center, but the shapes end at {reach:.3} m: expected kg m^2, about the center of mass"
                ),
            );
        } else if let Some(own) = own.filter(|own| size(&given.tensor) < LEAST_INERTIA * size(own)) {
            let times = size(own) / size(&given.tensor);
            self.warn(
                at,
                format!(
                    "the inertia is {times:.0} times smaller than that of its shapes with the same mass: expected kg m^2, about the center of mass"
                ),
            );
        }
    }
}

/// Whether a number of radians is a usual number of degrees, and more than a turn.
fn is_like_degrees(x: f64) -> bool {
    x.abs() > TAU && x.abs() <= MOST_DEGREES && x % DEGREES == 0.0
}

/// Whether a degree of freedom of a joint is a rotation.
pub(super) fn is_rotation(joint: &Joint, dof: usize) -> bool {
    match joint {
        Joint::Revolute { .. } | Joint::Screw { .. } | Joint::Universal { .. } => true,
        Joint::Cylindrical { .. } => dof == 1,
        _ => false,
    }
}

/// Distance of the farthest corner of the shapes' boxes from a point; `None` without shapes, and where one has no end.
fn reach(parts: &[Part], from: Vector, planar: bool) -> Option<f64> {
    let mut most: Option<f64> = None;
    for part in parts {
        let solid = Solid::new(&part.shape, planar).ok()?;
        let around = bounding_box(&solid, &part.pose, 0.0);
        for corner in 0..8 {
            let x: Vector =
                std::array::from_fn(|k| if corner >> k & 1 == 0 { around.min[k] } else { around.max[k] });
            let mut arm = sub(x, from);
            if planar {
                arm[2] = 0.0;
            }
            most = Some(most.unwrap_or(0.0).max(length(arm)));
        }
    }
    most.filter(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_numbers_of_degrees_are_known() {
        for x in [15.0, -90.0, 45.0, 360.0, 180.0] {
            assert!(is_like_degrees(x), "{x}");
        }
        for x in [0.0, 1.57, std::f64::consts::PI, TAU, 20.0, 7.5, 1500.0] {
            assert!(!is_like_degrees(x), "{x}");
        }
    }
}
