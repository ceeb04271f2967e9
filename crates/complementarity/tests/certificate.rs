//! Certificates: forces that are not determined, and what the theorems promise, on systems that can be done by hand.

use complementarity::certificate::{Certificate, Direction, Existence, Settings, examine};
use complementarity::matrix::{Matrix, dot, norm};
use complementarity::problem::{Friction, FrictionProblem};
use complementarity::residual;
use complementarity::solver::cone_interior_point::ConeInteriorPoint;
use complementarity::solver::portfolio::{self, solve_friction};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

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
    let outcome = solver.solve(p.view(), &mut lambda);
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

/// Least distance of the forces of closed contacts from the surface of their cone, along any direction of length 1; slipping ones: from the apex.
fn room(p: &FrictionProblem, lambda: &[f64]) -> f64 {
    let rows = p.rows_per_contact().unwrap();
    let s = p.speed(lambda);
    let largest = lambda.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let of = |c: usize| {
        let (l, s) = (&lambda[rows * c..][..rows], &s[rows * c..][..rows]);
        let axes: Vec<f64> =
            if p.axes_of(c).is_empty() { vec![1.0; rows - 1] } else { p.axes_of(c).to_vec() };
        let gauge = l[1..].iter().zip(&axes).filter(|(_, e)| **e > 0.0).map(|(l, e)| (l / e).powi(2));
        let least = axes.iter().filter(|e| **e > 0.0).fold(1.0f64, |m, e| m.min(*e));
        match p.mu()[c] {
            _ if l[0] < 1e-6 * largest => f64::INFINITY,
            mu if norm(&s[1..]) < 1e-6 => (mu * l[0] - gauge.sum::<f64>().sqrt()) / (mu + 1.0 / least),
            _ => l[0],
        }
    };
    (0..p.contacts()).map(of).fold(f64::INFINITY, f64::min)
}

