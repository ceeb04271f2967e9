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
mod parquet;
mod reader;
mod sink;
mod table;
mod writer;

pub use reader::Recording;
pub use sink::replace;
pub use table::{Column, Kind, Rows, Table};
pub use writer::Writer;

use std::fs;
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
    /// The folder holds something that is no recording.
    #[error("{}: not empty, and no recording", .0.display())]
    Foreign(PathBuf),
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// All tables that there can be; a recording may have only some of them.
    pub tables: Vec<Arc<Table>>,
    /// Names of the files that are written once, with the first rows.
    pub files: Vec<&'static str>,
    /// Name of the file that is replaced whenever the tables are written. It is written last, so that it marks a whole recording.
    pub mark: &'static str,
}

impl Layout {
    /// The table of a name.
    fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.iter().find(|t| t.name == name)
    }

    /// Whether there is a recording in the folder that is to be replaced. A folder that holds something else is refused, and
    /// so is a recording unless `replace` is true.
    fn check(&self, folder: &Path, replace: bool) -> Result<bool, Error> {
        let mut entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(Error::io(folder, e)),
        };
        match entries.next() {
            None => Ok(false),
            Some(_) if !self.is_ours(folder) => Err(Error::Foreign(folder.to_owned())),
            Some(_) if !replace => Err(Error::Exists(folder.to_owned())),
            Some(_) => Ok(true),
        }
    }

    /// Tables alone may be anybody's, and a recording without tables has its files; a hidden mark is there while the
    /// other files are not yet.
    fn is_ours(&self, folder: &Path) -> bool {
        let mark = folder.join(self.mark);
        let tables = || Format::ALL.iter().any(|f| self.has_tables(folder, *f));
        let whole = || mark.is_file() || !self.files.is_empty() && tables();
        sink::hidden(&mark).is_file() || self.files.iter().all(|f| folder.join(f).is_file()) && whole()
    }

    fn has_tables(&self, folder: &Path, format: Format) -> bool {
        self.tables.iter().any(|t| sink::place(folder, &t.name, format).exists())
    }

    /// Removes the tables and the mark of a recording; its other files, and files beside it, stay.
    fn remove(&self, folder: &Path) -> Result<(), Error> {
        let mut files = vec![folder.join(self.mark)];
        for table in &self.tables {
            files.push(sink::place(folder, &table.name, Format::Csv));
            // the last first: the first of them shows that there are others
            files.extend(sink::parts(folder, &table.name).into_iter().rev());
        }
        for file in files.iter().filter(|f| f.is_file()) {
            fs::remove_file(file).map_err(|e| Error::io(file, e))?;
        }
        Ok(())
    }
}
