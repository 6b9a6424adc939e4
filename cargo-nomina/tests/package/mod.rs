//! A package of programs with mistakes, compiled with the built library.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// A package whose programs are mistakes.
#[derive(Debug)]
pub struct Package {
    pub folder: PathBuf,
    pub out: PathBuf,
    deps: PathBuf,
    nomina: PathBuf,
}

impl Package {
    pub fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        let out = folder.join("target");
        fs::create_dir_all(folder.join("src/bin")).unwrap();
        fs::create_dir_all(&out).unwrap();
        let manifest = "[package]\nname = \"mistakes\"\nedition = \"2024\"\n\n[workspace]\n";
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        let own = std::env::current_exe().unwrap();
        let deps = own.parent().unwrap().to_owned();
        let nomina = built(&deps, modified(&own));
        Self {
            folder,
            out,
            deps,
            nomina,
        }
    }

    pub fn path(name: &str) -> String {
        format!("src/bin/{}.rs", name.replace('/', "__"))
    }

    pub fn write(&self, name: &str, program: &str) {
        fs::write(self.folder.join(Self::path(name)), program).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(Self::path(name))).unwrap()
    }

    /// Returns rustc's errors about a program, as cargo would write them; nothing if it compiles.
    pub fn check(&self, name: &str) -> String {
        let output = Command::new("rustc")
            .current_dir(&self.folder)
            .args([
                "--edition=2024",
                "--emit=metadata",
                "--error-format=json",
                "--cap-lints=allow",
            ])
            .args(["--crate-name", "mistake", "-L"])
            .arg(format!("dependency={}", self.deps.display()))
            .arg(format!("--extern=nomina={}", self.nomina.display()))
            .arg("-o")
            .arg(self.out.join(name.replace('/', "__")))
            .arg(Self::path(name))
            .output()
            .unwrap();
        if output.status.success() {
            return String::new();
        }
        let text = String::from_utf8(output.stderr).unwrap();
        let line = |line| format!("{{\"reason\":\"compiler-message\",\"message\":{line}}}\n");
        text.lines().map(line).collect()
    }

    /// Returns the messages of all programs, by their names.
    pub fn check_all(&self, names: &[String]) -> BTreeMap<String, String> {
        let next = AtomicUsize::new(0);
        let said = Mutex::new(BTreeMap::new());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let messages = self.check(name);
                        said.lock().unwrap().insert(name.clone(), messages);
                    }
                });
            }
        });
        said.into_inner().unwrap()
    }

    /// Runs `fix` on messages, and returns what it printed, or else its error.
    pub fn fix(&self, options: &[&str], messages: &str) -> Result<String, String> {
        let file = self.out.join("messages.json");
        fs::write(&file, messages).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-nomina"))
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.out)
            .args(["nomina", "fix"])
            .args(options)
            .arg("--messages")
            .arg(&file)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stderr))
        }
    }

    /// Runs the command with cargo, which finds the built library by its flags, and returns what it printed on both
    /// outputs.
    pub fn run(&self, args: &[&str]) -> (String, String) {
        let flags = [
            "-L".to_owned(),
            format!("dependency={}", self.deps.display()),
            format!("--extern=nomina={}", self.nomina.display()),
        ];
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-nomina"))
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.out)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
            .arg("nomina")
            .args(args)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }
}

fn modified(file: &Path) -> SystemTime {
    fs::metadata(file).unwrap().modified().unwrap()
}

/// Returns the library that this test was built with: the newest with its features that is no newer than the test.
fn built(deps: &Path, test: SystemTime) -> PathBuf {
    let entries = fs::read_dir(deps).unwrap();
    let is_complete = |path: &Path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let fingerprint = name.trim_start_matches("lib").to_owned() + "/lib-nomina.json";
        let text = fs::read_to_string(deps.join("../.fingerprint").join(fingerprint));
        let value = serde_json::from_str::<serde_json::Value>(&text.unwrap_or_default());
        value.is_ok_and(|value| value["features"].to_string().contains("linalg"))
    };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libnomina-") && name.ends_with(".rlib") && modified(path) <= test
        })
        .max_by_key(|path| (is_complete(path), modified(path)))
        .expect("`nomina` is a dependency of a dependency")
}
