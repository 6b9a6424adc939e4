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

/// A dim at another size, where elements are made from several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Along {
    /// The dim's size.
    pub(crate) size: usize,
    /// Its size in the result.
    pub(crate) out: usize,
    /// From one element of the result to the next, among those of the dim.
    pub(crate) scale: f64,
    /// Whether the first and the last element stay where they are, instead of the edges.
    pub(crate) corners: bool,
    /// Whether four make up one, by a spline, instead of two.
    pub(crate) cubic: bool,
}

impl Along {
    fn new(size: usize, resize: &Resize, align_corners: bool, cubic: bool) -> Self {
        let out = resize.size;
        // Of the same size a line is the same, whatever the factor, as PyTorch has it.
        let corners = align_corners || (out == size && !cubic);
        let scale = match resize.factor {
            _ if out == size && !cubic => 1.0,
            _ if align_corners && out > 1 => (size as f64 - 1.0) / (out as f64 - 1.0),
            _ if align_corners => 0.0,
            Some(factor) => 1.0 / factor,
            None => size as f64 / out as f64,
        };
        Self {
            size,
            out,
            scale,
            corners,
            cubic,
        }
    }

    /// How many make up one.
    pub(crate) fn each(&self) -> usize {
        if self.cubic { 4 } else { 2 }
    }

    /// Where element `i` of the result lies among those of the dim.
    fn place(&self, i: usize) -> f64 {
        if self.corners {
            self.scale * i as f64
        } else {
            self.scale * (i as f64 + 0.5) - 0.5
        }
    }

    /// The elements that make up element `i` of the result, and what they are multiplied with; of
    /// which the first [`Along::each`] count.
    pub(crate) fn taps(&self, i: usize) -> ([usize; 4], [f64; 4]) {
        let (at, last) = (self.place(i), self.size - 1);
        if self.cubic {
            let (first, part) = (at.floor() as isize, at - at.floor());
            let index =
                [-1, 0, 1, 2].map(|k| first.saturating_add(k).clamp(0, last as isize) as usize);
            let weight = [
                far(part + 1.0),
                near(part),
                near(1.0 - part),
                far(2.0 - part),
            ];
            return (index, weight);
        }
        let at = at.max(0.0);
        let first = (at as usize).min(last);
        let part = (at - first as f64).clamp(0.0, 1.0);
        // Of the same size a line does not look at neighbours, whose infinities no weight takes away.
        let next = if self.out == self.size {
            first
        } else {
            first + 1
        };
        ([first, next.min(last), 0, 0], [1.0 - part, part, 0.0, 0.0])
    }
}

/// Keys' spline with -0.75, as PyTorch has it: up to a distance of one.
fn near(x: f64) -> f64 {
    ((SLOPE + 2.0) * x - (SLOPE + 3.0)) * x * x + 1.0
}

/// The same, from there up to two.
fn far(x: f64) -> f64 {
    ((SLOPE * x - 5.0 * SLOPE) * x + 8.0 * SLOPE) * x - 4.0 * SLOPE
}

const SLOPE: f64 = -0.75;

/// Planes resampled along their dims, for a backend: row-major, one behind another.
pub(crate) struct ResampleJob<'a> {
    /// Whose name an error bears.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    pub(crate) planes: usize,
    /// One to three.
    pub(crate) dims: &'a [Along],
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
            let each: Vec<Along> = dims
                .iter()
                .map(|resize| Along::new(x.shape()[resize.dim], resize, align_corners, cubic))
                .collect();
            resampled(op, x, &places, &each)
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
    out.permute(&inverse(&moved))
}
