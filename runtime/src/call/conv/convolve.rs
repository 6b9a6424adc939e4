//! Convolutions.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use super::prepared::{ConvAfter, ConvWeight, PreparedWeight, check_plus};
use super::{
    check_count, check_dims, inverse, order, padded_size, refuse, three, too_long_kernel,
    too_much_padding,
};
use crate::call::backend::backend;
use crate::call::{Arg, contiguous, pointwise_owned, to_dtype};
use crate::dispatch::arithmetic;
use crate::job::{ConvJob, FinalOp, Residual, Sliding, WindowDims, is_direct};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::{Shape, count, numel, scaled_stride};
use crate::tape::record_convolution;

/// The positions of the dims.
#[derive(Clone, Copy, Debug)]
pub struct ConvSites<'a> {
    /// The input's dim of channels.
    pub channel: usize,
    /// The spatial dims, outermost first.
    pub spatial: &'a [usize],
    /// The weight's dim of output channels.
    pub out: usize,
    /// The weight's dim that matches the input's channels.
    pub weight_channel: usize,
    /// The weight's other dims, one for each spatial dim.
    pub kernel: &'a [usize],
}

/// The arguments of a convolution; one number for each spatial dim.
#[derive(Clone, Copy, Debug)]
pub struct ConvArgs<'a> {
    /// The distance between positions.
    pub stride: &'a [usize],
    /// Zeros before and after; `None` keeps the sizes.
    pub padding: Option<&'a [usize]>,
    /// The distance between elements under the kernel.
    pub dilation: &'a [usize],
    /// The number of groups of channels.
    pub groups: usize,
}

/// The checked operands, with their dims in one order.
pub(super) struct Ready {
    /// Batch, channels, spatial dims.
    pub x: Raw,
    /// Output channels and channels, in the operator's order, then the kernel.
    pub weight: Raw,
    pub bias: Option<Raw>,
    /// The sizes of the batch dims.
    pub lead: Shape,
    /// The permutation that restores the result's dims.
    pub back: Shape,
    /// The channels of a group, and the output channels.
    pub channels: usize,
    pub outs: usize,
}

