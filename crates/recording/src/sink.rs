//! A table on its way to disk.
//!
//! CSV: one file that grows by whole rows. Parquet, whose files can be read only as a whole: parts, most often one. Rows
//! stay in memory until a part is full; until then the part on disk is replaced from time to time by one that holds
//! them all. It is written beside and renamed, so that every part on disk is whole at any instant from the first seal on.

use crate::table::Rows;
use crate::{Error, Format, csv, encode};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Rows of a part, and most that wait for a file.
pub(crate) const PART: usize = 1 << 17;

/// Where a table is kept: its file, of several the first.
pub(crate) fn place(folder: &Path, table: &str, format: Format) -> PathBuf {
    match format {
        Format::Csv => folder.join(format!("{table}.csv")),
        Format::Parquet => part(folder, table, 0),
    }
}

/// A part of a table. The names are in the order of the parts.
fn part(folder: &Path, table: &str, number: usize) -> PathBuf {
    folder.join(match number {
        0 => format!("{table}.parquet"),
        _ => format!("{table}.part-{number:05}.parquet"),
    })
}

/// Parts of a table, in order.
pub(crate) fn parts(folder: &Path, table: &str) -> Vec<PathBuf> {
    (0..).map(|k| part(folder, table, k)).take_while(|p| p.is_file()).collect()
}

/// Writes a file where there is none yet that anybody reads. A link that is there goes, and is not followed.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    create(path).and_then(|mut file| file.write_all(bytes)).map_err(|e| Error::io(path, e))
}

/// A new file, in the place of one that is there.
fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => File::create_new(path),
    }
}

/// Where a file is until it is whole.
pub(crate) fn hidden(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}", path.file_name().unwrap_or_default().to_string_lossy()))
}

/// Puts a file that was hidden in its place.
pub(crate) fn show(path: &Path) -> Result<(), Error> {
    fs::rename(hidden(path), path).map_err(|e| Error::io(path, e))
}

/// Takes the rows of a table.
#[derive(Debug)]
pub(crate) struct Sink {
    pub rows: Rows,
    folder: PathBuf,
    writer: Writer,
}

