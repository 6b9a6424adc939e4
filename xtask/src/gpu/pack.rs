//! Runs an unpacked pack on the emulated GPU: to its end, and with a limited time budget.

#[allow(
    dead_code,
    reason = "programs that run themselves again use more of it"
)]
#[path = "../../../tests/cuda/host.rs"]
mod host;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::*;

/// Programs that are quick, as built by `cargo test --workspace`.
const SOME: [&str; 3] = ["cuda_copy", "cuda_devices", "cuda_models"];

/// Makes a pack of some programs and unpacks it.
fn unpacked(within: &Path) -> PathBuf {
    let _ = fs::remove_dir_all(within);
    let test = ["test", "--workspace", "--no-run"];
    let build = |name: &&str| built(Command::cargo(test).args(["--test", name]), name);
    let programs: Result<Vec<Program>, String> = SOME.iter().map(build).collect();
    lay(&within.join(NAME), &programs.unwrap()).unwrap();
    let (file, bytes) = packed(within).unwrap();
    assert!(bytes > 1 << 20, "{bytes}");
    let there = within.join("there");
    fs::create_dir_all(&there).unwrap();
    let (there_text, file) = (there.to_string_lossy(), file.to_string_lossy());
    Command::new("tar", ["-C", &there_text, "-xf", &file])
        .run()
        .unwrap();
    there.join(NAME)
}

/// Returns a command that runs a pack's script on the emulated GPU, which the programs treat as a real one.
fn script(pack: &Path, out: &Path, args: &[&str]) -> std::process::Command {
    let mut command = host::with_fakes(&pack.join("run.sh")).unwrap();
    // Ignore kernels compiled for another pack.
    command
        .env_remove("NOMINA_FAKE_GPU")
        .env_remove("NOMINA_CUDA_CACHE");
    command.env("OUT", out).env("SAMPLE", "1").args(args);
    command.env("NOMINA_GPT", "32,2,2,24,4,4");
    command
}

/// Runs it; returns whether it succeeded, and its figures.
fn ran(pack: &Path, out: &Path, args: &[&str]) -> (bool, String) {
    let output = script(pack, out, args).output().unwrap();
    (output.status.success(), figures(out))
}

fn figures(out: &Path) -> String {
    assert!(out.join("cache.tar.xz").is_file());
    let figures = fs::read_to_string(out.join("figures.md")).unwrap();
    assert_eq!(count(&figures, "running"), 0, "{figures}");
    println!("{figures}");
    figures
}

/// Counts the rows of the table in a state.
fn count(figures: &str, state: &str) -> usize {
    let rows = figures.lines().filter(|line| line.starts_with("| "));
    rows.filter(|row| row.split(" | ").nth(1) == Some(state))
        .count()
}

/// A program of a pack that does nothing, and says what every step looks for.
const STUB: &str = "#!/usr/bin/env bash
sleep 0.1
echo 'device: none'; echo 'cuDNN: none'; echo 'compiled kernels: 3 modules'; echo '5 cases'; echo '5 elements'
echo '7 passed, 0 failed'; echo '4 by cuDNN, 0 by our own kernels'; echo 'speed f32 step 9 tokens/s'
echo '| case | PyTorch | nomina | ratio |'; echo '| f32, step | 1 | 1 | 1.00 |'
";

/// Writes a pack of programs that do nothing.
fn stubs(pack: &Path) {
    let write = |folder: &str, name: &str| {
        let folder = pack.join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), STUB).unwrap();
        let path = folder.join(name);
        Command::new("chmod", ["+x", &path.to_string_lossy()])
            .run()
            .unwrap();
    };
    let found = ["tests", "runtime/tests"].map(|folder| tests(&root().join(folder)));
    for name in found.concat() {
        write("bin", &name);
    }
    for name in ["ops", "grads"] {
        write("bin", name);
    }
    for name in ["python3", "nvidia-smi", "compute-sanitizer"] {
        write("path", name);
    }
    fs::write(pack.join("kernels.pack"), "modules").unwrap();
    fs::write(pack.join("root"), pack.to_string_lossy().as_bytes()).unwrap();
    fs::write(pack.join("run.sh"), SCRIPT).unwrap();
}

/// Runs a pack of stubs; returns whether it succeeded, its figures and its seconds.
fn run_stubs(pack: &Path, budget: Option<u64>) -> (bool, String, f64) {
    let path = std::env::var("PATH").unwrap();
    let mut command = std::process::Command::new("bash");
    command
        .arg(pack.join("run.sh"))
        .env("PATH", format!("{}:{path}", pack.join("path").display()));
    command.env_remove("OUT").env_remove("NOMINA_CUDA_CACHE");
    if let Some(budget) = budget {
        command.args(["--budget", &budget.to_string()]);
    }
    let start = Instant::now();
    let output = command.output().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    // Every machine returns these few files.
    let out = fs::read_dir(pack.join("out")).unwrap();
    assert_eq!(out.count(), 3);
    (output.status.success(), figures(&pack.join("out")), seconds)
}

