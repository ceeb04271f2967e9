//! `law = "auto"` (song2001): rigid while the rigid motion is unique and stable, compliant while it is not.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, Event, EventKind, Fault, Observer, Options, Summary, View, run};
use stiction::state::State;
use stiction::stepper::Stepper;

/// What a run shows: events, the largest imbalance of energy, states after every step.
#[derive(Default)]
struct Seen {
    events: Vec<Event>,
    first: Option<f64>,
    imbalance: f64,
    states: Vec<State>,
    summary: Summary,
}

impl Observer for Seen {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.first = Some(total(view));
        self.summary.start(view)
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.events.extend_from_slice(view.events);
        self.imbalance = self.imbalance.max((total(view) - self.first.expect("a start")).abs());
        self.states.push(view.state.clone());
        self.summary.step(view)
    }
}

impl Seen {
    fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|e| e.kind == kind).count()
    }

    fn first(&self, kind: EventKind) -> f64 {
        self.events.iter().find(|e| e.kind == kind).unwrap_or_else(|| panic!("{kind:?}")).time
    }

    fn end(&self) -> &State {
        self.states.last().expect("a step")
    }
}

/// Energies and losses less the works: constant.
fn total(view: &mut View<'_>) -> f64 {
    stiction::run::ENTRIES.iter().zip(view.balance()).map(|(e, x)| e.sign() * x).sum()
}

fn model(text: &str) -> Arc<Model> {
    Arc::new(Model::new(&stiction::from_toml("scene", text).expect("a scene")).expect("a model"))
}

fn see(text: &str) -> Seen {
    let model = model(text);
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished);
    seen
}

/// Largest difference of coordinates.
fn apart(a: &State, b: &State) -> f64 {
    a.position.iter().zip(&b.position).fold(0.0, |most, (a, b)| (a - b).abs().max(most))
}

const RIGID: &str = "";

/// A layer of song2001 (33), (34) for a mass of 1 kg: K = 1/eps, C = 1/sqrt(eps).
fn kelvin_voigt(eps: f64) -> String {
    let (k, c) = (1.0 / eps, 1.0 / eps.sqrt());
    format!("{{ kelvin_voigt = {{ stiffness = {k}, damping = {c} }} }}")
}

fn auto_with(eps: f64) -> String {
    format!("law = 'auto'\n compliant_law = {}", kelvin_voigt(eps))
}

/// A uniform rod of 1 m and 1 kg whose lower end slides on the ground, at an angle (degrees), turning at `spin`, its centre moving at `speed` along x.
fn rod(friction: f64, angle: f64, spin: f64, speed: f64, law: &str, step: &str) -> String {
    let (sin, cos) = angle.to_radians().sin_cos();
    format!(
        "planar = true\n gravity = [0, -9.81]\n [[material]]\n name = 'default'\n friction = {friction}\n {law}
        [[world]]\n name = 'ground'\n shape = 'half_space'
        [[body]]\n name = 'rod'\n mass = 1\n inertia = {}\n shape = {{ polygon = {{ vertices = [[-0.5, 0], [0, -0.001], [0.5, 0], [0, 0.001]] }} }}
        position = [{}, {}]\n angle_deg = {angle}\n velocity = [{speed}, {}]\n angular_velocity = {spin}
        [step]\n {step}",
        1.0 / 12.0,
        0.5 * cos,
        0.5 * sin,
        0.5 * cos * spin
    )
}

/// song2001 6.1 (Case 1).
fn case1(law: &str, step: &str) -> String {
    format!(
        "planar = true\n gravity = [0, -9.81]\n [[material]]\n name = 'default'\n friction = 0.27\n {law}
        [[world]]\n name = 'ground'\n shape = 'half_space'
        [[body]]\n name = 'rod'\n mass = 0.088\n inertia = 0.001606176
        shape = {{ polygon = {{ vertices = [[-0.234, 0], [0, -0.001], [0.234, 0], [0, 0.001]] }} }}
        position = [0.173073676224995, 0.157484928161287]\n angle_deg = 42.3
        [step]\n duration = 0.22\n {step}"
    )
}

/// song2001 6.2 (Case 2), started on the ground.
fn case2(law: &str, step: &str) -> String {
    format!(
        "planar = true\n gravity = [0, -9.81]\n [[material]]\n name = 'default'\n friction = 1\n {law}
        [[world]]\n name = 'ground'\n shape = 'half_space'
        [[body]]\n name = 'rod'\n mass = 1\n inertia = 0.00694444444444
        shape = {{ polygon = {{ vertices = [[-0.5, 0], [0, -0.001], [0.5, 0], [0, 0.001]] }} }}
        position = [0.171010071662834, {}]\n angle_deg = 70\n velocity = [-0.3, 0]
        [[load]]\n body = 'rod'\n torque = {{ constant = -1 }}
        [step]\n duration = 0.02\n h = 1e-3\n {step}",
        0.5 * 70f64.to_radians().sin()
    )
}

