//! Order of the step in h, with forces at its start or implicit (pang2005 (15)-(16)): docs/convergence.md.

use crate::orders;

use orders::{BOX, Case, DOUBLE_PENDULUM, PENDULUM, PRESSED, SPHERE, SPRING, apart, end, order, reference};
use stiction::scene::ForceTime;
use stiction::step::Failed;
use stiction::stepper::Stepper;

/// Below the time constants of the contacts, 2e-3 s and more.
const STEPS: [f64; 3] = [4e-4, 2e-4, 1e-4];

fn measured(case: &Case, theta: f64, forces: ForceTime, exact: &[f64]) -> f64 {
    let errors = STEPS.map(|h| apart(&end(case, theta, forces, h).0, exact));
    order(&STEPS, &errors)
}

#[test]
fn every_rule_is_of_first_order_at_least() {
    for case in [SPRING, PENDULUM, DOUBLE_PENDULUM, PRESSED, SPHERE, BOX] {
        let exact = reference(&case);
        for theta in [0.0, 0.5, 1.0] {
            for forces in [ForceTime::Start, ForceTime::Theta] {
                let order = measured(&case, theta, forces, &exact);
                assert!(order > 0.85, "{}, theta = {theta}, {forces:?}: order {order}", case.name);
            }
        }
    }
}

#[test]
fn implicit_forces_at_the_middle_are_of_second_order_without_contact() {
    for case in [SPRING, PENDULUM, DOUBLE_PENDULUM] {
        let exact = reference(&case);
        let order = measured(&case, 0.5, ForceTime::Theta, &exact);
        assert!((order - 2.0).abs() < 0.05, "{}: order {order}", case.name);
        let order = measured(&case, 0.5, ForceTime::Start, &exact);
        assert!((order - 1.0).abs() < 0.2, "{}: order {order}", case.name);
    }
}

#[test]
fn the_implicit_middle_rule_of_an_oscillator_is_its_closed_form() {
    // v+ = v - h w^2 (x + x+)/2, x+ = x + h (v + v+)/2: a turn by 2 atan(h w / 2) a step
    for h in [4e-3f64, 1e-3] {
        let steps = (SPRING.end / h).round();
        let expected = 0.1 * (steps * 2.0 * (0.5 * h * 10.0).atan()).cos();
        let (found, rounds) = end(&SPRING, 0.5, ForceTime::Theta, h);
        assert!((found[0] - expected).abs() < 1e-9, "h = {h}: {} against {expected}", found[0]);
        assert!(rounds > 1.0 && rounds < 10.0, "{rounds} rounds a step");
    }
}

#[test]
fn forces_at_the_start_are_evaluated_once() {
    assert_eq!(end(&BOX, 0.5, ForceTime::Start, 1e-3).1, 0.0);
}

#[test]
fn forces_that_do_not_settle_cut_the_step_and_then_fail_it() {
    // h w = 10: no contraction before the step is a tenth of that
    let run = |stiffness: &str, retries: usize| {
        let stiff = SPRING.scene.replace("stiffness = 100", &format!("stiffness = {stiffness}"));
        let mut scene = stiction::from_toml("stiff", &stiff).expect("a valid scene");
        (scene.step.forces, scene.step.retries) = (Some(ForceTime::Theta), retries);
        let mut stepper = Stepper::new(scene).expect("a valid model");
        let mut state = stepper.initial();
        (stepper.step(&mut state), state)
    };
    let (cut, _) = run("1e8", 10);
    let cut = cut.expect("smaller parts settle");
    assert!(cut.parts >= 8 && cut.rounds > 50, "{cut:?}");
    // the second one leaves the range of numbers
    for stiffness in ["1e8", "1e14"] {
        let (failed, state) = run(stiffness, 1);
        assert!(matches!(failed, Err(Failed::Unsettled { .. })), "{failed:?}");
        assert_eq!((state.time, state.position[0]), (0.0, 0.1));
    }
}

#[test]
fn the_default_is_the_start_for_theta_0_and_implicit_else() {
    let of =
        |step: &str| stiction::from_toml("x", &format!("[step]\n{step}\n")).expect("valid").step.force_time();
    assert_eq!(of("explicit_share = 0"), ForceTime::Start);
    assert_eq!(of("explicit_share = 0.5"), ForceTime::Theta);
    assert_eq!(of("explicit_share = 0.5\nforces = 'start'"), ForceTime::Start);
    assert_eq!(of("forces = 'theta'"), ForceTime::Theta);
}
