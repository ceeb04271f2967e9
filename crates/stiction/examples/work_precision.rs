//! Error against cost of the schemes on five scenes, as CSV: docs/work-precision.md.
//!
//! Each line is one run: scene, scheme, its setting, the largest error of a coordinate or velocity at the end (m, rad, m/s, rad/s), and
//! processor time of one run on one core, s. References are closed forms, or the event scheme at an accuracy of 1e-13.
//!
//! `cargo run --release --example work_precision > work-precision.csv`, then `scripts/work_precision.py work-precision.csv`
#![allow(missing_docs)]

use std::f64::consts::PI;
use stiction::scene::Scene;
use stiction::state::State;
use stiction::stepper::Stepper;

const G: f64 = 9.81;

struct Case {
    name: &'static str,
    text: String,
    /// End, s.
    end: f64,
    /// Exact coordinates and velocities at the end that are compared; without, those of the event scheme.
    exact: Option<Vec<f64>>,
    /// Which of `q`, then `v`, are compared.
    compared: Vec<usize>,
    /// Laws under which the compliant scheme approaches the rigid motion.
    laws: Vec<(String, String)>,
}

fn main() {
    println!("scene,scheme,setting,error,seconds");
    for case in cases() {
        let exact = case.exact.clone().unwrap_or_else(|| {
            let scene = case.scene(
                "event",
                &[("accuracy", "1e-13".to_owned()), ("h", format!("{}", case.end / 20.0))],
                None,
            );
            case.read(&run(&scene, case.end).0.expect("a reference"))
        });
        let words: Vec<String> = exact.iter().map(|x| format!("{x:e}")).collect();
        println!("{},reference,{},0,0", case.name, words.join(" "));
        for h in [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5] {
            // the end is a multiple of the step
            let h = case.end / (case.end / h).round();
            case.line(
                "theta",
                &format!("h={h:.1e}"),
                &case.scene("theta", &[("h", format!("{h:e}"))], None),
                &exact,
            );
        }
        for accuracy in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12] {
            let settings = [("accuracy", format!("{accuracy:e}")), ("h", format!("{}", case.end / 10.0))];
            case.line(
                "event",
                &format!("accuracy={accuracy:.0e}"),
                &case.scene("event", &settings, None),
                &exact,
            );
        }
        for (what, law) in &case.laws {
            let settings = [("accuracy", "1e-8".to_owned()), ("h", format!("{}", case.end / 10.0))];
            case.line("compliant", what, &case.scene("compliant", &settings, Some(law)), &exact);
        }
    }
}

impl Case {
    fn scene(&self, scheme: &str, settings: &[(&str, String)], law: Option<&String>) -> Scene {
        let mut scene = stiction::from_toml(self.name, &self.text).expect("a scene");
        scene.set("step.scheme", &format!("\"{scheme}\"")).expect("a scheme");
        for (key, value) in settings {
            scene.set(&format!("step.{key}"), value).expect("a setting");
        }
        if let Some(law) = law {
            scene.set("material[default].law", law).expect("a law");
        }
        scene
    }

    fn read(&self, state: &State) -> Vec<f64> {
        let all: Vec<f64> = state.position.iter().chain(&state.velocity).copied().collect();
        self.compared.iter().map(|k| all[*k]).collect()
    }

    fn line(&self, scheme: &str, setting: &str, scene: &Scene, exact: &[f64]) {
        let (Some(state), seconds) = run(scene, self.end) else {
            eprintln!("{} {scheme} {setting}: the run fails", self.name);
            return;
        };
        let found = self.read(&state);
        let error = found.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{},{scheme},{setting},{error:e},{seconds:e}", self.name);
    }
}

/// The state at the end, and the mean processor time of a run over enough of them: the clock ticks in milliseconds.
fn run(scene: &Scene, end: f64) -> (Option<State>, f64) {
    let steps = (end / scene.step.h).round() as usize;
    let mut stepper = Stepper::new(scene.clone()).expect("a model");
    let (begin, mut runs) = (processor_time(), 0);
    loop {
        let mut state = stepper.initial();
        for _ in 0..steps {
            if stepper.step(&mut state).is_err() {
                return (None, f64::NAN);
            }
        }
        runs += 1;
        let spent = processor_time() - begin;
        if spent > 0.3 {
            return (Some(state), spent / f64::from(runs));
        }
    }
}

/// Processor time of this thread, s.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let first = text.split_whitespace().next().expect("a number");
    1e-9 * first.parse::<f64>().expect("nanoseconds")
}

