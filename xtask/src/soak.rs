//! The fuzz targets of `fuzz/`, under AddressSanitizer and with overflow checks, by libFuzzer.

use std::collections::VecDeque;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use crate::levels::LEVELS;
use crate::page;
use crate::step::{Command, Outcome, root};

/// Where `cargo fuzz` builds.
const BUILT: &str = "fuzz/target/x86_64-unknown-linux-gnu/release";

/// Targets that compute, which run with the loops of each instruction set.
const COMPUTE: [&str; 2] = ["programs", "call"];

/// One run of libFuzzer.
struct Job {
    target: String,
    level: Option<&'static str>,
}

/// What libFuzzer said at its end.
struct Done {
    job: Job,
    inputs: u64,
    seconds: u64,
}

/// `cargo xtask soak [--runs N] [--record] [TARGET]...`.
pub fn run(args: &[String]) -> Outcome {
    let mut runs = 900_000;
    let (mut recorded, mut targets) = (false, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--runs" => {
                let number = args.next().and_then(|number| number.parse().ok());
                runs = number.ok_or("`--runs` takes a number")?;
            }
            "--record" => recorded = true,
            target => targets.push(target.to_owned()),
        }
    }
    let all = all_targets()?;
    if let Some(unknown) = targets.iter().find(|target| !all.contains(target)) {
        return Err(format!(
            "no target `{unknown}`; there are {}",
            all.join(", ")
        ));
    }
    if targets.is_empty() {
        targets = all;
    }
    if !Command::nightly(["fuzz", "--version"]).works() {
        return Err("`cargo +nightly fuzz` does not run\n  \
             a nightly toolchain and `cargo install cargo-fuzz` bring it"
            .to_owned());
    }
    Command::nightly(["fuzz", "build", "--codegen-units", "16"]).run()?;
    let jobs = targets.into_iter().flat_map(|target| {
        let levels = match COMPUTE.contains(&target.as_str()) {
            true => LEVELS.map(Some).to_vec(),
            false => vec![None],
        };
        levels.into_iter().map(move |level| Job {
            target: target.clone(),
            level,
        })
    });
    let done = all_of(jobs.collect(), runs)?;
    let figures = table(&done)?;
    println!("\n{figures}");
    if recorded {
        page::record("docs/reliability.md", &figures)?;
    }
    Ok(())
}

/// The names of the files in `fuzz/fuzz_targets`, in order.
fn all_targets() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/fuzz_targets");
    let files = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = files
        .filter_map(|file| {
            let path = file.ok()?.path();
            let source = path.extension().is_some_and(|extension| extension == "rs");
            source.then(|| Some(path.file_stem()?.to_str()?.to_owned()))?
        })
        .collect();
    names.sort();
    Ok(names)
}

/// Runs the jobs, as many at a time as there are cores; those that have begun end after a failure.
fn all_of(jobs: VecDeque<Job>, runs: u64) -> Result<Vec<Done>, String> {
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().ok()?.pop_front();
    let work = || {
        let mut done = Vec::new();
        while let Some(job) = next() {
            match one(job, runs) {
                Ok(one) => done.push(one),
                Err(error) => {
                    jobs.lock().map(|mut jobs| jobs.clear()).ok();
                    return Err(error);
                }
            }
        }
        Ok(done)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_fold(Vec::new(), |mut all, worker| {
            all.extend(worker.join().map_err(|_| "a worker panicked")??);
            Ok::<_, String>(all)
        })
    })?;
    done.sort_by(|a, b| (&a.job.target, a.job.level).cmp(&(&b.job.target, b.job.level)));
    Ok(done)
}

/// One run of libFuzzer. What it finds to reach more code stays in `target`; seeds are read only.
fn one(job: Job, runs: u64) -> Result<Done, String> {
    let Job { target, level } = &job;
    let name = match level {
        Some(level) => format!("{target}-{level}"),
        None => target.clone(),
    };
    let found = format!("target/soak/{name}/corpus");
    let faults = format!("target/soak/{name}/faults/");
    for folder in [&found, &faults] {
        fs::create_dir_all(root().join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    }
    let mut command = Command::new(&format!("{BUILT}/{target}"), [&found])
        .args([
            &format!("-runs={runs}"),
            &format!("-artifact_prefix={faults}"),
            // Of our own: memory is limited below.
            "-rss_limit_mb=0",
            "-timeout=20",
            "-max_len=1024",
            "-verbosity=0",
            "-print_final_stats=1",
        ])
        .env(
            "ASAN_OPTIONS",
            "allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0",
        )
        // Memory that is kept for later is memory that nothing watches.
        .env("NOMINA_CACHE", "0");
    let seeds = format!("fuzz/corpus/{target}");
    if Path::new(&root().join(&seeds)).is_dir() {
        command = command.args([&seeds]);
    }
    if let Some(level) = level {
        command = command.env("NOMINA_SIMD", level);
    }
    println!("== {}", command.line());
    let text = command.errors()?;
    let inputs = stat(&text, "number_of_executed_units");
    let rate = stat(&text, "average_exec_per_sec");
    let inputs = inputs.ok_or_else(|| format!("libFuzzer says no count:\n{text}"))?;
    println!("   {name}: {inputs} inputs");
    Ok(Done {
        job,
        inputs,
        seconds: inputs / rate.unwrap_or(0).max(1),
    })
}

/// A figure of libFuzzer's last lines, `stat::name: 42`.
fn stat(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| {
        let rest = line.strip_prefix("stat::");
        rest.is_some_and(|rest| rest.starts_with(name))
    })?;
    line.rsplit(':').next()?.trim().parse().ok()
}

fn table(done: &[Done]) -> Result<String, String> {
    let commit = Command::new("git", ["log", "-1", "--date=short", "--format=%h of %cd"]);
    let total: u64 = done.iter().map(|done| done.inputs).sum();
    let mut text = format!(
        "Commit {}: {total} inputs in one run, no fault.\n\n\
         | Target | Instruction set | Inputs | Seconds |\n|---|---|---:|---:|\n",
        commit.output()?.trim()
    );
    for done in done {
        let level = done.job.level.unwrap_or("any");
        let (target, inputs, seconds) = (&done.job.target, done.inputs, done.seconds);
        let _ = writeln!(text, "| `{target}` | {level} | {inputs} | {seconds} |");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_libfuzzers_last_lines() {
        let text = "Done 42 runs\nstat::number_of_executed_units: 42\nstat::average_exec_per_sec:     21\n";
        assert_eq!(stat(text, "number_of_executed_units"), Some(42));
        assert_eq!(stat(text, "average_exec_per_sec"), Some(21));
        assert_eq!(stat(text, "peak_rss_mb"), None);
    }

    #[test]
    fn targets_that_compute_are_there() {
        let all = all_targets().unwrap();
        assert!(
            COMPUTE
                .iter()
                .all(|target| all.contains(&(*target).to_owned()))
        );
    }
}
