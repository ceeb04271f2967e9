//! The touching points along a known normal: the corners of the common part of two outlines.
//!
//! Corners of one outline within the other, and crossings of their edges, each with its own gap along the normal.
//! This finds the same points as clipping one face by the other (Sutherland and Hodgman), but treats both alike, so
//! that ids name the features that meet: see [`Touch::feature`].

use super::outline::{Corner, Outline, flat_length, is_flat};
use super::placed::Placed;
use super::touch::Touch;
use crate::space::{Frame, Vector, add, cross, dot, scale, sub};

/// Most points of a manifold, unless a round face has as many of its own.
const MOST: usize = 8;
/// Sine below which two edges count as parallel and touch in two points.
const PARALLEL: f64 = 1e-3;

/// Ids of features: two bits of kind, thirty of numbers.
pub(super) const CORNER_OF_A: u32 = 0;
pub(super) const CORNER_OF_B: u32 = 1 << 30;
pub(super) const EDGES: u32 = 2 << 30;
pub(super) const OTHER: u32 = 3 << 30;

pub(super) struct Manifold<'m> {
    pub frame: Frame,
    /// What coordinates are relative to.
    pub origin: Vector,
    pub margin: f64,
    /// Below this distance, in metres, two points are one.
    pub tolerance: f64,
    /// Where this pair's touches begin in `out`.
    pub first: usize,
    pub out: &'m mut Vec<Touch>,
}

