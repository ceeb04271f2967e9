//! How often confidence intervals of the friction coefficient hold its true value, on trajectories of song2001 Case 1 with errors of 0.1 mm at
//! 1 kHz: `cargo run --release --example fit_coverage [-- SEEDS SCENE...]`; `-- write` writes scenes/song2001/fit-case1.csv (seed 1).
//!
//! Scenes: case1-rigid, case1-1e-3, case1-1e-4, ..., fit-case1 (all of scenes/song2001). Data are made by the scene itself with mu = 0.27; each fit
//! starts at mu = 0.4.
#![allow(missing_docs)]

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::time::Instant;
use stiction::fit::{Data, End, Problem, fit};
use stiction::scene::Scene;
use stiction::stepper::Stepper;

const TRUE: f64 = 0.27;
const GUESS: f64 = 0.4;
const ERROR: f64 = 1e-4;

fn scene(name: &str, friction: f64) -> Scene {
    let path = format!("{}/../../scenes/song2001/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let mut scene = stiction::read(path).expect("a valid scene");
    scene.materials[0].friction = friction;
    scene
}

/// The rod's centre every millisecond.
fn truth(name: &str) -> (Vec<f64>, [Vec<f64>; 2]) {
    let mut stepper = Stepper::new(scene(name, TRUE)).expect("a valid model");
    let mut state = stepper.initial();
    let every = (1e-3 / stepper.scene().step.h).round() as usize;
    let (mut times, mut columns) = (vec![], [vec![], vec![]]);
    for k in 0..=220 {
        times.push(f64::from(k) * 1e-3);
        let position = stepper.kinematics(&state).pose(0).position;
        columns.iter_mut().zip(position).for_each(|(column, x)| column.push(x));
        for _ in 0..every {
            let _ = stepper.step(&mut state).expect("no step fails");
        }
    }
    (times, columns)
}

/// With independent normal errors (Box and Muller).
fn measured(truth: &(Vec<f64>, [Vec<f64>; 2]), seed: u64) -> Data {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut normal = || {
        let (u, angle): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - u).ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
    };
    let columns = ["body[rod].x", "body[rod].y"].into_iter().zip(&truth.1);
    let columns =
        columns.map(|(name, list)| (name.to_owned(), list.iter().map(|x| x + ERROR * normal()).collect()));
    Data::new(truth.0.clone(), columns.collect()).expect("valid data")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == "write") {
        let data = measured(&truth("fit-case1"), 1);
        let mut text = "# song2001 Case 1, mu = 0.27, event scheme; normal errors of 1e-4 m, seed 1 (examples/fit_coverage.rs)\n".to_owned();
        text += "time,body[rod].x,body[rod].y\n";
        for i in 0..data.times.len() {
            text += &format!("{:.3},{:.6},{:.6}\n", data.times[i], data.values[0][i], data.values[1][i]);
        }
        let path = format!("{}/../../scenes/song2001/fit-case1.csv", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).expect("a writable folder");
        return;
    }
    let seeds: u64 = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(200);
    let named: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    for name in if named.is_empty() { vec!["fit-case1"] } else { named } {
        let (truth, begin) = (truth(name), Instant::now());
        let (mut covered, mut solved, mut runs) = (0, 0, 0);
        let (mut values, mut errors) = (vec![], 0.0);
        for seed in 1..=seeds {
            let problem =
                Problem::new(&scene(name, GUESS), measured(&truth, seed), &[]).expect("a valid problem");
            let found = fit(&problem, &mut |_| {});
            let e = &found.parameters[0];
            let [low, high] = e.interval.expect("an interval");
            covered += u32::from((low..=high).contains(&TRUE));
            solved += u32::from(found.end == End::Solved);
            runs += found.runs;
            values.push(e.value);
            errors += e.standard_error.unwrap_or(0.0);
        }
        let n = seeds as f64;
        let mean = values.iter().sum::<f64>() / n;
        let scatter = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        println!(
            "{name}: {covered} of {seeds} intervals hold {TRUE}, {solved} solved; mean {mean:.6}, scatter {scatter:.3e}, mean standard error {:.3e}; {:.1} runs and {:.3} s per fit",
            errors / n,
            runs as f64 / n,
            begin.elapsed().as_secs_f64() / n
        );
    }
}