/// Theorem 5.1: A > 0, one solution. The layer is never needed, and the run is the rigid one to the last bit.
#[test]
fn case_1_stays_rigid() {
    let layer = "law = 'auto'\n compliant_law = { hunt_crossley = { stiffness = 37606837.6, exponent = 2, dissipation = 284.9, tangential_stiffness = 8.8e6, tangential_damping = 1760 } }";
    for step in ["scheme = 'event'\n h = 1e-3", "scheme = 'theta'\n h = 1e-3"] {
        let (auto, rigid) = (see(&case1(layer, step)), see(&case1(RIGID, step)));
        assert_eq!(auto.count(EventKind::ToCompliant), 0);
        assert_eq!(auto.summary.compliant_time, 0.0);
        assert!((auto.summary.auto_time - 0.22).abs() < 1e-9);
        for (a, r) in auto.states.iter().zip(&rigid.states) {
            assert_eq!((&a.position, &a.velocity), (&r.position, &r.velocity), "{step}, t = {}", a.time);
        }
        assert_eq!(auto.events, rigid.events);
    }
}

/// A < 0, B > 0: no contact and contact are both solutions. The compliant run separates; so does this one, which is rigid again once nothing touches.
#[test]
fn case_2_is_compliant_until_it_has_separated() {
    let layer = "law = 'auto'\n compliant_law = { hunt_crossley = { stiffness = 2e8, exponent = 2, dissipation = 133.333333, tangential_stiffness = 1e8, tangential_damping = 2e4 } }";
    let compliant = see(&case2(layer, "scheme = 'compliant'"));
    for scheme in ["event", "theta"] {
        let auto = see(&case2(layer, &format!("scheme = '{scheme}'")));
        assert_eq!(auto.first(EventKind::ToCompliant), 0.0);
        assert!(auto.summary.compliant_time > 0.0 && auto.summary.compliant_time <= 2e-3);
        let far = apart(auto.end(), compliant.end());
        // in flight the theta scheme turns by h t w'/2 too far, with w' = 144 rad/s^2
        let allowed = if scheme == "event" { 1e-9 } else { 1e-3 * 0.02 * 144.0 / 2.0 };
        println!("{scheme}: {far:e}, {:?}", auto.events.iter().map(|e| (e.time, e.kind)).collect::<Vec<_>>());
        assert!(far < allowed, "{scheme}: {far:e}");
    }
}

/// The rod slides from A > 0 to where A and B of song2001 (29) vanish together, as Genot and Brogliato showed that it must, and beyond.
#[test]
fn sliding_into_the_painleve_region_tends_to_the_compliant_run() {
    let step = |scheme: &str| format!("scheme = '{scheme}'\n h = 1e-3\n duration = 0.12");
    let scene = |eps: f64, scheme: &str| rod(1.8, 30.0, 3.0, -6.0, &auto_with(eps), &step(scheme));
    let mut errors = vec![];
    for eps in [1e-4, 1e-5, 1e-6, 1e-7] {
        let (auto, compliant) = (see(&scene(eps, "event")), see(&scene(eps, "compliant")));
        let error = auto.states.iter().zip(&compliant.states).map(|(a, c)| apart(a, c)).fold(0.0, f64::max);
        println!(
            "eps {eps:e}: {error:e}, end {:e}, imbalance {:e}, handover {:e}, compliant {} s, {:?}",
            apart(auto.end(), compliant.end()),
            auto.imbalance,
            auto.summary.now[10],
            auto.summary.compliant_time,
            auto.events.iter().map(|e| (e.time, e.kind)).collect::<Vec<_>>()
        );
        assert!(auto.count(EventKind::ToCompliant) >= 1);
        // no chattering
        assert!(auto.count(EventKind::ToCompliant) <= 3 && auto.count(EventKind::ToRigid) <= 3);
        assert!(auto.imbalance < 1e-7, "{:e}", auto.imbalance);
        errors.push(error);
    }
    for pair in errors.windows(2) {
        assert!(pair[1] <= pair[0] / 10f64.sqrt(), "{errors:?}");
    }
}

