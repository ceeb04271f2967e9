//! `scheme = "event"` in space (a table, a spinning disc, a rolling coin), and where several motions are possible.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{ENTRIES, Ended, Event, EventKind, Fault, Observer, Options, View, run};
use stiction::scene::Scene;
use stiction::state::State;

const G: f64 = 9.81;

#[derive(Default)]
struct Seen {
    events: Vec<Event>,
    states: Vec<State>,
    normal: Vec<Vec<f64>>,
    first: Option<f64>,
    /// Largest change of energies and losses less works, J.
    imbalance: f64,
}

impl Observer for Seen {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.first = Some(total(view));
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.events.extend_from_slice(view.events);
        self.imbalance = self.imbalance.max((total(view) - self.first.expect("a start")).abs());
        self.states.push(view.state.clone());
        self.normal.push(view.elements().iter().map(|e| e.force[0]).collect());
        Ok(())
    }
}

fn total(view: &mut View<'_>) -> f64 {
    ENTRIES.iter().zip(view.balance()).map(|(e, x)| e.sign() * x).sum()
}

fn see(scene: &Scene) -> Seen {
    let model = Arc::new(Model::new(scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished, "after {} s", state.time);
    seen
}

fn see_text(text: &str) -> Seen {
    see(&stiction::from_toml("scene", text).expect("a scene"))
}

fn shipped(name: &str) -> Scene {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    stiction::read(&path).expect("a scene")
}

/// Acceleration of the rod of song2001's case 2 while its lower end slips towards -x: x of the end, angle, and the force.
fn sliding(angle: f64, rate: f64) -> [f64; 3] {
    // the end is at c - l (cos, sin); friction +f on it as it slips towards -x, mu = 1
    let (m, i, l, torque) = (1.0, 1.0 / 144.0, 0.5, -1.0);
    let (sin, cos) = angle.sin_cos();
    // y_end'' = f/m - g - l (alpha cos - rate^2 sin) = 0, alpha = (torque - l cos f + l sin f)/i
    let a = 1.0 / m - l * cos * (l * sin - l * cos) / i;
    let b = -G + l * rate * rate * sin - l * cos * torque / i;
    let f = -b / a;
    let alpha = (torque + (l * sin - l * cos) * f) / i;
    [f / m + l * (alpha * sin + rate * rate * cos), alpha, f]
}

#[test]
fn case_2_of_song2001_follows_the_branch_that_slips_until_its_slip_stops() {
    // by Runge and Kutta's classical method: velocity of the end, angle, its rate
    let rate = |y: [f64; 3]| {
        let [x, alpha, _] = sliding(y[1], y[2]);
        [x, y[2], alpha]
    };
    let (mut y, h) = ([0.0, 70f64.to_radians(), 0.0], 1e-5);
    let add = |y: [f64; 3], k: [f64; 3], s: f64| [0, 1, 2].map(|i| y[i] + s * k[i]);
    assert!((sliding(y[1], 0.0)[2] - 2.33).abs() < 0.01, "{:?}", sliding(y[1], 0.0));
    let (mut time, mut before) = (0.0, y);
    while y[0] < 0.0 || time == 0.0 {
        before = y;
        let k1 = rate(y);
        let k2 = rate(add(y, k1, 0.5 * h));
        let k3 = rate(add(y, k2, 0.5 * h));
        let k4 = rate(add(y, k3, h));
        y = [0, 1, 2].map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        time += h;
    }
    // the slip's rate is steady within the last step
    let exact = time - h * y[0] / (y[0] - before[0]);
    assert!((exact - 0.163).abs() < 1e-3, "{exact}");
    let seen = see(&shipped("song2001/case2-branch.toml"));
    let branches: Vec<&Event> = seen.events.iter().filter(|e| e.kind.is_branch()).collect();
    assert_eq!((branches[0].kind, branches[0].time), (EventKind::Branch, 0.0));
    let end = branches[1];
    assert_eq!(end.kind, EventKind::BranchEndsSlip);
    assert!((end.time - exact).abs() < 1e-9, "{} {exact}", end.time);
    // the force on the way is that of the sliding problem
    let (state, normal) = (&seen.states[99], seen.normal[99][0]);
    let expected = sliding(state.position[2], state.velocity[2])[2];
    assert!((normal - expected).abs() < 1e-8, "{normal} {expected}");
    // the others: it separates at once, or sticks
    let mut scene = shipped("song2001/case2-branch.toml");
    scene.set("step.duration", "0.01").expect("a duration");
    scene.set("step.branch", "\"separate\"").expect("a branch");
    let seen = see(&scene);
    assert!(seen.normal[0].is_empty() && seen.events[0].kind == EventKind::Branch, "{:?}", seen.events);
    scene.set("step.branch", "\"stick\"").expect("a branch");
    let seen = see(&scene);
    assert!(seen.events.iter().any(|e| e.kind == EventKind::Stick && e.time == 0.0), "{:?}", seen.events);
    assert!(seen.normal[5][0] > 0.0);
}

#[test]
fn a_branch_needs_the_event_scheme() {
    let text = "[step]\n branch = 'slip'";
    let message = stiction::from_toml("scene", text).map(|_| ()).expect_err("a fault").to_string();
    assert!(message.contains("branch") && message.contains("event"), "{message}");
}

#[test]
fn a_table_of_four_legs_stands_and_slides() {
    let mut scene = shipped("four-legged-table.toml");
    scene.set("step.scheme", "\"event\"").expect("a scheme");
    scene.set("step.h", "0.05").expect("a step");
    scene.set("step.duration", "0.5").expect("a duration");
    let model = Model::new(&scene).expect("a model");
    let mass = model.scene().bodies[0].link.inertia.mass;
    let seen = see(&scene);
    let (first, end) = (model.initial(), seen.states.last().expect("steps"));
    let moved = first.position.iter().zip(&end.position).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-11, "{moved:e}");
    // even compliance: m g/4 + 100 N (1/4 + x x_i/(4 0.5^2) + y y_i/(4 0.3^2))
    let normal = seen.normal.last().expect("steps");
    let load =
        |x: f64, y: f64| mass * G / 4.0 + 100.0 * (0.25 + 0.2 * x / (4.0 * 0.25) + 0.1 * y / (4.0 * 0.09));
    let expected = [load(-0.5, -0.3), load(0.5, -0.3), load(0.5, 0.3), load(-0.5, 0.3)];
    for (found, expected) in normal.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-7, "{normal:?} {expected}");
    }
    // pushed at 1 m/s without the load it slides v^2/(2 mu g)
    let mut text = scene.to_toml();
    let at = text.find("[[load]]").expect("a load");
    text.truncate(at);
    let mut scene = stiction::from_toml("table", &text).expect("a scene");
    scene.set("step.scheme", "\"event\"").expect("a scheme");
    scene.set("step.h", "0.05").expect("a step");
    scene.set("step.duration", "0.5").expect("a duration");
    scene.set("body[table].velocity", "[1.0, 0.0, 0.0]").expect("a velocity");
    let seen = see(&scene);
    let end = seen.states.last().expect("steps");
    assert!((end.position[0] - 1.0 / (2.0 * 0.5 * G)).abs() < 1e-9, "{}", end.position[0]);
    assert!(end.velocity.iter().all(|v| v.abs() < 1e-11), "{:?}", end.velocity);
    let stops = seen.events.iter().find(|e| e.kind == EventKind::Stick).expect("it stops").time;
    assert!((stops - 1.0 / (0.5 * G)).abs() < 1e-11, "{:e}", stops - 1.0 / (0.5 * G));
    assert!(seen.imbalance < 1e-8, "{:e}", seen.imbalance);
}

