//! `stiction solve`: what is known of the forces, in text and JSON; and the cone solvers by name.
#![allow(clippy::unwrap_used, reason = "tests")]

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
    let out =
        Command::new(env!("CARGO_BIN_EXE_stiction")).arg("solve").arg(file).args(options).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

const FOUR: [[f64; 2]; 4] = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];

#[test]
fn four_legs_share_the_load_in_more_than_one_way_and_the_report_says_so() {
    for solver in ["auto", "cone-interior-point", "admm"] {
        let file = table("four.hdf5", &FOUR, 0.0);
        let text = solve(&file, &["--solver", solver]);
        assert!(text.contains("rank of A 3 of 8"), "{text}");
        assert!(
            text.contains("not unique: a family of dimension 1 with the same motion, at contacts 0, 1, 2, 3"),
            "{text}"
        );
        assert!(text.contains("a solution exists for every mu (trinkle1995 Theorem 1)"), "{text}");
        let value: Value = serde_json::from_str(&solve(&file, &["--solver", solver, "--json"])).unwrap();
        assert_eq!(value["known"]["forces"]["dimension"], 1);
        assert_eq!(value["known"]["forces"]["undetermined"], json!([0, 1, 2, 3]));
        assert_eq!(value["known"]["existence"], "for-this-vector");
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
