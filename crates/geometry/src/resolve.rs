//! Finds the features of a touch again from its normal and number, and what they are held by: see `feature.rs`.

use super::curvature::ShapeOperator;
use super::manifold::{CORNER_OF_A, CORNER_OF_B, EDGES, nearest_places, place};
use super::outline::{Corner, Outline, edge_across, is_flat};
use super::placed::Placed;
use super::solid::Round;
use super::touch::Touch;
use crate::space::{Frame, Vector, add, cross, dot, length, scale, sub, unit};

/// Sine below which two edges count as parallel.
const PARALLEL: f64 = 1e-6;
/// Difference of two unit normals below which two faces are equally near the touch's normal.
const SAME: f64 = 1e-12;

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

/// What a touch resolves to: how its points depend on each other, both sides, and where (3) is taken from there.
type Met = (Meeting, [Side; 2], Vector);

/// What the normal belongs to: a face of this side, or the edges (if any) that it is across.
#[derive(Clone, Copy)]
pub(super) enum Lead {
    Face(usize),
    Edges([Option<Vector>; 2]),
}

/// What is needed to find the features again from a touch's normal and number.
pub(super) struct Resolver<'r, 'a> {
    pub pair: &'r [Placed<'a>; 2],
    pub frame: Frame,
    pub origin: Vector,
    pub touch: &'r Touch,
}

impl Resolver<'_, '_> {
    fn out(&self, side: usize) -> Vector {
        scale([1.0, -1.0][side], self.frame.n)
    }

    fn half_space(&self) -> Option<usize> {
        self.pair.iter().position(|p| p.solid.is_half_space())
    }

    fn flat(&self) -> [bool; 2] {
        [0, 1].map(|s| is_flat(&self.pair[s], self.out(s)))
    }

    /// Where the outlines say x, y and height, in the world.
    fn world(&self, [x, y, h]: [f64; 3]) -> Vector {
        add(self.origin, add(scale(h, self.frame.n), self.frame.in_plane([x, y])))
    }

    /// The two points if they are opposite each other along the normal.
    fn opposite(&self) -> [Vector; 2] {
        let half = scale(0.5 * self.touch.gap, self.frame.n);
        [sub(self.touch.point, half), add(self.touch.point, half)]
    }

    /// A corner of the core, with what is round about it.
    fn corner(&self, side: usize, point: Vector) -> Side {
        let curvature = self.pair[side].rounding(self.out(side));
        let roll = [0, 1].map(|k| {
            let d = curvature.directions[k];
            let r = curvature.radii[k];
            [scale(if r.is_finite() { r } else { 0.0 }, d), d]
        });
        Side { point, roll, curvature }
    }

    /// A point of a cap by its number: the lowest of the rim, up to three quarter turns about the axis from there, or fixed to
    /// the body.
    fn cap_point(&self, side: usize, point: Vector, number: u32) -> Side {
        let mut found = self.corner(side, point);
        let axis = self.pair[side].axis();
        match number {
            0 => return found,
            1..4 => {
                for _ in 0..number {
                    found.roll = found.roll.map(|[by, along]| [cross(axis, by), along]);
                }
            }
            _ => found.roll = [[[0.0; 3]; 2]; 2],
        }
        found.curvature = ShapeOperator::sharp(&self.frame);
        found
    }

    fn face(&self, point: Vector) -> Side {
        Side { point, roll: [[[0.0; 3]; 2]; 2], curvature: ShapeOperator::flat(&self.frame) }
    }

    /// An edge of the core along `u`, with what is round about it.
    fn edge(&self, side: usize, point: Vector, u: Vector) -> Side {
        let mut found = self.corner(side, point);
        let across = cross(self.frame.n, unit(sub(u, scale(dot(u, self.frame.n), self.frame.n))));
        let radius = dot(across, found.curvature.rolled(across));
        found.curvature = ShapeOperator::line(self.frame.n, u, radius);
        found
    }

    /// A vertex of side `s` on a plane of the other.
    fn on_plane(&self, s: usize, vertex: Side, m: Vector) -> Met {
        let face = self.face(self.opposite()[1 - s]);
        (Meeting::OnPlane(1 - s, m), if s == 0 { [vertex, face] } else { [face, vertex] }, [0.0; 3])
    }

