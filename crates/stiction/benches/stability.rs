//! What it costs to examine a run: `cargo bench -p stiction --bench stability`. The time of a run with 200 instants that are examined over the time of the plain run, the
//! fastest of several each; and the time of one examination.

#![allow(missing_docs)]

use std::sync::Arc;
use std::time::Instant;
use stiction::analysis::stability::{Question, examine};
use stiction::model::Model;
use stiction::run::timeline::Timeline;
use stiction::run::{Options, run};

const TIMES: usize = 5;
const SAMPLES: usize = 200;

fn main() {
    println!("scene                       steps  run, ms  examined, ms  ratio  an instant, us");
    for name in [
        "song2001/case1-rigid.toml",
        "song2001/case1-1e-4.toml",
        "sliding-box.toml",
        "four-legged-table.toml",
        "stack-of-ten.toml",
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
        let scene = stiction::read(&path).unwrap_or_else(|faults| panic!("{faults}"));
        let model = Arc::new(Model::new(&scene).unwrap_or_else(|faults| panic!("{faults:?}")));
        let options = Options { unexamined: true, ..Options::default() };
        let (mut plain, mut with) = (f64::INFINITY, f64::INFINITY);
        let mut steps = 0;
        let mut last = model.initial();
        for _ in 0..TIMES {
            let mut state = model.initial();
            steps = options.until.steps(model.scene(), &state);
            let begin = Instant::now();
            let _ = run(&model, &mut state, &options, &mut []);
            plain = plain.min(begin.elapsed().as_secs_f64());
            let mut state = model.initial();
            let mut timeline = Timeline::new(Question::default(), [0.0, scene.step.duration], SAMPLES);
            let begin = Instant::now();
            let _ = run(&model, &mut state, &options, &mut [&mut timeline]);
            with = with.min(begin.elapsed().as_secs_f64());
            last = state;
        }
        let question = Question::default().after_steps(&model);
        let begin = Instant::now();
        let _ = examine(&model, &last, &question);
        let once = begin.elapsed().as_secs_f64();
        println!(
            "{name:26} {steps:6} {:8.1} {:13.1} {:6.2} {:15.0}",
            1e3 * plain,
            1e3 * with,
            with / plain,
            1e6 * once
        );
    }
}
