//! Cattaneo and Mindlin: a ball pressed on a patch of 19 x 19 elements, pulled sideways and released, from time stepping alone.
//! Closed forms: Johnson, *Contact Mechanics*, sections 4.2, 7.2 and 7.4.
#![allow(missing_docs)]

use std::f64::consts::PI;
use std::path::Path;
use stiction::scene::Scene;
use stiction::step::{Status, Stepper};

const R: f64 = 0.05;
const P: f64 = 500.0;
const MU: f64 = 0.3;
const E: f64 = 2e9;
/// The largest pull, N.
const Q: f64 = 105.0;

/// `bodies`: how many of the two yield.
fn check(name: &str, bodies: f64, nu: f64, spacing: f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/mindlin").join(name);
    let mut stepper = Stepper::new(Scene::read(&path).expect("a valid scene")).expect("a valid model");
    let mut state = stepper.initial();
    let e_star = E / (bodies * (1.0 - nu * nu));
    let g_star = E / (2.0 * (1.0 + nu)) / (bodies * (2.0 - nu));
    let a = (0.75 * P * R / e_star).cbrt();
    let scale = 3.0 * MU * P / (16.0 * a * g_star);
    let left = |q: f64| 1.0 - q / (MU * P);
    let loading = |q: f64| scale * (1.0 - left(q).powf(2.0 / 3.0));
    let unloading =
        |q: f64| scale * (2.0 * left(0.5 * (Q - q)).powf(2.0 / 3.0) - left(Q).powf(2.0 / 3.0) - 1.0);
    let near = |what: &str, found: f64, expected: f64, share: f64| {
        assert!((found / expected - 1.0).abs() < share, "{name}, {what}: {found:e}, expected {expected:e}");
    };
    let mut sticking = vec![];
    for n in 1..=60 {
        let report = stepper.step(&mut state).expect("no step fails");
        assert!(report.residual.relative <= 1e-10);
        let elements = stepper.elements();
        let sum = |k: usize| elements.iter().map(|e| e.force[k]).sum::<f64>();
        let radius = |test: &dyn Fn(Status) -> bool| {
            (elements.iter().filter(|e| test(e.status)).count() as f64 * spacing * spacing / PI).sqrt()
        };
        // a step ends with the pull it began with
        let (x, q) = (state.position[0], -sum(1));
        match n {
            10 => {
                near("contact radius", radius(&|s| s != Status::Open), a, 0.02);
                near("approach", -state.position[1], a * a / R, 0.02);
                let peak = elements.iter().map(|e| e.force[0]).fold(0.0, f64::max) / (spacing * spacing);
                near("peak pressure", peak, 1.5 * P / (PI * a * a), 0.02);
            }
            // pulled: the rim slips, and creeps by a hundredth of a second behind the pull
            11..=31 if q > 0.15 * MU * P => {
                sticking.push(radius(&|s| s == Status::Stick) / (a * left(q).cbrt()));
                assert!((x - loading(q)).abs() < 0.03 * loading(Q), "{name}, {q} N: {x:e}");
            }
            35 => near("displacement", x, loading(Q), 0.03),
            36..=56 => assert!((x - unloading(q)).abs() < 0.03 * loading(Q), "{name}, {q} N: {x:e}"),
            60 => near("what is left of it", x, unloading(0.0), 0.03),
            _ => {}
        }
        assert!(sum(2).abs() < 1e-4 * P, "{name}: friction across the pull");
    }
    // elements in or out of the circle: single counts are coarse
    let mean = sticking.iter().sum::<f64>() / sticking.len() as f64;
    near("stick radius", mean, 1.0, 0.03);
    assert!(sticking.iter().all(|c| (c - 1.0).abs() < 0.05), "{sticking:?}");
}

#[test]
fn a_ball_on_a_block_of_the_same_material_traces_mindlins_loop() {
    check("like-materials.toml", 2.0, 0.3, 2.98e-4);
}

#[test]
fn a_rigid_ball_on_an_incompressible_block_traces_mindlins_loop() {
    check("rigid-on-elastic.toml", 1.0, 0.5, 2.218e-4);
}
