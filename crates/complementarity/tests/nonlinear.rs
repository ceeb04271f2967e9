//! Mixed nonlinear complementarity problems: the classical ones, limits, and boxed mixed LCPs.

use crate::classical;

use complementarity::matrix::Matrix;
use complementarity::problem::{BoxedLcp, Nonlinear, SparseRows, derivative_error};
use complementarity::report::{Certificate, Status};
use complementarity::residual;
use complementarity::solver::newton_lemke::{NewtonLemke, Settings, solve};
use complementarity::solver::portfolio::{self, solve_boxed};
use complementarity::solver::{Budget, End, Method};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// The table of docs/complementarity.md: run with `--nocapture`.
#[test]
fn classical_problems_are_solved_from_a_hundred_random_starts() {
    println!("| problem | variables | solved | iterations, median | worst residual |");
    println!("| --- | --- | --- | --- | --- |");
    let mut shares = vec![];
    for problem in classical::all() {
        let (mut seed, mut solved, mut worst, mut iterations) = (7, 0, 0.0f64, vec![]);
        for _ in 0..100 {
            let [from, to] = problem.starts;
            let start: Vec<f64> =
                (0..problem.size()).map(|_| from + (to - from) * random(&mut seed)).collect();
            let report = solve(&problem, &start, &Settings::default()).unwrap();
            if report.status == Status::Solved {
                solved += 1;
                iterations.push(report.iterations);
                worst = worst.max(report.residual.relative);
                assert!((problem.known)(&report.solution), "{}: {:?}", problem.name, report.solution);
                // the residual is that of the answer, computed afresh
                assert_eq!(report.residual, residual::nonlinear(&problem, &report.solution));
            } else {
                assert!(matches!(report.certificate, Certificate::Stopped { .. }));
            }
        }
        iterations.sort_unstable();
        let median = iterations.get(iterations.len() / 2).copied().unwrap_or(0);
        println!("| {} | {} | {solved} | {median} | {worst:.0e} |", problem.name, problem.size());
        shares.push((problem.name, solved));
    }
    for (name, solved) in shares {
        assert!(solved == 100, "{name}: {solved} of 100");
    }
}

#[test]
fn derivatives_agree_with_differences() {
    let mut seed = 3;
    for problem in classical::all() {
        let [from, to] = problem.starts;
        let z: Vec<f64> =
            (0..problem.size()).map(|_| from + (to - from) * (0.2 + 0.6 * random(&mut seed))).collect();
        let error = derivative_error(&problem, &z);
        assert!(error < 1e-6, "{}: {error:e}", problem.name);
    }
}

/// `z^2 + 1 = 0` has no solution, and the report says that nothing was found, and why.
struct Hopeless;

impl Nonlinear for Hopeless {
    fn lower(&self) -> &[f64] {
        &[f64::NEG_INFINITY]
    }
    fn upper(&self) -> &[f64] {
        &[f64::INFINITY]
    }
    fn value(&self, z: &[f64], f: &mut [f64]) {
        f[0] = z[0] * z[0] + 1.0;
    }
    fn jacobian(&self, z: &[f64], j: &mut SparseRows) {
        j.clear();
        j.begin();
        j.add(0, 2.0 * z[0]);
    }
}

#[test]
fn a_problem_without_solution_stalls_with_a_cause() {
    let report = solve(&Hopeless, &[3.0], &Settings::default()).unwrap();
    assert_eq!(report.status, Status::Stalled);
    assert!(report.residual.relative > 0.1);
    let Certificate::Stopped { end, reason } = report.certificate else { panic!() };
    assert!(matches!(end, End::Stalled | End::Limit) && !reason.is_empty(), "{end:?} {reason}");
}

#[test]
fn budget_and_stop_flag_end_a_solve() {
    let problem = classical::all().swap_remove(3);
    let stop = Budget { stop: Some(Arc::new(AtomicBool::new(true))), ..Budget::default() };
    for (budget, expected) in [(stop, End::Interrupted), (Budget { rows: 10, stop: None }, End::Limit)] {
        let mut solver = NewtonLemke::new(Settings::default(), budget);
        let report = solver.solve(&problem, &[1.0; 15], &mut |_| ()).unwrap();
        let Certificate::Stopped { end, .. } = report.certificate else { panic!("{report:?}") };
        assert_eq!(end, expected);
    }
    let none = Settings { max_iterations: 1, restarts: 0, ..Settings::default() };
    let report = solve(&problem, &[1.0; 15], &none).unwrap();
    assert!(matches!(report.certificate, Certificate::Stopped { end: End::Limit, .. }));
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let m = Matrix::identity(2);
    let boxed = |l: [f64; 2], u: [f64; 2]| BoxedLcp::new(m.clone(), vec![0.0; 2], l.to_vec(), u.to_vec());
    assert_eq!(
        boxed([0.0, 2.0], [1.0, 1.0]).unwrap_err().to_string(),
        "u[1] = 1, expected at least l of the same row"
    );
    assert_eq!(
        boxed([f64::NAN, 0.0], [1.0, 1.0]).unwrap_err().to_string(),
        "l[0] = NaN, expected a number or -inf"
    );
    assert!(solve(&Hopeless, &[f64::NAN], &Settings::default()).is_err());
    assert!(solve(&Hopeless, &[], &Settings::default()).is_err());
}

