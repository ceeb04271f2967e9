//! Scenes in files: conversion from and to TOML and JSON, and the position of a path in a file.

use super::expand::{Node, expand};
use super::path::{self, NAMED, Segment, segments, with_name, within};
use super::resolved::Resolved;
use super::schema::faults;
use super::{Fault, Place, Scene, SceneError};
use serde::Deserialize;
use std::path::Path;
use toml::de::DeTable;
use toml::{Table, Value};

/// What is wrong with a scene whose description alone is right, with paths by list index.
pub(crate) type Further = fn(&Scene, &Resolved) -> Vec<Fault>;

impl Scene {
    /// [`Scene::from_json`], with what else there is to check.
    pub(crate) fn from_json_with(mut value: serde_json::Value, further: Further) -> Result<Self, Vec<Fault>> {
        without_nulls(&mut value);
        let table = Table::try_from(value).map_err(|e| vec![Fault::new(String::new(), e.to_string())])?;
        let expanded = expand("", "", Node::plain(&Value::Table(table)), &[]).map_err(|mut faults| {
            faults.iter_mut().for_each(|f| f.place = None);
            faults
        })?;
        let table = expanded.table;
        let unplaced =
            |faults: Vec<(Fault, bool)>| faults.into_iter().map(|(fault, _)| with_name(&table, fault));
        let read = from_table(&table, "", further).map_err(|faults| unplaced(faults).collect());
        read.map(|scene| Scene { warnings: expanded.warnings, ..scene })
    }

    /// The scene as a file: every key that has a value, including defaults.
    pub fn to_toml(&self) -> String {
        // the check rejects what cannot be written
        toml::to_string(self).unwrap_or_default()
    }

    /// The scene as a JSON object, with the keys of a file.
    pub fn to_json(&self) -> serde_json::Value {
        self.table().ok().and_then(|table| serde_json::to_value(table).ok()).unwrap_or_default()
    }

    pub(super) fn table(&self) -> Result<Table, String> {
        Table::try_from(self).map_err(|e| e.to_string())
    }
}

/// Reads and checks the text of a file with this name; values are set by their paths.
pub(crate) fn from_text(
    name: &str,
    text: &str,
    set: &[(String, String)],
    further: Further,
) -> Result<Scene, SceneError> {
    let invalid = |mut faults: Vec<Fault>| {
        faults.sort_by(|a, b| (&a.file, a.place).cmp(&(&b.file, b.place)));
        faults.dedup();
        SceneError::Invalid { file: name.to_owned(), faults }
    };
    let tree = DeTable::parse(text).map_err(|e| {
        let place = Some(Place::new(text, &e.span().unwrap_or(0..0)));
        let message = e.message().split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
        invalid(vec![Fault { place, ..Fault::new(String::new(), message) }])
    })?;
    // variables are set before they are used, all else after copies are made
    let (variables, set): (Vec<_>, Vec<_>) = set.iter().partition(|(path, _)| path.starts_with("let."));
    let variables = variables.into_iter().map(|(path, value)| {
        path::parse(value).map(|v| (path[4..].to_owned(), v)).map_err(|e| Fault::new(path.clone(), e))
    });
    let variables = variables.collect::<Result<Vec<_>, Fault>>().map_err(|fault| invalid(vec![fault]))?;
    let expanded = expand(name, text, Node::file(tree.get_ref()), &variables).map_err(invalid)?;
    let mut table = expanded.table.clone();
    let (mut changed, mut refused) = (Vec::new(), Vec::new());
    for (path, value) in set {
        match path::set(&mut table, path, value) {
            Ok(place) => changed.push(place),
            Err(fault) => refused.push(fault),
        }
    }
    if !refused.is_empty() {
        return Err(invalid(refused));
    }
    let stem = Path::new(name).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let read = from_table(&table, &stem, further).map_err(|faults| {
        let placed = faults.into_iter().map(|(fault, of_key)| {
            // values that were set have no position in the file
            let given = !changed.iter().any(|path| within(&fault.path, path));
            let (place, file) = if given { expanded.place(&fault.path, of_key) } else { (None, None) };
            Fault { place, file, ..with_name(&table, fault) }
        });
        invalid(placed.collect())
    });
    read.map(|scene| Scene { warnings: expanded.warnings, ..scene })
}

