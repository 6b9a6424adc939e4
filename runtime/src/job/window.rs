//! Windows that slide along dims: sizes are checked once, then arithmetic is plain.

use std::ops::Range;

use nomina_core::DType;

use super::{FinalOp, KeptWeight};
use crate::shape::product;

/// One dim of a sliding window. `(out - 1) * stride + (kernel - 1) * dilation` and `size + before` fit into `isize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sliding {
    /// The size of the dim that it slides over.
    pub(crate) size: usize,
    /// The number of elements that it covers.
    pub(crate) kernel: usize,
    /// The distance of adjacent positions.
    pub(crate) stride: usize,
    /// The number of padding zeros before the first element.
    pub(crate) before: usize,
    /// The distance of adjacent elements under it.
    pub(crate) dilation: usize,
    /// The number of positions.
    pub(crate) out: usize,
}

/// Three dims, outermost first; absent ones have size 1.
pub(crate) type WindowDims = [Sliding; 3];

impl Sliding {
    /// The window of an absent dim.
    pub(crate) const NONE: Self = Self {
        size: 1,
        kernel: 1,
        stride: 1,
        before: 0,
        dilation: 1,
        out: 1,
    };

    /// Returns the distance from the first to the last element under it, inclusive; `None` on overflow.
    pub(crate) fn reach(kernel: usize, dilation: usize) -> Option<usize> {
        let span = kernel.checked_sub(1)?.checked_mul(dilation)?;
        span.checked_add(1)
            .filter(|&reach| isize::try_from(reach).is_ok())
    }

    /// Returns the element of tap `tap` at position `at`; `None` for padding.
    #[inline(always)]
    pub(crate) fn at(&self, at: usize, tap: usize) -> Option<usize> {
        product([at, self.stride])
            .saturating_add(product([tap, self.dilation]))
            .checked_sub(self.before)
            .filter(|&index| index < self.size)
    }

    /// Returns the positions at which tap `tap` is an element rather than padding.
    #[inline(always)]
    pub(crate) fn inside(&self, tap: usize) -> Range<usize> {
        let shift = product([tap, self.dilation]);
        let start = self.before.saturating_sub(shift).div_ceil(self.stride);
        let end = match (self.size + self.before).checked_sub(shift) {
            None | Some(0) => 0,
            Some(rest) => (rest - 1) / self.stride + 1,
        };
        let end = end.min(self.out);
        start.min(end)..end
    }

    /// Returns the distance in memory of the elements of adjacent positions, along a dim with this stride. If a window
    /// is longer than any dim, no two positions are inside, and the number is meaningless.
    #[inline(always)]
    pub(crate) fn step(&self, stride: isize) -> isize {
        stride.wrapping_mul(self.stride as isize)
    }

    /// Returns whether each position is one element.
    pub(crate) fn is_point(&self) -> bool {
        self.kernel == 1 && self.stride == 1 && self.before == 0 && self.out == self.size
    }
}

/// A convolution for a backend. Strides are in elements.
#[derive(Clone, Copy)]
pub(crate) struct ConvJob<'a> {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    pub(crate) batch: usize,
    pub(crate) groups: usize,
    /// Input channels of a group.
    pub(crate) channels: usize,
    /// Output channels of a group.
    pub(crate) outs: usize,
    pub(crate) windows: WindowDims,
    pub(crate) x: *const u8,
    /// Strides of batch, channels, and the spatial dims.
    pub(crate) x_strides: [isize; 5],
    /// The weight, with dims output channels, channels of a group, kernel: on the host in the dtype of [`arithmetic`],
    /// elsewhere in `dtype`.
    pub(crate) weight: *const u8,
    /// Where calls with this weight keep it packed; not for channels after the kernel.
    pub(crate) kept: Option<&'a KeptWeight>,
    /// Whether the weight has the channels after the kernel, like an input with innermost channels.
    pub(crate) channels_last: bool,
    /// One per output channel, in the weight's dtype.
    pub(crate) bias: Option<*const u8>,
    /// An operator that is applied to the result: on the host, of the dtypes that it computes in.
    pub(crate) after: Option<FinalOp>,
    pub(crate) out: *mut u8,
    /// Strides of batch, channels, and positions.
    pub(crate) out_strides: [isize; 3],
}

// SAFETY: contains only addresses and numbers; the code that uses them explains why tasks do not conflict.
unsafe impl Sync for ConvJob<'_> {}

