//! Cost of `law = "auto"` against rigid and compliant contacts, in one run.
//!
//! `cargo bench -p stiction --bench auto`. Seconds of computing per simulated second, the fastest of several runs: song2001's Case 1, which stays
//! rigid, and a rod that slides into the Painleve region; rigid contacts by the event and the theta scheme. In the
//! Painleve region the rigid run fails by the event scheme, and is another motion by the theta scheme: its time is that of the part it made.
#![allow(missing_docs)]

use std::sync::Arc;
use std::time::Instant;
use stiction::model::Model;
use stiction::run::{Ended, EventKind, Options, Summary, run};

/// Runs, of which the fastest counts, and how long they may take together, s.
const RUNS: usize = 10;
const LONGEST: f64 = 20.0;

const CASE_1: &str = include_str!("../../../scenes/song2001/auto-case1.toml");
const PAINLEVE: &str = include_str!("../../../scenes/song2001/auto-painleve.toml");

fn main() {
    println!(
        "{:10} {:10} {:>12} {:>12} {:>12} {:>12} {:>8}",
        "scene", "scheme", "rigid s/s", "auto s/s", "compliant", "share", "changes"
    );
    for (name, text) in [("case 1", CASE_1), ("painleve", PAINLEVE)] {
        let (compliant, _) = time(text, "compliant", true);
        for scheme in ["event", "theta"] {
            let ((rigid, _), (auto, seen)) = (time(text, scheme, false), time(text, scheme, true));
            println!(
                "{name:10} {scheme:10} {rigid:12.4} {auto:12.4} {compliant:12.4} {:11.1}% {:8}",
                100.0 * seen.compliant_time / seen.auto_time,
                seen.count(EventKind::ToCompliant) + seen.count(EventKind::ToRigid)
            );
        }
    }
}

/// Seconds of computing per simulated second, and what happened. Without `auto` the law is rigid.
fn time(text: &str, scheme: &str, auto: bool) -> (f64, Summary) {
    let mut scene = stiction::from_toml("rod", text).expect("a valid scene");
    scene.step.scheme = match scheme {
        "event" => stiction::scene::Scheme::Event,
        "theta" => stiction::scene::Scheme::Theta,
        _ => stiction::scene::Scheme::Compliant,
    };
    if !auto {
        for material in &mut scene.materials {
            (material.law, material.compliant_law) = (stiction::scene::Law::Rigid, None);
        }
    }
    let model = Arc::new(Model::new(&scene).expect("a valid model"));
    let (mut best, begin, mut last) = (f64::INFINITY, Instant::now(), None);
    for _ in 0..RUNS {
        let (mut state, mut seen) = (model.initial(), Summary::default());
        let start = Instant::now();
        let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
        best = best.min(start.elapsed().as_secs_f64() / state.time);
        assert!(!auto || ended == Ended::Finished, "{scheme}: {ended:?}");
        last = Some(seen);
        if begin.elapsed().as_secs_f64() > LONGEST {
            break;
        }
    }
    (best, last.expect("one run at least"))
}
