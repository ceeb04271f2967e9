//! A scene file as it is written, with positions, and where each value of the expanded scene comes from.

use crate::path::{Segment, segments};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// A value of a file, with the position of each of its parts.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub span: Range<usize>,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Key, its position, value.
    Table(Vec<(String, Range<usize>, Node)>),
    List(Vec<Node>),
    Leaf(Value),
}

impl Node {
    /// A file's table.
    pub fn file(table: &DeTable<'_>) -> Self {
        Self { span: 0..0, kind: keys(table) }
    }

    /// Values without positions.
    pub fn plain(value: &Value) -> Self {
        let kind = match value {
            Value::Table(table) => {
                Kind::Table(table.iter().map(|(k, v)| (k.clone(), 0..0, Self::plain(v))).collect())
            }
            Value::Array(list) => Kind::List(list.iter().map(Self::plain).collect()),
            leaf => Kind::Leaf(leaf.clone()),
        };
        Self { span: 0..0, kind }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Kind::Table(entries) = &self.kind else { return None };
        entries.iter().find(|(k, _, _)| k == key).map(|(_, _, node)| node)
    }
}

fn keys(table: &DeTable<'_>) -> Kind {
    let entry = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
        (key.get_ref().to_string(), key.span(), node(value))
    };
    Kind::Table(table.iter().map(entry).collect())
}

/// Numbers too large for a double become infinite.
fn node(value: &toml::Spanned<DeValue<'_>>) -> Node {
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Leaf(Value::String(text.to_string())),
        DeValue::Integer(n) => Kind::Leaf(
            i64::from_str_radix(n.as_str(), n.radix())
                .map_or_else(|_| Value::Float(n.as_str().parse().unwrap_or(f64::INFINITY)), Value::Integer),
        ),
        DeValue::Float(x) => Kind::Leaf(Value::Float(x.as_str().parse().unwrap_or(f64::INFINITY))),
        DeValue::Boolean(x) => Kind::Leaf(Value::Boolean(*x)),
        DeValue::Datetime(x) => Kind::Leaf(Value::Datetime(*x)),
        DeValue::Array(list) => Kind::List(list.iter().map(node).collect()),
        DeValue::Table(table) => keys(table),
    };
    Node { span: value.span(), kind }
}

/// Where a value of the expanded scene comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    /// Number of the file.
    pub source: usize,
    pub key: Range<usize>,
    pub span: Range<usize>,
    pub inner: Inner,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum Inner {
    #[default]
    Leaf,
    Keys(BTreeMap<String, Trace>),
    Items(Vec<Trace>),
}

impl Trace {
    /// File and position of a path: the value, or its key; if no file has it, of the nearest enclosing value.
    pub fn find(&self, path: &str, of_key: bool) -> (usize, Range<usize>) {
        let path = segments(path).unwrap_or_default();
        let (mut here, mut found) = (self, (self.source, self.span.clone()));
        for (i, segment) in path.iter().enumerate() {
            let next = match (segment, &here.inner) {
                (Segment::Key(name), Inner::Keys(keys)) => keys.get(*name),
                (Segment::Item(place), Inner::Items(items)) => {
                    place.parse::<usize>().ok().and_then(|k| items.get(k))
                }
                _ => None,
            };
            let Some(next) = next else { break };
            let last = of_key && i + 1 == path.len() && matches!(segment, Segment::Key(_));
            found = (next.source, if last { next.key.clone() } else { next.span.clone() });
            here = next;
        }
        found
    }

    /// Adds items to the list of a key.
    pub fn extend(&mut self, key: &str, more: Trace) {
        let Inner::Keys(keys) = &mut self.inner else { return };
        match (keys.get_mut(key).map(|t| &mut t.inner), more.inner) {
            (Some(Inner::Items(own)), Inner::Items(items)) => own.extend(items),
            (_, inner) => drop(keys.insert(key.to_owned(), Trace { inner, ..more })),
        }
    }
}

/// Adds the items of a list of another table.
pub(super) fn extend(table: &mut Table, key: &str, more: Value) {
    match (table.get_mut(key), more) {
        (Some(Value::Array(own)), Value::Array(items)) => own.extend(items),
        (_, more) => drop(table.insert(key.to_owned(), more)),
    }
}
