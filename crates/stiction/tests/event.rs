//! `scheme = "event"`: rigid motion with located events, against closed forms and an independent integration.

use crate::event_driven;

use event_driven::SONG2004;
use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, Event, EventKind, Fault, Observer, Options, View, run};
use stiction::scene::Scene;
use stiction::state::State;

#[derive(Default)]
struct Seen {
    events: Vec<Event>,
    states: Vec<State>,
    /// Normal forces of the contacts after each step.
    normal: Vec<Vec<f64>>,
}

impl Observer for Seen {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.events.extend_from_slice(view.events);
        self.states.push(view.state.clone());
        self.normal.push(view.elements().iter().map(|e| e.force[0]).collect());
        Ok(())
    }
}

fn see(scene: &Scene) -> Seen {
    let model = Arc::new(Model::new(scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished);
    seen
}

fn see_text(text: &str) -> Seen {
    see(&stiction::from_toml("scene", text).expect("a scene"))
}

fn time_of(seen: &Seen, kind: EventKind, after: f64) -> f64 {
    seen.events.iter().find(|e| e.kind == kind && e.time > after).unwrap_or_else(|| panic!("{kind:?}")).time
}

#[test]
fn song2004_s_rigid_ellipse_agrees_with_an_independent_integration() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/song2004/ellipse-rigid.toml");
    let mut scene = stiction::read(std::path::Path::new(path)).expect("a scene");
    let start = [0.0, 75f64.to_radians(), 0.0, 0.0];
    let height = SONG2004.height(start[1])[0];
    scene.set("body[ellipse].position", &format!("[0.0, {height:e}]")).expect("a position");
    scene.set("step.scheme", "\"event\"").expect("a scheme");
    scene.set("step.accuracy", "1e-12").expect("an accuracy");
    scene.set("step.h", "0.1").expect("a step");
    scene.set("record.interval", "0.1").expect("an interval");
    let seen = see(&scene);
    let exact = SONG2004.integrate(start, event_driven::Mode::Roll, 1e-4, 20_000);
    for (k, at) in [(1, 2_000), (4, 5_000), (9, 10_000), (19, 20_000)] {
        let (q, v) = (&seen.states[k].position, &seen.states[k].velocity);
        let [x, theta, dx, dtheta] = exact.phases[at];
        let r = SONG2004.height(theta);
        let expected = [x, r[0], theta, dx, r[1] * dtheta, dtheta];
        for (found, expected) in q.iter().chain(v).zip(expected) {
            assert!((found - expected).abs() < 1e-8, "t {}: {found} not {expected}", seen.states[k].time);
        }
    }
    // the same events
    let slips: Vec<f64> = seen.events.iter().filter(|e| e.kind == EventKind::Slip).map(|e| e.time).collect();
    let first = exact.events.iter().find(|e| e.1 != event_driven::Mode::Roll).expect("a slip").0;
    assert!((slips[0] - first).abs() < 1e-9, "{} {first}", slips[0]);
}

const BALL: &str = "
    [[world]]
    name = 'ground'
    shape = 'half_space'
    [[body]]
    name = 'ball'
    shape = { sphere = { radius = 0.1 } }
    mass = 2
    ";

