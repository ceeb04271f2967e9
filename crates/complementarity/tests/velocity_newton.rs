//! The proximal Newton method in velocities: what it solves, what it chooses, and what it says where there is no solution.

use crate::piles;

use complementarity::matrix::Matrix;
use complementarity::operator::{Factored, Operator};
use complementarity::problem::{ContactProblem, Element, Friction};
use complementarity::residual::{self, Evaluation};
use complementarity::solver::auto::Auto;
use complementarity::solver::velocity_newton::{Settings, VelocityNewton};
use complementarity::solver::{Budget, End};
use piles::Owned;

fn relative(problem: ContactProblem<'_>, lambda: &[f64]) -> f64 {
    residual::contact(problem, lambda, &mut Evaluation::default()).relative
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
}

/// Forces from zero, with the residual evaluated apart, and the number of linear systems.
fn cold(p: &Owned, settings: &Settings) -> (Vec<f64>, usize) {
    let mut lambda = vec![0.0; p.b.len()];
    let outcome = VelocityNewton::new(settings.clone()).solve(p.problem(), &mut lambda);
    assert!(outcome.is_solved(), "{} contacts: {outcome:?}", p.elements.len());
    assert!(relative(p.problem(), &lambda) <= settings.tolerance);
    (lambda, outcome.iterations)
}

/// With compliance of its own at every contact, of which some are coupled in a patch: forces are unique for small `mu`.
fn compliant(mut p: Owned, patch: usize) -> Owned {
    let Operator::Factored(f) = &mut p.a else { unreachable!() };
    let mut seed = 5;
    let rows = p.elements[0].rows();
    let order = rows * patch;
    let l = Matrix::from_fn(order, order, |i, j| if i == j { 1.0 } else { 0.3 * piles::signed(&mut seed) });
    f.add_patch(0, &Matrix::from_fn(order, order, |i, j| (0..order).map(|k| l[(i, k)] * l[(j, k)]).sum()));
    for c in patch..p.elements.len() {
        let e = |i: usize| 0.1 + 0.1 * ((c + i) % 3) as f64;
        f.add_patch(c, &Matrix::from_fn(rows, rows, |i, j| if i == j { e(i) } else { 0.0 }));
    }
    p
}

#[test]
fn agrees_with_other_solvers_where_forces_are_unique() {
    let settings = Settings { tolerance: 1e-11, ..Settings::default() };
    for rows in 2..=6 {
        let p = compliant(piles::trees(&[6, 3, 1, 14], 12, rows, 0.3, 7 + rows as u64), 3);
        let (lambda, _) = cold(&p, &settings);
        let mut other = vec![0.0; p.b.len()];
        let mut auto = Auto::default();
        auto.settings.tolerance = 1e-11;
        assert!(auto.solve(p.problem(), &mut other).is_solved());
        assert!(distance(&lambda, &other) < 1e-8, "{rows} rows: {:e}", distance(&lambda, &other));
    }
}

#[test]
fn polygons_agree_with_other_solvers() {
    let mut p = compliant(piles::bricks(4, 3, 0.3, 3), 2);
    let sets = [Friction::Pyramid, Friction::Polygon { sides: 6 }, Friction::Cone];
    for (c, element) in p.elements.iter_mut().enumerate() {
        *element = Element::contact(3, element.mu(), sets[c % 3]);
    }
    let problem = p.problem();
    let (mut one, mut two) = (vec![0.0; p.b.len()], vec![0.0; p.b.len()]);
    let mut solver = VelocityNewton::default();
    solver.settings.tolerance = 1e-11;
    assert!(solver.solve(problem, &mut one).is_solved());
    let mut auto = Auto::default();
    auto.settings.tolerance = 1e-11;
    assert!(auto.solve(problem, &mut two).is_solved());
    assert!(distance(&one, &two) < 1e-8, "{:e}", distance(&one, &two));
}

#[test]
fn stacks_of_boxes_take_few_steps() {
    for count in [1, 3, 10, 30] {
        for push in [0.0, 0.001, 0.05] {
            let p = piles::boxes(count, 0.5, 0.01, push);
            let (mut lambda, steps) = cold(&p, &Settings::default());
            assert!(steps <= 80, "{count} boxes pushed at {push}: {steps} steps");
            // the next step's problem is nearly the same
            let mut next = p.clone();
            next.b.iter_mut().for_each(|b| *b *= 1.001);
            let outcome = VelocityNewton::default().solve(next.problem(), &mut lambda);
            assert!(outcome.is_solved() && outcome.iterations <= 15, "{count} boxes: {outcome:?}");
        }
    }
}

