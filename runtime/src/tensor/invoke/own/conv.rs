//! Windows that slide along dims: convolution, pooling, padding, resampling.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result, Scalar};

use super::{pure, value};
use crate::call::{AvgArgs, Columns, ConvArgs, InterpolateMode, MaxArgs, PadMode, TransposedArgs};
use crate::job::Resize;
use crate::tensor::conv::{
    InterpolateOptions, PadOptions, adaptive, adaptive_places, averaged, convolved, greatest,
    greatest_places, norm, pairs, transposed, unpooled, unpooled_size,
};
use crate::tensor::generated::own::Conv;
use crate::tensor::invoke::Form;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::{Value, wrong};
use crate::tensor::{DynTensor, about};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Conv, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        Conv::Conv1d => pure(op, form, args, |a| conv(op, a, 1)),
        Conv::Conv2d => pure(op, form, args, |a| conv(op, a, 2)),
        Conv::Conv3d => pure(op, form, args, |a| conv(op, a, 3)),
        Conv::ConvTranspose1d => pure(op, form, args, |a| conv_transpose(op, a, 1)),
        Conv::ConvTranspose2d => pure(op, form, args, |a| conv_transpose(op, a, 2)),
        Conv::ConvTranspose3d => pure(op, form, args, |a| conv_transpose(op, a, 3)),
        Conv::MaxPool1d => value(op, form, args, |a| max_pool(op, a, 1)),
        Conv::MaxPool2d => value(op, form, args, |a| max_pool(op, a, 2)),
        Conv::MaxPool3d => value(op, form, args, |a| max_pool(op, a, 3)),
        Conv::AvgPool1d => pure(op, form, args, |a| avg_pool(op, a, 1)),
        Conv::AvgPool2d => pure(op, form, args, |a| avg_pool(op, a, 2)),
        Conv::AvgPool3d => pure(op, form, args, |a| avg_pool(op, a, 3)),
        Conv::LpPool1d => pure(op, form, args, |a| lp_pool(op, a, 1)),
        Conv::LpPool2d => pure(op, form, args, |a| lp_pool(op, a, 2)),
        Conv::LpPool3d => pure(op, form, args, |a| lp_pool(op, a, 3)),
        Conv::AdaptiveAvgPool1d => pure(op, form, args, |a| adaptive_avg(op, a, 1)),
        Conv::AdaptiveAvgPool2d => pure(op, form, args, |a| adaptive_avg(op, a, 2)),
        Conv::AdaptiveAvgPool3d => pure(op, form, args, |a| adaptive_avg(op, a, 3)),
        Conv::AdaptiveMaxPool1d => value(op, form, args, |a| adaptive_max(op, a, 1)),
        Conv::AdaptiveMaxPool2d => value(op, form, args, |a| adaptive_max(op, a, 2)),
        Conv::AdaptiveMaxPool3d => value(op, form, args, |a| adaptive_max(op, a, 3)),
        Conv::MaxUnpool1d => pure(op, form, args, |a| max_unpool(op, a, 1)),
        Conv::MaxUnpool2d => pure(op, form, args, |a| max_unpool(op, a, 2)),
        Conv::MaxUnpool3d => pure(op, form, args, |a| max_unpool(op, a, 3)),
        Conv::Pad => pure(op, form, args, |a| {
            let mode = match word(a, "mode")?.unwrap_or("constant") {
                "constant" => PadMode::Constant,
                "reflect" => PadMode::Reflect,
                "replicate" => PadMode::Replicate,
                "circular" => PadMode::Circular,
                other => return Err(no_mode(op, other)),
            };
            pad(op, a, mode)
        }),
        Conv::ConstantPadNd => pure(op, form, args, |a| pad(op, a, PadMode::Constant)),
        Conv::Interpolate => pure(op, form, args, interpolate),
        Conv::Im2col => pure(op, form, args, |a| {
            let kernel = counts(op, a, "kernel_size", 2, None)?;
            let [dilation, padding, stride] = columns(op, a)?;
            a.tensor("self")?.lowered(&Columns {
                kernel: &kernel,
                dilation: &dilation,
                padding: &padding,
                stride: &stride,
            })
        }),
        Conv::Fold => pure(op, form, args, |a| {
            let kernel = counts(op, a, "kernel_size", 2, None)?;
            let sizes = counts(op, a, "output_size", 2, None)?;
            let [dilation, padding, stride] = columns(op, a)?;
            a.tensor("self")?.folded(
                &sizes,
                &Columns {
                    kernel: &kernel,
                    dilation: &dilation,
                    padding: &padding,
                    stride: &stride,
                },
            )
        }),
        Conv::PixelShuffle => pure(op, form, args, |a| {
            a.tensor("self")?
                .pixel_shuffle(count(op, a, "upscale_factor", 1)?)
        }),
        Conv::PixelUnshuffle => pure(op, form, args, |a| {
            a.tensor("self")?
                .pixel_unshuffle(count(op, a, "downscale_factor", 1)?)
        }),
        Conv::ChannelShuffle => pure(op, form, args, |a| {
            a.tensor("self")?
                .channel_shuffle(count(op, a, "groups", 1)?)
        }),
    }
}

