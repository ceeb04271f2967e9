//! Parts that lie flush beside each other have no inner edge: tiles of a floor, segments of a track, parts of one body, blocks in a row.
//!
//! A third part Y that slides over them must not stumble over what only one of them shows:
//!
//! - *Covered sides.* Y meets a side or edge of B that A covers: every point at which they touch lies on A, too (to [`FLUSH`]), and B does not rise above the plane in
//!   which A meets Y. Then A alone says where Y may go, and the contacts of Y and B are left out.
//! - *One normal.* Y may be tilted, and a part that is small beside it then shows it another normal than a large one: that of Y's own face. Parts that lie in one plane and
//!   cannot part have one normal, the one along which Y is least deep in all of them, as on one plate.
//! - *Seams.* Where Y lies on A and B in one plane, and these cannot part, what touches at their seam is no corner of the common face: it is left out where other points
//!   surround it, and a corner of Y on the seam counts once. Compliant contacts then carry as those of one plate.

use crate::contact::set::{Contact, ContactSet};
use crate::geometry::{Shape, Solid, Touch, Workspace, distance, reaches, separates};
use crate::model::{Model, Owner};
use crate::space::{Pose, Quaternion, Vector, add, dot, length, scale, sub};
use std::f64::consts::PI;

/// Overlap in which two bodies pass as if they were flush, m, and over the size of the smaller one: what is less is no step to stumble over.
pub(super) const GRAZE: f64 = 2e-6;
pub(super) const GRAZE_SIZE: f64 = 1e-3;

/// Normals that differ by less are one: a ball that rolls over a seam has both within this share of its radius about it.
const ONE_PLANE: f64 = 1e-4;
/// Normals that differ by less are the same one, but for rounding.
const SAME: f64 = 1e-12;
/// Normals of parts in one plane that differ by more are those of other sides.
const TILTED: f64 = 0.1;
/// Radius of the circle about a point of a seam on which parts are looked for, over the tolerance, and the number of places on it.
const AROUND: f64 = 10.0;
const PLACES: usize = 16;
/// Most points about a seam; where there are more none is left out.
const MOST: usize = 32;
/// Radius of a ball that stands for a point, m.
const POINT: f64 = 1e-15;

/// Contacts of two parts.
#[derive(Debug, Clone, Copy)]
struct Pair {
    parts: [u32; 2],
    first: usize,
    end: usize,
    /// The normal of parts that lie in one plane with the one that is no Y, from the first part to the second.
    along: Option<Vector>,
}

/// Memory of the search for seams.
#[derive(Debug, Clone, Default)]
pub(super) struct Flush {
    pairs: Vec<Pair>,
    /// Partners of each part, those of part p in `partners[starts[p]..starts[p + 1]]`, with the index of their pair.
    starts: Vec<u32>,
    partners: Vec<[u32; 2]>,
    /// What is left out, and along which normal what is covered is met instead (from the first part to the second), contact by contact.
    out: Vec<bool>,
    covered: Vec<Option<Vector>>,
    /// Parts in one plane, with their pairs.
    plane: Vec<Side>,
    /// Pairs to be looked for again: parts, rule, normal.
    pub again: Vec<((u32, u32), usize, Vector)>,
    point: Option<Solid>,
    touching: Workspace,
    found: Vec<Touch>,
}

/// One side of a seam: a part, its pair with Y, and the normal towards Y.
#[derive(Debug, Clone, Copy)]
struct Side {
    part: u32,
    pair: usize,
    normal: Vector,
}

impl Flush {
    /// Leaves out contacts with covered sides. `near`: all pairs of parts whose boxes meet; `poses`: of the parts. What [`Self::again`] lists afterwards is to be looked for
    /// again, along the normals of what covers it.
    pub fn cover(&mut self, model: &Model, near: &[[u32; 2]], poses: &[Pose], contacts: &mut ContactSet) {
        self.again.clear();
        if !self.begin(contacts, poses.len()) {
            return;
        }
        // bodies on floors go first, then floors under bodies of several parts
        for moves in [true, false] {
            for y in (0..poses.len()).filter(|&y| model.parts()[y].moves == moves) {
                self.level(model, poses, contacts, y as u32);
            }
        }
        self.each_seam(near, contacts, &mut |flush, y, sides| {
            flush.compare(model, poses, contacts, y, sides, false);
        });
        for k in 0..self.pairs.len() {
            let pair = self.pairs[k];
            let own = contacts.contacts[pair.first].frame.n;
            let is_covered = self.covered[pair.first..pair.end].iter().all(Option::is_some);
            if !is_covered && pair.along.is_some_and(|n| length(sub(n, own)) > SAME) {
                self.covered[pair.first..pair.end].fill(pair.along);
            }
            if self.covered[pair.first..pair.end].iter().all(Option::is_some) {
                self.out[pair.first..pair.end].fill(true);
                let c = &contacts.contacts[pair.first];
                let has_faces = |p: u32| model.parts()[p as usize].solid.has_faces();
                if let (true, Some(normal)) =
                    (pair.parts.into_iter().all(has_faces), self.covered[pair.first])
                {
                    self.again.push(((c.id.part_a, c.id.part_b), c.rule, normal));
                }
            }
        }
        self.leave_out(contacts);
    }

