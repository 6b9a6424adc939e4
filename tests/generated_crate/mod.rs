//! A crate that a test writes, and what rustc says about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What the dev-dependencies of the workspace turn on in what `nomina` depends on, beside `cuda`: with other features all
/// of it would be built once more. `cargo xtask build-time tests` shows what is.
const FEATURES: &str = "\
bitflags = { version = \"2\", features = [\"std\"] }
once_cell = \"1\"

[build-dependencies]
proc-macro2 = { version = \"1\", features = [\"span-locations\"] }
";

/// A crate below the target folder, outside the workspace, with the workspace's versions.
pub struct Krate {
    folder: PathBuf,
}

impl Krate {
    /// Writes `Cargo.toml`; `dependencies` are its lines.
    pub fn new(name: &str, dependencies: &str) -> Self {
        let root = root();
        let folder = target().join(name);
        fs::create_dir_all(folder.join("src")).expect("a folder for the crate");
        let own = fs::read_to_string(root.join("Cargo.toml")).expect("the manifest");
        let package = name.replace('_', "-");
        let manifest = format!(
            "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nnomina = {{ path = {root:?}, features = [\"cuda\"] }}\n{dependencies}{FEATURES}\n[workspace]\n\n{}\n\
             # Much code that runs once.\n[profile.dev.package.{package}]\nopt-level = 0\n",
            package,
            profiles(&own)
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("a writable manifest");
        // The same versions, so that nothing is fetched and what is built is used again.
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");
        Self { folder }
    }

    /// Writes a source file.
    pub fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join("src").join(file), text).expect("a writable source");
    }

    /// Runs cargo on it, in this test's target folder.
    pub fn cargo(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO"))
            .args(args)
            .args(["--quiet", "--offline"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", target())
            .env_remove("RUSTFLAGS")
            .stderr(Stdio::piped())
            .output()
            .expect("cargo runs")
    }

    /// Builds it, and gives the errors. Where there are some, rustc makes no code, and a check would not be faster: it
    /// takes other metadata of the dependencies, which nothing else asks for.
    pub fn build(&self) -> Vec<Mistake> {
        let output = self.cargo(&["build", "--message-format=json"]);
        let mistakes = mistakes(&output);
        assert!(
            output.status.success() == mistakes.is_empty(),
            "cargo failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        mistakes
    }
}

/// An error of rustc's: the line where it points, and its first line of text.
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// Without `error:`.
    pub text: String,
}

fn mistakes(output: &Output) -> Vec<Mistake> {
    let mut found = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let message = &message["message"];
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

/// Where this test was built.
pub fn target() -> PathBuf {
    let exe = std::env::current_exe().expect("a running test");
    exe.ancestors()
        .nth(3)
        .expect("target/profile/deps/test")
        .to_path_buf()
}

/// The profiles of a manifest: with others, every dependency would be built once more.
fn profiles(manifest: &str) -> String {
    manifest
        .find("[profile")
        .map_or(String::new(), |at| manifest[at..].to_owned())
}
