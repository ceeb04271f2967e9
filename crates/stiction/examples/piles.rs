//! Time of steps while spheres fall into a box and come to rest, and of a stack that rests, by the wall clock:
//!
//! `cargo run --release -p stiction --example piles [-- spheres [seconds [tolerance [law]]]]`; how both grow with the pile:
//! `cargo run --release -p stiction --example piles -- growth [law]`; and what rigid and soft contacts cost, to be held beside other engines:
//! `cargo run --release -p stiction --example piles -- laws [spheres [name of a law]..]`, or `-- scenes FILE..` for scenes of one's own
//!
//! The box is that of `scenes/balls-200.toml`, made for any number of spheres: radius 0.05 m, 0.5 kg, mu = 0.5, h = 1e-3 s. They start in
//! square layers 0.105 m apart, each moved aside by up to 1 mm. A line for every 0.1 s: contacts at its end, time and iterations a step, its
//! longest step, and which solvers answered how often.

use complementarity::solver::auto::Auto;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;
use stiction::scene::Scene;
use stiction::step::Status;
use stiction::stepper::Stepper;

/// Steps a line.
const LINE: usize = 100;

/// Rigid contacts.
const RIGID: &str = "\"rigid\"";

/// The scene of `count` spheres in a box whose floor holds `side` x `side` of them.
fn spheres(count: usize, side: usize, tolerance: f64, law: &str) -> String {
    let half = 0.0525 * side as f64 + 0.05;
    let mut out = format!(
        "[[material]]\nname = \"default\"\nfriction = 0.5\nlaw = {law}\n\
         [[world]]\nname = \"ground\"\nshape = \"half_space\"\n",
    );
    for (name, place, axis, angle) in [
        ("right", [half, 0.0], [0, 1, 0], -90),
        ("left", [-half, 0.0], [0, 1, 0], 90),
        ("back", [0.0, half], [1, 0, 0], 90),
        ("front", [0.0, -half], [1, 0, 0], -90),
    ] {
        let [x, y] = place;
        _ = writeln!(
            out,
            "[[world]]\nname = \"{name}\"\nshape = \"half_space\"\nposition = [{x}, {y}, 0]\n\
             orientation = {{ axis = {axis:?}, angle_deg = {angle} }}"
        );
    }
    for i in 0..count {
        let at = |k: usize| 0.105 * (k as f64 - 0.5 * (side as f64 - 1.0));
        let i_ = i as f64;
        let x = at(i % side) + 1e-3 * (12.9898 * i_).sin();
        let y = at(i / side % side) + 1e-3 * (78.233 * i_).cos();
        let z = 0.05 + 0.105 * (i / (side * side)) as f64;
        _ = writeln!(
            out,
            "[[body]]\nname = \"ball {i}\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = 0.5\n\
             position = [{x}, {y}, {z}]"
        );
    }
    _ = writeln!(out, "[step]\nduration = 1\ntolerance = {tolerance:e}");
    out
}

fn run(name: &str, scene: Scene, seconds: f64) {
    println!(
        "{name}\n{:>6} {:>8} {:>10} {:>10} {:>10}  solvers",
        "t", "contacts", "us/step", "longest", "iterations"
    );
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    while state.time < seconds - 1e-9 {
        let (mut total, mut longest, mut iterations) = (0.0, 0.0f64, 0);
        let mut solvers = BTreeMap::<&str, usize>::new();
        for _ in 0..LINE {
            let begin = Instant::now();
            let report = stepper.step(&mut state).expect("no step fails");
            let time = 1e6 * begin.elapsed().as_secs_f64();
            total += time;
            longest = longest.max(time);
            iterations += report.iterations;
            *solvers.entry(report.solver).or_default() += 1;
        }
        let each = 1.0 / LINE as f64;
        println!(
            "{:6.3} {:8} {:10.1} {:10.1} {:10.1}  {solvers:?}",
            state.time,
            stepper.elements().len(),
            total * each,
            longest,
            iterations as f64 * each
        );
    }
}

/// Spheres of the piles whose growth is measured, when it is, and over how many steps, s.
const GROWTH: [usize; 3] = [45, 430, 4300];
const AT: f64 = 0.4;
const OVER: usize = 50;

/// Time of a step, of its problem solved from zero, and memory, over the number of contacts; with exponents from one line to the next.
fn growth(law: &str) {
    println!(
        "contacts: {law}\n{:>8} {:>9} {:>12} {:>9} {:>12} {:>9} {:>10} {:>9}",
        "spheres", "contacts", "ms/step", "exponent", "ms from 0", "exponent", "MB", "exponent"
    );
    let mut last = None;
    for count in GROWTH {
        let scene =
            stiction::from_toml("piles", &spheres(count, side(count), 1e-6, law)).expect("a valid scene");
        let mut stepper = Stepper::new(scene).expect("a valid model");
        let mut state = stepper.initial();
        let mut go = |stepper: &mut Stepper, until: f64| {
            while state.time < until - 1e-9 {
                let _ = stepper.step(&mut state).expect("no step fails");
            }
        };
        go(&mut stepper, AT);
        let begin = Instant::now();
        go(&mut stepper, AT + 1e-3 * OVER as f64);
        let step = 1e3 * begin.elapsed().as_secs_f64() / OVER as f64;
        let problem = stepper.problem().expect("contacts");
        let cone = problem.view();
        let mut solver = Auto::default();
        solver.settings.tolerance = 1e-6;
        let (begin, mut solves) = (Instant::now(), 0.0);
        while solves == 0.0 || begin.elapsed().as_secs_f64() < 0.2 {
            let outcome = solver.solve(cone, &mut vec![0.0; cone.b.len()]);
            assert!(outcome.is_solved(), "{outcome:?}");
            solves += 1.0;
        }
        let cold = 1e3 * begin.elapsed().as_secs_f64() / solves;
        let found = [problem.contacts() as f64, step, cold, memory()];
        let exponent = |k: usize| {
            last.map_or(String::new(), |old: [f64; 4]| {
                format!("{:.2}", (found[k] / old[k]).ln() / (found[0] / old[0]).ln())
            })
        };
        println!(
            "{count:8} {:9} {step:12.3} {:>9} {cold:12.3} {:>9} {:10.1} {:>9}",
            found[0],
            exponent(1),
            exponent(2),
            found[3],
            exponent(3)
        );
        last = Some(found);
    }
}

