//! A convolution's input with its padding, and its windows as panels of a product.
//!
//! With explicit zeros, every element under a window exists at every position, so lines of positions are copied by
//! whole vectors: elements that a copy writes beyond its end are overwritten by the next one.

use std::ops::Range;

use super::elements;
use super::line::taps;
use super::number::{ConvNumber, Widen};
use super::pieces::{copy, zeros};
use crate::cpu::gemm::lowered::Lowered;
use crate::cpu::parallel::Shared;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::for_each;
use crate::job::{ConvJob, WindowDims};
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// The largest size of the planes as a multiple of the input's, in addition to `SMALL` elements.
const MOST: usize = 4;
const SMALL: usize = 1 << 16;
/// Elements of the longest copy, and of the widest vector that tiles read.
const LONG: usize = 16;
/// The most copies of a step of a panel: one for each column of the widest panel.
const COPIES: usize = 64;

/// The layout of a channel's planes. A row first has the elements at multiples of the stride, then those at multiples
/// plus one, and so on, so that adjacent positions read adjacent elements.
pub(super) struct PlaneLayout<'a> {
    windows: &'a WindowDims,
    /// The number of elements of a row with the same offset modulo the stride.
    pub(super) phase: usize,
    pub(super) row: usize,
    plane: usize,
    /// The number of elements of a channel.
    pub(super) channel: usize,
    /// The offset of each tap's element from that of the first tap.
    taps: Scratch<usize>,
}

impl<'a> PlaneLayout<'a> {
    /// Creates the layout for some windows; `None` if zeros would be most of it.
    pub(super) fn new(windows: &'a WindowDims) -> Result<Option<Self>, NoMemory> {
        let [depth, height, width] = windows.each_ref().map(|window| {
            let last = product([window.out.saturating_sub(1), window.stride]);
            let reach = product([window.kernel.saturating_sub(1), window.dilation]);
            last.saturating_add(reach).saturating_add(1)
        });
        let [d, h, w] = windows;
        let phase = width.div_ceil(w.stride);
        let row = product([phase, w.stride]);
        let plane = product([row, height]);
        let channel = product([plane, depth]);
        if channel > product([elements(windows), MOST]).saturating_add(SMALL) {
            return Ok(None);
        }
        let mut offsets = Scratch::new([super::taps(windows)], 0)?;
        for (offset, [z, y, x]) in offsets.iter_mut().zip(taps(windows)) {
            let x = x * w.dilation;
            *offset =
                z * d.dilation * plane + y * h.dilation * row + x % w.stride * phase + x / w.stride;
        }
        Ok(Some(Self {
            windows,
            phase,
            row,
            plane,
            channel,
            taps: offsets,
        }))
    }

    /// Returns the number of elements of some channels, including those that a copy or a vector reads beyond the last.
    pub(super) fn room(&self, channels: usize) -> usize {
        product([self.channel, channels]).saturating_add(LONG)
    }

    /// Returns the offset of a position's first element.
    pub(super) fn place(&self, position: usize) -> usize {
        let out = self.windows[2].out;
        self.line(position / out) + position % out
    }

    /// Returns the offset of the first element of a line of positions.
    pub(super) fn line(&self, line: usize) -> usize {
        let [d, h, _] = self.windows;
        line / h.out * d.stride * self.plane + line % h.out * h.stride * self.row
    }

    /// Returns the offsets of all channels and taps.
    pub(super) fn steps(&self, channels: usize) -> Result<Scratch<usize>, NoMemory> {
        let taps = self.taps.len();
        let mut steps = Scratch::new([channels, taps], 0)?;
        for (channel, steps) in steps.chunks_exact_mut(taps).enumerate() {
            for (step, tap) in steps.iter_mut().zip(self.taps.iter()) {
                *step = channel * self.channel + tap;
            }
        }
        Ok(steps)
    }
}

/// Fills the planes of some units, which are groups of elements of the batch, on `threads` threads.
///
/// # Safety
/// The requirements of [`super::convolve::execute`]; there is room for the planes.
pub(super) unsafe fn fill<S: Widen<A>, A: ConvNumber>(
    job: &ConvJob<'_>,
    layout: &PlaneLayout<'_>,
    units: Range<usize>,
    planes: *mut A,
    threads: usize,
) {
    let count = units.len() * job.channels;
    let shared = Shared(planes.cast());
    let channel = |at: usize| {
        let (unit, channel) = (units.start + at / job.channels, at % job.channels);
        let (n, group) = (unit / job.groups, unit % job.groups);
        let [batch, channels, strides @ ..] = job.x_strides;
        let channel = (group * job.channels + channel) as isize;
        let offset = n as isize * batch + channel * channels;
        dispatch(FillPlanes::<S, A> {
            layout,
            x: job.x.cast::<S>().wrapping_offset(offset),
            strides,
            to: shared.get().cast::<A>().wrapping_add(at * layout.channel),
        });
    };
    for_each(
        count,
        if threads == 1 { 0 } else { layout.channel },
        &channel,
    );
    // SAFETY: the elements that copies read beyond the last channel.
    unsafe {
        planes
            .add(count * layout.channel)
            .write_bytes(0, layout.room(0))
    };
}

/// A kernel that fills the planes of a channel.
pub(super) struct FillPlanes<'a, S, A> {
    pub layout: &'a PlaneLayout<'a>,
    /// The channel's first element, and the strides of the spatial dims.
    pub x: *const S,
    pub strides: [isize; 3],
    /// The first element of the planes.
    pub to: *mut A,
}

