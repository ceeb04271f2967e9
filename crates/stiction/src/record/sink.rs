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
    /// Makes the file or the folder, in which there is no part before the first [`seal`](Self::seal).
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
        if format == Format::Csv {
            // the first line
            sink.seal()?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Recording;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("stiction-sink-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn push(rows: &mut Rows, k: usize) {
        rows.push_number(0.1 * k as f64).push_word("a/b#0").push_count(k % 7).push_word("a").push_word("b");
        rows.push_word(["stick", "slip"][k % 2]);
    }

    #[test]
    fn full_parts_are_closed_and_read_back_in_order() {
        let folder = scratch("parts");
        let mut all = Rows::new(Table::Events);
        let mut sink = Sink::create(&folder, Table::Events, Format::Parquet).unwrap();
        for k in 0..2 * PART + 5 {
            push(&mut sink.rows, k);
            push(&mut all, k);
            sink.added().unwrap();
        }
        sink.seal().unwrap();
        let recording = Recording::open(&folder).unwrap();
        assert_eq!(parts(&folder.join("events")).unwrap().len(), 3);
        assert_eq!(recording.read(Table::Events).unwrap(), all);
        // a full part ends a table as well as any
        let csv = scratch("parts-csv");
        recording.export(&csv, Format::Csv, false).unwrap();
        assert_eq!(Recording::open(&csv).unwrap().read(Table::Events).unwrap(), all);
        fs::remove_dir_all(folder).unwrap();
        fs::remove_dir_all(csv).unwrap();
    }

    #[test]
    fn rows_can_be_read_after_each_seal_while_more_are_added() {
        for format in Format::ALL {
            let folder = scratch(&format!("{format:?}"));
            let mut sink = Sink::create(&folder, Table::Events, format).unwrap();
            let read = || Recording::open(&folder).unwrap().read(Table::Events).unwrap().len();
            assert_eq!(read(), 0);
            for k in 0..10 {
                push(&mut sink.rows, k);
                assert_eq!(read(), k);
                sink.seal().unwrap();
                assert_eq!(read(), k + 1);
            }
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
