//! The checker of proofs. It shares nothing with the search: own arithmetic, the data as posed.
//!
//! At a leaf some `z_j` and some `w_i` are fixed to zero. From `w = M z + q` follows, for every `y`,
//!
//! ```text
//! y' w + c' z = y' q     with     c = -M' y.
//! ```
//!
//! With `y_i >= 0` where `w_i >= 0` is not fixed, `c_j >= 0` where `z_j >= 0` is not fixed, `c_j = 0` where `z_j` is
//! free, and `y' q < 0`, the left side is >= 0 and the right is not: the leaf holds no point (Farkas).
//! Signs of `y` are exact; `c` and `y' q` are computed with rigorous error bounds. Where the bounds leave `c_j` up
//! to `v` on the wrong side, the left side is at least `-v sum |z_j|`, and the leaf is empty of all `z` with
//! `sum |z_j| < -y' q / v`: the radius.
//!
//! Sums: Dot2Err, Algorithm 5.8 of T. Ogita, S. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci.
//! Comput. 26 (2005), with products split by fused multiply-add. Its bound holds under underflow too.

use crate::problem::MixedLcp;
use crate::report::{Proof, ProofNode};
use crate::solver::Budget;

/// Why a proof is none: the node, in preorder from 0, and what is wrong there.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Refuted {
    /// A branch on an index that is not a complementary pair.
    #[error("node {node} branches on {pair}, which is no complementary pair")]
    NoSuchPair {
        /// Place in the proof.
        node: usize,
        /// The index.
        pair: usize,
    },
    /// A branch on a pair that an earlier branch has settled.
    #[error("node {node} branches on pair {pair}, which was settled above it")]
    SettledBefore {
        /// Place in the proof.
        node: usize,
        /// The pair.
        pair: usize,
    },
    /// The nodes end before every branch has both children.
    #[error("the tree is not complete: {open} children are missing")]
    Incomplete {
        /// Children missing at least.
        open: usize,
    },
    /// The tree is complete before the nodes end.
    #[error("node {node} belongs to no branch")]
    Surplus {
        /// Place in the proof.
        node: usize,
    },
    /// A Farkas vector of the wrong length.
    #[error("the vector of leaf {node} has {found} entries, expected {expected}")]
    Size {
        /// Place in the proof.
        node: usize,
        /// Length found.
        found: usize,
        /// Size of the problem.
        expected: usize,
    },
    /// An entry that is negative where `w_i >= 0`, or not a number.
    #[error("leaf {node}: y[{row}] = {value}, expected a number >= 0")]
    Sign {
        /// Place in the proof.
        node: usize,
        /// Entry.
        row: usize,
        /// What stands there.
        value: f64,
    },
    /// `y' q` is not below zero by more than its rounding.
    #[error("leaf {node}: y'q = {value} +- {error}, expected below zero")]
    NoContradiction {
        /// Place in the proof.
        node: usize,
        /// `y' q`.
        value: f64,
        /// Bound of its error.
        error: f64,
    },
    /// A sum over- or underflows.
    #[error("leaf {node}: the entry {column} of M'y is out of range")]
    OutOfRange {
        /// Place in the proof.
        node: usize,
        /// Column.
        column: usize,
    },
    /// The budget ended the check.
    #[error("the check of the proof ended at node {node}: interrupted, or out of budget")]
    Unchecked {
        /// Place in the proof.
        node: usize,
    },
    /// The proof claims to reach further than it does.
    #[error("the proof claims radius {claimed}, but holds within {found} only")]
    Radius {
        /// Stated in the proof.
        claimed: f64,
        /// What the leaves allow.
        found: f64,
    },
}

/// Unit roundoff and the smallest positive number.
const U: f64 = f64::EPSILON / 2.0;
const ETA: f64 = 5e-324;
/// Products above this lose nothing to underflow.
const SAFE: f64 = 1e-280;

/// A sum of products: `high + low`, what was rounded off on the way, and whether all was exact.
#[derive(Clone, Copy)]
struct Sum {
    high: f64,
    low: f64,
    lost: f64,
    terms: usize,
    exact: bool,
}

impl Sum {
    const ZERO: Self = Self { high: 0.0, low: 0.0, lost: 0.0, terms: 0, exact: true };

    fn add(&mut self, a: f64, b: f64) {
        if a == 0.0 || b == 0.0 {
            return;
        }
        let product = a * b;
        let error = a.mul_add(b, -product);
        // TwoSum, Knuth
        let sum = self.high + product;
        let t = sum - self.high;
        let rest = (self.high - (sum - t)) + (product - t);
        let both = rest + error;
        self.high = sum;
        self.low += both;
        self.lost += both.abs();
        self.terms += 1;
        self.exact &= both == 0.0 && product.abs() > SAFE;
    }

