//! Warnings while a run goes on: where the rigid problem has no solution, several, or one that is not stable.
//!
//! The start is examined as `analyze` does, with a short search. Every step looks at slipping contacts alone, which costs next to nothing: `A` of song2001 (29)
//! below 0, or what the step itself says of its motion. Only then its state is examined, at most once in [`STRIDE`] steps.

use crate::tell;
use stiction::analysis::stability::{Cluster, Preferred, Question, Verdict, examine};
use stiction::model::Model;
use stiction::run::{EventKind, Fault, Observer, View};
use stiction::scene::Scheme;
use stiction::step::{Status, Trust};

/// Elements, and bodies of a scene, up to which states are examined; contacts and nodes of a search for all solutions.
const MOST: usize = 24;
const CONTACTS: usize = 6;
const NODES: usize = 200;
/// Least number of steps between examinations: they take some hundred times as long as a step.
const STRIDE: usize = 4000;

/// Collects warnings, one for each cluster and kind.
pub struct Warnings {
    /// Whether they are told at once.
    aloud: bool,
    pub found: Vec<String>,
    told: Vec<(String, &'static str)>,
    next: usize,
}

impl Warnings {
    pub fn new(aloud: bool) -> Self {
        Self { aloud, found: vec![], told: vec![], next: 0 }
    }

    fn warn(&mut self, time: f64, name: String, kind: &'static str, words: &str) {
        if self.told.iter().any(|(n, k)| *n == name && *k == kind) {
            return;
        }
        let line = format!(
            "t = {time:.6} s: {name}: {words} (stiction analyze says more; law = \"auto\" makes such contacts compliant)"
        );
        if self.aloud {
            tell(&format!("warning: {line}"));
        }
        self.told.push((name, kind));
        self.found.push(line);
    }

    fn examine(&mut self, view: &View<'_>) {
        let model = view.model();
        let mut question =
            Question { vary: false, most_contacts: CONTACTS, max_nodes: NODES, ..Question::default() };
        if view.state.time > 0.0 {
            question = question.after_steps(model);
        }
        let Ok(analysis) = examine(model, view.state, &question) else { return };
        for cluster in &analysis.clusters {
            if let Some((kind, words)) = doubt(cluster) {
                self.warn(analysis.time, cluster.name(model), kind, &words);
            }
        }
    }
}

/// What is wrong with a cluster, if anything is known to be.
fn doubt(cluster: &Cluster) -> Option<(&'static str, String)> {
    if matches!(cluster.preferred, Preferred::Rigid | Preferred::Undecided) {
        return None;
    }
    let list: Vec<String> = cluster
        .branches
        .iter()
        .take(4)
        .map(|b| format!("{} {}", b.kind(), b.verdict().map_or("unknown", Verdict::name)))
        .collect();
    Some(match cluster.branches.len() {
        0 => ("no-rigid-solution", "no rigid solution".to_owned()),
        1 => ("unstable", format!("the rigid solution is not stable ({})", list[0])),
        n => ("motion-not-unique", format!("{n} rigid solutions ({})", list.join(", "))),
    })
}

/// Whether a contact of the last step slips with `A` of (29) below 0.
fn is_beyond(model: &Model, view: &View<'_>) -> bool {
    let work = view.workspace();
    let (problem, rows) = (&work.problem, work.problem.linear_rows);
    let mut block = [0.0; 9];
    view.elements().iter().filter(|e| e.status == Status::Slip).any(|e| {
        let contact = work.contacts.contacts.iter().find(|c| c.id == e.id && c.count == 1);
        let Some(c) = contact.filter(|c| problem.rows_of(c.first).len() == rows) else { return false };
        let rule = &model.contacts().rules()[c.rule];
        let slip = e.speed[1].hypot(e.speed[2]);
        if rule.compliance.is_some() || slip == 0.0 {
            return false;
        }
        problem.factors().block(c.first, c.first, &mut block[..rows * rows]);
        let friction: f64 = (1..rows).map(|k| block[k] * e.speed[k] / slip).sum();
        block[0] < rule.friction * friction
    })
}

impl Observer for Warnings {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let rigid = view.model().contacts().rules().iter().any(|rule| rule.compliance.is_none());
        if rigid && view.scene().bodies.len() <= MOST {
            self.examine(view);
        }
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let impact = view.events.iter().find(|e| e.kind == EventKind::ImpactWithoutCollision);
        if let Some(event) = impact {
            let [a, b] = [event.body_a, event.body_b].map(|owner| view.scene().name_of(owner));
            let name = format!("{a}, {b}");
            let words = "no finite forces allow the slip it had, an impact without a collision stopped it";
            self.warn(event.time, name, Trust::NoRigidSolution.name(), words);
        }
        if view.scene().step.scheme != Scheme::Theta || view.made < self.next {
            return Ok(());
        }
        let count = view.elements().len();
        if !(1..=MOST).contains(&count) {
            return Ok(());
        }
        if view.report.trust == Trust::MotionNotUnique || is_beyond(view.model(), view) {
            self.next = view.made + STRIDE;
            self.examine(view);
        }
        Ok(())
    }
}
