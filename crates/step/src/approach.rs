//! Contacts act where bodies touch, and nowhere else (`gap = "distance"`).
//!
//! A row `g/h + s_n >= 0` keeps two bodies on their sides of a plane, that of the features that are nearest when the step begins. Beside an edge or a corner the
//! plane is not the body: it would stop a ball that passes above the edge of a table, and a box at the side of the next tile. So pairs that carried no force in the
//! last step wait at first. The step is solved without them, and the motion that comes out is followed for each pair whose rows it breaks:
//!
//! 1. *A normal that separates the pair all the way* (to [`GRAZE`]): nothing is met. If it is the rows' own normal they take part, to undo what rounding left. Else
//!    rows along this normal take part.
//! 2. *Otherwise the first contact on the way* is located. Rows take part with the features and the normal that meet there.
//!
//! The step is solved again with these pairs, until no pair that waits is met. Convex bodies that translate past each other are separated all the way by one normal: their
//! swept volumes are convex. Where bodies turn, or the one normal is not found, the way is bisected.
//!
//! With rows of a place and time on the way, `g + h s_n` is their gap at the end of the step, linear in the velocities about those that led there.

mod walk;

use super::detect::{Detection, detect_at};
use super::flush::{GRAZE, GRAZE_SIZE};
use super::{Forces, Workspace};
use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::Kinematics;
use crate::formulation::{ContactProblem, assemble};
use crate::geometry::{Touch, Workspace as Touching, distance};
use crate::inputs::Inputs;
use crate::model::{Model, Owner, Part};
use crate::motion::{Motion, Surfaces, part_pose};
use crate::space::{Vector, cross, dot, length, scale, sub};
use crate::state::{Memory, RowId, State};
use walk::{Walk, Way, uneven};

/// Rows are broken by more than this share of the bodies' size, and this share of their distance from the origin.
const BROKEN: f64 = 1e-12;
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Distance of two unit normals up to which the rows of the start of the step stand for a contact that is met on the way: their plane is then next to the
/// bodies, and what they push too early is of second order.
const SAME_NORMAL: f64 = 0.3;
/// The same where one of the two does not move: rows of the place where they meet are exact then.
const SAME_NORMAL_FIXED: f64 = 1e-3;
/// Overlap at the end of a step, over the size of the smaller body, above which the step is cut.
const DEEP: f64 = 2e-3;
/// Halvings of the way in search of a normal that separates.
const HALVINGS: usize = 8;
/// Times that a step is solved with more pairs. Then all that wait take part with the rows of the start.
const ROUNDS: usize = 8;

/// What a pair does in the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// It has no rows.
    Waits,
    /// It has the rows of the start of the step.
    Start,
    /// It has rows of a place on the way.
    Met,
}

/// A pair of parts, and its contacts among those near and those met.
#[derive(Debug, Clone, Copy)]
struct Pair {
    parts: (u32, u32),
    rule: usize,
    owners: [Owner; 2],
    first: usize,
    end: usize,
    met: (usize, usize),
    takes: Takes,
}

/// Memory of the search.
#[derive(Debug, Clone, Default)]
pub(super) struct Approach {
    /// All contacts within the step's margin, where it begins.
    near: ContactSet,
    pairs: Vec<Pair>,
    /// Contacts of pairs that were met on the way.
    met: ContactSet,
    rounds: usize,
    /// Bodies of the pairs met in this round.
    moved: Vec<usize>,
    /// Forces of the last round, from which the next one starts.
    forces: Memory,
    /// Bodies at the end of the candidate.
    end: Option<Kinematics>,
    surfaces: Surfaces,
    velocity: Vec<f64>,
    impulse: Vec<f64>,
    position: Vec<f64>,
    touching: Touching,
    found: Vec<Touch>,
}

