//! Rows of joints under `scheme = "event"` and `scheme = "compliant"`, against closed forms.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{ENTRIES, Ended, Fault, Observer, Options, View, run};
use stiction::state::State;

const G: f64 = 9.81;

#[derive(Default)]
struct Seen {
    states: Vec<State>,
    first: Option<f64>,
    imbalance: f64,
    /// Largest gap of rigid loops.
    open: f64,
    efforts: Vec<Vec<f64>>,
}

impl Observer for Seen {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.first = Some(total(view));
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.imbalance = self.imbalance.max((total(view) - self.first.expect("a start")).abs());
        self.states.push(view.state.clone());
        self.open = self.open.max(view.report.violation);
        self.efforts.push(view.workspace().standing.iter().map(|r| r.effort).collect());
        Ok(())
    }
}

fn total(view: &mut View<'_>) -> f64 {
    ENTRIES.iter().zip(view.balance()).map(|(e, x)| e.sign() * x).sum()
}

fn see(text: &str) -> Seen {
    let scene = stiction::from_toml("scene", text).expect("a scene");
    let model = Arc::new(Model::new(&scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished, "after {} s", state.time);
    seen
}

/// A slider of 2 kg along x without weight.
fn slider(joint: &str, rest: &str) -> String {
    format!(
        "planar = true\n gravity = [0, 0]\n [[body]]\n name = 'a'\n mass = 2\n inertia = 0.1\n joint = {{ prismatic = {{ axis = [1, 0], {joint} }} }}\n {rest}"
    )
}

#[test]
fn friction_of_a_joint_stops_it_and_holds_it() {
    // 1.5 N on 2 kg stop 2 m/s after 8/3 s; a force below friction does not move it, one that grows does from where it passes
    let text = slider("friction = 1.5", "velocity = 2\n [step]\n scheme = 'event'\n h = 0.1\n duration = 3");
    let seen = see(&text);
    let end = seen.states.last().expect("steps");
    assert!((end.position[0] - 2.0 * 2.0 / (2.0 * 0.75)).abs() < 1e-10, "{}", end.position[0]);
    assert!(end.velocity[0].abs() < 1e-11 && seen.imbalance < 1e-10, "{:e}", seen.imbalance);
    let pushed = slider(
        "friction = 1.5",
        "[[motor]]\n body = 'a'\n effort = { points = [{ time = 0, value = 0 }, { time = 2, value = 2 }] }\n [step]\n scheme = 'event'\n h = 0.1\n duration = 2",
    );
    let seen = see(&pushed);
    // x'' = (t - 1.5)/2 from 1.5 s on
    let end = seen.states.last().expect("steps");
    assert!((end.position[0] - 0.5f64.powi(3) / 12.0).abs() < 1e-10, "{}", end.position[0]);
    assert!((end.velocity[0] - 0.5f64.powi(2) / 4.0).abs() < 1e-10, "{}", end.velocity[0]);
    assert!(seen.imbalance < 1e-10, "{:e}", seen.imbalance);
}

#[test]
fn a_limit_bounces_and_holds() {
    // 1 m/s against a stop at 0.5 m with restitution 0.6, pushed back by 3 N on 2 kg
    let text = slider(
        "limits = [-1, 0.5], stop = { restitution = 0.6 }",
        "velocity = 1\n [[motor]]\n body = 'a'\n effort = { constant = 3 }\n [step]\n scheme = 'event'\n h = 0.05\n duration = 4.5",
    );
    let seen = see(&text);
    let (mut v, a) = ((1.0f64 + 2.0 * 1.5 * 0.5).sqrt(), 1.5f64);
    let mut time = (v - 1.0) / a;
    let first = time;
    let after = |t: f64| 0.5 - 0.6 * v * (t - first) + 0.5 * a * (t - first).powi(2);
    let near = seen.states.iter().find(|s| s.time > first + 0.1).expect("steps");
    assert!((near.position[0] - after(near.time)).abs() < 1e-9, "{}", near.position[0] - after(near.time));
    while v > 0.01 {
        v *= 0.6;
        time += 2.0 * v / a;
    }
    assert!(time < 4.5);
    let end = seen.states.last().expect("steps");
    assert!((end.position[0] - 0.5).abs() < 1e-11 && end.velocity[0].abs() < 1e-11, "{end:?}");
    // the stop carries the push
    assert!(
        seen.efforts.last().expect("steps").iter().any(|e| (e + 3.0).abs() < 1e-9),
        "{:?}",
        seen.efforts.last()
    );
}

#[test]
fn springs_and_servos_are_forces_of_both_schemes() {
    // x'' = -w^2 x - 2 z w x' from 0.3 m, and the same as a servo to a place
    let (k, c, m) = (50.0f64, 4.0f64, 2.0f64);
    let (w, z) = ((k / m).sqrt(), c / (2.0 * (k * m).sqrt()));
    let wd = w * (1.0 - z * z).sqrt();
    let exact = |t: f64| 0.3 * (-z * w * t).exp() * ((wd * t).cos() + z * w / wd * (wd * t).sin());
    for scheme in ["event", "compliant"] {
        let ends = format!("[step]\n scheme = '{scheme}'\n h = 0.05\n duration = 1");
        let spring = slider(&format!("stiffness = {k}, damping = {c}"), &format!("position = 0.3\n {ends}"));
        let servo = slider(
            "",
            &format!(
                "position = 0.3\n [[motor]]\n body = 'a'\n position = {{ constant = 0 }}\n stiffness = {k}\n damping = {c}\n {ends}"
            ),
        );
        for text in [spring, servo] {
            let seen = see(&text);
            for s in &seen.states {
                assert!(
                    (s.position[0] - exact(s.time)).abs() < 1e-8,
                    "{scheme} {}",
                    s.position[0] - exact(s.time)
                );
            }
            assert!(seen.imbalance < 1e-8, "{scheme} {:e}", seen.imbalance);
        }
        // a servo that follows a path
        let text = slider(
            "",
            &format!(
                "velocity = 0.62831853071795862\n [[motor]]\n body = 'a'\n position = {{ sinusoid = {{ amplitude = 0.1, frequency = 1 }} }}\n stiffness = {k}\n damping = {c}\n {ends}"
            ),
        );
        let seen = see(&text);
        // x - u = e: m e'' + c e' + k e = -m u'' with u = 0.1 sin; steady part by complex amplitudes, and the rest decays from it
        let p = 2.0 * std::f64::consts::PI;
        let (re, im) = (k - m * p * p, c * p);
        let size = 0.1 * m * p * p / (re * re + im * im);
        let (sine, cosine) = (size * re, -size * im);
        let steady = |t: f64| sine * (p * t).sin() + cosine * (p * t).cos();
        let (e0, v0) = (-cosine, -sine * p);
        let free =
            |t: f64| (-z * w * t).exp() * (e0 * (wd * t).cos() + (v0 + z * w * e0) / wd * (wd * t).sin());
        let end = seen.states.last().expect("steps");
        let expected = 0.1 * (p * end.time).sin() + steady(end.time) + free(end.time);
        assert!((end.position[0] - expected).abs() < 1e-8, "{scheme} {} {expected}", end.position[0]);
    }
}

#[test]
fn a_loop_holds_a_pendulum_together() {
    // a bar on a hinge, and the same bar free with a loop to the world in place of the hinge
    let bar = "[[body]]\n name = 'bar'\n mass = 1.5\n inertia = 0.2\n center = [0, 0]\n";
    let step = "[step]\n scheme = 'event'\n h = 0.05\n duration = 1.5\n accuracy = 1e-12\n";
    let free = format!(
        "planar = true\n {bar} position = [0.5, 0]\n [[loop]]\n name = 'pin'\n kind = 'point'\n from = {{ point = [0, 0] }}\n to = {{ body = 'bar', point = [-0.5, 0] }}\n {step}"
    );
    let seen = see(&free);
    // (I + m l^2) w^2 / 2 = m g l (-sin angle)
    for s in &seen.states {
        let (angle, rate) = (s.position[2], s.velocity[2]);
        let energy = 0.5 * (0.2 + 1.5 * 0.25) * rate * rate + 1.5 * G * 0.5 * angle.sin();
        assert!(energy.abs() < 1e-9, "{energy:e}");
        assert!(
            (s.position[0] - 0.5 * angle.cos()).abs() < 1e-11
                && (s.position[1] - 0.5 * angle.sin()).abs() < 1e-11
        );
    }
    assert!(seen.open < 1e-11 && seen.imbalance < 1e-9, "{:e} {:e}", seen.open, seen.imbalance);
    let hinged = format!(
        "planar = true\n [[body]]\n name = 'bar'\n mass = 1.5\n inertia = 0.2\n center = [0.5, 0]\n joint = {{ revolute = {{}} }}\n {step}"
    );
    let other = see(&hinged);
    for (a, b) in seen.states.iter().zip(&other.states) {
        assert!((a.position[2] - b.position[0]).abs() < 1e-9, "{}", a.position[2] - b.position[0]);
    }
}

#[test]
fn ropes_and_hinged_loops_in_space() {
    // a ball on a rope swings once the rope is taut, after a fall of the slack
    let text = "[[body]]\n name = 'ball'\n shape = { sphere = { radius = 0.05 } }\n mass = 1\n position = [0.6, 0, 0]
        [[loop]]\n name = 'rope'\n kind = 'rope'\n from = { point = [0, 0, 0] }\n to = { body = 'ball', point = [0, 0, 0] }\n length = 1
        [step]\n scheme = 'event'\n h = 0.02\n duration = 0.8\n accuracy = 1e-12";
    let seen = see(text);
    // taut at depth 0.8: then the part of the velocity along the rope is lost, and v^2/2 - g z is kept
    let fall = (2.0 * 0.8 / G).sqrt();
    let v = (2.0 * G * 0.8f64).sqrt();
    let kept = 0.5 * (v * 0.6).powi(2) - G * 0.8;
    for s in seen.states.iter().filter(|s| s.time > fall + 0.02) {
        let [x, y, z] = [0, 1, 2].map(|k| s.position[k]);
        let speed: f64 = s.velocity[..3].iter().map(|v| v * v).sum();
        assert!((x * x + y * y + z * z - 1.0).abs() < 1e-10, "{}", x * x + y * y + z * z);
        assert!((0.5 * speed + G * z - kept).abs() < 1e-8, "{}", 0.5 * speed + G * z - kept);
    }
}

#[test]
fn what_a_scheme_does_not_know_is_refused_by_name() {
    let message =
        |text: &str| stiction::from_toml("scene", text).map(|_| ()).expect_err("a fault").to_string();
    let step = |scheme: &str| format!("[step]\n scheme = '{scheme}'");
    let limit = message(&slider("limits = [-1, 1]", &step("compliant")));
    assert!(
        limit.contains("a (joint lower limit)") && limit.contains("expected limits with stiffness"),
        "{limit}"
    );
    let drive = format!("[[motor]]\n body = 'a'\n velocity = {{ constant = 1 }}\n {}", step("event"));
    let drive = message(&slider("", &drive));
    assert!(drive.contains("a (joint motor)") && drive.contains("gains"), "{drive}");
}
