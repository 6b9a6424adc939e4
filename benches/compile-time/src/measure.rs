//! A scratch crate that depends on nomina by path, and the user time of checking it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The better of this many runs counts: what disturbs a run only adds to it.
const RUNS: usize = 3;

pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Writes the crate below `target/` and checks its dependencies, so that a measured run
    /// checks the program alone.
    pub fn create() -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root
            .canonicalize()
            .map_err(|error| format!("the workspace's root: {error}"))?;
        let scratch = Self {
            folder: root.join("target/compile-time"),
        };
        // An own workspace, with the root's lock file: the same dependencies, unresolved anew.
        let manifest = format!(
            "[package]\nname = \"compile-time-scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nnomina = {{ path = {:?} }}\n\n[workspace]\n",
            root.display().to_string()
        );
        scratch.write("Cargo.toml", &manifest)?;
        std::fs::copy(root.join("Cargo.lock"), scratch.folder.join("Cargo.lock"))
            .map_err(|error| format!("Cargo.lock: {error}"))?;
        scratch.check("//! Empty.\nuse nomina as _;\nfn main() {}\n")?;
        Ok(scratch)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(file);
        let folder = path.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Seconds of user time of `cargo check` of `program`.
    pub fn check(&self, program: &str) -> Result<f64, String> {
        let mut best = f64::INFINITY;
        for run in 0..RUNS {
            // A text of its own for each run, or cargo finds nothing to do.
            self.write("src/main.rs", &format!("{program}// run {run}\n"))?;
            let before = children_user_seconds()?;
            let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
                .args(["check", "--quiet"])
                .current_dir(&self.folder)
                .env("CARGO_INCREMENTAL", "0")
                .env("CARGO_TARGET_DIR", self.folder.join("target"))
                .env_remove("RUSTFLAGS")
                .stdin(Stdio::null())
                .output()
                .map_err(|error| format!("cargo check could not start: {error}"))?;
            let seconds = children_user_seconds()? - before;
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr);
                let head: Vec<&str> = text.lines().take(40).collect();
                return Err(format!(
                    "the program does not compile:\n{}",
                    head.join("\n")
                ));
            }
            best = best.min(seconds);
        }
        Ok(best)
    }
}

/// User time of all children that have ended, in Linux's ticks of 10 ms.
fn children_user_seconds() -> Result<f64, String> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat")
        .map_err(|error| format!("user time is read from /proc/self/stat: {error}"))?;
    parse_children_user(&stat)
        .map(|ticks| ticks as f64 / TICKS_PER_SECOND)
        .ok_or_else(|| format!("/proc/self/stat reads `{stat}`"))
}

/// Field 16 (`cutime`); the second field may hold spaces and ends at the last parenthesis.
fn parse_children_user(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(13)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_time_is_field_sixteen() {
        let stat = "1 (a (b) c) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20";
        assert_eq!(parse_children_user(stat), Some(16));
        assert_eq!(parse_children_user("1 (a) S 4"), None);
    }
}
