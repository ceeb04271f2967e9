//! Lemke's method on LCPs with known answers.

use crate::families;

use complementarity::matrix::Matrix;
use complementarity::problem::Lcp;
use complementarity::report::{Certificate, Status};
use complementarity::solver::End;
use complementarity::solver::lemke::{self, Lemke, Settings};
use families::{Family, Known, build, known, murty};
use proptest::prelude::*;

fn lcp(m: &[&[f64]], q: &[f64]) -> Lcp {
    Lcp::new(Matrix::from_rows(m), q.to_vec()).expect("finite")
}

fn check_known(family: Family, p: &Known) -> Result<(), TestCaseError> {
    let report = lemke::solve(&p.lcp, &Settings::default());
    prop_assert_eq!(report.status, Status::Solved, "{:?}: {:?}", family, report);
    if p.unique {
        for (i, z) in report.solution.iter().enumerate() {
            let error = (z - p.z[i]).abs() / p.scale[i];
            prop_assert!(error < 1e-7, "{family:?}: z[{i}] = {z}, constructed {}", p.z[i]);
        }
    }
    if family != Family::BadlyScaled {
        prop_assert!(report.residual.relative < 1e-12, "{:?}", report.residual);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn solves_every_family_it_is_guaranteed_on((family, p) in known(24)) {
        check_known(family, &p)?;
    }

    /// A solve that starts from the solution's own basis takes no pivot.
    #[test]
    fn warm_start_at_the_solution_needs_no_pivot(n in 1usize..16, seed: u64) {
        let p = build(Family::Positive, n, seed);
        let mut lemke = Lemke::new(Settings::default());
        let cold = lemke.solve(&p.lcp, None, &mut |_| ());
        prop_assert_eq!(cold.end, End::Solved);
        let (active, z) = (lemke.active().to_vec(), lemke.solution().to_vec());
        let warm = lemke.solve(&p.lcp, Some(&active), &mut |_| ());
        prop_assert_eq!((warm.end, warm.pivots), (End::Solved, 0));
        prop_assert_eq!(lemke.solution(), &z[..]);
    }

    /// Any starting basis leads to the one solution of a P-matrix.
    #[test]
    fn every_starting_basis_leads_to_the_solution_of_a_p_matrix(n in 1usize..16, seed: u64, start: u64) {
        let p = build(Family::Degenerate, n, seed);
        let active: Vec<usize> = (0..n).filter(|i| start >> i & 1 == 1).collect();
        let mut lemke = Lemke::new(Settings::default());
        let outcome = lemke.solve(&p.lcp, Some(&active), &mut |_| ());
        prop_assert_eq!((outcome.end, outcome.starts <= 1), (End::Solved, true));
        for (z, known) in lemke.solution().iter().zip(&p.z) {
            prop_assert!((z - known).abs() < 1e-7);
        }
    }
}

#[test]
fn large_problems_keep_their_accuracy() {
    for (n, family) in [(200, Family::Positive), (150, Family::Degenerate), (200, Family::Singular)] {
        let p = build(family, n, 7);
        let report = lemke::solve(&p.lcp, &Settings::default());
        assert_eq!(report.status, Status::Solved);
        assert!(report.residual.relative < 1e-12, "{:?}", report.residual);
    }
}

/// z = (1, 0, ..): w_i = -1 + 2 for i > 0.
#[test]
fn murtys_example_is_solved() {
    for n in [1, 2, 8, 12] {
        let report = lemke::solve(&murty(n), &Settings::default());
        assert_eq!(report.status, Status::Solved);
        let mut expected = vec![0.0; n];
        expected[0] = 1.0;
        assert_eq!(report.solution, expected);
    }
}

#[test]
fn a_ray_is_reported_with_its_direction() {
    // w = -z - 1 < 0 for every z >= 0
    let report = lemke::solve(&lcp(&[&[-1.0]], &[-1.0]), &Settings::default());
    assert_eq!(report.status, Status::Stalled);
    let Certificate::Ray { direction, covering, starts } = &report.certificate else {
        panic!("{report:?}");
    };
    assert_eq!(*starts, Settings::default().starts);
    // along a secondary ray w stays >= 0: M dz + c dz0 >= 0 with dz, dz0 >= 0, not both 0
    assert!(direction[0] > 0.0 && *covering > 0.0);
    assert!(report.residual.relative > 0.1);
}

#[test]
fn nonnegative_q_is_solved_by_zero_without_a_pivot() {
    let report = lemke::solve(&lcp(&[&[0.0, -1.0], &[3.0, 0.0]], &[0.0, 2.0]), &Settings::default());
    assert_eq!(
        (report.status, report.iterations, &report.solution[..]),
        (Status::Solved, 0, &[0.0, 0.0][..])
    );
    assert_eq!(
        lemke::solve(&Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap(), &Settings::default()).status,
        Status::Solved
    );
}

#[test]
fn a_limit_of_pivots_is_said() {
    let p = build(Family::Positive, 40, 3);
    let settings = Settings { max_pivots: Some(3), starts: 2, ..Settings::default() };
    let report = lemke::solve(&p.lcp, &settings);
    assert_eq!((report.status, report.iterations), (Status::Stalled, 6));
    assert!(
        matches!(&report.certificate, Certificate::Stopped { reason, .. } if reason.contains("limit of pivots"))
    );
}

/// All rows tie in every ratio test: without a rule for ties the path can cycle.
#[test]
fn fully_degenerate_problems_end() {
    for n in [2, 5, 20, 60] {
        // M = e e' + I, q = -e: by symmetry z = e / (n + 1)
        let m = Matrix::from_fn(n, n, |i, j| if i == j { 2.0 } else { 1.0 });
        let report = lemke::solve(&Lcp::new(m, vec![-1.0; n]).unwrap(), &Settings::default());
        assert_eq!(report.status, Status::Solved);
        for z in report.solution {
            assert!((z - 1.0 / (n as f64 + 1.0)).abs() < 1e-14);
        }
    }
}
