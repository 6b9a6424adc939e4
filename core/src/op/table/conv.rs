//! Windows that slide along dims: convolution, pooling, padding, resampling.

use crate::op::Class::{View, Window};
use crate::op::DTypeRule::{NoPromotion, Same};
use crate::op::Grad::Parts;
use crate::op::NameRule::{Keeps, Special};
use crate::op::{DTypes, Row, Spread};

const CONV: &str = "self, weight, bias: Tensor = None, stride: Sizes = 1, padding: Sizes = 0, \
 dilation: Sizes = 1, groups: Int = 1";
const TRANSPOSED: &str = "self, weight, bias: Tensor = None, stride: Sizes = 1, padding: Sizes = 0, \
 output_padding: Sizes = 0, groups: Int = 1, dilation: Sizes = 1";
const MAX: &str = "self, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0, dilation: \
 Sizes = 1, ceil_mode: Bool = False, return_indices: Bool = False";
const AVG1: &str = "self, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0, \
 ceil_mode: Bool = False, count_include_pad: Bool = True";
const AVG: &str = "self, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0, \
 ceil_mode: Bool = False, count_include_pad: Bool = True, divisor_override: \
 Int = None";
const LP: &str = "self, norm_type: Scalar, kernel_size: Sizes, stride: Sizes = None, ceil_mode: \
 Bool = False";
const UNPOOL: &str = "self, indices, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0, \
 output_size: Sizes = None";
const BY_NAME: &str = "also takes dims by name";

const fn conv(name: &'static str, doc: &'static str) -> Row {
    Row::new(name, CONV, Window, Special, doc)
        .dtype(NoPromotion, DTypes::NUMBERS)
        .differs(
            "also takes the channel and spatial dims by name; the result has the weight's \
             channel name",
        )
}

const fn transposed(name: &'static str, doc: &'static str) -> Row {
    conv(name, doc).signature(TRANSPOSED)
}

const fn pool(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Window, Keeps, doc)
        .dtype(Same, DTypes::FLOATS)
        .differs(BY_NAME)
}

const fn max(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    pool(name, signature, doc).dtype(Same, DTypes::ORDERED)
}

const fn avg(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    pool(name, signature, doc).dtype(Same, DTypes::ORDERED)
}