impl Approach {
    /// Begins a step: leaves in `contacts` those of pairs that carried force in the last one, or overlap.
    pub fn begin(&mut self, model: &Model, motion: &Motion, memory: &Memory, contacts: &mut ContactSet) {
        let Self { near, pairs, met, rounds, .. } = self;
        std::mem::swap(near, contacts);
        met.clear();
        pairs.clear();
        *rounds = 0;
        for (k, c) in near.contacts.iter().enumerate() {
            let parts = (c.id.part_a, c.id.part_b);
            match pairs.last_mut().filter(|p| p.parts == parts) {
                Some(pair) => pair.end = k + 1,
                None => pairs.push(Pair {
                    parts,
                    rule: c.rule,
                    owners: c.owners,
                    first: k,
                    end: k + 1,
                    met: (0, 0),
                    takes: Takes::Waits,
                }),
            }
        }
        // both lists are in order of ids
        let mut known = memory.iter().peekable();
        for pair in pairs.iter_mut() {
            let depth = BROKEN * size(model, pair.owners);
            let of = |id: RowId| match id {
                RowId::Contact(c) => (c.part_a, c.part_b),
                _ => (u32::MAX, u32::MAX),
            };
            let mut carried = false;
            while known.next_if(|m| of(m.id) < pair.parts).is_some() {}
            while let Some(m) = known.next_if(|m| of(m.id) == pair.parts) {
                carried |= m.forces.iter().chain(m.deformations).any(|x| *x != 0.0);
            }
            let mut elements =
                near.contacts[pair.first..pair.end].iter().flat_map(|c| &near.elements[c.elements()]);
            if carried || elements.any(|e| e.gap < -depth) || is_plain(model, motion, near, pair) {
                pair.takes = Takes::Start;
            }
        }
        self.choose(contacts);
    }

    /// Whether some pair waits.
    fn waits(&self) -> bool {
        self.pairs.iter().any(|p| p.takes == Takes::Waits)
    }

    /// Keeps the forces of a round for the next one.
    fn keep(&mut self, model: &Model, contacts: &ContactSet, problem: &ContactProblem, forces: &Forces) {
        self.forces.clear();
        for c in &contacts.contacts {
            self.forces.push(RowId::Contact(c.id), &forces.lambda[problem.rows_of_contact(c)], &[]);
        }
        for (element, standing) in (contacts.elements.len()..).zip(&problem.standing) {
            let id = model.standing()[standing.row].id;
            self.forces.push(id, &forces.lambda[problem.rows_of(element)], &[]);
        }
    }

    /// Lets a solve start from the forces of the round before, if there was one.
    pub fn start_from_last(
        &self,
        model: &Model,
        contacts: &ContactSet,
        problem: &ContactProblem,
        forces: &mut Forces,
    ) {
        if self.rounds == 0 {
            return;
        }
        // both lists are in order of ids
        let mut known = self.forces.iter().peekable();
        let contact = |c: &Contact| (RowId::Contact(c.id), problem.rows_of_contact(c));
        let elements = contacts.elements.len()..;
        let standing =
            elements.zip(&problem.standing).map(|(k, s)| (model.standing()[s.row].id, problem.rows_of(k)));
        for (id, rows) in contacts.contacts.iter().map(contact).chain(standing) {
            while known.next_if(|m| m.id < id).is_some() {}
            match known.next_if(|m| m.id == id).filter(|m| m.forces.len() == rows.len()) {
                Some(m) => forces.lambda[rows].copy_from_slice(m.forces),
                None => forces.lambda[rows].fill(0.0),
            }
        }
    }

    /// Leaves in `contacts` those of pairs that take part, in order of their ids.
    fn choose(&self, contacts: &mut ContactSet) {
        contacts.clear();
        for pair in &self.pairs {
            let (from, range) = match pair.takes {
                Takes::Waits => continue,
                Takes::Start => (&self.near, pair.first..pair.end),
                Takes::Met => (&self.met, pair.met.0..pair.met.1),
            };
            for c in &from.contacts[range] {
                let first = contacts.elements.len();
                contacts.elements.extend_from_slice(&from.elements[c.elements()]);
                contacts.contacts.push(Contact { first, ..*c });
            }
        }
    }
}

