//! Joints' springs and drives, gears, loops, belts and moving parts of the world in the implicit scheme, against closed forms.

use stiction::scene::Scene;
use stiction::state::State;
use stiction::stepper::Stepper;

fn start(mut scene: Scene, h: f64) -> (Stepper, State) {
    scene.step.h = h;
    let stepper = Stepper::new(scene).expect("a valid model");
    let state = stepper.initial();
    (stepper, state)
}

fn from(text: &str) -> Scene {
    stiction::from_toml("test", text).expect("a valid scene")
}

const GROUND: &str = r#"
[[material]]
name = "default"
friction = 0.4
[[world]]
name = "ground"
shape = "half_space"
"#;

/// An arm of 1 m without weight is pressed on the ground by a spring in its joint, or by a servo: at rest their effort is the contact force times the arm.
#[test]
fn springs_and_servos_press_a_ball_on_the_ground() {
    let spring = "stiffness = 50, rest = 0.3, damping = 8";
    let servo = "[[motor]]\nbody = \"arm\"\nposition = { constant = 0.3 }\nstiffness = 50\ndamping = 8\n";
    let weak = format!("{servo}max_effort = 5\n");
    for (joint, motor, effort) in
        [(spring, "", 50.0 * 0.3), ("damping = 1", servo, 50.0 * 0.3), ("damping = 1", weak.as_str(), 5.0)]
    {
        let text = format!(
            r#"{GROUND}
[[body]]
name = "arm"
joint = {{ revolute = {{ axis = [0, 1, 0], {joint} }} }}
mount = {{ position = [0, 0, 0.1] }}
angle = -0.2
mass = 1
center = [1, 0, 0]
inertia = [0.01, 0.01, 0.01]
[[body.part]]
shape = {{ sphere = {{ radius = 0.1 }} }}
position = [1, 0, 0]
{motor}
[step]
scheme = "implicit"
"#
        );
        let (mut stepper, mut state) = start(from(&format!("gravity = [0, 0, 0]\n{text}")), 1e-3);
        for _ in 0..3000 {
            let report = stepper.step(&mut state).expect("no step fails");
            assert!(report.residual.relative < 1e-9 && report.parts <= 1);
        }
        // friction acts 0.1 m below the joint
        let e = stepper.elements()[0];
        let moment = e.force[0] + 0.1 * e.force[1];
        assert!(state.position[0].abs() < 1e-9 && (moment - effort).abs() < 1e-6, "{joint} {motor}: {e:?}");
    }
}

/// A motor turns one of two wheels at 2 rad/s, and a gear the other at -3 times that, against a brake: rows of both kinds hold in every step, and the motor
/// carries the brake's effort.
#[test]
fn a_gear_and_a_drive_hold() {
    let text = r#"
gravity = [0, 0, 0]
[[body]]
name = "one"
joint = { revolute = { axis = [0, 0, 1] } }
mass = 1
inertia = [0.1, 0.1, 0.1]
[[body]]
name = "two"
joint = { revolute = { axis = [0, 0, 1], friction = 0.5 } }
mount = { position = [1, 0, 0] }
mass = 1
inertia = [0.02, 0.02, 0.02]
[[gear]]
joints = ["two", "one"]
ratio = -3
[[motor]]
body = "one"
velocity = { constant = 2 }
[step]
scheme = "implicit"
"#;
    let (mut stepper, mut state) = start(from(text), 1e-3);
    for _ in 0..1000 {
        let report = stepper.step(&mut state).expect("no step fails");
        assert!(report.violation < 1e-9, "{report:?}");
        assert!((state.position[1] + 3.0 * state.position[0]).abs() < 1e-9, "{:?}", state.position);
        assert!((state.velocity[0] - 2.0).abs() < 1e-9);
    }
    let efforts: Vec<f64> = stepper.workspace().standing.iter().map(|r| r.effort).collect();
    assert!(efforts.iter().any(|e| (e - 1.5).abs() < 1e-6), "{efforts:?}");
}

