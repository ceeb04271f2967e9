//! `scheme = "event"`: where bodies on several contacts begin to slip, against closed forms (`accuracy = 1e-13`, and the default).

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, Event, EventKind, Fault, Observer, Options, View, run};

const G: f64 = 9.81;
/// What the times are required to agree within, s.
const LOCATED: f64 = 1e-12;

#[derive(Default)]
struct Seen(Vec<(Event, String)>);

impl Observer for Seen {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let name = |e: &Event| view.model().contact_name(e.contact).unwrap_or_default();
        self.0.extend(view.events.iter().map(|e| (*e, name(e))));
        Ok(())
    }
}

/// Beginnings of slips, s, and the contacts' names.
fn slips(text: &str) -> Vec<(f64, String)> {
    let scene = stiction::from_toml("scene", text).expect("a scene");
    let model = Arc::new(Model::new(&scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished, "after {} s", state.time);
    seen.0.into_iter().filter(|(e, _)| e.kind == EventKind::Slip).map(|(e, name)| (e.time, name)).collect()
}

/// Force on a body that grows from 0 by `rate`, N/s, for 2 s.
fn load(body: &str, point: [f64; 3], rate: [f64; 3]) -> String {
    let [x, y, z] = rate.map(|r| 2.0 * r);
    format!(
        "[[load]]\n body = '{body}'\n point = {point:?}\n force = {{ points = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 2, value = [{x:e}, {y:e}, {z:e}] }}] }}\n"
    )
}

fn step(accuracy: f64, h: f64, duration: f64) -> String {
    format!("[step]\n scheme = 'event'\n accuracy = {accuracy:e}\n h = {h}\n duration = {duration}\n")
}

const GROUND: &str = "[[world]]\n name = 'ground'\n shape = 'half_space'\n";

/// All slips up to `within` after the first begin together, at `exact`.
fn check(what: &str, found: &[(f64, String)], exact: f64, count: usize) {
    let off = found.first().expect("it slips").0 - exact;
    println!("{what}: off by {off:e} s");
    assert!(off.abs() < LOCATED, "{what}: {off:e}");
    assert!(found.len() == count && found.iter().all(|f| f.0 == found[0].0), "{what}: {found:?}");
}

#[test]
fn a_box_slips_where_a_growing_force_is_mu_m_g() {
    for (mu, rate, heading, height, h) in
        [(0.1, 10.0, 0.0f64, 0.0, 0.05), (0.3, 7.0, 0.8, -0.05, 0.013), (0.5, 4.0, 2.5, -0.03, 0.1)]
    {
        for accuracy in [1e-13, 1e-10] {
            let text = format!(
                "{}[[material]]\n name = 'default'\n friction = {mu}\n {GROUND} [[body]]\n name = 'body'\n mass = 1
                shape = {{ box = {{ half = [0.1, 0.2, 0.05] }} }}\n position = [0, 0, 0.05]\n {}",
                load("body", [0.0, 0.0, height], [rate * heading.cos(), rate * heading.sin(), 0.0]),
                step(accuracy, h, mu * G / rate + 0.2)
            );
            check(&format!("box, accuracy {accuracy:e}"), &slips(&text), mu * G / rate, 4);
        }
    }
}

#[test]
fn a_box_on_a_slope_slips_where_gravity_and_a_growing_force_exceed_friction() {
    // m g sin + c t = mu m g cos downhill; the slope rises along x
    let (tilt, mu, rate) = (0.2f64, 0.4, 3.0);
    let (sin, cos) = tilt.sin_cos();
    let text = format!(
        "{}[[material]]\n name = 'default'\n friction = {mu}\n [[world]]\n name = 'slope'\n shape = 'half_space'\n orientation = {{ axis = [0, 1, 0], angle = {tilt:e} }}
        [[body]]\n name = 'body'\n mass = 1\n shape = {{ box = {{ half = [0.1, 0.2, 0.05] }} }}\n position = [{:e}, 0, {:e}]\n orientation = {{ axis = [0, 1, 0], angle = {tilt:e} }}\n {}",
        load("body", [0.0; 3], [rate * cos, 0.0, -rate * sin]),
        0.05 * sin,
        0.05 * cos,
        step(1e-13, 0.05, 0.8)
    );
    check("slope", &slips(&text), G * (mu * cos - sin) / rate, 4);
}

#[test]
fn gravity_that_tilts_as_a_force_begins_a_slip_where_it_leaves_the_cone() {
    // the sideways force c t and a lift c t: c t = mu (m g - c t)
    let (mu, rate) = (0.4, 5.0);
    let text = format!(
        "{}[[material]]\n name = 'default'\n friction = {mu}\n {GROUND} [[body]]\n name = 'body'\n mass = 1\n shape = {{ box = {{ half = [0.3, 0.2, 0.05] }} }}\n position = [0, 0, 0.05]\n {}",
        load("body", [0.0; 3], [0.0, rate, rate]),
        step(1e-13, 0.05, 0.7)
    );
    check("lift", &slips(&text), mu * G / (1.0 + mu) / rate, 4);
}

#[test]
fn the_upper_of_two_boxes_slips_first() {
    // the force is on the upper, of 1 kg: its friction ends at mu g, that of the ground at twice that
    let (mu, rate) = (0.3, 6.0);
    let text = format!(
        "{}[[material]]\n name = 'default'\n friction = {mu}\n {GROUND} [[body]]\n name = 'lower'\n mass = 1\n shape = {{ box = {{ half = [0.2, 0.2, 0.05] }} }}\n position = [0, 0, 0.05]
        [[body]]\n name = 'upper'\n mass = 1\n shape = {{ box = {{ half = [0.1, 0.1, 0.05] }} }}\n position = [0, 0, 0.15]\n {}",
        load("upper", [0.0; 3], [rate, 0.0, 0.0]),
        step(1e-13, 0.05, 0.55)
    );
    let found = slips(&text);
    check("upper", &found, mu * G / rate, 4);
    assert!(found.iter().all(|f| f.1.contains("upper")), "{found:?}");
    // on the lower box the ground gives way where the force is mu times the weight of both, and both go together
    let below = text.replacen("'upper'", "'lower'", 1);
    let found = slips(&below.replace("duration = 0.55", "duration = 1.05"));
    check("both", &found, 2.0 * mu * G / rate, 4);
    assert!(found.iter().all(|f| f.1.contains("ground")), "{found:?}");
}

#[test]
fn a_table_on_four_legs_slips_as_a_whole() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/four-legged-table.toml");
    let mut text = stiction::read(&path).expect("a scene").to_toml();
    text.truncate(text.find("[[load]]").expect("a load"));
    let model = Model::new(&stiction::from_toml("table", &text).expect("a scene")).expect("a model");
    let mass = model.scene().bodies[0].link.inertia.mass;
    let table = |accuracy: f64| {
        let mut scene = stiction::from_toml(
            "table",
            &format!("{text}\n{}", load("table", [0.0, 0.0, -0.68], [160.0, 120.0, 0.0])),
        )
        .expect("a scene");
        for (key, value) in [
            ("scheme", "\"event\"".to_owned()),
            ("h", "0.05".to_owned()),
            ("duration", format!("{}", 0.5 * mass * G / 200.0 + 0.1)),
            ("accuracy", format!("{accuracy:e}")),
        ] {
            scene.set(&format!("step.{key}"), &value).expect("a value");
        }
        slips(&scene.to_toml())
    };
    check("table", &table(1e-13), 0.5 * mass * G / 200.0, 4);
    check("table, accuracy 1e-10", &table(1e-10), 0.5 * mass * G / 200.0, 4);
}

