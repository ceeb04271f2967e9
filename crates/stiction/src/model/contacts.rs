//! The contact table: the contact law and friction between any two parts, resolved once.

use super::{ContactRule, Owner, Part, Resolved, rule::Sides};
use crate::contact::{
    Compliance, ContactPoint, Directions, Law, Layer, Material, Pair, Patch, RowSpring, StatedLayer,
};
use crate::geometry::{Unsupported, supported};
use crate::scene::{Fault, FrictionKind, Method};
use crate::state::ContactId;
use complementarity::problem::{Element, Friction};
use std::collections::HashMap;
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

/// Contact rules of all pairs of parts that can touch.
#[derive(Debug)]
pub struct ContactTable {
    rules: Vec<Rule>,
    materials: usize,
    /// Rule of the first pair of parts with given materials, indexed by both materials; `None` if they cannot
    /// touch.
    by_materials: Vec<Option<Option<usize>>>,
    /// Rules of pairs of parts that differ from `by_materials`; the lower part number comes first.
    others: HashMap<[u32; 2], Option<usize>, BuildHasherDefault<PairHasher>>,
    /// Owner and material of each part, and whether it moves.
    parts: Vec<(Owner, usize, bool)>,
    rows: usize,
    bounces: bool,
    auto: bool,
    directions: Directions,
}

impl ContactTable {
    /// Whether some contacts have restitution.
    pub fn bounces(&self) -> bool {
        self.bounces
    }

    /// One rule for each two materials and each way in which two parts of them meet, checked once, without its compliance
    /// ([`Self::compile`]); or all that is wrong.
    pub(super) fn new(scene: &Resolved, parts: &[Part]) -> Result<Self, Vec<Fault>> {
        let n = scene.materials.len();
        let mut table = Self {
            rules: vec![],
            materials: n,
            by_materials: vec![None; n * n],
            others: HashMap::default(),
            parts: parts.iter().map(|p| (p.owner, p.material, p.moves)).collect(),
            rows: 0,
            bounces: false,
            auto: false,
            directions: if scene.planar { Directions::Planar } else { Directions::Spatial },
        };
        let (mut sides, mut faults): (Vec<Sides>, _) = (vec![], vec![]);
        for i in 0..parts.len() {
            for j in i + 1..parts.len() {
                let Some((a, b)) = table.ordered(i, j) else { continue };
                let two = [&parts[i], &parts[j]].map(|p| (p.owner, p.material));
                let ordered = [&parts[a], &parts[b]].map(|p| (p.owner, p.material));
                let rule = scene.contact_rule(ordered[0], ordered[1]);
                if rule.is_some() && !supported(&parts[i].solid, &parts[j].solid) {
                    faults.push(unsupported(scene, [&parts[i], &parts[j]]));
                }
                let index = rule.map(|rule| {
                    let materials = [parts[a].material, parts[b].material];
                    let same = |r: &Rule| r.materials == materials && r.given == rule;
                    table.rules.iter().position(same).unwrap_or_else(|| {
                        let layers = scene.layers(&rule, ordered);
                        table.rules.push(Rule::new(rule, layers, materials, table.directions));
                        sides.push(two);
                        table.rules.len() - 1
                    })
                });
                table.set(i, j, index);
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

    fn set(&mut self, i: usize, j: usize, rule: Option<usize>) {
        let Some((a, b)) = self.ordered(i, j) else { return };
        let known = &mut self.by_materials[self.parts[a].1 * self.materials + self.parts[b].1];
        if *known.get_or_insert(rule) != rule {
            self.others.insert([i as u32, j as u32], rule);
        }
    }

    /// The two parts `i < j` in their order within a contact: a world part comes first, so that the normal
    /// points into the body. `None` if neither moves, both belong to one body, or there is no such part.
    fn ordered(&self, i: usize, j: usize) -> Option<(usize, usize)> {
        let (one, other) = (self.parts.get(i)?, self.parts.get(j)?);
        let apart = one.0 != other.0 && (one.2 || other.2);
        apart.then_some(if matches!(other.0, Owner::World(_)) { (j, i) } else { (i, j) })
    }

    /// Parts of a pair (the lower number first) in their order within a contact, and the index of their rule;
    /// `None` if they cannot touch.
    pub fn find(&self, [i, j]: [u32; 2]) -> Option<((u32, u32), usize)> {
        let (a, b) = self.ordered(i as usize, j as usize)?;
        let by_materials = self.by_materials[self.parts[a].1 * self.materials + self.parts[b].1];
        let rule = self.others.get(&[i, j]).copied().or(by_materials)??;
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
