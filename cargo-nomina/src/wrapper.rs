//! This program as cargo's `RUSTC_WRAPPER`.
//!
//! `fix` records the calls of rustc that fail, and `check` adds a cfg to one crate. Cargo's fingerprints do not include the
//! wrapper, so nothing that is built is built again.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use serde_json::json;

use crate::cargo::cargo;

/// The folder to record failed calls in.
const RECORDS: &str = "NOMINA_RECORDS";

/// The cfg to add to [`LINTED`].
const LINT: &str = "NOMINA_LINT";

/// The wrapper that the user had set.
const WRAPPED: &str = "NOMINA_WRAPPED";

/// The crate with stricter bounds under a cfg; the file names of its dependents depend on the flags that cargo gives to it.
pub const LINTED: &str = "nomina-core";

/// Variables that belong to one run of cargo, or to this module.
const TRANSIENT: [&str; 7] = [
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC_WRAPPER",
    RECORDS,
    LINT,
    WRAPPED,
];

/// A use of the wrapper.
#[derive(Clone, Copy, Debug)]
pub enum Use<'u> {
    /// Writes each failed call to a file in this folder.
    Record(&'u Path),
    /// Compiles [`LINTED`] with this cfg.
    Lint(&'u str),
}

/// Returns `cargo check` with this program as its wrapper. All crates are checked, however many fail.
pub fn check(purpose: Use<'_>) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut command = Command::new(cargo());
    command
        .args(["check", "--keep-going", "--message-format=json"])
        .env("RUSTC_WRAPPER", own);
    match purpose {
        Use::Record(folder) => command.env(RECORDS, folder),
        Use::Lint(cfg) => command.env(LINT, cfg),
    };
    if let Some(wrapped) = std::env::var_os("RUSTC_WRAPPER").filter(|wrapped| !wrapped.is_empty()) {
        command.env(WRAPPED, wrapped);
    }
    Ok(command)
}

/// Runs rustc if cargo started this program as its wrapper; `None` otherwise.
pub fn run() -> Option<ExitCode> {
    let records = std::env::var_os(RECORDS);
    let lint = std::env::var_os(LINT);
    if records.is_none() && lint.is_none() {
        return None;
    }
    let mut command: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(wrapped) = std::env::var_os(WRAPPED) {
        command.insert(0, wrapped);
    }
    let is_linted = |pair: &[OsString]| {
        pair[0] == "--crate-name" && pair[1].to_str() == Some(&LINTED.replace('-', "_"))
    };
    if let Some(cfg) = lint.filter(|_| command.windows(2).any(is_linted)) {
        command.extend([OsString::from("--cfg"), cfg]);
    }
    // Only packages that the user selected have errors that can be fixed.
    let primary = std::env::var_os("CARGO_PRIMARY_PACKAGE").is_some();
    let done = match records.map(PathBuf::from).filter(|_| primary) {
        Some(folder) => run_recorded(&command, &folder),
        None => rustc(&command).and_then(|mut rustc| rustc.status()),
    };
    Some(match done {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            code.map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            eprintln!("cargo nomina: {}: {error}", command[0].display());
            ExitCode::FAILURE
        }
    })
}

fn rustc(command: &[OsString]) -> std::io::Result<Command> {
    let (program, args) = command
        .split_first()
        .ok_or_else(|| std::io::Error::other("no program"))?;
    let mut rustc = Command::new(program);
    rustc.args(args);
    for own in [RECORDS, LINT, WRAPPED] {
        rustc.env_remove(own);
    }
    Ok(rustc)
}

/// Runs rustc, passes its output on, and records the call if it fails.
fn run_recorded(command: &[OsString], folder: &Path) -> std::io::Result<ExitStatus> {
    let mut child = rustc(command)?.stderr(Stdio::piped()).spawn()?;
    let mut said = String::new();
    for line in child
        .stderr
        .take()
        .into_iter()
        .flat_map(|pipe| BufReader::new(pipe).lines())
    {
        let line = line?;
        writeln!(std::io::stderr(), "{line}")?;
        said += &line;
        said.push('\n');
    }
    let status = child.wait()?;
    if !status.success() {
        let words: Option<Vec<&str>> = command.iter().map(|word| word.to_str()).collect();
        let env: serde_json::Map<String, serde_json::Value> = std::env::vars_os()
            .filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.into_string().ok()?.into()))
            })
            .filter(|(name, _)| !TRANSIENT.contains(&name.as_str()))
            .collect();
        let record = json!({
            "command": words.ok_or_else(|| std::io::Error::other("an argument is not UTF-8"))?,
            "env": env,
            "folder": std::env::current_dir()?.to_str(),
            "said": said,
        });
        let file = folder.join(format!("{}.json", std::process::id()));
        fs::write(file, record.to_string())?;
    }
    Ok(status)
}
