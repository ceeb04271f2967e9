//! `stiction plot` as a program: figures as files.

use crate::program;

use program::{SLIDING, done, refused, scratch as scratch_in};
use std::fs;
use std::path::{Path, PathBuf};

const PATCH: &str = r#"
[[material]]
name = "rubber"
friction = 0.5
young = 1e7
poisson = 0.3
law = { half_space = { elements = 3, spacing = 1e-3, damping = { proportional = { time = 1e-3 } } } }

[[world]]
name = "ground"
shape = "half_space"
material = "rubber"

[[body]]
name = "ball"
shape = { sphere = { radius = 0.1 } }
material = "rubber"
mass = 1
position = [0, 0, 0.1]
velocity = [0.1, 0, 0]

[step]
h = 1e-3
duration = 0.05
"#;

/// A recording of the sliding ball.
fn recorded(name: &str) -> PathBuf {
    let folder = scratch_in("plot", name);
    fs::write(folder.join("slide.toml"), SLIDING).unwrap();
    done(&folder, &["run", "slide.toml", "--quiet"], 0);
    folder
}

fn svg(folder: &Path, name: &str) -> String {
    let text = fs::read_to_string(folder.join(format!("{name}.svg"))).unwrap();
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
    text
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(&format!(">{word}</text>")), "{word} in {text}");
    }
}

#[test]
fn figures_of_a_recording_are_pictures() {
    let folder = recorded("png");
    let said = done(&folder, &["plot", "slide.recording"], 0);
    for name in ["positions", "velocities", "forces", "totals", "status", "energy"] {
        assert!(said.contains(&format!("figure    slide.recording/figures/{name}.png\n")), "{said}");
        let png = fs::read(folder.join("slide.recording/figures").join(format!("{name}.png"))).unwrap();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert!(size(16) > 1000 && size(20) > 200 && png.len() > 5000, "{name}");
        assert_eq!(png[png.len() - 8..png.len() - 4], *b"IEND");
    }
    // a ball on one point has no patch
    assert_eq!(said.lines().count(), 6);
}

#[test]
fn figures_name_axes_units_and_bodies() {
    let folder = recorded("svg");
    done(&folder, &["plot", "slide.recording", "--format", "svg", "--out", "f"], 0);
    let f = folder.join("f");
    let all = ["time, s", "ball, red"];
    says(&svg(&f, "positions"), &[&all[..], &["slide: positions", "x, m", "turn from start, °"]].concat());
    says(&svg(&f, "velocities"), &[&all[..], &["velocity x, m/s", "turning, rad/s"]].concat());
    // the ball slides along t: friction has no other component
    says(&svg(&f, "forces"), &["normal force, N", "friction, N", "friction / normal", "ground/ball, red"]);
    says(&svg(&f, "totals"), &["normal force, N", "ground/ball, red"]);
    says(&svg(&f, "status"), &["stick", "slip", "open", "ground/ball, red"]);
    says(&svg(&f, "energy"), &["kinetic", "lost to friction", "sum"]);
}

/// A ball that a load pushes through empty space: what it gains is work, and the balance stays.
#[test]
fn the_work_of_loads_is_no_change_of_the_balance() {
    let folder = scratch_in("plot", "work");
    let scene = "gravity = [0, 0, 0]\n[[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = { radius = 0.1 } }\n\
                 [[load]]\nbody = \"ball\"\nforce = { constant = [50, 0, 0] }\n[step]\nduration = 0.1\n\
                 explicit_share = 0.5\n";
    fs::write(folder.join("push.toml"), scene).unwrap();
    done(&folder, &["run", "push.toml", "--quiet"], 0);
    done(&folder, &["plot", "push.recording", "--format", "svg", "--what", "energy", "--out", "f"], 0);
    let text = svg(&folder.join("f"), "energy");
    says(&text, &["work of loads, motors", "sum, less work"]);
    // 12.5 J of work, and a change of the sum by rounding alone
    says(&text, &["energy, J", "change of sum, J"]);
}

