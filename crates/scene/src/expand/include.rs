//! Other files as parts of a scene: their lists, with a prefix before every name that they define.

use super::node::{Inner, Kind, Node, Trace, extend};
use super::{Expander, Scope, Source, variable_of};
use crate::path::NAMED;
use crate::schema::Schemas;
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use toml::de::DeTable;
use toml::{Table, Value};

/// Files within each other, at most.
const DEEPEST: usize = 16;
/// Largest file, bytes.
const LARGEST: u64 = 16 << 20;

impl Expander {
    /// Adds the files that a list of includes names.
    pub(super) fn includes(
        &mut self,
        source: usize,
        list: &Node,
        scope: &Scope,
        table: &mut Table,
        trace: &mut Trace,
    ) {
        let Kind::List(items) = &list.kind else {
            return self.wrong(source, &list.span, "include: expected [[include]] with file and prefix");
        };
        for item in items {
            match item.get("repeat") {
                None => self.include(source, item, scope, table, trace),
                Some(repeat) => {
                    self.copies(source, repeat, scope, &mut |own: &mut Self, scope: &Scope| {
                        own.include(source, item, scope, table, trace);
                    });
                }
            }
        }
    }

    fn include(&mut self, source: usize, item: &Node, scope: &Scope, table: &mut Table, trace: &mut Trace) {
        let Kind::Table(entries) = &item.kind else {
            return self.wrong(source, &item.span, "include: expected a table with file and prefix");
        };
        let (mut file, mut prefix, mut given) = (None, String::new(), vec![]);
        for (key, at, node) in entries {
            match (key.as_str(), &node.kind) {
                ("repeat", _) => {}
                ("file" | "prefix", _) => match self.value(source, key, node, scope).0 {
                    Value::String(text) if key == "file" => file = Some((text, node.span.clone())),
                    Value::String(text) => prefix = text,
                    // its fault is there already
                    Value::Boolean(false) => return,
                    _ => return self.wrong(source, &node.span, format!("{key}: expected text")),
                },
                ("let", Kind::Table(variables)) => {
                    for (name, at, node) in variables {
                        let value = self.value(source, name, node, scope).0;
                        match variable_of(&value) {
                            Some(value) => given.push((name.clone(), at.clone(), value)),
                            None if value == Value::Boolean(false) => return,
                            None => {
                                let message =
                                    format!("variable '{name}': expected a number, an expression or text");
                                return self.wrong(source, &node.span, message);
                            }
                        }
                    }
                }
                ("let", _) => return self.wrong(source, &node.span, "let: expected a table of variables"),
                (other, _) => {
                    let message = format!("unknown key '{other}', expected one of file, prefix, let, repeat");
                    return self.wrong(source, at, message);
                }
            }
        }
        let Some((file, at)) = file else {
            return self.wrong(source, &item.span, "include: missing key 'file'");
        };
        if let Err(message) = self.included(source, (&file, &at), &prefix, &given, table, trace) {
            self.wrong(source, &at, message);
        }
    }

