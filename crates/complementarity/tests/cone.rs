//! Coulomb's cone: all solvers on families of problems, and the cases that are hard for one of them.

use crate::piles;

use complementarity::matrix::Matrix;
use complementarity::operator::{BlockMatrix, Operator};
use complementarity::problem::{ContactProblem, Element, Friction, FrictionProblem};
use complementarity::report::Status;
use complementarity::residual::{self, Evaluation, Residual};
use complementarity::solver::auto::Auto;
use complementarity::solver::newton::proximal;
use complementarity::solver::portfolio::{self, solve_contacts};
use complementarity::solver::{Budget, End, Method, Outcome, Solver};
use piles::{Owned, boxes, rocks, signed, spheres, uniform};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const SOLVERS: [&str; 4] = ["auto", "gauss-seidel", "newton", "proximal-newton"];

fn solve(name: &str, p: ContactProblem<'_>, tolerance: f64, lambda: &mut [f64]) -> Outcome {
    let method: Method = name.parse().expect("a name");
    Solver::new(method, tolerance).solve(p, lambda, &mut vec![]).expect("contacts")
}

fn evaluate(p: ContactProblem<'_>, lambda: &[f64]) -> Residual {
    residual::contact(p, lambda, &mut Evaluation::default())
}

fn speeds(p: ContactProblem<'_>, lambda: &[f64]) -> Vec<f64> {
    let mut s = vec![0.0; lambda.len()];
    p.a.times(lambda, &mut s, &mut vec![]);
    s.iter_mut().zip(p.b).for_each(|(s, b)| *s += b);
    s
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Contacts that all see each other: `A = G G' / n + 0.3 I`, pressed together and pushed about.
fn dense(contacts: usize, rows: usize, mu: f64, seed: u64) -> Owned {
    let n = rows * contacts;
    let mut random = seed;
    let g = Matrix::from_fn(n, n, |_, _| signed(&mut random));
    let a = Matrix::from_fn(n, n, |i, j| {
        let product: f64 = (0..n).map(|k| g[(i, k)] * g[(j, k)]).sum();
        product / n as f64 + if i == j { 0.3 } else { 0.0 }
    });
    let b = (0..n).map(|i| signed(&mut random) - if i % rows == 0 { 0.7 } else { 0.0 }).collect();
    Owned::new(Operator::Dense(a), b, &vec![mu; contacts], rows)
}

#[test]
fn all_solvers_agree_where_the_answer_is_unique() {
    for rows in [2, 3, 4, 6] {
        for (contacts, seed) in [(1, 1), (2, 2), (5, 3), (12, 4)] {
            let p = dense(contacts, rows, 0.3, seed);
            let mut answers = vec![];
            for name in SOLVERS {
                let mut lambda = vec![0.0; p.b.len()];
                let outcome = solve(name, p.problem(), 1e-11, &mut lambda);
                assert!(outcome.is_solved(), "{name} {rows} {contacts}: {outcome:?}");
                answers.push(lambda);
            }
            for (name, lambda) in SOLVERS.iter().zip(&answers) {
                assert!(far(lambda, &answers[0]) < 1e-9, "{name} {rows} {contacts}");
            }
            // this comes near it step by step
            let mut lambda = vec![0.0; p.b.len()];
            let outcome = solve("cone-interior-point", p.problem(), 1e-9, &mut lambda);
            assert!(outcome.is_solved(), "{rows} {contacts}: {outcome:?}");
            assert!(far(&lambda, &answers[0]) < 1e-7, "{rows} {contacts}");
        }
    }
}

#[test]
fn operators_in_all_forms_give_one_answer() {
    let factored = spheres(3, 0.4, 7);
    let dense = factored.a.to_dense();
    let blocks = Owned { a: Operator::Blocks(BlockMatrix::from_dense(&dense, 3)), ..factored.clone() };
    let dense = Owned { a: Operator::Dense(dense), ..factored.clone() };
    // plain sweeps would take too many
    for name in SOLVERS.iter().filter(|n| **n != "gauss-seidel") {
        let answers = [&factored, &blocks, &dense].map(|p| {
            let mut lambda = vec![0.0; p.b.len()];
            let outcome = solve(name, p.problem(), 1e-10, &mut lambda);
            assert!(outcome.is_solved(), "{name}: {outcome:?}");
            speeds(p.problem(), &lambda)
        });
        assert!(far(&answers[0], &answers[1]) < 1e-9 && far(&answers[0], &answers[2]) < 1e-9, "{name}");
    }
}

/// Every combination of friction, coupling and load, against the judge.
#[test]
fn one_contact_is_solved_exactly_whatever_its_data() {
    let mut random = 11;
    let mut solver = Auto::default();
    solver.settings.tolerance = 1e-10;
    let polygons = [4, 10, 64].map(|sides| Friction::Polygon { sides });
    let sets = [&[Friction::Cone, Friction::Pyramid], &polygons[..]].concat();
    for mu in [0.0, 1e-8, 1e-3, 0.3, 1.0, 10.0, 1e4] {
        for least in [1.0, 1e-1, 1e-2] {
            for scale in [1e-6, 1.0, 1e6] {
                for case in 0..60 {
                    let rows = [2, 3, 3, 5][case % 4];
                    // a product of random matrices with one weak direction: strongly coupled
                    let g = Matrix::from_fn(rows, rows, |_, j| {
                        signed(&mut random) * if j == 0 { least } else { 1.0 }
                    });
                    let a = Matrix::from_fn(rows, rows, |i, j| {
                        let product: f64 = (0..rows).map(|k| g[(i, k)] * g[(j, k)]).sum();
                        scale * (product + if i == j { least * least } else { 0.0 })
                    });
                    let mut b: Vec<f64> = (0..rows).map(|_| signed(&mut random)).collect();
                    match case % 6 {
                        0 => b[0] = 0.0,
                        1 => b[1..].fill(0.0),
                        2 => b[0] *= 1e-6,
                        3 => b[1] *= 1e6,
                        _ => b[0] = -b[0].abs(),
                    }
                    let p = Owned::new(Operator::Dense(a), b, &[mu], rows);
                    for &set in if rows == 3 { &sets[..] } else { &sets[..1] } {
                        let mut lambda = vec![0.0; rows];
                        let given = p.with(set);
                        let outcome = solver.solve(given.problem(), &mut lambda);
                        // the block's condition leaves rounding in s, the force's size in the natural map
                        let size = p.b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                        let force = lambda.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                        let rounding = 1e-13 * size * (1.0 + mu) / (least * least) + 1e-15 * force;
                        assert!(
                            outcome.is_solved() || outcome.residual.absolute < rounding,
                            "mu {mu} {set:?} {p:?} {outcome:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn no_force_is_needed_where_nothing_approaches() {
    let mut p = dense(4, 3, 0.5, 5);
    (0..4).for_each(|c| p.b[3 * c] = 1.0);
    for name in SOLVERS {
        let mut lambda = vec![0.0; 12];
        let outcome = solve(name, p.problem(), 1e-8, &mut lambda);
        assert!(outcome.is_solved() && outcome.iterations == 0 && lambda == [0.0; 12], "{name}");
    }
    // and where b is zero, the residual is absolute
    p.b.fill(0.0);
    let mut lambda = vec![1.0; 12];
    assert!(solve("auto", p.problem(), 1e-8, &mut lambda).is_solved());
}

/// Ten cubes on each other: 40 contacts, 120 rows of rank 60.
#[test]
fn hyperstatic_stacks_rest_at_high_accuracy() {
    for (count, push, mu) in
        [(1, 0.0, 0.5), (1, 0.003, 0.5), (3, 0.004, 0.5), (10, 0.0, 0.5), (10, 0.001, 0.5), (10, 0.02, 0.3)]
    {
        let p = boxes(count, mu, 0.01, push);
        for name in ["auto", "newton", "proximal-newton"] {
            let mut lambda = vec![0.0; p.b.len()];
            let outcome = solve(name, p.problem(), 1e-10, &mut lambda);
            assert!(outcome.is_solved(), "{name} {count} {push}: {outcome:?}");
            // the ground carries all of it
            let carried: f64 = (0..4).map(|c| lambda[3 * c]).sum();
            assert!((carried - 0.01 * count as f64).abs() < 1e-9, "{name} {count}: {carried}");
            if push < mu * 0.01 * 0.5 {
                let s = speeds(p.problem(), &lambda);
                assert!(s.iter().all(|s| s.abs() < 1e-9), "{name} {count} {push}: nothing slips");
            }
        }
    }
}

#[test]
fn islands_are_solved_as_if_alone() {
    let alone: Vec<Owned> = (1..6).map(|seed| dense(seed as usize, 3, 0.4, seed)).collect();
    let n: usize = alone.iter().map(|p| p.b.len()).sum();
    // contacts of the islands interleaved
    let mut order: Vec<(usize, usize)> =
        alone.iter().enumerate().flat_map(|(k, p)| (0..p.elements.len()).map(move |c| (k, c))).collect();
    let mut random = 9;
    order.sort_by_key(|_| (1e6 * uniform(&mut random)) as usize);
    let dense_of = |p: &Owned| p.a.to_dense();
    let matrices: Vec<Matrix> = alone.iter().map(dense_of).collect();
    let a = Matrix::from_fn(n, n, |i, j| {
        let ((k, c), (l, d)) = (order[i / 3], order[j / 3]);
        if k == l { matrices[k][(3 * c + i % 3, 3 * d + j % 3)] } else { 0.0 }
    });
    let b = order.iter().flat_map(|&(k, c)| alone[k].b[3 * c..][..3].to_vec()).collect();
    let together = Owned::new(Operator::Dense(a), b, &vec![0.4; order.len()], 3);
    let mut lambda = vec![0.0; n];
    assert!(solve("auto", together.problem(), 1e-11, &mut lambda).is_solved());
    for (k, p) in alone.iter().enumerate() {
        let mut own = vec![0.0; p.b.len()];
        assert!(solve("auto", p.problem(), 1e-11, &mut own).is_solved());
        for (place, _) in order.iter().enumerate().filter(|(_, o)| o.0 == k) {
            let c = order[place].1;
            assert!(far(&lambda[3 * place..][..3], &own[3 * c..][..3]) < 1e-9, "island {k} contact {c}");
        }
    }
}

#[test]
fn operators_need_not_be_symmetric() {
    for seed in 1..8 {
        let mut p = dense(8, 3, 0.4, seed);
        let mut random = seed;
        let skew = Matrix::from_fn(24, 24, |_, _| 0.02 * signed(&mut random));
        let a = p.a.to_dense();
        p.a = Operator::Dense(Matrix::from_fn(24, 24, |i, j| a[(i, j)] + skew[(i, j)] - skew[(j, i)]));
        for name in SOLVERS {
            let mut lambda = vec![0.0; 24];
            let outcome = solve(name, p.problem(), 1e-10, &mut lambda);
            assert!(outcome.is_solved(), "{name} {seed}: {outcome:?}");
        }
    }
}

/// From the last forces a solution costs nothing (one linear system where forces are not unique), and a changed load at most three quarters of what it costs from zero: sweeps converge linearly.
#[test]
fn warm_start_is_free_where_nothing_changed_and_cheap_where_little_did() {
    let stack = boxes(6, 0.5, 0.01, 0.001);
    let coupled = dense(20, 3, 0.4, 3);
    let mixed = [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 12 }].repeat(8);
    let discs = SOLVERS.into_iter().chain(["cone-interior-point"]).map(|name| (name, false));
    for (name, flat) in discs.chain([("cone-interior-point", true)]) {
        // plain sweeps would take too many for the stack
        let mut p = if name == "gauss-seidel" { coupled.clone() } else { stack.clone() };
        if flat {
            let sets = p.elements.iter().zip(&mixed);
            p.elements = sets.map(|(e, set)| Element::contact(3, e.mu(), *set)).collect();
        }
        let p = &p;
        let mut lambda = vec![0.0; p.b.len()];
        let solve = |p: &Owned, lambda: &mut [f64]| solve(name, p.problem(), 1e-9, lambda);
        let cold = solve(p, &mut lambda);
        let again = solve(p, &mut lambda);
        // one linear system shows that of the stack's several forces these are the chosen ones
        let free = usize::from(name != "gauss-seidel");
        assert!(
            cold.is_solved() && again.is_solved() && again.iterations <= free,
            "{name}: {cold:?} {again:?}"
        );
        let mut next = p.clone();
        next.b.iter_mut().for_each(|b| *b *= 1.0 + 1e-4);
        let next = solve(&next, &mut lambda);
        assert!(next.is_solved() && 4 * next.iterations <= 3 * cold.iterations, "{name}: {cold:?} {next:?}");
        assert!(name != "auto" || next.iterations <= 3, "{next:?}");
    }
}

#[test]
fn bad_parts_are_refused_and_bad_warm_starts_replaced() {
    let p = dense(2, 3, 0.4, 1);
    let good = p.problem();
    let short = ContactProblem { b: &p.b[..5], ..good };
    let wrong_rows = [Element::contact(7, 0.3, Friction::Cone); 2];
    let wrong_rows = ContactProblem { elements: &wrong_rows, ..good };
    let other_rows = [Element::contact(2, 0.3, Friction::Cone), Element::contact(3, 0.3, Friction::Cone)];
    let other_rows = ContactProblem { elements: &other_rows, ..good };
    let bad_mu = [f64::NAN, 0.3].map(|mu| Element::contact(3, mu, Friction::Cone));
    let bad_mu = ContactProblem { elements: &bad_mu, ..good };
    let infinite = Operator::Dense(Matrix::from_fn(6, 6, |_, _| f64::INFINITY));
    let bad_a = ContactProblem { a: &infinite, ..good };
    for name in SOLVERS {
        for bad in [short, wrong_rows, other_rows, bad_mu, bad_a] {
            assert_eq!(solve(name, bad, 1e-8, &mut [0.0; 6]).end, End::Invalid, "{name}");
        }
        assert_eq!(solve(name, good, 1e-8, &mut [0.0; 5]).end, End::Invalid, "{name}");
        let mut lambda = [f64::NAN; 6];
        assert!(solve(name, good, 1e-8, &mut lambda).is_solved(), "{name}");
        assert!(evaluate(good, &lambda).relative <= 1e-8);
    }
}

#[test]
fn pyramids_of_spheres_are_solved_and_the_judge_agrees() {
    for (side, mu, seed) in [(2, 0.3, 1), (4, 0.5, 2), (4, 0.9, 3), (6, 0.5, 4)] {
        let p = spheres(side, mu, seed);
        let mut lambda = vec![0.0; p.b.len()];
        let outcome = solve("auto", p.problem(), 1e-8, &mut lambda);
        let judged = evaluate(p.problem(), &lambda);
        assert!(outcome.is_solved() && judged == outcome.residual, "{side} {mu}: {outcome:?}");
    }
}

/// No forces are good to 1e-18: a solver that shall not try harder sees soon that it does not get there.
#[test]
#[cfg(target_arch = "x86_64")]
fn large_islands_are_abandoned_soon_unless_it_shall_try_harder() {
    let p = spheres(6, 0.5, 4);
    let [soon, late] = [false, true].map(|try_harder| {
        let mut lambda = vec![0.0; p.b.len()];
        let mut solver = Auto::default();
        (solver.settings.tolerance, solver.settings.try_harder) = (1e-18, try_harder);
        (solver.settings.max_sweeps, solver.settings.large) = (100, 0);
        let outcome = solver.solve(p.problem(), &mut lambda);
        assert!(!outcome.is_solved() && solver.unsolved().count() == 1, "{outcome:?}");
        assert_eq!(evaluate(p.problem(), &lambda), outcome.residual);
        outcome.iterations + outcome.wasted
    });
    assert!(2 * soon < late, "{soon} {late}");
}

/// Contacts with twins: the sweeps of plain Newton undo its steps here, and many of these problems stop it above 1e-8.
#[test]
fn contacts_with_twins_are_solved_without_sweeps() {
    let (mut others, mut by_proximal) = (0, 0);
    for apart in [1e-4, 1e-5, 1e-6, 1e-7] {
        for seed in 1..6 {
            let p = rocks(3, apart, seed);
            let mut lambda = vec![0.0; p.b.len()];
            let outcome = solve("proximal-newton", p.problem(), 1e-8, &mut lambda);
            assert!(outcome.is_solved(), "{apart} {seed}: {outcome:?}");
            lambda.fill(0.0);
            others += usize::from(solve("newton", p.problem(), 1e-8, &mut lambda).is_solved());
            let report = solve_contacts(p.problem(), &portfolio::Settings::default());
            let Residual { relative, .. } = report.residual;
            assert_eq!(report.status, Status::Solved, "{apart} {seed}: {} {relative}", report.solver);
            by_proximal += usize::from(report.solver == proximal::NAME);
        }
    }
    assert!(others < 20 && by_proximal > 0, "not hard: {others} solved by Newton, {by_proximal} by this");
}

#[test]
fn proximal_newton_reaches_far_below_the_tolerance_and_keeps_the_best_where_it_cannot() {
    let p = rocks(3, 1e-5, 3);
    let mut lambda = vec![0.0; p.b.len()];
    let outcome = solve("proximal-newton", p.problem(), 1e-11, &mut lambda);
    assert!(outcome.is_solved(), "{outcome:?}");
    // rounding is reached, and what it has found is not worse than what it was given
    let given = outcome.residual;
    let outcome = solve("proximal-newton", p.problem(), 1e-30, &mut lambda);
    assert!(outcome.residual.relative <= given.relative && outcome.residual.fclib < 1e-13, "{outcome:?}");
    // no force can help: A = 0 and a velocity into the ground
    let stuck = Owned::new(Operator::Dense(Matrix::zeros(3, 3)), vec![-1.0, 0.0, 0.0], &[0.5], 3);
    assert_eq!(solve("proximal-newton", stuck.problem(), 1e-8, &mut [0.0; 3]).end, End::Stalled);
}

/// Whatever is left to do, no solver works on without a budget or after it was told to stop, and a second run with the same budget ends with the same bits.
#[test]
fn no_solver_exceeds_its_budget_or_ignores_the_stop_flag() {
    let p = spheres(6, 0.5, 4);
    for name in ["auto", "gauss-seidel", "newton", "proximal-newton", "cone-interior-point"] {
        let run = |budget: Budget| {
            let mut solver = Solver::new(name.parse().expect("a name"), 1e-12);
            let mut lambda = vec![0.0; p.b.len()];
            solver.set_budget(budget);
            (solver.solve(p.problem(), &mut lambda, &mut vec![]).expect("contacts"), lambda)
        };
        let rows = 20 * p.b.len() as u64;
        let [(first, forces), (second, again)] = [0, 1].map(|_| run(Budget { rows, stop: None }));
        assert_eq!((first.end, first), (End::Limit, second), "{name}");
        assert!(first.iterations + first.wasted <= 60, "{name}: {first:?}");
        assert!(forces.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "{name}");
        let stop = Some(Arc::new(AtomicBool::new(true)));
        let (stopped, _) = run(Budget { stop, ..Budget::default() });
        assert_eq!(stopped.end, End::Interrupted, "{name}: {stopped:?}");
        assert!(stopped.iterations + stopped.wasted <= 3, "{name}: {stopped:?}");
    }
}

#[test]
fn every_method_has_a_name_that_is_read_back() {
    for method in Method::ALL {
        assert_eq!(method.name().parse(), Ok(method));
        assert_eq!(method.name().replace('-', "_").parse(), Ok(method));
        assert!(!method.about().is_empty());
    }
    // merged into others since 0.1.0
    assert_eq!("exact_proximal".parse(), Ok(Method::ProximalNewton));
    assert_eq!("admm".parse(), Ok(Method::ProximalNewton));
    assert!("simplex".parse::<Method>().is_err());
}

/// A problem, not one of mechanics, on which methods lead each other astray: the proximal point method solves it from zero only.
#[test]
fn auto_gives_the_last_methods_a_start_of_their_own() {
    let a = Matrix::from_rows(&[
        &[6.0, -2.1, -2.2, -2.1, -3.3, 1.8],
        &[-2.7, 5.6, -4.8, 3.1, 7.0, 0.5],
        &[-2.7, -4.8, 8.7, -2.8, -5.3, -2.5],
        &[-0.7, 4.2, -2.3, 2.1, 4.5, 0.5],
        &[-3.1, 6.9, -4.6, 4.6, 9.3, 0.0],
        &[0.1, 0.9, -2.2, 0.8, -0.1, 4.7],
    ]);
    let p =
        FrictionProblem::new(a, vec![0.1, -1.0, -0.6, -1.3, -1.1, 1.4], vec![0.5, 10.0], 3, Friction::Cone);
    let p = p.unwrap();
    let report = solve_contacts(p.view(), &portfolio::Settings::default());
    assert_eq!(report.status, Status::Solved, "{report:?}");
    assert!(residual::friction(&p, &report.solution).relative <= 1e-8);
}
