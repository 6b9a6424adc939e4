//! Resampling.

use nomina_core::op::Op;
use nomina_core::{ErrorKind, Result, Scalar};

use super::pad::spread;
use super::{check_dims, inverse, list, order, pool, refuse};
use crate::call::backend::backend;
use crate::call::contiguous;
use crate::job::{ResampleJob, ResampledDim, Resize};
use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::{AxisWeights, record_linear};

/// How an element is computed from its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InterpolateMode {
    /// The nearest element, with its position rounded down: PyTorch's `nearest`, computed exactly.
    #[default]
    Nearest,
    /// The nearest element by distance of their centres.
    NearestExact,
    /// Linear interpolation of two elements along each dim: PyTorch's `linear`, `bilinear` and `trilinear`.
    Linear,
    /// A cubic spline through four elements along each dim: PyTorch's `bicubic`.
    Cubic,
    /// The mean of the elements that the new one covers.
    Area,
}

/// Resizes dims.
///
/// # Errors
/// If there are no elements or none are requested, the mode does not take the dtype, or memory is missing.
pub fn interpolate(
    x: &Raw,
    dims: &[Resize],
    mode: InterpolateMode,
    align_corners: bool,
) -> Result<Raw> {
    let op = Op::Interpolate;
    let places: Shape = dims.iter().map(|resize| resize.dim).collect();
    let sizes: Shape = dims.iter().map(|resize| resize.size).collect();
    check_sizes(x, dims, &places)?;
    match mode {
        InterpolateMode::Nearest | InterpolateMode::NearestExact => {
            let middles = mode == InterpolateMode::NearestExact;
            let mut maps = vec![None; x.rank()];
            for resize in dims {
                maps[resize.dim] = Some(nearest(x, resize, middles)?);
            }
            spread(op, x, &maps, Scalar::Int(0))
        }
        InterpolateMode::Area => {
            smooth(op, x)?;
            pool::adaptive_avg(op, x, &places, &sizes)
        }
        InterpolateMode::Linear | InterpolateMode::Cubic => {
            smooth(op, x)?;
            let cubic = mode == InterpolateMode::Cubic;
            let each: Vec<ResampledDim> = dims
                .iter()
                .map(|resize| {
                    ResampledDim::new(x.shape()[resize.dim], resize, align_corners, cubic)
                })
                .collect();
            resampled(op, x, &places, &each)
        }
    }
}

/// Checks that dims can have these sizes and factors.
pub(super) fn check_sizes(x: &Raw, dims: &[Resize], places: &[usize]) -> Result<()> {
    let op = Op::Interpolate;
    check_dims(op, x, places)?;
    for resize in dims {
        if resize.size == 0 || x.shape()[resize.dim] == 0 {
            let what = format!("from {} elements to {}", x.shape()[resize.dim], resize.size);
            return Err(refuse(ErrorKind::Shape, op, &[x], what)
                .at(0, resize.dim)
                .hint("both are 1 or more"));
        }
        if resize
            .factor
            .is_some_and(|factor| !(factor > 0.0 && factor.is_finite()))
        {
            let what = format!("a factor of {}", resize.factor.unwrap_or_default());
            return Err(refuse(ErrorKind::Argument, op, &[x], what)
                .at(0, resize.dim)
                .hint("factors are greater than zero"));
        }
    }
    Ok(())
}

pub(super) fn smooth(op: Op, x: &Raw) -> Result<()> {
    if x.dtype().is_float() {
        return Ok(());
    }
    let what = format!("{} cannot be interpolated", x.dtype());
    Err(refuse(ErrorKind::DType, op, &[x], what)
        .hint("use the nearest element, or convert to a float dtype with `to`"))
}

/// Returns the nearest element for each position of the result: `floor(i * size / out)`, or `floor((i + 1/2) * size /
/// out)` with `middles`. It is integer arithmetic, since a rounded quotient of the sizes may fall on the wrong side of
/// whole numbers.
fn nearest(x: &Raw, resize: &Resize, middles: bool) -> Result<Vec<isize>> {
    let size = x.shape()[resize.dim];
    let last = size as isize - 1;
    let mut map = list(Op::Interpolate, x, resize.size)?;
    let Some(factor) = resize.factor else {
        // In half elements. Below 2^66 times 2^64, and the quotient is below `size`.
        let (size, out) = (size as u128, resize.size as u128);
        let half = u128::from(middles);
        map.extend((0..out).map(|i: u128| ((2 * i + half) * size / (2 * out)) as isize));
        return Ok(map);
    };
    let half = if middles { 0.5 } else { 0.0 };
    map.extend((0..resize.size).map(|i| scaled_back(i as f64 + half, factor).clamp(0, last)));
    Ok(map)
}

/// Computes `floor(place / factor)`. A decimal factor such as 1.1 is itself rounded, so that a quotient within this
/// rounding error of a whole number counts as that number.
fn scaled_back(place: f64, factor: f64) -> isize {
    let quotient = place / factor;
    let whole = quotient.round();
    if (quotient - whole).abs() <= 2.0 * f64::EPSILON * whole {
        whole as isize
    } else {
        quotient.floor() as isize
    }
}

fn resampled(op: Op, x: &Raw, dims: &[usize], each: &[ResampledDim]) -> Result<Raw> {
    let moved = order(x.rank(), dims);
    let input = contiguous(&x.permute(&moved)?)?;
    let outer = x.rank() - dims.len();
    let mut shape = Shape::from_slice(&input.shape()[..outer]);
    shape.extend(each.iter().map(|dim| dim.out));
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    let job = ResampleJob {
        op: op.name(),
        dtype: x.dtype(),
        planes: crate::shape::count(&shape[..outer]),
        dims: each,
        x: input.as_ptr(),
        out: out.fresh_ptr(),
    };
    if out.numel() > 0 {
        // SAFETY: the dims are those of the planes; the input is contiguous and outlives the call, the
        // result is fresh.
        unsafe { backend(op.name(), x.device())?.resample(&job)? };
    }
    let out = record_linear(op, out, &input, || {
        let weights = |(at, along): (usize, &ResampledDim)| {
            let mut weights = AxisWeights::new(outer + at, along.size, along.out);
            for to in 0..along.out {
                let (from, by) = along.taps(to);
                let taps = from.into_iter().zip(by).take(along.each());
                taps.for_each(|(from, by)| weights.add(to, from, by));
            }
            weights
        };
        each.iter().enumerate().map(weights).collect()
    })?;
    out.permute(&inverse(&moved))
}
