//! Materials, laws, pairs.

use super::{At, Checker};
use crate::contact::{ContactPoint, Directions, InvalidContact, Law};
use crate::scene::resolved::{Grain, Owner, Pair, PairOf, Resolved};
use crate::scene::{self, Material, Numbers};
use crate::space::{length, unit};
use std::collections::{HashMap, HashSet};

const AUTO_ALONE: &str = "compliant_law without law = \"auto\", expected both or law alone";

impl Checker<'_> {
    /// The materials, harmless where they are at fault.
    pub fn materials(&mut self) -> Vec<Material> {
        let list = At::ROOT.key("material");
        let mut taken = HashSet::new();
        let mut materials = self.scene.materials.clone();
        for (i, m) in materials.iter_mut().enumerate() {
            let at = list.index(i);
            self.name(&m.name, "material", &mut taken, at);
            self.not_negative(m.torsion, at.key("torsion"));
            self.restitution(m.restitution, at);
            self.not_negative(m.rolling, at.key("rolling"));
            self.doubt_friction(m.friction, at.key("friction"));
            m.density = m.density.map(|x| self.positive(x, at.key("density")));
            // one fault at a time
            while let Err(e) = m.elastic().validate() {
                let field = if let InvalidContact::Value { field, .. } = e { field } else { "friction" };
                match field {
                    "young" => m.young = None,
                    "poisson" => m.poisson = 0.3,
                    _ => m.friction = 0.5,
                }
                self.fault(at.key(field), e.to_string());
            }
        }
        materials
    }

    /// The laws of the materials.
    pub fn laws(&mut self, materials: &[Material]) -> Vec<Law> {
        let list = At::ROOT.key("material");
        materials
            .iter()
            .enumerate()
            .map(|(i, m)| self.both_laws(&m.law, m.compliant_law.as_ref(), list.index(i)))
            .collect()
    }

    /// Index of a material by name; without a name, of 'default', made if there is none.
    pub fn material(&mut self, name: Option<&str>, materials: &mut Vec<Material>, at: At<'_>) -> usize {
        let wanted = name.unwrap_or("default");
        if let Some(i) = materials.iter().position(|m| m.name == wanted) {
            return i;
        }
        if name.is_some() {
            let known: Vec<&str> = materials.iter().map(|m| m.name.as_str()).collect();
            self.unknown(at, "material", wanted, &known);
            if !materials.is_empty() {
                return 0;
            }
        }
        materials.push(Material { name: "default".to_owned(), ..Material::default() });
        materials.len() - 1
    }

    /// A law, with the compliant one of `law = "auto"`.
    fn both_laws(&mut self, given: &scene::Law, compliant: Option<&scene::Law>, at: At<'_>) -> Law {
        let law = self.law(given, at.key("law"));
        let Some(second) = compliant else { return law };
        let here = at.key("compliant_law");
        if !matches!(law, Law::Auto(_)) {
            self.fault(here, AUTO_ALONE);
            return law;
        }
        match self.law(second, here) {
            layer @ (Law::KelvinVoigt { .. } | Law::HuntCrossley { .. }) => {
                if matches!(layer, Law::KelvinVoigt { stiffness: [n, t], .. } if n <= 0.0 || t <= 0.0) {
                    let expected =
                        "stiffness above 0: the layer must carry the forces of the rigid model at rest";
                    self.fault(here, format!("kelvin_voigt without stiffness, expected {expected}"));
                }
                Law::Auto(Some(Box::new(layer)))
            }
            // its own faults have been found
            Law::Rigid if !matches!(second, scene::Law::Rigid) => law,
            other => {
                let name = other.name();
                self.fault(here, format!("compliant_law is {name}, expected kelvin_voigt or hunt_crossley"));
                law
            }
        }
    }

    fn law(&mut self, given: &scene::Law, at: At<'_>) -> Law {
        let before = self.faults.len();
        let law = self.law_as_given(given, at);
        if self.faults.len() > before {
            return Law::Rigid;
        }
        let directions = if self.planar { Directions::Planar } else { Directions::Spatial };
        let valid = law.and_then(|law| {
            law.validate()?;
            law.grid(directions).validate()?;
            Ok(law)
        });
        valid.unwrap_or_else(|e| {
            let field = match e {
                InvalidContact::Value { field, .. } => field,
                InvalidContact::Elements { .. } => "elements",
                _ => "",
            };
            // the key whose value it is
            let path = match given {
                scene::Law::HalfSpace { .. } if field == "damping time" => {
                    "half_space.damping.proportional.time".into()
                }
                scene::Law::HalfSpace { .. } => format!("half_space.{field}"),
                scene::Law::HertzMindlin { .. } => format!("hertz_mindlin.{}", field.replace(' ', "_")),
                scene::Law::HuntCrossley { .. } => format!("hunt_crossley.{field}"),
                _ => {
                    let law =
                        if matches!(given, scene::Law::Layer { .. }) { "layer" } else { "kelvin_voigt" };
                    let key = if field == "damping ratio" {
                        "damping_ratio"
                    } else {
                        field.rsplit(' ').next().unwrap_or_default()
                    };
                    format!("{law}.{key}")
                }
            };
            let path = format!("{at}.{path}");
            self.faults.push(scene::Fault::new(path, e.to_string()));
            Law::Rigid
        })
    }

    fn law_as_given(&mut self, given: &scene::Law, at: At<'_>) -> Result<Law, InvalidContact> {
        Ok(match given {
            scene::Law::Rigid => Law::Rigid,
            scene::Law::Auto => Law::Auto(None),
            scene::Law::KelvinVoigt { stiffness, damping, damping_ratio, mass } => {
                let given = (stiffness, damping.as_ref(), *damping_ratio, *mass);
                self.kelvin_voigt(given, at.key("kelvin_voigt"))?
            }
            scene::Law::Layer { stiffness, damping, damping_ratio, mass, thickness } => {
                let given = (stiffness, damping.as_ref(), *damping_ratio, *mass);
                match self.kelvin_voigt(given, at.key("layer"))? {
                    Law::KelvinVoigt { stiffness, damping } => {
                        Law::Layer { stiffness, damping, thickness: *thickness }
                    }
                    fault => fault,
                }
            }
            &scene::Law::HalfSpace { elements, spacing, influence, damping, transport } => {
                Law::HalfSpace { elements, spacing, influence, damping, transport }
            }
            &scene::Law::HuntCrossley {
                stiffness,
                exponent,
                dissipation,
                tangential_stiffness,
                tangential_damping,
            } => {
                let tangential = [tangential_stiffness, tangential_damping];
                Law::HuntCrossley { stiffness, exponent, dissipation, tangential }
            }
            &scene::Law::HertzMindlin { radius, damping_time } => {
                Law::HertzMindlin { radius, time: damping_time }
            }
        })
    }

    /// Springs and dampers of a law as Kelvin and Voigt's.
    fn kelvin_voigt(
        &mut self,
        given: (&Numbers, Option<&Numbers>, Option<f64>, Option<f64>),
        here: At<'_>,
    ) -> Result<Law, InvalidContact> {
        let (stiffness, damping, damping_ratio, mass) = given;
        let stiffness = self.both(stiffness, here.key("stiffness"));
        Ok(match (damping, damping_ratio, mass) {
            (Some(c), None, None) => {
                Law::KelvinVoigt { stiffness, damping: self.both(c, here.key("damping")) }
            }
            (None, Some(ratio), Some(mass)) => Law::kelvin_voigt(stiffness, ratio, mass)?,
            (None, None, None) => Law::KelvinVoigt { stiffness, damping: [0.0; 2] },
            (Some(_), ratio, _) => {
                let key = if ratio.is_some() { "damping_ratio" } else { "mass" };
                self.fault(here.key(key), format!("{key} beside damping, expected damping alone"));
                Law::Rigid
            }
            (None, Some(_), None) => {
                self.fault(here.key("damping_ratio"), "damping_ratio without mass, expected both");
                Law::Rigid
            }
            (None, None, Some(_)) => {
                self.fault(here.key("mass"), "mass without damping_ratio, expected both");
                Law::Rigid
            }
        })
    }

    /// Normal and tangential, or one number for both.
    fn both(&mut self, x: &Numbers, at: At<'_>) -> [f64; 2] {
        if let [both] = x[..] { [both, both] } else { self.list(x, at) }
    }

    pub fn pairs(&mut self, resolved: &Resolved, names: &HashMap<String, usize>) -> Vec<Pair> {
        let list = At::ROOT.key("pair");
        let mut pairs: Vec<Pair> = Vec::new();
        for (i, p) in self.scene.pairs.iter().enumerate() {
            let at = list.index(i);
            let Some((of, key)) = self.pair_of(p, resolved, names, at) else { continue };
            let same = |q: &Pair| match (q.of, of) {
                (PairOf::Materials([a, b]), PairOf::Materials(x)) => x == [a, b] || x == [b, a],
                (PairOf::Owners([a, b]), PairOf::Owners(x)) => x == [a, b] || x == [b, a],
                _ => false,
            };
            if pairs.iter().any(same) {
                self.fault(at.key(key), "duplicate pair, expected each once");
            }
            if p.friction.is_some() && p.friction_rule.is_some() {
                let message = "friction_rule beside friction, expected one of them";
                self.fault(at.key("friction_rule"), message);
            }
            let sided = matches!(p.contact_point, Some(ContactPoint::First | ContactPoint::Second));
            if sided && matches!(of, PairOf::Materials([a, b]) if a == b) {
                let message = "first and second of one material, expected \"compliance\", \"middle\" or a pair of bodies";
                self.fault(at.key("contact_point"), message);
            }
            if let Some(set) = p.friction_set {
                self.friction_kind(set, at.key("friction_set"));
            }
            if let Some(e) = p.restitution {
                self.restitution(e, at);
            }
            if let Some(friction) = p.friction {
                self.doubt_friction(friction, at.key("friction"));
            }
            for (key, x) in [("friction", p.friction), ("torsion", p.torsion), ("rolling", p.rolling)] {
                x.map(|x| self.not_negative(x, at.key(key)));
            }
            let grain = p.grain.as_ref().and_then(|g| self.grain(g, of, resolved, at.key("grain")));
            if p.law.is_none() && p.compliant_law.is_some() {
                self.fault(at.key("compliant_law"), AUTO_ALONE);
            }
            let law = p.law.as_ref().map(|l| self.both_laws(l, p.compliant_law.as_ref(), at));
            pairs.push(Pair { of, given: p.clone(), grain, law });
        }
        pairs
    }

    /// The scene's own `contact_point`, which holds for any two bodies.
    pub fn contact_point(&mut self) -> ContactPoint {
        let given = self.scene.contact_point;
        if matches!(given, ContactPoint::First | ContactPoint::Second) {
            let message = "expected \"compliance\" or \"middle\": first and second are those of a pair";
            self.fault(At::ROOT.key("contact_point"), message);
        }
        given
    }

    fn restitution(&mut self, e: f64, at: At<'_>) {
        self.number(e, at.key("restitution"), |e| (0.0..=1.0).contains(&e), "a number from 0 to 1");
    }

    /// Who a pair is of, and by which key.
    fn pair_of(
        &mut self,
        pair: &scene::Pair,
        resolved: &Resolved,
        names: &HashMap<String, usize>,
        at: At<'_>,
    ) -> Option<(PairOf, &'static str)> {
        match (&pair.materials, &pair.bodies) {
            (Some(list), None) => {
                let known: Vec<&str> = resolved.materials.iter().map(|m| m.name.as_str()).collect();
                let find = |name: &str| known.iter().position(|k| *k == name);
                let two = self.two(list, "material", &known, find, at.key("materials"))?;
                Some((PairOf::Materials(two), "materials"))
            }
            (None, Some(list)) => {
                let world = || resolved.world.iter().map(|w| w.name.as_str());
                let known: Vec<&str> =
                    resolved.bodies.iter().map(|b| b.name.as_str()).chain(world()).collect();
                let find = |name: &str| {
                    let in_world = || world().position(|w| w == name).map(Owner::World);
                    names.get(name).map(|&i| Owner::Body(i)).or_else(in_world)
                };
                let two = self.two(list, "body", &known, find, at.key("bodies"))?;
                Some((PairOf::Owners(two), "bodies"))
            }
            (Some(_), Some(_)) => {
                self.fault(at.key("materials"), "materials beside bodies, expected one of them");
                None
            }
            (None, None) => {
                let given = [
                    ("friction", pair.friction.is_some()),
                    ("torsion", pair.torsion.is_some()),
                    ("rolling", pair.rolling.is_some()),
                    ("restitution", pair.restitution.is_some()),
                    ("friction_rule", pair.friction_rule.is_some()),
                    ("friction_set", pair.friction_set.is_some()),
                    ("grain", pair.grain.is_some()),
                    ("contact_point", pair.contact_point.is_some()),
                ];
                let key = given.iter().find(|(_, given)| *given).map_or("law", |(key, _)| key);
                self.fault(at.key(key), "a pair of nothing, expected materials or bodies");
                None
            }
        }
    }

    /// A grain of a pair.
    fn grain(&mut self, grain: &scene::Grain, of: PairOf, resolved: &Resolved, at: At<'_>) -> Option<Grain> {
        let PairOf::Owners(owners) = of else {
            let message =
                "grain of materials, expected it in a pair of bodies: it is a direction of one of them";
            self.fault(at, message);
            return None;
        };
        let known = owners.map(|owner| resolved.name_of(owner));
        let across = self.positive(grain.across, at.key("across"));
        let along = self.vector(&grain.along, at.key("along"));
        let size = length(along);
        if size == 0.0 || !size.is_finite() {
            self.fault(at.key("along"), "along is no direction, expected a vector that is not 0");
            return None;
        }
        let Some(k) = known.iter().position(|name| *name == grain.body) else {
            self.unknown(at.key("body"), "body of the pair", &grain.body, &known);
            return None;
        };
        Some(Grain { of: owners[k], along: unit(along), across })
    }

    /// Two names, looked up.
    fn two<T: Copy>(
        &mut self,
        list: &[String],
        kind: &str,
        known: &[&str],
        find: impl Fn(&str) -> Option<T>,
        at: At<'_>,
    ) -> Option<[T; 2]> {
        let mut found = Vec::new();
        for (i, name) in list.iter().enumerate() {
            match find(name) {
                Some(x) => found.push(x),
                None => self.unknown(at.index(i), kind, name, known),
            }
        }
        if list.len() != 2 {
            self.fault(at, format!("a pair of {}, expected two names", list.len()));
        }
        found.try_into().ok()
    }
}
