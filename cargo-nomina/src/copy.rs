//! A copy of the workspace with some files changed, in which rustc runs again.
//!
//! Only the folders on the way to a changed file are new; everything else is a link. A copy therefore costs as little as
//! its changed files, and rustc finds modules, included files and dependencies where it found them before.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::Workspace;
use crate::edit::{self, Edit};
use crate::message::{self, Message};
use crate::record::Unit;

/// A file's new text, and the edits that lead to it.
#[derive(Clone, Debug)]
pub struct Change {
    pub text: String,
    pub edits: Vec<Edit>,
}

impl Change {
    pub fn new(old: &str, text: String) -> Self {
        let edits = edit::between(old, &text);
        Self { text, edits }
    }
}

/// The changed files, by their paths relative to the root of the workspace.
pub type Changes = BTreeMap<PathBuf, Change>;

/// A place for copies, removed at the end.
#[derive(Debug)]
pub struct Copies<'w> {
    workspace: &'w Workspace,
    root: PathBuf,
    folder: PathBuf,
}

impl Drop for Copies<'_> {
    fn drop(&mut self) {
        // Nothing depends on its removal.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl<'w> Copies<'w> {
    /// Creates the place in cargo's build folder.
    pub fn new(workspace: &'w Workspace) -> Result<Self, String> {
        let folder = workspace
            .own_target()
            .join(format!("copy-{}", std::process::id()));
        let created = fs::create_dir_all(&folder).and_then(|()| {
            Ok(Self {
                root: workspace.root.canonicalize()?,
                workspace,
                folder: folder.canonicalize()?,
            })
        });
        created.map_err(|error| format!("{}: {error}", folder.display()))
    }

    /// Compiles a crate with changed files, and returns its errors.
    pub fn compile(&self, unit: &Unit, changes: &Changes) -> Result<Vec<Message>, String> {
        let source = self.folder.join("source");
        let compiled = self
            .mirror(&self.root, &source, Path::new(""), changes)
            .and_then(|()| self.run(unit, &source));
        let removed = fs::remove_dir_all(&source);
        compiled
            .and_then(|messages| removed.map(|()| messages))
            .map_err(|error| format!("{}: {error}", source.display()))
    }

    /// Writes the changed files below `at`, and links everything else.
    fn mirror(&self, from: &Path, to: &Path, at: &Path, changes: &Changes) -> io::Result<()> {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (path, at) = (to.join(entry.file_name()), at.join(entry.file_name()));
            if let Some(change) = changes.get(&at) {
                fs::write(path, &change.text)?;
            } else if changes.keys().any(|changed| changed.starts_with(&at)) {
                self.mirror(&entry.path(), &path, &at, changes)?;
            } else if !self.folder.starts_with(entry.path()) {
                link(&entry.path(), &path)?;
            }
        }
        Ok(())
    }

    /// Runs rustc in a copy, without cargo: the command's dependencies are those that cargo built.
    fn run(&self, unit: &Unit, source: &Path) -> io::Result<Vec<Message>> {
        let moved = |path: &Path| {
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            path.strip_prefix(&self.root)
                .map(|rest| source.join(rest))
                .map_err(|_| io::Error::other("rustc ran outside of the workspace"))
        };
        let root_file = unit
            .root_file()
            .ok_or_else(|| io::Error::other("no source among rustc's arguments"))?;
        let mut command = Command::new(&unit.command[0]);
        let mut args = unit.command.iter().enumerate().skip(1).peekable();
        while let Some((at, arg)) = args.next() {
            let next = args.peek().map_or("", |(_, next)| next.as_str());
            if at == root_file && Path::new(arg).is_absolute() {
                command.arg(moved(Path::new(arg))?);
            } else if ["--out-dir", "--emit"].contains(&arg.as_str())
                || (arg == "-C" && next.starts_with("incremental="))
            {
                args.next();
            } else if !arg.starts_with("--emit=") {
                command.arg(arg);
            }
        }
        let output = command
            .args(["--emit=metadata", "--out-dir"])
            .arg(&self.folder)
            .env_clear()
            .envs(&unit.env)
            .current_dir(moved(&unit.folder)?)
            .output()?;
        let mut messages = message::read_rustc(&String::from_utf8_lossy(&output.stderr));
        if !output.status.success() && messages.is_empty() {
            return Err(io::Error::other("rustc failed without a message"));
        }
        self.workspace
            .localize(&mut messages, |file| match file.strip_prefix(source) {
                Ok(file) => self.root.join(file),
                Err(_) => unit.folder.join(file),
            });
        Ok(messages)
    }
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

/// Links files and folders; symbolic links need a privilege here.
#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(|_| ()));
    }
    // A build folder, which is large and contains no sources.
    if from.join("CACHEDIR.TAG").exists() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        link(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
