//! Signals: Fourier transforms and windows.

use std::f64::consts::PI;

use nomina::{DType, DynTensor};
use nomina_core::{Result, Scalar};

use crate::call::{Call, floats, from_floats, reshape, room};
use crate::names::flow::Flow::Fresh;
use crate::proto::tensor;
use crate::table::Row;
use crate::table::Run::Single;

pub const ROWS: &[Row] = &[
    Row::new("DFT", 17, Fresh, Single(dft)),
    Row::new("STFT", 17, Fresh, Single(stft)),
    Row::new(
        "HannWindow",
        17,
        Fresh,
        Single(|c| window(c, [0.5, 0.5, 0.0])),
    ),
    Row::new(
        "HammingWindow",
        17,
        Fresh,
        Single(|c| window(c, [25.0 / 46.0, 21.0 / 46.0, 0.0])),
    ),
    Row::new(
        "BlackmanWindow",
        17,
        Fresh,
        Single(|c| window(c, [0.42, 0.5, 0.08])),
    ),
    Row::new("MelWeightMatrix", 17, Fresh, Single(mel)),
];

/// The longest transform and window.
const MOST: i64 = 1 << 24;

fn count(c: &Call<'_>, at: usize) -> Result<Option<usize>> {
    let Some(x) = c.maybe(at)? else {
        return Ok(None);
    };
    let n = reshape(x, &[])?.item()?.to_i64();
    c.require((0..=MOST).contains(&n), "a length is out of range")?;
    Ok(Some(n as usize))
}

fn output_dtype(c: &Call<'_>) -> Result<DType> {
    tensor::dtype(c.int("output_datatype", 1)?)
}

fn window(c: &Call<'_>, [a, b, d]: [f64; 3]) -> Result<DynTensor> {
    let n = count(c, 0)?.ok_or_else(|| c.fail("the size is missing"))?;
    let period = if c.flag("periodic", true)? {
        n
    } else {
        n.max(2) - 1
    } as f64;
    let data = (0..n).map(|i| {
        let t = 2.0 * PI * i as f64 / period;
        a - b * t.cos() + d * (2.0 * t).cos()
    });
    from_floats(data.collect(), &[n], output_dtype(c)?)
}

/// Transforms `n` complex numbers; `sign` is -1 forward and 1 backward.
fn transform(x: &[(f64, f64)], sign: f64, out: usize) -> Vec<(f64, f64)> {
    let n = x.len();
    let turn: Vec<(f64, f64)> = (0..n)
        .map(|i| (2.0 * PI * i as f64 / n as f64).sin_cos())
        .map(|(s, c)| (c, sign * s))
        .collect();
    (0..out)
        .map(|k| {
            x.iter().enumerate().fold((0.0, 0.0), |sum, (i, v)| {
                let (c, s) = turn[i * k % n];
                (sum.0 + v.0 * c - v.1 * s, sum.1 + v.0 * s + v.1 * c)
            })
        })
        .collect()
}

fn dft(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let axis = match c.maybe(2)? {
        Some(axis) if c.opset() >= 20 => reshape(axis, &[])?.item()?.to_i64(),
        _ => c.int("axis", if c.opset() >= 20 { -2 } else { 1 })?,
    };
    let axis = c.axis(axis, x.rank())?;
    c.require(
        axis + 1 < x.rank(),
        "the axis is that of real and imaginary parts",
    )?;
    let (inverse, onesided) = (c.flag("inverse", false)?, c.flag("onesided", false)?);
    let (size, parts) = (x.shape()[axis], x.shape()[x.rank() - 1]);
    c.require(
        matches!(parts, 1 | 2),
        "the last dim has neither 1 nor 2 elements",
    )?;
    let natural = if inverse && onesided {
        2 * (size.max(1) - 1)
    } else {
        size
    };
    let n = count(c, 1)?.unwrap_or(natural);
    let real_result = inverse && onesided;
    let bins = if onesided && !inverse { n / 2 + 1 } else { n };
    let mut shape = x.shape().to_vec();
    shape[axis] = bins;
    let width = if real_result { 1 } else { 2 };
    *shape
        .last_mut()
        .ok_or_else(|| c.fail("the input has no dims"))? = width;
    let data = floats(x)?;
    let inner: usize = x.shape()[axis + 1..x.rank() - 1].iter().product();
    let outer: usize = x.shape()[..axis].iter().product();
    let (mut result, count) = room(c.op, &[outer, bins, inner, width])?;
    result.resize(count, 0.0);
    for o in 0..outer {
        for i in 0..inner {
            let read = |k: usize| {
                let at = ((o * size + k) * inner + i) * parts;
                (data[at], if parts == 2 { data[at + 1] } else { 0.0 })
            };
            let line: Vec<(f64, f64)> = (0..n)
                .map(|k| match k {
                    k if real_result && k > n / 2 && n - k < size => {
                        let (re, im) = read(n - k);
                        (re, -im)
                    }
                    k if k < size && (!real_result || k <= n / 2) => read(k),
                    _ => (0.0, 0.0),
                })
                .collect();
            let scale = if inverse { 1.0 / n as f64 } else { 1.0 };
            for (k, (re, im)) in transform(&line, if inverse { 1.0 } else { -1.0 }, bins)
                .into_iter()
                .enumerate()
            {
                let at = ((o * bins + k) * inner + i) * width;
                result[at] = re * scale;
                if width == 2 {
                    result[at + 1] = im * scale;
                }
            }
        }
    }
    from_floats(result, &shape, x.dtype())
}

