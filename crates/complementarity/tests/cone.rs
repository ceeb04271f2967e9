//! Coulomb's cone: all solvers on families of problems, and the cases that are hard for one of them.
#![allow(missing_docs)]

mod piles;

use complementarity::matrix::Matrix;
use complementarity::operator::{BlockMatrix, Operator};
use complementarity::problem::{ConeProblem, Friction, FrictionProblem, Sets};
use complementarity::report::Status;
use complementarity::residual::{self, ConeScratch};
use complementarity::solver::admm::Admm;
use complementarity::solver::cone::ConeSolver;
use complementarity::solver::cone_interior_point::ConeInteriorPoint;
use complementarity::solver::gauss_seidel::GaussSeidel;
use complementarity::solver::newton::exact::{self, ExactProximal};
use complementarity::solver::newton::{self, Newton};
use complementarity::solver::portfolio::{self, solve_cone};
use complementarity::solver::{End, Outcome};
use piles::{Owned, boxes, rocks, signed, spheres, uniform};

const SOLVERS: [&str; 5] = ["auto", "gauss-seidel", "newton", "proximal-newton", "exact-proximal"];

fn solve(name: &str, p: ConeProblem<'_>, tolerance: f64, lambda: &mut [f64]) -> Outcome {
    match name {
        "gauss-seidel" => {
            let mut solver = GaussSeidel::default();
            solver.settings.tolerance = tolerance;
            solver.solve(p, lambda)
        }
        "newton" | "proximal-newton" => {
            let proximal = name == "proximal-newton";
            Newton::new(newton::Settings { tolerance, proximal, ..Default::default() }).solve(p, lambda)
        }
        "admm" => {
            let mut solver = Admm::default();
            solver.settings.tolerance = tolerance;
            solver.solve(p, lambda)
        }
        "cone-interior-point" => {
            let mut solver = ConeInteriorPoint::default();
            solver.settings.tolerance = tolerance;
            solver.solve(p, lambda)
        }
        "exact-proximal" => {
            let mut solver = ExactProximal::default();
            solver.settings.tolerance = tolerance;
            solver.solve(p, lambda)
        }
        _ => {
            let mut solver = ConeSolver::default();
            solver.settings.tolerance = tolerance;
            solver.solve(p, lambda)
        }
    }
}

