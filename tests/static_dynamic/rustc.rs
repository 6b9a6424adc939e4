//! One `cargo check` over many lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::calls::Call;

/// The text of the first error of each line that does not compile.
pub fn failing_lines(calls: &[Call]) -> BTreeMap<usize, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let krate = target().join("static_dynamic");
    fs::create_dir_all(krate.join("src")).expect("a folder for the crate");
    let manifest = format!(
        "[package]\nname = \"static-dynamic\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nnomina = {{ path = {root:?} }}\n\n[workspace]\n\n{}",
        profiles(&fs::read_to_string(root.join("Cargo.toml")).expect("the manifest"))
    );
    fs::write(krate.join("Cargo.toml"), manifest).expect("a writable manifest");
    // The same versions, so that nothing is fetched and what is built is used again.
    fs::copy(root.join("Cargo.lock"), krate.join("Cargo.lock")).expect("the lock file");
    let mut source = String::from(
        "#![allow(unused, non_snake_case)]\nuse nomina::prelude::*; dims! { A, B, C, D, E, F }\n",
    );
    let head = source.lines().count();
    for (i, call) in calls.iter().enumerate() {
        source += &format!("fn call_{i}{}\n", call.text());
    }
    fs::write(krate.join("src/lib.rs"), source).expect("a writable source");
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--offline", "--message-format=json"])
        .current_dir(&krate)
        .env("CARGO_TARGET_DIR", target())
        .env_remove("RUSTFLAGS")
        .stderr(Stdio::piped())
        .output()
        .expect("cargo runs");
    let mut failing = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let text = message["message"].as_str().unwrap_or_default().to_owned();
        let spans = message["spans"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let Some(span) = spans.iter().find(|span| span["is_primary"] == true) else {
            assert!(
                text.starts_with("aborting"),
                "an error without a place: {text}"
            );
            continue;
        };
        let line = span["line_start"].as_u64().unwrap_or_default() as usize;
        assert!(line > head, "the crate itself does not compile: {text}");
        failing.entry(line - 1 - head).or_insert(text);
    }
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() == failing.is_empty(),
        "cargo check failed: {told}"
    );
    failing
}

/// Where this test was built.
fn target() -> PathBuf {
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
