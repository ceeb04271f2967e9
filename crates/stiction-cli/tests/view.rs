//! `stiction report` and `stiction render`, and what `view` refuses. The page itself is tested in a browser: `scripts/test-viewer`.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("view-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn stiction(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).current_dir(folder).args(arguments).output().unwrap()
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = stiction(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = stiction(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Twenty boxes and balls fall into a heap for ten seconds.
fn twenty() -> String {
    let mut text =
        "[[material]]\nname = 'default'\nfriction = 0.4\n[[world]]\nname = 'ground'\nshape = 'half_space'\n"
            .to_owned();
    for k in 0..20 {
        let shape = ["{ box = { half = [0.1, 0.08, 0.06] } }", "{ sphere = { radius = 0.08 } }"][k % 2];
        let (x, y, z) = (0.05 * (k % 3) as f64, 0.04 * (k % 5) as f64, 0.2 + 0.18 * k as f64);
        text +=
            &format!("[[body]]\nname = 'body {k}'\nshape = {shape}\nmass = 1\nposition = [{x}, {y}, {z}]\n");
    }
    text + "[step]\nh = 2e-3\nduration = 10\nsolver = 'auto'\n"
}

#[test]
fn a_report_of_ten_seconds_and_twenty_bodies_is_below_five_megabytes() {
    let folder = scratch("report");
    fs::write(folder.join("twenty.toml"), twenty()).unwrap();
    // every step is recorded
    done(&folder, &["run", "twenty.toml", "--quiet", "--set", "record.interval=2e-3"]);
    let said = done(&folder, &["report", "twenty.recording", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    let bytes = fs::metadata(folder.join("twenty.html")).unwrap().len();
    assert_eq!(report["bytes"].as_u64(), Some(bytes));
    assert!(bytes < 5_000_000, "{bytes}");
    let text = fs::read_to_string(folder.join("twenty.html")).unwrap();
    // it is one file: nothing is loaded from elsewhere
    for word in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!text.contains(word), "{word}");
    }
    let said = refused(&folder, &["report", "twenty.recording"]);
    assert!(said.contains("twenty.html: there is a file already (--force replaces it"), "{said}");
    done(&folder, &["report", "twenty.recording", "--force"]);
}

/// Width, height, number of frames of an animation and the pixels of the first image.
fn read_png(file: &Path) -> (u32, u32, Option<u32>, Vec<u8>) {
    let bytes = fs::read(file).unwrap();
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(bytes[..8], [0x89, b'P', b'N', b'G', 13, 10, 26, 10]);
    let (mut at, mut frames) = (8, None);
    let mut last = *b"    ";
    while at + 8 <= bytes.len() {
        last.copy_from_slice(&bytes[at + 4..at + 8]);
        if &last == b"acTL" {
            frames = Some(word(at + 8));
        }
        at += 12 + word(at) as usize;
    }
    assert_eq!((&last, at), (b"IEND", bytes.len()));
    (word(16), word(20), frames, bytes)
}

#[test]
fn images_and_animations_are_drawn_without_a_browser() {
    let folder = scratch("render");
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/bounce.toml");
    done(&folder, &["run", scene.to_str().unwrap(), "--quiet", "--duration", "1"]);
    let said = done(&folder, &["render", "bounce.recording", "--at", "0.5", "--size", "320x200"]);
    assert_eq!(said, "image     bounce.png, 320 x 200, 1 frame\n");
    let (width, height, frames, still) = read_png(&folder.join("bounce.png"));
    assert_eq!((width, height, frames), (320, 200, None));
    let args = [
        "render",
        "bounce.recording",
        "--to",
        "0.5",
        "--fps",
        "10",
        "--size",
        "160x100",
        "--out",
        "moving.png",
    ];
    done(&folder, &args);
    let (width, height, frames, _) = read_png(&folder.join("moving.png"));
    assert_eq!((width, height, frames), (160, 100, Some(6)));
    // the same twice; other at another time and on dark
    for (arguments, same) in [
        (["--at", "0.5", "--theme", "light"], true),
        (["--at", "0.1", "--theme", "light"], false),
        (["--at", "0.5", "--theme", "dark"], false),
    ] {
        let out = ["render", "bounce.recording", "--size", "320x200", "--out", "other.png", "--force"];
        done(&folder, &[&out[..], &arguments[..]].concat());
        assert_eq!(read_png(&folder.join("other.png")).3 == still, same, "{arguments:?}");
    }
    for (arguments, words) in [
        (vec!["--at", "7"], "the recording is from 0 s to 1 s, not at 7 s"),
        (vec!["--from", "3"], "nothing is recorded from 3 s to 1 s"),
        (vec!["--size", "9x9"], "expected WIDTHxHEIGHT"),
        (vec!["--at", "0.5"], "there is a file already"),
    ] {
        let said = refused(&folder, &[&["render", "bounce.recording"][..], &arguments].concat());
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn what_cannot_be_shown_is_refused_in_words() {
    let folder = scratch("refused");
    fs::write(folder.join("wrong.toml"), "[[body]]\nnme = 'a'\n").unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    fs::write(folder.join("right.toml"), "[[body]]\nname = 'a'\nmass = 1\ninertia = [1, 1, 1]\n").unwrap();
    for (arguments, words) in [
        (vec!["view", "wrong.toml"], "nme"),
        (vec!["view", "nothing.toml"], "nothing.toml"),
        (vec!["view", "empty"], "no recording"),
        (vec!["report", "empty"], "no recording"),
        (vec!["render", "empty"], "no recording"),
        (vec!["view", "empty", "--set", "step.h=1"], "a recording is not run again"),
        (vec!["view", "right.toml", "--port", &port], "without --port a free one is taken"),
        (vec!["view", "right.toml", "--speed", "-1"], "expected a number of at least 0"),
    ] {
        let said = refused(&folder, &arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// Runs commands of the documentation in a folder, with scenes of the project; `view` is ended once it has printed its address.
fn follow(folder: &Path, root: &Path, lines: &[String]) {
    for line in lines {
        let command = line.split('#').next().unwrap().trim();
        let scenes = format!("{}/scenes/", root.display());
        let arguments: Vec<String> = command
            .split_whitespace()
            .skip(1)
            .map(|a| a.replace("scenes/", &scenes).replace('"', ""))
            .collect();
        if arguments[0] != "view" {
            done(folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
            continue;
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .current_dir(folder)
            .args(&arguments)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let read = std::io::BufRead::read_line(
            &mut std::io::BufReader::new(child.stdout.take().unwrap()),
            &mut address,
        );
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(read.unwrap() > 0 && address.starts_with("http://127.0.0.1:"), "{line}: {address}");
    }
}

/// Every command of docs/first-hour.md, on the scene that it shows.
#[test]
fn the_first_hour_works() {
    let folder = scratch("first-hour");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/first-hour.md")).unwrap();
    let block = |kind: &str| {
        let fence = format!("```{kind}\n");
        let blocks = text.split(&fence).skip(1);
        blocks.map(|b| b.split("```").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    fs::write(folder.join("brick.toml"), &block("toml")[0]).unwrap();
    let commands = block("sh").concat();
    let lines: Vec<String> = commands.lines().map(str::to_owned).collect();
    assert!(lines.len() >= 9, "{lines:?}");
    follow(&folder, &root, &lines);
    for file in ["brick.html", "brick.png", "brick.recording/figures/forces.png", "rough.recording"] {
        assert!(folder.join(file).exists(), "{file}");
    }
}

/// The commands of docs/view.md and those of the README that view, in their order; `view` is ended once it has printed its address.
#[test]
fn the_commands_of_the_documentation_work() {
    let folder = scratch("docs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (guide, readme) = (root.join("docs/view.md"), root.join("README.md"));
    let text = fs::read_to_string(guide).unwrap();
    let block = text.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let readme = fs::read_to_string(readme).unwrap();
    let of_readme = readme.lines().filter_map(|l| l.strip_prefix("cargo run --release -- "));
    let view = of_readme.filter(|l| l.starts_with("view scenes/")).map(|l| format!("stiction {l}"));
    let lines: Vec<String> = block.lines().map(str::to_owned).chain(view).collect();
    assert!(lines.len() > 6, "{lines:?}");
    follow(&folder, &root, &lines);
    for file in ["heap.html", "heap.png", "heap-moves.png"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
}
