//! Distances between rows: `distance.cu`.

use nomina_core::{DType, Result};

use super::context::Cuda;
use super::index::WIDE;
use super::launch::{Argument, Grid};
use super::module::Module;
use super::source::{File, Source};
use crate::job::DistanceJob;

const THREADS: u32 = 256;
/// The names of norms in `distance.cu`, for the exponents 0, 1, 2, infinity, and all others.
const NORMS: [&str; 5] = ["COUNT", "ABSOLUTE", "EUCLIDEAN", "GREATEST", "POWER"];

#[repr(C)]
#[derive(Clone, Copy)]
struct DistanceArgs {
    a: u64,
    b: u64,
    out: u64,
    batch: u64,
    m: u64,
    n: u64,
    depth: u64,
    p: f64,
}

// SAFETY: the struct `Distance` of `distance.cu`, without padding.
unsafe impl Argument for DistanceArgs {}

/// Computes all distances of a job.
///
/// # Safety
/// The operands are on this device with the sizes of the job, and nothing else uses the result.
pub(super) unsafe fn execute(cuda: &Cuda, job: &DistanceJob) -> Result<()> {
    let args = DistanceArgs {
        a: job.a as u64,
        b: job.b as u64,
        out: job.out as u64,
        batch: job.batch as u64,
        m: job.m as u64,
        n: job.n as u64,
        depth: job.depth as u64,
        p: job.p,
    };
    let special = [0.0, 1.0, 2.0, f64::INFINITY];
    let norm = NORMS[special.iter().position(|p| *p == job.p).unwrap_or(4)];
    // The rows of each operand that a block holds.
    let edge = match (norm, job.dtype) {
        ("POWER", DType::F64) => 16,
        ("POWER", _) => 32,
        _ => 64,
    };
    let blocks = (job.m.div_ceil(edge))
        .saturating_mul(job.n.div_ceil(edge))
        .saturating_mul(job.batch);
    let source = source(job.dtype, norm, blocks >= WIDE);
    let function = cuda.function(job.op, source, c"distances")?;
    // SAFETY: the caller's promise.
    unsafe { cuda.launch(job.op, function, Grid::blocks(blocks, THREADS), &args) }
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for norm in NORMS {
            for wide in [false, true] {
                all.push(Module::new(source(dtype, norm, wide), &[c"distances"]));
            }
        }
    }
    all
}

fn source(dtype: DType, norm: &'static str, wide: bool) -> Source {
    Source::new(File::Distance)
        .dtype("T0", dtype)
        .word("NORM", norm)
        .index(wide)
}