    /// Leaves out what is no corner of the face that parts beside each other have in common.
    pub fn join(&mut self, model: &Model, near: &[[u32; 2]], poses: &[Pose], contacts: &mut ContactSet) {
        if self.begin(contacts, poses.len()) {
            self.each_seam(near, contacts, &mut |flush, y, sides| {
                flush.compare(model, poses, contacts, y, sides, true);
            });
            for k in 0..self.pairs.len() {
                for y in self.pairs[k].parts {
                    self.mark_beside(model, poses, contacts, y, k);
                }
            }
            self.leave_out(contacts);
        }
    }

    /// Whether there is more than one pair in contact; then it is known who is whose partner.
    fn begin(&mut self, contacts: &ContactSet, parts: usize) -> bool {
        if !self.find_pairs(contacts) {
            return false;
        }
        self.find_partners(parts);
        self.out.clear();
        self.out.resize(contacts.contacts.len(), false);
        self.covered.clear();
        self.covered.resize(contacts.contacts.len(), None);
        true
    }

    /// Calls with each part Y and each two near parts that are both in contact with it.
    fn each_seam(
        &mut self,
        near: &[[u32; 2]],
        contacts: &ContactSet,
        see: &mut dyn FnMut(&mut Self, u32, [Side; 2]),
    ) {
        for &[a, b] in near {
            // the shorter list of partners is gone through, the longer one searched
            let [few, many] =
                if self.partners_of(a).len() <= self.partners_of(b).len() { [a, b] } else { [b, a] };
            for k in self.range_of(few) {
                let [y, one] = self.partners[k];
                let Ok(other) = self.partners_of(many).binary_search_by_key(&y, |p| p[0]) else { continue };
                let other = self.partners_of(many)[other][1];
                let sides =
                    [(few, one), (many, other)].map(|(part, pair)| self.side(contacts, part, pair as usize));
                see(self, y, sides);
            }
        }
    }

    fn leave_out(&mut self, contacts: &mut ContactSet) {
        if self.out.iter().any(|out| *out) {
            let mut out = self.out.iter();
            contacts.retain(|_, _| out.next() == Some(&false));
        }
    }

    /// Whether there are two pairs at all.
    fn find_pairs(&mut self, contacts: &ContactSet) -> bool {
        self.pairs.clear();
        for (k, c) in contacts.contacts.iter().enumerate() {
            let parts = [c.id.part_a, c.id.part_b];
            match self.pairs.last_mut().filter(|p| p.parts == parts) {
                Some(pair) => pair.end = k + 1,
                None => self.pairs.push(Pair { parts, first: k, end: k + 1, along: None }),
            }
        }
        self.pairs.len() > 1
    }

    fn find_partners(&mut self, parts: usize) {
        self.partners.clear();
        // part and partner, sorted; then the part is known by its place
        let both = |(k, p): (usize, &Pair)| [(p.parts[0], p.parts[1], k), (p.parts[1], p.parts[0], k)];
        self.starts.clear();
        self.starts.resize(parts + 1, 0);
        for (part, _, _) in self.pairs.iter().enumerate().flat_map(both) {
            self.starts[part as usize + 1] += 1;
        }
        for p in 0..parts {
            self.starts[p + 1] += self.starts[p];
        }
        self.partners.resize(2 * self.pairs.len(), [0; 2]);
        for (part, partner, pair) in self.pairs.iter().enumerate().flat_map(both) {
            let slot = &mut self.starts[part as usize];
            self.partners[*slot as usize] = [partner, pair as u32];
            *slot += 1;
        }
        // filling has moved every start to its end
        for p in (1..=parts).rev() {
            self.starts[p] = self.starts[p - 1];
        }
        self.starts[0] = 0;
        for p in 0..parts {
            self.partners[self.starts[p] as usize..self.starts[p + 1] as usize].sort_unstable();
        }
    }

