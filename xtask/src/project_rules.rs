//! Rules of the project that the compiler does not check: ARCHITECTURE.md names these tests.

use std::path::{Path, PathBuf};

use crate::step::root;

/// Returns every hand-written Rust file with its text; paths are relative to the root.
pub fn sources(folders: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut files = Vec::new();
    for folder in folders {
        walk(&root.join(folder), &mut files);
    }
    assert!(!files.is_empty(), "no Rust file below {folders:?}");
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path
            .strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        (path, text)
    };
    files.into_iter().map(read).collect()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

const ALL: &[&str] = &[
    "src", "core", "macros", "runtime", "data", "io", "nn", "onnx", "mesh", "mpi", "tests",
    "ui-tests", "examples", "benches", "xtask",
];

/// Returns the code of a line without its comment. A `//` inside a string cuts off too much, which does not affect
/// these tests.
pub fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

#[test]
fn files_stay_readable_in_one_sitting() {
    let long: Vec<String> = sources(ALL)
        .iter()
        .filter(|(_, text)| !text.starts_with("// @generated"))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > 500)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert!(
        long.is_empty(),
        "more than 500 lines, split by what changes together: {long:#?}"
    );
}

#[test]
fn core_and_the_typed_tensor_forbid_unsafe() {
    for file in [
        "core/src/lib.rs",
        "src/lib.rs",
        "io/src/lib.rs",
        "nn/src/lib.rs",
        "mesh/src/lib.rs",
        "cuda-kernels/src/lib.rs",
    ] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        assert!(
            text.contains("#![forbid(unsafe_code)]"),
            "{file} does not forbid unsafe"
        );
    }
    let core = std::fs::read_to_string(root().join("core/src/lib.rs")).unwrap();
    assert!(core.contains("#![no_std]"), "core is no_std");
}

#[test]
fn unsafe_stands_only_in_storage_and_kernels() {
    // Storage, tensors without names, kernels, and the entries that launch kernels.
    let folders = [
        "runtime/src/memory/",
        "runtime/src/storage/",
        "runtime/src/raw/",
        "runtime/src/cpu/",
        "runtime/src/call/",
        "runtime/src/job/",
        "runtime/src/cuda/",
        // Bindings to a C interface.
        "mpi/src/",
    ];
    let elsewhere: Vec<String> = sources(&[
        "src", "core", "macros", "runtime", "io/src", "nn/src", "mesh/src", "mpi/src",
    ])
    .iter()
    .filter(|(path, _)| !folders.iter().any(|folder| path.starts_with(folder)))
    // The macro that parses functions names the keyword.
    .filter(|(_, text)| {
        text.lines()
            .any(|line| has_word(&code(line).replace("Token![unsafe]", ""), "unsafe"))
    })
    .map(|(path, _)| path.clone())
    .collect();
    assert!(
        elsewhere.is_empty(),
        "unsafe outside of {folders:?}: {elsewhere:#?}"
    );
}

#[test]
fn kernels_see_no_names() {
    // Errors get their names further up, so `Names::default()` is allowed.
    let sees = |line: &str| {
        let line = code(line)
            .replace("Names::default()", "")
            .replace("Op::Names", "");
        !line.trim_start().starts_with("use ")
            && (has_word(&line, "Names") || has_word(&line, "Name"))
    };
    let seeing: Vec<String> = sources(&[
        "runtime/src/cpu",
        "runtime/src/plan",
        "runtime/src/raw",
        "runtime/src/call",
    ])
    .iter()
    .filter(|(path, _)| !path.contains("/tests"))
    .flat_map(|(path, text)| {
        let lines = text.lines().enumerate().filter(|(_, line)| sees(line));
        lines.map(move |(i, line)| format!("{path}:{}: {}", i + 1, line.trim()))
    })
    .collect();
    assert!(
        seeing.is_empty(),
        "names are dealt with in tensor/ and src/: {seeing:#?}"
    );
}