#[test]
fn a_disc_spinning_on_its_face_is_stopped_by_the_friction_of_its_rim() {
    // mu m g R against 1/2 m R^2: it turns for w R/(2 mu g)
    let (mu, radius, w) = (0.3, 0.1, 20.0);
    let text = format!(
        "[[material]]\n name = 'default'\n friction = {mu}\n [[world]]\n name = 'floor'\n shape = 'half_space'\n [[body]]\n name = 'disc'
        shape = {{ cylinder = {{ radius = {radius}, half_length = 0.01 }} }}\n mass = 1\n position = [0, 0, 0.01]\n angular_velocity = [0, 0, {w}]
        [step]\n scheme = 'event'\n h = 0.02\n duration = 0.4"
    );
    let seen = see_text(&text);
    let slowing = 2.0 * mu * G / radius;
    for state in seen.states.iter().take(15) {
        let exact = w - slowing * state.time;
        assert!((state.velocity[5] - exact).abs() < 1e-9, "{} {exact}", state.velocity[5]);
    }
    let stops = seen.events.iter().find(|e| e.kind == EventKind::Stick).expect("it stops").time;
    assert!((stops - w / slowing).abs() < 1e-9, "{:e}", stops - w / slowing);
    let end = seen.states.last().expect("steps");
    assert!(end.velocity.iter().all(|v| v.abs() < 1e-10) && end.position[0].abs() < 1e-10, "{end:?}");
    assert!(seen.imbalance < 1e-8, "{:e}", seen.imbalance);
    // eight points carry the weight evenly
    for n in seen.normal.last().expect("steps") {
        assert!((n - G / 8.0).abs() < 1e-7, "{n}");
    }
}

