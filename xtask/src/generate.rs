//! Generated files: an integration test `generate_*` of each package writes them. It rewrites a
//! stale file and then fails, so a test that fails once and then passes has done its work; one that
//! fails twice is broken.

use std::path::{Path, PathBuf};

use crate::step::{Command, Outcome, root};

/// The packages that may hold generators, with their folders.
const PACKAGES: [(&str, &str); 5] = [
    ("nomina-core", "core"),
    ("nomina-macros", "macros"),
    ("nomina-runtime", "runtime"),
    ("nomina", "."),
    ("nomina-ui-tests", "ui-tests"),
];

/// Returns one `cargo test` per package with generators.
pub fn commands() -> Vec<Command> {
    let mut commands = Vec::new();
    for (package, folder) in PACKAGES {
        let names = generators(&root().join(folder).join("tests"));
        if names.is_empty() {
            continue;
        }
        let mut command = Command::cargo(["test", "--quiet", "-p", package, "--no-fail-fast"]);
        for name in names {
            command = command.args(["--test", &name]);
        }
        commands.push(command);
    }
    commands
}

/// Returns the stems of `generate_*.rs` in a folder, sorted.
fn generators(tests: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(tests) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|stem| stem.starts_with("generate"))
        .collect();
    names.sort();
    names
}

/// Rewrites stale files.
pub fn rewrite() -> Outcome {
    for command in commands() {
        println!("== {}", command.line());
        if command.run().is_ok() {
            continue;
        }
        println!("== rewritten; once more to see that it is stable");
        command
            .run()
            .map_err(|error| format!("a generator fails twice: {error}"))?;
    }
    println!("generated files are up to date");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_are_found_by_name() {
        let folder = std::env::temp_dir().join(format!("xtask-generators-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for file in [
            "generate_b.rs",
            "generate_a.rs",
            "dims.rs",
            "generate_c.txt",
        ] {
            std::fs::write(folder.join(file), "").unwrap();
        }
        let found = generators(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, ["generate_a", "generate_b"]);
    }
}
