//! Circles of files that import each other, within each crate: none may be large, and the larger ones are listed with a reason.

use std::collections::{BTreeMap, BTreeSet};

use crate::project_rules::{code, sources};

const CRATES: [&str; 12] = [
    "core/src",
    "macros/src",
    "runtime/src",
    "src",
    "io/src",
    "data/src",
    "nn/src",
    "onnx/src",
    "mesh/src",
    "mpi/src",
    "cargo-nomina/src",
    "xtask/src",
];

/// The most circles in all crates together, and the most files in one.
const MOST_CIRCLES: usize = 10;
const MOST_FILES: usize = 4;

/// Circles that may be larger, by a file in them, with the reason.
const LISTED: [(&str, &str); 3] = [
    (
        "core/src/dims/align.rs",
        "relations between dims are traits whose bounds need each other",
    ),
    (
        "runtime/src/raw/graph/node.rs",
        "a tensor points to its node, and a node's rule saves tensors",
    ),
    (
        "src/tensor/operand.rs",
        "methods of views, parts and joins return each other's types",
    ),
];

/// The path of a module within its crate.
type Module = Vec<String>;

/// The files of a crate by module, each without comments and tests.
struct Krate {
    texts: BTreeMap<Module, String>,
    files: BTreeMap<Module, String>,
    /// The re-exports: by module and name there, the path that they come from.
    exports: BTreeMap<(Module, String), Vec<String>>,
}

/// An import: the path, and whether it is a re-export.
struct Import {
    path: Vec<String>,
    is_public: bool,
}

fn module(root: &str, file: &str) -> Module {
    let inner = file
        .strip_prefix(root)
        .unwrap_or(file)
        .trim_start_matches('/');
    let mut parts: Module = inner
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if parts
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        parts.pop();
    }
    parts
}

/// Collects the paths of a tree such as `super::{a::B, c}`.
fn paths(prefix: &[String], tree: &str, found: &mut Vec<Vec<String>>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let split = |text: &str| -> Vec<String> {
            let names = text
                .split("::")
                .map(|name| name.split(" as ").next().unwrap_or(name).trim().to_owned());
            names.filter(|name| !name.is_empty()).collect()
        };
        let mut path = prefix.to_vec();
        match part.split_once('{') {
            Some((head, rest)) => {
                path.extend(split(head));
                paths(
                    &path,
                    rest.rsplit_once('}').map_or(rest, |(list, _)| list),
                    found,
                );
            }
            None => {
                path.extend(split(part));
                found.push(path);
            }
        }
    }
}

/// Returns the imports of a text, and the text without them.
fn imports(text: &str) -> (Vec<Import>, String) {
    let (mut found, mut rest) = (Vec::new(), String::new());
    let mut statements = text.split_inclusive('\n').peekable();
    while let Some(line) = statements.next() {
        let trimmed = line.trim_start();
        let (is_public, tree) = match trimmed.strip_prefix("pub") {
            Some(after) => {
                let after = match after.strip_prefix('(') {
                    Some(inner) => inner.split_once(')').map_or("", |(_, after)| after),
                    None => after,
                };
                (true, after.trim_start().strip_prefix("use "))
            }
            None => (false, trimmed.strip_prefix("use ")),
        };
        let Some(tree) = tree else {
            rest.push_str(line);
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            match statements.next() {
                Some(line) => tree.push_str(line),
                None => break,
            }
        }
        let mut all = Vec::new();
        paths(&[], tree.split(';').next().unwrap_or(""), &mut all);
        found.extend(all.into_iter().map(|path| Import { path, is_public }));
    }
    (found, rest)
}

impl Krate {
    fn read(root: &'static str) -> Self {
        let (mut texts, mut files) = (BTreeMap::new(), BTreeMap::new());
        for (file, text) in sources(&[root]) {
            if file.contains("/tests") || file.ends_with("tests.rs") {
                continue;
            }
            let text = text
                .split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or(&text);
            let text: String = text
                .lines()
                .map(|line| format!("{}\n", code(line)))
                .collect();
            texts.insert(module(root, &file), text);
            files.insert(module(root, &file), file);
        }
        let mut exports = BTreeMap::new();
        for (module, text) in &texts {
            for import in imports(text)
                .0
                .into_iter()
                .filter(|import| import.is_public)
            {
                if let Some(name) = import.path.last() {
                    exports
                        .entry((module.clone(), name.clone()))
                        .or_insert(import.path);
                }
            }
        }
        Self {
            texts,
            files,
            exports,
        }
    }

