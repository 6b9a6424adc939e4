//! Windows that slide along dims: convolution, pooling, padding, resampling.

use crate::op::Class::{View, Window};
use crate::op::DTypeRule::{NoPromotion, Same};
use crate::op::Grad::{Lines, Parts};
use crate::op::NameRule::{Keeps, Special};
use crate::op::{DTypes, Row, Spread};

const CONV: &str = "self, weight, bias: Tensor = None, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1, groups: Int = 1";
const TRANSPOSED: &str = "self, weight, bias: Tensor = None, stride: Sizes = 1, padding: Sizes = 0, output_padding: Sizes = 0, groups: Int = 1, dilation: Sizes = 1";
const MAX: &str = "self, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0, dilation: Sizes = 1, ceil_mode: Bool = False, return_indices: Bool = False";
const AVG1: &str = "self, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0, ceil_mode: Bool = False, count_include_pad: Bool = True";
const AVG: &str = "self, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0, ceil_mode: Bool = False, count_include_pad: Bool = True, divisor_override: Int = None";
const LP: &str =
    "self, norm_type: Scalar, kernel_size: Sizes, stride: Sizes = None, ceil_mode: Bool = False";
const UNPOOL: &str = "self, indices, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0, output_size: Sizes = None";
const BY_NAME: &str = "by named dims too";

