//! Symmetric scenes move symmetrically, though rigid redundant contacts leave their forces open.
#![allow(missing_docs)]

use stiction::scene::Scene;
use stiction::state::State;
use stiction::step::{ElementReport, Stepper};

/// The scene's state after so many seconds.
fn after(file: &str, duration: f64) -> (Stepper, State) {
    let path = format!("{}/../../scenes/{file}", env!("CARGO_MANIFEST_DIR"));
    let scene = Scene::read(path).expect("a valid scene");
    let steps = (duration / scene.step.h).round() as usize;
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    for _ in 0..steps {
        _ = stepper.step(&mut state).expect("no step fails");
    }
    (stepper, state)
}

/// Friction of both fingers and the weight act on the box from t = 0.3 s on: v_z = (2 mu F - m g) (0.1 s) / m.
#[test]
fn a_slipping_box_rises_by_friction_and_does_not_turn() {
    let (_, state) = after("gripper-slips.toml", 0.4);
    // palm and fingers have three velocities; those of the box come last: linear, then angular or the reverse
    let box_velocity = &state.velocity[3..9];
    let expected = (2.0 * 0.5 * 20.0 - 9.81) * 0.1;
    let mut sorted: Vec<f64> = box_velocity.to_vec();
    sorted.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    assert!((sorted[0] - expected).abs() < 0.01 * expected, "{box_velocity:?}");
    assert!(sorted[1].abs() < 1e-6, "{box_velocity:?}");
}

/// A table on four legs stays where it is, and does not turn.
#[test]
fn a_symmetric_table_stays_symmetric() {
    let (_, state) = after("four-legged-table.toml", 1.0);
    assert!(state.velocity.iter().all(|v| v.abs() < 1e-9), "{:?}", state.velocity);
}

/// Ten boxes stand on each other for 10 s: each corner carries a quarter of the weight above it.
#[test]
fn corners_of_a_stack_carry_equal_forces() {
    let (stepper, state) = after("stack-of-ten.toml", 10.0);
    assert!(state.velocity.iter().all(|v| v.abs() < 1e-9), "{:?}", state.velocity);
    let elements = stepper.elements();
    assert_eq!(elements.len(), 40);
    for four in elements.chunks(4) {
        let mean = four.iter().map(|e| e.force[0]).sum::<f64>() / 4.0;
        for e in four {
            assert!(
                (e.force[0] - mean).abs() < 1e-6 * mean && e.force[1].hypot(e.force[2]) < 1e-6 * mean,
                "{e:?}"
            );
        }
    }
}

/// An arch of eleven wedges stands for 10 s with forces that its mirror image has too.
#[test]
fn an_arch_stays_symmetric() {
    let (stepper, state) = after("arch.toml", 10.0);
    for k in 0..11 {
        let (own, other) = (&state.position[3 * k..][..3], &state.position[3 * (10 - k)..][..3]);
        for (a, b) in own.iter().zip([-other[0], other[1], -other[2]]) {
            assert!((a - b).abs() < 1e-9, "wedge {k}: {own:?} and {other:?}");
        }
    }
    // normal forces at x and -x are the same
    let of = |left: bool| stepper.elements().iter().filter(move |e| (e.point[0] < 0.0) == left);
    assert_eq!(of(true).count(), of(false).count());
    for e in of(true) {
        let far = |f: &ElementReport| (f.point[0] + e.point[0]).hypot(f.point[1] - e.point[1]);
        let mirrored = of(false).min_by(|a, b| far(a).total_cmp(&far(b))).expect("as many");
        assert!((e.force[0] - mirrored.force[0]).abs() < 1e-5 * (1.0 + e.force[0]), "{e:?} {mirrored:?}");
    }
}