#[test]
fn random_redundant_bricks_are_solved() {
    for (count, points) in [(2, 4), (6, 4), (12, 6), (25, 8)] {
        for seed in 0..12 {
            for mu in [0.0, 0.3, 1.0] {
                let p = piles::bricks(count, points, mu, seed);
                _ = cold(&p, &Settings::default());
            }
        }
    }
}

#[test]
fn trees_of_all_lengths_are_solved() {
    for seed in 0..10 {
        for rows in 2..=6 {
            _ = cold(&piles::trees(&[1, 2, 3], 5, rows, 0.4, seed), &Settings::default());
            _ = cold(&piles::trees(&[6, 1, 9, 3, 20], 12, rows, 0.4, 100 + seed), &Settings::default());
        }
    }
}

/// A mass of 1 between two walls that both close in on it.
fn squeezed() -> Owned {
    let mut f = Factored::default();
    f.clear(3, 1.0);
    for sign in [1.0, -1.0] {
        f.begin(3);
        f.segment(0, 3).copy_from_slice(&[sign, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    Owned::new(Operator::Factored(f), vec![-0.05, 0.1, 0.0, -0.05, 0.1, 0.0], &[0.5; 2], 3)
}

#[test]
fn a_squeezed_body_has_forces_without_bound_and_a_heavy_stack_does_not() {
    let p = squeezed();
    let mut solver = VelocityNewton::default();
    for start in [0.0, 1.0] {
        let mut lambda = vec![start; 6];
        let given = relative(p.problem(), &lambda);
        let outcome = solver.solve(p.problem(), &mut lambda);
        assert_eq!(outcome.end, End::Stalled);
        assert_eq!(solver.unbounded(), 2);
        assert!(outcome.residual.relative <= given && lambda.iter().all(|x| x.is_finite()));
    }
    // forces of 1e5 times the first guess are not yet unbounded
    let mut p = piles::boxes(5, 0.5, 0.01, 0.0);
    let Operator::Factored(light) = &p.a else { unreachable!() };
    let mut heavy = Factored::default();
    heavy.clear(30, 1.0);
    for c in 0..light.elements() {
        heavy.begin(3);
        for (s, w) in light.segments(c) {
            let scale = if s.first == 24 { 1e-3 } else { 1.0 };
            let own = heavy.segment(s.first, s.len);
            own.iter_mut().zip(w).for_each(|(own, w)| *own = scale * w);
        }
    }
    p.a = Operator::Factored(heavy);
    let mut lambda = vec![0.0; p.b.len()];
    assert!(solver.solve(p.problem(), &mut lambda).is_solved());
    assert_eq!(solver.unbounded(), 0);
}

#[test]
fn budgets_are_kept_and_other_forms_refused() {
    let p = piles::bricks(12, 6, 0.5, 1);
    for (max_steps, rows) in [(5, u64::MAX), (1000, 3000)] {
        let mut lambda = vec![0.0; p.b.len()];
        let mut solver = VelocityNewton::new(Settings { max_steps, ..Settings::default() });
        solver.set_budget(Budget { rows, stop: None });
        let outcome = solver.solve(p.problem(), &mut lambda);
        assert_eq!(outcome.end, End::Limit);
        assert!(outcome.iterations <= 6, "{outcome:?}");
        assert!(outcome.residual.relative <= relative(p.problem(), &vec![0.0; p.b.len()]));
    }
    let dense = Operator::Dense(p.a.to_dense());
    let problem = ContactProblem { a: &dense, ..p.problem() };
    assert_eq!(VelocityNewton::default().solve(problem, &mut vec![0.0; p.b.len()]).end, End::Invalid);
}

#[test]
fn the_same_bits_come_out_every_time() {
    let p = piles::bricks(12, 6, 0.5, 2);
    let mut solver = VelocityNewton::default();
    let mut solve = |p: &Owned| {
        let mut lambda = vec![0.0; p.b.len()];
        _ = solver.solve(p.problem(), &mut lambda);
        lambda
    };
    let first = solve(&p);
    // another problem in between
    _ = solve(&piles::boxes(4, 0.5, 0.01, 0.001));
    assert_eq!(first, solve(&p));
}

/// The limit by other means: `A + eps I` multiplied out, solved by another solver, extrapolated from three small `eps`.
fn limit_of_equal_compliance(p: &Owned) -> Vec<f64> {
    let a = p.a.to_dense();
    let n = a.rows();
    let mean = (0..n).map(|i| a[(i, i)]).sum::<f64>() / n as f64;
    let mut auto = Auto::default();
    auto.settings.tolerance = 1e-13;
    let mut lambda = vec![0.0; n];
    // forces at the last three `eps`
    let mut tail = [vec![], vec![], vec![]];
    let q = 0.1f64.sqrt();
    for eps in (2..=12).map(|k| q.powi(k)) {
        let with = Matrix::from_fn(n, n, |i, j| a[(i, j)] + if i == j { eps * mean } else { 0.0 });
        let operator = Operator::Dense(with);
        let outcome = auto.solve(ContactProblem { a: &operator, ..p.problem() }, &mut lambda);
        // what a residual leaves open in redundant forces is 1 / eps times as large
        assert!(outcome.residual.relative <= 1e-13, "the reference is good at {eps:e}: {outcome:?}");
        tail.rotate_left(1);
        tail[2].clone_from(&lambda);
    }
    // Richardson: the terms in eps and eps^2 cancel, as long as states no longer change
    let once = |k: usize, i: usize| (tail[k + 1][i] - q * tail[k][i]) / (1.0 - q);
    (0..n).map(|i| (once(1, i) - q * q * once(0, i)) / (1.0 - q * q)).collect()
}

#[test]
fn chosen_forces_are_the_limit_of_equal_compliance() {
    let settings = Settings { tolerance: 1e-10, choose_forces: true, ..Settings::default() };
    let mut redundant = 0;
    for p in [
        piles::boxes(1, 0.5, 0.01, 0.0),
        piles::boxes(1, 0.2, 0.01, 0.05),
        piles::boxes(3, 0.4, 0.01, 0.003),
        piles::bricks(2, 5, 0.3, 4),
        piles::bricks(4, 4, 0.5, 9),
        piles::bricks(6, 6, 0.4, 2),
    ] {
        let expected = limit_of_equal_compliance(&p);
        let (chosen, _) = cold(&p, &settings);
        assert!(
            distance(&chosen, &expected) < 1e-6,
            "{} contacts: {:e}",
            p.elements.len(),
            distance(&chosen, &expected)
        );
        // from any start
        let mut seed = 11;
        let mut lambda: Vec<f64> = expected.iter().map(|x| x * (1.0 + piles::signed(&mut seed))).collect();
        assert!(VelocityNewton::new(settings.clone()).solve(p.problem(), &mut lambda).is_solved());
        assert!(
            distance(&lambda, &chosen) < 1e-6,
            "{} contacts: {:e}",
            p.elements.len(),
            distance(&lambda, &chosen)
        );
        let mut plain: Vec<f64> = expected.iter().map(|x| x * (1.0 + piles::signed(&mut seed))).collect();
        assert!(VelocityNewton::default().solve(p.problem(), &mut plain).is_solved());
        redundant += usize::from(distance(&plain, &chosen) > 1e-3);
    }
    assert!(redundant >= 3, "most of these leave forces open: {redundant}");
}

/// A box that falls flat on four corners, at rest or sliding along one axis: corners that mirror each other carry the same.
#[test]
fn symmetric_problems_have_symmetric_forces() {
    let settings = Settings { tolerance: 1e-12, choose_forces: true, ..Settings::default() };
    for push in [0.0, 0.02] {
        let p = piles::boxes(1, 0.3, 0.01, push);
        let mut seed = 3;
        let mut lambda: Vec<f64> = (0..12).map(|_| 0.01 * piles::uniform(&mut seed)).collect();
        assert!(VelocityNewton::new(settings.clone()).solve(p.problem(), &mut lambda).is_solved());
        // corners (x, y), (-x, y), (x, -y), (-x, -y): rows n, t = x, o = y
        for (one, two) in [(0, 2), (1, 3)] {
            let pair = [one, two].map(|c| &lambda[3 * c..][..3]);
            let same = [pair[0][0] - pair[1][0], pair[0][1] - pair[1][1], pair[0][2] + pair[1][2]];
            assert!(same.iter().all(|x| x.abs() < 1e-9 * lambda[0].abs()), "push {push}: {lambda:?}");
        }
    }
}
