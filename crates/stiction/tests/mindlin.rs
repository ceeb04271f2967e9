//! Cattaneo and Mindlin: a ball pressed on a patch of 19 x 19 elements, pulled sideways and released, from time stepping alone.
//! Closed forms: Johnson, *Contact Mechanics*, sections 4.2, 7.2 and 7.4.

use std::f64::consts::PI;
use std::path::Path;
use stiction::space::Vector;
use stiction::step::{ElementReport, Status};
use stiction::stepper::Stepper;

const R: f64 = 0.05;
const P: f64 = 500.0;
const MU: f64 = 0.3;
const E: f64 = 2e9;
/// The largest pull, N.
const Q: f64 = 105.0;

/// Radius of the circle that sticks, from the forces of the elements in it alone. `turn`: forces where the pull began or turned back;
/// `reach`: 1 or 2, by how many `mu p` friction can change since then. What it has not changed by, `reach mu p - |q - q_turn|`, is
/// `reach mu p0 (c/a) sqrt(1 - r^2/c^2)` (Johnson, section 7.2; on the way back 7.4): its square is linear in `r^2` and 0 at `r = c`.
fn stick_radius(elements: &[ElementReport], turn: &[Vector], reach: f64) -> f64 {
    // sums of 1, x, y, x^2 and x y of a straight line by least squares
    let (mut n, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for ((e, [_, t, o]), r) in elements.iter().zip(turn).zip(radii(elements)) {
        if e.status == Status::Stick {
            let spare = reach * MU * e.force[0] - (e.force[1] - t).hypot(e.force[2] - o);
            let (x, y) = (r * r, spare * spare);
            (n, sx, sy, sxx, sxy) = (n + 1.0, sx + x, sy + y, sxx + x * x, sxy + x * y);
        }
    }
    let slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    ((sx - sy / slope) / n).sqrt()
}

/// How far each element is from the patch's middle.
fn radii(elements: &[ElementReport]) -> impl Iterator<Item = f64> {
    let middle = [0, 1].map(|i| elements.iter().map(|e| e.point[i]).sum::<f64>() / elements.len() as f64);
    elements.iter().map(move |e| (e.point[0] - middle[0]).hypot(e.point[1] - middle[1]))
}

/// `bodies`: how many of the two yield.
fn check(name: &str, bodies: f64, nu: f64, spacing: f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/mindlin").join(name);
    let mut stepper = Stepper::new(stiction::read(&path).expect("a valid scene")).expect("a valid model");
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
    let mut turn = vec![];
    for n in 1..=60 {
        let report = stepper.step(&mut state).expect("no step fails");
        assert!(report.residual.relative <= 1e-10);
        let elements = stepper.elements();
        let sum = |k: usize| elements.iter().map(|e| e.force[k]).sum::<f64>();
        let sticks = |reach: f64, c: f64| {
            near(&format!("stick radius, step {n}"), stick_radius(elements, &turn, reach), c, 0.03);
            // and the elements say the same: none slips inside, none sticks outside, to half an element
            for (e, r) in elements.iter().zip(radii(elements)).filter(|(_, r)| (r - c).abs() > 0.5 * spacing)
            {
                assert_eq!(e.status == Status::Stick, r < c, "{name}, step {n}, at {r:e} of {c:e}");
            }
        };
        // a step ends with the pull it began with
        let (x, q) = (state.position[0], -sum(1));
        match n {
            10 => {
                let touching = elements.iter().filter(|e| e.status != Status::Open).count() as f64;
                near("contact radius", (touching * spacing * spacing / PI).sqrt(), a, 0.02);
                near("approach", -state.position[1], a * a / R, 0.02);
                let peak = elements.iter().map(|e| e.force[0]).fold(0.0, f64::max) / (spacing * spacing);
                near("peak pressure", peak, 1.5 * P / (PI * a * a), 0.02);
            }
            // pulled: the rim slips, and creeps by a hundredth of a second behind the pull
            11..=31 => {
                sticks(1.0, a * left(q).cbrt());
                assert!((x - loading(q)).abs() < 0.03 * loading(Q), "{name}, {q} N: {x:e}");
            }
            35 => near("displacement", x, loading(Q), 0.03),
            // released: the rim slips back
            36..=56 => {
                sticks(2.0, a * left(0.5 * (Q - q)).cbrt());
                assert!((x - unloading(q)).abs() < 0.03 * loading(Q), "{name}, {q} N: {x:e}");
            }
            60 => near("what is left of it", x, unloading(0.0), 0.03),
            _ => {}
        }
        assert!(sum(2).abs() < 1e-4 * P, "{name}: friction across the pull");
        if n == 10 || n == 35 {
            turn = elements.iter().map(|e| e.force).collect();
        }
    }
}

#[test]
fn a_ball_on_a_block_of_the_same_material_traces_mindlins_loop() {
    check("like-materials.toml", 2.0, 0.3, 2.98e-4);
}

#[test]
fn a_rigid_ball_on_an_incompressible_block_traces_mindlins_loop() {
    check("rigid-on-elastic.toml", 1.0, 0.5, 2.218e-4);
}