impl ConvJob<'_> {
    /// Returns the same convolution without elements that no window covers, along dims with a kernel of one element, and with
    /// dims of one position outermost, so that lines of positions are long.
    pub(crate) fn normalized(&self) -> Self {
        let mut job = *self;
        let [_, _, strides @ ..] = &mut job.x_strides;
        for (window, stride) in job.windows.iter_mut().zip(&mut *strides) {
            let last = product([window.out.saturating_sub(1), window.stride]);
            if window.kernel == 1 && window.before == 0 && last < window.size {
                *stride = window.step(*stride);
                *window = Sliding {
                    size: window.out,
                    out: window.out,
                    ..Sliding::NONE
                };
            }
        }
        for _ in 1..job.windows.len() {
            if job.windows[2] == Sliding::NONE {
                job.windows.rotate_right(1);
                strides.rotate_right(1);
            }
        }
        job
    }
}

/// A transposed convolution for a backend: the windows slide over the result.
pub(crate) struct TransposedJob {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    pub(crate) batch: usize,
    pub(crate) groups: usize,
    pub(crate) channels: usize,
    pub(crate) outs: usize,
    pub(crate) windows: WindowDims,
    pub(crate) x: *const u8,
    pub(crate) x_strides: [isize; 5],
    /// The weight, with dims input channels, output channels of a group, kernel; its dtype is as in [`ConvJob`].
    pub(crate) weight: *const u8,
    pub(crate) bias: Option<*const u8>,
    /// Row-major: batch, output channels, spatial dims.
    pub(crate) out: *mut u8,
}

// SAFETY: as for `ConvJob`.
unsafe impl Sync for TransposedJob {}

/// The gradient of a convolution's weight. Strides are in elements.
pub(crate) struct WeightGradientJob {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    pub(crate) batch: usize,
    pub(crate) groups: usize,
    /// Input channels of a group.
    pub(crate) channels: usize,
    /// Output channels of a group.
    pub(crate) outs: usize,
    pub(crate) windows: WindowDims,
    pub(crate) x: *const u8,
    /// Strides of batch, channels, and the spatial dims.
    pub(crate) x_strides: [isize; 5],
    pub(crate) grad: *const u8,
    /// Strides of batch, channels, and positions.
    pub(crate) grad_strides: [isize; 3],
    /// Row-major: output channels, channels of a group, kernel.
    pub(crate) out: *mut u8,
}

// SAFETY: as for `ConvJob`.
unsafe impl Sync for WeightGradientJob {}

/// Returns whether a convolution is computed without a matrix product: for integers, whose products are not fast
/// enough, and for kernels with one channel each.
pub(crate) fn is_direct(dtype: DType, channels: usize, outs: usize) -> bool {
    dtype.is_integral() || (channels == 1 && outs <= 4)
}

/// A conversion between planes and columns, for a backend. One side is `[batch, channels, spatial..]`, the other
/// `[batch, channels, kernel.., positions..]`; both are row-major.
pub(crate) struct ColumnsJob {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    /// Planes: batch times channels.
    pub(crate) planes: usize,
    pub(crate) windows: WindowDims,
    pub(crate) x: *const u8,
    pub(crate) out: *mut u8,
    /// Whether columns are summed into planes.
    pub(crate) fold: bool,
}

// SAFETY: contains only addresses and numbers; the code that uses them explains why tasks do not conflict.
unsafe impl Sync for ColumnsJob {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_agrees_with_at() {
        for (size, kernel, stride, before, dilation) in [
            (5, 3, 1, 1, 1),
            (7, 2, 3, 2, 4),
            (1, 3, 2, 1, 1),
            (6, 4, 1, 0, 3),
        ] {
            let window = Sliding {
                size,
                kernel,
                stride,
                before,
                dilation,
                out: 6,
            };
            for tap in 0..kernel {
                let inside: Vec<usize> = window.inside(tap).collect();
                let each: Vec<usize> = (0..6).filter(|&o| window.at(o, tap).is_some()).collect();
                assert_eq!(inside, each, "{window:?} {tap}");
            }
        }
    }

    #[test]
    fn a_reach_that_overflows() {
        assert_eq!(Sliding::reach(3, 2), Some(5));
        assert_eq!(Sliding::reach(0, 2), None);
        assert_eq!(Sliding::reach(usize::MAX, 2), None);
    }
}
