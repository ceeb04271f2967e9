//! The contact table: what holds between any two parts, resolved once.

use super::{InvalidModel, Part};
use crate::contact::{Compliance, Directions, Law, Pair, Patch};
use crate::geometry::supported;
use crate::scene::{ContactRule, MOST_FRICTION, Owner, Scene};
use crate::state::ContactId;
use complementarity::problem::Friction;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// What holds where two parts meet, compiled.
#[derive(Debug, Clone)]
pub struct Rule {
    /// As the scene has it.
    pub given: ContactRule,
    /// Coefficient of friction; where friction is anisotropic the larger of the two.
    pub friction: f64,
    /// Set of friction forces.
    pub set: Friction,
    /// Axes of the ellipsoid of forces and moments over `friction`: along t and o (1 where friction is isotropic), torsion and
    /// rolling, m.
    pub axes: [f64; 4],
    /// Stiffness and damping at the scene's step; `None` if the contact is rigid.
    pub compliance: Option<Compliance>,
}

impl Rule {
    /// What a row of an element is over the velocity it stands for, and its force or moment over the unknown.
    pub fn axis(&self, row: usize) -> f64 {
        let [t, o, torsion, rolling] = self.axes;
        [1.0, t, o, torsion, rolling, rolling][row]
    }

    /// Whether friction differs by direction.
    pub fn is_anisotropic(&self) -> bool {
        self.given.grain.is_some()
    }
}

/// The rule of every two parts that can touch.
#[derive(Debug)]
pub struct ContactTable {
    rules: Vec<Rule>,
    materials: usize,
    /// By the materials of first and second part: the rule of the first such pair of parts; `None` if these cannot touch.
    by_materials: Vec<Option<Option<usize>>>,
    /// Rules of pairs of parts that differ from it; the lower number first.
    others: HashMap<[u32; 2], Option<usize>, BuildHasherDefault<PairHasher>>,
    /// Owner and material of each part, and whether it moves.
    parts: Vec<(Owner, usize, bool)>,
    rows: usize,
    directions: Directions,
}

impl ContactTable {
    /// One rule for each pair of parts that can touch; patches are built once for each pair of materials and law.
    pub(super) fn new(scene: &Scene, parts: &[Part]) -> Result<Self, InvalidModel> {
        let n = scene.materials.len();
        let mut table = Self {
            rules: vec![],
            materials: n,
            by_materials: vec![None; n * n],
            others: HashMap::default(),
            parts: parts.iter().map(|p| (p.owner, p.material, p.moves)).collect(),
            rows: scene.contact_rows(),
            directions: if scene.planar { Directions::Planar } else { Directions::Spatial },
        };
        let mut built: Vec<([usize; 2], ContactRule, usize)> = vec![];
        for i in 0..parts.len() {
            for j in i + 1..parts.len() {
                let Some((a, b)) = table.ordered(i, j) else { continue };
                let (pa, pb) = (&parts[a], &parts[b]);
                let rule = scene.contact_rule((pa.owner, pa.material), (pb.owner, pb.material));
                let index = match rule {
                    None => None,
                    Some(rule) => {
                        let fault = |why: String| {
                            let names = [pa, pb].map(|p| scene.name_of(p.owner));
                            InvalidModel(format!("{} and {}: {why}", names[0], names[1]))
                        };
                        if !supported(&pa.solid, &pb.solid) {
                            return Err(fault("these shapes cannot touch each other".to_owned()));
                        }
                        let materials = [pa.material, pb.material];
                        let known = built.iter().find(|x| x.0 == materials && x.1 == rule).map(|x| x.2);
                        Some(match known {
                            Some(index) => index,
                            None => {
                                table.rules.push(table.compile(scene, materials, &rule).map_err(fault)?);
                                built.push((materials, rule, table.rules.len() - 1));
                                table.rules.len() - 1
                            }
                        })
                    }
                };
                table.set(i, j, index);
            }
        }
        table.check_explicit_share(scene)?;
        Ok(table)
    }

