//! A table on its way to disk.
//!
//! CSV: one file that grows by whole rows. Parquet, whose files can be read only as a whole: a folder of parts. Rows
//! stay in memory until a part is full; until then the part on disk is replaced from time to time by one that holds
//! them all. Parts are written beside and renamed, so that every part on disk is whole at any instant.

use super::parquet::Encoder;
use super::table::{Rows, table_name};
use super::{Format, RecordError, csv};
use crate::scene::Table;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Rows of a part.
pub(super) const PART: usize = 1 << 17;
/// Text that waits for the file, in rows.
const TEXT: usize = 1 << 10;

/// Where a table is kept: a file (CSV) or a folder of parts (Parquet).
pub(super) fn place(folder: &Path, table: Table, format: Format) -> PathBuf {
    match format {
        Format::Csv => folder.join(format!("{}.csv", table_name(table))),
        Format::Parquet => folder.join(table_name(table)),
    }
}

/// Parts of a table, in order; files that are called otherwise are none.
pub(super) fn parts(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut list = vec![];
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if name.starts_with("part-") && name.ends_with(".parquet") {
            list.push(path);
        }
    }
    list.sort();
    Ok(list)
}

/// Writes a file so that at any instant the old or the new one is there, whole. The new one is hidden until it is.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hidden = path.with_file_name(format!(".{name}"));
    fs::write(&hidden, bytes).map_err(|e| RecordError::io(&hidden, e))?;
    fs::rename(&hidden, path).map_err(|e| RecordError::io(path, e))
}

/// Takes the rows of a table.
#[derive(Debug)]
pub(super) struct Sink {
    pub rows: Rows,
    place: PathBuf,
    writer: Writer,
    bytes: Vec<u8>,
}

#[derive(Debug)]
enum Writer {
    Csv(File),
    Parquet {
        encoder: Encoder,
        /// Number of the part that is filled.
        part: usize,
        /// Rows of it on disk; `None`: no file yet.
        sealed: Option<usize>,
    },
}

impl Sink {
    /// Makes the file or the folder.
    pub fn create(folder: &Path, table: Table, format: Format) -> Result<Self, RecordError> {
        let place = place(folder, table, format);
        let fail = |e| RecordError::io(&place, e);
        let (writer, bytes) = match format {
            Format::Csv => {
                (Writer::Csv(File::create(&place).map_err(fail)?), csv::header(table).into_bytes())
            }
            Format::Parquet => {
                fs::create_dir_all(&place).map_err(fail)?;
                let encoder = Encoder::new(table).map_err(|e| fail(io::Error::other(e)))?;
                (Writer::Parquet { encoder, part: 0, sealed: None }, vec![])
            }
        };
        let mut sink = Self { rows: Rows::new(table), place, writer, bytes };
        sink.seal()?;
        Ok(sink)
    }

    /// To be called when rows were added: keeps memory in bounds.
    pub fn added(&mut self) -> Result<(), RecordError> {
        match self.writer {
            Writer::Csv(_) if self.rows.len() >= TEXT => self.seal(),
            Writer::Parquet { .. } if self.rows.len() >= PART => self.seal(),
            _ => Ok(()),
        }
    }

    /// Everything so far is on disk and can be read.
    pub fn seal(&mut self) -> Result<(), RecordError> {
        match &mut self.writer {
            Writer::Csv(file) => {
                csv::write(&self.rows, &mut self.bytes);
                self.rows.clear();
                file.write_all(&self.bytes).map_err(|e| RecordError::io(&self.place, e))?;
                self.bytes.clear();
            }
            Writer::Parquet { encoder, part, sealed } => {
                if *sealed == Some(self.rows.len()) {
                    return Ok(());
                }
                let path = self.place.join(format!("part-{part:05}.parquet"));
                encoder
                    .encode(&self.rows, &mut self.bytes)
                    .map_err(|e| RecordError::io(&path, io::Error::other(e)))?;
                replace(&path, &self.bytes)?;
                *sealed = Some(self.rows.len());
                if self.rows.len() >= PART {
                    self.rows.clear();
                    (*part, *sealed) = (*part + 1, Some(0));
                }
            }
        }
        Ok(())
    }
}
