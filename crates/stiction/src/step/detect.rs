//! State -> contacts: where bodies touch or may touch within a step.

use crate::contact::{Compliance, Directions, Law, Material, Pair, Patch};
use crate::dynamics::{Kinematics, System};
use crate::geometry::{
    Aabb, BroadPhase, Solid, Touch, Workspace, bounding_box, gap_along, supported, touches,
};
use crate::scene::{ContactRule, Grain, MOST_FRICTION, Owner, Scene};
use crate::space::{Frame, Pose, Vector, add, cross, length};
use crate::state::{ContactId, State};
use complementarity::problem::Friction;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::InvalidModel;

/// A shape in place.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub owner: Owner,
    pub solid: Solid,
    /// In its body, and now in the world.
    pub local: Pose,
    pub pose: Pose,
    pub material: usize,
    /// Whether it is not part of the world, or fixed to it.
    pub moves: bool,
}

/// What holds between two parts.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// Along a grain or across it, whichever is larger.
    pub friction: f64,
    pub friction_set: Friction,
    pub grain: Option<Grain>,
    /// Axes of the ellipsoid of forces and moments over `friction`: along t and o (1 without a grain), torsion and rolling, m.
    pub axes: [f64; 4],
    /// `None`: rigid.
    pub compliance: Option<Compliance>,
}

impl Rule {
    /// What a row of an element is over the speed it stands for, and its force or moment over the unknown.
    pub fn axis(&self, row: usize) -> f64 {
        let [t, o, torsion, rolling] = self.axes;
        [1.0, t, o, torsion, rolling, rolling][row]
    }

    /// Whether friction differs by direction.
    pub fn has_grain(&self) -> bool {
        self.grain.is_some()
    }
}

/// A contact of this step: elements with gaps, in one frame.
#[derive(Debug, Clone)]
pub(super) struct Contact {
    pub id: ContactId,
    /// Whose its two parts are.
    pub owners: [Owner; 2],
    pub frame: Frame,
    /// Index of its rule.
    pub rule: usize,
    /// First of its elements, and their number.
    pub first: usize,
    pub count: usize,
}

/// An element: where it is and the gap of the undeformed surfaces, `psi`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub point: Vector,
    pub gap: f64,
}

/// Finds contacts; keeps its memory from step to step.
#[derive(Debug)]
pub(super) struct Detector {
    pub parts: Vec<Body>,
    pub rules: Vec<Rule>,
    materials: usize,
    /// Rules by the materials of first and second part: of the first such pair of parts that was seen; `None` if these cannot touch.
    by_materials: Vec<Option<Option<usize>>>,
    /// Of the other pairs, where they differ; the lower number first.
    others: HashMap<[u32; 2], Option<usize>, BuildHasherDefault<PairHasher>>,
    planar: bool,
    broad: BroadPhase,
    workspace: Workspace,
    boxes: Vec<Aabb>,
    candidates: Vec<[u32; 2]>,
    /// Pairs with the world, and their rules.
    with_world: Vec<((u32, u32), usize)>,
    found: Vec<Touch>,
    pub contacts: Vec<Contact>,
    /// Contact by contact.
    pub elements: Vec<Element>,
    packed: Vec<Element>,
}

impl Detector {
    pub fn new(scene: &Scene, system: &System) -> Result<Self, InvalidModel> {
        let owners = (0..scene.bodies.len()).map(Owner::Body).chain((0..scene.world.len()).map(Owner::World));
        let mut parts = vec![];
        for owner in owners {
            for part in scene.parts(owner) {
                let solid = Solid::new(&part.shape, scene.planar)
                    .map_err(|e| InvalidModel(format!("{}: {e}", scene.name_of(owner))))?;
                let (pose, material) = (part.pose, part.material);
                // bodies fixed to the world are part of it
                let moves = matches!(owner, Owner::Body(i) if system.tree_of(i).is_some());
                parts.push(Body { owner, solid, local: pose, pose, material, moves });
            }
        }
        let mut detector = Self {
            parts,
            rules: vec![],
            materials: scene.materials.len(),
            by_materials: vec![None; scene.materials.len() * scene.materials.len()],
            others: HashMap::default(),
            planar: scene.planar,
            broad: BroadPhase::default(),
            workspace: Workspace::default(),
            boxes: vec![],
            candidates: vec![],
            with_world: vec![],
            found: vec![],
            contacts: vec![],
            elements: vec![],
            packed: vec![],
        };
        detector.find_rules(scene)?;
        Ok(detector)
    }

