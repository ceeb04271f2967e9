//! Keys and numbers of a file against the schema: every unknown key and every number that is not finite, at once.
//! Serde would stop at the first.

use super::raw::File;
use serde_json::Value;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// The JSON schema of scene files.
pub(super) fn schema() -> Value {
    schemars::schema_for!(File).to_value()
}

/// What is wrong with the keys and numbers of a file.
pub(super) enum Slip {
    /// A key that is not known there, and the ones that are.
    UnknownKey(String, Vec<String>),
    /// `nan`, `inf`, or too large.
    NotFinite,
}

/// All slips of a file, with their places.
pub(super) fn slips(file: &DeTable<'_>) -> Vec<(Range<usize>, Slip)> {
    let schema = schema();
    let mut found = Vec::new();
    table(&schema, &[&schema], file, &mut found);
    found
}

fn table(root: &Value, schemas: &[&Value], table: &DeTable<'_>, found: &mut Vec<(Range<usize>, Slip)>) {
    let known: Vec<(&String, &Value)> = alternatives(root, schemas)
        .into_iter()
        .filter_map(|s| s.get("properties")?.as_object())
        .flatten()
        .collect();
    for (key, inner) in table.iter() {
        let name: &str = key.get_ref();
        let under: Vec<&Value> = known.iter().filter(|(k, _)| *k == name).map(|(_, s)| *s).collect();
        // where no table belongs, serde says so
        if under.is_empty() && !known.is_empty() {
            let names = known.iter().map(|(k, _)| (*k).clone()).collect();
            found.push((key.span(), Slip::UnknownKey(name.to_owned(), names)));
        }
        value(root, &under, inner.get_ref(), inner.span(), found);
    }
}

fn value(
    root: &Value,
    schemas: &[&Value],
    at: &DeValue<'_>,
    span: Range<usize>,
    found: &mut Vec<(Range<usize>, Slip)>,
) {
    match at {
        DeValue::Table(inner) => table(root, schemas, inner, found),
        DeValue::Array(list) => {
            let items: Vec<&Value> =
                alternatives(root, schemas).into_iter().filter_map(|s| s.get("items")).collect();
            for item in list.iter() {
                value(root, &items, item.get_ref(), item.span(), found);
            }
        }
        DeValue::Float(x) if !x.as_str().parse::<f64>().is_ok_and(f64::is_finite) => {
            found.push((span, Slip::NotFinite));
        }
        _ => {}
    }
}

/// The schemas with references followed and choices opened.
fn alternatives<'a>(root: &'a Value, schemas: &[&'a Value]) -> Vec<&'a Value> {
    let mut open: Vec<&Value> = schemas.to_vec();
    let mut flat = Vec::new();
    while let Some(schema) = open.pop() {
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
        open.extend(reference.and_then(|r| root.pointer(r)));
        for choice in ["anyOf", "oneOf", "allOf"] {
            open.extend(schema.get(choice).and_then(Value::as_array).into_iter().flatten());
        }
        flat.push(schema);
    }
    flat
}
