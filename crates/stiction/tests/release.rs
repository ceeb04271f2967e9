//! Energy of contacts that end while they are deformed.

// helpers of tests
#![allow(clippy::unwrap_used)]

use stiction::model::Model;
use stiction::stepper::Stepper;

/// A heavy damper keeps the spring of a contact from relaxing for 0.1 s; the ball is torn away long before. What the spring holds then is lost, and
/// counted: the sum of all energies and losses, less the work, stays.
#[test]
fn what_a_deformed_contact_holds_when_it_ends_is_a_loss() {
    let text = "
        [[material]]
        name = 'default'
        friction = 0
        law = { kelvin_voigt = { stiffness = 1e4, damping = 1e3 } }
        [[world]]
        name = 'ground'
        shape = 'half_space'
        [[body]]
        name = 'ball'
        shape = { sphere = { radius = 0.1 } }
        mass = 1
        position = [0, 0, 0.1]
        [[load]]
        body = 'ball'
        force = { points = [{ time = 0, value = [0, 0, -200] }, { time = 0.5, value = [0, 0, -200] }, { time = 0.5001, value = [0, 0, 2000] }] }
        [step]
        h = 1e-4
        explicit_share = 0.5
    ";
    let mut stepper =
        Stepper::of(std::sync::Arc::new(Model::new(&stiction::from_toml("scene", text).unwrap()).unwrap()));
    let mut state = stepper.initial();
    let total = |stepper: &mut Stepper, state: &_| {
        let energy = stepper.energy(state);
        (energy.kinetic + energy.potential + energy.elastic, energy.elastic)
    };
    let (start, _) = total(&mut stepper, &state);
    let (mut lost, mut worked, mut released, mut held) = (0.0, 0.0, vec![], 0.0);
    for _ in 0..5300 {
        let report = stepper.step(&mut state).unwrap();
        let (now, elastic) = total(&mut stepper, &state);
        lost += report.friction_loss + report.damping_loss + report.release_loss;
        worked += report.work + report.recovery_work;
        if report.release_loss > 0.0 {
            released.push(report.release_loss);
            assert_eq!((report.release_loss, elastic), (held, 0.0), "all that the spring held");
        }
        held = elastic;
        assert!((now - start + lost - worked).abs() < 0.02 * worked.abs().max(1.0), "{}", state.time);
    }
    // pressed by 209.81 N the spring held 2.2 J, of which its damper has taken some since
    assert!(released.len() == 1 && released[0] > 0.5 && released[0] < 2.3, "{released:?}");
}
