//! The running cargo, and the current workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::message::Message;

/// Returns the cargo that started this command.
pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The workspace, as described by `cargo metadata`.
#[derive(Debug)]
pub struct Workspace {
    pub root: PathBuf,
    /// The build folder of cargo.
    pub target: PathBuf,
    /// The folders of the packages.
    pub packages: Vec<PathBuf>,
}

impl Workspace {
    /// Finds the workspace of the current folder.
    pub fn find() -> Result<Self, String> {
        let output = Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .output()
            .map_err(|error| format!("cargo could not start: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        let value: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("bad output of `cargo metadata`: {error}"))?;
        let path = |value: &Value| {
            let path = value.as_str().map(PathBuf::from);
            path.ok_or("`cargo metadata` names no folder")
        };
        let manifests = value["packages"].as_array().into_iter().flatten();
        Ok(Self {
            root: path(&value["workspace_root"])?,
            target: path(&value["target_directory"])?,
            packages: manifests
                .filter_map(|package| path(&package["manifest_path"]).ok())
                .filter_map(|manifest| manifest.parent().map(PathBuf::from))
                .collect(),
        })
    }

    /// Returns the folder of this command in cargo's build folder.
    pub fn own_target(&self) -> PathBuf {
        self.target.join("nomina")
    }

    /// Writes the files of messages relative to the root, and marks those of the workspace. `path` returns the path of a
    /// file that rustc names.
    pub fn localize(&self, messages: &mut [Message], path: impl Fn(&Path) -> PathBuf) {
        for message in messages {
            let children = message
                .children
                .iter_mut()
                .flat_map(|child| &mut child.places);
            for place in message.places.iter_mut().chain(children) {
                if let Some(own) = self.own(&path(&place.file)) {
                    place.file = own;
                    place.own = true;
                }
            }
        }
    }

    /// Returns a file named by rustc relative to the root; `None` if it is not the workspace's own.
    fn own(&self, file: &Path) -> Option<PathBuf> {
        let root = self.root.canonicalize().ok()?;
        let path = self.root.join(file).canonicalize().ok()?;
        let built = self
            .target
            .canonicalize()
            .is_ok_and(|target| path.starts_with(target));
        let inside = self
            .packages
            .iter()
            .filter_map(|package| package.canonicalize().ok())
            .any(|package| path.starts_with(package));
        if built || !inside {
            return None;
        }
        path.strip_prefix(&root).ok().map(PathBuf::from)
    }
}
