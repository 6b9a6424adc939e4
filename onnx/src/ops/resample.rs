//! Resize: each dim is resampled by weights of its neighbouring elements.

use nomina::DynTensor;
use nomina_core::Result;

use crate::call::{Call, floats, from_floats, from_ints, ints, room};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::Resized;
use crate::table::Row;
use crate::table::Run::Single;

pub const ROWS: &[Row] = &[
    Row::new("Resize", 10, Resized, Single(resize)).emit(Emit::Single(spell::window::resize)),
    Row::new("Upsample", 7, Resized, Single(resize))
        .emit(Emit::Single(spell::window::resize))
        .until(9),
];

/// How output positions map to input positions.
struct Mapping<'a> {
    transform: &'a str,
    mode: &'a str,
    nearest: &'a str,
    antialias: bool,
    exclude_outside: bool,
    cubic: f64,
}

/// A resampled dim.
struct Line {
    scale: f64,
    input: usize,
    output: usize,
    region: Option<(f64, f64)>,
}

/// The weighted elements of one output; `None` is the extrapolation value.
type Taps = Option<Vec<(usize, f64)>>;

fn resize(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let rank = x.rank();
    let old = c.opset() < 11;
    let axes = match c.ints("axes")? {
        Some(axes) => axes
            .iter()
            .map(|&axis| c.axis(axis, rank))
            .collect::<Result<Vec<_>>>()?,
        None => (0..rank).collect(),
    };
    let at = if old { 1 } else { 2 };
    let given = match c.maybe(at)? {
        Some(scales) if scales.numel() > 0 => Some(floats(scales)?),
        _ if old && c.node.attribute("scales").is_some() => Some(c.floats("scales")?),
        _ => None,
    };
    let mut scales = vec![1.0; rank];
    let mut sizes = x.shape().to_vec();
    if let Some(given) = given {
        c.require(
            given.len() == axes.len() && given.iter().all(|s| *s > 0.0 && *s < 1e9),
            "there is not one positive scale per axis",
        )?;
        for (&axis, scale) in axes.iter().zip(given) {
            scales[axis] = scale;
            sizes[axis] = (scale * x.shape()[axis] as f64).floor() as usize;
        }
    } else {
        let wanted = c
            .maybe(3)?
            .map(ints)
            .transpose()?
            .ok_or_else(|| c.fail("neither scales nor sizes are given"))?;
        c.require(
            wanted.len() == axes.len() && wanted.iter().all(|n| (0..1 << 31).contains(n)),
            "there is not one size per axis",
        )?;
        c.require(
            axes.iter().all(|&axis| x.shape()[axis] > 0),
            "an empty dim cannot be resized",
        )?;
        for (&axis, size) in axes.iter().zip(wanted) {
            sizes[axis] = size as usize;
            scales[axis] = size as f64 / x.shape()[axis] as f64;
        }
        let policy = c.text("keep_aspect_ratio_policy", "stretch")?;
        if policy != "stretch" {
            let all = axes.iter().map(|&axis| scales[axis]);
            let scale = if policy == "not_larger" {
                all.fold(f64::INFINITY, f64::min)
            } else {
                all.fold(0.0, f64::max)
            };
            for &axis in &axes {
                scales[axis] = scale;
                sizes[axis] = (scale * x.shape()[axis] as f64 + 0.5).floor() as usize;
            }
        }
    }
    room(c.op, &sizes)?;
    let mapping = Mapping {
        transform: if old {
            "asymmetric"
        } else {
            c.text("coordinate_transformation_mode", "half_pixel")?
        },
        mode: c.text("mode", "nearest")?,
        nearest: if old {
            "floor"
        } else {
            c.text("nearest_mode", "round_prefer_floor")?
        },
        antialias: c.flag("antialias", false)?,
        exclude_outside: c.flag("exclude_outside", false)?,
        cubic: c.float("cubic_coeff_a", -0.75)?,
    };
    let roi = match c.maybe(1)? {
        Some(roi) if mapping.transform == "tf_crop_and_resize" => floats(roi)?,
        _ => Vec::new(),
    };
    let outside = c.float("extrapolation_value", 0.0)?;
    let mut y = x.clone();
    for (place, &axis) in axes.iter().enumerate() {
        let region = roi
            .get(place)
            .copied()
            .zip(roi.get(axes.len() + place).copied());
        let same = scales[axis] == 1.0 && sizes[axis] == x.shape()[axis];
        if same && region.is_none_or(|region| region == (0.0, 1.0)) {
            continue;
        }
        let line = Line {
            scale: scales[axis],
            input: x.shape()[axis],
            output: sizes[axis],
            region,
        };
        let taps = (0..line.output)
            .map(|at| mapping.taps(c, &line, at))
            .collect::<Result<Vec<_>>>()?;
        y = resampled(&y, axis, &taps, outside)?;
    }
    y.to_dtype(x.dtype())
}

