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
const SOME: [&str; 2] = ["cuda_copy", "cuda_devices"];

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
    let (content, whole) = ran(&pack, &within.join("whole"), &["first", "kernels", "large"]);
    let took = start.elapsed().as_secs();
    assert!(content, "{whole}");
    assert!(whole.contains("device: fake GPU 0"), "{whole}");
    // The report, the operators, and a row for each program; one program is not in this pack.
    assert_eq!(count(&whole, "passed"), 2 + SOME.len(), "{whole}");
    assert_eq!(count(&whole, "left out"), 1, "{whole}");
    assert!(within.join("whole/log/cuda_copy").is_file());
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
    let mut child = script(&pack, &out, &["first", "kernels"]).spawn().unwrap();
    while !out.join("log/cuda_copy").is_file() {
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
