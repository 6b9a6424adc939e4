//! What a kernel sees at some positions, as a matrix.

use super::number::{Number, Widen};
use crate::job::Windows;

/// Elements to lower. Strides are in elements.
#[derive(Clone, Copy)]
pub(super) struct Lower<'a, S> {
    pub windows: &'a Windows,
    /// The first channel's first element.
    pub x: *const S,
    pub channels: usize,
    /// Of channels, and the spatial dims.
    pub strides: [isize; 4],
    /// The first position.
    pub from: usize,
    /// How many positions.
    pub count: usize,
}

impl<S: Copy> Lower<'_, S> {
    /// The indices of a position.
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

    /// A row for each channel and tap, a column for each position: `out` is
    /// `channels * taps × count`, row-major.
    ///
    /// # Safety
    /// The input has the elements that windows and strides say; `out` has room.
    #[inline(always)]
    pub(super) unsafe fn rows<A: Number>(&self, mut out: *mut A)
    where
        S: Widen<A>,
    {
        let [d, h, w] = self.windows;
        for channel in 0..self.channels {
            for tap in 0..d.kernel * h.kernel * w.kernel {
                let (kz, ky, kx) = (
                    tap / (h.kernel * w.kernel),
                    tap / w.kernel % h.kernel,
                    tap % w.kernel,
                );
                let valid = w.inside(kx);
                let [mut oz, mut oy, mut ox] = self.index(self.from);
                let mut left = self.count;
                while left > 0 {
                    let len = (w.out - ox).min(left);
                    let row = d.at(oz, kz).zip(h.at(oy, ky));
                    let (start, end) = match row {
                        None => (len, len),
                        Some(_) => (
                            valid.start.clamp(ox, ox + len) - ox,
                            valid.end.clamp(ox, ox + len) - ox,
                        ),
                    };
                    let (start, end) = (start.min(end), end);
                    // SAFETY: `out` has room for a row of `count`, of which `len` are left; the
                    // elements read are within the input, as `inside` and `at` say.
                    unsafe {
                        for i in 0..start {
                            out.add(i).write(A::ZERO);
                        }
                        if let Some((z, y)) = row
                            && start < end
                        {
                            let first = (ox + start) * w.stride + kx * w.dilation - w.before;
                            let from = self.element(channel, [z, y, first]);
                            let step = w.step(self.strides[3]);
                            copy(end - start, from, step, out.add(start));
                        }
                        for i in end..len {
                            out.add(i).write(A::ZERO);
                        }
                        out = out.add(len);
                    }
                    left -= len;
                    ox = 0;
                    oy += 1;
                    if oy == h.out {
                        oy = 0;
                        oz += 1;
                    }
                }
            }
        }
    }

    /// A row for each position, a column for each tap and channel, the channels innermost: `out`
    /// is `count × taps * channels`. Channels lie next to each other in the input.
    ///
    /// # Safety
    /// As for [`Lower::rows`].
    #[inline(always)]
    pub(super) unsafe fn columns<A: Number>(&self, mut out: *mut A)
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
                                None => {
                                    for i in 0..self.channels {
                                        out.add(i).write(A::ZERO);
                                    }
                                }
                            }
                            out = out.add(self.channels);
                        }
                    }
                }
            }
        }
    }
}

/// Copies `n` elements, `step` apart, to a dense row.
///
/// # Safety
/// They can be read and written.
#[inline(always)]
pub(super) unsafe fn copy<S: Widen<A>, A>(n: usize, from: *const S, step: isize, to: *mut A) {
    // SAFETY: the caller's promise.
    unsafe {
        if step == 1 {
            for i in 0..n {
                to.add(i).write(from.add(i).read().up());
            }
        } else {
            for i in 0..n {
                to.add(i)
                    .write(from.wrapping_offset(i as isize * step).read().up());
            }
        }
    }
}
