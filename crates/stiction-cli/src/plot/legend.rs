//! Who is who in a figure of one or several recordings.

use super::chart::Style;
use super::data::Source;

/// Looks of the lines of all recordings, named by whom they are about.
pub struct Legend<'a> {
    sources: &'a [Source],
    pub names: Vec<String>,
}

impl<'a> Legend<'a> {
    pub fn new(sources: &'a [Source], names: impl IntoIterator<Item = String>) -> Self {
        let mut list: Vec<String> = vec![];
        for name in names {
            if !list.contains(&name) {
                list.push(name);
            }
        }
        Self { sources, names: list }
    }

    /// One recording: a colour for each name. One name: a colour for each recording, and dashes, for the lines may lie
    /// on each other. Else names by colour and recordings by dashes.
    pub fn style(&self, source: usize, name: &str) -> Style {
        let k = self.names.iter().position(|n| n == name).unwrap_or_default();
        let label = &self.sources[source].label;
        match (self.sources.len(), self.names.len()) {
            (1, _) => Style::number(name, k),
            (_, 1) => Style { label: label.clone(), colour: source, dash: source },
            _ => Style { label: format!("{name}, {label}"), colour: k, dash: source },
        }
    }
}

/// What is shown, and of what if that is one recording.
pub fn title(sources: &[Source], what: &str) -> String {
    match sources {
        [one] => format!("{}: {what}", one.label),
        _ => what.to_owned(),
    }
}