    /// Returns the module that a path in another one leads to.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Module::new(),
            "self" => from.clone(),
            "super" => {
                let mut at = from.clone();
                at.pop();
                while rest.first().is_some_and(|name| name == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
                at
            }
            _ => {
                rest = path;
                let child: Module = from.iter().chain([first]).cloned().collect();
                self.texts.contains_key(&child).then(|| from.clone())?
            }
        };
        while let Some(name) = rest.first() {
            let child: Module = at.iter().chain([name]).cloned().collect();
            if !self.texts.contains_key(&child) {
                break;
            }
            (at, rest) = (child, &rest[1..]);
        }
        let export = rest
            .first()
            .and_then(|name| self.exports.get(&(at.clone(), name.clone())));
        match export {
            Some(path) if depth < 6 => self.resolve(&at, path, depth + 1).or(Some(at)),
            _ => Some(at),
        }
    }

    fn arrows(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        let mut arrows = BTreeMap::new();
        for (module, text) in &self.texts {
            let (imports, rest) = imports(text);
            let imports = imports
                .into_iter()
                .filter(|import| !import.is_public)
                .map(|import| import.path);
            let mut all: Vec<Vec<String>> = imports.collect();
            for start in ["crate::", "super::"] {
                for (at, _) in rest.match_indices(start) {
                    let before = rest[..at].chars().next_back();
                    if before.is_some_and(|c| c.is_alphanumeric() || c == ':' || c == '_') {
                        continue;
                    }
                    let end =
                        rest[at..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
                    let path = &rest[at..end.map_or(rest.len(), |end| at + end)];
                    all.push(
                        path.split("::")
                            .filter(|name| !name.is_empty())
                            .map(str::to_owned)
                            .collect(),
                    );
                }
            }
            let to = all.iter().filter_map(|path| self.resolve(module, path, 0));
            let to: BTreeSet<&Module> = to
                .filter(|to| to != module)
                .filter_map(|to| Some(self.texts.get_key_value(&to)?.0))
                .collect();
            arrows.insert(module, to);
        }
        arrows
    }
}

/// Returns the strongly connected components of more than one module, by the modules that each one reaches.
fn circles<'a>(arrows: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> Vec<BTreeSet<&'a Module>> {
    let reach = |start: &'a Module| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![start]);
        while let Some(next) = left.pop() {
            for &to in &arrows[next] {
                if seen.insert(to) {
                    left.push(to);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<_, _> = arrows
        .keys()
        .map(|&module| (module, reach(module)))
        .collect();
    let mut found = BTreeSet::new();
    for (&module, to) in &reached {
        if to.contains(module) {
            let circle = to
                .iter()
                .copied()
                .filter(|other| reached[other].contains(module));
            found.insert(circle.collect::<BTreeSet<_>>());
        }
    }
    found.into_iter().collect()
}

#[test]
fn circles_of_files_are_few_and_small() {
    let (mut count, mut large) = (0, Vec::new());
    for root in CRATES {
        let krate = Krate::read(root);
        let arrows = krate.arrows();
        let found = circles(&arrows);
        let number: usize = arrows.values().map(BTreeSet::len).sum();
        println!(
            "{root}: {} files, {number} arrows, {} circles",
            arrows.len(),
            found.len()
        );
        count += found.len();
        for circle in found {
            let files: Vec<String> = circle
                .into_iter()
                .map(|module| krate.files[module].clone())
                .collect();
            println!("    {}", files.join(" "));
            let is_listed = LISTED
                .iter()
                .any(|(file, _)| files.iter().any(|own| own == file));
            if files.len() > MOST_FILES && !is_listed {
                large.push(files);
            }
        }
    }
    assert!(
        large.is_empty(),
        "circles of more than {MOST_FILES} files: {large:#?}"
    );
    assert!(
        count <= MOST_CIRCLES,
        "{count} circles of files; at most {MOST_CIRCLES}"
    );
}

#[test]
fn trees_of_imports_are_read() {
    let (found, rest) =
        imports("pub(crate) use super::{a::B, c as d};\nuse crate::e;\nlet x = 1;\n");
    let found: Vec<String> = found
        .iter()
        .map(|import| format!("{} {}", import.is_public, import.path.join("::")))
        .collect();
    assert_eq!(
        found,
        ["true super::a::B", "true super::c", "false crate::e"]
    );
    assert_eq!(rest, "let x = 1;\n");
}
