//! The gradient of a convolution's weight as sums, over batch and positions, of outer products: the elements under the
//! window at a position times the result's gradient there.
//!
//! Both operands are packed once. The input becomes pixels with channels innermost, so that the elements under a row of
//! the kernel are contiguous, and tiles read them in place; the gradient becomes panels of outputs. Each task owns some
//! elements of some kernels, so sums have a fixed order.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::line::taps;
use super::number::{ConvNumber, Widen, compute};
use super::{elements, positions};
use crate::cpu::gemm::indirect::OuterSum;
use crate::cpu::gemm::lowered::{TileShape, add_outer, transposed};
use crate::cpu::parallel::{Shared, try_each};
use crate::cpu::reduce::split::for_each;
use crate::job::{Matrix, WeightGradientJob, WindowDims};
use crate::memory::scratch::push;
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// Bytes of pixels and panels that are packed at once.
const PACKED: usize = 4 << 20;
/// The largest size of the pixels as a multiple of the input's, in addition to `SMALL` elements.
const MOST: usize = 4;
const SMALL: usize = 1 << 16;
/// Elements after the pixels of a unit, for copies of whole vectors.
const SPARE: usize = 16;
/// The fewest outputs for which panels are wide enough.
const OUTS: usize = 8;
/// Input channels whose kernels are written at a time.
const CHANNELS: usize = 16;

/// Computes the gradient. Returns whether it did: not for a few outputs, if zeros would be most of the pixels, or in
/// unoptimised builds, whose tiles read in place slowly.
///
/// # Safety
/// The requirements of [`super::weight::execute`].
pub(super) unsafe fn gradient<S: Widen<A>, A: ConvNumber>(
    job: &WeightGradientJob,
    threads: usize,
) -> Result<bool, NoMemory> {
    let Some(layout) = PixelLayout::new(&job.windows, job.channels) else {
        return Ok(false);
    };
    let count = positions(&job.windows);
    // Without a position, no sum would be written.
    if cfg!(unoptimized) || job.outs < OUTS || job.batch == 0 || count == 0 {
        return Ok(false);
    }
    let shape = TileShape::for_dtype(compute(job.dtype));
    let width = shape.width();
    let panels = job.outs.div_ceil(width);
    // Elements of one element of the batch.
    let pixels = product([layout.unit, job.groups]);
    let grads = product([count, panels, width, job.groups]);
    let at_once = PACKED / product([pixels.saturating_add(grads), size_of::<A>()]).max(1);
    let at_once = at_once.clamp(1, job.batch.max(1));
    let mut steps = Scratch::new([at_once, count], 0)?;
    for (at, step) in steps.iter_mut().enumerate() {
        *step = at / count * layout.unit + layout.position(at % count);
    }
    let mut pixels = Scratch::<MaybeUninit<A>>::uninit([pixels, at_once])?;
    let mut grads = Scratch::<MaybeUninit<A>>::uninit([grads, at_once])?;
    let rows = product([super::taps(&job.windows), job.channels]);
    let mut sums = Scratch::<MaybeUninit<A>>::uninit([job.groups, panels, rows, width])?;
    let pieces = layout.pieces(shape.rows_for(job.outs))?;
    let outer = OuterGradient::<S, A> {
        job,
        layout: &layout,
        shape,
        panels,
        at_once,
        steps: &steps,
        pieces: &pieces,
        rows,
        pixels: Shared(pixels.as_mut_ptr().cast()),
        grads: Shared(grads.as_mut_ptr().cast()),
        sums: Shared(sums.as_mut_ptr().cast()),
        threads,
        elements: PhantomData,
    };
    for first in (0..job.batch).step_by(at_once) {
        let batch = first..job.batch.min(first + at_once);
        // SAFETY: guaranteed by the caller; there is room for this part of the batch.
        unsafe {
            outer.pack(batch.clone())?;
            outer.add(batch.len(), first > 0)?;
        }
    }
    // SAFETY: as above; all sums are complete.
    unsafe { outer.write() };
    Ok(true)
}

