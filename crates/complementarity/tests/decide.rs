//! `decide` against problems whose answer is known: none, one, several, infinitely many.

use complementarity::matrix::Matrix;
use complementarity::problem::{Lcp, MixedLcp};
use complementarity::report::{Certificate, Piece, Proof, ProofNode, Report, Status};
use complementarity::residual;
use complementarity::solver::Budget;
use complementarity::solver::decide::{Refuted, Settings, solve, verify};

/// A small generator of its own, so that the problems never change.
struct Random(u64);

impl Random {
    /// Uniform in [-1, 1).
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Matrix {
        Matrix::from_fn(rows, columns, |_, _| self.draw())
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.draw()).collect()
    }
}

fn lcp(rows: &[&[f64]], q: &[f64]) -> MixedLcp {
    MixedLcp::from(&Lcp::new(Matrix::from_rows(rows), q.to_vec()).expect("finite and square"))
}

fn one(problem: &MixedLcp) -> Report {
    solve(problem, &Settings::default(), &mut Budget::default(), &mut |_| {})
}

fn all(problem: &MixedLcp) -> Report {
    solve(problem, &Settings { all: true, ..Settings::default() }, &mut Budget::default(), &mut |_| {})
}

fn pieces(report: &Report) -> &[Piece] {
    match &report.certificate {
        Certificate::Solutions { pieces, complete: true } => pieces,
        other => panic!("no complete list of solutions: {:?} {other:?}", report.status),
    }
}

/// The proof of a report that claims no solution, verified.
fn proof(problem: &MixedLcp, report: &Report) -> Proof {
    assert_eq!(report.status, Status::NoSolution, "{:?}", report.certificate);
    let Certificate::NoSolution(proof) = &report.certificate else { panic!("no proof") };
    assert!(verify(problem, proof).is_ok_and(|radius| radius >= proof.radius));
    proof.clone()
}

/// Solves `a x = b` by elimination; `None` if a pivot is tiny.
fn eliminate(mut a: Matrix, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs()))?;
        if a[(p, k)].abs() < 1e-9 {
            return None;
        }
        for j in 0..n {
            let (x, y) = (a[(k, j)], a[(p, j)]);
            a[(k, j)] = y;
            a[(p, j)] = x;
        }
        b.swap(k, p);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[(i, k)] / a[(k, k)];
            for j in 0..n {
                a[(i, j)] -= factor * a[(k, j)];
            }
            b[i] -= factor * b[k];
        }
    }
    Some((0..n).map(|k| b[k] / a[(k, k)]).collect())
}

/// All solutions of a nondegenerate LCP, by trying every complementary basis; `None` if a basis is too near
/// to degenerate or singular to tell.
fn brute_force(m: &Matrix, q: &[f64]) -> Option<Vec<Vec<f64>>> {
    let n = q.len();
    let mut found = vec![];
    for set in 0..1u32 << n {
        let active: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let block = Matrix::from_fn(active.len(), active.len(), |i, j| m[(active[i], active[j])]);
        let x = eliminate(block, active.iter().map(|&i| -q[i]).collect())?;
        let mut z = vec![0.0; n];
        for (&i, x) in active.iter().zip(&x) {
            z[i] = *x;
        }
        let w: Vec<f64> = m.times(&z).iter().zip(q).map(|(w, q)| w + q).collect();
        let value: Vec<f64> = (0..n).map(|i| if active.contains(&i) { z[i] } else { w[i] }).collect();
        if value.iter().any(|x| x.abs() < 1e-6) {
            return None;
        }
        if value.iter().all(|&x| x > 0.0) {
            found.push(z);
        }
    }
    Some(found)
}

