//! The generator of random contact problems.

use complementarity::matrix::Matrix;
use complementarity::problem::Mode;
use stiction::random::{COEFFICIENTS, instants, table1};
use stiction::space::length;

const SEED: u64 = 1995;

#[test]
fn there_are_350_problems_of_the_paper_s_sizes() {
    let cases = table1(SEED);
    assert_eq!(cases.len(), 350);
    let count = |size: usize| cases.iter().filter(|c| c.size == size).count();
    let sizes = [2, 10, 16, 30, 50, 90, 120, 150, 170];
    assert_eq!(sizes.map(count), [30, 80, 30, 50, 40, 40, 30, 20, 30]);
    for case in &cases {
        assert!(case.friction.mu().iter().all(|mu| *mu == case.mu) && COEFFICIENTS.contains(&case.mu));
        assert_eq!(case.lcp.problem.size(), case.size);
    }
}

#[test]
fn a_seed_fixes_every_bit() {
    let bits = |seed: u64| -> Vec<u64> {
        let entries = |c: &stiction::random::Case| {
            let (m, q) = (c.lcp.problem.matrix().data().to_vec(), c.lcp.problem.vector().to_vec());
            m.into_iter().chain(q).map(f64::to_bits).collect::<Vec<_>>()
        };
        table1(seed).iter().flat_map(entries).collect()
    };
    assert!(bits(3) == bits(3));
    assert!(bits(3) != bits(4));
}

#[test]
fn velocities_satisfy_the_contact_constraints_to_rounding() {
    for seed in [SEED, 1, 2] {
        for instant in instants(seed) {
            let speed =
                instant.bodies().iter().map(|b| length(b.velocity) + length(b.angular_velocity)).sum::<f64>();
            for (index, mode) in instant.instant().modes().iter().enumerate() {
                let [n, t, o] = instant.instant().relative_velocity(index);
                assert!(n.abs() <= 1e-13 * speed, "(5): {n:e} of {speed}");
                match mode {
                    Mode::Rolling => assert!(t.hypot(o) <= 1e-13 * speed, "(6)"),
                    Mode::Sliding { .. } => assert!(t.hypot(o) > 0.01),
                }
            }
        }
    }
}

/// Pivots of a Cholesky factorisation with diagonal pivoting, largest first, until they are negligible;
/// and the most negative diagonal entry that is left.
fn pivots(a: &Matrix) -> (Vec<f64>, f64) {
    let n = a.rows();
    let mut s = a.clone();
    let mut open: Vec<usize> = (0..n).collect();
    let mut found = Vec::new();
    let scale = (0..n).map(|i| a[(i, i)]).fold(0.0, f64::max);
    while let Some(at) =
        (0..open.len()).max_by(|&x, &y| s[(open[x], open[x])].total_cmp(&s[(open[y], open[y])]))
    {
        let k = open[at];
        let pivot = s[(k, k)];
        if pivot <= 1e-11 * scale {
            break;
        }
        found.push(pivot);
        open.swap_remove(at);
        for &i in &open {
            let factor = s[(i, k)] / pivot;
            for &j in &open {
                let update = factor * s[(k, j)];
                s[(i, j)] -= update;
            }
        }
    }
    let rest = open.iter().map(|&i| s[(i, i)]).fold(0.0, f64::min);
    (found, rest / scale)
}

fn rank(a: &Matrix) -> usize {
    let (found, rest) = pivots(a);
    assert!(rest > -1e-11, "A is positive semidefinite: {rest:e}");
    found.len()
}

/// Two contacts between the same two bodies already share a direction, so nearly all of the large scenes are redundant;
/// in fewer are the normal directions alone.
#[test]
fn contact_matrix_is_semidefinite_and_redundant_in_a_known_share() {
    let (mut redundant, mut redundant_normals) = (0, 0);
    for instant in instants(SEED) {
        let (a, _) = instant.instant().system();
        let contacts = instant.contacts().len();
        for i in 0..a.rows() {
            assert!((0..i).all(|j| a[(i, j)] == a[(j, i)]));
        }
        let rank_of_a = rank(&a);
        assert!(rank_of_a <= 6 * instant.bodies().len());
        redundant += usize::from(rank_of_a < 3 * contacts);
        let normals = Matrix::from_fn(contacts, contacts, |i, j| a[(3 * i, 3 * j)]);
        redundant_normals += usize::from(rank(&normals) < contacts);
    }
    assert_eq!((redundant, redundant_normals), (33, 22), "of 35");
}
