//! The gradient of a weight of 3 × 3 kernels by fewer multiplications: the transpose of the convolution in its weight.
//!
//! The elements under a tile are transformed as in the convolution, and the gradients of its 2 × 2 results to 16 numbers, too. Sums
//! over tiles of their products, which are 16 matrix products, are transformed to the gradients of nine weights.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use nomina_core::{DType, Scalar};

use super::super::planes::{PlaneLayout, fill};
use super::super::positions;
use super::transform::{
    ElementTiles, LANES, NUMBERS, TransformGradients, TransformLines, TransformWeightSums,
};
use super::{Elements, GAIN, STEPS, slides, tiled, transforms};
use crate::cpu::gemm;
use crate::cpu::gemm::lowered::TileShape;
use crate::cpu::parallel::{GRAIN, Shared, try_each, try_split};
use crate::cpu::reduce::simd::dispatch;
use crate::cpu::reduce::split::for_each;
use crate::job::{ConvJob, Matrix, Product, Sliding, WeightGradientJob};
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// Bytes of the numbers of the tiles that are multiplied at once.
const NUMBERS_AT_ONCE: usize = 8 << 20;
/// The fewest and the most of these tiles.
const TILES: [usize; 2] = [128, 2048];

/// Computes the gradient of a weight of `f32`. Returns whether it did: not if another way is faster, or if an element or a
/// gradient is much larger than others, or if a sum is not finite.
///
/// # Safety
/// The requirements of [`super::super::weight::execute`].
pub(in super::super) unsafe fn gradient(
    job: &WeightGradientJob,
    threads: usize,
) -> Result<bool, NoMemory> {
    let lie = job.x_strides[4] == 1 && job.grad_strides[2] == 1;
    let plain = job.dtype == DType::F32 && job.groups == 1 && job.batch > 0;
    if !plain || !lie || !slides(&job.windows) {
        return Ok(false);
    }
    let [d, h, w] = &job.windows;
    let (down, across) = (h.out.div_ceil(2), w.out.div_ceil(2));
    let (channels, outs) = (job.channels, job.outs);
    if !pays(job, [down, across]) {
        return Ok(false);
    }
    let windows = tiled(&job.windows);
    let results = |window: &Sliding| Sliding {
        size: window.out,
        kernel: 2,
        stride: 2,
        before: 0,
        out: window.out.div_ceil(2),
        ..Sliding::NONE
    };
    let result_windows = [*d, results(h), results(w)];
    let (Some(layout), Some(results)) = (
        PlaneLayout::new(&windows)?,
        PlaneLayout::new(&result_windows)?,
    ) else {
        return Ok(false);
    };
    // Whole elements of the batch, or rows of tiles of one.
    let [least, most] = TILES;
    let fits = NUMBERS_AT_ONCE / product([NUMBERS, channels + outs, size_of::<f32>()]);
    let most = fits.clamp(least, most);
    let rows = (most / across).clamp(1, down);
    let at_once = if rows == down {
        (most / product([down, across])).clamp(1, job.batch)
    } else {
        1
    };
    let tiles = product([at_once, rows, across]);
    let apart = (tiles + LANES).next_multiple_of(LANES);
    let room = |layout: &PlaneLayout<'_>, channels| {
        Scratch::<MaybeUninit<f32>>::uninit([layout.room(product([channels, at_once]))])
    };
    let (mut planes, mut result_planes) = (room(&layout, channels)?, room(&results, outs)?);
    let numbers = |rows| Scratch::<MaybeUninit<f32>>::uninit([NUMBERS, rows, apart]);
    let (mut lines, mut result_lines) = (numbers(channels)?, numbers(outs)?);
    let mut sums = Scratch::<MaybeUninit<f32>>::uninit([NUMBERS, outs, channels])?;
    let whole = TiledGradient {
        outs,
        channels,
        across,
        elements: Side {
            layout: &layout,
            channels,
            planes: planes.as_mut_ptr().cast(),
            lines: lines.as_mut_ptr().cast(),
        },
        results: Side {
            layout: &results,
            channels: outs,
            planes: result_planes.as_mut_ptr().cast(),
            lines: result_lines.as_mut_ptr().cast(),
        },
        apart,
        sums: sums.as_mut_ptr().cast(),
        threads,
    };
    let [batch, channel, place] = job.grad_strides;
    let line = w.out as isize * place;
    let sides = [
        side_job(job, channels, job.x, job.x_strides),
        side_job(job, outs, job.grad, [batch, channel, line, line, place]),
    ];
    for n in 0..job.batch as isize {
        for (side, sizes) in sides.iter().zip([[h.size, w.size], [h.out, w.out]]) {
            let [batch, channel, _, row, _] = side.x_strides;
            let elements = Elements {
                first: side.x.cast::<f32>().wrapping_offset(n * batch),
                channels: side.channels,
                channel,
                sizes,
                row,
            };
            // SAFETY: guaranteed by the caller.
            if !unsafe { elements.are_even(threads)? } {
                return Ok(false);
            }
        }
    }
    for first in (0..job.batch).step_by(at_once) {
        let units = first..job.batch.min(first + at_once);
        // SAFETY: there is room for this number of units.
        unsafe {
            let [elements, results] = &sides;
            fill::<f32, f32>(
                elements,
                &layout,
                units.clone(),
                whole.elements.planes,
                threads,
            );
            fill::<f32, f32>(
                results,
                whole.results.layout,
                units.clone(),
                whole.results.planes,
                threads,
            );
        }
        for row in (0..down).step_by(rows) {
            // SAFETY: the planes were filled.
            unsafe {
                let rows = row..down.min(row + rows);
                whole.add(units.len(), rows, first > 0 || row > 0)?;
            }
        }
    }
    // SAFETY: all sums are complete.
    unsafe { whole.write(job.out.cast()) }
}

