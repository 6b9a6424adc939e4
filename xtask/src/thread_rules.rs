//! The rule that no kernel waits inside rayon: a thread that does runs other tasks of the user meanwhile, under its own
//! thread-local state (`no_grad`, a checkpoint, a profile) and with its locks held. Work is shared by `cpu/work_sharing.rs`, which
//! waits without rayon.

use crate::project_rules::{code, sources};
use crate::step::root;

/// Every line that names rayon or its traits, and why it does not wait there on a thread of the user.
const KNOWN: [(&str, &str, &str); 7] = [
    (
        "runtime/src/cpu/work_sharing.rs",
        "rayon::spawn(move || door.enter());",
        "spawns, and waits by a lock of its own",
    ),
    (
        "runtime/src/cpu/parallel.rs",
        "let threads = rayon::current_num_threads();",
        "only asks",
    ),
    (
        "runtime/src/cpu/linalg/pool.rs",
        "use rayon::{ThreadPool, ThreadPoolBuilder};",
        "a pool without tasks of the user",
    ),
    (
        "runtime/src/cpu/linalg/pool.rs",
        "let builder = ThreadPoolBuilder::new();",
        "as above",
    ),
    (
        "runtime/src/cpu/linalg/pool.rs",
        "static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();",
        "as above",
    ),
    (
        "runtime/src/cpu/linalg/pool.rs",
        "let par = Par::rayon(threads().min(pool.current_num_threads()));",
        "as above",
    ),
    (
        "runtime/src/cpu/linalg/pool.rs",
        "let waits = Builder::new().spawn_scoped(scope, || pool.install(|| f(par)));",
        "a new thread waits, which belongs to no pool",
    ),
];

/// Beginnings of words that only rayon has, or libraries that use it inside.
const WORDS: [&str; 10] = [
    "rayon",
    "ThreadPool",
    "par_",
    "into_par_iter",
    "ParallelIterator",
    "IndexedParallelIterator",
    "ParallelSlice",
    "in_place_scope",
    "get_global_parallelism",
    "set_global_parallelism",
];

/// The lines of code, without tests, that name rayon.
fn lines_with_rayon(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("#[cfg(test)]") || line.contains("cfg(all(test") {
            break;
        }
        let line = code(line).replace("feature = \"rayon\"", "");
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let named = words.any(|word| WORDS.iter().any(|known| word.starts_with(known)));
        if named || line.contains(".install(") {
            found.push((at + 1, line.trim().to_owned()));
        }
    }
    found
}

#[test]
fn no_kernel_waits_inside_rayon() {
    let folders = [
        "core/src",
        "runtime/src",
        "src",
        "io/src",
        "nn/src",
        "mesh/src",
        "mpi/src",
    ];
    let (mut wrong, mut seen) = (Vec::new(), Vec::new());
    for (path, text) in sources(&folders) {
        if path.contains("tests") {
            continue;
        }
        for (at, line) in lines_with_rayon(&text) {
            match KNOWN
                .iter()
                .find(|known| known.0 == path && known.1 == line)
            {
                Some(known) => seen.push(known.1),
                None => wrong.push(format!("{path}:{at}: {line}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a wait inside rayon runs other tasks of the user on the same thread: share work by `cpu::parallel`, sort by \
         `cpu::parallel_sort`, and give libraries that wait in rayon a pool of their own, as `cpu/linalg/pool.rs` does: {wrong:#?}"
    );
    for (path, line, why) in KNOWN {
        assert!(seen.contains(&line), "{path} has no `{line}` ({why})");
    }
}

/// Libraries may use rayon where it is a feature of theirs.
#[test]
fn no_library_gets_rayon_but_faer() {
    for folder in [
        ".", "core", "runtime", "data", "io", "nn", "onnx", "mesh", "mpi",
    ] {
        let text = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let mut section = "";
        for line in text.lines() {
            if line.starts_with('[') {
                section = line;
            }
            let ours = ["[features]", "[dependencies]"].contains(&section)
                || section.starts_with("[target");
            if ours && line.contains("rayon") {
                let known = [
                    r#"rayon = ["dep:rayon", "faer?/rayon"]"#,
                    "rayon = { workspace = true, optional = true }",
                ];
                let forwards = line.contains("runtime/rayon") || line.starts_with("default = [");
                assert!(
                    known.contains(&line) || forwards,
                    "{folder}/Cargo.toml: {line}"
                );
            }
        }
    }
}

/// The thread-local variables without a destructor: they can be read while their thread ends.
const PLAIN: [&str; 14] = [
    "CLOCK",
    "DEFAULT",
    "DEPTH",
    "DROPPED",
    "DROPS",
    "DTYPE",
    "GENERATOR",
    "HAS_TURN",
    "LOCAL",
    "ON",
    "OWN",
    "PASSES",
    "RECORDS",
    "UNSET",
];
/// Variables in a `ManuallyDrop` that are empty when not in use.
const EMPTIED: [&str; 3] = ["MODES", "STATE", "TRACE"];
/// Variables with a destructor, which may be gone while others are dropped: read by `try_with` only.
const DROPPED: [&str; 3] = ["EMPTIES", "MEMBER", "WAITING"];

/// A value of a user's thread-local variable may compute when it is dropped: a library's own that is gone by then would end the
/// process.
#[test]
fn thread_local_variables_can_be_asked_while_a_thread_ends() {
    let folders = [
        "core/src",
        "runtime/src",
        "src",
        "io/src",
        "nn/src",
        "mesh/src",
        "mpi/src",
    ];
    let (mut wrong, mut seen) = (Vec::new(), Vec::new());
    for (path, text) in sources(&folders) {
        let blocks = text.split("thread_local! {").skip(1);
        let lines = blocks.flat_map(|block| block.split("\n}").next().unwrap_or(block).lines());
        for line in lines.map(code) {
            let Some((name, of)) = line
                .trim()
                .strip_prefix("static ")
                .and_then(|rest| rest.split_once(": "))
            else {
                continue;
            };
            // Statics of the process beside those of a thread.
            if of.starts_with("Atomic") {
                continue;
            }
            let known = PLAIN.contains(&name)
                || EMPTIED.contains(&name) && of.contains("ManuallyDrop<")
                || DROPPED.contains(&name);
            if !known {
                wrong.push(format!("{path}: {name}: {of}"));
            }
            seen.push(name.to_owned());
        }
        for name in DROPPED {
            let asks = [
                ".with(",
                ".with_borrow",
                ".get()",
                ".set(",
                ".take()",
                ".replace(",
            ];
            let asked = asks.iter().any(|ask| {
                let whole = format!("{name}{ask}");
                text.match_indices(&whole)
                    .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            });
            if asked && text.contains(&format!("static {name}: ")) {
                wrong.push(format!("{path}: {name} without `try_with`"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "give a thread-local variable no destructor, or ask it by `try_with`, and list it here: {wrong:#?}"
    );
    for name in PLAIN.iter().chain(&EMPTIED).chain(&DROPPED) {
        assert!(
            seen.iter().any(|one| one == name),
            "no thread has a `{name}`"
        );
    }
}

#[test]
fn waits_are_found() {
    let text = "use rayon::prelude::*;\nkeys.par_sort_unstable();\nlet cfg = cfg!(feature = \"rayon\");\n// rayon::join\n\
                pool.install(f);\n#[cfg(test)]\nrayon::join(a, b);\n";
    let found: Vec<usize> = lines_with_rayon(text)
        .into_iter()
        .map(|found| found.0)
        .collect();
    assert_eq!(found, [1, 2, 5]);
}