/// Lets pairs take part that the motion under the forces of the last step meets along their own normals: most of those that the step will meet.
pub(super) fn foresee(model: &Model, state: &State, inputs: &Inputs, work: &mut Workspace) {
    if work.approach.waits() {
        assemble(model, &work.laws, state, &work.motion, &work.contacts, &mut work.problem);
        work.forces.lambda.clone_from(&work.problem.start);
        let _ = find(model, state, inputs, work, false);
    }
}

/// Whether the motion of the step, as it is solved, meets pairs that wait: they take part from now on, and `work.contacts` has them.
pub(super) fn meets_more(model: &Model, state: &State, inputs: &Inputs, work: &mut Workspace) -> bool {
    if !work.approach.waits() {
        return false;
    }
    work.approach.rounds += 1;
    let any = find(model, state, inputs, work, true);
    if any {
        let Workspace { contacts, problem, forces, approach, .. } = work;
        approach.keep(model, contacts, problem, forces);
        approach.choose(contacts);
    }
    any
}

/// The depth at the end of the step of rigid bodies that turned into each other, if it is more than [`DEEP`]: rows hold for the points that face each other
/// when the step begins, and others came there. A shorter step turns them by less.
pub(super) fn turns_into(model: &Model, state: &State, inputs: &Inputs, work: &mut Workspace) -> Option<f64> {
    if work.approach.pairs.is_empty() {
        return None;
    }
    place_end(model, state, inputs, work);
    let Workspace { motion, approach, .. } = work;
    let deep = (0..approach.pairs.len()).find_map(|k| approach.is_deep(model, motion, k));
    motion.kinematics.go_to(&state.position, &state.velocity);
    deep
}

/// The candidate: velocities, and where bodies end.
fn place_end(model: &Model, state: &State, inputs: &Inputs, work: &mut Workspace) {
    let Workspace { motion, problem, forces, approach, .. } = work;
    let Approach { end, surfaces, velocity, impulse, position, .. } = approach;
    velocity.clone_from(&motion.free);
    if !problem.is_empty() {
        problem.push(motion.kick(), &forces.lambda, impulse, velocity);
    }
    let theta = problem.theta;
    velocity.iter_mut().zip(&motion.velocity).for_each(|(v, start)| *v = theta * start + (1.0 - theta) * *v);
    position.resize(state.position.len(), 0.0);
    model.system().advance(&state.position, velocity, motion.h, position);
    let end = end.get_or_insert_with(|| Kinematics::new(model.system()));
    end.go_to(position, velocity);
    surfaces.clone_from(&motion.surfaces);
    surfaces.place(model, inputs, state.time + motion.h, 1.0);
    motion.kinematics.go_to(&state.position, velocity);
}

/// Whether the motion under the forces at hand meets pairs that wait; if it is not the solved one, along their own normals alone.
fn find(model: &Model, state: &State, inputs: &Inputs, work: &mut Workspace, solved: bool) -> bool {
    place_end(model, state, inputs, work);
    let Workspace { motion, contacts, detection, approach, .. } = work;
    let mut any = false;
    approach.moved.clear();
    for k in 0..approach.pairs.len() {
        if approach.pairs[k].takes == Takes::Waits && approach.is_broken(model, motion, k) {
            let takes = if approach.rounds > ROUNDS {
                approach.pairs[k].takes = Takes::Start;
                true
            } else {
                approach.follow(model, motion, detection, k, solved)
            };
            if takes {
                let bodies = approach.pairs[k].owners.into_iter().filter_map(|o| match o {
                    Owner::Body(i) => Some(i),
                    Owner::World(_) => None,
                });
                approach.moved.extend(bodies);
                any = true;
            }
        }
    }
    if solved && any {
        approach.take_connected(model, motion);
    }
    motion.kinematics.go_to(&state.position, &state.velocity);
    if any && !solved {
        approach.choose(contacts);
    }
    any
}

