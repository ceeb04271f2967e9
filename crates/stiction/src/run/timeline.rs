//! Stability along a run: instants at even distances, and the episodes in which nothing changes.

use super::{EventKind, Fault, Observer, View};
use crate::analysis::stability::{Analysis, Cluster, Preferred, Question, Verdict, examine};
use crate::model::Model;
use crate::state::{State, Trust};

/// An instant of a run.
#[derive(Debug, Clone)]
pub struct Moment {
    /// s.
    pub time: f64,
    /// What was found, or why nothing could be: an impact, a row that has no meaning at an instant.
    pub found: Result<Analysis, String>,
}

/// A time in which the solutions of a cluster, their stability and the model to prefer stay the same at all instants that were examined.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    /// Bodies of the cluster.
    pub name: String,
    /// First and last instant, s.
    pub span: [f64; 2],
    /// Instants.
    pub count: usize,
    /// Kind and verdict of each solution.
    pub solutions: Vec<(&'static str, Option<Verdict>)>,
    /// Whether there are no others.
    pub complete: bool,
    /// How far motion and forces are determined.
    pub trust: Trust,
    /// The model to prefer.
    pub preferred: Preferred,
    /// Least margin; no number in an episode without instants.
    pub margin: f64,
    /// Whether the condition (20) of song2004 held.
    pub bounded: bool,
}

/// Examines states of a run: an observer of [`crate::run::run`], or by calls of [`Self::look`].
#[derive(Debug, Clone)]
pub struct Timeline {
    question: Question,
    /// Time between instants, s, and when the next one is due.
    interval: f64,
    due: f64,
    /// The instants.
    pub moments: Vec<Moment>,
    /// Times at which an impact without a collision stopped a slip that no finite forces allow, with the bodies: between instants too.
    pub jams: Vec<(f64, String)>,
}

impl Timeline {
    /// At most `samples` instants at even distances from one time to another, the last state of a run beside them.
    pub fn new(question: Question, [from, to]: [f64; 2], samples: usize) -> Self {
        let interval = (to - from) / samples.max(2).saturating_sub(1) as f64;
        Self { question, interval, due: from, moments: vec![], jams: vec![] }
    }

    /// Examines a state. `stepped` says whether steps led to it.
    pub fn look(&mut self, model: &Model, state: &State, stepped: bool) {
        let question = match stepped {
            true => self.question.clone().after_steps(model),
            false => self.question.clone(),
        };
        let found = examine(model, state, &question).map_err(|why| why.to_string());
        self.moments.push(Moment { time: state.time, found });
    }

    /// Whether the next instant has come; the one after it is then awaited.
    pub fn is_due(&mut self, time: f64) -> bool {
        let due = time >= self.due - 1e-9 * self.interval;
        if due {
            self.due += self.interval * ((time - self.due) / self.interval).floor().max(0.0) + self.interval;
        }
        due
    }

    /// Episodes of each cluster, in order of its name's first appearance and of time. One of [`Self::jams`] is an episode without instants.
    pub fn episodes(&self, model: &Model) -> Vec<Episode> {
        let mut names: Vec<String> = vec![];
        let mut found: Vec<(usize, usize, Episode)> = vec![];
        for (at, moment) in self.moments.iter().enumerate() {
            let Ok(analysis) = &moment.found else { continue };
            for cluster in &analysis.clusters {
                let episode = Episode::of(cluster, model, moment.time);
                let name = names.iter().position(|n| *n == episode.name).unwrap_or_else(|| {
                    names.push(episode.name.clone());
                    names.len() - 1
                });
                let last = found.iter_mut().rev().find(|(n, ..)| *n == name);
                match last {
                    Some((_, until, before)) if *until + 1 >= at && before.same(&episode) => {
                        *until = at;
                        before.span[1] = moment.time;
                        before.count += 1;
                        before.margin = before.margin.min(episode.margin);
                    }
                    _ => found.push((name, at, episode)),
                }
            }
        }
        for (time, jammed) in &self.jams {
            let name = names.iter().position(|n| n == jammed).unwrap_or(names.len());
            let episode = Episode {
                name: jammed.clone(),
                span: [*time; 2],
                count: 0,
                solutions: vec![],
                complete: true,
                trust: Trust::NoRigidSolution,
                preferred: Preferred::Compliant,
                margin: f64::NAN,
                bounded: true,
            };
            found.push((name, 0, episode));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0).then(a.2.span[0].total_cmp(&b.2.span[0])));
        found.into_iter().map(|(_, _, episode)| episode).collect()
    }
}

impl Episode {
    fn of(cluster: &Cluster, model: &Model, time: f64) -> Self {
        let mut solutions: Vec<_> = cluster.branches.iter().map(|b| (b.kind(), b.verdict())).collect();
        solutions.sort_by_key(|(kind, verdict)| (*kind, verdict.map(Verdict::name)));
        Self {
            name: cluster.name(model),
            span: [time; 2],
            count: 1,
            solutions,
            complete: cluster.complete,
            trust: cluster.trust,
            preferred: cluster.preferred,
            margin: cluster.margin.value,
            bounded: cluster.wedged.as_ref().is_some_and(Vec::is_empty),
        }
    }

    fn same(&self, other: &Self) -> bool {
        (&self.solutions, self.trust, self.preferred, self.bounded, self.complete)
            == (&other.solutions, other.trust, other.preferred, other.bounded, other.complete)
    }
}

impl Observer for Timeline {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        if self.is_due(view.state.time) {
            let model = view.model().clone();
            self.look(&model, view.state, false);
        }
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        for event in view.events.iter().filter(|e| e.kind == EventKind::ImpactWithoutCollision) {
            let [a, b] = [event.body_a, event.body_b].map(|owner| view.scene().name_of(owner));
            self.jams.push((event.time, format!("{a}, {b}")));
        }
        if self.is_due(view.state.time) {
            let model = view.model().clone();
            self.look(&model, view.state, true);
        }
        Ok(())
    }

    fn finish(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        if self.moments.last().is_none_or(|m| m.time < view.state.time) {
            let model = view.model().clone();
            self.look(&model, view.state, true);
        }
        Ok(())
    }
}
