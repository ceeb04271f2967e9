//! Time of an implicit step beside that of an explicit one, for 1, 10 and 100 contacts.
//!
//! `cargo bench -p stiction --bench implicit`. Discs and ellipsoids roll side by side on a plane, rigid or on a Kelvin-Voigt contact; h = 1e-3.
#![allow(missing_docs)]

use std::fmt::Write;
use std::time::Instant;
use stiction::scene::Scene;
use stiction::stepper::Stepper;

const STEPS: usize = 2000;
const BATCHES: usize = 5;

fn scene(bodies: usize, shape: &str, law: &str, scheme: &str) -> Scene {
    let mut text = format!(
        "[[material]]\nname = \"default\"\nfriction = 0.5\nlaw = {law}\n[[world]]\nname = \"ground\"\nshape = \"half_space\"\n"
    );
    for k in 0..bodies {
        let _ = write!(
            text,
            "[[body]]\nname = \"b{k}\"\nmass = 1\ninertia = [4e-3, 4e-3, 4e-3]\nshape = {shape}\nposition = [0, {}, 0.1]\nvelocity = [1, 0, 0]\nangular_velocity = [0, 10, 0]\n",
            0.5 * k as f64
        );
    }
    let _ = write!(text, "[step]\nscheme = \"{scheme}\"\nh = 1e-3\n");
    stiction::from_toml("bench", &text).expect("a valid scene")
}

/// Microseconds per step, and solves of the contact problem per step.
fn time(scene: Scene) -> (f64, f64, f64) {
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let (mut best, mut rounds, mut residual) = (f64::INFINITY, 0, 0.0f64);
    let steps = STEPS / (1 + stepper.model().parts().len() / 20);
    for _ in 0..BATCHES {
        let begin = Instant::now();
        for _ in 0..steps {
            let report = stepper.step(&mut state).expect("no step fails");
            rounds += report.rounds;
            residual = residual.max(report.residual.relative);
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e6 / steps as f64);
    }
    (best, rounds as f64 / (BATCHES * steps) as f64, residual)
}

fn main() {
    let disc = "{ sphere = { radius = 0.1 } }";
    let egg = "{ ellipsoid = { semi_axes = [0.1, 0.12, 0.1] } }";
    let cushion = "{ superellipsoid = { semi_axes = [0.1, 0.12, 0.1], exponent = 2.5 } }";
    let springs = "{ kelvin_voigt = { stiffness = [1e5, 8e4], damping = [100, 100] } }";
    println!(
        "{:34} {:>8} {:>12} {:>12} {:>7} {:>7} {:>9}",
        "", "contacts", "implicit, us", "theta, us", "ratio", "rounds", "residual"
    );
    for (name, shape, law) in [
        ("balls, rigid", disc, "\"rigid\""),
        ("ellipsoids, rigid", egg, "\"rigid\""),
        ("ellipsoids, Kelvin-Voigt", egg, springs),
        ("superellipsoids, Kelvin-Voigt", cushion, springs),
    ] {
        for bodies in [1, 10, 100] {
            let (implicit, rounds, residual) = time(scene(bodies, shape, law, "implicit"));
            let (theta, ..) = time(scene(bodies, shape, law, "theta"));
            println!(
                "{name:34} {bodies:8} {implicit:12.1} {theta:12.1} {:7.2} {rounds:7.2} {residual:9.1e}",
                implicit / theta
            );
        }
    }
}