/// A number that is not negative.
fn natural(op: Op, param: &str, number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|_| {
        let what = format!("`{param}` is {number}");
        Error::new(ErrorKind::Argument, op.name(), what).hint("give a number from 0 on")
    })
}

fn count(op: Op, args: &Bound, param: &str, default: i64) -> Result<usize> {
    natural(op, param, args.int(param, default)?)
}

/// One number for each of `dims` dims: a list, or one for all.
fn counts(
    op: Op,
    args: &Bound,
    param: &str,
    dims: usize,
    default: Option<&[usize]>,
) -> Result<Vec<usize>> {
    let given = args.given(param).filter(|value| {
        // PyTorch's empty list is the default.
        !(default.is_some() && matches!(value, Value::List(items) if items.is_empty()))
    });
    if let (None, Some(default)) = (given, default) {
        return Ok(default.to_vec());
    }
    let each = args.sizes(param)?;
    let each = each.iter().map(|&n| natural(op, param, n));
    let mut each = each.collect::<Result<Vec<_>>>()?;
    if each.len() == 1 {
        each.resize(dims, each[0]);
    }
    Ok(each)
}

fn columns(op: Op, args: &Bound) -> Result<[Vec<usize>; 3]> {
    Ok([
        counts(op, args, "dilation", 2, Some(&[1; 2]))?,
        counts(op, args, "padding", 2, Some(&[0; 2]))?,
        counts(op, args, "stride", 2, Some(&[1; 2]))?,
    ])
}

fn optional<'a>(args: &'a Bound, param: &str) -> Result<Option<&'a DynTensor>> {
    args.given(param).map(|_| args.tensor(param)).transpose()
}

fn word<'a>(args: &'a Bound, param: &str) -> Result<Option<&'a str>> {
    args.name(param)
}

fn no_mode(op: Op, mode: &str) -> Error {
    Error::new(
        ErrorKind::Argument,
        op.name(),
        format!("no mode is called {mode:?}"),
    )
    .hint("spell it as PyTorch does")
}

fn conv(op: Op, args: &Bound, dims: usize) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let (ones, zeros) = ([1; 3], [0; 3]);
    let padding = match args.given("padding") {
        Some(Value::Str(text)) => match text.as_str() {
            "same" => None,
            "valid" => Some(zeros[..dims].to_vec()),
            other => return Err(no_mode(op, other)),
        },
        _ => Some(counts(op, args, "padding", dims, Some(&zeros[..dims]))?),
    };
    let args_ = ConvArgs {
        stride: &counts(op, args, "stride", dims, Some(&ones[..dims]))?,
        padding: padding.as_deref(),
        dilation: &counts(op, args, "dilation", dims, Some(&ones[..dims]))?,
        groups: count(op, args, "groups", 1)?,
    };
    let (weight, bias) = (args.tensor("weight")?, optional(args, "bias")?);
    let sites = x.sites_for(op, dims, weight)?;
    convolved(op, x, &sites, false, weight, bias, &args_)
}

fn conv_transpose(op: Op, args: &Bound, dims: usize) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let (ones, zeros) = ([1; 3], [0; 3]);
    let args_ = TransposedArgs {
        stride: &counts(op, args, "stride", dims, Some(&ones[..dims]))?,
        padding: &counts(op, args, "padding", dims, Some(&zeros[..dims]))?,
        output_padding: &counts(op, args, "output_padding", dims, Some(&zeros[..dims]))?,
        groups: count(op, args, "groups", 1)?,
        dilation: &counts(op, args, "dilation", dims, Some(&ones[..dims]))?,
    };
    let (weight, bias) = (args.tensor("weight")?, optional(args, "bias")?);
    let sites = x.sites_for(op, dims, weight)?;
    transposed(op, x, &sites, false, weight, bias, &args_)
}