/// The layout of a unit's padded input: rows of pixels, with the channels of a group innermost.
struct PixelLayout<'a> {
    windows: &'a WindowDims,
    channels: usize,
    /// Elements of a row, of a plane, and of a unit, which is a group of an element of the batch.
    row: usize,
    plane: usize,
    unit: usize,
}

/// Rows of a tile: the elements under part of the window.
#[derive(Clone, Copy)]
struct TileRows {
    /// The offset of the first row's element from a position's first.
    offset: usize,
    /// The first row among all.
    row: usize,
    count: usize,
}

impl<'a> PixelLayout<'a> {
    /// Creates the layout; `None` if zeros would be most of it.
    fn new(windows: &'a WindowDims, channels: usize) -> Option<Self> {
        let [depth, height, width] = windows.each_ref().map(|window| {
            let last = product([window.out.saturating_sub(1), window.stride]);
            let reach = product([window.kernel.saturating_sub(1), window.dilation]);
            last.saturating_add(reach).saturating_add(1)
        });
        let row = product([width, channels]);
        let plane = product([row, height]);
        let pixels = product([plane, depth]);
        let most = product([elements(windows), channels, MOST]).saturating_add(SMALL);
        (pixels <= most).then(|| Self {
            windows,
            channels,
            row,
            plane,
            unit: pixels.saturating_add(SPARE),
        })
    }

    /// Returns the offset of an element of the padded input.
    fn pixel(&self, [z, y, x]: [usize; 3]) -> usize {
        z * self.plane + y * self.row + x * self.channels
    }

    /// Returns the offset of a position's first element.
    fn position(&self, position: usize) -> usize {
        let [d, h, w] = self.windows;
        let (line, x) = (position / w.out, position % w.out);
        self.pixel([
            line / h.out * d.stride,
            line % h.out * h.stride,
            x * w.stride,
        ])
    }

    /// Returns the rows of all tiles, each of at most `most` rows, in order.
    fn pieces(&self, most: usize) -> Result<Vec<TileRows>, NoMemory> {
        let [d, h, w] = self.windows;
        // A row of the kernel is contiguous unless it is dilated.
        let together = if w.dilation == 1 { w.kernel } else { 1 };
        let length = together * self.channels;
        let parts = length.div_ceil(most);
        let mut pieces = Vec::new();
        let runs = taps(self.windows).filter(|[_, _, x]| x % together == 0);
        for (run, [z, y, x]) in runs.enumerate() {
            let offset = self.pixel([z * d.dilation, y * h.dilation, x * w.dilation]);
            for part in 0..parts {
                // Tiles of nearly equal height.
                let (start, end) = (length * part / parts, length * (part + 1) / parts);
                let piece = TileRows {
                    offset: offset + start,
                    row: run * length + start,
                    count: end - start,
                };
                push(&mut pieces, piece)?;
            }
        }
        Ok(pieces)
    }
}

/// A gradient, and the data shared by its tasks.
struct OuterGradient<'a, S, A> {
    job: &'a WeightGradientJob,
    layout: &'a PixelLayout<'a>,
    shape: TileShape,
    /// Panels of a group's outputs.
    panels: usize,
    /// The number of elements of the batch that there is room for.
    at_once: usize,
    /// The offset of each position of each element of the batch.
    steps: &'a [usize],
    pieces: &'a [TileRows],
    /// Elements under a window.
    rows: usize,
    /// Pixels by group and element of the batch.
    pixels: Shared,
    /// Gradients by group, panel, element of the batch and position; a panel's width is innermost.
    grads: Shared,
    /// Sums by group, panel and row; a panel's width is innermost.
    sums: Shared,
    threads: usize,
    elements: PhantomData<(S, A)>,
}

// SAFETY: addresses and numbers; each task writes to its own part.
unsafe impl<S, A> Sync for OuterGradient<'_, S, A> {}

