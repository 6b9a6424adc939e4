//! The calls of rustc that fail in a check, recorded so that a changed copy can be compiled the same way.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::message::{self, Message};
use crate::wrapper::{self, Use};

/// A call of rustc that failed.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables set for it.
    pub env: BTreeMap<String, String>,
    pub folder: PathBuf,
    /// Its errors.
    pub messages: Vec<Message>,
}

impl Unit {
    /// Returns the position of the crate's root file among the arguments.
    pub fn root_file(&self) -> Option<usize> {
        let is_source = |arg: &String| {
            let path = Path::new(arg);
            path.extension().is_some_and(|ending| ending == "rs")
        };
        self.command.iter().position(is_source)
    }
}

/// Runs `cargo check`, and returns the calls of rustc that failed. Cargo's exit status is ignored: it fails if there are
/// errors, which is the usual case.
pub fn check(args: &[String], folder: &Path) -> Result<Vec<Unit>, String> {
    let says = |error: std::io::Error| format!("{}: {error}", folder.display());
    let records = folder.join(format!("records-{}", std::process::id()));
    create_private(&records).map_err(says)?;
    let mut command = wrapper::check(Use::Record(&records))?;
    let status = command.args(args).stdout(Stdio::null()).status();
    let units = load(&records).map_err(says);
    fs::remove_dir_all(&records).map_err(says)?;
    status.map_err(|error| format!("cargo could not start: {error}"))?;
    units
}

/// Creates a folder that other users cannot read: the records contain the environment.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn load(records: &Path) -> std::io::Result<Vec<Unit>> {
    let mut units = Vec::new();
    for entry in fs::read_dir(records)? {
        let value: Value = serde_json::from_slice(&fs::read(entry?.path())?)?;
        units.push(Unit {
            command: serde_json::from_value(value["command"].clone())?,
            env: serde_json::from_value(value["env"].clone())?,
            folder: PathBuf::from(value["folder"].as_str().unwrap_or_default()),
            messages: message::read_rustc(value["said"].as_str().unwrap_or_default()),
        });
    }
    units.sort_by(|a, b| a.command.cmp(&b.command));
    Ok(units)
}
