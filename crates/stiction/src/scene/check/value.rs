//! Numbers, vectors, turns and names, checked one by one.

use super::{At, Checker};
use crate::scene::{Numbers, Orientation};
use crate::space::{Pose, Quaternion, Vector, scale, unit};
use std::collections::HashSet;

impl Checker<'_> {
    /// A number that is `ok`, or a fault; 1 in its place.
    pub fn number(&mut self, x: f64, at: At<'_>, ok: impl Fn(f64) -> bool, expected: &str) -> f64 {
        if ok(x) {
            return x;
        }
        self.fault(at, format!("{} is {x}, expected {expected}", at.name()));
        1.0
    }

    pub fn positive(&mut self, x: f64, at: At<'_>) -> f64 {
        self.number(x, at, |x| x > 0.0, "a number above 0")
    }

    pub fn not_negative(&mut self, x: f64, at: At<'_>) -> f64 {
        self.number(x, at, |x| x >= 0.0, "0 or more")
    }

    /// Exactly `N` numbers; zeros in the place of others.
    pub fn list<const N: usize>(&mut self, x: &Numbers, at: At<'_>) -> [f64; N] {
        if let Ok(list) = x[..].try_into() {
            return list;
        }
        let expected = if N == 1 { "one number".to_owned() } else { format!("a list of {N}") };
        self.fault(at, format!("{} has {} numbers, expected {expected}", at.name(), x.len()));
        [0.0; N]
    }

    /// A vector: three numbers, in a planar scene two.
    pub fn vector(&mut self, x: &Numbers, at: At<'_>) -> Vector {
        if self.planar {
            let [a, b] = self.list(x, at);
            [a, b, 0.0]
        } else {
            self.list(x, at)
        }
    }

    /// A turning vector (torque): three numbers, in a planar scene one, about z.
    pub fn spin(&mut self, x: &Numbers, at: At<'_>) -> Vector {
        if self.planar {
            let [a] = self.list(x, at);
            [0.0, 0.0, a]
        } else {
            self.list(x, at)
        }
    }

    /// A unit vector along the one given.
    pub fn axis(&mut self, x: &Numbers, at: At<'_>) -> Vector {
        let axis = self.vector(x, at);
        // the largest component first, against overflow of squares
        let largest = axis.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        if largest == 0.0 {
            self.fault(at, "axis has no direction, expected a vector that is not zero");
            return [1.0, 0.0, 0.0];
        }
        unit(axis.map(|a| a / largest))
    }

    /// An angle in radians from one of two keys of `at`.
    pub fn angle(&mut self, radians: Option<f64>, degrees: Option<f64>, at: At<'_>) -> Option<f64> {
        if radians.is_some() && degrees.is_some() {
            self.fault(at.key("angle_deg"), "angle_deg beside angle, expected one of them");
        }
        radians.or(degrees.map(f64::to_radians))
    }

    /// The same of a rotation that is given once, and not of one that may go on.
    fn fixed_angle(&mut self, radians: Option<f64>, degrees: Option<f64>, at: At<'_>) -> Option<f64> {
        if let Some(angle) = radians {
            self.doubt_angle(angle, at.key("angle"));
        }
        self.angle(radians, degrees, at)
    }

    /// A rotation in space.
    pub fn orientation(&mut self, o: &Orientation, at: At<'_>) -> Quaternion {
        match (o.quaternion, &o.axis, self.fixed_angle(o.angle, o.angle_deg, at)) {
            (Some(q), None, None) => {
                let largest = q.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
                if largest == 0.0 {
                    let message = "quaternion is zero, expected [w, x, y, z] of any other length";
                    self.fault(at.key("quaternion"), message);
                    return Quaternion::IDENTITY;
                }
                Quaternion(q.map(|x| x / largest)).unit()
            }
            (None, Some(axis), Some(angle)) => {
                Quaternion::turn(scale(angle, self.axis(axis, at.key("axis"))))
            }
            _ => {
                self.fault(at, "orientation not clear, expected quaternion, or axis and angle (angle_deg)");
                Quaternion::IDENTITY
            }
        }
    }

    /// A place and a rotation, of four keys of `at`; in a planar scene the rotation is an angle.
    pub fn pose(
        &mut self,
        position: Option<&Numbers>,
        orientation: Option<&Orientation>,
        [radians, degrees]: [Option<f64>; 2],
        at: At<'_>,
    ) -> Pose {
        let position = position.map_or([0.0; 3], |p| self.vector(p, at.key("position")));
        let angle = self.fixed_angle(radians, degrees, at);
        let here = at.key("orientation");
        let attitude = match (orientation, angle) {
            (Some(_), _) if self.planar => {
                self.fault(here, "orientation in a planar scene, expected angle or angle_deg");
                Quaternion::IDENTITY
            }
            (Some(_), Some(_)) => {
                self.fault(here, "orientation beside angle, expected one of them");
                Quaternion::IDENTITY
            }
            (Some(o), None) => self.orientation(o, here),
            (None, angle) => Quaternion::turn([0.0, 0.0, angle.unwrap_or(0.0)]),
        };
        Pose { position, attitude }
    }

    /// Whether a name is not taken; `at` has it as its key `name`.
    pub fn name(&mut self, name: &str, kind: &str, taken: &mut HashSet<String>, at: At<'_>) {
        let at = at.key("name");
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            self.fault(at, format!("the name of a {kind} is empty or has control characters"));
        } else if kind != "material" && name == "world" {
            self.fault(at, "the name 'world' is the world's own");
        } else if !taken.insert(name.to_owned()) {
            self.fault(at, format!("duplicate name '{name}', expected one that is not taken"));
        }
    }
}