/// Picks elements where each output is one of them, and adds weighted ones otherwise.
fn resampled(x: &DynTensor, axis: usize, taps: &[Taps], outside: f64) -> Result<DynTensor> {
    let single: Option<Vec<i64>> = taps
        .iter()
        .map(|taps| {
            let mut some = taps.as_ref()?.iter().filter(|tap| tap.1 != 0.0);
            match (some.next(), some.next()) {
                (Some(&(at, 1.0)), None) => Some(at as i64),
                _ => None,
            }
        })
        .collect();
    if let Some(index) = single {
        let count = index.len();
        return x.index_select(axis as i64, &from_ints(index, &[count])?);
    }
    let (data, size) = (floats(x)?, x.shape()[axis]);
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let outer: usize = x.shape()[..axis].iter().product();
    let mut shape = x.shape().to_vec();
    shape[axis] = taps.len();
    let mut result = Vec::with_capacity(outer * taps.len() * inner);
    for (o, taps) in (0..outer).flat_map(|o| taps.iter().map(move |taps| (o, taps))) {
        for i in 0..inner {
            result.push(match taps {
                None => outside,
                Some(taps) => taps
                    .iter()
                    .map(|&(at, weight)| weight * data[(o * size + at) * inner + i])
                    .sum(),
            });
        }
    }
    let dtype = if x.dtype().is_float() {
        nomina::DType::F64
    } else {
        x.dtype()
    };
    if dtype.is_integral() {
        result.iter_mut().for_each(|v| *v = v.round_ties_even());
    }
    from_floats(result, &shape, dtype)
}

impl Mapping<'_> {
    /// The input position of an output.
    fn origin(&self, c: &Call<'_>, line: &Line, at: usize) -> Result<f64> {
        let (x, scale) = (at as f64, line.scale);
        let input = line.input as f64;
        let exact = scale * input;
        Ok(match self.transform {
            "half_pixel" => (x + 0.5) / scale - 0.5,
            "asymmetric" => x / scale,
            "align_corners" if exact == 1.0 => 0.0,
            "align_corners" => x * (input - 1.0) / (exact - 1.0),
            "pytorch_half_pixel" if exact == 1.0 => -0.5,
            "pytorch_half_pixel" => (x + 0.5) / scale - 0.5,
            "half_pixel_symmetric" => {
                let adjustment = line.output as f64 / exact;
                input / 2.0 * (1.0 - adjustment) + (x + 0.5) / scale - 0.5
            }
            "tf_crop_and_resize" => {
                let (start, end) = line.region.ok_or_else(|| c.fail("the region is missing"))?;
                let inner = if exact == 1.0 {
                    (end - start) * (input - 1.0) / 2.0
                } else {
                    x * (end - start) * (input - 1.0) / (exact - 1.0)
                };
                inner + start * (input - 1.0)
            }
            other => {
                return Err(c.fail(format!(
                    "`coordinate_transformation_mode` {other} is unknown"
                )));
            }
        })
    }

    fn taps(&self, c: &Call<'_>, line: &Line, at: usize) -> Result<Taps> {
        let x = self.origin(c, line, at)?;
        let last = line.input as i64 - 1;
        if self.transform == "tf_crop_and_resize" && (x < 0.0 || x > last as f64) {
            return Ok(None);
        }
        let clamp = |at: i64| at.clamp(0, last) as usize;
        let floor = x.floor();
        if self.mode == "nearest" {
            let fraction = x - floor;
            let up = match self.nearest {
                _ if fraction == 0.0 => false,
                "round_prefer_floor" => fraction > 0.5,
                "round_prefer_ceil" => fraction >= 0.5,
                "floor" => false,
                "ceil" => true,
                other => return Err(c.fail(format!("`nearest_mode` {other} is unknown"))),
            };
            c.require(!self.antialias, "the nearest element has no antialiasing")?;
            return Ok(Some(vec![(clamp(floor as i64 + i64::from(up)), 1.0)]));
        }
        let a = self.cubic;
        let (reach, kernel): (f64, &dyn Fn(f64) -> f64) = match self.mode {
            "linear" => (1.0, &|d: f64| (1.0 - d.abs()).max(0.0)),
            "cubic" => (2.0, &|d: f64| {
                let d = d.abs();
                if d <= 1.0 {
                    ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
                } else if d < 2.0 {
                    ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
                } else {
                    0.0
                }
            }),
            other => return Err(c.fail(format!("mode `{other}` is unknown"))),
        };
        let shrink = if self.antialias {
            line.scale.min(1.0)
        } else {
            1.0
        };
        let span = (reach / shrink).ceil() as i64;
        let mut taps: Vec<(i64, f64)> = (-span..=span + 1)
            .map(|i| floor as i64 + i)
            .map(|at| (at, kernel((at as f64 - x) * shrink)))
            .filter(|tap| tap.1 != 0.0)
            .collect();
        if self.exclude_outside {
            taps.retain(|tap| (0..=last).contains(&tap.0));
        }
        if self.exclude_outside || self.antialias {
            let sum: f64 = taps.iter().map(|tap| tap.1).sum();
            taps.iter_mut().for_each(|tap| tap.1 /= sum);
        }
        Ok(Some(
            taps.into_iter()
                .map(|(at, weight)| (clamp(at), weight))
                .collect(),
        ))
    }
}