#[test]
fn the_number_of_solutions_is_that_of_brute_force() {
    let mut random = Random(7);
    let mut counts = [0usize; 4];
    for n in 1..=7 {
        for round in 0..60 {
            let b = random.matrix(n, n);
            let product = |i: usize, j: usize| (0..n).map(|k| b[(k, i)] * b[(k, j)]).sum::<f64>();
            let m = match round % 5 {
                0 => b.clone(),
                1 => Matrix::from_fn(n, n, product),
                2 => Matrix::from_fn(n, n, |i, j| product(i, j) + 2.0 * (b[(i, j)] - b[(j, i)])),
                3 => Matrix::from_fn(n, n, |i, j| b[(i, j)] + b[(j, i)]),
                _ => Matrix::from_fn(n, n, |i, j| b[(i, j)] - if i == j { 1.5 } else { 0.0 }),
            };
            let q = random.vector(n);
            let Some(expected) = brute_force(&m, &q) else { continue };
            let problem = MixedLcp::from(&Lcp::new(m, q).unwrap());
            let (one, all) = (one(&problem), all(&problem));
            counts[expected.len().min(3)] += 1;
            if expected.is_empty() {
                proof(&problem, &one);
                proof(&problem, &all);
                continue;
            }
            assert_eq!(one.status, Status::Solved);
            assert!(
                one.residual.relative < 1e-12 && residual::mixed(&problem, &one.solution) == one.residual
            );
            let found = pieces(&all);
            assert_eq!(found.len(), expected.len(), "n = {n}, round {round}");
            assert_eq!(all.status, if expected.len() == 1 { Status::Solved } else { Status::Several });
            for z in &expected {
                let nearest = (found.iter())
                    .map(|p| p.point.iter().zip(z).map(|(a, b)| (a - b).abs()).sum::<f64>())
                    .fold(f64::INFINITY, f64::min);
                let size: f64 = z.iter().map(|x| x.abs()).sum();
                assert!(nearest < 1e-8 * (1.0 + size), "n = {n}, round {round}: off by {nearest}");
            }
            assert!(found.iter().all(|p| p.dimension == 0 && !p.unbounded));
        }
    }
    assert!(counts.iter().all(|&c| c > 10), "every kind was met: {counts:?}");
}

#[test]
fn a_linearly_infeasible_problem_has_a_proof_of_one_leaf() {
    for (m, q) in [(-1.0, -1.0), (0.0, -1.0), (-1e8, -1e-9), (0.0, -1e-100)] {
        let problem = lcp(&[&[m]], &[q]);
        let p = proof(&problem, &one(&problem));
        assert_eq!((p.nodes.len(), p.radius), (1, f64::INFINITY), "M = {m}, q = {q}");
        proof(&problem, &all(&problem));
    }
}

#[test]
fn a_feasible_relaxation_without_complementary_point_is_refuted_by_branching() {
    // w1 = z1 - 1 >= 0 forces z1 >= 1, so w1 = 0, z1 = 1; w2 = z1 - z2 - 2 < 0
    let infeasible = lcp(&[&[1.0, 0.0], &[1.0, -1.0]], &[-1.0, -2.0]);
    let p = proof(&infeasible, &one(&infeasible));
    assert!(p.nodes.len() >= 3);
    proof(&infeasible, &all(&infeasible));
    // k independent copies of it, each alone enough
    for k in [3, 10, 30] {
        let m = Matrix::from_fn(2 * k, 2 * k, |i, j| {
            if i / 2 == j / 2 { [[1.0, 0.0], [1.0, -1.0]][i % 2][j % 2] } else { 0.0 }
        });
        let q = (0..2 * k).map(|i| [-1.0, -2.0][i % 2]).collect();
        let problem = MixedLcp::from(&Lcp::new(m, q).unwrap());
        let p = proof(&problem, &one(&problem));
        assert!(p.nodes.len() < 10, "{} nodes for {k} copies", p.nodes.len());
    }
}

#[test]
fn a_p_matrix_has_exactly_one_solution_also_when_large() {
    let mut random = Random(3);
    for n in [20, 40, 60] {
        let b = random.matrix(n, n);
        let m = Matrix::from_fn(n, n, |i, j| {
            (0..n).map(|k| b[(k, i)] * b[(k, j)]).sum::<f64>() + if i == j { 0.1 } else { 0.0 }
        });
        let problem = MixedLcp::from(&Lcp::new(m, random.vector(n)).unwrap());
        let r = one(&problem);
        assert!(r.status == Status::Solved && r.residual.relative < 1e-12);
        assert!(matches!(r.certificate, Certificate::Basis { .. }));
    }
}

#[test]
fn minus_identity_has_two_to_the_n_solutions() {
    for n in 1..=7 {
        let m = Matrix::from_fn(n, n, |i, j| if i == j { -1.0 } else { 0.0 });
        let problem = MixedLcp::from(&Lcp::new(m, vec![1.0; n]).unwrap());
        let r = all(&problem);
        assert_eq!((r.status, pieces(&r).len()), (Status::Several, 1 << n));
    }
}

