//! Paths to the values of a scene: `step.h`, `body[box].mass`, `load[0].force.points[2].value`. Items of the
//! lists of bodies, world parts and materials are given by name or by index, from 0; items of all other lists
//! by index.

use super::schema::{Schemas, faults};
use super::{Fault, Scene, nearest};
use serde::Deserialize;
use toml::{Table, Value};

/// Lists whose items have names.
pub(super) const NAMED: [&str; 3] = ["body", "world", "material"];

/// A segment of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    Key(&'a str),
    /// A name or a list index, in brackets.
    Item(&'a str),
}

/// The segments of a path; `None` if it is not a path.
pub(super) fn segments(path: &str) -> Option<Vec<Segment<'_>>> {
    let (mut found, mut rest) = (Vec::new(), path);
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            // a name may have brackets: it ends with one before a dot, a bracket or the end
            let ends = |i: &usize| matches!(inner.as_bytes().get(i + 1), None | Some(b'.' | b'['));
            let end = inner.match_indices(']').map(|(i, _)| i).find(ends)?;
            found.push(Segment::Item(&inner[..end]));
            rest = &inner[end + 1..];
        } else {
            let key = if found.is_empty() { rest } else { rest.strip_prefix('.')? };
            let end = key.find(['.', '[']).unwrap_or(key.len());
            if end == 0 {
                return None;
            }
            found.push(Segment::Key(&key[..end]));
            rest = &key[end..];
        }
    }
    Some(found)
}

/// The fault with an item's name instead of its index in the path, where the name is plain and unique.
pub(super) fn with_name(table: &Table, mut fault: Fault) -> Fault {
    let named = |path: &str| {
        let (list, rest) = path.split_once('[').filter(|(list, _)| NAMED.contains(list))?;
        let (place, rest) = rest.split_once(']')?;
        let name = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
        let items = table.get(list)?.as_array()?;
        let own = name(items.get(place.parse::<usize>().ok()?)?)?;
        let plain = !own.is_empty() && !own.contains(['[', ']']) && own.parse::<usize>().is_err();
        let alone = items.iter().filter(|item| name(item).as_ref() == Some(&own)).count() == 1;
        (plain && alone).then(|| format!("{list}[{own}]{rest}"))
    };
    fault.path = named(&fault.path).unwrap_or(fault.path);
    fault
}

/// Whether a path is equal to another one or continues it.
pub(super) fn within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

impl Scene {
    /// The value at a path. A fault if there is no such path, or the key is absent.
    pub fn get(&self, path: &str) -> Result<Value, Fault> {
        let mut table = Value::Table(self.table().map_err(|e| Fault::new(String::new(), e))?);
        let (value, _) = find(&mut table, path, false)?;
        Ok(value.clone())
    }

    /// Sets the value at a path. `value` is in TOML's syntax; a bare word that is not a TOML value is text.
    /// The key may be absent so far, as may the tables on the way to it; list items must exist. Keys, choices
    /// and types are checked at once, numbers and names by [`Scene::resolve`].
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Vec<Fault>> {
        let mut table = self.table().map_err(|e| vec![Fault::new(String::new(), e)])?;
        let at = set(&mut table, path, value).map_err(|fault| vec![fault])?;
        let wrong = faults(&table).into_iter().map(|(fault, _)| fault);
        let wrong: Vec<Fault> = wrong.filter(|f| within(&f.path, &at) || within(&at, &f.path)).collect();
        if !wrong.is_empty() {
            return Err(self.named(wrong));
        }
        *self = Self::deserialize(table)
            .map_err(|e| vec![Fault::new(path.to_owned(), e.message().to_owned())])?;
        Ok(())
    }

    /// The faults with item names in their paths.
    pub fn named(&self, faults: Vec<Fault>) -> Vec<Fault> {
        let table = self.table().unwrap_or_default();
        faults.into_iter().map(|fault| with_name(&table, fault)).collect()
    }
}

