//! Convolution.

use std::ops::Range;

use half::{bf16, f16};
use nomina_core::DType;
use num_complex::Complex;

use super::kept::{kept, pack};
use super::lower::{Lower, LowerOrder};
use super::number::{ConvNumber, Widen, compute, native};
use super::{BLOCK, direct, group_product, locate, panels, positions, sliding, taps, winograd};
use crate::job::{ConvJob, Matrix, PackOrder, Packed, is_direct};

use crate::cpu::cast::Cast;
use crate::cpu::gemm;
use crate::cpu::parallel::{threads, try_split};
use crate::cpu::reduce::split::SmallScratch;
use crate::memory::NoMemory;
use crate::shape::product;

/// The fewest positions of a block: fewer would not repay the overhead of a product.
const NARROW: usize = 64;

/// The most positions, over the batch, of a convolution whose weight is read in place.
const FEW: usize = 16;
/// The fewest elements under a window for which that pays.
const DEEP: usize = 64;

/// Runs a convolution.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &ConvJob<'_>) -> Result<(), NoMemory> {
    let job = &job.normalized();
    // SAFETY: guaranteed by the caller.
    unsafe {
        match job.dtype {
            DType::F32 => floats::<f32, f32>(job),
            DType::F64 => floats::<f64, f64>(job),
            DType::F16 => floats::<f16, f32>(job),
            DType::BF16 => floats::<bf16, f32>(job),
            DType::C64 => floats::<Complex<f32>, Complex<f32>>(job),
            DType::C128 => floats::<Complex<f64>, Complex<f64>>(job),
            // Sums and products that wrap are the same with and without a sign.
            DType::I8 | DType::U8 | DType::Bool => direct::convolve::<u8, u8>(job),
            DType::I16 => direct::convolve::<u16, u16>(job),
            DType::I32 => direct::convolve::<u32, u32>(job),
            DType::I64 => direct::convolve::<u64, u64>(job),
        }
    }
}

unsafe fn floats<S: Widen<A>, A: ConvNumber + Widen<A>>(job: &ConvJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if native::<S, A>() && sliding::convolve::<A>(job)? {
            Ok(())
        } else if is_direct(job.dtype, job.channels, job.outs) {
            direct::convolve::<S, A>(job)
        } else if native::<S, A>() && point(job)? {
            // The convolution was a plain product.
            Ok(())
        } else if job.dtype == DType::F32 && winograd::convolve(job)?
            || native::<S, A>() && few_positions(job)?
            || panels::convolve::<S, A>(job)?
        {
            Ok(())
        } else {
            by_blocks(job)
        }
    }
}

/// Computes a convolution if it is a plain product. Returns whether it is.
unsafe fn point(job: &ConvJob<'_>) -> Result<bool, NoMemory> {
    let Some((mut product, mut repeats)) = job.as_product() else {
        return Ok(false);
    };
    product.addend = group_product(job, 0).addend;
    repeats[1].d = job.outs as isize;
    let order = PackOrder::Rows;
    // SAFETY: the matrices are the job's.
    unsafe {
        if job.groups == 1
            && Packed::pays(&product)
            && let Some([weight]) = kept(job, order, || pack(job, order, threads()))?
        {
            for _ in 0..job.batch {
                weight.multiply(&product)?;
                product.b = product.b.shift(repeats[0].b, job.dtype);
                product.c = product.c.shift(repeats[0].c, job.dtype);
            }
        } else {
            gemm::multiply(product, &repeats)?;
        }
    }
    Ok(true)
}

