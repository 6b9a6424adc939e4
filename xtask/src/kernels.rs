//! The kernels of CUDA, by the real compiler.

use crate::step::{Command, Outcome};

const TEST: [&str; 5] = ["test", "--workspace", "--test", "cuda_kernels", "--"];

/// A sample of them, with a compiler that is fetched where it can be.
pub fn sample() -> Command {
    Command::cargo(TEST).args(["--fetch"])
}

/// `cargo xtask kernels [--only SUBSTRING] [--verbose] [--require]`: all of them.
pub fn run(args: &[String]) -> Outcome {
    Command::cargo(TEST).args(["--all"]).args(args).run()
}
