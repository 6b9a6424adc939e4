//! Packs all programs that need a GPU into a folder that needs no cargo, and runs them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::page;
use crate::step::{Command, Outcome, root};

/// The script that runs the programs of the folder, one kind after another, and writes `figures.md`.
const SCRIPT: &str = include_str!("gpu.sh");

/// Device tests that run no kernels, or none on a device.
const ELSEWHERE: [&str; 2] = ["cuda_kernels", "cuda_host"];

/// A test that runs on any device, in addition to the tests whose names begin with `cuda_`.
const EVERYWHERE: &str = "conformance";

/// The files that programs read, relative to the root.
const DATA: [&str; 5] = [
    "tests/data",
    "scripts/compare.py",
    "scripts/speed_svg.py",
    "scripts/bench",
    "examples/data/classics.txt",
];

/// The package of compiled kernels that `cargo xtask cuda-kernels` writes, relative to the root.
const COMPILED: &str = "cuda-kernels/kernels.pack";

/// The name of the pack, and of the folder in it.
const NAME: &str = "nomina-gpu";

/// The size limit of a pack in bytes, since it is transferred by hand.
const MOST: u64 = 40 << 20;

/// The folder of kernels compiled by `cargo xtask cuda-warm`, relative to the root.
pub const KERNELS: &str = "target/cuda/kernels";

/// `cargo xtask gpu [--pack FOLDER | --record FIGURES] [--budget SECONDS] [STEP]...`.
pub fn run(args: &[String]) -> Outcome {
    match args {
        [flag, folder] if flag == "--pack" => {
            let folder = &std::path::absolute(folder).map_err(|error| error.to_string())?;
            lay(&folder.join(NAME), &programs()?)?;
            let (file, bytes) = packed(folder)?;
            println!(
                "carry `{}` ({:.1} MiB) to a machine with a GPU; there: tar -xf {NAME}.tar.xz && {NAME}/run.sh",
                file.display(),
                bytes as f64 / f64::from(1 << 20)
            );
            Ok(())
        }
        [flag, figures] if flag == "--record" => record(Path::new(figures)),
        [flag, ..] if flag.starts_with("--") && flag != "--budget" => Err(format!(
            "gpu takes `--pack FOLDER`, `--record FIGURES`, `--budget SECONDS` or steps, not `{}`",
            args.join(" ")
        )),
        steps => {
            let folder = root().join("target/gpu");
            lay(&folder, &programs()?)?;
            let script = folder.join("run.sh");
            let ran = Command::new("bash", [script.to_string_lossy()])
                .args(steps)
                .run();
            record(&folder.join("out/figures.md")).and(ran)
        }
    }
}

/// A program of a pack: its name in the pack, and its path.
type Program = (String, String);

/// Builds all programs.
fn programs() -> Result<Vec<Program>, String> {
    let release = |command: &[&str]| {
        let features = "cuda-kernels,nomina-runtime/nccl";
        let command =
            Command::cargo(command).args(["--release", "--features", features, "--no-run"]);
        move |name: &str, kind: &str| built(command.with_args([kind, name]), name)
    };
    let mut all = Vec::new();
    // Both packages at once: built separately they would enable different features, and compile the runtime twice.
    let build = release(&["test", "-p", "nomina", "-p", "nomina-runtime"]);
    for place in ["tests", "runtime/tests"] {
        for name in tests(&root().join(place)) {
            all.push(build(&name, "--test")?);
        }
    }
    for name in ["ops", "grads"] {
        let bench = ["bench", "-p", "nomina", "--features", "cuda", "--no-run"];
        all.push(built(Command::cargo(bench).args(["--bench", name]), name)?);
    }
    Ok(all)
}

/// Copies programs, the files they read, and precompiled kernels to a folder.
fn lay(folder: &Path, programs: &[Program]) -> Outcome {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).map_err(said)?;
    for (name, made) in programs {
        let to = bin.join(name);
        fs::copy(made, &to).map_err(|error| format!("{made}: {error}"))?;
        // Symbols are half of a program's size.
        if !Command::new("strip", [to.to_string_lossy()]).works() {
            println!("   not stripped: `strip` does not run");
        }
    }
    for data in DATA {
        copy(&root().join(data), &folder.join(data)).map_err(said)?;
    }
    let compiled = root().join(COMPILED);
    if compiled.is_file() {
        copy(&compiled, &folder.join("kernels.pack")).map_err(said)?;
    }
    let kernels = root().join(KERNELS);
    if kernels.is_dir() {
        copy(&kernels, &folder.join("cache")).map_err(said)?;
    }
    fs::write(folder.join("root"), root().to_string_lossy().as_bytes()).map_err(said)?;
    let script = folder.join("run.sh");
    fs::write(&script, SCRIPT).map_err(said)?;
    Command::new("chmod", ["+x", &script.to_string_lossy()]).run()
}

/// Compresses folder [`NAME`] of a folder into one file. Returns its path and size.
fn packed(within: &Path) -> Result<(PathBuf, u64), String> {
    let file = within.join(format!("{NAME}.tar.xz"));
    let (within, to) = (within.to_string_lossy(), file.to_string_lossy());
    // Programs share most of their code, so the dictionary has to span them all.
    Command::new("tar", ["--sort=name", "-C", &within, "-cf", &to, NAME])
        .args(["-I", "xz --lzma2=preset=6,dict=192MiB"])
        .run()?;
    let bytes = fs::metadata(&file)
        .map_err(|error| format!("{to}: {error}"))?
        .len();
    if bytes <= MOST {
        Ok((file, bytes))
    } else {
        Err(format!("{to} has {bytes} bytes, and may have {MOST}"))
    }
}

/// Returns the tests of a folder that run on a device.
fn tests(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let rust = paths.filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    let mut names: Vec<String> = rust
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| name.starts_with("cuda_") || name == EVERYWHERE)
        .filter(|name| !ELSEWHERE.contains(&name.as_str()))
        .collect();
    names.sort();
    names
}

/// Runs a build, and returns the path of its program.
fn built(build: Command, name: &str) -> Result<Program, String> {
    println!("== {}", build.line());
    let messages = build
        .with_args(["--message-format=json-render-diagnostics"])
        .output()?;
    let made = crate::sanitize::executable(&messages)
        .ok_or_else(|| format!("`{}` makes no program", build.line()))?;
    Ok((name.to_owned(), made))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        return fs::copy(from, to).map(drop);
    }
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|name| *name != "__pycache__") {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}

/// Writes figures into docs/cuda.md.
fn record(figures: &Path) -> Outcome {
    page::record("docs/cuda.md", &page::read(figures)?)
}

#[cfg(test)]
#[path = "gpu/pack.rs"]
mod pack;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_by_name() {
        let found = super::tests(&root().join("tests"));
        assert!(found.iter().any(|name| name == "cuda_large"), "{found:?}");
        assert!(found.iter().any(|name| name == EVERYWHERE), "{found:?}");
        for name in ELSEWHERE {
            assert!(root().join(format!("tests/{name}.rs")).is_file(), "{name}");
            assert!(!found.contains(&name.to_owned()));
        }
    }

    #[test]
    fn data_is_there() {
        for data in DATA {
            assert!(root().join(data).exists(), "{data}");
        }
        // The script's own modules come with it.
        let script = fs::read_to_string(root().join("scripts/compare.py")).unwrap();
        for module in script
            .lines()
            .filter_map(|line| line.strip_prefix("import "))
        {
            let file = format!("scripts/{module}.py");
            assert!(
                !root().join(&file).exists() || DATA.contains(&file.as_str()),
                "{file}"
            );
        }
    }
}