    fn range_of(&self, part: u32) -> std::ops::Range<usize> {
        self.starts[part as usize] as usize..self.starts[part as usize + 1] as usize
    }

    fn partners_of(&self, part: u32) -> &[[u32; 2]] {
        &self.partners[self.range_of(part)]
    }

    /// Gives partners of Y that lie in one plane and cannot part one normal: of theirs and the plane's own the one along which Y is least deep in all of them.
    fn level(&mut self, model: &Model, poses: &[Pose], contacts: &ContactSet, y: u32) {
        let placed = |p: u32| (&model.parts()[p as usize].solid, &poses[p as usize]);
        if self.partners_of(y).len() < 2 || !placed(y).0.has_faces() {
            return;
        }
        let mut plane = std::mem::take(&mut self.plane);
        for k in self.range_of(y) {
            let [part, pair] = self.partners[k];
            let first = self.side(contacts, part, pair as usize);
            let Some(n) = face_near(placed(first.part), first.normal) else { continue };
            if length(sub(n, first.normal)) <= SAME {
                // its own face: Y is least deep along it, and so it is in all parts of the plane
                let own = contacts.contacts[self.pairs[first.pair].first].frame.n;
                self.pairs[first.pair].along.get_or_insert(own);
            }
        }
        for k in self.range_of(y) {
            let [part, pair] = self.partners[k];
            let first = self.side(contacts, part, pair as usize);
            let Some(n) = face_near(placed(first.part), first.normal) else { continue };
            if self.pairs[first.pair].along.is_some() {
                continue;
            }
            let height =
                |p: u32| reaches(placed(p).0, placed(p).1, n).map(|r| r + dot(n, placed(p).1.position));
            let Some(top) = height(first.part) else { continue };
            plane.clear();
            for &[part, pair] in self.partners_of(y) {
                let parts = [first.part, part];
                if cannot_part(model, parts)
                    && placed(part).0.has_faces()
                    && height(part).is_some_and(|h| (h - top).abs() <= tolerance(model, y, parts))
                {
                    plane.push(self.side(contacts, part, pair as usize));
                }
            }
            let tilted = |s: &&Side| length(sub(s.normal, n)) <= TILTED;
            let depth = |n: Vector| {
                let gaps = plane.iter().filter_map(|s| separates(placed(s.part), placed(y), n));
                gaps.fold(f64::INFINITY, f64::min)
            };
            let known = plane.iter().filter(tilted).find(|s| self.pairs[s.pair].along.is_some());
            let (mut best, mut least) = known.map_or_else(|| (n, depth(n)), |s| (s.normal, f64::INFINITY));
            for side in plane.iter().filter(tilted) {
                if length(sub(side.normal, best)) > SAME && depth(side.normal) > least {
                    (best, least) = (side.normal, depth(side.normal));
                }
            }
            for side in plane.iter().filter(tilted) {
                let pair = &mut self.pairs[side.pair];
                let sign = if pair.parts[0] == side.part { 1.0 } else { -1.0 };
                pair.along.get_or_insert(scale(sign, best));
            }
        }
        self.plane = plane;
    }

    /// A part of a pair, as the other one meets it.
    fn side(&self, contacts: &ContactSet, part: u32, pair: usize) -> Side {
        let own = self.pairs[pair].along.unwrap_or(contacts.contacts[self.pairs[pair].first].frame.n);
        Side { part, pair, normal: if self.pairs[pair].parts[0] == part { own } else { scale(-1.0, own) } }
    }

    /// Looks at a seam: for sides that are covered, or for points that are no corners.
    fn compare(
        &mut self,
        model: &Model,
        poses: &[Pose],
        contacts: &ContactSet,
        y: u32,
        sides: [Side; 2],
        join: bool,
    ) {
        let [a, b] = sides;
        let flush = tolerance(model, y, [a.part, b.part]);
        if length(sub(a.normal, b.normal)) > ONE_PLANE {
            if !join && !self.mark_covered(model, poses, contacts, [a, b], flush) {
                self.mark_covered(model, poses, contacts, [b, a], flush);
            }
            return;
        }
        if join && cannot_part(model, sides.map(|s| s.part)) {
            self.mark_seam(model, poses, contacts, y, sides, flush);
        }
    }

