//! Pooling.

use nomina::dynamic::ReduceOptions;
use nomina::{AvgPoolOptions, DynTensor, MaxPoolOptions};
use nomina_core::Result;

use super::conv::spatial;
use super::move_elements::pad_constant;
use super::window::{Window, array, by_dims};
use crate::call::{
    Call, floats, for_each_index, from_floats, from_ints, ints, pick, reshape, room, strides,
};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{Fresh, Pool};
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new("MaxPool", 1, Pool, Tensors(max_pool)).emit(Emit::Single(spell::window::max_pool)),
    Row::new("AveragePool", 1, Pool, Single(average_pool))
        .emit(Emit::Single(spell::window::average_pool)),
    Row::new("LpPool", 2, Pool, Single(lp_pool)),
    Row::new(
        "GlobalAveragePool",
        1,
        Pool,
        Single(|c| c.x(0)?.mean_with(&all_spatial(c)?, KEEP)),
    )
    .emit(Emit::Single(spell::window::global_average)),
    Row::new("GlobalMaxPool", 1, Pool, Single(global_max))
        .emit(Emit::Single(spell::window::global_max)),
    Row::new("GlobalLpPool", 2, Pool, Single(global_lp)),
    Row::new("MaxUnpool", 9, Fresh, Single(max_unpool)),
    Row::new("MaxRoiPool", 1, Fresh, Single(max_roi_pool)),
];

const KEEP: ReduceOptions = ReduceOptions {
    keepdim: true,
    dtype: None,
};

fn all_spatial(c: &Call<'_>) -> Result<Vec<i64>> {
    spatial(c, c.x(0)?)?;
    Ok((2..c.x(0)?.rank() as i64).collect())
}

fn global_max(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let mut shape = x.shape().to_vec();
    shape.iter_mut().skip(2).for_each(|size| *size = 1);
    reshape(&x.amax(&all_spatial(c)?)?, &shape)
}

fn global_lp(c: &Call<'_>) -> Result<DynTensor> {
    let p = c.int("p", 2)? as f64;
    c.x(0)?
        .abs()?
        .pow(p)?
        .sum_with(&all_spatial(c)?, KEEP)?
        .pow(1.0 / p)
}

/// Visits the elements under each window: for each output, the places of its inputs within a plane.
fn windows(
    window: &Window,
    sizes: &[usize],
    at: &[usize],
    mut each: impl FnMut(&[usize], &[usize], usize),
) {
    let step = strides(sizes);
    let mut places = Vec::new();
    for_each_index(at, |position| {
        places.clear();
        let mut counted = 0;
        for_each_index(&window.kernel, |tap| {
            let (mut place, mut is_counted) = (Some(0), true);
            for dim in 0..sizes.len() {
                let i = (position[dim] * window.stride[dim] + tap[dim] * window.dilation[dim])
                    as i64
                    - window.before[dim];
                is_counted &= i < sizes[dim] as i64 + window.after[dim];
                let inside = usize::try_from(i).ok().filter(|&i| i < sizes[dim]);
                place = place.zip(inside).map(|(place, i)| place + i * step[dim]);
            }
            counted += usize::from(is_counted);
            places.extend(place);
        });
        each(position, &places, counted);
    });
}

