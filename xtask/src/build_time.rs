//! The cost of builds in rustc: processor seconds by crate, for a full build.
//!
//! This program runs between cargo and rustc (`RUSTC_WRAPPER`), also for tests that run cargo themselves, and records
//! the time of each rustc and its linker.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use crate::page::read;
use crate::step::{Command, Outcome, root};

/// The environment variable with the output file, for calls of this program by cargo.
const FILE: &str = "NOMINA_BUILD_TIME";

/// A separate target folder, which is deleted before each build.
const TARGET: &str = "target/build-time";

/// The builds: a name, and the arguments of cargo.
const BUILDS: [(&str, &[&str]); 3] = [
    (
        "example",
        &[
            "run",
            "--release",
            "-p",
            "nomina-examples",
            "--example",
            "photo",
        ],
    ),
    ("release", &["build", "--release", "-p", "nomina-runtime"]),
    ("tests", &["test", "--workspace"]),
];

/// `cargo xtask build-time [example] [release] [tests]`: all of them unless some are named.
pub fn run(args: &[String]) -> Outcome {
    if let Some(other) = args
        .iter()
        .find(|arg| BUILDS.iter().all(|(name, _)| name != arg))
    {
        let names = BUILDS.map(|(name, _)| name).join(", ");
        return Err(format!("build-time takes {names}, not `{other}`"));
    }
    for (name, build) in BUILDS {
        if args.is_empty() || args.iter().any(|arg| arg == name) {
            println!("{}", time_build(build)?);
        }
    }
    Ok(())
}

/// Builds from scratch, and returns the table of times.
fn time_build(build: &[&str]) -> Result<String, String> {
    let target = root().join(TARGET);
    if target.exists() {
        fs::remove_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    }
    fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    let file = target.join("seconds");
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let this = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let command = Command::cargo(build)
        .env("CARGO_TARGET_DIR", &text(&target))
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTC_WRAPPER", &text(&this))
        .env(FILE, &text(&file));
    let start = Instant::now();
    command.run()?;
    let wall = start.elapsed().as_secs_f64();
    Ok(format!(
        "`cargo {}`, {wall:.0} s:\n\n{}",
        build.join(" "),
        table(&read(&file)?)
    ))
}

/// Returns processor seconds by crate and kind, in descending order.
fn table(lines: &str) -> String {
    let mut all: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for line in lines.lines() {
        if let Some((seconds, what)) = line.split_once(' ')
            && let Ok(seconds) = seconds.parse::<f64>()
        {
            let entry = all.entry(what).or_default();
            *entry = (entry.0 + seconds, entry.1 + 1);
        }
    }
    let total: f64 = all.values().map(|(seconds, _)| seconds).sum();
    let units: u32 = all.values().map(|(_, units)| units).sum();
    let mut rows: Vec<_> = all.into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0));
    let mut text = String::from("| crate | processor s | compilations |\n|---|---:|---:|\n");
    let _ = writeln!(text, "| all | {total:.1} | {units} |");
    for (what, (seconds, units)) in rows.iter().filter(|(_, (seconds, _))| *seconds >= 1.0) {
        let _ = writeln!(text, "| {what} | {seconds:.1} | {units} |");
    }
    text
}

/// Runs rustc and records its time, if cargo called this program in place of rustc.
pub fn run_as_rustc() -> Option<ExitCode> {
    let file = std::env::var_os(FILE)?;
    let mut args = std::env::args_os().skip(1);
    let rustc = args.next()?;
    let args: Vec<_> = args.collect();
    let status = std::process::Command::new(rustc).args(&args).status();
    let of = |flag: &str| {
        let at = args.iter().position(|arg| arg == flag)?;
        args.get(at + 1)
            .map(|arg| arg.to_string_lossy().into_owned())
    };
    if let (Some(name), Some(seconds)) = (of("--crate-name"), lock_wait()) {
        let kind = match (args.iter().any(|arg| arg == "--test"), of("--crate-type")) {
            (true, _) => "test".to_owned(),
            (false, kind) => kind.unwrap_or_default(),
        };
        let emits_code = args.iter().any(|arg| {
            let arg = arg.to_string_lossy();
            arg.starts_with("--emit=") && arg.contains("link")
        });
        let how = if emits_code { "" } else { ", checked" };
        let open = OpenOptions::new().create(true).append(true).open(file);
        // One write per line, so that lines of concurrent processes do not mix.
        let line = format!("{seconds:.2} {name} ({kind}{how})\n");
        open.and_then(|mut file| file.write_all(line.as_bytes()))
            .ok();
    }
    let code = status.ok().and_then(|status| status.code()).unwrap_or(1);
    Some(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// Returns the processor seconds of all child processes that have ended, and of theirs; Linux only.
fn lock_wait() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may contain spaces; the 14th and 15th field after it are in ticks of 10 ms.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: Option<Vec<f64>> = ticks.map(|field| field.parse().ok()).collect();
    Some(ticks?.iter().sum::<f64>() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilations_are_added_by_crate() {
        let text = table("1.50 a (lib)\n0.10 b (bin)\n2.00 a (lib)\n5.00 c (test)\n");
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| all | 8.6 | 4 |",
                "| c (test) | 5.0 | 1 |",
                "| a (lib) | 3.5 | 2 |"
            ]
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_was_waited_for_is_counted() {
        let before = lock_wait().unwrap();
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        std::process::Command::new("sh")
            .args(["-c", busy])
            .status()
            .unwrap();
        assert!(lock_wait().unwrap() > before);
    }
}