/// A ball on a rod of 1 m: the rod is a loop between a free body and the world, closed in every step. Height and velocity follow the energy balance of a pendulum, at first order
/// in h, and the loop's forces do no work but that of the rule.
#[test]
fn a_loop_carries_a_pendulum() {
    let text = r#"
[[body]]
name = "ball"
shape = { sphere = { radius = 0.1 } }
mass = 1
position = [1, 0, 0]
[[loop]]
name = "rod"
kind = "distance"
from = { point = [0, 0, 0] }
to = { body = "ball", point = [0, 0, 0] }
[step]
scheme = "implicit"
"#;
    let errors = [2e-3, 1e-3].map(|h| {
        let (mut stepper, mut state) = start(from(text), h);
        for _ in 0..(0.5 / h).round() as usize {
            let report = stepper.step(&mut state).expect("no step fails");
            assert!(report.violation < 1e-9);
            let [x, y, z] = stepper.kinematics(&state).pose(0).position;
            assert!(((x * x + y * y + z * z).sqrt() - 1.0).abs() < 2e-9);
        }
        let z = stepper.kinematics(&state).pose(0).position[2];
        let v = stepper.kinematics(&state).velocity(0).0;
        v.iter().map(|v| v * v).sum::<f64>() / (-2.0 * 9.81 * z) - 1.0
    });
    println!("pendulum on a loop: energy off by {errors:?}");
    assert!(errors[1].abs() < 0.02 && (errors[0] / errors[1] - 2.0).abs() < 0.3, "{errors:?}");
}

/// A ball put on a belt: the moment about the contact line is conserved, so that it ends rolling at 2/7 of the belt's velocity.
#[test]
fn a_ball_on_a_belt_ends_at_two_sevenths_of_its_velocity() {
    let text = GROUND.replace(
        "shape = \"half_space\"",
        "shape = \"half_space\"\nsurface_velocity = { constant = [0.7, 0, 0] }",
    );
    let text = format!(
        "{text}[[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [0, 0, 0.1]\n[step]\nscheme = \"implicit\"\n"
    );
    let (mut stepper, mut state) = start(from(&text), 1e-3);
    for _ in 0..300 {
        let _ = stepper.step(&mut state).expect("no step fails");
    }
    let v = stepper.kinematics(&state).velocity(0).0[0];
    assert!((v - 0.2).abs() < 1e-9, "{v}");
}

/// A ball and an egg-shaped body rest on a plate that goes up and down: they stay on it to rounding, and their forces are weight and inertia.
#[test]
fn bodies_ride_on_a_moving_plate() {
    for shape in
        ["sphere = { radius = 0.1 }", "superellipsoid = { semi_axes = [0.2, 0.2, 0.1], exponent = 2.5 }"]
    {
        let text = format!(
            r#"{}[[body]]
name = "rider"
shape = {{ {shape} }}
mass = 2
inertia = [0.01, 0.01, 0.01]
position = [0, 0, 0.1]
[step]
scheme = "implicit"
"#,
            GROUND.replace(
                "shape = \"half_space\"",
                "shape = \"half_space\"\nmotion = { position = { sinusoid = { amplitude = [0, 0, 0.01], frequency = 2 } } }"
            )
        );
        let h = 1e-3;
        let (mut stepper, mut state) = start(from(&text), h);
        let at = |t: f64| 0.01 * (std::f64::consts::TAU * 2.0 * t).sin();
        for k in 1..500 {
            let _ = stepper.step(&mut state).expect("no step fails");
            let z = stepper.kinematics(&state).pose(0).position[2];
            assert!((z - 0.1 - at(state.time)).abs() < 1e-9, "{shape}: {z} at {}", state.time);
            if k > 2 {
                let t = state.time;
                let acceleration = (at(t) - 2.0 * at(t - h) + at(t - 2.0 * h)) / (h * h);
                let force = stepper.elements()[0].force[0];
                assert!((force - 2.0 * (9.81 + acceleration)).abs() < 1e-4, "{shape}: {force} at {t}");
            }
        }
    }
}

#[test]
fn what_the_scheme_does_not_know_is_refused_by_name() {
    let fault = |text: &str| stiction::from_toml("test", text).map(Stepper::new);
    let of = |joint: &str, step: &str| {
        let text = format!(
            "[[body]]\nname = \"arm\"\njoint = {{ revolute = {{ axis = [0, 0, 1], {joint} }} }}\nmass = 1\ninertia = [1, 1, 1]\n[step]\nscheme = \"implicit\"\n{step}\n"
        );
        match fault(&text) {
            Ok(Ok(_)) => String::new(),
            Ok(Err(e)) => e.to_string(),
            Err(e) => e.to_string(),
        }
    };
    let bounces = of("limits = [-1, 1], stop = { restitution = 0.5 }", "");
    assert!(bounces.contains("arm (joint lower limit): limits with restitution"), "{bounces}");
    let soft = of("limits = [-1, 1], stop = { stiffness = 5 }", "explicit_share = 0.5");
    assert!(soft.contains("arm (joint lower limit)"), "{soft}");
    assert_eq!(of("stiffness = 5", "explicit_share = 0.5"), "");
    assert_eq!(of("stiffness = 5", ""), "");
}
