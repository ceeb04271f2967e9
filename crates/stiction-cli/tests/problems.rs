//! What `stiction run` says of contact forces, and the contact problems that it writes.

use crate::program;

use complementarity::residual;
use problem_files::Problem;
use program::{done, refused, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn scene(name: &str) -> String {
    format!("{}/../../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(folder, arguments, 0)).unwrap()
}

/// Forces of the contacts table at a time, contact by contact.
fn recorded_forces(recording: &Path, time: f64) -> Vec<f64> {
    let text = fs::read_to_string(recording.join("contacts.csv")).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at = header.iter().position(|h| *h == "force_n").unwrap();
    let rows = text.lines().skip(1).map(|l| l.split(',').collect::<Vec<_>>());
    rows.filter(|r| (r[0].parse::<f64>().unwrap() - time).abs() < 1e-9)
        .flat_map(|r| [at, at + 1, at + 2].map(|k| r[k].parse().unwrap()))
        .collect()
}

#[test]
fn moments_of_friction_have_no_place_in_fclib_files_but_it_is_asked_whether_they_are_unique() {
    let folder = scratch("problems", "moments");
    let spinning = scene("spinning-sphere");
    let said = refused(&folder, &["run", &spinning, "--dump-problems", "1", "--out", "a"]);
    assert!(
        said.contains("torsion or rolling friction, and FCLIB's files have no rows for moments"),
        "{said}"
    );
    assert!(!folder.join("a").exists());
    let told = json(&folder, &["run", &spinning, "--json", "--duration", "0.01"]);
    assert_eq!((&told["forces"]["freedom"], &told["forces"]["elements"]), (&0.into(), &1.into()), "{told}");
}

/// Recordings have t near x whatever the grain: the box that slides along a grain at 30 degrees has friction against that. The dumped problems have
/// ellipses, and are solved.
#[test]
fn recordings_of_a_grain_are_in_the_frame_without_it_and_its_problems_have_ellipses() {
    let folder = scratch("problems", "grain");
    let run = [
        "run",
        &scene("grain"),
        "--csv",
        "--out",
        "g",
        "--duration",
        "0.1",
        "--dump-problems",
        "1",
        "--json",
    ];
    let told = json(&folder, &run);
    // four elements a box, the turned one last
    let forces = recorded_forces(&folder.join("g"), 0.1);
    let turned: Vec<f64> = (0..3).map(|k| forces[36 + k..].iter().step_by(3).sum()).collect();
    let (sin, cos) = 30f64.to_radians().sin_cos();
    let limit = 0.3 * turned[0];
    assert!((turned[1] + limit * cos).abs().max((turned[2] + limit * sin).abs()) < 1e-6, "{turned:?}");
    let file = told["problems"][0]["file"].as_str().unwrap();
    let solved = json(&folder, &["solve", file, "--json"]);
    assert_eq!((&solved["status"], &solved["problem"]["friction"]), (&"solved".into(), &"ellipsoid".into()));
}

#[test]
fn a_dumped_problem_is_solved_by_the_recorded_forces_and_by_solve() {
    let folder = scratch("problems", "table");
    // rigid, and compliant with every step on record
    for (name, theta) in [("four-legged-table", "0"), ("four-legged-table-elastic", "0.5")] {
        let text = fs::read_to_string(scene(name)).unwrap();
        let text = text.split("[record]").next().unwrap().split("[step]").next().unwrap().to_owned();
        let every = format!("[step]\nh = 1e-3\nexplicit_share = {theta}\n[record]\ninterval = 1e-3\n");
        fs::write(folder.join("scene.toml"), text + &every).unwrap();
        let run = ["run", "scene.toml", "--csv", "--json", "--duration", "0.05", "--dump-problems", "3"];
        let told = json(&folder, &[&run[..], &["--out", name]].concat());
        let problems = told["problems"].as_array().unwrap();
        assert_eq!(problems.len(), 3, "{told}");
        let work: Vec<u64> = problems.iter().map(|p| p["iterations"].as_u64().unwrap()).collect();
        assert!(work.is_sorted_by(|a, b| a >= b), "{work:?}");
        for p in problems {
            let file = p["file"].as_str().unwrap();
            let Problem::Friction(problem) = problem_files::read(&folder.join(file)).unwrap() else {
                panic!("a friction problem")
            };
            let forces = recorded_forces(&folder.join(name), p["time"].as_f64().unwrap());
            let found = residual::friction(&problem, &forces).relative;
            let told = p["residual"].as_f64().unwrap();
            // implicit forces solve several times a step; the worst residual is told, and the last problem is on file
            assert!(found <= 1e-10 && found <= told + 1e-12, "{file}: {found:e}, told {told:e}");
            let solved = json(&folder, &["solve", file, "--json"]);
            assert_eq!(solved["status"], "solved", "{file}");
            assert!(solved["residual"]["relative"].as_f64().unwrap() <= 1e-8);
        }
    }
}

#[test]
fn a_dump_says_where_it_comes_from_and_replaces_the_one_before() {
    let folder = scratch("problems", "info");
    let ball = scene("sphere-on-plane");
    let run = |n: &str| {
        let arguments = ["run", &ball, "--out", "r", "--force", "--duration", "0.02", "--dump-problems", n];
        let said = done(&folder, &arguments, 0);
        assert!(said.contains(&format!("\nproblems   the {n} hardest written, the hardest is r")), "{said}");
        let files = fs::read_dir(folder.join("r/problems")).unwrap();
        files.map(|f| f.unwrap().path()).collect::<Vec<PathBuf>>()
    };
    assert_eq!(run("4").len(), 4);
    let files = run("1");
    assert_eq!(files.len(), 1);
    let file = hdf5_pure::File::from_bytes(fs::read(&files[0]).unwrap()).unwrap();
    let words = |name: &str| {
        file.dataset(&format!("fclib_local/info/{name}")).unwrap().read_string().unwrap().join("")
    };
    assert!(words("title").starts_with("sphere-on-plane, t = 0.0"), "{}", words("title"));
    let about = words("description");
    assert!(about.contains("Coulomb's cone") && about.contains("relative residual"), "{about}");
    // without the option nothing of an earlier run stays
    done(&folder, &["run", &ball, "--out", "r", "--force", "--duration", "0.02"], 0);
    assert!(!folder.join("r/problems").exists());
}

#[test]
fn a_rigid_table_is_said_to_have_forces_that_are_not_unique_and_a_ball_not() {
    let folder = scratch("problems", "unique");
    let run = |name: &str| done(&folder, &["run", &scene(name), "--out", name, "--duration", "0.05"], 0);
    let said = run("four-legged-table");
    let line = " at the end: forces not unique in 6 dimensions, 4 of 4 normal forces\n";
    assert!(said.contains(line), "{said}");
    assert!(run("sphere-on-plane").contains(" at the end: forces unique\n"));
    assert!(!run("pendulum").contains("at the end: forces"));
    let ball = ["run", &scene("four-legged-table"), "--out", "j", "--duration", "0.05", "--json"];
    let expected = serde_json::json!({"freedom": 6, "freedom_at_most": 6, "elements": 4, "undetermined": 4, "undetermined_normal": 4});
    assert_eq!(json(&folder, &ball)["forces"], expected);
    let many = ["run", &scene("balls-200"), "--out", "m", "--duration", "0.005", "--json"];
    let many = json(&folder, &many);
    assert!(many["forces"]["unknown"].is_string() || many["forces"]["freedom"].is_u64(), "{many}");
}