    pub fn meeting(&self, outlines: &mut [Outline; 2]) -> Option<Met> {
        let feature = self.touch.feature;
        let n = self.frame.n;
        if let Some(plane) = self.half_space() {
            let s = 1 - plane;
            let point = self.opposite()[s];
            let disc = self.pair[s].solid.round == Round::Disc;
            let vertex = if disc { self.cap_point(s, point, feature >> 1) } else { self.corner(s, point) };
            return Some(self.on_plane(s, vertex, n));
        }
        let flat = self.flat();
        for s in 0..2 {
            if flat[0] || flat[1] {
                outlines[s].face(&self.pair[s], self.out(s), &self.frame);
            } else {
                outlines[s].edge(&self.pair[s], self.out(s), &self.frame);
            }
        }
        let lens = [outlines[0].corners.len(), outlines[1].corners.len()];
        let (kind, numbers) = (feature & (EDGES | CORNER_OF_B), [feature >> 15 & 0x7fff, feature & 0x7fff]);
        match kind {
            CORNER_OF_A | CORNER_OF_B if lens != [1, 1] => {
                let s = usize::from(kind == CORNER_OF_B);
                self.vertex(s, feature & !CORNER_OF_B, &outlines[s], &outlines[1 - s])
            }
            EDGES if outlines[0].disc.is_some() || outlines[1].disc.is_some() => {
                Some(self.rims_or_edges(numbers, outlines))
            }
            EDGES => {
                for s in 0..2 {
                    outlines[s].corners.clear();
                    outlines[s].segment(&self.pair[s], self.out(s), &self.frame, numbers[s] as usize);
                }
                Some(self.nearest(outlines))
            }
            _ => {
                for s in 0..2 {
                    outlines[s].edge(&self.pair[s], self.out(s), &self.frame);
                }
                Some(self.nearest(outlines))
            }
        }
    }

    /// A vertex of side `s` on a face, or beside a parallel edge, of the other.
    fn vertex(&self, s: usize, number: u32, own: &Outline, other: &Outline) -> Option<Met> {
        let point = self.opposite()[s];
        let corner = own.corners.iter().find(|c| c.vertex == number);
        if own.corners.len() == 2 && other.corners.len() == 2 && !self.pair[s].solid.planar() {
            let c = corner?;
            let point = self.world([c.x, c.y, c.h]);
            let u = self.pair[1 - s].edge(other.corners[0].edge as usize);
            let foot = self.edge(1 - s, sub(scale(2.0, self.touch.point), point), u);
            let vertex = self.corner(s, point);
            // of the four ends along the edges, the middle two bound the common part
            let mut ends = [own.corners[0], own.corners[1], other.corners[0], other.corners[1]]
                .map(|c| dot(u, self.world([c.x, c.y, c.h])) / dot(u, u));
            ends.sort_unstable_by(f64::total_cmp);
            let shift = scale(0.5 * (ends[1] + ends[2]) - dot(u, point) / dot(u, u), u);
            let sides = if s == 0 { [vertex, foot] } else { [foot, vertex] };
            return Some((Meeting::OnLine(1 - s, u), sides, shift));
        }
        let vertex = match own.disc {
            // points fixed to the body, and the one farthest downhill, are known by their numbers
            Some(_) if corner.is_some() || number >> 1 >= 4 => self.cap_point(s, point, number >> 1),
            _ => self.corner(s, point),
        };
        let [_, x, y] = other.level;
        Some(self.on_plane(s, vertex, sub(self.frame.n, self.frame.in_plane([x, y]))))
    }

    /// Crossing of a rim with an edge or another rim.
    fn rims_or_edges(&self, numbers: [u32; 2], outlines: &[Outline; 2]) -> Met {
        let points = self.opposite();
        let tangent = |s: usize| match outlines[s].disc {
            Some(disc) => cross(disc.axis, sub(sub(points[s], self.origin), disc.center)),
            None => self.pair[s].edge(numbers[s] as usize),
        };
        let u = [tangent(0), tangent(1)];
        let side = |s: usize| match outlines[s].disc {
            Some(_) => {
                Side { curvature: ShapeOperator::line(self.frame.n, u[s], 0.0), ..self.face(points[s]) }
            }
            None => self.edge(s, points[s], u[s]),
        };
        (Meeting::Crossing(u), [side(0), side(1)], [0.0; 3])
    }