/// From the other side the force drives the rod back before A reaches 0, and its end comes to stick: with enough damping contacts are rigid again while it does.
#[test]
fn a_rod_that_is_driven_back_is_rigid_again_in_contact() {
    let mut errors = vec![];
    for eps in [1e-6, 1e-7, 1e-8] {
        let (k, c) = (1.0 / eps, 3.0 / f64::sqrt(eps));
        let law = format!(
            "law = 'auto'\n compliant_law = {{ kelvin_voigt = {{ stiffness = {k}, damping = {c} }} }}"
        );
        let scene = |scheme: &str| {
            rod(1.8, 80.0, -4.0, -1.5, &law, &format!("scheme = '{scheme}'\n h = 1e-3\n duration = 0.05"))
        };
        let (auto, compliant) = (see(&scene("event")), see(&scene("compliant")));
        let error = auto.states.iter().zip(&compliant.states).map(|(a, c)| apart(a, c)).fold(0.0, f64::max);
        println!(
            "eps {eps:e}: {error:e}, imbalance {:e}, compliant {} s, {:?}",
            auto.imbalance,
            auto.summary.compliant_time,
            auto.events.iter().map(|e| (e.time, e.kind)).collect::<Vec<_>>()
        );
        assert_eq!((auto.count(EventKind::ToCompliant), auto.count(EventKind::ToRigid)), (1, 1));
        let closed = auto.end().memory.iter().any(|m| m.forces[0] > 0.0 && m.deformations.is_empty());
        assert!(closed, "rigid and in contact at the end");
        assert!(auto.imbalance < 1e-7, "{:e}", auto.imbalance);
        errors.push(error);
    }
    for pair in errors.windows(2) {
        assert!(pair[1] <= pair[0] / 10f64.sqrt(), "{errors:?}");
    }
}

/// Inside the region from the start (A < 0, B < 0: no rigid solution): an impact without collision, which the layer makes.
#[test]
fn a_jammed_rod_follows_the_compliant_run() {
    let step = |scheme: &str| format!("scheme = '{scheme}'\n h = 1e-3\n duration = 0.05");
    let scene = |scheme: &str| rod(1.8, 45.0, 0.5, -3.0, &auto_with(1e-6), &step(scheme));
    let compliant = see(&scene("compliant"));
    for scheme in ["event", "theta"] {
        let auto = see(&scene(scheme));
        println!(
            "{scheme}: {:e}, imbalance {:e}, compliant {} s, {:?}",
            apart(auto.end(), compliant.end()),
            auto.imbalance,
            auto.summary.compliant_time,
            auto.events.iter().map(|e| (e.time, e.kind)).collect::<Vec<_>>()
        );
        assert_eq!(auto.first(EventKind::ToCompliant), 0.0);
        assert!(auto.count(EventKind::ToCompliant) <= 2);
        // in flight the theta scheme falls by h t g/2 too far
        let allowed = if scheme == "event" { 1e-8 } else { 1e-3 * 0.05 * 9.81 / 2.0 };
        assert!(apart(auto.end(), compliant.end()) < allowed);
    }
}

/// A box on a slope of 20 degrees, which lies level here.
const SLOPE: &str = "
    gravity = [3.355, 0, -9.218]
    [[world]]
    name = 'slope'
    shape = 'half_space'
    [[body]]
    name = 'box'
    shape = { box = { half = [0.1, 0.1, 0.1] } }
    mass = 1
    position = [0, 0, 0.1]
    ";

const STACK: &str = "
    [[world]]
    name = 'ground'
    shape = 'half_space'
    [[body]]
    name = 'low'
    shape = { box = { half = [0.1, 0.1, 0.1] } }
    mass = 1
    position = [0, 0, 0.1]
    [[body]]
    name = 'high'
    shape = { box = { half = [0.1, 0.1, 0.1] } }
    mass = 1
    position = [0, 0, 0.3]
    ";

/// The theta scheme leaves the rigid model in the same way, and tends to the event scheme with the step.
#[test]
fn time_steps_leave_the_rigid_model_too() {
    let scene = |scheme: &str, h: f64| {
        rod(
            1.8,
            30.0,
            3.0,
            -6.0,
            &auto_with(1e-6),
            &format!("scheme = '{scheme}'\n h = {h}\n duration = 0.08"),
        )
    };
    let located = see(&scene("event", 1e-3));
    let mut errors = vec![];
    for h in [1e-3, 2.5e-4] {
        let auto = see(&scene("theta", h));
        let error = apart(auto.end(), located.end());
        println!(
            "h {h:e}: {error:e}, compliant {} s, {:?}",
            auto.summary.compliant_time,
            auto.events.iter().map(|e| (e.time, e.kind)).collect::<Vec<_>>()
        );
        assert_eq!((auto.count(EventKind::ToCompliant), auto.count(EventKind::ToRigid)), (1, 1));
        errors.push(error);
    }
    assert!(errors[1] < 0.4 * errors[0] && errors[0] < 1e-3, "{errors:?}");
}

