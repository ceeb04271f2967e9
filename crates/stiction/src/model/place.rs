//! Which share of an overlap each of two parts takes: where their contact force acts.

use super::Resolved;
use super::rule::Sides;
use crate::contact::{ContactPoint, Law, share_of_first};
use crate::scene::resolved::{Pair, PairOf};

impl Resolved {
    /// How the place of a contact force is chosen, and by which of the pairs.
    pub(super) fn contact_point(&self, pairs: [Option<&Pair>; 2]) -> (ContactPoint, Option<PairOf>) {
        let by_pair = pairs.into_iter().flatten().find_map(|p| Some((p.given.contact_point?, Some(p.of))));
        by_pair.unwrap_or((self.contact_point, None))
    }

    /// Share of the overlap that the first part takes under a law: 0 puts the force on its own surface, 1 on the other's.
    pub(super) fn share(&self, law: &Law, [a, b]: Sides, pairs: [Option<&Pair>; 2]) -> f64 {
        let (point, of) = self.contact_point(pairs);
        let a_is_first = match of {
            Some(PairOf::Owners([first, _])) => first == a.0,
            Some(PairOf::Materials([first, _])) => first == a.1,
            None => true,
        };
        match (point, a_is_first) {
            (ContactPoint::First, true) | (ContactPoint::Second, false) => 0.0,
            (ContactPoint::First, false) | (ContactPoint::Second, true) => 1.0,
            (ContactPoint::Middle, _) => 0.5,
            (ContactPoint::Compliance, _) => {
                let by_pair = pairs.into_iter().flatten().any(|p| p.law.is_some());
                share_of_first(self.compliances(law, by_pair, [a.1, b.1]))
            }
        }
    }

    /// Compliances of two materials along the normal, in units of their own; alike where a law does not say which side is soft.
    fn compliances(&self, law: &Law, by_pair: bool, materials: [usize; 2]) -> [f64; 2] {
        match law {
            // the moduli are the materials', wherever the law is given
            Law::HalfSpace { .. } | Law::HertzMindlin { .. } => {
                materials.map(|k| self.materials[k].elastic().normal_compliance())
            }
            _ if by_pair => [0.0; 2],
            _ => materials.map(|k| match &self.laws[k] {
                Law::Rigid => 0.0,
                Law::Layer { stiffness: [normal, _], .. } => 1.0 / normal,
                // of two compliant ones both have the same law
                _ => 1.0,
            }),
        }
    }
}
