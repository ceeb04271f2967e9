//! Writes a run as it happens.

use super::columns::{
    self, BODIES, Body, CONTACTS, EVENTS, IMPULSES, JOINTS, KNOWN, Known, LAYOUT, MOMENTS, STEPS, Step,
    WORLD, extend,
};
use super::names::Names;
use super::saved::state_text;
use super::{Format, RecordError, Rows, STATE_FILE};
use crate::analysis::joints::{self, JointReport, has_joint};
use crate::model::Model;
use crate::run::{ENTRIES, Fault, Observer, View};
use crate::scene::Table;
use crate::step::{ElementReport, Failed, StepReport, Trust};
use recording::Writer;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most steps without a record after which the clock is read, and how long they may take; slower ones make them fewer.
const CLOCK: usize = 64;
const SLOW: Duration = Duration::from_millis(20);
/// Records of which one is timed for all where steps are fast: reading the clock takes as long as a row.
const TIMED: u32 = 8;
/// Most rows that there is room for from the start.
const ROOM: usize = 1 << 10;

/// Records a run: an observer.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer,
    /// Where each table is among those that are written.
    places: [Option<usize>; Table::ALL.len()],
    moments: bool,
    /// How many a whole run has.
    records: usize,
    names: Names,
    /// Rows in the making; elements are copied only where friction is anisotropic.
    bodies: Vec<Body>,
    elements: Vec<ElementReport>,
    joints: (joints::Scratch, Vec<JointReport>),
    /// Time of the last record, s.
    last: f64,
    /// Time of the last row of `steps`, s.
    last_row: f64,
    since: Since,
    /// When the clock was last read, the steps since, and after how many it is read again.
    looked: Instant,
    unseen: usize,
    stride: usize,
    /// Records since one was timed.
    untimed: u32,
    spent: Duration,
}

/// Work since the last row of `steps`.
#[derive(Debug)]
struct Since {
    /// Who answered where the residual is worst.
    solver: &'static str,
    iterations: usize,
    wasted: usize,
    residual: f64,
    relaxed: usize,
    /// The worst that is known of a step.
    trust: Trust,
    /// Largest gap of rigid loops, gears and drives to positions.
    violation: f64,
}

impl Since {
    const NOTHING: Self = Self {
        solver: "none",
        iterations: 0,
        wasted: 0,
        residual: 0.0,
        relaxed: 0,
        trust: Trust::NotExamined,
        violation: 0.0,
    };

    fn step(&mut self, report: &StepReport) {
        self.iterations += report.iterations;
        self.wasted += report.wasted;
        self.relaxed += report.relaxed;
        self.violation = self.violation.max(report.violation);
        if report.residual.relative >= self.residual {
            (self.residual, self.solver) = (report.residual.relative, report.solver);
        }
    }
}

impl Recorder {
    /// `text` is the scene as it is run, whose copy makes the recording complete. A folder with something in it is refused,
    /// unless that is a recording and `replace` is true. The folder is made, and what it held replaced, when there is
    /// something to be read: after 0.1 s, or at the end. Other files in it stay.
    pub fn create(
        folder: &Path,
        model: &Arc<Model>,
        text: &str,
        format: Format,
        replace: bool,
    ) -> Result<Self, RecordError> {
        let begin = Instant::now();
        let scene = model.scene();
        let moments = model.contacts().rows() > 3;
        // short runs need no more memory than this for what is sure to come, and touch no more of it than they fill
        let records = 2 + (scene.step.duration / scene.record.interval) as usize;
        let (mut tables, mut places) = (vec![], [None; Table::ALL.len()]);
        let joints = (0..scene.bodies.len()).filter(|i| has_joint(model, *i)).count() + scene.loops.len();
        let wanted = |t: &Table| scene.record.tables.contains(t) && (*t != Table::Joints || joints > 0);
        for table in Table::ALL.into_iter().filter(wanted) {
            let mut rows = Rows::new(&columns::table(table, moments));
            rows.reserve(ROOM.min(match table {
                Table::Bodies => records.saturating_mul(scene.bodies.len()),
                Table::Joints => records.saturating_mul(joints),
                Table::Steps => records,
                Table::Contacts | Table::Events => 0,
            }));
            places[table as usize] = Some(tables.len());
            tables.push(rows);
        }
        let files = vec![text.as_bytes().to_vec()];
        let mut recorder = Self {
            writer: Writer::create(folder, &LAYOUT, tables, files, format, replace)?,
            places,
            moments,
            records,
            names: Names::new(model),
            bodies: vec![],
            elements: vec![],
            joints: Default::default(),
            last: 0.0,
            last_row: 0.0,
            since: Since::NOTHING,
            looked: Instant::now(),
            unseen: 0,
            stride: 1,
            untimed: 0,
            spent: Duration::ZERO,
        };
        recorder.spent = begin.elapsed();
        Ok(recorder)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        self.writer.folder()
    }

