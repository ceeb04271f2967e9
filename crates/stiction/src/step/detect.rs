//! `detect`: where bodies touch or may touch within a step.

use super::Failed;
use super::flush::Flush;
use crate::contact::Directions;
use crate::contact::Law;
use crate::contact::set::{Contact, ContactSet, Element, Travel};
use crate::geometry::implicit::{Closest, is_convex_at};
use crate::geometry::{Aabb, BroadPhase, Touch, Unknown, Workspace, bounding_box, gap_along, touches};
use crate::model::Owner;
use crate::model::{InvalidModel, Model, Part};
use crate::motion::{Motion, part_pose};
use crate::scene::Scheme;
use crate::space::{Frame, Pose, Vector, add, cross, length, scale};
use crate::state::ContactId;
use crate::step::travel::Ride;

/// Sine of the tilt up to which a round face lies flat between located events.
pub(crate) const FLAT: f64 = 1e-7;

/// Sine of the tilt up to which the round faces of a model are flat, if its contacts are rigid between located events.
fn flat_tilt(model: &Model) -> Option<f64> {
    let rigid = || model.contacts().rules().iter().all(|r| r.given.law == Law::Rigid);
    (model.scene().step.scheme == Scheme::Event && rigid()).then_some(FLAT)
}

/// Memory of [`detect`].
#[derive(Debug, Clone, Default)]
pub struct Detection {
    /// Poses of the parts in the world.
    poses: Vec<Pose>,
    boxes: Vec<Aabb>,
    broad: BroadPhase,
    candidates: Vec<[u32; 2]>,
    /// Pairs with the world, and their rules.
    with_world: Vec<((u32, u32), usize)>,
    workspace: Workspace,
    touches: Vec<Touch>,
    /// Closest points of shapes given by functions, of the last call and of this one, in the order of their pairs.
    known: Vec<((u32, u32), Closest)>,
    next: Vec<((u32, u32), Closest)>,
    /// The first pair whose closest points were not found.
    missed: Option<(u32, u32)>,
    flush: Flush,
    /// Scratch: contacts with those that were added out of order.
    added: ContactSet,
}

/// Up to which gap contacts are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Margin {
    /// m.
    Length(f64),
    /// As a share of the length of the smaller body: see [`crate::model::Scales`].
    Share(f64),
}

impl Margin {
    /// For a pair of parts, m.
    fn of(self, model: &Model, poses: &[Pose], parts: [u32; 2]) -> f64 {
        match self {
            Self::Length(margin) => margin,
            Self::Share(share) => {
                let far = parts.map(|k| length(poses[k as usize].position));
                let owners = parts.map(|k| model.parts()[k as usize].owner);
                model.scales().margin(share, owners, far[0].max(far[1]))
            }
        }
    }

    /// By how much the box about a part is wider, m.
    fn reach(self, model: &Model, part: &Part, pose: &Pose) -> f64 {
        match self {
            Self::Length(margin) => 0.5 * margin,
            Self::Share(share) => model.scales().reach(share, part.owner, length(pose.position)),
        }
    }
}

/// Closest points that were not found: there is no contact problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the closest points of '{}' and '{}' were not found at t = {time} s", names[0], names[1])]
pub struct Undetected {
    /// s.
    pub time: f64,
    /// Names of the parts.
    pub names: [String; 2],
}

impl Detection {
    /// Pose of a part in the world, as it was detected last.
    pub fn pose(&self, part: usize) -> Pose {
        self.poses[part]
    }

    /// Begins a detection: where the parts are.
    fn begin(&mut self, model: &Model, motion: &Motion) {
        self.workspace.down = model.scene().gravity;
        self.workspace.flat = flat_tilt(model);
        self.missed = None;
        self.next.clear();
        self.poses.clear();
        self.poses.extend(model.parts().iter().map(|part| part_pose(model, motion, part)));
    }

    /// Ends a detection: what was not found.
    fn missed(&self, model: &Model, motion: &Motion) -> Result<(), Undetected> {
        match self.missed {
            Some((a, b)) => {
                let names = [a, b].map(|k| model.parts()[k as usize].name.clone());
                Err(Undetected { time: motion.time, names })
            }
            None => Ok(()),
        }
    }

    /// Closest points of a pair of parts given by functions, as they were detected last.
    pub fn closest(&self, parts: (u32, u32)) -> Option<&Closest> {
        self.known.binary_search_by_key(&parts, |k| k.0).ok().map(|k| &self.known[k].1)
    }
}

/// Finds the contacts whose gap is at most `margin`.
///
/// # Errors
/// If the closest points of a pair are not found; `contacts` then lacks it.
pub fn detect(
    model: &Model,
    motion: &Motion,
    margin: f64,
    memory: &mut Detection,
    contacts: &mut ContactSet,
) -> Result<(), Undetected> {
    // what a step finds follows from its state, not from earlier steps
    memory.known.clear();
    detect_again(model, motion, margin, memory, contacts)
}