pub(super) fn ready(
    op: Op,
    [x, weight]: [&Raw; 2],
    bias: Option<&Raw>,
    at: &ConvSites<'_>,
    groups: usize,
    transposed: bool,
) -> Result<Ready> {
    let both = [x, weight];
    check_dims(op, x, at.spatial)?;
    let count = at.spatial.len();
    let all = [&[at.out, at.weight_channel], at.kernel].concat();
    if at.channel >= x.rank() || at.spatial.contains(&at.channel) || all.len() != count + 2 {
        let what = "channel and kernel dims do not fit input and weight";
        return Err(refuse(ErrorKind::Rank, op, &both, what)
            .hint("a weight has output channels, input channels, and a dim per spatial dim"));
    }
    op.row().check_dtype(x.dtype())?;
    for other in both.into_iter().chain(bias) {
        if other.dtype() != x.dtype() {
            let what = format!("dtypes {} and {} differ", x.dtype(), other.dtype());
            return Err(refuse(ErrorKind::DType, op, &both, what)
                .hint("convert one with `to`: convolutions do not promote"));
        }
        if other.device() != x.device() {
            let what = format!("operands are on `{}` and `{}`", x.device(), other.device());
            return Err(
                refuse(ErrorKind::Device, op, &both, what).hint("move one with `to_device`")
            );
        }
    }
    let last = [&[at.channel], at.spatial].concat();
    let moved = order(x.rank(), &last);
    let permuted = x.permute(&moved)?;
    let lead = Shape::from_slice(&permuted.shape()[..x.rank() - count - 1]);
    let mut shape = Shape::from_elem(numel(op.name(), &lead)?, 1);
    shape.extend_from_slice(&permuted.shape()[lead.len()..]);
    let flat = permuted.reshape(&shape)?;
    let weight_order = if transposed {
        [&[at.weight_channel, at.out], at.kernel].concat()
    } else {
        all
    };
    let w = weight.permute(&weight_order)?;
    let (given, met) = (x.shape()[at.channel], weight.shape()[at.weight_channel]);
    let outs = weight.shape()[at.out];
    // A transposed weight has all input channels, and the output channels of one group.
    let (want, all_outs) = if transposed {
        (Some(met), outs.checked_mul(groups))
    } else {
        (met.checked_mul(groups), Some(outs))
    };
    let splits = groups != 0 && given % groups == 0 && outs_split(outs, groups, transposed);
    if want != Some(given) || !splits || all_outs.is_none() {
        if groups == 1 {
            let dims = [(0, at.channel), (1, at.weight_channel)];
            return Err(
                Error::sizes(op.name(), both.iter().map(|x| x.shape()), dims)
                    .hint("the channels must be equal"),
            );
        }
        let what = format!(
            "{given} channels in {groups} groups do not fit a weight for {met} channels of a group and {outs} output \
             channels"
        );
        return Err(refuse(ErrorKind::Shape, op, &both, what)
            .at(0, at.channel)
            .hint("groups must divide both; the weight has the channels of one group"));
    }
    let outs = all_outs.unwrap_or(0);
    if let Some(bias) = bias
        && bias.shape() != [outs]
    {
        let what = format!(
            "a bias of sizes {:?} for {outs} output channels",
            bias.shape()
        );
        return Err(refuse(ErrorKind::Shape, op, &both, what)
            .hint("a bias has one number for each output channel"));
    }
    let compute = compute(x);
    let bias = bias
        .map(|bias| contiguous(&to_dtype(bias, compute)?))
        .transpose()?;
    Ok(Ready {
        x: flat,
        weight: w,
        bias,
        lead,
        back: inverse(&moved),
        channels: given / groups,
        outs,
    })
}

/// Returns the dtype of weights and biases in a job: on the host, that of the arithmetic.
pub(super) fn compute(x: &Raw) -> DType {
    if x.device().is_cpu() {
        arithmetic(x.dtype())
    } else {
        x.dtype()
    }
}

fn outs_split(outs: usize, groups: usize, transposed: bool) -> bool {
    transposed || outs.is_multiple_of(groups)
}

/// Restores the dim order of the input in a result of `[batch, channels, spatial..]`.
pub(super) fn placed(out: &Raw, lead: &[usize], back: &[usize]) -> Result<Raw> {
    let mut shape = Shape::from_slice(lead);
    shape.extend_from_slice(&out.shape()[1..]);
    out.reshape(&shape)?.permute(back)
}

/// Convolves a kernel along dims and sums over channels.
///
/// # Errors
/// If dtypes differ, sizes do not fit, or memory is missing.
pub fn conv(
    op: Op,
    x: &Raw,
    weight: &Raw,
    bias: Option<&Raw>,
    at: &ConvSites<'_>,
    args: &ConvArgs<'_>,
) -> Result<Raw> {
    convolved(op, [x, weight], None, bias, at, args, ConvAfter::default())
}

/// Like [`conv`], with a weight that may be prepared, and followed by a sum and an operator if there are any, which on the
/// host are computed while the convolution's own sums are cached.
///
/// # Errors
/// Like [`conv`]; also if the operator does not take the dtype, or if the sizes of the added tensor differ from the result's.
pub fn conv_then(
    op: Op,
    x: &Raw,
    weight: ConvWeight<'_>,
    bias: Option<&Raw>,
    at: &ConvSites<'_>,
    args: &ConvArgs<'_>,
    after: ConvAfter<'_>,
) -> Result<Raw> {
    let (weight, prepared) = match weight {
        ConvWeight::Once(weight) => (weight, None),
        ConvWeight::Prepared(prepared) => (&prepared.weight, Some(prepared)),
    };
    let operands = [Some(x), Some(weight), bias, after.plus];
    let inside = x.device().is_cpu()
        && matches!(x.dtype(), DType::F32 | DType::F64)
        && !is_wanted(operands.into_iter().flatten());
    if inside {
        return convolved(op, [x, weight], prepared, bias, at, args, after);
    }
    let none = ConvAfter::default();
    let mut out = convolved(op, [x, weight], prepared, bias, at, args, none)?;
    if let Some(plus) = after.plus {
        check_plus(op, x, plus, out.shape())?;
        out = pointwise_owned(Op::Add, out, &[Arg::Tensor(plus)])?;
    }
    let Some(after) = after.op else {
        return Ok(out);
    };
    let number = after.number.map(|number| Arg::Scalar(number.into()));
    pointwise_owned(after.op, out, number.as_slice())
}

