//! `scheme = "event"`: bodies on four feet that a growing force unloads, against closed forms and against the theta scheme.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{ENTRIES, Ended, Event, EventKind, Fault, Observer, Options, View, run};
use stiction::scene::Scene;
use stiction::state::State;
use stiction::step::Status;

const G: f64 = 9.81;
/// What the times are required to agree within, s.
const LOCATED: f64 = 1e-12;

/// A result: state, and force and state of each contact by its name.
type Shown = (State, Vec<(String, [f64; 3], Status)>);

#[derive(Default)]
struct Seen {
    events: Vec<(Event, String)>,
    results: Vec<Shown>,
    first: f64,
    /// Largest change of energies and losses less works, J.
    imbalance: f64,
}

impl Observer for Seen {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.first = total(view);
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let name = |id| view.model().contact_name(id).unwrap_or_default();
        self.events.extend(view.events.iter().map(|e| (*e, name(e.contact))));
        let contacts = view.elements().iter().map(|e| (name(e.id), e.force, e.status)).collect();
        self.results.push((view.state.clone(), contacts));
        self.imbalance = self.imbalance.max((total(view) - self.first).abs());
        Ok(())
    }
}

fn total(view: &mut View<'_>) -> f64 {
    ENTRIES.iter().zip(view.balance()).map(|(e, x)| e.sign() * x).sum()
}

fn see(text: &str) -> Seen {
    let scene = Scene::from_toml("scene", text).expect("a scene");
    let model = Arc::new(Model::new(&scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished, "after {} s", state.time);
    seen
}

impl Seen {
    /// Times and names of events of a kind after the first instant.
    fn times(&self, kind: EventKind) -> Vec<(f64, &str)> {
        let found = self.events.iter().filter(|(e, _)| e.kind == kind && e.time > 1e-3);
        found.map(|(e, name)| (e.time, &name[..])).collect()
    }

    /// Forces at the result at a time.
    fn forces(&self, time: f64) -> &[(String, [f64; 3], Status)] {
        let at = self.results.iter().find(|r| (r.0.time - time).abs() < 1e-9);
        &at.expect("a result at that time").1
    }
}

/// A box of 1 kg on its corners, pushed at a height over its centre by a force that grows as `rate t`.
struct Pushed {
    mu: f64,
    half: [f64; 3],
    height: f64,
    rate: [f64; 2],
}

impl Pushed {
    fn text(&self, step: &str) -> String {
        let Self { mu, half, height, rate: [x, y] } = self;
        format!(
            "[[material]]\n name = 'default'\n friction = {mu}\n [[world]]\n name = 'ground'\n shape = 'half_space'
            [[body]]\n name = 'body'\n mass = 1\n shape = {{ box = {{ half = {half:?} }} }}\n position = [0, 0, {}]
            [[load]]\n body = 'body'\n point = [0, 0, {height}]\n force = {{ points = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 2, value = [{:e}, {:e}, 0] }}] }}
            [step]\n {step}",
            half[2],
            2.0 * x,
            2.0 * y
        )
    }

    fn event(&self, h: f64, duration: f64) -> Seen {
        see(&self.text(&format!("scheme = 'event'\n accuracy = 1e-13\n h = {h}\n duration = {duration}")))
    }

    /// Time at which the slip of all feet begins: c t = mu m g.
    fn slips(&self) -> f64 {
        self.mu * G / self.rate[0].hypot(self.rate[1])
    }

    /// Moment of the push and of friction about the centre over the weight, m, along x and y: how far the resultant of the feet's forces moves. Friction equals the force until it slips.
    fn shift(&self, t: f64) -> [f64; 2] {
        let size = self.rate[0].hypot(self.rate[1]);
        let friction = (size * t).min(self.mu * G) / size;
        self.rate.map(|c| (c * t * self.height + c * friction * self.half[2]) / G)
    }

    /// First time after `from` at which a falling function of the shift vanishes.
    fn zero(&self, from: f64, f: impl Fn([f64; 2]) -> f64) -> f64 {
        let (mut low, mut high) = (from, 2.0f64);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if f(self.shift(middle)) > 0.0 { low = middle } else { high = middle }
        }
        low
    }

    /// Where even compliance unloads the foot behind: `m g/4 (1 - x/a - y/b) = 0`.
    fn unloads(&self) -> f64 {
        let [a, b, _] = self.half;
        self.zero(0.0, |[x, y]| 1.0 - x / a - y / b)
    }

    /// Where the box tips about an edge: the resultant reaches it.
    fn tips(&self) -> f64 {
        let [a, b, _] = self.half;
        self.zero(0.0, |[x, y]| (1.0 - x / a).min(1.0 - y / b))
    }

    /// Normal forces of the feet at (-a, -b), (a, -b), (-a, b), (a, b), by even compliance, with no force below 0.
    fn normal(&self, t: f64) -> [f64; 4] {
        let [x, y] = self.shift(t);
        let (x, y) = (x / self.half[0], y / self.half[1]);
        if x + y < 1.0 {
            return [1.0 - x - y, 1.0 + x - y, 1.0 - x + y, 1.0 + x + y].map(|n| 0.25 * G * n);
        }
        // three feet: 1/2 (1 - y), 1/2 (1 - x), and the rest
        [0.0, 0.5 * (1.0 - y), 0.5 * (1.0 - x), 0.5 * (x + y)].map(|n| G * n)
    }
}

