//! The two features that meet in a touch: their curvatures, and the derivatives of points, normal and gap with the poses.
//!
//! Every solid is a core (corners, edges, faces) plus an ellipsoid plus a ball (`solid.rs`). Let `x_a`, `x_b` be the points of
//! contact, `n` the normal from a to b, `x_b - x_a = g n`; `V_s = v_s + w_s x (x_s - o_s)` the velocity of the material of
//! body s at `x_s`, `r_s = w_s x n` the velocity of a normal fixed to it, `L_s = S_s^-1` the radii of curvature
//! (`curvature.rs`). While the features stay the same, a point of contact moves with the body, over the rounded surface as
//! the normal turns beside the body, and freely by `f_s` along its own edge or face:
//!
//! ```text
//! x_a' = V_a + L_a (n' - r_a) + f_a          x_b' = V_b - L_b (n' - r_b) + f_b                              (1)
//! x_b' - x_a' = g' n + g n'                  hence  g' = n . (V_b - V_a)  if f_s, L_s are across n          (2)
//! ```
//!
//! Put (1) into (2), and take the part across n and across all edges that meet:
//!
//! ```text
//! (g + L_a + L_b) n' = V_b - V_a + L_a r_a + L_b r_b       in directions where neither side is straight     (3)
//! e . n' = e . r_s                                         along an edge e of body s, and all over a face   (4)
//! ```
//!
//! Two rows of (3) and (4) give the normal: (3) twice for two smooth points, rims or vertices; (3) and (4) for an edge (or
//! the side of a cylinder) and a point; (4) twice for two edges, or for a face. With finite curvatures (3) and (1) are
//! Montana's equations ("The kinematics of contact and grasp", 1988) for two surfaces at the distance g: multiply by
//! `S_a`, `S_b`. In terms of `L` a vertex is `L = 0`, and straight lines give way to (4); nothing becomes infinite. The
//! matrix of (3) is singular, and the normal has no derivative, where sharp features meet at `g = 0` or concentric ones
//! overlap.
//!
//! Several touches of one pair share the normal. What is held fixed in each, seen along it:
//!
//! | touch | held | freedom |
//! | --- | --- | --- |
//! | nearest smooth points, rims, vertices | both | none |
//! | vertex (end of a rod, point of a rim) on a face | the vertex; it stays opposite a point of the face | in the face |
//! | crossing of the outlines of two faces, two edges, edges and rims | the crossing of the two lines along n | along both |
//! | vertex beside an edge, ends of parallel edges | the vertex; the other point is the foot on the edge | along the edge |
//!
//! A face that is not across n (the other body's face gave the normal) is followed along n, and the gap's derivative then
//! has, beside `n . (V_b - V_a)`, what the points travel times the slope. Points of a tilted
//! rim other than its lowest lie at quarter turns from that one; those of a cap that lies on its face are fixed to the body.
//!
//! Where faces or edges are parallel to rounding, tilting one beside the other makes a kink: the deepest place, and with it
//! what leads the normal, depends on which way. The derivatives are then those of one choice. A face that holds corners of
//! the other's face or edge leads (a's before b's); where neither does, the two lines of a crossing lead. With parallel
//! edges the normal follows the mean of their rotations, and (3) is taken in the middle of their common part. Motions that
//! keep them parallel have no kink.

use super::curvature::ShapeOperator;
use super::placed::Placed;
use super::resolve::Resolver;
use super::solid::Solid;
use super::touch::{Touch, Workspace, supported};
use crate::space::{Frame, Pose, Vector, add, cross, dot, length, scale, sub};

/// Relative to size: `g + L_a + L_b` below this has no inverse.
const SINGULAR: f64 = 1e-13;

/// Velocity of a solid: of the origin of its pose and about it, in world axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Velocity {
    /// Velocity of the origin, m/s.
    pub linear: Vector,
    /// Angular velocity, rad/s.
    pub angular: Vector,
}

