//! Smooth friction, song2001 (42), in the theta scheme: against closed forms and the compliant scheme.

use std::sync::Arc;
use stiction::boundary::{Parameters, step_with_derivatives};
use stiction::inputs::Inputs;
use stiction::model::Model;
use stiction::run::{ENTRIES, Ended, Fault, Observer, Options, View, run};
use stiction::state::State;

/// Sums of the energy balance at the start and after the last step.
#[derive(Default)]
struct Balance([f64; 2]);

fn total(view: &mut View<'_>) -> f64 {
    ENTRIES.iter().zip(view.balance()).map(|(e, x)| e.sign() * x).sum()
}

impl Observer for Balance {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.0[0] = total(view);
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.0[1] = total(view);
        Ok(())
    }
}

/// The end of a scene, and what its energy balance leaves open.
fn end(text: &str, scheme: &str, h: f64) -> (State, f64) {
    let mut scene = stiction::from_toml("scene", text).expect("a scene");
    scene.set("step.scheme", &format!("\"{scheme}\"")).expect("a scheme");
    scene.set("step.h", &format!("{h:e}")).expect("a step");
    let model = Arc::new(Model::new(&scene).expect("a model"));
    let (mut balance, mut state) = (Balance::default(), model.initial());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut balance]).expect("no fault");
    assert_eq!(ended, Ended::Finished);
    (state, balance.0[1] - balance.0[0])
}

fn slab(gravity: [f64; 3], velocity: [f64; 2], rest: &str) -> String {
    let [vx, vy] = velocity;
    format!(
        "gravity = {gravity:?}\n [[world]]\n name = 'ground'\n shape = 'half_space'\n [[body]]\n name = 'slab'\n shape = {{ box = {{ half = [0.1, 0.1, 0.01] }} }}
        mass = 1\n position = [0, 0, 0.0099765]\n velocity = [{vx:e}, {vy:e}, 0]\n [[material]]\n name = 'default'\n friction = 0.5
        law = {{ kelvin_voigt = {{ stiffness = [1e5, 1e5], damping = [300, 300] }} }}\n [step]\n friction = {{ smooth = {{ velocity = 1e-2 }} }}\n {rest}"
    )
}

#[test]
fn a_slab_creeps_on_a_slope_at_the_slip_whose_friction_carries_it() {
    // mu tanh(s/gamma) = tan(alpha), for any step
    let text = slab([2.5 * 0.6, 2.5 * 0.8, -9.4], [0.0; 2], "duration = 1");
    let creep = 1e-2 * (2.5f64 / 9.4 / 0.5).atanh();
    for h in [1e-4, 1e-3, 1e-2] {
        let v = end(&text, "theta", h).0.velocity;
        assert!((v[0] - 0.6 * creep).abs() < 1e-9 && (v[1] - 0.8 * creep).abs() < 1e-9, "{h}: {v:?} {creep}");
    }
}

#[test]
fn a_sliding_slab_slows_as_in_the_compliant_scheme_to_first_order() {
    let (s0, time) = (0.05f64, 0.012f64);
    let text = slab([0.0, 0.0, -9.4], [s0, 0.0], &format!("duration = {time}")).replace("0.0099765", "0.01");
    let compliant = end(&text, "compliant", 1e-3).0.velocity[0];
    // s' = -mu g tanh(s/gamma) under a steady normal force: sinh(s/gamma) = sinh(s0/gamma) exp(-mu g t/gamma)
    let exact = 1e-2 * ((s0 / 1e-2).sinh() * (-0.5 * 9.4 / 1e-2 * time).exp()).asinh();
    assert!((compliant - exact).abs() < 0.1 * s0, "{compliant} {exact}");
    let errors = [1e-4, 5e-5, 2.5e-5].map(|h| (end(&text, "theta", h).0.velocity[0] - compliant).abs());
    println!("exact {exact}, compliant {compliant}, errors {errors:?}");
    assert!(errors[2] < 1e-4, "{errors:?}");
    for pair in errors.windows(2) {
        assert!((1.5..2.6).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
}

#[test]
fn a_ball_that_strikes_and_rolls_tends_to_the_compliant_scheme_to_first_order() {
    for law in [
        "kelvin_voigt = { stiffness = [1e4, 1e4], damping = [20, 20] }",
        "hunt_crossley = { stiffness = 1e6, exponent = 1.5, dissipation = 0.4 }",
    ] {
        let text = format!(
            "[[world]]\n name = 'ground'\n shape = 'half_space'\n [[body]]\n name = 'ball'\n shape = {{ sphere = {{ radius = 0.1 }} }}\n mass = 1
            position = [0, 0, 0.11]\n velocity = [0.6, 0.3, -0.3]\n angular_velocity = [1, 2, 3]\n [[material]]\n name = 'default'\n friction = 0.4
            law = {{ {law} }}\n [step]\n duration = 0.2\n friction = {{ smooth = {{ velocity = 1e-2 }} }}"
        );
        let (exact, open) = end(&text, "compliant", 0.01);
        assert!(open.abs() < 1e-8, "{open:e}");
        let runs = [2e-4, 1e-4, 5e-5].map(|h| {
            let (state, open) = end(&text, "theta", h);
            let apart = state
                .position
                .iter()
                .chain(&state.velocity)
                .zip(exact.position.iter().chain(&exact.velocity));
            (apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max), open.abs())
        });
        println!("{law}: {runs:?}");
        assert!(runs[2].0 < 0.02, "{runs:?}");
        for pair in runs.windows(2) {
            assert!((1.4..2.9).contains(&(pair[0].0 / pair[1].0)), "{law}: {runs:?}");
            // what the balance leaves open is the damping of the time step, and falls with it
            assert!(pair[1].1 < 0.75 * pair[0].1, "{law}: {runs:?}");
        }
    }
}

#[test]
fn what_does_not_know_it_refuses_it_by_name() {
    let message =
        |text: &str| stiction::from_toml("scene", text).map(|_| ()).expect_err("a fault").to_string();
    let text = slab([0.0, 0.0, -9.81], [0.0; 2], "");
    for scheme in ["implicit", "event"] {
        let fault = message(&format!("{text}\n scheme = '{scheme}'"));
        assert!(fault.contains("smooth friction") || fault.contains("rigid"), "{fault}");
    }
    let rigid = text.replace("law = { kelvin_voigt = { stiffness = [1e5, 1e5], damping = [300, 300] } }", "");
    let fault = message(&rigid);
    assert!(fault.contains("smooth friction with scheme = \"theta\": expected kelvin_voigt"), "{fault}");
    let scene = stiction::from_toml("scene", &text).expect("a scene");
    let mut stepper = stiction::stepper::Stepper::new(scene).expect("a model");
    let mut state = stepper.initial();
    let (inputs, none) = (Inputs::default(), Parameters::default());
    let made = step_with_derivatives(&mut stepper, &mut state, &inputs, 1e-3, &none);
    let fault = made.map(|_| ()).expect_err("no derivatives").to_string();
    assert!(fault.contains("smooth friction"), "{fault}");
}
