//! The program as tests call it.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty folder of its own for each test.
pub fn scratch(group: &str, name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(group).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stiction"));
    command.current_dir(folder).args(arguments);
    command
}

pub fn call(folder: &Path, arguments: &[&str]) -> Output {
    program(folder, arguments).output().unwrap()
}

/// What it says; the exit code as given and nothing on standard error.
pub fn done(folder: &Path, arguments: &[&str], code: i32) -> String {
    let out = call(folder, arguments);
    assert_eq!(out.status.code(), Some(code), "{out:?}");
    assert!(out.stderr.is_empty(), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// Exit code 2, nothing on standard output; the lines on standard error.
pub fn refused(folder: &Path, arguments: &[&str]) -> String {
    let out = call(folder, arguments);
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    assert!(out.stdout.is_empty(), "{out:?}");
    String::from_utf8(out.stderr).unwrap()
}

/// A ball that slides, then rolls.
pub const SLIDING: &str = r#"
[[material]]
name = "default"
friction = 0.3

[[world]]
name = "ground"
shape = "half_space"

[[body]]
name = "ball, red"
shape = { sphere = { radius = 0.1 } }
mass = 1
position = [0, 0, 0.1]
velocity = [1, 0, 0]

[step]
h = 1e-3
duration = 0.2
"#;
