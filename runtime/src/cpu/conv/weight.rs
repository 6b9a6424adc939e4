//! The gradient of a convolution's weight.
//!
//! Few outputs per group are computed by a product for each element of the batch: the elements under the window at each
//! position are a matrix, as in the forward pass; its product with the result's gradient is added to the weight's. Each
//! task owns its channels, so sums have a fixed order and no task waits.

use half::{bf16, f16};
use nomina_core::{DType, Scalar};
use num_complex::Complex;

use super::lower::{Lower, LowerOrder};
use super::number::{ConvNumber, Widen, native};
use super::{BLOCK, outer, positions, taps, winograd};
use crate::cpu::gemm;
use crate::cpu::parallel::{threads, try_split};
use crate::cpu::reduce::split::SmallScratch;
use crate::job::{Matrix, Product, WeightGradientJob};
use crate::memory::NoMemory;

/// The number of multiplications for which a second thread pays.
const PARALLEL: usize = 1 << 18;

/// Computes the gradient of floats and complex numbers. Returns whether it did: not for few outputs of 16-bit floats.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &WeightGradientJob) -> Result<bool, NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match job.dtype {
            DType::F32 => gradient::<f32, f32>(job),
            DType::F64 => gradient::<f64, f64>(job),
            DType::F16 => gradient::<f16, f32>(job),
            DType::BF16 => gradient::<bf16, f32>(job),
            DType::C64 => gradient::<Complex<f32>, Complex<f32>>(job),
            DType::C128 => gradient::<Complex<f64>, Complex<f64>>(job),
            _ => Ok(false),
        }
    }
}

unsafe fn gradient<S: Widen<A>, A: ConvNumber + Widen<A>>(
    job: &WeightGradientJob,
) -> Result<bool, NoMemory> {
    let count = positions(&job.windows);
    let work = [
        taps(&job.windows),
        count,
        job.batch,
        job.channels,
        job.outs,
        job.groups,
    ];
    let threads = if crate::shape::product(work) < PARALLEL {
        1
    } else {
        threads()
    };
    // SAFETY: guaranteed by the caller.
    unsafe {
        if winograd::gradient::gradient(job, threads)? || outer::gradient::<S, A>(job, threads)? {
            return Ok(true);
        }
        if native::<S, A>() {
            by_channels(job, threads)?;
        }
    }
    Ok(native::<S, A>())
}

unsafe fn by_channels(job: &WeightGradientJob, threads: usize) -> Result<(), NoMemory> {
    let (taps, count) = (taps(&job.windows), positions(&job.windows));
    // Splits the channels of each group first, then its outputs, because tasks with the same channels lower the same
    // windows again.
    let share = |of: usize, among: usize| of.div_ceil((2 * threads).div_ceil(among)).max(1);
    let channels = match threads {
        1 => job.channels,
        _ => share(job.channels, job.groups),
    };
    let across = job.channels.div_ceil(channels);
    let outs = match threads {
        1 => job.outs,
        _ => share(job.outs, job.groups * across),
    };
    let down = job.outs.div_ceil(outs);
    let (depth, size) = (channels * taps, job.dtype.size());
    let width = (BLOCK / (depth * size).max(1)).clamp(16, 4096).min(count);
    let tasks = job.groups * across * down;
    let grain = if threads == 1 { tasks } else { 1 };
    try_split(tasks, grain.max(1), &|range| {
        let mut seen = SmallScratch::bytes([depth, width, size])?;
        for task in range {
            let (group, at) = (task / (across * down), task % (across * down));
            let (channel, out) = (at / down * channels, at % down * outs);
            let part = WeightPart {
                job,
                group,
                channel,
                channels: channels.min(job.channels - channel),
                out,
                outs: outs.min(job.outs - out),
                width,
                seen: seen.as_mut_ptr(),
            };
            // SAFETY: the scratch has a row for each channel and tap; no other part has these channels of these outputs.
            unsafe { part.run()? };
        }
        Ok(())
    })
}

/// Some channels and outputs of a group.
struct WeightPart<'a> {
    job: &'a WeightGradientJob,
    group: usize,
    channel: usize,
    channels: usize,
    out: usize,
    outs: usize,
    /// Positions at a time.
    width: usize,
    seen: *mut u8,
}

impl WeightPart<'_> {
    /// Computes this part of the gradient.
    ///
    /// # Safety
    /// The requirements of [`execute`]; nobody else writes this part, and there is room for the windows.
    unsafe fn run(&self) -> Result<(), NoMemory> {
        let job = self.job;
        let (taps, count) = (taps(&job.windows), positions(&job.windows));
        let [batch, strides @ ..] = job.x_strides;
        let size = job.dtype.size() as isize;
        let (channel, out) = (
            self.group * job.channels + self.channel,
            self.group * job.outs + self.out,
        );
        let whole = (job.channels * taps) as isize;
        let to = out as isize * whole + (self.channel * taps) as isize;
        let mut beta = None;
        for n in 0..job.batch as isize {
            for from in (0..count).step_by(self.width) {
                let wide = self.width.min(count - from);
                let x = n * batch + channel as isize * strides[0];
                let lower = Lower {
                    windows: &job.windows,
                    x: job.x.wrapping_offset(x * size),
                    channels: self.channels,
                    strides,
                    from,
                    count: wide,
                };
                let grad = n * job.grad_strides[0]
                    + out as isize * job.grad_strides[1]
                    + from as isize * job.grad_strides[2];
                let product = Product {
                    dtype: job.dtype,
                    m: self.outs,
                    k: wide,
                    n: self.channels * taps,
                    a: Matrix {
                        ptr: job.grad.wrapping_offset(grad * size).cast_mut(),
                        rows: job.grad_strides[1],
                        cols: job.grad_strides[2],
                    },
                    b: Matrix {
                        ptr: self.seen,
                        rows: 1,
                        cols: wide as isize,
                    },
                    c: Matrix {
                        ptr: job.out.wrapping_offset(to * size),
                        rows: whole,
                        cols: 1,
                    },
                    alpha: Scalar::Int(1),
                    beta,
                    addend: None,
                    after: None,
                };
                // SAFETY: guaranteed by the caller; the matrices have the strides computed above.
                unsafe {
                    lower.write_bits(job.dtype.size(), LowerOrder::Rows, self.seen);
                    gemm::serial(&product)?;
                }
                beta = Some(Scalar::Int(1));
            }
        }
        Ok(())
    }
}
