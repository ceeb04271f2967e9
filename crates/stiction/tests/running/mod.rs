//! Scenes and runs of the physics tests.

use std::path::Path;
use stiction::scene::{Method, Scene, Scheme};
use stiction::state::State;
use stiction::stepper::Stepper;

/// Acceleration of gravity, m/s^2.
#[allow(dead_code)]
pub const G: f64 = 9.81;

/// All solvers that know every friction set.
#[allow(dead_code)]
pub const SOLVERS: [Method; 5] =
    [Method::Auto, Method::GaussSeidel, Method::Newton, Method::ProximalNewton, Method::InteriorPoint];

/// A scene of `scenes/`.
pub fn scene(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    stiction::read(&path).expect("a valid scene")
}

/// The scene's start, to be stepped by `h`.
pub fn start(mut scene: Scene, h: f64) -> (Stepper, State) {
    // recordings may ask for shorter steps
    (scene.step.h, scene.record.interval) = (h, None);
    let stepper = Stepper::new(scene).expect("a valid model");
    let state = stepper.initial();
    (stepper, state)
}

/// `steps` steps; every one must be solved to the scene's tolerance, and to 1e-9. After each, `watch` is called.
pub fn go(
    stepper: &mut Stepper,
    state: &mut State,
    steps: usize,
    mut watch: impl FnMut(&mut Stepper, &State),
) {
    let tolerance = stepper.scene().step.tolerance.min(1e-9);
    for _ in 0..steps {
        let report = stepper.step(state).expect("no step fails");
        // where geometry at the end of a step stops improving by rounding, the step says so
        let implicit = stepper.scene().step.scheme == Scheme::Implicit && report.loose > 0;
        let tolerance = if implicit { 1e-7 } else { tolerance };
        assert!(report.residual.relative <= tolerance, "t = {}: {:?}", state.time, report.residual);
        watch(stepper, state);
    }
}

/// Steps of `h` to `duration`.
#[allow(dead_code)]
pub fn run(scene: Scene, h: f64, duration: f64) -> (Stepper, State) {
    let (mut stepper, mut state) = start(scene, h);
    go(&mut stepper, &mut state, (duration / h).round() as usize, |_, _| ());
    (stepper, state)
}

/// Farthest any body's origin gets from its start within `steps` steps of `h`, m.
#[allow(dead_code)]
pub fn farthest(scene: Scene, h: f64, steps: usize) -> f64 {
    use stiction::space::{length, sub};
    let (mut stepper, mut state) = start(scene, h);
    let poses = stepper.scene().initial_poses();
    let mut far = 0.0f64;
    go(&mut stepper, &mut state, steps, |stepper, state| {
        let now = stepper.kinematics(state);
        for (i, pose) in poses.iter().enumerate() {
            far = far.max(length(sub(now.pose(i).position, pose.position)));
        }
    });
    far
}
