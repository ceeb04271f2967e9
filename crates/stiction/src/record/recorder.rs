//! Writes a run as it happens.

use super::events::Watch;
use super::names::Names;
use super::saved::state_text;
use super::sink::Sink;
use super::sink::{hidden, show, write};
use super::table::{Rows, columns};
use super::{Format, RecordError, SCENE_FILE, STATE_FILE, Summary, check, remove, save_state};
use crate::model::Model;
use crate::model::{Owner, Resolved};
use crate::scene::Table;
use crate::space::Vector;
use crate::state::State;
use crate::step::{Energy, Failed, Status, StepReport, Stepper};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// At most so much of a run is lost in a crash, unless writing itself is slow.
const SEAL: Duration = Duration::from_secs(2);
/// When the tables are sealed first. Nothing is on disk before, so that short runs write everything once.
const FIRST: Duration = Duration::from_millis(100);
/// Sealing takes at most this share of the time.
const SEAL_SHARE: u32 = 30;
/// Most steps without a record after which the clock is asked, and how long they may take; slower ones make them fewer.
const CLOCK: usize = 64;
const SLOW: Duration = Duration::from_millis(20);
/// Records of which one is timed for all where steps are fast: asking the clock takes as long as a row.
const TIMED: u32 = 8;
/// Most rows that there is room for from the start.
const ROOM: usize = 1 << 10;
/// Share of a step by which records may be early, for times are sums of rounded numbers.
const EARLY: f64 = 1e-3;

/// Records a run.
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
    /// The scene's file, until it is on disk; and whether another recording is to go then.
    scene: Option<String>,
    replaces: bool,
    bodies: Option<Sink>,
    contacts: Option<Sink>,
    steps: Option<Sink>,
    events: Option<Sink>,
    /// Files in the making.
    bytes: Vec<u8>,
    /// How many a whole run has.
    records: usize,
    names: Names,
    watch: Watch,
    summary: Summary,
    /// From when on the next record is due, s.
    due: f64,
    /// Time of the last record, s.
    last: f64,
    /// Time of the last row of `steps`, s.
    last_row: f64,
    since: Since,
    /// When the tables were last sealed, and how long until they are again.
    sealed: Instant,
    /// When the clock was last asked, the steps since, and after how many it is asked again.
    looked: Instant,
    unseen: usize,
    stride: usize,
    /// Records since one was timed.
    untimed: u32,
    patience: Duration,
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
}

impl Since {
    const NOTHING: Self = Self { solver: "none", iterations: 0, wasted: 0, residual: 0.0 };

    fn step(&mut self, report: &StepReport) {
        self.iterations += report.iterations;
        self.wasted += report.wasted;
        if report.residual.relative >= self.residual {
            (self.residual, self.solver) = (report.residual.relative, report.solver);
        }
    }
}

impl Recorder {
    /// `text` is the scene's file. A folder with something in it is refused, unless that is a recording and `replace` is
    /// true. The folder is made, and what it held replaced, when there is something to be read: after 0.1 s, or at the
    /// end. Other files in it stay.
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
        let rows = |t: Table| {
            let mut rows = if moments { Rows::with_moments(t) } else { Rows::new(t) };
            rows.reserve(ROOM.min(match t {
                Table::Bodies => records.saturating_mul(scene.bodies.len()),
                Table::Steps => records,
                Table::Contacts | Table::Events => 0,
            }));
            rows
        };
        let make = |t: Table| scene.record.tables.contains(&t).then(|| Sink::new(folder, rows(t), format));
        let mut recorder = Self {
            bodies: make(Table::Bodies),
            contacts: make(Table::Contacts),
            steps: make(Table::Steps),
            events: make(Table::Events),
            bytes: vec![],
            records,
            folder: folder.to_owned(),
            scene: Some(text.to_owned()),
            replaces: check(folder, replace)?,
            names: Names::new(model),
            watch: Watch::default(),
            summary: Summary::new(),
            due: 0.0,
            last: 0.0,
            last_row: 0.0,
            since: Since::NOTHING,
            sealed: Instant::now(),
            looked: Instant::now(),
            unseen: 0,
            stride: 1,
            untimed: 0,
            patience: FIRST,
            spent: Duration::ZERO,
        };
        recorder.spent = begin.elapsed();
        Ok(recorder)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The run so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Time spent on rows and files. Steps without a record cost next to nothing and are not counted.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// Records the state before the first step.
    pub fn start(&mut self, stepper: &mut Stepper, state: &State) -> Result<(), RecordError> {
        let begin = Instant::now();
        let energy = energy(stepper, state);
        (self.summary.start, self.summary.now) = (energy, energy);
        self.set_due(stepper.scene(), state.time);
        self.last = state.time;
        self.write_bodies(stepper, state);
        self.write_step(stepper.scene().step.h, state.time, "start");
        self.spent += begin.elapsed();
        Ok(())
    }

