//! What the theorems say of an instant, in words.

use super::{Answer, Jam};
use crate::state::Trust;
use complementarity::report::Status;

impl Answer {
    /// Sentences on existence, uniqueness and the two friction laws, each with its theorem.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![];
        if let Some(c) = &self.conditions
            && c.rows > 0
        {
            words.push(match c.rank == c.rows {
                true => format!("The system Jacobian has full column rank ({} rows).", c.rows),
                false => format!(
                    "The system Jacobian has rank {} of {} rows: forces in its null space of dimension {} move nothing.",
                    c.rank,
                    c.rows,
                    c.rows - c.rank
                ),
            });
            if !self.quasistatic {
                self.existence(&mut words);
            }
        }
        self.proposition(&mut words);
        match &self.pyramid.proof {
            Some(proof) => {
                let within = match proof.radius.is_infinite() {
                    true => String::new(),
                    false => format!(" whose variables add up to less than {:.1e}", proof.radius),
                };
                let cases = match leaves(proof) {
                    1 => "a Farkas vector".to_owned(),
                    count => format!("{count} cases, each with a Farkas vector"),
                };
                words.push(format!(
                    "No solution{within} exists under friction pyramids: proved by {cases}, and the proof was verified."
                ));
            }
            None if self.pyramid.complete && self.pyramid.status == Status::Solved => {
                words.push("The search over all cases found this solution and no other.".to_owned());
            }
            None if self.pyramid.complete && self.pyramid.list.len() == 1 => {
                words.push("The search over all cases found this continuum of solutions and no other.".to_owned());
            }
            None if self.pyramid.complete => words.push(format!(
                "The search over all cases found {} solutions or continua of solutions, and there are no others.",
                self.pyramid.list.len()
            )),
            None => {}
        }
        match self.trust() {
            Trust::ForcesNotUnique => {
                words.push("Forces are not unique, but all of them make the same motion.".to_owned());
            }
            Trust::MotionNotUnique => {
                words.push("The motion is not unique: rigid bodies allow several.".to_owned());
            }
            _ => {}
        }
        words
    }

    fn existence(&self, words: &mut Vec<String>) {
        let Some(c) = &self.conditions else { return };
        match (c.slides, c.jam) {
            (true, _) => {}
            (false, Jam::None) => words.push(
                "No contact slips, and no forces within friction balance each other: (36) holds, and a solution exists \
                 (Theorem 1 (a))."
                    .to_owned(),
            ),
            (false, Jam::Holds) => words.push(
                "No contact slips, and (36) holds for all forces within friction that balance each other: a solution exists \
                 (Theorem 1 (a))."
                    .to_owned(),
            ),
            (false, Jam::Fails(value)) => words.push(format!(
                "(36) fails: forces within friction balance each other and would do work {value:.3e} at normal forces that add up \
                 to 1 N; Theorem 1 (a) says nothing."
            )),
            (false, Jam::Unknown) => words.push("(36) was not decided.".to_owned()),
        }
        if c.slides {
            let mu_bar = |m: f64| {
                format!(" (up to mu-bar = {m:.4} at the slipping contacts it is, whatever the load)")
            };
            let mu_bar = c.mu_bar_existence.map(mu_bar).unwrap_or_default();
            words.push(match (c.positive_definite, c.p_matrix) {
                (true, _) => format!("The matrix (25) is positive definite: a solution exists (Theorem 1 (b)){mu_bar}."),
                (false, Some(true)) => {
                    "The matrix (25) of the slipping contacts is a P-matrix: every load has one solution.".to_owned()
                }
                (false, Some(false)) => format!(
                    "The matrix (25) of the slipping contacts is no P-matrix{mu_bar}: some loads have no solution, or several."
                ),
                (false, None) => format!("The matrix (25) is not positive definite{mu_bar}: Theorem 1 (b) says nothing."),
            });
        }
        match (c.unique, c.mu_bar_uniqueness) {
            (true, Some(m)) => words.push(format!(
                "The solution is unique (Theorem 1 (c), tested with these coefficients; guaranteed up to mu-bar = {m:.4})."
            )),
            (true, None) => words.push("The solution is unique.".to_owned()),
            (false, Some(m)) => words.push(format!(
                "Uniqueness is guaranteed up to mu-bar = {m:.4} only (Theorem 1 (c), a conservative bound)."
            )),
            (false, None) => {}
        }
    }

    fn proposition(&self, words: &mut Vec<String>) {
        let list = &self.pyramid.list;
        if self.contacts.is_empty() || list.is_empty() {
            return;
        }
        let within = list.iter().filter(|p| p.within_cone).count();
        words.push(match within {
            1 if list.len() == 1 => {
                "The pyramid's solution satisfies Coulomb's cone: it solves the cone problem too (Proposition 1).".to_owned()
            }
            0 => "The pyramid's forces violate Coulomb's cone: Proposition 1 does not apply.".to_owned(),
            _ => format!("{within} of {} solutions satisfy Coulomb's cone too (Proposition 1).", list.len()),
        });
    }
}

fn leaves(proof: &complementarity::report::Proof) -> usize {
    proof.nodes.iter().filter(|n| matches!(n, complementarity::report::ProofNode::Leaf { .. })).count()
}
