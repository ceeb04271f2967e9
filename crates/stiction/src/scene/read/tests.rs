//! Every scene of `scenes/`, written out again and read back.

use super::*;
use std::path::PathBuf;

fn scene_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scene_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn every_scene_is_valid_and_survives_being_written_and_read() {
    let mut files = Vec::new();
    scene_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes"), &mut files);
    assert!(files.len() >= 16, "{files:?}");
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        let scene = Scene::from_toml(&name, &text).unwrap_or_else(|e| panic!("{e}"));
        let raw: File = toml::from_str(&text).unwrap();
        let written = toml::to_string(&raw).unwrap();
        let again = Scene::from_toml(&name, &written).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(scene, again, "{name}");
    }
}