    /// Takes notice of a step that was made, and records it if it is time.
    #[inline]
    pub fn step(
        &mut self,
        stepper: &mut Stepper,
        state: &State,
        report: &StepReport,
    ) -> Result<(), RecordError> {
        self.summary.step(report);
        // most steps of fast scenes end here: what they do not need is in functions of its own
        if report.parts > 0 || self.watch.is_closed() {
            self.touch(stepper, state.time, report);
        }
        let (due, cut) = (state.time >= self.due, report.parts > 1);
        // reading the clock costs as much as the rest of this on most steps
        self.unseen += 1;
        if !due && !cut && self.unseen < self.stride {
            return Ok(());
        }
        self.record(stepper, state, due, cut)
    }

    /// Takes notice of what contacts did.
    #[inline(never)]
    fn touch(&mut self, stepper: &Stepper, time: f64, report: &StepReport) {
        if report.parts > 0 {
            self.summary.contacts(time, report);
            self.since.step(report);
        }
        let (summary, events, names) = (&mut self.summary, &mut self.events, &mut self.names);
        self.watch.step(time, stepper.elements(), |event| {
            summary.event(event);
            if let Some(Sink { rows, .. }) = events {
                rows.push_number(time).push_word(names.contact(event.contact)).push_count(event.element);
                rows.push_word(names.owner(event.body_a)).push_word(names.owner(event.body_b));
                rows.push_word(event.kind.name());
            }
        });
    }

    /// Records a step that is due or was cut, and seals if it is time.
    #[inline(never)]
    fn record(
        &mut self,
        stepper: &mut Stepper,
        state: &State,
        due: bool,
        cut: bool,
    ) -> Result<(), RecordError> {
        self.untimed += u32::from(due || cut);
        if self.unseen < self.stride && self.untimed < TIMED {
            self.write(stepper, state, due, cut);
        } else {
            let begin = Instant::now();
            self.stride = match begin - self.looked > SLOW {
                true => self.unseen.div_ceil(2),
                false => (2 * self.stride).min(CLOCK),
            };
            (self.looked, self.unseen) = (begin, 0);
            if due || cut {
                self.write(stepper, state, due, cut);
                self.spent += self.untimed * begin.elapsed();
                self.untimed = 0;
            }
            if begin - self.sealed >= self.patience {
                return self.seal(stepper.model(), state);
            }
        }
        let full = self.sinks().any(|s| s.full());
        if full && self.scene.is_some() {
            self.seal(stepper.model(), state)?;
        } else if full {
            let begin = Instant::now();
            self.seal_tables(|s| s.full())?;
            self.spent += begin.elapsed();
        }
        Ok(())
    }

    /// The rows of a step that is due or was cut.
    fn write(&mut self, stepper: &mut Stepper, state: &State, due: bool, cut: bool) {
        self.summary.energy(energy(stepper, state));
        self.write_step(stepper.scene().step.h, state.time, if cut { "cut" } else { "solved" });
        if due {
            self.set_due(stepper.scene(), state.time);
            self.last = state.time;
            self.write_contacts(stepper, state.time);
            self.write_bodies(stepper, state);
        }
    }

