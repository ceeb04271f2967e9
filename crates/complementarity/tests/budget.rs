//! Every solver ends when the stop flag is raised or its work is used up, and says so.

use crate::families;

use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, FrictionProblem, Lcp, MixedLcp};
use complementarity::report::{Certificate, Progress, Report, Status};
use complementarity::solver::portfolio::{self, solve_friction, solve_lcp, solve_mixed};
use complementarity::solver::{Budget, End, Method, Solver, decide, interior_point, lemke};
use families::Uniform;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// Longest time between the flag and the end: a factorisation of a few hundred rows, on a busy machine.
const SOON: Duration = Duration::from_millis(250);

/// An LCP whose matrix is of no class that a method is made for. Its mean is a little above zero: the relaxations of the tree are feasible, and solutions are rare.
fn hard(n: usize) -> Lcp {
    let mut u = Uniform(n as u64);
    let m = Matrix::from_fn(n, n, |_, _| u.signed() + 0.05);
    let q = (0..n).map(|_| -u.next()).collect();
    Lcp::new(m, q).expect("a valid problem")
}

/// Contacts in the plane with a matrix of no class.
fn hard_contacts(contacts: usize) -> FrictionProblem {
    let lcp = hard(2 * contacts);
    let (a, b) = (lcp.matrix().clone(), lcp.vector().to_vec());
    FrictionProblem::new(a, b, vec![0.8; contacts], 2, Friction::Pyramid).expect("a valid problem")
}

fn end_of(report: &Report) -> Option<End> {
    match report.certificate {
        Certificate::Stopped { end, .. } => Some(end),
        _ => None,
    }
}