    /// Points or segments where they come nearest, seen along the normal.
    fn nearest(&self, outlines: &[Outline; 2]) -> Met {
        let (s, t) = nearest_places(&outlines[0].corners, &outlines[1].corners);
        let u = [(0, s), (1, t)].map(|(k, share)| {
            let corners = &outlines[k].corners;
            let inside = corners.len() == 2 && share > 0.0 && share < 1.0;
            inside.then(|| self.pair[k].edge(corners[0].edge as usize))
        });
        let twice = scale(2.0, self.touch.point);
        let corner = |k: usize| self.world(place(&outlines[k].corners, [s, t][k]));
        let (meeting, [p, q]) = match u {
            [None, Some(w)] => (Meeting::OnLine(1, w), [corner(0), sub(twice, corner(0))]),
            [Some(u), None] => (Meeting::OnLine(0, u), [sub(twice, corner(1)), corner(1)]),
            [None, None] => (Meeting::Points, [corner(0), sub(twice, corner(0))]),
            [Some(u), Some(w)] => (Meeting::Crossing([u, w]), self.opposite()),
        };
        let side = |s: usize, x: Vector| u[s].map_or_else(|| self.corner(s, x), |u| self.edge(s, x, u));
        (meeting, [side(0, p), side(1, q)], [0.0; 3])
    }

    /// Rows (3) and (4) for the normal, and the `L` of both bodies.
    pub fn rows(&self, lead: Lead) -> ([Row; 2], [ShapeOperator; 2]) {
        let Frame { n, t, o } = self.frame;
        let along = |e: Vector, bodies: [f64; 2]| Row { direction: e, bodies: Some(bodies) };
        let balance = |f: Vector| Row { direction: f, bodies: None };
        let level = |e: Vector| unit(sub(e, scale(dot(e, n), n)));
        let edges = match lead {
            Lead::Edges(edges) => edges,
            Lead::Face(s) => {
                let bodies = if s == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
                let none = ShapeOperator::sharp(&self.frame);
                return ([along(t, bodies), along(o, bodies)], [none; 2]);
            }
        };
        let rounding = [0, 1].map(|s| self.pair[s].rounding(self.out(s)));
        let rows = match edges.map(|e| e.map(level)) {
            [None, None] => [balance(t), balance(o)],
            [Some(e), None] => [along(e, [1.0, 0.0]), balance(cross(n, e))],
            [None, Some(e)] => [along(e, [0.0, 1.0]), balance(cross(n, e))],
            [Some(e), Some(f)] if dot(n, cross(e, f)).abs() > PARALLEL => {
                [along(e, [1.0, 0.0]), along(f, [0.0, 1.0])]
            }
            [Some(e), Some(_)] => [along(e, [0.5, 0.5]), balance(cross(n, e))],
        };
        (rows, rounding)
    }

    /// What the normal belongs to. A face beside a parallel face or edge leads if it holds corners of that one; if neither
    /// does, the two lines of a crossing lead.
    pub fn lead(&self, meeting: &Meeting, outlines: &mut [Outline; 2]) -> Lead {
        if let Some(plane) = self.half_space() {
            return Lead::Face(plane);
        }
        let (flat, edges) = (self.flat(), self.edges());
        if flat == [false; 2] {
            return Lead::Edges(edges);
        }
        let off = [0, 1].map(|s| if flat[s] { self.off_face(s) } else { f64::INFINITY });
        let first = usize::from(off[1] < off[0]);
        let parallel = if flat == [true; 2] {
            (off[0] - off[1]).abs() <= SAME
        } else {
            edges[1 - first].is_some() && !self.pair[0].solid.planar()
        };
        if !parallel {
            return Lead::Face(first);
        }
        for s in 0..2 {
            outlines[s].face(&self.pair[s], self.out(s), &self.frame);
        }
        let tolerance = SAME * (self.pair[0].solid.reach + self.pair[1].solid.reach);
        let held = |s: &usize| {
            let within = |c: &Corner| outlines[*s].holds(c.x, c.y, &self.frame, tolerance);
            outlines[1 - s].corners.iter().any(within)
        };
        match ([0, 1].iter().find(|s| held(s)), meeting) {
            (Some(&s), _) => Lead::Face(s),
            (None, Meeting::Crossing([u, w])) => Lead::Edges([Some(*u), Some(*w)]),
            _ => Lead::Face(first),
        }
    }

    /// The edges that the normal is across; in a planar scene all stand along z.
    fn edges(&self) -> [Option<Vector>; 2] {
        [0, 1].map(|s| {
            let (body, out) = (&self.pair[s], self.out(s));
            if body.solid.planar() {
                return Some([0.0, 0.0, 1.0]);
            }
            edge_across(body, out, body.farthest(out).0).map(|e| body.edge(e))
        })
    }

    /// How far the nearest face normal of a side is from the touch's normal.
    fn off_face(&self, side: usize) -> f64 {
        let (body, out) = (&self.pair[side], self.out(side));
        if body.solid.round == Round::Disc {
            let axis = body.axis();
            return length(sub(scale(dot(axis, out).signum(), axis), out));
        }
        body.normals.iter().map(|&m| length(sub(m, out))).fold(f64::INFINITY, f64::min)
    }
}
