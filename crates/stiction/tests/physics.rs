//! Hertz from time stepping, and what a state is. Sliding, standing and conservation have files of their own.

use crate::running;

use running::{run, scene, start};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};
use stiction::scene::Law;
use stiction::scene::{FrictionKind, Method};
use stiction::step::ElementReport;
use stiction::stepper::Stepper;

/// Relative errors against Hertz (Johnson 4.22 to 4.24) of a ball of radius 0.05 m pressed with 500 N, E = 2 GPa and nu = 0.3, on
/// a patch of n x n elements as wide as the one of `hertz.toml`: approach, peak pressure, the radius whose semi-ellipsoid of pressure has the
/// second moment of the forces (2 a^2 / 5), and, over the peak, the root mean square of the pressures' errors.
fn pressed_ball(n: usize, h: f64, steps: usize) -> [f64; 4] {
    let mut ball = scene("hertz.toml");
    let Law::HalfSpace { elements, spacing, .. } = &mut ball.materials[0].law else { panic!("no patch") };
    let side = 11.0 * 5.6e-4 / n as f64;
    (*elements, *spacing) = (n, side);
    let (mut stepper, state) = run(ball, h, h * steps as f64);
    let (r, p, e_star): (f64, f64, f64) = (0.05, 500.0, 2e9 / (2.0 * (1.0 - 0.09)));
    let a = (3.0 * p * r / (4.0 * e_star)).cbrt();
    let approach = r - stepper.kinematics(&state).pose(0).position[2];
    let elements = stepper.elements();
    let force: f64 = elements.iter().map(|e| e.force[0]).sum();
    assert!((force / p - 1.0).abs() < 1e-3, "{force} N");
    let peak = elements.iter().map(|e| e.force[0]).fold(0.0, f64::max) / (side * side);
    let moment =
        |e: &ElementReport| e.force[0] * (e.point[0].powi(2) + e.point[1].powi(2) + side * side / 6.0);
    let radius = (2.5 * elements.iter().map(moment).sum::<f64>() / force).sqrt();
    let hertz = 1.5 * p / (PI * a * a);
    let off = |e: &ElementReport| {
        let inside = 1.0 - (e.point[0].powi(2) + e.point[1].powi(2)) / (a * a);
        (e.force[0] / (side * side * hertz) - inside.max(0.0).sqrt()).powi(2)
    };
    let spread = (elements.iter().map(off).sum::<f64>() / elements.len() as f64).sqrt();
    [approach / (a * a / r) - 1.0, peak / hertz - 1.0, radius / a - 1.0, spread].map(f64::abs)
}

/// Steps far longer than the patch takes to settle (some 0.01 s): it is at rest after a few.
#[test]
fn a_pressed_ball_settles_at_hertz_and_closer_on_a_finer_patch() {
    let coarse = pressed_ball(11, 0.1, 4);
    let other_step = pressed_ball(11, 0.04, 7);
    let fine = pressed_ball(13, 0.1, 4);
    println!("approach, peak, radius, pressure: 11 x 11 {coarse:?}, 13 x 13 {fine:?}");
    for errors in [&coarse, &other_step, &fine] {
        assert!(errors.iter().all(|&e| e < 0.04), "{errors:?}");
    }
    assert!(coarse.iter().zip(&other_step).all(|(a, b)| (a - b).abs() < 1e-4), "{coarse:?} {other_step:?}");
    assert!(fine.iter().zip(&coarse).all(|(f, c)| f < c), "{coarse:?} {fine:?}");
}

/// Also where forces are not unique, and whatever a solver remembers.
#[test]
fn a_saved_state_has_bitwise_the_same_future() {
    for (name, h, before) in [
        ("song2004/ellipse-1e-10.toml", 1e-4, 0.05),
        ("stack-of-ten.toml", 1e-3, 0.05),
        ("heap.toml", 1e-3, 0.6),
        ("balls-200.toml", 1e-3, 0.1),
        ("four-legged-table-elastic.toml", 1e-3, 0.05),
    ] {
        let (mut first, mut state) = run(scene(name), h, before);
        let mut again = Stepper::of(first.model().clone());
        let mut copy = state.clone();
        for _ in 0..200 {
            let _ = first.step(&mut state).expect("no step fails");
            let _ = again.step(&mut copy).expect("no step fails");
        }
        assert!(state == copy, "{name}");
    }
}

/// Each alone, named in the scene: no other helps it. Where forces are unique all give one motion.
#[test]
fn every_solver_gives_the_same_motion() {
    let solvers = [
        (Method::GaussSeidel, "gauss-seidel"),
        (Method::Newton, "newton"),
        (Method::ProximalNewton, "proximal-newton"),
        (Method::InteriorPoint, "cone-interior-point"),
    ];
    for name in ["song2004/ellipse-1e-10.toml", "four-legged-table-elastic.toml", "sliding-sphere.toml"] {
        let mut ends = vec![];
        for (solver, reported) in solvers {
            let mut scene = scene(name);
            (scene.step.friction, scene.step.solver) = (FrictionKind::Cone, solver);
            let h = scene.step.h;
            let (mut stepper, mut state) = start(scene, h);
            for _ in 0..1000 {
                let report = stepper.step(&mut state).expect("no step fails");
                assert!(report.residual.relative <= 1e-10 && report.solver == reported, "{name}: {report:?}");
            }
            ends.push(state.position);
        }
        for (end, (_, reported)) in ends.iter().zip(solvers) {
            let far = end.iter().zip(&ends[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("{name} {reported}: {far:e}");
            assert!(far < 1e-9, "{name} {reported}: {far:e}");
        }
    }
}

/// To its end, but the large ones (those of Mindlin do in `mindlin.rs`).
#[test]
fn every_scene_runs() {
    fn scenes(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("scenes").map(|e| e.expect("an entry").path());
        entries.flat_map(|path| if path.is_dir() { scenes(&path) } else { vec![path] }).collect()
    }
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes"));
    let paths: Vec<_> =
        scenes(folder).into_iter().filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    assert!(paths.len() >= 31, "{} scenes", paths.len());
    for path in paths {
        let scene = stiction::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let smooth = matches!(scene.step.friction, FrictionKind::Smooth { .. });
        assert!(smooth || scene.step.friction == FrictionKind::Cone, "{path:?}");
        let most = match scene.name.as_str() {
            "balls-200" => 500,
            "like-materials" | "rigid-on-elastic" => 15,
            _ => usize::MAX,
        };
        let (h, steps) = (scene.step.h, scene.step.count().min(most));
        run(scene, h, steps as f64 * h);
    }
}
