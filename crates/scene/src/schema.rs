//! Checks keys, choices, types and numbers of a scene's table against the schema: all faults at once, where
//! serde would stop at the first.

use super::{Fault, Scene, at::At};
use serde_json::{Value as Json, json};
use std::sync::LazyLock;
use toml::{Table, Value};

/// The JSON schema of scene files, as indented text ending in a line break. It includes what is written out before a scene is checked:
/// variables, expressions, copies, other files and meshes.
pub fn schema() -> String {
    format!("{:#}\n", abbreviated(SCHEMA.clone()))
}

/// Adds the abbreviations of `scene/expand` to the schema of what they stand for.
fn abbreviated(mut schema: Json) -> Json {
    allow_expressions(&mut schema);
    let value = |text: &str| json!({ "description": text, "type": ["number", "string"] });
    let repeat = json!({
        "description": "Copies: variables with their numbers of values (from 0) or lists of values, as in { i = 10, j = 5 }. Each copy is made with \
                        these variables in expressions (\"= i * gap\") and names (\"box{i}\").",
        "type": "object",
        "additionalProperties": { "type": ["integer", "string", "array"] },
    });
    let lists: Vec<String> = {
        let root = schema.get("properties").and_then(Json::as_object);
        let own = root.into_iter().flat_map(|p| p.values());
        let definitions = schema.get("$defs").and_then(Json::as_object);
        let inner = definitions.into_iter().flat_map(|d| d.values());
        let inner = inner.filter_map(|d| d.get("properties")?.as_object()).flat_map(|p| p.values());
        let items = own.chain(inner).filter_map(|p| p.get("items")?.get("$ref")?.as_str());
        items.map(str::to_owned).collect()
    };
    for reference in lists {
        let item = reference.strip_prefix('#').and_then(|r| schema.pointer_mut(r));
        if let Some(properties) = item.and_then(|d| d.get_mut("properties")?.as_object_mut()) {
            properties.insert("repeat".to_owned(), repeat.clone());
        }
    }
    if let Some(choices) = schema.pointer_mut("/$defs/Shape/oneOf").and_then(Json::as_array_mut) {
        choices.push(json!({
            "description": "Convex hull of a mesh in an STL or OBJ file.",
            "type": "object",
            "properties": { "mesh": {
                "type": "object",
                "properties": {
                    "file": { "description": "Path from the folder of this file; within the folder of the scene.", "type": "string" },
                    "scale": { "description": "Metres for one unit of the file; 1 by default.", "type": ["number", "string"] },
                    "hull": { "description": "Whether an open mesh stands for its hull; false by default: it is a fault.", "type": "boolean" },
                },
                "required": ["file"],
                "additionalProperties": false,
            } },
            "required": ["mesh"],
            "additionalProperties": false,
        }));
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        properties.insert("let".to_owned(), json!({
            "description": "Variables, for expressions (\"= 2 * gap\") and names (\"box{i}\"): numbers, expressions or texts.",
            "type": "object",
            "additionalProperties": value("Value of the variable."),
        }));
        properties.insert("include".to_owned(), json!({
            "description": "Other files whose lists become part of the scene.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "file": { "description": "Path from the folder of this file; within the folder of the scene.", "type": "string" },
                    "prefix": { "description": "Put before every name that the file defines.", "type": "string" },
                    "let": { "description": "Other values of the file's variables.", "type": "object", "additionalProperties": value("Value of the variable.") },
                    "repeat": repeat,
                },
                "required": ["file"],
                "additionalProperties": false,
            },
        }));
    }
    schema
}

/// Where a number is expected, an expression may stand.
fn allow_expressions(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            let numeric = |t: &Json| t == "number" || t == "integer";
            let is_type = map
                .get("type")
                .is_some_and(|t| numeric(t) || t.as_array().is_some_and(|l| l.iter().any(numeric)));
            if is_type && let Some(types) = map.get_mut("type") {
                let mut list = types.as_array().cloned().unwrap_or_else(|| vec![types.clone()]);
                list.push(json!("string"));
                *types = Json::Array(list);
                map.insert("pattern".to_owned(), json!("^="));
            }
            map.values_mut().for_each(allow_expressions);
        }
        Json::Array(list) => list.iter_mut().for_each(allow_expressions),
        _ => {}
    }
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
    pub fn choices(&self) -> Vec<&'static str> {
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
                    let mut known = schemas.names();
                    if at.to_string().is_empty() {
                        // written out before the scene is read
                        known.extend(["include", "let"]);
                        known.sort_unstable();
                    }
                    let fault = Fault::unknown(here.to_string(), "key", name, &known);
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
