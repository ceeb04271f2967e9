//! Friction sets that differ from contact to contact: disc, ellipsoid, square, polygon and none in one problem.

use crate::piles;

use complementarity::certificate::{self, examine};
use complementarity::matrix::Matrix;
use complementarity::operator::Operator;
use complementarity::problem::{Element, Friction, FrictionProblem, InvalidProblem, Mode};
use complementarity::report::Status;
use complementarity::residual;
use complementarity::solver::Method;
use complementarity::solver::cone_interior_point::ConeInteriorPoint;
use complementarity::solver::portfolio::{Settings, solve_friction};
use piles::{Owned, boxes, signed, spheres, uniform};
use proptest::prelude::*;

const HEXAGON: Friction = Friction::Polygon { sides: 6 };
const SOLVERS: [Method; 5] =
    [Method::Auto, Method::GaussSeidel, Method::Newton, Method::ProximalNewton, Method::ConeInteriorPoint];

fn solve(p: &FrictionProblem, method: Method, tolerance: f64) -> Vec<f64> {
    let settings = Settings { method, tolerance, ..Settings::default() };
    let report = solve_friction(p, &settings, &mut |_| ());
    assert_eq!(report.status, Status::Solved, "{method:?}: {report:?}");
    assert!(residual::friction(p, &report.solution).relative <= tolerance, "{method:?}");
    report.solution
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Any of them.
fn any(random: &mut u64) -> Friction {
    match (uniform(random) * 4.0) as usize {
        0 => Friction::Cone,
        1 => Friction::Pyramid,
        2 => Friction::Ellipsoid,
        _ => Friction::Polygon { sides: 4 + 2 * (uniform(random) * 7.0) as usize },
    }
}

/// Contacts that all see each other: `A = G G' / n + 0.3 I`, pressed together and pushed about; sets, coefficients and axes at random.
fn dense(contacts: usize, seed: u64, sets: impl Fn(&mut u64) -> Friction) -> FrictionProblem {
    let n = 3 * contacts;
    let mut random = seed;
    let g = Matrix::from_fn(n, n, |_, _| signed(&mut random));
    let a = Matrix::from_fn(n, n, |i, j| {
        let product: f64 = (0..n).map(|k| g[(i, k)] * g[(j, k)]).sum();
        product / n as f64 + if i == j { 0.3 } else { 0.0 }
    });
    let b = (0..n).map(|i| signed(&mut random) - if i % 3 == 0 { 0.7 } else { 0.0 }).collect();
    let mu = (0..contacts).map(|c| if c % 5 == 4 { 0.0 } else { 0.4 * uniform(&mut random) }).collect();
    let sets: Vec<Friction> = (0..contacts).map(|_| sets(&mut random)).collect();
    let axis = |set: &Friction, u: f64| if *set == Friction::Ellipsoid { 0.2 + u } else { 1.0 };
    let axes: Vec<f64> =
        sets.iter().flat_map(|set| [0, 1].map(|_| axis(set, uniform(&mut random)))).collect();
    let p = FrictionProblem::new(a, b, mu, 3, Friction::Cone).unwrap();
    let p = p.with_frictions(sets.clone()).unwrap();
    if sets.contains(&Friction::Ellipsoid) { p.with_axes(axes).unwrap() } else { p }
}

/// Five unit masses on a table, pressed with force 1 and pushed along 30 degrees: each obeys its own law. Maximum dissipation picks the corner of a
/// square or hexagon that reaches farthest against the slip, the nearest point of the disc, and on the ellipse the point whose normal is the slip.
#[test]
fn every_contact_obeys_its_own_set() {
    let (sin, cos) = 30f64.to_radians().sin_cos();
    let b: Vec<f64> = (0..5).flat_map(|_| [-1.0, 2.0 * cos, 2.0 * sin]).collect();
    let sets = vec![Friction::Cone, Friction::Pyramid, HEXAGON, Friction::Ellipsoid, Friction::Cone];
    let mut axes = vec![1.0; 10];
    axes[7] = 0.5;
    let p = FrictionProblem::new(Matrix::identity(15), b, vec![0.5, 0.5, 0.5, 0.5, 0.0], 3, Friction::Cone)
        .unwrap()
        .with_frictions(sets)
        .unwrap()
        .with_axes(axes)
        .unwrap();
    for method in SOLVERS {
        let l = solve(&p, method, 1e-10);
        let near = |c: usize, t: f64, o: f64| far(&l[3 * c..][..3], &[1.0, t, o]) < 1e-8;
        assert!(near(0, -0.5 * cos, -0.5 * sin), "disc {l:?}");
        assert!(near(1, -0.5, -0.5), "square {l:?}");
        // corners at 180 and 240 degrees are equally far from 210: the mass slips across the side between them
        let [n, t, o] = [l[6], l[7], l[8]];
        let (apothem, s) = (0.5 * cos, [2.0 * cos + t, 2.0 * sin + o]);
        assert!((n - 1.0).abs() < 1e-8 && (-(cos * t + sin * o) - apothem).abs() < 1e-8, "hexagon {l:?}");
        assert!((cos * s[1] - sin * s[0]).abs() < 1e-8 && cos * s[0] + sin * s[1] > 0.0, "hexagon {l:?}");
        // the slip is a multiple of the ellipse's normal (t, o / e^2)
        let [n, t, o] = [l[9], l[10], l[11]];
        let s = [2.0 * cos + t, 2.0 * sin + o];
        assert!((n - 1.0).abs() < 1e-8 && ((t * t + 4.0 * o * o).sqrt() - 0.5).abs() < 1e-8, "ellipse {l:?}");
        assert!((s[0] * 4.0 * o - s[1] * t).abs() < 1e-8 && s[0] * t < 0.0, "ellipse {l:?}");
        assert!(near(4, 0.0, 0.0), "none {l:?}");
    }
}

#[test]
fn all_solvers_agree_on_mixed_sets() {
    for (contacts, seed) in [(1, 1), (2, 2), (3, 3), (5, 4), (8, 5), (12, 6), (20, 7), (20, 8)] {
        let p = dense(contacts, seed, any);
        let first = solve(&p, SOLVERS[0], 1e-11);
        for method in &SOLVERS[1..] {
            let l = solve(&p, *method, 1e-11);
            assert!(far(&l, &first) < 1e-9, "{method:?} {contacts}: {}", far(&l, &first));
        }
    }
}

/// The cone solvers on polygons against Lemke's method and the interior point on Stewart and Trinkle's LCP, which share no code with them.
#[test]
fn polygons_have_the_forces_of_their_lcp() {
    let flat = |random: &mut u64| loop {
        match any(random) {
            Friction::Cone | Friction::Ellipsoid => {}
            set => return set,
        }
    };
    for seed in 1..30 {
        let p = dense(1 + seed as usize % 7, seed, flat);
        let uniform = p.clone().with_friction(HEXAGON).unwrap();
        for p in [p, uniform] {
            let expected = solve(&p, Method::Lemke, 1e-9);
            assert!(far(&solve(&p, Method::InteriorPoint, 1e-9), &expected) < 1e-7);
            for method in SOLVERS {
                let l = solve(&p, method, 1e-9);
                assert!(far(&l, &expected) < 1e-7, "{method:?} {seed}: {}", far(&l, &expected));
            }
        }
    }
}

/// From zero and from bad forces, and where `A` is singular: as with discs, none may fail.
#[test]
fn the_interior_point_solves_mixed_sets_from_anywhere() {
    let mut solver = ConeInteriorPoint::default();
    let mut solve = |p: &FrictionProblem, size: f64, seed: u64| {
        let mut random = seed;
        let mut lambda: Vec<f64> = (0..p.size()).map(|_| size * signed(&mut random)).collect();
        let outcome = solver.solve(p.view(), &mut lambda);
        assert!(outcome.is_solved(), "{size} {seed}: {outcome:?}");
        assert!(residual::friction(p, &lambda).relative <= 1e-8);
    };
    for seed in 1..200 {
        let sets = |random: &mut u64| no_ellipsoid(any(random));
        let p = dense(1 + seed as usize % 20, seed, sets);
        let r = &mut (seed + 1000);
        let stack = boxes(1 + seed as usize % 8, 0.1 + uniform(r), 0.1 * uniform(r), 0.2 * uniform(r));
        for size in [0.0, 1e-3, 1.0, 1e6] {
            solve(&p, size, seed);
            solve(&with_sets(&stack, seed), size, seed);
        }
    }
}

fn no_ellipsoid(set: Friction) -> Friction {
    if set == Friction::Ellipsoid { Friction::Cone } else { set }
}

fn with_sets(owned: &Owned, seed: u64) -> FrictionProblem {
    let mut random = seed;
    let elements =
        owned.elements.iter().map(|e| Element::contact(e.rows(), e.mu(), no_ellipsoid(any(&mut random))));
    FrictionProblem::from_elements(owned.a.clone(), owned.b.clone(), elements.collect()).unwrap()
}

/// Piles and walls, in which forces are not unique, through the bodies and with blocks.
#[test]
fn auto_solves_piles_with_mixed_sets() {
    for (k, owned) in
        [spheres(3, 0.4, 7), spheres(4, 0.6, 3), boxes(4, 0.5, 0.1, 0.02), boxes(8, 0.8, 0.1, 0.0)]
            .into_iter()
            .enumerate()
    {
        let p = with_sets(&owned, 10 + k as u64);
        assert!(p.friction().is_none());
        solve(&p, Method::Auto, 1e-8);
        let blocks = Owned { a: Operator::Dense(owned.a.to_dense()), ..owned };
        solve(&with_sets(&blocks, 10 + k as u64), Method::Auto, 1e-8);
    }
}

/// Polygons of many sides come near the disc: by the length of a side.
#[test]
fn many_sides_come_near_the_disc() {
    let p = dense(6, 3, |_| Friction::Cone);
    let disc = solve(&p, Method::Auto, 1e-10);
    for sides in [4, 16, 64] {
        let mut sets = vec![Friction::Polygon { sides }; 6];
        sets[0] = Friction::Cone;
        let apart = far(&solve(&p.clone().with_frictions(sets).unwrap(), Method::Auto, 1e-10), &disc);
        assert!(apart > 0.0 && apart < 5.0 / sides as f64, "{sides}: {apart}");
    }
}

/// In the units of discs a residual is another: forces must be good as posed, however long the axes are.
#[test]
fn ellipsoids_are_solved_as_posed() {
    for seed in 1..60 {
        let p = dense(1 + seed as usize % 9, seed, |_| Friction::Ellipsoid);
        let mut random = seed;
        let axes = (0..2 * p.contacts()).map(|_| 10f64.powf(2.0 * signed(&mut random))).collect();
        let p = p.with_axes(axes).unwrap();
        for method in [Method::Auto, Method::ProximalNewton] {
            solve(&p, method, 1e-8);
        }
    }
}

/// With so much friction the slack LCP of a square loses the forces' digits; the cone solvers answer then.
#[test]
fn much_friction_on_a_square_is_solved() {
    for mu in [1e3, 1e5, 1e7] {
        let a = Matrix::from_rows(&[&[2.0, 0.3, -0.2], &[0.3, 1.5, 0.1], &[-0.2, 0.1, 1.0]]);
        for set in [Friction::Pyramid, HEXAGON] {
            let p = FrictionProblem::new(a.clone(), vec![-1.0, 3.0, 0.7], vec![mu], 3, set).unwrap();
            solve(&p, Method::Auto, 1e-8);
        }
    }
}

/// A square reaches out to sqrt 2, so that the bound of an island with one is that of a pyramid; forces are examined under each set.
#[test]
fn certificates_know_the_sets() {
    let p = dense(4, 5, |_| Friction::Cone);
    let mixed =
        p.clone().with_frictions(vec![Friction::Cone, Friction::Pyramid, HEXAGON, Friction::Cone]).unwrap();
    let bar = |p: &FrictionProblem| {
        let lambda = solve(p, Method::Auto, 1e-11);
        let known = examine(p, Some(&lambda), &certificate::Settings::default());
        assert_eq!(known.forces.map(|f| (f.dimension, f.undetermined.len())), Some((0, 0)));
        known.uniqueness.unwrap().mu_bar
    };
    let pyramid = p.clone().with_friction(Friction::Pyramid).unwrap();
    assert_eq!(bar(&mixed), bar(&pyramid));
    assert!((bar(&p) / bar(&mixed) - 2f64.sqrt()).abs() < 1e-12);
}

#[test]
fn sets_that_do_not_fit_are_refused_with_their_place() {
    let p = dense(2, 1, |_| Friction::Cone);
    let short = p.clone().with_frictions(vec![HEXAGON]);
    assert_eq!(short, Err(InvalidProblem::Size { part: "friction sets", found: 1, expected: 2 }));
    let odd = p.clone().with_frictions(vec![Friction::Cone, Friction::Polygon { sides: 7 }]);
    assert!(odd.unwrap_err().to_string().contains("7"));
    let mixed = p.clone().with_frictions(vec![HEXAGON, Friction::Ellipsoid]).unwrap();
    let unused = mixed.clone().with_axes(vec![1.0, 0.5, 0.5, 0.5]).unwrap_err().to_string();
    assert!(unused.contains("axes") && unused.contains('1'), "{unused}");
    assert_eq!(mixed.with_axes(vec![1.0, 1.0, 0.5, 0.5]).unwrap().axes_of(1), [0.5, 0.5]);
    // one set for all is that set
    assert_eq!(p.with_frictions(vec![HEXAGON; 2]).unwrap().friction(), Some(HEXAGON));
}

/// A unit mass pressed with force 1 on a plane with axes 1 and 1/2 along t and o, and mu = 0.5: it sticks while the push is within the
/// ellipse, and slips beyond it against the direction that the ellipse's normal gives.
#[test]
fn elliptic_friction_sticks_and_slips_by_its_axes() {
    let push = |t: f64, o: f64| {
        let p =
            FrictionProblem::new(Matrix::identity(3), vec![-1.0, t, o], vec![0.5], 3, Friction::Ellipsoid)
                .unwrap()
                .with_axes(vec![1.0, 0.5])
                .unwrap();
        solve(&p, Method::ConeInteriorPoint, 1e-11)
    };
    let lambda = push(0.45, 0.0);
    assert!((lambda[1] + 0.45).abs() < 1e-9, "sticks along t: {lambda:?}");
    let lambda = push(0.0, 0.45);
    assert!((lambda[2] + 0.25).abs() < 1e-9, "slips along o: {lambda:?}");
    let lambda = push(1.0, 1.0);
    // on the ellipse, and the slip is along its outward normal at -lambda
    assert!(((lambda[1] / 0.5).hypot(lambda[2] / 0.25) - 1.0).abs() < 1e-8);
    let slip = [1.0 + lambda[1], 1.0 + lambda[2]];
    assert!((slip[0] * lambda[2] / 0.25f64.powi(2) - slip[1] * lambda[1] / 0.5f64.powi(2)).abs() < 1e-8);
}

/// Torsion without friction along its axis: a spinning contact keeps spinning, whatever the push.
#[test]
fn axis_of_length_zero_has_no_friction() {
    let b = vec![-1.0, 0.1, 0.0, 3.0];
    let p = FrictionProblem::new(Matrix::identity(4), b, vec![0.5], 4, Friction::Ellipsoid).unwrap();
    let p = p.with_axes(vec![1.0, 1.0, 0.0]).unwrap();
    for method in SOLVERS {
        let lambda = solve(&p, method, 1e-11);
        assert!(lambda[3] == 0.0 && (lambda[1] + 0.1).abs() < 1e-9, "{method}: {lambda:?}");
    }
}

#[test]
fn impossible_ellipsoids_are_refused() {
    let p = |rows: usize| {
        let b = vec![0.0; rows];
        FrictionProblem::new(Matrix::identity(rows), b, vec![0.5], rows, Friction::Ellipsoid)
    };
    assert!(p(7).is_err());
    assert!(p(4).unwrap().with_axes(vec![1.0, 2.0]).is_err());
    assert!(p(3).unwrap().with_axes(vec![1.0, -2.0]).is_err());
    assert!(p(4).unwrap().with_friction(Friction::Pyramid).is_err());
    assert!(p(3).unwrap().as_polygon_lcp().is_err() && p(2).unwrap().as_slack_lcp().is_err());
    let sliding = vec![Mode::Sliding { direction: [1.0, 0.0] }];
    assert!(p(3).unwrap().with_modes(sliding).is_err());
}

proptest! {
    /// Random compliant problems of 2 to 6 rows per contact, solved in the units of discs and evaluated as posed.
    #[test]
    fn ellipsoids_of_every_dimension_are_solved(rows in 2usize..=6, contacts in 1usize..=4,
        numbers in prop::collection::vec(-1.0..1.0f64, 24 * 24 + 2 * 24)) {
        let n = rows * contacts;
        let root = |i: usize, j: usize| numbers[24 * i + j];
        let a = Matrix::from_fn(n, n, |i, j| {
            (0..n).map(|k| root(i, k) * root(j, k)).sum::<f64>() + if i == j { 0.1 } else { 0.0 }
        });
        let b = numbers[24 * 24..][..n].to_vec();
        let axes = numbers[24 * 24 + 24..][..n - contacts].iter().map(|x| 1.2 + x).collect();
        let p = FrictionProblem::new(a, b, vec![0.4; contacts], rows, Friction::Ellipsoid).unwrap().with_axes(axes).unwrap();
        solve(&p, Method::ConeInteriorPoint, 1e-9);
    }
}