    /// One rule for each pair of parts that can touch; patches are built once for each pair of materials and law.
    fn find_rules(&mut self, scene: &Scene) -> Result<(), InvalidModel> {
        let directions = if scene.planar { Directions::Planar } else { Directions::Spatial };
        let rows = scene.contact_rows();
        let mut built: Vec<([usize; 2], ContactRule, usize)> = vec![];
        for i in 0..self.parts.len() {
            for j in i + 1..self.parts.len() {
                let Some((a, b)) = self.ordered(i, j) else { continue };
                let (pa, pb) = (&self.parts[a], &self.parts[b]);
                let Some(rule) = scene.contact_rule((pa.owner, pa.material), (pb.owner, pb.material)) else {
                    self.set_rule(i, j, None);
                    continue;
                };
                let names = || format!("{} and {}", scene.name_of(pa.owner), scene.name_of(pb.owner));
                if rule.friction > MOST_FRICTION {
                    let (names, mu) = (names(), rule.friction);
                    return Err(InvalidModel(format!(
                        "{names}: friction is {mu}, expected at most {MOST_FRICTION}"
                    )));
                }
                if let Some((what, value, why)) = scene.wrong_moment(&rule) {
                    return Err(InvalidModel(format!("{}: {what} is {value}, {why}", names())));
                }
                if let Some(why) = scene.wrong_grain(&rule) {
                    return Err(InvalidModel(format!("{}: grain: {why}", names())));
                }
                if let Some(why) = rule.wrong_set(rows) {
                    return Err(InvalidModel(format!("{}: friction set: {why}", names())));
                }
                if !supported(&pa.solid, &pb.solid) {
                    return Err(InvalidModel(format!("{}: these shapes cannot touch each other", names())));
                }
                let materials = [pa.material, pb.material];
                let index = match built.iter().find(|x| x.0 == materials && x.1 == rule) {
                    Some(known) => known.2,
                    None => {
                        let material = |k: usize| {
                            let m = &scene.materials[k];
                            Material {
                                young: m.young.unwrap_or(f64::INFINITY),
                                poisson: m.poisson,
                                friction: m.friction,
                            }
                        };
                        let compliance = if rule.law == Law::Rigid {
                            None
                        } else {
                            // the force acts on b along the normal: b is the first of the pair
                            let pair =
                                Pair::new(&material(pb.material), &material(pa.material), Default::default());
                            let patch = pair.and_then(|p| Patch::new(&rule.law, &p, directions));
                            let made = patch.and_then(|p| Compliance::new(Arc::new(p), scene.step.h));
                            Some(made.map_err(|e| InvalidModel(format!("{}: {e}", names())))?)
                        };
                        // a rule without friction has neither
                        let (friction, [t, o]) = rule.semi_axes();
                        let over = |x: f64| if x > 0.0 { x / friction } else { 0.0 };
                        let axes = [t, o, over(rule.torsion), over(rule.rolling)];
                        let (friction_set, grain) = (rule.friction_set.set(), rule.grain);
                        self.rules.push(Rule { friction, friction_set, grain, axes, compliance });
                        let index = self.rules.len() - 1;
                        built.push((materials, rule, index));
                        index
                    }
                };
                self.set_rule(i, j, Some(index));
            }
        }
        Ok(())
    }

    /// The two parts as they are in a contact, `i < j`: the world goes first, for the normal then points into the body. `None` if neither moves, both
    /// are of one body, or there is no such part.
    fn ordered(&self, i: usize, j: usize) -> Option<(usize, usize)> {
        let (one, other) = (self.parts.get(i)?, self.parts.get(j)?);
        let apart = one.owner != other.owner && (one.moves || other.moves);
        apart.then_some(if matches!(other.owner, Owner::World(_)) { (j, i) } else { (i, j) })
    }

    fn set_rule(&mut self, i: usize, j: usize, rule: Option<usize>) {
        let Some((a, b)) = self.ordered(i, j) else { return };
        let known = &mut self.by_materials[self.parts[a].material * self.materials + self.parts[b].material];
        if *known.get_or_insert(rule) != rule {
            self.others.insert([i as u32, j as u32], rule);
        }
    }

    /// The parts of a pair in their order, and their rule; `None` if they cannot touch.
    fn rule(&self, [i, j]: [u32; 2]) -> Option<((u32, u32), usize)> {
        let (a, b) = self.ordered(i as usize, j as usize)?;
        let by_materials =
            self.by_materials[self.parts[a].material * self.materials + self.parts[b].material];
        let rule = self.others.get(&[i, j]).copied().or(by_materials)??;
        Some(((a as u32, b as u32), rule))
    }

    /// Contacts whose gap is at most `margin`, in order of their ids.
    pub fn detect(&mut self, kinematics: &Kinematics, margin: f64) {
        if self.rules.is_empty() {
            return;
        }
        for part in &mut self.parts {
            if let Owner::Body(i) = part.owner {
                part.pose = kinematics.pose(i).then(&part.local);
            }
        }
        self.boxes.clear();
        self.boxes.extend(self.parts.iter().map(|p| bounding_box(&p.solid, &p.pose, 0.5 * margin)));
        self.broad.pairs(&self.boxes, &mut self.candidates);
        self.contacts.clear();
        self.elements.clear();
        self.with_world.clear();
        for k in 0..self.candidates.len() {
            let Some(((a, b), rule)) = self.rule(self.candidates[k]) else { continue };
            if a < b {
                self.detect_pair((a, b), rule, margin);
            } else {
                self.with_world.push(((a, b), rule));
            }
        }
        // candidates are in order, and the world's parts come last
        self.with_world.sort_unstable();
        for k in 0..self.with_world.len() {
            let (parts, rule) = self.with_world[k];
            self.detect_pair(parts, rule, margin);
        }
    }

