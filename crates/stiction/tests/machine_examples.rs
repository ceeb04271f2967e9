//! The scenes of `scenes/machines` and their recipes: what each must show, against the law it is about.

use stiction::state::State;
use stiction::stepper::Stepper;

const G: f64 = 9.81;

fn scene(name: &str, set: &[(&str, f64)]) -> (Stepper, State) {
    let path = format!("{}/../../scenes/machines/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), format!("{v:e}"))).collect();
    let scene = stiction::read_with(&path, &set).unwrap_or_else(|e| panic!("{e}"));
    let stepper = Stepper::new(scene).expect("a valid model");
    let state = stepper.initial();
    (stepper, state)
}

fn run(stepper: &mut Stepper, state: &mut State, until: f64) {
    while state.time < until - 1e-9 {
        let report = stepper.step(state).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.residual.relative <= 1e-6 && report.violation <= 1e-9, "{report:?}");
    }
}

fn place(stepper: &mut Stepper, state: &State, body: &str) -> [f64; 3] {
    let index = stepper.model().body(body).expect("a body");
    stepper.kinematics(state).pose(index).position
}

/// A grip of 12 N on both fingers together holds 0.5 kg where mu > m (g + a) / 12 N: 0.41 at rest, 0.46 while it is lifted.
#[test]
fn the_arm_lifts_the_box_above_the_analytic_friction_and_loses_it_below() {
    let at = |mu: f64| {
        let (mut stepper, mut state) =
            scene("arm-gripper", &[("material[pad].friction", mu), ("material[wood].friction", mu)]);
        run(&mut stepper, &mut state, 3.5);
        let [left, box_] = ["left", "box"].map(|body| place(&mut stepper, &state, body));
        (box_[2], left[2])
    };
    let held = 0.5 * G / 12.0;
    let (box_, hand) = at(1.25 * held);
    assert!((hand - 0.45).abs() < 1e-3 && (box_ - hand).abs() < 5e-4, "{box_} {hand}");
    let (box_, hand) = at(0.95 * held);
    assert!((hand - 0.45).abs() < 1e-3 && box_ < 0.26, "{box_} {hand}");
}

/// A uniform ladder at 60 degrees slips where tan 60 < (1 - mu_floor mu_wall) / (2 mu_floor): below mu_floor = 0.2729.
#[test]
fn the_ladder_slips_below_its_friction() {
    let slipped = |mu: f64| {
        let (mut stepper, mut state) = scene("ladder", &[("pair[0].friction", mu)]);
        run(&mut stepper, &mut state, 0.5);
        state.position[0] - 1.0001
    };
    let limit = 1.0 / (2.0 * 3f64.sqrt() + 0.2);
    assert!(slipped(1.02 * limit).abs() < 1e-3, "{}", slipped(1.02 * limit));
    assert!(slipped(0.98 * limit) > 5e-3, "{}", slipped(0.98 * limit));
}

/// A wedge moves under W tan(angle + phi) + (W + w) tan phi, and stays under its load without a force: it locks itself.
#[test]
fn the_wedge_needs_its_force_and_locks_itself() {
    let moved = |force: f64| {
        let (mut stepper, mut state) = scene("wedge", &[("load[0].force.constant[0]", -force)]);
        run(&mut stepper, &mut state, 0.3);
        place(&mut stepper, &state, "wedge")[0]
    };
    let (phi, angle) = (0.2f64.atan(), 15f64.to_radians());
    let needed = 20.0 * G * (angle + phi).tan() + 22.0 * G * 0.2;
    assert!(moved(0.98 * needed).abs() < 1e-6, "{}", moved(0.98 * needed));
    assert!(moved(1.02 * needed) < -1e-3, "{}", moved(1.02 * needed));
    assert!(moved(0.0).abs() < 1e-6, "{}", moved(0.0));
}

/// A peg that touches in two points jams where M > F l / (2 mu).
#[test]
fn the_peg_jams_above_its_moment() {
    let sunk = |share: f64| {
        let limit = 20.0 * 0.03 / (2.0 * 0.4);
        let (mut stepper, mut state) = scene("peg-in-hole", &[("load[0].torque.constant", share * limit)]);
        let begin = state.position[1];
        run(&mut stepper, &mut state, 0.01);
        begin - state.position[1]
    };
    assert!(sunk(0.95) > 1e-5, "{}", sunk(0.95));
    assert!(sunk(1.05).abs() < 1e-7, "{}", sunk(1.05));
}

