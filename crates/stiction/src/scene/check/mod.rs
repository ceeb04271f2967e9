//! What is wrong with a scene, and what it comes to if nothing is: names looked up, defaults filled in, masses computed. Knows
//! no file: a fault has the path of a value, and whoever read the scene from a file looks up where that is.

mod body;
mod contact;
mod doubt;
mod load;
mod machine;
mod mass;
mod order;
mod settings;
mod value;

use super::path::{At, within};
use super::schema::faults;
use super::{Fault, Scene};
use crate::scene::resolved::{Recorded, Resolved};
use std::collections::HashMap;

impl Scene {
    /// The scene with its names looked up, or what is wrong with its description alone: not what its shapes make wrong as they meet, nor its
    /// boundary-value problem.
    pub(crate) fn resolve_alone(&self) -> Result<Resolved, Vec<Fault>> {
        let mut found: Vec<Fault> = match self.table() {
            Ok(table) => faults(&table).into_iter().map(|(fault, _)| fault).collect(),
            Err(e) => vec![Fault::new(String::new(), e)],
        };
        let (resolved, more) = self.resolved();
        // what is not finite is told once
        let told = |fault: &Fault| found.iter().any(|f| within(&f.path, &fault.path));
        let more: Vec<Fault> = more.into_iter().filter(|fault| !told(fault)).collect();
        found.extend(more);
        if found.is_empty() {
            let warnings = if resolved.warnings.is_empty() { vec![] } else { self.named(resolved.warnings) };
            Ok(Resolved { warnings, ..resolved })
        } else {
            Err(self.named(found))
        }
    }

    /// The resolved scene, and what is wrong by places in lists; the former holds only if nothing is.
    pub(super) fn resolved(&self) -> (Resolved, Vec<Fault>) {
        let (faults, warnings) = (Vec::new(), Vec::new());
        let mut checker = Checker { scene: self, planar: self.planar, faults, warnings };
        let mut resolved = checker.resolve();
        resolved.warnings = checker.warnings;
        (resolved, checker.faults)
    }
}

/// Collects faults on the way; what is wrong is replaced by something harmless, to go on looking.
struct Checker<'a> {
    scene: &'a Scene,
    planar: bool,
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
}

impl Checker<'_> {
    fn resolve(&mut self) -> Resolved {
        let scene = self.scene;
        let gravity = match &scene.gravity {
            Some(g) => self.vector(g, At::ROOT.key("gravity")),
            None if self.planar => [0.0, -9.81, 0.0],
            None => [0.0, 0.0, -9.81],
        };
        let mut materials = self.materials();
        let world = self.world(&mut materials);
        let bodies = self.bodies(&world, &mut materials);
        self.step();
        let mut resolved = Resolved {
            name: scene.name.clone(),
            planar: self.planar,
            gravity,
            bodies,
            world,
            laws: self.laws(&materials),
            materials,
            friction_rule: scene.friction_rule,
            contact_point: self.contact_point(),
            pairs: Vec::new(),
            loads: Vec::new(),
            springs: Vec::new(),
            motors: Vec::new(),
            loops: Vec::new(),
            gears: Vec::new(),
            warnings: Vec::new(),
            step: scene.step.clone(),
            record: Recorded { interval: self.interval(), tables: self.tables() },
        };
        let names: HashMap<String, usize> =
            resolved.bodies.iter().enumerate().map(|(i, b)| (b.name.clone(), i)).collect();
        resolved.pairs = self.pairs(&resolved, &names);
        resolved.loads = self.loads(&resolved, &names);
        resolved.springs = self.springs(&resolved, &names);
        resolved.motors = self.motors(&resolved, &names);
        resolved.gears = self.gears(&resolved, &names);
        resolved.loops = self.loops(&resolved, &names);
        self.rows_of_machines(&resolved);
        resolved
    }

    fn fault(&mut self, at: At<'_>, message: impl Into<String>) {
        self.faults.push(Fault::new(at.to_string(), message));
    }

    fn unknown(&mut self, at: At<'_>, kind: &str, name: &str, known: &[&str]) {
        let path = at.to_string();
        // a name that several need is told once
        if self.faults.iter().all(|f| f.path != path) {
            self.faults.push(Fault::unknown(path, kind, name, known));
        }
    }
}