fn check(what: &str, found: f64, exact: f64) {
    println!("{what}: off by {:e} s", found - exact);
    assert!((found - exact).abs() < LOCATED, "{what}: {found} {exact}: {:e}", found - exact);
}

/// Feet that stick, or slip, as a diagonal force unloads the one behind, and then a second one: it tips.
fn diagonal() -> [Pushed; 3] {
    [
        Pushed { mu: 0.8, half: [0.1, 0.2, 0.3], height: 0.1, rate: [4.0, 3.0] },
        Pushed { mu: 0.1, half: [0.1, 0.15, 0.3], height: 0.3, rate: [1.5, 2.0] },
        Pushed { mu: 0.25, half: [0.2, 0.15, 0.3], height: 0.3, rate: [2.0, 3.0] },
    ]
}

#[test]
fn a_diagonal_force_unloads_one_foot_and_then_tips_the_box() {
    for (k, pushed) in diagonal().iter().enumerate() {
        let (unloads, tips) = (pushed.unloads(), pushed.tips());
        assert!(unloads + 0.05 < tips && tips < 1.85, "{unloads} {tips}");
        let seen = pushed.event(0.02, tips + 0.1);
        let opens = seen.times(EventKind::Open);
        check(&format!("{k}: one foot"), opens[0].0, unloads);
        check(&format!("{k}: a second one"), opens[1].0, tips);
        assert_eq!(opens.len(), 2, "{opens:?}");
        assert!(seen.times(EventKind::Close).is_empty(), "{:?}", seen.times(EventKind::Close));
        let slips = seen.times(EventKind::Slip);
        if pushed.slips() < tips {
            check(&format!("{k}: slip"), slips[0].0, pushed.slips());
            assert!(slips.len() >= 3 && slips.iter().all(|s| s.0 == slips[0].0), "{slips:?}");
        } else {
            assert!(slips.is_empty(), "{slips:?}");
        }
        for (state, contacts) in seen.results.iter().filter(|r| r.0.time < tips - 1e-9) {
            let found: Vec<f64> = contacts.iter().map(|c| c.1[0]).collect();
            let expected = pushed.normal(state.time);
            let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(found.len() == 4 && off < 1e-9 * G, "{found:?} {expected:?} at {}", state.time);
            let open = contacts.iter().filter(|c| c.2 == Status::Open).count();
            assert_eq!(open, usize::from(state.time > unloads), "{contacts:?} at {}", state.time);
        }
        println!("{k}: imbalance {:e} J", seen.imbalance);
        assert!(seen.imbalance < 1e-10, "{:e}", seen.imbalance);
    }
}

