//! The residual has no units, and solvers do not see them either.

use crate::piles;

use complementarity::matrix::{Matrix, dot};
use complementarity::operator::{BlockMatrix, Factored, Operator};
use complementarity::problem::{ContactProblem, Element, Friction, FrictionProblem};
use complementarity::residual::{self, Evaluation, Residual};
use complementarity::solver::{Method, Solver};
use piles::{Owned, boxes, rocks, signed, spheres, uniform};
use proptest::prelude::*;

const METHODS: [Method; 5] =
    [Method::Auto, Method::GaussSeidel, Method::Newton, Method::ProximalNewton, Method::ConeInteriorPoint];

fn evaluate(p: &Owned, lambda: &[f64]) -> Residual {
    residual::contact(p.problem(), lambda, &mut Evaluation::default())
}

/// Elements of all kinds that see each other.
fn mixed(seed: u64) -> Owned {
    let mut random = seed;
    let elements = vec![
        Element::contact(3, 0.4, Friction::Cone),
        Element::contact(4, 0.3, Friction::Ellipsoid).with_axes(&[1.0, 0.5, 0.02]),
        Element::contact(6, 0.5, Friction::Cone),
        Element::contact(3, 0.2, Friction::Polygon { sides: 6 }),
        Element::Unilateral,
        Element::Bounded { limit: 0.2 },
        Element::Bilateral,
        Element::contact(2, 0.6, Friction::Pyramid),
    ];
    let n: usize = elements.iter().map(Element::rows).sum();
    let g = Matrix::from_fn(n, n, |_, _| signed(&mut random));
    let a = Matrix::from_fn(n, n, |i, j| dot(g.row(i), g.row(j)) / n as f64);
    let b = (0..n).map(|_| signed(&mut random) - 0.3).collect();
    Owned { a: Operator::Dense(a), b, elements }
}

/// The problem families of these tests.
fn families(seed: u64) -> Vec<Owned> {
    let r = &mut (seed + 77);
    vec![
        mixed(seed),
        spheres(2 + seed as usize % 3, uniform(r), seed),
        boxes(1 + seed as usize % 5, uniform(r), 0.01, 0.02 * uniform(r)),
        rocks(2, 1e-4, seed),
    ]
}

