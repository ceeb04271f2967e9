//! The interior-point methods against solutions known beforehand: choose complementary `z*, w* >= 0` and a
//! matrix, and set `q = w* - M z*`.

use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, FrictionProblem, Lcp};
use complementarity::report::{Certificate, Report, Status};
use complementarity::residual;
use complementarity::solver::Budget;
use complementarity::solver::interior_point::{Settings, Variant, solve};
use proptest::prelude::*;

const VARIANTS: [Variant; 2] = [Variant::Feasible, Variant::PredictorCorrector];
const SIZES: [usize; 12] = [1, 2, 3, 5, 8, 13, 30, 50, 63, 64, 100, 200];

/// splitmix64, Steele, Lea, Flood 2014.
struct Random(u64);

impl Random {
    /// In (-1, 1).
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        2.0 * ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    }

    /// `B B' + skew (S - S') + shift I` with `B` of the given rank.
    fn matrix(&mut self, n: usize, rank: usize, skew: f64, shift: f64) -> Matrix {
        let b = Matrix::from_fn(n, rank, |_, _| self.draw());
        let s = Matrix::from_fn(n, n, |_, _| self.draw());
        Matrix::from_fn(n, n, |i, j| {
            let product: f64 = (0..rank).map(|k| b[(i, k)] * b[(j, k)]).sum();
            product + skew * (s[(i, j)] - s[(j, i)]) + if i == j { shift } else { 0.0 }
        })
    }

    /// Complementary `(z*, w*)`; a share of the pairs is zero on both sides.
    fn pair(&mut self, n: usize, degenerate: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            if 0.5 * (1.0 + self.draw()) < degenerate {
                continue;
            }
            let x = self.draw();
            *(if x > 0.0 { &mut z[i] } else { &mut w[i] }) = 0.1 + x.abs();
        }
        (z, w)
    }
}

fn problem(m: Matrix, z: &[f64], w: &[f64]) -> Lcp {
    let q = m.times(z).iter().zip(w).map(|(mz, w)| w - mz).collect();
    Lcp::new(m, q).expect("finite numbers")
}

fn run(lcp: &Lcp, variant: Variant) -> Report {
    solve(lcp, &Settings { variant, ..Settings::default() }, &mut Budget::default(), &mut |_| ())
}

/// Solved; or the feasible variant says that there is no interior to start in.
fn is_solved(report: &Report, variant: Variant, what: &str) -> bool {
    if let Certificate::Stopped { reason, .. } = &report.certificate {
        assert_eq!(variant, Variant::Feasible, "{what}: {reason}");
        assert!(reason.starts_with("no strictly feasible point"), "{what}: {reason}");
        return false;
    }
    assert_eq!(report.status, Status::Solved, "{what}");
    assert!(report.residual.relative <= 1e-8, "{what}: {:?}", report.residual);
    assert!(report.solution.iter().all(|&z| z >= 0.0), "{what}");
    true
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance, "{what}: entry {i} is {a}, expected {b}");
    }
}

#[test]
fn p_matrices_are_solved_to_their_only_solution_by_both_variants() {
    let mut random = Random(1);
    for n in SIZES {
        for _ in 0..if n < 64 { 10 } else { 2 } {
            let m = random.matrix(n, n, 1.0, 0.1);
            let (z, w) = random.pair(n, 0.0);
            let lcp = problem(m, &z, &w);
            for variant in VARIANTS {
                let report = run(&lcp, variant);
                let what = format!("{variant:?}, n = {n}");
                assert_eq!(report.status, Status::Solved, "{what}: {:?}", report.certificate);
                assert_near(&report.solution, &z, 1e-10, &what);
                assert!(report.residual.relative < 1e-13, "{what}: {:?}", report.residual);
                let active: Vec<usize> = (0..n).filter(|&i| z[i] > 0.0).collect();
                assert_eq!(report.certificate, Certificate::Basis { active }, "{what}");
            }
        }
    }
}

#[test]
fn a_solution_with_many_zero_pairs_is_found_exactly() {
    let mut random = Random(2);
    for n in SIZES {
        for share in [0.3, 0.7, 1.0] {
            let m = random.matrix(n, n, 1.0, 0.1);
            let (z, w) = random.pair(n, share);
            let lcp = problem(m, &z, &w);
            for variant in VARIANTS {
                let report = run(&lcp, variant);
                let what = format!("{variant:?}, n = {n}, {share} degenerate");
                assert_eq!(report.status, Status::Solved, "{what}");
                assert!(matches!(report.certificate, Certificate::Basis { .. }), "{what}");
                assert_near(&report.solution, &z, 1e-10, &what);
            }
        }
    }
}

