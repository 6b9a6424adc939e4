//! Compares and writes generated files.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Rewrites every file that differs from its text, then panics with their list.
pub fn all(files: &[(&str, String)]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("core lies in the workspace");
    let mut stale = Vec::new();
    for (path, text) in files {
        let text = if path.ends_with(".rs") {
            rustfmt(text)
        } else {
            text.clone()
        };
        let file = root.join(path);
        let old = std::fs::read_to_string(&file)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        if old != text {
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder).expect("the folder of a generated file");
            }
            std::fs::write(&file, text).expect("a generated file is writable");
            stale.push(*path);
        }
    }
    assert!(
        stale.is_empty(),
        "stale files were rewritten, commit them: {}",
        stale.join(", ")
    );
}

/// Formats Rust text, so that generated files pass `cargo fmt --check`.
fn rustfmt(text: &str) -> String {
    let mut child = Command::new("rustfmt")
        .args([
            "--edition",
            "2024",
            "--config",
            "max_width=100,use_field_init_shorthand=true",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt is part of the toolchain file");
    let mut stdin = child.stdin.take().expect("piped");
    let input = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("rustfmt runs");
    writer
        .join()
        .expect("no panic")
        .expect("rustfmt reads its input");
    assert!(
        output.status.success(),
        "generated text does not parse:\n{text}"
    );
    String::from_utf8(output.stdout).expect("rustfmt writes UTF-8")
}
