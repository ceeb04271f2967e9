//! The rule of the house: no module imports one that imports it, and no crate depends on one below it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// The Rust files of a folder, at any depth.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if entry.extension().is_some_and(|e| e == "rs") {
            found.push(entry);
        }
    }
    found.sort();
    found
}

/// The code of a file without its tests, comments and texts.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a file");
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let plain = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// Module of a file: its path in the crate without `mod` and the extension.
fn module(source: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(source).expect("a file of the crate").with_extension("");
    let mut path: Vec<String> = inside.iter().map(|s| s.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

/// Splits `a::b, c::{d, e}` at the commas outside of braces.
fn items(list: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0, 0, vec![]);
    for (k, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&list[from..k]);
                from = k + 1;
            }
            _ => {}
        }
    }
    found.push(&list[from..]);
    found
}

/// The text between the brace at the start and the one that closes it.
fn braced(text: &str) -> &str {
    let mut depth = 0;
    for (k, c) in text.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return &text[1..k];
        }
    }
    &text[1..]
}

/// First segments that a path with this prefix leads to, wherever it stands in the code.
fn after(code: &str, prefix: &str) -> Vec<String> {
    let mut found = vec![];
    for (k, _) in code.match_indices(prefix) {
        let before = code[..k].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &code[k + prefix.len()..];
        let list = if rest.starts_with('{') { items(braced(rest)) } else { vec![rest] };
        let name = |item: &str| {
            item.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
        };
        found.extend(list.into_iter().map(name).filter(|name| !name.is_empty()));
    }
    found
}

/// Which modules at the top of a crate import which others, each with a file that does.
fn imports(source: &Path) -> Imports {
    let all: Vec<(PathBuf, Vec<String>)> =
        files(source).into_iter().map(|f| (f.clone(), module(source, &f))).collect();
    let rooms: BTreeSet<String> = all.iter().filter_map(|(_, m)| m.first().cloned()).collect();
    let mut found = Imports::new();
    for (file, path) in all.iter().filter(|(f, m)| !m.is_empty() && !is_test(source, f)) {
        let code = code(file);
        // `super` of the first level is the crate's root
        let to_root = "super::".repeat(path.len());
        for name in [after(&code, "crate::"), after(&code, &to_root)].concat() {
            if rooms.contains(&name) && name != path[0] {
                let place = file.strip_prefix(source).expect("a file of the crate").display().to_string();
                found.entry(path[0].clone()).or_default().entry(name).or_insert(place);
            }
        }
    }
    found
}

/// Whether a file below a crate's source holds tests only.
fn is_test(source: &Path, file: &Path) -> bool {
    let inside = file.strip_prefix(source).expect("a file of the crate");
    inside.ends_with("tests.rs") || inside.iter().any(|part| part == "tests")
}

/// A circle among imports, as a list of modules with the files that close it.
fn circle(imports: &Imports) -> Option<Vec<String>> {
    fn search(at: &str, imports: &Imports, way: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        if let Some(k) = way.iter().position(|m| m == at) {
            way.drain(..k);
            return true;
        }
        if !done.insert(at.to_owned()) {
            return false;
        }
        way.push(at.to_owned());
        if imports.get(at).is_some_and(|to| to.keys().any(|next| search(next, imports, way, done))) {
            return true;
        }
        way.pop();
        false
    }
    let (mut way, mut done) = (vec![], BTreeSet::new());
    imports.keys().any(|at| search(at, imports, &mut way, &mut done)).then(|| {
        let next = |k: usize| &way[(k + 1) % way.len()];
        (0..way.len()).map(|k| format!("{} -> {} ({})", way[k], next(k), imports[&way[k]][next(k)])).collect()
    })
}

fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a parent");
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    found.retain(|path| path.join("src").is_dir());
    found.sort();
    found
}

#[test]
fn modules_import_in_one_direction() {
    for at in crates() {
        let found = circle(&imports(&at.join("src")));
        assert!(found.is_none(), "{}: these modules import each other: {found:#?}", at.display());
    }
}

/// Crates from top to bottom: each may depend on those above it only.
const ORDER: [&str; 7] = [
    "complementarity",
    "problem-files",
    "recording",
    "stiction",
    "stiction-view",
    "stiction-cli",
    "stiction-py",
];

#[test]
fn crates_depend_in_one_direction() {
    for at in crates() {
        let manifest: toml::Table = fs::read_to_string(at.join("Cargo.toml")).unwrap().parse().unwrap();
        let name = manifest["package"]["name"].as_str().unwrap().to_owned();
        let place = ORDER.iter().position(|n| *n == name);
        let place = place.unwrap_or_else(|| panic!("{name} is in no place of the order: add it to ORDER"));
        let needs = manifest.get("dependencies").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        for need in needs.keys().filter(|need| ORDER.contains(&need.as_str())) {
            assert!(ORDER[..place].contains(&need.as_str()), "{name} depends on {need}, which is below it");
        }
    }
}

/// The test above finds circles, also those through `super` and nested braces.
#[test]
fn a_circle_is_found() {
    let folder = std::env::temp_dir().join(format!("stiction-house-{}", std::process::id()));
    fs::create_dir_all(folder.join("b")).unwrap();
    fs::write(folder.join("lib.rs"), "mod a; mod b; mod c;").unwrap();
    fs::write(folder.join("a.rs"), "use crate::{c, b::{X, y}};").unwrap();
    fs::write(folder.join("b/mod.rs"), "mod inner;").unwrap();
    fs::write(folder.join("b/inner.rs"), "use super::super::a; // crate::c\n").unwrap();
    fs::write(folder.join("c.rs"), "#[cfg(test)]\nmod tests { use crate::a; }").unwrap();
    let found = circle(&imports(&folder));
    fs::write(folder.join("b/inner.rs"), "use super::other;").unwrap();
    let none = circle(&imports(&folder));
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found.unwrap(), ["a -> b (a.rs)", "b -> a (b/inner.rs)"]);
    assert_eq!(none, None);
}
