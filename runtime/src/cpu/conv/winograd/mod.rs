//! Convolution with kernels of 3 × 3 by fewer multiplications: Winograd's filters in the form of Lavin and Gray
//! (<https://arxiv.org/abs/1509.09308>), F(2 × 2, 3 × 3).
//!
//! A tile of 2 × 2 results takes 16 multiplications for each channel instead of 36: the 4 × 4 elements under the tile and
//! the 3 × 3 weights are transformed to 16 numbers each, and the sums over channels of their products, which are 16
//! matrix products, are transformed to the results.
//!
//! A result depends on the elements under its own window alone, as in the direct sum, but differences of neighbours are
//! rounded: beside a much larger element, or under a kernel that is partly zero, an element would lose its digits. Such
//! convolutions, and those whose sums overflow on the way, are computed directly.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use nomina_core::DType;

pub(super) mod gradient;
mod measure;
mod transform;

use self::measure::{AreWhole, Magnitudes, Measure};
use self::transform::{LANES, NUMBERS, TransformElements, TransformSums, TransformWeight, store};
use super::kept::{is_kept, kept};
use super::panels::PARALLEL;
use super::planes::PlaneLayout;
use super::{BLOCK, group_product, positions};
use crate::cpu::gemm::epilogue::Epilogue;
use crate::cpu::gemm::lowered::TileShape;
use crate::cpu::parallel::{GRAIN, Shared, threads, try_each, try_split};
use crate::cpu::reduce::simd::dispatch;
use crate::cpu::reduce::split::for_each;
use crate::job::{ConvJob, Matrix, PackOrder, Packed, Product, Sliding, WindowDims};
use crate::memory::scratch::push;
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// The most tiles of a task.
const MOST: usize = 256;
/// The fewest positions, over the batch, for which a weight is transformed that no later call reads.
const OFTEN: usize = 1024;
/// The cost of transforming the elements of a channel, or the sums of an output, under one tile. Costs are in units of the 16
/// multiply-adds of one channel and one output, on a processor with vectors of [`LANES`].
const TRANSFORM: usize = 8;
/// The cost of reading the 16 weights of one channel and one output.
const READ: usize = 2;
/// The cost of beginning a task and its 16 products.
const BEGIN: usize = 8 << 10;
/// The cost of a tile of a product, in steps along the inner dim.
const STEPS: usize = 12;
/// The largest element, as a multiple of the mean absolute value, for which errors are accepted.
const EVEN: f32 = 256.0;
/// Direct sums must cost at least this number of percent of the transformed ones.
const GAIN: usize = 120;

/// Runs a convolution of `f32`. Returns whether it did: not if another way is faster, if elements would lose digits, or if a
/// result is not finite.
///
/// # Safety
/// The requirements of [`super::convolve::execute`].
pub(super) unsafe fn convolve(job: &ConvJob<'_>) -> Result<bool, NoMemory> {
    let lies = !job.channels_last && job.x_strides[4] == 1 && job.out_strides[2] == 1;
    if !slides(&job.windows) || !lies || job.outs == 0 {
        return Ok(false);
    }
    let [_, h, w] = &job.windows;
    let positions = positions(&job.windows);
    let units = product([job.batch, job.groups]);
    let few = product([job.batch, positions]) < OFTEN;
    if few && job.kept.is_none() {
        return Ok(false);
    }
    let work = product([units, job.outs, job.channels, positions, 9]);
    let threads = if work < PARALLEL { 1 } else { threads() };
    let shape = TileShape::for_dtype(DType::F32);
    let Some(tasks) = Tasks::new(job, shape, threads) else {
        return Ok(false);
    };
    let order = PackOrder::Transformed;
    // SAFETY: guaranteed by the caller.
    if !unsafe { is_kept(job, order) || are_whole(job, threads)? } {
        return Ok(false);
    }
    // SAFETY: as above.
    let pack = || unsafe { weights(job, threads) };
    let kept = kept(job, order, pack)?;
    let own = match kept {
        Some(_) => Vec::new(),
        None if few => return Ok(false),
        None => pack()?,
    };
    let [_, _, strides @ ..] = job.x_strides;
    let [batch, channel, ..] = job.x_strides;
    for n in 0..job.batch as isize {
        for group in 0..job.groups as isize {
            let first = n * batch + group * job.channels as isize * channel;
            let elements = Elements {
                first: job.x.cast::<f32>().wrapping_offset(first),
                channels: job.channels,
                channel,
                sizes: [h.size, w.size],
                row: strides[1],
            };
            // SAFETY: guaranteed by the caller.
            if !unsafe { elements.are_even(threads)? } {
                return Ok(false);
            }
        }
    }
    let whole = TiledConv {
        job,
        shape,
        weights: kept.unwrap_or(&own),
        refused: AtomicBool::new(false),
    };
    let high = h.out.div_ceil(2);
    let (across, down) = (high.div_ceil(tasks.rows), job.outs.div_ceil(tasks.outs));
    let task = |task: usize| {
        let (unit, part) = (task / (across * down), task % (across * down));
        let (row, out) = (part / down * tasks.rows, part % down * tasks.outs);
        let rows = row..high.min(row + tasks.rows);
        let outs = out..job.outs.min(out + tasks.outs);
        // SAFETY: each task owns its part of the result.
        unsafe { whole.part(unit, rows, outs) }
    };
    let count = product([units, across, down]);
    if threads == 1 {
        (0..count).try_for_each(task)?;
    } else {
        try_each(count, &task)?;
    }
    Ok(!whole.refused.into_inner())
}

