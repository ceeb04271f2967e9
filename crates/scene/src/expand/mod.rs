//! What a scene file abbreviates, written out before the scene is checked: variables and arithmetic (`let`, `"= ..."`), copies of
//! list items (`repeat`), other files (`include`), meshes. `docs/scenes.md` describes them. Every value of the result knows
//! the file and the position it comes from.

mod arithmetic;
mod include;
mod mesh;
mod node;

pub(super) use node::{Node, Trace};

use super::{Fault, Place, nearest};
use arithmetic::evaluate;
use node::{Inner, Kind};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use toml::{Table, Value};

/// Most copies of one `repeat`, and most values of an expanded scene.
const MOST_COPIES: usize = 20_000;
const MOST_VALUES: usize = 1_000_000;

/// A file that takes part.
#[derive(Debug)]
pub(super) struct Source {
    /// Name in faults.
    pub name: Arc<String>,
    pub text: String,
    node: Rc<Node>,
    /// Folder that its paths start from.
    folder: PathBuf,
}

/// A scene without abbreviations.
#[derive(Debug)]
pub(super) struct Expanded {
    pub table: Table,
    pub trace: Trace,
    pub sources: Vec<Source>,
    pub warnings: Vec<String>,
}

impl Expanded {
    /// Position of a path, and the file if it is not the scene's own.
    pub fn place(&self, path: &str, of_key: bool) -> (Option<Place>, Option<Arc<String>>) {
        let (source, span) = self.trace.find(path, of_key);
        let own = &self.sources[source];
        (Some(Place::new(&own.text, &span)), (source > 0).then(|| own.name.clone()))
    }
}

/// A variable.
#[derive(Debug, Clone, PartialEq)]
enum Variable {
    Number(f64),
    Text(String),
    /// Its own fault is reported where it is defined.
    Wrong,
}

type Scope = BTreeMap<String, Variable>;

/// Expands a file. `set` gives variables other values.
pub(super) fn expand(
    name: &str,
    text: &str,
    node: Node,
    set: &[(String, Value)],
) -> Result<Expanded, Vec<Fault>> {
    let folder = Path::new(name).parent().map_or_else(PathBuf::new, Path::to_owned);
    let source = Source {
        name: Arc::new(name.to_owned()),
        text: text.to_owned(),
        node: Rc::new(node),
        folder: folder.clone(),
    };
    let planar =
        source.node.get("planar").is_some_and(|n| matches!(n.kind, Kind::Leaf(Value::Boolean(true))));
    let mut expander = Expander {
        root: folder,
        sources: vec![source],
        known: HashMap::new(),
        stack: vec![],
        faults: vec![],
        warnings: vec![],
        values: 0,
        planar,
    };
    let mut given = Scope::new();
    for (variable, value) in set {
        let defined = expander.sources[0].node.get("let").and_then(|l| l.get(variable)).is_some();
        match variable_of(value) {
            _ if !defined => {
                let names = expander.sources[0].node.get("let").map_or(vec![], |l| match &l.kind {
                    Kind::Table(entries) => entries.iter().map(|(k, _, _)| k.clone()).collect(),
                    _ => vec![],
                });
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let near = nearest(variable, &names).map(|n| format!("let.{n}"));
                let message = format!("unknown path 'let.{variable}'");
                expander.faults.push(Fault { suggestion: near, ..Fault::new(String::new(), message) });
            }
            Some(value) => drop(given.insert(variable.clone(), value)),
            None => {
                let message = "expected a number or text".to_owned();
                expander.faults.push(Fault::new(format!("let.{variable}"), message));
            }
        }
    }
    let (table, trace) = expander.file(0, &given);
    let Expander { sources, warnings, faults, .. } = expander;
    match faults.is_empty() {
        true => Ok(Expanded { table, trace, sources, warnings }),
        false => Err(faults),
    }
}

fn variable_of(value: &Value) -> Option<Variable> {
    match value {
        Value::Integer(n) => Some(Variable::Number(*n as f64)),
        Value::Float(x) => Some(Variable::Number(*x)),
        Value::String(text) => Some(Variable::Text(text.clone())),
        _ => None,
    }
}

struct Expander {
    /// Folder of the scene: files outside it are refused.
    root: PathBuf,
    sources: Vec<Source>,
    /// Files that were read, by their full paths.
    known: HashMap<PathBuf, usize>,
    /// Files that are being included, by their full paths.
    stack: Vec<PathBuf>,
    faults: Vec<Fault>,
    warnings: Vec<String>,
    values: usize,
    planar: bool,
}

