//! Pools: one number from the elements under a window.

use nomina_core::{DType, Error, ErrorKind};

/// The elements of a dim that one position of a window covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowSpan {
    /// The first element.
    pub(crate) start: usize,
    /// The number of elements.
    pub(crate) taps: usize,
    /// The number of positions that a mean counts.
    pub(crate) count: usize,
}

/// The windows of a pool along a dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    /// Windows of one size.
    Slide(Slide),
    /// Equal parts; adjacent parts may share an element.
    Parts {
        /// The dim's size.
        size: usize,
        /// The number of parts.
        out: usize,
    },
}

/// A window that slides along a dim, checked: no position overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slide {
    pub(crate) size: usize,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) before: usize,
    pub(crate) dilation: usize,
    pub(crate) out: usize,
    /// Whether a mean counts the padding.
    pub(crate) padded: bool,
}

/// The operation on the elements under a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    Max,
    /// The mean, with this divisor or the count.
    Mean(Option<i64>),
}

/// A pool for a backend: contiguous row-major planes of three dims.
pub(crate) struct PoolJob {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    pub(crate) kind: PoolKind,
    pub(crate) dtype: DType,
    pub(crate) planes: usize,
    pub(crate) size: [usize; 3],
    pub(crate) covers: [Cover; 3],
    pub(crate) x: *const u8,
    pub(crate) out: *mut u8,
    /// The positions of the maxima within their plane.
    pub(crate) indices: Option<*mut i64>,
}

// SAFETY: contains only addresses and numbers; the code that uses them explains why tasks do not
// conflict.
unsafe impl Sync for PoolJob {}

/// Elements to put back at their indices, for a backend: contiguous planes; those of the result are
/// zeros.
pub(crate) struct UnpoolJob {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    pub(crate) count: usize,
    /// The sizes of an input plane, and of a result plane.
    pub(crate) plane: usize,
    pub(crate) room: usize,
    pub(crate) x: *const u8,
    pub(crate) indices: *const i64,
    pub(crate) out: *mut u8,
}

// SAFETY: as for `PoolJob`.
unsafe impl Sync for UnpoolJob {}

impl UnpoolJob {
    /// Returns the error of an index that names no element of a plane of `room`.
    #[cold]
    pub(crate) fn outside(op: &'static str, index: i64, room: usize) -> Error {
        let what = format!("index {index} is outside of {room} elements");
        Error::new(ErrorKind::Index, op, what).hint("give the sizes of the pool's input")
    }
}

impl Slide {
    /// Returns the span of a position.
    fn span(&self, at: usize) -> WindowSpan {
        let (size, before) = (self.size as i128, self.before as i128);
        let first = at as i128 * self.stride as i128 - before;
        let dilation = self.dilation as i128;
        let skipped = if first < 0 {
            (-first + dilation - 1) / dilation
        } else {
            0
        };
        let start = first + skipped * dilation;
        let fit = ((size - start + dilation - 1) / dilation).max(0);
        let taps = (self.kernel as i128 - skipped).min(fit).max(0);
        let end = (first + self.kernel as i128).min(size + before);
        let count = if self.padded { end - first } else { taps };
        WindowSpan {
            start: start.min(size) as usize,
            taps: taps as usize,
            count: count.max(0) as usize,
        }
    }
}

impl Cover {
    /// The cover of an absent dim.
    pub(crate) const NONE: Self = Self::Parts { size: 1, out: 1 };

    /// Returns the number of positions.
    pub(crate) fn len(&self) -> usize {
        match *self {
            Self::Slide(slide) => slide.out,
            Self::Parts { out, .. } => out,
        }
    }

    /// Returns the distance of adjacent elements under the window.
    pub(crate) fn step(&self) -> usize {
        match *self {
            Self::Slide(slide) => slide.dilation,
            Self::Parts { .. } => 1,
        }
    }

    /// Returns the span of a position.
    pub(crate) fn span(&self, at: usize) -> WindowSpan {
        match *self {
            Self::Slide(slide) => slide.span(at),
            Self::Parts { size, out } => {
                let (at, size, out) = (at as u128, size as u128, out as u128);
                let (start, end) = (at * size / out, ((at + 1) * size).div_ceil(out));
                let taps = (end - start) as usize;
                WindowSpan {
                    start: start as usize,
                    taps,
                    count: taps,
                }
            }
        }
    }
}