#[test]
fn a_pack_of_stubs_runs_every_step_and_keeps_to_its_budget() {
    let pack = std::env::temp_dir().join(format!("nomina-stubs-{}", std::process::id()));
    let _ = fs::remove_dir_all(&pack);
    stubs(&pack);
    let (content, whole, seconds) = run_stubs(&pack, None);
    assert!(content, "{whole}");
    assert_eq!(count(&whole, "left out"), 0, "{whole}");
    for part in [
        "report",
        "cudnn",
        "convolutions",
        "conformance-15",
        "cuda_conv",
        "package",
        "gpt-compiled",
        "headlines",
        "bench",
        "cold-cache",
        "memcheck-cuda_gemm",
        "cuda_large",
        "scaling-steps",
    ] {
        assert!(
            whole.contains(&format!("| {part} | passed |")),
            "{part}: {whole}"
        );
    }
    assert!(whole.contains("112 passed, 0 failed"), "{whole}");
    // With a third of the time, the first parts have passed, and the others are listed as left out.
    let (content, part, _) = run_stubs(&pack, Some((seconds / 3.0).max(2.0) as u64));
    assert!(!content, "{part}");
    assert!(count(&part, "passed") >= 3, "{part}");
    assert!(part.contains("| report | passed |"), "{part}");
    assert!(
        count(&part, "cut off") + count(&part, "left out") >= 5,
        "{part}"
    );
    fs::remove_dir_all(pack).unwrap();
}

#[test]
fn a_pack_runs_to_its_end_and_as_far_as_its_budget_goes() {
    if std::env::var_os("NOMINA_EVERY").is_none() {
        println!("skipped: `cargo xtask nightly` runs it, its step `gpu pack`");
        return;
    }
    if let Err(why) = host::fakes() {
        assert!(why.starts_with("no C++ compiler"), "{why}");
        println!("skipped: {why}");
        return;
    }
    let within = std::env::temp_dir().join(format!("nomina-pack-{}", std::process::id()));
    let pack = unpacked(&within);
    let start = Instant::now();
    let steps = [
        "first", "package", "kernels", "gpt", "cold", "sanitize", "large",
    ];
    let (content, whole) = ran(&pack, &within.join("whole"), &steps);
    let took = start.elapsed().as_secs();
    assert!(content, "{whole}");
    assert!(whole.contains("device: fake GPU 0"), "{whole}");
    // The report, the operators, a row for each program, the model, and two cold starts. The package of kernels,
    // PyTorch, the sanitizer and a program are not there.
    assert!(count(&whole, "passed") >= 2 + SOME.len() + 1 + 2, "{whole}");
    assert!(count(&whole, "left out") >= 1, "{whole}");
    assert!(within.join("whole/log.tar.gz").is_file());
    assert!(pack.join("work/log/cuda_copy").is_file());
    let kernels = fs::metadata(within.join("whole/cache.tar.xz")).unwrap();
    assert!(kernels.len() > 1000, "no kernel was compiled there");

    // From scratch again, with a third of the time: finished parts are listed, and the rest is marked as cut off.
    fs::remove_dir_all(pack.join("cache")).unwrap();
    let budget = (took / 3).max(2).to_string();
    let args = ["--budget", &budget, "first", "kernels"];
    let (content, part) = ran(&pack, &within.join("part"), &args);
    assert!(!content, "{part}");
    assert!(count(&part, "passed") >= 1, "{part}");
    assert!(
        count(&part, "cut off") + count(&part, "left out") >= 1,
        "{part}"
    );

    // Killed while it runs.
    let out = within.join("ended");
    fs::remove_dir_all(pack.join("work")).unwrap();
    let mut child = script(&pack, &out, &["first", "kernels"]).spawn().unwrap();
    while !pack.join("work/log/cuda_copy").is_file() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Command::new("kill", [child.id().to_string()])
        .run()
        .unwrap();
    assert!(!child.wait().unwrap().success());
    let ended = figures(&out);
    assert!(count(&ended, "passed") >= 2, "{ended}");
    assert!(count(&ended, "cut off") >= 1, "{ended}");
    // Processes started by the killed script may still be writing there.
    let _ = fs::remove_dir_all(within);
}