/// Returns whether transformed sums cost less than direct ones.
fn pays(job: &WeightGradientJob, [down, across]: [usize; 2]) -> bool {
    let shape = TileShape::for_dtype(DType::F32);
    let tiles = product([job.batch, down, across]);
    let kernels = product([job.outs, job.channels]);
    let (rows, lines) = (
        product([job.batch, down]),
        job.channels.saturating_add(job.outs),
    );
    // Packing the numbers for the products costs as much again.
    let transforms = product([2, transforms(shape, [rows, across], lines)]);
    // Each sum is packed, read and transformed once, at least.
    let sums = product([kernels, tiles.saturating_add(4 * STEPS)]);
    let direct = product([job.batch, positions(&job.windows), kernels, 9]) / NUMBERS;
    product([sums.saturating_add(transforms), GAIN]) <= product([direct, 100])
}

/// Returns a job that reads a tensor with these channels and strides.
fn side_job(
    job: &WeightGradientJob,
    channels: usize,
    x: *const u8,
    x_strides: [isize; 5],
) -> ConvJob<'static> {
    ConvJob {
        op: job.op,
        dtype: job.dtype,
        batch: job.batch,
        groups: 1,
        channels,
        outs: 0,
        windows: job.windows,
        x,
        x_strides,
        weight: std::ptr::null(),
        kept: None,
        channels_last: false,
        bias: None,
        after: None,
        out: std::ptr::null_mut(),
        out_strides: [0; 3],
    }
}

/// The elements, or the gradients of results.
struct Side<'a> {
    layout: &'a PlaneLayout<'a>,
    channels: usize,
    planes: *mut f32,
    /// A line of each number for each channel.
    lines: *mut f32,
}

/// A gradient, and the data shared by its tasks.
struct TiledGradient<'a> {
    outs: usize,
    channels: usize,
    /// Tiles in a row.
    across: usize,
    elements: Side<'a>,
    results: Side<'a>,
    /// The length of a line.
    apart: usize,
    sums: *mut f32,
    threads: usize,
}

// SAFETY: addresses and numbers; each task writes to its own lines or sums.
unsafe impl Sync for TiledGradient<'_> {}

impl TiledGradient<'_> {
    /// Transforms some rows of tiles of the first `units` planes, and adds the products of their numbers to the sums.
    ///
    /// # Safety
    /// The planes are those of the units.
    unsafe fn add(&self, units: usize, rows: Range<usize>, adds: bool) -> Result<(), NoMemory> {
        let each = rows.len() * self.across;
        let tiles = units * each;
        let grain = if self.threads == 1 { 0 } else { 8 * tiles };
        let all = self.channels + self.outs;
        for_each(all, grain, &|at| {
            let (side, channel) = match at.checked_sub(self.channels) {
                None => (&self.elements, at),
                Some(out) => (&self.results, out),
            };
            for unit in 0..units {
                let plane = (unit * side.channels + channel) * side.layout.channel;
                let tiles = ElementTiles {
                    layout: side.layout,
                    plane: side.planes.wrapping_add(plane),
                    rows: rows.clone(),
                    across: self.across,
                    to: side.lines.wrapping_add(channel * self.apart + unit * each),
                    apart: side.channels * self.apart,
                };
                if at < self.channels {
                    dispatch(TransformLines(tiles));
                } else {
                    dispatch(TransformGradients(tiles));
                }
            }
        });
        let task = |number: usize| {
            let matrix = |ptr: *mut f32, size: usize, [rows, cols]: [usize; 2]| Matrix {
                ptr: ptr.wrapping_add(number * size).cast(),
                rows: rows as isize,
                cols: cols as isize,
            };
            let (apart, channels) = (self.apart, self.channels);
            let p = Product {
                dtype: DType::F32,
                m: self.outs,
                k: tiles,
                n: channels,
                a: matrix(self.results.lines, self.outs * apart, [apart, 1]),
                b: matrix(self.elements.lines, channels * apart, [1, apart]),
                c: matrix(self.sums, self.outs * channels, [channels, 1]),
                alpha: Scalar::Int(1),
                beta: adds.then_some(Scalar::Int(1)),
                addend: None,
                after: None,
            };
            // SAFETY: all lines are complete; each task owns the sums of a number.
            unsafe { gemm::serial(&p) }
        };
        if self.threads == 1 {
            return (0..NUMBERS).try_for_each(task);
        }
        try_each(NUMBERS, &task)
    }

    /// Transforms the sums to gradients, and returns whether all of them are finite.
    ///
    /// # Safety
    /// All sums are complete; there is room for the gradients of each kernel.
    unsafe fn write(&self, to: *mut f32) -> Result<bool, NoMemory> {
        let kernels = product([self.outs, self.channels]);
        let to = Shared(to.cast());
        let overflowed = AtomicBool::new(false);
        let grain = if self.threads == 1 {
            kernels
        } else {
            GRAIN / 9
        };
        try_split(kernels.div_ceil(LANES), grain.div_ceil(LANES), &|range| {
            let finite = dispatch(TransformWeightSums {
                sums: self.sums,
                apart: kernels,
                kernels: range.start * LANES..kernels.min(range.end * LANES),
                to: to.get().cast(),
            });
            if !finite {
                overflowed.store(true, Ordering::Relaxed);
            }
            Ok(())
        })?;
        Ok(!overflowed.into_inner())
    }
}