/// The same in other units: forces times `force`, velocities times `velocity`, lengths times `length`.
fn in_units(p: &Owned, lambda: &[f64], [force, velocity, length]: [f64; 3]) -> (Owned, Vec<f64>) {
    let (mut forces, mut speeds, mut elements) = (vec![], vec![], p.elements.clone());
    for e in &mut elements {
        for k in 0..e.rows() {
            let arm = if k >= 3 { length } else { 1.0 };
            forces.push(force * arm);
            speeds.push(velocity / arm);
        }
        match e {
            Element::Contact(c) if c.rows > 3 => {
                c.friction = Friction::Ellipsoid;
                c.axes[2..].iter_mut().for_each(|axis| *axis *= length);
            }
            Element::Bounded { limit } => *limit *= force,
            _ => {}
        }
    }
    let a = match &p.a {
        // free bodies: the velocities of bodies stay as they are, the rows and c carry the units
        Operator::Factored(f) => {
            let mut out = Factored::default();
            out.clear(f.speeds(), f.share() * velocity / force);
            for c in 0..f.elements() {
                out.begin(f.rows(c));
                for (s, w) in f.segments(c) {
                    out.segment(s.first, s.len).copy_from_slice(w);
                }
            }
            Operator::Factored(out)
        }
        other => {
            let a = other.to_dense();
            Operator::Dense(Matrix::from_fn(a.rows(), a.rows(), |i, j| speeds[i] * a[(i, j)] / forces[j]))
        }
    };
    let b = p.b.iter().zip(&speeds).map(|(b, s)| b * s).collect();
    (Owned { a, b, elements }, lambda.iter().zip(&forces).map(|(l, f)| l * f).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Any forces, good or bad, in any units of mass, length and time.
    #[test]
    fn residual_does_not_change_with_the_units(seed in 1u64..1000, powers in prop::array::uniform3(-12i32..=12), size in -8i32..=2) {
        let units = powers.map(|p| 10f64.powi(p));
        let mut random = seed;
        for p in families(seed) {
            let lambda: Vec<f64> = (0..p.b.len()).map(|_| 10f64.powi(size) * signed(&mut random)).collect();
            let (scaled, forces) = in_units(&p, &lambda, units);
            let (here, there) = (evaluate(&p, &lambda).relative, evaluate(&scaled, &forces).relative);
            prop_assert!(here > 0.0 && (there / here - 1.0).abs() < 1e-6, "{} {}", here, there);
        }
    }

    /// The masses of one island, beside another: light bodies do not hide among heavy ones, nor heavy ones among light.
    #[test]
    fn residual_does_not_change_with_the_masses_of_an_island(seed in 1u64..1000, power in -12i32..=12) {
        let scale = 10f64.powi(power);
        let mut random = seed;
        for p in families(seed) {
            let lambda: Vec<f64> = (0..p.b.len()).map(|_| signed(&mut random)).collect();
            let (other, forces) = in_units(&p, &lambda, [scale, 1.0, 1.0]);
            let together = beside(&p, &other);
            let all = [&lambda[..], &forces].concat();
            let (alone, both) = (evaluate(&p, &lambda).relative, evaluate(&together, &all).relative);
            // the worst body of a factored problem is not known to the dense one
            let alone = alone.min(evaluate(&beside(&p, &p), &[&lambda[..], &lambda].concat()).relative);
            prop_assert!((both / alone - 1.0).abs() < 1e-6, "{} {}", alone, both);
            // one island solved, the other not
            let half = [&lambda[..], &vec![0.0; forces.len()]].concat();
            prop_assert!(evaluate(&together, &half).relative >= alone * (1.0 - 1e-6));
        }
    }
}

/// Two problems that do not influence each other, as one.
fn beside(p: &Owned, q: &Owned) -> Owned {
    let (a, d) = (p.a.to_dense(), q.a.to_dense());
    let n = a.rows();
    let a = Matrix::from_fn(n + d.rows(), n + d.rows(), |i, j| match (i < n, j < n) {
        (true, true) => a[(i, j)],
        (false, false) => d[(i - n, j - n)],
        _ => 0.0,
    });
    let elements = [&p.elements[..], &q.elements].concat();
    let mut offsets = vec![0];
    elements.iter().for_each(|e| offsets.push(offsets[offsets.len() - 1] + e.rows()));
    let blocks = BlockMatrix::from_elements(&a, &offsets);
    Owned { a: Operator::Blocks(blocks), b: [&p.b[..], &q.b].concat(), elements }
}

/// Three contacts of a body so light that `A` is near 1e9 s/kg, or so heavy that it is near 1e-9: forces that are a third off are no solution, and
/// every method finds those of the body of 1 kg, in its unit.
#[test]
fn light_and_heavy_bodies_are_solved_like_others() {
    for seed in 1..10 {
        let mut random = seed;
        let g = Matrix::from_fn(9, 9, |_, _| signed(&mut random));
        let a = Matrix::from_fn(9, 9, |i, j| dot(g.row(i), g.row(j)) / 9.0 + if i == j { 0.2 } else { 0.0 });
        let b: Vec<f64> =
            (0..9).map(|i| 0.1 * signed(&mut random) - if i % 3 == 0 { 0.1 } else { 0.0 }).collect();
        let of = |scale: f64| {
            let a = Matrix::from_fn(9, 9, |i, j| scale * a[(i, j)]);
            Owned::new(Operator::Dense(a), b.clone(), &[0.4; 3], 3)
        };
        let solve = |method: Method, scale: f64| {
            let (p, mut lambda) = (of(scale), vec![0.0; 9]);
            let mut solver = Solver::new(method, 1e-9);
            let outcome = solver.solve(p.problem(), &mut lambda, &mut vec![]).unwrap();
            assert!(outcome.is_solved(), "{method} {scale:e}: {outcome:?}");
            let third: Vec<f64> = lambda.iter().map(|l| 1.32 * l).collect();
            assert!(evaluate(&p, &third).relative > 0.01, "{method} {scale:e}");
            lambda.iter().map(|l| l * scale).collect::<Vec<f64>>()
        };
        let expected = solve(Method::Auto, 1.0);
        for method in METHODS {
            for scale in [1e-9, 1e-5, 1e5, 1e9] {
                let found = solve(method, scale);
                let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-7, "{method} {scale:e}: {found:?} {expected:?}");
            }
        }
    }
}

