//! `stiction fit` as a program: what it prints and writes, and what it refuses.

use crate::program;

use program::{done, refused, scratch};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn shipped(name: &str) -> String {
    format!("{}/../../scenes/song2001/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The shipped measurement: its friction was 0.27.
#[test]
fn the_shipped_measurement_gives_its_friction() {
    let folder = scratch("fit", "rod");
    let (scene, data) = (shipped("fit-case1.toml"), shipped("fit-case1.csv"));
    let arguments = ["fit", &scene, &data, "--json", "--figure", "fit.png", "--out", "fitted.toml"];
    let object: Value = serde_json::from_str(&done(&folder, &arguments, 0)).unwrap();
    assert_eq!(object["status"], "solved");
    let one = &object["parameters"][0];
    assert_eq!(one["path"], "material[default].friction");
    let [low, high] = [0, 1].map(|k| one["interval"][k].as_f64().unwrap());
    assert!(low < 0.27 && 0.27 < high && high - low < 0.005, "{one}");
    assert!((one["value"].as_f64().unwrap() - 0.5 * (low + high)).abs() < 1e-9);
    let rms = object["rms"]["body[rod].x"].as_f64().unwrap();
    assert!((rms / 1e-4 - 1.0).abs() < 0.2, "{rms}");
    assert_eq!(object["undetermined"], Value::Array(vec![]));
    assert_eq!(object["warnings"], Value::Array(vec![]));
    assert_eq!(object["derivatives"], "differences");
    assert!(fs::read(folder.join("fit.png")).unwrap().starts_with(b"\x89PNG"));
    // the fitted scene is one, and has the value
    let checked = done(&folder, &["check", "fitted.toml"], 0);
    assert!(checked.contains("rod"), "{checked}");
    let text = fs::read_to_string(folder.join("fitted.toml")).unwrap();
    let line = text.lines().find(|l| l.starts_with("friction = 0.2")).unwrap();
    let value: f64 = line["friction = ".len()..].parse().unwrap();
    assert_eq!(value, one["value"].as_f64().unwrap());
    // files are not replaced unasked
    assert!(refused(&folder, &arguments).contains("--force"));
    let text = done(&folder, &["fit", &scene, &data], 0);
    for word in ["solved", "95 %", "standard error", "body[rod].y: 221 values", "differences of runs"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn combinations_that_are_not_determined_are_printed() {
    let folder = scratch("fit", "mass");
    let (scene, data) = (shipped("fit-case1.toml"), shipped("fit-case1.csv"));
    let vary = [
        "--vary",
        "material[default].friction=0.05..0.9",
        "--vary",
        "body[rod].mass",
        "--vary",
        "body[rod].inertia",
    ];
    let arguments = [&["fit", &scene, &data, "--json"][..], &vary].concat();
    let object: Value = serde_json::from_str(&done(&folder, &arguments, 0)).unwrap();
    // the rod's motion depends on inertia over mass alone
    assert_eq!(object["status"], "several");
    let changes = &object["undetermined"][0]["changes"];
    let [mass, inertia] = ["body[rod].mass", "body[rod].inertia"].map(|p| changes[p].as_f64().unwrap());
    assert!(mass * inertia > 0.0 && changes.as_object().unwrap().len() == 2, "{changes}");
    assert!(object["parameters"][1]["interval"].is_null());
    let [low, high] = [0, 1].map(|k| object["parameters"][0]["interval"][k].as_f64().unwrap());
    assert!(low < 0.27 && 0.27 < high, "{low} {high}");
}

#[test]
fn wrong_input_is_refused_with_its_place() {
    let folder = scratch("fit", "wrong");
    let scene = shipped("fit-case1.toml");
    let said = |text: &str, more: &[&str]| {
        fs::write(folder.join("data.csv"), text).unwrap();
        refused(&folder, &[&["fit", &scene, "data.csv"][..], more].concat())
    };
    let good = "time,body[rod].x\n0,0.17\n0.1,0.17\n";
    let nan = said("time,body[rod].x\n0,0.17\n0.1,NaN\n", &[]);
    assert_eq!(
        nan,
        "data.csv: line 3, column 2: 'NaN' in 'body[rod].x', expected a number, or an empty cell for a gap\n"
    );
    assert!(said("time,body[rud].x\n0,1\n0.1,1\n", &[]).contains("column 2: unknown body 'rud'"));
    assert!(
        said("time,body[rod].x\n0,1\n0.3,1\n", &[])
            .contains("line 3, column 1: time 0.3 s is outside the run")
    );
    assert!(
        said("time,body[rod].x\n0.1,1\n0.1,1\n", &[]).contains("line 3, column 1: time 0.1 s after 0.1 s")
    );
    assert!(said(good, &["--vary", "material[stone].friction"]).contains("stone"));
    assert!(said(good, &["--vary", "material[default].friction=1"]).contains("LOW..HIGH"));
    assert!(said(good, &["--sigma", "body[rod].y=1"]).contains("unknown column 'body[rod].y'"));
    assert!(said(good, &["--level", "95"]).contains("between 0 and 1"));
    assert!(said(good, &["--figure", "fit.jpg"]).contains("expected .svg or .png"));
    assert!(refused(&folder, &["fit", &scene, "none.csv"]).contains("none.csv"));
}

/// Ctrl-C ends a fit that takes long, with exit code 130.
#[cfg(unix)]
#[test]
fn an_interrupted_fit_ends_with_130() {
    use std::process::Stdio;
    use std::time::Duration;
    let folder: PathBuf = scratch("fit", "interrupt");
    let (scene, data) = (shipped("fit-case1.toml"), shipped("fit-case1.csv"));
    // steps of a nanosecond take far longer than this test
    let arguments = ["fit", &scene, &data, "--json", "--set", "step.scheme=theta", "--set", "step.h=1e-9"];
    let mut child = program::program(&folder, &arguments).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
