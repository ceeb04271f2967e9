//! Materials, laws, pairs.

use super::Reader;
use crate::contact::{Directions, Influence, InvalidContact, Law, PatchDamping};
use crate::geometry::{Solid, Unsupported, supported};
use crate::scene::contact::common_law;
use crate::scene::model::{Owner, Scene};
use crate::scene::raw::{self, At, File, Numbers};
use crate::scene::{FrictionRule, Grain, MOST_FRICTION, Material, Pair, PairOf, Part, SolverKind};
use crate::space::{length, unit};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub fn rule(raw: raw::FrictionRule) -> FrictionRule {
    match raw {
        raw::FrictionRule::GeometricMean => FrictionRule::GeometricMean,
        raw::FrictionRule::Average => FrictionRule::Average,
        raw::FrictionRule::Product => FrictionRule::Product,
        raw::FrictionRule::Minimum => FrictionRule::Minimum,
        raw::FrictionRule::Maximum => FrictionRule::Maximum,
    }
}

/// Where the quantity stands that a law was refused for.
fn place_in_law(given: &At<raw::Law>, error: &InvalidContact) -> Range<usize> {
    let field = match error {
        InvalidContact::Value { field, .. } => field,
        InvalidContact::Elements { .. } => "elements",
        InvalidContact::NeitherDeforms | InvalidContact::NotPositive { .. } => "",
    };
    let place = match (given.get(), field) {
        (raw::Law::KelvinVoigt { stiffness, .. }, "normal stiffness" | "tangential stiffness") => {
            Some(stiffness.span())
        }
        (raw::Law::KelvinVoigt { damping, .. }, "normal damping" | "tangential damping") => {
            damping.as_ref().map(At::span)
        }
        (raw::Law::KelvinVoigt { damping_ratio, .. }, "damping ratio") => {
            damping_ratio.as_ref().map(At::span)
        }
        (raw::Law::KelvinVoigt { mass, .. }, "effective mass") => mass.as_ref().map(At::span),
        (raw::Law::HalfSpace { elements, .. }, "elements") => Some(elements.span()),
        (raw::Law::HalfSpace { spacing, .. }, "spacing") => Some(spacing.span()),
        (
            raw::Law::HalfSpace { damping: Some(raw::PatchDamping::Proportional { time }), .. },
            "damping time",
        ) => Some(time.span()),
        (raw::Law::HertzMindlin { radius, .. }, "radius") => Some(radius.span()),
        (raw::Law::HertzMindlin { damping_time, .. }, "damping time") => damping_time.as_ref().map(At::span),
        _ => None,
    };
    place.unwrap_or_else(|| given.span())
}

