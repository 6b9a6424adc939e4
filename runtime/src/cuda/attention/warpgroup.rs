//! Attention on devices of capability 9.0: products of warpgroups, which are four warps each, of tiles that the copy
//! engine loads.

use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUtensorMap};
use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::features::MOST_FEATURES;
use crate::cuda::context::Cuda;
use crate::cuda::launch::{Argument, Grid};
use crate::cuda::module::Module;
use crate::cuda::source::{File, Source};
use crate::cuda::tile::{self, RepeatedDims};
use crate::job::{AttentionJob, AttentionPart};

/// The queries of a block, and the keys of a step.
const ROWS: usize = 128;

/// The columns of a tile in shared memory.
const COLS: usize = 64;

/// With no more queries than this, one of a block's two warpgroups has nothing to do.
const FEW: usize = 64;

/// The most batch dims: the copy engine supports five dims in all.
const REPEATS: usize = 3;

/// The tiles of keys, and of values, for which a block has room.
const ROOM: usize = 2;

#[repr(C, align(128))]
#[derive(Clone, Copy)]
struct WarpgroupArgs {
    query: CUtensorMap,
    key: CUtensorMap,
    value: CUtensorMap,
    out: u64,
    out_rows: i64,
    out_steps: [i64; REPEATS],
    length: u64,
    source: u64,
    patience: u64,
    sizes: [u32; REPEATS],
    has: [u32; 3],
    width: u32,
    causal: u32,
    scale: f32,
    pad: [u32; 7],
}

// SAFETY: the struct `Tiles` of `attention_warpgroup.cu`, with explicit padding.
unsafe impl Argument for WarpgroupArgs {}
const _: () = assert!(size_of::<WarpgroupArgs>() == 512);

/// Checks that a device and its driver support the kernels.
pub(super) fn check_device(cuda: &Cuda) -> Result<(), String> {
    static DESCRIBES: OnceLock<bool> = OnceLock::new();
    let (major, minor) = cuda.properties.capability;
    if (major, minor) != (9, 0) {
        return Err(format!("for capability 9.0, not {major}.{minor}"));
    }
    let name = "cuTensorMapEncodeTiled";
    let describes = DESCRIBES.get_or_init(|| {
        // SAFETY: the library is there because a device is open, and the symbol is only looked up.
        unsafe { sys::culib().get::<*const ()>(name.as_bytes()) }.is_ok()
    });
    if *describes {
        Ok(())
    } else {
        Err(format!("the driver has no `{name}`"))
    }
}

/// One of the kernels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct WarpgroupKernel {
    pub(super) dtype: DType,
    /// The most features.
    pub(super) head: usize,
}

impl WarpgroupKernel {
    pub(super) const ALL: [Self; 4] = [
        Self::new(DType::F16, MOST_FEATURES / 2),
        Self::new(DType::F16, MOST_FEATURES),
        Self::new(DType::BF16, MOST_FEATURES / 2),
        Self::new(DType::BF16, MOST_FEATURES),
    ];

    const fn new(dtype: DType, head: usize) -> Self {
        Self { dtype, head }
    }

    fn source(self) -> Source {
        Source::new(File::AttentionWarpgroup)
            .dtype("T0", self.dtype)
            .number("HEAD", self.head as i64)
    }

    fn grid(self, blocks: usize) -> Grid {
        let matrix = ROWS * self.head * 2;
        // A pair of barriers for the queries and for each other tile; tiles begin at multiples of 1024.
        let shared = (1 + 2 * ROOM) * (matrix + 2 * 8) + 1024;
        Grid::blocks(blocks, 384).shared(shared)
    }
}

/// An attention in the form of the kernel.
pub(super) struct Tiles {
    pub(super) kind: WarpgroupKernel,
    args: WarpgroupArgs,
    blocks: usize,
}

