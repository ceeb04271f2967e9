//! Certificates: forces that are not determined, and what the theorems promise, on systems that can be done by hand.
#![allow(clippy::unwrap_used, reason = "tests")]

use complementarity::certificate::{Certificate, Existence, Settings, examine};
use complementarity::matrix::{Matrix, dot};
use complementarity::problem::{Friction, FrictionProblem};
use complementarity::residual;
use complementarity::solver::cone_interior_point::ConeInteriorPoint;
use complementarity::solver::portfolio::{self, solve_friction};

/// A body of mass 1 and moments of inertia 1 on feet at height -1; rows n, t, o. `load`: force (x, y, z) and moment.
fn on_feet(feet: &[[f64; 2]], load: [f64; 6], mu: f64) -> FrictionProblem {
    let mut j = Matrix::zeros(3 * feet.len(), 6);
    for (c, &[x, y]) in feet.iter().enumerate() {
        let p = [x, y, -1.0];
        for (d, axis) in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].iter().enumerate() {
            for i in 0..3 {
                let (k, l) = ((i + 1) % 3, (i + 2) % 3);
                j[(3 * c + d, i)] = axis[i];
                j[(3 * c + d, 3 + i)] = p[k] * axis[l] - p[l] * axis[k];
            }
        }
    }
    let a = Matrix::from_fn(j.rows(), j.rows(), |r, c| dot(j.row(r), j.row(c)));
    FrictionProblem::new(a, j.times(&load), vec![mu; feet.len()], 3, Friction::Cone).unwrap()
}

const WEIGHT: [f64; 6] = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0];
const TABLE: [[f64; 2]; 4] = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
const TRIPOD: [[f64; 2]; 3] = [[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]];

fn solved(p: &FrictionProblem) -> (Vec<f64>, Certificate) {
    let mut lambda = vec![0.0; p.size()];
    let mut solver = ConeInteriorPoint::default();
    solver.settings.tolerance = 1e-10;
    let outcome = solver.solve(p.as_cone().unwrap(), &mut lambda);
    assert!(outcome.is_solved(), "{outcome:?}");
    let certificate = examine(p, Some(&lambda), &Settings::default());
    (lambda, certificate)
}

#[test]
fn rigid_table_with_four_legs_shares_its_weight_in_a_family_of_one_dimension() {
    let (lambda, found) = solved(&on_feet(&TABLE, WEIGHT, 0.0));
    let forces = found.forces.unwrap();
    assert_eq!((forces.dimension, forces.dimension_at_most), (1, 1));
    assert_eq!(forces.undetermined, [0, 1, 2, 3]);
    assert!(!forces.isolated);
    assert_eq!(found.rank.unwrap().rank, 6);
    assert_eq!(found.existence, Existence::ForThisVector);
    let bound = found.uniqueness.unwrap();
    assert!(!bound.holds && bound.mu_bar == 0.0, "{bound:?}");
    // the family is (1, -1, 1, -1): a step along it is a solution too
    let mut other = lambda;
    (0..4).for_each(|c| other[3 * c] += 0.1 * if c % 2 == 0 { 1.0 } else { -1.0 });
    assert!(residual::friction(&on_feet(&TABLE, WEIGHT, 0.0), &other).relative < 1e-8);
}

/// All four feet stick: 12 forces, 6 balances.
#[test]
fn rigid_table_that_sticks_leaves_six_dimensions() {
    let (_, found) = solved(&on_feet(&TABLE, WEIGHT, 0.5));
    assert_eq!(found.forces.unwrap().dimension, 6);
}

/// `A + A K A` with `K = -K'` has the null space of `A` and moves bodies at rest no otherwise, but is not symmetric: other decompositions, same findings.
#[test]
fn a_matrix_that_is_not_symmetric_leaves_the_same_forces_undetermined() {
    for mu in [0.0, 0.5] {
        let p = on_feet(&TABLE, WEIGHT, mu);
        let (lambda, found) = solved(&p);
        let a = p.operator().to_dense();
        let n = a.rows();
        let sides = Matrix::from_fn(n, n, |i, j| {
            (0..n).map(|k| a[(i, k)] * (a[(k + 1 - 2 * (k % 2), j)]) * [1.0, -1.0][k % 2]).sum()
        });
        let turned = Matrix::from_fn(n, n, |i, j| a[(i, j)] + 1e-3 * sides[(i, j)]);
        let b: Vec<f64> = (0..n).map(|i| p.vector()[i] - 1e-3 * dot(sides.row(i), &lambda)).collect();
        let p = FrictionProblem::new(turned, b, vec![mu; 4], 3, Friction::Cone).unwrap();
        assert!(residual::friction(&p, &lambda).relative < 1e-9);
        let other = examine(&p, Some(&lambda), &Settings::default());
        assert_eq!(other.rank, found.rank);
        let (other, forces) = (other.forces.unwrap(), found.forces.unwrap());
        assert!(forces.dimension > 0);
        assert_eq!((other.dimension, other.undetermined), (forces.dimension, forces.undetermined));
    }
}