    /// Elements in the order of their contacts, and no others.
    fn pack(&mut self) {
        self.packed.clear();
        for c in &mut self.contacts {
            let first = self.packed.len();
            self.packed.extend_from_slice(&self.elements[c.first..c.first + c.count]);
            c.first = first;
        }
        std::mem::swap(&mut self.packed, &mut self.elements);
    }

    /// Adds the contacts of a pair.
    fn detect_pair(&mut self, (part_a, part_b): (u32, u32), rule: usize, margin: f64) {
        let (a, b) = (&self.parts[part_a as usize], &self.parts[part_b as usize]);
        self.found.clear();
        let known =
            touches(&a.solid, &a.pose, &b.solid, &b.pose, margin, &mut self.workspace, &mut self.found);
        debug_assert!(known.is_ok(), "pairs were checked when the detector was made");
        self.found.sort_unstable_by_key(|touch| touch.feature);
        let owners = [a.owner, b.owner];
        let grain = self.rules[rule].grain.map(|grain| {
            let part = if grain.of == a.owner { a } else { b };
            match part.owner {
                Owner::Body(_) => part.pose.attitude.apply(part.local.attitude.inverse().apply(grain.along)),
                Owner::World(_) => part.pose.attitude.apply(grain.along),
            }
        });
        for touch in &self.found {
            let frame = self.frame(touch.normal, grain);
            let first = self.elements.len();
            match &self.rules[rule].compliance {
                Some(c) if c.patch().grid().count() > 1 => {
                    let grid = c.patch().grid();
                    for k in 0..grid.count() {
                        let point = add(touch.point, frame.in_plane(grid.centre(k)));
                        let gap = gap_along(&a.solid, &a.pose, &b.solid, &b.pose, point, frame.n);
                        self.elements.push(Element { point, gap });
                    }
                }
                _ => self.elements.push(Element { point: touch.point, gap: touch.gap }),
            }
            let id = ContactId { part_a, part_b, feature: touch.feature };
            let count = self.elements.len() - first;
            self.contacts.push(Contact { id, owners, frame, rule, first, count });
        }
    }

    /// Planar: t is n turned clockwise, along the ground when n points up. In space t lies along the grain, or the world's x axis,
    /// as far as it can.
    fn frame(&self, n: Vector, grain: Option<Vector>) -> Frame {
        if self.planar {
            let t = [n[1], -n[0], 0.0];
            return Frame { n, t, o: cross(n, t) };
        }
        // without one as in `Frame::along_x`
        Frame::new(n, grain.unwrap_or([1.0, 0.0, 0.0]))
    }

    /// Farthest point of each body's shapes from its origin, m.
    pub fn reaches(&self, bodies: usize) -> Vec<f64> {
        let mut reach = vec![0.0f64; bodies];
        for part in &self.parts {
            if let Owner::Body(i) = part.owner {
                let around = bounding_box(&part.solid, &part.local, 0.0);
                let far = [0, 1, 2].map(|k| around.min[k].abs().max(around.max[k].abs()));
                reach[i] = reach[i].max(length(far));
            }
        }
        reach
    }

    /// Goes to another step.
    pub fn set_step(&mut self, h: f64) -> Result<(), InvalidModel> {
        for rule in &mut self.rules {
            if let Some(c) = &mut rule.compliance {
                c.update(h).map_err(|e| InvalidModel(e.to_string()))?;
            }
        }
        Ok(())
    }

    /// Whether a contact's frame may turn from step to step, with a grain: the deformation of a point is remembered in one that does not. (Patches have no grain that
    /// moves.)
    pub fn turns(&self, contact: &Contact) -> bool {
        contact.count == 1 && self.rules[contact.rule].has_grain()
    }

    /// The rule of a contact.
    pub fn rule_of(&self, id: ContactId) -> Option<&Rule> {
        let (a, b) = (id.part_a, id.part_b);
        self.rule([a.min(b), a.max(b)]).map(|(_, rule)| &self.rules[rule])
    }

    /// Keeps contacts with an element that is closed: `psi + delta_n <= closed`.
    pub fn keep_closed(&mut self, state: &State, closed: f64) {
        let (elements, planar) = (&self.elements, self.planar);
        self.contacts.retain(|c| {
            let known = state.remembered(c.id);
            let per = if planar { 2 } else { 3 };
            let delta = |k: usize| known.and_then(|m| m.deformation.get(per * k)).copied().unwrap_or(0.0);
            (0..c.count).any(|k| elements[c.first + k].gap + delta(k) <= closed)
        });
        self.pack();
    }
}

/// Mixes two small numbers: `HashMap`'s own hasher costs more than the search.
#[derive(Debug, Default)]
struct PairHasher(u64);

impl Hasher for PairHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u32(u32::from(b)));
    }

    fn write_u32(&mut self, x: u32) {
        // multiplier: 2^64 over the golden ratio
        self.0 = (self.0 ^ u64::from(x)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn write_usize(&mut self, _: usize) {
        // the length of a pair says nothing
    }
}
