//! Transposed convolution. With a stride of 1 it is a convolution with the kernel turned around.

use nomina_core::Scalar;

use super::add::add_rows;
use super::lower::{Lower, LowerOrder};
use super::number::compute;
use super::{BLOCK, convolve, elements, positions, taps};
use crate::job::{ConvJob, Matrix, Product, Sliding, TransposedJob};

use crate::cpu::cast::Cast;
use crate::cpu::gemm;
use crate::cpu::parallel::{GRAIN, Shared, split, threads, try_split};
use crate::cpu::reduce::split::SmallScratch;
use crate::memory::NoMemory;
use crate::shape::product;

/// Positions of the input that are multiplied at a time.
const WIDTH: usize = 512;

/// Runs a transposed convolution.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &TransposedJob) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe { if turned(job)? { Ok(()) } else { by_blocks(job) } }
}

unsafe fn by_blocks(job: &TransposedJob) -> Result<(), NoMemory> {
    let wide = compute(job.dtype);
    let units = product([job.batch, job.groups]);
    let (taps, size) = (taps(&job.windows), elements(&job.windows));
    let width = positions(&job.windows).clamp(1, WIDTH);
    let fits = BLOCK / (taps * width * wide.size()).max(1);
    let shared = job.outs.div_ceil((2 * threads()).div_ceil(units.max(1)));
    let outs = fits.min(shared).clamp(1, job.outs.max(1));
    let across = job.outs.div_ceil(outs);
    let narrow = Cast::new(wide, job.dtype);
    try_split(product([units, across]), 1, &|range| {
        let element = wide.size();
        let mut input = SmallScratch::bytes([job.channels, width, element])?;
        let mut products = SmallScratch::bytes([outs, taps, width, element])?;
        let widens = usize::from(!narrow.copies());
        let mut planes = SmallScratch::bytes([widens, outs, size, element])?;
        for task in range {
            let (unit, first) = (task / across, task % across * outs);
            let block = ChannelBlock {
                job,
                n: unit / job.groups,
                group: unit % job.groups,
                first,
                outs: outs.min(job.outs - first),
                width,
                input: input.as_mut_ptr(),
                products: products.as_mut_ptr(),
                planes: planes.as_mut_ptr(),
                narrow,
            };
            // SAFETY: the scratches have room for the block; no other task has these channels.
            unsafe { block.run()? };
        }
        Ok(())
    })
}

/// Some output channels of one group of one batch.
struct ChannelBlock<'a> {
    job: &'a TransposedJob,
    n: usize,
    group: usize,
    /// The first output channel, within the group.
    first: usize,
    outs: usize,
    width: usize,
    /// A buffer for `channels × width` elements of the input.
    input: *mut u8,
    /// A buffer for `outs * taps × width` products.
    products: *mut u8,
    /// A buffer for `outs` planes, if elements are converted for the computation.
    planes: *mut u8,
    /// The conversion of sums to elements of the result.
    narrow: Cast,
}

/// The fewest positions, over the batch, for which turning the kernel around pays.
const TURNS: usize = 256;

