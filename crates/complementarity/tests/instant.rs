//! Contact problems at an instant: the bounds of uniqueness hold, all solutions are found, and the laws of every group are satisfied.

use complementarity::matrix::{Matrix, dot};
use complementarity::problem::{Border, Group, InstantProblem};
use complementarity::report::Status;
use complementarity::solver::decide;
use complementarity::solver::instant::{Jam, Settings, conditions, cone_residual, solve_cone, solve_pyramid};

/// Numbers from -1 to 1, always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Rows over `dofs` velocities, and `A = J J'`.
fn rows(random: &mut Random, count: usize, dofs: usize) -> (Matrix, Matrix) {
    let jacobian = Matrix::from_fn(count, dofs, |_, _| random.next());
    let a = Matrix::from_fn(count, count, |i, j| dot(jacobian.row(i), jacobian.row(j)));
    (jacobian, a)
}

fn all() -> Settings {
    Settings { all: true, ..Settings::default() }
}

/// Two sliding and two rolling contacts in space, with one coefficient.
fn mixed(mu: f64) -> Vec<Group> {
    let slides = |t: f64, o: f64| Group::Sliding { ray: vec![1.0, -mu * t, -mu * o] };
    let rolls = || Group::Rolling { mu, axes: vec![1.0, 1.0] };
    vec![slides(0.6, 0.8), rolls(), slides(-1.0, 0.0), rolls()]
}

#[test]
fn below_mu_bar_there_is_one_solution() {
    let mut random = Random(7);
    let mut pressed = 0;
    for _ in 0..40 {
        let (jacobian, a) = rows(&mut random, 12, 16);
        let b: Vec<f64> = (0..12).map(|_| 3.0 * random.next() - 1.0).collect();
        let mu_bar = |mu: f64| {
            let problem = InstantProblem::new(a.clone(), b.clone(), mixed(mu)).unwrap();
            let known = conditions(&problem, &jacobian, &[mu; 4]);
            (known.mu_bar_uniqueness.unwrap(), known)
        };
        // the bound does not depend on the coefficient that is tested
        let (most, _) = mu_bar(0.3);
        assert!((most - mu_bar(0.01).0).abs() < 1e-9 * most && most > 0.0);
        let (_, known) = mu_bar(0.99 * most);
        assert!(known.exists && known.unique && known.positive_definite, "{known:?}");
        let problem = InstantProblem::new(a.clone(), b.clone(), mixed(0.99 * most)).unwrap();
        let found = solve_pyramid(&problem, &all()).unwrap();
        assert_eq!((found.status, found.complete), (Status::Solved, true));
        assert!(found.solutions[0].residual.relative < 1e-10);
        pressed += usize::from(found.solutions[0].forces.iter().any(|f| *f > 0.0));
        // and the cone has one, too
        let starts = [(found.solutions[0].forces.clone(), vec![])];
        let cone = solve_cone(&problem, &all(), &starts);
        assert_eq!(cone.status, Status::Solved);
        assert!(cone_residual(&problem, &cone.solutions[0].forces, &[]).relative < 1e-10);
    }
    assert!(pressed > 20, "{pressed}");
}

/// Laws row by row, written out: not the mixed LCP's own residual.
fn satisfies(problem: &InstantProblem, c: &[f64], tolerance: f64) {
    let a = problem.accelerations(c, &[]);
    let zero = |x: f64| assert!(x.abs() <= tolerance, "{x}: {c:?} {a:?}");
    let opposes = |a: f64, c: f64, bound: f64| {
        assert!(c.abs() <= bound + tolerance, "{c} of {bound}");
        if a.abs() > tolerance {
            zero(c + bound.copysign(a));
        }
    };
    for (k, group) in problem.groups().iter().enumerate() {
        let first = problem.rows_of(k).start;
        if !matches!(group, Group::Bounded { .. } | Group::Bilateral) {
            assert!(c[first] >= -tolerance && a[first] >= -tolerance);
            zero(c[first] * a[first]);
        }
        match group {
            Group::Rolling { mu, axes } => {
                for (i, e) in axes.iter().enumerate() {
                    opposes(a[first + 1 + i], c[first + 1 + i], mu * e * c[first]);
                }
            }
            Group::Sliding { ray } => {
                ray.iter().enumerate().for_each(|(i, r)| zero(c[first + i] - r * c[first]));
            }
            Group::Bounded { limit } => opposes(a[first], c[first], *limit),
            Group::Bilateral => zero(a[first]),
            Group::Unilateral => {}
        }
    }
}