#[test]
fn a_bouncing_ball_comes_to_rest_at_the_sum_of_its_flights() {
    let (e, g, height) = (0.6f64, 9.81f64, 0.2f64);
    let text = format!(
        "{BALL} position = [0, 0, {}]\n [[material]]\n name = 'default'\n restitution = {e}\n [step]\n scheme = 'event'\n h = 0.05\n duration = 1.5",
        0.1 + height
    );
    let seen = see_text(&text);
    let close: Vec<f64> = seen.events.iter().filter(|x| x.kind == EventKind::Close).map(|x| x.time).collect();
    // impacts of less than the threshold, 0.01 m/s, do not bounce
    let (mut time, mut v, mut exact) = ((2.0 * height / g).sqrt(), (2.0 * g * height).sqrt(), vec![]);
    while v > 0.01 {
        exact.push(time);
        v *= e;
        time += 2.0 * v / g;
    }
    let rest = time;
    let settled = close.last().copied().expect("it comes to rest");
    assert!((settled - rest).abs() < 1e-9, "{settled} {rest}, {close:?}");
    let end = seen.states.last().expect("steps");
    assert!((end.position[2] - 0.1).abs() < 1e-12 && end.velocity[2].abs() < 1e-12, "{end:?}");
    // the highest point after the first impact: half a flight later
    let at = |t: f64| seen.states.iter().min_by(|a, b| (a.time - t).abs().total_cmp(&(b.time - t).abs()));
    let near = at(exact[0] + 0.1).expect("steps");
    let s = near.time - exact[0];
    let expected = 0.1 + e * (2.0 * g * height).sqrt() * s - 0.5 * g * s * s;
    assert!((near.position[2] - expected).abs() < 1e-10, "{}", near.position[2] - expected);
}

#[test]
fn a_sliding_ball_rolls_from_the_exact_time_on() {
    let (mu, g, v) = (0.3f64, 9.81f64, 1.0f64);
    for heading in [0.0f64, 0.7, 2.4] {
        let text = format!(
            "{BALL} position = [0, 0, 0.1]\n velocity = [{}, {}, 0]\n [[material]]\n name = 'default'\n friction = {mu}\n [step]\n scheme = 'event'\n h = 0.02\n duration = 0.2",
            v * heading.cos(),
            v * heading.sin()
        );
        let seen = see_text(&text);
        let sticks = time_of(&seen, EventKind::Stick, 1e-3);
        assert!((sticks - 2.0 * v / (7.0 * mu * g)).abs() < 1e-10, "{:e}", sticks - 2.0 * v / (7.0 * mu * g));
        let end = &seen.states.last().expect("steps").velocity;
        let speed = end[0].hypot(end[1]);
        assert!((speed - 5.0 / 7.0 * v).abs() < 1e-10, "{speed}");
        assert!((end[1].atan2(end[0]) - heading).abs() < 1e-9);
    }
}

const BOX: &str = "shape = { box = { half = [0.1, 0.1, 0.1] } }\n mass = 1";

#[test]
fn a_sliding_box_stops_where_friction_has_taken_its_energy() {
    let (mu, g, v) = (0.4f64, 9.81f64, 0.8f64);
    let text = format!(
        "[[world]]\n name = 'ground'\n shape = 'half_space'\n [[body]]\n name = 'box'\n {BOX}\n position = [0, 0, 0.1]\n velocity = [{}, {}, 0]
        [[material]]\n name = 'default'\n friction = {mu}\n [step]\n scheme = 'event'\n h = 0.02\n duration = 0.3",
        v * 0.6,
        v * 0.8
    );
    let seen = see_text(&text);
    let stops = time_of(&seen, EventKind::Stick, 1e-3);
    assert!((stops - v / (mu * g)).abs() < 1e-10, "{:e}", stops - v / (mu * g));
    let end = seen.states.last().expect("steps");
    let way = v * v / (2.0 * mu * g);
    assert!((end.position[0] - 0.6 * way).abs() < 1e-9 && (end.position[1] - 0.8 * way).abs() < 1e-9);
    // four feet share the weight evenly: the forces that the time-stepper chooses
    for n in seen.normal.last().expect("steps") {
        assert!((n - g / 4.0).abs() < 1e-8, "{n}");
    }
}

