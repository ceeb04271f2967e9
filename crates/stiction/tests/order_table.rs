//! Order of the step in h by scheme, law, joint feature and event: the table of docs/convergence.md.
//!
//! Errors are those of coordinates at the end against closed forms, or against the equations of motion written out here and integrated by the classical Runge-Kutta rule.
//! `cargo test --release -p stiction --test order_table -- --nocapture --test-threads=1` prints the table.
#![allow(missing_docs)]

#[path = "orders/mod.rs"]
#[allow(dead_code)]
mod orders;

use orders::{apart, order};
use stiction::scene::Scene;
use stiction::stepper::Stepper;

const G: f64 = 9.81;

/// What is known of a rule.
#[derive(Clone, Copy)]
enum Asked {
    /// This order, within 0.25.
    Order(f64),
    /// At least this order: the place of an event in the step scatters the errors.
    AtLeast(f64),
    /// An error of at most this at every h.
    Error(f64),
}
use Asked::{AtLeast, Error, Order};

const THETA: &str = "explicit_share = 0";
const MIDDLE: &str = "explicit_share = 0.5";
const IMPLICIT: &str = "scheme = 'implicit'";
const MIDPOINT: &str = "scheme = 'implicit'\nexplicit_share = 0.5";
const COMPLIANT: &str = "scheme = 'compliant'";
const EVENT: &str = "scheme = 'event'";