/// A coin of radius `a` and half thickness `b` that rolls at the angle `tilt` to the ground while its centre rests, and its precession.
///
/// With e1 downward in the coin's face, e3 its axis: the contact is at `a e1 - b e3` from the centre, the angular velocity along that,
/// `-(W sin/a)(a e1 - b e3)`, and `W^2 (A sin cos - C b/a sin^2) = m g (a cos - b sin)`.
fn coin([a, b]: [f64; 2], tilt: f64, friction: f64, faster: f64) -> (String, f64) {
    let (sin, cos) = tilt.sin_cos();
    let (inertia, axial) = (a * a / 4.0 + b * b / 3.0, a * a / 2.0);
    let turn = (G * (a * cos - b * sin) / (inertia * sin * cos - axial * b / a * sin * sin)).sqrt() * faster;
    // the axis leans towards +x: e3 = (sin, 0, cos), e1 = (cos, 0, -sin)
    let spin = [0, 2].map(|k| -turn * sin / a * (a * [cos, 0.0, -sin][k] - b * [sin, 0.0, cos][k]));
    let text = format!(
        "[[material]]\n name = 'default'\n friction = {friction}\n [[world]]\n name = 'floor'\n shape = 'half_space'\n [[body]]\n name = 'coin'
        shape = {{ cylinder = {{ radius = {a}, half_length = {b} }} }}\n mass = 1\n position = [0, 0, {:e}]\n orientation = {{ axis = [0, 1, 0], angle = {:e} }}
        angular_velocity = [{:e}, 0, {:e}]\n [step]\n scheme = 'event'\n",
        a * sin + b * cos,
        tilt,
        spin[0],
        spin[1],
    );
    (text, turn)
}

#[test]
fn a_coin_rolls_on_its_rim_with_its_centre_at_rest() {
    let tilt = 0.3f64;
    let (text, turn) = coin([0.1, 0.005], tilt, 0.8, 1.0);
    let seen = see_text(&format!("{text} accuracy = 1e-12\n h = 0.05\n duration = 1"));
    for state in &seen.states {
        let [x, y] = [state.position[0], state.position[1]];
        assert!(x.hypot(y) < 1e-7, "{x} {y} at {}", state.time);
        assert!((seen.normal[0][0] - G).abs() < 1e-7, "{:?}", seen.normal[0]);
        // the axis turns at the rate of precession
        let q = &state.position[3..7];
        let axis = [2.0 * (q[1] * q[3] + q[0] * q[2]), 2.0 * (q[2] * q[3] - q[0] * q[1])];
        let expected = [tilt.sin() * (turn * state.time).cos(), tilt.sin() * (turn * state.time).sin()];
        assert!((0..2).all(|k| (axis[k] - expected[k]).abs() < 1e-6), "{axis:?} {expected:?} {}", state.time);
    }
    assert!(seen.imbalance < 1e-9, "{:e}", seen.imbalance);
}
