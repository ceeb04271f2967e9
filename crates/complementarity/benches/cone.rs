//! Coulomb's cone on pyramids of spheres, through bodies, to 1e-6: time and residual of `auto`, and how the time grows.
//!
//! `cargo bench -p complementarity --bench cone`

#[path = "../tests/piles/mod.rs"]
#[allow(dead_code)]
mod piles;

use complementarity::solver::auto::Auto;
use std::time::Instant;

fn main() {
    println!("contacts      time   who               iterations  residual  exponent   warm");
    let mut last: Option<(f64, f64)> = None;
    for side in [4, 6, 9, 14, 20] {
        let pile = piles::spheres(side, 0.5, 1);
        let n = pile.elements.len();
        let mut solver = Auto::default();
        solver.settings.tolerance = 1e-6;
        let mut lambda = vec![0.0; pile.b.len()];
        let mut best = f64::INFINITY;
        let begin = Instant::now();
        let outcome = loop {
            lambda.fill(0.0);
            let start = Instant::now();
            let outcome = solver.solve(pile.problem(), &mut lambda);
            best = best.min(start.elapsed().as_secs_f64());
            if begin.elapsed().as_secs_f64() > 0.3 {
                break outcome;
            }
        };
        // the next step's problem is nearly the same
        let mut next = pile.clone();
        next.b.iter_mut().for_each(|b| *b *= 1.0 + 1e-3);
        let start = Instant::now();
        let warm = solver.solve(next.problem(), &mut lambda);
        let warm_time = start.elapsed().as_secs_f64();
        let exponent = last.map_or(f64::NAN, |(n0, t0)| (best / t0).ln() / (n as f64 / n0).ln());
        println!(
            "{n:8} {:8.3} ms  {:16} {:11} {:9.1e} {exponent:9.2} {:8.3} ms ({}, {:.1e})",
            1e3 * best,
            outcome.solver,
            outcome.iterations,
            outcome.residual.relative,
            1e3 * warm_time,
            warm.solver,
            warm.residual.relative
        );
        last = Some((n as f64, best));
    }
}
