//! The kernels of CUDA, by the real compiler.

use crate::step::{Command, Outcome, root};

const TEST: [&str; 5] = ["test", "--workspace", "--test", "cuda_kernels", "--"];

/// A sample of them, with a compiler that is fetched where it can be.
pub fn sample() -> Command {
    Command::cargo(TEST).args(["--fetch"])
}

/// `cargo xtask kernels [--only SUBSTRING] [--verbose] [--require]`: all of them.
pub fn run(args: &[String]) -> Outcome {
    Command::cargo(TEST).args(["--all"]).args(args).run()
}

/// `cargo xtask cuda-warm [--only SUBSTRING,...] [--among CACHE]`: kernels for sm_90, kept for a pack.
pub fn warm(args: &[String]) -> Outcome {
    let kept = root().join(crate::gpu::KERNELS);
    Command::cargo(TEST)
        .args(["--all", "--keep", "--require"])
        .args(args)
        .env("NOMINA_CUDA_CACHE", &kept.to_string_lossy())
        .run()
}

/// `cargo xtask cuda-kernels`: what models ask for and what is common, compiled for sm_80 and sm_90 and as PTX, as the file
/// of the package `nomina-cuda-kernels`.
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
