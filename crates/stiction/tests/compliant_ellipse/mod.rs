//! song2004 section 6 written down by itself: the ellipse on three elements, or rigid on one, with nothing of the stepper but the
//! solver of its contact problem. What the paper leaves open is a choice here: where the contact force acts.
//!
//! Symbols as in the paper; rows are n, t element by element.

use super::event_driven::SONG2004;
use complementarity::eigen::symmetric_eigen;
use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, FrictionProblem};
use complementarity::solver::End;
use complementarity::solver::lemke::Lemke;
use std::f64::consts::PI;

/// Distance of elements, m; Poisson's ratio, which the paper does not give; step, s.
const RHO: f64 = 1e-6;
const NU: f64 = 0.3;
pub const H: f64 = 1e-4;

/// x, y, theta after each of `steps` steps. `compliance` is eps in m^2/N, 0 for the rigid model. `depth` says where between the
/// undeformed ellipse (0) and the ground (1) the force acts; the two overlap by some 3e-5 m at eps = 1e-10.
pub fn run(compliance: f64, depth: f64, steps: usize) -> Vec<[f64; 3]> {
    let ellipse = SONG2004;
    let elements = if compliance > 0.0 { 3 } else { 1 };
    let rows = 2 * elements;
    let (e_inv, e_inv_k) = blocks(compliance, rows);
    let m_inv = [1.0 / ellipse.mass, 1.0 / ellipse.mass, 1.0 / ellipse.inertia];
    let angle = 75f64.to_radians();
    let (mut q, mut v) = ([0.0, ellipse.height(angle)[0], angle], [0.0f64; 3]);
    let mut delta = vec![0.0; rows];
    let mut lemke = Lemke::default();
    let mut path = Vec::with_capacity(steps);
    for _ in 0..steps {
        let [r, r1, _] = ellipse.height(q[2]);
        let psi = q[1] - r;
        let w = |row: usize| {
            let beside = -r1 + RHO * ((row / 2) as f64 - 0.5 * (elements - 1) as f64);
            if row.is_multiple_of(2) { [0.0, 1.0, beside] } else { [1.0, 0.0, r + depth * psi] }
        };
        let w: Vec<[f64; 3]> = (0..rows).map(w).collect();
        let a = Matrix::from_fn(rows, rows, |i, j| {
            H * (0..3).map(|k| w[i][k] * m_inv[k] * w[j][k]).sum::<f64>() + e_inv[(i, j)]
        });
        let free = [v[0], v[1] - H * ellipse.gravity, v[2]];
        let past = e_inv_k.times(&delta);
        let b = (0..rows).map(|i| {
            let gap = if i.is_multiple_of(2) { (psi + delta[i]) / H } else { 0.0 };
            (0..3).map(|k| w[i][k] * free[k]).sum::<f64>() - past[i] + gap
        });
        let friction = vec![ellipse.friction; elements];
        let problem = FrictionProblem::new(a, b.collect(), friction, 2, Friction::Pyramid).expect("valid");
        let lcp = problem.as_slack_lcp().expect("pyramid");
        let outcome = lemke.solve(&lcp.problem, None, &mut |_| ());
        assert_eq!(outcome.end, End::Solved);
        let lambda = lcp.forces(lemke.solution());
        for k in 0..3 {
            v[k] = free[k] + H * m_inv[k] * (0..rows).map(|i| w[i][k] * lambda[i]).sum::<f64>();
            q[k] += H * v[k];
        }
        let pressed = e_inv.times(&lambda);
        for i in 0..rows {
            delta[i] += H * (pressed[i] - past[i]);
        }
        path.push(q);
    }
    path
}

/// `E^-1` and `E^-1 K` with `K = Xi^-1`, `C = 2 sqrt(K)`: Appendix A, corrected (no pi in the diagonal of nn).
fn blocks(eps: f64, rows: usize) -> (Matrix, Matrix) {
    if eps == 0.0 {
        return (Matrix::zeros(rows, rows), Matrix::zeros(rows, rows));
    }
    let xi = Matrix::from_fn(rows, rows, |i, j| {
        let x = RHO * ((i / 2) as f64 - (j / 2) as f64);
        eps * match (i % 2, j % 2, i / 2 == j / 2) {
            (0, 0, true) => 0.95 * (1.0 - NU * NU) / RHO,
            (0, 0, false) => (1.0 - NU * NU) / (PI * x.abs()),
            (1, 1, true) => (1.0 + NU) * (2.0 - NU) / (PI.sqrt() * RHO),
            (1, 1, false) => (1.0 + NU) / (PI * x.abs()),
            (_, _, true) => 0.0,
            (n, _, false) => (1.0 - 2.0 * n as f64) * (1.0 - 2.0 * NU) * (1.0 + NU) / (2.0 * PI * x),
        }
    });
    let (values, u) = symmetric_eigen(&xi).expect("finite");
    assert!(values[0] > 0.0, "Xi is positive definite");
    let from_modes = |f: fn(f64) -> f64| {
        Matrix::from_fn(rows, rows, |i, j| (0..rows).map(|m| u[(i, m)] * f(values[m]) * u[(j, m)]).sum())
    };
    (from_modes(|xi| xi / (H + 2.0 * xi.sqrt())), from_modes(|xi| 1.0 / (H + 2.0 * xi.sqrt())))
}