impl Approach {
    /// Lets round pairs take part that share a body with those that were met just now: blows go on from ball to ball within the step.
    fn take_connected(&mut self, model: &Model, motion: &Motion) {
        let (moved, pairs) = (&self.moved, &mut self.pairs);
        for pair in pairs.iter_mut().filter(|p| p.takes == Takes::Waits) {
            let shares = pair.owners.iter().any(|o| matches!(o, Owner::Body(i) if moved.contains(i)));
            if shares && way(model, motion, pair) <= SAME_NORMAL * radius(model, pair) {
                pair.takes = Takes::Start;
            }
        }
    }

    /// Whether the candidate breaks a row of a pair, or may do so as bodies turn.
    fn is_broken(&self, model: &Model, motion: &Motion, pair: usize) -> bool {
        let pair = &self.pairs[pair];
        let h = motion.h;
        let point = self.near.elements[self.near.contacts[pair.first].first].point;
        let curved = curved(model, motion, pair, point);
        let least = self.near.contacts[pair.first..pair.end]
            .iter()
            .flat_map(|c| self.near.elements[c.elements()].iter().map(move |e| (c, e)))
            .map(|(c, e)| e.gap + h * approach_rate(motion, c.owners, e.point, c.frame.n))
            .fold(f64::INFINITY, f64::min);
        least < curved - self.slack(model, pair)
    }

    /// How deep a pair of rigid bodies overlaps at the end of the candidate, if it is more than [`DEEP`] and than when the step began.
    fn is_deep(&mut self, model: &Model, motion: &Motion, pair: usize) -> Option<f64> {
        let pair = self.pairs[pair];
        let most = DEEP * size(model, pair.owners);
        let rule = &model.contacts().rules()[pair.rule];
        let is_rigid = rule.compliance.is_none() && rule.auto.is_none() && rule.layers.is_empty();
        let point = self.near.elements[self.near.contacts[pair.first].first].point;
        let swept = swept(model, motion, &pair) + curved(model, motion, &pair, point);
        if !is_rigid || swept <= most {
            return None;
        }
        let end = self.end.as_ref()?;
        let [a, b] = [pair.parts.0, pair.parts.1].map(|p| &model.parts()[p as usize]);
        let pose = |part: &Part| match part.owner {
            Owner::Body(i) => end.pose(i).then(&part.local),
            Owner::World(_) => {
                self.surfaces.pose(part.owner).unwrap_or_else(|| part_pose(model, motion, part))
            }
        };
        let (touching, found) = (&mut self.touching, &mut self.found);
        let (_, gap) = distance((&a.solid, &pose(a)), (&b.solid, &pose(b)), 0.0, touching, found)?;
        let contacts = &self.near.contacts[pair.first..pair.end];
        let elements = contacts.iter().flat_map(|c| &self.near.elements[c.elements()]);
        let before = elements.fold(0.0f64, |least, e| least.min(e.gap));
        (gap < before - most).then_some(-gap)
    }

    /// Overlap that is rounding.
    fn slack(&self, model: &Model, pair: &Pair) -> f64 {
        let point = self.near.elements[self.near.contacts[pair.first].first].point;
        BROKEN * size(model, pair.owners) + ROUNDING * length(point)
    }

