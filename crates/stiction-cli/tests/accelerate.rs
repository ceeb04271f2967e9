//! `stiction accelerate` as a program: text, JSON, pictures, recordings, and what it says of wrong input.

use crate::program;

use program::{SLIDING, done, refused, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn scene(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    path.display().to_string()
}

fn json(folder: &Path, arguments: &[&str], code: i32) -> Value {
    let mut all = vec!["accelerate"];
    all.extend(arguments);
    all.push("--json");
    serde_json::from_str(&done(folder, &all, code)).unwrap()
}

#[test]
fn several_solutions_are_listed_with_ranges_and_drawn() {
    let folder = scratch("accelerate", "rod");
    let rod = scene("trinkle1995/rod.toml");
    let found = json(&folder, &[&rod, "--all", "--picture", "rod.svg"], 0);
    assert_eq!(found["status"], "several");
    assert_eq!(found["complete"], true);
    let solutions = found["solutions"].as_array().unwrap();
    assert_eq!(solutions.len(), 2);
    let transitions: Vec<&str> =
        solutions.iter().map(|s| s["contacts"][0]["transition"].as_str().unwrap()).collect();
    assert!(transitions.contains(&"slip-to-slip") && transitions.contains(&"slip-to-open"));
    assert_eq!(solutions[0]["contacts"][0]["name"], "ground/rod#0");
    assert_eq!(solutions[0]["accelerations"]["rod"].as_array().unwrap().len(), 3);
    let range = &found["ranges"][0];
    assert!(range["normal"][0] == 0.0 && range["normal"][1].as_f64().unwrap() > 1.0, "{range}");
    assert_eq!(found["conditions"]["p_matrix"], false);
    let svg = fs::read_to_string(folder.join("rod.svg")).unwrap();
    assert!(svg.contains("solution 2 of 2") && svg.contains("<polygon"));
    let text = done(&folder, &["accelerate", &rod, "--all", "--picture", "rod.png"], 0);
    assert!(text.contains("solution 1 of 2") && text.contains("no P-matrix"), "{text}");
    assert!(fs::read(folder.join("rod.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn no_solution_is_proved_and_decided() {
    let folder = scratch("accelerate", "none");
    let found = json(&folder, &[&scene("painleve-rod.toml")], 0);
    assert_eq!(found["status"], "no-solution");
    assert_eq!(found["proof"]["verified"], true);
    assert_eq!(found["solutions"].as_array().unwrap().len(), 0);
}

#[test]
fn joints_are_given_by_their_bodies() {
    let folder = scratch("accelerate", "joints");
    let (grasp, wedge) = (scene("trinkle1995/grasp.toml"), scene("trinkle1995/wedge.toml"));
    let found = json(&folder, &[&grasp, "--joint", "left=0"], 0);
    let effort = found["solutions"][0]["efforts"]["left"].as_f64().unwrap();
    assert!((effort - 20.0).abs() < 1e-9, "{effort}");
    let found = json(&folder, &[&wedge, "--joint", "wedge=0"], 0);
    let effort = found["solutions"][0]["efforts"]["wedge:0"].as_f64().unwrap();
    assert!((effort + 3.0 * 9.81 / 3f64.sqrt()).abs() < 1e-9, "{effort}");
    let found =
        json(&folder, &[&grasp, "--quasistatic", "--joint", "left=0", "--stiffness", "right=1000"], 0);
    assert!(found["solutions"][0]["displacements"]["disc"].is_array());
    for (arguments, expected) in [
        (&["--joint", "lift=0"][..], "--joint lift=0: no body 'lift', did you mean 'left'?"),
        (&["--joint", "left:1=0"], "--joint left:1=0: its joint has 1 degrees of freedom"),
        (&["--joint", "left=x"], "--joint left=x: expected a number"),
        (&["--joint", "left=0", "--joint", "left=1"], "degree of freedom 0: acceleration 1"),
        (&["--picture", "a.bmp"], "a.bmp: expected a name that ends in .svg or .png"),
        (&["--stiffness", "left=1"], "--quasistatic"),
    ] {
        let mut all = vec!["accelerate", grasp.as_str()];
        all.extend(arguments);
        let line = refused(&folder, &all);
        assert!(line.lines().count() == 1 && line.contains(expected), "{line}");
    }
}

/// A ball that slides at first and rolls later, in a recording and on the way.
#[test]
fn recordings_and_later_times_are_instants_too() {
    let folder = scratch("accelerate", "recording");
    fs::write(folder.join("ball.toml"), SLIDING).unwrap();
    done(&folder, &["run", "ball.toml", "--out", "out", "--quiet"], 0);
    let friction = |found: &Value| found["solutions"][0]["contacts"][0]["force"][1].as_f64().unwrap();
    for thing in ["ball.toml", "out"] {
        let early = json(&folder, &[thing, "--at", "0.05"], 0);
        assert_eq!(early["contacts"][0]["state"], "slip", "{thing}");
        assert!((friction(&early) + 0.3 * 9.81).abs() < 1e-9, "{thing}: {early}");
        // a recording has the record nearest to it
        assert!((early["time"].as_f64().unwrap() - 0.05).abs() < 0.01);
        // rolling begins at 2 v / (7 mu g) = 0.097 s
        let late = json(&folder, &[thing, "--at", "0.15"], 0);
        assert_eq!(late["contacts"][0]["state"], "stick", "{thing}");
        assert!(friction(&late).abs() < 1e-9, "{thing}: {late}");
    }
    let last = json(&folder, &["out"], 0);
    assert!((last["time"].as_f64().unwrap() - 0.2).abs() < 1e-9);
    let line = refused(&folder, &["accelerate", "out", "--at", "7"]);
    assert!(line.contains("no record at t = 7 s: it has records from 0 s to 0.2"), "{line}");
    assert!(refused(&folder, &["accelerate", "out", "--set", "step.h=1"]).contains("this is a recording"));
    assert!(refused(&folder, &["accelerate", "nowhere.toml"]).contains("nowhere.toml"));
}

#[test]
fn warnings_of_meshes_are_shown_by_check_and_run() {
    let folder = scratch("accelerate", "mesh");
    // a tetrahedron with a dent in one face
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.2 0.2 0.1\nf 1 3 5\nf 3 2 5\nf 2 1 5\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    fs::write(folder.join("dent.obj"), obj).unwrap();
    let text = "[[body]]\nname = 'part'\ndensity = 1000\nshape = { mesh = { file = 'dent.obj' } }\n[step]\nduration = 0.01\n";
    fs::write(folder.join("part.toml"), text).unwrap();
    let words = "mesh 'dent.obj' is not convex";
    assert!(done(&folder, &["check", "part.toml"], 0).contains(words));
    assert!(done(&folder, &["run", "part.toml", "--out", "out"], 0).contains(words));
    // the recording is of the scene written out
    let kept = fs::read_to_string(folder.join("out/scene.toml")).unwrap();
    assert!(kept.contains("polytope") && !kept.contains("dent.obj"));
    fs::write(folder.join("part.toml"), text.replace("dent.obj", "none.stl")).unwrap();
    let line = refused(&folder, &["run", "part.toml"]);
    assert!(line.starts_with("part.toml:4:27: 'none.stl': "), "{line}");
}

/// The gripper of `scenes/gripper-slips.toml` while its box slips: joints and free bodies of a recording, eight sliding contacts, and the palm's and
/// the box's accelerations by hand.
#[test]
fn a_recorded_gripper_slips_as_computed_by_hand() {
    let folder = scratch("accelerate", "gripper");
    let gripper = scene("gripper-slips.toml");
    done(&folder, &["run", &gripper, "--out", "out", "--quiet", "--duration", "0.33"], 0);
    let found = json(&folder, &["out", "--at", "0.32"], 0);
    assert_eq!(found["status"], "solved");
    assert!(found["contacts"].as_array().unwrap().iter().all(|c| c["state"] == "slip"));
    let of = |body: &str, dof: usize| found["solutions"][0]["accelerations"][body][dof].as_f64().unwrap();
    // mu = 0.5, F = 20 N on both sides; palm and fingers weigh 1.4 kg, the box 1 kg
    let (friction, g) = (2.0 * 0.5 * 20.0, 9.81);
    assert!((of("palm", 0) - ((55.0 - friction) / 1.4 - g)).abs() < 1e-6, "{}", of("palm", 0));
    assert!((of("box", 2) - (friction - g)).abs() < 1e-6, "{}", of("box", 2));
}