/// Convolves, and applies the operations of `after`.
fn convolved(
    op: Op,
    [x, weight]: [&Raw; 2],
    prepared: Option<&PreparedWeight>,
    bias: Option<&Raw>,
    at: &ConvSites<'_>,
    args: &ConvArgs<'_>,
    after: ConvAfter<'_>,
) -> Result<Raw> {
    let ready = ready(op, [x, weight], bias, at, args.groups, false)?;
    let windows = windows(op, [x, weight], at, args)?;
    let Ready { x: input, .. } = &ready;
    let (batch, rank) = (input.shape()[0], input.rank());
    let mut shape = Shape::from_slice(&[batch, ready.outs]);
    shape.extend(
        windows[3 - at.spatial.len()..]
            .iter()
            .map(|window| window.out),
    );
    // Innermost channels stay innermost, which also keeps the result's dims in the input's order. On the host, windows of
    // several elements slide over planes of channels: turning the input costs less than reading windows across channels.
    let last = input.strides()[1] == 1 && input.shape()[1] > 1 && !input.is_contiguous();
    let direct = is_direct(
        input.dtype(),
        ready.channels,
        ready.outs / args.groups.max(1),
    );
    let slides = input.device().is_cpu() && !windows.iter().all(Sliding::is_point);
    let (input, last) = if last && (direct || slides) {
        (contiguous(input)?, false)
    } else {
        (input.clone(), last)
    };
    let behind: Shape = [0].into_iter().chain(2..rank).chain([1]).collect();
    let w = to_dtype(&ready.weight, compute(&input))?;
    let w = contiguous(&if last { w.permute(&behind)? } else { w })?;
    let mut out = if last {
        let shape: Shape = behind.iter().map(|&dim| shape[dim]).collect();
        Raw::empty(op.name(), &shape, input.dtype(), input.device())?
    } else {
        Raw::empty(op.name(), &shape, input.dtype(), input.device())?
    };
    let plus = match after.plus {
        Some(plus) => {
            let moved = inverse(&ready.back);
            let sizes = [&ready.lead[..], &shape[1..]].concat();
            let result: Shape = ready.back.iter().map(|&dim| sizes[dim]).collect();
            check_plus(op, x, plus, &result)?;
            let plus = plus.permute(&moved)?.reshape(&shape)?;
            Some(contiguous(&if last {
                plus.permute(&behind)?
            } else {
                plus
            })?)
        }
        None => None,
    };
    let positions = count(&shape[2..]);
    let (outs, place) = (ready.outs as isize, positions as isize);
    let result = out.fresh_ptr();
    let residual = plus.as_ref().map(|plus| Residual {
        first: plus.as_ptr(),
        result,
    });
    let last_op = after.op.or(residual.map(|_| FinalOp::unary(Op::Add)));
    let job = ConvJob {
        op: op.name(),
        dtype: input.dtype(),
        batch,
        groups: args.groups,
        channels: ready.channels,
        outs: ready.outs / args.groups,
        windows,
        x: input.as_ptr(),
        x_strides: strides(&input),
        weight: w.as_ptr(),
        kept: prepared
            .filter(|_| !last)
            .and_then(|all| all.kept(ready.weight.layout(), args.groups)),
        channels_last: last,
        bias: ready.bias.as_ref().map(Raw::as_ptr),
        after: last_op.map(|op| FinalOp {
            plus: residual,
            ..op
        }),
        out: result,
        out_strides: if last {
            [scaled_stride(outs, positions), 1, outs]
        } else {
            [scaled_stride(outs, positions), place, 1]
        },
    };
    if out.numel() > 0 {
        // SAFETY: sizes were checked; the operands are on one device and outlive the call, and the result is fresh and
        // dense with its strides.
        unsafe { backend(op.name(), input.device())?.conv(&job)? };
    }
    let out = if last {
        out.permute(&inverse(&behind))?
    } else {
        out
    };
    let operands = [&ready.x, &ready.weight];
    let slides = (&windows[..], args.groups);
    let out = record_convolution(op, out, operands, ready.bias.as_ref(), slides, false)?;
    placed(&out, &ready.lead, &ready.back)
}