    /// The value and a bound of its error; the bound is NaN or infinite where a step overflowed.
    fn value(&self) -> (f64, f64) {
        if self.exact {
            return (self.high, 0.0);
        }
        let n = self.terms as f64;
        let value = self.high + self.low;
        let delta = n * U / (1.0 - 2.0 * n * U);
        let error = (U * value.abs() + (delta * self.lost + 3.0 * ETA / U)) / (1.0 - 2.0 * U);
        // two more roundings than the algorithm counts (delta, and the quotient) are covered by doubling
        (value, 2.0 * error)
    }
}

/// Checks a proof against the problem as posed; returns the radius within which it holds (`sum |z_j|`;
/// infinite: everywhere), and refuses a proof that claims a larger one.
pub fn verify(problem: &MixedLcp, proof: &Proof) -> Result<f64, Refuted> {
    check(problem, proof, &mut Budget::default()).map(|verdict| verdict.radius)
}

/// Entries of `M'y` on the wrong side by more than this share of `max |y| sum_i |M_ij|` are no rounding: with a
/// finite radius a solution may lie beyond. (Proofs of problems without solution stay below 2e-15; those that
/// overlook a far solution of a nearly singular matrix are above 7e-15.)
pub(super) const ROUNDING: f64 = 4e-15;

/// How far a proof holds.
pub(super) struct Verdict {
    pub radius: f64,
    /// Largest entry of `M'y` on the wrong side, relative as in [`ROUNDING`].
    pub excess: f64,
}

/// Checks a proof within a budget.
pub(super) fn check(problem: &MixedLcp, proof: &Proof, budget: &mut Budget) -> Result<Verdict, Refuted> {
    let mut excess = 0.0f64;
    let n = problem.size();
    let (mut z_fixed, mut w_fixed) = (vec![false; n], vec![false; n]);
    // branches above the present node: the pair, and whether its second child is being read
    let mut path: Vec<(usize, bool)> = vec![];
    let mut radius = f64::INFINITY;
    let mut complete = false;
    let mut columns = vec![Sum::ZERO; n];
    for (node, content) in proof.nodes.iter().enumerate() {
        if complete {
            return Err(Refuted::Surplus { node });
        }
        match content {
            &ProofNode::Branch { pair } => {
                if problem.complementary().get(pair) != Some(&true) {
                    return Err(Refuted::NoSuchPair { node, pair });
                }
                if z_fixed[pair] || w_fixed[pair] {
                    return Err(Refuted::SettledBefore { node, pair });
                }
                z_fixed[pair] = true;
                path.push((pair, false));
            }
            ProofNode::Leaf { .. } if budget.ended().is_some() => return Err(Refuted::Unchecked { node }),
            ProofNode::Leaf { y } => {
                budget.spend_pivot(n, n);
                let found = leaf(problem, node, y, &z_fixed, &w_fixed, &mut columns)?;
                radius = radius.min(found.radius);
                excess = excess.max(found.excess);
                complete = loop {
                    match path.last_mut() {
                        None => break true,
                        Some((pair, second @ false)) => {
                            *second = true;
                            z_fixed[*pair] = false;
                            w_fixed[*pair] = true;
                            break false;
                        }
                        Some((pair, true)) => {
                            w_fixed[*pair] = false;
                            path.pop();
                        }
                    }
                };
            }
        }
    }
    if !complete {
        let open = 1 + path.iter().filter(|(_, second)| !second).count();
        return Err(Refuted::Incomplete { open });
    }
    // a NaN claim is refused too
    if !matches!(proof.radius.partial_cmp(&radius), Some(o) if o.is_le()) {
        return Err(Refuted::Radius { claimed: proof.radius, found: radius });
    }
    Ok(Verdict { radius, excess })
}

