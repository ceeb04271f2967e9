//! Checks keys, choices, types and numbers of a scene's table against the schema: all faults at once, where
//! serde would stop at the first.

use super::{Fault, Scene, path::At};
use serde_json::Value as Json;
use std::sync::LazyLock;
use toml::{Table, Value};

/// The JSON schema of scene files, as indented text ending in a line break.
pub fn schema() -> String {
    format!("{:#}\n", *SCHEMA)
}

// takes as long as hundreds of steps of a small scene, and so is computed once
static SCHEMA: LazyLock<Json> = LazyLock::new(|| {
    let mut schema = schemars::schema_for!(Scene).to_value();
    strip(&mut schema);
    schema
});

/// Removes defaults without information: of keys that may be absent, and of required keys.
fn strip(schema: &mut Json) {
    let empty = |value: &Json| value.is_null() || *value == "" || *value == Json::Array(vec![]);
    match schema {
        Json::Object(map) => {
            map.retain(|key, value| key != "default" || !empty(value));
            let required: Vec<Json> =
                map.get("required").and_then(Json::as_array).cloned().unwrap_or_default();
            for name in required.iter().filter_map(Json::as_str) {
                let property = map.get_mut("properties").and_then(|p| p.get_mut(name)?.as_object_mut());
                property.map(|property| property.remove("default"));
            }
            map.values_mut().for_each(strip);
        }
        Json::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}

/// All faults of a table, and whether each is about the key rather than its value.
pub(super) fn faults(table: &Table) -> Vec<(Fault, bool)> {
    let mut walk = Walk { found: Vec::new() };
    walk.table(&Schemas::root(), table, At::ROOT);
    walk.found
}

/// Schemas of a value, with references followed and choices expanded.
pub(super) struct Schemas(Vec<&'static Json>);

impl Schemas {
    pub fn root() -> Self {
        Self::open(vec![&SCHEMA])
    }

    fn open(mut open: Vec<&'static Json>) -> Self {
        open.reverse();
        let mut flat = Vec::new();
        while let Some(schema) = open.pop() {
            let reference = schema.get("$ref").and_then(Json::as_str).and_then(|r| r.strip_prefix('#'));
            open.extend(reference.and_then(|r| SCHEMA.pointer(r)));
            for choice in ["anyOf", "oneOf", "allOf"] {
                open.extend(schema.get(choice).and_then(Json::as_array).into_iter().flatten().rev());
            }
            flat.push(schema);
        }
        Self(flat)
    }

    /// Schemas of the value of a key; `None` if there is no such key.
    pub fn key(&self, name: &str) -> Option<Self> {
        let under: Vec<&Json> = self.properties().filter(|(k, _)| *k == name).map(|(_, s)| s).collect();
        (!under.is_empty()).then(|| Self::open(under))
    }

    /// Schemas of the items of a list; `None` if it is not a list.
    pub fn items(&self) -> Option<Self> {
        let items: Vec<&Json> = self.0.iter().filter_map(|s| s.get("items")).collect();
        (!items.is_empty()).then(|| Self::open(items))
    }

    pub fn properties(&self) -> impl Iterator<Item = (&'static String, &'static Json)> {
        self.0.iter().filter_map(|s| s.get("properties")?.as_object()).flatten()
    }

    /// Whether a table has exactly one of several keys.
    pub fn is_choice(&self) -> bool {
        self.0.iter().any(|s| s.get("oneOf").is_some())
    }

    /// Allowed words.
    fn choices(&self) -> Vec<&'static str> {
        let several = self.0.iter().filter_map(|s| s.get("enum")?.as_array()).flatten();
        self.0.iter().filter_map(|s| s.get("const")).chain(several).filter_map(Json::as_str).collect()
    }

    /// Allowed words, and keys.
    fn names(&self) -> Vec<&'static str> {
        self.choices().into_iter().chain(self.properties().map(|(k, _)| k.as_str())).collect()
    }

    fn types(&self) -> Vec<&'static str> {
        let given = self.0.iter().filter_map(|s| s.get("type"));
        let listed = given.flat_map(|t| t.as_array().map_or(std::slice::from_ref(t), Vec::as_slice));
        listed.filter_map(Json::as_str).collect()
    }

    /// A bound on a number or on the length of a list.
    fn bound(&self, name: &str) -> Option<i64> {
        self.0.iter().find_map(|s| s.get(name)?.as_i64())
    }

    fn required(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter_map(|s| s.get("required")?.as_array()).flatten().filter_map(Json::as_str)
    }

    /// Description of the allowed values, for messages.
    fn expected(&self) -> String {
        if !self.choices().is_empty() {
            return format!("one of {}", self.names().join(", "));
        }
        let mut words: Vec<&str> = Vec::new();
        for kind in self.types() {
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
        if words == ["a table"] && self.is_choice() {
            let variants: Vec<String> =
                self.properties().map(|(key, _)| format!("{{ {key} = ... }}")).collect();
            return variants.join(" or ");
        }
        words.join(" or ")
    }
}