impl Tiles {
    /// Converts a job. Returns `None` if the copy engine cannot load an operand, or if the kernel does not support the
    /// job: masks, for example, or a scale that reverses the order of scores.
    pub(super) fn new(job: &AttentionJob) -> Option<Self> {
        let most = job.features.max(job.width);
        let head = if most <= MOST_FEATURES / 2 {
            MOST_FEATURES / 2
        } else {
            MOST_FEATURES
        };
        let mut kinds = WarpgroupKernel::ALL.into_iter();
        let kind = kinds.find(|kind| kind.dtype == job.dtype && kind.head == head)?;
        let scale = (job.scale * std::f64::consts::LOG2_E) as f32;
        let count = crate::shape::count(&job.batch);
        let sizes = [job.length, job.source, count];
        let known = most <= MOST_FEATURES && job.features > 0 && scale > 0.0 && scale.is_finite();
        if !known || job.mask.is_some() || sizes.iter().any(|&size| size > i32::MAX as usize) {
            return None;
        }
        let parts = [&job.query, &job.key, &job.value, &job.out];
        let dims = job.batch.iter().enumerate();
        let dims = tile::merged(dims.map(|(dim, &size)| (size, parts.map(|part| part.batch[dim]))));
        let out = job.out.matrix;
        // The kernel stores two numbers of a row as one word.
        let mut steps = dims.iter().map(|(_, steps)| steps[3]).chain([out.rows]);
        let even = job.width.is_multiple_of(2) && out.ptr.addr().is_multiple_of(4);
        if dims.len() > REPEATS || out.cols != 1 || !even || steps.any(|step| step % 2 != 0) {
            return None;
        }
        let map = |which: usize, rows, cols| map(parts[which], [rows, cols], &dims, which);
        let mut args = WarpgroupArgs {
            query: map(0, job.length, job.features)?,
            key: map(1, job.source, job.features)?,
            value: map(2, job.source, job.width)?,
            out: out.ptr as u64,
            out_rows: out.rows as i64,
            out_steps: [0; REPEATS],
            length: job.length as u64,
            source: job.source as u64,
            patience: 0,
            sizes: [1; REPEATS],
            has: [0; 3],
            width: job.width as u32,
            causal: u32::from(job.causal),
            scale,
            pad: [0; 7],
        };
        for (at, (size, steps)) in dims.iter().rev().enumerate() {
            args.sizes[at] = *size as u32;
            args.out_steps[at] = steps[3] as i64;
            for (has, step) in args.has.iter_mut().zip(steps) {
                *has |= u32::from(*step != 0) << at;
            }
        }
        Some(Self {
            kind,
            args,
            blocks: job.length.div_ceil(ROWS) * count,
        })
    }

    /// Returns whether the kernel keeps the device busy.
    pub(super) fn is_worth_it(&self) -> bool {
        self.args.length > FEW as u64
    }

    /// Starts the kernel. Its threads wait at most `patience` nanoseconds for one another; 0 is no limit.
    ///
    /// # Safety
    /// See [`super::execute`], for the job that this was made from. [`check_device`] has accepted the device.
    pub(super) unsafe fn launch(&self, cuda: &Cuda, patience: u64) -> Result<()> {
        let op = Op::ScaledDotProductAttention.name();
        let function = cuda.function(op, self.kind.source(), c"attention")?;
        let args = WarpgroupArgs {
            patience,
            ..self.args
        };
        // SAFETY: the caller's promise.
        unsafe { cuda.launch(op, function, self.kind.grid(self.blocks), &args) }
    }
}

/// Describes an operand to the copy engine: features, rows, then the batch dims from the innermost on. Dims over which
/// the operand is broadcast have size 1. Returns `None` if the copy engine cannot load it.
fn map(
    part: &AttentionPart,
    [rows, cols]: [usize; 2],
    batch: &RepeatedDims<4>,
    which: usize,
) -> Option<CUtensorMap> {
    let mut sizes = [cols as u64, rows as u64, 1, 1, 1];
    // Any stride will do for a dim of size 1.
    let mut strides = [16; 4];
    let mut stride = |at: usize, size: usize, step: isize| {
        sizes[at] = size as u64;
        strides[at - 1] = u64::try_from(step * 2).unwrap_or(1);
    };
    if rows > 1 {
        stride(1, rows, part.matrix.rows);
    }
    for (at, (size, steps)) in batch.iter().rev().enumerate() {
        if steps[which] != 0 {
            stride(at + 2, *size, steps[which]);
        }
    }
    let lies = (part.matrix.cols == 1 || cols == 1)
        && part.matrix.ptr.addr().is_multiple_of(16)
        && strides
            .iter()
            .all(|stride| stride.is_multiple_of(16) && (1..1 << 40).contains(stride));
    if !lies {
        return None;
    }
    let dtype = match part.dtype {
        DType::F16 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        _ => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    };
    let mut map = CUtensorMap { opaque: [0; 16] };
    // SAFETY: the driver has the function, and reads five or four numbers from each list.
    let code = unsafe {
        sys::cuTensorMapEncodeTiled(
            &raw mut map,
            dtype,
            5,
            part.matrix.ptr.cast(),
            sizes.as_ptr(),
            strides.as_ptr(),
            [COLS as u32, ROWS as u32, 1, 1, 1].as_ptr(),
            [1; 5].as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    };
    code.result().is_ok().then_some(map)
}

/// Lists every module that these calls use.
pub(super) fn modules() -> impl Iterator<Item = Module> {
    let sources = WarpgroupKernel::ALL
        .into_iter()
        .map(WarpgroupKernel::source);
    sources.map(|source| Module::new(source, &[c"attention"]))
}
