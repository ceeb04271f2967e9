//! A step allocates nothing once its memory has grown.
#![allow(missing_docs)]

#[path = "../../complementarity/tests/allocations/mod.rs"]
mod allocations;
#[allow(clippy::unwrap_used)]
mod capstan;

use allocations::count;
use std::path::Path;
use std::sync::Arc;
use stiction::contact::Law;
use stiction::scene::{ForceTime, FrictionKind, Method, Scene};
use stiction::state::{SolverMemory, State};
use stiction::step::StepReport;
use stiction::stepper::Stepper;

#[test]
fn steps_allocate_nothing_after_the_first_ones() {
    use FrictionKind::{Cone, Pyramid};
    use Method::{Auto, Lemke};
    // first ones: the ellipse slips and lifts elements until its memory has grown to all it needs
    for (name, runs, first, counted) in [
        ("song2004/ellipse-1e-10.toml", &[(Pyramid, Lemke), (Cone, Auto)][..], 2000, 5000),
        // the first search for a solution at rest comes late
        ("song2004/ellipse-rigid.toml", &[(Pyramid, Lemke), (Cone, Auto)], 5000, 2000),
        ("sphere-on-plane.toml", &[(Pyramid, Lemke), (Pyramid, Auto), (Cone, Auto)], 5, 500),
        ("box-on-slope.toml", &[(Pyramid, Lemke), (Pyramid, Auto), (Cone, Auto)], 5, 500),
        ("sliding-sphere.toml", &[(Pyramid, Lemke), (Pyramid, Auto), (Cone, Auto)], 5, 900),
        ("chain.toml", &[(Cone, Auto)], 5, 500),
        ("stack-of-ten.toml", &[(Pyramid, Auto), (Cone, Auto)], 100, 500),
        ("grain.toml", &[(Cone, Auto)], 5, 450),
        ("four-legged-table-elastic.toml", &[(Cone, Auto)], 100, 500),
        ("machines/conveyor.toml", &[(Cone, Auto)], 1500, 300),
        ("machines/wedge.toml", &[(Cone, Auto)], 50, 200),
    ] {
        for &run in runs {
            allocates_nothing(name, (first, counted), |s| (s.step.friction, s.step.solver) = run);
        }
    }
}

#[test]
fn a_law_that_varies_allocates_nothing_either() {
    let hertz = |s: &mut Scene| {
        for m in &mut s.materials {
            (m.young, m.law) = (Some(2e9), Law::HertzMindlin { radius: 0.05, time: 1e-4 }.into());
        }
    };
    allocates_nothing("box-on-slope.toml", (100, 1000), hertz);
    // while it is in contact: steps 200 to 1250
    for friction in [FrictionKind::Cone, FrictionKind::Pyramid] {
        allocates_nothing("hertz-impact.toml", (210, 1000), |s| s.step.friction = friction);
    }
}

#[test]
fn implicit_forces_allocate_nothing_either() {
    for name in ["box-on-slope.toml", "sliding-sphere.toml", "chain.toml"] {
        for theta in [0.0, 0.5] {
            let implicit =
                |s: &mut Scene| (s.step.explicit_share, s.step.forces) = (theta, Some(ForceTime::Theta));
            allocates_nothing(name, (5, 500), implicit);
        }
    }
}

#[test]
fn moments_of_friction_allocate_nothing_either() {
    allocates_nothing("spinning-sphere.toml", (5, 900), |_| ());
    allocates_nothing("rolling-resistance.toml", (5, 900), |_| ());
    for law in [Law::Rigid, Law::KelvinVoigt { stiffness: [1e6, 8e5], damping: [100.0, 100.0] }] {
        let with = |s: &mut Scene| {
            s.materials.iter_mut().for_each(|m| {
                (m.torsion, m.rolling, m.law) = (0.01, 0.001, law.clone().into());
            });
        };
        allocates_nothing("sliding-sphere.toml", (5, 900), with);
        // one step in the first ones is left to the proximal method
        allocates_nothing("box-on-slope.toml", (400, 500), with);
    }
}

