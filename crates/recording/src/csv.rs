//! Tables as comma-separated text (RFC 4180), whole rows at a time.

use crate::table::{Column, Kind, Rows, Table, Values};
use std::io::{BufRead, Write};
use std::sync::Arc;

/// The first line.
pub(crate) fn header(table: &Table, text: &mut Vec<u8>) {
    for column in &table.columns {
        write_word(&column.name, text);
        text.push(b',');
    }
    text.pop();
    text.push(b'\n');
}

/// Adds the rows as text: numbers are the shortest text that reads back as the same double.
pub(crate) fn write(rows: &Rows, text: &mut Vec<u8>) {
    for k in 0..rows.len() {
        for values in &rows.values {
            // writing to memory cannot fail
            match values {
                Values::Numbers(list) => write_number(list[k], text),
                Values::Counts(list) => {
                    let _ = write!(text, "{}", list[k]);
                }
                Values::Words(list) => write_word(&rows.words.list()[list[k] as usize], text),
            }
            text.push(b',');
        }
        text.pop();
        text.push(b'\n');
    }
}

fn write_number(x: f64, text: &mut Vec<u8>) {
    if x.is_finite() {
        // JSON's writer is the faster one, but knows no infinity
        let _ = serde_json::to_writer(text, &x);
    } else {
        let _ = write!(text, "{x:?}");
    }
}

fn write_word(word: &str, text: &mut Vec<u8>) {
    if word.contains(['"', ',', '\n', '\r']) {
        let _ = write!(text, "\"{}\"", word.replace('"', "\"\""));
    } else {
        text.extend_from_slice(word.as_bytes());
    }
}

/// Reads a table, some rows at a time.
pub(crate) struct Reader<R> {
    input: R,
    /// The columns of the file.
    table: Arc<Table>,
    line: usize,
    text: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line, which names the columns. Those that the table does not know are kept as text.
    pub fn new(input: R, table: &Table) -> Result<Self, String> {
        let mut reader = Self { input, table: Arc::new(table.clone()), line: 0, text: vec![] };
        reader.next_row()?;
        let names = split(&reader.text)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = |name: &str| Column {
            name: name.to_owned().into(),
            kind: Kind::Word,
            unit: "".into(),
            optional: true,
        };
        let found = table.found(&names, |_, name| Ok(text(name)));
        reader.table = found.map_err(|e| format!("line 1: {e}"))?;
        Ok(reader)
    }

    /// Up to `most` rows; none at the end. A last row that was not finished is left out.
    pub fn read(&mut self, most: usize) -> Result<Rows, String> {
        let mut rows = Rows::new(&self.table);
        while rows.len() < most && self.next_row()? {
            let cells = split(&self.text).map_err(|e| format!("line {}: {e}", self.line))?;
            let columns = &self.table.columns;
            if cells.len() != columns.len() {
                return Err(format!(
                    "line {}: expected {} cells, found {}",
                    self.line,
                    columns.len(),
                    cells.len()
                ));
            }
            for (column, cell) in columns.iter().zip(&cells) {
                push(&mut rows, column, cell).map_err(|e| format!("line {}: {e}", self.line))?;
            }
        }
        Ok(rows)
    }

    /// The next line that ends with its row: line breaks within quotes do not end it.
    fn next_row(&mut self) -> Result<bool, String> {
        self.text.clear();
        loop {
            let from = self.text.len();
            self.input.read_until(b'\n', &mut self.text).map_err(|e| e.to_string())?;
            if self.text.len() == from || self.text.last() != Some(&b'\n') {
                return Ok(false);
            }
            self.line += 1;
            if self.text.iter().filter(|c| **c == b'"').count() % 2 == 0 {
                self.text.pop();
                return Ok(true);
            }
        }
    }
}

fn split(line: &[u8]) -> Result<Vec<String>, String> {
    let (mut cells, mut cell, mut quoted) = (vec![], vec![], false);
    let mut rest = line.iter().copied().peekable();
    while let Some(c) = rest.next() {
        match c {
            b'"' if quoted && rest.next_if_eq(&b'"').is_some() => cell.push(b'"'),
            b'"' => quoted = !quoted,
            b',' if !quoted => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
    }
    cells.push(cell);
    let text = |c| String::from_utf8(c).map_err(|_| "not UTF-8".to_owned());
    cells.into_iter().map(text).collect()
}

fn push(rows: &mut Rows, column: &Column, cell: &str) -> Result<(), String> {
    let wrong = |what: &str| format!("{}: expected {what}, found {cell:?}", column.name);
    match column.kind {
        Kind::Number => rows.push_number(cell.parse().map_err(|_| wrong("a number"))?),
        Kind::Count => rows.push_count(cell.parse().map_err(|_| wrong("a whole number"))?),
        Kind::Word => rows.push_word(cell),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::tests::{events, push};

    const NUMBERS: [f64; 8] = [0.1 + 0.2, -0.0, 1e-310, 1e300, -7.0, 1.0 / 3.0, f64::INFINITY, f64::NAN];

    fn written() -> (Rows, Vec<u8>) {
        let (mut rows, mut text) = (Rows::new(&events()), vec![]);
        for (k, x) in NUMBERS.into_iter().enumerate() {
            push(&mut rows, x, "say \"a, b\"\nand go", k, "slip");
        }
        header(&events(), &mut text);
        write(&rows, &mut text);
        (rows, text)
    }

    #[test]
    fn numbers_read_back_bit_by_bit_and_words_are_quoted() {
        let (rows, text) = written();
        let mut reader = Reader::new(&text[..], &events()).unwrap();
        let (first, second) = (reader.read(3).unwrap(), reader.read(100).unwrap());
        assert_eq!((first.len(), second.len(), reader.read(1).unwrap().len()), (3, 5, 0));
        assert_eq!(Reader::new(&text[..], &events()).unwrap().read(8).unwrap(), rows);
    }

    #[test]
    fn a_row_that_was_cut_off_is_left_out() {
        let (_, text) = written();
        for cut in 1..20 {
            let text = &text[..text.len() - cut];
            assert_eq!(Reader::new(text, &events()).unwrap().read(100).unwrap().len(), 7);
        }
    }

    #[test]
    fn faults_are_reported_with_their_line() {
        let read = |row: &str| {
            let text = format!("time,contact,element,event\n{row}\n");
            let reader = Reader::new(text.as_bytes(), &events());
            reader.and_then(|mut r| r.read(9)).unwrap_err()
        };
        assert_eq!(read("x,c,0,open"), "line 2: time: expected a number, found \"x\"");
        assert_eq!(read("1,c,-1,open"), "line 2: element: expected a whole number, found \"-1\"");
        assert_eq!(read("1,c,0,open\n1,c"), "line 3: expected 4 cells, found 2");
        let fault = Reader::new(&b"time,x\n"[..], &events()).err();
        assert_eq!(fault.as_deref(), Some("line 1: expected a column \"contact\", found \"time,x\""));
    }
}
