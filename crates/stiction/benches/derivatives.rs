//! Cost of derivatives against steps that had to be solved, and shots a second.
//!
//! `cargo bench -p stiction --bench derivatives`. Each state is kicked by random velocities, so that no step is answered
//! by the forces of the one before. Columns: degrees of freedom, loaded rows, time of a step, time of one directional and
//! one adjoint product with all that it needs (without the step), over that of the step.
#![allow(missing_docs)]

use std::sync::Arc;
use std::time::Instant;
use stiction::boundary::{Parameters, Problem, displace, step_with_derivatives};
use stiction::inputs::Inputs;
use stiction::model::Model;
use stiction::scene::Scene;
use stiction::state::State;
use stiction::stepper::Stepper;

const SCENES: [(&str, usize); 9] = [
    ("pang2005/sphere-velocity.toml", 50),
    ("pang2005/box-at-rest.toml", 50),
    ("pang2005/puck.toml", 50),
    ("box-on-plane.toml", 200),
    ("joint-limits.toml", 200),
    ("chain.toml", 200),
    ("machines/walker.toml", 200),
    ("stack-of-ten.toml", 200),
    ("arch.toml", 200),
];
const SHOTS: [&str; 4] = ["sphere-velocity", "box-at-rest", "bouncing-sphere", "puck"];
const REPEATS: usize = 60;
const KICK: f64 = 1e-2;

fn read(file: &str) -> Scene {
    let path = format!("{}/../../scenes/{file}", env!("CARGO_MANIFEST_DIR"));
    stiction::read(&path).expect("a scene")
}

fn main() {
    println!(
        "{:32} {:>5} {:>5} {:>10} {:>10} {:>10} {:>7} {:>7}",
        "", "dofs", "rows", "step us", "forward us", "adjoint us", "ratio", "ratio"
    );
    for (file, settle) in SCENES {
        bench(file, settle);
    }
    println!("\n{:32} {:>6} {:>12} {:>12}", "", "steps", "ms a shot", "shots a s");
    for name in SHOTS {
        let scene = read(&format!("pang2005/{name}.toml"));
        let problem = Problem::new(&scene).expect("a problem");
        let mut stepper = Stepper::of(problem.model.clone());
        let guess = problem.guess();
        let begin = Instant::now();
        let count = 5;
        for _ in 0..count {
            problem.shoot(&mut stepper, &guess).expect("a shot");
        }
        let seconds = begin.elapsed().as_secs_f64() / f64::from(count);
        println!("{name:32} {:>6} {:>12.2} {:>12.1}", problem.steps, 1e3 * seconds, 1.0 / seconds);
    }
}

/// Fastest of several batches, s.
fn fastest(mut run: impl FnMut() -> f64) -> f64 {
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn bench(file: &str, settle: usize) {
    let model = Arc::new(Model::new(&read(file)).expect("a model"));
    let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
    for _ in 0..settle {
        let _ = stepper.step(&mut state).expect("a step");
    }
    let n = model.system().velocity_size();
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let starts: Vec<State> = (0..REPEATS)
        .map(|_| {
            let mut other = state.clone();
            let kick: Vec<f64> = (0..2 * n).map(|i| if i < n { 0.0 } else { KICK * random() }).collect();
            displace(&model, &mut other, &kick);
            other
        })
        .collect();
    let (h, none, inputs) = (model.scene().step.h, Parameters::default(), Inputs::default());
    let time = |what: u8, stepper: &mut Stepper| {
        let begin = Instant::now();
        for start in &starts {
            let mut state = start.clone();
            if what == 0 {
                let _ = stepper.step_by(&mut state, &inputs, h);
                continue;
            }
            let Ok((_, d)) = step_with_derivatives(stepper, &mut state, &inputs, h, &none) else { continue };
            if what == 1 {
                d.forward(&vec![1.0; d.size_before()], &[], &[]);
            } else {
                d.adjoint(&vec![1.0; d.size_after()]);
            }
        }
        begin.elapsed().as_secs_f64() / starts.len() as f64
    };
    let step = fastest(|| time(0, &mut stepper));
    let forward = fastest(|| time(1, &mut stepper)) - step;
    let adjoint = fastest(|| time(2, &mut stepper)) - step;
    let rows = stepper.workspace().forces.lambda.iter().filter(|l| **l != 0.0).count();
    let [s, f, a] = [step, forward, adjoint].map(|t| 1e6 * t);
    println!("{file:32} {n:>5} {rows:>5} {s:>10.1} {f:>10.1} {a:>10.1} {:>7.2} {:>7.2}", f / s, a / s);
}