#[test]
fn every_kind_of_group_obeys_its_law() {
    let mut random = Random(11);
    let mut kinds = [0; 2];
    for _ in 0..30 {
        // redundant rows too
        let (_, a) = rows(&mut random, 11, 9);
        let groups = vec![
            Group::Rolling { mu: 0.4, axes: vec![1.0, 1.0, 0.02] },
            Group::Sliding { ray: vec![1.0, 0.1, -0.2] },
            Group::Unilateral,
            Group::Bounded { limit: 0.7 },
            Group::Bilateral,
            Group::Bounded { limit: 0.1 },
        ];
        let b: Vec<f64> = (0..11).map(|_| random.next() - 0.3).collect();
        let problem = InstantProblem::new(a, b, groups).unwrap();
        let one = solve_pyramid(&problem, &Settings::default()).unwrap();
        let many = solve_pyramid(&problem, &all()).unwrap();
        for outcome in [&one, &many] {
            match outcome.status {
                Status::NoSolution => {
                    let mixed = problem.as_pyramid().unwrap().problem;
                    assert!(decide::verify(&mixed, outcome.proof.as_ref().unwrap()).is_ok());
                    kinds[1] += 1;
                }
                _ => {
                    assert!(!outcome.solutions.is_empty(), "{outcome:?}");
                    outcome.solutions.iter().for_each(|s| satisfies(&problem, &s.forces, 1e-8));
                    kinds[0] += 1;
                }
            }
        }
        assert_eq!(one.status == Status::NoSolution, many.status == Status::NoSolution);
        // the first solution lies within the ranges of all
        if many.complete && one.status == Status::Solved {
            for k in 0..problem.groups().len() {
                let force = one.solutions[0].forces[problem.rows_of(k).start];
                let inside = |s: &complementarity::solver::instant::Solution| {
                    s.ranges[k][0] - 1e-7 <= force && force <= s.ranges[k][1] + 1e-7
                };
                assert!(many.solutions.iter().any(inside), "{force}: {:?}", many.solutions);
            }
        }
    }
    assert!(kinds[0] > 20, "{kinds:?}");
}

/// A bead squeezed between two plates: forces balance each other, and plates that come together leave no solution.
#[test]
fn condition_36_tells_apart_what_squeezes() {
    for (closing, jam) in [(0.0, Jam::Holds), (1.0, Jam::Fails(-0.5)), (-1.0, Jam::Holds)] {
        let jacobian = Matrix::from_rows(&[&[1.0], &[-1.0]]);
        let a = Matrix::from_rows(&[&[1.0, -1.0], &[-1.0, 1.0]]);
        let groups = vec![Group::Unilateral, Group::Unilateral];
        let problem = InstantProblem::new(a, vec![0.0, -closing], groups).unwrap();
        let known = conditions(&problem, &jacobian, &[0.0; 2]);
        assert_eq!((known.rank, known.jam, known.exists), (1, jam, closing <= 0.0));
        let found = solve_pyramid(&problem, &all()).unwrap();
        let expected = [Status::Several, Status::NoSolution, Status::Solved]
            [usize::from(closing != 0.0) + usize::from(closing < 0.0)];
        assert_eq!(found.status, expected);
    }
}

/// A bead on a spring against a stop: K u = c + f, u >= 0.
#[test]
fn displacements_follow_stiffness_and_load() {
    for (load, moved, force) in [(3.0, 3.0 / 50.0, 0.0), (-3.0, 0.0, 3.0)] {
        let border = Border {
            jacobian: Matrix::from_rows(&[&[1.0]]),
            stiffness: Matrix::from_rows(&[&[50.0]]),
            load: vec![load],
        };
        let problem = InstantProblem::new(Matrix::zeros(1, 1), vec![0.0], vec![Group::Unilateral])
            .and_then(|p| p.with_border(border))
            .unwrap();
        for settings in [Settings::default(), all()] {
            let found = solve_pyramid(&problem, &settings).unwrap();
            assert_eq!(found.status, Status::Solved);
            let only = &found.solutions[0];
            assert!((only.displacements[0] - moved).abs() < 1e-15 && (only.forces[0] - force).abs() < 1e-14);
        }
    }
}

#[test]
fn wrong_parts_are_refused_with_their_place() {
    let wrong = |group: Group, rows: usize| {
        let a = Matrix::identity(rows);
        InstantProblem::new(a, vec![0.0; rows], vec![group]).unwrap_err().to_string()
    };
    assert_eq!(
        wrong(Group::Rolling { mu: -1.0, axes: vec![1.0] }, 2),
        "mu[0] = -1, expected a coefficient >= 0"
    );
    assert_eq!(wrong(Group::Sliding { ray: vec![0.5] }, 1), "ray[0] = 0.5, expected 1 along the normal");
    assert_eq!(wrong(Group::Bounded { limit: f64::NAN }, 1), "limit[0] = NaN, expected a force >= 0");
    assert_eq!(wrong(Group::Unilateral, 2), "b has 2 entries, expected 1");
}
