//! Positions along one line of a result, and the elements of a kernel tap at those positions.

use crate::job::WindowDims;

/// Adjacent positions and the elements of a tap.
pub(super) struct TapLine {
    /// The first position, relative to the start of the lines.
    pub at: usize,
    /// The number of positions.
    pub length: usize,
    /// The range of positions that have an element, rather than padding.
    pub start: usize,
    pub end: usize,
    /// The element at `start`.
    pub element: [usize; 3],
}

/// An iterator over the lines of some positions, for one tap.
pub(super) struct TapLines<'a> {
    windows: &'a WindowDims,
    tap: [usize; 3],
    /// The positions of a whole line that have elements.
    valid: std::ops::Range<usize>,
    /// The next position, and its index among all.
    index: [usize; 3],
    at: usize,
    count: usize,
}

/// Returns the taps of a kernel, in order.
#[inline(always)]
pub(super) fn taps(windows: &WindowDims) -> impl Iterator<Item = [usize; 3]> {
    let [d, h, w] = windows.each_ref().map(|window| window.kernel);
    (0..d).flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| [z, y, x])))
}

impl<'a> TapLines<'a> {
    /// Creates the lines of `count` positions from `from` on.
    #[inline(always)]
    pub(super) fn new(windows: &'a WindowDims, tap: [usize; 3], from: usize, count: usize) -> Self {
        let [_, h, w] = windows;
        let line = from / w.out;
        Self {
            windows,
            tap,
            valid: w.inside(tap[2]),
            index: [line / h.out, line % h.out, from % w.out],
            at: 0,
            count,
        }
    }
}

impl Iterator for TapLines<'_> {
    type Item = TapLine;

    #[inline(always)]
    fn next(&mut self) -> Option<TapLine> {
        if self.at == self.count {
            return None;
        }
        let [d, h, w] = self.windows;
        let ([kz, ky, kx], [oz, oy, ox]) = (self.tap, self.index);
        let length = (w.out - ox).min(self.count - self.at);
        let mut line = TapLine {
            at: self.at,
            length,
            start: length,
            end: length,
            element: [0; 3],
        };
        if let Some((z, y)) = d.at(oz, kz).zip(h.at(oy, ky)) {
            let start = self.valid.start.clamp(ox, ox + length);
            let end = self.valid.end.clamp(start, ox + length);
            if start < end {
                // Within the element's dim, as `inside` guarantees.
                let x = start * w.stride + kx * w.dilation - w.before;
                (line.start, line.end) = (start - ox, end - ox);
                line.element = [z, y, x];
            }
        }
        self.at += length;
        self.index = if oy + 1 == h.out {
            [oz + 1, 0, 0]
        } else {
            [oz, oy + 1, 0]
        };
        Some(line)
    }
}