/// Reads and checks the scene of a table. On failure returns all faults, with paths by list index, and
/// whether each is about a key rather than a value. Where keys or types are wrong the rest of the scene is
/// checked without them, as far as it does not depend on them.
fn from_table(table: &Table, stem: &str, further: Further) -> Result<Scene, Vec<(Fault, bool)>> {
    let mut found = faults(table);
    let wrong: Vec<String> = found.iter().map(|(fault, _)| fault.path.clone()).collect();
    let rest = if wrong.is_empty() { Some(table.clone()) } else { without(table.clone(), &wrong) };
    let Some(rest) = rest else { return Err(found) };
    let mut scene = match Scene::deserialize(rest) {
        Ok(scene) => scene,
        Err(_) if !wrong.is_empty() => return Err(found),
        Err(e) => return Err(vec![(Fault::new(String::new(), e.message()), false)]),
    };
    if !scene.name.is_empty() && scene.name.trim().is_empty() {
        found.push((Fault::new("name".to_owned(), "the name of the scene is blank"), false));
    } else if scene.name.is_empty() {
        stem.clone_into(&mut scene.name);
    }
    let (resolved, mut faults) = scene.resolved();
    if found.is_empty() && faults.is_empty() {
        faults.extend(further(&scene, &resolved));
    }
    found.extend(faults.into_iter().filter(|f| !doubtful(table, &wrong, &f.path)).map(|f| (f, false)));
    if found.is_empty() { Ok(scene) } else { Err(found) }
}

/// The table without its faulty values, each removed by its nearest key in a list item or section, so that
/// defaults replace them; `None` if that would change the meaning of everything else.
fn without(mut table: Table, wrong: &[String]) -> Option<Table> {
    for path in wrong {
        match segments(path)?[..] {
            [Segment::Key(key @ ("name" | "gravity" | "friction_rule" | "contact_point")), ..]
            | [Segment::Key(key @ ("step" | "record"))] => drop(table.remove(key)),
            [Segment::Key(section @ ("step" | "record")), Segment::Key(key), ..] => {
                drop(table.get_mut(section)?.as_table_mut()?.remove(key));
            }
            [Segment::Key(list), Segment::Item(i), ref inner @ ..] => {
                let item = table.get_mut(list)?.get_mut(i.parse::<usize>().ok()?)?;
                match (inner.first(), item) {
                    (Some(Segment::Key(key)), Value::Table(item)) => drop(item.remove(*key)),
                    // a key is missing that has a default here
                    (_, Value::Table(_)) => {}
                    (_, item) => *item = Value::Table(Table::new()),
                }
            }
            _ => return None,
        }
    }
    Some(table)
}

/// Whether a fault at a path may only follow from others: in the same list item or section, or in an item
/// that this one names.
fn doubtful(table: &Table, wrong: &[String], path: &str) -> bool {
    let here = head(path);
    let item = |head: &str| {
        let (list, place) = head.strip_suffix(']')?.split_once('[')?;
        Some((list.to_owned(), table.get(list)?.get(place.parse::<usize>().ok()?)?))
    };
    wrong.iter().map(|path| head(path)).any(|there| {
        let name = item(there).filter(|(list, _)| NAMED.contains(&list.as_str()));
        let name = name.map(|(_, item)| item.get("name").and_then(Value::as_str));
        // an item without a name may be meant anywhere
        let named = |name: Option<&str>| item(here).is_some_and(|(_, i)| name.is_none_or(|n| mentions(i, n)));
        there == here || (there == "step" && here == "record") || name.is_some_and(named)
    })
}

/// The part of a path that leads to a list item or a section.
fn head(path: &str) -> &str {
    let end = path.find(['.', ']']).unwrap_or(path.len());
    &path[..end + usize::from(path[end..].starts_with(']'))]
}

/// Whether a text within a value is equal to a name.
fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(list) => list.iter().any(|v| mentions(v, name)),
        Value::Table(table) => table.values().any(|v| mentions(v, name)),
        _ => false,
    }
}

pub(super) fn without_nulls(value: &mut serde_json::Value) {
    if let serde_json::Value::Object(map) = value {
        map.retain(|_, v| !v.is_null());
        map.values_mut().for_each(without_nulls);
    } else if let serde_json::Value::Array(list) = value {
        list.iter_mut().for_each(without_nulls);
    }
}
