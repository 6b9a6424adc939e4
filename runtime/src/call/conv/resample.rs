//! Resampling.

use nomina_core::op::Op;
use nomina_core::{ErrorKind, Result, Scalar};

use super::pad::spread;
use super::{check_dims, inverse, list, order, pool, refuse};
use crate::call::backend::backend;
use crate::call::contiguous;
use crate::call::grad::{Weights, linear_along};
use crate::call::reduce::address;
use crate::job::{Along, ResampleJob, Resize};
use crate::raw::Raw;
use crate::shape::Shape;

/// How an element is made from those around its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InterpolateMode {
    /// The nearest one, its place rounded down, as PyTorch's `nearest` has it.
    #[default]
    Nearest,
    /// The nearest one, by the middles of elements.
    NearestExact,
    /// Between two along each dim: PyTorch's `linear`, `bilinear` and `trilinear`.
    Linear,
    /// A cubic spline through four along each dim: PyTorch's `bicubic`.
    Cubic,
    /// The mean of those that lie in its place.
    Area,
}

/// Dims at other sizes.
///
/// # Errors
/// No elements or none asked for, a dtype that the mode does not take, missing memory.
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
            let middle = if mode == InterpolateMode::Nearest {
                0.0
            } else {
                0.5
            };
            let mut maps = vec![None; x.rank()];
            for resize in dims {
                maps[resize.dim] = Some(nearest(x, resize, middle)?);
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
            let each: Vec<Along> = dims
                .iter()
                .map(|resize| Along::new(x.shape()[resize.dim], resize, align_corners, cubic))
                .collect();
            resampled(op, x, &places, &each)
        }
    }
}

/// Sizes and factors that a dim can have.
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
    let what = format!("between elements of {} there is none", x.dtype());
    Err(refuse(ErrorKind::DType, op, &[x], what)
        .hint("take the nearest element, or convert to a float dtype with `to`"))
}

/// As PyTorch has it, in `f32`, so that rounding falls on the same side.
fn nearest(x: &Raw, resize: &Resize, middle: f32) -> Result<Vec<isize>> {
    let size = x.shape()[resize.dim];
    let scale = match resize.factor {
        Some(factor) => (1.0 / factor) as f32,
        None => size as f32 / resize.size as f32,
    };
    let at = |i: usize| ((i as f32 + middle) * scale).floor() as isize;
    let mut map = list(Op::Interpolate, x, resize.size)?;
    map.extend((0..resize.size).map(|i| at(i).clamp(0, size as isize - 1)));
    Ok(map)
}

fn resampled(op: Op, x: &Raw, dims: &[usize], each: &[Along]) -> Result<Raw> {
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
        out: address(&mut out),
    };
    if out.numel() > 0 {
        // SAFETY: the dims are those of the planes; the input is contiguous and outlives the call, the
        // result is fresh.
        unsafe { backend(op.name(), x.device())?.resample(&job)? };
    }
    let out = linear_along(op, out, &input, || {
        let weights = |(at, along): (usize, &Along)| {
            let mut weights = Weights::new(outer + at, along.size, along.out);
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