impl Expander {
    fn wrong(&mut self, source: usize, span: &Range<usize>, message: impl Into<String>) {
        let message = message.into();
        // a fault that follows from another one says nothing
        if !message.is_empty() {
            let own = &self.sources[source];
            let place = Some(Place::new(&own.text, span));
            let file = (source > 0).then(|| own.name.clone());
            let fault = Fault { place, file, ..Fault::new(String::new(), message) };
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
    }

    /// The table of a file, with the given values of its variables.
    fn file(&mut self, source: usize, given: &Scope) -> (Table, Trace) {
        let node = self.sources[source].node.clone();
        let (mut table, mut keys) = (Table::new(), BTreeMap::new());
        let scope = self.variables(source, node.get("let"), given);
        let Kind::Table(entries) = &node.kind else { return (table, Trace::default()) };
        for (key, at, value) in entries.iter().filter(|(k, _, _)| k != "let" && k != "include") {
            let (value, mut trace) = self.value(source, key, value, &scope);
            trace.key = at.clone();
            table.insert(key.clone(), value);
            keys.insert(key.clone(), trace);
        }
        let mut trace = Trace { source, inner: Inner::Keys(keys), ..Trace::default() };
        if let Some(list) = node.get("include") {
            self.includes(source, list, &scope, &mut table, &mut trace);
        }
        (table, trace)
    }

    /// Values of a file's variables.
    fn variables(&mut self, source: usize, node: Option<&Node>, given: &Scope) -> Scope {
        let mut scope = given.clone();
        let Some(node) = node else { return scope };
        let Kind::Table(entries) = &node.kind else {
            self.wrong(source, &node.span, "let: expected a table of variables");
            return scope;
        };
        let mut wrong = vec![];
        for (name, _, _) in entries {
            resolve(entries, name, &mut scope, &mut vec![], &mut wrong);
        }
        for (span, message) in wrong {
            self.wrong(source, &span, message);
        }
        scope
    }

    fn value(&mut self, source: usize, key: &str, node: &Node, scope: &Scope) -> (Value, Trace) {
        self.values += 1;
        let mut trace = Trace { source, span: node.span.clone(), ..Trace::default() };
        if self.values > MOST_VALUES {
            if self.values == MOST_VALUES + 1 {
                let message =
                    format!("the scene has more than {MOST_VALUES} values after its copies are made");
                self.wrong(source, &node.span, message);
            }
            return (Value::Boolean(false), trace);
        }
        let value = match &node.kind {
            Kind::Leaf(Value::String(text)) => match expanded_text(text, scope) {
                Ok(value) => value,
                Err(message) => {
                    self.wrong(source, &node.span, message);
                    Value::Boolean(false)
                }
            },
            Kind::Leaf(value) => value.clone(),
            Kind::Table(_) if key == "shape" && node.get("mesh").is_some() => self.mesh(source, node, scope),
            Kind::Table(entries) => {
                let (mut table, mut keys) = (Table::new(), BTreeMap::new());
                for (name, at, inner) in entries {
                    let (value, mut own) = self.value(source, name, inner, scope);
                    own.key = at.clone();
                    table.insert(name.clone(), value);
                    keys.insert(name.clone(), own);
                }
                trace.inner = Inner::Keys(keys);
                Value::Table(table)
            }
            Kind::List(items) => {
                let (mut list, mut traces) = (vec![], vec![]);
                for item in items {
                    match item.get("repeat") {
                        None => {
                            let (value, own) = self.value(source, key, item, scope);
                            list.push(value);
                            traces.push(own);
                        }
                        Some(repeat) => {
                            let single = without(item, "repeat");
                            self.copies(source, repeat, scope, &mut |own: &mut Self, scope: &Scope| {
                                let (value, trace) = own.value(source, key, &single, scope);
                                list.push(value);
                                traces.push(trace);
                            });
                        }
                    }
                }
                trace.inner = Inner::Items(traces);
                Value::Array(list)
            }
        };
        (value, trace)
    }

    /// Calls `each` for every copy that a `repeat` asks for, with its variables in scope.
    fn copies(
        &mut self,
        source: usize,
        repeat: &Node,
        scope: &Scope,
        each: &mut dyn FnMut(&mut Self, &Scope),
    ) {
        let Kind::Table(entries) = &repeat.kind else {
            return self.wrong(
                source,
                &repeat.span,
                "repeat: expected a table such as { i = 10 } or { i = 10, j = 5 }",
            );
        };
        let mut axes: Vec<&(String, Range<usize>, Node)> = entries.iter().collect();
        // as they are written, whatever order the table keeps
        axes.sort_by_key(|(_, at, _)| at.start);
        let mut made = 0;
        self.loops(source, &axes, scope, &mut made, each);
    }

    fn loops(
        &mut self,
        source: usize,
        axes: &[&(String, Range<usize>, Node)],
        scope: &Scope,
        made: &mut usize,
        each: &mut dyn FnMut(&mut Self, &Scope),
    ) {
        let Some(((name, _, node), rest)) = axes.split_first() else {
            *made += 1;
            return each(self, scope);
        };
        let faults = self.faults.len();
        let values = match self.axis(name, source, node, scope) {
            Ok(values) => values,
            Err(message) => return self.wrong(source, &node.span, message),
        };
        for value in values {
            if *made >= MOST_COPIES {
                let message = format!("repeat makes more than {MOST_COPIES} copies");
                return self.wrong(source, &node.span, message);
            }
            // one fault of a copy stands for those of all others
            if self.faults.len() > faults || self.values > MOST_VALUES {
                return;
            }
            let mut inner = scope.clone();
            inner.insert(name.clone(), value);
            self.loops(source, rest, &inner, made, each);
        }
    }

    /// Values that a variable of a `repeat` takes.
    fn axis(
        &mut self,
        name: &str,
        source: usize,
        node: &Node,
        scope: &Scope,
    ) -> Result<Vec<Variable>, String> {
        if !is_name(name) {
            return Err(format!("repeat: '{name}' is no name of a variable"));
        }
        if let Kind::List(items) = &node.kind {
            let one = |item: &Node| variable_of(&self.value(source, name, item, scope).0);
            let values = items.iter().map(one).collect::<Option<Vec<_>>>();
            return values.ok_or_else(|| format!("repeat: expected numbers or texts for '{name}'"));
        }
        let count = match self.value(source, name, node, scope).0 {
            Value::Integer(n) => n as f64,
            Value::Float(x) => x,
            Value::Boolean(false) => return Err(String::new()),
            _ => {
                return Err(format!(
                    "repeat: expected a number of copies, or a list of values, for '{name}'"
                ));
            }
        };
        if !(count >= 0.0 && count.fract() == 0.0) {
            return Err(format!("repeat: {count} copies, expected a whole number, 0 or more"));
        }
        if count > MOST_COPIES as f64 {
            return Err(format!("repeat: {count} copies, expected at most {MOST_COPIES}"));
        }
        Ok((0..count as usize).map(|i| Variable::Number(i as f64)).collect())
    }

    /// A mesh as the polytope of its hull.
    fn mesh(&mut self, source: usize, node: &Node, scope: &Scope) -> Value {
        let none = Value::Table(Table::new());
        let Some(given) = node.get("mesh") else { return none };
        let (mut file, mut scale, mut hull, mut at) = (None, 1.0, false, given.span.clone());
        let faults = self.faults.len();
        match &given.kind {
            Kind::Leaf(_) => file = self.value(source, "file", given, scope).0.as_str().map(str::to_owned),
            Kind::Table(entries) => {
                for (key, key_at, value) in entries {
                    let found = self.value(source, key, value, scope).0;
                    let fits = match (key.as_str(), found) {
                        ("file", Value::String(text)) => {
                            at = value.span.clone();
                            file = Some(text);
                            true
                        }
                        ("scale", Value::Float(x)) if x > 0.0 => {
                            scale = x;
                            true
                        }
                        ("scale", Value::Integer(n)) if n > 0 => {
                            scale = n as f64;
                            true
                        }
                        ("hull", Value::Boolean(x)) => {
                            hull = x;
                            true
                        }
                        ("file" | "scale" | "hull", _) => false,
                        (other, _) => {
                            let message = format!("unknown key '{other}', expected one of file, scale, hull");
                            self.wrong(source, key_at, message);
                            continue;
                        }
                    };
                    if !fits {
                        let message = format!(
                            "{key} of a mesh: expected file (text), scale (a number above 0), hull (true or false)"
                        );
                        self.wrong(source, &value.span, message);
                    }
                }
            }
            Kind::List(_) => {}
        }
        if self.faults.len() > faults {
            return none;
        }
        let Some(file) = file else {
            self.wrong(source, &given.span, "mesh: missing key 'file'");
            return none;
        };
        let read = self.locate(source, &file).and_then(|path| mesh::read(&path, &file, scale, hull));
        match read {
            Err(message) => {
                self.wrong(source, &at, message);
                none
            }
            Ok(hulled) => {
                if let Some(warning) = hulled.warning
                    && !self.warnings.contains(&warning)
                {
                    self.warnings.push(warning);
                }
                self.values += 3 * hulled.corners.len();
                let corner = |c: &[f64; 3]| Value::Array(c.iter().map(|x| Value::Float(*x)).collect());
                let vertices = Value::Array(hulled.corners.iter().map(corner).collect());
                let polytope = Value::Table(Table::from_iter([("vertices".to_owned(), vertices)]));
                Value::Table(Table::from_iter([("polytope".to_owned(), polytope)]))
            }
        }
    }

    /// Full path of a file that another one names; it must lie within the folder of the scene.
    fn locate(&self, source: usize, file: &str) -> Result<PathBuf, String> {
        let here = |folder: &Path| {
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
        };
        if file.is_empty() || Path::new(file).is_absolute() {
            return Err(format!("'{file}': expected a path that starts from the folder of this file"));
        }
        let path = here(&self.sources[source].folder).join(file);
        let full = path.canonicalize().map_err(|e| format!("'{file}': {e}"))?;
        let root = here(&self.root).canonicalize().map_err(|e| format!("'{}': {e}", self.root.display()))?;
        match full.starts_with(&root) {
            true => Ok(full),
            false => Err(format!("'{file}' is outside the folder of the scene")),
        }
    }
}

/// Value of a variable, and of those it depends on.
fn resolve(
    entries: &[(String, Range<usize>, Node)],
    name: &str,
    scope: &mut Scope,
    open: &mut Vec<String>,
    wrong: &mut Vec<(Range<usize>, String)>,
) -> Option<Variable> {
    if let Some(known) = scope.get(name) {
        return Some(known.clone());
    }
    let (_, at, node) = entries.iter().find(|(k, _, _)| k == name)?;
    let fail = |wrong: &mut Vec<_>, span: &Range<usize>, message: String, scope: &mut Scope| {
        wrong.push((span.clone(), message));
        scope.insert(name.to_owned(), Variable::Wrong);
        Some(Variable::Wrong)
    };
    if !is_name(name) {
        return fail(
            wrong,
            at,
            format!("'{name}' is no name of a variable: expected letters, digits and _"),
            scope,
        );
    }
    if open.iter().any(|o| o == name) {
        let round = open.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" -> ");
        return fail(wrong, &node.span, format!("variables depend on each other: {round}"), scope);
    }
    let value = match &node.kind {
        Kind::Leaf(Value::String(text)) if text.starts_with('=') => {
            open.push(name.to_owned());
            let names: Vec<&str> = entries.iter().map(|(k, _, _)| k.as_str()).collect();
            let found = evaluate(&text[1..], &names, &mut |other| {
                resolve(entries, other, scope, open, wrong).map(|v| number(other, &v))
            });
            open.pop();
            match found {
                Ok(value) => Variable::Number(value),
                // reported already, or where the other variable is
                Err(message) if message.is_empty() => Variable::Wrong,
                Err(message) => return fail(wrong, &node.span, message, scope),
            }
        }
        Kind::Leaf(value) => match variable_of(value) {
            Some(value) => value,
            None => {
                let message = format!("variable '{name}': expected a number, an expression or text");
                return fail(wrong, &node.span, message, scope);
            }
        },
        _ => {
            let message = format!("variable '{name}': expected a number, an expression or text");
            return fail(wrong, &node.span, message, scope);
        }
    };
    scope.entry(name.to_owned()).or_insert_with(|| value.clone());
    scope.get(name).cloned()
}

