//! `stiction check` as a program: every scene of `scenes/`, and what it says of wrong ones.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn check(file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).arg("check").arg(file).output().unwrap()
}

fn scenes(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scenes(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn every_scene_passes_and_is_summed_up() {
    let mut files = Vec::new();
    scenes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes"), &mut files);
    assert!(files.len() >= 16, "{files:?}");
    for file in files {
        let out = check(&file);
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.code() == Some(0) && out.stderr.is_empty(), "{file:?}");
        assert!(text.contains("of freedom") && text.contains("can touch"), "{text}");
    }
}

#[test]
fn faults_are_pointed_at_one_a_line() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misspelt.toml");
    std::fs::write(&file, "gravitiy = [0, 0, -1]\n[step]\n  hh = 1\n").unwrap();
    let out = check(&file);
    let name = file.display();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0));
    assert_eq!(
        String::from_utf8(out.stderr).unwrap(),
        format!(
            "{name}:1:1: unknown key 'gravitiy', did you mean 'gravity'?\n{name}:3:3: unknown key 'hh', did you mean 'h'?\n"
        )
    );
}

#[test]
fn values_are_set_before_the_scene_is_checked() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("set.toml");
    std::fs::write(&file, "[[body]]\nname = 'ball'\nmass = -1\nshape = { sphere = { radius = 1 } }\n")
        .unwrap();
    let check = |set: &[&str]| {
        let set = set.iter().flat_map(|s| ["--set", s]);
        Command::new(env!("CARGO_BIN_EXE_stiction")).arg("check").arg(&file).args(set).output().unwrap()
    };
    let name = file.display();
    let said = |set: &[&str]| {
        let out = check(set);
        assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{out:?}");
        String::from_utf8(out.stderr).unwrap()
    };
    assert_eq!(said(&[]), format!("{name}:3:8: mass is -1, expected a number above 0\n"));
    // what is wrong is no longer in the file
    assert_eq!(said(&["body[ball].mass=-2"]), "body[ball].mass: mass is -2, expected a number above 0\n");
    let path = said(&["body[bal].mass=2", "step.hh=3"]);
    assert_eq!(path.lines().count(), 2, "{path}");
    assert!(path.starts_with("unknown path 'body[bal].mass', did you mean 'body[ball].mass'?\n"), "{path}");
    assert!(said(&["mass"]).contains("expected PATH=VALUE"));
    let out = check(&["body[ball].mass=2", "step.h=1e-4", "step.solver=newton", "name='a = b'"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success() && text.starts_with("a = b: "), "{text}");
    assert!(
        text.contains("'ball': free on world, 2 kg") && text.contains("10000 steps of 0.0001 s"),
        "{text}"
    );
}

#[test]
fn a_missing_file_is_named_in_one_line() {
    let out = check(Path::new("no/such/scene.toml"));
    let text = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(text.starts_with("no/such/scene.toml: ") && text.lines().count() == 1, "{text}");
}

#[test]
fn restitution_that_a_compliant_law_leaves_without_effect_is_told() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("restitution.toml");
    let text = |law: &str| {
        format!(
            "[[material]]\nname = 'default'\nrestitution = 0.5\nlaw = {law}\n[[world]]\nname = 'g'\nshape = 'half_space'\n\
             [[body]]\nname = 'b'\nmass = 1\nshape = {{ sphere = {{ radius = 1 }} }}\n"
        )
    };
    for (law, without) in [("'rigid'", false), ("{ kelvin_voigt = { stiffness = [1e6, 1e6] } }", true)] {
        std::fs::write(&file, text(law)).unwrap();
        let said = String::from_utf8(check(&file).stdout).unwrap();
        assert!(said.contains("restitution 0.5") && said.contains("without effect") == without, "{said}");
    }
    // advice that can help: a half-space has no volume
    std::fs::write(&file, "[[body]]\nname = 't'\nshape = 'half_space'\n").unwrap();
    let said = String::from_utf8(check(&file).stderr).unwrap();
    assert!(said.contains("body 't' has a half_space, expected mass and inertia for it"), "{said}");
}