fn max_pool(op: Op, args: &Bound, dims: usize) -> Result<Value> {
    let x = args.tensor("self")?;
    let kernel = counts(op, args, "kernel_size", dims, None)?;
    let pool = MaxArgs {
        kernel: &kernel,
        stride: &counts(op, args, "stride", dims, Some(&kernel))?,
        padding: &counts(op, args, "padding", dims, Some(&[0; 3][..dims]))?,
        dilation: &counts(op, args, "dilation", dims, Some(&[1; 3][..dims]))?,
        ceil_mode: args.flag("ceil_mode")?,
    };
    let at = x.sites(op, dims)?.spatial;
    if args.flag("return_indices")? {
        Ok(greatest_places(op, x, &at, &pool)?.into())
    } else {
        Ok(greatest(op, x, &at, &pool)?.into())
    }
}

fn avg_pool(op: Op, args: &Bound, dims: usize) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let kernel = counts(op, args, "kernel_size", dims, None)?;
    let divisor = args
        .given("divisor_override")
        .map(|_| args.int("divisor_override", 0));
    let pool = AvgArgs {
        kernel: &kernel,
        stride: &counts(op, args, "stride", dims, Some(&kernel))?,
        padding: &counts(op, args, "padding", dims, Some(&[0; 3][..dims]))?,
        ceil_mode: args.flag("ceil_mode")?,
        count_include_pad: match args.given("count_include_pad") {
            None => true,
            Some(_) => args.flag("count_include_pad")?,
        },
        divisor_override: divisor.transpose()?,
    };
    averaged(op, x, &x.sites(op, dims)?.spatial, &pool)
}

fn lp_pool(op: Op, args: &Bound, dims: usize) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let kernel = counts(op, args, "kernel_size", dims, None)?;
    let pool = AvgArgs {
        kernel: &kernel,
        stride: &counts(op, args, "stride", dims, Some(&kernel))?,
        padding: &[0; 3][..dims],
        ceil_mode: args.flag("ceil_mode")?,
        count_include_pad: true,
        divisor_override: None,
    };
    let p = args.scalar("norm_type", Scalar::Int(2))?.to_f64();
    norm(op, x, &x.sites(op, dims)?.spatial, p, &pool)
}

/// The sizes of an adaptive pool's result; nothing keeps a dim's size.
fn output_sizes(op: Op, args: &Bound, x: &DynTensor, at: &[usize]) -> Result<Vec<usize>> {
    let Some(Value::List(items)) = args.get("output_size") else {
        return counts(op, args, "output_size", at.len(), None);
    };
    if items.len() == 1 {
        return counts(op, args, "output_size", at.len(), None);
    }
    let each = items.iter().enumerate().map(|(i, item)| match item {
        Value::None => Ok(at.get(i).map_or(0, |&dim| x.shape()[dim])),
        Value::Int(size) => natural(op, "output_size", *size),
        other => Err(wrong(op.name(), "output_size", "sizes", other)),
    });
    each.collect()
}

fn adaptive_avg(op: Op, args: &Bound, dims: usize) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let at = x.sites(op, dims)?.spatial;
    adaptive(op, x, &at, &output_sizes(op, args, x, &at)?, false)
}

fn adaptive_max(op: Op, args: &Bound, dims: usize) -> Result<Value> {
    let x = args.tensor("self")?;
    let at = x.sites(op, dims)?.spatial;
    let sizes = output_sizes(op, args, x, &at)?;
    if args.flag("return_indices")? {
        Ok(adaptive_places(op, x, &at, &sizes)?.into())
    } else {
        Ok(adaptive(op, x, &at, &sizes, true)?.into())
    }
}

