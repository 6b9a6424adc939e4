//! Stands in for cargo in trybuild, which `tests/ui.rs` calls: checks the mistakes by rustc with the libraries that the
//! test was built with. Cargo would first check all of them again, in a target folder of trybuild's own.

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, exit};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let has = |arg: &str| args.iter().any(|found| found == arg);
    if has("metadata") {
        let cargo = env::var_os("NOMINA_CARGO").expect("tests/ui.rs names the cargo");
        let status = Command::new(cargo)
            .args(&args)
            .status()
            .expect("cargo runs");
        exit(status.code().unwrap_or(1));
    }
    // Nothing to clean, and nothing to build before.
    if !has("--message-format=json") {
        return ExitCode::SUCCESS;
    }
    let only = args.iter().position(|arg| arg == "--bin");
    let only = only.map(|at| args[at + 1].as_str());
    let manifest = fs::read_to_string("Cargo.toml").expect("trybuild's manifest");
    let mut programs = programs(&manifest);
    programs.retain(|(name, _)| only.is_none_or(|only| only == name));
    let (next, out) = (AtomicUsize::new(0), Mutex::new(std::io::stdout()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((name, path)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let messages = check(name, path);
                    let mut out = out.lock().expect("a thread that does not panic");
                    out.write_all(messages.as_bytes()).expect("trybuild reads");
                }
            });
        }
    });
    ExitCode::SUCCESS
}

/// Returns the names and files of the manifest's programs, as trybuild writes them: names before files.
fn programs(manifest: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for part in manifest.split("[[bin]]").skip(1) {
        let value = |key: &str| {
            let mut lines = part.lines();
            let line = lines.find_map(|line| line.strip_prefix(&format!("{key} = ")))?;
            Some(line.trim_matches(['"', '\'']).to_owned())
        };
        found.extend(value("name").zip(value("path")));
    }
    found
}

/// Returns a message with the root before the relative paths of its places: cargo compiles members of the workspace by
/// relative paths, and what trybuild compiles by absolute ones.
fn absolute(message: &str, root: &str) -> String {
    let mut parts = message.split("--> ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += "--> ";
        if Path::new(part).is_relative() {
            out += root;
            out += "/";
        }
        out += part;
    }
    out
}

/// Returns rustc's messages about a program in the form of cargo's, with the flags that trybuild gives to cargo.
fn check(name: &str, path: &str) -> String {
    let libraries = env::var("NOMINA_LIBRARIES").expect("tests/ui.rs names the libraries");
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = own.parent().expect("a folder of the workspace");
    let metadata = env::temp_dir().join(format!("{name}-{}.rmeta", std::process::id()));
    let output = Command::new("rustc")
        .args(["--crate-name", name, "--edition=2024", "--crate-type=bin"])
        .args(["--error-format=json", "--diagnostic-width=140", "--verbose"])
        .args(["--cfg=trybuild", "-Adead_code", "--emit=metadata", "-o"])
        .arg(&metadata)
        .args(libraries.lines())
        .arg(path)
        .current_dir(root)
        .output()
        .expect("rustc runs");
    let _ = fs::remove_file(&metadata);
    let file = Path::new(path).display().to_string().replace('\\', "\\\\");
    let said = String::from_utf8_lossy(&output.stderr);
    // A message that is not JSON is one of rustc about itself.
    assert!(said.lines().all(|line| line.starts_with('{')), "{said}");
    let message = |line: &str| {
        let line = absolute(line, &root.display().to_string());
        format!(
            "{{\"reason\":\"compiler-message\",\"target\":{{\"src_path\":\"{file}\"}},\"message\":{line}}}\n"
        )
    };
    said.lines().map(message).collect()
}
