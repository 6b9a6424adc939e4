//! Rows of columns, added to the elements under their windows.

use super::line::{TapLines, taps};
use super::number::{ConvNumber, Widen};
use super::pieces::add;
use crate::job::WindowDims;

/// Adds the values of each tap at positions `from..from + count` to planes, one for each channel. `rows` has one
/// element per position, for each channel and tap in turn.
///
/// # Safety
/// The planes are contiguous and have the windows' elements; `rows` has this number of elements.
#[inline(always)]
pub(super) unsafe fn add_rows<S: Widen<A>, A: ConvNumber>(
    windows: &WindowDims,
    channels: usize,
    [from, count]: [usize; 2],
    rows: *const S,
    planes: *mut A,
) {
    let [_, h, w] = windows;
    let (all, size) = (super::taps(windows), super::elements(windows));
    for (row, tap) in taps(windows).enumerate() {
        for line in TapLines::new(windows, tap, from, count) {
            let [z, y, x] = line.element;
            let to = planes.wrapping_add((z * h.size + y) * w.size + x);
            let from = rows.wrapping_add(row * count + line.at + line.start);
            for channel in 0..channels {
                let from = from.wrapping_add(channel * all * count);
                let to = to.wrapping_add(channel * size);
                // SAFETY: positions of a row and elements of a plane.
                unsafe { add(line.end - line.start, from, to, w.stride) };
            }
        }
    }
}
