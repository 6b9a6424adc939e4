//! im2col: the windows of a convolution's input, at some positions, as a matrix.

use std::marker::PhantomData;

use half::{bf16, f16};
use nomina_core::DType;

use super::line::{TapLines, taps};
use super::number::{ConvNumber, Widen};
use super::pieces::{copy, zeros};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::job::WindowDims;

/// The elements to lower. Strides are in elements.
#[derive(Clone, Copy)]
pub(super) struct Lower<'a> {
    pub windows: &'a WindowDims,
    /// The first channel's first element.
    pub x: *const u8,
    pub channels: usize,
    /// The strides of the channels and the spatial dims.
    pub strides: [isize; 4],
    /// The first position.
    pub from: usize,
    /// The number of positions.
    pub count: usize,
}

/// The layout of lowered elements.
#[derive(Clone, Copy)]
pub(super) enum LowerOrder {
    /// A row for each channel and tap, with a column for each position.
    Rows,
    /// A row for each position, with a column for each channel and tap, taps innermost.
    Windows,
    /// A row for each position, with a column for each tap and channel, channels innermost. Channels are adjacent in
    /// the input.
    Columns,
}

impl Lower<'_> {
    /// Writes the elements in the dtype in which a convolution of `dtype` is computed, row-major.
    ///
    /// # Safety
    /// The input has the elements described by windows and strides, of `dtype`; `out` has room.
    pub(super) unsafe fn write_widened(&self, dtype: DType, order: LowerOrder, out: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match dtype {
                DType::F16 => self.write::<f16, f32>(order, out),
                DType::BF16 => self.write::<bf16, f32>(order, out),
                _ => self.write_bits(dtype.size(), order, out),
            }
        }
    }

    /// Writes elements of `size` bytes as they are, row-major.
    ///
    /// # Safety
    /// The requirements of [`Lower::write_widened`].
    pub(super) unsafe fn write_bits(&self, size: usize, order: LowerOrder, out: *mut u8) {
        // SAFETY: guaranteed by the caller; elements are copied as bits of their size.
        unsafe {
            match size {
                1 => self.write::<u8, u8>(order, out),
                2 => self.write::<u16, u16>(order, out),
                4 => self.write::<u32, u32>(order, out),
                8 => self.write::<u64, u64>(order, out),
                _ => self.write::<u128, u128>(order, out),
            }
        }
    }

    unsafe fn write<S: Widen<A>, A: ConvNumber>(&self, order: LowerOrder, out: *mut u8) {
        dispatch(LowerKernel::<S, A> {
            lower: *self,
            windows: *self.windows,
            order,
            out: out.cast(),
            elements: PhantomData,
        });
    }
}

/// A kernel that writes lowered elements. It owns all sizes: the compiler would read those behind a reference anew after
/// each element that is written.
struct LowerKernel<'a, S, A> {
    lower: Lower<'a>,
    windows: WindowDims,
    order: LowerOrder,
    out: *mut A,
    elements: PhantomData<S>,
}

impl<S: Widen<A>, A: ConvNumber> Kernel for LowerKernel<'_, S, A> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: the requirements of `Lower::write_widened`.
        unsafe {
            match self.order {
                LowerOrder::Rows => self.rows(),
                LowerOrder::Windows => self.windows(),
                LowerOrder::Columns => self.columns(),
            }
        }
    }
}

impl<S: Widen<A>, A: ConvNumber> LowerKernel<'_, S, A> {
    /// Returns the indices of a position.
    #[inline(always)]
    fn index(&self, position: usize) -> [usize; 3] {
        let [_, h, w] = self.windows;
        let rest = position / w.out;
        [rest / h.out, rest % h.out, position % w.out]
    }

    #[inline(always)]
    fn element(&self, channel: usize, index: [usize; 3]) -> *const S {
        let strides = self.lower.strides;
        let offset = channel as isize * strides[0]
            + index[0] as isize * strides[1]
            + index[1] as isize * strides[2]
            + index[2] as isize * strides[3];
        self.lower.x.cast::<S>().wrapping_offset(offset)
    }

    #[inline(always)]
    unsafe fn rows(&self) {
        let lower = &self.lower;
        let out = self.out;
        let step = self.windows[2].step(lower.strides[3]);
        let apart = super::taps(&self.windows) * lower.count;
        for (row, tap) in taps(&self.windows).enumerate() {
            for line in TapLines::new(&self.windows, tap, lower.from, lower.count) {
                let to = out.wrapping_add(row * lower.count + line.at);
                // The elements of a line have the same offsets in every channel.
                for channel in 0..lower.channels {
                    let to = to.wrapping_add(channel * apart);
                    // SAFETY: `out` has room for a row of `count` for each channel and tap; the elements are within the
                    // input.
                    unsafe {
                        zeros(line.start, to);
                        let from = self.element(channel, line.element);
                        copy(line.end - line.start, from, step, to.add(line.start));
                        zeros(line.length - line.end, to.add(line.end));
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn windows(&self) {
        let lower = &self.lower;
        let mut out = self.out;
        let [d, h, w] = &self.windows;
        let step = lower.strides[3].wrapping_mul(w.dilation as isize);
        for position in lower.from..lower.from + lower.count {
            let [oz, oy, ox] = self.index(position);
            // The taps of a line that are elements rather than padding.
            let first = (0..w.kernel).find_map(|kx| Some((kx, w.at(ox, kx)?)));
            let end = (0..w.kernel).rfind(|&kx| w.at(ox, kx).is_some());
            for channel in 0..lower.channels {
                for (kz, ky) in (0..d.kernel).flat_map(|z| (0..h.kernel).map(move |y| (z, y))) {
                    let line = d.at(oz, kz).zip(h.at(oy, ky)).zip(first).zip(end);
                    // SAFETY: guaranteed by the caller: room, and elements within the input.
                    unsafe {
                        match line {
                            Some((((z, y), (first, x)), end)) => {
                                zeros(first, out);
                                let from = self.element(channel, [z, y, x]);
                                copy(end + 1 - first, from, step, out.add(first));
                                zeros(w.kernel - end - 1, out.add(end + 1));
                            }
                            None => zeros(w.kernel, out),
                        }
                        out = out.add(w.kernel);
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn columns(&self) {
        let lower = &self.lower;
        let mut out = self.out;
        let [d, h, w] = &self.windows;
        for position in lower.from..lower.from + lower.count {
            let [oz, oy, ox] = self.index(position);
            for kz in 0..d.kernel {
                for ky in 0..h.kernel {
                    let row = d.at(oz, kz).zip(h.at(oy, ky));
                    for kx in 0..w.kernel {
                        // SAFETY: guaranteed by the caller: room, and elements within the input.
                        unsafe {
                            match row.zip(w.at(ox, kx)) {
                                Some(((z, y), x)) => {
                                    copy(lower.channels, self.element(0, [z, y, x]), 1, out);
                                }
                                None => zeros(lower.channels, out),
                            }
                            out = out.add(lower.channels);
                        }
                    }
                }
            }
        }
    }
}