    /// Time spent on rows and files. Steps without a record cost next to nothing and are not counted.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    fn rows(&mut self, table: Table) -> Option<(&mut Rows, &mut Names)> {
        let place = self.places[table as usize]?;
        Some((self.writer.rows(place), &mut self.names))
    }

    #[inline(never)]
    fn write_events(&mut self, view: &View<'_>) {
        if let Some(table) = self.rows(Table::Events) {
            // schemes that locate events have several times in a step
            for events in view.events.chunk_by(|a, b| a.time == b.time) {
                let time = events[0].time;
                extend((&mut *table.0, &mut *table.1), 0, EVENTS, time, events);
                extend((&mut *table.0, &mut *table.1), EVENTS.len(), IMPULSES, time, events);
            }
        }
    }

    /// Records a step that is due or was cut (or accepted above the tolerance), and seals if it is time.
    #[inline(never)]
    fn record(&mut self, view: &mut View<'_>, cut: bool) -> Result<(), RecordError> {
        let write = view.is_record || cut;
        self.untimed += u32::from(write);
        if self.unseen < self.stride && self.untimed < TIMED {
            self.write(view, cut);
        } else {
            let begin = Instant::now();
            self.stride = match begin - self.looked > SLOW {
                true => self.unseen.div_ceil(2),
                false => (2 * self.stride).min(CLOCK),
            };
            (self.looked, self.unseen) = (begin, 0);
            if write {
                self.write(view, cut);
                self.spent += self.untimed * begin.elapsed();
                self.untimed = 0;
            }
            if self.writer.is_due(begin) {
                return self.seal(view);
            }
        }
        if self.writer.is_full() {
            return self.seal(view);
        }
        Ok(())
    }

    /// The rows of a step that is due or was cut (or accepted above the tolerance).
    fn write(&mut self, view: &mut View<'_>, cut: bool) {
        let h = view.scene().step.h;
        let status = match cut {
            true if view.report.loose > 0 => "loose",
            true => "cut",
            false => "solved",
        };
        self.write_step(view, h, status);
        if view.is_record {
            self.last = view.state.time;
            self.write_contacts(view);
            self.write_joints(view);
            self.write_bodies(view);
        }
    }

    /// Records the state, if it is not yet.
    fn last_state(&mut self, view: &mut View<'_>) {
        if view.state.time > self.last_row {
            let h = view.scene().step.h;
            self.write_step(view, h, "solved");
        }
        if view.state.time > self.last {
            self.last = view.state.time;
            self.write_bodies(view);
        }
    }

    fn write_bodies(&mut self, view: &mut View<'_>) {
        let mut list = std::mem::take(&mut self.bodies);
        if let Some(table) = self.rows(Table::Bodies) {
            let (time, bodies) = (view.state.time, view.scene().bodies.len());
            let kinematics = view.kinematics();
            list.clear();
            list.extend((0..bodies).map(|body| {
                let (velocity, angular_velocity) = kinematics.velocity(body);
                Body { body, pose: kinematics.pose(body), velocity, angular_velocity }
            }));
            extend(table, 0, BODIES, time, &list);
        }
        self.bodies = list;
    }

    fn write_contacts(&mut self, view: &View<'_>) {
        let (moments, records, time) = (self.moments, self.records, view.state.time);
        let mut turned = std::mem::take(&mut self.elements);
        if let Some((rows, names)) = self.rows(Table::Contacts) {
            let mut list = view.elements();
            if rows.is_empty() && !list.is_empty() {
                // as if there were so many from now on
                rows.reserve(ROOM.min(records.saturating_mul(list.len())));
            }
            if view.scene().pairs.iter().any(|p| p.grain.is_some()) {
                turned.clear();
                turned.extend(list.iter().map(along_x));
                list = &turned;
            }
            extend((&mut *rows, &mut *names), 0, CONTACTS, time, list);
            let mut next = CONTACTS.len();
            if moments {
                extend((&mut *rows, &mut *names), next, MOMENTS, time, list);
                next += MOMENTS.len();
            }
            extend((rows, names), next, WORLD, time, list);
        }
        self.elements = turned;
    }

    fn write_joints(&mut self, view: &mut View<'_>) {
        let (mut scratch, mut list) = std::mem::take(&mut self.joints);
        if let Some(table) = self.rows(Table::Joints) {
            view.joints(&mut scratch, &mut list);
            extend(table, 0, JOINTS, view.state.time, &list);
        }
        self.joints = (scratch, list);
    }

    fn write_step(&mut self, view: &mut View<'_>, h: f64, status: &'static str) {
        let Since { solver, iterations, wasted, residual, relaxed, trust, violation } =
            std::mem::replace(&mut self.since, Since::NOTHING);
        let time = view.state.time;
        self.last_row = time;
        if let Some((rows, names)) = self.rows(Table::Steps) {
            let known = Known { relaxed, trust: trust.name(), violation };
            let step = Step { h, status, solver, iterations, wasted, residual };
            extend((rows, names), 0, STEPS, time, &[step]);
            for (k, x) in view.balance().into_iter().enumerate() {
                rows.extend_numbers(STEPS.len() + k, std::iter::once(x));
            }
            extend((rows, names), STEPS.len() + ENTRIES.len(), KNOWN, time, &[known]);
        }
    }

    /// Everything so far is on disk, with the state to go on from.
    fn seal(&mut self, view: &View<'_>) -> Result<(), RecordError> {
        let begin = Instant::now();
        let path = self.writer.folder().join(STATE_FILE);
        self.writer.seal(&state_text(&path, view.model(), view.state)?)?;
        self.spent += begin.elapsed();
        Ok(())
    }
}

