//! The contact table: the contact law and friction between any two parts, resolved once.

use super::{ContactRule, Owner, Part, Resolved, rule::Sides};
use crate::contact::{
    Compliance, ContactPoint, Directions, Law, Layer, Material, Pair, Patch, RowSpring, StatedLayer,
};
use crate::geometry::{Unsupported, supported};
use crate::scene::resolved::PairOf;
use crate::scene::{Fault, FrictionKind, Method};
use crate::state::ContactId;
use complementarity::problem::{Element, Friction};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Contact law and friction between two parts, compiled.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The rule as the scene gives it.
    pub given: ContactRule,
    /// Materials of the first and second part.
    pub materials: [usize; 2],
    /// Coefficient of friction; where friction is anisotropic the larger of the two.
    pub friction: f64,
    /// Set of admissible friction forces.
    pub set: Friction,
    /// Number of rows of an element: n, t and, in space, o; with torsion also the rotation about n, with
    /// rolling the rotations about n, t and o.
    pub rows: usize,
    /// Element of such a contact in the contact problem.
    pub element: Element,
    /// Stiffness and damping at the scene's step; `None` if the contact is rigid.
    pub compliance: Option<Compliance>,
    /// The layer of a contact with `law = "auto"`, which is rigid as long as the rigid motion is unique and stable.
    pub auto: Option<Arc<Patch>>,
    /// Soft layers of the two bodies, in the implicit scheme; empty if the contact is rigid.
    pub layers: Vec<Layer>,
}

/// Fault of two parts that can touch although the geometry does not support their pair of shapes.
fn unsupported(scene: &Resolved, parts: [&Part; 2]) -> Fault {
    let [a, b] = parts.map(|p| scene.name_of(p.owner));
    let shapes = parts.map(|p| p.solid.shape().name());
    let why = Unsupported { a: shapes[0], b: shapes[1], mixed: false };
    let message = format!("'{a}' and '{b}': {why}, expected a pair with collide = false");
    let path = match parts[0].owner {
        Owner::Body(i) => format!("body[{}].name", scene.bodies[i].given),
        Owner::World(i) => format!("world[{i}].name"),
    };
    Fault::new(path, message)
}

impl Rule {
    /// Rule without its compliance.
    fn new(given: ContactRule, layers: Vec<Layer>, materials: [usize; 2], directions: Directions) -> Self {
        let (friction, [t, o]) = given.semi_axes();
        // a rule without friction has neither torsion nor rolling
        let over = |x: f64| if x > 0.0 { x / friction } else { 0.0 };
        let (torsion, rolling) = (over(given.torsion), over(given.rolling));
        let rows = match directions {
            Directions::Planar => 2,
            Directions::Spatial if given.rolling > 0.0 => 6,
            Directions::Spatial if given.torsion > 0.0 => 4,
            Directions::Spatial => 3,
        };
        let set = given.friction_set.set();
        let mut element = Element::contact(rows, friction, set);
        if rows > 3 || given.grain.is_some() {
            element = element.with_axes(&[t, o, torsion, rolling, rolling]);
        }
        Self { given, materials, friction, set, rows, element, compliance: None, auto: None, layers }
    }

    /// The patch whose deformations the contact has where it is compliant; `None` if it is always rigid.
    pub fn patch(&self) -> Option<&Patch> {
        self.compliance.as_ref().map(Compliance::patch).or(self.auto.as_deref())
    }

    /// Whether the force acts where the layers of both bodies meet, each as it is deformed.
    pub fn meets_between_layers(&self) -> bool {
        self.layers.len() == 2 && self.given.contact_point == ContactPoint::Compliance
    }

    /// Whether friction is anisotropic.
    pub fn is_anisotropic(&self) -> bool {
        self.given.grain.is_some()
    }
}

/// Contact rules of all pairs of parts that can touch. Parts of the same class, which share a material and a kind of owner, have the same rules, unless the scene has an exception
/// for their bodies: memory and time grow with the parts and not with their pairs.
#[derive(Debug)]
pub struct ContactTable {
    rules: Vec<Rule>,
    classes: usize,
    /// Rule of two parts by their classes, that of the lower part number first; `None` if they cannot touch.
    by_classes: Vec<Option<usize>>,
    /// Rules of pairs of parts whose bodies have an exception; the lower part number comes first.
    others: HashMap<[u32; 2], Option<usize>, BuildHasherDefault<PairHasher>>,
    parts: Vec<Listed>,
    rows: usize,
    bounces: bool,
    auto: bool,
    directions: Directions,
}

