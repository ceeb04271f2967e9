//! Materials, and what holds where two of them meet.

use super::FrictionKind;
use super::model::{Owner, Scene};
use crate::contact::{self, FrictionRule, Law};
use crate::dynamics::Joint;
use crate::space::{Vector, length};

/// Beyond it the residual, which slip shares between normal and friction as 1 to mu, no longer sees overlaps.
pub(crate) const MOST_FRICTION: f64 = 1000.0;

/// Least coefficient of friction along or across a grain, as a share of the other.
const LEAST_AXIS: f64 = 1e-3;

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
    /// Torsional and rolling friction against itself, m, as in [`ContactRule`].
    pub torsion: f64,
    /// See `torsion`.
    pub rolling: f64,
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

/// Friction that differs by direction: an ellipse with one semi-axis along a direction of one of the bodies (chakraborty2007 (5), `e_t` and `e_o`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// The one of the two that has the direction.
    pub of: Owner,
    /// Direction in its axes, of length 1.
    pub along: Vector,
    /// Coefficient of friction across it; that of the pair is along it.
    pub across: f64,
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
    /// Torsional friction, m.
    pub torsion: Option<f64>,
    /// Rolling friction, m.
    pub rolling: Option<f64>,
    /// Combination of the materials' friction, torsion and rolling; not beside `friction`.
    pub friction_rule: Option<FrictionRule>,
    /// Set of friction forces; that of the step if `None`.
    pub friction_set: Option<FrictionKind>,
    /// Friction that differs by direction; only of bodies.
    pub grain: Option<Grain>,
    /// Contact law.
    pub law: Option<Law>,
}

/// What holds where two shapes meet. Friction's force `f` and its moment `m` about the contact point share one ellipsoid,
/// `(f_t^2 + f_o^2) / friction^2 + m_n^2 / torsion^2 + (m_t^2 + m_o^2) / rolling^2 <= f_n^2`; where a length is 0 there is no such moment. With a grain the first term is
/// `f_t^2 / friction^2 + f_o^2 / across^2`, t along it.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactRule {
    /// Coefficient of friction; 0 if the set is none. Where there is a grain, along it.
    pub friction: f64,
    /// Friction that differs by direction.
    pub grain: Option<Grain>,
    /// Set of friction forces; the ellipsoid is that of the cone.
    pub friction_set: FrictionKind,
    /// Torsional friction, m.
    pub torsion: f64,
    /// Rolling friction, m.
    pub rolling: f64,
    /// Contact law.
    pub law: Law,
}

impl ContactRule {
    /// The larger of the coefficients along and across a grain, and each over it.
    pub(crate) fn semi_axes(&self) -> (f64, [f64; 2]) {
        match self.grain {
            Some(grain) => {
                let most = self.friction.max(grain.across);
                (most, [self.friction / most, grain.across / most])
            }
            None => (self.friction, [1.0; 2]),
        }
    }

    /// What is wrong with its friction set where contacts of the scene have so many rows: solvers know corners in the plane of t and o only.
    pub(crate) fn wrong_set(&self, rows: usize) -> Option<&'static str> {
        let flat = matches!(self.friction_set, FrictionKind::Pyramid | FrictionKind::Polygon { .. });
        let why = "expected \"cone\", for other contacts of the scene have torsion or rolling friction";
        // of moments of its own `wrong_moment` speaks
        (flat && rows > 3 && self.torsion == 0.0 && self.rolling == 0.0).then_some(why)
    }
}

impl Scene {
    /// The sets of friction forces of all contacts there can be: those of pairs, and the step's if two that can touch have no other.
    pub(crate) fn friction_sets(&self) -> Vec<FrictionKind> {
        let mut sets: Vec<FrictionKind> =
            self.pairs.iter().filter(|p| p.collide).filter_map(|p| p.friction_set).collect();
        if sets.is_empty() {
            return vec![self.step.friction];
        }
        let mut all = self.touching_owners().into_iter().flat_map(|[a, b]| {
            let (one, other) = (self.parts(a), self.parts(b));
            one.iter().flat_map(move |p| other.iter().map(move |q| ((a, p.material), (b, q.material))))
        });
        let by_step = |(a, b)| {
            let own = |p: &Pair| p.friction_set.is_some();
            self.contact_rule(a, b).is_some() && self.pair_that(own, a, b).is_none()
        };
        if all.any(by_step) {
            sets.push(self.step.friction);
        }
        sets
    }

