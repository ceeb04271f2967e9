//! Recordings read back.

use super::sink::{PART, Sink, parts, place};
use super::table::{Rows, Values, table_name};
use super::{Format, RecordError, csv, parquet};
use crate::scene::Table;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A recording on disk.
#[derive(Debug, Clone)]
pub struct Recording {
    folder: PathBuf,
    format: Format,
}

impl Recording {
    /// Looks what is there, and reads no table yet.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        folder.read_dir().map_err(|e| RecordError::io(folder, e))?;
        let found = |format: &Format| Table::ALL.iter().any(|t| place(folder, *t, *format).exists());
        match Format::ALL.into_iter().find(found) {
            Some(format) => Ok(Self { folder: folder.to_owned(), format }),
            None => Err(RecordError::NoRecording(folder.to_owned())),
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How its tables are kept.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The tables it has.
    pub fn tables(&self) -> Vec<Table> {
        let there = |t: &Table| place(&self.folder, *t, self.format).exists();
        Table::ALL.into_iter().filter(there).collect()
    }

    /// All rows of a table.
    pub fn read(&self, table: Table) -> Result<Rows, RecordError> {
        let mut all: Option<Rows> = None;
        self.pieces(table, &mut |rows| {
            match &mut all {
                Some(all) => all.append(&rows),
                None => all = Some(rows),
            }
            Ok(())
        })?;
        Ok(all.unwrap_or_else(|| Rows::new(table)))
    }

    /// Goes through a table piece by piece, so that large ones need not fit in memory. The first piece may have no rows.
    pub fn pieces(
        &self,
        table: Table,
        each: &mut dyn FnMut(Rows) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let place = place(&self.folder, table, self.format);
        if !place.exists() {
            return Err(RecordError::NoTable { folder: self.folder.clone(), table: table_name(table) });
        }
        let open = |path: &Path| File::open(path).map_err(|e| RecordError::io(path, e));
        match self.format {
            Format::Csv => {
                let fault = |e| RecordError::malformed(&place, e);
                let mut reader = csv::Reader::new(BufReader::new(open(&place)?), table).map_err(fault)?;
                loop {
                    let rows = reader.read(PART).map_err(fault)?;
                    let end = rows.len() < PART;
                    each(rows)?;
                    if end {
                        return Ok(());
                    }
                }
            }
            Format::Parquet => {
                for part in parts(&self.folder, table) {
                    let rows = parquet::read(open(&part)?, table);
                    each(rows.map_err(|e| RecordError::malformed(&part, e.to_string()))?)?;
                }
                Ok(())
            }
        }
    }

    /// Writes the same recording in a format, in a folder that is empty, new or, if `replace` is true, a recording.
    pub fn export(&self, folder: &Path, format: Format, replace: bool) -> Result<(), RecordError> {
        let same =
            |a: &Path, b: &Path| a.canonicalize().ok().is_some_and(|a| Some(a) == b.canonicalize().ok());
        if same(folder, &self.folder) {
            return Err(RecordError::Exists(folder.to_owned()));
        }
        let old = super::check(folder, replace)?;
        std::fs::create_dir_all(folder).map_err(|e| RecordError::io(folder, e))?;
        if old {
            super::remove(folder)?;
        }
        let mut bytes = vec![];
        for table in self.tables() {
            let mut sink: Option<Sink> = None;
            self.pieces(table, &mut |rows| {
                // in runs that a part can take
                sink.get_or_insert_with(|| Sink::new(folder, rows.none(), format)).append(&rows, &mut bytes)
            })?;
            sink.map_or(Ok(()), |mut sink| sink.seal(&mut bytes))?;
        }
        for name in [super::SCENE_FILE, super::STATE_FILE] {
            let from = self.folder.join(name);
            if from.is_file() {
                std::fs::copy(&from, folder.join(name)).map_err(|e| RecordError::io(&from, e))?;
            }
        }
        Ok(())
    }
}

impl Rows {
    fn append(&mut self, other: &Self) {
        self.append_range(other, 0..other.len());
    }

    pub(super) fn append_range(&mut self, other: &Self, range: std::ops::Range<usize>) {
        let codes: Vec<u32> = other.words.list().iter().map(|w| self.words.code(w)).collect();
        for (mine, theirs) in self.values.iter_mut().zip(&other.values) {
            match (mine, theirs) {
                (Values::Numbers(a), Values::Numbers(b)) => a.extend_from_slice(&b[range.clone()]),
                (Values::Counts(a), Values::Counts(b)) => a.extend_from_slice(&b[range.clone()]),
                (Values::Words(a), Values::Words(b)) => {
                    a.extend(b[range.clone()].iter().map(|c| codes[*c as usize]));
                }
                _ => debug_assert!(false, "tables of two kinds"),
            }
        }
    }
}

impl Sink {
    fn append(&mut self, rows: &Rows, bytes: &mut Vec<u8>) -> Result<(), RecordError> {
        let mut from = 0;
        while from < rows.len() {
            let to = rows.len().min(from + PART - self.rows.len().min(PART - 1));
            self.rows.append_range(rows, from..to);
            if self.full() {
                self.seal(bytes)?;
            }
            from = to;
        }
        Ok(())
    }
}