/// What is unique and stable is not left: a box that slides (mu 0.2) or rests (mu 0.5) on a slope, a stack; with the layer by default.
#[test]
fn ordinary_scenes_stay_rigid() {
    for (name, body, mu) in [("slides", SLOPE, 0.2), ("rests", SLOPE, 0.5), ("stack", STACK, 0.5)] {
        let scene = |law: &str| {
            format!(
                "{body}\n [[material]]\n name = 'default'\n friction = {mu}\n {law}\n [step]\n duration = 0.2\n h = 1e-3"
            )
        };
        let (auto, rigid) = (see(&scene("law = 'auto'")), see(&scene(RIGID)));
        assert_eq!(auto.summary.compliant_time, 0.0, "{name}");
        assert_eq!(auto.count(EventKind::ToCompliant), 0, "{name}");
        assert_eq!(auto.end().position, rigid.end().position, "{name}");
    }
}

/// The phase is part of the state: a copy has the same future, in any stepper.
#[test]
fn a_state_in_the_compliant_phase_can_be_resumed() {
    let text = rod(1.8, 30.0, 3.0, -6.0, &auto_with(1e-5), "scheme = 'event'\n h = 1e-3");
    let model = model(&text);
    let mut whole = Stepper::of(model.clone());
    let mut state = model.initial();
    let deformed = |state: &State| state.memory.iter().any(|m| !m.deformations.is_empty());
    while !deformed(&state) {
        assert!(state.time < 0.1, "never compliant");
        let _ = whole.step(&mut state).unwrap();
    }
    let (mut copy, mut other) = (state.clone(), Stepper::of(model));
    for _ in 0..10 {
        let _ = whole.step(&mut state).unwrap();
        let _ = other.step(&mut copy).unwrap();
    }
    assert_eq!(state, copy);
}

/// What the law does not know is refused by name when the scene is read.
#[test]
fn what_is_refused_is_named() {
    let body = "[[world]]\n name = 'ground'\n shape = 'half_space'
        [[body]]\n name = 'ball'\n shape = { sphere = { radius = 0.1 } }\n mass = 1\n position = [0, 0, 0.1]";
    let faults = |material: &str, rest: &str| {
        let text = format!("[[material]]\n name = 'default'\n {material}\n {body}\n {rest}");
        let scene = stiction::from_toml("scene", &text).map_err(|e| e.to_string());
        scene.and_then(|s| match stiction::check(&s) {
            list if list.is_empty() => Ok(()),
            list => Err(list.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        })
    };
    assert_eq!(faults("law = 'auto'", ""), Ok(()));
    for (material, rest, words) in [
        ("law = 'auto'\n torsion = 0.01", "", "torsion and rolling friction with law = \"auto\": not supported"),
        ("law = 'auto'", "[step]\n scheme = 'implicit'", "or scheme = \"theta\", \"compliant\" or \"event\""),
        ("law = 'auto'", "[step]\n friction = 'pyramid'", "polygonal friction with law = \"auto\": expected a planar scene"),
        ("law = 'auto'", "[step]\n friction = { smooth = { velocity = 1e-3 } }", "smooth friction with law = \"auto\": not supported, expected frictionless, cone or"),
        (
            "law = 'auto'\n compliant_law = { half_space = { elements = 3, spacing = 1e-3 } }",
            "",
            "compliant_law is half_space, expected kelvin_voigt or hunt_crossley",
        ),
        (
            "law = 'auto'\n compliant_law = { kelvin_voigt = { stiffness = 1e6 } }",
            "",
            "expects tangential stiffness and damping above 0",
        ),
        (
            "compliant_law = { kelvin_voigt = { stiffness = 1e6, damping = 1e3 } }",
            "",
            "compliant_law without law = \"auto\"",
        ),
        (
            "law = 'auto'",
            "[[pair]]\n bodies = ['ball', 'other']\n law = { kelvin_voigt = { stiffness = 1e6, damping = 1e3 } }
             [[body]]\n name = 'other'\n shape = { sphere = { radius = 0.1 } }\n mass = 1\n position = [1, 0, 0.1]",
            "expected auto between all parts that can touch",
        ),
        (
            "law = 'auto'",
            "[[body]]\n name = 'door'\n joint = { revolute = { axis = [0, 0, 1], limits = [-1, 1] } }\n shape = { box = { half = [0.05, 0.05, 0.05] } }\n mass = 1\n mount = { position = [2, 0, 0.5] }",
            "rigid limits with law = \"auto\"",
        ),
    ] {
        let found = faults(material, rest).expect_err(words);
        assert!(found.contains(words), "{words}: {found}");
    }
}
