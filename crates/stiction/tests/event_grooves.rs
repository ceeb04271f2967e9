//! `scheme = "event"`: slips that begin where normal forces and friction of connected contacts depend on each other, and what follows, against closed forms and the theta scheme.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, Event, EventKind, Fault, Observer, Options, View, run};
use stiction::state::State;

const G: f64 = 9.81;
/// What the times are required to agree within, s.
const LOCATED: f64 = 1e-12;

#[derive(Default)]
struct Seen {
    events: Vec<Event>,
    /// States, and forces of the contacts in n, t, o.
    results: Vec<(State, Vec<[f64; 3]>)>,
}

impl Observer for Seen {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.events.extend_from_slice(view.events);
        self.results.push((view.state.clone(), view.elements().iter().map(|e| e.force).collect()));
        Ok(())
    }
}

fn see(text: &str) -> Seen {
    let scene = stiction::from_toml("scene", text).expect("a scene");
    let model = Arc::new(Model::new(&scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished, "after {} s", state.time);
    seen
}

impl Seen {
    fn slips(&self) -> Vec<f64> {
        self.events.iter().filter(|e| e.kind == EventKind::Slip).map(|e| e.time).collect()
    }

    /// The state and the forces at a time.
    fn at(&self, time: f64) -> &(State, Vec<[f64; 3]>) {
        self.results.iter().find(|r| (r.0.time - time).abs() < 1e-9).expect("a result at that time")
    }
}

/// A rod of 1 kg along a V-groove whose sides rise by `tilt`, pushed along it by 10 N/s at the height of its contacts.
fn groove(mu: f64, tilt: f64, step: &str) -> String {
    let radius = 0.1;
    format!(
        "[[material]]\n name = 'default'\n friction = {mu}
        [[world]]\n name = 'left'\n shape = 'half_space'\n orientation = {{ axis = [1, 0, 0], angle = {tilt} }}
        [[world]]\n name = 'right'\n shape = 'half_space'\n orientation = {{ axis = [1, 0, 0], angle = {} }}
        [[body]]\n name = 'rod'\n mass = 1\n shape = {{ cylinder = {{ radius = {radius}, half_length = 0.3 }} }}\n position = [0, 0, {:e}]
        orientation = {{ axis = [0, 1, 0], angle = {:e} }}
        [[load]]\n body = 'rod'\n point = [{:e}, 0, 0]\n force = {{ points = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 2, value = [20, 0, 0] }}] }}
        [step]\n {step}",
        -tilt,
        radius / tilt.cos(),
        std::f64::consts::FRAC_PI_2,
        radius * tilt.cos()
    )
}

