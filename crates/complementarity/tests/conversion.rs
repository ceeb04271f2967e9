//! Every form of a friction problem has the same solutions, and the judge of the original agrees.

use crate::families;

use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, FrictionProblem, LcpForm, Mode, NotConvertible, RollingLcp};
use complementarity::report::Status;
use complementarity::residual;
use complementarity::solver::lemke::{self, Settings};
use families::Uniform;
use proptest::prelude::*;

/// `A = J J' + shift`, bodies pressed on and pushed along.
fn problem(contacts: usize, rows: usize, rank: usize, shift: f64, mu: f64, seed: u64) -> FrictionProblem {
    let mut u = Uniform(seed);
    let n = contacts * rows;
    let j = Matrix::from_fn(n, rank, |_, _| u.signed());
    let a = Matrix::from_fn(n, n, |i, k| {
        (0..rank).map(|r| j[(i, r)] * j[(k, r)]).sum::<f64>() + if i == k { shift } else { 0.0 }
    });
    // b = J v lies in the range of A: with all contacts rolling a solution exists (trinkle1995 Theorem 1)
    let v: Vec<f64> = (0..rank).map(|_| u.signed()).collect();
    let b = (0..n).map(|i| (0..rank).map(|r| j[(i, r)] * v[r]).sum()).collect();
    FrictionProblem::new(a, b, vec![mu; contacts], rows, Friction::Pyramid).expect("valid")
}

fn relative(p: &FrictionProblem, lambda: &[f64]) -> f64 {
    residual::friction(p, lambda).relative
}

/// Some contacts slide in random directions.
fn with_sliding(p: FrictionProblem, seed: u64) -> FrictionProblem {
    let mut u = Uniform(seed);
    let planar = p.rows_per_contact() == Some(2);
    let modes = (0..p.contacts())
        .map(|_| {
            if u.next() < 0.5 {
                return Mode::Rolling;
            }
            let angle = std::f64::consts::TAU * u.next();
            let direction = if planar { [angle.cos().signum(), 0.0] } else { [angle.cos(), angle.sin()] };
            Mode::Sliding { direction }
        })
        .collect();
    p.with_modes(modes).expect("valid")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn forms_written_in_place_are_the_converted_ones(contacts in 1usize..5, rows in 2usize..=3, mu in 0.0..1.5f64, seed: u64) {
        let pyramid = problem(contacts, rows, 6, 0.3, mu, seed);
        let hexagon = pyramid.clone().with_friction(Friction::Polygon { sides: 6 }).unwrap();
        let sets = (0..contacts).map(|c| [Friction::Polygon { sides: 6 }, Friction::Pyramid, Friction::Polygon { sides: 4 }][c % 3]);
        let mixed = pyramid.clone().with_frictions(sets.collect()).unwrap();
        let forms = [
            (&pyramid, LcpForm::Slack, pyramid.as_slack_lcp().unwrap()),
            (&pyramid, LcpForm::Polygon, pyramid.as_polygon_lcp().unwrap()),
            (&hexagon, LcpForm::Polygon, hexagon.as_polygon_lcp().unwrap()),
            (&mixed, LcpForm::Polygon, mixed.as_polygon_lcp().unwrap()),
        ];
        for (p, form, converted) in forms {
            let mut again = RollingLcp::new(form);
            let parts = p.view();
            again.fill(parts, &p.matrix()).unwrap();
            prop_assert_eq!(again.lcp(), &converted.problem);
            let z: Vec<f64> = (0..again.lcp().size()).map(|i| (i as f64).sin()).collect();
            let mut lambda = vec![0.0; p.size()];
            again.forces(&z, &mut lambda);
            let expected = converted.forces(&z);
            prop_assert!(lambda.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14));
        }
        if rows == 2 {
            return Ok(());
        }
        let slack = RollingLcp::new(LcpForm::Slack).fill(hexagon.view(), &hexagon.matrix());
        prop_assert_eq!(slack, Err(NotConvertible::NeedsPyramid));
        let cone = hexagon.with_friction(Friction::Cone).unwrap();
        let polygon = RollingLcp::new(LcpForm::Polygon).fill(cone.view(), &cone.matrix());
        prop_assert_eq!(polygon, Err(NotConvertible::NeedsPolygon));
    }

    #[test]
    fn all_forms_solve_the_compliant_pyramid(contacts in 1usize..5, rows in 2usize..=3, mu in 0.0..1.5f64, seed: u64) {
        let p = problem(contacts, rows, 6, 0.3, mu, seed);
        let slack = p.as_slack_lcp().unwrap();
        let condensed = p.as_condensed_lcp().unwrap();
        let mixed = p.as_mixed().unwrap();
        let corners = p.as_polygon_lcp().unwrap();
        let eliminated = mixed.problem.eliminate().unwrap();
        for (name, lcp) in [("slack", &slack.problem), ("condensed", &condensed.problem),
                            ("corners", &corners.problem), ("mixed", &eliminated.lcp)] {
            let report = lemke::solve(lcp, &Settings::default());
            prop_assert_eq!(report.status, Status::Solved, "{}", name);
            let lambda = match name {
                "slack" => slack.forces(&report.solution),
                "condensed" => condensed.forces(&report.solution),
                "corners" => corners.forces(&report.solution),
                _ => {
                    let z = eliminated.recover(&report.solution);
                    prop_assert!(residual::mixed(&mixed.problem, &z).relative < 1e-10);
                    mixed.forces(&z)
                }
            };
            prop_assert!(relative(&p, &lambda) < 1e-10, "{}: {:e}", name, relative(&p, &lambda));
        }
    }

    /// More contacts than degrees of freedom: A is singular, the slack and polygon forms still serve.
    #[test]
    fn redundant_rigid_contacts_are_solved_by_slack_and_polygon(contacts in 3usize..6, k in 2usize..=8, mu in 0.0..1.0f64, seed: u64) {
        let p = problem(contacts, 3, 6, 0.0, mu, seed);
        let slack = p.as_slack_lcp().unwrap();
        let report = lemke::solve(&slack.problem, &Settings::default());
        prop_assert_eq!(report.status, Status::Solved);
        prop_assert!(relative(&p, &slack.forces(&report.solution)) < 1e-9);

        let p = p.with_friction(Friction::Polygon { sides: 2 * k }).unwrap();
        let polygon = p.as_polygon_lcp().unwrap();
        let report = lemke::solve(&polygon.problem, &Settings::default());
        prop_assert_eq!(report.status, Status::Solved);
        prop_assert!(relative(&p, &polygon.forces(&report.solution)) < 1e-9);
    }

    /// Small mu at sliding contacts: a solution exists (trinkle1995 Theorem 1 (b)).
    #[test]
    fn sliding_contacts_keep_their_direction(contacts in 1usize..5, rows in 2usize..=3, mu in 0.0..0.05f64, seed: u64) {
        let p = with_sliding(problem(contacts, rows, 8, 0.5, mu, seed), !seed);
        for converted in [p.as_slack_lcp().unwrap(), p.as_condensed_lcp().unwrap(), p.as_polygon_lcp().unwrap()] {
            let report = lemke::solve(&converted.problem, &Settings::default());
            prop_assert_eq!(report.status, Status::Solved);
            prop_assert!(relative(&p, &converted.forces(&report.solution)) < 1e-10);
        }
    }
}

