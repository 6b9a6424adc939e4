//! Transposed convolution. With a stride of 1 it is a convolution with the kernel turned around.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use half::{bf16, f16};
use nomina_core::{DType, Scalar};
use num_complex::Complex;

use super::add::add_rows;
use super::lower::Lower;
use super::number::{ConvNumber, Widen};
use super::{BLOCK, convolve, elements, positions, taps};
use crate::job::{ConvJob, Matrix, Product, Sliding, TransposedJob};

use crate::cpu::gemm;
use crate::cpu::parallel::{GRAIN, Shared, threads, try_split};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::SmallScratch;
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// Positions of the input that are multiplied at a time.
const WIDTH: usize = 512;

/// Runs a transposed convolution.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &TransposedJob) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match job.dtype {
            DType::F32 => transpose_as::<f32, f32>(job),
            DType::F64 => transpose_as::<f64, f64>(job),
            DType::F16 => transpose_as::<f16, f32>(job),
            DType::BF16 => transpose_as::<bf16, f32>(job),
            DType::C64 => transpose_as::<Complex<f32>, Complex<f32>>(job),
            DType::C128 => transpose_as::<Complex<f64>, Complex<f64>>(job),
            DType::I8 => transpose_as::<i8, i8>(job),
            DType::I16 => transpose_as::<i16, i16>(job),
            DType::I32 => transpose_as::<i32, i32>(job),
            DType::I64 => transpose_as::<i64, i64>(job),
            DType::U8 | DType::Bool => transpose_as::<u8, u8>(job),
        }
    }
}

/// Some output channels of one group of one batch.
struct ChannelBlock<'a, S, A> {
    job: &'a TransposedJob,
    n: usize,
    group: usize,
    /// The first output channel, within the group.
    first: usize,
    outs: usize,
    width: usize,
    /// A buffer for `channels × width` elements of the input.
    input: *mut A,
    /// A buffer for `outs * taps × width` products.
    products: *mut A,
    /// A buffer for `outs` planes, if elements are converted for the computation.
    planes: Option<*mut A>,
    elements: PhantomData<S>,
}

/// The fewest positions, over the batch, for which turning the kernel around pays.
const TURNS: usize = 256;

/// Computes a transposed convolution of floats with a stride of 1 as a convolution. Returns whether it did.
unsafe fn turned<A: ConvNumber>(job: &TransposedJob) -> Result<bool, NoMemory> {
    let mut windows = job.windows;
    let mut pays = product([job.batch, positions(&windows)]) >= TURNS;
    for window in &mut windows {
        let reach = product([window.kernel.saturating_sub(1), window.dilation]);
        pays &= window.stride == 1 && window.before <= reach;
        *window = Sliding {
            size: window.out,
            out: window.size,
            before: reach.saturating_sub(window.before),
            ..*window
        };
    }
    if cfg!(unoptimized) || !pays {
        return Ok(false);
    }
    let taps = taps(&windows);
    let mut kernels =
        Scratch::<MaybeUninit<A>>::uninit([job.groups, job.outs, job.channels, taps])?;
    let shared = Shared(kernels.as_mut_ptr().cast());
    let rows = product([job.groups, job.outs]);
    try_split(
        rows,
        (GRAIN / product([job.channels, taps, 4]).max(1)).max(1),
        &|range| {
            for row in range {
                let (group, out) = (row / job.outs, row % job.outs);
                for channel in 0..job.channels {
                    let from = ((group * job.channels + channel) * job.outs + out) * taps;
                    let to = (row * job.channels + channel) * taps;
                    for tap in 0..taps {
                        // SAFETY: the weight has a kernel for each channel and output; this task owns the row.
                        unsafe {
                            let weight = job.weight.cast::<A>().add(from + taps - 1 - tap).read();
                            shared.get().cast::<A>().add(to + tap).write(weight);
                        }
                    }
                }
            }
            Ok(())
        },
    )?;
    let size = elements(&job.windows);
    let job = ConvJob {
        op: job.op,
        dtype: job.dtype,
        batch: job.batch,
        groups: job.groups,
        channels: job.channels,
        outs: job.outs,
        windows,
        x: job.x,
        x_strides: job.x_strides,
        weight: shared.get(),
        kept: None,
        channels_last: false,
        bias: job.bias,
        after: None,
        out: job.out,
        out_strides: [product([rows, size]), size, 1].map(|stride| stride as isize),
    };
    // SAFETY: guaranteed by the caller: the weight has the convolution's dims, and the result is row-major.
    unsafe { convolve::execute(&job)? };
    Ok(true)
}