#[test]
fn a_window_of_time_and_both_formats() {
    let folder = recorded("window");
    let arguments =
        ["--format", "svg", "--format", "png", "--what", "totals,status", "--from", "0.1", "--to", "0.16"];
    let said = done(&folder, &[&["plot", "slide.recording", "--out", "f"], &arguments[..]].concat(), 0);
    assert_eq!(said.lines().count(), 4);
    for name in ["totals", "status"] {
        let text = svg(&folder.join("f"), name);
        says(&text, &["0.10", "0.16"]);
        assert!(!text.contains(">0.20</text>"));
    }
}

#[test]
fn recordings_are_compared_in_one_figure() {
    let folder = recorded("compare");
    done(&folder, &["run", "slide.toml", "--quiet", "--csv", "--out", "second.recording"], 0);
    let both = ["plot", "slide.recording", "second.recording", "--format", "svg"];
    done(&folder, &both, 0);
    for name in ["positions", "forces", "totals", "energy"] {
        says(&svg(&folder.join("figures"), name), &["slide", "second"]);
    }
    says(&svg(&folder.join("figures"), "status"), &["slide: ground/ball, red", "second: ground/ball, red"]);
    done(&folder, &[&both[..], &["--label", "A <old>,B & C"]].concat(), 0);
    says(&svg(&folder.join("figures"), "positions"), &["A &lt;old&gt;", "B &amp; C"]);
}

#[test]
fn a_patch_is_mapped_at_a_time() {
    let folder = scratch_in("plot", "patch");
    fs::write(folder.join("patch.toml"), PATCH).unwrap();
    done(&folder, &["run", "patch.toml", "--quiet"], 0);
    let plot = ["plot", "patch.recording", "--format", "svg", "--what", "patch", "--out", "f"];
    done(&folder, &plot, 0);
    let text = svg(&folder.join("f"), "patch");
    says(&text, &["ground/ball at t = 0.050000 s", "t, mm", "o, mm", "stick", "slip", "open"]);
    assert!(text.contains(">pressure, ") && text.contains(">friction, "), "{text}");
    // 25 elements are too many for lines: left out unless asked for by name
    fs::write(folder.join("large.toml"), PATCH.replace("elements = 3", "elements = 5")).unwrap();
    done(&folder, &["run", "large.toml", "--quiet"], 0);
    let said = done(&folder, &["plot", "large.recording"], 0);
    assert_eq!(said.matches("figure ").count(), 6, "{said}");
    assert!(said.contains("\nleft out  forces: 25 elements are too many for lines, at most 24"), "{said}");
    assert!(refused(&folder, &["plot", "large.recording", "--what", "forces"]).contains("too many"));
    done(&folder, &[&plot[..], &["--at", "0.021"]].concat(), 0);
    says(&svg(&folder.join("f"), "patch"), &["ground/ball at t = 0.020000 s"]);
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let folder = recorded("wrong");
    let said = |arguments: &[&str]| refused(&folder, &[&["plot"], arguments].concat());
    assert!(said(&["none"]).starts_with("error: none: "));
    let unknown = |option: &str, name: &str| said(&["slide.recording", option, name]);
    assert_eq!(unknown("--body", "moon"), "error: --body: unknown body 'moon', expected one of ball, red\n");
    assert_eq!(
        unknown("--body", "ball, rad"),
        "error: --body: unknown body 'ball, rad', did you mean 'ball, red'?\n"
    );
    assert_eq!(
        unknown("--contact", "ground/bal, red"),
        "error: --contact: unknown contact 'ground/bal, red', did you mean 'ground/ball, red'?\n"
    );
    assert!(said(&["slide.recording", "--from", "9"]).contains("nothing to draw"));
    assert!(said(&["slide.recording", "--from", "2", "--to", "1"]).contains("--from 2 is not before --to 1"));
    assert!(said(&["slide.recording", "--what", "patch"]).contains("side by side"));
    assert!(said(&["slide.recording", "--label", "a,b"]).contains("2 names for 1 recordings"));
    assert!(said(&["slide.recording", "--what", "tea"]).contains("tea"));
    let text = format!("{SLIDING}[record]\ntables = [\"events\"]\n");
    fs::write(folder.join("events.toml"), text).unwrap();
    done(&folder, &["run", "events.toml", "--quiet"], 0);
    assert!(said(&["events.recording", "--what", "energy"]).contains("events.recording: no table \"steps\""));
    // what there is, is drawn
    assert_eq!(
        done(&folder, &["plot", "events.recording"], 0),
        "figure    events.recording/figures/status.png\n"
    );
}