    /// The next record is at the first multiple of the interval after `time`.
    fn set_due(&mut self, scene: &Resolved, time: f64) {
        let (interval, early) = (scene.record.interval, EARLY * scene.step.h);
        self.due = (((time + early) / interval).floor() + 1.0) * interval - early;
    }

    /// Takes notice of a step that failed. `state` is as it was before.
    pub fn fail(&mut self, stepper: &mut Stepper, state: &State, why: &Failed) -> Result<(), RecordError> {
        let begin = Instant::now();
        // elements may be those of an abandoned part: the state alone is sure
        self.last_state(stepper, state);
        let mut h = stepper.scene().step.h;
        match why {
            Failed::Unsolved { h: smallest, residual, solver, .. } => {
                h = *smallest;
                self.since = Since { solver, residual: *residual, ..Since::NOTHING };
            }
            Failed::Unsettled { h: smallest, .. } => h = *smallest,
            Failed::NotFinite { .. } | Failed::Mass(_) | Failed::Model(_) => (),
        }
        self.write_step(h, state.time, "failed");
        self.spent += begin.elapsed();
        self.seal(stepper.model(), state)
    }

    /// Records the last state, if it is not yet.
    pub fn finish(&mut self, stepper: &mut Stepper, state: &State) -> Result<(), RecordError> {
        let begin = Instant::now();
        if state.time > self.last {
            self.write_contacts(stepper, state.time);
        }
        self.last_state(stepper, state);
        self.spent += begin.elapsed();
        self.seal(stepper.model(), state)
    }

    fn last_state(&mut self, stepper: &mut Stepper, state: &State) {
        if state.time > self.last_row {
            self.summary.energy(energy(stepper, state));
            self.write_step(stepper.scene().step.h, state.time, "solved");
        }
        if state.time > self.last {
            self.last = state.time;
            self.write_bodies(stepper, state);
        }
    }

    fn write_bodies(&mut self, stepper: &mut Stepper, state: &State) {
        let Some(Sink { rows, .. }) = &mut self.bodies else { return };
        let bodies = stepper.scene().bodies.len();
        let kinematics = stepper.kinematics(state);
        for i in 0..bodies {
            let (pose, (v, omega)) = (kinematics.pose(i), kinematics.velocity(i));
            let ([x, y, z], [qw, qx, qy, qz]) = (pose.position, pose.attitude.0);
            rows.push_number(state.time).push_word(self.names.owner(Owner::Body(i)));
            rows.push_numbers(&[x, y, z, qw, qx, qy, qz, v[0], v[1], v[2], omega[0], omega[1], omega[2]]);
        }
    }

    fn write_contacts(&mut self, stepper: &Stepper, time: f64) {
        let Some(Sink { rows, .. }) = &mut self.contacts else { return };
        let moments = rows.columns().len() > columns(Table::Contacts).len();
        if rows.is_empty() && !stepper.elements().is_empty() {
            // as if there were so many from now on
            rows.reserve(ROOM.min(self.records.saturating_mul(stepper.elements().len())));
        }
        let grains = stepper.scene().pairs.iter().any(|p| p.grain.is_some());
        for e in stepper.elements() {
            rows.push_number(time).push_word(self.names.contact(e.id)).push_count(e.element);
            rows.push_word(self.names.owner(e.body_a)).push_word(self.names.owner(e.body_b));
            let ([x, y, z], [nx, ny, nz]) = (e.point, e.frame.n);
            // t is near x in every row, whatever grain there is
            let told = |v: Vector| if grains { e.frame.along_x().from(&e.frame, v) } else { v };
            let ([_, slip_t, slip_o], f, d) = (told(e.speed), told(e.force), told(e.deformation));
            rows.push_numbers(&[
                x, y, z, nx, ny, nz, e.gap, f[0], f[1], f[2], slip_t, slip_o, d[0], d[1], d[2],
            ]);
            rows.push_word(match e.status {
                Status::Open => "open",
                Status::Stick => "stick",
                Status::Slip => "slip",
            });
            if moments {
                rows.push_numbers(&told(e.moment));
            }
        }
    }