#[test]
fn continua_are_described() {
    // M = 0, q = 0: every z >= 0
    let r = all(&lcp(&[&[0.0, 0.0], &[0.0, 0.0]], &[0.0, 0.0]));
    let p = pieces(&r);
    assert_eq!((r.status, p.len(), p[0].dimension, p[0].unbounded), (Status::Several, 1, 2, true));
    assert!(p[0].point.iter().all(|&z| z > 0.0));

    // z1 - z2 in both directions: w = 0 on the ray z1 = z2, nothing else
    let r = all(&lcp(&[&[1.0, -1.0], &[-1.0, 1.0]], &[0.0, 0.0]));
    let p = pieces(&r);
    assert_eq!((p.len(), p[0].dimension, p[0].unbounded), (1, 1, true));
    assert_eq!((&p[0].z_support[..], &p[0].w_support[..]), (&[0, 1][..], &[][..]));

    // z1 + z2 = 1: a segment
    let r = all(&lcp(&[&[1.0, 1.0], &[1.0, 1.0]], &[-1.0, -1.0]));
    let p = pieces(&r);
    assert_eq!((r.status, p.len(), p[0].dimension, p[0].unbounded), (Status::Several, 1, 1, false));
    assert!(p[0].residual.relative < 1e-12);

    // M = [[0]], q = 0 next to M = [[-1]], q = 1: two parallel rays
    let r = all(&lcp(&[&[0.0, 0.0], &[0.0, -1.0]], &[0.0, 1.0]));
    let p = pieces(&r);
    assert_eq!((p.len(), p[0].dimension, p[1].dimension), (2, 1, 1));
}

#[test]
fn a_degenerate_solution_is_counted_once() {
    // z = 0 = w: the same point on both sides of every branch
    let r = all(&lcp(&[&[1.0, 0.0], &[0.0, 1.0]], &[0.0, 0.0]));
    assert_eq!((r.status, pieces(&r).len()), (Status::Solved, 1));
    assert_eq!(r.solution, [0.0, 0.0]);
}

#[test]
fn degenerate_problems_of_small_integers_are_covered_by_their_pieces() {
    let mut random = Random(5);
    let (mut none, mut continua) = (0, 0);
    for round in 0..400 {
        let n = 2 + round % 5;
        let mut integer = |size: f64| (size * random.draw()).round();
        let m = Matrix::from_fn(n, n, |_, _| integer(1.4));
        let q: Vec<f64> = (0..n).map(|_| integer(1.2)).collect();
        let problem = MixedLcp::from(&Lcp::new(m.clone(), q.clone()).unwrap());
        let (one, all) = (one(&problem), all(&problem));
        if all.status == Status::NoSolution {
            proof(&problem, &one);
            proof(&problem, &all);
            none += 1;
            continue;
        }
        assert_eq!(one.status, Status::Solved, "round {round}");
        let found = pieces(&all);
        continua += usize::from(found.iter().any(|p| p.dimension > 0));
        for p in found {
            let w = problem.slack(&p.point);
            assert!(p.residual.relative < 1e-12);
            assert!(
                p.z_support.iter().all(|&i| p.point[i] > 1e-9) && p.w_support.iter().all(|&i| w[i] > 1e-9)
            );
            assert!(p.z_support.iter().all(|i| !p.w_support.contains(i)));
        }
        // every basic solution lies in a piece
        for set in 0..1u32 << n {
            let active: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
            let block = Matrix::from_fn(active.len(), active.len(), |i, j| m[(active[i], active[j])]);
            let Some(x) = eliminate(block, active.iter().map(|&i| -q[i]).collect()) else { continue };
            let mut z = vec![0.0; n];
            for (&i, x) in active.iter().zip(&x) {
                z[i] = *x;
            }
            let w = problem.slack(&z);
            if z.iter().chain(&w).all(|&x| x > -1e-12) {
                let lies_in = |p: &&Piece| {
                    (0..n).all(|i| {
                        (z[i] < 1e-9 || p.z_support.contains(&i)) && (w[i] < 1e-9 || p.w_support.contains(&i))
                    })
                };
                assert!(found.iter().any(|p| lies_in(&p)), "round {round}: {z:?} is in no piece");
            }
        }
    }
    assert!(none > 20 && continua > 20, "{none} without solution, {continua} with continua");
}

fn mixed(rows: &[&[f64]], q: &[f64], complementary: &[bool]) -> MixedLcp {
    MixedLcp::new(Matrix::from_rows(rows), q.to_vec(), complementary.to_vec()).expect("finite and square")
}

