//! Which of several forces `auto` returns: the limit of solutions with equal compliance on every rigid element.

use crate::piles;

use complementarity::matrix::Matrix;
use complementarity::operator::{Factored, Operator};
use complementarity::problem::{ContactProblem, Element, Friction};
use complementarity::solver::Choice;
use complementarity::solver::auto::Auto;
use piles::{Owned, signed, uniform};

const TOLERANCE: f64 = 1e-10;

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
}

/// Forces of `auto` from a start, and the choice it reports.
fn auto_from(p: &Owned, start: &[f64]) -> (Vec<f64>, Choice) {
    let mut lambda = start.to_vec();
    let mut auto = Auto::default();
    auto.settings.tolerance = TOLERANCE;
    let outcome = auto.solve(p.problem(), &mut lambda);
    assert!(outcome.is_solved(), "{outcome:?}");
    (lambda, outcome.choice)
}

fn zero(p: &Owned) -> Vec<f64> {
    vec![0.0; p.b.len()]
}

/// The limit by other means: `A` with `eps` on the diagonal of rows without compliance, multiplied out, solved by sweeps and Newton on
/// forces, and extrapolated from three small `eps`; by how much extrapolations from two of them differ. `None` if one of these is not solved
/// well enough to tell.
fn limit_of_equal_compliance(p: &Owned) -> Option<(Vec<f64>, f64)> {
    let a = p.a.to_dense();
    let n = a.rows();
    let mean = (0..n).map(|i| a[(i, i)]).sum::<f64>() / n as f64;
    let Operator::Factored(f) = &p.a else { unreachable!() };
    let rigid: Vec<bool> = (0..f.elements()).flat_map(|c| vec![f.patch(c).is_none(); f.rows(c)]).collect();
    let mut auto = Auto::default();
    auto.settings.tolerance = 1e-13;
    let mut lambda = vec![0.0; n];
    let mut tail = [vec![], vec![], vec![]];
    let q = 0.1f64.sqrt();
    for eps in (0..=12).map(|k| q.powi(k)) {
        let on_diagonal = |i: usize| if rigid[i] { eps * mean } else { 0.0 };
        let with = Matrix::from_fn(n, n, |i, j| a[(i, j)] + if i == j { on_diagonal(i) } else { 0.0 });
        let operator = Operator::Dense(with);
        let outcome = auto.solve(ContactProblem { a: &operator, ..p.problem() }, &mut lambda);
        if outcome.residual.relative > 1e-12 {
            return None;
        }
        tail.rotate_left(1);
        tail[2].clone_from(&lambda);
    }
    // Richardson: the terms in eps and eps^2 cancel, as long as states no longer change
    let once = |k: usize, i: usize| (tail[k + 1][i] - q * tail[k][i]) / (1.0 - q);
    let [first, second] = [0, 1].map(|k| (0..n).map(|i| once(k, i)).collect::<Vec<_>>());
    let limit = (0..n).map(|i| (second[i] - q * q * first[i]) / (1.0 - q * q)).collect();
    Some((limit, distance(&first, &second)))
}

/// A planar body of 1 kg that slides on three feet, its centre 0.4 m above them. `auto`'s forces.
fn three_feet(start: &[f64]) -> (f64, Choice) {
    let (h, g, inertia) = (1e-3, 9.81, 0.1f64);
    let (feet, mu) = ([-0.6, 0.0, 0.5], [0.2, 0.8, 0.3]);
    let mut f = Factored::default();
    f.clear(3, h);
    let mut b = vec![];
    for x in feet {
        f.begin(2);
        let turn = 1.0 / inertia.sqrt();
        f.segment(0, 3).copy_from_slice(&[0.0, 1.0, x * turn, 1.0, 0.0, 0.4 * turn]);
        b.extend([-g * h, 1.0]);
    }
    let p = Owned::new(Operator::Factored(f), b, &mu, 2);
    let (lambda, choice) = auto_from(&p, start);
    (-(0..3).map(|k| lambda[2 * k + 1]).sum::<f64>(), choice)
}

