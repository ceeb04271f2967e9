//! `stiction solve`: what is known of the forces, in text and JSON; and the cone solvers by name.

use complementarity::matrix::{Matrix, dot};
use complementarity::problem::{Friction, FrictionProblem};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A table of mass 1 on legs at the places given, as an FCLIB file; speeds: z and two angles, so that only normal forces matter.
fn table(name: &str, legs: &[[f64; 2]], mu: f64) -> PathBuf {
    let mut j = Matrix::zeros(2 * legs.len(), 3);
    for (c, &[x, y]) in legs.iter().enumerate() {
        (j[(2 * c, 0)], j[(2 * c, 1)], j[(2 * c, 2)]) = (1.0, x, y);
    }
    let a = Matrix::from_fn(j.rows(), j.rows(), |r, c| dot(j.row(r), j.row(c)));
    let b = j.times(&[-1.0, 0.0, 0.0]);
    let problem = FrictionProblem::new(a, b, vec![mu; legs.len()], 2, Friction::Cone).unwrap();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    problem_files::write_friction(&path, &problem).unwrap();
    path
}

fn solve(file: &Path, options: &[&str]) -> String {
    ended(file, options, 0)
}

fn ended(file: &Path, options: &[&str], code: i32) -> String {
    let out =
        Command::new(env!("CARGO_BIN_EXE_stiction")).arg("solve").arg(file).args(options).output().unwrap();
    assert_eq!(out.status.code(), Some(code), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

const FOUR: [[f64; 2]; 4] = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];

#[test]
fn four_legs_share_the_load_in_more_than_one_way_and_the_report_says_so() {
    for solver in ["auto", "cone-interior-point", "proximal-newton"] {
        let file = table("four.hdf5", &FOUR, 0.0);
        let text = solve(&file, &["--solver", solver]);
        let rank = "rank of A 3 of 8 (singular values below 1e-9 of the largest count as zero)";
        assert!(text.contains(rank), "{text}");
        let change =
            "they can change together by +1 n at 0, -1 n at 1, +1 n at 2, -1 n at 3, or the opposite";
        assert!(text.contains(change), "{text}");
        assert!(
            text.contains("not unique: a family of dimension 1 with the same motion, at contacts 0, 1, 2, 3"),
            "{text}"
        );
        assert!(text.contains("a solution exists for every mu (trinkle1995 Theorem 1)"), "{text}");
        let value: Value = serde_json::from_str(&solve(&file, &["--solver", solver, "--json"])).unwrap();
        assert_eq!(value["known"]["forces"]["dimension"], 1);
        assert_eq!(value["known"]["forces"]["undetermined"], json!([0, 1, 2, 3]));
        assert_eq!(value["known"]["existence"], "for-this-vector");
        let basis = &value["known"]["forces"]["basis"];
        assert_eq!((basis.as_array().unwrap().len(), &basis[0]["contacts"]), (1, &json!([0, 1, 2, 3])));
        for (k, n) in [0.5, -0.5, 0.5, -0.5].into_iter().enumerate() {
            assert!((basis[0]["change"][2 * k].as_f64().unwrap() - n).abs() < 1e-12, "{basis}");
        }
        assert_eq!((&value["unsolved"], &basis[0]["one_sided"]), (&Value::Null, &json!(false)));
    }
}

#[test]
fn three_legs_carry_it_in_one_way() {
    let file = table("three.hdf5", &FOUR[..3], 0.0);
    let text = solve(&file, &["--solver", "cone-interior-point"]);
    // the load stands on the edge between two legs
    assert!(!text.contains("not unique"), "{text}");
    let file = table("tripod.hdf5", &[[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]], 0.0);
    let text = solve(&file, &["--solver", "cone-interior-point"]);
    assert!(text.contains("unique nearby"), "{text}");
}

/// A mass between two walls that both come nearer at 0.1: no forces help.
#[test]
fn a_problem_without_a_solution_is_unsolved_for_a_reason() {
    let j = Matrix::from_rows(&[&[1.0, 0.0], &[0.0, 1.0], &[-1.0, 0.0], &[0.0, 1.0]]);
    let a = Matrix::from_fn(4, 4, |r, c| dot(j.row(r), j.row(c)));
    let p = FrictionProblem::new(a, vec![-0.1, 1.0, -0.1, 1.0], vec![0.5; 2], 2, Friction::Cone).unwrap();
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("walls.hdf5");
    problem_files::write_friction(&file, &p).unwrap();
    // in the plane auto ends with Lemke and a proof
    assert!(solve(&file, &[]).contains("no solution exists"));
    let text = ended(&file, &["--solver", "gauss-seidel"], 1);
    for words in [
        "limit of iterations reached",
        "why       contact ",
        "closes at",
        "forces still grow after 256 sweeps",
        "there is no solution",
        ": contacts close at 1.0e-1 in the mean (contact 0, contact 1)",
        "try next  change the problem",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let value: Value =
        serde_json::from_str(&ended(&file, &["--solver", "gauss-seidel", "--json"], 1)).unwrap();
    let unsolved = &value["unsolved"];
    assert_eq!(unsolved["impossible"]["contacts"], json!([0, 1]));
    assert_eq!(
        (&unsolved["existence"], &unsolved["sweeps"]["kind"]),
        (&json!("not-covered"), &json!("grow"))
    );
    assert_eq!(unsolved["uncovered"], "b is not in the range of A");
    assert_eq!(unsolved["worst"][0]["kind"], "closes");
    assert!(unsolved["ended"].as_str().unwrap().contains("limit") && unsolved["advice"].is_string());
}

/// What rounding leaves of the terms of `b` is no residual: even the smallest tolerance is reached.
#[test]
fn a_residual_below_rounding_is_none() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/table.hdf5");
    let text = ended(&file, &["--solver", "gauss-seidel", "--tol", "1e-300"], 0);
    assert!(text.contains("0.00e0 relative"), "{text}");
    // its contacts stick at the surface of their cones; all six balances less than the unknowns are free all the same
    let text = solve(&file, &[]);
    assert!(text.contains("not unique: a family of dimension 6"), "{text}");
    assert!(text.contains("... and 3 more: --json"), "{text}");
}