/// Kelvin and Voigt's law, critically damped for a mass, ever stiffer.
fn stiffer(mass: f64) -> Vec<(String, String)> {
    let law = |k: f64| {
        let c = 2.0 * (k * mass).sqrt();
        (
            format!("stiffness={k:.0e}"),
            format!("{{ kelvin_voigt = {{ stiffness = [{k:e}, {k:e}], damping = [{c:e}, {c:e}] }} }}"),
        )
    };
    [1e3, 1e4, 1e5, 1e6, 1e7, 1e8].map(law).to_vec()
}

fn cases() -> Vec<Case> {
    let ground = "[[world]]\n name = 'ground'\n shape = 'half_space'\n";
    let material =
        |mu: f64, more: &str| format!("[[material]]\n name = 'default'\n friction = {mu}\n {more}\n");
    let ball = "[[body]]\n name = 'ball'\n shape = { sphere = { radius = 0.1 } }\n mass = 2\n";
    // slides until 2 v/(7 mu g), then rolls at 5/7
    let (mu, v) = (0.3, 1.0);
    let stops = 2.0 * v / (7.0 * mu * G);
    let way = v * stops - 0.5 * mu * G * stops * stops + 5.0 / 7.0 * v * (0.2 - stops);
    let rolling = Case {
        name: "ball",
        text: format!("{} {ground} {ball} position = [0, 0, 0.1]\n velocity = [1, 0, 0]", material(mu, "")),
        end: 0.2,
        exact: Some(vec![way, 5.0 / 7.0 * v, 5.0 / 7.0 * v / 0.1]),
        compared: vec![0, 7, 11],
        laws: stiffer(2.0),
    };
    // a box stops after v/(mu g)
    let sliding = Case {
        name: "box",
        text: format!(
            "{} {ground} [[body]]\n name = 'box'\n shape = {{ box = {{ half = [0.1, 0.1, 0.1] }} }}\n mass = 1\n position = [0, 0, 0.1]\n velocity = [0.6, 0.8, 0]",
            material(0.4, "")
        ),
        end: 0.4,
        exact: Some(vec![0.6 / (0.8 * G), 0.8 / (0.8 * G), 0.0, 0.0]),
        compared: vec![0, 1, 7, 8],
        laws: stiffer(1.0),
    };
    // falls 0.2 m and bounces with 0.6
    let (e, fall, speed) = (0.6f64, (0.4 / G).sqrt(), (2.0 * G * 0.2f64).sqrt());
    let (mut time, mut velocity) = (fall, e * speed);
    while time + 2.0 * velocity / G < 0.8 {
        time += 2.0 * velocity / G;
        velocity *= e;
    }
    let left = 0.8 - time;
    let bouncing = Case {
        name: "bounces",
        text: format!("{} {ground} {ball} position = [0, 0, 0.3]", material(0.3, "restitution = 0.6")),
        end: 0.8,
        exact: Some(vec![0.1 + velocity * left - 0.5 * G * left * left, velocity - G * left]),
        compared: vec![2, 9],
        laws: vec![],
    };
    let angle = 75f64.to_radians();
    let ellipse = Case {
        name: "ellipse",
        text: format!(
            "planar = true\n {} {ground} [[body]]\n name = 'ellipse'\n shape = {{ ellipse = {{ semi_axes = [0.1, 0.05] }} }}\n mass = 0.05\n inertia = 1.5e-4\n position = [0, {:e}]\n angle = {angle:e}",
            material(0.2, ""),
            (0.1 * angle.sin()).hypot(0.05 * angle.cos())
        ),
        end: 0.5,
        exact: None,
        compared: (0..6).collect(),
        laws: stiffer(0.05),
    };
    let tilt = 42.3 * PI / 180.0;
    let law = |eps: f64| {
        let (m, l) = (0.088, 0.234);
        let (k, alpha) = (m * l / (eps * l) / (eps * l), 2.0 / (3.0 * eps.sqrt() * l));
        let law = format!(
            "{{ hunt_crossley = {{ stiffness = {k:e}, exponent = 2, dissipation = {alpha:e}, tangential_stiffness = {:e}, tangential_damping = {:e} }} }}",
            m / (eps * eps),
            2.0 * m / eps
        );
        (format!("eps={eps:.0e}"), law)
    };
    let rod = Case {
        name: "rod",
        text: format!(
            "planar = true\n {} {ground} [[body]]\n name = 'rod'\n shape = {{ polygon = {{ vertices = [[-0.234, 0], [0, -0.001], [0.234, 0], [0, 0.001]] }} }}\n mass = 0.088\n inertia = 0.001606176\n position = [{:e}, {:e}]\n angle = {tilt:e}",
            material(0.27, ""),
            0.234 * tilt.cos(),
            0.234 * tilt.sin()
        ),
        end: 0.2,
        exact: None,
        compared: (0..6).collect(),
        laws: [1e-2, 1e-3, 1e-4, 1e-5].map(law).to_vec(),
    };
    vec![rolling, sliding, bouncing, ellipse, rod]
}