/// What the table knows of a part.
#[derive(Debug, Clone, Copy)]
struct Listed {
    owner: Owner,
    /// Parent of its body.
    parent: Option<usize>,
    moves: bool,
    class: usize,
}

impl Listed {
    /// Whether contacts between two parts are possible by their owners: a body and itself, a link and its parent, and what does not move have none.
    fn is_apart(&self, other: &Self) -> bool {
        let hangs = |a: &Self, b: &Self| matches!((a.parent, b.owner), (Some(p), Owner::Body(j)) if p == j);
        self.owner != other.owner && (self.moves || other.moves) && !hangs(self, other) && !hangs(other, self)
    }
}

/// Parts of one class, the first of each owner.
type Members = Vec<usize>;

impl ContactTable {
    /// Whether some contacts have restitution.
    pub fn bounces(&self) -> bool {
        self.bounces
    }

    /// One rule for each two materials and each way in which two parts of them meet, checked once, without its compliance
    /// ([`Self::compile`]); or all that is wrong.
    pub(super) fn new(scene: &Resolved, parts: &[Part]) -> Result<Self, Vec<Fault>> {
        let (list, members) = classes(scene, parts);
        let mut table = Self {
            rules: vec![],
            classes: members.len(),
            by_classes: vec![None; members.len() * members.len()],
            others: HashMap::default(),
            parts: list,
            rows: 0,
            bounces: false,
            auto: false,
            directions: if scene.planar { Directions::Planar } else { Directions::Spatial },
        };
        let (mut sides, mut faults): (Vec<Sides>, _) = (vec![], vec![]);
        let excepted = excepted(scene);
        let mut pairs: Vec<[usize; 2]> = vec![];
        for one in &members {
            pairs.extend(members.iter().filter_map(|other| table.first_pair(one, other, &excepted)));
        }
        let of_classes = pairs.len();
        pairs.extend(table.pairs_of(&excepted));
        // the rules are numbered as their pairs are
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by_key(|&k| pairs[k]);
        for k in order {
            let [i, j] = pairs[k];
            let (a, b) = table.ordered(i, j);
            let two = [&parts[a], &parts[b]].map(|p| (p.owner, p.material));
            let rule = scene.contact_rule(two[0], two[1]);
            if rule.is_some() && !supported(&parts[i].solid, &parts[j].solid) {
                faults.push(unsupported(scene, [&parts[i], &parts[j]]));
            }
            let index = rule.map(|rule| {
                let materials = [parts[a].material, parts[b].material];
                let same = |r: &Rule| r.materials == materials && r.given == rule;
                table.rules.iter().position(same).unwrap_or_else(|| {
                    let layers = scene.layers(&rule, two);
                    table.rules.push(Rule::new(rule, layers, materials, table.directions));
                    sides.push([&parts[i], &parts[j]].map(|p| (p.owner, p.material)));
                    table.rules.len() - 1
                })
            });
            if k < of_classes {
                let place = table.place(i, j);
                table.by_classes[place] = index;
            } else {
                table.others.insert([i as u32, j as u32], index);
            }
        }
        table.auto = table.rules.iter().any(|r| matches!(r.given.law, Law::Auto(_)));
        table.bounces = table.rules.iter().any(|r| r.given.restitution > 0.0);
        table.rows = table.rules.iter().map(|r| r.rows).max().unwrap_or(table.directions.count());
        for (rule, sides) in table.rules.iter().zip(sides) {
            faults.extend(scene.faults_of(&rule.given, sides, table.rows));
        }
        if table.is_auto()
            && let Some(k) = table.rules.iter().position(|r| !matches!(r.given.law, Law::Auto(_)))
        {
            let rule = &table.rules[k];
            let [a, b] = rule.materials.map(|k| &scene.materials[k].name);
            let law = rule.given.law.name();
            let why = "expected auto between all parts that can touch, for it is the law of others: all contacts are rigid, or all compliant";
            let path = format!("material[{}].law", rule.materials[0]);
            faults.push(Fault::new(path, format!("law of '{a}' and '{b}' is {law}, {why}")));
        }
        let round = |r: &Rule| r.given.friction_set == FrictionKind::Cone;
        if scene.step.solver == Method::Lemke && !scene.planar && table.rules.iter().any(round) {
            let message =
                "lemke is for friction = \"pyramid\" or a polygon, of all pairs, and for planar scenes";
            faults.push(Fault::new("step.solver".to_owned(), message));
        }
        if faults.is_empty() { Ok(table) } else { Err(faults) }
    }

