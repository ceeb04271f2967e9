//! Materials, and what holds where two of them meet.

use super::model::{Owner, Scene};
use crate::contact::{self, FrictionRule, Law};
use crate::dynamics::Joint;

/// What a shape is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Unique among materials.
    pub name: String,
    /// Young's modulus, Pa; `None`: does not deform.
    pub young: Option<f64>,
    /// Poisson's ratio, above -1, to 0.5.
    pub poisson: f64,
    /// Coefficient of friction against itself.
    pub friction: f64,
    /// kg/m^3 (planar scenes: kg/m^2, that is, of a body one metre deep).
    pub density: Option<f64>,
    /// Contact law.
    pub law: Law,
}

impl Material {
    /// What contacts need of it; infinitely stiff without Young's modulus.
    pub fn elastic(&self) -> contact::Material {
        let young = self.young.unwrap_or(f64::INFINITY);
        contact::Material { young, poisson: self.poisson, friction: self.friction }
    }
}

/// Who an exception is for, in either order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairOf {
    /// Indices of materials.
    Materials([usize; 2]),
    /// Bodies or world parts; goes before an exception for their materials.
    Owners([Owner; 2]),
}

/// An exception for a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Who it is for.
    pub of: PairOf,
    /// Whether they can touch at all.
    pub collide: bool,
    /// Coefficient of friction.
    pub friction: Option<f64>,
    /// Combination of the materials' friction; not beside `friction`.
    pub friction_rule: Option<FrictionRule>,
    /// Contact law.
    pub law: Option<Law>,
}

/// What holds where two shapes meet.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactRule {
    /// Coefficient of friction.
    pub friction: f64,
    /// Contact law.
    pub law: Law,
}

impl Scene {
    /// Whether shapes of the two can touch: never of one body, two world parts, a link and its parent, or a link
    /// fixed to the world and a world part; otherwise unless a pair says no.
    pub fn can_touch(&self, a: Owner, b: Owner) -> bool {
        let apart = match (a, b) {
            (Owner::World(_), Owner::World(_)) => false,
            (Owner::Body(i), Owner::Body(j)) => {
                i != j && self.bodies[i].link.parent != Some(j) && self.bodies[j].link.parent != Some(i)
            }
            (Owner::Body(i), Owner::World(_)) | (Owner::World(_), Owner::Body(i)) => {
                let link = &self.bodies[i].link;
                link.parent.is_some() || link.joint != Joint::Fixed
            }
        };
        apart && self.pair_of_owners(a, b).is_none_or(|p| p.collide)
    }

    /// Friction and law where a shape of `a` of one material meets a shape of `b` of another; `None` if they cannot
    /// touch. A pair of bodies goes before a pair of materials, that before the materials themselves. Of the
    /// materials' laws a compliant one goes before a rigid one; two different compliant ones need a pair, and the
    /// reader sees to that.
    pub fn contact_rule(&self, a: (Owner, usize), b: (Owner, usize)) -> Option<ContactRule> {
        let of_materials = self.pair_of_materials(a.1, b.1);
        if !self.can_touch(a.0, b.0) || of_materials.is_some_and(|p| !p.collide) {
            return None;
        }
        let pairs = [self.pair_of_owners(a.0, b.0), of_materials];
        let materials = [&self.materials[a.1], &self.materials[b.1]];
        let mut friction = None;
        for pair in pairs.into_iter().flatten() {
            let by_rule = pair.friction_rule.map(|r| r.combine(materials[0].friction, materials[1].friction));
            friction = friction.or(pair.friction).or(by_rule);
        }
        let law = pairs.into_iter().flatten().find_map(|p| p.law.as_ref());
        Some(ContactRule {
            friction: friction
                .unwrap_or_else(|| self.friction_rule.combine(materials[0].friction, materials[1].friction)),
            law: law.or_else(|| common_law(materials)).unwrap_or(&materials[0].law).clone(),
        })
    }

    /// Index of the pair that gives the law, if one does.
    pub(super) fn pair_with_law(&self, a: (Owner, usize), b: (Owner, usize)) -> Option<usize> {
        let pairs = [self.pair_of_owners(a.0, b.0), self.pair_of_materials(a.1, b.1)];
        let pair = pairs.into_iter().flatten().find(|p| p.law.is_some())?;
        self.pairs.iter().position(|p| p.of == pair.of)
    }

    fn pair_of_owners(&self, a: Owner, b: Owner) -> Option<&Pair> {
        self.pairs.iter().find(|p| p.of == PairOf::Owners([a, b]) || p.of == PairOf::Owners([b, a]))
    }

    fn pair_of_materials(&self, a: usize, b: usize) -> Option<&Pair> {
        self.pairs.iter().find(|p| p.of == PairOf::Materials([a, b]) || p.of == PairOf::Materials([b, a]))
    }

    /// Every two bodies or world parts with shapes that can touch.
    pub fn touching_owners(&self) -> Vec<[Owner; 2]> {
        let bodies = (0..self.bodies.len()).map(Owner::Body);
        let owners: Vec<Owner> = bodies.chain((0..self.world.len()).map(Owner::World)).collect();
        let mut touching = Vec::new();
        for (i, &a) in owners.iter().enumerate() {
            for &b in &owners[i + 1..] {
                let meet = |(p, q): (usize, usize)| self.contact_rule((a, p), (b, q)).is_some();
                let mut materials =
                    self.parts(a).iter().flat_map(|p| self.parts(b).iter().map(|q| (p.material, q.material)));
                if materials.any(meet) {
                    touching.push([a, b]);
                }
            }
        }
        touching
    }
}

/// The law two materials share: the compliant one if the other is rigid; `None` if both are compliant and differ.
pub(super) fn common_law([a, b]: [&Material; 2]) -> Option<&Law> {
    match (&a.law, &b.law) {
        (Law::Rigid, law) | (law, Law::Rigid) => Some(law),
        (first, second) => (first == second).then_some(first),
    }
}
