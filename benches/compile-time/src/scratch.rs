//! Generated packages that depend on nomina by path, and the resources that cargo uses for them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::usage::{self, Usage};

/// A package in the scratch folder, and its dependencies on others.
pub struct Package {
    /// The name of the package and of its folder.
    pub name: &'static str,
    /// Names of other generated packages, or `nomina-mesh`.
    pub dependencies: &'static [&'static str],
}

/// A single program.
pub const PROGRAM: &[Package] = &[Package {
    name: "program",
    dependencies: &[],
}];

/// A program of tensors over a mesh.
pub const ON_A_MESH: &[Package] = &[Package {
    name: "program",
    dependencies: &["nomina-mesh"],
}];

/// A program of labelled tensors, whose feature the datasets turn on.
pub const WITH_LABELS: &[Package] = &[Package {
    name: "program",
    dependencies: &["nomina-data"],
}];

/// The source of each package, in the order of the packages.
pub type Texts = Vec<String>;

/// The folders in which scratch packages are written and built.
pub struct Place {
    pub folder: PathBuf,
    pub target: PathBuf,
    /// Whether to measure rustc's next trait solver, with a nightly toolchain.
    pub next_solver: bool,
}

/// Returns the workspace's root.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap_or(root)
}

impl Place {
    /// Returns a place below cargo's target folder.
    pub fn below_target(next_solver: bool) -> Self {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.unwrap_or_else(|| PathBuf::from("target"));
        let name = if next_solver {
            "compile-time-next-solver"
        } else {
            "compile-time"
        };
        let folder = root().join(target).join(name);
        Self {
            target: folder.join("target"),
            folder,
            next_solver,
        }
    }
}

/// The cargo command to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    Check,
    Build,
}

pub struct Scratch {
    folder: PathBuf,
    target: PathBuf,
    packages: &'static [Package],
    next_solver: bool,
    /// Makes each source text unique, so that cargo has to compile it.
    runs: std::cell::Cell<usize>,
}