/// Computes a transposed convolution of floats with a stride of 1 as a convolution. Returns whether it did.
unsafe fn turned(job: &TransposedJob) -> Result<bool, NoMemory> {
    let mut windows = job.windows;
    let mut pays = job.dtype.is_float() && product([job.batch, positions(&windows)]) >= TURNS;
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
    let wide = compute(job.dtype);
    let (copy, element) = (Cast::new(wide, wide), wide.size());
    let mut kernels = SmallScratch::bytes([job.groups, job.outs, job.channels, taps, element])?;
    let shared = Shared(kernels.as_mut_ptr());
    let rows = product([job.groups, job.outs]);
    let grain = GRAIN / product([job.channels, taps, 4]).max(1);
    split(rows, grain, &|range| {
        for row in range {
            let (group, out) = (row / job.outs, row % job.outs);
            for channel in 0..job.channels {
                let from = ((group * job.channels + channel) * job.outs + out) * taps;
                let last = job.weight.wrapping_add((from + taps - 1) * element);
                let to = (row * job.channels + channel) * taps * element;
                let (to, step) = (shared.get().wrapping_add(to), element as isize);
                // SAFETY: the weight has a kernel for each channel and output; this task owns the row.
                unsafe { copy.run(taps, last, -step, to, step) };
            }
        }
    });
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

impl ChannelBlock<'_> {
    /// Computes the block.
    ///
    /// # Safety
    /// The requirements of [`execute`]; nobody else writes these channels, and the buffers have room.
    unsafe fn run(&self) -> Result<(), NoMemory> {
        let job = self.job;
        let wide = compute(job.dtype);
        let [element, size] = self.narrow.sizes();
        let (taps, plane) = (taps(&job.windows), elements(&job.windows));
        let channel = self.group * job.outs + self.first;
        let out = (self.n * job.groups * job.outs + channel) * plane;
        let out = job.out.wrapping_offset(out as isize * size);
        let planes = if self.narrow.copies() {
            out
        } else {
            self.planes
        };
        match job.bias {
            Some(bias) => {
                let fill = Cast::new(wide, wide);
                for o in 0..self.outs {
                    let value = bias.wrapping_offset((channel + o) as isize * element);
                    let plane_at = planes.wrapping_offset((o * plane) as isize * element);
                    // SAFETY: there is a bias for each channel, and room for the planes.
                    unsafe { fill.run(plane, value, 0, plane_at, element) };
                }
            }
            // SAFETY: as above; zeros of all dtypes are zero bytes.
            None => unsafe { planes.write_bytes(0, self.outs * plane * element as usize) },
        }
        // The input is lowered with windows of one element, which only copies it.
        let point = job.windows.map(|window| Sliding {
            size: window.out,
            out: window.out,
            ..Sliding::NONE
        });
        let [batch, strides @ ..] = job.x_strides;
        let x = self.n as isize * batch + (self.group * job.channels) as isize * strides[0];
        let x = job.x.wrapping_offset(x * size);
        let weight = (self.group * job.channels * job.outs + self.first) * taps;
        let weight = job.weight.wrapping_offset(weight as isize * element);
        let count = positions(&job.windows);
        // Contiguous positions are read in place.
        let sizes = job.windows.each_ref().map(|window| window.out as isize);
        let [_, h, w] = sizes;
        let mut dims = sizes.into_iter().zip(&strides[1..]).zip([h * w, w, 1]);
        let dense = dims.all(|((size, &stride), dense)| size == 1 || stride == dense);
        let as_is = dense && self.narrow.copies();
        for from in (0..count).step_by(self.width) {
            let width = self.width.min(count - from);
            let lower = Lower {
                windows: &point,
                x,
                channels: job.channels,
                strides,
                from,
                count: width,
            };
            let row_major = |ptr| Matrix {
                ptr,
                rows: width as isize,
                cols: 1,
            };
            let product = Product {
                dtype: wide,
                m: self.outs * taps,
                k: job.channels,
                n: width,
                a: Matrix {
                    ptr: weight.cast_mut(),
                    rows: 1,
                    cols: (job.outs * taps) as isize,
                },
                b: if as_is {
                    Matrix {
                        ptr: x.wrapping_offset(from as isize * size).cast_mut(),
                        rows: strides[0],
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
            // SAFETY: guaranteed by the caller.
            unsafe {
                if !as_is {
                    lower.write_widened(job.dtype, LowerOrder::Rows, self.input);
                }
                gemm::serial(&product)?;
                add_rows(
                    wide,
                    &job.windows,
                    self.outs,
                    [from, width],
                    self.products,
                    planes,
                );
            }
        }
        if !self.narrow.copies() {
            // SAFETY: as above.
            unsafe {
                self.narrow
                    .run(self.outs * plane, planes, element, out, size)
            };
        }
        Ok(())
    }
}
