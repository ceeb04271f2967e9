//! Recordings as the figures need them: rows in a window of time, sorted by whom they are about.

use crate::InputError;
use crate::args::Plot;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use stiction::record::{Recording, Rows};
use stiction::scene::{Table, nearest};

/// Names that are listed where none is near.
const LISTED: usize = 10;

/// By how much, relatively, a time may lie outside the window.
const ROUNDING: f64 = 1e-9;

/// A recording to be drawn.
#[derive(Debug)]
pub struct Source {
    /// In the legend.
    pub label: String,
    recording: Recording,
    window: [f64; 2],
}

impl Source {
    /// Opens the recordings of the command line.
    pub fn open(arguments: &Plot) -> Result<Vec<Self>, InputError> {
        let window = [arguments.from.unwrap_or(f64::NEG_INFINITY), arguments.to.unwrap_or(f64::INFINITY)];
        if window[0] >= window[1] {
            return Err(InputError(format!("--from {} is not before --to {}", window[0], window[1])));
        }
        let (labels, n) = (&arguments.label, arguments.recordings.len());
        if !labels.is_empty() && labels.len() != n {
            return Err(InputError(format!("--label: {} names for {n} recordings", labels.len())));
        }
        let open = |(k, folder): (usize, &std::path::PathBuf)| {
            let recording = Recording::open(folder).map_err(|e| InputError::record(&e))?;
            let label = labels.get(k).cloned().unwrap_or_else(|| {
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                name.strip_suffix(".recording").map(str::to_owned).unwrap_or(name)
            });
            Ok(Self { label, recording, window })
        };
        arguments.recordings.iter().enumerate().map(open).collect()
    }

    pub fn has(&self, table: Table) -> bool {
        self.recording.tables().contains(&table)
    }

    pub fn read(&self, table: Table) -> Result<Rows, InputError> {
        self.recording.read(table).map_err(|e| InputError::record(&e))
    }

    /// Whether a time is to be drawn.
    pub fn shows(&self, time: f64) -> bool {
        // times are sums of rounded steps
        let [from, to] = self.window;
        (from - time <= ROUNDING * (1.0 + time.abs())) && (time - to <= ROUNDING * (1.0 + time.abs()))
    }

    /// The part of the window between two times.
    pub fn within(&self, [from, to]: [f64; 2]) -> [f64; 2] {
        [from.max(self.window[0]), to.min(self.window[1])]
    }

    /// Times of all records in the window, rising.
    pub fn times(&self, contacts: &Rows) -> Result<Vec<f64>, InputError> {
        let mut times = contacts.numbers("time").to_vec();
        if self.has(Table::Bodies) {
            times.extend_from_slice(self.read(Table::Bodies)?.numbers("time"));
        }
        times.retain(|t| self.shows(*t));
        times.sort_by(f64::total_cmp);
        times.dedup();
        Ok(times)
    }
}

/// Rows by what `of` makes of them, in the order of their first rows; `None` leaves a row out.
pub fn group<'a>(
    count: usize,
    mut of: impl FnMut(usize) -> Option<(&'a str, i64)>,
) -> Vec<((String, i64), Vec<usize>)> {
    let mut places = HashMap::new();
    let mut groups: Vec<((String, i64), Vec<usize>)> = vec![];
    for k in 0..count {
        let Some(key) = of(k) else { continue };
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(((key.0.to_owned(), key.1), vec![]));
            groups.len() - 1
        });
        groups[place].1.push(k);
    }
    groups
}

/// Names in the order in which people count: part 2 before part 10.
pub fn natural(a: &str, b: &str) -> Ordering {
    /// The digits with which a text begins, without leading zeros, or its first letter; and the rest.
    fn piece(text: &str) -> (&str, bool, &str) {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let first = text.chars().next().map_or(0, char::len_utf8);
        let (piece, rest) = text.split_at(digits.max(first));
        (if digits > 0 { piece.trim_start_matches('0') } else { piece }, digits > 0, rest)
    }
    let (mut left, mut right) = (a, b);
    while !left.is_empty() && !right.is_empty() {
        let ((x, number, rest), (y, also, others)) = (piece(left), piece(right));
        let order = if number && also { x.len().cmp(&y.len()).then(x.cmp(y)) } else { x.cmp(y) };
        if order.is_ne() {
            return order;
        }
        (left, right) = (rest, others);
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// How contacts are called in a figure: by their pair, where that has one contact there; else as in the tables.
pub fn contact_names<'a>(contacts: impl Iterator<Item = &'a str>) -> HashMap<String, String> {
    let all: BTreeSet<&str> = contacts.collect();
    let alone = |name: &str| all.iter().filter(|other| pair(other) == pair(name)).count() == 1;
    let shown = |name: &str| if alone(name) { pair(name) } else { name }.to_owned();
    all.iter().map(|name| ((*name).to_owned(), shown(name))).collect()
}

/// Whether every name is one of a recording's bodies or contacts, as `column` says.
pub fn check_names(
    sources: &[Source],
    column: &str,
    asked: &[String],
    tables: &[Table],
) -> Result<(), InputError> {
    if asked.is_empty() {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    for source in sources {
        for table in tables.iter().filter(|t| source.has(**t)) {
            let rows = source.read(*table)?;
            known.extend(rows.words(column).flat_map(|name| [name, pair(name)]).map(str::to_owned));
        }
    }
    let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
    known.sort_by(|a, b| natural(a, b));
    match asked.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            Err(InputError(format!("--{column}: unknown {column} '{name}'{}", instead(name, &known))))
        }
    }
}

/// What else there is: the nearest name, or some of them.
fn instead(name: &str, known: &[&str]) -> String {
    match (nearest(name, known), known) {
        (Some(near), _) => format!(", did you mean '{near}'?"),
        (None, []) => ": there are none here".to_owned(),
        (None, _) => {
            let more = if known.len() > LISTED { ", ..." } else { "" };
            format!(", expected one of {}{more}", known[..known.len().min(LISTED)].join(", "))
        }
    }
}

/// Whether a name is among the wanted; all are if none is named. A contact also goes by its pair.
pub fn wanted(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|w| w == name || w == pair(name))
}

/// The two that touch: a contact's name without its feature.
pub fn pair(contact: &str) -> &str {
    contact.rsplit_once('#').map_or(contact, |(pair, _)| pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_in_which_people_count() {
        let mut names = ["part 10", "part 2", "part", "part 2b", "a", "part 02", "Part 3", "part é", "9"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["9", "Part 3", "a", "part", "part 02", "part 2", "part 2b", "part 10", "part é"]);
    }

    #[test]
    fn contacts_go_by_their_pair_where_it_has_one() {
        let names = contact_names(["a/b#0", "a/c#e3", "a/c#4"].into_iter());
        assert_eq!([&names["a/b#0"], &names["a/c#e3"], &names["a/c#4"]], ["a/b", "a/c#e3", "a/c#4"]);
    }
}