impl Scratch {
    /// Writes the packages' manifests; the last package is the program.
    pub fn create(place: &Place, name: &str, packages: &'static [Package]) -> Result<Self, String> {
        let root = root();
        let scratch = Self {
            folder: place.folder.join(name),
            target: place.target.clone(),
            packages,
            next_solver: place.next_solver,
            runs: std::cell::Cell::new(0),
        };
        let members: Vec<&str> = packages.iter().map(|package| package.name).collect();
        // A separate workspace with the root's lock file, so that the dependencies are the same.
        let manifest = format!("[workspace]\nmembers = {members:?}\nresolver = \"3\"\n");
        scratch.write("Cargo.toml", &manifest)?;
        for package in packages {
            let mut manifest = format!(
                "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [dependencies]\nnomina = {{ path = {root:?} }}\n",
                package.name
            );
            for other in package.dependencies {
                let path = match *other {
                    "nomina-mesh" => root.join("mesh"),
                    "nomina-data" => root.join("data"),
                    other => Path::new("..").join(other),
                };
                manifest.push_str(&format!("{other} = {{ path = {path:?} }}\n"));
            }
            scratch.write(&format!("{}/Cargo.toml", package.name), &manifest)?;
        }
        std::fs::copy(root.join("Cargo.lock"), scratch.folder.join("Cargo.lock"))
            .map_err(|error| format!("Cargo.lock: {error}"))?;
        Ok(scratch)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(file);
        let folder = path.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Checks or builds the dependencies, so that a measured run compiles only the packages.
    pub fn prepare(&self, how: How) -> Result<(), String> {
        let empty = "//! Empty.\nuse nomina as _;\n#[allow(unused)]\nfn main() {}\n";
        let texts = self.packages.iter().map(|_| empty.to_owned()).collect();
        self.once(how, &texts, false).map(drop)
    }

    /// Measures cargo on these texts; returns the best of `runs`.
    pub fn measure(&self, how: How, texts: &Texts, runs: usize) -> Result<Usage, String> {
        let mut best = self.once(how, texts, false)?;
        for _ in 1..runs {
            best = best.better(self.once(how, texts, false)?);
        }
        Ok(best)
    }

    /// Measures checks after edits: from the first text to the second, and so on; returns the best.
    pub fn recheck(&self, first: &Texts, edits: &[Texts]) -> Result<Usage, String> {
        self.once(How::Check, first, true)?;
        let mut best: Option<Usage> = None;
        for edit in edits {
            let usage = self.once(How::Check, edit, true)?;
            best = Some(best.map_or(usage, |best| best.better(usage)));
        }
        best.ok_or_else(|| "no edit to measure".to_owned())
    }

    /// Returns the size in bytes of the program as last built.
    pub fn program_size(&self) -> Result<u64, String> {
        let path = self.program();
        std::fs::metadata(&path)
            .map(|data| data.len())
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Runs the program as last built, and returns its output.
    pub fn output(&self) -> Result<String, String> {
        let output = Command::new(self.program())
            .output()
            .map_err(|error| format!("{}: {error}", self.program().display()))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the program fails: {text}"));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn program(&self) -> PathBuf {
        let name = self.packages.last().map_or("program", |last| last.name);
        self.target.join("debug").join(name)
    }

    fn once(&self, how: How, texts: &Texts, incremental: bool) -> Result<Usage, String> {
        let run = self.runs.get();
        self.runs.set(run + 1);
        for (i, (package, text)) in self.packages.iter().zip(texts).enumerate() {
            let file = if i + 1 == self.packages.len() {
                "main.rs"
            } else {
                "lib.rs"
            };
            // Make the text of each run unique; otherwise cargo has nothing to do.
            let text = format!("{text}// run {run}\n");
            self.write(&format!("{}/src/{file}", package.name), &text)?;
        }
        let mut command = cargo(self.next_solver);
        command
            .args(match how {
                How::Check => ["check", "--quiet", "--offline"],
                How::Build => ["build", "--quiet", "--offline"],
            })
            .current_dir(&self.folder)
            .env("CARGO_INCREMENTAL", if incremental { "1" } else { "0" })
            .env("CARGO_TARGET_DIR", &self.target);
        finished(&mut command)
    }
}

/// Measures the check of `nomina-core` alone, after its dependencies are checked.
pub fn check_core(place: &Place, runs: usize) -> Result<Usage, String> {
    let target = place.folder.join("core");
    let mut best: Option<Usage> = None;
    // The first run checks the dependencies.
    for run in 0..=runs {
        let cargo_on_core = |task| {
            let mut command = cargo(place.next_solver);
            command
                .args([task, "--quiet", "--offline", "-p", "nomina-core"])
                .current_dir(root())
                .env("CARGO_INCREMENTAL", "0")
                .env("CARGO_TARGET_DIR", &target);
            command
        };
        finished(&mut cargo_on_core("clean"))?;
        let usage = finished(&mut cargo_on_core("check"))?;
        if run > 0 {
            best = Some(best.map_or(usage, |best| best.better(usage)));
        }
    }
    best.ok_or_else(|| "no run to measure".to_owned())
}

/// Returns the cargo that runs this program, or nightly's with the next trait solver.
fn cargo(next_solver: bool) -> Command {
    let mut command = Command::new(match (next_solver, std::env::var("CARGO")) {
        (false, Ok(cargo)) => cargo,
        _ => "cargo".into(),
    });
    command.env_remove("RUSTFLAGS");
    if next_solver {
        // rustup sets this variable for the cargo that runs this program, and it would override `+nightly`.
        command.arg("+nightly").env_remove("RUSTUP_TOOLCHAIN");
        command.env("RUSTFLAGS", "-Znext-solver=globally");
    }
    // Cargo's default profiles apply, as for a user.
    for (key, _) in std::env::vars_os() {
        if key.to_string_lossy().starts_with("CARGO_PROFILE_") {
            command.env_remove(key);
        }
    }
    command
}

fn finished(command: &mut Command) -> Result<Usage, String> {
    let (usage, output) = usage::of(command)?;
    let text = String::from_utf8_lossy(&output.stderr);
    // Printing a warning takes time, which would distort the figure.
    if output.status.success() && !text.contains("warning") {
        return Ok(usage);
    }
    let head: Vec<&str> = text.lines().take(40).collect();
    Err(format!("cargo fails or warns:\n{}", head.join("\n")))
}