#[test]
fn a_box_pushed_off_its_middle_slips_where_its_four_feet_give_way() {
    // feet of even load m g/4 at (+-a, +-b): the largest force F along x at y = e, at the height of the ground. By the principle of
    // largest dissipation F = min over turns w of sum mu m g/4 |u_i|/(1 - w e), u_i = (1 - w y_i, w x_i)
    let (a, b, mu, rate) = (0.1f64, 0.2f64, 0.3f64, 5.0f64);
    for e in [0.03f64, 0.08] {
        let force = |w: f64| {
            let feet = [[a, b], [a, -b], [-a, b], [-a, -b]];
            let sum: f64 = feet.iter().map(|[x, y]| (1.0 - w * y).hypot(w * x)).sum();
            mu * G / 4.0 * sum / (1.0 - w * e)
        };
        // it is convex in w: golden section
        let (mut low, mut high, ratio) = (-4.0f64, 1.0f64, 0.618_033_988_749_894_9);
        for _ in 0..100 {
            let (x, y) = (high - ratio * (high - low), low + ratio * (high - low));
            if force(x) < force(y) { high = y } else { low = x }
        }
        let exact = force(0.5 * (low + high)) / rate;
        let text = format!(
            "{}[[material]]\n name = 'default'\n friction = {mu}\n {GROUND} [[body]]\n name = 'body'\n mass = 1\n shape = {{ box = {{ half = [{a}, {b}, 0.05] }} }}\n position = [0, 0, 0.05]\n {}",
            load("body", [0.0, e, -0.05], [rate, 0.0, 0.0]),
            step(1e-13, 0.05, exact + 0.1)
        );
        check(&format!("off by {e} m"), &slips(&text), exact, 4);
    }
}