#[test]
fn a_box_that_slips_on_three_of_its_feet_accelerates_as_on_four() {
    // v = c/2 (t^2 - t0^2) - mu g (t - t0), x its integral, whichever feet carry
    let pushed = &diagonal()[1];
    let (start, unloads, tips) = (pushed.slips(), pushed.unloads(), pushed.tips());
    assert!(start < unloads);
    let seen = pushed.event(0.02, tips - 0.01);
    let size = pushed.rate[0].hypot(pushed.rate[1]);
    let (mut worst_v, mut worst_x) = (0.0f64, 0.0f64);
    for (state, _) in seen.results.iter().filter(|r| r.0.time > start) {
        let t = state.time - start;
        // c t = mu g at the start
        let (v, x) = (0.5 * size * t * t, size * t * t * t / 6.0);
        for k in 0..2 {
            worst_v = worst_v.max((state.velocity[k] - pushed.rate[k] / size * v).abs());
            worst_x = worst_x.max((state.position[k] - pushed.rate[k] / size * x).abs());
        }
        worst_v = state.velocity[2..6].iter().fold(worst_v, |w, v| w.max(v.abs()));
    }
    println!("velocities off by {worst_v:e} m/s, places by {worst_x:e} m");
    assert!(worst_v < 1e-11 && worst_x < 1e-11, "{worst_v:e} {worst_x:e}");
}

#[test]
fn a_force_along_an_axis_unloads_two_feet_together() {
    for (mu, height) in [(0.8, 0.1), (0.2, 0.3)] {
        let pushed = Pushed { mu, half: [0.1, 0.2, 0.3], height, rate: [2.5, 0.0] };
        let tips = pushed.tips();
        let seen = pushed.event(0.02, tips + 0.1);
        let opens = seen.times(EventKind::Open);
        check(&format!("mu {mu}"), opens[0].0, tips);
        assert!(opens.len() == 2 && opens[1].0 == opens[0].0, "{opens:?}");
        // it turns about the other edge, whose feet still touch
        let (state, contacts) = seen.results.last().expect("results");
        assert!(state.velocity[4] > 1e-3 && contacts.len() == 2, "{state:?} {contacts:?}");
        assert!(seen.imbalance < 1e-10, "{:e}", seen.imbalance);
    }
}

#[test]
fn a_foot_is_loaded_again_where_even_compliance_loads_it() {
    // the force rises to its end at 0.6 s and falls back to 0 at 1.2 s: the foot unloads, and carries again as long after 0.6 s as it unloaded before
    let pushed = Pushed { mu: 0.8, half: [0.1, 0.2, 0.3], height: 0.1, rate: [4.0, 3.0] };
    let unloads = pushed.unloads();
    let text = pushed.text("scheme = 'event'\n accuracy = 1e-13\n h = 0.02\n duration = 1.2");
    let text = text.replace(
        "{ time = 2, value = [8e0, 6e0, 0] }",
        "{ time = 0.6, value = [2.4, 1.8, 0] }, { time = 1.2, value = [0, 0, 0] }",
    );
    assert!(text.contains("2.4, 1.8"), "{text}");
    let seen = see(&text);
    let (opens, closes) = (seen.times(EventKind::Open), seen.times(EventKind::Close));
    check("unloads", opens[0].0, unloads);
    check("carries again", closes[0].0, 1.2 - unloads);
    assert!(opens.len() == 1 && closes.len() == 1 && opens[0].1 == closes[0].1, "{opens:?} {closes:?}");
    assert!(seen.times(EventKind::Slip).is_empty());
}

#[test]
fn the_theta_scheme_chooses_the_same_forces_and_unloads_at_the_same_times() {
    // its forces are those at the begin of a step: at 1e-4 s they are late by that
    let h = 1e-4;
    for pushed in &diagonal()[..2] {
        let tips = pushed.tips();
        let end = (20.0 * tips + 1.0).ceil() / 20.0;
        let seen = pushed.event(0.05, end);
        let theta = see(&pushed.text(&format!("scheme = 'theta'\n h = {h}\n duration = {end}")));
        let (exact, late) = (seen.times(EventKind::Open), theta.times(EventKind::Open));
        for (exact, late) in exact.iter().zip(&late) {
            assert!(exact.1 == late.1 && (late.0 - exact.0).abs() < 3.0 * h, "{exact:?} {late:?}");
        }
        assert_eq!((exact.len(), late.len()), (2, 2), "{late:?}");
        let mut compared = 0;
        for (state, contacts) in seen.results.iter().filter(|r| r.0.time < tips - h) {
            for ((_, a, _), (_, b, _)) in contacts.iter().zip(theta.forces(state.time)) {
                // the push grows by up to 5e-4 N in a step, and the feet's forces by some times that
                let off = (0..3).map(|k| (a[k] - b[k]).abs()).fold(0.0, f64::max);
                assert!(off < 5e-3, "{a:?} {b:?} at {}", state.time);
                compared += 1;
            }
        }
        assert!(compared > 40, "{compared}");
        let last = |seen: &Seen| seen.results.last().expect("results").0.clone();
        let (a, b) = (last(&seen), last(&theta));
        let off = a.position.iter().zip(&b.position).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("theta is off by {off:e} at the end");
        assert!(off < 1e-7, "{:?} {:?}", a.position, b.position);
    }
}

