//! Attention: keys pass by the queries of a block tile by tile, and no score is ever stored.

mod trial;
mod warpgroup;

use std::sync::atomic::Ordering;

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::catalog::Module;
use super::context::Cuda;
use super::index::WIDE;
use super::launch::{Argument, Grid};
use super::source::{File, Source};
use super::tile::{self, Repeats, Side};
use crate::job::{AttentionJob, AttentionPart};
pub(super) use trial::Trials;
use warpgroup::Who;

/// The columns of the result that a block of the kernel for all dtypes may make.
const COLUMNS: [usize; 3] = [32, 64, 128];

/// The most features that go by products of small matrices.
const HEAD: usize = 128;

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
pub(super) unsafe fn execute(cuda: &'static Cuda, job: &AttentionJob) -> Result<()> {
    let tiles = warpgroup::chosen(cuda, job)?;
    let made = match tiles {
        Some(_) => &cuda.trials.by_warpgroups,
        None => &cuda.trials.by_warps,
    };
    made.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller's promise; a device that has what the kernel uses.
    unsafe {
        match tiles {
            Some(tiles) => tiles.launch(cuda, 0),
            None => by_warps(cuda, job),
        }
    }
}

/// Why warpgroups do not compute attention, if they do not.
pub(super) fn told(cuda: &Cuda) -> Result<(), String> {
    if warpgroup::who() == Who::Warp {
        return Err("NOMINA_CUDA_ATTENTION=warp".to_owned());
    }
    warpgroup::possible(cuda)?;
    cuda.trials.failed()
}

/// Computes an attention by kernels that all devices know.
///
/// # Safety
/// As [`execute`].
unsafe fn by_warps(cuda: &Cuda, job: &AttentionJob) -> Result<()> {
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
    let way = Way::of(cuda, job);
    let blocks = (job.length.div_ceil(way.queries))
        .saturating_mul(job.width.div_ceil(way.columns))
        .saturating_mul(repeats.count());
    let source = way.source(job.dtype, blocks >= WIDE);
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
        unsafe { cuda.launch(op, function, way.grid(blocks), &args) }
    })
}

/// One of the kernels.
#[derive(Clone, Copy)]
struct Way {
    file: File,
    /// Queries of a block, and columns of the result that it makes.
    queries: usize,
    columns: usize,
    threads: u32,
}

impl Way {
    fn of(cuda: &Cuda, job: &AttentionJob) -> Self {
        let half = matches!(job.dtype, DType::F16 | DType::BF16);
        let most = job.features.max(job.width);
        if half && most <= HEAD && cuda.properties.capability >= (8, 0) {
            return Self::half(if most <= HEAD / 2 { HEAD / 2 } else { HEAD });
        }
        let columns = COLUMNS.into_iter().find(|&columns| job.width <= columns);
        Self::any(job.dtype, columns.unwrap_or(128))
    }

    fn half(columns: usize) -> Self {
        Self {
            file: File::AttentionHalf,
            queries: 64,
            columns,
            threads: 128,
        }
    }

    fn any(dtype: DType, columns: usize) -> Self {
        let double = dtype == DType::F64;
        Self {
            file: File::Attention,
            queries: if double { 32 } else { 64 },
            columns: if double { 64 } else { columns },
            threads: 256,
        }
    }

    fn grid(self, blocks: usize) -> Grid {
        let grid = Grid::blocks(blocks, self.threads);
        match self.file {
            // Keys and values, each twice, in rows of 16 bytes more than their numbers take.
            File::AttentionHalf => grid.shared(4 * 64 * (self.columns + 8) * 2),
            _ => grid,
        }
    }

    fn source(self, dtype: DType, wide: bool) -> Source {
        let name = match self.file {
            File::AttentionHalf => "HEAD",
            _ => "WIDTH",
        };
        Source::new(self.file)
            .dtype("T0", dtype)
            .number(name, self.columns as i64)
            .index(wide)
    }
}

/// Every module that calls here ask for.
pub(super) fn modules() -> Vec<Module> {
    let any = |dtype| COLUMNS.map(|columns| (dtype, Way::any(dtype, columns)));
    let half = |dtype| [HEAD / 2, HEAD].map(|columns| (dtype, Way::half(columns)));
    let halves = [DType::F16, DType::BF16];
    let others = [DType::F16, DType::BF16, DType::F32];
    let ways = others.into_iter().flat_map(any);
    let ways = ways.chain(halves.into_iter().flat_map(half));
    let ways = ways.chain([(DType::F64, Way::any(DType::F64, 64))]);
    let both = |(dtype, way): (DType, Way)| [false, true].map(|wide| way.source(dtype, wide));
    ways.flat_map(both)
        .map(|source| Module::new(source, &[c"attention"]))
        .chain(warpgroup::modules())
        .collect()
}
