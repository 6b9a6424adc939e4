//! Attention: keys pass by the queries of a block tile by tile, and no score is ever stored.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::catalog::Module;
use super::context::Cuda;
use super::index::WIDE;
use super::launch::{Argument, Grid};
use super::source::{File, Source};
use super::tile::{self, Repeats, Side};
use crate::call::{AttentionJob, AttentionPart};

const THREADS: u32 = 256;

#[repr(C)]
#[derive(Clone, Copy)]
struct Args {
    query: Side,
    key: Side,
    value: Side,
    mask: Side,
    out: Side,
    repeats: Repeats<5>,
    count: u64,
    length: u64,
    source: u64,
    features: u64,
    width: u64,
    scale: f64,
    causal: u32,
    masked: u32,
}

// SAFETY: the struct `Attention` of `attention.cu`, which has no padding of its own.
unsafe impl Argument for Args {}

/// Computes an attention.
///
/// # Safety
/// The operands lie where the job says, on this device, and have its sizes, of which none is zero;
/// the result is nobody else's.
pub(super) unsafe fn execute(cuda: &Cuda, job: &AttentionJob) -> Result<()> {
    let op = Op::ScaledDotProductAttention.name();
    let parts = [
        Some(&job.query),
        Some(&job.key),
        Some(&job.value),
        job.mask.as_ref(),
        Some(&job.out),
    ];
    let dims = job.batch.iter().enumerate().map(|(dim, &size)| {
        let step = |part: Option<&AttentionPart>| part.map_or(0, |part| part.batch[dim]);
        (size, parts.map(step))
    });
    let dims = tile::merged(dims);
    let (repeats, outer) = Repeats::new(&dims);
    let wide = job.dtype == DType::F64;
    let (edge, columns) = match (wide, job.width) {
        (true, _) => (32, 64),
        (false, ..=64) => (64, 64),
        (false, _) => (64, 128),
    };
    let blocks = job
        .length
        .div_ceil(edge)
        .saturating_mul(job.width.div_ceil(columns))
        .saturating_mul(repeats.count());
    let source = source(job.dtype, columns as i64, blocks >= WIDE);
    let function = cuda.function(op, source, c"attention")?;
    let side = |part: Option<&AttentionPart>, shift| {
        part.map_or(Side::NONE, |part| {
            Side::new(part.matrix, shift, part.dtype.size())
        })
    };
    tile::walk(outer, |at| {
        let args = Args {
            query: side(parts[0], at[0]),
            key: side(parts[1], at[1]),
            value: side(parts[2], at[2]),
            mask: side(parts[3], at[3]),
            out: side(parts[4], at[4]),
            repeats,
            count: repeats.count() as u64,
            length: job.length as u64,
            source: job.source as u64,
            features: job.features as u64,
            width: job.width as u64,
            scale: job.scale,
            causal: u32::from(job.causal),
            masked: match &job.mask {
                None => 0,
                Some(mask) if mask.dtype == DType::Bool => 1,
                Some(_) => 2,
            },
        };
        // SAFETY: the caller's promise.
        unsafe { cuda.launch(op, function, Grid::blocks(blocks, THREADS), &args) }
    })
}

/// Every module that calls here ask for.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for columns in [64, 128] {
            // f64 makes no more than 64 at a time.
            for wide in [false, true] {
                if dtype != DType::F64 || columns == 64 {
                    all.push(Module::new(source(dtype, columns, wide), &[c"attention"]));
                }
            }
        }
    }
    all
}

fn source(dtype: DType, columns: i64, wide: bool) -> Source {
    Source::new(File::Attention)
        .dtype("T0", dtype)
        .number("WIDTH", columns)
        .index(wide)
}
