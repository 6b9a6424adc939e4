//! Matrix products by our own kernels: `gemm.cu`.

use std::ffi::CStr;

use nomina_core::{DType, Result, Scalar};

use super::context::Cuda;
use super::index::{Divider, WIDE};
use super::launch::{Argument, Grid};
use super::module::Module;
use super::per_device::CallCounts;
use super::source::{File, Source};
use super::tile::{self, RepeatedDims, Side, TileRepeats};
use crate::job::{Matrix, Product};
use crate::storage::DeviceBuffer;

const OP: &str = "matmul";

/// Threads of a block.
const THREADS: u32 = 256;
/// Steps of the summed dim that a block holds at a time, and rows of a result of wide elements.
const DEEP: usize = 16;
/// The fewest steps in a part of a split summed dim.
const PART: usize = 256;

/// The number of products computed by these kernels.
pub(super) static CALLS: CallCounts = CallCounts::new();

#[repr(C)]
#[derive(Clone, Copy)]
struct GemmArgs {
    a: Side,
    b: Side,
    c: Side,
    d: Side,
    repeats: TileRepeats<4>,
    partial: u64,
    alpha: [u64; 2],
    beta: [u64; 2],
    m: u64,
    n: u64,
    k: u64,
    count: u64,
    parts: u64,
    steps: u64,
    down: Divider,
    across: Divider,
    scaled: u32,
    added: u32,
    packed: u32,
    pad: u32,
}

// SAFETY: the struct `Product` of `gemm.cu`, whose padding is written out.
unsafe impl Argument for GemmArgs {}

/// Returns the bits of a number in the type that the dtype computes in, for kernels and cuBLASLt.
pub(super) fn words(dtype: DType, value: Scalar) -> [u64; 2] {
    let single = |x: f64| u64::from((x as f32).to_bits());
    match dtype {
        DType::Bool => [u64::from(value.to_bool()), 0],
        // The kernel takes the low half, and wraps the result.
        DType::U8 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => [value.to_i64() as u64, 0],
        DType::F16 | DType::BF16 | DType::F32 => [single(value.to_f64()), 0],
        DType::F64 => [value.to_f64().to_bits(), 0],
        DType::C64 => {
            let value = value.to_complex();
            [single(value.re) | (single(value.im) << 32), 0]
        }
        DType::C128 => {
            let value = value.to_complex();
            [value.re.to_bits(), value.im.to_bits()]
        }
    }
}

/// Returns the bytes of the accumulator.
fn sum_size(dtype: DType) -> usize {
    match dtype {
        DType::I64 | DType::F64 | DType::C64 => 8,
        DType::C128 => 16,
        _ => 4,
    }
}

/// One of the kernels, and how it divides the work.
#[derive(Clone, Copy)]
struct GemmPlan {
    entry: &'static CStr,
    /// Blocks if the summed dim is not split.
    blocks: usize,
    /// The most parts into which the summed dim may be split.
    parts: usize,
    /// The steps of a part are a multiple of this.
    unit: usize,
    /// Whether operands are read in words of 16 bytes.
    packed: bool,
}

impl GemmPlan {
    /// Chooses the kernel of a product that is repeated `count` times.
    fn choose(p: &Product, dims: &RepeatedDims<4>, count: usize) -> Self {
        if p.n != 1 {
            let edge = if p.dtype == DType::C128 { 32 } else { 64 };
            return Self {
                entry: c"tiles",
                blocks: p.m.div_ceil(edge) * p.n.div_ceil(edge) * count,
                parts: p.k / PART,
                unit: DEEP,
                packed: false,
            };
        }
        if p.m == 1 || p.a.cols.unsigned_abs() <= p.a.rows.unsigned_abs() {
            let aligned = |x: isize| (x * p.dtype.size() as isize) % 16 == 0;
            let packed = p.a.cols == 1
                && p.b.rows == 1
                && (p.m == 1 || aligned(p.a.rows))
                && (p.a.ptr as usize).is_multiple_of(16)
                && (p.b.ptr as usize).is_multiple_of(16)
                && dims
                    .iter()
                    .all(|(_, [a, b, ..])| aligned(*a) && aligned(*b));
            return Self {
                entry: c"rows",
                blocks: (p.m * count).div_ceil(THREADS as usize / 32),
                parts: p.k / (4 * PART),
                unit: 2 * PART,
                packed,
            };
        }
        Self {
            entry: c"columns",
            blocks: p.m.div_ceil(32) * count,
            parts: p.k / PART,
            unit: DEEP,
            packed: false,
        }
    }
}