/// Sets a value in a scene's table; returns its path by list indices.
pub(super) fn set(table: &mut Table, path: &str, value: &str) -> Result<String, Fault> {
    let value = parse(value).map_err(|message| Fault::new(path.to_owned(), message))?;
    let mut root = Value::Table(std::mem::take(table));
    let found = find(&mut root, path, true).map(|(place, at)| {
        *place = value;
        at
    });
    if let Value::Table(inner) = root {
        *table = inner;
    }
    found
}

/// Parses a value in TOML's syntax, or a bare word.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    match toml::from_str::<Table>(&format!("value = {text}")) {
        Ok(mut table) if table.len() == 1 => Ok(table.remove("value").unwrap_or(Value::Boolean(false))),
        Ok(_) => Err("several values, expected one".to_owned()),
        Err(_) if text.chars().all(|c| c.is_alphanumeric() || "_-".contains(c)) && !text.is_empty() => {
            Ok(Value::String(text.to_owned()))
        }
        Err(e) => Err(format!("no value of TOML: {}", e.message())),
    }
}

/// The value at a path, and the path by list indices. With `make`, absent keys of the schema are created.
fn find<'a>(root: &'a mut Value, path: &str, make: bool) -> Result<(&'a mut Value, String), Fault> {
    let unknown = |near: Option<String>| {
        let suggestion = near.filter(|near| near != path);
        Fault { suggestion, ..Fault::new(String::new(), format!("unknown path '{path}'")) }
    };
    let segments = segments(path).filter(|s| !s.is_empty()).ok_or_else(|| unknown(None))?;
    // the path with another word in place of the unknown one
    let instead = |word: &str, by: &str| {
        let start = word.as_ptr() as usize - path.as_ptr() as usize;
        format!("{}{by}{}", &path[..start], &path[start + word.len()..])
    };
    let (mut here, mut schemas, mut at) = (root, Schemas::root(), String::new());
    let mut list = "";
    for segment in segments {
        match segment {
            Segment::Key(key) => {
                let known: Vec<&str> = schemas.properties().map(|(k, _)| k.as_str()).collect();
                let near = || unknown(nearest(key, &known).map(|near| instead(key, near)));
                let under = schemas.key(key).ok_or_else(near)?;
                if make {
                    room(here, key, schemas.is_choice());
                }
                schemas = under;
                at = if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
                let absent = || Fault::new(path.to_owned(), format!("'{key}' is not given"));
                here = here.get_mut(key).ok_or_else(absent)?;
                list = key;
            }
            Segment::Item(item) => {
                schemas = schemas.items().ok_or_else(|| unknown(None))?;
                let items = here.as_array_mut().ok_or_else(|| {
                    Fault::new(
                        path.to_owned(),
                        format!("no list with an item [{item}]: set '{at}' as a whole"),
                    )
                })?;
                let names: Vec<&str> =
                    items.iter().map(|i| i.get("name").and_then(Value::as_str).unwrap_or_default()).collect();
                let by_name = || names.iter().position(|n| *n == item).filter(|_| NAMED.contains(&list));
                let by_place = || item.parse().ok().filter(|i| *i < names.len());
                let Some(i) = by_name().or_else(by_place) else {
                    let near = nearest(item, &names).map(|near| instead(item, near));
                    let fault = unknown(near);
                    let count = names.len();
                    let message = match fault.suggestion {
                        Some(_) => fault.message,
                        None => format!("{}: '{at}' has {count} items", fault.message),
                    };
                    return Err(Fault { message, ..fault });
                };
                at = format!("{at}[{i}]");
                here = &mut items[i];
            }
        }
    }
    Ok((here, at))
}

/// Creates a key. Where only one of several may be chosen it replaces the others.
fn room(here: &mut Value, key: &str, choice: bool) {
    if !here.is_table() {
        *here = Value::Table(Table::new());
    }
    if let Value::Table(table) = here
        && !table.contains_key(key)
    {
        if choice {
            table.clear();
        }
        table.insert(key.to_owned(), Value::Table(Table::new()));
    }
}
