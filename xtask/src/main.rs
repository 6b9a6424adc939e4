//! Checks and chores of the workspace. Nothing to install: `cargo xtask check`.

mod build_time;
mod check;
#[cfg(test)]
mod circles;
#[cfg(test)]
mod english;
mod features_off;
mod generate;
mod gpu;
#[cfg(test)]
mod import_order;
mod kernels;
mod levels;
mod next_solver;
#[cfg(test)]
mod package;
mod page;
#[cfg(test)]
mod project_rules;
mod sanitize;
mod soak;
mod step;
#[cfg(test)]
mod thread_rules;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask <task>

  check [--skip STEP]   what CI runs, cheapest first; stops at the first failure
  nightly [--skip STEP] longer checks: newcomers' and attackers' programs in their own crates, the next solver, all fixes,
                        all of the CUDA backend and its kernels
  generate              rewrites the generated files
  levels                all tests that compute, with the loops of each instruction set
  sanitize              runtime's tests under AddressSanitizer, ThreadSanitizer and Valgrind
  next-solver           all that compiles, and the errors of mistakes, by the trait solver that rustc will have next;
                        --quick without the documentation's tests
  features-off          what rustc says to methods whose feature is off
  fixes                 `cargo nomina fix` on every mistake of ui-tests; tests take a sample
  soak [--inputs N] [--record]
                        the fuzz targets under AddressSanitizer, 10 million inputs unless N, with the loops of
                        each instruction set; --record into docs/reliability.md
  kernels [ARGS]        every CUDA kernel compiled by the real compiler, which is fetched; needs no GPU
  cuda                  all cases of the CUDA backend on the CPU emulation of the GPU; tests take a sample
  cuda-warm [--only SUBSTRING,...] [--among CACHE]
                        kernels compiled for sm_90 by the real compiler, all or those of such names, or those that a
                        program asked for whose cache is named; `gpu --pack` carries them
  cuda-kernels          compiled kernels for the package `nomina-cuda-kernels`: what models ask for
  gpu [--budget SECONDS] [STEP]...
                        on a machine with a GPU: conformance, kernels, sanitizers, speed;
                        --pack FOLDER for one without cargo, --record FIGURES into docs/cuda.md
  build-time [WHAT]...  processor seconds of rustc by crate, from nothing: example, release, tests, or all
  compile-time [ARGS]   what typed programs cost rustc, beside the limits; --quick for a smoke run,
                        --next-solver by the next trait solver
";

fn main() -> ExitCode {
    if let Some(code) = build_time::run_as_rustc() {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match args.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("", &[][..]),
    };
    let done = match task {
        "build-time" => build_time::run(rest),
        "check" => check::run(rest),
        "nightly" => check::nightly(rest),
        "generate" => generate::rewrite(),
        "cuda" => step::Command::cargo(["test", "--workspace"])
            .args(["--test", "conformance", "--test", "cuda_*"])
            .args(rest)
            .env("NOMINA_EVERY", "1")
            .run(),
        "features-off" => features_off::run(),
        "fixes" => step::Command::cargo(["test", "-p", "cargo-nomina", "--test", "fixes"])
            .args(["--", "--nocapture", "mistakes"])
            .args(rest)
            .env("NOMINA_EVERY", "1")
            .run(),
        "gpu" => gpu::run(rest),
        "next-solver" => next_solver::run(rest.iter().any(|arg| arg == "--quick")),
        "soak" => soak::run(rest),
        "kernels" => kernels::run(rest),
        "cuda-warm" => kernels::warm(rest),
        "cuda-kernels" => kernels::ship(),
        "levels" => levels::run(),
        "sanitize" => sanitize::run(),
        "compile-time" => step::Command::cargo(["run", "--release", "-p", "compile-time", "--"])
            .args(rest)
            .run(),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        "" => Err("which task?".to_owned()),
        other => Err(format!("no task `{other}`")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            if error.starts_with("no task") || error.starts_with("which") {
                eprint!("\n{USAGE}");
            }
            ExitCode::FAILURE
        }
    }
}
