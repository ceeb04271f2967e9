//! The cone solvers on families of problems: redundant boxes, hard single contacts, random ones. The judge decides.

use crate::families;

use complementarity::matrix::Matrix;
use complementarity::operator::Operator;
use complementarity::problem::{ContactProblem, Element, Friction};
use complementarity::report::Status;
use complementarity::residual::{self, Evaluation};
use complementarity::solver::cone_interior_point::ConeInteriorPoint;
use complementarity::solver::portfolio::{self, solve_contacts};
use complementarity::solver::{End, Outcome};
use families::Uniform;

struct Problem {
    a: Operator,
    b: Vec<f64>,
    elements: Vec<Element>,
}

impl Problem {
    fn new(a: Matrix, b: Vec<f64>, mu: &[f64], rows: usize) -> Self {
        let elements = mu.iter().map(|&mu| Element::contact(rows, mu, Friction::Cone)).collect();
        Self { a: a.into(), b, elements }
    }

    fn parts(&self) -> ContactProblem<'_> {
        ContactProblem::new(&self.a, &self.b, &self.elements)
    }
}

/// `J J'` of a `rows * contacts` x `speeds` matrix.
fn gram(j: &Matrix) -> Matrix {
    Matrix::from_fn(j.rows(), j.rows(), |r, c| complementarity::matrix::dot(j.row(r), j.row(c)))
}

/// A unit box (mass 1, side 1) that rests on a grid of k x k points of its face, under a load in a random direction: `A` has rank 6.
fn box_on_a_grid(u: &mut Uniform, k: usize) -> Problem {
    let points: Vec<[f64; 3]> = (0..k * k)
        .map(|i| [(i / k) as f64 / (k - 1) as f64 - 0.5, (i % k) as f64 / (k - 1) as f64 - 0.5, -0.5])
        .collect();
    let inertia = (1.0f64 / 6.0).sqrt();
    // rows n, t, o of J M^-1/2: the direction, and the arm x direction
    let mut j = Matrix::zeros(3 * points.len(), 6);
    for (c, p) in points.iter().enumerate() {
        for (d, axis) in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].iter().enumerate() {
            let turn = [
                p[1] * axis[2] - p[2] * axis[1],
                p[2] * axis[0] - p[0] * axis[2],
                p[0] * axis[1] - p[1] * axis[0],
            ];
            for i in 0..3 {
                j[(3 * c + d, i)] = axis[i];
                j[(3 * c + d, 3 + i)] = turn[i] / inertia;
            }
        }
    }
    let load = [u.signed(), u.signed(), -1.0, 0.3 * u.signed(), 0.3 * u.signed(), 0.3 * u.signed()];
    let mu = vec![0.1 + 0.9 * u.next(); points.len()];
    Problem::new(gram(&j), j.times(&load), &mu, 3)
}

/// One contact whose block has a condition number up to 1e6.
fn hard_contact(u: &mut Uniform) -> Problem {
    let root = Matrix::from_fn(3, 3, |_, j| u.signed() * 10f64.powf(-1.5 * j as f64));
    let b = (0..3).map(|_| u.signed()).collect();
    let mu = vec![1.5 * u.next()];
    let mut a = gram(&root);
    (0..3).for_each(|i| a[(i, i)] += 1e-6);
    Problem::new(a, b, &mu, 3)
}

/// Contacts of 2 to 5 rows; `A` of full rank with `compliance`, else of about half.
fn random(u: &mut Uniform, compliance: f64) -> Problem {
    let rows = 2 + (4.0 * u.next()) as usize;
    let contacts = 1 + (8.0 * u.next()) as usize;
    let n = rows * contacts;
    let speeds = if compliance > 0.0 { n } else { n.div_ceil(2) };
    let j = Matrix::from_fn(n, speeds, |_, _| u.signed());
    let mut a = gram(&j);
    (0..n).for_each(|i| a[(i, i)] += compliance);
    // b in the range of A where it is singular: a load, as mechanics has it
    let load: Vec<f64> = (0..speeds).map(|_| u.signed()).collect();
    let mu: Vec<f64> = (0..contacts).map(|_| if u.next() < 0.1 { 0.0 } else { 0.8 * u.next() }).collect();
    Problem::new(a, j.times(&load), &mu, rows)
}

