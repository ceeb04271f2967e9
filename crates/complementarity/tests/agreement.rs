//! All solvers on all problems agree.

use crate::families;

use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, FrictionProblem, Lcp, MixedLcp};
use complementarity::report::{Certificate, Report, Status};
use complementarity::residual;
use complementarity::solver::portfolio::{Settings, solve_friction, solve_lcp, solve_mixed};
use complementarity::solver::{Budget, End, Method};
use complementarity::solver::{decide, interior_point, lemke};
use families::{ALL, Family, build};

const METHODS: [Method; 4] = [Method::Auto, Method::Lemke, Method::InteriorPoint, Method::Decide];

fn solve(lcp: &Lcp, method: Method) -> Report {
    solve_lcp(lcp, &Settings { method, ..Settings::default() }, &mut |_| ())
}

#[test]
fn all_solvers_solve_all_families_and_agree_where_the_solution_is_unique() {
    for family in ALL {
        for n in [1, 2, 3, 5, 8, 13, 21] {
            for seed in 0..8 {
                let p = build(family, n, seed);
                for method in METHODS {
                    // positive matrices are not P0: the interior point has no guarantee there
                    if method == Method::InteriorPoint && family == Family::Copositive {
                        continue;
                    }
                    let report = solve(&p.lcp, method);
                    let name = format!("{family:?}, n = {n}, seed {seed}, {method:?}");
                    assert_eq!(report.status, Status::Solved, "{name}: {:?}", report.certificate);
                    assert_eq!(report.residual, residual::lcp(&p.lcp, &report.solution), "{name}");
                    if p.unique {
                        for (i, z) in report.solution.iter().enumerate() {
                            let apart = (z - p.z[i]).abs() / p.scale[i];
                            assert!(apart < 1e-6, "{name}: z[{i}] off by {apart:e}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_has_no_solution_is_solved_by_none_and_proved_by_decide() {
    let problems = [
        (vec![-1.0], vec![-1.0]),
        (vec![0.0], vec![-1.0]),
        // w_1 + w_2 = -1/2 whatever z is
        (vec![-1.0, 1.0, 1.0, -1.0], vec![-1.0, 0.5]),
    ];
    for (m, q) in problems {
        let n = q.len();
        let lcp = Lcp::new(Matrix::from_data(n, n, m).expect("square"), q).expect("finite");
        for method in [Method::Lemke, Method::InteriorPoint] {
            assert_eq!(solve(&lcp, method).status, Status::Stalled);
        }
        for method in [Method::Auto, Method::Decide] {
            let report = solve(&lcp, method);
            assert_eq!(report.status, Status::NoSolution, "{report:?}");
            let Certificate::NoSolution(proof) = &report.certificate else { panic!("{report:?}") };
            let radius = decide::verify(&MixedLcp::from(&lcp), proof).expect("the proof holds");
            assert!(proof.radius <= radius);
        }
    }
}

#[test]
fn both_interior_point_variants_and_lemke_agree_on_a_large_problem() {
    let p = build(Family::Positive, 120, 5);
    let pivoted = lemke::solve(&p.lcp, &lemke::Settings::default());
    for variant in [interior_point::Variant::Feasible, interior_point::Variant::PredictorCorrector] {
        let settings = interior_point::Settings { variant, ..Default::default() };
        let inner = interior_point::solve(&p.lcp, &settings, &mut Budget::default(), &mut |_| ());
        for (a, b) in inner.solution.iter().zip(&pivoted.solution) {
            assert!((a - b).abs() < 1e-9);
        }
    }
}

/// w_0 = z_0 + z_1 - 3 = 0 with z_0 free, w_1 = -z_0 + z_1 + 1 _|_ z_1: z = (2, 1).
#[test]
fn all_solvers_agree_on_a_mixed_problem() {
    let m = Matrix::from_rows(&[&[1.0, 1.0], &[-1.0, 1.0]]);
    let p = MixedLcp::new(m, vec![-3.0, 1.0], vec![false, true]).expect("valid");
    for method in METHODS {
        let report = solve_mixed(&p, &Settings { method, ..Settings::default() }, &mut |_| ());
        assert_eq!(report.status, Status::Solved, "{method:?}");
        for (z, known) in report.solution.iter().zip([2.0, 1.0]) {
            assert!((z - known).abs() < 1e-9, "{method:?}: {z}");
        }
    }
}

/// Two unit masses: one flies off, one sticks. The slack LCP has a continuum (the two halves of the open
/// contact's tangential acceleration), the forces are unique.
#[test]
fn solutions_of_a_friction_problem_are_told_apart_by_their_forces() {
    let b = vec![1.0, 0.3, 0.0, -2.0, 0.5, 0.0];
    let p = FrictionProblem::new(Matrix::identity(6), b, vec![0.5; 2], 3, Friction::Pyramid).expect("valid");
    let report = solve_friction(&p, &Settings { all: true, ..Settings::default() }, &mut |_| ());
    assert_eq!(report.status, Status::Solved, "{report:?}");
    for (force, known) in report.solution.iter().zip([0.0, 0.0, 0.0, 2.0, -0.5, 0.0]) {
        assert!((force - known).abs() < 1e-12, "{report:?}");
    }
    let Certificate::Solutions { pieces, complete } = &report.certificate else { panic!("{report:?}") };
    assert!(*complete && pieces.len() == 1 && pieces[0].dimension == 0 && !pieces[0].unbounded);
}

/// A mass between two walls, pressed by both at will: the forces are not unique, and that is said.
#[test]
fn forces_that_are_not_unique_are_reported_as_a_continuum() {
    // normals +1 and -1 of one coordinate, planar; tangents likewise
    let j = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
    let a = Matrix::from_fn(4, 4, |r, c| j[r][0] * j[c][0] + j[r][1] * j[c][1]);
    let p = FrictionProblem::new(a, vec![0.0; 4], vec![0.5; 2], 2, Friction::Pyramid).expect("valid");
    let report = solve_friction(&p, &Settings { all: true, ..Settings::default() }, &mut |_| ());
    assert_eq!(report.status, Status::Several);
    let Certificate::Solutions { pieces, .. } = &report.certificate else { panic!("{report:?}") };
    // equal normal forces and equal tangential ones: a cone of dimension 2
    assert!(pieces.iter().any(|p| p.dimension == 2 && p.unbounded), "{pieces:?}");
}

/// A table of four legs: the shares of the load are not unique, but no leg can carry more than the weight.
#[test]
fn a_hyperstatic_table_has_bounded_continua_of_forces() {
    let legs = [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]];
    // normal rows of a plate: height and two tilts; tangents share nothing
    let a = Matrix::from_fn(8, 8, |i, j| match (i % 2, j % 2) {
        (0, 0) => 1.0 + 6.0 * (legs[i / 2][0] * legs[j / 2][0] + legs[i / 2][1] * legs[j / 2][1]),
        (1, 1) => 1.0,
        _ => 0.0,
    });
    let b = (0..8).map(|i| if i % 2 == 0 { -9.81 } else { 0.0 }).collect();
    let p = FrictionProblem::new(a, b, vec![0.5; 4], 2, Friction::Pyramid).expect("valid");
    let report = solve_friction(&p, &Settings { all: true, ..Settings::default() }, &mut |_| ());
    assert_eq!(report.status, Status::Several);
    let Certificate::Solutions { pieces, .. } = &report.certificate else { panic!("{report:?}") };
    assert!(pieces.iter().all(|p| !p.unbounded), "{pieces:?}");
}

/// Nearly singular positive definite matrices have one solution, however far away: it may be missed, but must never be
/// denied.
#[test]
fn a_far_solution_is_never_denied() {
    let mut u = families::Uniform(17);
    for power in 6..=12 {
        for n in [2, 4, 10] {
            for _ in 0..40 {
                let b = Matrix::from_fn(n / 2, n, |_, _| u.signed());
                let m = Matrix::from_fn(n, n, |i, j| {
                    let gram: f64 = (0..n / 2).map(|r| b[(r, i)] * b[(r, j)]).sum();
                    gram + if i == j { 10f64.powi(-power) } else { 0.0 }
                });
                let q = (0..n).map(|_| u.signed()).collect();
                let lcp = Lcp::new(m, q).expect("finite");
                for method in [Method::Auto, Method::Decide] {
                    let report = solve(&lcp, method);
                    assert_ne!(report.status, Status::NoSolution, "n = {n}, 1e-{power}, {method:?}");
                }
            }
        }
    }
}

#[test]
fn a_mixed_problem_without_pairs_is_a_linear_system() {
    let m = Matrix::from_rows(&[&[2.0, 1.0], &[1.0, 2.0]]);
    let p = MixedLcp::new(m, vec![-1.0, 1.0], vec![false, false]).expect("valid");
    for method in METHODS {
        let report = solve_mixed(&p, &Settings { method, ..Settings::default() }, &mut |_| ());
        assert_eq!(report.status, Status::Solved, "{method:?}");
        assert!((report.solution[0] - 1.0).abs() < 1e-12 && (report.solution[1] + 1.0).abs() < 1e-12);
    }
}

#[test]
fn numbers_that_overflow_are_an_answer_not_a_panic() {
    for (a, b, mu) in [(1e300, 1.0, 1e10), (1.0, 1.0, 1.7e308), (1.0, 1.7e308, 0.5), (1.7e308, 1.0, 0.5)] {
        let matrix = Matrix::from_fn(3, 3, |_, _| a);
        for friction in [Friction::Pyramid, Friction::Polygon { sides: 8 }] {
            let p =
                FrictionProblem::new(matrix.clone(), vec![-b, b, b], vec![mu], 3, friction).expect("finite");
            let report = solve_friction(&p, &Settings::default(), &mut |_| ());
            assert!(report.status != Status::Solved || report.residual.relative <= 1e-8, "{report:?}");
        }
    }
}

/// In stiff units a wrong guess has a small residual; it must not pass for a warm start.
#[test]
fn a_wrong_warm_start_is_not_accepted_for_its_units() {
    let m = Matrix::from_rows(&[&[1e12, 0.5e12], &[0.5e12, 1e12]]);
    let lcp = Lcp::new(m, vec![-1.0, 5.0]).expect("finite");
    let mut solver = lemke::Lemke::default();
    let outcome = solver.solve(&lcp, Some(&[0, 1]), &mut |_| ());
    assert_eq!(outcome.end, End::Solved);
    assert!((solver.solution()[0] - 1e-12).abs() < 1e-24 && solver.solution()[1] == 0.0);
}

/// Two solutions, told apart by a constant of 1e-9 of the largest: the list may not call itself complete.
#[test]
fn a_list_of_solutions_is_not_complete_where_constants_are_tiny() {
    let m = Matrix::from_rows(&[&[1.0, 0.0], &[0.0, -1.0]]);
    let lcp = Lcp::new(m, vec![-1e9, 1.0]).expect("finite");
    let report = solve_lcp(&lcp, &Settings { all: true, ..Settings::default() }, &mut |_| ());
    assert!(matches!(report.certificate, Certificate::Solutions { complete: false, .. }), "{report:?}");
}