/// Returns the strides of batch and channels, and of three spatial dims.
pub(in crate::call) fn strides(x: &Raw) -> [isize; 5] {
    let strides = x.strides();
    let spatial = three(0, &strides[2..]);
    [strides[0], strides[1], spatial[0], spatial[1], spatial[2]]
}

fn windows(
    op: Op,
    [x, weight]: [&Raw; 2],
    at: &ConvSites<'_>,
    args: &ConvArgs<'_>,
) -> Result<WindowDims> {
    let count = at.spatial.len();
    check_count(op, x, "stride", args.stride.len(), count)?;
    check_count(op, x, "dilation", args.dilation.len(), count)?;
    if let Some(padding) = args.padding {
        check_count(op, x, "padding", padding.len(), count)?;
    }
    let mut windows = [Sliding::NONE; 3];
    for i in 0..count {
        let dim = at.spatial[i];
        let (size, kernel) = (x.shape()[dim], weight.shape()[at.kernel[i]]);
        let (stride, dilation) = (args.stride[i], args.dilation[i]);
        positive(op, x, dim, stride, dilation)?;
        let fail = |what: String| {
            refuse(ErrorKind::Shape, op, &[x, weight], what)
                .at(0, dim)
                .hint("pad more, or use a smaller kernel or dilation")
        };
        if kernel == 0 {
            return Err(fail("an empty kernel".to_owned()));
        }
        let Some(reach) = Sliding::reach(kernel, dilation) else {
            return Err(too_long_kernel(op, &[x, weight], kernel, dilation).at(0, dim));
        };
        let (before, after) = match args.padding {
            Some(padding) => (padding[i], padding[i]),
            None if stride != 1 => {
                let what = format!("`same` padding does not support a stride of {stride}");
                return Err(refuse(ErrorKind::Argument, op, &[x], what)
                    .at(0, dim)
                    .hint("give the padding, or use a stride of 1"));
            }
            None => ((reach - 1) / 2, reach - 1 - (reach - 1) / 2),
        };
        let Some(padded) = padded_size(size, before, after) else {
            return Err(too_much_padding(op, &[x, weight], size, before).at(0, dim));
        };
        let Some(free) = padded.checked_sub(reach) else {
            return Err(fail(format!(
                "the kernel spans {reach} elements, but there are {size} with a padding of {before}"
            )));
        };
        windows[3 - count + i] = Sliding {
            size,
            kernel,
            stride,
            before,
            dilation,
            out: free / stride + 1,
        };
    }
    Ok(windows)
}

pub(super) fn positive(op: Op, x: &Raw, dim: usize, stride: usize, dilation: usize) -> Result<()> {
    if stride != 0 && dilation != 0 {
        return Ok(());
    }
    let what = format!("a stride of {stride} and a dilation of {dilation}");
    Err(refuse(ErrorKind::Argument, op, &[x], what)
        .at(0, dim)
        .hint("both are 1 or more"))
}
