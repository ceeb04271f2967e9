//! Five measures of accuracy at h = 1e-3, one a line: `cargo run --release --example accuracy [-- NAME...]`
//! (slope, stack, arch, heading, rolling).
//!
//! Beside each: the bound that tests hold (`tests/standing.rs`, `tests/sliding.rs`); of friction's polygon, what its corners allow.
#![allow(missing_docs)]

use std::f64::consts::PI;
use std::time::Instant;
use stiction::scene::{FrictionKind, Scene};
use stiction::space::{length, sub};
use stiction::state::State;
use stiction::stepper::Stepper;

fn scene(name: &str) -> Scene {
    let path = format!("{}/../../scenes/{name}", env!("CARGO_MANIFEST_DIR"));
    stiction::read(path).expect("a valid scene")
}

/// What a run showed besides its measure.
#[derive(Default)]
struct Run {
    steps: usize,
    residual: f64,
    wasted: usize,
}

fn step(stepper: &mut Stepper, state: &mut State, run: &mut Run) {
    let report = stepper.step(state).expect("no step fails");
    run.steps += 1;
    run.residual = run.residual.max(report.residual.relative);
    run.wasted += report.wasted;
}

/// Farthest any body's origin gets from its start, m, and its deepest gap below 0, m.
fn movement(name: &str, run: &mut Run) -> (f64, f64) {
    let mut stepper = Stepper::new(scene(name)).expect("a valid model");
    let mut state = stepper.initial();
    let start: Vec<_> = stepper.scene().initial_poses();
    let (mut far, mut deep) = (0.0f64, 0.0f64);
    for _ in 0..stepper.scene().step.count() {
        step(&mut stepper, &mut state, run);
        deep = stepper.elements().iter().fold(deep, |d, e| d.max(-e.gap));
        let kinematics = stepper.kinematics(&state);
        for (i, pose) in start.iter().enumerate() {
            far = far.max(length(sub(kinematics.pose(i).position, pose.position)));
        }
    }
    (far, deep)
}

/// Largest relative spread of the stopping distance over headings within an angle, friction as given.
fn heading(friction: FrictionKind, within: f64, run: &mut Run) -> f64 {
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for k in 0..=12 {
        let mut scene = scene("heading.toml");
        scene.step.friction = friction;
        let angle = k as f64 / 12.0 * within;
        let (sin, cos) = angle.sin_cos();
        scene.bodies[0].velocity = Some([cos, sin, 0.0].into());
        let mut stepper = Stepper::new(scene).expect("a valid model");
        let mut state = stepper.initial();
        for _ in 0..stepper.scene().step.count() {
            step(&mut stepper, &mut state, run);
        }
        let distance = state.position[0].hypot(state.position[1]);
        (least, most) = (least.min(distance), most.max(distance));
    }
    most / least - 1.0
}

/// Relative change of a rolling ball's kinetic energy over the scene's 30 s: the largest.
fn rolling(run: &mut Run) -> f64 {
    let mut stepper = Stepper::new(scene("rolling-sphere.toml")).expect("a valid model");
    let mut state = stepper.initial();
    let start = stepper.energy(&state).kinetic;
    let mut worst = 0.0f64;
    for _ in 0..stepper.scene().step.count() {
        step(&mut stepper, &mut state, run);
        worst = worst.max((stepper.energy(&state).kinetic / start - 1.0).abs());
    }
    worst
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|a| a == name);
    println!(
        "{:52} {:>9} {:>9}  {:>6} {:>8} {:>14} {:>8}",
        "h = 1e-3", "measured", "bound", "steps", "residual", "wasted", "us/step"
    );
    let line = |what: &str, measured: f64, bound: f64, run: &Run, begin: Instant| {
        println!(
            "{what:52} {measured:9.1e} {bound:9.1e}  {:6} {:8.0e} {:14} {:8.0}",
            run.steps,
            run.residual,
            run.wasted,
            1e6 * begin.elapsed().as_secs_f64() / run.steps as f64
        );
    };
    if wanted("slope") {
        let (begin, mut run) = (Instant::now(), Run::default());
        let (far, _) = movement("box-on-slope.toml", &mut run);
        line("box on a slope: creep in 10 s, m", far, 1e-9, &run, begin);
    }
    if wanted("stack") {
        let (begin, mut run) = (Instant::now(), Run::default());
        let (far, deep) = movement("stack-mass-ratio.toml", &mut run);
        line("ten boxes, mass ratio 1000: penetration in 2 s, m", deep, 1e-9, &run, begin);
        line("                            movement, m", far, 1e-9, &run, begin);
    }
    if wanted("arch") {
        let (begin, mut run) = (Instant::now(), Run::default());
        let (far, _) = movement("arch.toml", &mut run);
        line("arch of eleven wedges: movement in 2 s, m", far, 1e-12, &run, begin);
    }
    if wanted("heading") {
        let (begin, mut run) = (Instant::now(), Run::default());
        let spread = heading(FrictionKind::Cone, 2.0 * PI, &mut run);
        line("stopping distance over headings, cone", spread, 1e-9, &run, begin);
        for sides in [8, 16, 32, 64] {
            let (begin, mut run) = (Instant::now(), Run::default());
            // from a corner of the polygon to the middle of a side and on to the next corner
            let spread = heading(FrictionKind::Polygon { sides }, 2.0 * PI / sides as f64, &mut run);
            // 1 / cos(pi / K) - 1 of the distance v^2 / (2 mu g), from which each slide loses half a step at its first speed
            let (distance, half_step) = (1.0 / (2.0 * 0.3 * 9.81), 0.5e-3);
            let bound = (distance / (PI / sides as f64).cos() - half_step) / (distance - half_step) - 1.0;
            line(&format!("stopping distance over headings, {sides} sides"), spread, bound, &run, begin);
        }
    }
    if wanted("rolling") {
        let (begin, mut run) = (Instant::now(), Run::default());
        let worst = rolling(&mut run);
        line("rolling ball: change of energy in 30 s", worst, 1e-12, &run, begin);
    }
}