impl<S: Widen<A>, A: ConvNumber> OuterGradient<'_, S, A> {
    /// Runs `count` tasks on the threads.
    fn run(
        &self,
        count: usize,
        task: &(dyn Fn(usize) -> Result<(), NoMemory> + Sync),
    ) -> Result<(), NoMemory> {
        if self.threads == 1 {
            return (0..count).try_for_each(task);
        }
        try_each(count, task)
    }

    /// Packs both operands for some elements of the batch.
    ///
    /// # Safety
    /// The requirements of [`gradient`].
    unsafe fn pack(&self, batch: Range<usize>) -> Result<(), NoMemory> {
        let (groups, each) = (self.job.groups, 1 + self.panels);
        let tasks = batch.len() * groups * each;
        // Some parts per task, because they are short.
        let count = tasks.min(8 * self.threads);
        self.run(count, &|task| {
            for at in tasks * task / count..tasks * (task + 1) / count {
                let (unit, part) = (at / each, at % each);
                let [group, n] = [unit % groups, unit / groups];
                // SAFETY: each part has its own place.
                unsafe {
                    match part.checked_sub(1) {
                        None => self.pack_pixels(group, batch.start + n, n)?,
                        Some(panel) => self.pack_panel([group, panel], batch.start + n, n)?,
                    }
                }
            }
            Ok(())
        })
    }

    /// Packs the input of a group of element `n` of the batch to its place `at`.
    ///
    /// # Safety
    /// The requirements of [`gradient`].
    unsafe fn pack_pixels(&self, group: usize, n: usize, at: usize) -> Result<(), NoMemory> {
        let (job, layout, channels) = (self.job, self.layout, self.job.channels);
        let [d, h, w] = &job.windows;
        let [batch, channel, spatial @ ..] = job.x_strides;
        let first = n as isize * batch + (group * channels) as isize * channel;
        let x = job.x.cast::<S>().wrapping_offset(first);
        let unit = (group * self.at_once + at) * layout.unit;
        let to = self.pixels.get().cast::<A>().wrapping_add(unit);
        let inside = |at: usize, before: usize, size: usize| {
            at.checked_sub(before).filter(|&index| index < size)
        };
        let width = layout.row / channels.max(1);
        let left = w.before.min(width);
        let count = w.size.min(width - left);
        let high = layout.plane / layout.row.max(1);
        for line in 0..(layout.unit - SPARE) / layout.row.max(1) {
            let to = to.wrapping_add(line * layout.row);
            let place = inside(line / high, d.before, d.size);
            let place = place.zip(inside(line % high, h.before, h.size));
            // SAFETY: a line of the unit; what a copy writes beyond it is overwritten or spare.
            unsafe {
                let Some((z, y)) = place else {
                    to.write_bytes(0, layout.row);
                    continue;
                };
                let offset = z as isize * spatial[0] + y as isize * spatial[1];
                let from = Matrix {
                    ptr: x.wrapping_offset(offset).cast_mut().cast(),
                    rows: channel,
                    cols: spatial[2],
                };
                to.write_bytes(0, left * channels);
                let inner = to.wrapping_add(left * channels).cast();
                let dtypes = [job.dtype, compute(job.dtype)];
                if channels == 1 {
                    // One step as long as the line.
                    transposed(dtypes, from.t(), [count, 1], inner, count)?;
                } else {
                    transposed(dtypes, from, [channels, count], inner, channels)?;
                }
                let right = (left + count) * channels;
                to.wrapping_add(right).write_bytes(0, layout.row - right);
            }
        }
        Ok(())
    }

    /// Packs a panel of a group's gradient of element `n` of the batch to its place `at`.
    ///
    /// # Safety
    /// The requirements of [`gradient`].
    unsafe fn pack_panel(
        &self,
        [group, panel]: [usize; 2],
        n: usize,
        at: usize,
    ) -> Result<(), NoMemory> {
        let (job, width) = (self.job, self.shape.width());
        let count = positions(&job.windows);
        let wide = width.min(job.outs - panel * width);
        let out = group * job.outs + panel * width;
        let [batch, channel, place] = job.grad_strides;
        let from = n as isize * batch + out as isize * channel;
        let from = Matrix {
            ptr: job.grad.cast::<S>().wrapping_offset(from).cast_mut().cast(),
            rows: channel,
            cols: place,
        };
        let to = (self.panel(group, panel) * self.at_once + at) * count * width;
        let to = self.grads.get().cast::<A>().wrapping_add(to);
        // SAFETY: the panel's own place, which the next one follows, or nothing if it is full.
        unsafe {
            transposed(
                [job.dtype, compute(job.dtype)],
                from,
                [wide, count],
                to.cast(),
                width,
            )
        }
    }

    /// Returns the index of a panel among those of all groups.
    fn panel(&self, group: usize, panel: usize) -> usize {
        group * self.panels + panel
    }

    /// Adds the products of the packed elements of the batch, `count` in number.
    ///
    /// # Safety
    /// The requirements of [`gradient`].
    unsafe fn add(&self, count: usize, adds: bool) -> Result<(), NoMemory> {
        let (job, width, positions) = (self.job, self.shape.width(), positions(&self.job.windows));
        let panels = job.groups * self.panels;
        let split = match self.threads {
            1 => 1,
            threads => (4 * threads).div_ceil(panels).clamp(1, self.pieces.len()),
        };
        let steps = &self.steps[..count * positions];
        self.run(panels * split, &|task| {
            let (panel, part) = (task / split, task % split);
            let all = self.pieces.len();
            let pieces = &self.pieces[all * part / split..all * (part + 1) / split];
            let group = panel / self.panels;
            let columns = width.min(job.outs - panel % self.panels * width);
            let pixels = self.pixels.get().cast::<A>();
            let pixels = pixels.wrapping_add(group * self.at_once * self.layout.unit);
            let grads = self.grads.get().cast::<A>();
            let grads = grads.wrapping_add(panel * self.at_once * positions * width);
            let sums = self.sums.get().cast::<A>();
            let sums = sums.wrapping_add(panel * self.rows * width);
            for (part, steps) in steps.chunks(self.shape.depth).enumerate() {
                let grads = grads.wrapping_add(part * self.shape.depth * width);
                for piece in pieces {
                    let sum = OuterSum {
                        first: pixels.wrapping_add(piece.offset).cast(),
                        steps,
                        rows: piece.count,
                        panel: grads.cast(),
                        columns,
                        sums: sums.wrapping_add(piece.row * width).cast(),
                        adds: adds || part > 0,
                    };
                    // SAFETY: each position has the elements of the piece and of the panel; this task owns the rows.
                    unsafe { add_outer(compute(job.dtype), &sum) };
                }
            }
            Ok(())
        })
    }

    /// Writes the sums to the result.
    ///
    /// # Safety
    /// The requirements of [`gradient`].
    unsafe fn write(&self) {
        let (job, width) = (self.job, self.shape.width());
        let (taps, channels) = (super::taps(&job.windows), job.channels);
        let blocks = channels.div_ceil(CHANNELS);
        let work = if self.threads == 1 {
            0
        } else {
            width * CHANNELS * taps
        };
        for_each(job.groups * self.panels * blocks, work, &|task| {
            let (panel, block) = (task / blocks, task % blocks);
            let (group, first) = (panel / self.panels, panel % self.panels * width);
            let block = block * CHANNELS..channels.min((block + 1) * CHANNELS);
            let sums = self.sums.get().cast::<A>().cast_const();
            let sums = sums.wrapping_add(panel * self.rows * width);
            for column in 0..width.min(job.outs - first) {
                let out = (group * job.outs + first + column) * channels;
                for channel in block.clone() {
                    let out = job.out.cast::<S>().wrapping_add((out + channel) * taps);
                    for tap in 0..taps {
                        let at = (tap * channels + channel) * width + column;
                        // SAFETY: a sum and an element of the result, which belongs to this task.
                        unsafe { out.add(tap).write(S::down(sums.add(at).read())) };
                    }
                }
            }
        });
    }
}
