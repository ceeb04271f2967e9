//! Contacts act where bodies touch, and nowhere else: every step against the true distance of every pair, and random flights against a search of
//! their own. `SEEDS=first..end` runs other seeds and prints what is wrong with each; `SCENES=folder,folder` looks at scene files.
#![allow(missing_docs)]

mod flights;
mod floors;
mod scenes;
mod truth;

use stiction::scene::Scene;
use stiction::state::State;
use stiction::stepper::Stepper;
use truth::Truth;

/// Distance up to which bodies pass as flush: docs/physics.md.
pub const FLUSH: f64 = 2e-6;

/// What became of a run.
pub struct Ran {
    pub stepper: Stepper,
    pub state: State,
    pub truth: Truth,
}

pub fn read(text: &str) -> Result<Stepper, String> {
    let scene = Scene::from_toml("contacts.toml", text).map_err(|e| format!("{e}\n{text}"))?;
    Stepper::new(scene).map_err(|e| format!("{e}\n{text}"))
}

pub fn run(mut stepper: Stepper) -> Result<Ran, String> {
    let (mut state, step) = (stepper.initial(), stepper.scene().step.clone());
    let mut truth = Truth::new(stepper.model());
    truth.begin(stepper.model(), &state);
    for _ in 0..(step.duration / step.h).round() as usize {
        let report = stepper.step(&mut state).map_err(|e| format!("{e}"))?;
        if report.residual.relative > 1e-10 {
            return Err(format!("residual {:.1e} at t = {}", report.residual.relative, state.time));
        }
        truth.after(stepper.model(), stepper.elements(), &state, 1.2 * FLUSH);
    }
    Ok(Ran { stepper, state, truth })
}

/// The seeds to run: those of the test, or those asked for, and whether they were asked for.
pub fn seeds(own: std::ops::Range<u64>) -> (std::ops::Range<u64>, bool) {
    let asked = std::env::var("SEEDS").ok().and_then(|text| {
        let (first, end) = text.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    asked.map_or((own, false), |range| (range, true))
}

/// Runs a check over seeds: all must be well; if other seeds were asked for, what is wrong is printed and counted.
pub fn over_seeds(what: &str, own: std::ops::Range<u64>, check: impl Fn(u64) -> Result<(), String>) {
    let (range, asked) = seeds(own);
    let (mut wrong, count) = (0, range.end - range.start);
    for seed in range {
        if let Err(why) = check(seed) {
            assert!(asked, "{what}, seed {seed}: {why}");
            wrong += 1;
            let full = std::env::var("FULL").is_ok();
            println!(
                "{what}, seed {seed}: {}",
                if full { &why } else { why.lines().next().unwrap_or_default() }
            );
        }
    }
    if asked {
        println!("{what}: {wrong} of {count} seeds are wrong");
    }
}