unsafe fn transpose_as<S: Widen<A>, A: ConvNumber + Widen<A>>(
    job: &TransposedJob,
) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    if job.dtype.is_float() && unsafe { turned::<A>(job)? } {
        return Ok(());
    }
    let units = job.batch * job.groups;
    let (taps, size) = (taps(&job.windows), elements(&job.windows));
    let width = positions(&job.windows).clamp(1, WIDTH);
    let fits = BLOCK / (taps * width * size_of::<A>()).max(1);
    let shared = job.outs.div_ceil((2 * threads()).div_ceil(units.max(1)));
    let outs = fits.min(shared).clamp(1, job.outs.max(1));
    let across = job.outs.div_ceil(outs);
    let native = size_of::<S>() == size_of::<A>();
    try_split(units * across, 1, &|range| {
        let element = size_of::<A>();
        let mut input = SmallScratch::bytes([job.channels, width, element])?;
        let mut products = SmallScratch::bytes([outs, taps, width, element])?;
        let mut planes = SmallScratch::bytes([usize::from(!native), outs, size, element])?;
        for task in range {
            let (unit, first) = (task / across, task % across * outs);
            dispatch(ChannelBlock::<S, A> {
                job,
                n: unit / job.groups,
                group: unit % job.groups,
                first,
                outs: outs.min(job.outs - first),
                width,
                input: input.as_mut_ptr().cast(),
                products: products.as_mut_ptr().cast(),
                planes: (!native).then(|| planes.as_mut_ptr().cast()),
                elements: PhantomData,
            })?;
        }
        Ok(())
    })
}

impl<S: Widen<A>, A: ConvNumber + Widen<A>> Kernel for ChannelBlock<'_, S, A> {
    type Out = Result<(), NoMemory>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let job = self.job;
        let (taps, size) = (taps(&job.windows), elements(&job.windows));
        let all = job.groups * job.outs;
        let channel = self.group * job.outs + self.first;
        let out = job
            .out
            .cast::<S>()
            .wrapping_add((self.n * all + channel) * size);
        let planes = self.planes.unwrap_or(out.cast());
        for o in 0..self.outs {
            let bias = job
                .bias
                .map(|bias| bias.cast::<A>().wrapping_add(channel + o));
            // SAFETY: there is a bias for each channel, and room for the planes.
            unsafe {
                let start = bias.map_or(A::ZERO, |bias| bias.read());
                for i in 0..size {
                    planes.add(o * size + i).write(start);
                }
            }
        }
        // The input is lowered with windows of one element, which only copies it.
        let point = job.windows.map(|window| Sliding {
            size: window.out,
            out: window.out,
            ..Sliding::NONE
        });
        let first = (self.group * job.channels) as isize;
        let x = self.n as isize * job.x_strides[0] + first * job.x_strides[1];
        let weight = self.group * job.channels * job.outs + self.first;
        let count = positions(&job.windows);
        // Contiguous positions are read in place.
        let [_, _, strides @ ..] = job.x_strides;
        let sizes = job.windows.each_ref().map(|window| window.out as isize);
        let [_, h, w] = sizes;
        let mut dims = sizes.into_iter().zip(strides).zip([h * w, w, 1]);
        let dense = dims.all(|((size, stride), dense)| size == 1 || stride == dense);
        let as_is = dense && size_of::<S>() == size_of::<A>();
        for from in (0..count).step_by(self.width) {
            let width = self.width.min(count - from);
            let lower = Lower {
                windows: &point,
                x: job.x.cast::<S>().wrapping_offset(x),
                channels: job.channels,
                strides: [
                    job.x_strides[1],
                    job.x_strides[2],
                    job.x_strides[3],
                    job.x_strides[4],
                ],
                from,
                count: width,
            };
            let row_major = |ptr: *mut A| Matrix {
                ptr: ptr.cast(),
                rows: width as isize,
                cols: 1,
            };
            let product = Product {
                dtype: match job.dtype {
                    DType::F16 | DType::BF16 => DType::F32,
                    other => other,
                },
                m: self.outs * taps,
                k: job.channels,
                n: width,
                a: Matrix {
                    ptr: job
                        .weight
                        .cast::<A>()
                        .wrapping_add(weight * taps)
                        .cast_mut()
                        .cast(),
                    rows: 1,
                    cols: (job.outs * taps) as isize,
                },
                b: if as_is {
                    Matrix {
                        ptr: lower.x.wrapping_add(from).cast_mut().cast(),
                        rows: job.x_strides[1],
                        cols: 1,
                    }
                } else {
                    row_major(self.input)
                },
                c: row_major(self.products),
                alpha: Scalar::Int(1),
                beta: None,
                addend: None,
                after: None,
            };
            // SAFETY: the scratches have room for the writes; this task owns the planes.
            unsafe {
                if !as_is {
                    lower.rows(self.input);
                }
                gemm::serial(&product)?;
                let products = self.products.cast_const();
                add_rows::<A, A>(&job.windows, self.outs, [from, width], products, planes);
            }
        }
        if let Some(planes) = self.planes {
            for i in 0..self.outs * size {
                // SAFETY: as above.
                unsafe { out.add(i).write(S::down(planes.add(i).read())) };
            }
        }
        Ok(())
    }
}
