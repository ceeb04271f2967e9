//! Random parts in a bin, seed by seed: `bins FIRST COUNT [SECONDS]`. Prints each scene that does not go well and the times. `bins write SEED` prints
//! a scene, `bins scene FILE...` runs scenes and prints what their steps cost and whether their forces are chosen.
#![allow(missing_docs)]

use std::sync::Arc;
use std::time::Instant;
use stiction::model::Model;
use stiction::random::bin;
use stiction::run::{Ended, Options, Summary, run};

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|a| a == "write").is_some() {
        let seed = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(0);
        print!("{}", bin::bin(seed, 2.0).to_toml());
        return;
    }
    if arguments.next_if(|a| a == "scene").is_some() {
        arguments.for_each(|path| run_scene(&path));
        return;
    }
    let mut number = |default: f64| arguments.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, count, seconds) = (number(0.0) as u64, number(100.0) as u64, number(2.0));
    let (begin, mut bad, mut work) = (Instant::now(), 0, [0usize; 5]);
    let mut slowest = (0.0, 0);
    for seed in first..first + count {
        let model = Arc::new(Model::new(&bin::bin(seed, seconds)).expect("a valid scene"));
        let (mut state, mut summary, mut watch) = (model.initial(), Summary::default(), Watch::default());
        let started = Instant::now();
        let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary, &mut watch]);
        let took = started.elapsed().as_secs_f64();
        if took > slowest.0 {
            slowest = (took, seed);
        }
        let own = [
            summary.iterations,
            summary.wasted,
            summary.unchosen,
            summary.near,
            summary.steps - summary.free,
        ];
        work.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        let mut words = vec![];
        match ended.expect("no observer fails") {
            Ended::Finished => {}
            Ended::Failed(why) => words.push(why.to_string()),
            Ended::Interrupted => words.push("interrupted".to_owned()),
        }
        let made = summary.relative_balance_error();
        if made > 0.01 {
            words.push(format!("energy made: {made:.3} of {:.2} J", summary.largest_change));
        }
        if watch.outside > 0.005 {
            words.push(format!("a part leaves the bin by {:.4} m", watch.outside));
        }
        if !words.is_empty() {
            bad += 1;
            println!("seed {seed}, {} parts, {took:.2} s: {}", model.scene().bodies.len(), words.join("; "));
        }
        if summary.loose > 0 {
            println!(
                "seed {seed}: tolerance not reached in {} steps, residual {:.1e}",
                summary.loose, summary.worst.0.relative
            );
        }
        if summary.relaxed > 0 {
            println!("seed {seed}: overlap relaxed in {} steps", summary.relaxed);
        }
    }
    let took = begin.elapsed().as_secs_f64();
    println!(
        "{bad} of {count} scenes bad; {took:.1} s, the slowest {:.2} s (seed {}); {} iterations, {} wasted; forces not chosen in {}, near the choice in {} of {} steps with contacts",
        slowest.0, slowest.1, work[0], work[1], work[2], work[3], work[4]
    );
}

/// Runs a scene and prints what its steps cost.
fn run_scene(path: &str) {
    let scene = stiction::read(path).expect("a valid scene");
    let model = Arc::new(Model::new(&scene).expect("a valid model"));
    let (mut state, mut summary) = (model.initial(), Summary::default());
    let started = Instant::now();
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary]).expect("no observer fails");
    let Summary { steps, free, unchosen, near, iterations, wasted, .. } = summary;
    let touching = steps - free;
    println!(
        "{path}: {ended:?}, {:.2} s; forces not chosen in {unchosen}, near the choice in {near} of {touching} steps with contacts; {iterations} iterations, {wasted} wasted",
        started.elapsed().as_secs_f64()
    );
}

/// How far a part's centre was outside the bin, m.
#[derive(Default)]
struct Watch {
    outside: f64,
}

impl stiction::run::Observer for Watch {
    fn step(&mut self, view: &mut stiction::run::View<'_>) -> Result<(), stiction::run::Fault> {
        if view.is_record {
            let count = view.scene().bodies.len();
            for k in 0..count {
                let center = view.scene().bodies[k].link.inertia.center;
                self.outside = self.outside.max(bin::outside(view.kinematics().pose(k).point(center)));
            }
        }
        Ok(())
    }
}