/// The same with t near the world's x axis.
fn along_x(e: &ElementReport) -> ElementReport {
    let turned = |v| e.frame.along_x().from(&e.frame, v);
    ElementReport {
        frame: e.frame.along_x(),
        force: turned(e.force),
        moment: turned(e.moment),
        speed: turned(e.speed),
        deformation: turned(e.deformation),
        ..*e
    }
}

impl Observer for Recorder {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let begin = Instant::now();
        self.last = view.state.time;
        self.write_bodies(view);
        let h = view.scene().step.h;
        self.write_step(view, h, "start");
        self.spent += begin.elapsed();
        Ok(())
    }

    #[inline]
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        // most steps of fast scenes end here: what they do not need is in functions of its own
        if view.report.parts > 0 {
            self.since.step(view.report);
        }
        self.since.trust = self.since.trust.max(view.report.trust);
        if !view.events.is_empty() {
            self.write_events(view);
        }
        let cut = view.report.parts > 1 || view.report.loose > 0;
        // reading the clock costs as much as the rest of this on most steps
        self.unseen += 1;
        if view.is_record || cut || self.unseen >= self.stride {
            self.record(view, cut)?;
        }
        Ok(())
    }

    fn failed(&mut self, view: &mut View<'_>, why: &Failed) -> Result<(), Fault> {
        let begin = Instant::now();
        // elements may be those of an abandoned part: the state alone is sure
        self.last_state(view);
        let mut h = view.scene().step.h;
        match why {
            Failed::Unsolved { h: smallest, residual, solver, .. } => {
                h = *smallest;
                self.since = Since { solver, residual: *residual, ..Since::NOTHING };
            }
            Failed::Unsettled { h: smallest, .. }
            | Failed::Integration { h: smallest, .. }
            | Failed::Open { h: smallest, .. }
            | Failed::Passes { h: smallest, .. } => h = *smallest,
            Failed::Interrupted { .. }
            | Failed::Undecided { .. }
            | Failed::Undetected(_)
            | Failed::NotFinite { .. }
            | Failed::Mass(_)
            | Failed::Massless { .. }
            | Failed::Internal { .. }
            | Failed::Model(_) => (),
        }
        self.write_step(view, h, "failed");
        self.spent += begin.elapsed();
        Ok(())
    }

    /// Records the last state, if it is not yet.
    fn finish(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let begin = Instant::now();
        if view.state.time > self.last {
            self.write_contacts(view);
            self.write_joints(view);
        }
        self.last_state(view);
        self.spent += begin.elapsed();
        Ok(self.seal(view)?)
    }
}
