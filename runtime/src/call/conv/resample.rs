//! Dims at other sizes.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result, Scalar};

use super::pad::spread;
use super::{check_count, check_dims, inverse, list, order, pool, refuse};
use crate::backend::backend;
use crate::call::contiguous;
use crate::call::reduce::address;
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

/// One dim's new size.
#[derive(Clone, Copy, Debug)]
pub struct Resize {
    /// The dim.
    pub dim: usize,
    /// How many elements it then has.
    pub size: usize,
    /// The factor to go by, where it is not the quotient of the sizes.
    pub factor: Option<f64>,
}

/// Elements of a dim, each times a weight, that make up one element of the result.
#[derive(Debug)]
pub(crate) struct Taps {
    /// How many make up one.
    pub(crate) each: usize,
    /// Which.
    pub(crate) index: Vec<usize>,
    /// Times what.
    pub(crate) weight: Vec<f64>,
}

impl Taps {
    /// How many elements they make.
    pub(crate) fn len(&self) -> usize {
        self.index.len() / self.each
    }
}

/// Planes resampled along their dims, for a backend: row-major, one behind another.
pub(crate) struct ResampleJob<'a> {
    /// Whose name an error bears.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    pub(crate) planes: usize,
    /// The dims' sizes.
    pub(crate) size: &'a [usize],
    /// For each dim.
    pub(crate) taps: &'a [Taps],
    pub(crate) x: *const u8,
    pub(crate) out: *mut u8,
}

// SAFETY: only addresses and numbers; whoever goes through them says why tasks do not meet.
unsafe impl Sync for ResampleJob<'_> {}

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
    check_dims(op, x, &places)?;
    check_count(op, x, "size", sizes.len(), places.len())?;
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
            let each = dims.iter().map(|resize| {
                let size = x.shape()[resize.dim];
                let at = place(size, resize, align_corners);
                let each = if cubic { 4 } else { 2 };
                let room = resize.size.saturating_mul(each);
                let taps = Taps {
                    each,
                    index: list(op, x, room)?,
                    weight: list(op, x, room)?,
                };
                Ok(if cubic {
                    cubics(taps, size, resize.size, at)
                } else {
                    linear(taps, size, resize.size, at)
                })
            });
            resampled(op, x, &places, &each.collect::<Result<Vec<_>>>()?, &sizes)
        }
    }
}

fn smooth(op: Op, x: &Raw) -> Result<()> {
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

/// Where element `i` of the result lies among those of the dim.
fn place(size: usize, resize: &Resize, align_corners: bool) -> impl Fn(usize) -> f64 {
    let out = resize.size;
    let scale = match resize.factor {
        _ if align_corners && out > 1 => (size as f64 - 1.0) / (out as f64 - 1.0),
        _ if align_corners => 0.0,
        Some(factor) => 1.0 / factor,
        None => size as f64 / out as f64,
    };
    move |i| {
        if align_corners {
            scale * i as f64
        } else {
            scale * (i as f64 + 0.5) - 0.5
        }
    }
}

fn linear(mut taps: Taps, size: usize, out: usize, at: impl Fn(usize) -> f64) -> Taps {
    for i in 0..out {
        // Of the same size it is the same, whatever the factor, as PyTorch has it.
        let at = if out == size {
            i as f64
        } else {
            at(i).max(0.0)
        };
        let first = (at as usize).min(size - 1);
        let part = (at - first as f64).clamp(0.0, 1.0);
        taps.index.extend([first, (first + 1).min(size - 1)]);
        taps.weight.extend([1.0 - part, part]);
    }
    taps
}

/// Keys' spline with -0.75, as PyTorch has it.
fn cubics(mut taps: Taps, size: usize, out: usize, at: impl Fn(usize) -> f64) -> Taps {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    for i in 0..out {
        let at = at(i);
        let (first, part) = (at.floor() as isize, at - at.floor());
        taps.index
            .extend((-1..3).map(|k| (first + k).clamp(0, size as isize - 1) as usize));
        taps.weight.extend([
            far(part + 1.0),
            near(part),
            near(1.0 - part),
            far(2.0 - part),
        ]);
    }
    taps
}

fn resampled(op: Op, x: &Raw, dims: &[usize], taps: &[Taps], sizes: &[usize]) -> Result<Raw> {
    let moved = order(x.rank(), dims);
    let input = contiguous(&x.permute(&moved)?)?;
    let outer = x.rank() - dims.len();
    let mut shape = Shape::from_slice(&input.shape()[..outer]);
    shape.extend_from_slice(sizes);
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    let job = ResampleJob {
        op: op.name(),
        dtype: x.dtype(),
        planes: shape[..outer].iter().product(),
        size: &input.shape()[outer..],
        taps,
        x: input.as_ptr(),
        out: address(&mut out),
    };
    if out.numel() > 0 {
        // SAFETY: taps lie in the planes; the input is contiguous and outlives the call, the
        // result is fresh.
        unsafe { backend(op.name(), x.device())?.resample(&job)? };
    }
    out.permute(&inverse(&moved))
}