/// All solutions of a monotone problem with symmetric `M` share `w`.
#[test]
fn singular_monotone_problems_are_solved_with_the_w_that_all_solutions_share() {
    let mut random = Random(3);
    for n in SIZES {
        for share in [0.0, 0.5] {
            let m = random.matrix(n, n.div_ceil(2), 0.0, 0.0);
            let (z, w) = random.pair(n, share);
            let lcp = problem(m, &z, &w);
            for variant in VARIANTS {
                let report = run(&lcp, variant);
                let what = format!("{variant:?}, n = {n}, {share} degenerate");
                if !is_solved(&report, variant, &what) {
                    continue;
                }
                // near a degenerate solution w errs by the root of the residual where no basis is found
                let tolerance = if report.residual.relative < 1e-12 { 1e-10 } else { 1e-6 };
                assert_near(&lcp.slack(&report.solution), &w, tolerance * n as f64, &what);
            }
        }
    }
}

/// Such are the optimality systems of linear programs, `M = [0 -A'; A 0]`.
#[test]
fn skew_problems_are_solved() {
    let mut random = Random(4);
    for n in [2, 10, 40] {
        for _ in 0..5 {
            let m = random.matrix(n, 0, 1.0, 0.0);
            let (z, w) = random.pair(n, 0.0);
            let lcp = problem(m, &z, &w);
            for variant in VARIANTS {
                let report = run(&lcp, variant);
                if is_solved(&report, variant, &format!("{variant:?}, n = {n}")) {
                    assert!(report.residual.relative < 1e-12);
                }
            }
        }
    }
}

#[test]
fn sixteen_decades_of_symmetric_scaling_change_nothing() {
    let mut random = Random(5);
    for n in SIZES {
        let d: Vec<f64> = (0..n).map(|_| 10f64.powf(4.0 * random.draw())).collect();
        let m = random.matrix(n, n, 1.0, 0.1);
        let (z, w) = random.pair(n, 0.0);
        let scaled = Matrix::from_fn(n, n, |i, j| d[i] * m[(i, j)] * d[j]);
        let z_scaled: Vec<f64> = z.iter().zip(&d).map(|(z, d)| z / d).collect();
        let w_scaled: Vec<f64> = w.iter().zip(&d).map(|(w, d)| w * d).collect();
        let lcp = problem(scaled, &z_scaled, &w_scaled);
        for variant in VARIANTS {
            let report = run(&lcp, variant);
            let what = format!("{variant:?}, n = {n}");
            assert_eq!(report.status, Status::Solved, "{what}: {:?}", report.certificate);
            let back: Vec<f64> = report.solution.iter().zip(&d).map(|(z, d)| z * d).collect();
            assert_near(&back, &z, 1e-9, &what);
        }
    }
}

/// Here the solution is near 1 in the badly scaled variables: the gap must fall far before the basis shows.
#[test]
fn bad_scaling_against_the_solution_still_ends_on_its_basis() {
    let mut random = Random(6);
    for n in [5, 20, 50] {
        for _ in 0..5 {
            let d: Vec<f64> = (0..n).map(|_| 10f64.powf(4.0 * random.draw())).collect();
            let m = random.matrix(n, n, 1.0, 0.1);
            let m = Matrix::from_fn(n, n, |i, j| d[i] * m[(i, j)] * d[j]);
            let (z, w) = random.pair(n, 0.0);
            let lcp = problem(m, &z, &w);
            for variant in VARIANTS {
                let report = run(&lcp, variant);
                assert_eq!(report.status, Status::Solved, "{variant:?}, n = {n}: {:?}", report.certificate);
                assert!(report.residual.relative < 1e-8, "{variant:?}, n = {n}: {:?}", report.residual);
            }
        }
    }
}

#[test]
fn an_empty_interior_is_said_to_be_empty_and_does_not_stop_the_infeasible_variant() {
    // w_1 = 0 whatever z: no strictly feasible point, but z = (anything, 1) solves
    let lcp = Lcp::new(Matrix::from_rows(&[&[0.0, 0.0], &[0.0, 1.0]]), vec![0.0, -1.0]).unwrap();
    let report = run(&lcp, Variant::Feasible);
    assert_eq!(report.status, Status::Stalled);
    let Certificate::Stopped { reason, .. } = &report.certificate else { panic!("{:?}", report.certificate) };
    assert!(reason.contains("no strictly feasible point"), "{reason}");
    assert!(report.residual.absolute.is_infinite() && report.solution.is_empty());

    let report = run(&lcp, Variant::PredictorCorrector);
    assert_eq!(report.status, Status::Solved, "{:?}", report.certificate);
    assert!((report.solution[1] - 1.0).abs() < 1e-12);
}

