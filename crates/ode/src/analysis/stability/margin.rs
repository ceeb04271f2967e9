//! How far contacts that slip are from the loss of a unique, stable solution.

use super::layer::{Deforming, Restricted};
use complementarity::matrix::Matrix;

/// Contacts up to which all sets of them are examined; beyond it single ones, pairs, and all together; and up to which pairs are.
const MOST: usize = 6;
const PAIRS: usize = 60;

/// The least quotient `det A / det S` over sets of contacts that may be loaded together, in the range of their rows: for one slipping contact
/// `A` over `A` without friction, 1 where nothing slips. It is positive for all sets exactly if `A` of independent slipping contacts is a
/// P-matrix, and reaches 0 before the sliding solution ceases to be unique and stable.
#[derive(Debug, Clone, PartialEq)]
pub struct Margin {
    /// Its value, without unit.
    pub value: f64,
    /// Contacts of the cluster that have it; empty if nothing slips.
    pub contacts: Vec<usize>,
    /// Whether all sets were examined.
    pub complete: bool,
}

/// The margin of contacts, each with the rows and forces that it has while it is loaded.
pub fn margin(matrix: &Matrix, contacts: &[Deforming]) -> Margin {
    let n = contacts.len();
    let mut least = Margin { value: 1.0, contacts: vec![], complete: n <= MOST };
    let mut look = |set: Vec<usize>| {
        if !set.iter().any(|k| contacts[*k].slips) {
            return;
        }
        let mut all = Deforming { slips: true, ..Deforming::default() };
        for &k in &set {
            all.rows.extend_from_slice(&contacts[k].rows);
            all.forces.extend_from_slice(&contacts[k].forces);
            all.contact.extend_from_slice(&contacts[k].contact);
        }
        match Restricted::new(matrix, &all).and_then(|r| r.minor()) {
            Some(value) if value < least.value || least.contacts.is_empty() => {
                (least.value, least.contacts) = (value, set);
            }
            Some(_) => {}
            None => least.complete = false,
        }
    };
    if n <= MOST {
        (1..1usize << n).for_each(|set| look((0..n).filter(|k| set >> k & 1 == 1).collect()));
    } else {
        (0..n).for_each(|k| look(vec![k]));
    }
    if (MOST + 1..=PAIRS).contains(&n) {
        (0..n).for_each(|k| (0..k).for_each(|j| look(vec![j, k])));
        look((0..n).collect());
    }
    least
}
