//! Optional arguments of what slides along `S` dims.

use nomina_core::Scalar;

use crate::call::{InterpolateMode, PadMode};

/// Zeros around a convolution's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding<const S: usize> {
    /// So many before and after each dim; PyTorch's `valid` is none.
    Zeros([usize; S]),
    /// As many as keep the sizes, with a stride of 1.
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

/// Options of `conv1d_with`, `conv2d_with` and `conv3d_with`; one number for each spatial dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvOptions<const S: usize> {
    /// From one position of the kernel to the next.
    pub stride: [usize; S],
    /// Zeros around the input.
    pub padding: Padding<S>,
    /// From one element under the kernel to the next.
    pub dilation: [usize; S],
    /// Into how many groups channels fall, each with kernels of its own.
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

/// Options of `conv_transpose1d_with` and the like; one number for each spatial dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvTransposeOptions<const S: usize> {
    /// From one element's kernel in the result to the next.
    pub stride: [usize; S],
    /// How much of the result is cut off before and after.
    pub padding: [usize; S],
    /// How much the result is longer at the end.
    pub output_padding: [usize; S],
    /// Into how many groups channels fall, each with kernels of its own.
    pub groups: usize,
    /// From one element under the kernel to the next.
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

/// Options of `max_pool1d_with` and the like; one number for each dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPoolOptions<const S: usize> {
    /// From one position of the window to the next; none is the window's size.
    pub stride: Option<[usize; S]>,
    /// How far the window reaches beyond the first and the last element.
    pub padding: [usize; S],
    /// From one element under the window to the next.
    pub dilation: [usize; S],
    /// Whether a last window that starts inside counts though it reaches beyond.
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

/// Options of `avg_pool1d_with` and the like; one number for each dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AvgPoolOptions<const S: usize> {
    /// From one position of the window to the next; none is the window's size.
    pub stride: Option<[usize; S]>,
    /// Zeros before the first and after the last element.
    pub padding: [usize; S],
    /// Whether a last window that starts inside counts though it reaches beyond.
    pub ceil_mode: bool,
    /// Whether zeros outside are counted.
    pub count_include_pad: bool,
    /// What sums are divided by, instead of a count.
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

/// Options of `lp_pool1d_with` and the like; one number for each dim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LpPoolOptions<const S: usize> {
    /// From one position of the window to the next; none is the window's size.
    pub stride: Option<[usize; S]>,
    /// Whether a last window that starts inside counts though it reaches beyond.
    pub ceil_mode: bool,
}

/// Options of `im2col_with` and `fold_with`: how the window slides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnsOptions {
    /// From one element under the window to the next.
    pub dilation: [usize; 2],
    /// Zeros before and after.
    pub padding: [usize; 2],
    /// From one position of the window to the next.
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
    /// What a dim is padded with.
    pub mode: PadMode,
    /// The number, where it is one.
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
    /// How an element is made from those around its place.
    pub mode: InterpolateMode,
    /// Whether the first and the last elements, and not the ends of their places, stay where they
    /// are.
    pub align_corners: bool,
    /// Whether a linear or cubic mode, made smaller, takes in all elements of a place, so that fine patterns do
    /// not show as coarse ones.
    pub antialias: bool,
}
