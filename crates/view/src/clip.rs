//! A motion in memory: poses, contacts, energies and events, frame by frame; an observer of runs.

use crate::scenery::{ContactInfo, Scenery};
use std::collections::HashMap;
use std::sync::Arc;
use stiction::dynamics::Kinematics;
use stiction::model::{Model, Owner};
use stiction::run::{Balance, ENTRIES, Event, EventKind, Fault, Observer, View};
use stiction::space::{Pose, Vector};
use stiction::state::{ContactId, State};
use stiction::step::{ElementReport, Failed, Status, Trust};

/// Most events that are kept: a page lists no more.
const MOST_EVENTS: usize = 20_000;
/// End of the warning of a clip that has been thinned.
const THINNED: &str = "records are shown";
/// Frames by which the first look at a motion is chosen.
const LOOKS: usize = 100;

/// A body in a frame.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// Pose in the world.
    pub pose: Pose,
    /// Velocity of the origin, m/s.
    pub velocity: Vector,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vector,
}

/// An element of a contact in a frame; vectors are in world axes.
#[derive(Debug, Clone, Copy)]
pub struct Touch {
    /// Index of the contact.
    pub contact: usize,
    /// Number within the contact.
    pub element: usize,
    /// What it does.
    pub status: Status,
    /// Where, m.
    pub point: Vector,
    /// From the first body to the second.
    pub normal: Vector,
    /// Force on the second body, N.
    pub force: Vector,
    /// Slip velocity of the second body over the first, m/s.
    pub slip: Vector,
    /// Gap, m.
    pub gap: f64,
}

/// The steps since the frame before.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// Worst relative residual.
    pub residual: f64,
    /// The worst that is known.
    pub trust: Trust,
    /// The worst ending.
    pub ending: Ending,
    /// Iterations of the solvers.
    pub iterations: usize,
    /// Energies at the frame, losses and work until then, J.
    pub balance: Balance,
}

/// How steps ended, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// At the tolerance, at once.
    Solved,
    /// In parts.
    Cut,
    /// Above the tolerance.
    Loose,
    /// Not at all.
    Failed,
}

impl Ending {
    /// All, in order.
    pub const ALL: [Self; 4] = [Self::Solved, Self::Cut, Self::Loose, Self::Failed];

    /// As tables write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Cut => "cut",
            Self::Loose => "loose",
            Self::Failed => "failed",
        }
    }
}

impl Steps {
    pub(crate) const NONE: Self = Self {
        residual: 0.0,
        trust: Trust::NotExamined,
        ending: Ending::Solved,
        iterations: 0,
        balance: [0.0; ENTRIES.len()],
    };

    /// Adds later steps.
    pub(crate) fn add(&mut self, later: &Self) {
        self.residual = self.residual.max(later.residual);
        self.trust = self.trust.max(later.trust);
        self.ending = self.ending.max(later.ending);
        self.iterations += later.iterations;
        self.balance = later.balance;
    }
}

/// Elements of a contact that do something else from a time on.
#[derive(Debug, Clone, Copy)]
pub struct Happening {
    /// End of the step, s.
    pub time: f64,
    /// Index of the contact.
    pub contact: usize,
    /// What happens.
    pub kind: EventKind,
    /// Number of elements.
    pub count: usize,
    /// Sum of their impulses, N s.
    pub impulse: f64,
}

/// A motion to be drawn. As an [`Observer`] it takes a frame at every record of a run.
#[derive(Debug, Clone)]
pub struct Clip {
    pub(crate) model: Arc<Model>,
    /// What does not move.
    pub scenery: Scenery,
    /// Text of the scene.
    pub text: String,
    /// What to know of this clip: parts that could not be read, frames left out.
    pub warnings: Vec<String>,
    /// Time of each frame, s.
    pub times: Vec<f64>,
    /// Contacts that occur.
    pub contacts: Vec<ContactInfo>,
    /// What happened, in order.
    pub events: Vec<Happening>,
    pub(crate) placed: Vec<Placed>,
    pub(crate) touches: Vec<Touch>,
    /// Where the touches of each frame end.
    pub(crate) ends: Vec<usize>,
    pub(crate) steps: Vec<Steps>,
    known: HashMap<ContactId, usize>,
    since: Steps,
}

impl Clip {
    /// No frames yet. `text` is the scene's, to be shown.
    pub fn new(model: &Arc<Model>, text: &str) -> Self {
        Self {
            model: model.clone(),
            scenery: Scenery::new(model),
            text: text.to_owned(),
            warnings: vec![],
            times: vec![],
            contacts: vec![],
            events: vec![],
            placed: vec![],
            touches: vec![],
            ends: vec![],
            steps: vec![],
            known: HashMap::new(),
            since: Steps::NONE,
        }
    }