#[derive(Debug)]
enum Writer {
    /// The file and its length before rows were added; `None`: no file yet.
    Csv(Option<(File, u64)>),
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
        self.rows.len() >= PART
    }

    /// Everything so far is on disk and can be read. `bytes`: memory for that, which tables share.
    pub fn seal(&mut self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        self.prepare(bytes)?;
        self.commit()
    }

    /// Puts everything so far on disk, from where [`commit`](Self::commit) shows it and [`withdraw`](Self::withdraw) takes it back.
    pub fn prepare(&mut self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let (folder, table) = (&self.folder, &*self.rows.table().name);
        match &mut self.writer {
            Writer::Csv(file) => {
                let path = place(folder, table, Format::Csv);
                let fail = |e| Error::io(&path, e);
                bytes.clear();
                let (file, _) = match file {
                    Some(file) => file,
                    None => {
                        csv::header(self.rows.table(), bytes);
                        file.insert((create(&path).map_err(fail)?, 0))
                    }
                };
                csv::write(&self.rows, bytes);
                file.write_all(bytes).map_err(fail)
            }
            Writer::Parquet { sealed, .. } if *sealed == Some(self.rows.len()) => Ok(()),
            Writer::Parquet { part: number, .. } => {
                let path = part(folder, table, *number);
                encode::encode(&self.rows, bytes).map_err(|e| Error::io(&path, io::Error::other(e)))?;
                write(&hidden(&path), bytes)
            }
        }
    }

    /// Shows what was prepared to readers.
    pub fn commit(&mut self) -> Result<(), Error> {
        match &mut self.writer {
            Writer::Csv(file) => {
                if let Some((file, length)) = file {
                    let path = place(&self.folder, &self.rows.table().name, Format::Csv);
                    *length = file.stream_position().map_err(|e| Error::io(&path, e))?;
                }
                self.rows.clear();
            }
            Writer::Parquet { sealed, .. } if *sealed == Some(self.rows.len()) => {}
            Writer::Parquet { part: number, sealed } => {
                show(&part(&self.folder, &self.rows.table().name, *number))?;
                *sealed = Some(self.rows.len());
                if self.rows.len() >= PART {
                    self.rows.clear();
                    (*number, *sealed) = (*number + 1, Some(0));
                }
            }
        }
        Ok(())
    }

    /// Takes back what was prepared, whole or in part, as far as the operating system lets it.
    pub fn withdraw(&mut self) {
        match &mut self.writer {
            Writer::Csv(file) => match file {
                None => {}
                // a file without its header is no table
                Some((_, 0)) => {
                    *file = None;
                    let _ = fs::remove_file(place(&self.folder, &self.rows.table().name, Format::Csv));
                }
                Some((file, length)) => {
                    let _ = file.set_len(*length).and_then(|()| file.seek(SeekFrom::Start(*length)));
                }
            },
            Writer::Parquet { part: number, .. } => {
                let _ = fs::remove_file(hidden(&part(&self.folder, &self.rows.table().name, *number)));
            }
        }
    }

    /// Adds rows of a table of the same columns.
    pub fn append(&mut self, rows: &Rows, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let mut from = 0;
        while from < rows.len() {
            // in runs that a part can take
            let to = rows.len().min(from + PART - self.rows.len().min(PART - 1));
            self.rows.append(rows, from..to);
            if self.full() {
                self.seal(bytes)?;
            }
            from = to;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::table::{Column, Kind, Table};
    use crate::{Layout, Recording};
    use std::sync::Arc;

    pub(crate) fn events() -> Arc<Table> {
        let column = |name, kind| Column { name, kind, unit: "".into(), optional: false };
        let columns = vec![
            column("time".into(), Kind::Number),
            column("contact".into(), Kind::Word),
            column("element".into(), Kind::Count),
            column("event".into(), Kind::Word),
        ];
        Arc::new(Table { name: "events".into(), columns })
    }

    pub(crate) fn push(rows: &mut Rows, time: f64, contact: &str, element: usize, event: &str) {
        rows.push_number(time).push_word(contact).push_count(element).push_word(event);
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("recording-sink-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn open(folder: &Path) -> Recording {
        let (tables, files) = (vec![events()], vec![]);
        let layout = Layout { tables, files, mark: "end", program: "tests", is_mark: |_| true };
        Recording::open(folder, &Arc::new(layout)).unwrap()
    }

    fn sink(folder: &Path, format: Format) -> Sink {
        Sink::new(folder, Rows::new(&events()), format)
    }

    #[test]
    fn full_parts_are_closed_and_read_back_in_order() {
        let folder = scratch("parts");
        let (mut all, mut sink) = (Rows::new(&events()), sink(&folder, Format::Parquet));
        for k in 0..2 * PART + 5 {
            for rows in [&mut sink.rows, &mut all] {
                push(rows, 0.1 * k as f64, "a/b#0", k % 7, ["stick", "slip"][k % 2]);
            }
            if sink.full() {
                sink.seal(&mut vec![]).unwrap();
            }
        }
        sink.seal(&mut vec![]).unwrap();
        let found = parts(&folder, "events");
        assert!(found.len() == 3 && found.is_sorted());
        assert_eq!(open(&folder).read("events").unwrap(), all);
        // a full part ends a table as well as any
        let csv = scratch("parts-csv");
        open(&folder).export(&csv, Format::Csv, false).unwrap();
        assert_eq!(open(&csv).read("events").unwrap(), all);
        fs::remove_dir_all(folder).unwrap();
        fs::remove_dir_all(csv).unwrap();
    }

    #[test]
    fn any_number_of_rows_and_names_reads_back() {
        let folder = scratch("names");
        for names in [1, 2, 3, 5, 300, 70_000] {
            for count in [0, 1, 7, 8, 9, 1000, 70_000] {
                let mut sink = sink(&folder, Format::Parquet);
                for k in 0..count {
                    let time = [-0.0, 0.0, f64::NAN, 1e-310, -1e300][k % 5];
                    push(&mut sink.rows, time, &format!("{}", 7 * k % names), k, ["", "\u{e9}"][k % 2]);
                }
                sink.seal(&mut vec![]).unwrap();
                let found = open(&folder).read("events").unwrap();
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
                let mut sink = sink(&folder, Format::Parquet);
                (0..count).for_each(|_| push(&mut sink.rows, time, "a/b#0", 3, "open"));
                sink.seal(&mut vec![]).unwrap();
                let found = open(&folder).read("events").unwrap();
                assert!(found == sink.rows, "{count} rows of {time}");
                // a number is there once, however many rows
                let bytes = fs::metadata(place(&folder, "events", Format::Parquet)).unwrap().len();
                assert!(count < 64 || bytes < 1000, "{bytes} bytes for {count} rows");
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_withdrawn_leaves_no_half_table_and_can_be_sealed_later() {
        for format in Format::ALL {
            let folder = scratch(&format!("withdrawn-{format:?}"));
            let mut sink = sink(&folder, format);
            push(&mut sink.rows, 0.5, "a/b#0", 3, "stick");
            sink.prepare(&mut vec![]).unwrap();
            sink.withdraw();
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{format:?}");
            sink.seal(&mut vec![]).unwrap();
            assert_eq!(open(&folder).read("events").unwrap().len(), 1);
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn rows_can_be_read_after_each_seal_while_more_are_added() {
        for format in Format::ALL {
            let folder = scratch(&format!("{format:?}"));
            let mut sink = sink(&folder, format);
            sink.seal(&mut vec![]).unwrap();
            let read = || open(&folder).read("events").unwrap().len();
            assert_eq!(read(), 0);
            for k in 0..10 {
                push(&mut sink.rows, 0.1 * k as f64, "a/b#0", k % 7, "stick");
                assert_eq!(read(), k);
                sink.seal(&mut vec![]).unwrap();
                assert_eq!(read(), k + 1);
            }
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
