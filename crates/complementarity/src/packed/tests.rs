use super::*;
use crate::element::law::Law;
use crate::matrix::{Matrix, norm};

/// Contacts at random between free bodies, or of one with the ground; the first body meets `hub` of them. Some are without friction, some compliant.
struct Random<const D: usize> {
    a: Operator,
    b: Vec<f64>,
    mu: Vec<f64>,
    laws: Vec<Law>,
}

impl<const D: usize> Random<D> {
    fn new(bodies: usize, contacts: usize, hub: usize, seed: u64) -> Self {
        let mut state = seed;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut a = Factored::default();
        // a speed before the bodies that is nobody's
        a.clear(1 + 6 * bodies, 0.3);
        let v: Vec<f64> = (0..a.speeds()).map(|_| random()).collect();
        let mut b = vec![0.0; D * contacts];
        for c in 0..contacts {
            a.begin(D);
            let one = if c < hub { 0 } else { c % bodies };
            let other = (one + 1 + c / 2 % (bodies - 1)) % bodies;
            for &body in &[one, other][..if c % 3 == 0 { 1 } else { 2 }] {
                a.segment(1 + 6 * body, 6).iter_mut().for_each(|w| *w = random());
            }
            if c % 4 == 1 {
                let mut e = Matrix::zeros(D, D);
                let each = [0.7, 0.2, 0.2, 0.4, 0.1, 0.1];
                each.into_iter().take(D).enumerate().for_each(|(i, x)| e[(i, i)] = x);
                a.add_patch(c, &e);
            }
            a.pull(c, &v, &mut b[D * c..][..D]);
        }
        let mu = (0..contacts).map(|c| [0.0, 0.3, 0.8][c % 3]).collect();
        Self { a: Operator::Factored(a), b, mu, laws: vec![Law::Disc; contacts] }
    }

    fn problem(&self) -> Uniform<'_> {
        Uniform { a: &self.a, b: &self.b, mu: &self.mu, rows: D, laws: &self.laws, scale: &[] }
    }
}

fn prepare<const D: usize>(sweeper: &mut Sweeper, problem: Uniform<'_>, lambda: &[f64]) {
    sweeper.speed.resize(lambda.len(), 0.0);
    sweeper.begin::<D>(problem, true);
    sweeper.set_speeds(problem, lambda);
}

#[test]
fn no_two_of_a_group_share_a_body_and_every_contact_is_there() {
    for (bodies, contacts, hub) in [(2, 1, 0), (5, 40, 0), (30, 200, 20), (30, 300, 100)] {
        let random = Random::<3>::new(bodies, contacts, hub, 1);
        let list: Vec<usize> = (0..contacts).filter(|c| c % 7 != 3).collect();
        let (mut packed, mut sweeper, lambda) =
            (Packed::<3, 1>::default(), Sweeper::default(), vec![0.0; 3 * contacts]);
        prepare::<3>(&mut sweeper, random.problem(), &lambda);
        let Some(_) = packed.take(random.problem(), &sweeper, &list, &lambda) else {
            return assert!(V3::try_new().is_none());
        };
        let still = packed.taken.len() as u32 - 1;
        let mut found = vec![];
        for (g, rest) in packed.groups.iter().zip(&packed.rest) {
            let mut met: Vec<u32> = g.bodies.iter().flatten().copied().filter(|b| *b != still).collect();
            let before = met.len();
            met.sort_unstable();
            met.dedup();
            assert_eq!(met.len(), before, "{:?}", g.bodies);
            found.extend(rest.contacts.iter().filter(|c| **c != u32::MAX).map(|&c| c as usize));
        }
        found.sort_unstable();
        assert_eq!(found, list);
    }
}

#[test]
fn contacts_that_deform_together_or_unlike_along_their_tangents_are_not_packed() {
    for (rows, entries) in
        [(6, &[(0, 0), (3, 3), (0, 3), (3, 0)][..]), (3, &[(1, 1)]), (3, &[(0, 1), (1, 0)])]
    {
        let mut random = Random::<3>::new(5, 12, 0, 4);
        let Operator::Factored(a) = &mut random.a else { unreachable!("made as factors") };
        let mut e = Matrix::zeros(rows, rows);
        entries.iter().for_each(|&at| e[at] = 0.5);
        a.add_patch(2, &e);
        let (mut sweeper, lambda) = (Sweeper::default(), vec![0.0; 36]);
        prepare::<3>(&mut sweeper, random.problem(), &lambda);
        let all: Vec<usize> = (0..12).collect();
        assert!(Packed::<3, 1>::default().take(random.problem(), &sweeper, &all, &lambda).is_none());
        let others: Vec<usize> = all.into_iter().filter(|c| !(2..4).contains(c)).collect();
        let taken = Packed::<3, 1>::default().take(random.problem(), &sweeper, &others, &lambda).is_some();
        assert_eq!(taken, V3::try_new().is_some());
    }
}

fn judges_as_others_do<const D: usize, const K: usize>() {
    let random = Random::<D>::new(12, 60, 10, 2);
    let contacts: Vec<usize> = (0..60).collect();
    for scale in [0.0, 1e-3, 1.0, 1e3] {
        let lambda: Vec<f64> = (0..60 * D).map(|k| scale * (k as f64 * 0.7).sin()).collect();
        let (mut packed, mut sweeper) = (Packed::<D, K>::default(), Sweeper::default());
        prepare::<D>(&mut sweeper, random.problem(), &lambda);
        let Some(mut lanes) = packed.take(random.problem(), &sweeper, &contacts, &lambda) else {
            return assert!(V3::try_new().is_none());
        };
        let one = sweeper.residual::<D>(random.problem(), &contacts, &lambda);
        let two = lanes.residual();
        assert!((one - two).abs() <= 1e-12 * one, "{D} rows: {one} {two}");
        let mut back = vec![0.0; 60 * D];
        lanes.give(&mut back, &mut Budget::default());
        assert_eq!(back, lambda);
    }
}