/// A unit mass at rest on a plane, pushed by f in the plane over a step of 1 s: it sticks while
/// |f| <= mu g, and the k-gon's limit at 1/2 of a side is mu g cos(pi/k).
#[test]
fn polygon_limits_the_push_by_its_own_radius() {
    let g = 9.81;
    for sides in [4, 8, 16, 64] {
        let half = std::f64::consts::PI / sides as f64;
        for (heading, limit) in [(0.0, 1.0), (half, half.cos())] {
            for (push, sticks) in [(0.999 * limit, true), (1.001 * limit, false)] {
                let f = 0.5 * g * push;
                let b = vec![-g, f * f64::cos(heading), f * f64::sin(heading)];
                let p =
                    FrictionProblem::new(Matrix::identity(3), b, vec![0.5], 3, Friction::Polygon { sides })
                        .unwrap();
                let c = p.as_polygon_lcp().unwrap();
                let report = lemke::solve(&c.problem, &Settings::default());
                let speed = p.speed(&c.forces(&report.solution));
                assert_eq!(speed[1].hypot(speed[2]) < 1e-12, sticks, "{sides} sides, heading {heading}");
            }
        }
    }
}

#[test]
fn forms_that_do_not_exist_say_so() {
    let cone = problem(2, 3, 6, 0.1, 0.5, 1).with_friction(Friction::Cone).unwrap();
    assert_eq!(cone.as_slack_lcp().unwrap_err(), NotConvertible::NeedsPyramid);
    assert_eq!(cone.as_mixed().unwrap_err(), NotConvertible::NeedsPyramid);
    assert_eq!(cone.as_polygon_lcp().unwrap_err(), NotConvertible::NeedsPolygon);
    let a = Matrix::from_fn(3, 3, |i, j| if i == 0 && j == 0 { 1.0 } else { 0.0 });
    let rigid = FrictionProblem::new(a, vec![-1.0, 0.0, 0.0], vec![0.5], 3, Friction::Pyramid).unwrap();
    assert_eq!(rigid.as_condensed_lcp().unwrap_err(), NotConvertible::SingularTangentialBlock);
}

/// The free block alone is singular: pairs have to be exchanged along with it.
#[test]
fn mixed_problems_with_a_singular_free_block_are_eliminated() {
    use complementarity::problem::MixedLcp;
    // w_0 = z_1 - 1 = 0, z_0 free; w_1 = -z_0 + z_1 + 2 _|_ z_1: z_1 = 1, w_1 = 0, z_0 = 3
    let m = Matrix::from_rows(&[&[0.0, 1.0], &[-1.0, 1.0]]);
    let p = MixedLcp::new(m, vec![-1.0, 2.0], vec![false, true]).unwrap();
    let e = p.eliminate().unwrap();
    let z = e.recover(&lemke::solve(&e.lcp, &Settings::default()).solution);
    assert_eq!(z, [3.0, 1.0]);
    // nothing to pivot on
    let p = MixedLcp::new(Matrix::zeros(2, 2), vec![0.0, 1.0], vec![false, true]).unwrap();
    assert_eq!(p.eliminate().unwrap_err().variable, 0);
}
