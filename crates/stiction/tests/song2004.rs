//! song2004 section 6: an ellipse on the ground, rigid and with a patch of three elements.
#![allow(missing_docs)]

mod compliant_ellipse;
mod event_driven;

use event_driven::{Mode, SONG2004};
use std::path::Path;
use stiction::scene::{ContactPoint, FrictionKind, Method, Pair, Scene};
use stiction::step::Status;
use stiction::stepper::Stepper;

const SCENES: [&str; 4] =
    ["ellipse-rigid.toml", "ellipse-1e-9.toml", "ellipse-1e-10.toml", "ellipse-1e-11.toml"];

/// A step of a run: x, y, angle; per element normal force, friction, status.
struct Frame {
    time: f64,
    q: [f64; 3],
    elements: Vec<(f64, f64, Status)>,
}

/// Friction and solver as the paper has them: Lemke's method. The scenes have the cone, which in the plane is the same.
fn run(name: &str) -> Vec<Frame> {
    run_with(name, FrictionKind::Pyramid, None)
}

/// `point`: where the force acts, if not as the scene has it; the ellipse is the first of the two.
fn run_with(name: &str, friction: FrictionKind, point: Option<ContactPoint>) -> Vec<Frame> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/song2004").join(name);
    let mut scene = Scene::read(&path).expect("a valid scene");
    assert_eq!((scene.step.friction, scene.step.solver), (FrictionKind::Cone, Method::Auto));
    if friction == FrictionKind::Pyramid {
        (scene.step.friction, scene.step.solver) = (friction, Method::Lemke);
    }
    if point.is_some() {
        let bodies = Some(vec!["ellipse".to_owned(), "ground".to_owned()]);
        scene.pairs.push(Pair { bodies, contact_point: point, ..Pair::default() });
    }
    let steps = scene.step.count();
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let mut frames = Vec::with_capacity(steps);
    for _ in 0..steps {
        let report = stepper.step(&mut state).expect("no step fails");
        assert_eq!(report.parts, 1, "no step is cut, t = {}", state.time);
        if friction == FrictionKind::Pyramid {
            assert_eq!((report.solver, report.wasted), ("lemke", 0), "t = {}", state.time);
        }
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
    let soft = [SCENES[1], SCENES[2], SCENES[3]].map(run);

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
    println!("{far:?}");
    assert!((far[1].0 / 2.27e-4 - 1.0).abs() < 0.02 && (far[1].1 / 4.69e-3 - 1.0).abs() < 0.02, "{far:?}");
    for k in 0..2 {
        let ratios = [far[k].0 / far[k + 1].0, far[k].1 / far[k + 1].1];
        assert!(ratios.iter().all(|r| (5.0..20.0).contains(r)), "{far:?}");
    }
}

/// What section 6 leaves open is where between the undeformed ellipse and the ground the force acts. At the ellipse, the
/// figures are 1.6e-4 m and 5.4e-3 rad; in the middle of the overlap, where the scenes have it, they are the stepper's.
#[test]
fn the_difference_to_the_rigid_ellipse_is_as_large_as_the_place_of_the_force_makes_it() {
    for (depth, dx, angle) in [(0.0, 1.57e-4, 5.39e-3), (0.5, 2.27e-4, 4.69e-3), (1.0, 3.07e-4, 4.00e-3)] {
        let [soft, rigid] = [1e-10, 0.0].map(|eps| compliant_ellipse::run(eps, depth, 20_000));
        let largest =
            |k: usize| soft.iter().zip(&rigid).map(|(a, b)| (a[k] - b[k]).abs()).fold(0.0, f64::max);
        let found = (largest(0), largest(2));
        assert!(
            (found.0 / dx - 1.0).abs() < 0.02 && (found.1 / angle - 1.0).abs() < 0.02,
            "{depth}: {found:?}"
        );
    }
}

#[test]
fn the_stepper_and_section_6_written_down_by_itself_take_the_same_path() {
    let soft = "ellipse-1e-10.toml";
    for (name, eps, friction, (point, depth)) in [
        ("ellipse-rigid.toml", 0.0, FrictionKind::Pyramid, (None, 0.5)),
        ("ellipse-rigid.toml", 0.0, FrictionKind::Cone, (None, 0.5)),
        (soft, 1e-10, FrictionKind::Pyramid, (None, 0.5)),
        (soft, 1e-10, FrictionKind::Cone, (None, 0.5)),
        (soft, 1e-10, FrictionKind::Cone, (Some(ContactPoint::First), 0.0)),
        (soft, 1e-10, FrictionKind::Cone, (Some(ContactPoint::Second), 1.0)),
        // the ellipse is the soft one in these files
        (soft, 1e-10, FrictionKind::Cone, (Some(ContactPoint::Compliance), 1.0)),
    ] {
        let path = compliant_ellipse::run(eps, depth, 20_000);
        let frames = run_with(name, friction, point);
        let far =
            frames.iter().zip(&path).map(|(f, q)| (0..3).map(|k| (f.q[k] - q[k]).abs()).fold(0.0, f64::max));
        let far = far.fold(0.0, f64::max);
        println!("{name}, {point:?}: {far:e}");
        // the scene's start height has eight digits
        assert!(far < 1e-6, "{name}: {far:e}");
    }
}

