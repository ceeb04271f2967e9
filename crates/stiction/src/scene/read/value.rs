//! Numbers, vectors, turns and names, checked one by one.

use super::Reader;
use crate::scene::raw::{At, Numbers, Orientation};
use crate::space::{Pose, Quaternion, Vector, scale, unit};
use std::collections::HashSet;

impl Reader<'_> {
    /// A number that is `ok`, or a fault; 1 in its place.
    pub fn number(&mut self, x: &At<f64>, what: &str, ok: impl Fn(f64) -> bool, expected: &str) -> f64 {
        if ok(*x.get()) {
            return *x.get();
        }
        self.fault(&x.span(), format!("{what} is {}, expected {expected}", x.get()));
        1.0
    }

    pub fn positive(&mut self, x: &At<f64>, what: &str) -> f64 {
        self.number(x, what, |x| x > 0.0, "a number above 0")
    }

    pub fn not_negative(&mut self, x: &At<f64>, what: &str) -> f64 {
        self.number(x, what, |x| x >= 0.0, "0 or more")
    }

    /// Exactly `N` numbers; zeros in the place of others.
    pub fn list<const N: usize>(&mut self, x: &Numbers, what: &str) -> [f64; N] {
        let numbers = x.get().as_slice();
        if let Ok(list) = numbers.try_into() {
            return list;
        }
        let expected = if N == 1 { "one number".to_owned() } else { format!("a list of {N}") };
        self.fault(&x.span(), format!("{what} has {} numbers, expected {expected}", numbers.len()));
        [0.0; N]
    }

    /// A vector: three numbers, in a planar scene two.
    pub fn vector(&mut self, x: &Numbers, what: &str) -> Vector {
        if self.planar {
            let [a, b] = self.list(x, what);
            [a, b, 0.0]
        } else {
            self.list(x, what)
        }
    }

    /// A turning vector (torque): three numbers, in a planar scene one, about z.
    pub fn spin(&mut self, x: &Numbers, what: &str) -> Vector {
        if self.planar {
            let [a] = self.list(x, what);
            [0.0, 0.0, a]
        } else {
            self.list(x, what)
        }
    }

    /// A unit vector along the one given.
    pub fn axis(&mut self, x: &Numbers) -> Vector {
        let axis = self.vector(x, "axis");
        // the largest component first, against overflow of squares
        let largest = axis.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        if largest == 0.0 {
            self.fault(&x.span(), "axis has no direction, expected a vector that is not zero");
            return [1.0, 0.0, 0.0];
        }
        unit(axis.map(|a| a / largest))
    }

    /// An angle in radians from one of two keys.
    pub fn angle(&mut self, radians: Option<&At<f64>>, degrees: Option<&At<f64>>) -> Option<f64> {
        if let (Some(_), Some(d)) = (radians, degrees) {
            self.fault(&d.span(), "angle_deg beside angle, expected one of them");
        }
        radians.map(|a| *a.get()).or(degrees.map(|a| a.get().to_radians()))
    }

    /// A turn in space.
    pub fn orientation(&mut self, given: &At<Orientation>) -> Quaternion {
        let o = given.get();
        let angle = self.angle(o.angle.as_ref(), o.angle_deg.as_ref());
        match (&o.quaternion, &o.axis, angle) {
            (Some(q), None, None) => {
                let list: [f64; 4] = self.list(q, "quaternion");
                let largest = list.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
                if largest == 0.0 {
                    if q.get().as_slice().len() == 4 {
                        self.fault(
                            &q.span(),
                            "quaternion is zero, expected [w, x, y, z] of any other length",
                        );
                    }
                    return Quaternion::IDENTITY;
                }
                Quaternion(list.map(|x| x / largest)).unit()
            }
            (None, Some(axis), Some(angle)) => Quaternion::turn(scale(angle, self.axis(axis))),
            _ => {
                self.fault(
                    &given.span(),
                    "orientation not clear, expected quaternion, or axis and angle (angle_deg)",
                );
                Quaternion::IDENTITY
            }
        }
    }

    /// A place and a turn; in a planar scene the turn is an angle.
    pub fn pose(
        &mut self,
        position: Option<&Numbers>,
        orientation: Option<&At<Orientation>>,
        radians: Option<&At<f64>>,
        degrees: Option<&At<f64>>,
    ) -> Pose {
        let position = position.map_or([0.0; 3], |p| self.vector(p, "position"));
        let angle = self.angle(radians, degrees);
        let attitude = match (orientation, angle) {
            (Some(o), _) if self.planar => {
                self.fault(&o.span(), "orientation in a planar scene, expected angle or angle_deg");
                Quaternion::IDENTITY
            }
            (Some(o), Some(_)) => {
                self.fault(&o.span(), "orientation beside angle, expected one of them");
                Quaternion::IDENTITY
            }
            (Some(o), None) => self.orientation(o),
            (None, angle) => Quaternion::turn([0.0, 0.0, angle.unwrap_or(0.0)]),
        };
        Pose { position, attitude }
    }

    /// A name that is not taken.
    pub fn name(&mut self, name: &At<String>, kind: &str, taken: &mut HashSet<String>) -> String {
        let text = name.get();
        if text.is_empty() || text.chars().any(char::is_control) {
            self.fault(&name.span(), format!("the name of a {kind} is empty or has control characters"));
        } else if kind != "material" && text == "world" {
            self.fault(&name.span(), "the name 'world' is the world's own");
        } else if !taken.insert(text.clone()) {
            self.fault(&name.span(), format!("duplicate name '{text}', expected one that is not taken"));
        }
        text.clone()
    }
}
