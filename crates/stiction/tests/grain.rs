//! Friction that differs by direction: an ellipse along the grain of one of two bodies. Expectations are closed forms, and an integration of the
//! slide as an ordinary differential equation.

use crate::running;

use complementarity::problem::Friction;
use complementarity::residual;
use running::{G, SOLVERS, go, run, scene, start};
use stiction::contact::Law;
use stiction::scene::{Method, Scene};
use stiction::step::Status;

const MU: [f64; 2] = [0.3, 0.45];

/// Slide of a point from `v` for a time: where it is (fourth order, steps of 1e-5 s).
fn slide(mut v: [f64; 2], duration: f64) -> [f64; 2] {
    let rate = |v: [f64; 2]| {
        let size = (MU[0] * v[0]).hypot(MU[1] * v[1]);
        [0, 1].map(|k| -G * MU[k] * MU[k] * v[k] / size)
    };
    let (mut x, dt) = ([0.0; 2], 1e-5);
    for _ in 0..(duration / dt).round() as usize {
        let at = |k: [f64; 2], share: f64| [v[0] + share * dt * k[0], v[1] + share * dt * k[1]];
        let a = rate(v);
        let b = rate(at(a, 0.5));
        let c = rate(at(b, 0.5));
        let d = rate(at(c, 1.0));
        let (u, w) = (at(a, 0.5), at(c, 1.0));
        let middle = at(b, 0.5);
        for k in 0..2 {
            x[k] += dt / 6.0 * (v[k] + 2.0 * u[k] + 2.0 * middle[k] + w[k]);
        }
        v = [0, 1].map(|k| v[k] + dt / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]));
    }
    x
}

#[test]
fn boxes_slide_along_across_and_between_as_the_ellipse_says() {
    for (solver, h) in SOLVERS.map(|s| (s, 1e-3)).into_iter().chain([(Method::Auto, 1e-4)]) {
        let mut given = scene("grain.toml");
        given.step.solver = solver;
        let (mut stepper, mut state) = start(given, h);
        go(&mut stepper, &mut state, (0.2 / h).round() as usize, |_, _| ());
        let [x, y] = slide([1.0, 1.0], 0.2);
        let between = &state.position[14..16];
        assert!(
            (between[0] - 2.0 - x).hypot(between[1] - y) < h,
            "{solver:?}: {between:?}, expected {x} {y}"
        );
        // v_y goes as v_x^2.25
        let v = &state.velocity[12..14];
        assert!((v[1].ln() - 2.25 * v[0].ln()).abs() < 10.0 * h, "{solver:?}: {v:?}");
        go(&mut stepper, &mut state, (0.3 / h).round() as usize, |_, _| ());
        let ends = [[0.5 / (MU[0] * G), 0.0], [1.0, 0.5 / (MU[1] * G)]];
        for (k, [x, y]) in ends.into_iter().enumerate() {
            let at = &state.position[7 * k..];
            assert!((at[0] - x).hypot(at[1] - y) < 0.51 * h, "{solver:?} {k}: {:?}", &at[..2]);
        }
        let turned = [state.position[21] - 3.0, state.position[22]];
        let (along, across) =
            (0.75f64.sqrt() * turned[0] + 0.5 * turned[1], 0.75f64.sqrt() * turned[1] - 0.5 * turned[0]);
        assert!((along - ends[0][0]).abs() < 0.51 * h && across.abs() < 1e-9, "{solver:?}: {along} {across}");
        assert!(state.velocity.iter().all(|v| v.abs() < 1e-9), "{solver:?}");
    }
}

/// Only the first box, on a slope that falls by `angle` along x or y.
fn on_slope(angle: f64, y: bool) -> Scene {
    let mut given = scene("grain.toml");
    given.bodies.truncate(1);
    given.pairs.truncate(1);
    given.bodies[0].velocity = None;
    let (sin, cos) = angle.sin_cos();
    given.gravity = Some(if y { [0.0, G * sin, -G * cos] } else { [G * sin, 0.0, -G * cos] }.into());
    given
}

