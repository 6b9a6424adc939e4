//! Rows of columns, added to where their windows lie.

use super::number::{Number, Widen};
use crate::job::Windows;

/// Adds what tap `tap` has at positions `from..from + count` to a plane. `row` has an element for
/// each of these positions.
///
/// # Safety
/// The plane has the windows' elements, the row `count`.
#[inline(always)]
pub(super) unsafe fn add_row<S: Widen<A>, A: Number>(
    windows: &Windows,
    tap: usize,
    from: usize,
    count: usize,
    mut row: *const S,
    plane: *mut A,
) {
    let [d, h, w] = windows;
    let (kz, ky, kx) = (
        tap / (h.kernel * w.kernel),
        tap / w.kernel % h.kernel,
        tap % w.kernel,
    );
    let valid = w.inside(kx);
    let line = from / w.out;
    let (mut oz, mut oy, mut ox) = (line / h.out, line % h.out, from % w.out);
    let mut left = count;
    while left > 0 {
        let len = (w.out - ox).min(left);
        if let Some((z, y)) = d.at(oz, kz).zip(h.at(oy, ky)) {
            let (start, end) = (valid.start.max(ox), valid.end.min(ox + len));
            if start < end {
                let first = start * w.stride + kx * w.dilation - w.before;
                let to = plane.wrapping_add((z * h.size + y) * w.size + first);
                let from = row.wrapping_add(start - ox);
                // SAFETY: positions of the row, and elements of the plane, as `at` and `inside`
                // say.
                unsafe { add(end - start, from, to, w.stride) };
            }
        }
        row = row.wrapping_add(len);
        left -= len;
        ox = 0;
        oy += 1;
        if oy == h.out {
            oy = 0;
            oz += 1;
        }
    }
}

#[inline(always)]
unsafe fn add<S: Widen<A>, A: Number>(n: usize, from: *const S, to: *mut A, stride: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if stride == 1 {
            for i in 0..n {
                let to = to.add(i);
                to.write(to.read().plus(from.add(i).read().up()));
            }
        } else {
            for i in 0..n {
                let to = to.add(i * stride);
                to.write(to.read().plus(from.add(i).read().up()));
            }
        }
    }
}