fn number(name: &str, variable: &Variable) -> Result<f64, String> {
    match variable {
        Variable::Number(x) => Ok(*x),
        Variable::Text(_) => Err(format!("variable '{name}' is text, expected a number")),
        Variable::Wrong => Err(String::new()),
    }
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && letters.all(|c| c.is_alphanumeric() || c == '_')
}

fn in_scope(text: &str, scope: &Scope) -> Result<f64, String> {
    let names: Vec<&str> = scope.keys().map(String::as_str).collect();
    evaluate(text, &names, &mut |name| scope.get(name).map(|v| number(name, v)))
}

/// A text of the file: an expression after `=`, else with what stands in braces replaced where there are variables.
fn expanded_text(text: &str, scope: &Scope) -> Result<Value, String> {
    if let Some(expression) = text.strip_prefix('=') {
        let x = in_scope(expression, scope)?;
        let whole = x.fract() == 0.0 && x.abs() < 1e15;
        return Ok(if whole { Value::Integer(x as i64) } else { Value::Float(x) });
    }
    if scope.is_empty() || !text.contains('{') {
        return Ok(Value::String(text.to_owned()));
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        let (inner, after) =
            after.split_once('}').ok_or_else(|| format!("missing '}}' in '{}'", text.escape_debug()))?;
        match scope.get(inner.trim()) {
            Some(Variable::Text(word)) => out += word,
            _ => out += &format!("{}", in_scope(inner, scope)?),
        }
        rest = after;
    }
    Ok(Value::String(out + rest))
}

/// A table without one of its keys.
fn without(node: &Node, key: &str) -> Node {
    let kind = match &node.kind {
        Kind::Table(entries) => Kind::Table(entries.iter().filter(|(k, _, _)| k != key).cloned().collect()),
        other => other.clone(),
    };
    Node { span: node.span.clone(), kind }
}
