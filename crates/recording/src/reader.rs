//! Recordings read back.

use crate::sink::{PART, Sink, hidden, parts, place, show, write};
use crate::table::Rows;
use crate::writer::begin_files;
use crate::{Error, Format, Layout, csv, parquet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A recording on disk.
#[derive(Debug, Clone)]
pub struct Recording {
    folder: PathBuf,
    format: Format,
    layout: Arc<Layout>,
    /// Column of numbers that grow, and the last of them that is read.
    end: Option<(String, f64)>,
}

impl Recording {
    /// Looks which tables of the layout are there, and reads none yet.
    pub fn open(folder: &Path, layout: &Arc<Layout>) -> Result<Self, Error> {
        folder.read_dir().map_err(|e| Error::io(folder, e))?;
        let folder = folder.to_owned();
        match Format::ALL.into_iter().find(|f| layout.has_tables(&folder, *f)) {
            Some(format) => Ok(Self { folder, format, layout: layout.clone(), end: None }),
            None => {
                let table = layout.tables.first().map_or(String::new(), |t| t.name.to_string());
                Err(Error::NoRecording { folder, table })
            }
        }
    }

    /// Leaves out the rows of all tables from the first on whose number in a column, in which numbers do not fall, is above `last`: rows that were written
    /// after what a recording is to agree with.
    #[must_use]
    pub fn end_at(mut self, column: &str, last: f64) -> Self {
        self.end = Some((column.to_owned(), last));
        self
    }

    /// The rows up to the end.
    fn cut(&self, rows: Rows) -> Rows {
        let Some((column, last)) = &self.end else { return rows };
        let kept = rows.numbers(column).partition_point(|x| x <= last);
        if rows.numbers(column).is_empty() || kept == rows.len() {
            return rows;
        }
        let mut cut = Rows::new(rows.table());
        cut.append(&rows, 0..kept);
        cut
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How its tables are kept.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Names of the tables it has.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.layout.tables.iter().map(|t| &*t.name).filter(|t| place(&self.folder, t, self.format).exists())
    }

    /// The bytes of one of its files.
    pub fn file(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.folder.join(name);
        std::fs::read(&path).map_err(|e| Error::io(&path, e))
    }

    /// All rows of a table.
    pub fn read(&self, table: &str) -> Result<Rows, Error> {
        let mut all: Option<Rows> = None;
        self.pieces(table, &mut |rows| {
            match &mut all {
                Some(all) => all.append(&rows, 0..rows.len()),
                None => all = Some(rows),
            }
            Ok(())
        })?;
        all.ok_or_else(|| self.no_table(table))
    }

    fn no_table(&self, table: &str) -> Error {
        Error::NoTable { folder: self.folder.clone(), table: table.to_owned() }
    }

    /// Goes through a table piece by piece, so that large ones need not fit in memory. All pieces have the same columns; the
    /// first may have no rows.
    pub fn pieces(&self, table: &str, each: &mut dyn FnMut(Rows) -> Result<(), Error>) -> Result<(), Error> {
        let place = place(&self.folder, table, self.format);
        let known = self.layout.table(table).filter(|_| place.exists());
        let known = known.ok_or_else(|| self.no_table(table))?;
        let open = |path: &Path| File::open(path).map_err(|e| Error::io(path, e));
        match self.format {
            Format::Csv => {
                let fault = |e| Error::malformed(&place, e);
                let mut reader = csv::Reader::new(BufReader::new(open(&place)?), known).map_err(fault)?;
                loop {
                    let rows = reader.read(PART).map_err(fault)?;
                    let end = rows.len() < PART;
                    each(self.cut(rows))?;
                    if end {
                        return Ok(());
                    }
                }
            }
            Format::Parquet => {
                let mut first = None;
                for part in parts(&self.folder, table) {
                    let fault = |e: String| Error::malformed(&part, e);
                    let rows = parquet::read(open(&part)?, known).map_err(|e| fault(e.to_string()))?;
                    if first.get_or_insert_with(|| rows.table().clone()) != rows.table() {
                        return Err(fault("its columns are not those of the first part".to_owned()));
                    }
                    each(self.cut(rows))?;
                }
                Ok(())
            }
        }
    }

    /// Writes the same recording in a format, in a folder that is empty, new or, if `replace` is true, a recording.
    pub fn export(&self, folder: &Path, format: Format, replace: bool) -> Result<(), Error> {
        let same =
            |a: &Path, b: &Path| a.canonicalize().ok().is_some_and(|a| Some(a) == b.canonicalize().ok());
        if same(folder, &self.folder) {
            return Err(Error::Exists(folder.to_owned()));
        }
        let old = self.layout.check(folder, replace, format)?;
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        let tables: Vec<&str> = self.tables().collect();
        begin_files(folder, &self.layout, old.as_ref(), (format, &tables))?;
        let mut bytes = vec![];
        for table in self.tables() {
            let mut sink: Option<Sink> = None;
            self.pieces(table, &mut |rows| {
                let new = || Sink::new(folder, Rows::new(rows.table()), format);
                sink.get_or_insert_with(new).append(&rows, &mut bytes)
            })?;
            sink.map_or(Ok(()), |mut sink| sink.seal(&mut bytes))?;
        }
        for name in self.layout.files.iter().chain([&self.layout.mark]) {
            let from = self.folder.join(name);
            if from.is_file() {
                let to = folder.join(name);
                write(&hidden(&to), &self.file(name)?)?;
                show(&to)?;
            }
        }
        Ok(())
    }
}
