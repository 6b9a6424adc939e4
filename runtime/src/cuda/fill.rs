//! Tensors filled with numbers, and triangles of matrices: `fill.cu`.

use nomina_core::{DType, Result, Scalar};

use super::index::StridedIndex;
use super::launch::{Argument, Grid};
use super::map::ACCESS;
use super::module::Module;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::job::{Constant, Place, TriangleJob};

use crate::plan::Plan;

/// The threads of a block.
const THREADS: u32 = 256;

/// The arguments: a struct of `fill.cu`, like those below.
#[repr(C)]
#[derive(Clone, Copy)]
struct FillArgs {
    dest: *mut u8,
    count: u64,
    number: Constant,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct StridedFillArgs {
    args: FillArgs,
    at: StridedIndex<1>,
    pad: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Range {
    dest: *mut u8,
    count: u64,
    whole_start: i64,
    whole_step: i64,
    start: f64,
    step: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Triangle {
    dest: *mut u8,
    count: u64,
    diagonal: i64,
    upper: u64,
    at: StridedIndex<1>,
}

// SAFETY: the struct of `fill.cu`.
unsafe impl Argument for FillArgs {}
// SAFETY: as above.
unsafe impl Argument for StridedFillArgs {}
// SAFETY: as above.
unsafe impl Argument for Range {}
// SAFETY: as above.
unsafe impl Argument for Triangle {}

fn module(dtype: DType, wide: bool) -> Source {
    let source = Source::new(File::Fill).dtype("OUT", dtype);
    if wide { source.index(true) } else { source }
}

/// Writes a number to operand 0 of a plan.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn fill(cuda: &Cuda, plan: &Plan, dest: Place, value: Scalar) -> Result<()> {
    const OP: &str = "fill";
    let (count, size) = (plan.numel(), dest.dtype.size());
    if count == 0 {
        return Ok(());
    }
    let args = FillArgs {
        dest: dest.ptr,
        count: count as u64,
        number: Constant::new(value, dest.dtype),
    };
    if plan.is_linear(0, size) && dest.ptr.addr().is_multiple_of(ACCESS) {
        let function = cuda.function(OP, module(dest.dtype, false), c"contiguous")?;
        let grid = Grid::linear(count.div_ceil(ACCESS / size), THREADS);
        // SAFETY: the kernel's struct; the caller promises the positions.
        return unsafe { cuda.launch(OP, function, grid, &args) };
    }
    let Some(at) = StridedIndex::<1>::new(plan) else {
        // SAFETY: the caller's promise.
        return unsafe { staged::fill(cuda, plan, dest, value) };
    };
    let function = cuda.function(OP, module(dest.dtype, at.is_wide()), c"strided")?;
    let args = StridedFillArgs { args, at, pad: 0 };
    // SAFETY: as above.
    unsafe { cuda.launch(OP, function, Grid::linear(count, THREADS), &args) }
}

/// Writes `start`, `start + step`, and so on, to `n` adjacent elements.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn arange(
    cuda: &Cuda,
    n: usize,
    dest: Place,
    start: Scalar,
    step: Scalar,
) -> Result<()> {
    const OP: &str = "arange";
    if n == 0 {
        return Ok(());
    }
    let mut args = Range {
        dest: dest.ptr,
        count: n as u64,
        whole_start: 0,
        whole_step: 0,
        start: 0.0,
        step: 0.0,
    };
    if dest.dtype.is_integral() {
        (args.whole_start, args.whole_step) = (start.to_i64(), step.to_i64());
    } else {
        (args.start, args.step) = (start.to_f64(), step.to_f64());
    }
    let function = cuda.function(OP, module(dest.dtype, false), c"arange")?;
    // SAFETY: the kernel's struct; the caller promises the positions.
    unsafe { cuda.launch(OP, function, Grid::linear(n, THREADS), &args) }
}

/// Writes zeros on one side of a diagonal of matrices.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn triangle(cuda: &Cuda, job: &TriangleJob<'_>, dest: Place) -> Result<()> {
    let op = if job.upper { "triu" } else { "tril" };
    let count: usize = job.shape.iter().product();
    let &[.., rows, columns] = job.shape else {
        return Ok(());
    };
    if count == 0 {
        return Ok(());
    }
    // The two dims of a matrix stay separate; the planner merges the others.
    let size = dest.dtype.size();
    let split = job.shape.len() - 2;
    let planes = Plan::new(&job.shape[..split], &[(&job.strides[..split], size)]);
    let matrix = [split + 1, split].map(|dim| (job.shape[dim], [job.strides[dim] * size as isize]));
    let outer = planes.dims().iter().map(|dim| (dim.size, [dim.steps[0]]));
    let Some(at) = StridedIndex::<1>::from_dims(matrix.into_iter().chain(outer)) else {
        // SAFETY: the caller's promise.
        return unsafe { staged::triangle(cuda, job, dest) };
    };
    // Diagonals further outside have the same result.
    let far = rows.max(columns) as i64;
    let args = Triangle {
        dest: dest.ptr,
        count: count as u64,
        diagonal: job.diagonal.clamp(-far, far),
        upper: u64::from(job.upper),
        at,
    };
    let function = cuda.function(op, module(dest.dtype, at.is_wide()), c"triangle")?;
    // SAFETY: the kernel's struct; the caller promises the positions.
    unsafe { cuda.launch(op, function, Grid::linear(count, THREADS), &args) }
}

/// Lists the modules of all dtypes.
pub(super) fn modules() -> Vec<Module> {
    let both = DType::ALL
        .into_iter()
        .flat_map(|dtype| [module(dtype, false), module(dtype, true)]);
    both.map(|source| {
        let entries = &[c"contiguous", c"strided", c"arange", c"triangle"];
        Module::new(source, entries)
    })
    .collect()
}