/// The radius within which `y` shows the leaf empty.
fn leaf(
    problem: &MixedLcp,
    node: usize,
    y: &[f64],
    z_fixed: &[bool],
    w_fixed: &[bool],
    columns: &mut [Sum],
) -> Result<Verdict, Refuted> {
    let n = problem.size();
    if y.len() != n {
        return Err(Refuted::Size { node, found: y.len(), expected: n });
    }
    columns.fill(Sum::ZERO);
    let mut constant = Sum::ZERO;
    for (i, &value) in y.iter().enumerate() {
        let any_sign = w_fixed[i] || !problem.complementary()[i];
        if !value.is_finite() || (value < 0.0 && !any_sign) {
            return Err(Refuted::Sign { node, row: i, value });
        }
        if value != 0.0 {
            constant.add(value, problem.vector()[i]);
            for (sum, &a) in columns.iter_mut().zip(problem.matrix().row(i)) {
                sum.add(value, a);
            }
        }
    }
    let (value, error) = constant.value();
    let gap = -(value + error);
    if !(gap > 0.0 && gap.is_finite() && error.is_finite()) {
        return Err(Refuted::NoContradiction { node, value, error });
    }
    let (mut violation, mut excess) = (0.0f64, 0.0f64);
    let largest = y.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for j in (0..n).filter(|&j| !z_fixed[j]) {
        let (value, error) = columns[j].value();
        if !(value.is_finite() && error.is_finite()) {
            return Err(Refuted::OutOfRange { node, column: j });
        }
        // -c_j = (M' y)_j at most
        let side = if problem.complementary()[j] { value } else { value.abs() };
        violation = violation.max((side + error) * (1.0 + 4.0 * U));
        let makes_up: f64 = (0..n).map(|i| problem.matrix()[(i, j)].abs()).sum();
        if side > 0.0 && makes_up > 0.0 {
            excess = excess.max(side / (largest * makes_up));
        }
    }
    // rounded towards zero
    let radius = if violation > 0.0 { gap / violation * (1.0 - 16.0 * U) } else { f64::INFINITY };
    Ok(Verdict { radius, excess })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// w = -z - 1 < 0.
    fn hopeless() -> MixedLcp {
        MixedLcp::new(Matrix::from_rows(&[&[-1.0]]), vec![-1.0], vec![true]).unwrap()
    }

    fn leaf(y: &[f64]) -> ProofNode {
        ProofNode::Leaf { y: y.to_vec() }
    }

    fn proof(nodes: Vec<ProofNode>) -> Proof {
        Proof { nodes, radius: f64::INFINITY }
    }

    #[test]
    fn an_exact_proof_holds_everywhere() {
        assert_eq!(verify(&hopeless(), &proof(vec![leaf(&[1.0])])), Ok(f64::INFINITY));
        let branch = ProofNode::Branch { pair: 0 };
        assert_eq!(verify(&hopeless(), &proof(vec![branch, leaf(&[1.0]), leaf(&[2.0])])), Ok(f64::INFINITY));
    }

    #[test]
    fn sums_are_bounded_rigorously() {
        // 0.1 + 0.2 - 0.3 over the doubles is 2^-55: dyadic, not zero
        let mut s = Sum::ZERO;
        for (a, b) in [(0.1, 1.0), (0.2, 1.0), (0.3, -1.0)] {
            s.add(a, b);
        }
        let (value, error) = s.value();
        assert!((value - 2f64.powi(-55)).abs() <= error && error < 1e-30);
        // cancellation of twenty decades
        let mut s = Sum::ZERO;
        for (a, b) in [(1e10, 1e10), (1.0, 1.0), (-1e10, 1e10)] {
            s.add(a, b);
        }
        let (value, error) = s.value();
        assert!((value - 1.0).abs() <= error && error < 1e-10);
    }

    #[test]
    fn what_is_no_proof_is_refuted() {
        let p = hopeless();
        let branch = |pair| ProofNode::Branch { pair };
        let no = |nodes| verify(&p, &proof(nodes)).unwrap_err();
        assert!(matches!(no(vec![]), Refuted::Incomplete { .. }));
        assert!(matches!(no(vec![branch(1)]), Refuted::NoSuchPair { node: 0, pair: 1 }));
        assert!(matches!(no(vec![branch(0), branch(0)]), Refuted::SettledBefore { node: 1, pair: 0 }));
        assert!(matches!(no(vec![branch(0), leaf(&[1.0])]), Refuted::Incomplete { .. }));
        assert!(matches!(no(vec![leaf(&[1.0]), leaf(&[1.0])]), Refuted::Surplus { node: 1 }));
        assert!(matches!(no(vec![leaf(&[])]), Refuted::Size { .. }));
        assert!(matches!(no(vec![leaf(&[-1.0])]), Refuted::Sign { .. }));
        assert!(matches!(no(vec![leaf(&[f64::NAN])]), Refuted::Sign { .. }));
        assert!(matches!(no(vec![leaf(&[0.0])]), Refuted::NoContradiction { .. }));
    }

    #[test]
    fn a_wrong_sign_of_c_shrinks_the_radius() {
        // w = 1e-9 z - 1 has the solution z = 1e9: y = 1 excludes only what is nearer
        let p = MixedLcp::new(Matrix::from_rows(&[&[1e-9]]), vec![-1.0], vec![true]).unwrap();
        let mut claim = proof(vec![leaf(&[1.0])]);
        let Err(Refuted::Radius { found, .. }) = verify(&p, &claim) else { panic!("accepted") };
        assert!(found <= 1e9 && found > 0.99e9);
        claim.radius = found;
        assert_eq!(verify(&p, &claim), Ok(found));
        claim.radius = f64::NAN;
        assert!(verify(&p, &claim).is_err());
    }

    #[test]
    fn a_free_column_must_vanish() {
        // equality z0 - 1 = 0, z0 free: no contradiction from y = 1, whose c is -1
        let p = MixedLcp::new(Matrix::from_rows(&[&[1.0]]), vec![-1.0], vec![false]).unwrap();
        let claim = Proof { nodes: vec![leaf(&[1.0])], radius: 0.0 };
        assert!(verify(&p, &claim).unwrap() <= 1.0, "the solution z = 1 is not excluded");
    }
}
