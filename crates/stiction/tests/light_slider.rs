//! Light parts under large loads have the friction of their load, however slow they slip: closed forms of Coulomb's law.

use stiction::step::{ElementReport, Status};
use stiction::stepper::Stepper;

const MU: f64 = 0.3;
const H: f64 = 0.01;
const DURATION: f64 = 0.1;
/// Tolerance of a residual.
const R: f64 = 1e-10;
/// Lengths of the carriage and the ball: four times the radius of gyration, and half the diagonal of the box around the shape.
const CARRIAGE: f64 = 0.2;
const BALL: f64 = 0.4 * 1.732_050_807_568_877_2;

/// What rounding leaves of a velocity that is a sum, in an island of so many elements.
fn rounding(elements: f64, sum: f64) -> f64 {
    8.0 * f64::EPSILON * elements.sqrt() * sum
}

/// A ball on a carriage that is driven over the ground, pressed down. Both weigh `mass`, and there is no gravity.
fn slider(mass: f64, press: f64, speed: f64, more: &str) -> String {
    let inertia = mass * (CARRIAGE / 4.0).powi(2) / 1.5;
    format!(
        r#"
gravity = [0, 0, 0]
[[material]]
name = "m"
friction = {MU}
[[world]]
name = "ground"
shape = "half_space"
material = "m"
[[body]]
name = "carriage"
joint = {{ prismatic = {{ axis = [1, 0, 0] }} }}
mass = {mass:e}
inertia = [{inertia:e}, {inertia:e}, {inertia:e}]
center = [0, 0, 0]
mount = {{ position = [0, 0, 0.1] }}
velocity = {speed:e}
[[body]]
name = "b"
parent = "carriage"
joint = {{ prismatic = {{ axis = [0, 0, 1] }} }}
mass = {mass:e}
inertia = [1, 1, 1]
shape = {{ sphere = {{ radius = 0.1 }} }}
material = "m"
[[motor]]
body = "carriage"
velocity = {{ constant = {speed:e} }}
[[load]]
body = "b"
force = {{ constant = [0, 0, {:e}] }}
[step]
h = {H}
duration = {DURATION}
{more}
"#,
        -press
    )
}

/// Runs a scene; calls `check` with the contacts, the velocities, and whether the step is solved, after each step.
fn run(name: &str, toml: &str, steps: usize, mut check: impl FnMut(&[ElementReport], &[f64])) {
    let scene = stiction::from_toml(name, toml).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut stepper = Stepper::new(scene).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut state = stepper.initial();
    for _ in 0..steps {
        let report = stepper.step(&mut state).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(report.loose == 0 && report.residual.relative <= R, "{name}: {report:?}");
        check(stepper.elements(), &state.velocity);
    }
}

fn near(name: &str, what: &str, found: f64, expected: f64, share: f64) {
    assert!(
        (found - expected).abs() <= share * expected.abs(),
        "{name}: {what} {found:e}, expected {expected:e}"
    );
}

/// 1e-6 to 10 kg under 1 to 1e5 N at 1e-5 to 0.1 m/s: what the load alone would do to the lightest one in a step is 1e14 times its slip.
#[test]
fn light_sliders_have_the_friction_of_their_load() {
    for scheme in ["theta", "implicit"] {
        for mass in [1e-6, 1e-4, 1e-2, 10.0] {
            for press in [1.0, 1e3, 1e5] {
                for speed in [1e-5, 1e-3, 0.1] {
                    let name = format!("{scheme}, {mass:e} kg, {press:e} N, {speed:e} m/s");
                    let toml = slider(mass, press, speed, &format!("scheme = \"{scheme}\""));
                    run(&name, &toml, 5, |elements, v| {
                        let [e] = elements else { panic!("{name}: one contact") };
                        // a velocity that is off by the tolerance takes this force within the step
                        let lifts = R * BALL / DURATION * mass / H / press;
                        near(&name, "load", e.force[0], press, 1e-9 + lifts);
                        near(&name, "friction", e.force[1].hypot(e.force[2]), MU * e.force[0], 1.1 * R);
                        // the drive and friction each add up to as much
                        let off = R * CARRIAGE / DURATION + rounding(2.0, MU * H * press / mass);
                        assert!((v[0] - speed).abs() <= off, "{name}: {:e}", v[0]);
                        assert_eq!(e.status, Status::Slip, "{name}");
                    });
                }
            }
        }
    }
}

