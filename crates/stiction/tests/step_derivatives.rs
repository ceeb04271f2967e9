//! Derivatives of steps against central differences of steps, over scenes with every kind of contact and joint.

use std::sync::Arc;
use stiction::boundary::{Parameters, displace, separation, step_with_derivatives, tangent_size};
use stiction::inputs::Inputs;
use stiction::model::Model;
use stiction::scene::Scene;
use stiction::state::State;
use stiction::stepper::Stepper;

/// Numbers between -1 and 1, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn scene(text: &str) -> Scene {
    stiction::from_toml("test", text).unwrap()
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
    if std::env::var("SHOW").is_ok() {
        d.notes().for_each(|n| eprintln!("{n:?}"));
    }
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
    // forces that are not unique have a matrix with a condition of 1e8
    assert!((forth - back).abs() <= 1e-6 * forth.abs().max(1.0), "adjoint: {forth} {back}");
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
                assert!(off < 1e-6 && notes == 0, "{law} theta {theta} mu {mu}: {off:e}\n{text}");
            }
        }
    }
}

/// The point travels with both bodies in the ratio in which it lies between them.
#[test]
fn contact_points_anywhere_in_the_overlap() {
    let bodies = |second: &str| {
        format!(
            "[[body]]\nname = \"a\"\nmaterial = \"hard\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1.0\nposition = [0, 0, 0.095]\nvelocity = [1.0, 0.3, -0.2]\nangular_velocity = [1, 3, 2]\n{second}"
        )
    };
    let other = "[[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { ellipsoid = { semi_axes = [0.1, 0.15, 0.2] } }\nmass = 2.0\nposition = [0.02, 0.01, 0.385]\nvelocity = [0, 0.4, -0.3]\nangular_velocity = [-2, 1, 0]\n";
    let hard = "[[material]]\nname = \"hard\"\nfriction = 0.5\n";
    let hertz = "young = 1e6\nlaw = { hertz_mindlin = { radius = 0.1, damping_time = 1e-3 } }";
    for (law, theta, young) in [(SOFT, 0.0, ""), (SOFT, 0.5, ""), (hertz, 0.0, "young = 3e5\n")] {
        for point in ["first", "second", "compliance"] {
            for mu in [0.1, 0.9] {
                let step = format!("[step]\nh = 1e-3\nexplicit_share = {theta}\n{TIGHT}\n");
                let pair = format!("[[pair]]\nmaterials = [\"hard\", \"m\"]\ncontact_point = \"{point}\"\n");
                let text = format!("{step}{pair}{hard}{young}{}{}", ground(law, mu), bodies(other));
                let (off, notes) = worst(&scene(&text), 6, 0.02, 3);
                assert!(off < 1e-6 && notes == 0, "{law} theta {theta} mu {mu} {point}: {off:e}");
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
        shape = { ellipsoid = { semi_axes = [0.1, 0.15, 0.2] } }
        mass = 2.0
        position = [0.2005, 0.02, 0.03]
        velocity = [-0.5, 0.1, 0.2]
        [[load]]
        body = "a"
        force = { constant = [40, 0, 0] }
        [[load]]
        body = "b"
        force = { constant = [-40, 0, 0] }
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
    let low =
        "[[world]]\nname = \"low\"\nmaterial = \"m\"\nshape = \"half_space\"\nposition = [0, 0, -0.1065]\n";
    let planar = "planar = true\n[[body]]\nname = \"disc\"\nmaterial = \"m\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [0, 0.0999]\nvelocity = [1, -0.5]\nangular_velocity = 3\n[[world]]\nname = \"ground\"\nmaterial = \"m\"\nshape = \"half_space\"\n[[material]]\nname = \"m\"\nfriction = 0.3\n";
    // a limit and friction that hold one joint at rest share their load in many ways
    let limited = pendulum.replace(", friction = 0.3", "");
    let cases: Vec<(&str, String, usize)> = vec![
        ("hertz", format!("{}{}{}", step(0.0), ground(hertz, 0.3), ball("")), 5),
        ("torsion", format!("{}{}{}", step(0.0), ground(torsion, 0.3), ball("")), 5),
        ("torsion stick", format!("{}{}{}", step(0.0), ground(torsion, 5.0), ball("")), 40),
        ("grain rigid", format!("{}{}{}{grain}", step(0.0), ground(RIGID, 0.3), ball("")), 5),
        ("grain soft", format!("{}{}{}{grain}", step(0.0), ground(SOFT, 0.3), ball("")), 5),
        ("two", format!("{}{two}", step(0.0)), 2),
        (
            "pendulum",
            format!(
                "{}{}{low}{limited}",
                step(0.0),
                ground(RIGID, 0.3)
                    .replace("[[world]]\nname = \"ground\"\nmaterial = \"m\"\nshape = \"half_space\"\n", "")
            ),
            8,
        ),
        (
            "pendulum soft",
            format!(
                "{}{}{low}{limited}",
                step(0.4),
                ground(SOFT, 0.3)
                    .replace("[[world]]\nname = \"ground\"\nmaterial = \"m\"\nshape = \"half_space\"\n", "")
            ),
            8,
        ),
        // before the arm reaches its limit; there friction is at its bound without motion, and the notes say so
        (
            "pendulum with friction",
            format!(
                "{}{}{low}{pendulum}",
                step(0.4),
                ground(SOFT, 0.3)
                    .replace("[[world]]\nname = \"ground\"\nmaterial = \"m\"\nshape = \"half_space\"\n", "")
            ),
            1,
        ),
        ("planar", format!("{planar}{}", step(0.0)), 3),
    ];
    let mut bad = vec![];
    for (name, text, steps) in cases {
        // some of the steps may be at a point where regimes meet
        let found: Vec<(f64, usize)> =
            (steps..steps + 4).map(|steps| worst(&scene(&text), steps, 0.02, 5)).collect();
        let exact: Vec<f64> = found.iter().filter(|(_, notes)| *notes == 0).map(|(off, _)| *off).collect();
        if exact.len() < 2 || exact.iter().any(|off| *off > 2e-5) {
            bad.push((name, found));
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

/// A ball with a load that slides and then rolls on soft ground.
const ROLLING: &str = r#"
    gravity = [0.1, 0, -9.81]
    [[material]]
    name = "m"
    friction = 0.3
    law = { kelvin_voigt = { stiffness = [2e4, 1e4], damping = [60, 40] } }
    [[world]]
    name = "ground"
    material = "m"
    shape = "half_space"
    [[body]]
    name = "ball"
    material = "m"
    shape = { sphere = { radius = 0.1 } }
    mass = 1.0
    inertia = [0.004, 0.005, 0.0045]
    center = [0, 0.001, 0]
    position = [0, 0, 0.0999]
    velocity = [1.0, 0.3, -0.1]
    angular_velocity = [1, 3, 2]
    [[load]]
    body = "ball"
    force = { constant = [0.5, 0.2, 0] }
"#;

/// The state after a run, as numbers.
fn end(scene: &Scene, steps: usize) -> (Arc<Model>, State) {
    let model = Arc::new(Model::new(scene).unwrap());
    let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
    for _ in 0..steps {
        let _ = stepper.step(&mut state).unwrap();
    }
    (model, state)
}

#[test]
fn runs_are_differentiated_by_parameters_of_every_kind() {
    let text = format!("{ROLLING}\n[step]\nh = 1e-3\n{TIGHT}\n");
    let base = scene(&text);
    let paths: Vec<String> = [
        "material[m].friction",
        "material[m].law.kelvin_voigt.stiffness[0]",
        "material[m].law.kelvin_voigt.damping[1]",
        "body[ball].mass",
        "body[ball].inertia[1]",
        "body[ball].center[1]",
        "gravity[0]",
        "gravity[2]",
        "load[0].force.constant[0]",
        "body[ball].velocity[0]",
        "body[ball].angular_velocity[1]",
        "body[ball].position[2]",
    ]
    .map(str::to_owned)
    .to_vec();
    let parameters = Parameters::new(&base, &paths).unwrap();
    let steps = 60;
    let model = Arc::new(Model::new(&base).unwrap());
    let n = model.system().velocity_size();
    let directions: Vec<(Vec<f64>, Vec<f64>)> = (0..paths.len())
        .map(|k| {
            let mut p = vec![0.0; paths.len()];
            p[k] = 1.0;
            (parameters.start(k).to_vec(), p)
        })
        .collect();
    let mut stepper = Stepper::of(model.clone());
    let h = vec![1e-3; steps];
    let run =
        stiction::boundary::forward(&mut stepper, &model.initial(), h.clone(), &directions, &parameters);
    let run = run.unwrap();
    assert_eq!(run.noted, 0);
    for (k, path) in paths.iter().enumerate() {
        let value = parameters.value(k).unwrap();
        let e = 1e-6 * value.abs().max(1e-3);
        let at = |x: f64| {
            let mut other = base.clone();
            other.set(path, &format!("{x:e}")).unwrap();
            end(&other, steps).1
        };
        let (plus, minus) = (at(value + e), at(value - e));
        let found: Vec<f64> = separation(&model, &plus, &minus).iter().map(|x| x / (2.0 * e)).collect();
        let scale = found.iter().fold(1e-9f64, |m, x| m.max(x.abs()));
        for i in 0..2 * n {
            let off = (run.tangents[k][i] - found[i]).abs() / scale;
            assert!(off < 2e-4, "{path}, row {i}: {} against {}", run.tangents[k][i], found[i]);
        }
    }
    // the gradient of one number of the end, by the adjoint, has the same entries
    let mut y = vec![0.0; 2 * n];
    (y[0], y[n + 4]) = (1.0, 0.5);
    let weights = y.clone();
    let (_, gradient) =
        stiction::boundary::adjoint(&mut stepper, &model.initial(), &h, &parameters, |_| weights).unwrap();
    for k in 0..paths.len() {
        let forth: f64 = y.iter().zip(&run.tangents[k]).map(|(y, x)| y * x).sum();
        let start: f64 = parameters.start(k).iter().zip(&gradient.state).map(|(a, b)| a * b).sum();
        let back = gradient.parameters[k] + start;
        assert!((forth - back).abs() < 1e-8 * forth.abs().max(1e-6), "{}: {forth} {back}", paths[k]);
    }
}

#[test]
fn what_moves_features_is_refused_by_path() {
    let base = scene(ROLLING);
    for (path, word) in [
        ("body[ball].shape.sphere.radius", "contact features"),
        ("step.h", "the step"),
        ("body[ball].mas", "unknown path"),
        ("body[ball].name", "not a number"),
    ] {
        let mut base = base.clone();
        base.step.h = 1e-3;
        let faults = Parameters::new(&base, &[path.to_owned()]).unwrap_err();
        assert!(faults[0].to_string().contains(word), "{path}: {}", faults[0]);
    }
}

#[test]
fn derivatives_make_no_steps() {
    let model = Arc::new(Model::new(&scene(ROLLING)).unwrap());
    let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
    for k in 1..=20 {
        let (report, d) =
            step_with_derivatives(&mut stepper, &mut state, &Inputs::default(), 1e-3, &Parameters::default())
                .unwrap();
        assert_eq!(stepper.workspace().attempts, k, "{report:?}");
        let x = d.forward(&vec![1.0; d.size_before()], &[1.0; 6], &[]);
        let y = d.adjoint(&vec![1.0; d.size_after()]);
        assert!(x.iter().chain(&y.state).chain(&y.efforts).all(|x| x.is_finite()));
        assert_eq!(stepper.workspace().attempts, k);
    }
}

#[test]
fn points_where_regimes_meet_are_reported_with_the_choice() {
    // a box at rest on a slope at exactly the friction angle: friction at its limit, no slip
    let text = "gravity = [3, 0, -10]\n[[material]]\nname = \"default\"\nfriction = 0.3\n[[world]]\nname = \"ground\"\nshape = \"half_space\"\n[[body]]\nname = \"ball\"\nshape = { box = { half = [0.1, 0.1, 0.02] } }\nmass = 1\nposition = [0, 0, 0.02]\n";
    let mut base = scene(text);
    base.step.friction = stiction::scene::FrictionKind::Cone;
    let model = Arc::new(Model::new(&base).unwrap());
    let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
    let (_, d) =
        step_with_derivatives(&mut stepper, &mut state, &Inputs::default(), 1e-3, &Parameters::default())
            .unwrap();
    assert!(!d.is_exact());
    assert!(
        d.notes().all(|n| n.choice.contains("stick") || n.choice.contains("open")),
        "{:?}",
        d.notes().collect::<Vec<_>>()
    );
}

#[test]
fn efforts_and_step_lengths_are_differentiated() {
    let text = format!("{ROLLING}\n[step]\nh = 1e-3\n{TIGHT}\n");
    let model = Arc::new(Model::new(&scene(&text)).unwrap());
    let n = model.system().velocity_size();
    let mut stepper = Stepper::of(model.clone());
    let mut state = model.initial();
    for _ in 0..5 {
        let _ = stepper.step(&mut state).unwrap();
    }
    let start = state.clone();
    let lengths = Parameters::default().with_duration();
    let (_, d) = step_with_derivatives(&mut stepper, &mut state, &Inputs::default(), 1e-3, &lengths).unwrap();
    let none = vec![0.0; d.size_before()];
    for k in 0..=n {
        let (efforts, dh) = if k < n { (true, 0.0) } else { (false, 1.0) };
        let mut push = vec![0.0; n];
        if efforts {
            push[k] = 1.0;
        }
        let exact = d.forward(&none, &push, &[dh]);
        let e = if efforts { 1e-3 } else { 1e-6 };
        let at = |by: f64| {
            let mut other = start.clone();
            let inputs = Inputs { efforts: push.iter().map(|x| by * x).collect(), ..Inputs::default() };
            let h = 1e-3 * (1.0 + if efforts { 0.0 } else { by });
            let _ = stepper_at(&model).step_by(&mut other, &inputs, h).unwrap();
            other
        };
        let found = difference(&model, &at(e), &at(-e));
        let scale = found.iter().fold(1e-6f64, |m, x| m.max((x / (2.0 * e)).abs()));
        for (a, b) in exact.iter().zip(&found) {
            assert!((a - b / (2.0 * e)).abs() < 1e-5 * scale, "input {k}: {a} {}", b / (2.0 * e));
        }
    }
}

/// Random bodies of all shapes that fall on each other and on the ground, rigid and compliant.
#[test]
fn random_scenes() {
    let mut exact = 0;
    for seed in 0..24u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        for _ in 0..5 {
            random.next();
        }
        let law = if seed % 2 == 0 { RIGID } else { SOFT };
        let theta = if seed % 4 == 3 { 0.4 } else { 0.0 };
        let mu = 0.2 + 0.4 * (1.0 + random.next());
        let mut text = format!("[step]\nh = 1e-3\nexplicit_share = {theta}\n{TIGHT}\n{}", ground(law, mu));
        let shapes = [
            "{ sphere = { radius = 0.1 } }",
            "{ box = { half = [0.1, 0.07, 0.09] } }",
            "{ ellipsoid = { semi_axes = [0.12, 0.08, 0.1] } }",
            "{ capsule = { radius = 0.06, half_length = 0.08 } }",
        ];
        for k in 0..3 {
            let shape = shapes[(seed as usize + k) % shapes.len()];
            let place = [0.05 * random.next(), 0.05 * random.next(), 0.16 + 0.22 * k as f64];
            let axis = [random.next(), random.next(), random.next()];
            let spin = [random.next(), random.next(), random.next()];
            text += &format!(
                "[[body]]\nname = \"b{k}\"\nmaterial = \"m\"\nshape = {shape}\nmass = {}\nposition = {place:?}\norientation = {{ axis = {axis:?}, angle = 1.3 }}\nvelocity = [0.3, 0.1, -0.5]\nangular_velocity = {spin:?}\n",
                1.0 + k as f64
            );
        }
        let steps = 60 + 13 * (seed as usize % 7);
        let (off, notes) = worst(&scene(&text), steps, 0.1, seed);
        if notes == 0 {
            assert!(off < 1e-4, "seed {seed}: {off:e}\n{text}");
            exact += 1;
        }
    }
    assert!(exact >= 16, "{exact} of 24 without a one-sided choice");
}