/// Up to the angle of friction of its direction; beyond, at `g (sin - mu cos)`.
#[test]
fn a_box_stands_on_a_slope_as_steep_as_its_direction_allows() {
    for (y, mu) in [(false, MU[0]), (true, MU[1])] {
        let (_, state) = run(on_slope(0.99 * mu.atan(), y), 1e-3, 0.5);
        assert!(state.velocity.iter().all(|v| v.abs() < 1e-9), "{y}: {:?}", state.velocity);
        let angle = 1.2 * mu.atan();
        let (_, state) = run(on_slope(angle, y), 1e-3, 0.5);
        let expected = 0.5 * G * (angle.sin() - mu * angle.cos());
        assert!((state.velocity[usize::from(y)] - expected).abs() < 1e-9, "{y}: {:?}", state.velocity);
    }
}

/// The grain bounds forces; how far a compliant contact gives way to those within the bounds is the law's.
#[test]
fn compliant_contacts_deform_as_without_a_grain_and_slip_at_the_ellipse() {
    let law = Law::KelvinVoigt { stiffness: [1e5, 8e4], damping: [300.0, 300.0] };
    for y in [false, true] {
        // half of what friction along x bears
        let mut ends = vec![];
        for grain in [true, false] {
            let mut given = on_slope((0.5 * MU[0]).atan(), y);
            given.materials[0].law = law.clone().into();
            if !grain {
                given.pairs.clear();
            }
            let (stepper, state) = run(given, 1e-3, 0.5);
            assert!(stepper.elements().iter().all(|e| e.status == Status::Stick));
            ends.push(state.position);
        }
        let apart = ends[0].iter().zip(&ends[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-12, "{apart}");
        assert!(ends[0][usize::from(y)] > 1e-6);
    }
    let mut given = scene("grain.toml");
    given.materials[0].law = law.into();
    let (stepper, state) = run(given, 1e-4, 0.2);
    let [x, y] = slide([1.0, 1.0], 0.2);
    let between = &state.position[14..16];
    // it sinks in, and shakes a little
    assert!((between[0] - 2.0 - x).hypot(between[1] - y) < 5e-3, "{between:?}, expected {x} {y}");
    for e in stepper.elements().iter().filter(|e| e.status == Status::Slip) {
        let size = (e.force[1] / MU[0]).hypot(e.force[2] / MU[1]);
        assert!((size / e.force[0] - 1.0).abs() < 1e-6, "{e:?}");
        // against the slip, by the ellipse's normal
        let normal = [e.force[1] / (MU[0] * MU[0]), e.force[2] / (MU[1] * MU[1])];
        let (across, along) = (
            normal[0] * e.speed[2] - normal[1] * e.speed[1],
            normal[0] * e.speed[1] + normal[1] * e.speed[2],
        );
        assert!(along < 0.0 && across.abs() < 1e-6 * -along, "{e:?}");
    }
}

/// In the rows of the bodies and with the ellipse as it is: forces as told solve it.
#[test]
fn the_problem_of_a_step_has_ellipses_and_is_solved_by_the_forces_told() {
    let (stepper, _) = run(scene("grain.toml"), 1e-3, 0.1);
    let p = stepper.problem().expect("contacts");
    assert_eq!(p.friction(), Some(Friction::Ellipsoid));
    let told: Vec<f64> = stepper.elements().iter().flat_map(|e| e.force).collect();
    assert!(residual::friction(&p, &told).relative < 1e-9, "{:?}", residual::friction(&p, &told));
    let speeds: Vec<f64> = stepper.elements().iter().flat_map(|e| e.speed).collect();
    let found = p.speed(&told);
    assert!((0..told.len()).filter(|k| k % 3 > 0).all(|k| (found[k] - speeds[k]).abs() < 1e-12));
}

/// A grain turns with what has it: a world part, too.
#[test]
fn the_grain_of_a_turned_plate_is_turned() {
    for (angle, along, mu) in [(0.0, "[1, 0, 0]", 0.3), (90.0, "[1, 0, 0]", 0.6), (90.0, "[0, 1, 0]", 0.3)] {
        let text = format!(
            "[[world]]\nname = 'plate'\nshape = {{ box = {{ half = [2, 2, 0.1] }} }}\nposition = [0, 0, -0.1]\n\
             orientation = {{ axis = [0, 0, 1], angle_deg = {angle} }}\n\
             [[body]]\nname = 'box'\nmass = 1\nshape = {{ box = {{ half = [0.1, 0.1, 0.05] }} }}\nposition = [0, 0, 0.05]\n\
             velocity = [1, 0, 0]\n\
             [[pair]]\nbodies = ['box', 'plate']\nfriction = 0.3\n\
             grain = {{ body = 'plate', along = {along}, across = 0.6 }}\n"
        );
        let (_, state) = run(stiction::from_toml("plate", &text).expect("valid"), 1e-3, 0.5);
        let expected = 0.5 / (mu * G);
        assert!((state.position[0] - expected).abs() < 0.6e-3, "{angle} {along}: {}", state.position[0]);
    }
}

/// As rough across as along is as rough everywhere, whatever turns: a ball with a grain rolls down a slope on a compliant contact as one without.
#[test]
fn a_grain_that_turns_with_its_body_leaves_deformations_alone() {
    for law in [
        "{ kelvin_voigt = { stiffness = [1e5, 8e3], damping = [300, 30] } }",
        "{ hertz_mindlin = { radius = 0.1, damping_time = 1e-3 } }",
    ] {
        for along in ["[1, 0, 0]", "[0, 0, 1]", "[1, 2, 3]"] {
            let text = |grain: bool| {
                let grain = if grain {
                    format!("grain = {{ body = 'ball', along = {along}, across = 0.5 }}\n")
                } else {
                    String::new()
                };
                format!(
                    "gravity = [1, 0, -9.81]\n[[material]]\nname = 'm'\nfriction = 0.5\nyoung = 1e7\nlaw = {law}\n\
                     [[world]]\nname = 'ground'\nshape = 'half_space'\nmaterial = 'm'\n\
                     [[body]]\nname = 'ball'\nmass = 1\nmaterial = 'm'\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [0, 0, 0.1]\n\
                     angular_velocity = [0, 0, 20]\n[[pair]]\nbodies = ['ball', 'ground']\nfriction = 0.5\n{grain}"
                )
            };
            let [with, without] = [true, false].map(|grain| {
                let scene = stiction::from_toml("ball", &text(grain)).unwrap_or_else(|e| panic!("{e}"));
                run(scene, 1e-3, 0.5).1
            });
            let apart =
                |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let far = apart(&with.position, &without.position).max(apart(&with.velocity, &without.velocity));
            assert!(far < 1e-9, "{law} {along}: {far:e}");
            assert!(without.velocity[0] > 0.2, "{:?}", without.velocity);
        }
    }
}

/// The residual that is told, and held to the tolerance, is that of the ellipse, however thin.
#[test]
fn steps_are_judged_under_the_ellipse() {
    for (friction, across) in [(0.3, 0.45), (1.0, 1e-3), (100.0, 0.1), (1000.0, 1.0)] {
        let mut given = scene("grain.toml");
        given.bodies.truncate(1);
        given.pairs.truncate(1);
        given.materials[0].friction = friction;
        given.pairs[0].grain.as_mut().expect("given").across = across;
        given.bodies[0].velocity = Some([1.0, 1.0, 0.0].into());
        given.bodies[0].angular_velocity = Some([0.0, 0.0, 5.0].into());
        let (mut stepper, mut state) = start(given, 1e-3);
        for _ in 0..100 {
            let report = stepper.step(&mut state).expect("no step fails");
            let p = stepper.problem().expect("contacts");
            let told: Vec<f64> = stepper.elements().iter().flat_map(|e| e.force).collect();
            let found = residual::friction(&p, &told).relative;
            assert!(
                found <= 1e-10 && (found - report.residual.relative).abs() < 1e-12,
                "{friction} {across}: {found:e} {report:?}"
            );
        }
    }
}