/// Solves `count` problems with a solver; how many it did not solve. What it calls solved must be so.
fn failures(
    count: usize,
    make: impl Fn(&mut Uniform) -> Problem,
    mut solve: impl FnMut(ContactProblem<'_>, &mut [f64]) -> Outcome,
) -> usize {
    let mut failed = 0;
    let mut u = Uniform(7);
    for k in 0..count {
        let p = make(&mut u);
        let mut lambda = vec![0.0; p.b.len()];
        let outcome = solve(p.parts(), &mut lambda);
        let judged = residual::contact(p.parts(), &lambda, &mut Evaluation::default());
        assert_eq!(judged, outcome.residual, "problem {k}");
        assert_eq!(outcome.is_solved(), judged.relative <= 1e-8);
        failed += usize::from(!outcome.is_solved());
    }
    failed
}

type Make = fn(&mut Uniform) -> Problem;

/// Families in which neither solver may fail.
const FAMILIES: [(&str, Make); 5] = [
    ("box on 4 points", |u| box_on_a_grid(u, 2)),
    ("box on 16 points", |u| box_on_a_grid(u, 4)),
    ("compliant", |u| random(u, 0.1)),
    ("hardly compliant", |u| random(u, 1e-3)),
    ("singular", |u| random(u, 0.0)),
];

#[test]
fn interior_point_solves_redundant_compliant_and_random_problems() {
    let mut solver = ConeInteriorPoint::default();
    for (name, make) in FAMILIES {
        assert_eq!(failures(200, make, |p, l| solver.solve(p, l)), 0, "{name}");
    }
}

/// Friction up to 1.5 with a condition number of 1e6: far from any theorem, and the path of the interior point can turn back.
#[test]
fn most_hard_single_contacts_are_solved() {
    let mut interior_point = ConeInteriorPoint::default();
    assert!(failures(300, hard_contact, |p, l| interior_point.solve(p, l)) <= 24);
}

#[test]
fn interior_point_reaches_rounding() {
    let mut solver = ConeInteriorPoint::default();
    solver.settings.tolerance = 1e-11;
    let mut u = Uniform(3);
    for k in 0..100 {
        let p = random(&mut u, 0.1);
        let outcome = solver.solve(p.parts(), &mut vec![0.0; p.b.len()]);
        assert!(outcome.is_solved(), "{k}: {outcome:?}");
    }
}

/// Loads changed a little: fewer iterations from the old forces than from zero, and the same forces where they are unique.
#[test]
fn warm_starts_save_iterations_and_a_solution_costs_none() {
    let mut solver = ConeInteriorPoint::default();
    for change in [1e-4, 1e-3, 1e-2, 1e-1] {
        let mut u = Uniform(11);
        let (mut cold, mut warm) = (0, 0);
        for _ in 0..50 {
            let mut p = random(&mut u, 0.1);
            let mut solve = |p: &Problem, lambda: &mut [f64]| {
                let outcome = solver.solve(p.parts(), lambda);
                assert!(outcome.is_solved());
                outcome.iterations
            };
            let (mut old, mut new) = (vec![0.0; p.b.len()], vec![0.0; p.b.len()]);
            solve(&p, &mut old);
            assert_eq!(solve(&p, &mut old), 0);
            p.b.iter_mut().for_each(|b| *b *= 1.0 + change * u.signed());
            cold += solve(&p, &mut new);
            warm += solve(&p, &mut old);
            let far = old.iter().zip(&new).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-5, "{far}");
        }
        assert!(3 * warm < 2 * cold, "{change}: {warm} of {cold}");
    }
}

/// Forces of another problem, and large ones: where it starts from its own centre in the end, what it can solve it still solves.
#[test]
fn bad_starts_do_not_keep_the_interior_point_from_what_it_can_solve() {
    let mut solver = ConeInteriorPoint::default();
    for (name, make) in FAMILIES {
        for size in [1e-3, 1.0, 1e6] {
            let mut start = Uniform(5);
            let solve = |p: ContactProblem<'_>, lambda: &mut [f64]| {
                lambda.iter_mut().for_each(|l| *l = size * start.signed());
                solver.solve(p, lambda)
            };
            assert_eq!(failures(100, make, solve), 0, "{name} {size}");
        }
    }
}

#[test]
fn parts_that_do_not_fit_and_empty_problems_are_answered() {
    let p = hard_contact(&mut Uniform(1));
    let mut solver = ConeInteriorPoint::default();
    let [bad_mu, bad_rows] =
        [(3, -1.0), (1, 0.5)].map(|(rows, mu)| [Element::contact(rows, mu, Friction::Cone)]);
    for bad in [
        ContactProblem { b: &p.b[..2], ..p.parts() },
        ContactProblem { elements: &bad_mu, ..p.parts() },
        ContactProblem { elements: &bad_rows, ..p.parts() },
        ContactProblem { b: &[f64::NAN, 0.0, 0.0], ..p.parts() },
    ] {
        assert_eq!(solver.solve(bad, &mut [0.0; 3]).end, End::Invalid);
    }
    let none = Problem::new(Matrix::zeros(0, 0), vec![], &[], 3);
    assert!(solver.solve(none.parts(), &mut []).is_solved());
    // no force can help: A = 0 and a velocity into the ground
    let stuck = Problem::new(Matrix::zeros(3, 3), vec![-1.0, 0.0, 0.0], &[0.5], 3);
    assert_eq!(solver.solve(stuck.parts(), &mut [0.0; 3]).end, End::Stalled);
}

#[test]
fn auto_asks_all_solvers_before_it_gives_up() {
    for (name, make) in FAMILIES.into_iter().chain([("hard contact", hard_contact as Make)]) {
        let mut u = Uniform(7);
        for k in 0..300 {
            let p = make(&mut u);
            let report = solve_contacts(p.parts(), &portfolio::Settings::default());
            assert_eq!(report.status, Status::Solved, "{name} {k}: {:?}", report.residual);
        }
    }
}