    fn included(
        &mut self,
        source: usize,
        (file, _): (&str, &Range<usize>),
        prefix: &str,
        given: &[(String, Range<usize>, super::Variable)],
        table: &mut Table,
        trace: &mut Trace,
    ) -> Result<(), String> {
        let path = self.locate(source, file)?;
        let main = std::path::Path::new(self.sources[0].name.as_str()).canonicalize().ok();
        if self.stack.contains(&path) || main.as_ref() == Some(&path) {
            return Err(format!("'{file}' includes itself, directly or through other files"));
        }
        if self.stack.len() >= DEEPEST {
            return Err(format!("'{file}': more than {DEEPEST} files within each other"));
        }
        let number = match self.known.get(&path) {
            Some(number) => *number,
            None => self.open(source, file, &path)?,
        };
        let node = self.sources[number].node.clone();
        let planar = node.get("planar").is_some_and(|n| matches!(n.kind, Kind::Leaf(Value::Boolean(true))));
        if planar != self.planar {
            let words = |planar: bool| if planar { "planar" } else { "spatial" };
            let (this, that) = (words(planar), words(self.planar));
            return Err(format!("'{file}' is {this}, and the scene that includes it is {that}"));
        }
        let defined = |name: &String| node.get("let").and_then(|l| l.get(name)).is_some();
        for (name, at, _) in given.iter().filter(|(name, _, _)| !defined(name)) {
            self.wrong(source, at, format!("'{file}' has no variable '{name}'"));
        }
        self.stack.push(path);
        let scope = given.iter().map(|(name, _, value)| (name.clone(), value.clone())).collect();
        let (mut inner, inner_trace) = self.file(number, &scope);
        self.stack.pop();
        if !prefix.is_empty() {
            rename(&mut inner, prefix);
        }
        let Inner::Keys(mut traces) = inner_trace.inner else { return Ok(()) };
        // settings belong to the file when it is run alone
        for (key, list) in inner.into_iter().filter(|(_, value)| value.is_array() && !value_is_numbers(value))
        {
            extend(table, &key, list);
            if let Some(own) = traces.remove(&key) {
                trace.extend(&key, own);
            }
        }
        Ok(())
    }

    /// Reads a file; its number.
    fn open(&mut self, source: usize, file: &str, path: &std::path::Path) -> Result<usize, String> {
        let length = std::fs::metadata(path).map_err(|e| format!("'{file}': {e}"))?.len();
        if length > LARGEST {
            return Err(format!("'{file}' has {length} bytes, expected at most {LARGEST}"));
        }
        let text = std::fs::read_to_string(path).map_err(|e| format!("'{file}': {e}"))?;
        let name = self.sources[source].folder.join(file);
        let number = self.sources.len();
        let parsed = DeTable::parse(&text).map(|tree| Node::file(tree.get_ref()));
        let folder = name.parent().map_or_else(std::path::PathBuf::new, std::path::Path::to_owned);
        let (node, fault) = match parsed {
            Ok(node) => (node, None),
            Err(e) => {
                let message = e.message().split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
                let empty = Node { span: 0..0, kind: Kind::Table(vec![]) };
                (empty, Some((e.span().unwrap_or(0..0), message)))
            }
        };
        self.sources.push(Source {
            name: Arc::new(name.display().to_string()),
            text,
            node: Rc::new(node),
            folder,
        });
        self.known.insert(path.to_owned(), number);
        if let Some((span, message)) = fault {
            self.wrong(number, &span, message);
            return Err(String::new());
        }
        Ok(number)
    }
}

/// Whether a list is a vector: gravity, for instance.
fn value_is_numbers(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().any(|v| v.is_integer() || v.is_float()))
}

/// Puts a prefix before the names that a table defines, wherever they stand.
fn rename(table: &mut Table, prefix: &str) {
    let lists = NAMED.iter().filter_map(|list| table.get(*list)?.as_array()).flatten();
    let names = lists.filter_map(|item| item.get("name").and_then(Value::as_str).map(str::to_owned));
    let names: HashSet<String> = names.collect();
    for (key, value) in table.iter_mut() {
        if let Some(schemas) = Schemas::root().key(key) {
            rename_in(value, &schemas, &names, prefix);
        }
    }
}

fn rename_in(value: &mut Value, schemas: &Schemas, names: &HashSet<String>, prefix: &str) {
    match value {
        Value::String(text) if names.contains(text) && !schemas.choices().contains(&text.as_str()) => {
            text.insert_str(0, prefix);
        }
        Value::Table(table) => {
            for (key, inner) in table.iter_mut() {
                if let Some(under) = schemas.key(key) {
                    rename_in(inner, &under, names, prefix);
                }
            }
        }
        Value::Array(list) => {
            if let Some(items) = schemas.items() {
                list.iter_mut().for_each(|v| rename_in(v, &items, names, prefix));
            }
        }
        _ => {}
    }
}
