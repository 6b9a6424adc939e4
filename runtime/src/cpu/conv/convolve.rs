//! Convolution.

use half::{bf16, f16};
use nomina_core::{DType, Scalar};
use num_complex::Complex;

use super::kept::{kept, pack};
use super::lower::Lower;
use super::number::{ConvNumber, Widen, compute, native};
use super::{BLOCK, direct, group_product, panels, positions, sliding, taps, winograd};
use crate::job::{ConvJob, Matrix, PackOrder, Packed, Product, is_direct};

use crate::cpu::gemm;
use crate::cpu::parallel::{threads, try_split};
use crate::cpu::reduce::simd::{Kernel, dispatch};
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
            DType::I8 => direct::convolve::<i8, i8>(job),
            DType::I16 => direct::convolve::<i16, i16>(job),
            DType::I32 => direct::convolve::<i32, i32>(job),
            DType::I64 => direct::convolve::<i64, i64>(job),
            DType::U8 | DType::Bool => direct::convolve::<u8, u8>(job),
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
        } else if native::<S, A>() && point::<A>(job)? {
            // The convolution was a plain product.
            Ok(())
        } else if job.dtype == DType::F32 && winograd::convolve(job)?
            || native::<S, A>() && few_positions::<A>(job)?
            || panels::convolve::<S, A>(job)?
        {
            Ok(())
        } else {
            by_blocks::<S, A>(job)
        }
    }
}

/// Computes a convolution if it is a plain product. Returns whether it is.
unsafe fn point<A: ConvNumber>(job: &ConvJob<'_>) -> Result<bool, NoMemory> {
    let Some((mut product, mut repeats)) = job.as_product() else {
        return Ok(false);
    };
    product.addend = group_product::<A>(job, 0).addend;
    repeats[1].d = job.outs as isize;
    let order = PackOrder::Rows;
    // SAFETY: the matrices are the job's.
    unsafe {
        if job.groups == 1
            && Packed::pays(&product)
            && let Some([weight]) = kept(job, order, || pack::<A>(job, order, threads()))?
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
unsafe fn few_positions<A: ConvNumber + Widen<A>>(job: &ConvJob<'_>) -> Result<bool, NoMemory> {
    let (count, taps) = (positions(&job.windows), taps(&job.windows));
    let depth = product([job.channels, taps]);
    if job.channels_last || product([job.batch, count]) > FEW || depth < DEEP || job.outs < count {
        return Ok(false);
    }
    let mut seen = SmallScratch::bytes([count, depth, size_of::<A>()])?;
    let seen = seen.as_mut_ptr().cast::<A>();
    let [_, channel, spatial @ ..] = job.x_strides;
    for (n, group) in (0..job.batch).flat_map(|n| (0..job.groups).map(move |group| (n, group))) {
        let first = group * job.outs;
        let x = n as isize * job.x_strides[0] + (group * job.channels) as isize * channel;
        let lower = Lower {
            windows: &job.windows,
            x: job.x.cast::<A>().wrapping_offset(x),
            channels: job.channels,
            strides: [channel, spatial[0], spatial[1], spatial[2]],
            from: 0,
            count,
        };
        let [batch, out, place] = job.out_strides;
        let to = n as isize * batch + first as isize * out;
        let mut product = group_product::<A>(job, group);
        product.n = count;
        product.b = Matrix {
            ptr: seen.cast(),
            rows: 1,
            cols: depth as isize,
        };
        product.c = Matrix {
            ptr: job.out.cast::<A>().wrapping_offset(to).cast(),
            rows: out,
            cols: place,
        };
        // SAFETY: the scratch has a row for each position; the matrices are the job's, with the strides computed above.
        unsafe {
            dispatch(WindowRows(&lower, seen));
            gemm::serial(&product)?;
        }
    }
    Ok(true)
}

/// Writes the windows of an input, see [`Lower::windows`].
struct WindowRows<'a, A>(&'a Lower<'a, A>, *mut A);

impl<A: ConvNumber + Widen<A>> Kernel for WindowRows<'_, A> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: guaranteed by the code that creates it.
        unsafe { self.0.windows(self.1) };
    }
}

/// Some positions of one group of one batch.
struct PositionBlock<'a, S, A> {
    job: &'a ConvJob<'a>,
    n: usize,
    group: usize,
    from: usize,
    count: usize,
    seen: *mut A,
    /// The buffer for the product if it has to be rounded to the result.
    wide: Option<*mut A>,
    parallel: bool,
    elements: std::marker::PhantomData<S>,
}