#[test]
fn packages_depend_one_way() {
    let wanted: [(&str, &[&str]); 12] = [
        ("core", &[]),
        ("macros", &[]),
        ("cuda-kernels", &[]),
        (
            "runtime",
            &["nomina-core", "nomina-cuda-kernels", "nomina-macros"],
        ),
        (".", &["nomina-core", "nomina-macros", "nomina-runtime"]),
        ("io", &["nomina", "nomina-runtime"]),
        ("data/macros", &[]),
        (
            "data",
            &[
                "nomina",
                "nomina-data-macros",
                "nomina-io",
                "nomina-runtime",
            ],
        ),
        (
            "nn",
            &["nomina", "nomina-core", "nomina-macros", "nomina-runtime"],
        ),
        ("onnx", &["nomina", "nomina-core", "nomina-runtime"]),
        (
            "mesh",
            &[
                "nomina",
                "nomina-core",
                "nomina-data",
                "nomina-io",
                "nomina-macros",
                "nomina-runtime",
            ],
        ),
        (
            "mpi",
            &["nomina", "nomina-core", "nomina-mesh", "nomina-runtime"],
        ),
    ];
    for (folder, wanted) in wanted {
        let text = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let mut section = "";
        let mut ours: Vec<&str> = Vec::new();
        for line in text.lines() {
            if line.starts_with('[') {
                section = line;
            } else if section == "[dependencies]" && line.starts_with("nomina") {
                ours.push(line.split(['.', ' ', '=']).next().unwrap_or(line));
            }
        }
        assert_eq!(ours, wanted, "dependencies of {folder}");
    }
}

#[test]
fn the_architecture_names_tests_that_exist() {
    let text = section("## Invariants");
    let named = paths(&text);
    for (path, test) in &named {
        if let Some(test) = test {
            let source = std::fs::read_to_string(root().join(path)).unwrap();
            assert!(has_word(&source, test), "{path} has no `{test}`");
        }
    }
    let named = named.len();
    assert!(
        named >= 8,
        "each of the eight invariants has a test; {named} are named"
    );
}

#[test]
fn a_call_is_read_in_few_files() {
    let text = section("## The path of a call");
    let rows = text.lines().filter(|line| line.starts_with("| "));
    // A bar within a cell is escaped.
    let rows: Vec<Vec<String>> = rows
        .map(|row| {
            row.replace("\\|", "")
                .split('|')
                .map(str::to_owned)
                .collect()
        })
        .collect();
    for call in 2..5 {
        let files: Vec<_> = rows.iter().flat_map(|row| paths(&row[call])).collect();
        assert!(
            (6..=8).contains(&files.len()),
            "{}: {files:?}",
            rows[0][call]
        );
    }
}

/// Returns the text of a section of ARCHITECTURE.md.
fn section(title: &str) -> String {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, text) = text.split_once(title).expect("the section");
    text.split("\n## ").next().unwrap_or(text).to_owned()
}

/// Returns the paths in backticks, with the item named after `::`; asserts that the files exist.
fn paths(text: &str) -> Vec<(&str, Option<&str>)> {
    let words = text.split('`').skip(1).step_by(2);
    let words = words.map(|word| match word.split_once("::") {
        Some((path, test)) => (path, Some(test)),
        None => (word, None),
    });
    let named: Vec<_> = words
        .filter(|(path, _)| path.ends_with(".rs") || path.ends_with('/'))
        .collect();
    for (path, _) in &named {
        let there = root().join(path).exists();
        assert!(there, "ARCHITECTURE.md names `{path}`, which is not there");
    }
    named
}

#[test]
fn the_readme_shows_what_rustc_says() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let readme = read("README.md");
    let mut shown = readme.split("```text\nerror").skip(1);
    for file in ["broadcast/operator", "mesh/pending_plus_whole"] {
        let text = shown.next().expect("an error in the README");
        let text = text.split("```").next().unwrap_or(text);
        let said = read(&format!("ui-tests/{file}.stderr"));
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            assert!(
                said.contains(line),
                "rustc does not say `{line}` but\n{said}"
            );
        }
    }
    assert_eq!(
        shown.next(),
        None,
        "an error in the README that nobody checks"
    );
}