/// Computes a product for every combination of the indices of `dims`.
///
/// # Safety
/// All matrices are on this device, at their addresses and strides.
pub(super) unsafe fn execute(
    cuda: &'static Cuda,
    p: &Product,
    dims: &RepeatedDims<4>,
) -> Result<()> {
    CALLS.increment(cuda.ordinal);
    let (repeats, outer) = TileRepeats::new(dims);
    let count = repeats.count();
    let way = GemmPlan::choose(p, dims, count);
    let busy = 4 * cuda.multiprocessors();
    let parts = (busy / way.blocks.max(1)).clamp(1, way.parts.max(1));
    let steps = p.k.div_ceil(parts).next_multiple_of(way.unit).max(way.unit);
    let parts = p.k.div_ceil(steps).max(1);
    let results = count.saturating_mul(p.m).saturating_mul(p.n);
    let partial = if parts > 1 {
        Some(cuda.scratch(OP, [parts, results, sum_size(p.dtype)])?)
    } else {
        None
    };
    let size = p.dtype.size();
    let divider = |size: usize| Divider::new(u32::try_from(size).unwrap_or(1));
    let side = |at: Option<Matrix>, shift| at.map_or(Side::NONE, |at| Side::new(at, shift, size));
    let alpha = words(p.dtype, p.alpha);
    let args = |at: [isize; 4]| GemmArgs {
        a: side(Some(p.a), at[0]),
        b: side(Some(p.b), at[1]),
        c: side(Some(p.c), at[2]),
        d: side(p.addend, at[3]),
        repeats,
        partial: partial
            .as_ref()
            .map_or(0, |block: &DeviceBuffer| block.as_ptr() as u64),
        alpha,
        beta: words(p.dtype, p.beta.unwrap_or(Scalar::Int(0))),
        m: p.m as u64,
        n: p.n as u64,
        k: p.k as u64,
        count: count as u64,
        parts: parts as u64,
        steps: steps as u64,
        down: divider(p.m),
        across: divider(p.n),
        scaled: u32::from(alpha != words(p.dtype, Scalar::Int(1))),
        added: u32::from(p.addend.is_some()),
        packed: u32::from(way.packed),
        pad: 0,
    };
    let wide = results.max(p.m.saturating_mul(count).saturating_mul(parts)) >= WIDE;
    let blocks = way.blocks.saturating_mul(parts);
    let function = cuda.function(OP, source(p.dtype, wide), way.entry)?;
    let combine = match parts {
        1 => None,
        _ => Some(cuda.function(OP, source(p.dtype, wide), c"combine")?),
    };
    tile::walk(outer, |at| {
        let args = args(at);
        // SAFETY: the caller's promise. The sums of the parts are in a workspace, which only later work uses again.
        unsafe {
            cuda.launch(OP, function, Grid::blocks(blocks, THREADS), &args)?;
            if let Some(combine) = combine {
                cuda.launch(OP, combine, Grid::linear(results, THREADS), &args)?;
            }
        }
        Ok(())
    })
}

fn source(dtype: DType, wide: bool) -> Source {
    Source::new(File::Gemm).dtype("T0", dtype).index(wide)
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let each = |dtype| [false, true].map(|wide| source(dtype, wide));
    let entries = &[c"tiles", c"rows", c"columns", c"combine"];
    let sources = DType::ALL.into_iter().flat_map(each);
    sources.map(|source| Module::new(source, entries)).collect()
}
