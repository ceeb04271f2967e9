//! `scheme = "event"`: times of transversal events against closed forms, within 1e-12 s (`accuracy = 1e-13`: the motion up to an event must be as good).

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, Event, EventKind, Fault, Observer, Options, View, run};

const G: f64 = 9.81;
/// What the times are required to agree within, s.
const LOCATED: f64 = 1e-12;

#[derive(Default)]
struct Seen(Vec<Event>);

impl Observer for Seen {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.0.extend_from_slice(view.events);
        Ok(())
    }
}

fn events(text: &str) -> Vec<Event> {
    let scene = stiction::from_toml("scene", text).expect("a scene");
    let model = Arc::new(Model::new(&scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished, "after {} s", state.time);
    seen.0
}

fn times(events: &[Event], kind: EventKind, after: f64) -> Vec<f64> {
    events.iter().filter(|e| e.kind == kind && e.time > after).map(|e| e.time).collect()
}

fn scene(body: &str, rest: &str) -> String {
    format!(
        "{rest}\n [[world]]\n name = 'ground'\n shape = 'half_space'\n [[body]]\n name = 'body'\n mass = 1\n {body}\n [step]\n scheme = 'event'\n accuracy = 1e-13\n"
    )
}

const BOX: &str = "shape = { box = { half = [0.1, 0.2, 0.05] } }\n position = [0, 0, 0.05]";

#[test]
fn sliding_boxes_stop_after_v_over_mu_g() {
    for (v, mu, heading, h) in [(0.8f64, 0.4f64, 0.9f64, 0.02), (0.3, 0.1, 0.0, 0.013), (1.7, 0.6, 2.5, 0.1)]
    {
        let text = scene(
            &format!("{BOX}\n velocity = [{:e}, {:e}, 0]", v * heading.cos(), v * heading.sin()),
            &format!("[[material]]\n name = 'default'\n friction = {mu}"),
        );
        let found = events(&format!("{text} h = {h}\n duration = {:e}", v / (mu * G) + 0.1));
        let stops = times(&found, EventKind::Stick, 1e-3);
        println!("stop: off by {:e} s", stops[0] - v / (mu * G));
        assert!((stops[0] - v / (mu * G)).abs() < LOCATED, "{:e}", stops[0] - v / (mu * G));
    }
}

#[test]
fn a_sliding_ball_begins_to_roll_after_two_sevenths() {
    let (v, mu) = (1.0f64, 0.3f64);
    for heading in [0.0f64, 0.7, 2.4] {
        let text = scene(
            &format!(
                "shape = {{ sphere = {{ radius = 0.1 }} }}\n position = [0, 0, 0.1]\n velocity = [{:e}, {:e}, 0]",
                v * heading.cos(),
                v * heading.sin()
            ),
            &format!("[[material]]\n name = 'default'\n friction = {mu}"),
        );
        let rolls = times(&events(&format!("{text} h = 0.02\n duration = 0.2")), EventKind::Stick, 1e-3)[0];
        println!("roll: off by {:e} s", rolls - 2.0 * v / (7.0 * mu * G));
        assert!((rolls - 2.0 * v / (7.0 * mu * G)).abs() < LOCATED, "{:e}", rolls - 2.0 * v / (7.0 * mu * G));
    }
}

#[test]
fn balls_touch_and_bounce_at_the_times_of_free_fall() {
    let (e, height) = (0.6f64, 0.2f64);
    let text = scene(
        &format!("shape = {{ sphere = {{ radius = 0.1 }} }}\n position = [0, 0, {}]", 0.1 + height),
        &format!("[[material]]\n name = 'default'\n restitution = {e}"),
    );
    let closes = times(&events(&format!("{text} h = 0.05\n duration = 1.2")), EventKind::Close, 0.0);
    // a bounce within a step leaves no contact behind: what is recorded is where the ball comes to rest
    let (mut time, mut v) = ((2.0 * height / G).sqrt(), (2.0 * G * height).sqrt());
    while v > 0.01 {
        v *= e;
        time += 2.0 * v / G;
    }
    let rest = closes.last().expect("it comes to rest");
    println!("rest: off by {:e} s", rest - time);
    assert!((rest - time).abs() < LOCATED, "{:e}", rest - time);
    let drop = scene(
        &format!("shape = {{ sphere = {{ radius = 0.1 }} }}\n position = [0, 0, {}]", 0.1 + height),
        "[[material]]\n name = 'default'\n restitution = 0",
    );
    let touch = times(&events(&format!("{drop} h = 0.05\n duration = 0.4")), EventKind::Close, 0.0)[0];
    println!("touch: off by {:e} s", touch - (2.0 * height / G).sqrt());
    assert!((touch - (2.0 * height / G).sqrt()).abs() < LOCATED, "{:e}", touch - (2.0 * height / G).sqrt());
}

#[test]
fn a_growing_force_begins_a_slip_of_a_rolling_ball() {
    // 10 N/s at the centre ask for friction of 2/7 of the force
    let mu = 0.1f64;
    for heading in [0.0f64, 1.1] {
        let (x, y) = (20.0 * heading.cos(), 20.0 * heading.sin());
        let text = scene(
            "shape = { sphere = { radius = 0.1 } }\n position = [0, 0, 0.1]",
            &format!(
                "[[load]]\n body = 'body'\n point = [0, 0, 0]\n force = {{ points = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 2, value = [{x:e}, {y:e}, 0] }}] }}
                [[material]]\n name = 'default'\n friction = {mu}"
            ),
        );
        let slips = times(&events(&format!("{text} h = 0.05\n duration = 0.5")), EventKind::Slip, 0.0);
        println!("slip: off by {:e} s", slips[0] - 0.35 * mu * G);
        assert!((slips[0] - 0.35 * mu * G).abs() < LOCATED, "{:e}", slips[0] - 0.35 * mu * G);
    }
}