#[test]
fn mixed_problems_with_singular_free_blocks() {
    // z0 free only in w1 = z0 - 1, equality row: z1 - 2 = 0: so z1 = 2, w1 = 0, z0 = 1
    let p = mixed(&[&[0.0, 1.0], &[1.0, 0.0]], &[-2.0, -1.0], &[false, true]);
    let r = one(&p);
    assert_eq!((r.status, &r.solution[..]), (Status::Solved, &[1.0, 2.0][..]));
    assert_eq!(all(&p).status, Status::Solved);

    // equality row empty and contradictory
    let p = mixed(&[&[0.0, 0.0], &[0.0, 1.0]], &[1.0, -1.0], &[false, true]);
    proof(&p, &one(&p));

    // equality row empty and true: z0 is anything
    let p = mixed(&[&[0.0, 0.0], &[0.0, 1.0]], &[0.0, -1.0], &[false, true]);
    assert_eq!(one(&p).status, Status::Solved);
    let r = all(&p);
    assert_eq!((r.status, pieces(&r)[0].dimension, pieces(&r)[0].unbounded), (Status::Several, 1, true));

    // two equalities that say the same of two free variables
    let rows: [&[f64]; 3] = [&[1.0, 1.0, 0.0], &[2.0, 2.0, 0.0], &[0.0, 0.0, 1.0]];
    let p = mixed(&rows, &[-1.0, -2.0, -1.0], &[false, false, true]);
    assert_eq!(one(&p).status, Status::Solved);
    assert_eq!(pieces(&all(&p))[0].dimension, 1);
    // and two that contradict each other
    let p = mixed(&rows, &[-1.0, -3.0, -1.0], &[false, false, true]);
    proof(&p, &one(&p));
}

#[test]
fn mixed_problems_agree_with_the_lcp_of_their_elimination() {
    let mut random = Random(11);
    let mut none = 0;
    for round in 0..60 {
        let n = 3 + round % 6;
        let free = 1 + round % 2;
        let problem =
            MixedLcp::new(random.matrix(n, n), random.vector(n), (0..n).map(|i| i >= free).collect())
                .unwrap();
        let lcp = MixedLcp::from(&problem.eliminate().unwrap().lcp);
        let (a, b) = (all(&problem), all(&lcp));
        assert_eq!(a.status, b.status, "round {round}");
        if a.status == Status::NoSolution {
            proof(&problem, &a);
            none += 1;
        } else {
            assert_eq!(pieces(&a).len(), pieces(&b).len(), "round {round}");
        }
    }
    assert!(none > 5);
}

#[test]
fn answers_do_not_depend_on_units() {
    let mut random = Random(23);
    for round in 0..40 {
        let n = 2 + round % 5;
        let (m, q) = (random.matrix(n, n), random.vector(n));
        let scale: Vec<f64> = (0..n).map(|_| 10f64.powf(5.0 * random.draw())).collect();
        let scaled = Matrix::from_fn(n, n, |i, j| scale[i] * m[(i, j)] * scale[j]);
        let scaled_q = (0..n).map(|i| 1e6 * scale[i] * q[i]).collect();
        let (plain, scaled) = (Lcp::new(m, q).unwrap(), Lcp::new(scaled, scaled_q).unwrap());
        let (a, b) = (all(&MixedLcp::from(&plain)), all(&MixedLcp::from(&scaled)));
        assert_eq!(a.status, b.status, "round {round}");
    }
}

#[test]
fn extreme_numbers_end_in_a_report_not_in_a_panic() {
    let mut random = Random(31);
    for round in 0..300 {
        let n = 1 + round % 5;
        let spread = [20.0, 100.0, 300.0][round % 3];
        let mut number = || {
            let exponent = spread * random.draw();
            random.draw().signum() * 10f64.powf(exponent)
        };
        let m = Matrix::from_fn(n, n, |_, _| number());
        let q: Vec<f64> = (0..n).map(|_| number()).collect();
        let complementary = (0..n).map(|i| i > 0 || round % 2 == 0).collect();
        let problem = MixedLcp::new(m, q, complementary).unwrap();
        for report in [one(&problem), all(&problem)] {
            match report.status {
                Status::NoSolution => drop(proof(&problem, &report)),
                Status::Solved | Status::Several => {
                    assert!(residual::mixed(&problem, &report.solution).relative <= 1e-8);
                }
                Status::Undecided | Status::Stalled => {}
            }
        }
    }
}

