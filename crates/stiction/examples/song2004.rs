//! The rigid ellipse of song2004 section 6: time stepping against an event-driven solution, over h.
//!
//! `cargo run --release --example song2004`
#![allow(missing_docs)]

#[path = "../tests/event_driven/mod.rs"]
mod event_driven;

use event_driven::{Mode, SONG2004};
use stiction::scene::{GapLevel, Scene};
use stiction::step::Stepper;

fn main() {
    let start = [0.0, 75f64.to_radians(), 0.0, 0.0];
    let (h, steps) = (1e-5, 200_000);
    let exact = SONG2004.integrate(start, Mode::Roll, h, steps);
    let coarse = SONG2004.integrate(start, Mode::Roll, 4.0 * h, steps / 4);
    let apart = |k: usize| (exact.phases[4 * k][1] - coarse.phases[k][1]).abs();
    println!(
        "event-driven: {} events, least normal force {:.3} N, at 1 s x = {:.12}, theta = {:.12}; at 2 s x = {:.12}, theta = {:.12}",
        exact.events.len(),
        exact.least_normal,
        exact.phases[100_000][0],
        exact.phases[100_000][1],
        exact.phases[200_000][0],
        exact.phases[200_000][1]
    );
    println!(
        "with four times the step: theta differs by {:.1e} at 1 s, by at most {:.1e} in 2 s",
        apart(25_000),
        (0..=steps / 4).map(apart).fold(0.0, f64::max)
    );
    for (t, mode) in &exact.events {
        print!("{t:.6} {mode:?}; ");
    }
    println!();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/song2004/ellipse-rigid.toml");
    let scene = Scene::read(path).expect("a valid scene");
    for gap in [GapLevel::Position, GapLevel::Velocity] {
        for theta in [0.0, 0.5] {
            for stride in [1000, 100, 10, 1] {
                let mut scene = scene.clone();
                scene.step.h = stride as f64 * h;
                scene.step.explicit_share = theta;
                scene.step.gap = gap;
                scene.bodies[0].position[1] = SONG2004.height(start[1])[0];
                let mut stepper = Stepper::new(scene).expect("a valid model");
                let mut state = stepper.initial();
                let (mut at_1, mut worst, mut worst_x, mut lift) = (0.0, 0.0f64, 0.0f64, 0.0f64);
                let mut failed = false;
                for k in 1..=steps / stride {
                    if let Err(e) = stepper.step(&mut state) {
                        println!("{e}");
                        failed = true;
                        break;
                    }
                    let now = exact.phases[k * stride];
                    let off = (state.position[2] - now[1]).abs();
                    worst = worst.max(off);
                    worst_x = worst_x.max((state.position[0] - now[0]).abs());
                    lift = lift.max((state.position[1] - SONG2004.height(state.position[2])[0]).abs());
                    if k * stride == 100_000 {
                        at_1 = off;
                    }
                }
                println!(
                    "{gap:?} theta {theta} h {:.0e}: at 1 s {at_1:.2e} rad, in 2 s {worst:.2e} rad {worst_x:.2e} m, gap {lift:.1e}{}",
                    stride as f64 * h,
                    if failed { " FAILED" } else { "" }
                );
            }
        }
    }
}
