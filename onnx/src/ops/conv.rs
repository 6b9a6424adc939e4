//! Convolutions.

use nomina::{ConvOptions, ConvTransposeOptions, DType, DynTensor};
use nomina_core::op::Op;
use nomina_core::{Names, Result};
use nomina_runtime::call::{self, ConvAfter, ConvArgs, ConvSites, ConvWeight};

use super::move_elements::pad_constant;
use super::norm::along_channels;
use super::window::{Window, array, by_dims};
use crate::call::{Call, floats, for_each_index, from_floats, room, strides};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{self, Fresh};
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new(
        "Conv",
        1,
        Flow::Conv,
        Single(|c| conv(c, c.x(0)?, c.x(1)?, c.maybe(2)?, ConvAfter::default())),
    )
    .emit(Emit::Single(spell::window::conv)),
    Row::new(
        "ConvTranspose",
        1,
        Flow::ConvTranspose,
        Single(conv_transpose),
    )
    .emit(Emit::Single(spell::window::conv_transpose)),
    Row::new("CausalConvWithState", 1, Fresh, Tensors(causal)),
    Row::new("DeformConv", 19, Fresh, Single(deform)),
    Row::new("Col2Im", 18, Fresh, Single(col2im)),
];

/// The sizes of the spatial dims.
pub fn spatial<'a>(c: &Call<'_>, x: &'a DynTensor) -> Result<&'a [usize]> {
    x.shape()
        .get(2..)
        .filter(|sizes| !sizes.is_empty())
        .ok_or_else(|| c.fail("the input has no spatial dims"))
}

/// The number of groups.
pub fn group(c: &Call<'_>) -> Result<usize> {
    let group = usize::try_from(c.int("group", 1)?).ok().filter(|&n| n > 0);
    group.ok_or_else(|| c.fail("`group` is not positive"))
}

/// Convolves, and applies the operations of `after`; padding is zero.
pub fn conv(
    c: &Call<'_>,
    x: &DynTensor,
    w: &DynTensor,
    bias: Option<&DynTensor>,
    after: ConvAfter<'_>,
) -> Result<DynTensor> {
    let window = Window::new(c, spatial(c, x)?, Some(spatial(c, w)?))?;
    let groups = group(c)?;
    let mut x = x.clone();
    let mut padded = window.clone();
    if !window.is_symmetric() {
        for dim in 0..window.kernel.len() {
            x = pad_constant(&x, dim + 2, (window.before[dim], window.after[dim]), 0.0)?;
            padded.before[dim] = 0;
        }
    }
    let count = window.kernel.len();
    let op = by_dims!(c, count, Ok(Op::Conv1d), Ok(Op::Conv2d), Ok(Op::Conv3d))?;
    let dims: Vec<usize> = (2..count + 2).collect();
    let sites = ConvSites {
        channel: 1,
        spatial: &dims,
        out: 0,
        weight_channel: 1,
        kernel: &dims,
    };
    let padding: Vec<usize> = padded.before.iter().map(|&n| n as usize).collect();
    let args = ConvArgs {
        stride: &window.stride,
        padding: Some(&padding),
        dilation: &window.dilation,
        groups,
    };
    let (raw, bias) = (x.raw(), bias.map(DynTensor::raw));
    let weight = match &c.node.prepared {
        Some(prepared) => ConvWeight::Prepared(prepared),
        None => ConvWeight::Once(w.raw()),
    };
    let out = call::conv_then(op, raw, weight, bias, &sites, &args, after)?;
    DynTensor::from_parts(out, Names::unnamed(count + 2))
}

