//! A table on its way to disk.
//!
//! CSV: one file that grows by whole rows. Parquet, whose files can be read only as a whole: parts, most often one. Rows
//! stay in memory until a part is full; until then the part on disk is replaced from time to time by one that holds
//! them all. It is written beside and renamed, so that every part on disk is whole at any instant from the first seal on.

use super::table::{Rows, table_name};
use super::{Format, RecordError, csv, encode};
use crate::scene::Table;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Rows of a part.
pub(super) const PART: usize = 1 << 17;
/// Text that waits for the file, in rows.
const TEXT: usize = 1 << 10;

/// Where a table is kept: its file, of several the first.
pub(super) fn place(folder: &Path, table: Table, format: Format) -> PathBuf {
    match format {
        Format::Csv => folder.join(format!("{}.csv", table_name(table))),
        Format::Parquet => part(folder, table, 0),
    }
}

/// A part of a table. The names are in the order of the parts.
fn part(folder: &Path, table: Table, number: usize) -> PathBuf {
    let name = table_name(table);
    folder.join(match number {
        0 => format!("{name}.parquet"),
        _ => format!("{name}.part-{number:05}.parquet"),
    })
}

/// Parts of a table, in order.
pub(super) fn parts(folder: &Path, table: Table) -> Vec<PathBuf> {
    (0..).map(|k| part(folder, table, k)).take_while(|p| p.is_file()).collect()
}

/// Writes a file where there is none yet that anybody reads.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    fs::write(path, bytes).map_err(|e| RecordError::io(path, e))
}

/// Where a file is until it is whole.
pub(super) fn hidden(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}", path.file_name().unwrap_or_default().to_string_lossy()))
}

/// Puts a file that was hidden in its place.
pub(super) fn show(path: &Path) -> Result<(), RecordError> {
    fs::rename(hidden(path), path).map_err(|e| RecordError::io(path, e))
}

/// Writes a file so that at any instant the old or the new one is there, whole.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    write(&hidden(path), bytes)?;
    show(path)
}

/// Takes the rows of a table.
#[derive(Debug)]
pub(super) struct Sink {
    pub rows: Rows,
    folder: PathBuf,
    writer: Writer,
}

#[derive(Debug)]
enum Writer {
    /// `None`: no file yet.
    Csv(Option<File>),
    Parquet {
        /// Number of the part that is filled.
        part: usize,
        /// Rows of it on disk; `None`: no file yet.
        sealed: Option<usize>,
    },
}

impl Sink {
    /// For a folder that is to be there at the first [`seal`](Self::seal), which makes the file. `rows`: none yet.
    pub fn new(folder: &Path, rows: Rows, format: Format) -> Self {
        let writer = match format {
            Format::Csv => Writer::Csv(None),
            Format::Parquet => Writer::Parquet { part: 0, sealed: None },
        };
        Self { rows, folder: folder.to_owned(), writer }
    }

    /// Whether there are more rows than should be in memory: it is time to seal.
    pub fn full(&self) -> bool {
        let most = if matches!(self.writer, Writer::Csv(_)) { TEXT } else { PART };
        self.rows.len() >= most
    }

