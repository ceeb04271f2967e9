//! Scenes read and checked in full: the description, its shapes and rules as they are compiled, and its boundary-value problem.
//!
//! [`crate::scene`] knows none of the latter two, so that a scene can be read and written without them.

use crate::boundary::Problem;
use crate::model::parts_and_rules;
use crate::scene::resolved::Resolved;
use crate::scene::{Fault, Scene, SceneError, from_text};
use std::path::Path;

/// Reads and checks the scene in the file at `path`.
///
/// # Errors
/// The file cannot be read, or all that is wrong with it, each fault with its place.
pub fn read(path: impl AsRef<Path>) -> Result<Scene, SceneError> {
    read_with(path, &[])
}

/// Reads the scene in the file at `path`, sets values by their paths ([`Scene::set`]), and checks the result.
///
/// # Errors
/// As [`read`].
pub fn read_with(path: impl AsRef<Path>, set: &[(String, String)]) -> Result<Scene, SceneError> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| SceneError::Unreadable { file: file.clone(), source })?;
    from_text(&file, &text, set, further)
}

/// Reads and checks a scene. `name` is the file's name in errors; without its folders and extension it is
/// also the scene's name where the text gives none.
///
/// # Errors
/// All that is wrong with it, each fault with its place.
pub fn from_toml(name: &str, text: &str) -> Result<Scene, SceneError> {
    from_text(name, text, &[], further)
}

/// Reads and checks a scene from a JSON object with the keys of a file; keys that are null count as
/// absent.
///
/// # Errors
/// All that is wrong with it, each fault with its path.
pub fn from_json(value: serde_json::Value) -> Result<Scene, Vec<Fault>> {
    Scene::from_json_with(value, further)
}

/// All that is wrong with a scene; empty if nothing is.
pub fn check(scene: &Scene) -> Vec<Fault> {
    match scene.resolve() {
        Err(faults) => faults,
        Ok(resolved) => scene.named(further(scene, &resolved)),
    }
}

/// What is wrong with a scene whose description alone is right.
fn further(scene: &Scene, resolved: &Resolved) -> Vec<Fault> {
    match parts_and_rules(resolved) {
        Err(faults) => faults,
        Ok(_) if scene.boundary.is_some() => Problem::new(scene).err().unwrap_or_default(),
        Ok(_) => vec![],
    }
}
