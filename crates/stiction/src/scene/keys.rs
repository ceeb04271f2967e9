//! Keys, choices, types and numbers of a file against the schema, all slips at once; serde would stop at the first.

use super::raw::File;
use serde_json::Value;
use std::ops::Range;
use std::sync::LazyLock;
use toml::de::{DeTable, DeValue};

/// The JSON schema of scene files.
pub(super) fn schema() -> Value {
    schemars::schema_for!(File).to_value()
}

/// What is wrong with a key or a value.
pub(super) enum Slip {
    /// A name of a kind (key, choice) that is not known there, and the ones that are.
    Unknown(&'static str, String, Vec<String>),
    /// In words.
    Wrong(String),
}

/// All slips of a file, with their places.
pub(super) fn slips(file: &DeTable<'_>) -> Vec<(Range<usize>, Slip)> {
    // takes as long as hundreds of steps of a small scene
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    let mut walk = Walk { root: &SCHEMA, found: Vec::new() };
    walk.table(&walk.alternatives(&[&SCHEMA]), file);
    walk.found
}

struct Walk<'a> {
    root: &'a Value,
    found: Vec<(Range<usize>, Slip)>,
}

impl<'a> Walk<'a> {
    fn table(&mut self, schemas: &[&'a Value], table: &DeTable<'_>) {
        let known = properties(schemas);
        let alone = choices(schemas);
        for (key, inner) in table.iter() {
            let name: &str = key.get_ref();
            let under: Vec<&Value> = known.iter().filter(|(k, _)| *k == name).map(|(_, s)| *s).collect();
            if under.is_empty() {
                let slip = if alone.contains(&name) {
                    Slip::Wrong(format!("'{name}' has no settings, expected \"{name}\" alone"))
                } else {
                    Slip::Unknown("key", name.to_owned(), names(schemas))
                };
                self.found.push((key.span(), slip));
            } else {
                self.value(&self.alternatives(&under), inner.get_ref(), inner.span());
            }
        }
    }

    fn value(&mut self, schemas: &[&'a Value], value: &DeValue<'_>, span: Range<usize>) {
        let (kind, words) = match value {
            DeValue::String(_) => ("string", "text"),
            DeValue::Integer(_) => ("integer", "a whole number"),
            DeValue::Float(_) => ("number", "a number"),
            DeValue::Boolean(_) => ("boolean", "true or false"),
            DeValue::Datetime(_) => ("date", "a date"),
            DeValue::Array(_) => ("array", "a list"),
            DeValue::Table(_) => ("object", "a table"),
        };
        let fits = |t: &str| t == kind || (t == "number" && kind == "integer");
        if !types(schemas).into_iter().any(fits) {
            self.found.push((span, Slip::Wrong(format!("{words}, expected {}", expected(schemas)))));
            return;
        }
        match value {
            DeValue::Table(inner) => self.table(schemas, inner),
            DeValue::Array(list) => {
                let items: Vec<&Value> = schemas.iter().filter_map(|s| s.get("items")).collect();
                let items = self.alternatives(&items);
                for item in list.iter() {
                    self.value(&items, item.get_ref(), item.span());
                }
            }
            DeValue::Float(x) if !x.as_str().parse::<f64>().is_ok_and(f64::is_finite) => {
                let message = "not a finite number, expected a finite one".to_owned();
                self.found.push((span, Slip::Wrong(message)));
            }
            DeValue::String(text) => {
                let (text, known): (&str, _) = (text, choices(schemas));
                if known.contains(&text) || (known.is_empty() && properties(schemas).is_empty()) {
                    return;
                }
                let slip = if properties(schemas).iter().any(|(k, _)| *k == text) {
                    Slip::Wrong(format!(
                        "'{text}' alone, expected it with its settings: {{ {text} = {{ ... }} }}"
                    ))
                } else {
                    Slip::Unknown("choice", text.to_owned(), names(schemas))
                };
                self.found.push((span, slip));
            }
            _ => {}
        }
    }

    /// The schemas with references followed and choices opened.
    fn alternatives(&self, schemas: &[&'a Value]) -> Vec<&'a Value> {
        let mut open: Vec<&Value> = schemas.iter().rev().copied().collect();
        let mut flat = Vec::new();
        while let Some(schema) = open.pop() {
            let reference = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
            open.extend(reference.and_then(|r| self.root.pointer(r)));
            for choice in ["anyOf", "oneOf", "allOf"] {
                open.extend(schema.get(choice).and_then(Value::as_array).into_iter().flatten().rev());
            }
            flat.push(schema);
        }
        flat
    }
}

fn properties<'a>(schemas: &[&'a Value]) -> Vec<(&'a String, &'a Value)> {
    schemas.iter().filter_map(|s| s.get("properties")?.as_object()).flatten().collect()
}

/// Words that stand alone.
fn choices<'a>(schemas: &[&'a Value]) -> Vec<&'a str> {
    let several = schemas.iter().filter_map(|s| s.get("enum")?.as_array()).flatten();
    schemas.iter().filter_map(|s| s.get("const")).chain(several).filter_map(Value::as_str).collect()
}

/// Words that stand alone, and keys.
fn names(schemas: &[&Value]) -> Vec<String> {
    let keys = properties(schemas).into_iter().map(|(k, _)| k.clone());
    choices(schemas).into_iter().map(str::to_owned).chain(keys).collect()
}

fn types<'a>(schemas: &[&'a Value]) -> Vec<&'a str> {
    let given = schemas.iter().filter_map(|s| s.get("type"));
    given
        .flat_map(|t| t.as_array().map_or(std::slice::from_ref(t), Vec::as_slice))
        .filter_map(Value::as_str)
        .collect()
}

fn expected(schemas: &[&Value]) -> String {
    if !choices(schemas).is_empty() {
        return format!("one of {}", names(schemas).join(", "));
    }
    let mut words: Vec<&str> = Vec::new();
    for kind in types(schemas) {
        let word = match kind {
            "number" => "a number",
            "integer" => "a whole number",
            "boolean" => "true or false",
            "string" => "text",
            "array" => "a list",
            "object" => "a table",
            _ => continue,
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words == ["a table"] && schemas.len() > 1 {
        let variants: Vec<String> =
            properties(schemas).iter().map(|(key, _)| format!("{{ {key} = ... }}")).collect();
        if schemas.iter().any(|s| s.get("oneOf").is_some()) {
            return variants.join(" or ");
        }
    }
    words.join(" or ")
}