/// Returns whether windows of 3 × 3 slide by single steps.
fn slides([d, h, w]: &WindowDims) -> bool {
    let suits = |window: &Sliding| {
        [window.kernel, window.stride, window.dilation] == [3, 1, 1]
            && window.size > 0
            && window.out > 0
    };
    !cfg!(unoptimized) && d.kernel == 1 && d.out == 1 && suits(h) && suits(w)
}

/// Returns the windows of the elements under tiles.
fn tiled([d, h, w]: &WindowDims) -> WindowDims {
    let tiled = |window: &Sliding| Sliding {
        kernel: 4,
        stride: 2,
        out: window.out.div_ceil(2),
        ..*window
    };
    [*d, tiled(h), tiled(w)]
}

/// Returns whether no 3 × 3 kernel of the weight is partly zero.
///
/// # Safety
/// The requirements of [`convolve`].
unsafe fn are_whole(job: &ConvJob<'_>, threads: usize) -> Result<bool, NoMemory> {
    let kernels = product([job.groups, job.outs, job.channels]);
    let partly = AtomicBool::new(false);
    let grain = if threads == 1 { kernels } else { GRAIN / 9 };
    try_split(kernels, grain, &|range| {
        let weight = job.weight.cast::<[f32; 9]>().wrapping_add(range.start);
        // SAFETY: the weight has nine elements for each kernel.
        let kernels = unsafe { std::slice::from_raw_parts(weight, range.len()) };
        if !dispatch(AreWhole(kernels)) {
            partly.store(true, Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(!partly.into_inner())
}

/// Transforms the weight of each group and packs the matrices of its numbers, [`NUMBERS`] for each group.
///
/// # Safety
/// The requirements of [`convolve`].
unsafe fn weights(job: &ConvJob<'_>, threads: usize) -> Result<Vec<Packed>, NoMemory> {
    let size = product([job.outs, job.channels]);
    let mut numbers = Scratch::<MaybeUninit<f32>>::uninit([NUMBERS, size])?;
    let shared = Shared(numbers.as_mut_ptr().cast());
    let mut all = Vec::new();
    for group in 0..job.groups {
        let grain = if threads == 1 { size } else { PARALLEL / 256 };
        try_split(size.div_ceil(LANES), grain / LANES, &|range| {
            dispatch(TransformWeight {
                from: job.weight.cast::<f32>().wrapping_add(group * size * 9),
                kernels: range.start * LANES..size.min(range.end * LANES),
                to: shared.get().cast(),
                apart: size,
            });
            Ok(())
        })?;
        for number in 0..NUMBERS {
            let p = Product {
                a: Matrix {
                    ptr: shared
                        .get()
                        .cast::<f32>()
                        .wrapping_add(number * size)
                        .cast(),
                    rows: job.channels as isize,
                    cols: 1,
                },
                ..plain_product(job, group)
            };
            // SAFETY: all numbers were written.
            let packed = unsafe { Packed::new(&p, PackOrder::Rows, threads)? };
            push(
                &mut all,
                Packed {
                    order: PackOrder::Transformed,
                    ..packed
                },
            )?;
        }
    }
    Ok(all)
}

/// Returns the product of one of the weight's numbers and the elements', without matrices.
fn plain_product(job: &ConvJob<'_>, group: usize) -> Product {
    Product {
        k: job.channels,
        beta: None,
        addend: None,
        after: None,
        ..group_product(job, group)
    }
}

/// Returns the cost of transforming `rows` rows of `across` tiles for this number of channels and outputs. Each row is
/// transformed in whole vectors.
fn transforms(shape: TileShape, [rows, across]: [usize; 2], lines: usize) -> usize {
    let tile = product([TRANSFORM, shape.lanes]) / LANES;
    product([rows, across.next_multiple_of(LANES), tile, lines])
}

/// The size of a task: a number of rows of tiles, and of outputs.
#[derive(Clone, Copy, Debug)]
struct Tasks {
    rows: usize,
    outs: usize,
}

impl Tasks {
    /// Chooses the tasks with the lowest cost on `threads` threads; `None` if direct sums cost less.
    fn new(job: &ConvJob<'_>, shape: TileShape, threads: usize) -> Option<Self> {
        let [_, h, w] = &job.windows;
        let (down, across) = (h.out.div_ceil(2), w.out.div_ceil(2));
        let units = product([job.batch, job.groups]);
        let most = (MOST / across).clamp(1, down);
        let cost = |tasks: &Self, threads: usize| {
            let tiles = product([tasks.rows, across]);
            let outs = tasks.outs.min(job.outs);
            let padded = tiles.next_multiple_of(shape.lanes);
            let sums = product([padded, outs, job.channels.saturating_add(STEPS)]);
            let lines = job.channels.saturating_add(outs);
            let transforms = transforms(shape, [tasks.rows, across], lines);
            let task = [sums, transforms, product([READ, outs, job.channels]), BEGIN];
            let task = task.into_iter().fold(0, usize::saturating_add);
            let count = product([
                units,
                down.div_ceil(tasks.rows),
                job.outs.div_ceil(tasks.outs),
            ]);
            product([count.div_ceil(threads), task])
        };
        let best = |threads: usize| {
            let all = (1..=most).flat_map(|rows| {
                (1..=threads).map(move |parts| {
                    let outs = job.outs.div_ceil(parts).next_multiple_of(shape.rows);
                    Self { rows, outs }
                })
            });
            all.min_by_key(|tasks| cost(tasks, threads))
        };
        // In units of 16 multiply-adds, too. The choice must not depend on the number of threads, or results would.
        let direct = product([units, positions(&job.windows), job.outs, job.channels, 9]) / 16;
        let gains = |tasks: &Self| product([cost(tasks, 1), GAIN]) <= product([direct, 100]);
        best(1).filter(gains)?;
        best(threads)
    }
}

/// The elements of a unit, whose rows are contiguous.
struct Elements {
    first: *const f32,
    channels: usize,
    /// The distance of channels.
    channel: isize,
    /// The height and the width of a channel.
    sizes: [usize; 2],
    /// The distance of rows.
    row: isize,
}

// SAFETY: an address that is only read.
unsafe impl Sync for Elements {}

impl Elements {
    /// Returns whether none is much larger than their mean.
    ///
    /// # Safety
    /// They are readable.
    unsafe fn are_even(&self, threads: usize) -> Result<bool, NoMemory> {
        let [height, width] = self.sizes;
        let mut all = Scratch::new([self.channels], Magnitudes::default())?;
        let shared = Shared(all.as_mut_ptr().cast());
        // Rows without gaps are one.
        let (rows, length) = if self.row == width as isize {
            (1, product([height, width]))
        } else {
            (height, width)
        };
        let grain = if threads == 1 {
            0
        } else {
            product([height, width])
        };
        for_each(self.channels, grain, &|channel| {
            let mut sum = Magnitudes::default();
            for row in 0..rows {
                let offset = channel as isize * self.channel + row as isize * self.row;
                let from = self.first.wrapping_offset(offset);
                // SAFETY: guaranteed by the caller.
                let elements = unsafe { std::slice::from_raw_parts(from, length) };
                let one = dispatch(Measure(elements));
                sum.largest = sum.largest.max(one.largest);
                sum.sum += one.sum;
            }
            // SAFETY: the channel's place.
            unsafe { shared.get().cast::<Magnitudes>().add(channel).write(sum) };
        });
        let sum = all.iter().map(|one| one.sum).sum::<f32>();
        let largest = all.iter().map(|one| one.largest).max().unwrap_or(0);
        let count = product([self.channels, height, width]) as f32;
        Ok(sum.is_finite() && f32::from_bits(largest) <= EVEN * (sum / count))
    }
}

/// A convolution, and the data shared by its tasks.
struct TiledConv<'a> {
    job: &'a ConvJob<'a>,
    shape: TileShape,
    /// The matrices of each group.
    weights: &'a [Packed],
    /// Whether a result is not finite, or zeros would be most of the planes.
    refused: AtomicBool,
}

// SAFETY: addresses and numbers; each task writes to its own part of the result.
unsafe impl Sync for TiledConv<'_> {}

impl TiledConv<'_> {
    /// Computes some rows of tiles and outputs of a unit, with the epilogue.
    ///
    /// # Safety
    /// The requirements of [`convolve`].
    unsafe fn part(
        &self,
        unit: usize,
        rows: Range<usize>,
        outs: Range<usize>,
    ) -> Result<(), NoMemory> {
        let job = self.job;
        if self.refused.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (n, group) = (unit / job.groups, unit % job.groups);
        let [_, h, w] = &job.windows;
        let across = w.out.div_ceil(2);
        let tiles = rows.len() * across;
        let count = tiles.div_ceil(self.shape.width());
        // Vectors that begin at the last tile of a row are whole.
        let line = count * self.shape.width() + LANES;
        let columns = tiles.next_multiple_of(self.shape.lanes);
        let apart = columns + LANES;
        let number = product([count, self.shape.width(), job.channels]);
        let mut panels = Scratch::<MaybeUninit<f32>>::uninit([NUMBERS, number])?;
        let mut lines = Scratch::new([NUMBERS, line], 0.0)?;
        let panels = panels.as_mut_ptr().cast::<f32>();
        // The windows of these rows, from the first row under them on.
        let mut windows = tiled(&job.windows);
        let above = (2 * rows.start).saturating_sub(h.before);
        windows[1] = Sliding {
            size: h.size.saturating_sub(above),
            before: h.before.saturating_sub(2 * rows.start),
            out: rows.len(),
            ..windows[1]
        };
        let Some(layout) = PlaneLayout::new(&windows)? else {
            self.refused.store(true, Ordering::Relaxed);
            return Ok(());
        };
        // Vectors read elements after the plane, too.
        let mut plane = Scratch::new([layout.room(1)], 0.0)?;
        let [batch, channel, strides @ ..] = job.x_strides;
        let first = n as isize * batch + (group * job.channels) as isize * channel;
        let first = first + above.min(h.size) as isize * strides[1];
        dispatch(TransformElements {
            layout: &layout,
            x: job.x.cast::<f32>().wrapping_offset(first),
            channel,
            strides,
            plane: plane.as_mut_ptr(),
            channels: job.channels,
            rows: rows.len(),
            across,
            lines: lines.as_mut_ptr(),
            apart: line,
            panels,
            count,
            shape: self.shape,
        });
        let fits = BLOCK / product([NUMBERS, apart, size_of::<f32>()]);
        let high = fits.max(4 * self.shape.narrow) / self.shape.rows * self.shape.rows;
        let high = high.min(outs.len());
        let mut sums = Scratch::<MaybeUninit<f32>>::uninit([NUMBERS, high, apart])?;
        let sums = sums.as_mut_ptr().cast::<f32>();
        for line in 1..=NUMBERS * high {
            // SAFETY: the last elements of a line, which vectors read.
            unsafe { store(sums.add(line * apart - LANES), [0.0; LANES]) };
        }
        let mut p = plain_product(job, group);
        p.n = columns;
        let [batch, out, _] = job.out_strides;
        let plane = n as isize * batch + (group * job.outs) as isize * out;
        let plane = job.out.cast::<f32>().wrapping_offset(plane);
        // SAFETY: the panels and lines have room for all tiles; the results are the task's.
        unsafe {
            for first in outs.clone().step_by(high) {
                let some = first..outs.end.min(first + high);
                for i in 0..NUMBERS {
                    p.c = Matrix {
                        ptr: sums
                            .wrapping_add(i * high * apart)
                            .wrapping_sub(first * apart)
                            .cast(),
                        rows: apart as isize,
                        cols: 1,
                    };
                    let panels = panels.wrapping_add(i * number).cast_const().cast();
                    self.weights[group * NUMBERS + i].by_panels(&p, some.clone(), panels)?;
                }
                let bias = job
                    .bias
                    .map(|bias| bias.cast::<f32>().wrapping_add(group * job.outs));
                let to = plane.wrapping_offset(first as isize * out);
                let finite = dispatch(TransformSums {
                    sums,
                    number: high * apart,
                    apart,
                    bias: bias.map(|bias| bias.wrapping_add(first)),
                    outs: some.len(),
                    rows: rows.clone(),
                    sizes: [h.out, w.out],
                    to,
                    plane: out,
                });
                if !finite {
                    self.refused.store(true, Ordering::Relaxed);
                    return Ok(());
                }
                if let Some(after) = job.after.and_then(|op| Epilogue::of_dtype(op, job.dtype)) {
                    let (start, end) = (2 * rows.start * w.out, (2 * rows.end).min(h.out) * w.out);
                    after.rows(to.add(start).cast(), out, some.len(), end - start);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
