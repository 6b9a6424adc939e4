//! Compiles a module that was written, and runs its test, in a package of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cargo::{Workspace, cargo};

/// The crates that a module uses, with their features.
const CRATES: [(&str, &str); 2] = [("nomina", ""), ("nomina-io", "\"safetensors\"")];

/// Compiles the module in `out` and runs its test; returns the line of the report.
///
/// # Errors
/// If it does not compile, or its outputs are not those of the interpreter.
pub fn check(out: &Path) -> Result<String, String> {
    let place = |path: &Path, error| format!("{}: {error}", path.display());
    let module = out.join("mod.rs");
    let module = module
        .canonicalize()
        .map_err(|error| place(&module, error))?;
    let workspace = Workspace::find().ok();
    let package = match &workspace {
        Some(workspace) => workspace.own_target().join("import"),
        None => std::env::temp_dir().join("nomina-import"),
    };
    fs::create_dir_all(package.join("src")).map_err(|error| place(&package, error))?;
    let save = |name: &str, text: &str| {
        let path = package.join(name);
        fs::write(&path, text).map_err(|error| place(&path, error))
    };
    save("Cargo.toml", &manifest(workspace.is_some()))?;
    save(
        "src/lib.rs",
        &format!("#[path = {module:?}]\npub mod model;\n"),
    )?;
    // The versions that the user has: nothing is fetched, and nothing is newer.
    if let Some(workspace) = &workspace {
        let _ = fs::copy(
            workspace.root.join("Cargo.lock"),
            package.join("Cargo.lock"),
        );
    }
    let output = Command::new(cargo())
        .args(["test", "--lib", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(package.join("target"))
        .args(["--", "--nocapture"])
        .output()
        .map_err(|error| format!("cargo could not start: {error}"))?;
    let [said, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if !output.status.success() {
        let said = if said.contains("test result") {
            said
        } else {
            errors
        };
        return Err(format!(
            "the module {} is wrong:\n{}",
            module.display(),
            said.trim()
        ));
    }
    let Some(largest) = largest_difference(&said) else {
        return Err(format!(
            "the module {} has no test that compares:\n{said}",
            module.display()
        ));
    };
    Ok(format!(
        "checked: it compiles, and its outputs equal the interpreter's on random inputs (largest difference {largest:.1e})"
    ))
}

/// The largest of the relative differences that a test prints.
fn largest_difference(said: &str) -> Option<f64> {
    let numbers = said.lines().filter_map(|line| {
        let (_, rest) = line.split_once("greatest difference ")?;
        let (difference, largest) = rest.split_once(" of ")?;
        let [difference, largest] =
            [difference, largest].map(|text| text.trim().parse::<f64>().ok());
        Some(difference? / largest?.max(f64::MIN_POSITIVE))
    });
    numbers.reduce(f64::max)
}

/// The manifest: with the user's own nomina if its workspace has one.
fn manifest(in_workspace: bool) -> String {
    let found = if in_workspace { packages() } else { Vec::new() };
    let mut text = String::from(
        "[workspace]\n\n[package]\nname = \"nomina-import-check\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [profile.dev]\nopt-level = 1\ndebug = false\n\n[dependencies]\n",
    );
    for (name, features) in CRATES {
        let source = match found.iter().find(|package| package.0 == name) {
            Some((_, folder)) => format!("path = {folder:?}"),
            None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
        };
        let features = if features.is_empty() {
            String::new()
        } else {
            format!(", default-features = false, features = [{features}]")
        };
        text += &format!("{name} = {{ {source}{features} }}\n");
    }
    text
}

/// The names and folders of the packages that the current workspace uses.
fn packages() -> Vec<(String, PathBuf)> {
    let output = Command::new(cargo())
        .args(["metadata", "--format-version", "1"])
        .output();
    let value: Option<Value> = output
        .ok()
        .and_then(|output| serde_json::from_slice(&output.stdout).ok());
    let packages = value
        .as_ref()
        .and_then(|value| value["packages"].as_array());
    let package = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        Some((
            package["name"].as_str()?.to_owned(),
            manifest.parent()?.to_owned(),
        ))
    };
    packages.into_iter().flatten().filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_largest_relative_difference_is_found() {
        let said = "running 1 test\noutput `a`: greatest difference 2e-7 of 4e0\n\
                    output `b`: greatest difference 1e-6 of 1e1\ntest result: ok.";
        assert_eq!(super::largest_difference(said), Some(1e-7));
        assert_eq!(super::largest_difference("test result: ok."), None);
    }
}