/// The same with a margin that is a share of the bodies' lengths.
pub(crate) fn detect_share(
    model: &Model,
    motion: &Motion,
    share: f64,
    memory: &mut Detection,
    contacts: &mut ContactSet,
) -> Result<(), Undetected> {
    memory.known.clear();
    detect_within(model, motion, Margin::Share(share), memory, contacts)
}

/// The same for bodies that are near where they were at the last call: closest points of functions start from those found then.
pub(crate) fn detect_again(
    model: &Model,
    motion: &Motion,
    margin: f64,
    memory: &mut Detection,
    contacts: &mut ContactSet,
) -> Result<(), Undetected> {
    detect_within(model, motion, Margin::Length(margin), memory, contacts)
}

fn detect_within(
    model: &Model,
    motion: &Motion,
    margin: Margin,
    memory: &mut Detection,
    contacts: &mut ContactSet,
) -> Result<(), Undetected> {
    contacts.clear();
    if model.contacts().rules().is_empty() {
        return Ok(());
    }
    memory.begin(model, motion);
    let Detection { poses, boxes, broad, candidates, with_world, .. } = memory;
    boxes.clear();
    let around =
        |(part, pose): (&Part, &Pose)| bounding_box(&part.solid, pose, margin.reach(model, part, pose));
    boxes.extend(model.parts().iter().zip(&*poses).map(around));
    broad.pairs(boxes, candidates);
    with_world.clear();
    for k in 0..memory.candidates.len() {
        let Some(((a, b), rule)) = model.contacts().find(memory.candidates[k]) else { continue };
        if a < b {
            detect_pair(model, motion, (a, b), rule, margin, memory, contacts);
        } else {
            memory.with_world.push(((a, b), rule));
        }
    }
    // candidates are in order, and the world's parts come last
    memory.with_world.sort_unstable();
    for k in 0..memory.with_world.len() {
        let (parts, rule) = memory.with_world[k];
        detect_pair(model, motion, parts, rule, margin, memory, contacts);
    }
    std::mem::swap(&mut memory.known, &mut memory.next);
    memory.known.sort_unstable_by_key(|k| k.0);
    memory.flush.cover(model, &memory.candidates, &memory.poses, contacts);
    if !memory.flush.again.is_empty() {
        detect_covered(model, motion, margin, memory, contacts);
    }
    memory.flush.join(model, &memory.candidates, &memory.poses, contacts);
    memory.missed(model, motion)
}

/// Finds those of [`detect`]'s contacts that are between these pairs of parts, given with their rules in the order of contacts.
///
/// # Errors
/// If the closest points of a pair are not found; `contacts` then lacks it.
pub(crate) fn detect_pairs(
    model: &Model,
    motion: &Motion,
    margin: f64,
    pairs: impl Iterator<Item = ((u32, u32), usize)>,
    memory: &mut Detection,
    contacts: &mut ContactSet,
) -> Result<(), Undetected> {
    contacts.clear();
    memory.begin(model, motion);
    memory.known.clear();
    for (parts, rule) in pairs {
        detect_pair(model, motion, parts, rule, Margin::Length(margin), memory, contacts);
    }
    memory.missed(model, motion)
}

/// Adds the contacts of pairs whose sides are covered by others, along the normals of these.
fn detect_covered(
    model: &Model,
    motion: &Motion,
    margin: Margin,
    memory: &mut Detection,
    contacts: &mut ContactSet,
) {
    let again = std::mem::take(&mut memory.flush.again);
    let known = contacts.contacts.len();
    for &(parts, rule, normal) in &again {
        memory.workspace.along = Some(normal);
        detect_pair(model, motion, parts, rule, margin, memory, contacts);
        memory.workspace.along = None;
    }
    memory.flush.again = again;
    // beside the parts' common face they do not meet
    let added = &mut memory.added;
    added.clear();
    for (k, c) in contacts.contacts.iter().enumerate() {
        if k < known || memory.flush.lies_on_both(model, &memory.poses, contacts, c) {
            added.contacts.push(*c);
        }
    }
    added.contacts.sort_unstable_by_key(|c| c.id);
    for c in &mut added.contacts {
        let first = added.elements.len();
        added.elements.extend_from_slice(&contacts.elements[c.elements()]);
        c.first = first;
    }
    std::mem::swap(added, contacts);
}

/// Adds the contacts of a pair whose parts are at these poses, within the step's margin.
pub(crate) fn detect_at(
    model: &Model,
    motion: &Motion,
    (parts, rule): ((u32, u32), usize),
    poses: [Pose; 2],
    memory: &mut Detection,
    contacts: &mut ContactSet,
) {
    let at = [parts.0 as usize, parts.1 as usize];
    let known = at.map(|k| memory.poses[k]);
    at.iter().zip(poses).for_each(|(&k, pose)| memory.poses[k] = pose);
    detect_pair(model, motion, parts, rule, Margin::Length(motion.margin), memory, contacts);
    at.iter().zip(known).for_each(|(&k, pose)| memory.poses[k] = pose);
}