/// Rates of change of a touch under given velocities of the two solids.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Velocities of the points of contact on a and on b (of the contact, not of the material), m/s.
    pub points: [Vector; 2],
    /// Rate of the normal, 1/s: across the normal.
    pub normal: Vector,
    /// Rate of the gap, m/s.
    pub gap: f64,
}

impl Rates {
    /// Rate of [`Touch::point`], m/s: midway between the two points.
    pub fn point(&self) -> Vector {
        self.point_at(0.5)
    }

    /// Rate of the point that divides the way from the point on a to that on b in this ratio, m/s.
    pub fn point_at(&self, share: f64) -> Vector {
        add(scale(1.0 - share, self.points[0]), scale(share, self.points[1]))
    }
}

/// How the two points of contact depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meeting {
    /// Each is given by its own body and the normal.
    Points,
    /// The point of this side is opposite the other's, on the plane with this normal.
    OnPlane(usize, Vector),
    /// The point of this side is the foot of the other's on the line along this direction.
    OnLine(usize, Vector),
    /// Crossing of two lines seen along the normal.
    Crossing([Vector; 2]),
}

/// One side: its point moves over its body by `roll[k][0] (turn . roll[k][1])` as the outward normal turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Side {
    pub point: Vector,
    pub roll: [[Vector; 2]; 2],
    pub curvature: ShapeOperator,
}

/// A row for the normal's rate: (4) with the shares of the bodies' rotations, or (3) with none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub direction: Vector,
    pub bodies: Option<[f64; 2]>,
}

/// The features that meet in a touch, ready to be differentiated. The formulas are in the head of `geometry/feature.rs`.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    normal: Vector,
    gap: f64,
    origins: [Vector; 2],
    sides: [Side; 2],
    meeting: Meeting,
    rows: [Row; 2],
    /// The normal's rate per right-hand side of each row.
    dual: [Vector; 2],
    /// `L` of both bodies in (3).
    rounding: [ShapeOperator; 2],
    /// Where (3) is taken, from the points of contact.
    shift: Vector,
}

/// The features of a touch that [`touches`](super::touches) found between the same solids at the same poses.
///
/// `None` where the normal has no derivative (sharp features that meet at gap zero, concentric overlaps) and for
/// unsupported pairs.
pub fn feature(
    a: &Solid,
    pose_a: &Pose,
    b: &Solid,
    pose_b: &Pose,
    touch: &Touch,
    workspace: &mut Workspace,
) -> Option<Feature> {
    if !supported(a, b) || a.implicit || b.implicit {
        return None;
    }
    let Workspace { memory: [memory_a, memory_b], outlines, .. } = workspace;
    let origin = pose_a.position;
    let pair = [Placed::new(a, pose_a, origin, memory_a), Placed::new(b, pose_b, origin, memory_b)];
    let found = Resolver { pair: &pair, frame: Frame::new(touch.normal, [1.0, 0.0, 0.0]), origin, touch };
    let (meeting, sides, shift) = found.meeting(outlines)?;
    let (rows, rounding) = found.rows(found.lead(&meeting, outlines));
    let (n, g) = (touch.normal, touch.gap);
    let size = a.reach + b.reach;
    let matrix = rows.map(|r| match r.bodies {
        Some(_) => r.direction,
        None => {
            let l = add(rounding[0].rolled(r.direction), rounding[1].rolled(r.direction));
            add(scale(g, r.direction), l)
        }
    });
    let invertible = rows.iter().zip(matrix).all(|(r, m)| r.bodies.is_some() || length(m) > SINGULAR * size);
    let determinant = dot(n, cross(matrix[0], matrix[1]));
    if !invertible || determinant.abs() <= SINGULAR * length(matrix[0]) * length(matrix[1]) {
        return None;
    }
    let dual = [cross(matrix[1], n), cross(n, matrix[0])].map(|d| scale(1.0 / determinant, d));
    let origins = [pose_a.position, pose_b.position];
    Some(Feature { normal: n, gap: g, origins, sides, meeting, rows, dual, rounding, shift })
}