pub(super) const ROWS: &[Row] = &[
    conv("conv1d", "Convolves along one dim and sums over channels."),
    conv("conv2d", "Convolves along two dims and sums over channels."),
    conv(
        "conv3d",
        "Convolves along three dims and sums over channels.",
    ),
    transposed(
        "conv_transpose1d",
        "Computes the transpose of `conv1d`: each element adds a scaled kernel to the \
         result.",
    ),
    transposed(
        "conv_transpose2d",
        "Computes the transpose of `conv2d`: each element adds a scaled kernel to the \
         result.",
    ),
    transposed(
        "conv_transpose3d",
        "Computes the transpose of `conv3d`: each element adds a scaled kernel to the \
         result.",
    ),
    max(
        "max_pool1d",
        MAX,
        "Computes the maximum of each window along one dim.",
    ),
    max(
        "max_pool2d",
        MAX,
        "Computes the maximum of each window along two dims.",
    ),
    max(
        "max_pool3d",
        MAX,
        "Computes the maximum of each window along three dims.",
    ),
    avg(
        "avg_pool1d",
        AVG1,
        "Computes the mean of each window along one dim.",
    ),
    avg(
        "avg_pool2d",
        AVG,
        "Computes the mean of each window along two dims.",
    ),
    avg(
        "avg_pool3d",
        AVG,
        "Computes the mean of each window along three dims.",
    ),
    pool(
        "lp_pool1d",
        LP,
        "Computes the p-norm of each window along one dim.",
    )
    .grad(Parts),
    pool(
        "lp_pool2d",
        LP,
        "Computes the p-norm of each window along two dims.",
    )
    .grad(Parts),
    pool(
        "lp_pool3d",
        LP,
        "Computes the p-norm of each window along three dims.",
    )
    .grad(Parts),
    pool(
        "adaptive_avg_pool1d",
        "self, output_size: Sizes",
        "Divides a dim into `output_size` nearly equal parts and computes the mean of \
         each part.",
    ),
    pool(
        "adaptive_avg_pool2d",
        "self, output_size: Sizes",
        "Divides two dims into `output_size` nearly equal parts and computes the mean \
         of each part.",
    ),
    pool(
        "adaptive_avg_pool3d",
        "self, output_size: Sizes",
        "Divides three dims into `output_size` nearly equal parts and computes the \
         mean of each part.",
    ),
    max(
        "adaptive_max_pool1d",
        "self, output_size: Sizes, return_indices: Bool = False",
        "Divides a dim into `output_size` nearly equal parts and computes the maximum \
         of each part.",
    ),
    max(
        "adaptive_max_pool2d",
        "self, output_size: Sizes, return_indices: Bool = False",
        "Divides two dims into `output_size` nearly equal parts and computes the \
         maximum of each part.",
    ),
    max(
        "adaptive_max_pool3d",
        "self, output_size: Sizes, return_indices: Bool = False",
        "Divides three dims into `output_size` nearly equal parts and computes the \
         maximum of each part.",
    ),
    pool(
        "max_unpool1d",
        UNPOOL,
        "Writes the elements of `max_pool1d` back at their indices, with zeros \
         elsewhere.",
    ),
    pool(
        "max_unpool2d",
        UNPOOL,
        "Writes the elements of `max_pool2d` back at their indices, with zeros \
         elsewhere.",
    ),
    pool(
        "max_unpool3d",
        UNPOOL,
        "Writes the elements of `max_pool3d` back at their indices, with zeros \
         elsewhere.",
    ),
    Row::new(
        "pad",
        "self, pad: Sizes, mode: Str = constant, value: Scalar = None",
        Window,
        Keeps,
        "Pads dims before and after: with a number, or with their own elements \
         reflected, replicated or repeated cyclically. A negative count crops.",
    )
    .differs("also takes dims by name; every mode pads any number of dims")
    .spread(Spread::Along),
    Row::new(
        "constant_pad_nd",
        "self, pad: Sizes, value: Scalar = 0",
        Window,
        Keeps,
        "Pads the last dims before and after with one number.",
    )
    .spread(Spread::Along),
    Row::new(
        "interpolate",
        "self, size: Sizes = None, scale_factor: Scalar = None, mode: Str = nearest, \
         align_corners: Bool = None, recompute_scale_factor: Bool = None, antialias: \
         Bool = False",
        Window,
        Keeps,
        "Resamples dims to other sizes by nearest, linear, cubic or area interpolation.",
    )
    .dtype(Same, DTypes::ALL)
    .aliases(&["upsample"])
    .differs(
        "also takes dims by name; only nearest for dtypes other than floats; no \
         antialiasing; nearest computes positions exactly, where PyTorch rounds the \
         quotient of sizes to f32",
    ),
    Row::new(
        "im2col",
        "self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: \
         Sizes = 1",
        Window,
        Special,
        "Copies the elements at each position of a window into a column; \
         `torch.nn.functional.unfold`.",
    )
    .spread(Spread::Part),
    Row::new(
        "fold",
        "self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: \
         Sizes = 0, stride: Sizes = 1",
        Window,
        Special,
        "Adds columns to the elements at the positions of their windows: the transpose \
         of `im2col`.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .aliases(&["col2im"])
    .spread(Spread::Part),
    Row::new(
        "pixel_shuffle",
        "self, upscale_factor: Int",
        View,
        Keeps,
        "Turns channels into pixels: `(C * r * r, H, W)` to `(C, H * r, W * r)`.",
    )
    .differs(BY_NAME)
    .spread(Spread::Rearrange),
    Row::new(
        "pixel_unshuffle",
        "self, downscale_factor: Int",
        View,
        Keeps,
        "Turns pixels into channels: `(C, H * r, W * r)` to `(C * r * r, H, W)`.",
    )
    .differs(BY_NAME)
    .spread(Spread::Rearrange),
    Row::new(
        "channel_shuffle",
        "self, groups: Int",
        View,
        Keeps,
        "Interleaves the channels of groups.",
    )
    .differs(BY_NAME)
    .spread(Spread::Rearrange),
];
