//! Whose a folder is. Only what this program wrote is ever replaced: a folder with the file [`MARKER`], and in it the tables that the marker lists.
//! Recordings from before there was a marker are known by what they contain. Links in a folder are never followed: what they lead to is somebody else's.

use crate::sink::{hidden, parts, place};
use crate::{Error, Format, Layout, csv, parquet};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// Name of the file by which a folder is known to be a recording.
pub const MARKER: &str = "recording.json";

/// What a recording that is there consists of: the files that go when it is replaced, the marker last.
#[derive(Debug, Default)]
pub(crate) struct Old(Vec<PathBuf>);

impl Old {
    /// Removes the tables and the mark; files beside them stay.
    pub fn remove(&self) -> Result<(), Error> {
        for file in &self.0 {
            match fs::remove_file(file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::io(file, e)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A file, and no link to one.
fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_file())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    if is_file(path) { fs::read(path).ok() } else { None }
}

impl Layout {
    /// The marker of a recording in a format, with these tables.
    pub(crate) fn marker(&self, format: Format, tables: &[&str]) -> Vec<u8> {
        let format = match format {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        };
        let marker = serde_json::json!({"recording_of": self.program, "format": format, "tables": tables});
        format!("{marker}\n").into_bytes()
    }

    /// Whether the folder is the program's, and format and tables that its marker lists.
    fn marked(&self, folder: &Path) -> Option<(Format, Vec<String>)> {
        let marker: serde_json::Value = serde_json::from_slice(&read(&folder.join(MARKER))?).ok()?;
        if marker["recording_of"] != self.program {
            return None;
        }
        let format = match marker["format"].as_str()? {
            "parquet" => Format::Parquet,
            "csv" => Format::Csv,
            _ => return None,
        };
        let tables = marker["tables"].as_array()?.iter().filter_map(|t| t.as_str()).map(str::to_owned);
        Some((format, tables.collect()))
    }

    /// Files of a table in a folder, the last first: the first of them shows that there are others.
    fn files_of(folder: &Path, table: &str, format: Format) -> Vec<PathBuf> {
        let mut files = match format {
            Format::Csv => vec![place(folder, table, format)],
            Format::Parquet => parts(folder, table),
        };
        files.reverse();
        files.retain(|file| is_file(file));
        files
    }

    /// The recording in a folder that is to be replaced, if there is one. A folder that holds something else is refused, and so is a recording unless `replace` is
    /// true. `format`: that of the new tables.
    pub(crate) fn check(&self, folder: &Path, replace: bool, format: Format) -> Result<Option<Old>, Error> {
        let entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(folder, e)),
        };
        // a marker in the making is all that a recording leaves which is cut short before it has one
        let making = hidden(Path::new(MARKER));
        if entries.flatten().all(|entry| entry.file_name() == making) {
            return Ok(None);
        }
        let mut files = match self.marked(folder) {
            Some((format, tables)) => tables.iter().flat_map(|t| Self::files_of(folder, t, format)).collect(),
            None => self.unmarked(folder).ok_or_else(|| Error::Foreign(folder.to_owned()))?,
        };
        if !replace {
            return Err(Error::Exists(folder.to_owned()));
        }
        // what is left where a new table belongs is somebody else's
        for table in &self.tables {
            let new = place(folder, &table.name, format);
            if new.symlink_metadata().is_ok() && !files.contains(&new) {
                return Err(Error::InTheWay(new));
            }
        }
        files.extend(
            [folder.join(self.mark), hidden(&folder.join(self.mark))].into_iter().filter(|f| is_file(f)),
        );
        Ok(Some(Old(files)))
    }

    /// Tables of a recording from before there was a marker, or of one that was cut short: its mark and its tables are such as the program wrote.
    /// `None` if there are none, or others.
    fn unmarked(&self, folder: &Path) -> Option<Vec<PathBuf>> {
        let mark = folder.join(self.mark);
        // a hidden mark is there while the other files are not yet
        let begun = read(&hidden(&mark)).is_some_and(|bytes| (self.is_mark)(&bytes));
        let whole = self.files.iter().all(|f| is_file(&folder.join(f)))
            && read(&mark).is_some_and(|bytes| (self.is_mark)(&bytes));
        if !begun && !whole {
            return None;
        }
        let mut all = vec![];
        for table in &self.tables {
            for format in Format::ALL {
                for file in Self::files_of(folder, &table.name, format) {
                    if !has_columns(&file, table, format) {
                        return None;
                    }
                    all.push(file);
                }
            }
        }
        (begun || !all.is_empty()).then_some(all)
    }
}

/// Whether a file is a table of these columns.
fn has_columns(file: &Path, table: &crate::Table, format: Format) -> bool {
    let Some(open) = File::open(file).ok().filter(|_| is_file(file)) else { return false };
    match format {
        Format::Csv => csv::Reader::new(BufReader::new(open), table).is_ok(),
        Format::Parquet => parquet::has_columns(open, table),
    }
}