    /// Marks the contacts of Y and B that A covers; whether these are all.
    fn mark_covered(
        &mut self,
        model: &Model,
        poses: &[Pose],
        contacts: &ContactSet,
        [a, b]: [Side; 2],
        flush: f64,
    ) -> bool {
        let [by, of] = [a, b].map(|s| self.pairs[s.pair]);
        if self.covered[by.first..by.end].iter().all(Option::is_some) {
            return false;
        }
        // the highest of A's points that touch, along its own normal
        let level = |c: &Contact| dot(a.normal, surface(contacts, c, a.part));
        let plane = contacts.contacts[by.first..by.end].iter().map(level).fold(f64::NEG_INFINITY, f64::max);
        let solid = &model.parts()[b.part as usize].solid;
        let pose = &poses[b.part as usize];
        let rises = reaches(solid, pose, a.normal).map(|r| dot(a.normal, pose.position) + r - plane);
        if rises.is_none_or(|rises| rises > flush) {
            return false;
        }
        for k in of.first..of.end {
            let at = surface(contacts, &contacts.contacts[k], b.part);
            if self.covered[k].is_none() && self.lies_on(model, poses, a.part, at, flush) {
                let b_is_first = contacts.contacts[k].id.part_a == b.part;
                self.covered[k] = Some(if b_is_first { a.normal } else { scale(-1.0, a.normal) });
            }
        }
        self.covered[of.first..of.end].iter().all(Option::is_some)
    }

    /// Marks what touches at the seam of two parts in one plane and is no corner.
    fn mark_seam(
        &mut self,
        model: &Model,
        poses: &[Pose],
        contacts: &ContactSet,
        y: u32,
        sides: [Side; 2],
        flush: f64,
    ) {
        let pairs = sides.map(|s| self.pairs[s.pair]);
        let all = || pairs.iter().flat_map(|p| p.first..p.end);
        let list = &contacts.contacts;
        if all().count() > MOST || all().any(|k| list[k].count > 1) {
            return;
        }
        for s in 0..2 {
            for k in pairs[s].first..pairs[s].end {
                let at = surface(contacts, &list[k], sides[s].part);
                if self.out[k] || !self.lies_on(model, poses, sides[1 - s].part, at, flush) {
                    continue;
                }
                let place = |j: usize| {
                    let id = list[j].id;
                    surface(contacts, &list[j], if id.part_a == y { id.part_b } else { id.part_a })
                };
                if is_corner_of(model, y, &list[k]) {
                    let again = (pairs[1 - s].first..pairs[1 - s].end)
                        .any(|j| j < k && !self.out[j] && length(sub(place(j), at)) <= flush);
                    self.out[k] = again;
                } else {
                    self.out[k] = is_surrounded(&list[k], at, all().map(place), flush)
                        || self.is_within(model, poses, sides, (&list[k], at), flush);
                }
            }
        }
    }

    /// Marks corners of Y that are beside a part and on another one in its plane. Along a normal that two bodies overlap in the deepest corner may be beside one of them.
    fn mark_beside(&mut self, model: &Model, poses: &[Pose], contacts: &ContactSet, y: u32, pair: usize) {
        let Pair { parts: [a, b], first, end, .. } = self.pairs[pair];
        let part = if a == y { b } else { a };
        let own = self.side(contacts, part, pair);
        for k in self.range_of(y) {
            let [other, its] = self.partners[k];
            let sides = [part, other];
            let is_level = other != part
                && cannot_part(model, sides)
                && length(sub(self.side(contacts, other, its as usize).normal, own.normal)) <= ONE_PLANE;
            for c in (first..end).filter(|&c| is_level && contacts.contacts[c].count == 1) {
                let at = surface(contacts, &contacts.contacts[c], part);
                let flush = tolerance(model, y, sides);
                self.out[c] |= is_corner_of(model, y, &contacts.contacts[c])
                    && !self.lies_on(model, poses, part, at, flush)
                    && self.lies_on(model, poses, other, at, flush);
            }
        }
    }

    /// Whether a point of the seam of two parts is no corner of both together: at least half of what surrounds it lies on them. So it is where a rim crosses the seam, and
    /// where the seam ends at a straight side.
    fn is_within(
        &mut self,
        model: &Model,
        poses: &[Pose],
        sides: [Side; 2],
        (c, at): (&Contact, Vector),
        flush: f64,
    ) -> bool {
        let planar = model.parts()[sides[0].part as usize].solid.planar();
        let (count, least) = if planar { (2, 2) } else { (PLACES, PLACES / 2) };
        let on = (0..count).filter(|&k| {
            let angle = 2.0 * PI * k as f64 / count as f64;
            let beside = c.frame.in_plane([AROUND * flush * angle.cos(), AROUND * flush * angle.sin()]);
            sides.into_iter().any(|s| self.lies_on(model, poses, s.part, add(at, beside), flush))
        });
        on.count() >= least
    }