fn stft(c: &Call<'_>) -> Result<DynTensor> {
    let (x, step) = (c.x(0)?, count(c, 1)?.unwrap_or(0));
    let shape = x.shape();
    let (batch, length, parts) = match *shape {
        [batch, length, parts] => (batch, length, parts),
        [batch, length] => (batch, length, 1),
        _ => return Err(c.fail("the signal has not 3 dims")),
    };
    c.require(
        matches!(parts, 1 | 2),
        "the last dim has neither 1 nor 2 elements",
    )?;
    let weights = c.maybe(2)?.map(floats).transpose()?;
    let n = count(c, 3)?
        .or(weights.as_ref().map(Vec::len))
        .ok_or_else(|| c.fail("the frame's length is missing"))?;
    let weights = weights.unwrap_or_else(|| vec![1.0; n]);
    c.require(
        step > 0 && n > 0 && n <= length && weights.len() == n,
        "the frame is longer than the signal, or not as long as the window",
    )?;
    let bins = if c.flag("onesided", true)? {
        n / 2 + 1
    } else {
        n
    };
    let frames = (length - n) / step + 1;
    let data = floats(x)?;
    let (mut result, _) = room(c.op, &[batch, frames, bins, 2])?;
    for (b, frame) in (0..batch).flat_map(|b| (0..frames).map(move |frame| (b, frame))) {
        let line: Vec<(f64, f64)> = (0..n)
            .map(|i| {
                let at = (b * length + frame * step + i) * parts;
                (
                    data[at] * weights[i],
                    if parts == 2 {
                        data[at + 1] * weights[i]
                    } else {
                        0.0
                    },
                )
            })
            .collect();
        result.extend(
            transform(&line, -1.0, bins)
                .into_iter()
                .flat_map(|(re, im)| [re, im]),
        );
    }
    from_floats(result, &[batch, frames, bins, 2], x.dtype())
}

fn mel(c: &Call<'_>) -> Result<DynTensor> {
    let number = |at: usize| reshape(c.x(at)?, &[])?.item().map(Scalar::to_f64);
    let (bins, dft) = (count(c, 0)?.unwrap_or(0), count(c, 1)?.unwrap_or(0));
    let (rate, low, high) = (number(2)?, number(3)?, number(4)?);
    c.require(
        bins > 0 && bins < 1 << 16 && rate > 0.0,
        "a size is not positive",
    )?;
    let rows = dft / 2 + 1;
    let to_mel = |hz: f64| 2595.0 * (1.0 + hz / 700.0).log10();
    let (low, high) = (to_mel(low), to_mel(high));
    let width = (high - low) / (bins + 2) as f64;
    let edge = |i: usize| {
        let hz = 700.0 * (10f64.powf((i as f64 * width + low) / 2595.0) - 1.0);
        (((dft + 1) as f64 * hz) / rate).floor()
    };
    let (mut data, count) = room(c.op, &[rows, bins])?;
    data.resize(count, 0.0);
    for bin in 0..bins {
        let (from, middle, to) = (edge(bin), edge(bin + 1), edge(bin + 2));
        for row in 0..rows {
            let at = row as f64;
            data[row * bins + bin] = if at == middle && (from == middle || at >= from) {
                1.0
            } else if at >= from && at < middle {
                (at - from) / (middle - from)
            } else if at > middle && at < to {
                (to - at) / (to - middle)
            } else {
                continue;
            };
        }
    }
    from_floats(data, &[rows, bins], output_dtype(c)?)
}