/// Computes a convolution of few positions with the weight read in place, since packing it would take longer than the
/// sums. Returns false, without having done anything, for other convolutions.
unsafe fn few_positions(job: &ConvJob<'_>) -> Result<bool, NoMemory> {
    let (count, taps) = (positions(&job.windows), taps(&job.windows));
    let depth = product([job.channels, taps]);
    if job.channels_last || product([job.batch, count]) > FEW || depth < DEEP || job.outs < count {
        return Ok(false);
    }
    let mut seen = SmallScratch::bytes([count, depth, job.dtype.size()])?;
    let seen = seen.as_mut_ptr();
    for unit in 0..product([job.batch, job.groups]) {
        let (x, out) = locate(job, unit);
        let mut product = group_product(job, unit % job.groups);
        product.n = count;
        product.b = Matrix {
            ptr: seen,
            rows: 1,
            cols: depth as isize,
        };
        product.c = out;
        // SAFETY: the scratch has a row for each position; the matrices are the job's.
        unsafe {
            lower(job, x, [0, count]).write_bits(job.dtype.size(), LowerOrder::Windows, seen);
            gemm::serial(&product)?;
        }
    }
    Ok(true)
}

/// Returns the elements under the windows of a unit, from its first element, at `count` positions from `from` on.
fn lower<'a>(job: &'a ConvJob<'_>, x: *const u8, [from, count]: [usize; 2]) -> Lower<'a> {
    let [_, strides @ ..] = job.x_strides;
    Lower {
        windows: &job.windows,
        x,
        channels: job.channels,
        strides,
        from,
        count,
    }
}

unsafe fn by_blocks(job: &ConvJob<'_>) -> Result<(), NoMemory> {
    let depth = job.channels * taps(&job.windows);
    let count = positions(&job.windows);
    let units = job.batch * job.groups;
    // Elements are converted to the dtype of the computation, and a buffer of the result back.
    let narrow = Cast::new(compute(job.dtype), job.dtype);
    let [element, size] = narrow.sizes();
    // The positions that fit in the block, or fewer, so that every thread has work.
    let fits = BLOCK / (depth.max(1) * element as usize);
    let shared = count.div_ceil((2 * threads()).div_ceil(units.max(1)));
    let most = fits.min(shared).clamp(NARROW, 4096);
    // Blocks of equal width, in whole vectors: a last block of a few positions would read the whole weight for
    // them alone.
    let width = count
        .div_ceil((count / most).max(1))
        .next_multiple_of(16)
        .min(count);
    let across = count.div_ceil(width);
    let tasks = units * across;
    let parallel = tasks < threads();
    let run = |range: Range<usize>| {
        let mut seen = SmallScratch::bytes([depth, width, element as usize])?;
        let seen = seen.as_mut_ptr();
        let widens = usize::from(!narrow.copies());
        let mut wide = SmallScratch::bytes([widens, job.outs, width, element as usize])?;
        let wide = wide.as_mut_ptr();
        for task in range {
            let (unit, from) = (task / across, task % across * width);
            let wanted = width.min(count - from);
            let (x, mut out) = locate(job, unit);
            out.ptr = out.ptr.wrapping_offset(from as isize * out.cols * size);
            let mut product = group_product(job, unit % job.groups);
            product.n = wanted;
            let (order, rows, cols) = if job.channels_last {
                (LowerOrder::Columns, 1, depth as isize)
            } else {
                (LowerOrder::Rows, wanted as isize, 1)
            };
            product.b = Matrix {
                ptr: seen,
                rows,
                cols,
            };
            product.c = if narrow.copies() {
                out
            } else {
                Matrix {
                    ptr: wide,
                    rows: wanted as isize,
                    cols: 1,
                }
            };
            // SAFETY: the scratches have room for the elements under `wanted` windows and for their results; other
            // tasks have other positions.
            unsafe {
                lower(job, x, [from, wanted]).write_widened(job.dtype, order, seen);
                if parallel {
                    gemm::multiply(product, &[])?;
                } else {
                    gemm::serial(&product)?;
                }
                if !narrow.copies() {
                    for row in 0..job.outs as isize {
                        let from = wide.wrapping_offset(row * wanted as isize * element);
                        let to = out.ptr.wrapping_offset(row * out.rows * size);
                        narrow.run(wanted, from, element, to, out.cols * size);
                    }
                }
            }
        }
        Ok(())
    };
    if parallel {
        run(0..tasks)
    } else {
        try_split(tasks, 1, &run)
    }
}