/// Spheres that fall into a box whose floor holds `side` x `side` of them.
fn spheres(count: usize, side: usize) -> String {
    let half = 0.0525 * side as f64 + 0.05;
    let mut out = "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n".to_owned();
    for (k, axis, angle) in
        [(1.0, [0, 1, 0], -90), (-1.0, [0, 1, 0], 90), (1.0, [1, 0, 0], 90), (-1.0, [1, 0, 0], -90)]
    {
        let place = if axis[1] == 1 { [k * half, 0.0, 0.0] } else { [0.0, k * half, 0.0] };
        out += &format!(
            "[[world]]\nname = \"{angle} {axis:?}\"\nshape = \"half_space\"\nposition = {place:?}\n\
             orientation = {{ axis = {axis:?}, angle_deg = {angle} }}\n"
        );
    }
    for i in 0..count {
        let at = |k: usize, aside: f64| 0.105 * (k as f64 - 0.5 * (side as f64 - 1.0)) + 1e-3 * aside;
        let (x, y) =
            (at(i % side, (12.9898 * i as f64).sin()), at(i / side % side, (78.233 * i as f64).cos()));
        let z = 0.05 + 0.105 * (i / (side * side)) as f64;
        out += &format!(
            "[[body]]\nname = \"{i}\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = 0.5\nposition = [{x}, {y}, {z}]\n"
        );
    }
    out
}

/// A pile falls twice, the second time in the memory of the first.
fn falls_again_without_allocating(mut scene: Scene, steps: usize, hard: impl Fn(&StepReport) -> bool) {
    scene.step.duration = 1e-3 * steps as f64;
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let start = stepper.initial();
    let mut state = start.clone();
    let mut run = |state: &mut State, steps: usize| {
        (0..steps).filter(|_| hard(&stepper.step(state).expect("no step fails"))).count()
    };
    let first = run(&mut state, steps);
    let end = state.position.clone();
    state.time = 0.0;
    state.position.copy_from_slice(&start.position);
    state.velocity.copy_from_slice(&start.velocity);
    state.solver = SolverMemory::default();
    state.memory.clear();
    let mut second = run(&mut state, 1);
    let before = count();
    second += run(&mut state, steps - 1);
    assert_eq!(count() - before, 0, "allocations");
    println!("{first} of {steps} steps");
    assert!(first > 0 && first == second && end == state.position, "{first} {second}");
}

/// Boxes that come to rest one after another, each under a friction set of its own.
#[test]
fn mixed_friction_sets_allocate_nothing_either() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/friction-sets.toml");
    let scene = stiction::read(Path::new(path)).expect("a valid scene");
    falls_again_without_allocating(scene, 1000, |report| report.iterations > 0);
}

