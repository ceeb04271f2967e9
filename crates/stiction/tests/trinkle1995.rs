//! trinkle1995 section 6: the trial of Table 1, on random problems of our own.

use complementarity::problem::{MixedLcp, Mode};
use complementarity::report::{Certificate, Status};
use complementarity::residual;
use complementarity::solver::decide::verify;
use complementarity::solver::portfolio::{Settings, solve_lcp};
use stiction::random::{instants, table1};

const SEED: u64 = 1995;

/// Paper: 229 of 328 solved, "for the problems that were not solved, it is possible that they do not have solutions".
#[test]
fn every_problem_of_table_1_is_solved_or_proved_insoluble() {
    let scenes = instants(SEED);
    let (mut solved, mut insoluble) = (0, 0);
    for case in table1(SEED) {
        let place = format!("problem {} of size {}, mu = {}", case.problem, case.size, case.mu);
        let report = solve_lcp(&case.lcp.problem, &Settings::default(), &mut |_| {});
        match (report.status, &report.certificate) {
            (Status::Solved, _) => {
                solved += 1;
                let forces = case.lcp.forces(&report.solution);
                // the law itself, apart from the LCP it was turned into
                assert!(residual::friction(&case.friction, &forces).relative < 1e-8, "{place}");
                let instant = &scenes[case.problem];
                for (k, mode) in case.friction.modes().iter().enumerate() {
                    if matches!(mode, Mode::Sliding { .. }) {
                        let [_, t, o] = instant.instant().relative_velocity(k);
                        let power = t * forces[3 * k + 1] + o * forces[3 * k + 2];
                        assert!(power <= 1e-6, "{place}: friction drives contact {k}");
                    }
                }
            }
            (Status::NoSolution, Certificate::NoSolution(proof)) => {
                insoluble += 1;
                let checked = verify(&MixedLcp::from(&case.lcp.problem), proof);
                assert!(checked.is_ok_and(|radius| radius >= proof.radius), "{place}");
            }
            (status, _) => panic!("{place}: {status}"),
        }
    }
    assert_eq!((solved, insoluble), (323, 27));
}