#[test]
fn a_familys_page_lists_its_methods() {
    let mut missing = Vec::new();
    for (path, text) in sources(&["src/tensor"]) {
        let without = ["src/tensor/options.rs", "src/tensor/feature_off.rs"];
        if text.starts_with("// @generated") || without.contains(&path.as_str()) {
            continue;
        }
        let page: String = text.lines().take_while(|l| l.starts_with("//!")).collect();
        let mut methods: Vec<String> = Vec::new();
        let (mut inherent, mut options) = (false, false);
        for line in text.lines() {
            match line {
                _ if line.starts_with("impl") => inherent = !line.contains(" for "),
                _ if line.starts_with("    #[twin") => options = line.contains("with = "),
                _ if line.starts_with("        with = \"") => options = true,
                "}" => inherent = false,
                _ => {}
            }
            let name = line.strip_prefix("    pub fn ").filter(|_| inherent);
            let Some(name) = name.and_then(|rest| rest.split(['<', '(']).next()) else {
                continue;
            };
            // The panicking form, and the one without options, follow from the written one.
            let name = name.strip_prefix("try_").unwrap_or(name);
            methods.extend(options.then(|| name.replacen("_with", "", 1)));
            methods.push(name.to_owned());
            options = false;
        }
        // Other forms are described with the method they belong to.
        let form = |name: &str| {
            let mut stems = ["_with_out", "_with_", "_with", "_out", "_"]
                .iter()
                .filter_map(|end| name.strip_suffix(end));
            stems.any(|stem| methods.iter().any(|method| method == stem))
        };
        let untold = methods.iter().filter(|name| !form(name));
        let untold = untold.filter(|name| !page.contains(&format!("::{name}`]")));
        missing.extend(untold.map(|name| format!("{path}: `{name}`")));
    }
    assert!(
        missing.is_empty(),
        "not in the first lines of their file: {missing:#?}"
    );
}

/// Returns the lines that multiply: `*` between two spaces, since the code is formatted, or `product()` of an iterator.
/// Each comes with its line number and its function.
fn multiplications(text: &str) -> Vec<(usize, String, String)> {
    let mut function = String::new();
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("#[cfg(test)]") {
            break;
        }
        let line = code(line);
        if let Some((_, name)) = line.split_once("fn ") {
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
            function = name[..end.unwrap_or(name.len())].to_owned();
        }
        let begins = line.trim_start().starts_with("* ");
        if line.contains(" * ")
            || begins
            || line.contains(".product()")
            || line.contains(".product::")
        {
            found.push((at + 1, function.clone(), line.trim().to_owned()));
        }
    }
    found
}

/// Returns whether a line computes with floats or in 128 bits, where products of sizes cannot wrap.
fn is_wide(line: &str) -> bool {
    ["f64", "f32", "i128", "u128", "wide(", "SLOPE"]
        .iter()
        .any(|word| line.contains(word))
}

/// Functions whose products are of floats or in 128 bits although no line shows it.
const ELEMENTS: [(&str, &[&str]); 19] = [
    // Numbers of a derivative.
    ("autograd/rules/folding.rs", &["fold_constants"]),
    ("call/step/adagrad.rs", &["step"]),
    ("call/step/adam.rs", &["formula", "step"]),
    ("call/step/lion.rs", &["step"]),
    ("call/step/program.rs", &["times"]),
    ("call/step/rmsprop.rs", &["step"]),
    ("call/step/sgd.rs", &["step"]),
    ("autograd/rules/decomposition.rs", &["refuse_phases"]),
    ("tape/pool.rs", &["record_average_pool"]),
    ("call/conv/antialias.rs", &["new", "cubic"]),
    ("job/pool.rs", &["span"]),
    ("job/resample.rs", &["near", "far", "new", "place"]),
    ("call/einsum/order.rs", &["numel", "step"]),
    ("call/product.rs", &["cheapest"]),
    (
        "call/shape/range.rs",
        &["linspace", "window", "of", "bessel"],
    ),
    ("call/stat.rs", &["cov"]),
    // Counts of existing elements.
    ("job/product.rs", &["at", "shift"]),
    (
        "autograd/rules/convolution.rs",
        &["transpose", "of_weight", "padded"],
    ),
    ("autograd/rules/fourier.rs", &["scale_paired"]),
];