impl<S: Widen<A>, A: ConvNumber> Kernel for FillPlanes<'_, S, A> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let &PlaneLayout {
            phase,
            row,
            plane,
            channel,
            ..
        } = self.layout;
        let [d, h, w] = self.layout.windows;
        let inside = |at: usize, before: usize, size: usize| {
            at.checked_sub(before).filter(|&index| index < size)
        };
        let rows = plane / row;
        for first in 0..w.stride {
            // The elements `first`, `first + stride`, ... that are not padding.
            let start = w.before.saturating_sub(first).div_ceil(w.stride).min(phase);
            let end = (w.before + w.size).saturating_sub(first).div_ceil(w.stride);
            let end = end.clamp(start, phase);
            let from = (first + start * w.stride).wrapping_sub(w.before) as isize;
            let from = self.x.wrapping_offset(from.wrapping_mul(self.strides[2]));
            let step = w.step(self.strides[2]);
            let mut to = self.to.wrapping_add(first * phase);
            for z in 0..channel / plane {
                let z = inside(z, d.before, d.size);
                for y in 0..rows {
                    let line = z.zip(inside(y, h.before, h.size));
                    // SAFETY: within the row and the input's line.
                    unsafe {
                        if let Some((z, y)) = line {
                            let offset =
                                z as isize * self.strides[0] + y as isize * self.strides[1];
                            let from = from.wrapping_offset(offset);
                            zeros(start, to);
                            copy(end - start, from, step, to.add(start));
                            zeros(phase - end, to.add(end));
                        } else {
                            zeros(phase, to);
                        }
                    }
                    to = to.wrapping_add(row);
                }
            }
        }
    }
}

/// The elements under the windows at some positions: a row for each channel and tap, a column for each position.
pub(super) struct WindowPanels<'a, A> {
    pub layout: &'a PlaneLayout<'a>,
    /// The planes of the first channel.
    pub planes: *const A,
    pub from: usize,
}

// SAFETY: an address that is only read.
unsafe impl<A> Sync for WindowPanels<'_, A> {}

impl<A: ConvNumber> Lowered for WindowPanels<'_, A> {
    unsafe fn write(&self, steps: Range<usize>, columns: Range<usize>, to: *mut u8, apart: usize) {
        let rows = PanelRows::<LONG, A> {
            seen: self,
            steps,
            columns: self.from + columns.start..self.from + columns.end,
            to: to.cast(),
            apart,
        };
        // Copies as long as lines, and at most as wide as panels.
        match self.layout.windows[2].out.min(apart) {
            0..=4 => dispatch(rows.with::<4>()),
            5..=8 => dispatch(rows.with::<8>()),
            _ => dispatch(rows),
        }
    }
}

/// A kernel that writes rows of a panel by copies of `N` elements.
struct PanelRows<'a, const N: usize, A> {
    seen: &'a WindowPanels<'a, A>,
    steps: Range<usize>,
    columns: Range<usize>,
    to: *mut A,
    apart: usize,
}

impl<'a, const N: usize, A> PanelRows<'a, N, A> {
    fn with<const M: usize>(self) -> PanelRows<'a, M, A> {
        PanelRows {
            seen: self.seen,
            steps: self.steps,
            columns: self.columns,
            to: self.to,
            apart: self.apart,
        }
    }
}

impl<const N: usize, A: ConvNumber> Kernel for PanelRows<'_, N, A> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let layout = self.seen.layout;
        let w = &layout.windows[2];
        let count = self.columns.len();
        if count < self.apart {
            // SAFETY: there is room for all steps.
            unsafe { self.to.write_bytes(0, self.steps.len() * self.apart) };
        }
        // Pairs of a column and the offset of its position's first element.
        let mut copies = [(0, 0); COPIES];
        let mut most = 0;
        let mut at = 0;
        while at < count {
            let position = self.columns.start + at;
            let line = (w.out - position % w.out).min(count - at);
            let place = layout.place(position);
            for run in (0..line).step_by(N) {
                copies[most] = (at + run, place + run);
                most += 1;
            }
            at += line;
        }
        let copies = &copies[..most];
        let taps = layout.taps.len();
        let (mut channel, mut tap) = (self.steps.start / taps, self.steps.start % taps);
        let mut to = self.to;
        // In the last rows, a whole copy could end beyond the panel.
        let exact = N.div_ceil(self.apart);
        for left in (0..self.steps.len()).rev() {
            let from = self
                .seen
                .planes
                .wrapping_add(channel * layout.channel + layout.taps[tap]);
            for (i, &(column, place)) in copies.iter().enumerate() {
                let (from, to) = (from.wrapping_add(place), to.wrapping_add(column));
                // SAFETY: elements of the planes, or up to `N` beyond them; elements written beyond a line are
                // overwritten later.
                unsafe {
                    if left >= exact {
                        to.cast::<[A; N]>()
                            .write_unaligned(from.cast::<[A; N]>().read_unaligned());
                    } else {
                        let next = copies.get(i + 1).map_or(count, |&(column, _)| column);
                        to.copy_from_nonoverlapping(from, next - column);
                    }
                }
            }
            to = to.wrapping_add(self.apart);
            tap += 1;
            if tap == taps {
                (tap, channel) = (0, channel + 1);
            }
        }
    }
}
