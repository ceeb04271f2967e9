//! Other people's friction problems, where they lie beside the repository: `auto` solves them to 1e-8.
#![allow(clippy::unwrap_used, reason = "tests")]

use complementarity::solver::cone::ConeSolver;
use problem_files::{Problem, read};
use std::path::Path;

/// Not solved yet: see the certificate that `stiction solve` prints.
const UNSOLVED: [&str; 1] = ["RockPile_tob1.hdf5"];

#[test]
fn auto_solves_the_collection_to_high_accuracy() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems");
    let mut solver = ConeSolver::default();
    for kind in ["fc2d", "fc3d"] {
        let Ok(files) = std::fs::read_dir(folder.join(kind)) else { continue };
        for file in files {
            let file = file.unwrap();
            let name = file.file_name().to_string_lossy().into_owned();
            let Problem::Friction(p) = read(&file.path()).unwrap() else { panic!("{name}") };
            let mut lambda = vec![0.0; p.size()];
            let outcome = solver.solve(p.as_cone().unwrap(), &mut lambda);
            assert!(outcome.is_solved() || UNSOLVED.contains(&&*name), "{name}: {outcome:?}");
        }
    }
}
