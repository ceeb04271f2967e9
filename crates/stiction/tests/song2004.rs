//! song2004 section 6: an ellipse on the ground, rigid and with a patch of three elements.
#![allow(missing_docs)]

use std::path::Path;
use stiction::scene::Scene;
use stiction::step::{Status, Stepper};

/// A step of a run: x, y, angle; per element normal force, friction, status.
struct Frame {
    time: f64,
    q: [f64; 3],
    elements: Vec<(f64, f64, Status)>,
}

fn run(name: &str) -> Vec<Frame> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/song2004").join(name);
    let scene = Scene::read(&path).expect("a valid scene");
    let steps = scene.step.count();
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let mut frames = Vec::with_capacity(steps);
    for _ in 0..steps {
        let report = stepper.step(&mut state).expect("no step fails");
        assert_eq!(
            (report.parts, report.by_interior_point),
            (1, 0),
            "Lemke solves every step, t = {}",
            state.time
        );
        assert!(report.residual.relative < 1e-10, "t = {}: {:?}", state.time, report.residual);
        frames.push(Frame {
            time: state.time,
            q: [state.position[0], state.position[1], state.position[2]],
            elements: stepper.elements().iter().map(|e| (e.force[0], e.force[1], e.status)).collect(),
        });
    }
    frames
}

/// Time at which element `k` first slips.
fn first_slip(frames: &[Frame], k: usize) -> f64 {
    let slips = |f: &&Frame| f.elements.get(k).is_some_and(|e| e.2 == Status::Slip);
    frames.iter().find(slips).map_or(f64::INFINITY, |f| f.time)
}

/// Largest difference in x (m) and angle (rad).
fn apart(a: &[Frame], b: &[Frame]) -> (f64, f64) {
    a.iter().zip(b).fold((0.0, 0.0), |(x, angle): (f64, f64), (f, g)| {
        (x.max((f.q[0] - g.q[0]).abs()), angle.max((f.q[2] - g.q[2]).abs()))
    })
}

#[test]
fn the_ellipse_rolls_slips_from_the_right_and_converges_to_the_rigid_one() {
    let rigid = run("ellipse-rigid.toml");
    let soft = ["ellipse-1e-9.toml", "ellipse-1e-10.toml", "ellipse-1e-11.toml"].map(run);

    // rolling until 0.110 s, then sliding
    assert!((first_slip(&rigid, 0) - 0.110).abs() < 2e-3, "{}", first_slip(&rigid, 0));
    let middle = &soft[1];
    let slips = [0, 1, 2].map(|k| first_slip(middle, k));
    // microslip: the rightmost element first, then the others to the left; with the last of them the ellipse slides
    assert!(slips[2] < slips[1] && slips[1] < slips[0], "{slips:?}");
    assert!((slips[0] - 0.110).abs() < 2e-3, "{slips:?}");

    // the mean normal force over 1.5 to 2 s is the weight, 0.05 kg x 9.81 m/s^2, within 2 %
    let late: Vec<&Frame> = middle.iter().filter(|f| f.time >= 1.5).collect();
    let mean =
        late.iter().map(|f| f.elements.iter().map(|e| e.0).sum::<f64>()).sum::<f64>() / late.len() as f64;
    assert!((mean / (0.05 * 9.81) - 1.0).abs() < 0.02, "{mean} N");

    // the difference to the rigid run falls about tenfold a decade of eps
    let far = soft.each_ref().map(|frames| apart(frames, &rigid));
    // (an independent computation gave about 1.6e-4 m and 5.4e-3 rad at 1e-10, this one 2.3e-4 and 4.7e-3; why is open)
    assert!((1.0e-4..3.0e-4).contains(&far[1].0) && (3.0e-3..8.0e-3).contains(&far[1].1), "{far:?}");
    for k in 0..2 {
        let ratio = far[k].0 / far[k + 1].0;
        assert!((5.0..20.0).contains(&ratio), "{far:?}");
    }
}