/// Random boxed problems with a positive definite matrix have one solution; all methods and Newton-Lemke find it, and it is that
/// of a projected Gauss-Seidel iteration.
#[test]
fn boxed_problems_are_solved_by_all_methods_alike() {
    let mut seed = 11;
    for n in [1, 3, 8, 20] {
        for _ in 0..10 {
            let b = Matrix::from_fn(n, n, |_, _| 2.0 * random(&mut seed) - 1.0);
            let m = Matrix::from_fn(n, n, |i, j| {
                (0..n).map(|k| b[(i, k)] * b[(j, k)]).sum::<f64>() + f64::from(u8::from(i == j)) * 0.3
            });
            let q: Vec<f64> = (0..n).map(|_| 4.0 * random(&mut seed) - 2.0).collect();
            let (mut l, mut u) = (vec![0.0; n], vec![f64::INFINITY; n]);
            for i in 0..n {
                match (5.0 * random(&mut seed)) as usize {
                    0 => l[i] = f64::NEG_INFINITY,
                    1 => (l[i], u[i]) = (f64::NEG_INFINITY, 0.3),
                    2 => (l[i], u[i]) = (-0.5, 0.4),
                    3 => (l[i], u[i]) = (0.2, 0.2),
                    _ => (),
                }
            }
            let problem = BoxedLcp::new(m.clone(), q.clone(), l.clone(), u.clone()).unwrap();
            let mut z = vec![0.0; n];
            for _ in 0..5000 {
                for i in 0..n {
                    let w: f64 = (0..n).map(|j| m[(i, j)] * z[j]).sum::<f64>() + q[i];
                    z[i] = (z[i] - w / m[(i, i)]).clamp(l[i], u[i]);
                }
            }
            for method in [Method::Auto, Method::Lemke, Method::Decide, Method::InteriorPoint] {
                let settings = portfolio::Settings { method, ..Default::default() };
                let report = solve_boxed(&problem, &settings, &mut |_| ());
                assert_eq!(report.status, Status::Solved, "{method} n = {n}: {report:?}");
                assert!(report.residual.relative <= 1e-8);
                (0..n).for_each(|i| assert!((report.solution[i] - z[i]).abs() < 1e-6, "{method}: {i}"));
            }
            let report = solve(&problem, &vec![0.0; n], &Settings::default()).unwrap();
            assert_eq!(report.status, Status::Solved, "{report:?}");
            (0..n).for_each(|i| assert!((report.solution[i] - z[i]).abs() < 1e-6, "newton-lemke: {i}"));
        }
    }
}

/// `w = -z + 3` with `0 <= z <= 2` has three solutions in the box `[0, 5]`: ends and middle; in `[0, 2]` one.
#[test]
fn all_solutions_of_a_box_are_listed() {
    let settings = portfolio::Settings { all: true, ..Default::default() };
    let boxed = |u: f64| BoxedLcp::new(Matrix::from_rows(&[&[-1.0]]), vec![3.0], vec![0.0], vec![u]).unwrap();
    let points = |u: f64| {
        let report = solve_boxed(&boxed(u), &settings, &mut |_| ());
        let Certificate::Solutions { pieces, complete } = report.certificate else { panic!("{report:?}") };
        assert!(complete);
        let mut points: Vec<f64> = pieces.iter().map(|p| p.point[0]).collect();
        points.sort_by(f64::total_cmp);
        points
    };
    assert_eq!(points(5.0), [0.0, 3.0, 5.0]);
    assert_eq!(points(2.0), [0.0]);
    // an upper bound alone turns the sign: -5 <= ... no solution below, proved
    let none =
        BoxedLcp::new(Matrix::from_rows(&[&[0.0]]), vec![1.0], vec![f64::NEG_INFINITY], vec![0.0]).unwrap();
    assert_eq!(solve_boxed(&none, &portfolio::Settings::default(), &mut |_| ()).status, Status::NoSolution);
}

