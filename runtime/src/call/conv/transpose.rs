//! Transposed convolutions.

use nomina_core::op::Op;
use nomina_core::{ErrorKind, Result};

use super::convolve::{ConvSites, compute, placed, positive, ready, strides};
use super::{check_count, refuse, too_much_padding};
use crate::call::backend::backend;
use crate::call::{contiguous, to_dtype};
use crate::job::{Sliding, TransposedJob, WindowDims};
use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::record_convolution;

/// The arguments of a transposed convolution; one number for each spatial dim.
#[derive(Clone, Copy, Debug)]
pub struct TransposedArgs<'a> {
    /// The distance between positions.
    pub stride: &'a [usize],
    /// The number of elements cut off before and after.
    pub padding: &'a [usize],
    /// The number of elements added after.
    pub output_padding: &'a [usize],
    /// The number of groups of channels.
    pub groups: usize,
    /// The distance between elements under the kernel.
    pub dilation: &'a [usize],
}

/// Computes the transpose of [`conv`](super::conv): each element adds itself times the kernel to the result.
///
/// # Errors
/// Like [`conv`](super::conv).
pub fn conv_transpose(
    op: Op,
    x: &Raw,
    weight: &Raw,
    bias: Option<&Raw>,
    at: &ConvSites<'_>,
    args: &TransposedArgs<'_>,
) -> Result<Raw> {
    let ready = ready(op, [x, weight], bias, at, args.groups, true)?;
    let windows = transposed_windows(op, [x, weight], at, args)?;
    let input = &ready.x;
    let mut shape = Shape::from_slice(&[input.shape()[0], ready.outs]);
    shape.extend(
        windows[3 - at.spatial.len()..]
            .iter()
            .map(|window| window.size),
    );
    let w = contiguous(&to_dtype(&ready.weight, compute(input))?)?;
    let mut out = Raw::empty(op.name(), &shape, input.dtype(), input.device())?;
    let job = TransposedJob {
        op: op.name(),
        dtype: input.dtype(),
        batch: input.shape()[0],
        groups: args.groups,
        channels: ready.channels,
        outs: ready.outs / args.groups,
        windows,
        x: input.as_ptr(),
        x_strides: strides(input),
        weight: w.as_ptr(),
        bias: ready.bias.as_ref().map(Raw::as_ptr),
        out: out.fresh_ptr(),
    };
    if out.numel() > 0 {
        // SAFETY: as in `conv`.
        unsafe { backend(op.name(), input.device())?.conv_transpose(&job)? };
    }
    let slides = (&windows[..], args.groups);
    let operands = [&ready.x, &ready.weight];
    let out = record_convolution(op, out, operands, ready.bias.as_ref(), slides, true)?;
    placed(&out, &ready.lead, &ready.back)
}

fn transposed_windows(
    op: Op,
    [x, weight]: [&Raw; 2],
    at: &ConvSites<'_>,
    args: &TransposedArgs<'_>,
) -> Result<WindowDims> {
    let count = at.spatial.len();
    check_count(op, x, "stride", args.stride.len(), count)?;
    check_count(op, x, "padding", args.padding.len(), count)?;
    check_count(op, x, "output_padding", args.output_padding.len(), count)?;
    check_count(op, x, "dilation", args.dilation.len(), count)?;
    let mut windows = [Sliding::NONE; 3];
    for i in 0..count {
        let dim = at.spatial[i];
        let (size, kernel) = (x.shape()[dim], weight.shape()[at.kernel[i]]);
        let (stride, dilation) = (args.stride[i], args.dilation[i]);
        positive(op, x, dim, stride, dilation)?;
        let more = args.output_padding[i];
        if more >= stride.max(dilation) {
            let what = format!("an output padding of {more} with a stride of {stride}");
            return Err(refuse(ErrorKind::Argument, op, &[x], what)
                .at(0, dim)
                .hint("it must be below stride or dilation"));
        }
        // In 128 bits nothing of this overflows.
        let wide = |n: usize| n as i128;
        let whole = (wide(size) - 1) * wide(stride) + wide(dilation) * (wide(kernel) - 1) + 1;
        let result = whole - 2 * wide(args.padding[i]) + wide(more);
        let limit = isize::MAX as i128;
        if size > 0 && kernel > 0 && whole.max(result) > limit {
            let what = format!(
                "{size} elements with a `stride` of {stride}, a kernel of {kernel} elements with a `dilation` of \
                 {dilation} and an `output_padding` of {more} make {}, more than a dim can have",
                whole.max(result)
            );
            return Err(refuse(ErrorKind::Argument, op, &[x, weight], what)
                .at(0, dim)
                .hint("reduce the greatest of these numbers"));
        }
        if wide(args.padding[i]) > limit / 4 {
            return Err(too_much_padding(op, &[x, weight], size, args.padding[i]).at(0, dim));
        }
        if size == 0 || kernel == 0 || result <= 0 {
            let what = format!("{size} elements and a kernel of {kernel} give a size of {result}");
            return Err(refuse(ErrorKind::Shape, op, &[x, weight], what)
                .at(0, dim)
                .hint("use less padding, or a larger kernel"));
        }
        windows[3 - count + i] = Sliding {
            size: result as usize,
            kernel,
            stride,
            before: args.padding[i],
            dilation,
            out: size,
        };
    }
    Ok(windows)
}