    /// Checks a rule and builds its compliance.
    fn compile(&self, scene: &Scene, [a, b]: [usize; 2], given: &ContactRule) -> Result<Rule, String> {
        if given.friction > MOST_FRICTION {
            return Err(format!("friction is {}, expected at most {MOST_FRICTION}", given.friction));
        }
        if let Some((what, value, why)) = scene.wrong_moment(given) {
            return Err(format!("{what} is {value}, {why}"));
        }
        if let Some(why) = scene.wrong_grain(given) {
            return Err(format!("grain: {why}"));
        }
        if let Some(why) = given.wrong_set(self.rows) {
            return Err(format!("friction set: {why}"));
        }
        let compliance = match given.law {
            Law::Rigid => None,
            _ => {
                // the force acts on b along the normal: b is the first of the pair
                let [first, second] = [b, a].map(|k| scene.materials[k].elastic());
                let pair = Pair::new(&first, &second, Default::default());
                let patch = pair.and_then(|p| Patch::new(&given.law, &p, self.directions));
                let made = patch.and_then(|p| Compliance::new(Arc::new(p), scene.step.h));
                Some(made.map_err(|e| e.to_string())?)
            }
        };
        // a rule without friction has neither torsion nor rolling
        let (friction, [t, o]) = given.semi_axes();
        let over = |x: f64| if x > 0.0 { x / friction } else { 0.0 };
        let axes = [t, o, over(given.torsion), over(given.rolling)];
        Ok(Rule { given: given.clone(), friction, set: given.friction_set.set(), axes, compliance })
    }

    fn check_explicit_share(&self, scene: &Scene) -> Result<(), InvalidModel> {
        let share = scene.step.explicit_share;
        if share > 0.5 && self.rules.iter().any(|r| r.compliance.is_none()) {
            return Err(InvalidModel(format!(
                "explicit_share is {share}: above 0.5 rigid contacts give back more velocity than they take; use at most 0.5, \
                 or compliant laws"
            )));
        }
        Ok(())
    }

    fn set(&mut self, i: usize, j: usize, rule: Option<usize>) {
        let Some((a, b)) = self.ordered(i, j) else { return };
        let known = &mut self.by_materials[self.parts[a].1 * self.materials + self.parts[b].1];
        if *known.get_or_insert(rule) != rule {
            self.others.insert([i as u32, j as u32], rule);
        }
    }

    /// The two parts as they are in a contact, `i < j`: the world goes first, for the normal then points into the body. `None` if
    /// neither moves, both belong to one body, or there is no such part.
    fn ordered(&self, i: usize, j: usize) -> Option<(usize, usize)> {
        let (one, other) = (self.parts.get(i)?, self.parts.get(j)?);
        let apart = one.0 != other.0 && (one.2 || other.2);
        apart.then_some(if matches!(other.0, Owner::World(_)) { (j, i) } else { (i, j) })
    }

    /// The parts of a pair (the lower number first) in their order within a contact, and the index of their rule; `None` if they
    /// cannot touch.
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

    /// The rule of a contact; `None` if its parts cannot touch, or not in this order.
    pub fn rule_of(&self, id: ContactId) -> Option<&Rule> {
        let (a, b) = (id.part_a, id.part_b);
        let (parts, rule) = self.find([a.min(b), a.max(b)])?;
        (parts == (a, b)).then(|| &self.rules[rule])
    }

    /// Rows of an element: n, t(, o) and, where some contact has torsion or rolling friction, the rotations about n(, t, o).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The rows of an element along n, t(, o).
    pub fn linear_rows(&self) -> usize {
        self.directions.count()
    }

    /// Rows of deformation of a contact.
    pub fn deformation_rows(&self, id: ContactId) -> usize {
        self.rule_of(id).and_then(|r| r.compliance.as_ref()).map_or(0, Compliance::rows)
    }

    /// Whether the scene is planar or spatial.
    pub fn directions(&self) -> Directions {
        self.directions
    }

    /// The friction set that all contacts share; `None` if they differ.
    pub fn common_set(&self) -> Option<Friction> {
        let first = self.rules.first().map_or(Friction::Cone, |r| r.set);
        self.rules.iter().all(|r| r.set == first).then_some(first)
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
