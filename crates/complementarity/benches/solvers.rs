//! Time and residual of the solvers, as ratios to a bound measured in the same run.
//!
//! `cargo bench -p complementarity`; with `-- quick` the two largest sizes are left out.
//!
//! The bound is the time that the method's leading arithmetic would take at the rate this machine sustains:
//! Lemke, `2 n (n + 2)` flops a pivot at the rate of a rank-one update of a matrix of that size;
//! interior point, `2/3 n^3` flops a step at the rate of a product of matrices in cache. A ratio near 1 means
//! that nothing is left to gain but fewer iterations.
#![allow(missing_docs)]

#[path = "../tests/families/mod.rs"]
mod families;

use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, FrictionProblem, Lcp};
use complementarity::report::Report;
use complementarity::solver::{Budget, interior_point, lemke};
use families::{Family, build};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let quick = std::env::args().any(|a| a == "quick");
    println!(
        "{:44} {:>5} {:>11} {:>10} {:>9} {:>8}  status",
        "", "n", "time", "iterations", "residual", "x bound"
    );
    let sizes: &[usize] = if quick { &[10, 50, 200] } else { &[10, 50, 200, 1000, 2000] };
    for &n in sizes {
        run("dense P-matrix", &build(Family::Positive, n, 1).lcp);
    }
    for elements in [3, 6, 10, 15] {
        let patch = patch(elements);
        run("song2004 patch, slack", &patch.as_slack_lcp().expect("pyramid").problem);
        run("song2004 patch, condensed", &patch.as_condensed_lcp().expect("compliant").problem);
    }
}

/// One step of an ellipse on a compliant line of elements, as song2004 section 6: 3 LCP variables an element,
/// some in contact, some open; the elements are coupled by the half-plane as well as by the body.
fn patch(elements: usize) -> FrictionProblem {
    let (h, mass, inertia, pitch) = (1e-4, 1.0, 1e-3, 1e-3);
    let x = |e: usize| pitch * (e as f64 - 0.5 * (elements - 1) as f64);
    let w = |row: usize| match row % 2 {
        0 => [0.0, 1.0, x(row / 2)],
        _ => [1.0, 0.0, 0.05],
    };
    let a = Matrix::from_fn(2 * elements, 2 * elements, |i, j| {
        let (wi, wj) = (w(i), w(j));
        let body = h * ((wi[0] * wj[0] + wi[1] * wj[1]) / mass + wi[2] * wj[2] / inertia);
        let apart = (i / 2).abs_diff(j / 2) as f64;
        body + if i % 2 == j % 2 { 1e-4 / (1.0 + 3.0 * apart) } else { 0.0 }
    });
    let v = [0.2, -0.05, -3.0];
    let b = (0..2 * elements)
        .map(|i| {
            let gap = if i % 2 == 0 { 50.0 * x(i / 2) * x(i / 2) / h * 0.1 } else { 0.0 };
            (0..3).map(|k| w(i)[k] * v[k]).sum::<f64>() + gap
        })
        .collect();
    FrictionProblem::new(a, b, vec![0.3; elements], 2, Friction::Pyramid).expect("valid")
}

fn run(name: &str, lcp: &Lcp) {
    let n = lcp.size();
    let mut solver = lemke::Lemke::new(lemke::Settings::default());
    let (time, report) = measure(|| {
        let outcome = solver.solve(lcp, None, &mut |_| ());
        solver.report(outcome)
    });
    let flops = 2.0 * (n * (n + 2)) as f64 * report.iterations as f64;
    line(&format!("lemke, {name}"), n, time, &report, flops / rank_one_rate(n));
    let settings = interior_point::Settings::default();
    let (time, report) =
        measure(|| interior_point::solve(lcp, &settings, &mut Budget::default(), &mut |_| ()));
    let flops = 2.0 / 3.0 * (n * n * n) as f64 * report.iterations as f64;
    line(&format!("interior point, {name}"), n, time, &report, flops / product_rate());
}

fn line(name: &str, n: usize, time: f64, report: &Report, bound: f64) {
    let (iterations, residual) = (report.iterations, report.residual.relative);
    let ratio = time / bound;
    println!(
        "{name:44} {n:5} {:>11} {iterations:10} {residual:9.1e} {ratio:8.1}  {}",
        human(time),
        report.status
    );
}

fn human(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.2} us", 1e6 * s),
        s if s < 1.0 => format!("{:.2} ms", 1e3 * s),
        s => format!("{s:.2} s"),
    }
}

/// Best of several runs within 0.2 s (one, if it takes longer).
fn measure(mut solve: impl FnMut() -> Report) -> (f64, Report) {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    loop {
        let start = Instant::now();
        let report = black_box(solve());
        best = best.min(start.elapsed().as_secs_f64());
        if begin.elapsed().as_secs_f64() > 0.2 {
            return (best, report);
        }
    }
}

/// Flops a second of `x_i += f r` on an n x n matrix, with the widest registers.
fn rank_one_rate(n: usize) -> f64 {
    let mut x = vec![1.0f64; n * n];
    let r = vec![1e-9; n];
    best_rate(2.0 * (n * n) as f64, || {
        faer::zip!(
            faer::MatMut::from_column_major_slice_mut(&mut x, n, n),
            faer::MatRef::from_column_major_slice_with_stride(&r, n, n, 0)
        )
        .for_each(|faer::unzip!(x, r)| *x += 1e-9 * r);
        black_box(&mut x);
    })
}

/// Flops a second of a product of 128 x 128 matrices.
fn product_rate() -> f64 {
    let n = 128;
    let a = faer::Mat::from_fn(n, n, |i, j| (i + j) as f64);
    let mut c = faer::Mat::zeros(n, n);
    best_rate(2.0 * (n * n * n) as f64, || {
        faer::linalg::matmul::matmul(&mut c, faer::Accum::Replace, &a, &a, 1.0, faer::Par::Seq);
        black_box(&mut c);
    })
}

fn best_rate(flops: f64, mut work: impl FnMut()) -> f64 {
    let rounds = (2e6 / flops).ceil().max(1.0);
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..rounds as usize {
            work();
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    flops * rounds / best
}