/// Normal forces of equally compliant feet are linear in their place: `N = c + k x` with the weight and no moment about the
/// centre, `sum N = m g`, `sum (x - 0.4 mu) N = 0`.
#[test]
fn three_sliding_feet_decelerate_as_equally_compliant_ones() {
    let (feet, mu, g) = ([-0.6, 0.0, 0.5], [0.2, 0.8, 0.3], 9.81);
    let sum = |f: &dyn Fn(f64, f64) -> f64| (0..3).map(|k| f(feet[k], mu[k])).sum::<f64>();
    let (x, arm, arm_x) = (sum(&|x, _| x), sum(&|x, mu| x - 0.4 * mu), sum(&|x, mu| (x - 0.4 * mu) * x));
    // 3 c + x k = g, arm c + arm_x k = 0
    let c = g * arm_x / (3.0 * arm_x - x * arm);
    let k = -arm / arm_x * c;
    let expected = sum(&|x, mu| mu * (c + k * x));
    assert!((expected - 4.51).abs() < 0.005, "{expected}");
    for start in [[0.0; 6], [9.0, -1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 9.81, -7.8, 0.0, 0.0]] {
        let (found, choice) = three_feet(&start);
        assert_eq!(choice, Choice::Chosen);
        assert!((found - expected).abs() < 1e-7, "{found} from {start:?}");
    }
}

/// Appends elements of other kinds, each with a twin: what they hold together is shared equally.
fn with_rows(p: &Owned, seed: u64) -> Owned {
    let mut random = seed;
    let Operator::Factored(old) = &p.a else { unreachable!() };
    let (mut f, mut b, mut elements) = (old.clone(), p.b.clone(), p.elements.clone());
    for element in [Element::Unilateral, Element::Bounded { limit: 0.02 }, Element::Bilateral] {
        let body = 6 * (uniform(&mut random) * (f.speeds() / 6) as f64) as usize;
        let w: Vec<f64> = (0..6).map(|_| signed(&mut random)).collect();
        let speed = 0.1 * signed(&mut random);
        for _ in 0..2 {
            f.begin(1);
            f.segment(body, 6).copy_from_slice(&w);
            b.push(speed);
            elements.push(element);
        }
    }
    Owned { a: Operator::Factored(f), b, elements }
}

/// With compliance of its own at every third contact.
fn with_compliance(p: &Owned) -> Owned {
    let Operator::Factored(old) = &p.a else { unreachable!() };
    let mut f = old.clone();
    for c in (0..f.elements()).filter(|c| c % 3 == 1) {
        let rows = f.rows(c);
        f.add_patch(c, &Matrix::from_fn(rows, rows, |i, j| if i == j { 0.1 + 0.1 * i as f64 } else { 0.0 }));
    }
    Owned { a: Operator::Factored(f), ..p.clone() }
}

