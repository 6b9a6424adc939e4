//! Attention by the kernels for all devices: `attention.cu` and `attention_half.cu`.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::features::MOST_FEATURES;
use crate::cuda::context::Cuda;
use crate::cuda::index::WIDE;
use crate::cuda::launch::{Argument, Grid};
use crate::cuda::module::Module;
use crate::cuda::source::{File, Source};
use crate::cuda::tile::{self, Side, TileRepeats};
use crate::job::{AttentionJob, AttentionPart};

/// The numbers of columns that a block of the kernel for all dtypes may compute.
const COLUMNS: [usize; 3] = [32, 64, 128];

#[repr(C)]
#[derive(Clone, Copy)]
struct WarpsArgs {
    query: Side,
    key: Side,
    value: Side,
    mask: Side,
    out: Side,
    repeats: TileRepeats<5>,
    count: u64,
    length: u64,
    source: u64,
    features: u64,
    width: u64,
    scale: f64,
    causal: u32,
    masked: u32,
}

// SAFETY: the struct `Attention` of `attention.cu`, which has no implicit padding.
unsafe impl Argument for WarpsArgs {}

/// Computes an attention.
///
/// # Safety
/// See [`super::execute`].
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
    let (repeats, outer) = TileRepeats::new(&dims);
    let way = WarpsKernel::choose(cuda, job);
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
        let args = WarpsArgs {
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
struct WarpsKernel {
    file: File,
    /// The queries of a block, and the columns of the result that it computes.
    queries: usize,
    columns: usize,
    threads: u32,
}

impl WarpsKernel {
    fn choose(cuda: &Cuda, job: &AttentionJob) -> Self {
        let half = matches!(job.dtype, DType::F16 | DType::BF16);
        let most = job.features.max(job.width);
        if half && most <= MOST_FEATURES && cuda.properties.capability >= (8, 0) {
            return Self::half(if most <= MOST_FEATURES / 2 {
                MOST_FEATURES / 2
            } else {
                MOST_FEATURES
            });
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
            // Two buffers each for keys and values, whose rows are padded by 16 bytes.
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

/// Lists every module that these calls use.
pub(super) fn modules() -> impl Iterator<Item = Module> {
    let any = |dtype| COLUMNS.map(|columns| (dtype, WarpsKernel::any(dtype, columns)));
    let half = |dtype| {
        [MOST_FEATURES / 2, MOST_FEATURES].map(|columns| (dtype, WarpsKernel::half(columns)))
    };
    let halves = [DType::F16, DType::BF16];
    let others = [DType::F16, DType::BF16, DType::F32];
    let ways = others.into_iter().flat_map(any);
    let ways = ways.chain(halves.into_iter().flat_map(half));
    let ways = ways.chain([(DType::F64, WarpsKernel::any(DType::F64, 64))]);
    let both =
        |(dtype, way): (DType, WarpsKernel)| [false, true].map(|wide| way.source(dtype, wide));
    ways.flat_map(both)
        .map(|source| Module::new(source, &[c"attention"]))
}
