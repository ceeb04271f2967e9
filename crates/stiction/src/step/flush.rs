//! Parts that lie flush beside each other have no inner edge: tiles of a floor, segments of a track, parts of one body, blocks in a row.
//!
//! A third part Y that slides over them must not stumble over what only one of them shows:
//!
//! - *Covered sides.* Y meets a side or edge of B that A covers: every point at which they touch lies on A, too (to [`FLUSH`]), and B does not rise above the plane in
//!   which A meets Y. Then A alone says where Y may go, and the contacts of Y and B are left out.
//! - *Seams.* Where Y lies on A and B in one plane, and these cannot part, what touches at their seam is no corner of the common face: it is left out where other points
//!   surround it, and a corner of Y on the seam counts once. Compliant contacts then carry as those of one plate.

use super::approach::{GRAZE, GRAZE_SIZE};
use crate::contact::set::{Contact, ContactSet};
use crate::geometry::{Shape, Solid, Touch, Workspace, distance, reaches};
use crate::model::{Model, Owner};
use crate::space::{Pose, Quaternion, Vector, dot, length, scale, sub};
use std::f64::consts::PI;

/// Normals that differ by less are one: a ball that rolls over a seam has both within this share of its radius about it.
const ONE_PLANE: f64 = 1e-4;
/// An angle that is more than half a turn by less is half a turn.
const STRAIGHT: f64 = 1e-6;
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
    /// Pairs to be looked for again: parts, rule, normal.
    pub again: Vec<((u32, u32), usize, Vector)>,
    point: Option<Solid>,
    touching: Workspace,
    found: Vec<Touch>,
}

/// One side of a seam: a part, its pair with Y, and the normal towards Y.
#[derive(Clone, Copy)]
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
        self.each_seam(near, contacts, &mut |flush, y, sides| {
            flush.compare(model, poses, contacts, y, sides, false);
        });
        for k in 0..self.pairs.len() {
            let pair = self.pairs[k];
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
                let sides = [(few, one as usize), (many, other as usize)].map(|(part, pair)| {
                    let c = &contacts.contacts[self.pairs[pair].first];
                    let normal = if c.id.part_a == part { c.frame.n } else { scale(-1.0, c.frame.n) };
                    Side { part, pair, normal }
                });
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
                None => self.pairs.push(Pair { parts, first: k, end: k + 1 }),
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
        let owners = sides.map(|s| model.parts()[s.part as usize].owner);
        let reach = match model.parts()[y as usize].owner {
            Owner::Body(i) => model.reaches()[i],
            Owner::World(_) => f64::INFINITY,
        };
        let own = owners.iter().map(|o| match *o {
            Owner::Body(i) => model.reaches()[i],
            Owner::World(_) => f64::INFINITY,
        });
        let flush = GRAZE.min(GRAZE_SIZE * own.fold(reach, f64::min));
        if length(sub(a.normal, b.normal)) > ONE_PLANE {
            if !join && !self.mark_covered(model, poses, contacts, [a, b], flush) {
                self.mark_covered(model, poses, contacts, [b, a], flush);
            }
            return;
        }
        let parts = sides.map(|s| &model.parts()[s.part as usize]);
        if join && (owners[0] == owners[1] || parts.iter().all(|p| !p.moves)) {
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
        let level = |c: &Contact| dot(a.normal, surface(contacts, c, a.normal));
        let plane = contacts.contacts[by.first..by.end].iter().map(level).fold(f64::NEG_INFINITY, f64::max);
        let solid = &model.parts()[b.part as usize].solid;
        let pose = &poses[b.part as usize];
        let rises = reaches(solid, pose, a.normal).map(|r| dot(a.normal, pose.position) + r - plane);
        if rises.is_none_or(|rises| rises > flush) {
            return false;
        }
        for k in of.first..of.end {
            let at = surface(contacts, &contacts.contacts[k], b.normal);
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
            let (own, other) = (pairs[s], sides[1 - s]);
            for k in own.first..own.end {
                let at = surface(contacts, &list[k], sides[s].normal);
                if self.out[k] || !self.lies_on(model, poses, other.part, at, flush) {
                    continue;
                }
                let place = |j: usize| surface(contacts, &list[j], other.normal);
                if is_corner_of(model, y, &list[k]) {
                    let again = (pairs[1 - s].first..pairs[1 - s].end)
                        .any(|j| j < k && !self.out[j] && length(sub(place(j), at)) <= flush);
                    self.out[k] = again;
                } else {
                    self.out[k] = is_surrounded(&list[k], at, all().map(place), flush);
                }
            }
        }
    }

    /// Whether a contact's points lie on both of its parts.
    pub fn lies_on_both(
        &mut self,
        model: &Model,
        poses: &[Pose],
        contacts: &ContactSet,
        c: &Contact,
    ) -> bool {
        let (n, back) = (c.frame.n, scale(-1.0, c.frame.n));
        let on = [(c.id.part_a, surface(contacts, c, n)), (c.id.part_b, surface(contacts, c, back))];
        on.into_iter().all(|(part, at)| self.lies_on(model, poses, part, at, GRAZE))
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

/// The point of the part from which `normal` points to the other, where a contact touches.
fn surface(contacts: &ContactSet, c: &Contact, normal: Vector) -> Vector {
    let e = &contacts.elements[c.first + c.count / 2];
    sub(c.middle(e), scale(0.5 * e.gap, normal))
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

/// Whether other points surround one in the plane of a contact: it is no corner of what they span.
fn is_surrounded(c: &Contact, at: Vector, others: impl Iterator<Item = Vector>, flush: f64) -> bool {
    let (mut angles, mut count) = ([0.0; MOST], 0);
    for x in others {
        let [_, t, o] = c.frame.components(sub(x, at));
        if t.hypot(o) > flush {
            angles[count] = o.atan2(t);
            count += 1;
        }
    }
    let angles = &mut angles[..count];
    angles.sort_unstable_by(f64::total_cmp);
    let Some(last) = angles.last() else { return false };
    let mut widest = angles[0] + 2.0 * PI - last;
    for two in angles.windows(2) {
        widest = widest.max(two[1] - two[0]);
    }
    widest <= PI + STRAIGHT
}
