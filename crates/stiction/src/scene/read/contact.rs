//! Materials, laws, pairs.

use super::Reader;
use crate::contact::{Influence, Law, PatchDamping};
use crate::scene::contact::common_law;
use crate::scene::model::{Owner, Scene};
use crate::scene::raw::{self, At, File};
use crate::scene::{FrictionRule, Material, Pair, PairOf};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Elements along an edge of a patch: its matrix has the square of three times their square.
const MOST_ELEMENTS: usize = 200;

pub fn rule(raw: raw::FrictionRule) -> FrictionRule {
    match raw {
        raw::FrictionRule::GeometricMean => FrictionRule::GeometricMean,
        raw::FrictionRule::ArithmeticMean => FrictionRule::ArithmeticMean,
        raw::FrictionRule::HarmonicMean => FrictionRule::HarmonicMean,
        raw::FrictionRule::Minimum => FrictionRule::Minimum,
        raw::FrictionRule::Maximum => FrictionRule::Maximum,
    }
}

impl Reader<'_> {
    pub fn materials(&mut self, raw: &[raw::Material]) -> Vec<Material> {
        let mut taken = HashSet::new();
        let mut materials = Vec::new();
        for m in raw {
            materials.push(Material {
                name: self.name(&m.name, "material", &mut taken),
                young: m.young.as_ref().map(|x| self.positive(x, "young")),
                poisson: m.poisson.as_ref().map_or(0.3, |x| {
                    self.number(x, "poisson", |x| (0.0..=0.5).contains(&x), "a number from 0 to 0.5")
                }),
                friction: m.friction.as_ref().map_or(0.5, |x| self.not_negative(x, "friction")),
                density: m.density.as_ref().map(|x| self.positive(x, "density")),
                law: m.law.as_ref().map_or(Law::Rigid, |l| self.law(l)),
            });
        }
        materials
    }

    /// Index of a material by name; without a name, of 'default', made if there is none.
    pub fn material(&mut self, name: Option<&At<String>>, materials: &mut Vec<Material>) -> usize {
        let wanted = name.map_or("default", |n| n.get().as_str());
        if let Some(i) = materials.iter().position(|m| m.name == wanted) {
            return i;
        }
        if let Some(name) = name {
            let known: Vec<&str> = materials.iter().map(|m| m.name.as_str()).collect();
            self.unknown(&name.span(), "material", wanted, &known);
            if !materials.is_empty() {
                return 0;
            }
        }
        materials.push(Material {
            name: "default".to_owned(),
            young: None,
            poisson: 0.3,
            friction: 0.5,
            density: None,
            law: Law::Rigid,
        });
        materials.len() - 1
    }

    fn law(&mut self, given: &At<raw::Law>) -> Law {
        match given.get() {
            raw::Law::Rigid => Law::Rigid,
            raw::Law::KelvinVoigt { stiffness, damping, damping_ratio, mass } => {
                let stiffness = match stiffness.get().as_slice() {
                    &[k] if k > 0.0 => [k, k],
                    _ => self.lengths(stiffness, "stiffness"),
                };
                let damping = match (damping, damping_ratio, mass) {
                    (Some(c), None, None) => {
                        let damping = match c.get().as_slice() {
                            &[both] => [both, both],
                            _ => self.list(c, "damping"),
                        };
                        if damping.iter().any(|&c| c < 0.0) {
                            self.fault(&c.span(), "damping has a number below 0");
                        }
                        damping
                    }
                    (None, Some(ratio), Some(mass)) => {
                        let (ratio, mass) =
                            (self.not_negative(ratio, "damping_ratio"), self.positive(mass, "mass"));
                        stiffness.map(|k| 2.0 * ratio * k.sqrt() * mass.sqrt())
                    }
                    _ => {
                        self.fault(
                            &given.span(),
                            "damping not clear, expected damping, or damping_ratio and mass",
                        );
                        [0.0; 2]
                    }
                };
                Law::KelvinVoigt { stiffness, damping }
            }
            raw::Law::HalfSpace { elements, spacing, influence, damping } => {
                if !(1..=MOST_ELEMENTS).contains(elements.get()) {
                    let message = format!("elements is {}, expected 1 to {MOST_ELEMENTS}", elements.get());
                    self.fault(&elements.span(), message);
                }
                Law::HalfSpace {
                    elements: *elements.get(),
                    spacing: self.positive(spacing, "spacing"),
                    influence: match influence {
                        Some(raw::Influence::PointForce) => Influence::PointForce,
                        Some(raw::Influence::Rectangle) | None => Influence::Rectangle,
                    },
                    damping: match damping {
                        Some(raw::PatchDamping::Proportional { time }) => {
                            PatchDamping::Proportional { time: self.not_negative(time, "time") }
                        }
                        Some(raw::PatchDamping::Root) | None => PatchDamping::Root,
                    },
                }
            }
        }
    }

    pub fn pairs(&mut self, raw: &[raw::Pair], scene: &Scene, names: &HashMap<String, usize>) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        for p in raw {
            let (of, span) = match (&p.materials, &p.bodies) {
                (Some(list), None) => {
                    let known: Vec<&str> = scene.materials.iter().map(|m| m.name.as_str()).collect();
                    let find = |name: &str| known.iter().position(|k| *k == name);
                    (self.two(list, "material", &known, find).map(PairOf::Materials), list.span())
                }
                (None, Some(list)) => {
                    let world = || scene.world.iter().map(|w| w.name.as_str());
                    let known: Vec<&str> =
                        scene.bodies.iter().map(|b| b.name.as_str()).chain(world()).collect();
                    let find = |name: &str| {
                        let in_world = || world().position(|w| w == name).map(Owner::World);
                        names.get(name).map(|&i| Owner::Body(i)).or_else(in_world)
                    };
                    (self.two(list, "body", &known, find).map(PairOf::Owners), list.span())
                }
                (Some(list), Some(_)) => {
                    self.fault(&list.span(), "materials beside bodies, expected one of them");
                    continue;
                }
                (None, None) => {
                    let span = [
                        p.friction.as_ref().map(At::span),
                        p.friction_rule.as_ref().map(At::span),
                        p.law.as_ref().map(At::span),
                    ];
                    let span: Range<usize> = span.into_iter().flatten().next().unwrap_or(0..0);
                    self.fault(&span, "a pair of nothing, expected materials or bodies");
                    continue;
                }
            };
            let Some(of) = of else { continue };
            let same = |q: &Pair| match (q.of, of) {
                (PairOf::Materials([a, b]), PairOf::Materials(x)) => x == [a, b] || x == [b, a],
                (PairOf::Owners([a, b]), PairOf::Owners(x)) => x == [a, b] || x == [b, a],
                _ => false,
            };
            if pairs.iter().any(same) {
                self.fault(&span, "duplicate pair, expected each once");
            }
            if let (Some(_), Some(rule)) = (&p.friction, &p.friction_rule) {
                self.fault(&rule.span(), "friction_rule beside friction, expected one of them");
            }
            pairs.push(Pair {
                of,
                collide: p.collide.unwrap_or(true),
                friction: p.friction.as_ref().map(|x| self.not_negative(x, "friction")),
                friction_rule: p.friction_rule.as_ref().map(|r| rule(*r.get())),
                law: p.law.as_ref().map(|l| self.law(l)),
            });
        }
        pairs
    }

    /// Two names, looked up.
    fn two<T: Copy>(
        &mut self,
        list: &At<Vec<At<String>>>,
        kind: &str,
        known: &[&str],
        find: impl Fn(&str) -> Option<T>,
    ) -> Option<[T; 2]> {
        let mut found = Vec::new();
        for name in list.get() {
            match find(name.get()) {
                Some(x) => found.push(x),
                None => self.unknown(&name.span(), kind, name.get(), known),
            }
        }
        if list.get().len() != 2 {
            self.fault(&list.span(), format!("a pair of {}, expected two names", list.get().len()));
        }
        found.try_into().ok()
    }

    /// Whether every contact that can arise has one law, and a patch an elastic material.
    pub fn laws_fit(&mut self, file: &File, scene: &Scene) {
        let rigid = |law: Option<&Law>| law.is_none_or(|l| *l == Law::Rigid);
        if scene.materials.iter().all(|m| rigid(Some(&m.law)))
            && scene.pairs.iter().all(|p| rigid(p.law.as_ref()))
        {
            return;
        }
        // the materials of the file are the first of the scene, and its pairs the scene's
        let of_material =
            |i: usize| file.materials.get(i).and_then(|m| m.law.as_ref()).map_or(0..0, At::span);
        let mut seen = HashSet::new();
        for [a, b] in scene.touching_owners() {
            for p in scene.parts(a) {
                for q in scene.parts(b) {
                    let (i, j) = (p.material.min(q.material), p.material.max(q.material));
                    let by_pair = scene.pair_with_law((a, i), (b, j));
                    if !seen.insert((i, j, by_pair)) {
                        continue;
                    }
                    let both = [&scene.materials[i], &scene.materials[j]];
                    let (law, span) = match by_pair {
                        Some(k) => {
                            (scene.pairs[k].law.as_ref(), file.pairs[k].law.as_ref().map_or(0..0, At::span))
                        }
                        None => {
                            let compliant = if both[0].law == Law::Rigid { j } else { i };
                            (common_law(both), of_material(compliant))
                        }
                    };
                    let names = format!("'{}' and '{}'", both[0].name, both[1].name);
                    if law.is_none() {
                        let message =
                            format!("{names} have different compliant laws, expected a pair with a law");
                        self.fault(&of_material(j), message);
                    }
                    let patch = matches!(law, Some(Law::HalfSpace { .. }));
                    if patch && both.iter().all(|m| m.young.is_none()) {
                        let message = format!("half_space between {names}, expected young of one of them");
                        self.fault(&span, message);
                    }
                }
            }
        }
    }
}