/// A problem with a proof of several leaves.
fn refutable() -> (MixedLcp, Proof) {
    let problem = lcp(&[&[1.0, 0.0, 0.0], &[1.0, -1.0, 0.5], &[0.0, 0.25, 1.0]], &[-1.0, -2.0, 1.0]);
    let p = proof(&problem, &one(&problem));
    assert!(p.nodes.len() >= 3);
    (problem, p)
}

#[test]
fn tampered_proofs_are_refuted() {
    let (problem, good) = refutable();
    for at in 0..good.nodes.len() {
        let mut dropped = good.clone();
        dropped.nodes.remove(at);
        assert!(verify(&problem, &dropped).is_err(), "without node {at}");

        let mut doubled = good.clone();
        doubled.nodes.insert(at, good.nodes[at].clone());
        assert!(verify(&problem, &doubled).is_err(), "with node {at} twice");

        let mut changed = good.clone();
        match &mut changed.nodes[at] {
            ProofNode::Branch { pair } => {
                *pair = 7;
                assert_eq!(verify(&problem, &changed), Err(Refuted::NoSuchPair { node: at, pair: 7 }));
            }
            ProofNode::Leaf { y } => {
                y.iter_mut().for_each(|y| *y = -*y);
                assert!(verify(&problem, &changed).is_err(), "leaf {at} negated");
                let ProofNode::Leaf { y } = &mut changed.nodes[at] else { unreachable!() };
                y.fill(0.0);
                assert!(matches!(verify(&problem, &changed), Err(Refuted::NoContradiction { .. })));
            }
        }
    }
    // the proof of one problem does not serve another that has a solution
    let solvable = lcp(&[&[1.0, 0.0, 0.0], &[1.0, 1.0, 0.5], &[0.0, 0.25, 1.0]], &[-1.0, -2.0, 1.0]);
    assert_eq!(one(&solvable).status, Status::Solved);
    let found = verify(&solvable, &Proof { radius: 0.0, ..good });
    let size: f64 = one(&solvable).solution.iter().sum();
    assert!(found.is_err() || found.unwrap() <= size);
}

#[test]
fn limits_end_undecided_and_say_how_far_the_search_got() {
    let (problem, _) = refutable();
    let r = solve(
        &problem,
        &Settings { max_nodes: 1, ..Settings::default() },
        &mut Budget::default(),
        &mut |_| {},
    );
    assert_eq!(r.status, Status::Undecided);
    let Certificate::Stopped { reason, .. } = &r.certificate else { panic!("no reason") };
    assert!(reason.contains("limit of 1 nodes") && reason.contains('%'), "{reason}");

    let many = |limit| {
        let m = Matrix::from_fn(8, 8, |i, j| if i == j { -1.0 } else { 0.0 });
        let problem = MixedLcp::from(&Lcp::new(m, vec![1.0; 8]).unwrap());
        solve(
            &problem,
            &Settings { all: true, max_pieces: limit, ..Settings::default() },
            &mut Budget::default(),
            &mut |_| {},
        )
    };
    let r = many(5);
    assert_eq!(r.status, Status::Several);
    assert!(
        matches!(&r.certificate, Certificate::Solutions { pieces, complete: false } if pieces.len() == 5)
    );
    let r = many(1);
    assert_eq!(r.status, Status::Undecided);
    assert!(
        matches!(&r.certificate, Certificate::Solutions { pieces, complete: false } if pieces.len() == 1)
    );
}

#[test]
fn the_watcher_hears_a_growing_share() {
    let m = Matrix::from_fn(9, 9, |i, j| if i == j { -1.0 } else { 0.0 });
    let problem = MixedLcp::from(&Lcp::new(m, vec![1.0; 9]).unwrap());
    let mut shares = vec![];
    let r =
        solve(&problem, &Settings { all: true, ..Settings::default() }, &mut Budget::default(), &mut |p| {
            shares.push(p.share.unwrap());
        });
    assert_eq!(pieces(&r).len(), 512);
    assert!(shares.len() > 3 && shares.is_sorted() && shares.iter().all(|s| (0.0..=1.0).contains(s)));
}

#[test]
fn the_empty_problem_is_solved() {
    let problem = MixedLcp::from(&Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap());
    assert_eq!(one(&problem).status, Status::Solved);
    assert_eq!(all(&problem).status, Status::Solved);
}
