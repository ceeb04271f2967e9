//! Tables on disk and back. This crate only stores: what the tables and files mean is defined by its callers.
//!
//! Start reading in `writer.rs`.
//!
//! A recording is a folder. It holds tables, each as Parquet (`name.parquet`, and where it is long `name.part-00001.parquet`,
//! ...) or as CSV (`name.csv`), and named files whose bytes belong to the caller. A [`Layout`] says which tables and files
//! there can be. A [`Writer`] takes rows and puts them on disk so that a recording can be read at any instant while it is
//! written, and after a crash; a [`Recording`] reads them.

mod csv;
mod encode;
mod marker;
mod parquet;
mod put;
mod reader;
mod sink;
mod table;
mod writer;

pub use marker::MARKER;
pub use put::{put, replace};
pub use reader::Recording;
pub use table::{Column, Kind, Rows, Table};
pub use writer::Writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
pub enum Error {
    /// The folder holds a recording, which is not to be replaced.
    #[error("{}: there is a recording already", .0.display())]
    Exists(PathBuf),
    /// Another run writes a recording there.
    #[error("{}: another run is recording there", .0.display())]
    Busy(PathBuf),
    /// The folder holds something that is no recording of this program.
    #[error("{}: not empty, and no recording of this program", .0.display())]
    Foreign(PathBuf),
    /// A file that the program did not write is where a file of a recording belongs.
    #[error("{}: not written by this program, and in the way of a recording", .0.display())]
    InTheWay(PathBuf),
    /// There is nothing to read.
    #[error("{}: no recording: expected tables such as {table}.parquet or {table}.csv", .folder.display())]
    NoRecording {
        /// The folder.
        folder: PathBuf,
        /// The first table of the layout.
        table: String,
    },
    /// The recording does not have a table.
    #[error("{}: no table {table:?}", .folder.display())]
    NoTable {
        /// The recording.
        folder: PathBuf,
        /// The table.
        table: String,
    },
    /// A file does not hold what it should.
    #[error("{}: {message}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
    /// The operating system refuses.
    #[error("{}: {source}", .path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    /// The operating system refuses an operation on a path.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A file does not hold what it should.
    pub fn malformed(path: &Path, message: String) -> Self {
        Self::Malformed { path: path.to_owned(), message }
    }
}

/// What recordings of one kind consist of.
#[derive(Debug, Clone)]
pub struct Layout {
    /// All tables that there can be; a recording may have only some of them.
    pub tables: Vec<Arc<Table>>,
    /// Names of the files that are written once, with the first rows.
    pub files: Vec<&'static str>,
    /// Name of the file that is replaced whenever the tables are written. It is written last, so that it marks a whole recording.
    pub mark: &'static str,
    /// What the program is called in the file [`MARKER`].
    pub program: &'static str,
    /// Whether bytes are such as the program writes into the file [`Self::mark`]: by this recordings are known that were written before there was a marker.
    pub is_mark: fn(&[u8]) -> bool,
}

impl Layout {
    /// The table of a name.
    fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.iter().find(|t| t.name == name)
    }

    fn has_tables(&self, folder: &Path, format: Format) -> bool {
        self.tables.iter().any(|t| sink::place(folder, &t.name, format).exists())
    }
}
