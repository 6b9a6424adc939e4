//! Compiles the CUDA kernels with the real compiler.

use crate::step::{Command, Outcome, root};

const TEST: [&str; 5] = ["test", "--workspace", "--test", "cuda_kernels", "--"];

/// Compiles a sample of the kernels, with a compiler that is downloaded if possible.
pub fn sample() -> Command {
    Command::cargo(TEST).args(["--fetch"])
}

/// `cargo xtask kernels [--only SUBSTRING] [--verbose] [--require]`: compiles all kernels.
pub fn run(args: &[String]) -> Outcome {
    Command::cargo(TEST).args(["--all"]).args(args).run()
}

/// `cargo xtask cuda-warm [--only SUBSTRING,...] [--among CACHE]`: compiles kernels for sm_90 and stores them for a
/// pack.
pub fn warm(args: &[String]) -> Outcome {
    let kept = root().join(crate::gpu::KERNELS);
    Command::cargo(TEST)
        .args(["--all", "--keep", "--require"])
        .args(args)
        .env("NOMINA_CUDA_CACHE", &kept.to_string_lossy())
        .run()
}

/// `cargo xtask cuda-kernels`: compiles the kernels that models ask for and the common ones for sm_80, sm_90 and as
/// PTX, and writes the file of the package `nomina-cuda-kernels`.
pub fn ship() -> Outcome {
    Command::cargo(["test", "--workspace", "--test", "cuda_models"])
        .env("NOMINA_EVERY", "1")
        .run()?;
    let path = |name: &str| root().join(name).to_string_lossy().into_owned();
    Command::cargo(TEST)
        .args(["--all", "--require"])
        .args(["--among", &path("target/tmp/kernels-shipped")])
        .args(["--pack", &path("cuda-kernels/kernels.pack")])
        .env("NOMINA_CUDA_CACHE", &path("target/cuda/shipped"))
        .run()
}