/// Coulomb's cone as a mixed NCP (trinkle1995 (27)-(29)): per contact `0 <= l_n _|_ s_n >= 0`, `mu l_n s_t + sigma l_t = 0` and
/// `0 <= sigma _|_ (mu l_n)^2 - |l_t|^2 >= 0`, with `s = A l + b`; z = (l, sigma).
struct Cone {
    a: Matrix,
    b: Vec<f64>,
    mu: f64,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Cone {
    fn contacts(&self) -> usize {
        self.b.len() / 3
    }
}

impl Nonlinear for Cone {
    fn lower(&self) -> &[f64] {
        &self.lower
    }

    fn upper(&self) -> &[f64] {
        &self.upper
    }

    fn value(&self, z: &[f64], f: &mut [f64]) {
        let n = 3 * self.contacts();
        let s: Vec<f64> = self.a.times(&z[..n]).iter().zip(&self.b).map(|(s, b)| s + b).collect();
        for c in 0..self.contacts() {
            let (k, sigma) = (3 * c, z[n + c]);
            f[k] = s[k];
            (1..3).for_each(|i| f[k + i] = self.mu * z[k] * s[k + i] + sigma * z[k + i]);
            f[n + c] = (self.mu * z[k]).powi(2) - z[k + 1].powi(2) - z[k + 2].powi(2);
        }
    }

    fn jacobian(&self, z: &[f64], j: &mut SparseRows) {
        let n = 3 * self.contacts();
        let s: Vec<f64> = self.a.times(&z[..n]).iter().zip(&self.b).map(|(s, b)| s + b).collect();
        j.clear();
        for row in 0..n {
            let k = row - row % 3;
            j.begin();
            let factor = if row == k { 1.0 } else { self.mu * z[k] };
            (0..n).for_each(|i| j.add(i, factor * self.a[(row, i)]));
            if row != k {
                j.add(k, self.mu * s[row]);
                j.add(row, z[n + k / 3]);
                j.add(n + k / 3, z[row]);
            }
        }
        for c in 0..self.contacts() {
            let k = 3 * c;
            j.begin();
            j.add(k, 2.0 * self.mu * self.mu * z[k]);
            (1..3).for_each(|i| j.add(k + i, -2.0 * z[k + i]));
        }
    }
}

/// The cone methods and the mixed NCP agree, sticking and slipping.
#[test]
fn the_cone_as_a_mixed_ncp_checks_the_cone_methods() {
    use complementarity::problem::{Friction, FrictionProblem};
    let (mut seed, mut slips, mut sticks) = (21, 0, 0);
    for contacts in [1, 2, 4] {
        for _ in 0..10 {
            let n = 3 * contacts;
            let g = Matrix::from_fn(n, n, |_, _| 2.0 * random(&mut seed) - 1.0);
            let a = Matrix::from_fn(n, n, |i, j| {
                0.1 * (0..n).map(|k| g[(i, k)] * g[(j, k)]).sum::<f64>() + f64::from(u8::from(i == j))
            });
            let b: Vec<f64> =
                (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 1.5 * (random(&mut seed) - 0.5) }).collect();
            let p =
                FrictionProblem::new(a.clone(), b.clone(), vec![0.4; contacts], 3, Friction::Cone).unwrap();
            let known = portfolio::solve_friction(
                &p,
                &portfolio::Settings { tolerance: 1e-12, ..Default::default() },
                &mut |_| (),
            );
            assert_eq!(known.status, Status::Solved);
            let s = p.speed(&known.solution);
            for c in 0..contacts {
                let slip = s[3 * c + 1].hypot(s[3 * c + 2]);
                if slip > 1e-6 { slips += 1 } else { sticks += 1 }
            }
            let mut lower = vec![f64::NEG_INFINITY; n + contacts];
            (0..contacts).for_each(|c| (lower[3 * c], lower[n + c]) = (0.0, 0.0));
            let upper = vec![f64::INFINITY; n + contacts];
            let cone = Cone { a, b, mu: 0.4, lower, upper };
            let mut start = vec![0.0; n + contacts];
            (0..contacts).for_each(|c| (start[3 * c], start[n + c]) = (1.0, 0.5));
            assert!(derivative_error(&cone, &start.iter().map(|x| x + 0.1).collect::<Vec<_>>()) < 1e-7);
            let report = solve(&cone, &start, &Settings::default()).unwrap();
            assert_eq!(report.status, Status::Solved, "{report:?}");
            for i in 0..n {
                assert!(
                    (report.solution[i] - known.solution[i]).abs() < 1e-7,
                    "{i}: {report:?} {:?}",
                    known.solution
                );
            }
        }
    }
    assert!(slips > 5 && sticks > 5, "{slips} {sticks}");
}
