//! `stiction analyze` as a program: instants, runs, recordings, JSON, figures, and what it says of wrong input; and the warnings of `run`.

use crate::program;

use program::{SLIDING, call, done, refused, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn scene(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    path.display().to_string()
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let mut all = vec!["analyze"];
    all.extend(arguments);
    all.push("--json");
    serde_json::from_str(&done(folder, &all, 0)).unwrap()
}

/// song2001 case 2 from rest: three solutions, two of them stable; with slip two, one of them stable.
#[test]
fn case_2_has_its_solutions_and_their_stability() {
    let folder = scratch("analyze", "case-2");
    let rest = scene("song2001/analyze-case2-rest.toml");
    let found = json(&folder, &[&rest, "--at", "0"]);
    let cluster = &found["instants"][0]["clusters"][0];
    assert_eq!((&cluster["name"], &cluster["status"]), (&"ground, rod".into(), &"several".into()));
    let solutions = cluster["solutions"].as_array().unwrap();
    let mut kinds: Vec<(&str, &str)> =
        solutions.iter().map(|s| (s["kind"].as_str().unwrap(), s["stability"].as_str().unwrap())).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [("open", "stable"), ("slip", "unstable"), ("stick", "stable")]);
    assert_eq!((&found["preferred"], &cluster["trust"]), (&"compliant".into(), &"motion-not-unique".into()));
    assert_eq!(cluster["condition_20"], true);
    let slips = json(&folder, &[&rest, "--at", "0", "--set", "body[rod].velocity=[-0.3, 0]"]);
    assert_eq!(slips["preferred"], "rigid, stable branch");
    let slip = slips["instants"][0]["clusters"][0]["solutions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["kind"] == "slip")
        .unwrap()
        .clone();
    assert!((slip["contacts"][0]["force"][0].as_f64().unwrap() - 2.33).abs() < 0.01);
    assert_eq!((&slip["layers"], &slip["depends_on_layer"]), (&"proved".into(), &false.into()));
    // without friction m z'' = -K z - 2 sqrt(K m) z'; with it A is negative: z'' + 2 a z'/s + a z/s^2 = 0, a the margin, s = sqrt(eps)
    let a = slips["instants"][0]["margin"].as_f64().unwrap();
    let growth = (-a + (a * a - a).sqrt()) / 1e-3;
    assert!((slip["eigenvalues"][0][0].as_f64().unwrap() / growth - 1.0).abs() < 1e-9 && a < 0.0);
    let text = done(&folder, &["analyze", &rest, "--at", "0"], 0);
    assert!(text.contains("3 solutions") && text.contains("prefer: compliant"), "{text}");
    assert!(text.lines().count() < 15 && text.contains("eps = 1e-6"), "{text}");
}

/// A rod that is pushed into the region without solutions: rigid at first, its margin falls; run, recording and figure.
#[test]
fn a_run_is_examined_along_its_time_and_drawn() {
    let folder = scratch("analyze", "run");
    let rod = scene("song2001/analyze-painleve.toml");
    let found = json(&folder, &[&rod, "--samples", "60", "--figure", "rod.svg"]);
    assert_eq!(found["status"], "finished");
    let instants = found["instants"].as_array().unwrap();
    assert!((60..=62).contains(&instants.len()));
    // it jams at about 45 degrees to the slope, between two instants
    assert_eq!(found["preferred"], "compliant");
    let episodes = found["episodes"].as_array().unwrap();
    let jam = episodes.iter().find(|e| e["instants"] == 0).unwrap();
    assert!(
        (jam["from"].as_f64().unwrap() - 0.628).abs() < 0.005 && jam["trust"] == "no-rigid-solution",
        "{jam}"
    );
    let first = &found["episodes"][0];
    assert_eq!((&first["preferred"], &first["trust"]), (&"rigid".into(), &"unique".into()));
    let margin = |k: usize| instants[k]["margin"].as_f64().unwrap();
    assert!(margin(0) > margin(5), "{} {}", margin(0), margin(5));
    // a cart without end: A is that of a rod on a fixed hinge, cos (cos - mu sin) at 30 degrees to the slope, over cos^2
    let a = 1.0 - 30f64.to_radians().tan();
    assert!((margin(0) - a).abs() < 0.02, "{} {a}", margin(0));
    let svg = fs::read_to_string(folder.join("rod.svg")).unwrap();
    assert!(svg.contains("slope, rod") && svg.contains("margin") && svg.contains("stable branch"));
    done(&folder, &["run", &rod, "--quiet", "--duration", "0.02", "--out", "rod.recording"], 0);
    let recorded = json(&folder, &["rod.recording", "--samples", "5"]);
    assert_eq!(recorded["instants"].as_array().unwrap().len(), 5);
    let alike = recorded["instants"][0]["margin"].as_f64().unwrap();
    assert!((alike - margin(0)).abs() < 1e-9);
    let one = json(&folder, &["rod.recording", "--at", "0.01"]);
    assert_eq!(one["instants"].as_array().unwrap().len(), 1);
    let text = done(&folder, &["analyze", "rod.recording", "--figure", "rod.png"], 0);
    assert!(
        text.contains("slope, rod: slip (stable), unique, margin") && text.contains("prefer: rigid"),
        "{text}"
    );
    assert!(fs::read(folder.join("rod.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn free_flight_and_plain_sliding_are_rigid() {
    let folder = scratch("analyze", "plain");
    fs::write(folder.join("ball.toml"), SLIDING).unwrap();
    let found = json(&folder, &["ball.toml", "--duration", "0.1", "--samples", "10"]);
    assert_eq!(found["preferred"], "rigid");
    for instant in found["instants"].as_array().unwrap() {
        // while it slips the solution is proved to be the only one
        let slips = instant["clusters"][0]["solutions"][0]["kind"] == "slip";
        assert_eq!((slips, &instant["margin"]), (instant["stable"] == true, &1.0.into()), "{instant}");
        assert_eq!(instant["preferred"], "rigid");
    }
    let up = done(
        &folder,
        &["analyze", "ball.toml", "--at", "0", "--set", "body[ball, red].position=[0, 0, 1]"],
        0,
    );
    assert!(up.contains("Nothing touches"), "{up}");
}

#[test]
fn wrong_input_is_named() {
    let folder = scratch("analyze", "wrong");
    fs::write(folder.join("ball.toml"), SLIDING).unwrap();
    let why = refused(&folder, &["analyze", "ball.toml", "--at", "-1"]);
    assert!(why.contains("--at -1: expected 0 or more"), "{why}");
    let why = refused(&folder, &["analyze", "ball.toml", "--at", "0", "--figure", "ball.pdf"]);
    assert!(why.contains("ends in .svg or .png"), "{why}");
    let why = refused(&folder, &["analyze", "ball.toml", "--set", "step.nothing=1"]);
    assert!(why.contains("nothing"), "{why}");
    let down = "body[ball, red].velocity=[0, 0, -1]";
    let why = refused(&folder, &["analyze", "ball.toml", "--at", "0", "--set", down]);
    assert!(why.contains("normal velocity -1"), "{why}");
    assert!(refused(&folder, &["analyze", "none.toml"]).contains("none.toml"));
}

/// `run` warns where the slip of a rigid contact has no solution, or several; plain runs say nothing.
#[test]
fn run_warns_of_lost_solutions_as_they_are_lost() {
    let folder = scratch("analyze", "warns");
    let jams = call(&folder, &["run", &scene("painleve-rod.toml"), "--out", "jams"]);
    let said = String::from_utf8(jams.stderr).unwrap();
    assert!(
        said.starts_with("warning: t = ")
            && said.contains("ground, rod: no rigid solution")
            && said.lines().count() == 1,
        "{said}"
    );
    assert!(said.contains("stiction analyze") && said.contains("law = \"auto\""), "{said}");
    let rest = scene("song2001/analyze-case2-rest.toml");
    let set = "body[rod].velocity=[-0.3, 0]";
    let open = call(&folder, &["run", &rest, "--set", set, "--json", "--out", "case-2"]);
    let found: Value = serde_json::from_slice(&open.stdout).unwrap();
    let warned = found["stability"][0].as_str().unwrap();
    assert!(
        open.stderr.is_empty() && warned.contains("t = 0.000000 s: ground, rod: 2 rigid solutions"),
        "{warned}"
    );
    fs::write(folder.join("ball.toml"), SLIDING).unwrap();
    assert!(!done(&folder, &["run", "ball.toml"], 0).contains("warning"));
}
