//! `stiction solve` as a program: exit codes, the JSON contract, error lines, the report.

use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, FrictionProblem, Lcp, MixedLcp};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn lcp(name: &str, rows: &[&[f64]], q: &[f64]) -> PathBuf {
    let path = scratch(name);
    problem_files::write_lcp(&path, &Lcp::new(Matrix::from_rows(rows), q.to_vec()).unwrap()).unwrap();
    path
}

/// `z = (4/3, 7/3)`, the only solution.
fn solvable(name: &str) -> PathBuf {
    lcp(name, &[&[2.0, 1.0], &[1.0, 2.0]], &[-5.0, -6.0])
}

/// A mass of 2 on a plane with friction 0.4, pressed by 1/2 and moved at the speeds given.
fn point_mass(name: &str, t: f64, o: f64) -> PathBuf {
    let mut file = hdf5_pure::FileBuilder::new();
    let mut root = file.create_group("fclib_local");
    root.create_dataset("spacedim").with_i32_data(&[3]);
    let mut w = root.create_group("W");
    for (part, data) in [("m", 3), ("n", 3), ("nz", -2), ("nzmax", 9)] {
        w.create_dataset(part).with_i32_data(&[data]);
    }
    w.create_dataset("p").with_i32_data(&[0, 1, 2, 3]);
    w.create_dataset("i").with_i32_data(&[0, 1, 2]);
    w.create_dataset("x").with_f64_data(&[0.5; 3]);
    root.add_group(w.finish());
    let mut vectors = root.create_group("vectors");
    vectors.create_dataset("q").with_f64_data(&[-1.0, t, o]);
    vectors.create_dataset("mu").with_f64_data(&[0.4]);
    root.add_group(vectors.finish());
    file.add_group(root.finish());
    let path = scratch(name);
    std::fs::write(&path, file.finish().unwrap()).unwrap();
    path
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(arguments).output().unwrap()
}

fn solve(file: &Path, options: &[&str]) -> Output {
    run(&[&["solve", file.to_str().unwrap()], options].concat())
}

/// Exactly one object on standard output, nothing beside it.
fn json(file: &Path, options: &[&str], code: i32) -> Value {
    let out = solve(file, &[&["--json"], options].concat());
    assert_eq!(out.status.code(), Some(code), "{out:?}");
    assert!(out.stderr.is_empty(), "{out:?}");
    let value: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(value.is_object());
    value
}

