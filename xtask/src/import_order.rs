//! Imports of the runtime run down: ARCHITECTURE.md names the layers.

use crate::project_rules::{code, sources};

/// The folders and files of `runtime/src`, each above all that it imports.
const LAYERS: [&str; 20] = [
    "profile", "dispatch", "config", "device", "shape", "file", "memory", "storage", "plan", "raw",
    "random", "job", "cpu", "cuda", "tape", "call", "autograd", "display", "tensor", "lib",
];

/// The names that stand directly behind `crate::` in a `use` or a path, those in braces too.
fn imported(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let list = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or(list),
            None => rest,
        };
        let all = if rest.starts_with('{') {
            list.split(',').collect()
        } else {
            vec![list]
        };
        names.extend(all.into_iter().filter_map(|name| {
            let name = name.trim_start();
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
            Some(name[..end.unwrap_or(name.len())].to_owned()).filter(|name| !name.is_empty())
        }));
    }
    names
}

#[test]
fn runtime_imports_run_down() {
    let floor = |name: &str| LAYERS.iter().position(|&floor| floor == name);
    let mut wrong = Vec::new();
    for (path, text) in sources(&["runtime/src"]) {
        // Tests may look at everything.
        if path.contains("tests") {
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
        let own = path.split(['/', '.']).nth(2).unwrap_or(&path);
        let own = floor(own).unwrap_or_else(|| panic!("{path} has no place in {LAYERS:?}"));
        let up = imported(&text)
            .into_iter()
            .filter(|name| floor(name).is_some_and(|floor| floor > own));
        wrong.extend(up.map(|name| format!("{path}: crate::{name}")));
    }
    assert!(wrong.is_empty(), "imports that run up: {wrong:#?}");
}

#[test]
fn imports_are_read() {
    let text = "use crate::job::Place;\nuse crate::{Device, call};\nlet x = crate::cpu::run();";
    assert_eq!(imported(text), ["job", "Device", "call", "cpu"]);
}