/// A box of 6 velocities between two fingers of one each that press on it, four contacts a side, pulled down.
fn gripper(mu: f64, press: f64, pull: f64) -> Owned {
    let mut f = Factored::default();
    f.clear(8, 1.0);
    let mut b = vec![];
    for (finger, sign) in [(6, 1.0), (7, -1.0)] {
        for (y, z) in [(0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)] {
            f.begin(3);
            let (r, axes) = ([-sign, y, z], [[sign, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
            let cross = |a: [f64; 3], b: [f64; 3]| {
                [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
            };
            let rows: Vec<f64> = axes.iter().flat_map(|&d| [d, cross(r, d)].concat()).collect();
            f.segment(0, 6).copy_from_slice(&rows);
            f.segment(finger, 1).copy_from_slice(&[-2.0, 0.0, 0.0]);
            b.extend([-press, 0.0, -pull]);
        }
    }
    Owned::new(Operator::Factored(f), b, &[mu; 8], 3)
}

/// Redundant problems of many kinds; their names.
fn redundant() -> Vec<(String, Owned)> {
    let mut out = vec![];
    let mut add = |name: &str, p: Owned| out.push((name.to_string(), p));
    for push in [0.0, 0.004, 0.03] {
        add(&format!("one box pushed at {push}"), piles::boxes(1, 0.4, 0.01, push));
        add(&format!("three boxes pushed at {push}"), piles::boxes(3, 0.4, 0.01, push));
    }
    for pull in [0.01, 0.3] {
        add(&format!("gripper pulled at {pull}"), gripper(0.5, 0.1, pull));
    }
    for seed in 0..8 {
        for (count, points) in [(1, 4), (2, 5), (4, 4), (5, 6)] {
            let p = piles::bricks(count, points, 0.2 + 0.05 * (seed % 5) as f64, seed);
            let name = format!("{count} bricks on {points} points, seed {seed}");
            match seed % 4 {
                0 => add(&name, p.with(Friction::Pyramid)),
                1 => add(&name, p.with(Friction::Polygon { sides: 6 })),
                _ => add(&name, p.clone()),
            }
            if seed < 4 {
                add(&format!("{name} with rows"), with_rows(&p, 50 + seed));
                add(&format!("{name} with compliance"), with_compliance(&p));
            }
        }
    }
    out
}

#[test]
fn forces_are_the_limit_of_equal_compliance_from_every_start() {
    let (mut compared, mut chosen, mut unmade) = (0, 0, vec![]);
    for (name, p) in redundant() {
        let (lambda, choice) = auto_from(&p, &zero(&p));
        if !choice.is_made() {
            unmade.push((name, choice));
            continue;
        }
        chosen += usize::from(choice == Choice::Chosen);
        let mut seed = 3;
        let size = lambda.iter().map(|x| x.abs()).fold(0.0, f64::max);
        for _ in 0..3 {
            let start: Vec<f64> = lambda.iter().map(|x| x + size * signed(&mut seed)).collect();
            let (other, choice) = auto_from(&p, &start);
            if !choice.is_made() {
                unmade.push((name.clone(), choice));
                continue;
            }
            assert!(distance(&other, &lambda) < 1e-6, "{name}: {:e}", distance(&other, &lambda));
        }
        if let Some((expected, _)) = limit_of_equal_compliance(&p) {
            compared += 1;
            let off = distance(&lambda, &expected);
            assert!(off < 1e-6, "{name}: {off:e} ({choice:?})");
        }
    }
    assert!(compared > 60 && chosen > 45, "{compared} compared, {chosen} chosen");
    assert!(unmade.is_empty(), "{unmade:?}");
}

/// Elements and bodies in another order, `together` elements at a time; the place of each new element among the old ones.
fn permuted(p: &Owned, together: usize, seed: u64) -> (Owned, Vec<usize>) {
    let mut random = seed;
    let Operator::Factored(old) = &p.a else { unreachable!() };
    let mut shuffle = |n: usize| {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|k| order.swap(k, (uniform(&mut random) * (k + 1) as f64) as usize));
        order
    };
    let (groups, bodies) = (shuffle(old.elements() / together), shuffle(old.speeds() / 6));
    let order: Vec<usize> = groups.iter().flat_map(|&k| (together * k..together * (k + 1)).rev()).collect();
    let (mut f, mut b, mut elements) = (Factored::default(), vec![], vec![]);
    f.clear(old.speeds(), old.share());
    for &c in &order {
        f.begin(old.rows(c));
        for (s, w) in old.segments(c) {
            f.segment(6 * bodies[s.first / 6], s.len).copy_from_slice(w);
        }
        b.extend_from_slice(&p.b[old.offsets()[c]..old.offsets()[c + 1]]);
        elements.push(p.elements[c]);
    }
    for (k, &c) in order.iter().enumerate() {
        if let Some((_, e)) = old.patch(c) {
            let rows = old.rows(c);
            f.add_patch(k, &Matrix::from_fn(rows, rows, |i, j| e[rows * i + j]));
        }
    }
    (Owned { a: Operator::Factored(f), b, elements }, order)
}

/// The same with the first tangent of every contact reversed.
fn mirrored(p: &Owned) -> Owned {
    let Operator::Factored(old) = &p.a else { unreachable!() };
    let (mut f, mut b) = (Factored::default(), p.b.clone());
    f.clear(old.speeds(), old.share());
    for c in 0..old.elements() {
        f.begin(old.rows(c));
        for (s, w) in old.segments(c) {
            let own = f.segment(s.first, s.len);
            own.copy_from_slice(w);
            if old.rows(c) > 1 {
                own[s.len..2 * s.len].iter_mut().for_each(|x| *x = -*x);
            }
        }
        if old.rows(c) > 1 {
            b[old.offsets()[c] + 1] *= -1.0;
        }
    }
    for c in 0..old.elements() {
        if let Some((_, e)) = old.patch(c) {
            let rows = old.rows(c);
            f.add_patch(c, &Matrix::from_fn(rows, rows, |i, j| e[rows * i + j]));
        }
    }
    Owned { a: Operator::Factored(f), b, ..p.clone() }
}

#[test]
fn order_and_reflection_do_not_matter() {
    let mut checked = 0;
    for (name, p) in redundant().into_iter().filter(|(name, _)| !name.starts_with("gripper")) {
        let (lambda, choice) = auto_from(&p, &zero(&p));
        if !choice.is_made() {
            continue;
        }
        checked += 1;
        let Operator::Factored(f) = &p.a else { unreachable!() };
        let (other, order) = permuted(&p, 1, 17);
        let (found, _) = auto_from(&other, &zero(&p));
        let expected: Vec<f64> =
            order.iter().flat_map(|&c| &lambda[f.offsets()[c]..f.offsets()[c + 1]]).copied().collect();
        assert!(distance(&found, &expected) < 1e-6, "{name}: {:e}", distance(&found, &expected));
        let (mut found, _) = auto_from(&mirrored(&p), &zero(&p));
        for c in (0..f.elements()).filter(|&c| f.rows(c) > 1) {
            found[f.offsets()[c] + 1] *= -1.0;
        }
        assert!(distance(&found, &lambda) < 1e-6, "{name}: {:e}", distance(&found, &lambda));
    }
    assert!(checked > 60, "{checked}");
}

/// Islands of 88 to 168 elements whose bricks slide on each other: from zero and from forces at random, in another order
/// and mirrored they have the forces of an independent continuation, as far as that can be computed.
#[test]
fn large_islands_that_move_have_chosen_forces_too() {
    let (mut compared, mut unmade) = (0, vec![]);
    for (count, points) in [(8, 8), (12, 6), (16, 8)] {
        for seed in 0..4 {
            let p = piles::bricks(count, points, 0.2 + 0.1 * seed as f64, seed);
            let name = format!("{count} bricks on {points} points, seed {seed}");
            let (lambda, choice) = auto_from(&p, &zero(&p));
            if !choice.is_made() {
                unmade.push((name, choice));
                continue;
            }
            assert_eq!(choice, Choice::Chosen, "{name}");
            let Operator::Factored(f) = &p.a else { unreachable!() };
            let check = |found: &[f64], expected: &[f64], how: &str| {
                let off = distance(found, expected);
                assert!(off < 1e-6, "{name}, {how}: {off:e}");
            };
            let mut random = 3;
            let size = lambda.iter().map(|x| x.abs()).fold(0.0, f64::max);
            let start: Vec<f64> = lambda.iter().map(|x| x + size * signed(&mut random)).collect();
            check(&auto_from(&p, &start).0, &lambda, "from forces at random");
            // the points of a face stay together: that is how redundant islands are told from piles of spheres
            let (other, order) = permuted(&p, points, 17);
            let of = |c: usize| &lambda[f.offsets()[c]..f.offsets()[c + 1]];
            let expected: Vec<f64> = order.iter().flat_map(|&c| of(c)).copied().collect();
            check(&auto_from(&other, &zero(&p)).0, &expected, "in another order");
            let (mut found, _) = auto_from(&mirrored(&p), &zero(&p));
            (0..f.elements()).for_each(|c| found[f.offsets()[c] + 1] *= -1.0);
            check(&found, &lambda, "mirrored");
            // where states still change between these eps the extrapolation is no better than this
            if let Some((expected, unsure)) = limit_of_equal_compliance(&p).filter(|_| count < 16) {
                compared += usize::from(unsure < 1e-5);
                let off = distance(&lambda, &expected);
                assert!(off < unsure.max(1e-6), "{name}, by continuation: {off:e}, unsure {unsure:e}");
            }
        }
    }
    assert!(unmade.is_empty(), "{unmade:?}");
    assert!(compared >= 4, "{compared}");
}

#[test]
fn a_tower_of_spheres_has_unique_forces() {
    // one contact a body: as in a chain
    let mut f = Factored::default();
    f.clear(12, 1.0);
    let w = [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, -0.5, 0.0], [0.0, 1.0, 0.0, 0.5, 0.0, 0.0]];
    f.begin(3);
    f.free_body(0, &w);
    f.begin(3);
    f.free_body(6, &w);
    f.free_body(0, &w.map(|row| row.map(|x| -x)));
    let p = Owned::new(Operator::Factored(f), vec![-0.1, 0.01, 0.0, 0.0, 0.02, 0.0], &[0.5; 2], 3);
    assert_eq!(auto_from(&p, &[0.0; 6]).1, Choice::Unique);
}
