//! A four-bar linkage spins freely for 10^6 steps: how far its loop opens, what its energy does, and what is booked.
//!
//! `cargo run --release -p stiction --example closed_loops [STEPS]`
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::time::Instant;
use stiction::stepper::Stepper;

/// Crank 0.2 m, coupler 0.6 m, rocker 0.5 m, ground 0.7 m, each rod with 1 kg/m; the crank points along x.
fn text() -> String {
    let (a, b, c, d) = (0.2f64, 0.6f64, 0.5f64, 0.7f64);
    let far = d - a;
    let coupler = ((b * b + far * far - c * c) / (2.0 * b * far)).acos();
    let rocker = (b * coupler.sin()).atan2(a + b * coupler.cos() - d);
    let rod = |name: &str, l: f64, angle: f64, more: &str| {
        let (half, inertia) = (0.5 * l, l.powi(3) / 12.0);
        format!(
            "[[body]]\nname = \"{name}\"\nmass = {l}\ncenter = [{half}, 0]\ninertia = {inertia}\nangle = {angle}\n\
             joint = {{ revolute = {{}} }}\n{more}\n"
        )
    };
    let mut text = "planar = true\n".to_owned();
    text += &rod("crank", a, 0.0, "");
    text += &rod("coupler", b, coupler, &format!("parent = \"crank\"\nmount = {{ position = [{a}, 0] }}"));
    text += &rod("rocker", c, rocker, &format!("mount = {{ position = [{d}, 0] }}"));
    text + &format!(
        "[[loop]]\nkind = \"point\"\nfrom = {{ body = \"coupler\", point = [{b}, 0] }}\n\
         to = {{ body = \"rocker\", point = [{c}, 0] }}\n[step]\nh = 1e-4\nduration = 100\n"
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let steps = std::env::args().nth(1).map_or(Ok(1_000_000), |n| n.parse::<usize>())?;
    let mut stepper = Stepper::new(stiction::from_toml("four-bar", &text())?)?;
    let mut state = stepper.initial();
    // the first step makes the other rates consistent
    state.velocity[0] = 10.0;
    let _ = stepper.step(&mut state)?;
    let e = stepper.energy(&state);
    let begin = e.kinetic + e.potential;
    let (mut violation, mut booked, mut drift, mut missing) = (0.0f64, 0.0, 0.0f64, 0.0f64);
    let clock = Instant::now();
    for _ in 0..steps {
        let report = stepper.step(&mut state)?;
        violation = violation.max(report.violation);
        booked += report.constraint_work;
        let e = stepper.energy(&state);
        let now = e.kinetic + e.potential - begin;
        drift = drift.max(now.abs());
        missing = missing.max((now - booked).abs());
    }
    let each = clock.elapsed().as_secs_f64() / steps as f64;
    println!("{steps} steps of 1e-4 s, {:.2} us each", 1e6 * each);
    println!("largest opening of the loop: {violation:.2e} m");
    println!("energy {begin:.4} J, largest change {drift:.2e} J");
    println!("work of the loop booked {booked:.2e} J, energy neither kept nor booked {missing:.2e} J");
    Ok(())
}