fn report(file: &Path, options: &[&str], code: i32) -> String {
    let out = solve(file, options);
    assert_eq!(out.status.code(), Some(code), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// Exit code 2, nothing on standard output, one line on standard error.
fn refused(arguments: &[&str]) -> String {
    let out = run(arguments);
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    assert!(out.stdout.is_empty(), "{out:?}");
    let text = String::from_utf8(out.stderr).unwrap();
    assert_eq!(text.matches('\n').count(), 1, "{text:?}");
    text.trim_end().strip_prefix("error: ").unwrap().to_owned()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-7)
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

const KEYS: [&str; 13] = [
    "certificate",
    "contacts",
    "file",
    "iterations",
    "known",
    "problem",
    "residual",
    "residual_cone",
    "seconds",
    "solution",
    "solver",
    "status",
    "unsolved",
];

#[test]
fn every_key_of_the_json_object_is_there() {
    let file = solvable("keys.npz");
    // whatever the outcome
    let out = solve(&file, &["--json"]);
    let value: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(keys(&value), KEYS);
    assert_eq!(keys(&value["problem"]), ["contacts", "equalities", "friction", "kind", "size"]);
    assert_eq!(keys(&value["residual"]), ["absolute", "element", "fclib_relative", "natural", "relative"]);
    assert_eq!(value["file"], file.to_str().unwrap());
    assert_eq!(value["problem"]["kind"], "lcp");
    assert_eq!(value["problem"]["size"], 2);
    assert!(value["problem"]["contacts"].is_null() && value["problem"]["friction"].is_null());
    assert!(!value["solver"].as_str().unwrap().is_empty());
    assert!(value["iterations"].is_u64());
    assert!(value["seconds"].as_f64().unwrap() >= 0.0);
    assert!(value["certificate"]["kind"].is_string());
    assert!(value["residual_cone"].is_null() && value["contacts"].is_null() && value["known"].is_null());
    assert_eq!(String::from_utf8(out.stdout).unwrap().matches('\n').count(), 1);
}

#[test]
fn small_lcp_is_solved_by_every_solver() {
    let file = solvable("solved.npz");
    for solver in ["auto", "lemke", "interior-point", "decide"] {
        let value = json(&file, &["--solver", solver], 0);
        assert_eq!(value["status"], "solved", "{solver}");
        assert!(close(&numbers(&value["solution"]), &[4.0 / 3.0, 7.0 / 3.0]), "{solver}: {value}");
        assert!(value["residual"]["relative"].as_f64().unwrap() <= 1e-8, "{solver}");
        assert!(value["residual"]["absolute"].as_f64().unwrap() <= 1e-7, "{solver}");
        assert!(value.get("solutions").is_none());
    }
}

#[test]
fn lcp_without_a_solution_is_decided() {
    let file = lcp("none.npz", &[&[-1.0]], &[-1.0]);
    let value = json(&file, &[], 0);
    assert_eq!(value["status"], "no-solution");
    assert!(value["solution"].is_null());
    assert!(value["residual"]["absolute"].is_null() && value["residual"]["relative"].is_null());
    assert_eq!(value["certificate"]["kind"], "no-solution");
    let radius = &value["certificate"]["radius"];
    assert!(radius.is_null() || radius.as_f64().unwrap() > 0.0);
    assert_eq!(numbers(&json(&file, &["--all"], 0)["solutions"]), [] as [f64; 0]);

    let text = report(&file, &[], 0);
    assert!(text.contains("no solution exists") && text.contains("proof with"), "{text}");
    assert!(!text.contains("residual "), "{text}");
}

#[test]
fn all_four_solutions_are_listed() {
    let file = lcp("four.npz", &[&[-1.0, 0.0], &[0.0, -1.0]], &[1.0, 1.0]);
    let value = json(&file, &["--all"], 0);
    assert_eq!(value["status"], "several");
    let mut points = vec![];
    for piece in value["solutions"].as_array().unwrap() {
        assert_eq!(keys(piece), ["dimension", "point", "residual", "unbounded", "w_support", "z_support"]);
        assert_eq!((&piece["dimension"], &piece["unbounded"]), (&Value::from(0), &Value::from(false)));
        points.push(numbers(&piece["point"]).iter().map(|x| x.round() as i64).collect::<Vec<_>>());
    }
    points.sort();
    assert_eq!(points, [[0, 0], [0, 1], [1, 0], [1, 1]]);
    assert_eq!(value["certificate"]["complete"], true);
    assert_eq!(value["certificate"]["kind"], "solutions");

    let text = report(&file, &["--all"], 0);
    assert!(text.contains("4 pieces; there are no others"), "{text}");
    assert!(text.contains("z > 0 at {0, 1}"), "{text}");
}

#[test]
fn mixed_lcp_is_solved() {
    // z0 + z1 = 3 with z0 free, w1 = z1 - z0 + 1
    let m = Matrix::from_rows(&[&[1.0, 1.0], &[-1.0, 1.0]]);
    let path = scratch("mixed.npz");
    problem_files::write_mixed(&path, &MixedLcp::new(m, vec![-3.0, 1.0], vec![false, true]).unwrap())
        .unwrap();
    let value = json(&path, &[], 0);
    assert_eq!(value["problem"]["kind"], "mixed-lcp");
    assert_eq!(value["problem"]["equalities"], 1);
    assert_eq!(value["status"], "solved");
    assert!(close(&numbers(&value["solution"]), &[2.0, 1.0]), "{value}");
}

/// examples/make.py: the clutch slips at its limit, the brake holds: velocities 0 and 3 - h 3 / 0.1, moments 1 + 3 and 3.
#[test]
fn a_boxed_mixed_lcp_is_solved_by_every_method() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/brake.npz");
    for method in ["auto", "lemke", "interior-point", "decide"] {
        let value = json(&file, &["--solver", method], 0);
        assert_eq!(
            (&value["problem"]["kind"], &value["problem"]["equalities"]),
            (&"boxed-lcp".into(), &2.into())
        );
        assert_eq!(value["status"], "solved", "{method}");
        assert!(close(&numbers(&value["solution"]), &[0.0, 2.7, 4.0, 3.0]), "{value}");
    }
    let text = report(&file, &[], 0);
    assert!(text.contains("boxed mixed LCP, 4 rows: 2 free, 0 with one bound, 2 with two"), "{text}");
}

#[test]
fn point_mass_sticks_below_the_friction_limit() {
    let file = point_mass("stick.hdf5", 0.3, 0.0);
    let value = json(&file, &[], 0);
    assert_eq!(value["status"], "solved");
    let problem = &value["problem"];
    assert_eq!((&problem["kind"], &problem["size"]), (&Value::from("friction"), &Value::from(3)));
    assert_eq!((&problem["contacts"], &problem["friction"]), (&Value::from(1), &Value::from("cone")));
    assert!(close(&numbers(&value["solution"]), &[2.0, -0.6, 0.0]), "{value}");
    assert!(value["residual_cone"]["relative"].as_f64().unwrap() < 1e-8);
    assert_eq!(value["contacts"], serde_json::json!({ "open": 0, "stick": 1, "slip": 0 }));

    let text = report(&file, &[], 0);
    assert!(
        text.contains("1 contact of 3 rows, 3 rows in all") && text.contains("0 open, 1 stick, 0 slip"),
        "{text}"
    );
    assert!(text.contains("Coulomb's cone") && text.contains("solved: gauss-seidel, 1 sweep"), "{text}");
    let text = report(&file, &["--friction", "pyramid"], 0);
    assert!(text.contains("solves the cone problem too"), "{text}");
}

/// Sliding along the diagonal the pyramid allows more friction than the cone, and the answer says so.
#[test]
fn pyramid_answer_is_not_passed_off_as_a_cone_answer() {
    let file = point_mass("slip.hdf5", 0.8, 0.8);
    let value = json(&file, &["--friction", "pyramid"], 0);
    assert!(close(&numbers(&value["solution"]), &[2.0, -0.8, -0.8]), "{value}");
    assert!(value["residual"]["relative"].as_f64().unwrap() < 1e-8);
    assert!(value["residual_cone"]["relative"].as_f64().unwrap() > 1e-2);
    assert_eq!(value["contacts"]["slip"], 1);
    assert!(report(&file, &["--friction", "pyramid"], 0).contains("not a solution of the cone problem"));

    // the octagon has a corner on the diagonal
    let value = json(&file, &["--friction", "polygon:8"], 0);
    assert_eq!(value["problem"]["friction"], "polygon:8");
    assert!(value["residual_cone"]["relative"].as_f64().unwrap() < 1e-8, "{value}");

    // and the cone itself, by every solver that knows it
    let most = ["auto", "gauss-seidel", "gauss_seidel", "newton", "proximal-newton", "exact-proximal"];
    for solver in most.into_iter().chain(["admm", "cone-interior-point", "interior-point"]) {
        let value = json(&file, &["--solver", solver], 0);
        let half = -0.8 * 0.5f64.sqrt();
        assert!(close(&numbers(&value["solution"]), &[2.0, half, half]), "{solver}: {value}");
        assert_eq!(value["problem"]["friction"], "cone");
    }
    let value = json(&file, &["--solver", "interior-point", "--friction", "pyramid"], 0);
    assert!(close(&numbers(&value["solution"]), &[2.0, -0.8, -0.8]), "{value}");
}

#[test]
fn problems_without_rows_are_solved() {
    let file = lcp("empty.npz", &[], &[]);
    for options in [&[][..], &["--all"], &["--solver", "interior-point"]] {
        let value = json(&file, options, 0);
        assert_eq!((&value["status"], &value["solution"]), (&Value::from("solved"), &serde_json::json!([])));
    }
}

#[test]
fn numbers_survive_the_way_through_json() {
    let file = lcp("digits.npz", &[&[3.0]], &[-0.1]);
    let value = json(&file, &["--solver", "lemke"], 0);
    let z = numbers(&value["solution"])[0];
    assert!((z - 0.1 / 3.0).abs() <= f64::EPSILON * z, "{z:?}");
}

#[test]
fn search_cut_short_exits_with_1() {
    let file = lcp("cut.npz", &[&[-1.0, 0.0], &[0.0, -1.0]], &[1.0, 1.0]);
    let value = json(&file, &["--all", "--limit", "1"], 1);
    assert_eq!(value["status"], "undecided");
    assert!(value["solutions"].is_null() || value["certificate"]["complete"] == false, "{value}");
    let text = report(&file, &["--all", "--limit", "1"], 1);
    assert!(text.contains("try next  --solver decide --all --limit 1000000"), "{text}");
}

#[test]
fn lemke_alone_does_not_decide_insolubility() {
    let file = lcp("ray.npz", &[&[-1.0]], &[-1.0]);
    let value = json(&file, &["--solver", "lemke"], 1);
    assert!(["stalled", "undecided"].contains(&value["status"].as_str().unwrap()), "{value}");
    let text = report(&file, &["--solver", "lemke"], 1);
    assert!(text.contains("try next") && text.contains("--solver decide"), "{text}");
}

#[test]
fn report_says_what_was_read_and_how_it_went() {
    let text = report(&solvable("report.npz"), &[], 0);
    for word in ["LCP, 2 rows", "outcome   solved", "residual ", "evidence ", "solution  1.333333, 2.333333"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    let quiet = report(&solvable("quiet.npz"), &["--quiet"], 0);
    assert!(quiet.starts_with("solved: ") && quiet.matches('\n').count() == 1, "{quiet}");
}

/// Two masses of 2 on a plane, pressed by 1/2 and pushed along (4, 2): the square's force is at its corner, the disc's against the push.
#[test]
fn a_file_may_give_each_contact_its_friction_set() {
    let path = scratch("mixed.hdf5");
    let a = Matrix::from_fn(6, 6, |i, j| if i == j { 0.5 } else { 0.0 });
    let b = vec![-1.0, 4.0, 2.0, -1.0, 4.0, 2.0];
    let p = FrictionProblem::new(a, b, vec![0.4; 2], 3, Friction::Cone).unwrap();
    let sets = vec![Friction::Pyramid, Friction::Cone];
    problem_files::write_friction(&path, &p.with_frictions(sets).unwrap()).unwrap();
    let forces = |options: &[&str]| -> Vec<f64> {
        let found = json(&path, options, 0);
        assert_eq!(found["status"], "solved");
        found["solution"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let (square, disc) = ([2.0, -0.8, -0.8], [2.0, -1.6 / 5f64.sqrt(), -0.8 / 5f64.sqrt()]);
    let near = |found: &[f64], first: [f64; 3], second: [f64; 3]| {
        assert!(
            found.iter().zip(first.iter().chain(&second)).all(|(x, y)| (x - y).abs() < 1e-6),
            "{found:?}"
        );
    };
    let cone = ["auto", "gauss-seidel", "newton", "proximal-newton", "exact-proximal", "admm"];
    for solver in cone.into_iter().chain(["cone-interior-point", "interior-point"]) {
        near(&forces(&["--solver", solver]), square, disc);
        near(&forces(&["--solver", solver, "--friction", "pyramid"]), square, square);
        near(&forces(&["--solver", solver, "--friction", "cone"]), disc, disc);
    }
    let found = json(&path, &[], 0);
    assert_eq!(found["problem"]["friction"], "mixed");
    assert_eq!(found["problem"]["sets"], serde_json::json!(["pyramid", "cone"]));
    let said = String::from_utf8(solve(&path, &[]).stdout).unwrap();
    assert!(said.contains("mixed friction sets (1 cone, 1 pyramid)"), "{said}");
    let line = refused(&["solve", path.to_str().unwrap(), "--all"]);
    assert!(line.contains("contact 1 has circular or elliptic friction: --all"), "{line}");
    near(&forces(&["--friction", "pyramid", "--all"]), square, square);
}

#[test]
fn bad_files_are_one_line_and_exit_code_2() {
    let absent = scratch("absent.npz");
    for options in [&[][..], &["--json"], &["--quiet"]] {
        let line = refused(&[&["solve", absent.to_str().unwrap()], options].concat());
        assert!(line.starts_with(&format!("{}: No such file", absent.display())), "{line}");
    }
    let noise = scratch("noise.npz");
    std::fs::write(&noise, b"not a problem").unwrap();
    let line = refused(&["solve", noise.to_str().unwrap(), "--json"]);
    assert!(line.ends_with("expected a NumPy archive (.npz) or an FCLIB file (HDF5)"), "{line}");
}

#[test]
fn wrong_command_lines_are_one_line_and_exit_code_2() {
    let plain = solvable("options.npz");
    let lcp = plain.to_str().unwrap();
    let friction = point_mass("options.hdf5", 0.0, 0.0);
    let friction = friction.to_str().unwrap();
    let one = |arguments: &[&str], expected: &str| {
        let line = refused(arguments);
        assert!(line.contains(expected), "{line}");
    };
    one(&["solve", lcp, "--friction", "pyramid"], "--friction is for friction problems, this is an LCP");
    one(&["solve", lcp, "--all", "--solver", "lemke"], "--all needs --solver auto or decide");
    one(&["solve", lcp, "--all", "--solver", "interior-point"], "--all needs --solver auto or decide");
    one(&["solve", friction, "--friction", "polygon:5"], "polygon sides = 5, expected an even number");
    one(&["solve", friction, "--friction", "disc"], "expected cone, pyramid, or polygon:K");
    one(
        &["solve", friction, "--friction", "cone", "--solver", "lemke"],
        "--friction cone needs --solver auto",
    );
    one(&["solve", lcp, "--solver", "newton"], "this --solver is for friction problems, this is an LCP");
    one(&["solve", lcp, "--tol", "0"], "expected a positive number");
    one(&["solve", lcp, "--tol", "-1"], "expected a positive number");
    one(&["solve", lcp, "--limit", "0"], "expected a number of at least 1");
    one(&["solve", lcp, "--solver", "magic"], "possible values: auto, lemke, interior-point, decide");
    one(&["solve", lcp, "--fast"], "unexpected argument '--fast'");
    one(&["solve"], "<FILE>");
    one(&[], "requires a subcommand");
    one(&["dance"], "unrecognized subcommand 'dance'");
}

#[test]
fn help_goes_to_standard_output() {
    for arguments in [&["--help"][..], &["solve", "--help"], &["--version"]] {
        let out = run(arguments);
        assert_eq!(out.status.code(), Some(0));
        assert!(!out.stdout.is_empty() && out.stderr.is_empty());
    }
    let help = String::from_utf8(run(&["solve", "--help"]).stdout).unwrap();
    for option in ["--json", "--solver", "--tol", "--friction", "--all", "--limit", "--quiet"] {
        assert!(help.contains(option), "{option}");
    }
}

/// An LCP of 100 pairs with entries from a simple generator: the tree has many thousands of nodes.
#[cfg(unix)]
fn endless(name: &str) -> PathBuf {
    let (n, mut x) = (100, 1u64);
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 11) as f64 / (1u64 << 53) as f64
    };
    let m = Matrix::from_fn(n, n, |_, _| 2.0 * next() - 0.95);
    let q = (0..n).map(|_| -next()).collect();
    let path = scratch(name);
    problem_files::write_lcp(&path, &Lcp::new(m, q).unwrap()).unwrap();
    path
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_solve_in_order() {
    use std::time::{Duration, Instant};
    let file = endless("endless.npz");
    for (signal, code, options) in
        [("-INT", 130, &["--json", "--solver", "decide"][..]), ("-TERM", 143, &["--json", "--all"])]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stiction"));
        command.args(["solve", file.to_str().unwrap(), "--limit", "100000000"]).args(options);
        let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let sent = Instant::now();
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let out = child.wait_with_output().unwrap();
        assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
        assert_eq!(out.status.code(), Some(code));
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(
            (&report["status"], &report["certificate"]["end"]),
            (&"undecided".into(), &"interrupted".into())
        );
    }
}
