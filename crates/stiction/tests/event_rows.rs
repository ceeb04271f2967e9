//! Impacts, bounces and reversals of slip in the table `events`, under every scheme, against closed forms.

use std::sync::Arc;
use stiction::model::Model;
use stiction::run::{Ended, Event, EventKind, Fault, Observer, Options, View, run};
use stiction::scene::Scene;

#[derive(Default)]
struct Seen(Vec<Event>);

impl Observer for Seen {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.0.extend_from_slice(view.events);
        Ok(())
    }
}

fn events(text: &str) -> Vec<Event> {
    let scene = Scene::from_toml("scene", text).expect("a scene");
    let model = Arc::new(Model::new(&scene).expect("a model"));
    let (mut seen, mut state) = (Seen::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut seen]).expect("no fault");
    assert_eq!(ended, Ended::Finished);
    seen.0
}

fn first(events: &[Event], kind: EventKind) -> Event {
    *events.iter().find(|e| e.kind == kind).unwrap_or_else(|| panic!("{kind:?} in {events:?}"))
}

/// A ball of 2 kg that falls by 0.45 m.
fn ball(scheme: &str, law: &str, step: &str) -> Vec<Event> {
    events(&format!(
        "gravity = [0, 0, -10]\n[[material]]\nname = 'm'\nfriction = 0.3\n{law}\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
         material = 'm'\n[[body]]\nname = 'ball'\nmass = 2\nmaterial = 'm'\nshape = {{ sphere = {{ radius = 0.1 }} }}\n\
         position = [0, 0, 0.55]\n[step]\nscheme = '{scheme}'\nduration = 0.5\n{step}\n"
    ))
}

#[test]
fn a_rigid_bounce_has_its_impulse() {
    // it meets the ground at 3 m/s after 0.3 s
    for (e, sum) in [(0.0, 6.0), (0.6, 9.6)] {
        for (scheme, h, off) in [("event", 1e-2, 1e-8), ("theta", 1e-4, 2e-3)] {
            let all = ball(scheme, &format!("restitution = {e}"), &format!("h = {h}"));
            let impact = first(&all, EventKind::Impact);
            assert!((impact.impulse / sum - 1.0).abs() < off, "{scheme} {e}: {impact:?}");
            assert!(
                (impact.time - 0.3).abs() < if scheme == "event" { 1e-9 } else { 2.1 * h },
                "{scheme}: {impact:?}"
            );
            let bounces: Vec<&Event> = all.iter().filter(|e| e.kind == EventKind::Bounce).collect();
            assert_eq!(bounces.len(), usize::from(e > 0.0), "{scheme} {e}: {all:?}");
            for bounce in bounces {
                assert!((bounce.impulse / sum - 1.0).abs() < off, "{scheme} {e}: {bounce:?}");
            }
            // as the impact of the first step begins it
            assert_eq!(
                all.iter().filter(|e| e.kind == EventKind::Impact).count(),
                1,
                "{scheme} {e}: {all:?}"
            );
        }
    }
}

#[test]
fn a_compliant_bounce_has_its_impulse() {
    // without damping it leaves as fast as it came: 2 m v, and the weight while it lasts, some pi sqrt(m/k)
    let law = "law = { kelvin_voigt = { stiffness = [1e6, 1e6], damping = [0, 10] } }";
    let lasts = std::f64::consts::PI * (2.0f64 / 1e6).sqrt();
    let sum = 12.0 + 20.0 * lasts;
    for (scheme, h, off) in [("compliant", 1e-3, 1e-4), ("theta", 1e-5, 2e-2), ("implicit", 1e-5, 2e-2)] {
        let all = ball(scheme, law, &format!("h = {h}"));
        let (impact, bounce) = (first(&all, EventKind::Impact), first(&all, EventKind::Bounce));
        assert!((bounce.impulse / sum - 1.0).abs() < off, "{scheme}: {bounce:?}, expected {sum}");
        assert!((impact.impulse / (0.5 * sum) - 1.0).abs() < off.max(1e-2), "{scheme}: {impact:?}");
        assert!((bounce.time - 0.3 - lasts).abs() < 0.05 * lasts, "{scheme}: {bounce:?}");
    }
}

#[test]
fn a_box_that_turns_round_on_a_slope_reverses() {
    // up a slope steeper than friction: it stops after v / (g (sin + mu cos)) and slides back
    let (sin, cos) = (0.6, 0.8);
    for (scheme, h, law) in [
        ("event", 1e-2, ""),
        ("theta", 1e-4, ""),
        ("implicit", 1e-4, ""),
        ("compliant", 1e-3, "law = { kelvin_voigt = { stiffness = [1e7, 1e7], damping = [1e4, 1e4] } }"),
    ] {
        let all = events(&format!(
            "gravity = [{}, 0, {}]\n[[material]]\nname = 'm'\nfriction = 0.3\n{law}\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
             material = 'm'\n[[body]]\nname = 'box'\nmass = 2\nmaterial = 'm'\nshape = {{ box = {{ half = [0.1, 0.1, 0.05] }} }}\n\
             position = [0, 0, 0.05]\nvelocity = [-1.68, 0, 0]\n[step]\nscheme = '{scheme}'\nduration = 0.4\nh = {h}\n",
            10.0 * sin,
            -10.0 * cos
        ));
        let stops = 1.68 / (10.0 * (sin + 0.3 * cos));
        let reverse = all.iter().find(|e| e.kind == EventKind::SlipReverse);
        let sticks =
            all.iter().filter(|e| e.kind == EventKind::Stick && (e.time - stops).abs() < 1e-3).count();
        match reverse {
            Some(e) => assert!(
                (e.time - stops).abs() < if scheme == "event" { 1e-8 } else { 1e-3 },
                "{scheme}: {e:?}"
            ),
            // a compliant contact sticks while its deformation turns round
            None => assert!(scheme == "compliant" && sticks > 0, "{scheme}: {all:?}"),
        }
    }
}
