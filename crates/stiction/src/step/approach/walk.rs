//! Two parts on their ways through a step, and where they first touch.

use crate::dynamics::Kinematics;
use crate::geometry::{Touch, Workspace as Touching, distance, separates};
use crate::model::{Model, Owner, Part};
use crate::motion::{Motion, Surfaces, part_pose};
use crate::space::{Pose, Quaternion, Vector, add, length, scale, sub};

/// Halvings of the time of the first contact.
const LOCATED: usize = 40;

/// How far a part reaches from the centre about which it turns, beyond the ball about that centre which turning leaves where it is: 0 for a ball, m.
pub(super) fn uneven(part: &Part, motion: &Motion) -> f64 {
    let offset = match part.owner {
        Owner::Body(i) => {
            let center = motion.kinematics.center(i);
            length(sub(motion.kinematics.pose(i).then(&part.local).position, center))
        }
        Owner::World(_) => 0.0,
    };
    offset + part.solid.uneven()
}

/// The way of a part over a step: its body's centre on a straight line, turning at an even rate.
pub(super) struct Way {
    from: Pose,
    /// Of the body, at the start.
    center: Vector,
    pub shift: Vector,
    pub turn: Vector,
}

impl Way {
    pub fn new(model: &Model, part: &Part, motion: &Motion, end: &Kinematics, surfaces: &Surfaces) -> Self {
        let from = part_pose(model, motion, part);
        let (center, to_center, to) = match part.owner {
            Owner::Body(i) => (motion.kinematics.center(i), end.center(i), end.pose(i).then(&part.local)),
            Owner::World(_) => {
                let to = surfaces.pose(part.owner).unwrap_or(from);
                (from.position, to.position, to)
            }
        };
        let turn = angle(to.attitude.after(from.attitude.inverse()));
        Self { from, center, shift: sub(to_center, center), turn }
    }

    fn at(&self, share: f64) -> Pose {
        let turn = Quaternion::turn(scale(share, self.turn));
        let arm = turn.apply(sub(self.from.position, self.center));
        Pose {
            position: add(add(self.center, scale(share, self.shift)), arm),
            attitude: turn.after(self.from.attitude).unit(),
        }
    }
}

/// The rotation vector of a rotation: the inverse of [`Quaternion::turn`].
fn angle(q: Quaternion) -> Vector {
    let [w, x, y, z] = if q.0[0] < 0.0 { q.0.map(|c| -c) } else { q.0 };
    let sine = length([x, y, z]);
    let share = if sine > 1e-12 { 2.0 * sine.atan2(w) / sine } else { 2.0 };
    scale(share, [x, y, z])
}

/// Two parts on their ways.
pub(super) struct Walk<'w> {
    pub parts: [&'w Part; 2],
    pub ways: [Way; 2],
    /// How far points leave the straight line between their places at the ends of the way as bodies turn, m.
    pub bulge: f64,
    /// How far a point of one part moves past one of the other, m.
    pub longest: f64,
    pub margin: f64,
    pub graze: f64,
    pub touching: &'w mut Touching,
    pub found: &'w mut Vec<Touch>,
}

/// The normal that separates two parts most, and by how much.
pub(super) type Apart = (Vector, f64);

impl Walk<'_> {
    pub fn poses(&self, share: f64) -> [Pose; 2] {
        [self.ways[0].at(share), self.ways[1].at(share)]
    }

    /// How far what the bodies show each other is carried along to a share of the way: their shift, a mean for two that move. The smaller one counts more, in
    /// proportion to the sizes: what its shift is off by is the arm of the force about it.
    pub fn back(&self, share: f64, owners: [Owner; 2], sizes: [f64; 2]) -> Vector {
        let shift = |i: usize| scale(share, self.ways[i].shift);
        match owners.map(|o| matches!(o, Owner::Body(_))) {
            [true, true] => {
                let first = sizes[1] / (sizes[0] + sizes[1]);
                let first = if first.is_finite() { first } else { 0.5 };
                add(scale(first, shift(0)), scale(1.0 - first, shift(1)))
            }
            [true, false] => shift(0),
            _ => shift(1),
        }
    }

    /// Signed distance at a share of the way; `None` if they are far from each other.
    pub fn at(&mut self, share: f64) -> Option<Apart> {
        let [p, q] = self.poses(share);
        let [a, b] = self.parts;
        distance((&a.solid, &p), (&b.solid, &q), self.margin, self.touching, self.found)
    }

    /// How far a normal separates them there; of shapes given by functions nothing is known.
    pub fn along(&self, n: Vector, share: f64) -> f64 {
        let [p, q] = self.poses(share);
        let [a, b] = self.parts;
        separates((&a.solid, &p), (&b.solid, &q), n).unwrap_or(f64::NEG_INFINITY)
    }

    /// Whether a normal separates them all the way between two shares.
    pub fn separates(&self, n: Vector, from: f64, to: f64) -> bool {
        let bulge = self.bulge * (to - from) * (to - from);
        self.along(n, from).min(self.along(n, to)) >= bulge - self.graze
    }

    /// The share of the way at which the parts first touch, between two at which their distances are known; `None` if they never do.
    pub fn first(
        &mut self,
        from: f64,
        begin: Apart,
        to: f64,
        end: Option<Apart>,
        halvings: usize,
    ) -> Option<f64> {
        let clear = |end: &Apart| end.1 >= -self.graze;
        if end.as_ref().is_none_or(clear) {
            let normals = [Some(begin.0), end.map(|e| e.0)];
            let far = begin.1 + end.map_or(self.margin, |e| e.1) >= self.longest * (to - from);
            let separated = |n: Vector| self.separates(n, from, to);
            if far || halvings == 0 || normals.into_iter().flatten().any(separated) {
                return None;
            }
        } else if halvings == 0 {
            return Some(self.locate(from, to));
        }
        let middle = 0.5 * (from + to);
        let half = self.at(middle);
        if let Some(found) = self.first(from, begin, middle, half, halvings - 1) {
            return Some(found);
        }
        match half {
            Some(half) => self.first(middle, half, to, end, halvings - 1),
            // out of reach there: as far as can be told, the rest is another approach
            None => end.filter(|e| e.1 < -self.graze).map(|_| self.locate(middle, to)),
        }
    }

    /// Bisects between a share at which the parts are apart, and one at which they overlap; the last one at which they are apart.
    fn locate(&mut self, mut apart: f64, mut overlap: f64) -> f64 {
        for _ in 0..LOCATED {
            let middle = 0.5 * (apart + overlap);
            match self.at(middle) {
                Some((_, gap)) if gap < -0.5 * self.graze => overlap = middle,
                _ => apart = middle,
            }
        }
        apart
    }
}