/// Raises the flag while `solve` is at work.
fn is_interrupted_soon(name: &str, solve: impl FnOnce(Budget) -> Option<End>) {
    let stop = Arc::new(AtomicBool::new(false));
    let budget = Budget { stop: Some(stop.clone()), ..Budget::default() };
    let raise = spawn(move || {
        sleep(Duration::from_millis(50));
        stop.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let end = solve(budget);
    let ended = Instant::now();
    let late = ended.saturating_duration_since(raise.join().expect("no panic"));
    assert_eq!(end, Some(End::Interrupted), "{name}");
    assert!(late < SOON, "{name}: {late:?} after the flag");
}

/// Runs `solve` with little work allowed, twice: it ends at the limit, after the same iterations.
fn is_limited(name: &str, rows: u64, solve: impl Fn(&mut Budget) -> Report) {
    let run = || {
        let mut budget = Budget { rows, stop: None };
        let report = solve(&mut budget);
        assert_eq!(budget.rows, 0, "{name}");
        report
    };
    let report = run();
    assert_eq!((report.status.is_decided(), end_of(&report)), (false, Some(End::Limit)), "{name}");
    assert_eq!(run().iterations, report.iterations, "{name}");
}

fn unwatched(_: Progress) {}

#[test]
fn a_raised_flag_ends_methods_for_lcps() {
    let large = hard(600);
    is_interrupted_soon("lemke", |mut budget| {
        end_of(&lemke::solve_within(&large, &lemke::Settings::default(), &mut budget, &mut unwatched))
    });
    for variant in [interior_point::Variant::Feasible, interior_point::Variant::PredictorCorrector] {
        let settings = interior_point::Settings { variant, ..Default::default() };
        is_interrupted_soon("interior point", |mut budget| {
            end_of(&interior_point::solve(&large, &settings, &mut budget, &mut unwatched))
        });
    }
    for (all, n) in [(false, 600), (false, 100), (true, 100)] {
        let (problem, settings) = (MixedLcp::from(&hard(n)), decide::Settings { all, ..Default::default() });
        is_interrupted_soon("decide", |mut budget| {
            end_of(&decide::solve(&problem, &settings, &mut budget, &mut unwatched))
        });
    }
}

#[test]
fn a_raised_flag_ends_the_portfolio() {
    let settings = |budget, method| portfolio::Settings { method, budget, ..Default::default() };
    let (large, contacts) = (hard(600), hard_contacts(100));
    for method in [Method::Auto, Method::Lemke, Method::InteriorPoint, Method::Decide] {
        is_interrupted_soon("lcp", |budget| {
            end_of(&solve_lcp(&large, &settings(budget, method), &mut unwatched))
        });
    }
    is_interrupted_soon("mixed", |budget| {
        end_of(&solve_mixed(&(&large).into(), &settings(budget, Method::Auto), &mut unwatched))
    });
    for method in [Method::Auto, Method::Lemke, Method::Decide] {
        is_interrupted_soon("contacts", |budget| {
            end_of(&solve_friction(&contacts, &settings(budget, method), &mut unwatched))
        });
    }
}

/// What a step of a simulation calls.
#[test]
fn a_raised_flag_ends_every_solver_of_contacts() {
    let problem = hard_contacts(150);
    for method in Method::ALL.into_iter().filter(|&method| method != Method::VelocityNewton) {
        let stop = Arc::new(AtomicBool::new(true));
        let mut solver = Solver::new(method, 1e-8);
        solver.set_budget(Budget { stop: Some(stop), ..Budget::default() });
        let begin = Instant::now();
        let outcome = solver.solve(problem.view(), &mut vec![0.0; problem.size()], &mut vec![]).unwrap();
        assert_eq!(outcome.end, End::Interrupted, "{method}");
        assert!(begin.elapsed() < SOON, "{method}: {:?}", begin.elapsed());
    }
}

#[test]
fn a_budget_that_is_used_up_is_a_limit() {
    let problem = hard(100);
    is_limited("lemke", 10_000, |budget| {
        lemke::solve_within(&problem, &lemke::Settings::default(), budget, &mut unwatched)
    });
    for variant in [interior_point::Variant::Feasible, interior_point::Variant::PredictorCorrector] {
        let settings = interior_point::Settings { variant, ..Default::default() };
        is_limited("interior point", 20_000, |budget| {
            interior_point::solve(&problem, &settings, budget, &mut unwatched)
        });
    }
    let problem = MixedLcp::from(&hard(80));
    for all in [false, true] {
        let settings = decide::Settings { all, ..Default::default() };
        is_limited("decide", 100_000, |budget| decide::solve(&problem, &settings, budget, &mut unwatched));
    }
}

/// Random bases pivot in twos where the diagonal vanishes, and may not be left between.
#[test]
fn lemke_ends_wherever_its_budget_does() {
    let n = 12;
    let mut u = Uniform(1);
    let m = Matrix::from_fn(n, n, |i, j| if i == j { 0.0 } else { u.signed() });
    let problem = Lcp::new(m, (0..n).map(|_| -u.next()).collect()).expect("a valid problem");
    for rows in 0..5_000 {
        let mut budget = Budget { rows, stop: None };
        let report = lemke::solve_within(&problem, &lemke::Settings::default(), &mut budget, &mut unwatched);
        assert!(report.status == Status::Solved || budget.rows == 0, "{rows}: {}", report.status);
    }
}

/// The proof of a problem without solution is checked within the budget too: an unchecked proof is none.
#[test]
fn a_proof_that_was_not_checked_is_not_claimed() {
    // w_i = -z_i - 1 for each pair
    let n = 12;
    let m = Matrix::from_fn(n, n, |i, j| if i == j { -1.0 } else { 0.0 });
    let problem = MixedLcp::from(&Lcp::new(m, vec![-1.0; n]).unwrap());
    let decided = |rows: u64| {
        let mut budget = Budget { rows, stop: None };
        let report = decide::solve(&problem, &decide::Settings::default(), &mut budget, &mut unwatched);
        (report, rows - budget.rows)
    };
    let (report, used) = decided(u64::MAX);
    assert_eq!(report.status, Status::NoSolution);
    assert_eq!(decided(used + 1).0.status, Status::NoSolution);
    // a leaf that was begun is checked to its end
    for rows in 0..=used - n as u64 {
        let (report, _) = decided(rows);
        assert_eq!(report.status, Status::Undecided, "{rows} of {used}");
        assert_eq!(end_of(&report), Some(End::Limit), "{rows} of {used}");
    }
}