    fn write_step(&mut self, h: f64, time: f64, status: &str) {
        let since = std::mem::replace(&mut self.since, Since::NOTHING);
        self.last_row = time;
        let Some(Sink { rows, .. }) = &mut self.steps else { return };
        let s = &self.summary;
        rows.push_number(time).push_number(h).push_word(status).push_word(since.solver);
        rows.push_count(since.iterations).push_count(since.wasted).push_number(since.residual);
        let Energy { kinetic, potential, elastic } = s.now;
        rows.push_numbers(&[kinetic, potential, elastic, s.friction_loss, s.damping_loss, s.work]);
    }

    fn sinks(&mut self) -> impl Iterator<Item = &mut Sink> {
        [&mut self.bodies, &mut self.contacts, &mut self.steps, &mut self.events].into_iter().flatten()
    }

    fn seal_tables(&mut self, which: impl Fn(&Sink) -> bool) -> Result<(), RecordError> {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.sinks().filter(|s| which(s)).try_for_each(|s| s.seal(&mut bytes))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Everything so far is on disk, with the state to go on from.
    fn seal(&mut self, model: &Model, state: &State) -> Result<(), RecordError> {
        let begin = Instant::now();
        let path = self.folder.join(STATE_FILE);
        if let Some(text) = self.scene.take() {
            // the state is hidden until all is there: that tells whose the folder is if this is cut short
            std::fs::create_dir_all(&self.folder).map_err(|e| RecordError::io(&self.folder, e))?;
            write(&hidden(&path), &state_text(&path, model, state)?)?;
            if self.replaces {
                remove(&self.folder)?;
            }
            write(&self.folder.join(SCENE_FILE), text.as_bytes())?;
            self.seal_tables(|_| true)?;
            show(&path)?;
        } else {
            self.seal_tables(|_| true)?;
            save_state(&path, model, state)?;
        }
        self.sealed = Instant::now();
        let took = self.sealed - begin;
        self.patience = SEAL.max(SEAL_SHARE * took);
        self.spent += took;
        Ok(())
    }
}

/// Without negative zeros: sums of nothing are such.
fn energy(stepper: &mut Stepper, state: &State) -> Energy {
    let e = stepper.energy(state);
    Energy { kinetic: e.kinetic + 0.0, potential: e.potential + 0.0, elastic: e.elastic + 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Recording;

    #[test]
    fn nothing_of_an_old_recording_goes_before_there_is_a_new_one() {
        let folder = std::env::temp_dir().join(format!("stiction-recorder-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let text = "[[body]]\nname = 'ball'\nmass = 1\nshape = { sphere = { radius = 1 } }\n";
        let mut stepper = Stepper::new(crate::scene::Scene::from_toml("scene", text).unwrap()).unwrap();
        let state = stepper.initial();
        let mut start = |format| {
            let recorder = Recorder::create(&folder, stepper.model(), text, format, true);
            let mut recorder = recorder.unwrap();
            recorder.start(&mut stepper, &state).unwrap();
            (recorder, stepper.model().clone())
        };
        let (mut first, model) = start(Format::Parquet);
        assert!(!folder.exists());
        first.seal(&model, &state).unwrap();
        let found = || Recording::open(&folder).unwrap();
        let (mut second, model) = start(Format::Csv);
        assert_eq!((found().format(), found().read(Table::Bodies).unwrap().len()), (Format::Parquet, 1));
        second.seal(&model, &state).unwrap();
        assert_eq!((found().format(), found().read(Table::Bodies).unwrap().len()), (Format::Csv, 1));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
