//! The ellipse of song2004 section 6: the rigid model by time stepping against an event-driven solution, over h; and the
//! compliant model against the rigid one, over the place where the contact force acts.
//!
//! `cargo run --release --example song2004`; with `-- fine` down to h = 1e-6.
#![allow(missing_docs)]

#[path = "../tests/compliant_ellipse/mod.rs"]
mod compliant_ellipse;
#[path = "../tests/event_driven/mod.rs"]
mod event_driven;

use event_driven::{Mode, Motion, SONG2004};
use stiction::scene::GapLevel;
use stiction::stepper::Stepper;

/// Step of the event-driven solution, s.
const GRID: f64 = 1e-5;

fn main() {
    let fine = std::env::args().any(|a| a == "fine");
    let start = [0.0, 75f64.to_radians(), 0.0, 0.0];
    let exact = SONG2004.integrate(start, Mode::Roll, GRID, 200_000);
    let coarse = SONG2004.integrate(start, Mode::Roll, 4.0 * GRID, 50_000);
    let apart = |k: usize| (exact.phases[4 * k][1] - coarse.phases[k][1]).abs();
    for (t, k) in [(1, 100_000), (2, 200_000)] {
        println!(
            "event-driven, t = {t} s: x = {:.12} m, theta = {:.12} rad",
            exact.phases[k][0], exact.phases[k][1]
        );
    }
    let most = (0..=50_000).map(apart).fold(0.0, f64::max);
    println!(
        "with four times the step theta differs by at most {most:.1e} rad; least normal force {:.3} N",
        exact.least_normal
    );
    let events: Vec<String> =
        exact.events.iter().map(|(t, mode)| format!("{t:.6} {}", name(*mode))).collect();
    println!("events: {}\n", events.join(", "));

    println!(
        "{:9} {:5} {:>6}  {:>9} {:>9} {:>9} {:>9}",
        "gap", "theta", "h", "1 s, rad", "2 s, rad", "2 s, m", "gap, m"
    );
    for gap in [GapLevel::Position, GapLevel::Velocity] {
        for share in [0.0, 0.5] {
            for digits in 2..=if fine { 6 } else { 5 } {
                compare(&exact, gap, share, 10f64.powi(-digits));
            }
        }
    }

    println!("\neps = 1e-10, h = 1e-4: largest difference to the rigid model in 2 s");
    for (place, depth) in [("undeformed ellipse", 0.0), ("middle of the overlap", 0.5), ("ground", 1.0)] {
        let [soft, rigid] = [1e-10, 0.0].map(|eps| compliant_ellipse::run(eps, depth, 20_000));
        let largest =
            |k: usize| soft.iter().zip(&rigid).map(|(a, b)| (a[k] - b[k]).abs()).fold(0.0, f64::max);
        println!("force at the {place:22} {:.2e} m {:.2e} rad", largest(0), largest(2));
    }
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Roll => "rolls",
        Mode::Slide(s) if s > 0.0 => "slips right",
        Mode::Slide(_) => "slips left",
    }
}

/// A line: errors of theta at 1 s, of theta and x in 2 s, and the largest gap or overlap.
fn compare(exact: &Motion, gap: GapLevel, explicit_share: f64, h: f64) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/song2004/ellipse-rigid.toml");
    let mut scene = stiction::read(path).expect("a valid scene");
    (scene.step.h, scene.step.explicit_share, scene.step.gap) = (h, explicit_share, gap);
    scene.bodies[0].position.as_mut().expect("given")[1] = SONG2004.height(exact.phases[0][1])[0];
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let (mut at_one, mut worst, mut beside, mut off_ground) = (0.0, 0.0f64, 0.0f64, 0.0f64);
    // steps between points of the grid, and points of the grid between steps
    let (every, stride) = ((GRID / h).round().max(1.0) as usize, (h / GRID).round().max(1.0) as usize);
    for k in 1..=200_000 / stride {
        for _ in 0..every {
            let _ = stepper.step(&mut state).expect("no step fails");
        }
        let now = exact.phases[k * stride];
        let off = (state.position[2] - now[1]).abs();
        worst = worst.max(off);
        beside = beside.max((state.position[0] - now[0]).abs());
        off_ground = off_ground.max((state.position[1] - SONG2004.height(state.position[2])[0]).abs());
        if k * stride == 100_000 {
            at_one = off;
        }
    }
    let gap = format!("{gap:?}").to_lowercase();
    println!(
        "{gap:9} {explicit_share:<5} {h:6.0e}  {at_one:9.2e} {worst:9.2e} {beside:9.2e} {off_ground:9.1e}"
    );
}