#[test]
fn products_of_sizes_do_not_wrap() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&[
        "runtime/src/call",
        "runtime/src/job",
        "runtime/src/tape",
        "runtime/src/autograd",
    ]) {
        if path.contains("tests") {
            continue;
        }
        let known = ELEMENTS.iter().find(|(file, _)| path.ends_with(file));
        let elements = known.map_or(&[][..], |(_, functions)| *functions);
        for (at, function, line) in multiplications(&text) {
            if !is_wide(&line) && !elements.contains(&function.as_str()) {
                wrong.push(format!("{path}:{at}: {line}"));
            }
        }
    }
    // The entries of kernels: the functions that the host's backend calls.
    let backend = ["backend.rs", "data_dependent.rs"]
        .map(|file| std::fs::read_to_string(root().join("runtime/src/cpu").join(file)).unwrap());
    let entries: Vec<&str> = backend
        .iter()
        .flat_map(|text| text.split("cpu::").skip(1))
        .filter_map(|path| path.split(['(', ' ', ';', '{']).next()?.rsplit_once("::"))
        .map(|(_, name)| name)
        .collect();
    assert!(entries.len() > 20, "{entries:?}");
    for (path, text) in sources(&["runtime/src/cpu"]) {
        if path.contains("tests") {
            continue;
        }
        for (at, function, line) in multiplications(&text) {
            let allocates = ["Scratch::", "room(", "filled(", "reserve("];
            let head = format!("\npub(crate) unsafe fn {function}(");
            let is_size = entries.contains(&function.as_str()) && text.contains(&head);
            if !is_wide(&line) && (is_size || allocates.iter().any(|word| line.contains(word))) {
                wrong.push(format!("{path}:{at}: {line}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "multiply sizes by `shape::product`, `count` or `scaled_stride`, and pass factors to what \
         allocates: {wrong:#?}"
    );
}

/// A reader of `# Errors` or `# Panics` needs the conditions, not a reference to another item.
#[test]
fn docs_say_themselves_when_a_call_fails() {
    let mut elsewhere = Vec::new();
    for (path, text) in sources(&["src"]) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, pair) in lines.windows(2).enumerate() {
            if ["/// # Errors", "/// # Panics"].contains(&pair[0])
                && ["/// As [", "/// Like ["]
                    .iter()
                    .any(|start| pair[1].starts_with(start))
            {
                elsewhere.push(format!("{path}:{}: {}", at + 2, pair[1]));
            }
        }
    }
    assert!(elsewhere.is_empty(), "say when it fails: {elsewhere:#?}");
}

/// For `mdbook build docs`: each page is exactly one chapter.
#[test]
fn the_book_has_every_page_once() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut chapters: Vec<&str> = summary
        .lines()
        .filter_map(|line| line.split_once("](")?.1.strip_suffix(')'))
        .collect();
    chapters.sort_unstable();
    let mut pages: Vec<String> = Vec::new();
    for folder in ["", "contributing/"] {
        for entry in std::fs::read_dir(docs.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") && name != "SUMMARY.md" {
                pages.push(format!("{folder}{name}"));
            }
        }
    }
    pages.sort_unstable();
    assert!(!pages.is_empty());
    assert_eq!(chapters, pages, "docs/SUMMARY.md");
}
