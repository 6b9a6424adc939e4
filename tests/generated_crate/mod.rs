//! A crate that a test writes, and what rustc says about it.
//!
//! rustc is called without cargo, on the libraries that `cargo test --workspace` builds: in another workspace, cargo
//! would build them once more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// What generated code may name.
const LIBRARIES: [&str; 8] = [
    "half",
    "nomina",
    "nomina_by_name",
    "nomina_core",
    "nomina_runtime",
    "num_complex",
    "serde",
    "serde_json",
];

/// A program in a folder of its own, below the target folder.
pub struct Krate {
    folder: PathBuf,
}

impl Krate {
    /// A folder for a crate of this name.
    pub fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("a folder for the crate");
        Self { folder }
    }

    /// Writes a source file; `main.rs` is the crate's root.
    pub fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).expect("a writable source");
    }

    /// Compiles it, and gives the errors. Where there are none, the program is there.
    pub fn build(&self) -> Vec<Mistake> {
        let mut rustc = Command::new("rustc");
        rustc
            .args([
                "--edition=2024",
                "--crate-name=generated",
                "--error-format=json",
            ])
            // Much code that runs once.
            .args([
                "-C",
                "opt-level=0",
                "-C",
                "debuginfo=0",
                "--cap-lints=allow",
            ])
            .arg("-o")
            .arg(self.program())
            .arg(self.folder.join("main.rs"))
            .current_dir(root());
        let (deps, libraries) = libraries();
        rustc
            .arg("-L")
            .arg(format!("dependency={}", deps.display()));
        for (name, path) in libraries {
            rustc
                .arg("--extern")
                .arg(format!("{name}={}", path.display()));
        }
        rustc.args(flags());
        let output = rustc.output().expect("rustc runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let mistakes = mistakes(&said);
        assert!(
            output.status.success() == mistakes.is_empty(),
            "rustc failed: {said}"
        );
        mistakes
    }

    /// Runs the program that was built.
    pub fn run(&self) -> Output {
        let program = Command::new(self.program()).output();
        program.expect("the program was built")
    }

    fn program(&self) -> PathBuf {
        self.folder.join("program")
    }
}

/// What cargo hands to rustc, for one ABI.
fn flags() -> Vec<String> {
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
}

/// Where dependencies lie, and the libraries by name: cargo, asked to build this test, says that it has them.
fn libraries() -> &'static (PathBuf, BTreeMap<String, PathBuf>) {
    static FOUND: OnceLock<(PathBuf, BTreeMap<String, PathBuf>)> = OnceLock::new();
    FOUND.get_or_init(|| {
        let exe = std::env::current_exe().expect("a running test");
        let deps = exe.parent().expect("target/profile/deps");
        let target = deps.ancestors().nth(2).expect("target");
        let (test, _) = (exe.file_stem().and_then(|stem| stem.to_str()))
            .and_then(|stem| stem.rsplit_once('-'))
            .expect("the name of a test and a hash");
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["test", "--workspace", "--no-run", "--test", test])
            .args(["--message-format=json", "--quiet", "--offline"])
            .current_dir(root())
            .env("CARGO_TARGET_DIR", target);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let output = cargo.output().expect("cargo runs");
        let messages = String::from_utf8_lossy(&output.stdout);
        let mut found = BTreeMap::new();
        for artifact in messages.lines().filter_map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            (message["reason"] == "compiler-artifact").then_some(message)
        }) {
            let name = artifact["target"]["name"].as_str().unwrap_or_default();
            let files = artifact["filenames"].as_array();
            let files = files.into_iter().flatten().filter_map(|file| file.as_str());
            for file in files.filter(|file| LIBRARIES.contains(&name) && file.ends_with(".rlib")) {
                let before = found.insert(name.to_owned(), PathBuf::from(file));
                assert!(before.is_none(), "there are two libraries `{name}`");
            }
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(found.len(), LIBRARIES.len(), "cargo has {found:?}: {said}");
        (deps.to_owned(), found)
    })
}

/// An error of rustc's: the line where it points, and its first line of text.
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// Without `error:`.
    pub text: String,
}

fn mistakes(said: &str) -> Vec<Mistake> {
    let mut found = Vec::new();
    for line in said.lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        if message["level"] != "error" {
            continue;
        }
        let text = message["message"].as_str().unwrap_or_default().to_owned();
        let spans = message["spans"].as_array().map(Vec::as_slice);
        let primary = spans
            .unwrap_or_default()
            .iter()
            .find(|span| span["is_primary"] == true);
        let Some(span) = primary else {
            assert!(
                text.starts_with("aborting"),
                "an error without a place: {text}"
            );
            continue;
        };
        // What a macro expands to is the caller's line.
        let mut span = span;
        while span["expansion"]["span"].is_object() {
            span = &span["expansion"]["span"];
        }
        let line = span["line_start"].as_u64().unwrap_or_default() as usize;
        found.push(Mistake { line, text });
    }
    found
}

/// The project's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
