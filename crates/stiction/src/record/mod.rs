//! Recordings of runs: a folder of tables, the last state, a copy of the scene; and a summary.
//!
//! A table ([`columns`]) is kept as Parquet (`bodies.parquet`, and where it is long `bodies.part-00001.parquet`, ...) or as
//! CSV (`bodies.csv`). What was recorded can be read at any instant of the run and after a crash, but for the last
//! seconds; see `docs/run.md`. [`Recorder`] writes, [`Recording`] reads.

mod csv;
mod encode;
mod events;
mod names;
mod parquet;
mod reader;
mod recorder;
mod saved;
mod sink;
mod summary;
mod table;

pub use events::{Event, EventKind};
pub use reader::Recording;
pub use recorder::Recorder;
pub use saved::{STATE_FILE, read_state, save_state};
pub use summary::Summary;
pub use table::{Column, Kind, Rows, columns, table_name};

use crate::scene::Table;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the scene's copy in a recording.
pub const SCENE_FILE: &str = "scene.toml";

/// How tables are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Columns, compressed.
    Parquet,
    /// Text.
    Csv,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Parquet, Self::Csv];
}

/// Why something is not recorded, or a recording not read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder holds a recording, which is not to be replaced.
    #[error("{}: there is a recording already", .0.display())]
    Exists(PathBuf),
    /// The folder holds something that is no recording.
    #[error("{}: not empty, and no recording", .0.display())]
    Foreign(PathBuf),
    /// There is nothing to read.
    #[error("{}: no recording: expected tables such as bodies.parquet or bodies.csv", .0.display())]
    NoRecording(PathBuf),
    /// The recording does not have a table.
    #[error("{}: no table {table:?}; record.tables of the scene says which are kept", .folder.display())]
    NoTable {
        /// The recording.
        folder: PathBuf,
        /// The table.
        table: &'static str,
    },
    /// A file does not hold what it should.
    #[error("{}: {message}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
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

/// Whether there is a recording in the folder that is to be replaced. A folder that holds something else is refused, and
/// so is a recording unless `replace` is true.
fn check(folder: &Path, replace: bool) -> Result<bool, RecordError> {
    let mut entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(RecordError::io(folder, e)),
    };
    let state = folder.join(STATE_FILE);
    // one without tables has state and scene; tables alone may be anybody's; a hidden state is there while others are not yet
    let ours = || {
        let whole = state.is_file() || Recording::open(folder).is_ok();
        sink::hidden(&state).is_file() || (folder.join(SCENE_FILE).is_file() && whole)
    };
    match entries.next() {
        None => Ok(false),
        Some(_) if !ours() => Err(RecordError::Foreign(folder.to_owned())),
        Some(_) if !replace => Err(RecordError::Exists(folder.to_owned())),
        Some(_) => Ok(true),
    }
}

/// Removes the tables and the state of a recording; its scene, and other files beside it, stay.
fn remove(folder: &Path) -> Result<(), RecordError> {
    let mut files = vec![folder.join(STATE_FILE)];
    for table in Table::ALL {
        files.push(sink::place(folder, table, Format::Csv));
        // the last first: the first of them tells that there are others
        files.extend(sink::parts(folder, table).into_iter().rev());
    }
    for file in files.iter().filter(|f| f.is_file()) {
        fs::remove_file(file).map_err(|e| RecordError::io(file, e))?;
    }
    Ok(())
}