    /// Whether a contact's points lie on both of its parts.
    pub fn lies_on_both(
        &mut self,
        model: &Model,
        poses: &[Pose],
        contacts: &ContactSet,
        c: &Contact,
    ) -> bool {
        let parts = [c.id.part_a, c.id.part_b];
        parts.into_iter().all(|part| self.lies_on(model, poses, part, surface(contacts, c, part), GRAZE))
    }

    /// Whether a point lies on a part, or in it.
    fn lies_on(&mut self, model: &Model, poses: &[Pose], part: u32, at: Vector, flush: f64) -> bool {
        let solid = &model.parts()[part as usize].solid;
        let point = self.point.get_or_insert_with(|| {
            Solid::new(&Shape::Sphere { radius: POINT }, solid.planar())
                .expect("a ball is a shape of every scene")
        });
        let place = Pose { position: at, attitude: Quaternion::IDENTITY };
        let own = (solid, &poses[part as usize]);
        distance(own, (point, &place), flush, &mut self.touching, &mut self.found).is_some()
    }
}

/// Whether two parts always lie beside each other as they do now.
fn cannot_part(model: &Model, parts: [u32; 2]) -> bool {
    let [a, b] = parts.map(|p| &model.parts()[p as usize]);
    a.owner == b.owner || !a.moves && !b.moves
}

/// Up to which distance parts beside each other are flush for Y, m.
fn tolerance(model: &Model, y: u32, parts: [u32; 2]) -> f64 {
    let reach = |p: u32| match model.parts()[p as usize].owner {
        Owner::Body(i) => model.reaches()[i],
        Owner::World(_) => f64::INFINITY,
    };
    GRAZE.min(GRAZE_SIZE * reach(y).min(reach(parts[0])).min(reach(parts[1])))
}

/// Normal of a flat face next to a direction.
fn face_near((solid, pose): (&Solid, &Pose), n: Vector) -> Option<Vector> {
    let own = pose.attitude.inverse().apply(n);
    let face = solid.faces().iter().find(|f| length(sub(f.normal, own)) <= TILTED)?;
    Some(pose.attitude.apply(face.normal))
}

/// The point of one of its parts where a contact touches.
fn surface(contacts: &ContactSet, c: &Contact, part: u32) -> Vector {
    let e = &contacts.elements[c.first + c.count / 2];
    let half = if c.id.part_a == part { -0.5 } else { 0.5 };
    add(c.middle(e), scale(half * e.gap, c.frame.n))
}

/// Whether a contact is at a corner of one of its parts.
fn is_corner_of(model: &Model, part: u32, c: &Contact) -> bool {
    let half_space = |p: u32| matches!(model.parts()[p as usize].solid.shape(), Shape::HalfSpace);
    let [first, second] = [c.id.part_a, c.id.part_b].map(half_space);
    match c.id.feature >> 30 {
        // half-spaces have no corners: all are the other's
        _ if first || second => !half_space(part),
        0 => c.id.part_a == part,
        1 => c.id.part_b == part,
        _ => false,
    }
}

/// Whether other points surround one in the plane of a contact, to a tolerance: it is no corner of what they span.
fn is_surrounded(c: &Contact, at: Vector, others: impl Iterator<Item = Vector>, flush: f64) -> bool {
    let (mut around, mut count) = ([(0.0, [0.0; 2]); MOST], 0);
    for x in others {
        let [_, t, o] = c.frame.components(sub(x, at));
        if t.hypot(o) > flush {
            around[count] = (o.atan2(t), [t, o]);
            count += 1;
        }
    }
    let around = &mut around[..count];
    around.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    (0..count).all(|k| {
        let ((from, p), (to, q)) = (around[k], around[(k + 1) % count]);
        let angle = if k + 1 < count { to - from } else { to - from + 2.0 * PI };
        // next to the line between two points that it lies between
        let (sine, cosine) = (p[0] * q[1] - p[1] * q[0], p[0] * q[0] + p[1] * q[1]);
        angle <= PI || cosine < 0.0 && sine.abs() <= flush * (q[0] - p[0]).hypot(q[1] - p[1])
    }) && count > 1
}
