//! Contact rules: law and friction between two parts of a scene, and their checks.

use crate::capabilities::{Condition, Thing, Use};
use crate::contact::Layer;
use crate::contact::{ContactPoint, FrictionRule, Law};
use crate::dynamics::Joint;
use crate::resolved::{Grain, Owner, Pair, PairOf, Resolved};
use crate::space::length;
use crate::{Fault, FrictionKind, Material, Scheme};

/// Largest coefficient of friction. Above it the residual, which slip divides between normal and friction in
/// the ratio 1 to mu, no longer detects overlaps.
const MOST_FRICTION: f64 = 1000.0;

/// Least coefficient of anisotropic friction, as a share of the other.
const LEAST_AXIS: f64 = 1e-3;

/// Contact law and friction between two parts. The friction force `f` and its moment `m` about the contact
/// point share one ellipsoid,
/// `(f_t^2 + f_o^2) / friction^2 + m_n^2 / torsion^2 + (m_t^2 + m_o^2) / rolling^2 <= f_n^2`; where a length
/// is 0 there is no such moment. With anisotropic friction the first term is
/// `f_t^2 / friction^2 + f_o^2 / across^2`, with t along the direction of `friction`.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactRule {
    /// Coefficient of friction, along the direction of anisotropic friction; 0 if the friction set is empty.
    pub friction: f64,
    /// Anisotropic friction.
    pub grain: Option<Grain>,
    /// Set of admissible friction forces; the ellipsoid belongs to the cone.
    pub friction_set: FrictionKind,
    /// Coefficient of torsional friction, m.
    pub torsion: f64,
    /// Coefficient of rolling friction, m.
    pub rolling: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Contact law.
    pub law: Law,
    /// How the place of the force between the two surfaces is chosen.
    pub contact_point: ContactPoint,
    /// Share of the overlap that the first of the two parts takes: see [`crate::contact::set::Contact::share`]. Of two layers that before a core is met.
    pub share: f64,
}

impl ContactRule {
    /// The larger of the two coefficients of anisotropic friction, and the ratio of each to it.
    pub fn semi_axes(&self) -> (f64, [f64; 2]) {
        match self.grain {
            Some(grain) => {
                let most = self.friction.max(grain.across);
                (most, [self.friction / most, grain.across / most])
            }
            None => (self.friction, [1.0; 2]),
        }
    }
}

impl ContactRule {
    /// What it has of the table of capabilities, with the key that says so.
    pub fn things(&self) -> Vec<(Thing, &'static str)> {
        let law = match &self.law {
            Law::Rigid => Thing::Rigid,
            Law::KelvinVoigt { .. } => Thing::KelvinVoigt,
            Law::Layer { .. } => Thing::Layer,
            Law::HalfSpace { .. } => Thing::HalfSpace,
            Law::HuntCrossley { .. } => Thing::HuntCrossley,
            Law::HertzMindlin { .. } => Thing::HertzMindlin,
            Law::Auto(_) => Thing::Auto,
        };
        let set = match self.friction_set {
            FrictionKind::Frictionless => Thing::Frictionless,
            FrictionKind::Cone => Thing::Cone,
            FrictionKind::Pyramid | FrictionKind::Polygon { .. } => Thing::Polygon,
            FrictionKind::Smooth { .. } => Thing::Smooth,
        };
        let mut things = vec![(law, "law"), (set, "friction_set")];
        if self.torsion > 0.0 || self.rolling > 0.0 {
            things.push((Thing::Moments, "scheme"));
        }
        if self.grain.is_some() {
            things.push((Thing::Grain, "scheme"));
        }
        // of compliant contacts the damping decides how bodies rebound
        if self.restitution > 0.0 && self.law.steps_rigid() {
            things.push((Thing::Restitution, "scheme"));
        }
        things
    }
}

/// Owners and materials of two parts.
pub type Sides = [(Owner, usize); 2];

