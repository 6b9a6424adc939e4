//! The properties of a convolution on which a plan depends.

use cudarc::cudnn::sys::cudnnDataType_t as ElementType;
use nomina_core::DType;

use crate::job::{Sliding, WindowDims};

/// The direction of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    /// The result, from the input and the weight.
    Forward,
    /// The gradient of the input, from the weight and the gradient of the result.
    Data,
    /// The gradient of the weight, from the input and the gradient of the result.
    Weight,
}

/// The properties of a convolution on which the choice of a plan depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConvQuery {
    pub(super) way: Direction,
    pub(super) dtype: DType,
    pub(super) tf32: bool,
    pub(super) batch: usize,
    pub(super) groups: usize,
    /// The channels of a group in the input, over which windows slide, and in the result.
    pub(super) channels: usize,
    pub(super) outs: usize,
    pub(super) windows: WindowDims,
    /// Whether channels are innermost.
    pub(super) last: bool,
    /// Whether a bias is added to the result.
    pub(super) bias: bool,
}

/// The sizes of batch, channels and three spatial dims.
pub(super) type ConvSizes = [usize; 5];

impl ConvQuery {
    /// Returns the sizes of the input.
    pub(super) fn input(&self) -> ConvSizes {
        let [d, h, w] = self.windows.map(|window| window.size);
        [self.batch, self.groups * self.channels, d, h, w]
    }

    /// Returns the sizes of the result.
    pub(super) fn slid(&self) -> ConvSizes {
        let [d, h, w] = self.windows.map(|window| window.out);
        [self.batch, self.groups * self.outs, d, h, w]
    }

    /// Returns the sizes of the weight.
    pub(super) fn kernel(&self) -> ConvSizes {
        let [d, h, w] = self.windows.map(|window| window.kernel);
        [self.groups * self.outs, self.channels, d, h, w]
    }

    /// Returns numbers of batch, channels and spatial dims for the library, which expects at least two spatial dims:
    /// without the outermost one, unless windows slide along it.
    pub(super) fn library_dims(&self, [batch, channels, spatial @ ..]: [i64; 5]) -> Vec<i64> {
        let mut dims = vec![batch, channels];
        dims.extend_from_slice(&spatial[self.absent_dims()..]);
        dims
    }

    /// Returns a number of each window for the library.
    pub(super) fn library_windows(&self, number: impl Fn(&Sliding) -> usize) -> Vec<i64> {
        let windows = &self.windows[self.absent_dims()..];
        windows.iter().map(|window| number(window) as i64).collect()
    }

    fn absent_dims(&self) -> usize {
        usize::from(self.windows[0] == Sliding::NONE)
    }

    /// Returns whether the library may support it: the dtype, and positions of 32 bits.
    pub(super) fn is_askable(&self) -> bool {
        let small = |sizes: ConvSizes| crate::shape::product(sizes) < 1 << 31;
        let near = self.windows.iter().all(|window| {
            let reach = Sliding::reach(window.kernel, window.dilation);
            reach.is_some_and(|reach| reach.max(window.stride).max(window.dilation) < 1 << 31)
                && window.before < 1 << 30
                && padding_after(window).is_some_and(|after| after < 1 << 30)
        });
        types(self.dtype).is_some()
            && small(self.input())
            && small(self.slid())
            && small(self.kernel())
            && near
    }
}

/// Returns padding behind the last element with which a window has its number of positions: the padding before the
/// first one if possible, which more engines support, else the least.
pub(super) fn padding_after(window: &Sliding) -> Option<usize> {
    let reach = Sliding::reach(window.kernel, window.dilation)?;
    let end = window.out.checked_sub(1)? * window.stride + reach;
    let least = end.saturating_sub(window.size + window.before);
    let has_positions = |after: &usize| {
        let padded = (window.size + window.before).checked_add(*after);
        let free = padded.and_then(|padded| padded.checked_sub(reach));
        free.is_some_and(|free| free / window.stride + 1 == window.out)
    };
    [window.before, least].into_iter().find(has_positions)
}

/// Returns the strides of a contiguous tensor.
pub(super) fn strides(sizes: ConvSizes, last: bool) -> [isize; 5] {
    let order = if last {
        [1, 4, 3, 2, 0]
    } else {
        [4, 3, 2, 1, 0]
    };
    let (mut strides, mut step) = ([0; 5], 1_isize);
    for dim in order {
        strides[dim] = step;
        step *= sizes[dim] as isize;
    }
    strides
}

/// Returns the library's types of elements and of sums; `None` if it does not support the dtype.
pub(super) fn types(dtype: DType) -> Option<(ElementType, ElementType)> {
    let (double, float) = (
        ElementType::CUDNN_DATA_DOUBLE,
        ElementType::CUDNN_DATA_FLOAT,
    );
    match dtype {
        DType::F16 => Some((ElementType::CUDNN_DATA_HALF, float)),
        DType::BF16 => Some((ElementType::CUDNN_DATA_BFLOAT16, float)),
        DType::F32 => Some((float, float)),
        DType::F64 => Some((double, double)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_behind_gives_the_number_of_positions() {
        let window = |size, kernel, stride, before, dilation, out| Sliding {
            size,
            kernel,
            stride,
            before,
            dilation,
            out,
        };
        // Equal padding at both ends, also if the last elements are left out.
        assert_eq!(padding_after(&window(9, 3, 1, 1, 1, 9)), Some(1));
        assert_eq!(padding_after(&window(10, 3, 2, 0, 1, 4)), Some(0));
        // One more behind, for a kernel of even size.
        assert_eq!(padding_after(&window(9, 4, 1, 1, 1, 9)), Some(2));
        // None behind, for a transposed convolution that cuts off its result.
        assert_eq!(padding_after(&window(9, 3, 2, 1, 1, 4)), Some(0));
        // Fewer positions than the elements allow.
        assert_eq!(padding_after(&window(9, 3, 1, 0, 1, 5)), None);
        assert_eq!(padding_after(&window(9, 3, 1, 0, 1, 0)), None);
    }
}
