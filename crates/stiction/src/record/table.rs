//! A table in a file: comma-separated text, whole rows at a time.

use super::RecordError;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Rows wait in memory until [`Csv::flush`]; the file only ever ends after a whole row.
#[derive(Debug)]
pub(super) struct Csv {
    path: PathBuf,
    file: File,
    rows: Vec<u8>,
}

impl Csv {
    /// Replaces the file.
    pub fn create(path: PathBuf, header: &str) -> Result<Self, RecordError> {
        let file = File::create(&path).map_err(|e| RecordError::io(&path, e))?;
        let mut csv = Self { path, file, rows: format!("{header}\n").into_bytes() };
        csv.flush()?;
        Ok(csv)
    }

    /// The shortest text that reads back as the same number.
    pub fn number(&mut self, x: f64) -> &mut Self {
        if x.to_bits() == 0 {
            self.rows.extend_from_slice(b"0.0,");
        } else {
            // writing to memory cannot fail
            let _ = write!(self.rows, "{x:?},");
        }
        self
    }

    pub fn numbers(&mut self, list: &[f64]) -> &mut Self {
        list.iter().fold(self, |csv, x| csv.number(*x))
    }

    pub fn count(&mut self, n: usize) -> &mut Self {
        let _ = write!(self.rows, "{n},");
        self
    }

    /// Quoted where it must be (RFC 4180).
    pub fn word(&mut self, text: &str) -> &mut Self {
        if text.contains(['"', ',', '\n', '\r']) {
            let _ = write!(self.rows, "\"{}\",", text.replace('"', "\"\""));
        } else {
            self.rows.extend_from_slice(text.as_bytes());
            self.rows.push(b',');
        }
        self
    }

    pub fn end(&mut self) {
        self.rows.pop();
        self.rows.push(b'\n');
    }

    pub fn flush(&mut self) -> Result<(), RecordError> {
        if !self.rows.is_empty() {
            self.file.write_all(&self.rows).map_err(|e| RecordError::io(&self.path, e))?;
            self.rows.clear();
        }
        Ok(())
    }
}