impl Manifold<'_> {
    /// All touches of a pair along the frame's normal; `gap` is the signed distance.
    pub fn find(&mut self, pair: &[Placed; 2], gap: f64, outlines: &mut [Outline; 2]) {
        let n = self.frame.n;
        let back = scale(-1.0, n);
        let [a, b] = outlines;
        let flat = [is_flat(&pair[0], n), is_flat(&pair[1], back)];
        if flat[0] || flat[1] {
            a.face(&pair[0], n, &self.frame);
            b.face(&pair[1], back, &self.frame);
        } else {
            a.edge(&pair[0], n, &self.frame);
            b.edge(&pair[1], back, &self.frame);
        }
        match (a.corners.len(), b.corners.len()) {
            (1, 1) => {}
            (1, _) if flat[1] => return self.single_at(a.corners[0], gap, 0.5, CORNER_OF_A),
            (_, 1) if flat[0] => return self.single_at(b.corners[0], gap, -0.5, CORNER_OF_B),
            (2, 2) => self.segments(a, b),
            (1, _) | (_, 1) => {}
            _ => self.common(a, b),
        }
        // sharp features just past a face's rim: the common part may miss the deepest place
        let found = self.out[self.first..].iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        if found > gap + self.tolerance {
            a.edge(&pair[0], n, &self.frame);
            b.edge(&pair[1], back, &self.frame);
            match (a.corners.len(), b.corners.len()) {
                (1, _) if flat[1] => self.single_at(a.corners[0], gap, 0.5, CORNER_OF_A),
                (_, 1) if flat[0] => self.single_at(b.corners[0], gap, -0.5, CORNER_OF_B),
                _ => self.single(a, b, gap),
            }
        }
        let refined = pair.iter().any(|p| p.solid.face_points.len() >= MOST);
        if !refined {
            self.thin();
        }
    }

    fn emit(&mut self, x: f64, y: f64, heights: [f64; 2], feature: u32) {
        let gap = heights[1] - heights[0];
        if gap > self.margin {
            return;
        }
        let middle = scale(0.5 * (heights[0] + heights[1]), self.frame.n);
        let point = add(self.origin, add(middle, self.frame.in_plane([x, y])));
        let known = |t: &Touch| {
            let d = self.frame.components(sub(t.point, point));
            d[1].abs() <= self.tolerance && d[2].abs() <= self.tolerance
        };
        if !self.out[self.first..].iter().any(known) {
            self.out.push(Touch { point, normal: self.frame.n, gap, feature });
        }
    }

    /// One touch at the surface point `c` of a (`half` = 0.5) or of b (`half` = -0.5).
    fn single_at(&mut self, c: Corner, gap: f64, half: f64, kind: u32) {
        let middle = c.h + half * gap;
        self.emit(c.x, c.y, [middle - 0.5 * gap, middle + 0.5 * gap], kind | c.vertex);
    }

    /// One touch where two features that are points or segments come nearest, seen along the normal.
    fn single(&mut self, a: &Outline, b: &Outline, gap: f64) {
        let name = |o: &Outline| {
            if o.corners.len() == 1 { 2 * o.corners[0].vertex } else { 2 * o.corners[0].edge + 1 }
        };
        let id = match (a.corners.len(), b.corners.len()) {
            (2, 2) => EDGES | a.corners[0].edge << 15 | b.corners[0].edge,
            _ => OTHER | name(a) << 15 | name(b),
        };
        let (s, t) = nearest_places(&a.corners, &b.corners);
        self.between(place(&a.corners, s), place(&b.corners, t), gap, id);
    }

    fn between(&mut self, p: [f64; 3], q: [f64; 3], gap: f64, id: u32) {
        let [x, y, h] = [0, 1, 2].map(|i| 0.5 * (p[i] + q[i]));
        self.emit(x, y, [h - 0.5 * gap, h + 0.5 * gap], id);
    }

    /// Two segments: the ends of their common part if they are parallel.
    fn segments(&mut self, a: &Outline, b: &Outline) {
        let ([p, q], [r, s]) = ([a.corners[0], a.corners[1]], [b.corners[0], b.corners[1]]);
        let (u, v) = ([q.x - p.x, q.y - p.y], [s.x - r.x, s.y - r.y]);
        let sine = u[0] * v[1] - u[1] * v[0];
        if sine.abs() > PARALLEL * flat_length(u) * flat_length(v) {
            return;
        }
        let on = |[e, f]: [Corner; 2], c: Corner| {
            let (dx, dy) = (f.x - e.x, f.y - e.y);
            let w = ((c.x - e.x) * dx + (c.y - e.y) * dy) / (dx * dx + dy * dy);
            let slack = self.tolerance / flat_length([dx, dy]);
            (w >= -slack && w <= 1.0 + slack).then_some([e.x + w * dx, e.y + w * dy, e.h + w * (f.h - e.h)])
        };
        let ends = [p, q].map(|c| (c, on([r, s], c)));
        let others = [r, s].map(|c| (c, on([p, q], c)));
        for (c, o) in ends {
            if let Some([x, y, h]) = o {
                self.emit(0.5 * (c.x + x), 0.5 * (c.y + y), [c.h, h], CORNER_OF_A | c.vertex);
            }
        }
        for (c, o) in others {
            if let Some([x, y, h]) = o {
                self.emit(0.5 * (c.x + x), 0.5 * (c.y + y), [h, c.h], CORNER_OF_B | c.vertex);
            }
        }
    }

    /// Two outlines of which at least one is a polygon or disc.
    fn common(&mut self, a: &Outline, b: &Outline) {
        for c in &a.corners {
            if b.holds(c.x, c.y, &self.frame, self.tolerance) {
                self.emit(c.x, c.y, [c.h, b.height(c.x, c.y)], CORNER_OF_A | c.vertex);
            }
        }
        for c in &b.corners {
            if a.holds(c.x, c.y, &self.frame, self.tolerance) {
                self.emit(c.x, c.y, [a.height(c.x, c.y), c.h], CORNER_OF_B | c.vertex);
            }
        }
        match (&a.disc, &b.disc) {
            (None, None) => self.edges_cross(a, b),
            (None, Some(_)) => self.edges_cross_rim(a, b, false),
            (Some(_), None) => self.edges_cross_rim(b, a, true),
            (Some(_), Some(_)) => self.rims_cross(a, b),
        }
    }

    fn edges_cross(&mut self, a: &Outline, b: &Outline) {
        for e in sides(a) {
            for f in sides(b) {
                let (s, t) = crossing(e, f);
                if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
                    let mix = |u: f64, v: f64| u + s * (v - u);
                    let heights = [mix(e[0].h, e[1].h), f[0].h + t * (f[1].h - f[0].h)];
                    let id = EDGES | e[0].edge << 15 | f[0].edge;
                    self.emit(mix(e[0].x, e[1].x), mix(e[0].y, e[1].y), heights, id);
                }
            }
        }
    }

    /// `swapped`: the disc is body a's.
    fn edges_cross_rim(&mut self, flat: &Outline, round: &Outline, swapped: bool) {
        let Some(disc) = round.disc else { return };
        for e in sides(flat) {
            let from = round.on_disc(&disc, e[0].x, e[0].y, &self.frame);
            let along = sub(round.on_disc(&disc, e[1].x, e[1].y, &self.frame), from);
            // |from + s along| = radius
            let (p, q) = (dot(along, along), dot(from, along));
            let root = q * q - p * (dot(from, from) - disc.radius * disc.radius);
            if root <= 0.0 {
                continue;
            }
            for (which, s) in [(-q - root.sqrt()) / p, (-q + root.sqrt()) / p].into_iter().enumerate() {
                if !(0.0..=1.0).contains(&s) {
                    continue;
                }
                let mix = |u: f64, v: f64| u + s * (v - u);
                let (x, y, h) = (mix(e[0].x, e[1].x), mix(e[0].y, e[1].y), mix(e[0].h, e[1].h));
                let rim = 2 * disc.cap + which as u32;
                if swapped {
                    self.emit(x, y, [round.height(x, y), h], EDGES | rim << 15 | e[0].edge);
                } else {
                    self.emit(x, y, [h, round.height(x, y)], EDGES | e[0].edge << 15 | rim);
                }
            }
        }
    }

    /// Crossings of two rims, where their planes are parallel to 1e-6 (else their own points must do).
    fn rims_cross(&mut self, a: &Outline, b: &Outline) {
        let (Some(p), Some(q)) = (a.disc, b.disc) else { return };
        let d = sub(q.center, p.center);
        let d = sub(d, scale(dot(d, p.axis), p.axis));
        let l2 = dot(d, d);
        let straight = dot(cross(p.axis, q.axis), cross(p.axis, q.axis)) < 1e-12;
        if !straight || l2 <= self.tolerance * self.tolerance {
            return;
        }
        let s = 0.5 * (1.0 + (p.radius * p.radius - q.radius * q.radius) / l2);
        let w2 = p.radius * p.radius / l2 - s * s;
        if w2 < 0.0 {
            return;
        }
        for (which, w) in [w2.sqrt(), -w2.sqrt()].into_iter().enumerate() {
            let x = add(p.center, add(scale(s, d), scale(w, cross(p.axis, d))));
            let [_, x, y] = self.frame.components(x);
            let id = EDGES | p.cap << 15 | (2 * q.cap + which as u32);
            self.emit(x, y, [a.height(x, y), b.height(x, y)], id);
        }
    }

    /// Keeps eight points that reach as far as all of them do in eight directions; the deepest stays.
    fn thin(&mut self) {
        let touches = &mut self.out[self.first..];
        if touches.len() <= MOST {
            return;
        }
        let mut kept = 0;
        let keep = |measure: &dyn Fn(&Touch) -> f64, kept: &mut usize, touches: &mut [Touch]| {
            let (mut best, mut most) = (*kept, f64::NEG_INFINITY);
            for (i, t) in touches.iter().enumerate() {
                let m = measure(t);
                if m > most {
                    (best, most) = (i, m);
                }
            }
            if best >= *kept {
                touches.swap(best, *kept);
                *kept += 1;
            }
        };
        keep(&|t| -t.gap, &mut kept, touches);
        for k in 0..MOST {
            let angle = k as f64 * std::f64::consts::FRAC_PI_4;
            let along = self.frame.in_plane([angle.cos(), angle.sin()]);
            if kept < MOST {
                keep(&|t| dot(along, t.point), &mut kept, touches);
            }
        }
        self.out.truncate(self.first + kept);
    }
}

