//! A sphere pressed on a patch: Hertz's contact and the tangential stiffness of Mindlin, without dynamics.

// helpers of tests
#![allow(clippy::unwrap_used)]

use complementarity::matrix::{Matrix, dot};
use complementarity::problem::Lcp;
use complementarity::report::Status;
use complementarity::solver::lemke;
use std::f64::consts::PI;
use stiction::contact::half_space::compliance_matrix;
use stiction::contact::{Directions, FrictionRule, Grid, Influence, Material, Pair};

const RADIUS: f64 = 0.05;
const APPROACH: f64 = 2e-6;

/// Relative errors.
#[derive(Debug)]
struct Errors {
    approach: f64,
    radius: f64,
    peak: f64,
    /// Of the pressures, against Hertz's semi-ellipsoid: root mean square over the peak.
    pressure: f64,
}

fn steel_on_glass() -> Pair {
    let steel = Material { young: 2.1e11, poisson: 0.3, friction: 0.3 };
    let glass = Material { young: 7e10, poisson: 0.22, friction: 0.3 };
    Pair::new(&steel, &glass, FrictionRule::default()).unwrap()
}

/// Frictionless contact of a sphere with a patch a quarter wider than the contact: given the approach, the forces from
/// `0 <= p _|_ psi + Xi_nn p - approach >= 0`.
fn press(n: usize, influence: Influence) -> Errors {
    let pair = steel_on_glass();
    let a = (RADIUS * APPROACH).sqrt();
    let side = 2.5 * a / n as f64;
    let grid = Grid { elements: n, spacing: side, directions: Directions::Spatial };
    let xi = compliance_matrix(&grid, &pair, influence);
    let count = grid.count();
    let xi_nn = Matrix::from_fn(count, count, |i, j| xi[(3 * i, 3 * j)]);
    let from_middle = |k: usize| grid.centre(k)[0].hypot(grid.centre(k)[1]);
    let q = (0..count).map(|k| from_middle(k).powi(2) / (2.0 * RADIUS) - APPROACH).collect();
    let report = lemke::solve(&Lcp::new(xi_nn, q).unwrap(), &lemke::Settings::default());
    assert!(matches!(report.status, Status::Solved), "{report:?}");
    let p = &report.solution;

    let total: f64 = p.iter().sum();
    let e = pair.effective_modulus();
    // Johnson (4.22)-(4.24), from the total force
    let hertz_radius = (3.0 * total * RADIUS / (4.0 * e)).cbrt();
    let hertz_approach = hertz_radius.powi(2) / RADIUS;
    let hertz_peak = 3.0 * total / (2.0 * PI * hertz_radius.powi(2));
    let pressed = p.iter().filter(|&&p| p > 0.0).count() as f64;
    let radius = (pressed * side * side / PI).sqrt();
    let peak = p.iter().fold(0.0f64, |m, &p| m.max(p)) / (side * side);
    let squares: f64 = (0..count)
        .map(|k| {
            let inside = 1.0 - (from_middle(k) / hertz_radius).powi(2);
            (p[k] / (side * side) / hertz_peak - inside.max(0.0).sqrt()).powi(2)
        })
        .sum();
    Errors {
        approach: (APPROACH / hertz_approach - 1.0).abs(),
        radius: (radius / hertz_radius - 1.0).abs(),
        peak: (peak / hertz_peak - 1.0).abs(),
        pressure: (squares / count as f64).sqrt(),
    }
}

#[test]
fn a_sphere_on_a_patch_is_hertz_s_contact_and_closer_on_a_finer_patch() {
    let (coarse, fine) = (press(15, Influence::Rectangle), press(25, Influence::Rectangle));
    println!("15 x 15: {coarse:?}\n25 x 25: {fine:?}");
    for errors in [&coarse, &fine] {
        assert!(errors.approach < 0.04 && errors.radius < 0.04 && errors.peak < 0.04, "{errors:?}");
    }
    assert!(fine.approach < coarse.approach && fine.pressure < coarse.pressure, "{coarse:?} {fine:?}");
}

#[test]
fn the_paper_s_point_forces_come_near_hertz_too() {
    let errors = press(15, Influence::PointForce);
    println!("15 x 15, point forces: {errors:?}");
    assert!(errors.approach < 0.04 && errors.radius < 0.04, "{errors:?}");
}

/// Before any slip the tangential stiffness of a circular contact is `8 a G*` (Johnson (7.46) and the limit of
/// Cattaneo and Mindlin's displacement for a small force).
#[test]
fn a_stuck_circle_has_the_tangential_stiffness_of_mindlin() {
    let steel = Material { young: 2.1e11, poisson: 0.3, friction: 0.3 };
    let pair = Pair::new(&steel, &steel, FrictionRule::default()).unwrap();
    let mut errors = Vec::new();
    for n in [11, 21] {
        let grid = Grid { elements: n, spacing: 1e-4, directions: Directions::Spatial };
        let xi = compliance_matrix(&grid, &pair, Influence::Rectangle);
        let edge = 0.5 * n as f64 * grid.spacing;
        let stuck: Vec<usize> =
            (0..grid.count()).filter(|&k| grid.centre(k)[0].hypot(grid.centre(k)[1]) < edge).collect();
        let rows: Vec<usize> = stuck.iter().flat_map(|k| [3 * k + 1, 3 * k + 2]).collect();
        let block = Matrix::from_fn(rows.len(), rows.len(), |i, j| xi[(rows[i], rows[j])]);
        let shift: Vec<f64> = (0..rows.len()).map(|i| if i % 2 == 0 { 1.0 } else { 0.0 }).collect();
        let force = conjugate_gradients(&block, &shift);
        let total: f64 = force.iter().step_by(2).sum();
        let across: f64 = force.iter().skip(1).step_by(2).sum();
        assert!(across.abs() < 1e-9 * total, "force across the shift: {across} of {total}");
        let radius = (stuck.len() as f64 * grid.spacing.powi(2) / PI).sqrt();
        errors.push((total / (8.0 * radius * pair.effective_shear_modulus()) - 1.0).abs());
    }
    println!("tangential stiffness, 11 and 21 across: {errors:?}");
    assert!(errors[0] < 0.06 && errors[1] < 0.6 * errors[0], "{errors:?}");
}

fn conjugate_gradients(a: &Matrix, b: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; b.len()];
    let (mut r, mut d) = (b.to_vec(), b.to_vec());
    for _ in 0..400 {
        let rr = dot(&r, &r);
        if rr < 1e-26 * dot(b, b) {
            break;
        }
        let ad = a.times(&d);
        let step = rr / dot(&d, &ad);
        for i in 0..x.len() {
            x[i] += step * d[i];
            r[i] -= step * ad[i];
        }
        let turn = dot(&r, &r) / rr;
        for i in 0..x.len() {
            d[i] = r[i] + turn * d[i];
        }
    }
    x
}