fn max_unpool(op: Op, args: &Bound, dims: usize) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let at = x.sites(op, dims)?.spatial;
    let sizes = match args.given("output_size") {
        // Also as the whole shape.
        Some(_) => {
            let all = counts(op, args, "output_size", dims, None)?;
            all[all.len().saturating_sub(dims)..].to_vec()
        }
        None => {
            let kernel = counts(op, args, "kernel_size", dims, None)?;
            let stride = counts(op, args, "stride", dims, Some(&kernel))?;
            let padding = counts(op, args, "padding", dims, Some(&[0; 3][..dims]))?;
            if [&kernel, &stride, &padding]
                .iter()
                .any(|each| each.len() != dims)
            {
                let what = format!("`kernel_size`, `stride` and `padding` for {dims} dims");
                let error = Error::new(ErrorKind::Argument, op.name(), what)
                    .hint("give one number for each dim");
                return Err(about(error, &[x]));
            }
            let each = at.iter().enumerate().map(|(i, &dim)| {
                unpooled_size(op, x.shape()[dim], [kernel[i], stride[i], padding[i]])
            });
            each.collect::<Result<Vec<_>>>()
                .map_err(|e| about(e, &[x]))?
        }
    };
    unpooled(op, x, args.tensor("indices")?, &at, &sizes)
}

fn pad(op: Op, args: &Bound, mode: PadMode) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let value = args.scalar("value", Scalar::Int(0))?;
    let (dims, pairs) = pairs(op, x, &args.sizes("pad")?)?;
    x.padded(op, &dims, &pairs, PadOptions { mode, value })
}

fn interpolate(args: &Bound) -> Result<DynTensor> {
    let op = Op::Interpolate;
    let x = args.tensor("self")?;
    let refuse = |kind, what: String, hint: &str| {
        Err(about(
            Error::new(kind, op.name(), what).hint(hint.to_owned()),
            &[x],
        ))
    };
    let text = word(args, "mode")?.unwrap_or("nearest");
    let (mode, rank) = match text {
        "nearest" => (InterpolateMode::Nearest, None),
        "nearest-exact" => (InterpolateMode::NearestExact, None),
        "area" => (InterpolateMode::Area, None),
        "linear" => (InterpolateMode::Linear, Some(3)),
        "bilinear" => (InterpolateMode::Linear, Some(4)),
        "trilinear" => (InterpolateMode::Linear, Some(5)),
        "bicubic" => (InterpolateMode::Cubic, Some(4)),
        other => return Err(no_mode(op, other)),
    };
    if args.flag("antialias")? {
        return refuse(
            ErrorKind::Argument,
            "antialias is not there".into(),
            "leave it out",
        );
    }
    if !(3..=5).contains(&x.rank()) || rank.is_some_and(|rank| rank != x.rank()) {
        let what = format!("mode {text:?} for {} dims", x.rank());
        return refuse(
            ErrorKind::Rank,
            what,
            "the mode's name says for how many spatial dims it is",
        );
    }
    let at: Vec<usize> = (2..x.rank()).collect();
    let resizes: Vec<Resize> = match (args.given("size"), args.given("scale_factor")) {
        (Some(_), None) => {
            let sizes = counts(op, args, "size", at.len(), None)?;
            if sizes.len() != at.len() {
                let what = format!("{} sizes for {} dims", sizes.len(), at.len());
                return refuse(ErrorKind::Argument, what, "give one for each spatial dim");
            }
            let each = at.iter().zip(sizes);
            each.map(|(&dim, size)| Resize {
                dim,
                size,
                factor: None,
            })
            .collect()
        }
        (None, Some(value)) => {
            let numbers: Option<Vec<f64>> = match value {
                Value::List(items) => items
                    .iter()
                    .map(|item| Some(item.as_scalar()?.to_f64()))
                    .collect(),
                one => one
                    .as_scalar()
                    .map(|factor| vec![factor.to_f64(); at.len()]),
            };
            let Some(factors) = numbers.filter(|factors| factors.len() == at.len()) else {
                return Err(wrong(
                    op.name(),
                    "scale_factor",
                    "a number for each spatial dim",
                    value,
                ));
            };
            let own = !args.flag("recompute_scale_factor")?;
            let each = at.iter().zip(factors);
            each.map(|(&dim, factor)| Resize {
                dim,
                // A cast ends at the bounds, which are no sizes.
                size: (x.shape()[dim] as f64 * factor).floor() as usize,
                factor: own.then_some(factor),
            })
            .collect()
        }
        _ => {
            let what = "both or none of `size` and `scale_factor`".to_owned();
            return refuse(ErrorKind::Argument, what, "give one of them");
        }
    };
    let align_corners = args.flag("align_corners")?;
    x.resized(
        &resizes,
        InterpolateOptions {
            mode,
            align_corners,
        },
    )
}
