//! What a machine with a GPU has to say: all programs that run there, in a folder that needs no cargo.

use std::fs;
use std::path::Path;

use crate::page;
use crate::step::{Command, Outcome, root};

/// Runs the programs of the folder, one kind after the other, and writes `figures.md`.
const SCRIPT: &str = include_str!("gpu.sh");

/// Tests of devices that run no kernel, or none on a device.
const ELSEWHERE: [&str; 2] = ["cuda_kernels", "cuda_host"];

/// What runs on any device, beside the tests whose names begin with `cuda_`.
const EVERYWHERE: &str = "conformance";

/// What programs read, relative to the root.
const DATA: [&str; 3] = ["tests/data", "scripts/compare.py", "scripts/bench"];

/// `cargo xtask gpu [--pack FOLDER | --record FIGURES] [STEP]...`.
pub fn run(args: &[String]) -> Outcome {
    match args {
        [flag, folder] if flag == "--pack" => {
            pack(Path::new(folder))?;
            println!("carry `{folder}` to a machine with a GPU, and run `{folder}/run.sh` there");
            Ok(())
        }
        [flag, figures] if flag == "--record" => record(Path::new(figures)),
        [flag, ..] if flag.starts_with("--") => Err(format!(
            "gpu takes `--pack FOLDER`, `--record FIGURES` or steps, not `{}`",
            args.join(" ")
        )),
        steps => {
            let folder = root().join("target/gpu");
            pack(&folder)?;
            let script = folder.join("run.sh");
            Command::new("bash", [script.to_string_lossy()])
                .args(steps)
                .run()?;
            record(&folder.join("figures.md"))
        }
    }
}

/// Builds all programs and lays them beside what they read.
fn pack(folder: &Path) -> Outcome {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    let programs = folder.join("bin");
    fs::create_dir_all(&programs).map_err(said)?;
    for (package, place) in [("nomina", "tests"), ("nomina-runtime", "runtime/tests")] {
        for name in tests(&root().join(place)) {
            let test = [
                "test",
                "--release",
                "-p",
                package,
                "--features",
                "cuda",
                "--no-run",
            ];
            take(
                &Command::cargo(test).args(["--test", &name]),
                &programs.join(name),
            )?;
        }
    }
    let ops = [
        "bench",
        "-p",
        "nomina",
        "--features",
        "cuda",
        "--no-run",
        "--bench",
        "ops",
    ];
    take(&Command::cargo(ops), &programs.join("ops"))?;
    for data in DATA {
        copy(&root().join(data), &folder.join(data)).map_err(said)?;
    }
    fs::write(folder.join("root"), root().to_string_lossy().as_bytes()).map_err(said)?;
    let script = folder.join("run.sh");
    fs::write(&script, SCRIPT).map_err(said)?;
    Command::new("chmod", ["+x", &script.to_string_lossy()]).run()
}

/// The tests of a folder that run on a device.
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

/// Runs a build, and copies the program that it makes.
fn take(build: &Command, to: &Path) -> Outcome {
    println!("== {}", build.line());
    let messages = build
        .with_args(["--message-format=json-render-diagnostics"])
        .output()?;
    let made = crate::sanitize::executable(&messages)
        .ok_or_else(|| format!("`{}` makes no program", build.line()))?;
    fs::copy(&made, to).map_err(|error| format!("{made}: {error}"))?;
    // Symbols are half of a program's size, which has to be carried.
    let strip = Command::new("strip", [to.to_string_lossy()]);
    if !strip.works() {
        println!("   not stripped: `strip` does not run");
    }
    Ok(())
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
    }
}