#[test]
fn a_table_pushed_at_its_top_slides_on_three_legs_and_tips() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/four-legged-table.toml");
    let mut text = Scene::read(&path).expect("a scene").to_toml();
    text.truncate(text.find("[[load]]").expect("a load"));
    let bare = Scene::from_toml("table", &text).expect("a scene");
    let model = Model::new(&bare).expect("a model");
    let inertia = &model.scene().bodies[0].link.inertia;
    let (mass, centre) = (inertia.mass, inertia.center);
    // feet at (+-0.5, +-0.3), centre of mass at height 0.68 + z; the push is level with the top, at 0.7 m, c t along (3, 4)/5. Friction 0.15: m g mu = c t
    let (mu, rate) = (0.15, 800.0);
    let slips = mu * mass * G / rate;
    // moments about the centre of mass: push at 0.02 - z above it, friction at 0.68 + z below it
    let shift = |t: f64| rate * t * (0.02 - centre[2]) + (rate * t).min(mu * mass * G) * (0.68 + centre[2]);
    let place = |t: f64| [0.6, 0.8].map(|d| d * shift(t) / (mass * G));
    let zero = |f: &dyn Fn([f64; 2]) -> f64| {
        let (mut low, mut high) = (0.0f64, 20.0f64);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if f(place(middle)) > 0.0 { low = middle } else { high = middle }
        }
        low
    };
    let unloads = zero(&|[x, y]| 1.0 - x / 0.5 - y / 0.3);
    let tips = zero(&|[x, y]| (1.0 - x / 0.5).min(1.0 - y / 0.3));
    assert!(slips < unloads && unloads < tips, "{slips} {unloads} {tips}");
    let [x, y] = [0.6, 0.8].map(|d| d * rate * 20.0);
    let mut scene = Scene::from_toml(
        "table",
        &format!("{text}\n[[load]]\n body = 'table'\n point = [0, 0, 0.02]\n force = {{ points = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 20, value = [{x:e}, {y:e}, 0] }}] }}\n")
            .replace("friction = 0.5", &format!("friction = {mu}")),
    )
    .expect("a scene");
    for (key, value) in [
        ("scheme", "\"event\"".to_owned()),
        ("h", "0.05".to_owned()),
        ("duration", format!("{}", tips + 0.05)),
        ("accuracy", "1e-13".to_owned()),
    ] {
        scene.set(&format!("step.{key}"), &value).expect("a value");
    }
    let seen = see(&scene.to_toml());
    let (begins, opens) = (seen.times(EventKind::Slip), seen.times(EventKind::Open));
    check("slip", begins[0].0, slips);
    check("one leg", opens[0].0, unloads);
    println!("a second leg: off by {:e} s", opens[1].0 - tips);
    assert!((opens[1].0 - tips).abs() < LOCATED, "{:e}", opens[1].0 - tips);
    for (state, _) in seen.results.iter().filter(|r| r.0.time > slips && r.0.time < tips) {
        let t = state.time - slips;
        let v = state.velocity[0].hypot(state.velocity[1]);
        assert!((v - 0.5 * rate / mass * t * t).abs() < 1e-10, "{v} at {}", state.time);
    }
    println!("imbalance {:e} J", seen.imbalance);
    assert!(seen.imbalance < 1e-8, "{:e}", seen.imbalance);
}
