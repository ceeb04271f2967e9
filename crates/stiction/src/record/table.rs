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
        // writing to memory cannot fail; JSON's writer is the faster one, but knows no infinity
        if x.is_finite() {
            let _ = serde_json::to_writer(&mut self.rows, &x);
            self.rows.push(b',');
        } else {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_bit_by_bit_and_words_are_quoted() {
        let path = std::env::temp_dir().join(format!("stiction-csv-{}.csv", std::process::id()));
        let mut csv = Csv::create(path.clone(), "a,b").unwrap();
        let list = [0.1 + 0.2, -0.0, 1e-310, 1e300, -7.0, 1.0 / 3.0, f64::INFINITY];
        csv.numbers(&list).number(f64::NAN).count(3).word("say \"a, b\"").end();
        csv.flush().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        let fields: Vec<&str> = text.strip_prefix("a,b\n").unwrap().split(',').collect();
        for (field, x) in fields.iter().zip(list) {
            assert_eq!(field.parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(fields[7..], ["NaN", "3", "\"say \"\"a", " b\"\"\"\n"]);
    }
}