unsafe fn by_blocks<S: Widen<A>, A: ConvNumber>(job: &ConvJob<'_>) -> Result<(), NoMemory> {
    let depth = job.channels * taps(&job.windows);
    let count = positions(&job.windows);
    let units = job.batch * job.groups;
    // The positions that fit in the block, or fewer, so that every thread has work.
    let fits = BLOCK / (depth.max(1) * size_of::<A>());
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
    let run = |range: std::ops::Range<usize>| {
        let mut seen = SmallScratch::bytes([depth, width, size_of::<A>()])?;
        let widens = !native::<S, A>();
        let mut wide = SmallScratch::bytes([usize::from(widens), job.outs, width, size_of::<A>()])?;
        for task in range {
            let (unit, from) = (task / across, task % across * width);
            let block = PositionBlock::<S, A> {
                job,
                n: unit / job.groups,
                group: unit % job.groups,
                from,
                count: width.min(count - from),
                seen: seen.as_mut_ptr().cast(),
                wide: widens.then(|| wide.as_mut_ptr().cast()),
                parallel,
                elements: std::marker::PhantomData,
            };
            dispatch(block)?;
        }
        Ok(())
    };
    if parallel {
        run(0..tasks)
    } else {
        try_split(tasks, 1, &run)
    }
}

impl<S: Widen<A>, A: ConvNumber> Kernel for PositionBlock<'_, S, A> {
    type Out = Result<(), NoMemory>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let job = self.job;
        let (group, n) = (self.group as isize, self.n as isize);
        let x = n * job.x_strides[0] + group * job.channels as isize * job.x_strides[1];
        let lower = Lower {
            windows: &job.windows,
            x: job.x.cast::<S>().wrapping_offset(x),
            channels: job.channels,
            strides: [
                job.x_strides[1],
                job.x_strides[2],
                job.x_strides[3],
                job.x_strides[4],
            ],
            from: self.from,
            count: self.count,
        };
        let depth = job.channels * taps(&job.windows);
        // SAFETY: the block has room for `depth` times `count` elements.
        unsafe {
            if job.channels_last {
                lower.columns(self.seen);
            } else {
                lower.rows(self.seen);
            }
        }
        let (rows, cols) = if job.channels_last {
            (1, depth as isize)
        } else {
            (self.count as isize, 1)
        };
        let first_out = self.group * job.outs;
        let [batch, out, place] = job.out_strides;
        let offset = n * batch + first_out as isize * out + self.from as isize * place;
        let (ptr, c_rows, c_cols) = match self.wide {
            Some(wide) => (wide, self.count as isize, 1),
            None => (job.out.cast::<A>().wrapping_offset(offset), out, place),
        };
        if let Some(bias) = job.bias {
            // SAFETY: there is a bias for each channel; the result or its substitute has `count` positions for
            // each.
            unsafe {
                for o in 0..job.outs {
                    let value = bias.cast::<A>().add(first_out + o).read();
                    for i in 0..self.count as isize {
                        ptr.wrapping_offset(o as isize * c_rows + i * c_cols)
                            .write(value);
                    }
                }
            }
        }
        let product = Product {
            dtype: compute(job.dtype),
            m: job.outs,
            k: depth,
            n: self.count,
            a: Matrix {
                ptr: job
                    .weight
                    .cast::<A>()
                    .wrapping_add(first_out * depth)
                    .cast_mut()
                    .cast(),
                rows: depth as isize,
                cols: 1,
            },
            b: Matrix {
                ptr: self.seen.cast(),
                rows,
                cols,
            },
            c: Matrix {
                ptr: ptr.cast(),
                rows: c_rows,
                cols: c_cols,
            },
            alpha: Scalar::Int(1),
            beta: job.bias.map(|_| Scalar::Int(1)),
            addend: None,
            after: job.after,
        };
        // SAFETY: the matrices have the strides computed above; other blocks have other positions of the result.
        unsafe {
            if self.parallel {
                gemm::multiply(product, &[])?;
            } else {
                gemm::serial(&product)?;
            }
            if let Some(wide) = self.wide {
                let to = job.out.cast::<S>().wrapping_offset(offset);
                for o in 0..job.outs {
                    for i in 0..self.count {
                        let at = o as isize * out + i as isize * place;
                        let value = wide.add(o * self.count + i).read();
                        to.wrapping_offset(at).write(S::down(value));
                    }
                }
            }
        }
        Ok(())
    }
}
