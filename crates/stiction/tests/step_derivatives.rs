//! Derivatives of steps against central differences of steps, over scenes with every kind of contact and joint.

use std::sync::Arc;
use stiction::boundary::{Parameters, displace, separation, step_with_derivatives, tangent_size};
use stiction::inputs::Inputs;
use stiction::model::Model;
use stiction::scene::Scene;
use stiction::state::State;
use stiction::step::Stepper;

/// Numbers between -1 and 1, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn scene(text: &str) -> Scene {
    Scene::from_toml("test", text).unwrap()
}

/// All deformations of a state, in order.
fn deformations(state: &State) -> Vec<f64> {
    state.memory.iter().flat_map(|m| m.deformations.to_vec()).collect()
}

/// The state after a step, less the state after the same step from elsewhere.
fn difference(model: &Model, a: &State, b: &State) -> Vec<f64> {
    let mut out = separation(model, a, b);
    out.extend(deformations(a).iter().zip(deformations(b)).map(|(a, b)| a - b));
    out
}

/// Steps a scene, and compares the derivative of the last step with differences in all directions; the largest error,
/// relative to the size of each column, and how many steps had a note.
fn worst(scene: &Scene, steps: usize, shake: f64, seed: u64) -> (f64, usize) {
    let model = Arc::new(Model::new(scene).unwrap());
    let mut stepper = Stepper::of(model.clone());
    let mut state = model.initial();
    let mut random = Random(seed);
    let n = model.system().velocity_size();
    let tangent: Vec<f64> = (0..2 * n).map(|i| if i < n { 0.0 } else { shake * random.next() }).collect();
    displace(&model, &mut state, &tangent);
    let h = scene.step.h;
    for _ in 0..steps {
        let _ = stepper.step(&mut state).unwrap();
    }
    let start = state.clone();
    let none = Parameters::default();
    let (_, d) = step_with_derivatives(&mut stepper, &mut state, &Inputs::default(), h, &none).unwrap();
    let size = tangent_size(&model, &start);
    assert_eq!((d.size_before(), d.size_after()), (size, tangent_size(&model, &state)));
    let notes = d.notes().count();
    let mut worst = 0.0f64;
    for j in 0..size {
        let e = 1e-6;
        let at = |by: f64| {
            let mut unit = vec![0.0; size];
            unit[j] = by;
            let mut other = start.clone();
            displace(&model, &mut other, &unit);
            let _ = stepper_at(&model).step_by(&mut other, &Inputs::default(), h).unwrap();
            other
        };
        let (plus, minus) = (at(e), at(-e));
        let mut unit = vec![0.0; size];
        unit[j] = 1.0;
        let exact = d.forward(&unit, &[], &[]);
        let found = difference(&model, &plus, &minus);
        if found.len() != exact.len() {
            continue;
        }
        let scale = exact.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for (k, (a, b)) in exact.iter().zip(&found).enumerate() {
            let off = (a - b / (2.0 * e)).abs() / scale;
            if off > 1e-4 && std::env::var("SHOW").is_ok() {
                eprintln!("row {k} column {j}: {a} against {}", b / (2.0 * e));
            }
            worst = worst.max(off);
        }
    }
    // the adjoint is the transposed map
    let x: Vec<f64> = (0..size).map(|_| random.next()).collect();
    let y: Vec<f64> = (0..d.size_after()).map(|_| random.next()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (forth, back) = (dot(&d.forward(&x, &[], &[]), &y), dot(&d.adjoint(&y).state, &x));
    assert!((forth - back).abs() <= 1e-9 * forth.abs().max(1.0), "adjoint: {forth} {back}");
    (worst, notes)
}

fn stepper_at(model: &Arc<Model>) -> Stepper {
    Stepper::of(model.clone())
}

const TIGHT: &str = "tolerance = 1e-14";

#[test]
fn free_flight_and_joints() {
    let body = r#"
        [[body]]
        name = "rod"
        mass = 2.0
        center = [0.1, -0.05, 0.2]
        inertia = [0.3, 0.5, 0.6, 0.02, -0.03, 0.01]
        position = [0, 0, 5]
        orientation = { axis = [1, 2, 0.5], angle = 0.7 }
        angular_velocity = [3, -8, 5]
        velocity = [1, 2, 3]
    "#;
    let chain = r#"
        [[body]]
        name = "a"
        mass = 1.0
        center = [0.3, 0, 0]
        inertia = [0.01, 0.04, 0.05]
        joint = { revolute = { axis = [0, 0, 1] } }
        angle = 0.4
        angular_velocity = 4
        [[body]]
        name = "b"
        parent = "a"
        mass = 0.7
        center = [0.2, 0.1, 0]
        inertia = [0.02, 0.03, 0.02]
        joint = { revolute = { axis = [0, 1, 0.3] } }
        mount = { position = [0.6, 0, 0] }
        angular_velocity = -6
        [[body]]
        name = "c"
        parent = "b"
        mass = 0.5
        center = [0, 0.1, 0.1]
        inertia = [0.02, 0.01, 0.02, 0.001, 0, 0.002]
        joint = "spherical"
        mount = { position = [0.3, 0.1, 0] }
        angular_velocity = [1, 2, -3]
    "#;
    let flying = r#"
        [[body]]
        name = "base"
        mass = 1.0
        center = [0.05, 0, 0.02]
        inertia = [0.02, 0.04, 0.05]
        velocity = [1, 0, 2]
        angular_velocity = [2, 1, -3]
        [[body]]
        name = "arm"
        parent = "base"
        mass = 0.7
        center = [0.2, 0.1, 0]
        inertia = [0.02, 0.03, 0.02]
        joint = { revolute = { axis = [0, 1, 0.3] } }
        mount = { position = [0.6, 0, 0] }
        angular_velocity = -6
    "#;
    let springs = r#"
        [[spring]]
        from = { body = "base", point = [0.1, 0, 0] }
        to = { body = "arm", point = [0.3, 0.1, 0] }
        stiffness = 200
        damping = 3
        rest_length = 0.2
        [[spring]]
        from = { point = [0, 0, 2] }
        to = { body = "arm" }
        stiffness = 50
        damping = 1
        rest_length = 0.5
        [[load]]
        body = "base"
        point = [0.1, 0.2, 0]
        axes = "body"
        force = { constant = [3, 1, -2] }
        torque = { constant = [0.1, 0, 0.3] }
    "#;
    for theta in [0.0, 0.3, 0.5] {
        let step = format!("[step]\nh = 0.01\nexplicit_share = {theta}\n{TIGHT}\n");
        for text in [body, chain, flying, &format!("{flying}{springs}")] {
            let (off, notes) = worst(&scene(&format!("{step}{text}")), 3, 0.3, 7);
            assert!(off < 2e-6 && notes == 0, "theta {theta}: {off:e}\n{text}");
        }
    }
}

/// A compliant or rigid material, and friction.
fn ground(law: &str, friction: f64) -> String {
    format!(
        "[[material]]\nname = \"m\"\nfriction = {friction}\n{law}\n[[world]]\nname = \"ground\"\nmaterial = \"m\"\nshape = \"half_space\"\n"
    )
}

const RIGID: &str = "";
const SOFT: &str = "law = { kelvin_voigt = { stiffness = [2e4, 1e4], damping = [60, 40] } }";

#[test]
fn spheres_and_boxes_on_a_plane() {
    let sphere = r#"
        [[body]]
        name = "ball"
        material = "m"
        shape = { sphere = { radius = 0.1 } }
        mass = 1.0
        position = [0, 0, 0.1]
        velocity = [1.0, 0.3, -0.2]
        angular_velocity = [1, 3, 2]
    "#;
    let tilted = r#"
        [[body]]
        name = "box"
        material = "m"
        shape = { box = { half = [0.1, 0.15, 0.05] } }
        mass = 1.0
        orientation = { axis = [1, 0.4, 0.1], angle = 0.5 }
        position = [0, 0, 0.127]
        velocity = [1.0, 0.3, -0.5]
        angular_velocity = [1, -0.3, 2]
    "#;
    let flat = r#"
        [[body]]
        name = "box"
        material = "m"
        shape = { box = { half = [0.1, 0.15, 0.05] } }
        mass = 1.0
        position = [0, 0, 0.05]
        velocity = [0.8, 0.3, 0]
        angular_velocity = [0, 0, 1.5]
    "#;
    for (law, theta) in [(RIGID, 0.0), (SOFT, 0.0), (SOFT, 0.5)] {
        for (text, steps) in [(sphere, 6), (tilted, 8), (flat, 4)] {
            for mu in [0.0, 0.2, 0.9] {
                let step = format!("[step]\nh = 1e-3\nexplicit_share = {theta}\n{TIGHT}\n");
                let text = format!("{step}{}{text}", ground(law, mu));
                let (off, notes) = worst(&scene(&text), steps, 0.02, 3);
                eprintln!("{law:.12} theta {theta} mu {mu}: {off:e}, {notes} notes");
            }
        }
    }
}

#[test]
fn other_laws_joints_and_shapes() {
    let ball = |more: &str| {
        format!(
            "[[body]]\nname = \"ball\"\nmaterial = \"m\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1.0\nposition = [0, 0, 0.1]\nvelocity = [1.0, 0.3, -0.2]\nangular_velocity = [1, 3, 2]\n{more}"
        )
    };
    let step = |theta: f64| format!("[step]\nh = 1e-3\nexplicit_share = {theta}\n{TIGHT}\n");
    let hertz = "young = 1e7\npoisson = 0.3\nlaw = { hertz_mindlin = { radius = 0.1, damping_time = 1e-3 } }";
    let torsion = "torsion = 0.01\nrolling = 0.005";
    let grain = "[[pair]]\nbodies = [\"ball\", \"ground\"]\nfriction = 0.2\ngrain = { body = \"ball\", along = [0.6, 0.8, 0], across = 0.4 }\n";
    let two = r#"
        [[body]]
        name = "a"
        shape = { sphere = { radius = 0.1 } }
        mass = 1.0
        velocity = [0.5, 0.1, 0]
        angular_velocity = [0, 2, 1]
        [[body]]
        name = "b"
        shape = { ellipsoid = { half = [0.1, 0.15, 0.2] } }
        mass = 2.0
        position = [0.1995, 0.02, 0.03]
        velocity = [-0.5, 0.1, 0.2]
    "#;
    let pendulum = r#"
        [[body]]
        name = "arm"
        mass = 1.0
        center = [0.2, 0, 0]
        inertia = [0.01, 0.02, 0.03]
        joint = { revolute = { axis = [0, 1, 0], limits = [-0.5, 0.012], friction = 0.3 } }
        angular_velocity = 2
        [[body]]
        name = "tip"
        parent = "arm"
        material = "m"
        mass = 0.5
        mount = { position = [0.5, 0, 0] }
        joint = { revolute = { axis = [0, 1, 0] } }
        shape = { sphere = { radius = 0.1 } }
        angular_velocity = 1
    "#;
    let low = "[[world]]\nname = \"low\"\nmaterial = \"m\"\nshape = \"half_space\"\nposition = [0, 0, -0.1065]\n";
    let planar = "planar = true\n[[body]]\nname = \"disc\"\nmaterial = \"m\"\nshape = { disc = { radius = 0.1 } }\nmass = 1\nposition = [0, 0.0999]\nvelocity = [1, -0.5]\nangular_velocity = 3\n[[world]]\nname = \"ground\"\nmaterial = \"m\"\nshape = \"half_space\"\n[[material]]\nname = \"m\"\nfriction = 0.3\n";
    let cases: Vec<(&str, String, usize)> = vec![
        ("hertz", format!("{}{}{}", step(0.0), ground(hertz, 0.3), ball("")), 5),
        ("torsion", format!("{}{}{}", step(0.0), ground(torsion, 0.3), ball("")), 5),
        ("torsion stick", format!("{}{}{}", step(0.0), ground(torsion, 5.0), ball("")), 40),
        ("grain rigid", format!("{}{}{}{grain}", step(0.0), ground(RIGID, 0.3), ball("")), 5),
        ("grain soft", format!("{}{}{}{grain}", step(0.0), ground(SOFT, 0.3), ball("")), 5),
        ("two", format!("{}{two}", step(0.0)), 2),
        ("pendulum", format!("{}{}{low}{pendulum}", step(0.0), ground(RIGID, 0.3).replace("[[world]]\nname = \"ground\"\nmaterial = \"m\"\nshape = \"half_space\"\n", "")), 8),
        ("pendulum soft", format!("{}{}{low}{pendulum}", step(0.4), ground(SOFT, 0.3).replace("[[world]]\nname = \"ground\"\nmaterial = \"m\"\nshape = \"half_space\"\n", "")), 8),
        ("planar", format!("{planar}{}", step(0.0)), 3),
    ];
    let mut bad = vec![];
    for (name, text, steps) in cases {
        let (off, notes) = worst(&scene(&text), steps, 0.02, 5);
        eprintln!("{name}: {off:e}, {notes} notes");
        if off > 2e-5 || notes > 0 {
            bad.push(name);
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}
