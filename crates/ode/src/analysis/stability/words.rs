//! What was found of a cluster, in words.

use super::layer::{Dependence, Verdict};
use super::{Branch, Cluster, Finite, Preferred};
use crate::model::Model;
use crate::state::Trust;
use crate::step::Status as Does;

impl Branch {
    /// Kind of the solution: `open` if no contact carries force, `stick` or `slip` if all that do stick or slip, else `stick and slip`.
    pub fn kind(&self) -> &'static str {
        let any = |status: Does| self.contacts.iter().any(|c| c.status == status);
        match (any(Does::Stick), any(Does::Slip)) {
            (false, false) => "open",
            (true, false) => "stick",
            (false, true) => "slip",
            (true, true) => "stick and slip",
        }
    }
}

impl Cluster {
    /// Names of the bodies that touch, in order.
    pub fn name(&self, model: &Model) -> String {
        let mut names: Vec<&str> = vec![];
        for contact in &self.contacts {
            for part in [contact.id.part_a, contact.id.part_b] {
                let name = model.scene().name_of(model.parts()[part as usize].owner);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        match names.len() {
            0 => self
                .standing
                .first()
                .map_or_else(String::new, |row| model.standing()[*row].name(model.scene())),
            1..=4 => names.join(", "),
            n => format!("{}, and {} more", names[..3].join(", "), n - 3),
        }
    }

    /// Sentences on the theorems and on the model to prefer.
    pub fn words(&self, model: &Model) -> Vec<String> {
        let mut words = vec![];
        let name = |k: &usize| {
            let contact = self.contacts.get(*k);
            contact.and_then(|c| model.contact_name(c.id)).unwrap_or_else(|| "a joint limit".to_owned())
        };
        match &self.wedged {
            Some(list) if list.is_empty() => {}
            Some(list) => {
                let more =
                    if list.len() > 4 { format!(" and {} more", list.len() - 4) } else { String::new() };
                let names: Vec<String> = list.iter().take(4).map(name).collect();
                words.push(format!(
                    "Forces at {}{more} can balance each other: song2004 (20) fails, and forces of ever stiffer contacts need not stay bounded.",
                    names.join(", ")
                ));
            }
            None => words.push("song2004 (20) was not decided.".to_owned()),
        }
        if self.finite == Finite::No && self.trust != Trust::ForcesNotUnique {
            words.push("There are infinitely many solutions: the friction coefficients are exceptional (song2004 Theorem 4), or contacts are redundant.".to_owned());
        }
        for (k, branch) in self.branches.iter().enumerate() {
            if let Some(Dependence::Varies { stable, of }) = branch.depends {
                words.push(format!(
                    "Solution {} is stable in {stable} of {of} layers that were tried: the verdict depends on stiffness and damping.",
                    k + 1
                ));
            }
        }
        words.push(match self.preferred {
            Preferred::Rigid if self.complete => {
                "The rigid model may be used: one motion, and it is stable.".to_owned()
            }
            Preferred::Rigid => {
                "The rigid model may be used: the motion found is stable; that it is the only one was not shown.".to_owned()
            }
            Preferred::StableBranch => {
                "The rigid model may be used with the stable solution; the others are to be discarded.".to_owned()
            }
            Preferred::Undecided => match &self.reason {
                Some(reason) => format!("Not decided: {reason}."),
                None => "Not decided.".to_owned(),
            },
            Preferred::Compliant => format!("Use compliant contacts: {}.", self.why_compliant()),
        });
        words
    }

    fn why_compliant(&self) -> &'static str {
        let stable = self.branches.iter().filter(|b| b.verdict() == Some(Verdict::Stable)).count();
        match (self.branches.len(), stable) {
            (0, _) => "no accelerations and finite forces satisfy the rigid laws",
            _ if self.branches.iter().any(|b| b.motion_dimension > 0) => {
                "rigid bodies allow a continuum of motions"
            }
            (1, 0) => "the only rigid solution is not stable",
            (_, 0) => "no rigid solution is stable",
            _ => "several rigid solutions are stable, and which of them is taken depends on the deformation",
        }
    }
}
