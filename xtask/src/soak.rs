//! Runs the fuzz targets of `fuzz/` with libFuzzer, under AddressSanitizer and with overflow checks.

use std::collections::VecDeque;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use crate::levels;
use crate::page;
use crate::step::{Command, Outcome, root};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The folder for builds of the targets and for their findings.
const FOLDER: &str = "target/soak";

/// The flags of `cargo fuzz`, but counting functions instead of branches: libFuzzer scans all counters after each
/// input, and kernels for all dtypes and instruction sets have too many branches to scan quickly.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=1 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Zsanitizer=address --cfg fuzzing";

/// The share of each target in a thousand inputs. Macro targets parse their output, which takes milliseconds.
const SHARES: [(&str, u64); 8] = [
    ("call", 972),
    ("macro_dims", 3),
    ("macro_einsum", 3),
    ("macro_fuse", 3),
    ("macro_names", 3),
    ("macro_relations", 3),
    ("macro_tensor", 3),
    ("programs", 10),
];

/// Targets that compute; their share is divided among the instruction sets.
const COMPUTE: [&str; 2] = ["programs", "call"];

/// A run of libFuzzer.
struct Job {
    target: &'static str,
    level: Option<&'static str>,
    runs: u64,
}

/// The final statistics of a run.
struct Done {
    job: Job,
    inputs: u64,
    seconds: u64,
}

/// `cargo xtask soak [--inputs N] [--record]`.
pub fn run(args: &[String]) -> Outcome {
    let (mut inputs, mut recorded) = (10_200_000, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--inputs" => {
                let number = args.next().and_then(|number| number.parse().ok());
                inputs = number.ok_or("`--inputs` takes a number")?;
            }
            "--record" => recorded = true,
            other => {
                return Err(format!(
                    "soak takes `--inputs N` and `--record`, not `{other}`"
                ));
            }
        }
    }
    let build = ["build", "--release", "--manifest-path", "fuzz/Cargo.toml"];
    Command::nightly(build)
        .args(["--target", TARGET, "--target-dir", FOLDER])
        .env("RUSTFLAGS", FLAGS)
        .run()?;
    let done = run_jobs(jobs(inputs))?;
    let figures = table(&done)?;
    println!("\n{figures}");
    if recorded {
        page::record("docs/reliability.md", &figures)?;
    }
    Ok(())
}

/// Returns the runs for a total of `inputs` inputs.
fn jobs(inputs: u64) -> VecDeque<Job> {
    let each = SHARES.iter().flat_map(|&(target, share)| {
        let levels = if COMPUTE.contains(&target) {
            levels::here().into_iter().map(Some).collect()
        } else {
            vec![None]
        };
        let runs = (inputs * share).div_ceil(1000 * levels.len() as u64);
        levels.into_iter().map(move |level| Job {
            target,
            level,
            runs,
        })
    });
    each.collect()
}

/// Runs the jobs, one per core at a time. After a failure no more jobs start.
fn run_jobs(jobs: VecDeque<Job>) -> Result<Vec<Done>, String> {
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().ok()?.pop_front();
    let work = || {
        let mut done = Vec::new();
        while let Some(job) = next() {
            match run_job(job) {
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
    done.sort_by_key(|done| (done.job.target, done.job.level));
    Ok(done)
}

/// Runs libFuzzer once. Inputs that reach new code are stored in `target`; seeds are only read.
fn run_job(job: Job) -> Result<Done, String> {
    let Job {
        target,
        level,
        runs,
    } = job;
    let name = level.map_or_else(|| target.to_owned(), |level| format!("{target}-{level}"));
    let found = format!("{FOLDER}/{name}/corpus");
    let faults = format!("{FOLDER}/{name}/faults/");
    for folder in [&found, &faults] {
        fs::create_dir_all(root().join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    }
    let mut command = Command::new(&format!("{FOLDER}/{TARGET}/release/{target}"), [&found])
        .args([
            &format!("-runs={runs}"),
            &format!("-artifact_prefix={faults}"),
            // `fuzz/src/allocator.rs` limits memory.
            "-rss_limit_mb=0",
            "-timeout=60",
            "-max_len=512",
            // Only this run changes the folder, and entropic weights cost a third of the time.
            "-reload=0",
            "-entropic=0",
            "-verbosity=0",
            "-print_final_stats=1",
            // Looking up names takes longer than the run.
            "-print_funcs=0",
        ])
        .env(
            "ASAN_OPTIONS",
            "allocator_may_return_null=1:quarantine_size_mb=16:detect_leaks=0:malloc_context_size=4",
        )
        // Waiting for another thread takes longer than a small input.
        .env("RAYON_NUM_THREADS", "1")
        // The sanitizer does not see errors in cached blocks.
        .env("NOMINA_CACHE", "0");
    let seeds = format!("fuzz/corpus/{target}");
    if Path::new(&root().join(&seeds)).is_dir() {
        command = command.args([&seeds]);
    }
    if let Some(level) = level {
        command = command.env("NOMINA_SIMD", level);
    }
    println!("== {}", command.line());
    let start = Instant::now();
    let text = command.errors()?;
    let seconds = start.elapsed().as_secs();
    let inputs = stat(&text, "number_of_executed_units");
    let inputs = inputs.ok_or_else(|| format!("libFuzzer says no count:\n{text}"))?;
    println!("   {name}: {inputs} inputs");
    Ok(Done {
        job,
        inputs,
        seconds,
    })
}

/// Parses a figure of libFuzzer's final lines, `stat::name: 42`.
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
    fn every_target_has_a_share() {
        let folder = root().join("fuzz/fuzz_targets");
        let files = fs::read_dir(folder).unwrap();
        let mut targets: Vec<String> = files
            .map(|file| {
                file.unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        targets.sort();
        let named: Vec<&str> = SHARES.iter().map(|&(target, _)| target).collect();
        assert_eq!(targets, named);
        assert_eq!(SHARES.iter().map(|&(_, share)| share).sum::<u64>(), 1000);
        assert!(COMPUTE.iter().all(|target| named.contains(target)));
        let all: u64 = jobs(1000).iter().map(|job| job.runs).sum();
        assert!((1000..1010).contains(&all), "{all}");
    }
}