    /// Follows the candidate's motion of a pair; whether it takes part from now on.
    fn follow(
        &mut self,
        model: &Model,
        motion: &Motion,
        detection: &mut Detection,
        k: usize,
        solved: bool,
    ) -> bool {
        let pair = self.pairs[k];
        let parts = [pair.parts.0, pair.parts.1].map(|p| &model.parts()[p as usize]);
        let ways = {
            let end = self.end.as_ref().unwrap_or(&motion.kinematics);
            parts.map(|part| Way::new(model, part, motion, end, &self.surfaces))
        };
        let slack = self.slack(model, &pair);
        let graze = GRAZE.min(GRAZE_SIZE * size(model, pair.owners)).max(slack);
        let turns = [0, 1].map(|k| (length(ways[k].turn), uneven(parts[k], motion)));
        let mut walk = Walk {
            parts,
            bulge: turns
                .map(|(turn, uneven)| if turn > 0.0 { 0.125 * turn * turn * uneven } else { 0.0 })
                .iter()
                .sum(),
            longest: length(sub(ways[0].shift, ways[1].shift))
                + turns
                    .map(|(turn, uneven)| if turn > 0.0 { turn * uneven } else { 0.0 })
                    .iter()
                    .sum::<f64>(),
            ways,
            margin: motion.margin.max(graze),
            graze,
            touching: &mut self.touching,
            found: &mut self.found,
        };
        let own = self.near.contacts[pair.first].frame.n;
        let (Some(begin), last) = (walk.at(0.0), walk.at(1.0)) else {
            // no distance is known: as without a way
            self.pairs[k].takes = Takes::Start;
            return true;
        };
        // of two that move the places where they meet are not those of their starts: see `Walk::back`
        let both_move = pair.owners.iter().all(|o| matches!(o, Owner::Body(_)));
        let most = if both_move { SAME_NORMAL } else { SAME_NORMAL_FIXED };
        let same = |a: Vector, b: Vector| length(sub(a, b)) <= most;
        if !solved && !last.is_some_and(|last| same(last.0, own)) {
            return false;
        }
        let share = match last {
            Some(last) if same(last.0, own) && last.1 < -slack => {
                self.pairs[k].takes = Takes::Start;
                return true;
            }
            // one normal separates them all the way, to the little in which bodies pass as flush
            Some(last) if walk.separates(last.0, 0.0, 1.0) => {
                if last.1 >= -slack {
                    return false;
                }
                1.0
            }
            last => match walk.first(0.0, begin, 1.0, last, HALVINGS) {
                Some(share) => share,
                None => return false,
            },
        };
        // the pair's contacts where it is met, carried back to the start of the step
        let poses = walk.poses(share);
        let first = self.met.contacts.len();
        let normal = walk.at(share).map_or(own, |at| at.0);
        if same(normal, own) {
            self.pairs[k].takes = Takes::Start;
            return true;
        }
        let sizes = pair.owners.map(|o| match o {
            Owner::Body(i) => model.reaches()[i].min(f64::MAX),
            Owner::World(_) => 0.0,
        });
        let back = walk.back(share, pair.owners, sizes);
        detect_at(model, motion, (pair.parts, pair.rule), poses, detection, &mut self.met);
        if self.met.contacts.len() == first {
            self.pairs[k].takes = Takes::Start;
            return true;
        }
        for c in &self.met.contacts[first..] {
            for e in &mut self.met.elements[c.elements()] {
                e.point = sub(e.point, back);
                e.gap -= share * motion.h * approach_rate(motion, c.owners, e.point, c.frame.n);
            }
        }
        self.pairs[k].met = (first, self.met.contacts.len());
        self.pairs[k].takes = Takes::Met;
        true
    }
}

/// Whether the rows of the start of the step hold for a pair wherever it is met: its normal is that of a half-space, it turns by so little on the way of the step
/// that bodies keep apart by no more than [`GRAZE`] too early, or it is that of parallel faces that lie opposite each other on more than that way.
fn is_plain(model: &Model, motion: &Motion, near: &ContactSet, pair: &Pair) -> bool {
    let solids = [pair.parts.0, pair.parts.1].map(|p| &model.parts()[p as usize].solid);
    if solids.iter().any(|s| s.is_half_space()) {
        return true;
    }
    let way = way(model, motion, pair);
    if way * way <= 2.0 * GRAZE * radius(model, pair) {
        return true;
    }
    // the two points farthest from each other, and the farthest one from the line through them
    let contacts = &near.contacts[pair.first..pair.end];
    let gap = |c: &Contact| near.elements[c.first].gap;
    let least = contacts.iter().map(gap).fold(f64::INFINITY, f64::min);
    let level = contacts.iter().filter(|c| gap(c) <= least + GRAZE);
    let places = || level.clone().map(|c| near.elements[c.first].point);
    let n = contacts[0].frame.n;
    let (mut long, mut ends) = (0.0, ([0.0; 3], [0.0; 3]));
    for (i, a) in places().enumerate() {
        for b in places().skip(i + 1) {
            let along = sub(sub(b, a), scale(dot(sub(b, a), n), n));
            if length(along) > long {
                (long, ends) = (length(along), (a, along));
            }
        }
    }
    let across = |x: Vector| dot(n, cross(ends.1, sub(x, ends.0))).abs() / long;
    let planar = solids[0].planar();
    long > 2.0 * way && (planar || places().map(across).fold(0.0, f64::max) > 2.0 * way)
}

