//! The compiler's libraries.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with libnvrtc and its dependencies.
pub struct Library(PathBuf);

/// The reason why there is no library.
pub enum Trouble {
    /// It is not available on this machine.
    Missing(String),
    /// It should be available, but something failed.
    Wrong(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Missing(why) | Self::Wrong(why)) = self;
        f.write_str(why)
    }
}

/// The exit code of `fetch.py` if the libraries cannot be downloaded.
const CANNOT: i32 = 3;

impl Library {
    /// Looks for the library in a folder, and downloads it there if `fetch` is set.
    pub fn find(into: &Path, fetch: bool) -> Result<Self, Trouble> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new("python3");
        command.arg(root.join("scripts/cuda/fetch.py"));
        command.args((!fetch).then_some("--offline"));
        let output = command.arg("--into").arg(into).output().map_err(|error| {
            Trouble::Missing(format!("`python3`, which fetches the compiler: {error}"))
        })?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        match output.status.code() {
            Some(0) => {}
            Some(CANNOT) => return Err(Trouble::Missing(said)),
            _ => return Err(Trouble::Wrong(format!("scripts/cuda/fetch.py: {said}"))),
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let folder = PathBuf::from(printed.lines().last().unwrap_or_default());
        if folder.is_dir() {
            Ok(Self(folder))
        } else {
            let what = format!("scripts/cuda/fetch.py names no folder but `{printed}`");
            Err(Trouble::Wrong(what))
        }
    }

    /// Sets the search path of a command. The system reads the variable when a process starts, so
    /// only child processes use the library.
    pub fn show(&self, command: &mut Command) {
        let before = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let folders = std::iter::once(self.0.clone()).chain(std::env::split_paths(&before));
        if let Ok(joined) =
            std::env::join_paths(folders.filter(|path| !path.as_os_str().is_empty()))
        {
            command.env("LD_LIBRARY_PATH", joined);
        }
    }
}