#[test]
fn tripod_without_friction_has_one_distribution_of_forces() {
    let (_, found) = solved(&on_feet(&TRIPOD, WEIGHT, 0.0));
    let forces = found.forces.unwrap();
    assert_eq!((forces.dimension, forces.dimension_at_most), (0, 0));
    assert!(forces.isolated && forces.undetermined.is_empty());
}

/// A sliding tripod: friction follows the normal forces, and those are determined.
#[test]
fn sliding_tripod_is_isolated_though_its_matrix_is_singular() {
    let (lambda, found) = solved(&on_feet(&TRIPOD, [1.0, 0.0, -1.0, 0.0, 0.0, 0.0], 0.2));
    assert!((0..3).all(|c| lambda[3 * c] > 0.01), "{lambda:?}");
    let forces = found.forces.unwrap();
    assert!(forces.isolated, "{forces:?}");
    assert_eq!(found.rank.unwrap().rank, 6);
}

/// A point mass in the plane between two walls that stand at 45 degrees each: two contacts of two rows on two speeds. While both stick,
/// two dimensions of squeezing are free; without friction the walls share the weight in one way.
#[test]
fn wedge_with_friction_holds_an_undetermined_squeeze() {
    let r = 0.5f64.sqrt();
    let j = Matrix::from_rows(&[&[r, r], &[r, -r], &[-r, r], &[r, r]]);
    let a = Matrix::from_fn(4, 4, |i, k| dot(j.row(i), j.row(k)));
    let wedge = |mu: f64| {
        FrictionProblem::new(a.clone(), j.times(&[0.0, -1.0]), vec![mu; 2], 2, Friction::Cone).unwrap()
    };
    let (_, found) = solved(&wedge(0.5));
    let forces = found.forces.unwrap();
    assert_eq!((forces.dimension, &forces.undetermined[..]), (2, &[0, 1][..]));
    let (lambda, found) = solved(&wedge(0.0));
    assert!((lambda[0] - r).abs() < 1e-9 && (lambda[2] - r).abs() < 1e-9);
    assert!(found.forces.unwrap().isolated);
}

/// Compliant contacts, A > 0: a solution exists for every b and mu, and below mu_bar it is the only one.
#[test]
fn compliant_contacts_have_a_solution_and_for_small_friction_one() {
    // A = diag(1, 1, 1): sigma = eta, so that mu_bar = 1
    let one = |mu: f64| {
        FrictionProblem::new(Matrix::identity(3), vec![-1.0, 0.3, 0.0], vec![mu], 3, Friction::Cone).unwrap()
    };
    let (_, found) = solved(&one(0.9));
    let bound = found.uniqueness.unwrap();
    assert!((bound.mu_bar - 1.0).abs() < 1e-12 && bound.holds);
    assert_eq!(found.existence, Existence::Always);
    assert!(!solved(&one(1.1)).1.uniqueness.unwrap().holds);
    // the square reaches out to sqrt(2)
    let square = one(0.9).with_friction(Friction::Pyramid).unwrap();
    let bound = examine(&square, None, &Settings::default()).uniqueness.unwrap();
    assert!((bound.mu_bar - 0.5f64.sqrt()).abs() < 1e-12 && !bound.holds);
}