#[test]
fn a_rod_in_a_groove_slips_where_wedging_forces_hold_it_no_longer_and_in_theta_steps_before() {
    // each side carries n and the friction u up the side, n cos + u sin = m g/2. With u = 0 friction along the groove ends at mu m g/cos (the time-stepper);
    // forces with u < 0 wedge the rod and hold it up to mu m g/(cos sqrt(1 - mu^2 tan^2))
    for (mu, tilt) in [(0.4f64, 0.5f64), (0.3, 0.9), (0.6, 0.3)] {
        let even = mu * G / (10.0 * tilt.cos());
        let wedged = even / (1.0 - (mu * tilt.tan()).powi(2)).sqrt();
        let end = (20.0 * wedged + 1.0).ceil() / 20.0;
        let step = |h: f64| format!("scheme = 'event'\n accuracy = 1e-13\n h = {h}\n duration = {end}");
        let seen = see(&groove(mu, tilt, &step(0.005)));
        let slips = seen.slips();
        println!(
            "mu {mu}, tilt {tilt}: off by {:e} s, {:e} s later than in steps",
            slips[0] - wedged,
            wedged - even
        );
        assert!((slips[0] - wedged).abs() < LOCATED, "{} {wedged}", slips[0]);
        assert!(slips.len() == 4 && slips.iter().all(|s| *s == slips[0]), "{slips:?}");
        // in between there are two motions; that is found at the first result, and ends where the rod slips
        let at = |kind| seen.events.iter().filter(|e| e.kind == kind).map(|e| e.time).collect::<Vec<_>>();
        let begins = at(EventKind::Branch);
        assert!(begins.len() == 1 && (even..even + 0.005).contains(&begins[0]), "{begins:?}, {even}");
        assert_eq!(at(EventKind::BranchEndsFriction), [slips[0]]);
        let h = 1e-4;
        let theta = see(&groove(mu, tilt, &format!("scheme = 'theta'\n h = {h}\n duration = {end}")));
        // that of the steps shows in the velocity, 5 (t - t0)^2
        let (last, _) = theta.results.last().expect("results");
        let first = last.time - (last.velocity[0] / 5.0).sqrt();
        println!("in steps: off by {:e} s", first - even);
        assert!((first - even).abs() < 3.0 * h, "{first} {even}");
        // even compliance asks for n = m g/4 cos, u = m g/4 sin at each contact; beyond the bound n cos + u sin = m g/4, u^2 + (10 t/4)^2 = mu^2 n^2
        let (sin, cos) = tilt.sin_cos();
        let mut worst = 0.0f64;
        for (state, forces) in seen.results.iter().filter(|r| r.0.time < even) {
            let along = 2.5 * state.time;
            let (mut u, mut high) = (0.0, 0.25 * G * sin);
            let normal = |u: f64| (0.25 * G - u * sin) / cos;
            let held = |u: f64| u.hypot(along) <= mu * normal(u);
            for _ in 0..100 {
                let middle = if held(high) { high } else { 0.5 * (u + high) };
                if held(middle) { u = middle } else { high = middle }
            }
            for force in forces {
                let off = [force[0] - normal(u), force[1].abs() - along, force[2].abs() - u];
                worst = off.iter().fold(worst, |m, x| m.max(x.abs()));
                assert!(off.iter().all(|x| x.abs() < 1e-6), "{force:?} {u} at {}: {off:?}", state.time);
            }
        }
        println!("forces off by {worst:e} N");
        let (_, forces) = seen.results.last().expect("results");
        assert!(forces.len() == 4 && forces.iter().all(|f| f[2].abs() < 1e-6), "{forces:?}");
        // it accelerates by 10 t - mu g/cos, but for the time until the slip is 1e-7 m/s, for which its friction keeps the direction with which it began: 5 t^2 = 1e-7
        let (last, _) = seen.results.last().expect("results");
        let force = |t: f64| 5.0 * t * t - 10.0 * even * t;
        let exact = force(last.time) - force(slips[0]);
        println!("velocity off by {:e} m/s of {exact}", last.velocity[0] - exact);
        let missed = 10.0 * (wedged - even) * (1e-7f64 / 5.0).sqrt();
        assert!((last.velocity[0] - exact).abs() < 1.1 * missed, "{} {exact}", last.velocity[0]);
    }
}

#[test]
fn a_box_pushed_off_its_middle_moves_as_in_theta_steps_whatever_the_time_between_results() {
    let text = |step: &str| {
        format!(
            "[[material]]\n name = 'default'\n friction = 0.3\n [[world]]\n name = 'ground'\n shape = 'half_space'
            [[body]]\n name = 'body'\n mass = 1\n shape = {{ box = {{ half = [0.1, 0.2, 0.05] }} }}\n position = [0, 0, 0.05]
            [[load]]\n body = 'body'\n point = [0, 0.08, -0.05]\n force = {{ points = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 2, value = [10, 0, 0] }}] }}
            [step]\n {step}"
        )
    };
    let end = 0.8;
    let event =
        |h: f64| see(&text(&format!("scheme = 'event'\n accuracy = 1e-12\n h = {h}\n duration = {end}")));
    let theta = see(&text(&format!("scheme = 'theta'\n h = 5e-5\n duration = {end}")));
    let off = |a: &Seen, b: &Seen| {
        let (a, b) = (a.at(end).0.clone(), b.at(end).0.clone());
        a.velocity.iter().zip(&b.velocity).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (coarse, fine) = (event(0.8), event(0.01));
    assert!(coarse.at(end).0.velocity[5].abs() > 0.1, "{:?}", coarse.at(end).0.velocity);
    println!("coarse and fine differ by {:e}, theta by {:e}", off(&coarse, &fine), off(&theta, &fine));
    assert!(off(&coarse, &fine) < 1e-8, "{:e}", off(&coarse, &fine));
    assert!(off(&theta, &fine) < 1e-3, "{:e}", off(&theta, &fine));
}