fn max_pool(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let x = c.x(0)?;
    let sizes = spatial(c, x)?;
    let window = Window::new(c, sizes, None)?;
    let count = sizes.len();
    let fits = window.is_symmetric()
        && (0..count).all(|dim| 2 * window.before[dim] as usize <= window.kernel[dim]);
    let rounds = !window.ceil || fits;
    if x.dtype().is_float() && !c.wants(1) && rounds && count <= 3 {
        let (mut x, mut padded) = (x.clone(), window.clone());
        if !fits {
            for dim in 0..count {
                x = pad_constant(
                    &x,
                    dim + 2,
                    (window.before[dim], window.after[dim]),
                    f64::NEG_INFINITY,
                )?;
                padded.before[dim] = 0;
            }
        }
        macro_rules! with {
            ($method:ident) => {
                x.$method(
                    array(&window.kernel),
                    MaxPoolOptions {
                        stride: Some(array(&window.stride)),
                        padding: padded.padding(),
                        dilation: array(&window.dilation),
                        ceil_mode: window.ceil,
                    },
                )
            };
        }
        let y = by_dims!(
            c,
            count,
            with!(max_pool1d_with),
            with!(max_pool2d_with),
            with!(max_pool3d_with)
        )?;
        return Ok(vec![y]);
    }
    let at = window.positions(c, sizes)?;
    let mut shape = x.shape()[..2].to_vec();
    shape.extend(&at);
    let (data, plane, step) = (floats(x)?, sizes.iter().product::<usize>(), strides(sizes));
    let by_column = c.flag("storage_order", false)?;
    let (mut from, mut places_out) = (Vec::new(), Vec::new());
    let mut empty = false;
    for outer in 0..shape[0] * shape[1] {
        windows(&window, sizes, &at, |_, places, _| {
            let best = places.iter().copied().reduce(|a, b| {
                if data[outer * plane + b] > data[outer * plane + a]
                    || data[outer * plane + a].is_nan()
                {
                    b
                } else {
                    a
                }
            });
            let Some(best) = best else {
                empty = true;
                return;
            };
            from.push((outer * plane + best) as i64);
            let index = if by_column {
                let (mut place, mut factor) = (0, 1);
                for dim in 0..sizes.len() {
                    place += best / step[dim] % sizes[dim] * factor;
                    factor *= sizes[dim];
                }
                place
            } else {
                best
            };
            places_out.push((outer * plane + index) as i64);
        });
    }
    c.require(!empty, "a window covers no element")?;
    Ok(vec![pick(x, from, &shape)?, from_ints(places_out, &shape)?])
}

fn average_pool(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let sizes = spatial(c, x)?;
    let window = Window::new(c, sizes, None)?;
    let (count, all) = (sizes.len(), c.flag("count_include_pad", false)?);
    let dense = window.dilation.iter().all(|&d| d == 1);
    let padded = window.before.iter().chain(&window.after).any(|&p| p > 0);
    let fits = window.is_symmetric()
        && (0..count).all(|dim| 2 * window.before[dim] as usize <= window.kernel[dim]);
    if x.dtype().is_float() && dense && !window.ceil && count <= 3 && (all || fits || !padded) {
        let (mut x, mut own) = (x.clone(), window.clone());
        if !fits {
            for dim in 0..count {
                x = pad_constant(&x, dim + 2, (window.before[dim], window.after[dim]), 0.0)?;
                own.before[dim] = 0;
            }
        }
        macro_rules! with {
            ($method:ident) => {
                x.$method(
                    array(&window.kernel),
                    AvgPoolOptions {
                        stride: Some(array(&window.stride)),
                        padding: own.padding(),
                        count_include_pad: all,
                        ..Default::default()
                    },
                )
            };
        }
        return by_dims!(
            c,
            count,
            with!(avg_pool1d_with),
            with!(avg_pool2d_with),
            with!(avg_pool3d_with)
        );
    }
    sum_windows(
        c,
        &window,
        |v| v,
        |sum, inside, counted| sum / if all { counted } else { inside } as f64,
    )
}

fn lp_pool(c: &Call<'_>) -> Result<DynTensor> {
    let window = Window::new(c, spatial(c, c.x(0)?)?, None)?;
    let p = c.int("p", 2)? as f64;
    sum_windows(
        c,
        &window,
        |v| v.abs().powf(p),
        |sum, _, _| sum.powf(1.0 / p),
    )
}

/// Sums `f` of the elements under each window; `g` takes the sum, the elements inside, and those of the padding too.
fn sum_windows(
    c: &Call<'_>,
    window: &Window,
    f: impl Fn(f64) -> f64,
    g: impl Fn(f64, usize, usize) -> f64,
) -> Result<DynTensor> {
    let x = c.x(0)?;
    let sizes = spatial(c, x)?;
    let at = window.positions(c, sizes)?;
    let mut shape = x.shape()[..2].to_vec();
    shape.extend(&at);
    let (data, plane) = (floats(x)?, sizes.iter().product::<usize>());
    let mut result = Vec::new();
    for outer in 0..shape[0] * shape[1] {
        windows(window, sizes, &at, |_, places, counted| {
            let sum = places
                .iter()
                .map(|&place| f(data[outer * plane + place]))
                .sum();
            result.push(g(sum, places.len(), counted));
        });
    }
    from_floats(result, &shape, x.dtype())
}