/// The basis is orthonormal, moves no body, and forces that move along it, as far as cones allow, are a solution.
fn check_basis(p: &FrictionProblem, lambda: &[f64]) -> Vec<Direction> {
    let forces = examine(p, Some(lambda), &Settings::default()).forces.unwrap();
    let basis = forces.basis.unwrap();
    assert_eq!(basis.len(), forces.dimension);
    let vectors: Vec<Vec<f64>> = basis.iter().map(|d| d.to_rows(p.offsets())).collect();
    let (a, step) = (p.matrix(), 0.9 * room(p, lambda));
    for (i, v) in vectors.iter().enumerate() {
        for (j, w) in vectors.iter().enumerate() {
            assert!((dot(v, w) - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j}");
        }
        assert!(norm(&a.times(v)) < 1e-8 * norm(a.data()), "{:e}", norm(&a.times(v)));
        for sign in [1.0, -1.0] {
            let other: Vec<f64> = lambda.iter().zip(v).map(|(l, v)| l + sign * step * v).collect();
            let found = residual::friction(p, &other);
            assert!(basis[i].one_sided || found.relative < 1e-8, "{found:?} {step:e}");
        }
    }
    basis
}

#[test]
fn legs_of_a_table_take_from_each_other_crosswise() {
    let p = on_feet(&TABLE, WEIGHT, 0.0);
    let basis = check_basis(&p, &solved(&p).0);
    assert_eq!((basis[0].contacts.clone(), basis[0].one_sided), (vec![0, 1, 2, 3], false));
    let crosswise = [0.5, -0.5, 0.5, -0.5].map(|n| [n, 0.0, 0.0]).concat();
    assert!(basis[0].change.iter().zip(crosswise).all(|(a, b)| (a - b).abs() < 1e-12), "{basis:?}");
    // all six directions where it sticks, and what slides together keeps the one across
    assert_eq!(check_basis(&on_feet(&TABLE, WEIGHT, 0.5), &[0.25, 0.0, 0.0].repeat(4)).len(), 6);
    let p = on_feet(&TABLE, [0.5, 0.0, -1.0, 0.0, 0.0, 0.0], 0.1);
    let lambda = solved(&p).0;
    let basis = check_basis(&p, &lambda);
    for (v, l) in basis[0].change.chunks_exact(3).zip(lambda.chunks_exact(3)) {
        assert!((v[1] / v[0] - l[1] / l[0]).abs() < 1e-6, "along the force");
    }
}

/// A sphere between two walls hangs by friction, and the walls squeeze it as they like.
#[test]
fn walls_squeeze_a_sphere_as_they_like() {
    let mut j = Matrix::zeros(6, 6);
    for (c, x) in [-1.0, 1.0].into_iter().enumerate() {
        // normals towards the centre; t = y, o = z turn it about z and y
        j[(3 * c, 0)] = -x;
        (j[(3 * c + 1, 1)], j[(3 * c + 1, 5)]) = (1.0, 2.5 * x);
        (j[(3 * c + 2, 2)], j[(3 * c + 2, 4)]) = (1.0, -2.5 * x);
    }
    let a = Matrix::from_fn(6, 6, |r, c| dot(j.row(r), j.row(c)));
    let b = j.times(&[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    let p = FrictionProblem::new(a, b, vec![0.5; 2], 3, Friction::Cone).unwrap();
    let basis = check_basis(&p, &[2.0, 0.0, 0.5, 2.0, 0.0, 0.5]);
    let half = 0.5f64.sqrt();
    let squeeze = [half, 0.0, 0.0, half, 0.0, 0.0];
    assert_eq!(basis.len(), 1);
    assert!(basis[0].change.iter().zip(squeeze).all(|(a, b)| (a - b).abs() < 1e-12), "{basis:?}");
}

/// Two legs carry all, the other two only touch: these can take load, not give it.
#[test]
fn from_an_edge_the_way_leads_inwards() {
    let p = on_feet(&TABLE, WEIGHT, 0.0);
    let lambda = [0.5, 0.0, 0.0, 0.0, 0.0, 0.0].repeat(2);
    let basis = check_basis(&p, &lambda);
    assert!(basis.len() == 1 && basis[0].one_sided && basis[0].change[3] > 0.0, "{basis:?}");
    let other: Vec<f64> =
        lambda.iter().zip(basis[0].to_rows(p.offsets())).map(|(l, v)| l + 0.5 * v).collect();
    assert!(residual::friction(&p, &other).relative < 1e-12);
    // slip along t under the square, of two feet that are one: friction may be anywhere on its side, from a corner one way only
    let p = on_feet(&[[0.0, 0.0]; 2], [1.0, 0.0, -1.0, 0.0, -1.0, 0.0], 0.2).with_friction(Friction::Pyramid);
    let side = |o: f64| {
        let lambda = [0.5, -0.1, o, 0.5, -0.1, -o];
        assert!(residual::friction(p.as_ref().unwrap(), &lambda).relative < 1e-12);
        examine(p.as_ref().unwrap(), Some(&lambda), &Settings::default()).forces.unwrap()
    };
    assert_eq!((side(0.02).dimension, side(0.02).edge.len()), (2, 0));
    assert_eq!((side(0.1).dimension, side(0.1).dimension_at_most, side(0.1).edge.len()), (2, 2, 2));
}

/// A torsion pad of no size has no moment to be undetermined; other axes are in the units as posed.
#[test]
fn a_basis_under_ellipsoids_is_in_the_forces_as_posed() {
    for (axes, expected) in
        [([1.0, 0.5], 12 - 6), ([2.0, 0.1], 12 - 6), ([1.0, 0.0], 8 - 5), ([0.0, 0.0], 4 - 3)]
    {
        // unknowns less balances; the push acts at the height of the feet
        let push = if axes[0] > 0.0 { 0.04 } else { 0.0 };
        let p = on_feet(&TABLE, [-push, 0.0, -1.0, 0.0, push, 0.0], 0.5);
        let lambda = &[0.25, push / 4.0, 0.0].repeat(4)[..];
        let p = p.with_axes(axes.repeat(4)).unwrap();
        assert!(residual::friction(&p, lambda).relative < 1e-12, "{axes:?}");
        let basis = check_basis(&p, lambda);
        assert_eq!(basis.len(), expected, "{axes:?}");
    }
}

#[test]
fn a_basis_that_is_too_large_is_left_out_and_that_is_said() {
    let p = on_feet(&TABLE, WEIGHT, 0.5);
    let lambda = [0.25, 0.0, 0.0].repeat(4);
    let at_most =
        |most_basis: usize| examine(&p, Some(&lambda), &Settings { most_basis, ..Settings::default() });
    assert!(at_most(72).forces.unwrap().basis.is_some());
    let found = at_most(71);
    assert!(found.reason.unwrap().contains("more than 71 numbers"));
    let forces = found.forces.unwrap();
    assert!(forces.basis.is_none() && forces.dimension == 6);
}

/// A body on fifty feet, solved by sweeps and Newton: nearly all are at an edge, and all can be led inwards at once. What sticks on feet has 3 n - 6 dimensions.
#[test]
fn many_contacts_at_an_edge_are_led_inwards() {
    let feet: Vec<[f64; 2]> = (0..50).map(|k| [(1.7 * k as f64).sin(), (2.3 * k as f64).cos()]).collect();
    let p = on_feet(&feet, [0.1, 0.05, -1.0, 0.0, 0.0, 0.02], 0.5);
    let settings = portfolio::Settings { tolerance: 1e-12, ..Default::default() };
    let report = solve_friction(&p, &settings, &mut |_| {});
    let forces = examine(&p, Some(&report.solution), &Settings::default()).forces.unwrap();
    assert!(forces.edge.len() > 20, "{}", forces.edge.len());
    assert_eq!((forces.dimension, forces.dimension_at_most), (144, 144));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Bodies on feet anywhere, pushed anyhow: whatever sticks, slips or lifts off.
    #[test]
    fn forces_moved_along_the_basis_are_solutions(
        feet in prop::collection::vec(prop::array::uniform2(-2.0..2.0f64), 1..8),
        push in prop::array::uniform3(-0.5..0.5f64), mu in 0.0..1.0f64,
    ) {
        let p = on_feet(&feet, [push[0], push[1], -1.0, 0.0, 0.0, push[2]], mu);
        let mut lambda = vec![0.0; p.size()];
        let mut solver = ConeInteriorPoint::default();
        solver.settings.tolerance = 1e-11;
        let outcome = solver.solve(p.view(), &mut lambda);
        prop_assume!(outcome.is_solved() && room(&p, &lambda) > 1e-4);
        check_basis(&p, &lambda);
    }

    /// Sweeps end on the surface of cones: the first direction leads off it, and then the family has no edge.
    #[test]
    fn contacts_at_an_edge_are_led_inwards(
        feet in prop::collection::vec(prop::array::uniform2(-2.0..2.0f64), 3..8),
        push in prop::array::uniform3(-0.5..0.5f64), mu in 0.1..1.0f64,
    ) {
        let p = on_feet(&feet, [push[0], push[1], -1.0, 0.0, 0.0, push[2]], mu);
        let settings = portfolio::Settings { tolerance: 1e-12, ..Default::default() };
        let report = solve_friction(&p, &settings, &mut |_| {});
        prop_assume!(report.residual.relative < 1e-11);
        let forces = examine(&p, Some(&report.solution), &Settings::default()).forces.unwrap();
        let basis = forces.basis.unwrap();
        prop_assert_eq!(basis.len(), forces.dimension);
        if let Some(first) = basis.first().filter(|d| d.one_sided) {
            let v = first.to_rows(p.offsets());
            let works = |step: f64| {
                let other: Vec<f64> = report.solution.iter().zip(&v).map(|(l, v)| l + step * v).collect();
                residual::friction(&p, &other).relative < 1e-10
            };
            // others may be as near to an edge as they like, and steps then as short
            let near = |c: usize| {
                let l = &report.solution[3 * c..][..3];
                let free = mu * l[0] - norm(&l[1..]) < 1e-3 && !forces.edge.contains(&c);
                l[0] > 1e-7 && (l[0] < 1e-3 || free)
            };
            prop_assume!(!(0..p.contacts()).any(near));
            let step = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6].into_iter().find(|step| works(*step));
            prop_assert!(step.is_some(), "{basis:?}");
            let inside: Vec<f64> = report.solution.iter().zip(&v).map(|(l, v)| l + step.unwrap() * v).collect();
            let after = examine(&p, Some(&inside), &Settings::default()).forces.unwrap();
            prop_assert_eq!(after.dimension_at_most, forces.dimension);
        }
    }
}
