//! Error of the step over its length h, for theta = 0, 1/2, 1 and forces at the start or implicit: docs/convergence.md.
//!
//! The order is that of the last three steps, the rounds those of h = 1e-3.
//!
//! `cargo run --release --example convergence`
#![allow(missing_docs)]

#[path = "../tests/orders/mod.rs"]
mod orders;

use orders::{BOX, Case, DOUBLE_PENDULUM, PENDULUM, PRESSED, SPHERE, SPRING, apart, end, order, reference};
use stiction::scene::ForceTime;

const STEPS: [f64; 6] = [4e-3, 2e-3, 1e-3, 4e-4, 2e-4, 1e-4];

fn main() {
    for case in [SPRING, PENDULUM, DOUBLE_PENDULUM, PRESSED, SPHERE, BOX] {
        table(&case);
    }
}

fn table(case: &Case) {
    let exact = reference(case);
    println!("{}, t = {} s", case.name, case.end);
    print!("theta  forces");
    STEPS.iter().for_each(|h| print!("   {h:.0e}"));
    println!("  order  rounds");
    for theta in [0.0, 0.5, 1.0] {
        for (name, forces) in [("start", ForceTime::Start), ("theta", ForceTime::Theta)] {
            let ends = STEPS.map(|h| end(case, theta, forces, h));
            let errors: Vec<f64> = ends.iter().map(|(q, _)| apart(q, &exact)).collect();
            print!("{theta:<5}  {name:6}");
            errors.iter().for_each(|e| print!(" {e:.1e}"));
            println!("  {:.2}   {:.1}", order(&STEPS[3..], &errors[3..]), ends[2].1);
        }
    }
    println!();
}
