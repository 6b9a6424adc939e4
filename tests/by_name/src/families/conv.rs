//! Sliding windows: convolution, pooling, padding, resampling.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};
use nomina_runtime::call::{InterpolateMode, PadMode, Resize};
use nomina_runtime::tensor::{
    AvgPoolOptions, ColumnsOptions, ConvOptions, ConvTransposeOptions, DynTensor,
    InterpolateOptions, LpPoolOptions, MaxPoolOptions, PadOptions, Padding,
};

use super::{pure, value};
use crate::Form;
use crate::bind::Bound;
use crate::generated::Conv;
use crate::value::{Value, wrong};

type One = DynTensor;
type Both = (DynTensor, DynTensor);

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Conv, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Conv::Conv1d => pure(op, form, args, |a| conv(op, a, One::conv1d_with)),
        Conv::Conv2d => pure(op, form, args, |a| conv(op, a, One::conv2d_with)),
        Conv::Conv3d => pure(op, form, args, |a| conv(op, a, One::conv3d_with)),
        Conv::ConvTranspose1d => pure(op, form, args, |a| {
            conv_transpose(op, a, One::conv_transpose1d_with)
        }),
        Conv::ConvTranspose2d => pure(op, form, args, |a| {
            conv_transpose(op, a, One::conv_transpose2d_with)
        }),
        Conv::ConvTranspose3d => pure(op, form, args, |a| {
            conv_transpose(op, a, One::conv_transpose3d_with)
        }),
        Conv::MaxPool1d => value(op, form, args, |a| {
            max_pool(op, a, One::max_pool1d_with, One::max_pool1d_with_indices)
        }),
        Conv::MaxPool2d => value(op, form, args, |a| {
            max_pool(op, a, One::max_pool2d_with, One::max_pool2d_with_indices)
        }),
        Conv::MaxPool3d => value(op, form, args, |a| {
            max_pool(op, a, One::max_pool3d_with, One::max_pool3d_with_indices)
        }),
        Conv::AvgPool1d => pure(op, form, args, |a| avg_pool(op, a, One::avg_pool1d_with)),
        Conv::AvgPool2d => pure(op, form, args, |a| avg_pool(op, a, One::avg_pool2d_with)),
        Conv::AvgPool3d => pure(op, form, args, |a| avg_pool(op, a, One::avg_pool3d_with)),
        Conv::LpPool1d => pure(op, form, args, |a| lp_pool(op, a, One::lp_pool1d)),
        Conv::LpPool2d => pure(op, form, args, |a| lp_pool(op, a, One::lp_pool2d)),
        Conv::LpPool3d => pure(op, form, args, |a| lp_pool(op, a, One::lp_pool3d)),
        Conv::AdaptiveAvgPool1d => pure(op, form, args, |a| {
            a.tensor("self")?.adaptive_avg_pool1d(output_sizes(op, a)?)
        }),
        Conv::AdaptiveAvgPool2d => pure(op, form, args, |a| {
            a.tensor("self")?.adaptive_avg_pool2d(output_sizes(op, a)?)
        }),
        Conv::AdaptiveAvgPool3d => pure(op, form, args, |a| {
            a.tensor("self")?.adaptive_avg_pool3d(output_sizes(op, a)?)
        }),
        Conv::AdaptiveMaxPool1d => value(op, form, args, |a| {
            adaptive_max(
                op,
                a,
                One::adaptive_max_pool1d,
                One::adaptive_max_pool1d_with_indices,
            )
        }),
        Conv::AdaptiveMaxPool2d => value(op, form, args, |a| {
            adaptive_max(
                op,
                a,
                One::adaptive_max_pool2d,
                One::adaptive_max_pool2d_with_indices,
            )
        }),
        Conv::AdaptiveMaxPool3d => value(op, form, args, |a| {
            adaptive_max(
                op,
                a,
                One::adaptive_max_pool3d,
                One::adaptive_max_pool3d_with_indices,
            )
        }),
        Conv::MaxUnpool1d => pure(op, form, args, |a| {
            a.tensor("self")?
                .max_unpool1d(a.tensor("indices")?, unpooled(op, a)?)
        }),
        Conv::MaxUnpool2d => pure(op, form, args, |a| {
            a.tensor("self")?
                .max_unpool2d(a.tensor("indices")?, unpooled(op, a)?)
        }),
        Conv::MaxUnpool3d => pure(op, form, args, |a| {
            a.tensor("self")?
                .max_unpool3d(a.tensor("indices")?, unpooled(op, a)?)
        }),
        Conv::Pad => pure(op, form, args, |a| {
            let mode = match word(a, "mode")?.unwrap_or("constant") {
                "constant" => PadMode::Constant,
                "reflect" => PadMode::Reflect,
                "replicate" => PadMode::Replicate,
                "circular" => PadMode::Circular,
                other => return Err(no_mode(op, other)),
            };
            pad(a, mode)
        }),
        Conv::ConstantPadNd => pure(op, form, args, |a| pad(a, PadMode::Constant)),
        Conv::Interpolate => pure(op, form, args, interpolate),
        Conv::Im2col => pure(op, form, args, |a| {
            let kernel = counts(op, a, "kernel_size", None)?;
            a.tensor("self")?.im2col(kernel, columns(op, a)?)
        }),
        Conv::Fold => pure(op, form, args, |a| {
            let kernel = counts(op, a, "kernel_size", None)?;
            let sizes = counts(op, a, "output_size", None)?;
            a.tensor("self")?.fold(sizes, kernel, columns(op, a)?)
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

/// Checks that a number is not negative.
fn natural(op: Op, param: &str, number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|_| {
        let what = format!("`{param}` is {number}");
        Error::new(ErrorKind::Argument, op.name(), what).hint("give a number from 0 on")
    })
}

fn count(op: Op, args: &Bound, param: &str, default: i64) -> Result<usize> {
    natural(op, param, args.int_or(param, default)?)
}

/// Returns sizes: a list, or one size for all of `dims` dims.
fn list(op: Op, args: &Bound, param: &str, dims: usize) -> Result<Vec<usize>> {
    let each = args.sizes(param)?;
    let each = each.iter().map(|&n| natural(op, param, n));
    let mut each = each.collect::<Result<Vec<_>>>()?;
    if each.len() == 1 {
        each.resize(dims, each[0]);
    }
    Ok(each)
}

/// Returns one number for each dim of a window: from a list, or one for all.
fn counts<const S: usize>(
    op: Op,
    args: &Bound,
    param: &str,
    default: Option<[usize; S]>,
) -> Result<[usize; S]> {
    let given = args.given(param).filter(|value| {
        // PyTorch's empty list means the default.
        !(default.is_some() && matches!(value, Value::List(items) if items.is_empty()))
    });
    if let (None, Some(default)) = (given, default) {
        return Ok(default);
    }
    list(op, args, param, S)?
        .try_into()
        .map_err(|each: Vec<usize>| {
            let what = format!("`{param}` has {} numbers for {S} dims", each.len());
            Error::new(ErrorKind::Argument, op.name(), what).hint("give one number for each dim")
        })
}

fn columns(op: Op, args: &Bound) -> Result<ColumnsOptions> {
    Ok(ColumnsOptions {
        dilation: counts(op, args, "dilation", Some([1; 2]))?,
        padding: counts(op, args, "padding", Some([0; 2]))?,
        stride: counts(op, args, "stride", Some([1; 2]))?,
    })
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

fn conv<const S: usize>(
    op: Op,
    args: &Bound,
    method: fn(&One, &One, Option<&One>, ConvOptions<S>) -> Result<One>,
) -> Result<One> {
    let padding = match args.given("padding") {
        Some(Value::Str(text)) => match text.as_str() {
            "same" => Padding::Same,
            "valid" => Padding::default(),
            other => return Err(no_mode(op, other)),
        },
        _ => Padding::Zeros(counts(op, args, "padding", Some([0; S]))?),
    };
    let options = ConvOptions {
        stride: counts(op, args, "stride", Some([1; S]))?,
        padding,
        dilation: counts(op, args, "dilation", Some([1; S]))?,
        groups: count(op, args, "groups", 1)?,
    };
    let (weight, bias) = (args.tensor("weight")?, optional(args, "bias")?);
    method(args.tensor("self")?, weight, bias, options)
}

fn conv_transpose<const S: usize>(
    op: Op,
    args: &Bound,
    method: fn(&One, &One, Option<&One>, ConvTransposeOptions<S>) -> Result<One>,
) -> Result<One> {
    let options = ConvTransposeOptions {
        stride: counts(op, args, "stride", Some([1; S]))?,
        padding: counts(op, args, "padding", Some([0; S]))?,
        output_padding: counts(op, args, "output_padding", Some([0; S]))?,
        groups: count(op, args, "groups", 1)?,
        dilation: counts(op, args, "dilation", Some([1; S]))?,
    };
    let (weight, bias) = (args.tensor("weight")?, optional(args, "bias")?);
    method(args.tensor("self")?, weight, bias, options)
}

fn max_pool<const S: usize>(
    op: Op,
    args: &Bound,
    values: fn(&One, [usize; S], MaxPoolOptions<S>) -> Result<One>,
    both: fn(&One, [usize; S], MaxPoolOptions<S>) -> Result<Both>,
) -> Result<Value> {
    let x = args.tensor("self")?;
    let kernel = counts(op, args, "kernel_size", None)?;
    let options = MaxPoolOptions {
        stride: Some(counts(op, args, "stride", Some(kernel))?),
        padding: counts(op, args, "padding", Some([0; S]))?,
        dilation: counts(op, args, "dilation", Some([1; S]))?,
        ceil_mode: args.flag("ceil_mode")?,
    };
    if args.flag("return_indices")? {
        Ok(both(x, kernel, options)?.into())
    } else {
        Ok(values(x, kernel, options)?.into())
    }
}

fn avg_pool<const S: usize>(
    op: Op,
    args: &Bound,
    method: fn(&One, [usize; S], AvgPoolOptions<S>) -> Result<One>,
) -> Result<One> {
    let kernel = counts(op, args, "kernel_size", None)?;
    let divisor = args
        .given("divisor_override")
        .map(|_| args.int("divisor_override"));
    let options = AvgPoolOptions {
        stride: Some(counts(op, args, "stride", Some(kernel))?),
        padding: counts(op, args, "padding", Some([0; S]))?,
        ceil_mode: args.flag("ceil_mode")?,
        count_include_pad: match args.given("count_include_pad") {
            None => true,
            Some(_) => args.flag("count_include_pad")?,
        },
        divisor_override: divisor.transpose()?,
    };
    method(args.tensor("self")?, kernel, options)
}

fn lp_pool<const S: usize>(
    op: Op,
    args: &Bound,
    method: fn(&One, f64, [usize; S], LpPoolOptions<S>) -> Result<One>,
) -> Result<One> {
    let kernel = counts(op, args, "kernel_size", None)?;
    let options = LpPoolOptions {
        stride: Some(counts(op, args, "stride", Some(kernel))?),
        ceil_mode: args.flag("ceil_mode")?,
    };
    let p = args.float("norm_type")?;
    method(args.tensor("self")?, p, kernel, options)
}

/// Returns the sizes of an adaptive pool's result along the last dims; `None` keeps a dim's size.
fn output_sizes<const S: usize>(op: Op, args: &Bound) -> Result<[usize; S]> {
    let shape = args.tensor("self")?.shape();
    match args.get("output_size") {
        Some(Value::List(items)) if items.len() == S => {
            let last = &shape[shape.len().saturating_sub(S)..];
            let mut sizes = [0; S];
            for (i, item) in items.iter().enumerate() {
                sizes[i] = match item {
                    Value::None => last.get(i).copied().unwrap_or(0),
                    Value::Int(size) => natural(op, "output_size", *size)?,
                    other => return Err(wrong(op.name(), "output_size", "sizes", other)),
                };
            }
            Ok(sizes)
        }
        _ => counts(op, args, "output_size", None),
    }
}

fn adaptive_max<const S: usize>(
    op: Op,
    args: &Bound,
    values: fn(&One, [usize; S]) -> Result<One>,
    both: fn(&One, [usize; S]) -> Result<Both>,
) -> Result<Value> {
    let (x, sizes) = (args.tensor("self")?, output_sizes(op, args)?);
    if args.flag("return_indices")? {
        Ok(both(x, sizes)?.into())
    } else {
        Ok(values(x, sizes)?.into())
    }
}

/// Returns the sizes before pooling, along the last dims.
fn unpooled<const S: usize>(op: Op, args: &Bound) -> Result<[usize; S]> {
    if args.given("output_size").is_some() {
        // The whole shape is accepted, too.
        let all = list(op, args, "output_size", S)?;
        let last = all.last_chunk().copied();
        return last.ok_or_else(|| {
            let what = format!("`output_size` has {} numbers for {S} dims", all.len());
            Error::new(ErrorKind::Argument, op.name(), what).hint("give one number for each dim")
        });
    }
    let kernel: [usize; S] = counts(op, args, "kernel_size", None)?;
    let stride = counts(op, args, "stride", Some(kernel))?;
    let padding = counts(op, args, "padding", Some([0; S]))?;
    let shape = args.tensor("self")?.shape();
    let last = &shape[shape.len().saturating_sub(S)..];
    let mut sizes = [0; S];
    for (i, &size) in last.iter().enumerate() {
        sizes[i] = unpooled_size(op, size, [kernel[i], stride[i], padding[i]])?;
    }
    Ok(sizes)
}

/// Returns the size of a pool's input, as far as it follows from the size of the result.
fn unpooled_size(op: Op, size: usize, [kernel, stride, padding]: [usize; 3]) -> Result<usize> {
    let whole = (size as i128 - 1) * stride as i128 + kernel as i128 - 2 * padding as i128;
    usize::try_from(whole)
        .ok()
        .filter(|&size| isize::try_from(size).is_ok())
        .ok_or_else(|| {
            let what = format!("{size} elements come from a window of {kernel}");
            Error::new(ErrorKind::Shape, op.name(), what).hint("say the size of the result")
        })
}

fn pad(args: &Bound, mode: PadMode) -> Result<DynTensor> {
    let value = match args.given("value") {
        Some(_) => args.scalar("value")?,
        None => PadOptions::default().value,
    };
    let options = PadOptions { mode, value };
    args.tensor("self")?.pad_with(&args.sizes("pad")?, options)
}

fn interpolate(args: &Bound) -> Result<DynTensor> {
    let op = Op::Interpolate;
    let x = args.tensor("self")?;
    let refuse = |kind, what: String, hint: &str| {
        let error = Error::new(kind, op.name(), what).operand(x.names(), x.shape());
        Err(error.hint(hint.to_owned()))
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
    let antialias = args.flag("antialias")?;
    if antialias && !matches!(text, "bilinear" | "bicubic") {
        return refuse(
            ErrorKind::Argument,
            format!("antialias in mode {text:?}"),
            "take bilinear or bicubic",
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
            let sizes = list(op, args, "size", at.len())?;
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
                // A cast saturates at the bounds, which are not valid sizes.
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
    x.interpolate_dims(
        &resizes,
        InterpolateOptions {
            mode,
            align_corners,
            antialias,
        },
    )
}
