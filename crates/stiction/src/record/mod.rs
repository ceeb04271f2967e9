//! Recordings of runs: a folder of tables, the last state and the scene.
//!
//! What the tables hold is defined here ([`columns()`]); how they are stored, so that they can be read at any instant of the run
//! and after a crash, is the `recording` crate's; see `docs/run.md`. A [`Recorder`] observes a run and writes, a [`Recording`] reads.

mod columns;
mod instant;
mod names;
mod recorder;
mod saved;

pub use columns::{SCENE_FILE, STATE_FILE, columns, table_name};
pub use recorder::Recorder;
pub use recording::{Column, Error as RecordError, Format, Kind, Rows, put};
pub use saved::{read_state, save_state, state_from_text, state_text};

use crate::model::{InvalidModel, Model};
use crate::scene::{Scene, Table};
use crate::state::State;
use std::path::Path;

/// Times that differ by this share are the same.
const SAME_TIME: f64 = 1e-12;

/// A recording on disk.
#[derive(Debug, Clone)]
pub struct Recording(recording::Recording);

impl Recording {
    /// Looks which tables are there, and reads none yet. Rows later than the last state, which a killed run may leave, are not read.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        let recording = recording::Recording::open(folder, &columns::LAYOUT)?;
        Ok(Self(match saved::time(&folder.join(STATE_FILE)) {
            Some(time) => recording.end_at("time", time + SAME_TIME * time.abs()),
            None => recording,
        }))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        self.0.folder()
    }

    /// How its tables are kept.
    pub fn format(&self) -> Format {
        self.0.format()
    }

    /// The tables it has.
    pub fn tables(&self) -> Vec<Table> {
        Table::ALL.into_iter().filter(|t| self.0.tables().any(|name| name == table_name(*t))).collect()
    }

    /// All rows of a table.
    pub fn read(&self, table: Table) -> Result<Rows, RecordError> {
        self.0.read(table_name(table))
    }

    /// Writes the same recording in a format, in a folder that is empty, new or, if `replace` is true, a recording.
    pub fn export(&self, folder: &Path, format: Format, replace: bool) -> Result<(), RecordError> {
        self.0.export(folder, format, replace)
    }

    /// The scene as it was run.
    pub fn scene(&self) -> Result<Scene, RecordError> {
        let fault = |message| RecordError::malformed(&self.folder().join(SCENE_FILE), message);
        let text = String::from_utf8(self.0.file(SCENE_FILE)?).map_err(|e| fault(e.to_string()))?;
        // a scene that does not say its name was called as its file
        let name = saved::scene_name(&self.folder().join(STATE_FILE))?;
        let mut scene = Scene::from_toml(SCENE_FILE, &text).map_err(|e| fault(e.to_string()))?;
        scene.name = name;
        Ok(scene)
    }

    /// The compiled scene.
    pub fn model(&self) -> Result<Model, RecordError> {
        let fault = |message| RecordError::malformed(&self.folder().join(SCENE_FILE), message);
        Model::new(&self.scene()?).map_err(|e| fault(InvalidModel::from(e).to_string()))
    }

    /// The last state.
    pub fn state(&self, model: &Model) -> Result<State, RecordError> {
        read_state(self.folder(), model)
    }
}
