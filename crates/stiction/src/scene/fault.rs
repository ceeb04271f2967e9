//! Faults of a scene: what is wrong, where, and what was expected.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Why a scene could not be read. Prints one line per fault:
/// `scene.toml:12:8: unknown key 'raduis', did you mean 'radius'?`.
#[derive(Debug)]
pub enum SceneError {
    /// The file could not be read.
    Unreadable {
        /// Path of the file, as it was given.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The content of the file is not a valid scene.
    Invalid {
        /// Path of the file, as it was given.
        file: String,
        /// Faults, at least one, in the order of the file.
        faults: Vec<Fault>,
    },
}

/// One fault of a scene. Prints as `12:8: message`; without a position in a file as
/// `body[box].mass: message`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fault {
    /// Path of the value, as [`crate::scene::Scene::set`] takes it; empty if the fault is about the whole
    /// scene.
    pub path: String,
    /// What is wrong, and what was expected; one line.
    pub message: String,
    /// The nearest known name, if a name is unknown and one is near.
    pub suggestion: Option<String>,
    /// Position in the file, if the scene was read from one.
    pub place: Option<Place>,
    /// The file of the position, if it is not the scene's own but one that it includes.
    pub file: Option<Arc<String>>,
}

impl Fault {
    pub(crate) fn new(path: String, message: impl Into<String>) -> Self {
        Self { path, message: message.into(), ..Self::default() }
    }

    /// Fault of an unknown name, with the nearest known name, or the list of all if none is near.
    pub(super) fn unknown(path: String, kind: &str, name: &str, known: &[&str]) -> Self {
        let shown: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let suggestion = nearest(name, known).map(str::to_owned);
        let message = match known {
            _ if suggestion.is_some() => format!("unknown {kind} '{shown}'"),
            [] => format!("unknown {kind} '{shown}': there are none here"),
            [one] => format!("unknown {kind} '{shown}', expected '{one}'"),
            _ => format!("unknown {kind} '{shown}', expected one of {}", known.join(", ")),
        };
        Self { suggestion, ..Self::new(path, message) }
    }
}

/// A range in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Offset of its first byte.
    pub offset: usize,
    /// Number of its bytes.
    pub length: usize,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
}

impl Place {
    /// The range of bytes with its line and column.
    pub(super) fn new(text: &str, span: &Range<usize>) -> Self {
        let mut offset = span.start.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        Self {
            offset,
            length: span.end.clamp(offset, text.len()) - offset,
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{}:{}: ", place.line, place.column)?,
            None if self.path.is_empty() => {}
            None => write!(f, "{}: ", one_line(&self.path))?,
        }
        f.write_str(&one_line(&self.message))?;
        match &self.suggestion {
            Some(name) => write!(f, ", did you mean '{}'?", one_line(name)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, source } => write!(f, "{}: {source}", one_line(file)),
            Self::Invalid { file, faults } => {
                for (i, fault) in faults.iter().enumerate() {
                    let line_break = if i == 0 { "" } else { "\n" };
                    let file = fault.file.as_deref().unwrap_or(file);
                    let file = if fault.place.is_some() { one_line(file) + ":" } else { String::new() };
                    write!(f, "{line_break}{file}{fault}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for SceneError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            Self::Invalid { .. } => None,
        }
    }
}

/// A text as it may be shown: characters that a terminal would obey (escape sequences, changes of the direction of text) stand as escapes; line breaks and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        // as in JSON, so that JSON stays what it is
        match obeyed(c) {
            true => shown += &format!("\\u{:04x}", u32::from(c)),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The same in one line.
fn one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// The known name with the fewest edits to `name`, if these are at most a third of its length (at least 1).
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().take(100).collect();
    let allowed = (letters.len() / 3).max(1);
    let by_distance = known.iter().map(|k| (edits(&letters, &k.chars().collect::<Vec<_>>()), *k));
    by_distance.filter(|&(d, _)| d <= allowed).min_by_key(|&(d, _)| d).map(|(_, k)| k)
}

/// Edit distance with swaps of neighbouring letters (optimal string alignment), without regard to letter
/// case.
fn edits(a: &[char], b: &[char]) -> usize {
    let same = |x: char, y: char| x.eq_ignore_ascii_case(&y);
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(!same(a[i - 1], b[j - 1]));
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "a = 1\nb = \"\u{e9}\u{e9}\" x\n";
        let place = Place::new(text, &(text.find('x').unwrap()..text.len() - 1));
        assert_eq!((place.line, place.column, place.length), (2, 10, 1));
        assert_eq!(Place::new("", &(7..9)), Place { offset: 0, length: 0, line: 1, column: 1 });
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_an_escape() {
        assert_eq!(printable("a\tb\n\u{e9}"), "a\tb\n\u{e9}");
        assert_eq!(
            printable("\u{1b}[31m\u{9b}2J\u{7f}\r\u{202e}"),
            "\\u001b[31m\\u009b2J\\u007f\\u000d\\u202e"
        );
        let fault = Fault::new("let.x".to_owned(), "unknown '\u{1b}]0;x\u{7}'\nsecond");
        assert_eq!(fault.to_string(), "let.x: unknown '\\u001b]0;x\\u0007'\\nsecond");
    }

    #[test]
    fn the_nearest_name_allows_swaps_and_case_but_not_another_word() {
        let known = ["radius", "semi_axes", "half"];
        assert_eq!(nearest("raduis", &known), Some("radius"));
        assert_eq!(nearest("Radius", &known), Some("radius"));
        assert_eq!(nearest("semiaxes", &known), Some("semi_axes"));
        assert_eq!(nearest("mass", &known), None);
    }
}
