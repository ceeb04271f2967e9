//! `stiction shoot` and `stiction converge` as programs: what they print and write, and what they refuse.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(arguments).output().unwrap()
}

fn scene(name: &str) -> String {
    format!("{}/../../scenes/pang2005/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn json(out: &Output) -> Value {
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn a_solution_is_printed_recorded_and_drawn() {
    let out = folder("puck.shoot");
    let result = run(&["shoot", &scene("puck"), "--json", "--out", out.to_str().unwrap()]);
    assert_eq!(result.status.code(), Some(0));
    let object = json(&result);
    assert_eq!(object["status"], "solved");
    let solution = &object["solutions"][0];
    let v = solution["initial"]["puck.vx"].as_f64().unwrap();
    assert!((v - 1.4012).abs() < 1e-3, "{v}");
    assert!((solution["final"]["puck.x(T)"].as_f64().unwrap() - 0.5).abs() < 1e-8);
    assert_eq!(solution["isolated"], true);
    assert!(out.join("solution-1.recording").is_dir() && out.join("residual.svg").is_file());
    // recordings are not replaced unasked
    let again = run(&["shoot", &scene("puck"), "--out", out.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8(again.stderr).unwrap().contains("--force"));
}

#[test]
fn an_impossible_problem_ends_with_the_nearest_miss() {
    let arguments =
        ["shoot", &scene("puck"), "--dry", "--json", "--set", "boundary.unknown[0].bounds=[0.1, 1.1]"];
    let result = run(&arguments);
    assert_eq!(result.status.code(), Some(1));
    let object = json(&result);
    assert_eq!(object["status"], "undecided");
    let miss = &object["nearest_miss"];
    assert!((miss["initial"]["puck.vx"].as_f64().unwrap() - 1.1).abs() < 1e-9, "{miss}");
    assert!(miss["residual"].as_f64().unwrap() > 0.1);
}

#[test]
fn wrong_names_are_refused_with_their_place() {
    let result = run(&["shoot", &scene("puck"), "--dry", "--set", "boundary.unknown[0].component=vq"]);
    assert_eq!(result.status.code(), Some(2));
    let said = String::from_utf8(result.stderr).unwrap();
    assert!(said.contains("'vq'") && said.contains("vx"), "{said}");
    let none = format!("{}/../../scenes/sliding-box.toml", env!("CARGO_MANIFEST_DIR"));
    let result = run(&["shoot", &none, "--dry"]);
    assert_eq!(result.status.code(), Some(2));
    assert!(String::from_utf8(result.stderr).unwrap().contains("[boundary]"));
}

#[test]
fn a_ladder_of_steps_is_studied() {
    let out = folder("ladder");
    std::fs::create_dir_all(&out).unwrap();
    let figure = out.join("figure.svg");
    let mut arguments =
        vec!["converge", "--steps", "2e-3,1e-3,5e-4", "--json", "--out", figure.to_str().unwrap()];
    let file = scene("sphere-velocity");
    arguments.extend(["--set", "body[sphere].velocity=[1,0,0]", "--set", "step.duration=0.02", &file]);
    let object = json(&run(&arguments));
    assert_eq!(object["status"], "finished");
    assert_eq!(object["levels"].as_array().unwrap().len(), 3);
    let defect = |k: usize| object["levels"][k]["weak_solution"]["dynamics"].as_f64().unwrap();
    assert!(defect(2) < 0.5 * defect(0), "{object}");
    assert!(std::fs::read_to_string(figure).unwrap().contains("log10 h"));
    let result = run(&["converge", &file, "--steps", "1e-3"]);
    assert_eq!(result.status.code(), Some(2));
}
