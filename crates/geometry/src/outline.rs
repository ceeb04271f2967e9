//! What a solid shows to another one along a normal: a point, a segment, a polygon or a disc, seen along `n`.

use super::placed::Placed;
use super::solid::Round;
use crate::space::{Frame, Vector, add, cross, dot, length, scale, sub, times};

/// Cosine from which a face counts as turned straight towards the other body (angles below 1.4e-5).
pub(super) const STRAIGHT: f64 = 1.0 - 1e-10;
/// Sine of the tilt up to which a cap lies on its face.
const LYING: f64 = 1e-3;
/// Sine of the tilt up to which a cap has no lowest point: rounding.
const LEVEL: f64 = 1e-9;
/// Sine of the slope from which a cap that lies on its face touches with the point of its rim farthest downhill.
const SLOPED: f64 = 1e-3;
/// Sine below which an edge counts as lying across the normal.
const ACROSS: f64 = 1e-6;

/// A corner of an outline: place across the normal, height along it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Corner {
    pub x: f64,
    pub y: f64,
    pub h: f64,
    /// Number of the body's corner (for a disc: twice the number of `cap_points`, plus the cap).
    pub vertex: u32,
    /// Number of the edge that follows.
    pub edge: u32,
}

/// The cap of a cylinder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disc {
    pub center: Vector,
    /// Unit normal.
    pub axis: Vector,
    pub radius: f64,
    /// Which cap: 0 or 1.
    pub cap: u32,
}

/// An outline: one corner for a point, two for a segment, more for a polygon or a disc.
#[derive(Debug, Clone, Default)]
pub(super) struct Outline {
    pub corners: Vec<Corner>,
    pub disc: Option<Disc>,
    /// Height of a polygon's or disc's plane: `h = level[0] + level[1] x + level[2] y`.
    pub level: [f64; 3],
    /// See [`Workspace::down`](super::touches::Workspace).
    pub down: Vector,
    /// See [`Workspace::flat`](super::touches::Workspace).
    pub flat: Option<f64>,
}

/// The face turned straight along `n`, if there is one.
pub(super) fn is_flat(body: &Placed, n: Vector) -> bool {
    match body.solid.round {
        Round::Disc => dot(body.axis(), n).abs() > STRAIGHT,
        Round::Ellipsoid => false,
        Round::None => (0..body.solid.hull.faces.len()).any(|f| dot(body.normals[f], n) > STRAIGHT),
    }
}

/// The edge that lies across `n` at the corner farthest along `n`, if there is one.
pub(super) fn edge_across(body: &Placed, n: Vector, farthest: usize) -> Option<usize> {
    let mut best = (None, ACROSS);
    for (i, e) in body.solid.hull.edges.iter().enumerate() {
        if e.corners.contains(&(farthest as u32)) {
            let u = body.edge(i);
            let sine = dot(u, n).abs() / length(u);
            if sine < best.1 {
                best = (Some(i), sine);
            }
        }
    }
    best.0
}

impl Outline {
    fn push(&mut self, frame: &Frame, p: Vector, vertex: u32, edge: u32) {
        let [h, x, y] = frame.components(p);
        self.corners.push(Corner { x, y, h, vertex, edge });
    }

    fn set_level(&mut self, frame: &Frame, normal: Vector, through: Vector) {
        let [mn, mt, mo] = frame.components(normal);
        let [h, x, y] = frame.components(through);
        let (sx, sy) = (-mt / mn, -mo / mn);
        self.level = [h - sx * x - sy * y, sx, sy];
    }

    /// Height of the plane.
    pub fn height(&self, x: f64, y: f64) -> f64 {
        self.level[0] + self.level[1] * x + self.level[2] * y
    }

    /// The edge across `out`, or else the point farthest along it; `out` is the frame's normal or its opposite.
    pub fn edge(&mut self, body: &Placed, out: Vector, frame: &Frame) {
        self.corners.clear();
        self.disc = None;
        let (far, _) = body.farthest(out);
        match edge_across(body, out, far) {
            Some(e) => self.segment(body, out, frame, e),
            None => self.push(frame, body.on_surface(body.corners[far], out), far as u32, 0),
        }
    }

    pub fn segment(&mut self, body: &Placed, out: Vector, frame: &Frame, e: usize) {
        for v in body.solid.hull.edges[e].corners {
            self.push(frame, body.on_surface(body.corners[v as usize], out), v, e as u32);
        }
    }

