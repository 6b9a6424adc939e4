//! Recorded cases of PyTorch's named tensors and of its gradients, run through the dynamic entry by operator name.
//!
//! `cargo test --test conformance -- --nocapture` prints the failures by operator and ends with
//! `N passed, N failed`, after the cases where PyTorch is known to be wrong. More files of the same form are read from
//! `NOMINA_CASES`, `:`-separated.

#[path = "conformance/abuse.rs"]
mod abuse;
#[path = "conformance/case.rs"]
mod case;
#[path = "conformance/compare.rs"]
mod compare;
#[path = "gradients/differs.rs"]
mod differs;
#[cfg(feature = "cuda")]
#[path = "cuda/host.rs"]
#[allow(dead_code)] // the rest is used by other test programs
mod host;
#[path = "conformance/mixed.rs"]
mod mixed;
#[path = "conformance/part.rs"]
mod part;
#[path = "conformance/place.rs"]
mod place;
#[path = "conformance/report.rs"]
mod report;
#[path = "conformance/run.rs"]
mod run;
#[cfg(feature = "cuda")]
#[path = "cuda/sample.rs"]
mod sample;
#[path = "gradients/tape.rs"]
mod tape;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nomina_runtime::{Device, DynTensor};
use part::Part;
use report::Report;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Returns the files of cases beyond PyTorch's coverage page, written by `scripts/record`.
fn beyond() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder().join("data/beyond"));
    let mut files: Vec<PathBuf> = files
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
        .collect();
    files.sort();
    files
}

fn main() -> ExitCode {
    // A custom harness, so that the count is the last line. It accepts the flags of test runners, and does nothing if
    // they ask for other tests.
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--list") {
        if !args.iter().any(|arg| arg == "--ignored") {
            println!("conformance: test");
        }
        return ExitCode::SUCCESS;
    }
    let told = |flag: &str| {
        let at = args.iter().position(|arg| arg == flag)?;
        args.get(at + 1)
    };
    if let Some(device) = told("--device") {
        let part = told("--part").map_or(Ok(Part::WHOLE), |part| part.parse());
        return part.map_or(ExitCode::FAILURE, |part| on_device(device, part));
    }
    let filter = args.iter().find(|arg| !arg.starts_with('-'));
    if filter.is_some_and(|filter| !"conformance".contains(filter.as_str())) {
        return ExitCode::SUCCESS;
    }

    let calm = no_panics(Device::Cpu, Part::WHOLE);
    let passed = recorded_cases(Device::Cpu, Part::WHOLE);
    #[cfg(feature = "cuda")]
    let passed = on_fake() && passed;
    if passed && calm {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Calls operators with nonsensical arguments, prints the calls that panic, and returns whether none did.
fn no_panics(device: Device, part: Part) -> bool {
    let mut panics = abuse::panics(&folder().join("data/cases.jsonl"), device, part);
    panics.extend(
        beyond()
            .iter()
            .flat_map(|path| abuse::panics(path, device, part)),
    );
    for panic in &panics {
        println!("a nonsense argument makes a call panic: {panic}");
    }
    panics.is_empty()
}

/// Runs this program again on the emulated GPU with a sample of the cases, one part per processor.
#[cfg(feature = "cuda")]
fn on_fake() -> bool {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get().min(16));
    // There may be more parts than processors; only one part per processor runs.
    let of = processors * if sample::every() { 1 } else { sample::SAMPLE };
    let run = |at: usize| {
        let part = format!("{at}/{of}");
        host::rerun_with_fake(&["--device", "cuda", "--part", &part], &[])
    };
    // Build the libraries once, before the parallel runs need them.
    if let Err(why) = host::fakes() {
        println!("not run on a device: {why}");
        // Without a C++ compiler there is no emulated GPU; any other reason is a failure.
        return why.starts_with("no C++ compiler");
    }
    println!("on a device: {processors} of {of} parts; `cargo xtask cuda` runs all");
    let parts: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..processors)
            .map(|at| scope.spawn(move || run(at)))
            .collect();
        all.into_iter().map(|part| part.join()).collect()
    });
    let mut passed = true;
    let mut printed = Vec::new();
    for part in parts {
        match part {
            Ok(Ok(output)) => {
                passed &= output.status.success();
                if !output.status.success() {
                    eprint!("{}", String::from_utf8_lossy(&output.stderr));
                }
                printed.push(String::from_utf8_lossy(&output.stdout).into_owned());
            }
            Ok(Err(why)) => {
                println!("{why}");
                passed = false;
            }
            Err(_) => passed = false,
        }
    }
    print!("{}", part::joined(&printed));
    passed
}

/// Runs every case again with all tensors on a device: `conformance --device cuda`.
fn on_device(device: &str, part: Part) -> ExitCode {
    let there = device
        .parse::<Device>()
        .and_then(|device| DynTensor::options().device(device).zeros(&[1], ()));
    let device = match there {
        Ok(there) => there.device(),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    nomina_runtime::cuda::reset_by_host();
    let passed = recorded_cases(device, part);
    for (class, count) in nomina_runtime::cuda::by_host() {
        println!("by the host: {class} {count}");
    }
    let mut wrong = Vec::new();
    let mut calls = 0;
    let main = ["cases.jsonl", "promotion.jsonl"].map(|name| folder().join("data").join(name));
    for path in main.into_iter().chain(beyond()) {
        let (found, count) = mixed::failures(&path, device, part);
        wrong.extend(found);
        calls += count;
    }
    for what in &wrong {
        println!("operands on two devices: {what}");
    }
    println!(
        "operands on two devices: {calls} calls, {} wrong",
        wrong.len()
    );
    let calm = no_panics(device, part);
    if passed && wrong.is_empty() && calm {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs all files, prints the failures and the count, and returns whether every case passed.
fn recorded_cases(device: Device, part: Part) -> bool {
    let mut report = Report::default();
    // `gradients_by_hand` lists keyword operands in every order; its numbers were derived without PyTorch.
    let main = [
        "cases",
        "promotion",
        "gradients",
        "gradients_beyond",
        "gradients_by_hand",
    ];
    for name in main.map(|name| format!("{name}.jsonl")) {
        run::file(&folder().join("data").join(name), device, part, &mut report);
    }
    for path in beyond() {
        run::file(&path, device, part, &mut report);
    }
    let paths = std::env::var_os("NOMINA_CASES").unwrap_or_default();
    for path in std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()) {
        run::file(&path, device, part, &mut report);
    }
    print!("{}", report.by_operator());
    println!("{} passed, {} failed", report.passed(), report.failed());
    report.failed() == 0 && report.passed() > 0
}