/// A body of 1 g on one of 1 t: its own forces must be right, though they are a millionth of the island's.
#[test]
fn the_worst_body_counts() {
    let mut f = Factored::default();
    f.clear(2, 1.0);
    let (heavy, light) = (1e3f64.sqrt().recip(), 1e-3f64.sqrt().recip());
    f.begin(2);
    f.segment(0, 1).copy_from_slice(&[heavy, 0.0]);
    f.begin(2);
    f.segment(0, 1).copy_from_slice(&[-heavy, 0.0]);
    f.segment(1, 1).copy_from_slice(&[light, 0.0]);
    let a = Operator::Factored(f);
    let elements = [Element::contact(2, 0.5, Friction::Cone); 2];
    // both fall at 1 m/s on the ground: the light body needs 1e-3 N s, the heavy one 1000.001
    let (b, right) = ([-1.0, 0.0, 0.0, 0.0], [1000.001, 0.0, 0.001, 0.0]);
    let p = ContactProblem::new(&a, &b, &elements);
    let good = residual::contact(p, &right, &mut Evaluation::default());
    assert!(good.relative < 1e-9, "{good:?}");
    let third = [1000.001, 0.0, 0.0013, 0.0];
    let bad = residual::contact(p, &third, &mut Evaluation::default());
    assert!(bad.relative > 0.1, "{bad:?}");
}

/// What the sum in `b` has lost to rounding is no residual.
#[test]
fn rounding_of_the_terms_of_b_is_no_residual() {
    let a = Operator::Dense(Matrix::identity(3));
    let elements = [Element::contact(3, 0.5, Friction::Cone)];
    // b is what is left of two terms of 1 m/s
    let b = [-1e-16, 0.0, 0.0];
    let plain = ContactProblem::new(&a, &b, &elements);
    let none = [0.0; 3];
    assert!(residual::contact(plain, &none, &mut Evaluation::default()).relative > 0.9);
    let known = ContactProblem { terms: &[1.0, 0.0, 0.0], ..plain };
    assert_eq!(residual::contact(known, &none, &mut Evaluation::default()).relative, 0.0);
}

/// A far open contact does not dilute the residual of a closed one.
#[test]
fn gaps_of_far_contacts_do_not_dilute_the_residual() {
    let of = |gap: f64| {
        let b = vec![-1.0, 0.3, 0.0, gap, 0.0, 0.0];
        // a little influence makes them one island
        let a = Matrix::from_fn(6, 6, |i, j| if i == j { 1.0 } else { 1e-3 });
        FrictionProblem::new(a, b, vec![0.5; 2], 3, Friction::Cone).unwrap()
    };
    let lambda = [0.9, -0.3, 0.0, 0.0, 0.0, 0.0];
    let near = residual::friction(&of(1.0), &lambda);
    let far = residual::friction(&of(1e9), &lambda);
    assert!(near.relative > 0.05 && far.relative == near.relative, "{near:?} {far:?}");
    assert!(far.fclib < 1e-8);
}