/// A light part that is held sticks, and is said to: the load is on it, the drive stands.
#[test]
fn a_light_part_that_stands_sticks() {
    for mass in [1e-6, 1e-2, 10.0] {
        run(&format!("{mass:e} kg"), &slider(mass, 1e4, 0.0, ""), 5, |elements, v| {
            assert!(elements[0].status == Status::Stick && v[0].abs() <= 1e-9, "{mass:e}: {:e}", v[0]);
        });
    }
}

/// A press of up to 100 t on a slider of 1 g, in one island with it: the slider rubs on the ground and on the press.
#[test]
fn a_light_slider_under_a_heavy_press_has_its_friction() {
    const G: f64 = 9.81;
    for (heavy, speed) in [(1e2, 1e-4), (1e4, 1e-5), (1e5, 1e-3)] {
        let press = format!(
            r#"
[[body]]
name = "press"
joint = {{ prismatic = {{ axis = [0, 0, 1] }} }}
mount = {{ position = [0, 0, 0.7] }}
mass = {heavy:e}
inertia = [1, 1, 1]
shape = {{ box = {{ half = [1, 1, 0.5] }} }}
material = "m"
"#
        );
        let toml =
            slider(1e-3, 0.0, speed, "").replace("gravity = [0, 0, 0]", "gravity = [0, 0, -9.81]") + &press;
        let name = format!("{heavy:e} kg");
        run(&name, &toml, 5, |elements, v| {
            assert_eq!(elements.len(), 2, "{name}");
            // what the load does to a slider of 1 g in a step, m/s; the normal forces below and above it both do, and so do the frictions and the drive
            let load = H * heavy * G / 1e-3;
            let lifts = R * (G * BALL).sqrt() + rounding(3.0, 2.0 * load);
            for e in elements {
                // the slider's own gram is on the ground only; velocities off by `lifts` are accelerations of the press
                near(&name, "load", e.force[0], heavy * G, 1.1e-3 / heavy + lifts / (H * G));
                near(&name, "friction", e.force[1].hypot(e.force[2]), MU * e.force[0], 1.1 * R);
                assert_eq!(e.status, Status::Slip, "{name}");
            }
            let off = R * (G * CARRIAGE).sqrt() + rounding(3.0, 2.0 * MU * load);
            assert!((v[0] - speed).abs() <= off, "{name}: {:e}", v[0]);
        });
    }
}

/// A brake pad of 1 g that 10 kN press on a flywheel of 1 t, which is driven slowly: the pad brakes with all of its friction.
#[test]
fn a_light_pad_on_a_slow_flywheel_brakes_with_its_friction() {
    const RADIUS: f64 = 0.2;
    for speed in [1e-4, 1e-2, 1.0] {
        let toml = format!(
            r#"
gravity = [0, 0, 0]
[[material]]
name = "m"
friction = {MU}
[[body]]
name = "wheel"
joint = {{ revolute = {{ axis = [0, 1, 0] }} }}
mass = 1000
inertia = [20, 20, 20]
shape = {{ sphere = {{ radius = {RADIUS} }} }}
material = "m"
angular_velocity = {speed:e}
[[body]]
name = "pad"
joint = {{ prismatic = {{ axis = [0, 0, 1] }} }}
mount = {{ position = [0, 0, 0.22] }}
mass = 1e-3
inertia = [1e-6, 1e-6, 1e-6]
shape = {{ sphere = {{ radius = 0.02 }} }}
material = "m"
[[motor]]
body = "wheel"
velocity = {{ constant = {speed:e} }}
[[load]]
body = "pad"
force = {{ constant = [0, 0, -1e4] }}
[step]
h = 1e-3
duration = {DURATION}
"#
        );
        let name = format!("{speed:e} rad/s");
        run(&name, &toml, 20, |elements, _| {
            let [e] = elements else { panic!("{name}: one contact") };
            near(&name, "load", e.force[0], 1e4, 1e-9);
            near(&name, "friction", e.force[1].hypot(e.force[2]), MU * e.force[0], 1.1 * R);
            // rows about angles: 1 rad in the duration of the run
            let slip = e.speed[1].hypot(e.speed[2]);
            assert!((slip - RADIUS * speed).abs() <= 1.01 * RADIUS * R / DURATION, "{name}: {slip:e}");
            assert_eq!(e.status, Status::Slip, "{name}");
        });
    }
}