/// One contact in the plane with strong coupling: two solutions above the bound, so that the bound is no mere formality.
#[test]
fn the_bound_lies_below_the_friction_at_which_a_second_solution_appears() {
    // s_n = l_n + c l_t + b_n: with c large, sliding can press the contact
    let p = |mu: f64| {
        let a = Matrix::from_rows(&[&[1.0, 0.9], &[0.9, 1.0]]);
        FrictionProblem::new(a, vec![0.2, 1.0], vec![mu], 2, Friction::Pyramid).unwrap()
    };
    let count = |mu: f64| {
        let settings = portfolio::Settings { all: true, ..Default::default() };
        match solve_friction(&p(mu), &settings, &mut |_| {}).certificate {
            complementarity::report::Certificate::Solutions { pieces, .. } => pieces.len(),
            other => panic!("{other:?}"),
        }
    };
    let bound = examine(&p(0.5), None, &Settings::default()).uniqueness.unwrap().mu_bar;
    assert!(bound > 0.05 && bound < 1.0, "{bound}");
    assert_eq!(count(0.99 * bound), 1);
    assert!(count(2.0) > 1);
}

#[test]
fn polygons_and_ellipsoids_are_examined_too() {
    let table = on_feet(&TABLE, WEIGHT, 0.5);
    let weight = [0.25, 0.0, 0.0].repeat(4);
    for friction in [Friction::Pyramid, Friction::Polygon { sides: 8 }, Friction::Ellipsoid] {
        let p = table.clone().with_friction(friction).unwrap();
        assert!(residual::friction(&p, &weight).relative < 1e-12);
        let found = examine(&p, Some(&weight), &Settings::default());
        assert_eq!(found.forces.unwrap().dimension, 6, "{friction:?}");
    }
    // slip along a corner of the octagon (t axis): one direction a foot; 4 unknowns, 3 balances
    let slides = on_feet(&TABLE, [0.5, 0.0, -1.0, 0.0, 0.0, 0.0], 0.1);
    let octagon = slides.clone().with_friction(Friction::Polygon { sides: 8 }).unwrap();
    let lambda = solve_friction(&octagon, &portfolio::Settings::default(), &mut |_| {}).solution;
    let found = examine(&octagon, Some(&lambda), &Settings::default());
    assert_eq!(found.forces.unwrap().dimension, 1);
    assert_eq!(solved(&slides).1.forces.unwrap().dimension, 1);
}

#[test]
fn large_and_unsolved_problems_say_why_they_are_not_examined() {
    let table = on_feet(&TABLE, WEIGHT, 0.5);
    let small = Settings { most_rows: 11, ..Settings::default() };
    let found = examine(&table, None, &small);
    assert!(found.rank.is_none() && found.reason.unwrap().contains("12 rows"));
    let found = examine(&table, None, &Settings::default());
    assert!(found.forces.is_none() && found.rank.is_some() && found.reason.is_some());
    // a load that no contact force can answer: b outside the range of A
    let p = FrictionProblem::new(Matrix::zeros(2, 2), vec![-1.0, 0.0], vec![0.5], 2, Friction::Cone).unwrap();
    assert_eq!(examine(&p, None, &Settings::default()).existence, Existence::NotCovered);
}

/// Without friction as with it: a number where `A` is positive definite, zero where it is not.
#[test]
fn bound_of_uniqueness_is_never_infinite() {
    for mu in [0.0, 0.5] {
        for (a, mu_bar) in [(Matrix::identity(3), 1.0), (Matrix::zeros(3, 3), 0.0)] {
            let p = FrictionProblem::new(a, vec![0.0; 3], vec![mu], 3, Friction::Cone).unwrap();
            let bound = examine(&p, None, &Settings::default()).uniqueness.unwrap();
            assert_eq!((bound.mu_bar, bound.holds), (mu_bar, mu_bar > 0.0));
        }
    }
}

/// A body pressed together a little by two planes has nowhere to go, and no theorem says that it has.
#[test]
fn existence_is_not_promised_where_the_vector_leaves_the_range_by_little() {
    let a = |i: usize, j: usize| match (i, j) {
        (0, 3) | (3, 0) => -1.0,
        _ if i % 3 == j % 3 => 1.0,
        _ => 0.0,
    };
    for pressed in [1e-3, 1e-5, 1e-7] {
        let b = vec![-pressed, 1.0, 0.0, -pressed, 1.0, 0.0];
        let p = FrictionProblem::new(Matrix::from_fn(6, 6, a), b, vec![0.3; 2], 3, Friction::Cone).unwrap();
        assert_eq!(examine(&p, None, &Settings::default()).existence, Existence::NotCovered, "{pressed:e}");
    }
}
