//! What contacts must do, over several steps h. Expectations are closed forms.
#![allow(missing_docs)]

use std::path::Path;
use stiction::scene::Scene;
use stiction::space::{length, sub};
use stiction::state::State;
use stiction::step::{Status, Stepper};

const G: f64 = 9.81;

fn scene(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    Scene::read(&path).expect("a valid scene")
}

/// Steps to `duration` with step `h`; every step must be solved to 1e-9.
fn run(mut scene: Scene, h: f64, duration: f64) -> (Stepper, State) {
    scene.step.h = h;
    let steps = (duration / h).round() as usize;
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..steps {
        let report = stepper.step(&mut state).expect("no step fails");
        assert!(report.residual.relative <= 1e-9);
    }
    (stepper, state)
}

#[test]
fn a_box_below_the_friction_angle_does_not_creep() {
    for h in [1e-2, 1e-3] {
        let (mut stepper, state) = run(scene("box-on-slope.toml"), h, 10.0);
        let start = stepper.initial();
        let moved = sub(
            stepper.kinematics(&state).pose(0).position,
            [start.position[0], start.position[1], start.position[2]],
        );
        assert!(length(moved) < 1e-9, "h = {h}: moved {:e} m in 10 s", length(moved));
    }
}

/// Sliding at mu g until the contact point is at rest: the centre then moves at 5/7 of the first speed.
#[test]
fn a_sliding_sphere_ends_rolling_at_five_sevenths() {
    for h in [2e-3, 1e-3, 5e-4] {
        let mut start = scene("sliding-sphere.toml");
        let v0 = start.bodies[0].velocity[0];
        start.step.h = h;
        let (stepper, state) = run(start, h, 1.0);
        assert!((state.velocity[0] / v0 - 5.0 / 7.0).abs() < 1e-12, "h = {h}: {}", state.velocity[0] / v0);
        assert!(stepper.elements().iter().all(|e| e.status == Status::Stick));
        // the normal force is the weight
        let force: f64 = stepper.elements().iter().map(|e| e.force[0]).sum();
        assert!((force / (stepper.scene().bodies[0].link.inertia.mass * G) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_sphere_at_rest_stays() {
    let (stepper, state) = run(scene("sphere-on-plane.toml"), 1e-3, 1.0);
    let start = stepper.initial();
    assert!(state.position.iter().zip(&start.position).all(|(a, b)| (a - b).abs() < 1e-12));
}

/// The legs' shares of an off-centre load follow from the tilt of the table: linear in the foot's place.
#[test]
fn an_elastic_table_shares_its_load_as_the_elastic_solution_says() {
    let (stepper, _) = run(scene("four-legged-table-elastic.toml"), 1e-3, 1.0);
    let mass = stepper.scene().bodies[0].link.inertia.mass;
    let total = mass * G + 100.0;
    // moments of the load about the middle, spread over feet at (+-0.5, +-0.3)
    let share =
        |x: f64, y: f64| total / 4.0 + 100.0 * 0.2 * x / (4.0 * 0.25) + 100.0 * 0.1 * y / (4.0 * 0.09);
    for e in stepper.elements() {
        let expected = share(0.5 * e.point[0].signum(), 0.3 * e.point[1].signum());
        assert!(
            (e.force[0] / expected - 1.0).abs() < 1e-3,
            "{:?}: {} N, expected {expected}",
            e.point,
            e.force[0]
        );
    }
    assert_eq!(stepper.elements().len(), 4);
}

/// Hertz from time stepping: the ball on an 11 x 11 patch settles at a^2 / R under P.
#[test]
fn a_pressed_ball_settles_at_the_hertzian_approach() {
    let (mut stepper, state) = run(scene("hertz.toml"), 1e-3, 0.06);
    let (r, p, e_star): (f64, f64, f64) = (0.05, 500.0, 2e9 / (2.0 * (1.0 - 0.09)));
    let a = (3.0 * p * r / (4.0 * e_star)).cbrt();
    let approach = r - stepper.kinematics(&state).pose(0).position[2];
    assert!((approach / (a * a / r) - 1.0).abs() < 0.04, "approach {approach:e}, Hertz {:e}", a * a / r);
    let force: f64 = stepper.elements().iter().map(|e| e.force[0]).sum();
    assert!((force / p - 1.0).abs() < 0.01, "{force} N");
    let peak = stepper.elements().iter().map(|e| e.force[0]).fold(0.0, f64::max) / (5.6e-4 * 5.6e-4);
    assert!((peak / (1.5 * p / (std::f64::consts::PI * a * a)) - 1.0).abs() < 0.04, "peak {peak:e} Pa");
}

#[test]
fn a_saved_state_has_bitwise_the_same_future() {
    let (mut first, mut state) = run(scene("song2004/ellipse-1e-10.toml"), 1e-4, 0.05);
    let mut again = Stepper::new(first.scene().clone()).expect("a valid model");
    let mut copy = state.clone();
    for _ in 0..200 {
        let _ = first.step(&mut state).expect("no step fails");
        let _ = again.step(&mut copy).expect("no step fails");
    }
    assert_eq!(state, copy);
}