const START: event_driven::Phase = [0.0, 75.0 * std::f64::consts::PI / 180.0, 0.0, 0.0];

#[test]
fn the_event_driven_solution_rolls_and_slides_without_leaving_the_ground() {
    let fine = SONG2004.integrate(START, Mode::Roll, 2e-5, 100_000);
    let coarse = SONG2004.integrate(START, Mode::Roll, 8e-5, 25_000);
    assert!(fine.least_normal > 0.2, "{} N", fine.least_normal);
    for (k, p) in coarse.phases.iter().enumerate() {
        assert!((p[1] - fine.phases[4 * k][1]).abs() < 1e-11, "t = {}", 8e-5 * k as f64);
    }
    assert_eq!(fine.events.len(), 17);
    assert!((fine.events[0].0 - 0.109773).abs() < 1e-6 && fine.events[0].1 == Mode::Slide(-1.0));
    // while it rolls, energy is kept: m g r at the start against the kinetic energy of x, y and theta
    let at = fine.phases[5000];
    let [r, r1, _] = SONG2004.height(at[1]);
    let kinetic = 0.5 * (0.05 * (at[2] * at[2] + (r1 * at[3]).powi(2)) + 1.5e-4 * at[3] * at[3]);
    let fallen = 0.05 * 9.81 * (SONG2004.height(START[1])[0] - r);
    assert!((kinetic / fallen - 1.0).abs() < 1e-10, "{kinetic} {fallen}");
}

/// Errors in theta, at 1 s and the largest in 2 s.
#[test]
fn time_stepping_converges_to_the_event_driven_solution() {
    let exact = SONG2004.integrate(START, Mode::Roll, 1e-4, 20_000);
    let errors = [10, 1].map(|stride| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/song2004/ellipse-rigid.toml");
        let mut scene = Scene::read(&path).expect("a valid scene");
        scene.step.h = 1e-4 * stride as f64;
        scene.bodies[0].position.as_mut().expect("given")[1] = SONG2004.height(START[1])[0];
        let mut stepper = Stepper::new(scene).expect("a valid model");
        let mut state = stepper.initial();
        let (mut at_one, mut worst) = (0.0, 0.0f64);
        for k in 1..=20_000 / stride {
            let _ = stepper.step(&mut state).expect("no step fails");
            let off = (state.position[2] - exact.phases[k * stride][1]).abs();
            worst = worst.max(off);
            if k * stride == 10_000 {
                at_one = off;
            }
        }
        (at_one, worst)
    });
    println!("h = 1e-3: {:?}, h = 1e-4: {:?}", errors[0], errors[1]);
    assert!(errors[0].0 < 2.5e-3 && errors[0].1 < 8e-3, "{errors:?}");
    assert!(errors[1].0 < 3e-4 && errors[1].1 < 8e-4, "{errors:?}");
}

/// In a plane the cone is the pyramid, `|f_t| <= mu f_n`; its solvers see the same ellipse, and the same forces in every step.
#[test]
fn cone_solvers_give_the_same_ellipse() {
    for name in SCENES {
        let (pyramid, cone) = (run(name), run_with(name, FrictionKind::Cone, None));
        let far = apart(&pyramid, &cone);
        assert!(far.0 < 1e-11 && far.1 < 1e-10, "{name}: {far:?}");
        let mut force = 0.0f64;
        let mut others = 0;
        for (p, c) in pyramid.iter().zip(&cone) {
            assert_eq!(p.elements.len(), c.elements.len(), "{name}, t = {}", p.time);
            for (a, b) in p.elements.iter().zip(&c.elements) {
                assert!(b.0 >= 0.0 && b.1.abs() <= 0.2 * b.0 * (1.0 + 1e-9) + 1e-9, "{name}, t = {}", p.time);
                force = force.max((a.0 - b.0).abs()).max((a.1 - b.1).abs());
                others += usize::from(a.2 != b.2);
            }
        }
        println!("{name}: {far:?} {force:e} N, {others} statuses differ");
        assert!(force < 1e-7 && others <= 2, "{name}: {force:e} N, {others}");
    }
}