/// Convolves transposed.
pub fn conv_transpose(c: &Call<'_>) -> Result<DynTensor> {
    let (x, w) = (c.x(0)?, c.x(1)?);
    let sizes = spatial(c, x)?;
    let count = sizes.len();
    let mut window = Window::new(c, sizes, Some(spatial(c, w)?))?;
    let extra = c.ints("output_padding")?.unwrap_or_else(|| vec![0; count]);
    c.require(
        extra.len() == count && extra.iter().all(|e| (0..1 << 20).contains(e)),
        "`output_padding` is not one number per dim",
    )?;
    let full: Vec<i64> = (0..count)
        .map(|dim| ((sizes[dim].max(1) - 1) * window.stride[dim] + window.span(dim)) as i64)
        .collect();
    let mode = c.text("auto_pad", "NOTSET")?;
    let wanted = match c.ints("output_shape")? {
        Some(shape) => Some(shape[shape.len().saturating_sub(count)..].to_vec()),
        None if mode.starts_with("SAME") => Some(
            (0..count)
                .map(|dim| (sizes[dim] * window.stride[dim]) as i64)
                .collect(),
        ),
        None => None,
    };
    if let Some(wanted) = wanted {
        c.require(
            wanted.len() == count && wanted.iter().all(|n| (1..1 << 40).contains(n)),
            "`output_shape` is not one size per dim",
        )?;
        for dim in 0..count {
            let total = full[dim] + extra[dim] - wanted[dim];
            // Missing elements are added at the end.
            let small = total.max(0) / 2;
            let large = total - small;
            (window.before[dim], window.after[dim]) = if mode == "SAME_UPPER" || total < 0 {
                (small, large)
            } else {
                (large, small)
            };
        }
    }
    let groups = group(c)?;
    macro_rules! with {
        ($method:ident) => {
            x.$method(
                w,
                None,
                ConvTransposeOptions {
                    stride: array(&window.stride),
                    dilation: array(&window.dilation),
                    groups,
                    ..Default::default()
                },
            )
        };
    }
    let mut y = by_dims!(
        c,
        count,
        with!(conv_transpose1d_with),
        with!(conv_transpose2d_with),
        with!(conv_transpose3d_with)
    )?;
    for (dim, extra) in extra.iter().enumerate().take(count) {
        y = pad_constant(
            &y,
            dim + 2,
            (-window.before[dim], extra - window.after[dim]),
            0.0,
        )?;
    }
    match c.maybe(2)? {
        Some(bias) => y.add(&along_channels(bias, y.rank())?),
        None => Ok(y),
    }
}

fn causal(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let (x, w) = (c.x(0)?, c.x(1)?);
    let (&[n, channels, _], &[_, _, k]) = (x.shape(), w.shape()) else {
        return Err(c.fail("the operands have not 3 dims"));
    };
    let past = match c.maybe(3)? {
        Some(past) => past.clone(),
        None => super::index::zeros(&[n, channels, k.saturating_sub(1)], x.dtype())?,
    };
    let padded = if past.numel() == 0 {
        x.clone()
    } else {
        DynTensor::cat(&[&past, x], 2)?
    };
    let y = padded.conv1d_with(
        w,
        c.maybe(2)?,
        ConvOptions {
            groups: channels,
            ..Default::default()
        },
    )?;
    let y = match c.text("activation", "none")? {
        "none" => y,
        "silu" | "swish" => {
            let wide = y.to_dtype(DType::F32)?;
            wide.mul(&wide.sigmoid()?)?.to_dtype(x.dtype())?
        }
        other => return Err(c.fail(format!("activation `{other}` is unknown"))),
    };
    let kept = k.saturating_sub(1);
    let start = padded.shape()[2] - kept;
    Ok(vec![y, padded.narrow(2, start as i64, kept)?])
}