    /// Builds the compliances: stiffness and damping of each rule at the scene's step.
    pub(super) fn compile(&mut self, scene: &Resolved) -> Result<(), Vec<Fault>> {
        let mut faults = vec![];
        let (default, directions) = (default_layer(scene), self.directions);
        for rule in &mut self.rules {
            if let Law::Auto(layer) = &rule.given.law {
                // the materials' moduli matter to other laws alone
                let rigid = Material::rigid(0.0);
                let pair = Pair::new(&rigid, &rigid, Default::default());
                let layer = layer.as_deref().unwrap_or(&default);
                match pair.and_then(|p| Patch::new(layer, &p, directions)) {
                    Ok(patch) => rule.auto = Some(Arc::new(patch)),
                    Err(e) => faults.push(Fault::new(String::new(), e.to_string())),
                }
            }
        }
        for rule in self.rules.iter_mut().filter(|r| !r.given.law.steps_rigid()) {
            // the force acts on b along the normal: b is the first of the pair
            let [second, first] = rule.materials.map(|k| scene.materials[k].elastic());
            let pair = Pair::new(&first, &second, Default::default());
            let patch = pair.and_then(|p| Patch::new(&rule.given.law, &p, self.directions));
            match patch.and_then(|p| Compliance::new(Arc::new(p), scene.step.h)) {
                Ok(compliance) => rule.compliance = Some(compliance),
                Err(e) => {
                    let [a, b] = rule.materials.map(|k| &scene.materials[k].name);
                    faults.push(Fault::new(String::new(), format!("contact of '{a}' and '{b}': {e}")));
                }
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// The first two parts `i < j` of these classes that contacts are possible between, of owners without an exception.
    fn first_pair(
        &self,
        one: &Members,
        other: &Members,
        excepted: &HashSet<[Owner; 2]>,
    ) -> Option<[usize; 2]> {
        let moves = |members: &Members| members.first().is_some_and(|&i| self.parts[i].moves);
        if !moves(one) && !moves(other) {
            return None;
        }
        one.iter().find_map(|&i| {
            let free = |j: &&usize| {
                let (a, b) = (&self.parts[i], &self.parts[**j]);
                a.is_apart(b) && !excepted.contains(&sorted([a.owner, b.owner]))
            };
            let after = other.partition_point(|&j| j <= i);
            other[after..].iter().find(free).map(|&j| [i, j])
        })
    }

    /// Pairs of parts `i < j` of owners with an exception.
    fn pairs_of(&self, excepted: &HashSet<[Owner; 2]>) -> Vec<[usize; 2]> {
        let mut of: HashMap<Owner, Vec<usize>> = HashMap::new();
        if !excepted.is_empty() {
            self.parts.iter().enumerate().for_each(|(i, p)| of.entry(p.owner).or_default().push(i));
        }
        let parts = |owner: &Owner| of.get(owner).map_or(&[][..], Vec::as_slice);
        let mut pairs = vec![];
        for [a, b] in excepted {
            for &i in parts(a) {
                let two = parts(b).iter().map(|&j| [i.min(j), i.max(j)]);
                pairs.extend(two.filter(|[i, j]| self.parts[*i].is_apart(&self.parts[*j])));
            }
        }
        pairs
    }

    fn place(&self, i: usize, j: usize) -> usize {
        self.parts[i].class * self.classes + self.parts[j].class
    }

    /// The two parts `i < j` in their order within a contact: a world part comes first, so that the normal
    /// points into the body.
    fn ordered(&self, i: usize, j: usize) -> (usize, usize) {
        if matches!(self.parts[j].owner, Owner::World(_)) { (j, i) } else { (i, j) }
    }

    /// Parts of a pair (the lower number first) in their order within a contact, and the index of their rule;
    /// `None` if they cannot touch.
    pub fn find(&self, [i, j]: [u32; 2]) -> Option<((u32, u32), usize)> {
        let [one, other] = [i, j].map(|k| self.parts.get(k as usize));
        if !one?.is_apart(other?) {
            return None;
        }
        let by_classes = || self.by_classes[self.place(i as usize, j as usize)];
        // scenes without exceptions need no search
        let rule = match self.others.is_empty() {
            true => by_classes(),
            false => self.others.get(&[i, j]).copied().unwrap_or_else(by_classes),
        }?;
        let (a, b) = self.ordered(i as usize, j as usize);
        Some(((a as u32, b as u32), rule))
    }

    /// All rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Rule of a contact; `None` if its parts cannot touch, or not in this order.
    pub fn rule_of(&self, id: ContactId) -> Option<&Rule> {
        let (a, b) = (id.part_a, id.part_b);
        let (parts, rule) = self.find([a.min(b), a.max(b)])?;
        (parts == (a, b)).then(|| &self.rules[rule])
    }

    /// Largest number of rows of an element: n, t(, o) and, with torsion or rolling friction, the rotations
    /// about n(, t, o).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of rows of an element along n, t(, o).
    pub fn linear_rows(&self) -> usize {
        self.directions.count()
    }

    /// Number of deformations of a contact.
    pub fn deformation_rows(&self, id: ContactId) -> usize {
        let Some(rule) = self.rule_of(id) else { return 0 };
        match rule.layers.len() {
            0 => rule.patch().map_or(0, Patch::rows),
            layers => layers * self.linear_rows(),
        }
    }

    /// Whether contacts are rigid or compliant by `law = "auto"`.
    pub fn is_auto(&self) -> bool {
        self.auto
    }

    /// Whether the scene is planar or spatial.
    pub fn directions(&self) -> Directions {
        self.directions
    }
}

/// The parts with their classes, and the members of each class. Shapes without an end are a class of their own, for two of them cannot touch.
fn classes(scene: &Resolved, parts: &[Part]) -> (Vec<Listed>, Vec<Members>) {
    let mut known: HashMap<(usize, bool, bool, bool), usize> = HashMap::new();
    let mut members: Vec<Members> = vec![];
    let mut list: Vec<Listed> = Vec::with_capacity(parts.len());
    for (i, part) in parts.iter().enumerate() {
        let parent = match part.owner {
            Owner::Body(k) => scene.bodies[k].link.parent,
            Owner::World(_) => None,
        };
        let of_world = matches!(part.owner, Owner::World(_));
        let key = (part.material, of_world, part.moves, part.solid.is_unbounded());
        let class = *known.entry(key).or_insert_with(|| {
            members.push(vec![]);
            members.len() - 1
        });
        // parts of one owner follow one another
        if members[class].last().is_none_or(|&last| parts[last].owner != part.owner) {
            members[class].push(i);
        }
        list.push(Listed { owner: part.owner, parent, moves: part.moves, class });
    }
    (list, members)
}

/// Owners with an exception, each pair in order.
fn excepted(scene: &Resolved) -> HashSet<[Owner; 2]> {
    let of = scene.pairs.iter().filter_map(|pair| match pair.of {
        PairOf::Owners(owners) => Some(sorted(owners)),
        PairOf::Materials(_) => None,
    });
    of.collect()
}

fn sorted([a, b]: [Owner; 2]) -> [Owner; 2] {
    [a.min(b), a.max(b)]
}

/// The layer of `law = "auto"` without `compliant_law`: that of the analysis of stability, for the mean mass of the bodies.
fn default_layer(scene: &Resolved) -> Law {
    let masses: Vec<f64> =
        scene.bodies.iter().map(|b| b.link.inertia.mass).filter(|mass| *mass > 0.0).collect();
    let mass = if masses.is_empty() { 1.0 } else { masses.iter().sum::<f64>() / masses.len() as f64 };
    let RowSpring { stiffness, damping } = StatedLayer::default().spring(mass);
    Law::KelvinVoigt { stiffness: [stiffness; 2], damping: [damping; 2] }
}

/// Hasher for pairs of small numbers: `HashMap`'s own hasher costs more than the search.
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
        // 2^64 over the golden ratio
        self.0 = (self.0 ^ u64::from(x)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn write_usize(&mut self, _: usize) {
        // all keys have the same length
    }
}
