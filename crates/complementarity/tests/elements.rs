//! Elements of several kinds in one problem: contacts of 2, 3, 4 and 6 rows, unilateral, bounded and bilateral rows.

use crate::piles;

use complementarity::certificate::{Diagnosis, Kind, Settings as Examination, examine};
use complementarity::matrix::{Matrix, dot, norm};
use complementarity::operator::{BlockMatrix, Factored, Neighbours, Operator};
use complementarity::problem::{Element, Friction, FrictionProblem, NotConvertible};
use complementarity::residual;
use complementarity::solver::{Budget, Method, Solver};
use piles::{signed, uniform};

/// Those that know all kinds.
const METHODS: [Method; 4] = [Method::Auto, Method::GaussSeidel, Method::Newton, Method::ProximalNewton];

fn solve(p: &FrictionProblem, method: Method, tolerance: f64) -> Vec<f64> {
    let mut lambda = vec![0.0; p.size()];
    let mut solver = Solver::new(method, tolerance);
    let outcome = solver.solve(p.view(), &mut lambda, &mut vec![]).unwrap();
    assert!(outcome.is_solved(), "{method}: {outcome:?}");
    assert_eq!(outcome.residual, residual::friction(p, &lambda), "{method}");
    lambda
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The laws, written out: what is left of each, element by element. Friction is compared with the set's own maximum of dissipation.
fn violation(p: &FrictionProblem, lambda: &[f64]) -> f64 {
    let s = p.speed(lambda);
    let mut worst = 0.0f64;
    for (c, element) in p.elements().iter().enumerate() {
        let (l, s) = (&lambda[p.rows_of(c)], &s[p.rows_of(c)]);
        let mut count = |x: f64| worst = worst.max(x);
        match element {
            Element::Bilateral => count(s[0].abs()),
            Element::Bounded { limit } => {
                count(l[0].abs() - limit);
                // at the bound against the motion: -l s = limit |s|
                count((l[0] * s[0] + limit * s[0].abs()).abs());
            }
            Element::Unilateral | Element::Contact(_) => {
                count(-l[0]);
                count(-s[0]);
                count((l[0] * s[0]).abs());
            }
        }
        if let Element::Contact(contact) = element {
            let limit = contact.mu * l[0].max(0.0);
            let axes = &contact.axes[..l.len() - 1];
            let (size, dissipated) = match contact.friction {
                Friction::Pyramid => (l[1].abs().max(l[2].abs()), s[1].abs() + s[2].abs()),
                _ => {
                    let over: Vec<f64> = l[1..].iter().zip(axes).map(|(l, e)| l / e).collect();
                    let times: Vec<f64> = s[1..].iter().zip(axes).map(|(s, e)| s * e).collect();
                    (norm(&over), norm(&times))
                }
            };
            count(size - limit);
            count((dot(&l[1..], &s[1..]) + limit * dissipated).abs());
        }
    }
    worst
}

/// Every kind, in random order.
fn kinds(count: usize, random: &mut u64) -> Vec<Element> {
    let any = |random: &mut u64| {
        let mu = 0.1 + 0.4 * uniform(random);
        match (8.0 * uniform(random)) as usize {
            0 => Element::Unilateral,
            1 => Element::Bounded { limit: 0.3 * uniform(random) },
            2 => Element::Bilateral,
            3 => Element::contact(2, mu, Friction::Cone),
            4 => Element::contact(3, mu, Friction::Pyramid),
            5 => Element::contact(4, mu, Friction::Ellipsoid).with_axes(&[1.0, 0.7, 0.2]),
            6 => Element::contact(6, mu, Friction::Cone),
            _ => Element::contact(3, mu, Friction::Cone),
        }
    };
    (0..count).map(|_| any(random)).collect()
}

/// Elements that all see each other: `A = G G' / n + 0.3 I`, pressed together and pushed about.
fn dense(count: usize, seed: u64) -> FrictionProblem {
    let mut random = seed;
    let elements = kinds(count, &mut random);
    let n = elements.iter().map(Element::rows).sum();
    let g = Matrix::from_fn(n, n, |_, _| signed(&mut random));
    let a = Matrix::from_fn(n, n, |i, j| dot(g.row(i), g.row(j)) / n as f64 + if i == j { 0.3 } else { 0.0 });
    let mut b: Vec<f64> = (0..n).map(|_| signed(&mut random)).collect();
    let mut first = 0;
    for e in &elements {
        b[first] -= 0.5;
        first += e.rows();
    }
    FrictionProblem::from_elements(a, b, elements).unwrap()
}

/// A unit mass on each row: what its law says can be written down.
#[test]
fn rows_that_are_no_contacts_obey_their_laws() {
    let brake = Element::Bounded { limit: 1.0 };
    let cases = [
        (Element::Unilateral, -2.0, 2.0),
        (Element::Unilateral, 2.0, 0.0),
        (brake, -0.4, 0.4),
        (brake, 0.4, -0.4),
        (brake, 3.0, -1.0),
        (brake, -3.0, 1.0),
        (Element::Bounded { limit: 0.0 }, -3.0, 0.0),
        (Element::Bilateral, 5.0, -5.0),
        (Element::Bilateral, -5.0, 5.0),
    ];
    for method in METHODS {
        for (element, b, expected) in cases {
            let p = FrictionProblem::from_elements(Matrix::identity(1), vec![b], vec![element]).unwrap();
            let lambda = solve(&p, method, 1e-12);
            assert!((lambda[0] - expected).abs() < 1e-11, "{method} {element:?} {b}: {lambda:?}");
        }
        let (elements, b): (Vec<Element>, Vec<f64>) = cases.iter().map(|(e, b, _)| (*e, *b)).unzip();
        let p = FrictionProblem::from_elements(Matrix::identity(cases.len()), b, elements).unwrap();
        let expected = cases.map(|(_, _, expected)| expected);
        assert!(far(&solve(&p, method, 1e-12), &expected) < 1e-11, "{method}");
    }
}

#[test]
fn all_methods_agree_on_problems_of_all_kinds() {
    for (count, seed) in [(1, 1), (2, 2), (3, 3), (5, 4), (8, 5), (12, 6), (20, 7), (30, 8), (30, 9)] {
        let p = dense(count, seed);
        let first = solve(&p, METHODS[0], 1e-11);
        assert!(violation(&p, &first) < 1e-9, "{count} {seed}: {}", violation(&p, &first));
        for method in &METHODS[1..] {
            let other = solve(&p, *method, 1e-11);
            assert!(far(&other, &first) < 1e-8, "{method} {count} {seed}: {}", far(&other, &first));
        }
    }
}

/// Bodies with rows of every kind between them, and a patch over two elements that differ in rows: through the bodies, as blocks and dense.
#[test]
fn operators_in_all_forms_take_all_kinds() {
    for seed in 1..12 {
        let (mut random, bodies) = (seed, 4 + seed as usize % 5);
        let elements = kinds(4 * bodies, &mut random);
        let mut f = Factored::default();
        f.clear(6 * bodies, 0.7);
        let v: Vec<f64> = (0..6 * bodies).map(|_| signed(&mut random)).collect();
        for (c, element) in elements.iter().enumerate() {
            f.begin(element.rows());
            for body in [c % bodies, (c + 1 + c / bodies) % bodies].into_iter().take(1 + c % 2) {
                f.segment(6 * body, 6).iter_mut().for_each(|w| *w = signed(&mut random));
            }
        }
        // compliance keeps the forces unique
        for first in (0..elements.len()).step_by(2) {
            let order = f.rows(first) + f.rows(first + 1);
            let g = Matrix::from_fn(order, order, |_, _| 0.3 * signed(&mut random));
            f.add_patch(
                first,
                &Matrix::from_fn(order, order, |i, j| {
                    dot(g.row(i), g.row(j)) + if i == j { 0.5 } else { 0.0 }
                }),
            );
        }
        let mut b = vec![0.0; f.size()];
        for c in 0..elements.len() {
            let at = f.offsets()[c]..f.offsets()[c + 1];
            f.pull(c, &v, &mut b[at.clone()]);
            b[at.start] -= 0.5;
        }
        let mut blocks = BlockMatrix::default();
        blocks.assign_factored(&f, &mut Neighbours::default());
        let matrix = Operator::Factored(f.clone()).to_dense();
        let forms = [Operator::Factored(f), Operator::Blocks(blocks), Operator::Dense(matrix)];
        let answers = forms.map(|a| {
            let p = FrictionProblem::from_elements(a, b.clone(), elements.clone()).unwrap();
            let lambda = solve(&p, Method::Auto, 1e-11);
            assert!(violation(&p, &lambda) < 1e-8, "{seed}: {}", violation(&p, &lambda));
            lambda
        });
        assert!(far(&answers[0], &answers[1]) < 1e-7 && far(&answers[0], &answers[2]) < 1e-7, "{seed}");
    }
}

/// Bilateral rows eliminated by hand leave a problem of contacts alone, with the same forces.
#[test]
fn bilateral_rows_are_as_good_as_eliminated() {
    for seed in 1..20 {
        let mut random = seed;
        let n = 8;
        let g = Matrix::from_fn(n, n, |_, _| signed(&mut random));
        let a = Matrix::from_fn(n, n, |i, j| dot(g.row(i), g.row(j)) + if i == j { 0.2 } else { 0.0 });
        let b: Vec<f64> = (0..n).map(|i| signed(&mut random) - if i % 3 == 0 { 0.7 } else { 0.0 }).collect();
        let contact = Element::contact(3, 0.4, Friction::Cone);
        let elements = vec![contact, contact, Element::Bilateral, Element::Bilateral];
        let p = FrictionProblem::from_elements(a.clone(), b.clone(), elements).unwrap();
        let lambda = solve(&p, Method::Auto, 1e-12);
        // A_cc - A_cl A_ll^-1 A_lc, by the inverse of a 2 x 2 matrix
        let det = a[(6, 6)] * a[(7, 7)] - a[(6, 7)] * a[(7, 6)];
        let inverse = [[a[(7, 7)] / det, -a[(6, 7)] / det], [-a[(7, 6)] / det, a[(6, 6)] / det]];
        let through = |i: usize, x: [f64; 2]| -> f64 {
            (0..2).map(|p| a[(i, 6 + p)] * (0..2).map(|q| inverse[p][q] * x[q]).sum::<f64>()).sum()
        };
        let reduced = Matrix::from_fn(6, 6, |i, j| a[(i, j)] - through(i, [a[(6, j)], a[(7, j)]]));
        let rest = (0..6).map(|i| b[i] - through(i, [b[6], b[7]])).collect();
        let alone = FrictionProblem::new(reduced, rest, vec![0.4; 2], 3, Friction::Cone).unwrap();
        let expected = solve(&alone, Method::ConeInteriorPoint, 1e-11);
        assert!(far(&lambda[..6], &expected) < 1e-8, "{seed}: {lambda:?} {expected:?}");
    }
}

/// Two loops that close the same chain share their force at will; a contact beside them keeps its own.
#[test]
fn certificates_know_rows_that_are_no_contacts() {
    let j: [[f64; 3]; 5] =
        [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.3, 0.0, 0.0]];
    let a = Matrix::from_fn(5, 5, |i, k| dot(&j[i], &j[k]));
    let limit = Element::Bounded { limit: 0.2 };
    let contact = Element::contact(2, 0.5, Friction::Cone);
    let elements = vec![Element::Bilateral, Element::Bilateral, contact, limit];
    let b = vec![-1.0, -1.0, -1.0, 0.1, -0.3];
    let p = FrictionProblem::from_elements(a, b, elements).unwrap();
    let lambda = solve(&p, Method::Auto, 1e-11);
    let known = examine(&p, Some(&lambda), &Examination::default());
    let forces = known.forces.unwrap();
    assert_eq!(known.rank.unwrap().rank, 3);
    assert_eq!(forces.undetermined, [0, 1, 3], "{forces:?}");
    assert_eq!(forces.dimension, 2, "{forces:?}");
    for direction in forces.basis.unwrap() {
        let v = direction.to_rows(p.offsets());
        assert!(norm(&p.matrix().times(&v)) < 1e-12 && v[2] == 0.0 && v[3] == 0.0, "{v:?}");
    }
}