/// The sides of a polygon, or the one of a segment.
fn sides(o: &Outline) -> impl Iterator<Item = [Corner; 2]> + '_ {
    let k = o.corners.len();
    (0..if k == 2 { 1 } else { k }).map(move |i| [o.corners[i], o.corners[(i + 1) % k]])
}

/// Where two lines cross, in lengths of each segment; not finite if they are parallel.
fn crossing([p, q]: [Corner; 2], [r, s]: [Corner; 2]) -> (f64, f64) {
    let (u, v, w) = ([q.x - p.x, q.y - p.y], [s.x - r.x, s.y - r.y], [r.x - p.x, r.y - p.y]);
    let sine = u[0] * v[1] - u[1] * v[0];
    if sine.abs() <= 1e-12 * flat_length(u) * flat_length(v) {
        return (f64::INFINITY, f64::INFINITY);
    }
    ((w[0] * v[1] - w[1] * v[0]) / sine, (w[0] * u[1] - w[1] * u[0]) / sine)
}

/// Where a segment comes nearest to a point, seen along the normal.
fn nearest(segment: &[Corner], c: &Corner) -> f64 {
    let (e, f) = (segment[0], segment[1]);
    let (dx, dy) = (f.x - e.x, f.y - e.y);
    (((c.x - e.x) * dx + (c.y - e.y) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0)
}

/// The place at the share `s` of a segment (of a point: the point itself): x, y and height.
pub(super) fn place(corners: &[Corner], s: f64) -> [f64; 3] {
    let (p, q) = (corners[0], corners[corners.len() - 1]);
    let mix = |u: f64, v: f64| u + s * (v - u);
    [mix(p.x, q.x), mix(p.y, q.y), mix(p.h, q.h)]
}

/// Where two features that are points or segments come nearest, seen along the normal.
pub(super) fn nearest_places(a: &[Corner], b: &[Corner]) -> (f64, f64) {
    match (a.len(), b.len()) {
        (1, 1) => (0.0, 0.0),
        (1, _) => (0.0, nearest(b, &a[0])),
        (_, 1) => (nearest(a, &b[0]), 0.0),
        _ => nearest_of_two(a, b),
    }
}

/// Where two segments come nearest, seen along the normal: at their crossing, or at an end of one of them.
fn nearest_of_two(a: &[Corner], b: &[Corner]) -> (f64, f64) {
    let (s, t) = crossing([a[0], a[1]], [b[0], b[1]]);
    if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
        return (s, t);
    }
    let ends = [(0.0, nearest(b, &a[0])), (1.0, nearest(b, &a[1]))];
    let others = [(nearest(a, &b[0]), 0.0), (nearest(a, &b[1]), 1.0)];
    let apart = |&(s, t): &(f64, f64)| {
        let x = a[0].x + s * (a[1].x - a[0].x) - b[0].x - t * (b[1].x - b[0].x);
        let y = a[0].y + s * (a[1].y - a[0].y) - b[0].y - t * (b[1].y - b[0].y);
        x * x + y * y
    };
    let all = ends.into_iter().chain(others);
    all.min_by(|p, q| apart(p).total_cmp(&apart(q))).unwrap_or((0.0, 0.0))
}
