//! Measured trajectories: times and columns, and their file.

use std::fmt;
use std::path::Path;

/// Faults that are listed.
const MOST: usize = 10;

/// A measured trajectory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Data {
    /// Times, s, increasing.
    pub times: Vec<f64>,
    /// Names of the columns.
    pub names: Vec<String>,
    /// The columns, each with one number per time; NaN where nothing was measured.
    pub values: Vec<Vec<f64>>,
    /// Line of each time in the file; empty without a file.
    lines: Vec<usize>,
    /// Place of each column in the file, from 1; empty without a file.
    places: Vec<usize>,
}

/// A fault of data, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFault {
    /// Line of the file, from 1; of data without a file the index of the time, from 0.
    pub line: Option<usize>,
    /// Column, from 1.
    pub column: Option<usize>,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl fmt::Display for DataFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: {}", self.message),
            (Some(line), None) => write!(f, "line {line}: {}", self.message),
            (None, Some(column)) => write!(f, "column {column}: {}", self.message),
            (None, None) => f.write_str(&self.message),
        }
    }
}

impl Data {
    /// Data of one's own; NaN where nothing was measured.
    ///
    /// # Errors
    /// Columns of another length than the times, times that do not increase, values that are infinite.
    pub fn new(times: Vec<f64>, columns: Vec<(String, Vec<f64>)>) -> Result<Self, Vec<DataFault>> {
        let mut faults = Faults::default();
        for (k, (name, values)) in columns.iter().enumerate() {
            if values.len() != times.len() {
                let why = format!("'{name}' has {} values for {} times", values.len(), times.len());
                faults.add(None, Some(k + 2), why);
            }
            for (i, x) in values.iter().enumerate().filter(|(_, x)| x.is_infinite()) {
                faults.add(
                    Some(i),
                    Some(k + 2),
                    format!("{x} in '{name}', expected a number or NaN for a gap"),
                );
            }
        }
        let (names, values) = columns.into_iter().unzip();
        let data = Self { times, names, values, ..Self::default() };
        data.check(&mut faults);
        faults.or(data)
    }

    /// Reads a file of comma-separated values.
    ///
    /// # Errors
    /// Everything that is wrong with it, with line and column.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Vec<DataFault>> {
        let fault = |message: String| vec![DataFault { line: None, column: None, message }];
        let bytes = std::fs::read(path).map_err(|e| fault(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| fault("not UTF-8".to_owned()))?;
        Self::from_csv(&text)
    }

    /// Reads comma-separated values (RFC 4180): a line of names, the first of them `time`, then one line per time. Empty
    /// cells are gaps; empty lines and lines that begin with # are left out.
    ///
    /// # Errors
    /// Everything that is wrong, with line and column.
    pub fn from_csv(text: &str) -> Result<Self, Vec<DataFault>> {
        let mut faults = Faults::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().enumerate().map(|(k, line)| (k + 1, line.trim_end_matches('\r')));
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let Some((line, header)) = lines.next() else {
            let message = "no data: expected a line of column names, the first of them time".to_owned();
            return Err(vec![DataFault { line: None, column: None, message }]);
        };
        let names = cells(header);
        if names[0].trim() != "time" {
            faults.add(Some(line), Some(1), format!("'{}', expected time", names[0].trim()));
        }
        if names.len() < 2 {
            faults.add(Some(line), None, "no column but time: nothing was measured".to_owned());
        }
        let mut data = Self {
            names: names[1..].iter().map(|name| name.trim().to_owned()).collect(),
            values: vec![vec![]; names.len() - 1],
            places: (2..=names.len()).collect(),
            ..Self::default()
        };
        for (k, name) in data.names.iter().enumerate() {
            if data.names[..k].contains(name) {
                faults.add(Some(line), Some(k + 2), format!("'{name}' is there twice"));
            }
        }
        for (line, text) in lines {
            let row = cells(text);
            if row.len() != names.len() {
                faults.add(Some(line), None, format!("{} cells, expected {}", row.len(), names.len()));
                continue;
            }
            let mut number = |k: usize| {
                let cell = row[k].trim();
                let empty = cell.is_empty();
                match cell.parse::<f64>() {
                    Ok(x) if x.is_finite() => Some(x),
                    _ if empty && k > 0 => Some(f64::NAN),
                    _ => {
                        let expected = if k == 0 { "a time" } else { "a number, or an empty cell for a gap" };
                        let name = names[k].trim();
                        faults.add(
                            Some(line),
                            Some(k + 1),
                            format!("'{cell}' in '{name}', expected {expected}"),
                        );
                        None
                    }
                }
            };
            let numbers: Vec<Option<f64>> = (0..row.len()).map(&mut number).collect();
            let Some(time) = numbers[0] else { continue };
            data.times.push(time);
            data.lines.push(line);
            for (column, x) in data.values.iter_mut().zip(&numbers[1..]) {
                column.push(x.unwrap_or(f64::NAN));
            }
        }
        data.check(&mut faults);
        faults.or(data)
    }