    /// The face most nearly along `out` of those at the farthest corner; a rod's segment; or the point farthest along `out`.
    pub fn face(&mut self, body: &Placed, out: Vector, frame: &Frame) {
        self.corners.clear();
        self.disc = None;
        let tilt = dot(body.axis(), out);
        if body.solid.round == Round::Disc && tilt.abs() > 0.5 {
            return self.cap(body, out, frame, tilt);
        }
        let far = body.farthest(out).0 as u32;
        let mut best = (None, 0.3);
        for (f, face) in body.solid.hull.faces.iter().enumerate() {
            let c = dot(body.normals[f], out);
            if c > best.1 && face.corners.contains(&far) {
                best = (Some(f), c);
            }
        }
        if let Some(f) = best.0 {
            let face = &body.solid.hull.faces[f];
            for (k, &v) in face.corners.iter().enumerate() {
                let edge = face.edges[k % face.edges.len()];
                self.push(frame, body.on_surface(body.corners[v as usize], out), v, edge);
            }
            self.set_level(frame, body.normals[f], body.corners[face.corners[0] as usize]);
        } else if body.solid.hull.edges.len() == 1 && tilt.abs() < 0.9 {
            self.segment(body, out, frame, 0);
        } else {
            self.edge(body, out, frame);
        }
    }

    fn cap(&mut self, body: &Placed, out: Vector, frame: &Frame, tilt: f64) {
        let cap = u32::from(tilt > 0.0);
        let center = body.corners[cap as usize];
        let radius = body.solid.semi_axes[0];
        for (k, r) in cap_points(body, out, (self.down, self.flat)) {
            self.push(frame, add(center, r), 2 * k + cap, cap);
        }
        self.set_level(frame, body.axis(), center);
        self.disc = Some(Disc { center, axis: body.axis(), radius, cap });
    }

    /// Whether the outline holds the place, to within `tolerance` metres.
    pub fn holds(&self, x: f64, y: f64, frame: &Frame, tolerance: f64) -> bool {
        if let Some(disc) = &self.disc {
            return length(self.on_disc(disc, x, y, frame)) <= disc.radius + tolerance;
        }
        let k = self.corners.len();
        // counter-clockwise seen against the face, hence either way round here
        let (mut left, mut right) = (true, true);
        for i in 0..k {
            let (a, b) = (self.corners[i], self.corners[(i + 1) % k]);
            let (ex, ey) = (b.x - a.x, b.y - a.y);
            let side = ex * (y - a.y) - ey * (x - a.x);
            let slack = tolerance * flat_length([ex, ey]);
            left &= side >= -slack;
            right &= side <= slack;
        }
        k > 2 && (left || right)
    }

    /// The place carried along the normal onto the disc's plane, relative to its centre.
    pub fn on_disc(&self, disc: &Disc, x: f64, y: f64, frame: &Frame) -> Vector {
        let p = add(scale(self.height(x, y), frame.n), frame.in_plane([x, y]));
        sub(p, disc.center)
    }
}

/// Points with which the cap that faces along `out` touches, relative to its centre, and their numbers.
///
/// A cap that lies on its face touches with points fixed to the body ([`Solid::face_points`]; numbers from 4): they do not
/// wander as the tilt changes by rounding. On a slope the point of the rim farthest along `down` takes part as well (the number after theirs):
/// there the weight leaves the face when the body tips. A tilted cap rolls on its rim: it touches with the point of the rim farthest along
/// `out` (number 0) and those at quarter turns from it (1 to 3). Point 0 takes part in both. With `flat` a cap whose tilt has at most this sine
/// touches with its own points alone, and any other with point 0 alone.
///
/// [`Solid::face_points`]: super::solid::Solid
pub(super) fn cap_points<'a>(
    body: &Placed<'a>,
    out: Vector,
    (down, flat): (Vector, Option<f64>),
) -> impl Iterator<Item = (u32, Vector)> + use<'a> {
    let (axis, matrix, lowest) = (body.axis(), body.matrix, body.bulge_point(out));
    let sine = length(cross(axis, out));
    let (turns, own): (usize, &[Vector]) = match flat {
        Some(flat) if sine > flat => (1, &[]),
        Some(_) => (0, &body.solid.face_points),
        None if sine > LYING => (4, &[]),
        None => (usize::from(sine > LEVEL), &body.solid.face_points),
    };
    let second = cross(axis, lowest);
    let rim = [lowest, second, scale(-1.0, lowest), scale(-1.0, second)];
    let rim = (0..).zip(rim).take(turns);
    let downhill = sub(down, scale(dot(down, axis), axis));
    let (slope, radius) = (length(downhill), body.solid.semi_axes[0]);
    let sloped = !own.is_empty() && slope > SLOPED * length(down);
    let loaded = sloped.then(|| (4 + own.len() as u32, scale(radius / slope, downhill)));
    rim.chain((4..).zip(own).map(move |(k, &p)| (k, times(&matrix, p)))).chain(loaded)
}

/// Length of a vector in the plane; metres are far from where squares overflow, and this is called often.
pub(super) fn flat_length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}