fn deform(c: &Call<'_>) -> Result<DynTensor> {
    let (x, w, offset) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let (&[n, channels, h, width], &[outs, per_group, kh, kw]) = (x.shape(), w.shape()) else {
        return Err(c.fail("only images are supported"));
    };
    let window = Window::new(c, &[h, width], Some(&[kh, kw]))?;
    let at = window.positions(c, &[h, width])?;
    let (groups, shifts) = (
        group(c)?,
        usize::try_from(c.int("offset_group", 1)?).unwrap_or(0),
    );
    c.require(
        shifts > 0
            && channels % shifts == 0
            && channels == per_group * groups
            && outs % groups == 0,
        "the channels do not divide",
    )?;
    c.require(
        offset.shape() == [n, shifts * kh * kw * 2, at[0], at[1]],
        "the offsets have the wrong shape",
    )?;
    let (data, weights, offsets) = (floats(x)?, floats(w)?, floats(offset)?);
    let mask = c.maybe(4)?.map(floats).transpose()?;
    let bias = c.maybe(3)?.map(floats).transpose()?;
    let (plane, area) = (h * width, at[0] * at[1]);
    let pixel = |n: usize, ch: usize, y: f64, x: f64| {
        let (y0, x0) = (y.floor(), x.floor());
        let mut sum = 0.0;
        for (yy, wy) in [(y0, 1.0 - (y - y0)), (y0 + 1.0, y - y0)] {
            for (xx, wx) in [(x0, 1.0 - (x - x0)), (x0 + 1.0, x - x0)] {
                if yy >= 0.0 && xx >= 0.0 && yy < h as f64 && xx < width as f64 {
                    sum += wy
                        * wx
                        * data[(n * channels + ch) * plane + yy as usize * width + xx as usize];
                }
            }
        }
        sum
    };
    let shape = [n, outs, at[0], at[1]];
    let (mut result, _) = room(c.op, &shape)?;
    for_each_index(&shape, |index| {
        let &[b, o, oy, ox] = index else { return };
        let mut sum = bias.as_ref().map_or(0.0, |bias| bias[o]);
        let g = o / (outs / groups);
        for (i, k) in (0..per_group).flat_map(|i| (0..kh * kw).map(move |k| (i, k))) {
            let ch = g * per_group + i;
            let shift = ch / (channels / shifts);
            let place = |part: usize| {
                ((b * shifts + shift) * kh * kw * 2 + k * 2 + part) * area + oy * at[1] + ox
            };
            let y = (oy * window.stride[0] + (k / kw) * window.dilation[0]) as f64
                - window.before[0] as f64
                + offsets[place(0)];
            let x = (ox * window.stride[1] + (k % kw) * window.dilation[1]) as f64
                - window.before[1] as f64
                + offsets[place(1)];
            let scale = mask.as_ref().map_or(1.0, |m| {
                m[((b * shifts + shift) * kh * kw + k) * area + oy * at[1] + ox]
            });
            sum += scale * pixel(b, ch, y, x) * weights[(o * per_group + i) * kh * kw + k];
        }
        result.push(sum);
    });
    from_floats(result, &shape, x.dtype())
}

fn col2im(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let (image, kernel) = (super::shape::sizes_at(c, 1)?, super::shape::sizes_at(c, 2)?);
    let window = Window::new(c, &image, Some(&kernel))?;
    let at = window.positions(c, &image)?;
    let (taps, blocks) = (
        kernel.iter().product::<usize>(),
        at.iter().product::<usize>(),
    );
    let &[n, rows, columns] = x.shape() else {
        return Err(c.fail("the input has not 3 dims"));
    };
    c.require(
        rows % taps == 0 && columns == blocks,
        "the columns do not fit the image",
    )?;
    let mut shape = vec![n, rows / taps];
    shape.extend(&image);
    let (mut result, count) = room(c.op, &shape)?;
    result.resize(count, 0.0);
    let (data, step) = (floats(x)?, strides(&image));
    let plane: usize = image.iter().product();
    for outer in 0..n * shape[1] {
        let mut from = outer * taps * blocks;
        for_each_index(&kernel, |tap| {
            for_each_index(&at, |block| {
                let mut place = Some(outer * plane);
                for dim in 0..image.len() {
                    let i = (block[dim] * window.stride[dim] + tap[dim] * window.dilation[dim])
                        as i64
                        - window.before[dim];
                    let inside = usize::try_from(i).ok().filter(|&i| i < image[dim]);
                    place = place.zip(inside).map(|(place, i)| place + i * step[dim]);
                }
                if let Some(place) = place {
                    result[place] += data[from];
                }
                from += 1;
            });
        });
    }
    from_floats(result, &shape, x.dtype())
}