impl Resolved {
    /// Whether shapes of the two can touch: not if they are of one body, two world parts, a link and its
    /// parent, or a link fixed to the world and a world part; otherwise unless a pair sets `collide = false`.
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
        apart && self.pair_of_owners(a, b).is_none_or(|p| p.given.collide)
    }

    /// Friction, law and place of the force between a shape of `a` and a shape of `b`, each with its material; `None` if they
    /// cannot touch. A pair of bodies takes precedence over a pair of materials, and that over the materials
    /// themselves. Of the materials' laws a compliant one takes precedence over a rigid one; two different
    /// compliant laws need a pair, which the scene's check ensures.
    pub fn contact_rule(&self, a: (Owner, usize), b: (Owner, usize)) -> Option<ContactRule> {
        let of_materials = self.pair_of_materials(a.1, b.1);
        if !self.can_touch(a.0, b.0) || of_materials.is_some_and(|p| !p.given.collide) {
            return None;
        }
        let pairs = [self.pair_of_owners(a.0, b.0), of_materials];
        let materials = [&self.materials[a.1], &self.materials[b.1]];
        let value = |given: fn(&Pair) -> Option<f64>, of: fn(&Material) -> f64| {
            let combined = |rule: FrictionRule| rule.combine(of(materials[0]), of(materials[1]));
            let by_pair = |p: &Pair| given(p).or_else(|| p.given.friction_rule.map(combined));
            let by_pairs = pairs.into_iter().flatten().find_map(by_pair);
            by_pairs.unwrap_or_else(|| combined(self.friction_rule))
        };
        let law = pairs.into_iter().flatten().find_map(|p| p.law.as_ref());
        let law = law.or_else(|| self.common_law([a.1, b.1])).unwrap_or(&self.laws[a.1]);
        let friction_set =
            pairs.into_iter().flatten().find_map(|p| p.given.friction_set).unwrap_or(self.step.friction);
        let friction = match friction_set {
            FrictionKind::Frictionless => 0.0,
            _ => value(|p| p.given.friction, |m| m.friction),
        };
        Some(ContactRule {
            friction,
            grain: pairs[0].and_then(|p| p.grain),
            friction_set,
            torsion: value(|p| p.given.torsion, |m| m.torsion),
            rolling: value(|p| p.given.rolling, |m| m.rolling),
            restitution: pairs
                .into_iter()
                .flatten()
                .find_map(|p| p.given.restitution)
                .unwrap_or_else(|| materials[0].restitution.max(materials[1].restitution)),
            law: law.clone(),
            contact_point: self.contact_point(pairs).0,
            share: self.share(law, [a, b], pairs),
        })
    }

    /// Index of the pair that defines a value (the law, for example), if one does.
    fn pair_that(&self, says: impl Fn(&Pair) -> bool, a: (Owner, usize), b: (Owner, usize)) -> Option<usize> {
        let pairs = [self.pair_of_owners(a.0, b.0), self.pair_of_materials(a.1, b.1)];
        let pair = pairs.into_iter().flatten().find(|p| says(p))?;
        self.pairs.iter().position(|p| p.of == pair.of)
    }

    /// All faults of a rule between parts of these owners and materials, in a scene with this number of rows
    /// per element.
    pub fn faults_of(&self, rule: &ContactRule, sides: Sides, rows: usize) -> Vec<Fault> {
        let mut faults = self.law_faults(rule, sides);
        let [a, b] = sides;
        let [one, other] = sides.map(|(_, k)| &self.materials[k]);
        let names = format!("'{}' and '{}'", one.name, other.name);
        let mut fault = |path: String, message: String| faults.push(Fault::new(path, message));
        if rule.friction > MOST_FRICTION {
            let rougher = if one.friction < other.friction { b.1 } else { a.1 };
            let by_pair = self.pair_that(|p| p.given.friction.is_some(), a, b);
            let path =
                by_pair.map_or(format!("material[{rougher}].friction"), |k| format!("pair[{k}].friction"));
            let mu = rule.friction;
            fault(path, format!("friction is {mu:?} between {names}, expected at most {MOST_FRICTION}"));
        }
        if let Some((what, value, why)) = self.wrong_moment(rule) {
            let torsion = what == "torsion";
            let given = |p: &Pair| if torsion { p.given.torsion } else { p.given.rolling };
            let says = |p: &Pair| given(p).is_some() || p.given.friction_rule.is_some();
            let by_pair = self.pair_that(says, a, b).filter(|k| given(&self.pairs[*k]).is_some());
            let of = if (if torsion { one.torsion } else { one.rolling }) != 0.0 { a.1 } else { b.1 };
            let path = by_pair.map_or(format!("material[{of}].{what}"), |k| format!("pair[{k}].{what}"));
            fault(path, format!("{what} is {value} between {names}, {why}"));
        }
        if let Some(why) = self.wrong_grain(rule) {
            let k = self.pair_that(|p| p.grain.is_some(), a, b).unwrap_or_default();
            fault(format!("pair[{k}].grain"), format!("grain: {why}"));
        }
        // solvers support polygonal friction in the plane of t and o only; `wrong_moment` checks a rule's own
        // moments
        let flat = matches!(rule.friction_set, FrictionKind::Pyramid | FrictionKind::Polygon { .. });
        if flat && rows > 3 && rule.torsion == 0.0 && rule.rolling == 0.0 {
            let by_pair = self.pair_that(|p| p.given.friction_set.is_some(), a, b);
            let path = by_pair.map_or("step.friction".to_owned(), |k| format!("pair[{k}].friction_set"));
            let why = "expected \"cone\", for other contacts of the scene have torsion or rolling friction";
            fault(path, format!("friction set of {names}: {why}"));
        }
        if let Some((key, message)) = self.wrong_for_scheme(rule) {
            let path = match key {
                "friction_set" => self
                    .pair_that(|p| p.given.friction_set.is_some(), a, b)
                    .map_or("step.friction".to_owned(), |k| format!("pair[{k}].friction_set")),
                "law" | "compliant_law" => self.pair_that(|p| p.law.is_some(), a, b).map_or_else(
                    || format!("material[{}].{key}", if self.laws[a.1] == Law::Rigid { b.1 } else { a.1 }),
                    |k| format!("pair[{k}].{key}"),
                ),
                _ => "step.scheme".to_owned(),
            };
            fault(path, format!("contact of {names}: {message}"));
        }
        let share = self.step.explicit_share;
        if share > 0.5 && rule.law.steps_rigid() {
            let why = "where contacts are rigid: above, they rebound faster than they approach";
            fault(
                "step.explicit_share".to_owned(),
                format!("explicit_share is {share}, expected at most 0.5 {why}"),
            );
        }
        faults
    }

    /// Soft layers of a contact, that of the first part first, in the implicit scheme; a law of a pair is one layer.
    pub fn layers(&self, rule: &ContactRule, sides: Sides) -> Vec<Layer> {
        if self.step.scheme != Scheme::Implicit {
            return vec![];
        }
        let by_pair = self.pair_that(|p| p.law.is_some(), sides[0], sides[1]);
        let both = sides.map(|(_, k)| &self.laws[k]);
        match (by_pair, both) {
            (None, [Law::Layer { .. }, Law::Layer { .. }]) => {
                both.into_iter().filter_map(Layer::of).collect()
            }
            _ => Layer::of(&rule.law).into_iter().collect(),
        }
    }

    /// Faults of a rule's law: different compliant laws, or a patch or Hertz' contact without an elastic
    /// material.
    fn law_faults(&self, rule: &ContactRule, sides: Sides) -> Vec<Fault> {
        let by_pair = self.pair_that(|p| p.law.is_some(), sides[0], sides[1]);
        let indices = [sides[0].1.min(sides[1].1), sides[0].1.max(sides[1].1)];
        let both = indices.map(|k| &self.materials[k]);
        let names = format!("'{}' and '{}'", both[0].name, both[1].name);
        if by_pair.is_none() && self.common_law(indices).is_none() {
            let message = format!("{names} have different compliant laws, expected a pair with a law");
            return vec![Fault::new(format!("material[{}].law", indices[1]), message)];
        }
        let elastic = match rule.law {
            Law::HalfSpace { .. } => "half_space",
            Law::HertzMindlin { .. } => "hertz_mindlin",
            Law::Rigid
            | Law::Auto(_)
            | Law::KelvinVoigt { .. }
            | Law::Layer { .. }
            | Law::HuntCrossley { .. } => {
                return vec![];
            }
        };
        let rigid = both.iter().all(|m| m.young.is_none());
        let message = || format!("{elastic} between {names}, expected young of one of them");
        let compliant = indices[usize::from(self.laws[indices[0]] == Law::Rigid)];
        let path = by_pair.map_or(format!("material[{compliant}].law"), |k| format!("pair[{k}].law"));
        rigid.then(|| Fault::new(path, message())).into_iter().collect()
    }

    /// What of a rule the scheme does not know ([`crate::capabilities`]): the key and what is expected.
    fn wrong_for_scheme(&self, rule: &ContactRule) -> Option<(&'static str, String)> {
        let auto = matches!(rule.law, Law::Auto(_));
        let met = |condition| self.meets(condition, rule);
        let wrong = rule.things().into_iter().find_map(|(thing, key)| {
            let scheme = Use::from(self.step.scheme);
            let in_use = if auto && thing != Thing::Auto { Use::Auto } else { scheme };
            // friction without a normal force law is a fault of the law
            let key = if thing == Thing::Smooth && in_use == Use::Theta { "law" } else { key };
            Some((key, thing.refusal(in_use, met)?))
        });
        wrong.or_else(|| self.wrong_layer(rule))
    }

    /// Whether a rule of the scene meets a condition.
    fn meets(&self, condition: Condition, rule: &ContactRule) -> bool {
        let smooth = matches!(rule.friction_set, FrictionKind::Smooth { .. });
        let [stiffness, damping] = match rule.law {
            Law::KelvinVoigt { stiffness, damping } => [stiffness[1], damping[1]],
            Law::HuntCrossley { tangential, .. } => tangential,
            _ => [0.0; 2],
        };
        match condition {
            Condition::Planar => self.planar,
            Condition::TangentialDamping => smooth || rule.friction == 0.0 || damping > 0.0,
            Condition::Tangential => smooth || rule.friction == 0.0 || damping > 0.0 || stiffness > 0.0,
            Condition::CompliantLaw => {
                matches!(rule.law, Law::KelvinVoigt { .. } | Law::HuntCrossley { .. })
            }
            Condition::RigidContacts => rule.law == Law::Rigid,
            Condition::EndOfStep => self.step.explicit_share == 0.0,
            Condition::OneElement => matches!(rule.law, Law::HalfSpace { elements: 1, .. }),
        }
    }

    /// What is wrong with the compliant law of `law = "auto"`: slip is found from its tangential spring and damper.
    fn wrong_layer(&self, rule: &ContactRule) -> Option<(&'static str, String)> {
        let Law::Auto(layer) = &rule.law else { return None };
        let tangential = match layer.as_deref() {
            Some(Law::KelvinVoigt { damping, .. }) => damping[1],
            Some(Law::HuntCrossley { tangential: [stiffness, damping], .. }) if *stiffness > 0.0 => *damping,
            Some(_) => 0.0,
            None => 1.0,
        };
        let why = "law = \"auto\" expects tangential stiffness and damping above 0, by which slip is found (song2001 (16))";
        (rule.friction > 0.0 && tangential <= 0.0).then(|| ("compliant_law", why.to_owned()))
    }

    /// Fault of a rule's torsional or rolling friction: its name, its value, and what was expected.
    fn wrong_moment(&self, rule: &ContactRule) -> Option<(&'static str, f64, &'static str)> {
        let wrong = |x: f64| match () {
            () if !(x >= 0.0 && x.is_finite()) => Some("expected 0 or more"),
            () if x == 0.0 => None,
            () if self.planar => Some("expected 0: contacts of a planar scene have no such moment"),
            () if rule.friction_set != FrictionKind::Cone => {
                Some("expected 0: such a moment needs Coulomb's cone, not another friction set")
            }
            // solvers take it in units of the force: axes of the ellipsoid over `friction`
            () if rule.friction == 0.0 => Some("needs friction above 0"),
            () if matches!(rule.law, Law::HalfSpace { .. }) => {
                Some("expected 0: a half_space patch has its torsion from its elements")
            }
            () => None,
        };
        let lengths = [("torsion", rule.torsion), ("rolling", rule.rolling)];
        lengths.into_iter().find_map(|(what, x)| Some((what, x, wrong(x)?)))
    }

    /// Fault of a rule's anisotropic friction.
    fn wrong_grain(&self, rule: &ContactRule) -> Option<String> {
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

    /// The law that two materials share: the compliant one if the other is rigid; `None` if both are
    /// compliant and differ.
    fn common_law(&self, [a, b]: [usize; 2]) -> Option<&Law> {
        match (&self.laws[a], &self.laws[b]) {
            (Law::Rigid, law) | (law, Law::Rigid) => Some(law),
            // both layers count
            (law @ Law::Layer { .. }, Law::Layer { .. }) => Some(law),
            (first, second) => (first == second).then_some(first),
        }
    }
}
