//! Time of the processor for the steps of a scene: one second, then 2000 steps in batches of 100.
//!
//! `cargo run --release -p stiction --example machine_speed -- SCENE...`
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::sync::LazyLock;
use std::time::Instant;
use stiction::scene::Scene;
use stiction::step::{Status, Stepper};

/// Time of the processor in this thread, s; where the system does not say it, that of the wall.
fn clock() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let own = own.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    own.map_or_else(|| BEGIN.elapsed().as_secs_f64(), |ns| 1e-9 * ns)
}

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let mut stepper = Stepper::new(Scene::read(&path)?)?;
        let mut state = stepper.initial();
        while state.time < 1.0 {
            let _ = stepper.step(&mut state)?;
        }
        let (mut each, mut residual, mut rows, mut closed) = (vec![], 0.0f64, 0, 0);
        for _ in 0..20 {
            let begin = clock();
            for _ in 0..100 {
                let report = stepper.step(&mut state)?;
                residual = residual.max(report.residual.relative);
            }
            each.push((clock() - begin) / 100.0);
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