#[test]
fn faults_of_rows_are_named() {
    let brake = Element::Bounded { limit: 1.0 };
    let of = |element: Element, b: f64, lambda: f64| {
        let p = FrictionProblem::from_elements(Matrix::identity(1), vec![b], vec![element]).unwrap();
        let known = examine(&p, None, &Examination::default());
        let found = Diagnosis::of_friction(&p, Some(&[lambda]), &known, &mut Budget::default()).worst[0];
        (found.kind, found.size)
    };
    assert_eq!(of(brake, -3.0, 2.0), (Kind::BeyondLimit, 1.0));
    assert_eq!(of(brake, -3.0, 0.5), (Kind::Moves, 2.5));
    assert_eq!(of(Element::Bilateral, -3.0, 1.0), (Kind::Moves, 2.0));
    assert_eq!(of(Element::Unilateral, -3.0, 1.0), (Kind::Closes, 2.0));
}

#[test]
fn what_a_form_cannot_hold_and_bad_numbers_are_refused() {
    let contact = Element::contact(3, 0.5, Friction::Pyramid);
    let p =
        FrictionProblem::from_elements(Matrix::identity(4), vec![-1.0; 4], vec![contact, Element::Bilateral]);
    let p = p.unwrap();
    assert_eq!(p.as_slack_lcp().unwrap_err(), NotConvertible::NotAlike);
    assert_eq!(p.as_polygon_lcp().unwrap_err(), NotConvertible::NotAlike);
    let mut lambda = vec![0.0; 4];
    let lemke = Solver::new(Method::Lemke, 1e-8).solve(p.view(), &mut lambda, &mut vec![]);
    assert_eq!(lemke.unwrap_err(), NotConvertible::NotAlike);
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        let of = FrictionProblem::from_elements(
            Matrix::identity(1),
            vec![0.0],
            vec![Element::Bounded { limit: bad }],
        );
        assert!(of.unwrap_err().to_string().starts_with("limit[0]"), "{bad}");
    }
    let long =
        FrictionProblem::from_elements(Matrix::identity(3), vec![0.0; 3], vec![contact, Element::Bilateral]);
    assert!(long.is_err());
}