#[test]
fn steps_that_are_cut_allocate_nothing() {
    let mut scene = stiction::from_toml("pile", &spheres(20, 2)).expect("a valid scene");
    // it fails now and then
    scene.step.solver = Method::Newton;
    falls_again_without_allocating(scene, 850, |report| report.parts > 1);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn newton_through_bodies_allocates_nothing() {
    if !(std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")) {
        return;
    }
    let mut scene = stiction::from_toml("pile", &spheres(45, 3)).expect("a valid scene");
    scene.step.tolerance = 1e-6;
    falls_again_without_allocating(scene, 1300, |report| report.solver == "newton-through-bodies");
}

/// Bodies given by functions touch each other and a dome, under both schemes that step over contacts: closest points take no memory either.
#[test]
fn closest_points_of_functions_allocate_nothing() {
    let text = r#"
[[material]]
name = "default"
friction = 0.5
density = 1000
[[world]]
name = "dome"
shape = { superellipsoid = { semi_axes = [0.6, 0.5, 0.4], exponent = 2.5 } }
[[body]]
name = "cushion"
shape = { superellipsoid = { semi_axes = [0.1, 0.08, 0.06], exponent = 3 } }
position = [0, 0, 0.46]
[[body]]
name = "lens"
position = [0.005, 0, 0.57]
mass = 1
inertia = [2e-3, 2e-3, 2e-3]
[body.shape.intersection]
members = [
  { shape = { sphere = { radius = 0.1 } }, position = [0, 0, -0.05] },
  { shape = { sphere = { radius = 0.1 } }, position = [0, 0, 0.05] },
]
[[body]]
name = "pebble"
position = [0.01, 0, 0.67]
mass = 1
inertia = [2e-3, 2e-3, 2e-3]
[body.shape.polynomial]
terms = [
  { coefficient = 1e4, powers = [4, 0, 0] }, { coefficient = 1e4, powers = [0, 4, 0] }, { coefficient = 400, powers = [0, 0, 2] },
  { coefficient = -1, powers = [0, 0, 0] },
]
within = [[-0.1, -0.1, -0.05], [0.1, 0.1, 0.05]]
[step]
h = 1e-3
"#;
    for scheme in ["theta", "implicit"] {
        let scene =
            stiction::from_toml("functions", &format!("{text}scheme = \"{scheme}\"\n")).expect("a scene");
        let mut stepper = Stepper::new(scene).expect("a valid model");
        let mut state = stepper.initial();
        let (mut before, mut touching) = (0, 0);
        for step in 0..300 {
            if step == 150 {
                before = count();
            }
            let _ = stepper.step(&mut state).expect("no step fails");
            touching += stepper.elements().iter().filter(|e| e.force[0] > 0.0).count();
        }
        assert_eq!(count() - before, 0, "allocations with {scheme}");
        assert!(touching > 300, "{touching}");
    }
}

fn allocates_nothing(name: &str, (first, counted): (usize, usize), change: impl Fn(&mut Scene)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    let mut scene = stiction::read(&path).expect("a valid scene");
    change(&mut scene);
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..first {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    let before = count();
    for _ in 0..counted {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    assert_eq!(count() - before, 0, "allocations in {name}");
}

/// Twice as many steps take as many allocations: all are made before the first step or while memory grows.
#[test]
fn a_run_allocates_nothing_per_step() {
    use stiction::model::Model;
    use stiction::run::{Observer, Options, Progress, Summary, Until, run};
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/box-on-slope.toml");
    let model = Arc::new(Model::new(&stiction::read(&path).unwrap()).unwrap());
    let allocated = |steps: usize| {
        let (mut state, mut summary) = (model.initial(), Summary::default());
        let mut shown = 0;
        let mut progress = Progress::new(|_| shown += 1);
        let options = Options { until: Until::Steps(steps), unexamined: true, ..Options::default() };
        let observers: &mut [&mut dyn Observer] = &mut [&mut summary, &mut progress];
        let before = count();
        let _ = run(&model, &mut state, &options, observers).unwrap();
        count() - before
    };
    assert_eq!(allocated(2000), allocated(1000));
}

#[test]
fn loops_servos_and_drives_allocate_nothing_either() {
    // one leg at a time is lifted: contacts come and go until memory has grown
    allocates_nothing("machines/walker.toml", (3000, 2000), |_| ());
    allocates_nothing("machines/arm-gripper.toml", (1900, 500), |_| ());
}

#[test]
fn a_search_allocates_nothing_after_the_first_ones() {
    // its limit is 2.4817
    for share in [0.95, 0.99] {
        let mut scene = stiction::from_toml("scene", &capstan::capstan(20, share * 2.481_721_877)).unwrap();
        scene.step.h = 1e-2;
        let mut stepper = Stepper::new(scene).unwrap();
        let mut state = stepper.initial();
        let mut rested = 0;
        for _ in 0..20 {
            rested += usize::from(stepper.step(&mut state).unwrap().rested);
        }
        let before = count();
        for _ in 0..20 {
            rested += usize::from(stepper.step(&mut state).unwrap().rested);
        }
        assert_eq!(count() - before, 0, "{share} of the limit");
        assert!(rested > 5, "searched in {rested} steps");
    }
}