    /// Whether no contact has a round set of friction forces.
    pub(crate) fn is_flat(&self) -> bool {
        self.planar || !self.friction_sets().contains(&FrictionKind::Cone)
    }

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
        let value = |given: fn(&Pair) -> Option<f64>, of: fn(&Material) -> f64| {
            let combined = |rule: FrictionRule| rule.combine(of(materials[0]), of(materials[1]));
            let by_pair = |p: &Pair| given(p).or_else(|| p.friction_rule.map(combined));
            let by_pairs = pairs.into_iter().flatten().find_map(by_pair);
            by_pairs.unwrap_or_else(|| combined(self.friction_rule))
        };
        let law = pairs.into_iter().flatten().find_map(|p| p.law.as_ref());
        let friction_set =
            pairs.into_iter().flatten().find_map(|p| p.friction_set).unwrap_or(self.step.friction);
        let friction = match friction_set {
            FrictionKind::Frictionless => 0.0,
            _ => value(|p| p.friction, |m| m.friction),
        };
        Some(ContactRule {
            friction,
            grain: pairs[0].and_then(|p| p.grain),
            friction_set,
            torsion: value(|p| p.torsion, |m| m.torsion),
            rolling: value(|p| p.rolling, |m| m.rolling),
            law: law.or_else(|| common_law(materials)).unwrap_or(&materials[0].law).clone(),
        })
    }

    /// Index of the pair that says something (the law, for one), if one does.
    pub(super) fn pair_that(
        &self,
        says: impl Fn(&Pair) -> bool,
        a: (Owner, usize),
        b: (Owner, usize),
    ) -> Option<usize> {
        let pairs = [self.pair_of_owners(a.0, b.0), self.pair_of_materials(a.1, b.1)];
        let pair = pairs.into_iter().flatten().find(|p| says(p))?;
        self.pairs.iter().position(|p| p.of == pair.of)
    }

    /// Rows of an element of a contact: n, t and, in space, o; then the spin about n if any contact has torsion; then the turns about
    /// t and o, with the spin before them, if any has rolling friction.
    pub fn contact_rows(&self) -> usize {
        let (mut torsion, mut rolling) = (false, false);
        if self.gives_moments() {
            for [a, b] in self.touching_owners() {
                for (p, q) in self.parts(a).iter().flat_map(|p| self.parts(b).iter().map(move |q| (p, q))) {
                    let rule = self.contact_rule((a, p.material), (b, q.material));
                    torsion |= rule.as_ref().is_some_and(|r| r.torsion > 0.0);
                    rolling |= rule.is_some_and(|r| r.rolling > 0.0);
                }
            }
        }
        match (torsion, rolling) {
            _ if self.planar => 2,
            (_, true) => 6,
            (true, false) => 4,
            (false, false) => 3,
        }
    }

    /// Whether a material or a pair has torsion or rolling friction.
    pub(super) fn gives_moments(&self) -> bool {
        self.materials.iter().any(|m| m.torsion != 0.0 || m.rolling != 0.0)
            || self.pairs.iter().flat_map(|p| [p.torsion, p.rolling]).flatten().any(|x| x != 0.0)
    }

    /// What is wrong with a rule's torsion or rolling friction: its name, its value, and what was expected.
    pub(crate) fn wrong_moment(&self, rule: &ContactRule) -> Option<(&'static str, f64, &'static str)> {
        let wrong = |x: f64| match () {
            () if !(x >= 0.0 && x.is_finite()) => Some("expected 0 or more"),
            () if x == 0.0 => None,
            () if self.planar => Some("expected 0: contacts of a planar scene have no such moment"),
            () if rule.friction_set != FrictionKind::Cone => {
                Some("expected 0: such a moment needs Coulomb's cone, not another friction set")
            }
            // the solver sees it in units of the force: axes of the ellipsoid over `friction`
            () if rule.friction == 0.0 => Some("needs friction above 0"),
            () if matches!(rule.law, Law::HalfSpace { .. }) => {
                Some("expected 0: a half_space patch has its torsion from its elements")
            }
            () => None,
        };
        let lengths = [("torsion", rule.torsion), ("rolling", rule.rolling)];
        lengths.into_iter().find_map(|(what, x)| Some((what, x, wrong(x)?)))
    }

    /// What is wrong with a rule's grain.
    pub(crate) fn wrong_grain(&self, rule: &ContactRule) -> Option<String> {
        let grain = rule.grain.as_ref()?;
        let (most, axes) = rule.semi_axes();
        let moves = matches!(grain.of, Owner::Body(i) if self.bodies[i].link.parent.is_some() || self.bodies[i].link.joint != Joint::Fixed);
        match () {
            () if self.planar => Some("contacts of a planar scene have one direction of friction".to_owned()),
            () if rule.friction_set != FrictionKind::Cone => {
                Some("expected Coulomb's cone, not another friction set".to_owned())
            }
            () if !(most <= MOST_FRICTION && axes.iter().all(|e| *e >= LEAST_AXIS)) => Some(format!(
                "friction is {:?} along and {:?} across, expected at most {MOST_FRICTION}, and neither below {LEAST_AXIS} of the other",
                rule.friction, grain.across
            )),
            () if !(length(grain.along) - 1.0).abs().le(&1e-9) => {
                Some(format!("its direction has the length {:?}, expected 1", length(grain.along)))
            }
            () if moves && matches!(rule.law, Law::HalfSpace { .. }) => Some(
                "the elements of a half_space patch lie along it: expected one of the world, or of a body that is fixed to it".to_owned(),
            ),
            () => None,
        }
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
