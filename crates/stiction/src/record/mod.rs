//! Recordings of runs: a folder of tables, and a summary.
//!
//! The folder holds `bodies.csv`, `contacts.csv`, `steps.csv`, `events.csv` (those that the scene asks for) and
//! `scene.toml`. Rows reach the files at every record, whole rows only: what was recorded before a crash can be
//! read. Columns and units are those of [`header`]; see `docs/run.md`.

mod events;
mod summary;
mod table;

pub use events::{Event, EventKind};
pub use summary::Summary;

use crate::scene::{Owner, Scene, Table};
use crate::state::{ContactId, State};
use crate::step::{Energy, Failed, Status, StepReport, Stepper};
use events::Watch;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use table::Csv;

/// Why something is not recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder holds a recording, which is not to be replaced.
    #[error("{}: there is a recording already", .0.display())]
    Exists(PathBuf),
    /// The folder holds something that is no recording.
    #[error("{}: not empty, and no recording", .0.display())]
    Foreign(PathBuf),
    /// The operating system says no.
    #[error("{}: {source}", .path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl RecordError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// Name of a table's file.
pub fn file_name(table: Table) -> &'static str {
    match table {
        Table::Bodies => "bodies.csv",
        Table::Contacts => "contacts.csv",
        Table::Steps => "steps.csv",
        Table::Events => "events.csv",
    }
}

/// The first line of a table.
///
/// - bodies: time (s), body, origin of the body in the world (m), its attitude (unit quaternion, body to world),
///   velocity of the origin (m/s) and angular velocity (rad/s) in world axes;
/// - contacts: time (s), contact, number of the element, bodies, point (m) and normal from a to b in the world, gap
///   (m), force on b along n, t, o (N), slip (m/s), deformation (m), status;
/// - steps: time (s), step (s), status, solver, pivots since the last row, worst relative residual since the last
///   row, energies and accumulated losses (J);
/// - events: end of the step (s), contact, number of the element, bodies, event.
pub fn header(table: Table) -> &'static str {
    match table {
        Table::Bodies => "time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz",
        Table::Contacts => {
            "time,contact,element,body_a,body_b,px,py,pz,nx,ny,nz,gap,force_n,force_t,force_o,slip_t,slip_o,\
             deformation_n,deformation_t,deformation_o,status"
        }
        Table::Steps => {
            "time,h,status,solver,iterations,residual,kinetic,potential,elastic,friction_loss,damping_loss"
        }
        Table::Events => "time,contact,element,body_a,body_b,event",
    }
}

/// Share of a step by which records may be early, for times are sums of rounded numbers.
const EARLY: f64 = 1e-3;

/// Records a run.
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
    bodies: Option<Csv>,
    contacts: Option<Csv>,
    steps: Option<Csv>,
    events: Option<Csv>,
    names: Names,
    watch: Watch,
    summary: Summary,
    /// Time of the next record, in intervals.
    next: f64,
    /// Time of the last record, s.
    last: f64,
    /// Time of the last row of `steps`, s.
    last_row: f64,
    since: Since,
}

/// Work since the last row of `steps`.
#[derive(Debug, Default)]
struct Since {
    /// Whether the interior point had to help in a step.
    by_interior_point: bool,
    pivots: usize,
    residual: f64,
    solved: bool,
}

