//! im2col: the windows of a convolution's input, at some positions, as a matrix.

use super::line::{TapLines, taps};
use super::number::{ConvNumber, Widen};
use super::pieces::{copy, zeros};
use crate::job::WindowDims;

/// The elements to lower. Strides are in elements.
#[derive(Clone, Copy)]
pub(super) struct Lower<'a, S> {
    pub windows: &'a WindowDims,
    /// The first channel's first element.
    pub x: *const S,
    pub channels: usize,
    /// The strides of the channels and the spatial dims.
    pub strides: [isize; 4],
    /// The first position.
    pub from: usize,
    /// The number of positions.
    pub count: usize,
}

impl<S: Copy> Lower<'_, S> {
    /// Returns the indices of a position.
    #[inline(always)]
    fn index(&self, position: usize) -> [usize; 3] {
        let [_, h, w] = self.windows;
        let rest = position / w.out;
        [rest / h.out, rest % h.out, position % w.out]
    }

    #[inline(always)]
    fn element(&self, channel: usize, index: [usize; 3]) -> *const S {
        let offset = channel as isize * self.strides[0]
            + index[0] as isize * self.strides[1]
            + index[1] as isize * self.strides[2]
            + index[2] as isize * self.strides[3];
        self.x.wrapping_offset(offset)
    }

    /// Writes a row for each channel and tap, with a column for each position: `out` is `channels * taps × count`,
    /// row-major.
    ///
    /// # Safety
    /// The input has the elements described by windows and strides; `out` has room.
    #[inline(always)]
    pub(super) unsafe fn rows<A: ConvNumber>(&self, out: *mut A)
    where
        S: Widen<A>,
    {
        let step = self.windows[2].step(self.strides[3]);
        let apart = super::taps(self.windows) * self.count;
        for (row, tap) in taps(self.windows).enumerate() {
            for line in TapLines::new(self.windows, tap, self.from, self.count) {
                let to = out.wrapping_add(row * self.count + line.at);
                // The elements of a line have the same offsets in every channel.
                for channel in 0..self.channels {
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

    /// Writes a row for each position, with a column for each channel and tap, taps innermost: `out` is `count ×
    /// channels * taps`.
    ///
    /// # Safety
    /// The requirements of [`Lower::rows`].
    #[inline(always)]
    pub(super) unsafe fn windows<A: ConvNumber>(&self, mut out: *mut A)
    where
        S: Widen<A>,
    {
        let [d, h, w] = self.windows;
        let step = self.strides[3].wrapping_mul(w.dilation as isize);
        for position in self.from..self.from + self.count {
            let [oz, oy, ox] = self.index(position);
            // The taps of a line that are elements rather than padding.
            let first = (0..w.kernel).find_map(|kx| Some((kx, w.at(ox, kx)?)));
            let end = (0..w.kernel).rfind(|&kx| w.at(ox, kx).is_some());
            for channel in 0..self.channels {
                for (kz, ky) in (0..d.kernel).flat_map(|z| (0..h.kernel).map(move |y| (z, y))) {
                    let line = d.at(oz, kz).zip(h.at(oy, ky)).zip(first).zip(end);
                    // SAFETY: as in `rows`.
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

    /// Writes a row for each position, with a column for each tap and channel, channels innermost: `out` is `count ×
    /// taps * channels`. Channels are adjacent in the input.
    ///
    /// # Safety
    /// The requirements of [`Lower::rows`].
    #[inline(always)]
    pub(super) unsafe fn columns<A: ConvNumber>(&self, mut out: *mut A)
    where
        S: Widen<A>,
    {
        let [d, h, w] = self.windows;
        for position in self.from..self.from + self.count {
            let [oz, oy, ox] = self.index(position);
            for kz in 0..d.kernel {
                for ky in 0..h.kernel {
                    let row = d.at(oz, kz).zip(h.at(oy, ky));
                    for kx in 0..w.kernel {
                        // SAFETY: as in `rows`.
                        unsafe {
                            match row.zip(w.at(ox, kx)) {
                                Some(((z, y), x)) => {
                                    copy(self.channels, self.element(0, [z, y, x]), 1, out);
                                }
                                None => zeros(self.channels, out),
                            }
                            out = out.add(self.channels);
                        }
                    }
                }
            }
        }
    }
}
