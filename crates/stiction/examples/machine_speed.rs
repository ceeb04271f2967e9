//! Time of the steps of a scene: one second, then 2000 steps in batches of 100.
//!
//! `cargo run --release -p stiction --example machine_speed -- SCENE...`
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::time::Instant;
use stiction::step::Status;
use stiction::stepper::Stepper;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let mut stepper = Stepper::new(stiction::read(&path)?)?;
        let mut state = stepper.initial();
        while state.time < 1.0 {
            let _ = stepper.step(&mut state)?;
        }
        let (mut each, mut residual, mut rows, mut closed) = (vec![], 0.0f64, 0, 0);
        for _ in 0..20 {
            let begin = Instant::now();
            for _ in 0..100 {
                let report = stepper.step(&mut state)?;
                residual = residual.max(report.residual.relative);
            }
            each.push(begin.elapsed().as_secs_f64() / 100.0);
            rows = rows.max(stepper.workspace().problem.b.len());
            closed = stepper.elements().iter().filter(|e| e.status != Status::Open).count();
        }
        each.sort_by(f64::total_cmp);
        let height = stepper.kinematics(&state).pose(0).position[2];
        println!(
            "{}: {:.1} us per step (fastest batch), {:.1} (median); residual at most {residual:.1e}, {rows} rows, \
             first body at {height:.4} m, {closed} closed elements at the end",
            stepper.scene().name,
            1e6 * each[0],
            1e6 * each[10],
        );
    }
    Ok(())
}