fn max_unpool(c: &Call<'_>) -> Result<DynTensor> {
    let (x, index) = (c.x(0)?, ints(c.x(1)?)?);
    let sizes = spatial(c, x)?;
    let window = Window::new(c, sizes, None)?;
    let own: Vec<usize> = (0..sizes.len())
        .map(|dim| {
            let size = (sizes[dim].max(1) - 1) as i64 * window.stride[dim] as i64
                + window.kernel[dim] as i64
                - window.before[dim]
                - window.after[dim];
            size.max(0) as usize
        })
        .collect();
    let mut inner = x.shape()[..2].to_vec();
    inner.extend(&own);
    let shape = match c.maybe(2)? {
        Some(_) => super::shape::sizes_at(c, 2)?,
        None => inner.clone(),
    };
    c.require(
        shape.len() == x.rank(),
        "the output has another number of dims",
    )?;
    let (mut result, total) = room(c.op, &shape)?;
    result.resize(total, 0.0);
    // Indices count in a tensor without the given output size.
    let (data, from, step) = (floats(x)?, strides(&inner), strides(&shape));
    for (&value, &place) in data.iter().zip(&index) {
        let place = usize::try_from(place).map_err(|_| c.fail("an index is negative"))?;
        let at: usize = (0..inner.len())
            .map(|dim| place / from[dim].max(1) % inner[dim].max(1) * step[dim])
            .sum();
        *result
            .get_mut(at)
            .ok_or_else(|| c.fail("an index is out of range"))? = value;
    }
    from_floats(result, &shape, x.dtype())
}

fn max_roi_pool(c: &Call<'_>) -> Result<DynTensor> {
    let (x, rois) = (c.x(0)?, c.x(1)?);
    let (&[n, channels, h, w], &[count, 5]) = (x.shape(), rois.shape()) else {
        return Err(c.fail("the operands have the wrong dims"));
    };
    let pooled = c.ints("pooled_shape")?.unwrap_or_default();
    let &[ph, pw] = &pooled[..] else {
        return Err(c.fail("`pooled_shape` is not two sizes"));
    };
    c.require(
        (1..1 << 20).contains(&ph) && (1..1 << 20).contains(&pw),
        "`pooled_shape` is not positive",
    )?;
    let (scale, data, boxes) = (c.float("spatial_scale", 1.0)?, floats(x)?, floats(rois)?);
    let mut result = Vec::new();
    room(c.op, &[count, channels, ph as usize, pw as usize])?;
    for roi in boxes.chunks(5) {
        c.require(
            roi[0] >= 0.0 && (roi[0] as usize) < n,
            "an image index is out of range",
        )?;
        let [x1, y1, x2, y2] = [roi[1], roi[2], roi[3], roi[4]].map(|v| (v * scale).round());
        let (bin_h, bin_w) = (
            (y2 - y1 + 1.0).max(1.0) / ph as f64,
            (x2 - x1 + 1.0).max(1.0) / pw as f64,
        );
        for ch in 0..channels {
            let plane = (roi[0] as usize * channels + ch) * h * w;
            for (i, j) in (0..ph).flat_map(|i| (0..pw).map(move |j| (i, j))) {
                let span = |start: f64, bin: f64, at: i64, size: usize| {
                    let from = ((at as f64 * bin).floor() + start).clamp(0.0, size as f64) as usize;
                    from..(((at + 1) as f64 * bin).ceil() + start).clamp(0.0, size as f64) as usize
                };
                let cells =
                    span(y1, bin_h, i, h).flat_map(|y| span(x1, bin_w, j, w).map(move |x| (y, x)));
                let best = cells.map(|(y, x)| data[plane + y * w + x]).reduce(f64::max);
                result.push(best.unwrap_or(0.0));
            }
        }
    }
    from_floats(
        result,
        &[count, channels, ph as usize, pw as usize],
        x.dtype(),
    )
}
