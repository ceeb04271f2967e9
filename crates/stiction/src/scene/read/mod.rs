//! From text to scene: syntax, keys, types (serde), then names and numbers. Each stage reports all it finds; a
//! later stage runs only on what passed the one before.

mod body;
mod contact;
mod load;
mod mass;
mod order;
mod settings;
mod value;

#[cfg(test)]
mod tests;

use super::error::{Fault, Place, SceneError, unknown};
use super::keys::{self, Slip};
use super::model::Scene;
use super::raw::File;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use toml::de::DeTable;

impl Scene {
    /// Reads the file at `path`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, SceneError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| SceneError::Unreadable { file: file.clone(), source })?;
        Self::from_toml(&file, &text)
    }

    /// Reads a scene from text; `name` is the file's name in errors, and without its folders and ending the
    /// scene's name where the text gives none.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, SceneError> {
        let invalid = |mut faults: Vec<Fault>| {
            faults.sort_by_key(|f| f.place);
            faults.dedup();
            SceneError::Invalid { file: name.to_owned(), faults }
        };
        let table = DeTable::parse(text).map_err(|e| invalid(vec![syntax(text, &e)]))?;
        let slips = keys::slips(table.get_ref());
        if !slips.is_empty() {
            return Err(invalid(slips.into_iter().map(|s| slip(text, s)).collect()));
        }
        let file: File = toml::from_str(text).map_err(|e| invalid(vec![syntax(text, &e)]))?;
        let mut reader = Reader { text, planar: file.planar, faults: Vec::new() };
        let stem = Path::new(name).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let scene = reader.scene(&file, stem);
        if reader.faults.is_empty() { Ok(scene) } else { Err(invalid(reader.faults)) }
    }
}

/// What toml and serde say, in our words.
fn syntax(text: &str, error: &toml::de::Error) -> Fault {
    let place = Place::new(text, &error.span().unwrap_or(0..0));
    let mut message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    for (theirs, ours) in [
        ("missing field", "missing key"),
        ("wanted exactly 1 element, found 0 elements", "nothing chosen, expected one choice"),
        ("wanted exactly 1 element, more than 1 element", "several choices, expected one"),
        ("expected usize", "expected a whole number, 0 or more"),
        (" as i128, expected f64", " is too large, expected a number with a decimal point"),
    ] {
        message = message.replace(theirs, ours);
    }
    Fault { place, message: message.replace('`', "'"), suggestion: None }
}

fn slip(text: &str, (span, slip): (Range<usize>, Slip)) -> Fault {
    let place = Place::new(text, &span);
    match slip {
        Slip::Wrong(message) => Fault { place, message, suggestion: None },
        Slip::Unknown(kind, name, known) => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let (message, suggestion) = unknown(kind, &name, &known);
            Fault { place, message, suggestion }
        }
    }
}

/// Collects faults on the way; what is wrong is replaced by something harmless, to go on looking.
struct Reader<'a> {
    text: &'a str,
    planar: bool,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn scene(&mut self, file: &File, stem: String) -> Scene {
        let gravity = match &file.gravity {
            Some(g) => self.vector(g, "gravity"),
            None if self.planar => [0.0, -9.81, 0.0],
            None => [0.0, 0.0, -9.81],
        };
        let mut materials = self.materials(&file.materials);
        let world = self.world(&file.world, &mut materials);
        let bodies = self.bodies(&file.bodies, &world, &mut materials);
        let mut scene = Scene {
            name: file.name.clone().unwrap_or(stem),
            planar: self.planar,
            gravity,
            bodies,
            world,
            materials,
            friction_rule: file.friction_rule.map_or(super::FrictionRule::GeometricMean, contact::rule),
            pairs: Vec::new(),
            loads: Vec::new(),
            springs: Vec::new(),
            motors: Vec::new(),
            step: self.step(&file.step),
            record: super::RecordSettings { interval: 0.0, tables: Vec::new() },
        };
        scene.record = self.record(&file.record, &scene.step);
        let names: HashMap<String, usize> =
            scene.bodies.iter().enumerate().map(|(i, b)| (b.name.clone(), i)).collect();
        scene.pairs = self.pairs(&file.pairs, &scene, &names);
        scene.loads = self.loads(&file.loads, &scene, &names);
        scene.springs = self.springs(&file.springs, &scene, &names);
        scene.motors = self.motors(&file.motors, &scene, &names);
        if self.faults.is_empty() {
            self.shapes_fit(file, &scene);
            self.laws_fit(file, &scene);
            self.moments_fit(file, &scene);
            self.sets_fit(file, &scene);
            self.grains_fit(file, &scene);
            self.limits_fit(file, &scene);
        }
        scene
    }

    fn fault(&mut self, span: &Range<usize>, message: impl Into<String>) {
        let place = Place::new(self.text, span);
        self.faults.push(Fault { place, message: message.into(), suggestion: None });
    }

    fn unknown(&mut self, span: &Range<usize>, kind: &str, name: &str, known: &[&str]) {
        let (message, suggestion) = unknown(kind, name, known);
        self.faults.push(Fault { place: Place::new(self.text, span), message, suggestion });
    }
}
