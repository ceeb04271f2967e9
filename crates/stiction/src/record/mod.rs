//! Recordings of runs: a folder of tables, the last state, a copy of the scene; and a summary.
//!
//! A table ([`columns`]) is kept as Parquet, a folder of parts (`bodies/part-00000.parquet`, ...), or as one CSV file
//! (`bodies.csv`). What was recorded can be read at any instant of the run and after a crash, but for the last
//! seconds; see `docs/run.md`. [`Recorder`] writes, [`Recording`] reads.

mod csv;
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
    #[error("{}: no recording: expected tables such as bodies or bodies.csv", .0.display())]
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

/// Makes the folder, or empties it of a recording if `replace` is true. A folder that holds something else is refused;
/// other files beside a recording stay.
fn prepare(folder: &Path, replace: bool) -> Result<(), RecordError> {
    let fail = |e| RecordError::io(folder, e);
    match folder.read_dir() {
        Ok(mut entries) => {
            // one without tables has these two; tables alone may be anybody's
            let scene = folder.join(SCENE_FILE).is_file();
            let bare = scene && folder.join(STATE_FILE).is_file();
            let recording = bare || (scene && Recording::open(folder).is_ok());
            match entries.next() {
                None => Ok(()),
                Some(_) if !recording => Err(RecordError::Foreign(folder.to_owned())),
                Some(_) if !replace => Err(RecordError::Exists(folder.to_owned())),
                Some(_) => remove(folder),
            }
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => fs::create_dir_all(folder).map_err(fail),
        Err(e) => Err(fail(e)),
    }
}

/// Removes the tables and the state of a recording.
fn remove(folder: &Path) -> Result<(), RecordError> {
    let mut files = vec![folder.join(STATE_FILE)];
    for table in Table::ALL {
        files.push(sink::place(folder, table, Format::Csv));
        let place = sink::place(folder, table, Format::Parquet);
        if place.is_dir() {
            files.extend(sink::parts(&place).map_err(|e| RecordError::io(&place, e))?);
        }
    }
    for file in files.iter().filter(|f| f.is_file()) {
        fs::remove_file(file).map_err(|e| RecordError::io(file, e))?;
    }
    for table in Table::ALL {
        // stays if there is something else in it
        let _ = fs::remove_dir(sink::place(folder, table, Format::Parquet));
    }
    Ok(())
}