    /// Everything so far is on disk and can be read. `bytes`: memory for that, which tables share.
    pub fn seal(&mut self, bytes: &mut Vec<u8>) -> Result<(), RecordError> {
        let (folder, table) = (&self.folder, self.rows.table());
        match &mut self.writer {
            Writer::Csv(file) => {
                let path = place(folder, table, Format::Csv);
                let fail = |e| RecordError::io(&path, e);
                bytes.clear();
                let file = match file {
                    Some(file) => file,
                    None => {
                        bytes.extend_from_slice(csv::header(&self.rows).as_bytes());
                        file.insert(File::create(&path).map_err(fail)?)
                    }
                };
                csv::write(&self.rows, bytes);
                self.rows.clear();
                file.write_all(bytes).map_err(fail)?;
            }
            Writer::Parquet { part: number, sealed } => {
                if *sealed == Some(self.rows.len()) {
                    return Ok(());
                }
                let path = part(folder, table, *number);
                encode::encode(&self.rows, bytes).map_err(|e| RecordError::io(&path, io::Error::other(e)))?;
                // until the first seal is done nobody takes the folder for a recording
                let put = if sealed.is_none() { write } else { replace };
                put(&path, bytes)?;
                *sealed = Some(self.rows.len());
                if self.rows.len() >= PART {
                    self.rows.clear();
                    (*number, *sealed) = (*number + 1, Some(0));
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
        let mut sink = Sink::new(&folder, Rows::new(Table::Events), Format::Parquet);
        for k in 0..2 * PART + 5 {
            push(&mut sink.rows, k);
            push(&mut all, k);
            if sink.full() {
                sink.seal(&mut vec![]).unwrap();
            }
        }
        sink.seal(&mut vec![]).unwrap();
        let recording = Recording::open(&folder).unwrap();
        let found = parts(&folder, Table::Events);
        assert!(found.len() == 3 && found.is_sorted());
        assert_eq!(recording.read(Table::Events).unwrap(), all);
        // a full part ends a table as well as any
        let csv = scratch("parts-csv");
        recording.export(&csv, Format::Csv, false).unwrap();
        assert_eq!(Recording::open(&csv).unwrap().read(Table::Events).unwrap(), all);
        fs::remove_dir_all(folder).unwrap();
        fs::remove_dir_all(csv).unwrap();
    }

    #[test]
    fn any_number_of_rows_and_names_reads_back() {
        let folder = scratch("names");
        for names in [1, 2, 3, 5, 300, 70_000] {
            for count in [0, 1, 7, 8, 9, 1000, 70_000] {
                let mut sink = Sink::new(&folder, Rows::new(Table::Events), Format::Parquet);
                for k in 0..count {
                    let name = format!("{}", 7 * k % names);
                    let time = [-0.0, 0.0, f64::NAN, 1e-310, -1e300][k % 5];
                    sink.rows.push_number(time).push_word(&name).push_count(k).push_word("");
                    sink.rows.push_word("\u{e9}").push_word(["open", "close"][k % 2]);
                }
                sink.seal(&mut vec![]).unwrap();
                let found = Recording::open(&folder).unwrap().read(Table::Events).unwrap();
                assert!(found == sink.rows, "{count} rows, {names} names");
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn numbers_that_stay_the_same_read_back() {
        let folder = scratch("constant");
        for time in [-0.0, 0.0, f64::NAN, 1e-310] {
            for count in [1, 63, 64, 65, 1000, 70_000] {
                let mut sink = Sink::new(&folder, Rows::new(Table::Events), Format::Parquet);
                for _ in 0..count {
                    sink.rows
                        .push_number(time)
                        .push_word("a/b#0")
                        .push_count(3)
                        .push_word("a")
                        .push_word("b");
                    sink.rows.push_word("open");
                }
                sink.seal(&mut vec![]).unwrap();
                let found = Recording::open(&folder).unwrap().read(Table::Events).unwrap();
                assert!(found == sink.rows, "{count} rows of {time}");
                // a number is there once, however many rows
                let bytes = fs::metadata(place(&folder, Table::Events, Format::Parquet)).unwrap().len();
                assert!(count < 64 || bytes < 1000, "{bytes} bytes for {count} rows");
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn rows_can_be_read_after_each_seal_while_more_are_added() {
        for format in Format::ALL {
            let folder = scratch(&format!("{format:?}"));
            let mut sink = Sink::new(&folder, Rows::new(Table::Events), format);
            sink.seal(&mut vec![]).unwrap();
            let read = || Recording::open(&folder).unwrap().read(Table::Events).unwrap().len();
            assert_eq!(read(), 0);
            for k in 0..10 {
                push(&mut sink.rows, k);
                assert_eq!(read(), k);
                sink.seal(&mut vec![]).unwrap();
                assert_eq!(read(), k + 1);
            }
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