    /// Frames of states alone, without contacts and steps.
    pub fn of_states<'a>(model: &Arc<Model>, text: &str, states: impl Iterator<Item = &'a State>) -> Self {
        let mut clip = Self::new(model, text);
        let mut kinematics = Kinematics::new(model.system());
        for state in states {
            kinematics.go_to(&state.position, &state.velocity);
            clip.add_frame(state.time, &kinematics);
        }
        clip.look();
        clip
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Bodies in a frame.
    pub fn bodies(&self, frame: usize) -> &[Placed] {
        let n = self.scenery.bodies();
        &self.placed[frame * n..(frame + 1) * n]
    }

    /// Elements of contacts in a frame.
    pub fn touches(&self, frame: usize) -> &[Touch] {
        let from = if frame == 0 { 0 } else { self.ends[frame - 1] };
        &self.touches[from..self.ends[frame]]
    }

    /// The steps up to a frame.
    pub fn steps(&self, frame: usize) -> &Steps {
        &self.steps[frame]
    }

    /// The last frame at or before a time; the first if there is none.
    pub fn frame_at(&self, time: f64) -> usize {
        self.times.partition_point(|t| *t <= time * (1.0 + 1e-12)).max(1) - 1
    }

    /// Lets the first look at the scene comprise the whole motion, unless that goes far away.
    pub fn look(&mut self) {
        let start = self.scenery.radius;
        let stride = self.len().div_ceil(LOOKS).max(1);
        let frames: Vec<Vec<Pose>> = (0..self.len())
            .step_by(stride)
            .map(|frame| self.bodies(frame).iter().map(|b| b.pose).collect())
            .collect();
        if !frames.is_empty() && self.scenery.bodies() > 0 {
            let before = (self.scenery.center, start, self.scenery.extent);
            self.scenery.look_at(&self.model, frames.iter().map(|f| &f[..]));
            if self.scenery.radius > 6.0 * start {
                (self.scenery.center, self.scenery.radius, self.scenery.extent) = before;
            }
        }
    }

    /// Numbers that a page has to store.
    pub fn numbers(&self) -> usize {
        13 * self.placed.len() + 14 * self.touches.len()
    }

    /// Keeps every n-th frame and the last, so that there are at most so many numbers; the steps between are summed up.
    pub fn thin(&mut self, most: usize) {
        let stride = self.numbers().div_ceil(most.max(1));
        let frames = self.len();
        if stride <= 1 || frames < 3 {
            return;
        }
        let keep = |frame: usize| frame.is_multiple_of(stride) || frame + 1 == frames;
        let old = self.clone();
        self.ends.clear();
        self.times.clear();
        self.placed.clear();
        self.touches.clear();
        self.steps.clear();
        let mut since = Steps::NONE;
        for frame in 0..frames {
            since.add(&old.steps[frame]);
            if keep(frame) {
                self.times.push(old.times[frame]);
                self.placed.extend(old.bodies(frame));
                self.touches.extend(old.touches(frame));
                self.ends.push(self.touches.len());
                self.steps.push(std::mem::replace(&mut since, Steps::NONE));
            }
        }
        self.warnings.retain(|w| !w.ends_with(THINNED));
        self.warnings.push(format!("{} of {frames} {THINNED}", self.len()));
    }

    /// The number of a contact, a new one if need be.
    fn contact(&mut self, id: ContactId, owners: [Owner; 2]) -> usize {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let name = self.model.contact_name(id).unwrap_or_default();
        self.contacts.push(self.scenery.contact(&self.model, name, owners, id));
        self.known.insert(id, self.contacts.len() - 1);
        self.contacts.len() - 1
    }

    pub(crate) fn add_event(&mut self, new: Happening) {
        if let Some(last) = self
            .events
            .iter_mut()
            .rev()
            .take_while(|e| e.time == new.time)
            .find(|e| e.contact == new.contact && e.kind == new.kind)
        {
            last.count += new.count;
            last.impulse += new.impulse;
        } else if self.events.len() < MOST_EVENTS {
            self.events.push(new);
            if self.events.len() == MOST_EVENTS {
                self.warnings.push(format!("the first {MOST_EVENTS} events are listed"));
            }
        }
    }

    fn add_frame(&mut self, time: f64, kinematics: &Kinematics) {
        self.times.push(time);
        self.placed.extend((0..self.scenery.bodies()).map(|body| {
            let (velocity, angular_velocity) = kinematics.velocity(body);
            Placed { pose: kinematics.pose(body), velocity, angular_velocity }
        }));
        self.ends.push(self.touches.len());
        self.steps.push(Steps::NONE);
    }

    /// Adds the state that a run has reached, with the contacts of its last step.
    pub fn add(&mut self, view: &mut View<'_>) {
        for k in 0..view.elements().len() {
            let e = view.elements()[k];
            let contact = self.contact(e.id, [e.body_a, e.body_b]);
            self.touches.push(touch(contact, &e));
        }
        self.since.balance = view.balance();
        let time = view.state.time;
        self.add_frame(time, view.kinematics());
        if let Some(last) = self.steps.last_mut() {
            *last = std::mem::replace(&mut self.since, Steps::NONE);
        }
    }

    fn add_events(&mut self, events: &[Event]) {
        for e in events {
            let contact = self.contact(e.contact, [e.body_a, e.body_b]);
            self.add_event(Happening { time: e.time, contact, kind: e.kind, count: 1, impulse: e.impulse });
        }
    }
}

fn touch(contact: usize, e: &ElementReport) -> Touch {
    Touch {
        contact,
        element: e.element,
        status: e.status,
        point: e.point,
        normal: e.frame.n,
        force: e.frame.world(e.force),
        slip: e.frame.in_plane([e.speed[1], e.speed[2]]),
        gap: e.gap,
    }
}

impl Observer for Clip {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.add(view);
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let report = view.report;
        self.since.add(&Steps {
            residual: report.residual.relative,
            trust: report.trust,
            ending: match () {
                () if report.loose > 0 => Ending::Loose,
                () if report.parts > 1 => Ending::Cut,
                () => Ending::Solved,
            },
            iterations: report.iterations,
            ..Steps::NONE
        });
        self.add_events(view.events);
        if view.is_record {
            self.add(view);
        }
        Ok(())
    }

    fn failed(&mut self, _: &mut View<'_>, why: &Failed) -> Result<(), Fault> {
        self.since.ending = Ending::Failed;
        self.warnings.push(why.to_string());
        Ok(())
    }

    fn finish(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        match self.steps.last_mut() {
            Some(last) if self.times.last() == Some(&view.state.time) => {
                last.ending = last.ending.max(self.since.ending);
            }
            _ => self.add(view),
        }
        Ok(())
    }
}