#[test]
fn a_stack_of_boxes_rests_and_a_ladder_slides_down() {
    let text = format!(
        "[[world]]\n name = 'ground'\n shape = 'half_space'\n [[body]]\n name = 'a'\n {BOX}\n position = [0, 0, 0.1]\n [[body]]\n name = 'b'\n {BOX}\n position = [0.02, 0, 0.3]
        [[body]]\n name = 'c'\n {BOX}\n position = [0, 0.01, 0.5]\n [step]\n scheme = 'event'\n h = 0.1\n duration = 0.5"
    );
    let seen = see_text(&text);
    let (first, end) = (
        Model::new(&stiction::from_toml("s", &text).expect("a scene")).expect("a model").initial(),
        seen.states.last().expect("steps"),
    );
    let moved = first.position.iter().zip(&end.position).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-11, "{moved:e}");
    let carried: f64 = seen.normal.last().expect("steps")[8..].iter().sum();
    assert!((carried - 3.0 * 9.81).abs() < 1e-7, "{:?}", seen.normal.last());
    // a frictionless ladder of 1 m at 60 degrees: energy 1/2 (1/3) m l^2 w^2 = m g l/2 (sin 60 - sin angle) while it touches the wall
    let (l, g) = (1.0f64, 9.81f64);
    let start = 60f64.to_radians();
    let text = format!(
        "planar = true\n gravity = [0, -{g}]\n [[material]]\n name = 'default'\n friction = 0\n [[world]]\n name = 'ground'\n shape = 'half_space'
        [[world]]\n name = 'wall'\n shape = 'half_space'\n angle_deg = -90\n [[body]]\n name = 'ladder'\n shape = {{ polygon = {{ vertices = [[-0.5, 0], [0, -0.001], [0.5, 0], [0, 0.001]] }} }}
        mass = 1\n inertia = {}\n position = [{}, {}]\n angle = {}\n [step]\n scheme = 'event'\n h = 0.01\n duration = 0.6",
        l * l / 12.0,
        0.5 * l * start.cos(),
        0.5 * l * start.sin(),
        std::f64::consts::PI - start
    );
    let seen = see_text(&text);
    // it leaves the wall where sin = 2/3 sin 60, the classical result
    let leaves = time_of(&seen, EventKind::Open, 0.0);
    let before = seen.states.iter().rfind(|s| s.time < leaves).expect("steps");
    let angle = std::f64::consts::PI - before.position[2];
    let rate = (3.0 * g / l * (start.sin() - angle.sin())).sqrt();
    assert!((before.velocity[2].abs() - rate).abs() < 1e-9, "{} {rate}", before.velocity[2]);
    let after = seen.states.iter().find(|s| s.time > leaves).expect("steps");
    let at = std::f64::consts::PI - after.position[2];
    assert!(angle.sin() > 2.0 / 3.0 * start.sin() && at.sin() < 2.0 / 3.0 * start.sin(), "{angle} {at}");
}

#[test]
fn a_box_on_a_slope_rests_though_even_forces_would_slip() {
    // 0.95 of the friction angle: evenly compliant feet would carry friction beyond what the upper ones can
    let (mu, g) = (0.5f64, 9.81f64);
    let angle = 0.95 * mu.atan();
    let text = format!(
        "gravity = [{}, 0, {}]\n [[world]]\n name = 'ground'\n shape = 'half_space'\n [[body]]\n name = 'box'\n {BOX}\n position = [0, 0, 0.1]
        [[material]]\n name = 'default'\n friction = {mu}\n [step]\n scheme = 'event'\n h = 0.05\n duration = 1",
        g * angle.sin(),
        -g * angle.cos()
    );
    let scene = stiction::from_toml("scene", &text).expect("a scene");
    let (model, seen) = (Arc::new(Model::new(&scene).expect("a model")), see(&scene));
    let (first, end) = (model.initial(), seen.states.last().expect("steps"));
    let moved = first.position.iter().zip(&end.position).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-12, "{moved:e}");
    let slips = seen.events.iter().filter(|e| e.kind == EventKind::Slip).count();
    assert_eq!(slips, 0);
    // reported forces are within friction's bounds, and carry the load
    let rows = |k: usize| end.memory.iter().map(move |m| m.forces[k]).collect::<Vec<f64>>();
    let (n, t) = (rows(0), rows(1));
    assert!(
        (n.iter().sum::<f64>() - g * angle.cos()).abs() < 1e-7
            && (t.iter().sum::<f64>() + g * angle.sin()).abs() < 1e-7
    );
    assert!(n.iter().zip(&t).all(|(n, t)| t.abs() <= mu * n + 1e-7), "{n:?} {t:?}");
}