impl Reader<'_> {
    pub fn materials(&mut self, raw: &[raw::Material]) -> Vec<Material> {
        let mut taken = HashSet::new();
        let mut materials = Vec::new();
        for m in raw {
            let mut material = Material {
                name: self.name(&m.name, "material", &mut taken),
                young: m.young.as_ref().map(|x| *x.get()),
                poisson: m.poisson.as_ref().map_or(0.3, |x| *x.get()),
                friction: m.friction.as_ref().map_or(0.5, |x| *x.get()),
                torsion: m.torsion.as_ref().map_or(0.0, |x| self.not_negative(x, "torsion")),
                rolling: m.rolling.as_ref().map_or(0.0, |x| self.not_negative(x, "rolling")),
                density: m.density.as_ref().map(|x| self.positive(x, "density")),
                law: m.law.as_ref().map_or(Law::Rigid, |l| self.law(l)),
            };
            // one fault at a time; what is at fault is made harmless
            while let Err(e) = material.elastic().validate() {
                let field = if let InvalidContact::Value { field, .. } = e { field } else { "" };
                let given = match field {
                    "young" => (material.young.take(), &m.young).1,
                    "poisson" => (std::mem::replace(&mut material.poisson, 0.3), &m.poisson).1,
                    _ => (std::mem::replace(&mut material.friction, 0.5), &m.friction).1,
                };
                self.fault(&given.as_ref().map_or(m.name.span(), At::span), e.to_string());
            }
            materials.push(material);
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
            torsion: 0.0,
            rolling: 0.0,
            density: None,
            law: Law::Rigid,
        });
        materials.len() - 1
    }

    fn law(&mut self, given: &At<raw::Law>) -> Law {
        let before = self.faults.len();
        let law = self.law_as_given(given);
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
            self.fault(&place_in_law(given, &e), e.to_string());
            Law::Rigid
        })
    }

    fn law_as_given(&mut self, given: &At<raw::Law>) -> Result<Law, InvalidContact> {
        match given.get() {
            raw::Law::Rigid => Ok(Law::Rigid),
            raw::Law::KelvinVoigt { stiffness, damping, damping_ratio, mass } => {
                let stiffness = self.both(stiffness, "stiffness");
                match (damping, damping_ratio, mass) {
                    (Some(c), None, None) => {
                        Ok(Law::KelvinVoigt { stiffness, damping: self.both(c, "damping") })
                    }
                    (None, Some(ratio), Some(mass)) => {
                        Law::kelvin_voigt(stiffness, *ratio.get(), *mass.get())
                    }
                    _ => {
                        let message = "damping not clear, expected damping, or damping_ratio and mass";
                        self.fault(&given.span(), message);
                        Ok(Law::Rigid)
                    }
                }
            }
            raw::Law::HalfSpace { elements, spacing, influence, damping } => Ok(Law::HalfSpace {
                elements: *elements.get(),
                spacing: *spacing.get(),
                influence: match influence {
                    Some(raw::Influence::PointForce) => Influence::PointForce,
                    Some(raw::Influence::Rectangle) | None => Influence::Rectangle,
                },
                damping: match damping {
                    Some(raw::PatchDamping::Proportional { time }) => {
                        PatchDamping::Proportional { time: *time.get() }
                    }
                    Some(raw::PatchDamping::Root) | None => PatchDamping::Root,
                },
            }),
            raw::Law::HertzMindlin { radius, damping_time } => Ok(Law::HertzMindlin {
                radius: *radius.get(),
                time: damping_time.as_ref().map_or(0.0, |x| *x.get()),
            }),
        }
    }

    /// Normal and tangential, or one number for both.
    fn both(&mut self, x: &Numbers, what: &str) -> [f64; 2] {
        match x.get().as_slice() {
            &[both] => [both, both],
            _ => self.list(x, what),
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
                        p.torsion.as_ref().map(At::span),
                        p.rolling.as_ref().map(At::span),
                        p.friction_rule.as_ref().map(At::span),
                        p.friction_set.as_ref().map(At::span),
                        p.grain.as_ref().map(At::span),
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
                torsion: p.torsion.as_ref().map(|x| self.not_negative(x, "torsion")),
                rolling: p.rolling.as_ref().map(|x| self.not_negative(x, "rolling")),
                friction_rule: p.friction_rule.as_ref().map(|r| rule(*r.get())),
                friction_set: p.friction_set.as_ref().map(|set| self.friction_kind(set.get())),
                grain: p.grain.as_ref().and_then(|grain| self.grain(grain, of, scene)),
                law: p.law.as_ref().map(|l| self.law(l)),
            });
        }
        pairs
    }

    /// A grain of a pair.
    fn grain(&mut self, grain: &At<raw::Grain>, of: PairOf, scene: &Scene) -> Option<Grain> {
        let PairOf::Owners(owners) = of else {
            self.fault(
                &grain.span(),
                "grain of materials, expected it in a pair of bodies: it is a direction of one of them",
            );
            return None;
        };
        let grain = grain.get();
        let known = owners.map(|owner| scene.name_of(owner));
        let across = self.positive(&grain.across, "across");
        let along = self.vector(&grain.along, "along");
        let size = length(along);
        if size == 0.0 || !size.is_finite() {
            self.fault(&grain.along.span(), "along is no direction, expected a vector that is not 0");
            return None;
        }
        let Some(k) = known.iter().position(|name| name == grain.body.get()) else {
            self.unknown(&grain.body.span(), "body of the pair", grain.body.get(), &known);
            return None;
        };
        Some(Grain { of: owners[k], along: unit(along), across })
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

    /// Whether the geometry knows every two shapes that can meet.
    pub fn shapes_fit(&mut self, file: &File, scene: &Scene) {
        let owners: Vec<Owner> = (0..scene.bodies.len())
            .map(Owner::Body)
            .chain((0..scene.world.len()).map(Owner::World))
            .collect();
        let solid = |part: &Part| Solid::new(&part.shape, scene.planar).ok();
        let solids: Vec<Vec<Option<Solid>>> =
            owners.iter().map(|&o| scene.parts(o).iter().map(solid).collect()).collect();
        for (i, &a) in owners.iter().enumerate() {
            for (j, &b) in owners.iter().enumerate().skip(i + 1) {
                for (p, x) in scene.parts(a).iter().zip(&solids[i]) {
                    for (q, y) in scene.parts(b).iter().zip(&solids[j]) {
                        let (Some(x), Some(y)) = (x, y) else { continue };
                        if supported(x, y) || scene.contact_rule((a, p.material), (b, q.material)).is_none() {
                            continue;
                        }
                        let [a, b] = [a, b].map(|o| scene.name_of(o));
                        let why = Unsupported { a: p.shape.name(), b: q.shape.name(), mixed: false };
                        let message = format!("'{a}' and '{b}': {why}, expected a pair with collide = false");
                        let raw = file.bodies.iter().find(|r| r.name.get() == a);
                        self.fault(&raw.map_or(0..0, |r| r.name.span()), message);
                    }
                }
            }
        }
    }

    /// Whether every contact that can arise has one law, and a patch or Hertz' contact an elastic material.
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
                    let by_pair = scene.pair_that(|p| p.law.is_some(), (a, i), (b, j));
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
                    let elastic = match law {
                        Some(Law::HalfSpace { .. }) => "half_space",
                        Some(Law::HertzMindlin { .. }) => "hertz_mindlin",
                        _ => continue,
                    };
                    if both.iter().all(|m| m.young.is_none()) {
                        let message = format!("{elastic} between {names}, expected young of one of them");
                        self.fault(&span, message);
                    }
                }
            }
        }
    }

    /// Whether torsion and rolling friction are only where contacts can have them.
    pub fn moments_fit(&mut self, file: &File, scene: &Scene) {
        if !scene.gives_moments() {
            return;
        }
        for [a, b] in scene.touching_owners() {
            for (i, j) in
                scene.parts(a).iter().flat_map(|p| scene.parts(b).iter().map(|q| (p.material, q.material)))
            {
                let rule = scene.contact_rule((a, i), (b, j));
                let Some((what, value, why)) = rule.and_then(|r| scene.wrong_moment(&r)) else { continue };
                // where it was given: by a pair, else by one of the materials
                let pair = |p: &Pair| if what == "torsion" { p.torsion } else { p.rolling };
                let says = |p: &Pair| pair(p).is_some() || p.friction_rule.is_some();
                let by_pair = scene.pair_that(says, (a, i), (b, j)).and_then(|k| {
                    let p = &file.pairs[k];
                    if what == "torsion" { p.torsion.as_ref() } else { p.rolling.as_ref() }
                });
                let of_material = |k: usize| {
                    let m = file.materials.get(k)?;
                    let given = if what == "torsion" { m.torsion.as_ref() } else { m.rolling.as_ref() };
                    given.filter(|x| *x.get() != 0.0)
                };
                let given = by_pair.or_else(|| of_material(i)).or_else(|| of_material(j));
                let [a, b] = [i, j].map(|k| &scene.materials[k].name);
                let message = format!("{what} is {value} between '{a}' and '{b}', {why}");
                self.fault(&given.map_or(0..0, At::span), message);
            }
        }
    }

    /// Whether friction by direction is only where contacts can have it.
    pub fn grains_fit(&mut self, file: &File, scene: &Scene) {
        for (pair, raw) in scene.pairs.iter().zip(&file.pairs) {
            let (PairOf::Owners([a, b]), Some(grain)) = (pair.of, &raw.grain) else { continue };
            let parts =
                scene.parts(a).iter().flat_map(|p| scene.parts(b).iter().map(|q| (p.material, q.material)));
            let rules = parts.filter_map(|(i, j)| scene.contact_rule((a, i), (b, j)));
            let wrong: Vec<String> = rules.filter_map(|rule| scene.wrong_grain(&rule)).collect();
            if let Some(why) = wrong.first() {
                self.fault(&grain.span(), format!("grain: {why}"));
            }
        }
    }

    /// Whether sets with corners are only where contacts have no moments, and round ones where the solver knows them.
    pub fn sets_fit(&mut self, file: &File, scene: &Scene) {
        if let Some(named) = &file.step.solver
            && scene.step.solver == SolverKind::Lemke
            && !scene.is_flat()
        {
            self.fault(
                &named.span(),
                "lemke is for friction = \"pyramid\" or a polygon, of all pairs, and for planar scenes",
            );
        }
        let rows = scene.contact_rows();
        if rows <= 3 {
            return;
        }
        let mut told = HashSet::new();
        for [a, b] in scene.touching_owners() {
            for (i, j) in
                scene.parts(a).iter().flat_map(|p| scene.parts(b).iter().map(|q| (p.material, q.material)))
            {
                let rule = scene.contact_rule((a, i), (b, j));
                let Some(why) = rule.and_then(|r| r.wrong_set(rows)) else { continue };
                let by_pair = scene.pair_that(|p| p.friction_set.is_some(), (a, i), (b, j));
                if told.insert(by_pair) {
                    let given = match by_pair {
                        Some(k) => file.pairs[k].friction_set.as_ref(),
                        None => file.step.friction.as_ref(),
                    };
                    let [a, b] = [i, j].map(|k| &scene.materials[k].name);
                    self.fault(
                        &given.map_or(0..0, At::span),
                        format!("friction set of '{a}' and '{b}': {why}"),
                    );
                }
            }
        }
    }

    /// Whether friction is within bounds, and nothing rigid is stepped with more than half of the old velocity.
    pub fn limits_fit(&mut self, file: &File, scene: &Scene) {
        let share = file.step.explicit_share.as_ref().filter(|x| *x.get() > 0.5);
        // however two of them combine, two materials below this stay below the bound
        let rough = scene.materials.iter().any(|m| m.friction > MOST_FRICTION.sqrt())
            || scene.pairs.iter().any(|p| p.friction.is_some_and(|x| x > MOST_FRICTION));
        if share.is_none() && !rough {
            return;
        }
        for [a, b] in scene.touching_owners() {
            for (i, j) in
                scene.parts(a).iter().flat_map(|p| scene.parts(b).iter().map(|q| (p.material, q.material)))
            {
                let Some(rule) = scene.contact_rule((a, i), (b, j)) else { continue };
                if rule.friction > MOST_FRICTION {
                    let by_pair = scene.pair_that(|p| p.friction.is_some(), (a, i), (b, j));
                    let of = |k: usize| scene.materials[k].friction;
                    let rougher = file.materials.get(if of(i) < of(j) { j } else { i });
                    let given = match by_pair {
                        Some(k) => file.pairs[k].friction.as_ref(),
                        None => rougher.and_then(|m| m.friction.as_ref()),
                    };
                    let [a, b] = [i, j].map(|k| &scene.materials[k].name);
                    let mu = rule.friction;
                    let message = format!(
                        "friction is {mu:?} between '{a}' and '{b}', expected at most {MOST_FRICTION}"
                    );
                    self.fault(&given.map_or(0..0, At::span), message);
                }
                if let Some(share) = share.filter(|_| rule.law == Law::Rigid) {
                    let message = format!(
                        "explicit_share is {}, expected at most 0.5 where contacts are rigid: above, they give back more \
                         speed than they take",
                        share.get()
                    );
                    self.fault(&share.span(), message);
                }
            }
        }
    }
}