#[test]
fn forces_are_judged_as_they_are_elsewhere() {
    judges_as_others_do::<3, 1>();
    judges_as_others_do::<4, 2>();
    judges_as_others_do::<6, 3>();
}

/// Some contacts stick, some slip, at the end.
fn sweeps_to_a_solution<const D: usize, const K: usize>() {
    let mut random = Random::<D>::new(12, 40, 5, 3);
    // some hold
    random.mu.iter_mut().step_by(5).for_each(|mu| *mu *= 5.0);
    let contacts: Vec<usize> = (0..40).collect();
    let mut lambda = vec![0.0; 40 * D];
    let (mut packed, mut sweeper) = (Packed::<D, K>::default(), Sweeper::default());
    prepare::<D>(&mut sweeper, random.problem(), &lambda);
    let Some(mut lanes) = packed.take(random.problem(), &sweeper, &contacts, &lambda) else {
        return assert!(V3::try_new().is_none());
    };
    for _ in 0..20_000 {
        lanes.sweep();
        lanes.leap(0.5);
    }
    lanes.sweep();
    lanes.give(&mut lambda, &mut sweeper.budget);
    prepare::<D>(&mut sweeper, random.problem(), &lambda);
    let left = sweeper.residual::<D>(random.problem(), &contacts, &lambda).sqrt();
    assert!(left < 1e-10 * norm(&random.b), "{D} rows: {left}");
    let share = |c: usize| norm(&lambda[D * c + 1..][..D - 1]) / (random.mu[c] * lambda[D * c]);
    let loaded = || (0..40).filter(|&c| random.mu[c] > 0.0 && lambda[D * c] > 0.0);
    assert!(loaded().any(|c| share(c) < 0.99) && loaded().any(|c| share(c) > 1.0 - 1e-9), "{D} rows");
}

#[test]
fn sweeps_end_at_a_solution_also_where_normal_and_tangents_are_coupled() {
    sweeps_to_a_solution::<3, 1>();
    sweeps_to_a_solution::<4, 2>();
    sweeps_to_a_solution::<6, 3>();
}

#[test]
fn block_lu_solves_what_was_put_in() {
    use super::block_lu::{Blocks, Factor, Pattern};
    let Some(simd) = V3::try_new() else { return };
    let bodies = 30;
    let mut state = 5u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    // a ring, and bodies across it
    let pairs: Vec<[u32; 2]> =
        (0..bodies).map(|i| [i, (i + 1) % bodies]).chain((0..10).map(|i| [i, 3 * i % bodies])).collect();
    let pairs: Vec<[u32; 2]> = pairs.into_iter().filter(|[a, b]| a != b).collect();
    let (mut pattern, mut blocks) = (Pattern::default(), Blocks::default());
    assert!(!pattern.holds([0, 1]));
    for _ in 0..2 {
        pattern.find(bodies as usize, pairs.iter().copied());
        assert!(pairs.iter().all(|p| pattern.holds(*p)) && !pattern.holds([0, bodies]));
        blocks.reset(&pattern);
        let mut entries = vec![];
        for &[a, b] in &pairs {
            for [row, column] in [[a, a], [b, b], [a, b], [b, a]] {
                for i in 0..6 {
                    for j in 0..6 {
                        let x = random() + if row == column && i == j { 6.0 } else { 0.0 };
                        blocks.block(&pattern, row, column)[i][j] += x;
                        entries.push((row as usize, i, column as usize, j, x));
                    }
                }
            }
        }
        let expected: Vec<[f64; 6]> = (0..bodies).map(|_| std::array::from_fn(|_| random())).collect();
        // the unit matrix was there before
        let mut x = expected.clone();
        for &(row, i, column, j, entry) in &entries {
            x[row][i] += entry * expected[column][j];
        }
        assert!(simd.vectorize(Factor { blocks: &mut blocks, pattern: &pattern, x: Arithmetic(simd) }));
        blocks.solve(&pattern, &mut x);
        for (x, expected) in x.iter().flatten().zip(expected.iter().flatten()) {
            assert!((x - expected).abs() < 1e-11, "{x} {expected}");
        }
    }
}

/// With all contacts sticking the proximal problem is linear: one Newton step solves it.
#[test]
fn one_newton_step_solves_a_linear_problem() {
    let mut random = Random::<3>::new(10, 24, 4, 6);
    random.mu.fill(1e3);
    // pressed together, whatever the speeds along
    for b in random.b.chunks_exact_mut(3) {
        b[0] = -10.0 - b[0].abs();
    }
    let contacts: Vec<usize> = (0..24).collect();
    let lambda: Vec<f64> = (0..72).map(|k| if k % 3 == 0 { 1.0 } else { 0.0 }).collect();
    let (mut packed, mut sweeper) = (Packed::<3, 1>::default(), Sweeper::default());
    prepare::<3>(&mut sweeper, random.problem(), &lambda);
    let Some(mut lanes) = packed.take(random.problem(), &sweeper, &contacts, &lambda) else {
        return assert!(V3::try_new().is_none());
    };
    lanes.set_centre();
    lanes.set_weight(10.0);
    let before = lanes.proximal_residual();
    let mut newton = newton::Newton::default();
    newton.begin();
    assert!(newton.step(&mut lanes));
    let after = lanes.proximal_residual();
    assert!(before > 1.0 && after < 1e-24 * before, "{before} {after}");
}