/// Coordinates at the end of a scene with these step settings.
fn end(scene: &str, step: &str, h: f64, time: f64) -> Vec<f64> {
    let text = format!("{scene}\n[step]\nh = {h}\n{step}\n");
    let scene = Scene::from_toml("order", &text).unwrap_or_else(|e| panic!("a valid scene: {e}"));
    let mut stepper = Stepper::new(scene).unwrap_or_else(|e| panic!("a valid model: {e}"));
    let mut state = stepper.initial();
    for _ in 0..(time / h).round() as usize {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    state.position
}

/// Measures the orders of a scene, prints them, and compares. Where `exact` has fewer coordinates than the scene, these are the first.
fn measure(name: &str, scene: &str, (time, steps): (f64, [f64; 3]), exact: &[f64], rules: &[(&str, Asked)]) {
    for (step, asked) in rules {
        let errors = steps.map(|h| apart(&end(scene, step, h, time)[..exact.len()], exact));
        let found = order(&steps, &errors);
        let list: Vec<String> = errors.iter().map(|e| format!("{e:.1e}")).collect();
        let shown = if let Error(_) = asked { "any".to_owned() } else { format!("{found:.2}") };
        println!("| {name} | `{}` | {} | {shown} |", step.replace('\n', ", "), list.join(" | "));
        let good = match asked {
            Order(p) => (found - p).abs() < 0.25,
            AtLeast(p) => found > *p,
            Error(most) => errors.iter().all(|e| e <= most),
        };
        assert!(good, "{name}, {step}: order {found}, {errors:?}");
    }
}

/// Solution of `y' = f(t, y)` at `time` by the classical Runge-Kutta rule.
fn integrate<const N: usize>(mut y: [f64; N], time: f64, f: impl Fn(f64, [f64; N]) -> [f64; N]) -> [f64; N] {
    let steps = 20_000;
    let h = time / steps as f64;
    let plus = |y: [f64; N], a: f64, k: [f64; N]| std::array::from_fn::<f64, N, _>(|i| y[i] + a * k[i]);
    for n in 0..steps {
        let t = n as f64 * h;
        let k1 = f(t, y);
        let k2 = f(t + 0.5 * h, plus(y, 0.5 * h, k1));
        let k3 = f(t + 0.5 * h, plus(y, 0.5 * h, k2));
        let k4 = f(t + h, plus(y, h, k3));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    y
}

const FINE: [f64; 3] = [4e-3, 2e-3, 1e-3];

/// A mass of 1 kg on a slide along x.
fn slide(joint: &str, rest: &str) -> String {
    format!(
        "planar = true\ngravity = [0, 0]\n[[body]]\nname = 'mass'\nmass = 1\ninertia = 1\n\
         joint = {{ prismatic = {{ axis = [1, 0]{joint} }} }}\n{rest}"
    )
}

#[test]
fn springs_and_dampers() {
    // x'' + 2 x' + 100 x = 0
    let (t, w) = (0.4f64, 99f64.sqrt());
    let exact = [0.1 * (-t).exp() * ((w * t).cos() + (w * t).sin() / w)];
    let all = [
        (THETA, Order(1.0)),
        (MIDDLE, Order(2.0)),
        ("explicit_share = 1", Order(1.0)),
        (IMPLICIT, Order(1.0)),
        (MIDPOINT, Order(2.0)),
        (COMPLIANT, Error(1e-9)),
        (EVENT, Error(1e-9)),
    ];
    let joint = slide(", stiffness = 100, damping = 2", "position = 0.1\n");
    measure("joint: spring, damper", &joint, (t, FINE), &exact, &all);
    let between = slide(
        "",
        "position = 0.1\n[[spring]]\nfrom = { point = [-1, 0] }\nto = { body = 'mass' }\nstiffness = 100\ndamping = 2\nrest_length = 1\n",
    );
    measure("`[[spring]]` with damper", &between, (t, FINE), &exact, &all);
    let servo = slide(
        "",
        "position = 0.1\n[[motor]]\nbody = 'mass'\nposition = { constant = 0 }\nstiffness = 100\ndamping = 2\n",
    );
    let of_rows =
        [(THETA, Order(1.0)), (IMPLICIT, Order(1.0)), (COMPLIANT, Error(1e-9)), (EVENT, Error(1e-9))];
    measure("servo", &servo, (t, FINE), &exact, &of_rows);
}

#[test]
fn a_load_that_varies() {
    let text = slide(
        "",
        "[[motor]]\nbody = 'mass'\neffort = { sinusoid = { amplitude = 1, frequency = 2, phase = 1 } }\n",
    );
    let (t, w) = (0.4f64, 4.0 * std::f64::consts::PI);
    let exact = [t * 1f64.cos() / w - ((w * t + 1.0).sin() - 1f64.sin()) / (w * w)];
    let rules = [
        (THETA, Order(1.0)),
        (MIDDLE, Order(2.0)),
        (IMPLICIT, Order(1.0)),
        (MIDPOINT, Order(2.0)),
        (EVENT, Error(1e-9)),
    ];
    measure("effort over time", &text, (t, FINE), &exact, &rules);
}

/// Two rods of 1 kg and 1 m with springs and dampers in their joints.
fn double_pendulum(k: f64, c: f64) -> (String, [f64; 2]) {
    let joint = if k > 0.0 { format!("stiffness = {k}, damping = {c}") } else { String::new() };
    let rod = |name: &str, more: &str, angle: f64| {
        format!(
            "[[body]]\nname = '{name}'\n{more}joint = {{ revolute = {{ {joint} }} }}\nmass = 1\ncenter = [0, -0.5]\ninertia = {}\nangle_deg = {angle}\n",
            1.0 / 12.0
        )
    };
    let text = format!(
        "planar = true\n{}{}",
        rod("upper", "", 45.0),
        rod("lower", "parent = 'upper'\nmount = { position = [0, -1] }\n", 30.0)
    );
    let start = [45f64.to_radians(), 75f64.to_radians(), 0.0, 0.0];
    let [a, b, _, _] = integrate(start, 0.4, |_, [a, b, va, vb]| {
        let (upper, lower) = (-k * a - c * va, -k * (b - a) - c * (vb - va));
        let (sin, cos) = (a - b).sin_cos();
        let first = upper - lower - 0.5 * sin * vb * vb - 1.5 * G * a.sin();
        let second = lower + 0.5 * sin * va * va - 0.5 * G * b.sin();
        let det = 4.0 / 9.0 - 0.25 * cos * cos;
        [va, vb, (first / 3.0 - 0.5 * cos * second) / det, (4.0 / 3.0 * second - 0.5 * cos * first) / det]
    });
    (text, [a, b - a])
}

#[test]
fn double_pendulums() {
    for (name, k, c) in [
        ("double pendulum", 0.0, 0.0),
        ("the same, springs in joints", 20.0, 0.0),
        ("the same, springs and dampers", 20.0, 0.5),
    ] {
        let (text, exact) = double_pendulum(k, c);
        // dampers see velocities without velocity products
        let middle = if c > 0.0 { 1.0 } else { 2.0 };
        let rules = [
            (THETA, Order(1.0)),
            (MIDDLE, Order(middle)),
            (IMPLICIT, Order(1.0)),
            (MIDPOINT, Order(2.0)),
            (EVENT, Error(1e-8)),
        ];
        measure(name, &text, (0.4, [1e-3, 5e-4, 2.5e-4]), &exact, &rules);
    }
}

#[test]
fn a_body_that_tumbles() {
    let text = "gravity = [0, 0, 0]\n[[body]]\nname = 'b'\nmass = 1\ninertia = [0.01, 0.02, 0.025]\nangular_velocity = [3, 5, 2]\n";
    let [w, x, y, z, ..] = integrate([1.0, 0.0, 0.0, 0.0, 3.0, 5.0, 2.0], 0.4, |_, [w, x, y, z, a, b, c]| {
        let q = [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a];
        let [i, j, k] = [0.01, 0.02, 0.025];
        [
            0.5 * q[0],
            0.5 * q[1],
            0.5 * q[2],
            0.5 * q[3],
            (j - k) * b * c / i,
            (k - i) * c * a / j,
            (i - j) * a * b / k,
        ]
    });
    let rules = [(THETA, Order(2.0)), (MIDDLE, Order(2.0)), (IMPLICIT, Order(2.0)), (MIDPOINT, Order(2.0))];
    measure("free body, tumbling", text, (0.4, FINE), &[0.0, 0.0, 0.0, w, x, y, z], &rules);
}

#[test]
fn a_pendulum_on_a_loop() {
    let text = "planar = true\n[[body]]\nname = 'rod'\nmass = 1\ninertia = 0.08333333333333333\nposition = [0.35355339059327373, -0.35355339059327373]\nangle_deg = 45\n\
                [[loop]]\nname = 'pin'\nkind = 'point'\nfrom = { body = 'rod', point = [0, 0.5] }\nto = { point = [0, 0] }\n";
    let [a, _] = integrate([45f64.to_radians(), 0.0], 0.4, |_, [a, v]| [v, -1.5 * G * a.sin()]);
    let exact = [0.5 * a.sin(), -0.5 * a.cos(), a];
    measure(
        "pendulum on a rigid loop",
        text,
        (0.4, FINE),
        &exact,
        &[(THETA, Order(1.0)), (IMPLICIT, Order(1.0))],
    );
}

fn ground(material: &str) -> String {
    format!("[[material]]\nname = 'default'\n{material}\n[[world]]\nname = 'ground'\nshape = 'half_space'\n")
}

#[test]
fn a_disc_that_rolls_over_a_hill() {
    let (angle, rate, sum) = (0.1f64, 0.5, 0.6);
    let text = format!(
        "planar = true\n[[material]]\nname = 'default'\nfriction = 1\n[[world]]\nname = 'hill'\nshape = {{ sphere = {{ radius = 0.5 }} }}\nposition = [0, -0.5]\n\
         [[body]]\nname = 'disc'\nmass = 1\ninertia = 5e-3\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [{}, {}]\nvelocity = [{}, {}]\nangular_velocity = {}\n",
        sum * angle.sin(),
        sum * angle.cos() - 0.5,
        sum * rate * angle.cos(),
        -sum * rate * angle.sin(),
        -sum * rate / 0.1
    );
    let [a, _] = integrate([angle, rate], 0.25, |_, [a, v]| [v, 2.0 / 3.0 * G / sum * a.sin()]);
    let exact = [sum * a.sin(), sum * a.cos() - 0.5];
    let rules = [(THETA, Order(1.0)), (MIDDLE, Order(1.0)), (IMPLICIT, Order(1.0)), (MIDPOINT, Order(2.0))];
    measure("rigid: rolls over a hill", &text, (0.25, [1e-3, 5e-4, 2.5e-4]), &exact, &rules);
}

/// A ball of 1 kg on a spring of 1e4 N/m and a damper of 20 N s/m, that stays in contact: touching, and pressed in at the start.
#[test]
fn a_ball_on_a_compliant_ground() {
    let fine = [4e-4, 2e-4, 1e-4];
    for (name, depth, speed) in
        [("Kelvin-Voigt: pressed, no event", 0.0, 0.05), ("the same, overlaps at the start", 1.9e-3, 0.0)]
    {
        let text = format!(
            "planar = true\n{}[[body]]\nname = 'ball'\nmass = 1\ninertia = 4e-3\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [0, {}]\nvelocity = [0, {}]\n",
            ground("friction = 0.3\nlaw = { kelvin_voigt = { stiffness = [1e4, 8e3], damping = [20, 20] } }"),
            0.1 - depth,
            -speed
        );
        let [x, _] = integrate([-depth, -speed], 0.04, |_, [x, v]| [v, -G - 1e4 * x - 20.0 * v]);
        let rules = [
            (THETA, Order(1.0)),
            (MIDDLE, Order(1.0)),
            (IMPLICIT, Order(1.0)),
            (MIDPOINT, Order(2.0)),
            (COMPLIANT, Error(1e-9)),
        ];
        measure(name, &text, (0.04, fine), &[0.0, 0.1 + x], &rules);
    }
}

/// A box slides until friction stops it, a slide until the friction of its joint does.
#[test]
fn what_friction_stops() {
    let text = format!(
        "planar = true\n{}[[body]]\nname = 'box'\nmass = 1\nshape = {{ box = {{ half = [0.1, 0.05] }} }}\nposition = [0, 0.05]\nvelocity = [{}, 0]\n",
        ground("friction = 0.5"),
        0.1 * G
    );
    // 0.2 s are 33 1/3, 66 2/3, 133 1/3 steps
    let exact = [0.01 * G];
    let rules = [(THETA, Order(1.0)), (MIDDLE, Order(2.0)), (IMPLICIT, Order(1.0)), (EVENT, Error(1e-9))];
    measure("rigid: slides to a stop", &text, (0.3, [6e-3, 3e-3, 1.5e-3]), &exact, &rules);
    let joint = slide(", friction = 4", "velocity = 0.8\n");
    measure("joint: friction stops it", &joint, (0.3, [6e-3, 3e-3, 1.5e-3]), &[0.08], &rules);
}

/// A ball bounces with restitution 0.8, a slide with 0.5 off the limit of its joint.
#[test]
fn what_bounces() {
    let text = format!(
        "planar = true\n{}[[body]]\nname = 'ball'\nmass = 1\ninertia = 4e-3\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [0, 0.3]\n",
        ground("restitution = 0.8")
    );
    // falls 0.2 m, then rises with 0.8 of its velocity
    let (fall, t) = ((0.4f64 / G).sqrt(), 0.4);
    let after = t - fall;
    let exact = [0.0, 0.1 + 0.8 * G * fall * after - 0.5 * G * after * after];
    let rules = [(THETA, AtLeast(0.6)), (MIDDLE, AtLeast(0.6)), (EVENT, Error(1e-9))];
    measure("rigid: bounces", &text, (t, FINE), &exact, &rules);
    let stop = slide(", limits = [-1, 0.333], stop = { restitution = 0.5 }", "velocity = 2\n");
    let exact = [0.333 - 0.5 * (2.0 * 0.4 - 0.333)];
    measure("joint: bounces off a limit", &stop, (0.4, FINE), &exact, &rules);
}

/// Largest difference of a velocity 4 ms after a box falls flat on its four corners, over ten places of the impact in the step.
fn spread(restitution: f64, step: &str, h: f64) -> f64 {
    let runs: Vec<Vec<f64>> = (0..10)
        .map(|phase| {
            // lower by a tenth of what it falls in a step
            let (fall, v) = (0.05f64, (2.0 * G * 0.05f64).sqrt());
            let text = format!(
                "{}[[body]]\nname = 'box'\nmass = 1\nshape = {{ box = {{ half = [0.1, 0.15, 0.05] }} }}\nposition = [0, 0, {}]\nvelocity = [0.6, 0.1, 0]\nangular_velocity = [0, 0, 6]\n[step]\nh = {h}\n{step}\n",
                ground(&format!("friction = 0.5\nrestitution = {restitution}")),
                0.05 + fall + 0.1 * phase as f64 * h * v
            );
            let scene = Scene::from_toml("phase", &text).unwrap_or_else(|e| panic!("a valid scene: {e}"));
            let mut stepper = Stepper::new(scene).expect("a valid model");
            let mut state = stepper.initial();
            for _ in 0..((2.0 * fall / G).sqrt() / h + 0.004 / h).ceil() as usize {
                let _ = stepper.step(&mut state).expect("no step fails");
            }
            state.velocity
        })
        .collect();
    let of = |i: usize| {
        let list = runs.iter().map(|v| v[i]);
        list.clone().fold(f64::NEG_INFINITY, f64::max) - list.fold(f64::INFINITY, f64::min)
    };
    (0..6).map(of).fold(0.0, f64::max)
}

#[test]
fn the_place_of_an_impact_in_its_step() {
    for (e, step) in [(1e-6, THETA), (0.0, MIDDLE)] {
        let [coarse, fine] = [1e-3, 1e-4].map(|h| spread(e, step, h));
        println!("restitution {e}, {step}: spread {coarse:.1e} at h = 1e-3, {fine:.1e} at 1e-4");
        assert!(coarse < 1.5 * G * 1e-3 && fine < 1.5 * G * 1e-4, "{step}: {coarse:e}, {fine:e}");
    }
}

/// Steps a scene, and shows every step to `look`, with the number of the step.
fn watch(
    text: &str,
    steps: usize,
    mut look: impl FnMut(usize, &stiction::step::StepReport, &Stepper, &[f64]),
) -> f64 {
    let scene = Scene::from_toml("watch", text).unwrap_or_else(|e| panic!("a valid scene: {e}"));
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let energy = |s: &mut Stepper, state: &stiction::state::State| {
        let e = s.energy(state);
        e.kinetic + e.potential + e.elastic
    };
    let start = energy(&mut stepper, &state);
    for k in 0..steps {
        let report = stepper.step(&mut state).expect("no step fails");
        look(k, &report, &stepper, &state.velocity);
    }
    energy(&mut stepper, &state) - start
}

#[test]
fn what_friction_has_stopped_lies_still_and_its_forces_do_not_alternate() {
    for step in [MIDDLE, "explicit_share = 0.3", MIDPOINT] {
        let text = format!(
            "planar = true\n{}[[body]]\nname = 'box'\nmass = 1\nshape = {{ box = {{ half = [0.1, 0.05] }} }}\nposition = [0, 0.05]\nvelocity = [2, 0]\n[step]\n{step}\n",
            ground("friction = 0.5")
        );
        watch(&text, 600, |k, _, stepper, v| {
            let sum: f64 = stepper.elements().iter().map(|e| e.force[0]).sum();
            assert!(k < 2 || (sum - G).abs() < 1e-6, "{step}, step {k}: {sum} N");
            assert!(k < 410 || v.iter().all(|v| v.abs() < 1e-9), "{step}, step {k}: {v:?}");
        });
        let slide = slide(", friction = 4", &format!("velocity = 1\n[step]\n{step}\n"));
        watch(&slide, 400, |k, _, stepper, v| {
            let force = stepper.workspace().standing[0].effort;
            assert!(k >= 249 || (force + 4.0).abs() < 1e-9, "{step}, step {k}: {force} N");
            assert!(
                k < 252 || (v[0].abs() < 1e-9 && force.abs() < 1e-6),
                "{step}, step {k}: {v:?}, {force} N"
            );
        });
    }
}

/// An ellipse of nearly constant load: forces from one step to the next differ by what the roll changes. And a coin that leans by 10 degrees.
#[test]
fn the_midpoint_rule_rolls_on_without_leaving_it() {
    let ellipse = std::fs::read_to_string("../../scenes/rolling-ellipse.toml").expect("a scene");
    let (mut left, mut known) = (0, vec![]);
    watch(&ellipse, 2000, |_, report, stepper, _| {
        left += report.left_midpoint;
        known.push(stepper.elements()[0].force[0]);
    });
    assert_eq!(left, 0);
    let bend = known.windows(3).map(|f| (f[0] - 2.0 * f[1] + f[2]).abs()).fold(0.0, f64::max);
    // the load varies by 1 N at 20 rad/s: second differences of 1 N (20 1/s)^2 h^2
    assert!(bend < 2e-3, "{bend} N");
    let coin = format!(
        "{}[[body]]\nname = 'coin'\nmass = 1\nshape = {{ cylinder = {{ radius = 0.1, half_length = 0.005 }} }}\nposition = [0, 0, 0.0993490]\n\
         orientation = {{ axis = [1, 0, 0], angle_deg = 80 }}\nvelocity = [1, 0, 0]\nangular_velocity = [0, 9.848, -1.736]\n[step]\n{MIDPOINT}\n",
        ground("friction = 0.8")
    );
    let made = watch(&coin, 1000, |_, report, _, _| left += report.left_midpoint);
    assert!(left <= 1 && made.abs() < 2e-6, "{left} steps, {made:e} J");
}

#[test]
fn what_overlaps_at_the_start_is_pressed_in_and_not_kicked() {
    for step in [THETA, MIDDLE, IMPLICIT, MIDPOINT] {
        for h in [1e-4, 1e-6] {
            let text = format!(
                "planar = true\n{}[[body]]\nname = 'ball'\nmass = 1\ninertia = 4e-3\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [0, 0.099]\n[step]\nh = {h}\n{step}\n",
                ground(
                    "friction = 0.3\nlaw = { kelvin_voigt = { stiffness = [1e4, 8e3], damping = [20, 20] } }"
                )
            );
            // 1e4 N/m times 1 mm, and what the first step changes: 20 N s/m times h times (10 N - m g)
            let mut booked = 0.0;
            watch(&text, 1, |_, report, stepper, _| {
                let force = stepper.elements()[0].force[0];
                assert!((force - 10.0).abs() < 20.0 * h, "{step}, h = {h}: {force} N");
                booked = report.recovery_work;
            });
            assert!((booked - 0.5 * 1e4 * 1e-6).abs() < 1e-12, "{step}, h = {h}: {booked} J");
        }
    }
}