#[test]
fn a_problem_without_a_solution_is_never_called_solved() {
    let problems = [
        (Matrix::from_rows(&[&[-1.0]]), vec![-1.0]),
        (Matrix::from_rows(&[&[0.0]]), vec![-1.0]),
        (Matrix::from_rows(&[&[0.0, -1.0], &[-1.0, 0.0]]), vec![-1.0, -1.0]),
        (Matrix::from_rows(&[&[0.0, 1.0], &[0.0, 0.0]]), vec![-1.0, -1e-3]),
    ];
    for (m, q) in problems {
        let lcp = Lcp::new(m, q).unwrap();
        for variant in VARIANTS {
            let report = run(&lcp, variant);
            assert_eq!(report.status, Status::Stalled, "{variant:?} {lcp:?}");
            assert!(matches!(report.certificate, Certificate::Stopped { .. }));
            assert!(report.solution.iter().all(|z| z.is_finite()));
        }
    }
}

#[test]
fn a_nonnegative_q_needs_no_step() {
    let lcp = Lcp::new(Matrix::from_rows(&[&[-1.0, 3.0], &[2.0, -5.0]]), vec![0.0, 2.0]).unwrap();
    let empty = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
    for variant in VARIANTS {
        let report = run(&lcp, variant);
        assert_eq!((report.status, report.iterations), (Status::Solved, 0));
        assert_eq!(report.solution, [0.0, 0.0]);
        assert_eq!(run(&empty, variant).status, Status::Solved);
    }
}

#[test]
fn the_limit_on_iterations_is_kept_and_named_and_every_step_is_heard() {
    let mut random = Random(7);
    let m = random.matrix(30, 30, 1.0, 0.1);
    let (z, w) = random.pair(30, 0.0);
    let lcp = problem(m, &z, &w);
    for variant in VARIANTS {
        let mut heard = 0;
        let settings = Settings {
            variant,
            max_iterations: 2,
            max_start_steps: 0,
            // else the end, tried where the limit falls, finds the solution by exchanges
            max_exchanges: 0,
            max_doubtful: 0,
            ..Settings::default()
        };
        let report = solve(&lcp, &settings, &mut Budget::default(), &mut |p| {
            heard += 1;
            assert_eq!((p.solver, p.iterations), ("interior-point", heard));
        });
        assert_eq!((report.status, report.iterations, heard), (Status::Stalled, 2, 2));
        let Certificate::Stopped { reason, .. } = &report.certificate else { panic!() };
        assert!(reason.contains("limit"), "{reason}");
        assert!(report.residual.absolute.is_finite());
    }
}

#[test]
fn a_setting_out_of_range_is_named() {
    let lcp = Lcp::new(Matrix::identity(1), vec![-1.0]).unwrap();
    let report =
        solve(&lcp, &Settings { eta: 1.5, ..Settings::default() }, &mut Budget::default(), &mut |_| ());
    assert_eq!(report.status, Status::Stalled);
    let Certificate::Stopped { reason, .. } = &report.certificate else { panic!() };
    assert!(reason.contains("eta = 1.5"), "{reason}");
}

/// Contacts of boxes with unit mass and inertia, all pressed down and pushed sideways: contact `c` holds box
/// `upper` at the corner `point` of its lower face against box `lower`, or the ground.
fn contacts(
    random: &mut Random,
    boxes: usize,
    list: &[(usize, Option<usize>, [f64; 2])],
    mu: f64,
) -> FrictionProblem {
    let mut j = Matrix::zeros(3 * list.len(), 6 * boxes);
    for (c, &(upper, lower, [x, y])) in list.iter().enumerate() {
        // rows n, t, o over (v, omega): (u, p x u)
        for (row, u) in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].iter().enumerate() {
            for (body, sign, p) in [(Some(upper), 1.0, [x, y, -1.0]), (lower, -1.0, [x, y, 1.0])] {
                let Some(body) = body else { continue };
                let turn = [p[1] * u[2] - p[2] * u[1], p[2] * u[0] - p[0] * u[2], p[0] * u[1] - p[1] * u[0]];
                for k in 0..3 {
                    j[(3 * c + row, 6 * body + k)] = sign * u[k];
                    j[(3 * c + row, 6 * body + 3 + k)] = sign * turn[k];
                }
            }
        }
    }
    let v: Vec<f64> =
        (0..6 * boxes).map(|k| if k % 6 == 2 { -1.0 } else { 0.0 } + 0.3 * random.draw()).collect();
    let a =
        Matrix::from_fn(j.rows(), j.rows(), |r, s| j.row(r).iter().zip(j.row(s)).map(|(a, b)| a * b).sum());
    FrictionProblem::new(a, j.times(&v), vec![mu; list.len()], 3, Friction::Pyramid).expect("finite numbers")
}