impl Feature {
    /// Curvature of each side at its point of contact.
    pub fn curvature(&self) -> [ShapeOperator; 2] {
        self.sides.map(|s| s.curvature)
    }

    /// Points of contact on a and on b, in the world.
    pub fn points(&self) -> [Vector; 2] {
        self.sides.map(|s| s.point)
    }

    /// Rates of points, normal and gap under velocities of a and b. In planar scenes only motions in the plane have a meaning.
    pub fn rates(&self, velocity: &[Velocity; 2]) -> Rates {
        let (n, g) = (self.normal, self.gap);
        let turned = velocity.map(|v| cross(v.angular, n));
        let material = [0, 1].map(|s| {
            let arm = sub(self.sides[s].point, self.origins[s]);
            add(velocity[s].linear, cross(velocity[s].angular, arm))
        });
        let rolled = add(self.rounding[0].rolled(turned[0]), self.rounding[1].rolled(turned[1]));
        let spin = sub(velocity[1].angular, velocity[0].angular);
        let apart = add(add(sub(material[1], material[0]), cross(spin, self.shift)), rolled);
        let right = |r: &Row| match r.bodies {
            Some([p, q]) => dot(r.direction, add(scale(p, turned[0]), scale(q, turned[1]))), // (4)
            None => dot(r.direction, apart),                                                 // (3)
        };
        let normal =
            add(scale(right(&self.rows[0]), self.dual[0]), scale(right(&self.rows[1]), self.dual[1]));
        let mut points = [0, 1].map(|s| {
            let turn = scale([1.0, -1.0][s], sub(normal, turned[s]));
            self.sides[s]
                .roll
                .iter()
                .fold(material[s], |sum, [by, along]| add(sum, scale(dot(*along, turn), *by)))
        }); // (1) without f_s
        match self.meeting {
            Meeting::Points => {}
            Meeting::OnPlane(s, m) => {
                // opposite the other point, displaced along n until the velocity over the plane is in it
                let toward = [-1.0, 1.0][s];
                let opposite = add(points[1 - s], scale(toward * g, normal));
                points[s] = add(opposite, scale(dot(m, sub(material[s], opposite)) / dot(m, n), n));
            }
            Meeting::OnLine(s, u) => {
                let across = |x: Vector| sub(x, scale(dot(x, n), n));
                let (flat, offset) = (across(u), sub(self.sides[1 - s].point, self.sides[s].point));
                // offset . flat = 0 is kept
                let flat_rate = sub(
                    across(cross(velocity[s].angular, u)),
                    add(scale(dot(n, u), normal), scale(dot(normal, u), n)),
                );
                let slide = dot(sub(points[1 - s], points[s]), flat) + dot(offset, flat_rate);
                points[s] = add(points[s], scale(slide / dot(flat, flat), u));
            }
            Meeting::Crossing([u, w]) => {
                // f_a u - f_b w + g' n = x_b' - x_a' - g n', by triple products
                let c = sub(sub(points[1], points[0]), scale(g, normal));
                let volume = dot(n, cross(u, w));
                points[0] = add(points[0], scale(dot(c, cross(w, n)) / volume, u));
                points[1] = sub(points[1], scale(dot(c, cross(n, u)) / volume, w));
            }
        }
        let distance = sub(self.sides[1].point, self.sides[0].point);
        Rates { points, normal, gap: dot(n, sub(points[1], points[0])) + dot(normal, distance) }
    }

    /// The derivatives by the twelve components of motion: linear (x, y, z) and angular (x, y, z) of a, then of b.
    pub fn derivatives(&self) -> [Rates; 12] {
        std::array::from_fn(|k| {
            let mut velocity = [Velocity::default(); 2];
            let body = &mut velocity[k / 6];
            let part = if k % 6 < 3 { &mut body.linear } else { &mut body.angular };
            part[k % 3] = 1.0;
            self.rates(&velocity)
        })
    }
}
