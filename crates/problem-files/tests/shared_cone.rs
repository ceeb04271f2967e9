//! Other people's friction problems, where they lie beside the repository or in the folder `STICTION_PROBLEMS`: `auto` solves them to 1e-8.

use complementarity::solver::auto::Auto;
use problem_files::{Problem, read};
use std::path::{Path, PathBuf};

#[test]
fn auto_solves_the_collection_to_high_accuracy() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems");
    let folder = std::env::var_os("STICTION_PROBLEMS").map_or(beside, PathBuf::from);
    let mut solver = Auto::default();
    for kind in ["fc2d", "fc3d"] {
        let Ok(files) = std::fs::read_dir(folder.join(kind)) else { continue };
        for file in files {
            let file = file.unwrap();
            let name = file.file_name().to_string_lossy().into_owned();
            let Problem::Friction(p) = read(&file.path()).unwrap() else { panic!("{name}") };
            let mut lambda = vec![0.0; p.size()];
            let outcome = solver.solve(p.view(), &mut lambda);
            assert!(outcome.is_solved(), "{name}: {outcome:?}");
        }
    }
}