/// Mean velocity of a part that slides on a track which shakes: the equation of its relative motion alone, in small steps.
fn transport(mu: f64, slope: f64, shake: f64, (amplitude, frequency): (f64, f64), time: f64) -> f64 {
    let (w, h) = (std::f64::consts::TAU * frequency, 1e-7);
    let (mut u, mut x, mut middle) = (0.0f64, 0.0f64, 0.0f64);
    let steps = (time / h).round() as usize;
    for n in 0..steps {
        let k = amplitude * w * w * (w * (n as f64 + 0.5) * h).sin();
        let normal = G * slope.cos() - k * shake.sin();
        assert!(normal > 0.0, "the part is not thrown");
        let along = k * shake.cos() - G * slope.sin();
        let bound = mu * normal;
        if u == 0.0 && along.abs() <= bound {
            // sticks
        } else {
            let against = if u == 0.0 { -along.signum() } else { -u.signum() };
            let next = u + h * (along + against * bound);
            u = if u != 0.0 && next * u < 0.0 { 0.0 } else { next };
        }
        x += h * u;
        if n == steps / 2 {
            middle = x;
        }
    }
    (x - middle) / (0.5 * time)
}

#[test]
fn the_feeder_carries_its_part_uphill_as_fast_as_the_law_says() {
    let slope = 3f64.to_radians();
    let (mut stepper, mut state) = scene("feeder", &[]);
    run(&mut stepper, &mut state, 0.2);
    let along = |s: &State| s.position[0] * slope.cos() + s.position[1] * slope.sin();
    let middle = along(&state);
    run(&mut stepper, &mut state, 0.4);
    let found = (along(&state) - middle) / 0.2;
    let law = transport(0.4, slope, 25f64.to_radians(), (1.5e-4, 50.0), 0.4);
    assert!(law > 0.005 && (found - law).abs() < 0.02 * law, "{found} for {law} m/s");
}

#[test]
fn the_conveyor_sorts() {
    let (mut stepper, mut state) = scene("conveyor", &[]);
    run(&mut stepper, &mut state, 4.5);
    let [tall, flat] = ["tall", "flat"].map(|body| place(&mut stepper, &state, body));
    assert!(tall[2] < -0.3 && tall[1] < -0.2, "{tall:?}");
    assert!((flat[2] - 0.03).abs() < 1e-6 && (flat[1]).abs() < 0.02, "{flat:?}");
    // it was laid down at rest: v^2 / 2 mu g behind the belt, times one
    let behind = 0.5 * 0.5 / (2.0 * 0.6 * G);
    assert!((flat[0] - (-1.2 + 0.5 * 4.5 - behind)).abs() < 5e-3, "{flat:?}");
}

#[test]
fn the_walker_stands_and_steps() {
    let (mut stepper, mut state) = scene("walker", &[]);
    let begin = place(&mut stepper, &state, "trunk");
    run(&mut stepper, &mut state, 1.0);
    let stood = place(&mut stepper, &state, "trunk");
    assert!((stood[0] - begin[0]).abs() < 5e-3 && (stood[1] - begin[1]).abs() < 0.02, "{begin:?} {stood:?}");
    run(&mut stepper, &mut state, 7.0);
    let walked = place(&mut stepper, &state, "trunk");
    // three strides of 80 mm
    assert!((walked[0] - stood[0] - 0.24).abs() < 0.03, "{walked:?}");
    assert!((walked[1] - stood[1]).abs() < 0.02, "{walked:?}");
}

/// A peg less deep than 2 r mu stays squeezed in its hole once the moment that tilted it is gone, if contacts yield; rigid ones keep no
/// squeeze, and deeper pegs come loose.
#[test]
fn the_peg_wedges_where_its_contacts_yield() {
    let rise = |set: &[(&str, &str)]| {
        let path = format!("{}/../../scenes/machines/peg-wedges.toml", env!("CARGO_MANIFEST_DIR"));
        let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let mut stepper =
            Stepper::new(stiction::read_with(&path, &set).expect("a valid scene")).expect("a valid model");
        let mut state = stepper.initial();
        let begin = state.position[1];
        run(&mut stepper, &mut state, 0.2);
        let squeeze: f64 = stepper.elements().iter().map(|e| e.force[0]).sum();
        (state.position[1] - begin, squeeze)
    };
    let (up, squeeze) = rise(&[]);
    assert!(up.abs() < 1e-4 && squeeze > 5.0, "{up} m, {squeeze} N");
    assert!(rise(&[("material[default].law", "rigid")]).0 > 0.01);
    // the line between the contacts is outside the cones of friction: 12 mm > 2 r mu
    assert!(rise(&[("material[default].friction", "0.5")]).0 > 0.01);
}
