//! Derivatives of steps of machines, with loops, gears, drives, springs and stops, against central differences of steps.

use std::sync::Arc;
use stiction::boundary::{
    Parameters, StepDerivative, displace, forward, separation, step_with_derivatives, tangent_size,
};
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

    fn vector(&mut self) -> [f64; 3] {
        [self.next(), self.next(), self.next()]
    }
}

fn scene(text: &str) -> Scene {
    stiction::from_toml("test", text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Distance of the points of central differences.
const APART: f64 = 1e-5;

/// The derivative of a step after `steps` steps, with the state before it.
fn derivative(model: &Arc<Model>, steps: usize, parameters: &Parameters) -> (State, StepDerivative) {
    let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
    for _ in 0..steps {
        let _ = stepper.step(&mut state).unwrap();
    }
    let start = state.clone();
    let h = model.scene().step.h;
    let (_, d) = step_with_derivatives(&mut stepper, &mut state, &Inputs::default(), h, parameters).unwrap();
    (start, d)
}

/// Largest error of columns of a derivative, each relative to its size, but at least 1.
fn off(exact: &[f64], plus: &[f64], by: f64) -> f64 {
    let scale = exact.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    exact.iter().zip(plus).map(|(a, b)| (a - b / (2.0 * by)).abs() / scale).fold(0.0, f64::max)
}

/// Compares the derivative of a step with differences in all directions that steps take: those that break redundant
/// loops fail, and in some a rope tightens between the two ends of the difference. The largest error, the notes, and the directions compared.
fn worst(text: &str, steps: usize) -> (f64, Vec<String>, usize) {
    let model = Arc::new(Model::new(&scene(text)).unwrap());
    let (start, d) = derivative(&model, steps, &Parameters::default());
    let (size, n) = (tangent_size(&model, &start), model.system().velocity_size());
    let motors = model.scene().motors.len();
    let h = model.scene().step.h;
    let mut stepper = Stepper::of(model.clone());
    let mut at = |tangent: &[f64], inputs: &Inputs| {
        let mut other = start.clone();
        displace(&model, &mut other, tangent);
        stepper.step_by(&mut other, inputs, h).ok().map(|_| other)
    };
    let (mut worst, mut compared) = (0.0f64, 0);
    let none = vec![0.0; size];
    for j in 0..2 * n {
        let mut unit = none.clone();
        unit[j] = 1.0;
        let exact = d.forward(&unit, &[], &[]);
        let [plus, minus] = [APART, -APART].map(|e| {
            let tangent: Vec<f64> = unit.iter().map(|x| e * x).collect();
            at(&tangent, &Inputs::default())
        });
        let middle = at(&none, &Inputs::default()).unwrap();
        if let (Some(plus), Some(minus)) = (plus, minus) {
            // differences to both sides differ where regimes change between
            let [a, b] = [separation(&model, &plus, &middle), separation(&model, &middle, &minus)];
            let size = a.iter().chain(&b).fold(APART, |m, x| m.max(x.abs()));
            if a.iter().zip(&b).any(|(a, b)| (a - b).abs() > 0.1 * size) {
                continue;
            }
            let own = off(&exact[..2 * n], &separation(&model, &plus, &minus), APART);
            if own > 1e-5 && std::env::var("SHOW").is_ok() {
                let found = separation(&model, &plus, &minus);
                let found: Vec<f64> = found.iter().map(|x| x / (2.0 * APART)).collect();
                eprintln!("direction {j}: {own:e}\n{exact:?}\n{found:?}");
            }
            worst = worst.max(own);
            compared += 1;
        }
    }
    // efforts, and targets of motors
    for k in 0..n + motors {
        let mut unit = vec![0.0; n + motors];
        unit[k] = 1.0;
        let exact = d.forward(&none, &unit, &[]);
        let [plus, minus] = [APART, -APART].map(|e| {
            let mut inputs = Inputs::default();
            if k < n {
                inputs.efforts = (0..n).map(|i| if i == k { e } else { 0.0 }).collect();
            } else {
                inputs.targets = vec![None; motors];
                inputs.targets[k - n] = Some(target(&model, &start, k - n, h) + e);
            }
            at(&none, &inputs)
        });
        if let (Some(plus), Some(minus)) = (plus, minus) {
            let own = off(&exact[..2 * n], &separation(&model, &plus, &minus), APART);
            assert!(own < 1e-5, "control {k}: {own:e}\n{text}");
        }
    }
    // the adjoint is the transposed map
    let mut random = Random(3);
    let x: Vec<f64> = (0..size).map(|_| random.next()).collect();
    let c: Vec<f64> = (0..n + motors).map(|_| random.next()).collect();
    let y: Vec<f64> = (0..d.size_after()).map(|_| random.next()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let back = d.adjoint(&y);
    let back = dot(&back.state, &x) + dot(&back.efforts, &c[..n]) + dot(&back.targets, &c[n..]);
    let forth = dot(&d.forward(&x, &c, &[]), &y);
    assert!((forth - back).abs() <= 1e-7 * forth.abs().max(1.0), "adjoint: {forth} {back}\n{text}");
    (worst, d.notes().map(|note| format!("{}: {}", note.name, note.choice)).collect(), compared)
}

/// Target of a motor in the step from a state.
fn target(model: &Model, state: &State, motor: usize, h: f64) -> f64 {
    let drive = &model.scene().motors[motor].drive;
    let effort = matches!(drive, stiction::model::resolved::Drive::Effort(_));
    drive.course().at(if effort { state.time } else { state.time + h })
}

/// An arm of two links on a column; `loops` and drives are added to it.
const ARM: &str = r#"
    [step]
    h = 2e-3
    tolerance = 1e-14
    [[body]]
    name = "a"
    mass = 1.0
    center = [0.3, 0, 0]
    inertia = [0.01, 0.04, 0.05]
    joint = { revolute = { axis = [0, 0, 1], A } }
    angle = 0.4
    angular_velocity = 2
    [[body]]
    name = "b"
    parent = "a"
    mass = 0.7
    center = [0.2, 0.1, 0]
    inertia = [0.02, 0.03, 0.02]
    joint = { revolute = { axis = [0, 1, 0.3], B } }
    mount = { position = [0.6, 0, 0] }
    angle = -0.3
    angular_velocity = -3
    [[body]]
    name = "c"
    parent = "b"
    mass = 0.4
    center = [0.1, 0, 0]
    inertia = [0.01, 0.01, 0.02]
    joint = { revolute = { axis = [0.2, 1, 0], C } }
    mount = { position = [0.4, 0.1, 0] }
    angular_velocity = 1.5
"#;

fn arm(joints: [&str; 3], more: &str) -> String {
    let mut text = ARM.to_owned();
    for (mark, own) in [", A }", ", B }", ", C }"].iter().zip(joints) {
        let own = if own.is_empty() { " }".to_owned() } else { format!(", {own} }}") };
        text = text.replace(mark, &own);
    }
    text + more
}

#[test]
fn drives_springs_gears_and_stops() {
    let motor = |body: &str, keys: &str| format!("[[motor]]\nbody = \"{body}\"\n{keys}\n");
    let none = ["", "", ""];
    let cases: Vec<(&str, String)> = vec![
        ("effort", arm(none, &motor("a", "effort = { constant = 2 }"))),
        ("velocity", arm(none, &motor("b", "velocity = { constant = -2 }"))),
        ("velocity bounded", arm(none, &motor("b", "velocity = { constant = 4 }\nmax_effort = 2"))),
        ("velocity servo", arm(none, &motor("b", "velocity = { constant = 1 }\ndamping = 3"))),
        (
            "path",
            arm(
                none,
                &motor(
                    "a",
                    "position = { sinusoid = { amplitude = 0.2, frequency = 2, phase = 0, offset = 0.4 } }",
                ),
            ),
        ),
        ("servo", arm(none, &motor("a", "position = { constant = 0.6 }\nstiffness = 80\ndamping = 4"))),
        (
            "servo at its bound",
            arm(
                none,
                &motor("a", "position = { constant = 1.6 }\nstiffness = 80\ndamping = 4\nmax_effort = 5"),
            ),
        ),
        (
            "spring, damper, armature",
            arm(["stiffness = 30, rest = 0.1, damping = 0.4", "armature = 0.05", "damping = 0.2"], ""),
        ),
        (
            "implicit forces",
            arm(
                ["stiffness = 30, rest = 0.1, damping = 0.4", "", ""],
                "[[spring]]\nfrom = {}\nto = { body = \"c\" }\nstiffness = 100\ndamping = 2\n",
            )
            .replace("h = 2e-3", "h = 2e-3\nforces = \"theta\""),
        ),
        (
            "stops that yield",
            arm(
                ["limits = [-1, 0.41], stop = { stiffness = 500, damping = 3 }", "limits = [-0.31, 1]", ""],
                "",
            ),
        ),
        ("gear", arm(none, "[[gear]]\njoints = [\"a\", \"c\"]\nratio = 1.5\noffset = 0.4\n")),
        (
            "gear that yields",
            arm(
                none,
                "[[gear]]\njoints = [\"a\", \"c\"]\nratio = 1.5\noffset = 0.3\nstiffness = 200\ndamping = 1\n",
            ),
        ),
        (
            "friction",
            arm(
                ["friction = 0.4", "friction = 50", ""],
                &motor("c", "position = { constant = 0.3 }\nstiffness = 20\ndamping = 1"),
            ),
        ),
    ];
    let mut bad = vec![];
    for (name, text) in cases {
        for steps in [1, 6] {
            let (off, notes, compared) = worst(&text, steps);
            if off > 1e-6 || !notes.is_empty() || compared < 6 {
                bad.push((name, steps, off, notes, compared));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

/// Two free bodies, the first held by a loop to the world, the second by a loop to the first.
fn pair(first: &str, second: &str, more: &str) -> String {
    format!(
        "[step]\nh = 2e-3\ntolerance = 1e-14\n\
         [[body]]\nname = \"a\"\nmass = 1.0\ncenter = [0.3, 0, 0.1]\ninertia = [0.01, 0.04, 0.05]\nposition = [0.1, 0.2, 0.3]\n\
         orientation = {{ axis = [1, 2, 3], angle = 0.6 }}\nvelocity = [0, 0, 0]\nangular_velocity = [1, -2, 1.5]\n\
         [[body]]\nname = \"b\"\nmass = 0.6\ncenter = [0.1, 0.2, 0]\ninertia = [0.02, 0.03, 0.02]\nposition = [0.1, 0.2, 0.3]\n\
         orientation = {{ axis = [0, 1, -1], angle = 0.4 }}\nangular_velocity = [-2, 1, 1]\n\
         [[loop]]\nname = \"first\"\n{first}\n[[loop]]\nname = \"second\"\n{second}\n{more}"
    )
}

#[test]
fn loops_of_all_kinds() {
    let world = "from = { point = [0.1, 0.2, 0.3] }\nto = { body = \"a\" }";
    let both = "from = { body = \"a\" }\nto = { body = \"b\" }";
    let soft = "stiffness = 3e3\ndamping = 20";
    let reach = "from = { body = \"a\", point = [0.5, 0, 0] }\nto = { body = \"b\", point = [0, 0.4, 0.1] }";
    let mut bad = vec![];
    for (name, text) in [
        ("point", pair(&format!("kind = \"point\"\n{world}"), &format!("kind = \"point\"\n{both}"), "")),
        (
            "hinge",
            pair(
                &format!("kind = \"hinge\"\naxis = [1, 0, 1]\n{world}"),
                &format!("kind = \"point\"\n{both}"),
                "",
            ),
        ),
        (
            "hinges",
            pair(
                &format!("kind = \"point\"\n{world}"),
                &format!("kind = \"hinge\"\naxis = [0.3, 1, 0]\n{both}"),
                "",
            ),
        ),
        ("weld", pair(&format!("kind = \"point\"\n{world}"), &format!("kind = \"weld\"\n{both}"), "")),
        (
            "distance",
            pair(&format!("kind = \"point\"\n{world}"), &format!("kind = \"distance\"\n{reach}"), ""),
        ),
        (
            "rope",
            pair(
                &format!("kind = \"point\"\n{world}"),
                &format!("kind = \"rope\"\n{reach}"),
                "[[load]]\nbody = \"b\"\nforce = { constant = [9, 3, 30] }\n",
            ),
        ),
        (
            "soft weld",
            pair(
                &format!("kind = \"weld\"\n{soft}\n{world}"),
                &format!("kind = \"weld\"\n{soft}\n{both}"),
                "",
            ),
        ),
        (
            "soft hinge",
            pair(
                &format!("kind = \"hinge\"\naxis = [1, 0, 1]\n{soft}\n{world}"),
                &format!("kind = \"hinge\"\naxis = [1, 2, 0]\n{soft}\n{both}"),
                "",
            ),
        ),
        (
            "soft distance",
            pair(
                &format!("kind = \"point\"\n{soft}\n{world}"),
                &format!("kind = \"distance\"\n{soft}\n{reach}"),
                "",
            ),
        ),
        (
            "arm on a rod",
            arm(
                ["", "", ""],
                "[[loop]]\nkind = \"distance\"\nfrom = { point = [0.2, 1, 0.4] }\nto = { body = \"c\", point = [0.2, 0, 0] }\n[[motor]]\nbody = \"a\"\nposition = { constant = 0.5 }\nstiffness = 60\ndamping = 2\n",
            ),
        ),
        (
            "driven arm on a rod",
            arm(
                ["", "", ""],
                "[[loop]]\nkind = \"distance\"\nfrom = { point = [0.2, 1, 0.4] }\nto = { body = \"c\", point = [0.2, 0, 0] }\n[[motor]]\nbody = \"a\"\nposition = { sinusoid = { amplitude = 0.2, frequency = 2, phase = 0, offset = 0.4 } }\n",
            ),
        ),
    ] {
        for steps in [1, 7] {
            let (off, notes, compared) = worst(&text, steps);
            if off > 1e-6 || !notes.is_empty() || compared < 6 {
                bad.push((name, steps, off, notes, compared));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

/// A planar four-bar in space: three of the five rows of its last hinge are redundant, and only the motion of the
/// linkage itself can be compared.
#[test]
fn redundant_loops_have_the_derivative_of_their_motion() {
    let bar = |name: &str, parent: &str, at: f64, angle: f64, length: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\n{parent}mass = 1\ncenter = [{}, 0, 0]\ninertia = [0.01, 0.03, 0.03]\n\
             joint = {{ revolute = {{ axis = [0, 0, 1] }} }}\nmount = {{ position = [{at}, 0, 0] }}\nangle = {angle}\n",
            0.5 * length
        )
    };
    // a parallelogram
    let text = format!(
        "gravity = [0, -9.81, 0]\n[step]\nh = 1e-3\ntolerance = 1e-14\n{}{}{}[[loop]]\nkind = \"hinge\"\naxis = [0, 0, 1]\n\
         from = {{ body = \"coupler\", point = [1, 0, 0] }}\nto = {{ body = \"rocker\", point = [0.4, 0, 0] }}\n",
        bar("crank", "", 0.0, 1.1, 0.4),
        bar("coupler", "parent = \"crank\"\n", 0.4, -1.1, 1.0),
        bar("rocker", "", 1.0, 1.1, 0.4),
    );
    let model = Arc::new(Model::new(&scene(&text)).unwrap());
    let h = 1e-3;
    let mut stepper = Stepper::of(model.clone());
    // the linkage moves by (1, -1, 1), whatever its angle
    let along = [1.0, -1.0, 1.0];
    let swing = |rate: f64| {
        let mut state = model.initial();
        (0..3).for_each(|i| state.velocity[i] = rate * along[i]);
        state
    };
    let mut end = |mut state: State| {
        let _ = stepper.step_by(&mut state, &Inputs::default(), h).unwrap();
        state
    };
    let (plus, minus) = (end(swing(2.0 + APART)), end(swing(2.0 - APART)));
    let mut state = swing(2.0);
    let (_, d) = step_with_derivatives(
        &mut Stepper::of(model.clone()),
        &mut state,
        &Inputs::default(),
        h,
        &Parameters::default(),
    )
    .unwrap();
    let exact = d.forward(&[0.0, 0.0, 0.0, 1.0, -1.0, 1.0], &[], &[]);
    let found = off(&exact, &separation(&model, &plus, &minus), APART);
    assert!(found < 1e-6, "{found:e}");
    // dq+ = h (1, -1, 1), to second order
    assert!((0..3).all(|i| (exact[i] - h * along[i]).abs() < 1e-5 * h), "{exact:?}");
}

/// Random machines: three links on joints of all kinds, with springs, drives and a loop.
#[test]
fn random_machines() {
    let joints = [
        "revolute = { axis = AXIS }",
        "prismatic = { axis = AXIS }",
        "screw = { axis = AXIS, pitch = 0.3 }",
        "cylindrical = { axis = AXIS, rotation = { damping = 0.2 } }",
        "universal = { axes = [AXIS, AXIS] }",
        "revolute = { axis = AXIS, stiffness = 20, damping = 0.3, armature = 0.02 }",
    ];
    let drives = [
        "effort = { constant = 1 }",
        "velocity = { constant = 0.7 }",
        "velocity = { constant = 0.7 }\nmax_effort = 0.5",
        "velocity = { constant = 0.7 }\ndamping = 2",
        "position = { constant = 0.2 }\nstiffness = 50\ndamping = 1",
        "position = { constant = 2 }\nstiffness = 50\ndamping = 1\nmax_effort = 3",
    ];
    let mut exact = 0;
    for seed in 0..30u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 17);
        (0..5).for_each(|_| {
            random.next();
        });
        let mut text = "[step]\nh = 2e-3\ntolerance = 1e-14\n".to_owned();
        for k in 0..3usize {
            let mut joint =
                joints[(seed as usize * 5 + 7 * k + (seed as usize) / 6) % joints.len()].to_owned();
            while let Some(at) = joint.find("AXIS") {
                let axis = random.vector().map(|x| x + 0.3);
                joint.replace_range(at..at + 4, &format!("{axis:?}"));
            }
            let parent = if k > 0 { format!("parent = \"b{}\"\n", k - 1) } else { String::new() };
            text += &format!(
                "[[body]]\nname = \"b{k}\"\n{parent}mass = {}\ncenter = {:?}\ninertia = [0.02, 0.03, 0.025]\njoint = {{ {joint} }}\nmount = {{ position = {:?} }}\n",
                1.0 + 0.3 * random.next(),
                random.vector().map(|x| 0.1 * x),
                random.vector().map(|x| 0.4 * x),
            );
        }
        text += &format!("[[motor]]\nbody = \"b{}\"\n{}\n", seed % 3, drives[seed as usize % drives.len()])
            .replace(
                "body = \"b1\"",
                if text.contains("universal") || text.contains("cylindrical") {
                    "dof = 0\nbody = \"b1\""
                } else {
                    "body = \"b1\""
                },
            );
        if seed % 2 == 0 {
            let soft = if seed % 4 == 0 { "" } else { "stiffness = 2e3\ndamping = 10\n" };
            text += &format!(
                "[[loop]]\nkind = \"distance\"\nfrom = {{ point = {:?} }}\nto = {{ body = \"b2\", point = [0.2, 0.1, 0] }}\n{soft}",
                random.vector().map(|x| 1.5 + x)
            );
        }
        let Ok(scene) = stiction::from_toml("test", &text) else {
            // a motor on a joint of several degrees of freedom
            continue;
        };
        if Model::new(&scene).is_err() {
            continue;
        }
        let (off, notes, compared) = worst(&text, 4);
        if notes.is_empty() {
            assert!(off < 1e-5 && compared > 4, "seed {seed}: {off:e}, {compared}\n{text}");
            exact += 1;
        }
    }
    assert!(exact >= 16, "{exact} of 30 compared");
}

/// A machine in contact: a driven finger, geared to another, closes on a ball that a rope holds.
const GRIPPER: &str = r#"
    planar = true
    gravity = [0, -9.81]
    [step]
    h = 1e-3
    tolerance = 1e-14
    [[material]]
    name = "m"
    friction = 0.4
    law = { kelvin_voigt = { stiffness = [2e4, 1e4], damping = [60, 40] } }
    [[body]]
    name = "left"
    mass = 0.5
    inertia = 0.002
    center = [0, -0.1]
    joint = { revolute = { damping = 0.05 } }
    mount = { position = [-0.15, 0.3] }
    angle = 0.02
    part = [{ shape = { sphere = { radius = 0.05 } }, position = [0, -0.3], material = "m" }]
    [[body]]
    name = "right"
    mass = 0.5
    inertia = 0.002
    center = [0, -0.1]
    joint = { revolute = {} }
    mount = { position = [0.15, 0.3] }
    angle = -0.02
    part = [{ shape = { sphere = { radius = 0.05 } }, position = [0, -0.3], material = "m" }]
    [[body]]
    name = "ball"
    mass = 0.3
    material = "m"
    shape = { sphere = { radius = 0.1 } }
    position = [0.001, 0.01]
    [[gear]]
    joints = ["left", "right"]
    ratio = -1
    [[motor]]
    body = "left"
    position = { constant = 0.1 }
    stiffness = 40
    damping = 2
    [[loop]]
    name = "string"
    kind = "rope"
    from = { point = [0.02, 0.5] }
    to = { body = "ball" }
    length = 0.492
"#;

#[test]
fn machines_in_contact_and_their_parameters() {
    for steps in [20, 35] {
        let (off, notes, compared) = worst(GRIPPER, steps);
        assert!(off < 1e-5 && notes.is_empty() && compared >= 8, "{steps}: {off:e} {notes:?} {compared}");
    }
    compare_parameters(
        GRIPPER,
        &[
            "motor[0].position.constant",
            "motor[0].stiffness",
            "motor[0].damping",
            "gear[0].ratio",
            "loop[0].length",
            "loop[0].from.point[0]",
            "body[left].joint.revolute.damping",
            "body[left].mass",
            "material[m].friction",
        ],
        (35, 1e-3),
    );
}

/// Derivatives of a run with the parameters of these paths and the length of its steps.
fn compare_parameters(text: &str, paths: &[&str], (steps, length): (usize, f64)) {
    let base = scene(text);
    let paths: Vec<String> = paths.iter().map(|p| (*p).to_owned()).collect();
    let parameters = Parameters::new(&base, &paths).unwrap();
    let model = Arc::new(Model::new(&base).unwrap());
    let end = |scene: &Scene, h: f64| {
        let model = Arc::new(Model::new(scene).unwrap());
        let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
        for _ in 0..steps {
            let _ = stepper.step_by(&mut state, &Inputs::default(), h).unwrap();
        }
        state
    };
    let directions: Vec<(Vec<f64>, Vec<f64>)> = (0..=paths.len())
        .map(|k| {
            let mut p = vec![0.0; paths.len() + 1];
            p[k] = 1.0;
            (parameters.start(k).to_vec(), p)
        })
        .collect();
    let parameters = parameters.with_duration();
    let mut stepper = Stepper::of(model.clone());
    let run = forward(&mut stepper, &model.initial(), vec![length; steps], &directions, &parameters).unwrap();
    for k in 0..=paths.len() {
        let (plus, minus, e) = match parameters.value(k) {
            Some(value) => {
                let e = 1e-5 * value.abs().max(1e-2);
                let at = |x: f64| {
                    let mut other = base.clone();
                    other.set(&paths[k], &format!("{x:e}")).unwrap();
                    end(&other, length)
                };
                (at(value + e), at(value - e), e)
            }
            None => (end(&base, length * (1.0 + 1e-6)), end(&base, length * (1.0 - 1e-6)), 1e-6),
        };
        let found: Vec<f64> = separation(&model, &plus, &minus).iter().map(|x| x / (2.0 * e)).collect();
        let scale = found.iter().fold(1e-6f64, |m, x| m.max(x.abs()));
        for (i, found) in found.iter().enumerate() {
            let own = (run.tangents[k][i] - found).abs() / scale;
            let name = paths.get(k).map_or("duration", String::as_str);
            assert!(own < 1e-3, "{name}, row {i}: {} against {found}", run.tangents[k][i]);
        }
    }
}

/// A ball that rolls on a turntable with a motor, and a disc that slips on it: the table carries both round.
const TURNTABLE: &str = r#"
    [step]
    h = 1e-2
    tolerance = 1e-14
    [[material]]
    name = "m"
    friction = 0.3
    [[body]]
    name = "table"
    mass = 3
    inertia = [0.2, 0.2, 0.4]
    center = [0.05, 0, 0]
    joint = { revolute = { axis = [0, 0, 1], damping = 0.1 } }
    mount = { position = [0, 0, -0.02] }
    angular_velocity = 3
    part = [{ shape = { cylinder = { radius = 1, half_length = 0.02 } }, material = "m" }]
    [[motor]]
    body = "table"
    velocity = { constant = 3.5 }
    damping = 2
    [[body]]
    name = "ball"
    mass = 0.3
    material = "m"
    shape = { sphere = { radius = 0.1 } }
    position = [0.2, 0, 0.1]
    velocity = [0.1, 0.2, 0]
    angular_velocity = [3, 0, 1]
    [[body]]
    name = "slow"
    mass = 0.5
    material = "m"
    shape = { sphere = { radius = 0.1 } }
    position = [-0.5, 0.1, 0.1]
    velocity = [0, 2, 0]
"#;

#[test]
fn bodies_on_a_turntable_and_their_parameters() {
    for steps in [3, 12] {
        let (off, notes, compared) = worst(TURNTABLE, steps);
        assert!(off < 1e-5 && notes.is_empty() && compared >= 8, "{steps}: {off:e} {notes:?} {compared}");
    }
    compare_parameters(
        TURNTABLE,
        &[
            "motor[0].velocity.constant",
            "motor[0].damping",
            "body[table].mass",
            "body[table].center[0]",
            "material[m].friction",
        ],
        (12, 1e-2),
    );
}

/// Nothing is stepped for derivatives of loops and drives either.
#[test]
fn derivatives_of_machines_make_no_steps() {
    let model = Arc::new(Model::new(&scene(GRIPPER)).unwrap());
    let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
    for k in 1..=20 {
        let (_, d) =
            step_with_derivatives(&mut stepper, &mut state, &Inputs::default(), 1e-3, &Parameters::default())
                .unwrap();
        let x = d.forward(&vec![1.0; d.size_before()], &[1.0; 6], &[]);
        let y = d.adjoint(&vec![1.0; d.size_after()]);
        assert!(x.iter().chain(&y.state).chain(&y.targets).all(|x| x.is_finite()));
        assert_eq!(stepper.workspace().attempts, k);
    }
}