/// How far two bodies move past each other in the step at the most, as fast as they are when it begins.
fn way(model: &Model, motion: &Motion, pair: &Pair) -> f64 {
    let speed = |owner: Owner| match owner {
        Owner::Body(i) => motion.fastest[i],
        Owner::World(_) => motion.surfaces.fastest(&motion.kinematics, model.reaches()),
    };
    motion.h * (speed(pair.owners[0]) + speed(pair.owners[1]) + motion.h * length(model.scene().gravity))
}

/// A radius on which the normal of a pair turns as one passes the other, at the least.
fn radius(model: &Model, pair: &Pair) -> f64 {
    [pair.parts.0, pair.parts.1].iter().map(|&p| model.parts()[p as usize].solid.least_radius()).sum()
}

/// How far points come from where the rows of a pair expect them as the bodies turn, with the velocities of the candidate: on their circles, and as they move on to
/// other points of the bodies, m.
fn curved(model: &Model, motion: &Motion, pair: &Pair, point: Vector) -> f64 {
    [pair.parts.0, pair.parts.1]
        .map(|p| &model.parts()[p as usize])
        .iter()
        .map(|part| match part.owner {
            Owner::Body(i) => {
                let uneven = uneven(part, motion);
                let reach = if uneven.is_finite() { uneven } else { far(motion, i) };
                let (v, w) = motion.kinematics.velocity(i);
                let (turn, shift) = (motion.h * length(w), motion.h * length(v));
                if uneven > 0.0 { 0.5 * turn * turn * reach + turn * shift } else { 0.0 }
            }
            Owner::World(_) => 0.5 * motion.h * motion.surfaces.bend(part.owner, point),
        })
        .sum()
}

/// How far points of a pair come as the bodies turn, with the velocities of the candidate: beside those that faced each other when the step began, m.
fn swept(model: &Model, motion: &Motion, pair: &Pair) -> f64 {
    let of = |p: u32| {
        let part = &model.parts()[p as usize];
        let Owner::Body(i) = part.owner else { return 0.0 };
        let uneven = uneven(part, motion);
        let reach = if uneven.is_finite() { uneven } else { far(motion, i) };
        if uneven > 0.0 { motion.h * length(motion.kinematics.angular_velocity(i)) * reach } else { 0.0 }
    };
    of(pair.parts.0) + of(pair.parts.1)
}

/// Rate of the gap between two owners at a point along the normal, m/s, with the velocities of the candidate.
fn approach_rate(motion: &Motion, owners: [Owner; 2], point: Vector, n: Vector) -> f64 {
    let of = |owner: Owner| match owner {
        Owner::Body(i) => dot(n, motion.kinematics.point_velocity(i, point)),
        Owner::World(_) => 0.0,
    };
    let carried = match motion.surfaces.is_empty() {
        true => 0.0,
        false => dot(n, motion.surfaces.relative(&motion.kinematics, owners, point, n)[0]),
    };
    of(owners[1]) - of(owners[0]) + carried
}

/// Reach of a body without bounds: as far as others are.
fn far(motion: &Motion, body: usize) -> f64 {
    let omega = length(motion.kinematics.angular_velocity(body));
    if omega > 0.0 { motion.fastest[body] / omega } else { f64::MAX }
}

/// Size of the smaller of two bodies, m.
fn size(model: &Model, owners: [Owner; 2]) -> f64 {
    let of = |owner: Owner| match owner {
        Owner::Body(i) => model.reaches()[i],
        Owner::World(_) => f64::INFINITY,
    };
    let least = of(owners[0]).min(of(owners[1]));
    if least.is_finite() { least } else { 1.0 }
}