const fn conv(name: &'static str, doc: &'static str) -> Row {
    Row::new(name, CONV, Window, Special, doc)
        .dtype(NoPromotion, DTypes::NUMBERS)
        .differs("channel and spatial dims by name too; the result has the weight's channel name")
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
    conv("conv1d", "Slides a kernel along one dim and sums over channels.").grad(Lines(&[("self", "rule::conv(grad, self, weight, bias, 0)"), ("weight", "rule::conv(grad, self, weight, bias, 1)"), ("bias", "rule::conv(grad, self, weight, bias, 2)")])).spread(Spread::Window),
    conv("conv2d", "Slides a kernel along two dims and sums over channels.").grad(Lines(&[("self", "rule::conv(grad, self, weight, bias, 0)"), ("weight", "rule::conv(grad, self, weight, bias, 1)"), ("bias", "rule::conv(grad, self, weight, bias, 2)")])).spread(Spread::Window),
    conv("conv3d", "Slides a kernel along three dims and sums over channels.").grad(Lines(&[("self", "rule::conv(grad, self, weight, bias, 0)"), ("weight", "rule::conv(grad, self, weight, bias, 1)"), ("bias", "rule::conv(grad, self, weight, bias, 2)")])).spread(Spread::Window),
    transposed("conv_transpose1d", "The transpose of `conv1d`: each element adds a kernel to the result.").grad(Lines(&[("self", "rule::conv(grad, self, weight, bias, 0)"), ("weight", "rule::conv(grad, self, weight, bias, 1)"), ("bias", "rule::conv(grad, self, weight, bias, 2)")])).spread(Spread::Window),
    transposed("conv_transpose2d", "The transpose of `conv2d`: each element adds a kernel to the result.").grad(Lines(&[("self", "rule::conv(grad, self, weight, bias, 0)"), ("weight", "rule::conv(grad, self, weight, bias, 1)"), ("bias", "rule::conv(grad, self, weight, bias, 2)")])).spread(Spread::Window),
    transposed("conv_transpose3d", "The transpose of `conv3d`: each element adds a kernel to the result.").grad(Lines(&[("self", "rule::conv(grad, self, weight, bias, 0)"), ("weight", "rule::conv(grad, self, weight, bias, 1)"), ("bias", "rule::conv(grad, self, weight, bias, 2)")])).spread(Spread::Window),
    max("max_pool1d", MAX, "The greatest element under a window along one dim.").grad(Lines(&[("self", "rule::max_pool(grad, self)")])).spread(Spread::Window),
    max("max_pool2d", MAX, "The greatest element under a window along two dims.").grad(Lines(&[("self", "rule::max_pool(grad, self)")])).spread(Spread::Window),
    max("max_pool3d", MAX, "The greatest element under a window along three dims.").grad(Lines(&[("self", "rule::max_pool(grad, self)")])).spread(Spread::Window),
    avg("avg_pool1d", AVG1, "The mean under a window along one dim.").grad(Lines(&[("self", "rule::avg_pool(grad, self)")])).spread(Spread::Window),
    avg("avg_pool2d", AVG, "The mean under a window along two dims.").grad(Lines(&[("self", "rule::avg_pool(grad, self)")])).spread(Spread::Window),
    avg("avg_pool3d", AVG, "The mean under a window along three dims.").grad(Lines(&[("self", "rule::avg_pool(grad, self)")])).spread(Spread::Window),
    pool("lp_pool1d", LP, "The p-norm under a window along one dim.").grad(Parts).spread(Spread::Window),
    pool("lp_pool2d", LP, "The p-norm under a window along two dims.").grad(Parts).spread(Spread::Window),
    pool("lp_pool3d", LP, "The p-norm under a window along three dims.").grad(Parts).spread(Spread::Window),
    pool("adaptive_avg_pool1d", "self, output_size: Sizes", "The means of a dim's equal parts, as many as asked for.").grad(Lines(&[("self", "rule::avg_pool(grad, self)")])).spread(Spread::Window),
    pool("adaptive_avg_pool2d", "self, output_size: Sizes", "The means of equal parts of two dims, as many as asked for.").grad(Lines(&[("self", "rule::avg_pool(grad, self)")])).spread(Spread::Window),
    pool("adaptive_avg_pool3d", "self, output_size: Sizes", "The means of equal parts of three dims, as many as asked for.").grad(Lines(&[("self", "rule::avg_pool(grad, self)")])).spread(Spread::Window),
    max("adaptive_max_pool1d", "self, output_size: Sizes, return_indices: Bool = False", "The greatest elements of a dim's equal parts, as many as asked for.").grad(Lines(&[("self", "rule::max_pool(grad, self)")])).spread(Spread::Window),
    max("adaptive_max_pool2d", "self, output_size: Sizes, return_indices: Bool = False", "The greatest elements of equal parts of two dims, as many as asked for.").grad(Lines(&[("self", "rule::max_pool(grad, self)")])).spread(Spread::Window),
    max("adaptive_max_pool3d", "self, output_size: Sizes, return_indices: Bool = False", "The greatest elements of equal parts of three dims, as many as asked for.").grad(Lines(&[("self", "rule::max_pool(grad, self)")])).spread(Spread::Window),
    pool("max_unpool1d", UNPOOL, "Puts the elements of `max_pool1d` back at their indices, zeros elsewhere.").grad(Lines(&[("self", "rule::unpool(grad, indices)")])).spread(Spread::Window),
    pool("max_unpool2d", UNPOOL, "Puts the elements of `max_pool2d` back at their indices, zeros elsewhere.").grad(Lines(&[("self", "rule::unpool(grad, indices)")])).spread(Spread::Window),
    pool("max_unpool3d", UNPOOL, "Puts the elements of `max_pool3d` back at their indices, zeros elsewhere.").grad(Lines(&[("self", "rule::unpool(grad, indices)")])).spread(Spread::Window),
    Row::new(
        "pad",
        "self, pad: Sizes, mode: Str = constant, value: Scalar = None",
        Window,
        Keeps,
        "Padding before and after dims: by a number, or by the dim's own elements, reflected, replicated or circular; a negative count crops.",
    )
    .grad(Lines(&[("self", "rule::pad(grad, self)")])).differs("by named dims too; every mode pads any number of dims").spread(Spread::Along),
    Row::new(
        "constant_pad_nd",
        "self, pad: Sizes, value: Scalar = 0",
        Window,
        Keeps,
        "Padding with one number before and after the last dims.",
    ).grad(Lines(&[("self", "rule::pad(grad, self)")])).spread(Spread::Along),
    Row::new(
        "interpolate",
        "self, size: Sizes = None, scale_factor: Scalar = None, mode: Str = nearest, align_corners: Bool = None, recompute_scale_factor: Bool = None, antialias: Bool = False",
        Window,
        Keeps,
        "Resamples dims to other sizes: nearest, linear, cubic, or area.",
    )
    .dtype(Same, DTypes::ALL)
    .aliases(&["upsample"])
    .grad(Lines(&[("self", "rule::interpolate(grad, self)")])).differs("by named dims too; dtypes other than floats by the nearest element alone; no antialias; the nearest element by exact arithmetic, where PyTorch rounds the quotient of sizes to f32").spread(Spread::Window),
    Row::new(
        "im2col",
        "self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1",
        Window,
        Special,
        "The elements under each position of a window, as columns; `torch.nn.functional.unfold`.",
    ).grad(Lines(&[("self", "rule::im2col(grad, self)")])).spread(Spread::Part),
    Row::new(
        "fold",
        "self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1",
        Window,
        Special,
        "Adds columns up where their windows lie: the transpose of `im2col`.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .aliases(&["col2im"]).grad(Lines(&[("self", "im2col(grad, kernel_size, dilation, padding, stride)")])).spread(Spread::Part),
    Row::new(
        "pixel_shuffle",
        "self, upscale_factor: Int",
        View,
        Keeps,
        "Channels become pixels: `(C * r * r, H, W)` to `(C, H * r, W * r)`.",
    )
    .differs(BY_NAME).spread(Spread::Rearrange),
    Row::new(
        "pixel_unshuffle",
        "self, downscale_factor: Int",
        View,
        Keeps,
        "Pixels become channels: `(C, H * r, W * r)` to `(C * r * r, H, W)`.",
    )
    .differs(BY_NAME).spread(Spread::Rearrange),
    Row::new(
        "channel_shuffle",
        "self, groups: Int",
        View,
        Keeps,
        "Interleaves the channels of groups.",
    )
    .differs(BY_NAME).spread(Spread::Rearrange),
];