/// Refuses contacts on surfaces that are not convex where they touch, by name.
pub(crate) fn refuse_dent(
    model: &Model,
    memory: &Detection,
    c: &Contact,
    element: &Element,
    time: f64,
) -> Result<(), Failed> {
    let middle = c.middle(element);
    let half = [-0.5, 0.5].map(|s| add(middle, scale(s * element.gap.clamp(-1e3, 1e3), c.frame.n)));
    for (part, at) in [c.id.part_a, c.id.part_b].into_iter().zip(half) {
        let own = &model.parts()[part as usize];
        if !is_convex_at(&own.solid, &memory.poses[part as usize], at) {
            let [x, y, z] = at;
            return Err(Failed::Model(InvalidModel(format!(
                "the polynomial of '{}' is not convex where it is touched at t = {time} s, at ({x:.4}, {y:.4}, {z:.4})",
                own.name
            ))));
        }
    }
    Ok(())
}

/// Adds the contacts of a pair.
fn detect_pair(
    model: &Model,
    motion: &Motion,
    (part_a, part_b): (u32, u32),
    rule: usize,
    margin: Margin,
    memory: &mut Detection,
    contacts: &mut ContactSet,
) {
    let margin = margin.of(model, &memory.poses, [part_a, part_b]);
    let [a, b] = [part_a, part_b].map(|k| &model.parts()[k as usize]);
    let [pose_a, pose_b] = [part_a, part_b].map(|k| &memory.poses[k as usize]);
    memory.touches.clear();
    let before = memory.known.binary_search_by_key(&(part_a, part_b), |k| k.0);
    memory.workspace.start = before.ok().map(|k| memory.known[k].1);
    memory.workspace.found = None;
    let known =
        touches(&a.solid, pose_a, &b.solid, pose_b, margin, &mut memory.workspace, &mut memory.touches);
    debug_assert!(
        !matches!(known, Err(Unknown::Unsupported(_))),
        "pairs are checked when a model is compiled"
    );
    if known.is_err() {
        memory.missed.get_or_insert((part_a, part_b));
    }
    memory.next.extend(memory.workspace.found.map(|c| ((part_a, part_b), c)));
    memory.touches.sort_unstable_by_key(|touch| touch.feature);
    let compiled = &model.contacts().rules()[rule];
    let along = compiled.given.grain.map(|grain| {
        let (part, pose) = if grain.of == a.owner { (a, pose_a) } else { (b, pose_b) };
        in_world(part, pose, grain.along)
    });
    for touch in &memory.touches {
        let frame = frame(model.contacts().directions(), touch.normal, along);
        let (first, mut spin) = (contacts.elements.len(), 0.0);
        let share = compiled.given.share;
        // a patch is flat, and lies where its deepest point does
        let place = add(touch.point, scale((share - 0.5) * touch.gap, touch.normal));
        match &compiled.compliance {
            Some(c) if c.patch().grid().count() > 1 => {
                let (grid, sides) = (c.patch().grid(), [(a, pose_a), (b, pose_b)]);
                let ride = c.patch().transports().then(|| {
                    Ride::new(motion, sides, (touch, share), frame, grid.spacing, &mut memory.workspace)
                });
                spin = ride.as_ref().map_or(0.0, Ride::spin);
                contacts.elements.extend((0..grid.count()).map(|k| {
                    let point = add(place, frame.in_plane(grid.centre(k)));
                    let gap = gap_along(&a.solid, pose_a, &b.solid, pose_b, point, frame.n);
                    Element {
                        point,
                        gap,
                        travel: ride.as_ref().map_or_else(Travel::default, |r| r.at(point)),
                    }
                }));
            }
            _ => contacts.elements.push(Element { point: place, gap: touch.gap, travel: Travel::default() }),
        }
        let (id, owners) = (ContactId { part_a, part_b, feature: touch.feature }, [a.owner, b.owner]);
        let count = contacts.elements.len() - first;
        contacts.contacts.push(Contact { id, owners, frame, share, rule, first, count, spin });
    }
}

/// A direction of a body, or of a world part as it is placed, in world axes.
fn in_world(part: &Part, pose: &Pose, along: Vector) -> Vector {
    match part.owner {
        Owner::Body(_) => pose.attitude.apply(part.local.attitude.inverse().apply(along)),
        Owner::World(_) => pose.attitude.apply(along),
    }
}

/// Planar: t is n rotated clockwise, along the ground when n points up. In space t lies along the given direction, or the
/// world's x axis, as far as it can.
fn frame(directions: Directions, n: Vector, along: Option<Vector>) -> Frame {
    match directions {
        Directions::Planar => {
            let t = [n[1], -n[0], 0.0];
            Frame { n, t, o: cross(n, t) }
        }
        // without a direction as in `Frame::along_x`
        Directions::Spatial => Frame::new(n, along.unwrap_or([1.0, 0.0, 0.0])),
    }
}