/// Memory of this process, MB; NaN where the system does not tell.
fn memory() -> f64 {
    let told = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = told.and_then(|t| t.split_whitespace().nth(1)?.parse::<f64>().ok());
    pages.map_or(f64::NAN, |p| p * 4096e-6)
}

/// Spheres along an edge of the floor, so that the pile is about as high as wide.
fn side(count: usize) -> usize {
    ((count as f64 / 5.5).cbrt() * 1.8).round().max(1.0) as usize
}

/// Contacts from soft to rigid. The softest yield in these piles as far as MuJoCo's overlap by default (0.7 mm with 200 spheres, 2.6 mm with 1000). By Hertz two
/// such spheres pressed by 5 N have 1.3e6 N/m of nylon (3 GPa), which is about as heavy, and 2e7 of steel.
const LAWS: [(&str, &str); 4] = [
    ("1e5 N/m", "{ kelvin_voigt = { stiffness = [1e5, 8e4], damping_ratio = 1, mass = 0.25 } }"),
    ("1e6 N/m", "{ kelvin_voigt = { stiffness = [1e6, 8e5], damping_ratio = 1, mass = 0.25 } }"),
    ("1e8 N/m", "{ kelvin_voigt = { stiffness = [1e8, 8e7], damping_ratio = 1, mass = 0.25 } }"),
    ("rigid", RIGID),
];

/// Time of a step with each of [`LAWS`] whose name starts with one of `names`, if there are any.
fn laws(count: usize, names: &[String]) {
    println!("{count} spheres");
    head("law");
    let asked =
        |(law, _): &&(&str, &str)| names.is_empty() || names.iter().any(|n| law.starts_with(n.as_str()));
    for (name, law) in LAWS.iter().filter(asked) {
        let scene = stiction::from_toml("piles", &spheres(count, side(count), 1e-6, law));
        after_a_second(name, scene.expect("a valid scene"));
    }
}

fn head(what: &str) {
    println!(
        "{what:>8} {:>9} {:>8} {:>10} {:>10} {:>11} {:>11}",
        "contacts", "closed", "ms/step", "iterations", "residual", "deformed, m"
    );
}

/// Time of a step after 1 s, the fastest of five batches of ten.
fn after_a_second(name: &str, scene: Scene) {
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let mut go = |stepper: &mut Stepper, steps: usize| {
        let (begin, mut iterations, mut residual) = (Instant::now(), 0, 0.0f64);
        for _ in 0..steps {
            let report = stepper.step(&mut state).expect("no step fails");
            iterations += report.iterations;
            residual = residual.max(report.residual.relative);
        }
        (1e3 * begin.elapsed().as_secs_f64() / steps as f64, iterations, residual)
    };
    let (_, _, mut worst) = go(&mut stepper, 1000);
    let (mut best, mut all) = (f64::INFINITY, 0);
    for _ in 0..5 {
        let (each, iterations, residual) = go(&mut stepper, 10);
        (best, all, worst) = (best.min(each), all + iterations, worst.max(residual));
    }
    let elements = stepper.elements();
    let closed = elements.iter().filter(|e| e.status != Status::Open).count();
    let deformed = elements.iter().fold(0.0f64, |d, e| d.max(e.deformation[0].abs()));
    println!(
        "{name:>8} {:9} {closed:8} {best:10.2} {:10.1} {worst:11.1e} {deformed:11.1e}",
        elements.len(),
        0.02 * all as f64
    );
}

fn main() {
    let mut given = std::env::args().skip(1);
    match std::env::args().nth(1).as_deref() {
        Some("growth") => return growth(&std::env::args().nth(2).unwrap_or(RIGID.into())),
        Some("laws") => {
            let count = given.nth(1).and_then(|a| a.parse().ok());
            let names: Vec<String> = given.collect();
            let counts = count.map_or(vec![200, 1000], |n| vec![n]);
            return counts.into_iter().for_each(|n| laws(n, &names));
        }
        Some("scenes") => {
            head("scene");
            for file in given.skip(1) {
                match stiction::read(&file) {
                    Ok(scene) => after_a_second(&scene.name.clone(), scene),
                    Err(why) => eprintln!("{why}"),
                }
            }
            return;
        }
        _ => (),
    }
    let mut next = |otherwise: f64| given.next().and_then(|a| a.parse().ok()).unwrap_or(otherwise);
    let (count, seconds, tolerance) = (next(200.0) as usize, next(1.2), next(1e-6));
    let law = std::env::args().nth(4).unwrap_or(RIGID.into());
    let stack = stiction::read(format!("{}/../../scenes/stack-of-ten.toml", env!("CARGO_MANIFEST_DIR")));
    run("ten boxes, tolerance of the scene", stack.expect("a valid scene"), seconds.min(0.5));
    let side = side(count);
    let scene = stiction::from_toml("piles", &spheres(count, side, tolerance, &law)).expect("a valid scene");
    run(&format!("{count} spheres in layers of {side} x {side}, tolerance {tolerance:e}"), scene, seconds);
}