/// Each box stands with one corner on the box below: the rows of `J` are independent, as Theorem 3 asks.
#[test]
fn slack_problems_of_independent_contacts_with_small_friction_are_solved_as_theorem_3_says() {
    let mut random = Random(8);
    for count in [1usize, 2, 5, 12, 20] {
        for mu in [0.01, 0.05, 0.1] {
            let list: Vec<_> =
                (0..count).map(|k| (k, k.checked_sub(1), [random.draw(), random.draw()])).collect();
            let problem = contacts(&mut random, count, &list, mu);
            let slack = problem.as_slack_lcp().unwrap();
            let mut forces = vec![];
            for variant in VARIANTS {
                let report = run(&slack.problem, variant);
                let what = format!("{variant:?}, {count} boxes, mu = {mu}");
                assert_eq!(report.status, Status::Solved, "{what}: {:?}", report.certificate);
                let lambda = slack.forces(&report.solution);
                let judged = residual::friction(&problem, &lambda);
                assert!(judged.relative < 1e-12, "{what}: {judged:?}");
                forces.push(lambda);
            }
            assert_near(&forces[0], &forces[1], 1e-9, "both variants find the same forces");
        }
    }
}

/// A point mass pressed with 1 and pushed sideways with `push`: sticks below `mu`, else slides at the limit.
#[test]
fn a_point_mass_sticks_or_slides_at_the_limit() {
    for (push, expected) in [(0.2, -0.2), (0.9, -0.5)] {
        let problem =
            FrictionProblem::new(Matrix::identity(2), vec![-1.0, push], vec![0.5], 2, Friction::Pyramid)
                .unwrap();
        let slack = problem.as_slack_lcp().unwrap();
        for variant in VARIANTS {
            let report = run(&slack.problem, variant);
            assert_near(&slack.forces(&report.solution), &[1.0, expected], 1e-14, "forces");
        }
    }
}

#[test]
fn redundant_rigid_contacts_share_a_load_that_satisfies_the_law() {
    let mut random = Random(9);
    for mu in [0.05, 0.3, 0.8] {
        let corners = [[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]];
        let list: Vec<_> = (0..8).map(|c| (c / 4, (c / 4usize).checked_sub(1), corners[c % 4])).collect();
        let problem = contacts(&mut random, 2, &list, mu);
        let slack = problem.as_slack_lcp().unwrap();
        for variant in VARIANTS {
            let report = run(&slack.problem, variant);
            assert_eq!(report.status, Status::Solved, "{variant:?}, mu = {mu}: {:?}", report.certificate);
            let judged = residual::friction(&problem, &slack.forces(&report.solution));
            assert!(judged.relative < 1e-12, "{variant:?}, mu = {mu}: {judged:?}");
        }
    }
}

fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -1.0..1.0f64,
        1 => Just(0.0),
        1 => (-300.0..300.0f64, proptest::bool::ANY).prop_map(|(e, s)| if s { 10f64.powf(e) } else { -10f64.powf(e) }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_numbers_nothing_but_checked_solutions_is_called_solved(
        n in 1usize..6,
        entries in proptest::collection::vec(wild(), 42),
    ) {
        let m = Matrix::from_fn(n, n, |i, j| entries[i * n + j]);
        let lcp = Lcp::new(m, entries[n * n..n * n + n].to_vec()).unwrap();
        for variant in VARIANTS {
            let report = run(&lcp, variant);
            prop_assert!(report.solution.iter().all(|z| z.is_finite()));
            prop_assert!(!report.residual.relative.is_nan());
            if report.status == Status::Solved {
                prop_assert!(residual::lcp(&lcp, &report.solution).relative <= 1e-8);
            } else {
                let stopped = matches!(report.certificate, Certificate::Stopped { .. });
                prop_assert!(stopped);
            }
        }
    }
}
