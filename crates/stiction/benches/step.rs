//! Time of a step and its residual, on scenes of `scenes/` after 1 s of settling.
//!
//! `cargo bench -p stiction --bench step`, with names of scenes after `--` for these alone. SI, g = 9.81, h = 1e-3 (the ellipse:
//! 1e-4), mu = 0.5. Where a second of settling takes longer than `SETTLE`, the column `t` says how far it got.
#![allow(missing_docs)]

use std::time::Instant;
use stiction::contact::Law;
use stiction::state::State;
use stiction::step::Status;
use stiction::stepper::Stepper;

/// Longest settling, s of wall clock.
const SETTLE: f64 = 30.0;
/// Batches, of which the fastest counts, and how long one should take, s.
const BATCHES: usize = 5;
const BATCH: f64 = 0.2;

/// Steps of a batch at most where bodies go on moving: as many as other engines are timed over.
const MOVING: usize = 10;

/// Name, file, a tolerance other than the scene's, and a stiffness of contacts, N/m, instead of rigid ones.
const SCENES: [(&str, &str, Option<f64>, Option<f64>); 10] = [
    ("one_sphere", "sphere-on-plane.toml", None, None),
    ("one_box", "box-on-plane.toml", None, None),
    ("ellipse_patch", "song2004/ellipse-1e-10.toml", None, None),
    ("chain_20", "chain.toml", None, None),
    ("stack_10", "stack-of-ten.toml", None, None),
    ("arm_gripper", "machines/arm-gripper.toml", None, None),
    ("walker", "machines/walker.toml", None, None),
    ("pour_200_1e-6", "balls-200.toml", Some(1e-6), None),
    ("pour_200_nylon", "balls-200.toml", None, Some(1e6)),
    ("pour_200", "balls-200.toml", None, None),
];
/// Effective mass of two of the balls, for critical damping, kg.
const TWO_BALLS: f64 = 0.25;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!(
        "{:14} {:>6} {:>8} {:>7} {:>12} {:>10} {:>9} {:>14}",
        "", "t", "contacts", "closed", "us/step", "iterations", "residual", "wasted"
    );
    for (name, file, tolerance, stiffness) in SCENES {
        if asked.is_empty() || asked.iter().any(|a| a == name) {
            bench(name, file, tolerance, stiffness);
        }
    }
}

/// What a number of steps did: worst residual, iterations, wasted ones.
#[derive(Default)]
struct Tally {
    steps: usize,
    residual: f64,
    iterations: usize,
    wasted: usize,
}

fn go(stepper: &mut Stepper, state: &mut State, steps: usize, tally: &mut Tally) {
    for _ in 0..steps {
        let report = stepper.step(state).expect("no step fails");
        tally.steps += 1;
        tally.residual = tally.residual.max(report.residual.relative);
        tally.iterations += report.iterations;
        tally.wasted += report.wasted;
    }
}

fn bench(name: &str, file: &str, tolerance: Option<f64>, stiffness: Option<f64>) {
    let path = format!("{}/../../scenes/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut scene = stiction::read(path).expect("a valid scene");
    scene.step.tolerance = tolerance.unwrap_or(scene.step.tolerance);
    if let Some(k) = stiffness {
        let law = Law::kelvin_voigt([k, 0.8 * k], 1.0, TWO_BALLS).expect("a valid law");
        scene.materials.iter_mut().for_each(|m| m.law = law.clone().into());
    }
    if name == "chain_20" {
        (scene.bodies[0].angle, scene.bodies[0].angle_deg) = (Some(0.5), None);
    }
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let begin = Instant::now();
    let mut settling = Tally::default();
    while state.time < 1.0 - 1e-9 && begin.elapsed().as_secs_f64() < SETTLE {
        go(&mut stepper, &mut state, 1, &mut settling);
    }
    let settled = state.time;
    let each = begin.elapsed().as_secs_f64() / settling.steps as f64;
    let mut steps = (BATCH / each).ceil() as usize;
    if name.starts_with("pour") {
        steps = steps.min(MOVING);
    }
    let (mut best, mut tally) = (f64::INFINITY, Tally::default());
    for _ in 0..BATCHES {
        let start = Instant::now();
        go(&mut stepper, &mut state, steps, &mut tally);
        best = best.min(start.elapsed().as_secs_f64() / steps as f64);
    }
    let elements = stepper.elements();
    let closed = elements.iter().filter(|e| e.status != Status::Open).count();
    println!(
        "{name:14} {settled:6.3} {:8} {closed:7} {:12.2} {:10.1} {:9.1e} {:14.1}",
        elements.len(),
        1e6 * best,
        tally.iterations as f64 / tally.steps as f64,
        tally.residual.max(settling.residual),
        tally.wasted as f64 / tally.steps as f64
    );
}
