//! Optional arguments of operators that slide along `S` dims.

use nomina_core::Scalar;

use crate::call::{InterpolateMode, PadMode};

/// The zeros around the input of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding<const S: usize> {
    /// The number of zeros before and after each dim; 0 is PyTorch's `valid`.
    Zeros([usize; S]),
    /// The number of zeros that keeps the sizes, with a stride of 1.
    Same,
}

impl<const S: usize> Default for Padding<S> {
    fn default() -> Self {
        Self::Zeros([0; S])
    }
}

impl<const S: usize> From<[usize; S]> for Padding<S> {
    fn from(zeros: [usize; S]) -> Self {
        Self::Zeros(zeros)
    }
}

/// Options of `conv1d_with`, `conv2d_with` and `conv3d_with`; one number per spatial dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvOptions<const S: usize> {
    /// The distance between positions of the kernel.
    pub stride: [usize; S],
    /// The zeros around the input.
    pub padding: Padding<S>,
    /// The distance between elements under the kernel.
    pub dilation: [usize; S],
    /// The number of groups of channels, each with separate kernels.
    pub groups: usize,
}

impl<const S: usize> Default for ConvOptions<S> {
    fn default() -> Self {
        Self {
            stride: [1; S],
            padding: Padding::default(),
            dilation: [1; S],
            groups: 1,
        }
    }
}

/// Options of `conv_transpose1d_with` and similar; one number per spatial dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvTransposeOptions<const S: usize> {
    /// The distance between the kernels of neighbouring elements in the result.
    pub stride: [usize; S],
    /// The number of elements cut off the result, before and after.
    pub padding: [usize; S],
    /// The number of elements added at the end of the result.
    pub output_padding: [usize; S],
    /// The number of groups of channels, each with separate kernels.
    pub groups: usize,
    /// The distance between elements under the kernel.
    pub dilation: [usize; S],
}

impl<const S: usize> Default for ConvTransposeOptions<S> {
    fn default() -> Self {
        Self {
            stride: [1; S],
            padding: [0; S],
            output_padding: [0; S],
            groups: 1,
            dilation: [1; S],
        }
    }
}

/// Options of `max_pool1d_with` and similar; one number per dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPoolOptions<const S: usize> {
    /// The distance between positions of the window; by default its size.
    pub stride: Option<[usize; S]>,
    /// The number of elements that the window reaches beyond the first and the last.
    pub padding: [usize; S],
    /// The distance between elements under the window.
    pub dilation: [usize; S],
    /// Whether a last window that starts inside but reaches beyond counts.
    pub ceil_mode: bool,
}

impl<const S: usize> Default for MaxPoolOptions<S> {
    fn default() -> Self {
        Self {
            stride: None,
            padding: [0; S],
            dilation: [1; S],
            ceil_mode: false,
        }
    }
}

/// Options of `avg_pool1d_with` and similar; one number per dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AvgPoolOptions<const S: usize> {
    /// The distance between positions of the window; by default its size.
    pub stride: Option<[usize; S]>,
    /// The number of zeros before the first and after the last element.
    pub padding: [usize; S],
    /// Whether a last window that starts inside but reaches beyond counts.
    pub ceil_mode: bool,
    /// Whether padding zeros are counted.
    pub count_include_pad: bool,
    /// The divisor of sums, instead of the count.
    pub divisor_override: Option<i64>,
}

impl<const S: usize> Default for AvgPoolOptions<S> {
    fn default() -> Self {
        Self {
            stride: None,
            padding: [0; S],
            ceil_mode: false,
            count_include_pad: true,
            divisor_override: None,
        }
    }
}

/// Options of `lp_pool1d_with` and similar; one number per dim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LpPoolOptions<const S: usize> {
    /// The distance between positions of the window; by default its size.
    pub stride: Option<[usize; S]>,
    /// Whether a last window that starts inside but reaches beyond counts.
    pub ceil_mode: bool,
}

/// Options of `im2col_with` and `fold_with`: how the window slides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnsOptions {
    /// The distance between elements under the window.
    pub dilation: [usize; 2],
    /// The number of zeros before and after.
    pub padding: [usize; 2],
    /// The distance between positions of the window.
    pub stride: [usize; 2],
}

impl Default for ColumnsOptions {
    fn default() -> Self {
        Self {
            dilation: [1; 2],
            padding: [0; 2],
            stride: [1; 2],
        }
    }
}

/// Options of `pad_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PadOptions {
    /// The kind of padding.
    pub mode: PadMode,
    /// The number of a constant padding.
    pub value: Scalar,
}

impl Default for PadOptions {
    fn default() -> Self {
        Self {
            mode: PadMode::Constant,
            value: Scalar::Int(0),
        }
    }
}

/// Options of `interpolate_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterpolateOptions {
    /// The interpolation between elements.
    pub mode: InterpolateMode,
    /// Whether the centres of the first and last elements stay in place, instead of their outer
    /// edges.
    pub align_corners: bool,
    /// Whether a linear or cubic mode averages over all elements of a reduced area, so that fine
    /// patterns do not alias.
    pub antialias: bool,
}