fn speeds(p: ConeProblem<'_>, lambda: &[f64]) -> Vec<f64> {
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
    Owned { a: Operator::Dense(a), b, mu: vec![mu; contacts], rows }
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
            // these come near it step by step
            for name in ["admm", "cone-interior-point"] {
                let mut lambda = vec![0.0; p.b.len()];
                let outcome = solve(name, p.problem(), 1e-9, &mut lambda);
                assert!(outcome.is_solved(), "{name} {rows} {contacts}: {outcome:?}");
                assert!(far(&lambda, &answers[0]) < 1e-7, "{name} {rows} {contacts}");
            }
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
    let mut solver = ConeSolver::default();
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
                    let p = Owned { a: Operator::Dense(a), b, mu: vec![mu], rows };
                    for &set in if rows == 3 { &sets[..] } else { &sets[..1] } {
                        let mut lambda = vec![0.0; rows];
                        let given = ConeProblem { sets: Sets::All(set), ..p.problem() };
                        let outcome = solver.solve(given, &mut lambda);
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
        alone.iter().enumerate().flat_map(|(k, p)| (0..p.mu.len()).map(move |c| (k, c))).collect();
    let mut random = 9;
    order.sort_by_key(|_| (1e6 * uniform(&mut random)) as usize);
    let dense_of = |p: &Owned| p.a.to_dense();
    let matrices: Vec<Matrix> = alone.iter().map(dense_of).collect();
    let a = Matrix::from_fn(n, n, |i, j| {
        let ((k, c), (l, d)) = (order[i / 3], order[j / 3]);
        if k == l { matrices[k][(3 * c + i % 3, 3 * d + j % 3)] } else { 0.0 }
    });
    let b = order.iter().flat_map(|&(k, c)| alone[k].b[3 * c..][..3].to_vec()).collect();
    let together = Owned { a: Operator::Dense(a), b, mu: vec![0.4; order.len()], rows: 3 };
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

/// From the last forces a solution costs nothing, and a changed load at most three quarters of what it costs from zero: sweeps converge linearly.
#[test]
fn warm_start_is_free_where_nothing_changed_and_cheap_where_little_did() {
    let stack = boxes(6, 0.5, 0.01, 0.001);
    let coupled = dense(20, 3, 0.4, 3);
    let discs = SOLVERS.into_iter().chain(["admm", "cone-interior-point"]);
    let mixed = [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 12 }].repeat(8);
    let discs = discs.map(|name| (name, Sets::All(Friction::Cone)));
    for (name, sets) in discs.chain([("cone-interior-point", Sets::Each(&mixed))]) {
        // plain sweeps would take too many for the stack, and ADMM spends them on the forces that it leaves undetermined
        let p = if ["gauss-seidel", "admm"].contains(&name) { &coupled } else { &stack };
        let mut lambda = vec![0.0; p.b.len()];
        let solve =
            |p: &Owned, lambda: &mut [f64]| solve(name, ConeProblem { sets, ..p.problem() }, 1e-9, lambda);
        let cold = solve(p, &mut lambda);
        let again = solve(p, &mut lambda);
        assert!(cold.is_solved() && again.is_solved() && again.iterations == 0, "{name}: {cold:?} {again:?}");
        assert!(name != "auto" || again.solver == "warm-start");
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
    let short = ConeProblem { b: &p.b[..5], ..good };
    let wrong_rows = ConeProblem { rows: 7, ..good };
    let mu = [f64::NAN, 0.3];
    let bad_mu = ConeProblem { mu: &mu, ..good };
    let infinite = Operator::Dense(Matrix::from_fn(6, 6, |_, _| f64::INFINITY));
    let bad_a = ConeProblem { a: &infinite, ..good };
    for name in SOLVERS {
        for bad in [short, wrong_rows, bad_mu, bad_a] {
            assert_eq!(solve(name, bad, 1e-8, &mut [0.0; 6]).end, End::Invalid, "{name}");
        }
        assert_eq!(solve(name, good, 1e-8, &mut [0.0; 5]).end, End::Invalid, "{name}");
        let mut lambda = [f64::NAN; 6];
        assert!(solve(name, good, 1e-8, &mut lambda).is_solved(), "{name}");
        assert!(residual::cone(good, &lambda, &mut ConeScratch::default()).relative <= 1e-8);
    }
}

#[test]
fn pyramids_of_spheres_are_solved_and_the_judge_agrees() {
    for (side, mu, seed) in [(2, 0.3, 1), (4, 0.5, 2), (4, 0.9, 3), (6, 0.5, 4)] {
        let p = spheres(side, mu, seed);
        let mut lambda = vec![0.0; p.b.len()];
        let outcome = solve("auto", p.problem(), 1e-8, &mut lambda);
        let judged = residual::cone(p.problem(), &lambda, &mut ConeScratch::default());
        assert!(outcome.is_solved() && judged == outcome.residual, "{side} {mu}: {outcome:?}");
    }
}

/// No forces are good to 1e-18: a solver that is not stubborn sees soon that it does not get there.
#[test]
#[cfg(target_arch = "x86_64")]
fn without_stubbornness_large_islands_are_given_up_soon() {
    let p = spheres(6, 0.5, 4);
    let [soon, late] = [false, true].map(|stubborn| {
        let mut lambda = vec![0.0; p.b.len()];
        let mut solver = ConeSolver::default();
        (solver.settings.tolerance, solver.settings.stubborn) = (1e-18, stubborn);
        (solver.settings.max_sweeps, solver.settings.large) = (100, 0);
        let outcome = solver.solve(p.problem(), &mut lambda);
        assert!(!outcome.is_solved() && solver.unsolved().count() == 1, "{outcome:?}");
        assert_eq!(residual::cone(p.problem(), &lambda, &mut ConeScratch::default()), outcome.residual);
        outcome.iterations + outcome.wasted
    });
    assert!(2 * soon < late, "{soon} {late}");
}

/// Contacts with twins: the sweeps of the other Newton methods undo their steps here, and about half of these problems stop them above 1e-8.
#[test]
fn contacts_with_twins_are_solved_without_sweeps() {
    let (mut others, mut by_exact) = (0, 0);
    for apart in [1e-4, 1e-5, 1e-6, 1e-7] {
        for seed in 1..6 {
            let p = rocks(3, apart, seed);
            let mut lambda = vec![0.0; p.b.len()];
            let outcome = solve("exact-proximal", p.problem(), 1e-8, &mut lambda);
            assert!(outcome.is_solved(), "{apart} {seed}: {outcome:?}");
            lambda.fill(0.0);
            others += usize::from(solve("proximal-newton", p.problem(), 1e-8, &mut lambda).is_solved());
            let report = solve_cone(p.problem(), &portfolio::Settings::default());
            assert_eq!(
                report.status,
                Status::Solved,
                "{apart} {seed}: {} {:?}",
                report.solver,
                report.residual
            );
            by_exact += usize::from(report.solver == exact::NAME);
        }
    }
    assert!(
        others < 20 && by_exact > 0,
        "not hard: {others} solved by others, {by_exact} by the exact method"
    );
}

#[test]
fn exact_proximal_reaches_far_below_the_tolerance_and_keeps_the_best_where_it_cannot() {
    let p = rocks(3, 1e-5, 3);
    let mut lambda = vec![0.0; p.b.len()];
    let outcome = solve("exact-proximal", p.problem(), 1e-11, &mut lambda);
    assert!(outcome.is_solved(), "{outcome:?}");
    // out of reach: what it has found is kept, and is not worse than what it was given
    let given = outcome.residual.relative;
    let outcome = solve("exact-proximal", p.problem(), 1e-30, &mut lambda);
    assert!(outcome.end == End::Stalled && outcome.residual.relative <= given * (1.0 + 1e-9), "{outcome:?}");
    // no force can help: A = 0 and a speed into the ground
    let a = Operator::Dense(Matrix::zeros(3, 3));
    let stuck = Owned { a, b: vec![-1.0, 0.0, 0.0], mu: vec![0.5], rows: 3 };
    assert_eq!(solve("exact-proximal", stuck.problem(), 1e-8, &mut [0.0; 3]).end, End::Stalled);
}

/// A problem, not one of mechanics, on which methods lead each other astray: the exact proximal method solves it from zero only.
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
    let report = solve_cone(p.as_cone().unwrap(), &portfolio::Settings::default());
    assert_eq!(report.status, Status::Solved, "{report:?}");
    assert!(residual::friction(&p, &report.solution).relative <= 1e-8);
}