impl Recorder {
    /// Makes the folder and its files. `text` is the scene's file. A folder with something in it is refused, unless
    /// that is a recording and `replace` is true; other files in it stay.
    pub fn create(folder: &Path, scene: &Scene, text: &str, replace: bool) -> Result<Self, RecordError> {
        let fail = |e| RecordError::io(folder, e);
        let tables = Table::ALL.map(|t| folder.join(file_name(t)));
        match folder.read_dir() {
            Ok(mut entries) => {
                let recording = tables.iter().any(|f| f.is_file());
                match entries.next() {
                    Some(_) if !recording => return Err(RecordError::Foreign(folder.to_owned())),
                    Some(_) if !replace => return Err(RecordError::Exists(folder.to_owned())),
                    _ => {}
                }
                for old in tables.iter().filter(|f| f.is_file()) {
                    std::fs::remove_file(old).map_err(|e| RecordError::io(old, e))?;
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => std::fs::create_dir_all(folder).map_err(fail)?,
            Err(e) => return Err(fail(e)),
        }
        let copy = folder.join("scene.toml");
        std::fs::write(&copy, text).map_err(|e| RecordError::io(&copy, e))?;
        let make = |t: Table| {
            let wanted = scene.record.tables.contains(&t);
            wanted.then(|| Csv::create(folder.join(file_name(t)), header(t))).transpose()
        };
        Ok(Self {
            bodies: make(Table::Bodies)?,
            contacts: make(Table::Contacts)?,
            steps: make(Table::Steps)?,
            events: make(Table::Events)?,
            folder: folder.to_owned(),
            names: Names::new(scene),
            watch: Watch::default(),
            summary: Summary::new(scene),
            next: 1.0,
            last: 0.0,
            last_row: 0.0,
            since: Since::default(),
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The run so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// What a contact is called in the tables: its shapes and the features that meet.
    pub fn contact_name(&self, id: ContactId) -> String {
        self.names.make(id)
    }

    /// Records the state before the first step.
    pub fn start(&mut self, stepper: &mut Stepper, state: &State) -> Result<(), RecordError> {
        let energy = energy(stepper, state);
        (self.summary.start, self.summary.now) = (energy, energy);
        let interval = stepper.scene().record.interval;
        self.next = (state.time / interval + EARLY).floor() + 1.0;
        self.last = state.time;
        self.write_bodies(stepper, state);
        self.write_step(stepper.scene().step.h, state.time, "start");
        self.flush()
    }

    /// Takes notice of a step that was made, and records it if it is time.
    pub fn step(
        &mut self,
        stepper: &mut Stepper,
        state: &State,
        report: &StepReport,
    ) -> Result<(), RecordError> {
        self.summary.step(state.time, report);
        self.since.pivots += report.iterations;
        self.since.by_interior_point |= report.by_interior_point > 0;
        self.since.residual = self.since.residual.max(report.residual.relative);
        self.since.solved |= report.parts > 0;
        let (summary, events, names) = (&mut self.summary, &mut self.events, &mut self.names);
        self.watch.step(state.time, stepper.elements(), |event| {
            summary.event(event);
            if let Some(csv) = events {
                csv.number(state.time).word(names.contact(event.contact)).count(event.element);
                csv.word(names.owner(event.body_a)).word(names.owner(event.body_b)).word(event.kind.name());
                csv.end();
            }
        });
        let (h, interval) = (stepper.scene().step.h, stepper.scene().record.interval);
        let due = state.time + EARLY * h >= self.next * interval;
        let cut = report.parts > 1;
        if due || cut {
            self.summary.energy(energy(stepper, state));
            self.write_step(h, state.time, if cut { "cut" } else { "solved" });
        }
        if due {
            self.next = ((state.time + EARLY * h) / interval).floor() + 1.0;
            self.record(stepper, state)?;
        }
        Ok(())
    }

    /// Takes notice of a step that failed. `state` is as it was before.
    pub fn fail(&mut self, stepper: &mut Stepper, state: &State, why: &Failed) -> Result<(), RecordError> {
        // elements may be those of an abandoned part: the state alone is sure
        self.last_state(stepper, state);
        let mut h = stepper.scene().step.h;
        if let Failed::Unsolved { h: smallest, residual, .. } = why {
            h = *smallest;
            self.since = Since { pivots: 0, by_interior_point: false, residual: *residual, solved: true };
        }
        self.write_step(h, state.time, "failed");
        self.flush()
    }

    /// Records the last state, if it is not yet.
    pub fn finish(&mut self, stepper: &mut Stepper, state: &State) -> Result<(), RecordError> {
        if state.time > self.last {
            self.write_contacts(stepper, state.time);
        }
        self.last_state(stepper, state);
        self.flush()
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

    fn record(&mut self, stepper: &mut Stepper, state: &State) -> Result<(), RecordError> {
        self.last = state.time;
        self.write_contacts(stepper, state.time);
        self.write_bodies(stepper, state);
        self.flush()
    }

    fn write_bodies(&mut self, stepper: &mut Stepper, state: &State) {
        let Some(csv) = &mut self.bodies else { return };
        let kinematics = stepper.kinematics(state);
        for (i, name) in self.names.bodies.iter().enumerate() {
            let (pose, (v, omega)) = (kinematics.pose(i), kinematics.velocity(i));
            csv.number(state.time).word(name).numbers(&pose.position).numbers(&pose.attitude.0);
            csv.numbers(&v).numbers(&omega).end();
        }
    }

    fn write_contacts(&mut self, stepper: &Stepper, time: f64) {
        let Some(csv) = &mut self.contacts else { return };
        for e in stepper.elements() {
            csv.number(time).word(self.names.contact(e.id)).count(e.element);
            csv.word(self.names.owner(e.body_a)).word(self.names.owner(e.body_b));
            csv.numbers(&e.point).numbers(&e.frame.n).number(e.gap);
            csv.numbers(&e.force).numbers(&e.speed[1..]).numbers(&e.deformation);
            csv.word(match e.status {
                Status::Open => "open",
                Status::Stick => "stick",
                Status::Slip => "slip",
            });
            csv.end();
        }
    }

    fn write_step(&mut self, h: f64, time: f64, status: &str) {
        let since = std::mem::take(&mut self.since);
        self.last_row = time;
        let Some(csv) = &mut self.steps else { return };
        let s = &self.summary;
        csv.number(time).number(h).word(status).word(match (since.solved, since.by_interior_point) {
            (true, true) => "interior-point",
            (true, false) => "lemke",
            _ => "none",
        });
        csv.count(since.pivots).number(since.residual);
        csv.numbers(&[s.now.kinetic, s.now.potential, s.now.elastic, s.friction_loss, s.damping_loss]).end();
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        let tables = [&mut self.bodies, &mut self.contacts, &mut self.steps, &mut self.events];
        tables.into_iter().flatten().try_for_each(Csv::flush)
    }
}

/// Without negative zeros: sums of nothing are such.
fn energy(stepper: &mut Stepper, state: &State) -> Energy {
    let e = stepper.energy(state);
    Energy { kinetic: e.kinetic + 0.0, potential: e.potential + 0.0, elastic: e.elastic + 0.0 }
}

/// What bodies and contacts are called.
#[derive(Debug)]
struct Names {
    bodies: Vec<String>,
    world: Vec<String>,
    /// Part by part, as [`ContactId`] counts them.
    parts: Vec<String>,
    contacts: BTreeMap<ContactId, String>,
}

impl Names {
    fn new(scene: &Scene) -> Self {
        let bodies: Vec<String> = scene.bodies.iter().map(|b| b.name.clone()).collect();
        let world: Vec<String> = scene.world.iter().map(|w| w.name.clone()).collect();
        let mut parts = vec![];
        for body in &scene.bodies {
            match body.parts.len() {
                1 => parts.push(body.name.clone()),
                n => parts.extend((0..n).map(|k| format!("{}.{k}", body.name))),
            }
        }
        parts.extend(world.iter().cloned());
        Self { bodies, world, parts, contacts: BTreeMap::new() }
    }

    fn owner(&self, owner: Owner) -> &str {
        match owner {
            Owner::Body(i) => &self.bodies[i],
            Owner::World(i) => &self.world[i],
        }
    }

    fn contact(&mut self, id: ContactId) -> &str {
        if !self.contacts.contains_key(&id) {
            let name = self.make(id);
            self.contacts.insert(id, name);
        }
        &self.contacts[&id]
    }

    /// `a/b#feature`: a number with a letter for the kind, as the two highest bits tell it.
    fn make(&self, id: ContactId) -> String {
        let (a, b) = (&self.parts[id.part_a as usize], &self.parts[id.part_b as usize]);
        let kind = ["", "b", "e", "x"][(id.feature >> 30) as usize];
        format!("{a}/{b}#{kind}{}", id.feature & ((1 << 30) - 1))
    }
}