    /// Times increase, and something was measured in every column.
    fn check(&self, faults: &mut Faults) {
        for i in 0..self.times.len() {
            let time = self.times[i];
            if !time.is_finite() {
                faults.add(self.line(i), Some(1), format!("time is {time}, expected a number"));
            } else if i > 0 && time <= self.times[i - 1] {
                let before = self.times[i - 1];
                let why = format!("time {time} s after {before} s, expected increasing times");
                faults.add(self.line(i), Some(1), why);
            }
        }
        if self.names.is_empty() || self.times.is_empty() {
            faults.add(None, None, "no data: expected at least one time and one column".to_owned());
        }
        for (k, name) in self.names.iter().enumerate() {
            if !self.times.is_empty() && self.values[k].iter().all(|x| x.is_nan()) {
                faults.add(None, Some(self.column(k)), format!("'{name}' has no value"));
            }
        }
    }

    /// Where a time is, in faults.
    pub(super) fn line(&self, i: usize) -> Option<usize> {
        Some(self.lines.get(i).copied().unwrap_or(i))
    }

    /// Where a column is, in faults.
    pub(super) fn column(&self, k: usize) -> usize {
        self.places.get(k).copied().unwrap_or(k + 2)
    }

    /// Places of the measured values: index of the time, index of the column, in order of time.
    pub(super) fn samples(&self) -> Vec<(usize, usize)> {
        let all = (0..self.times.len()).flat_map(|i| (0..self.names.len()).map(move |k| (i, k)));
        all.filter(|&(i, k)| !self.values[k][i].is_nan()).collect()
    }
}

/// Faults as they are found.
#[derive(Default)]
pub(super) struct Faults {
    list: Vec<DataFault>,
    more: usize,
}

impl Faults {
    pub fn add(&mut self, line: Option<usize>, column: Option<usize>, message: String) {
        if self.list.len() < MOST {
            self.list.push(DataFault { line, column, message });
        } else {
            self.more += 1;
        }
    }

    /// The value, if there is no fault.
    pub fn or<T>(mut self, value: T) -> Result<T, Vec<DataFault>> {
        if self.list.is_empty() {
            return Ok(value);
        }
        if self.more > 0 {
            let message = format!("and {} more faults", self.more);
            self.list.push(DataFault { line: None, column: None, message });
        }
        Err(self.list)
    }
}

/// The cells of a line; quotes hold commas, two quotes stand for one.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let last = cells.len() - 1;
        match c {
            '"' if quoted && rest.next_if_eq(&'"').is_some() => cells[last].push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells[last].push(c),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_comments_and_quotes_are_read() {
        let text = "\u{feff}# seed 1\ntime,\"body[a, b].x\",y\r\n0,1,\n\n0.5,,-2e-3\n";
        let data = Data::from_csv(text).unwrap();
        assert_eq!((data.times.clone(), &data.names[0][..]), (vec![0.0, 0.5], "body[a, b].x"));
        assert_eq!(data.samples(), [(0, 0), (1, 1)]);
        assert_eq!(data.values[1][1], -2e-3);
        assert_eq!((data.line(1), data.column(1)), (Some(5), 3));
    }

    #[test]
    fn every_fault_is_named_with_line_and_column() {
        let said = |text: &str| -> Vec<String> {
            Data::from_csv(text).unwrap_err().iter().map(ToString::to_string).collect()
        };
        let list = said("time,x\n0,NaN\n0.1,1,2\nlater,1\n0.2,one\n0.2,1\n0.15,inf\n");
        let expected = [
            "line 2, column 2: 'NaN' in 'x', expected a number, or an empty cell for a gap",
            "line 3: 3 cells, expected 2",
            "line 4, column 1: 'later' in 'time', expected a time",
            "line 5, column 2: 'one' in 'x', expected a number, or an empty cell for a gap",
            "line 7, column 2: 'inf' in 'x', expected a number, or an empty cell for a gap",
            "line 6, column 1: time 0.2 s after 0.2 s, expected increasing times",
            "line 7, column 1: time 0.15 s after 0.2 s, expected increasing times",
        ];
        assert_eq!(list, expected);
        assert_eq!(said("t,x\n0,1\n"), ["line 1, column 1: 't', expected time"]);
        assert_eq!(said("time,x,x\n0,1,\n")[0], "line 1, column 3: 'x' is there twice");
        assert!(said("").iter().any(|s| s.contains("no data")));
        assert!(said("time,x\n0,\n")[0].contains("column 2: 'x' has no value"));
    }

    #[test]
    fn arrays_are_checked_too() {
        let column = |x: Vec<f64>| vec![("x".to_owned(), x)];
        assert!(Data::new(vec![0.0, 1.0], column(vec![1.0, f64::NAN])).is_ok());
        let faults = Data::new(vec![0.0, 1.0], column(vec![1.0, f64::INFINITY])).unwrap_err();
        assert!(faults[0].to_string().contains("line 1, column 2: inf"), "{}", faults[0]);
        assert!(Data::new(vec![0.0], column(vec![1.0, 2.0])).is_err());
        assert!(Data::new(vec![1.0, 1.0], column(vec![1.0, 2.0])).is_err());
    }
}