struct Walk {
    found: Vec<(Fault, bool)>,
}

impl Walk {
    fn wrong(&mut self, at: At<'_>, message: impl Into<String>) {
        self.found.push((Fault::new(at.to_string(), message), false));
    }

    fn table(&mut self, schemas: &Schemas, table: &Table, at: At<'_>) {
        for (name, inner) in table {
            let here = at.key(name);
            match schemas.key(name) {
                Some(under) => self.value(&under, inner, here),
                None if schemas.choices().contains(&name.as_str()) => {
                    let message = format!("'{name}' has no settings, expected \"{name}\" alone");
                    self.found.push((Fault::new(here.to_string(), message), true));
                }
                None => {
                    let fault = Fault::unknown(here.to_string(), "key", name, &schemas.names());
                    self.found.push((fault, true));
                }
            }
        }
        if schemas.is_choice() {
            match table.len() {
                0 => self.wrong(at, "nothing chosen, expected one choice"),
                1 => {}
                _ => self.wrong(at, "several choices, expected one"),
            }
        } else {
            // unless the key may only be misspelt
            let known = table.keys().all(|name| schemas.key(name).is_some());
            for name in schemas.required().filter(|name| known && !table.contains_key(*name)) {
                self.wrong(at, format!("missing key '{name}'"));
            }
        }
    }

    fn value(&mut self, schemas: &Schemas, value: &Value, at: At<'_>) {
        let (kind, words) = match value {
            Value::String(_) => ("string", "text"),
            Value::Integer(_) => ("integer", "a whole number"),
            Value::Float(_) => ("number", "a number"),
            Value::Boolean(_) => ("boolean", "true or false"),
            Value::Datetime(_) => ("date", "a date"),
            Value::Array(_) => ("array", "a list"),
            Value::Table(_) => ("object", "a table"),
        };
        let fits = |t: &str| t == kind || (t == "number" && kind == "integer");
        if !schemas.types().into_iter().any(fits) {
            return self.wrong(at, format!("{words}, expected {}", schemas.expected()));
        }
        match value {
            Value::Table(inner) => self.table(schemas, inner, at),
            Value::Array(list) => self.list(schemas, list, at),
            Value::Float(x) if !x.is_finite() => self.wrong(at, "not a finite number, expected a finite one"),
            Value::Integer(n) if schemas.bound("minimum").is_some_and(|least| *n < least) => {
                self.wrong(at, format!("invalid value: integer '{n}', expected a whole number, 0 or more"));
            }
            Value::String(text) => {
                let known = schemas.choices();
                if known.contains(&text.as_str())
                    || (known.is_empty() && schemas.properties().next().is_none())
                {
                    return;
                }
                if schemas.key(text).is_some() {
                    let settings = format!("{{ {text} = {{ ... }} }}");
                    self.wrong(at, format!("'{text}' alone, expected it with its settings: {settings}"));
                } else {
                    let fault = Fault::unknown(at.to_string(), "choice", text, &schemas.names());
                    self.found.push((fault, false));
                }
            }
            _ => {}
        }
    }

    fn list(&mut self, schemas: &Schemas, list: &[Value], at: At<'_>) {
        let Some(items) = schemas.items() else { return };
        for (i, item) in list.iter().enumerate() {
            self.value(&items, item, at.index(i));
        }
        let (least, most) = (schemas.bound("minItems"), schemas.bound("maxItems"));
        let count = list.len() as i64;
        if let Some(expected) = most.filter(|most| count > *most).or(least.filter(|least| count < *least)) {
            self.wrong(at, format!("{} has {count} numbers, expected a list of {expected}", at.name()));
        }
    }
}
