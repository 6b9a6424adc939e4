//! Pools: one number from the elements under each window.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Names, Result};

use super::convolve::positive;
use super::{check_count, check_dims, check_limits, inverse, order, refuse, three};
use crate::call::backend::backend;
use crate::call::check::same_device;
use crate::call::contiguous;
use crate::job::{Cover, PoolJob, PoolKind, Slide, UnpoolJob};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::{Shape, count};
use crate::tape::{has_gradient, record_average_pool, record_max_pool, record_max_unpool};

/// The window of a maximum pool; one number for each dim.
#[derive(Clone, Copy, Debug)]
pub struct MaxArgs<'a> {
    /// The window's sizes.
    pub kernel: &'a [usize],
    /// The distance between positions.
    pub stride: &'a [usize],
    /// The number of positions by which the window may exceed either end.
    pub padding: &'a [usize],
    /// The distance between elements under the window.
    pub dilation: &'a [usize],
    /// Whether a last window that starts inside counts although it exceeds the end.
    pub ceil_mode: bool,
}

/// The window of an average pool; one number for each dim.
#[derive(Clone, Copy, Debug)]
pub struct AvgArgs<'a> {
    /// The window's sizes.
    pub kernel: &'a [usize],
    /// The distance between positions.
    pub stride: &'a [usize],
    /// The number of zeros before the first and after the last element.
    pub padding: &'a [usize],
    /// Whether a last window that starts inside counts although it exceeds the end.
    pub ceil_mode: bool,
    /// Whether zeros outside count as elements.
    pub count_include_pad: bool,
    /// The divisor of sums, instead of the number of elements.
    pub divisor_override: Option<i64>,
}

fn slide(op: Op, x: &Raw, dims: &[usize], args: &MaxArgs<'_>, padded: bool) -> Result<Vec<Cover>> {
    check_dims(op, x, dims)?;
    for (what, given) in [
        ("kernel_size", args.kernel),
        ("stride", args.stride),
        ("padding", args.padding),
        ("dilation", args.dilation),
    ] {
        check_count(op, x, what, given.len(), dims.len())?;
    }
    let each = dims.iter().enumerate().map(|(i, &dim)| {
        let size = x.shape()[dim];
        let [kernel, stride, before, dilation] = [
            args.kernel[i],
            args.stride[i],
            args.padding[i],
            args.dilation[i],
        ];
        positive(op, x, dim, stride, dilation)?;
        let sizes = [
            ("kernel_size", kernel),
            ("stride", stride),
            ("padding", before),
            ("dilation", dilation),
        ];
        check_limits(op, x, Some(dim), &sizes)?;
        let limit = isize::MAX as usize;
        // In 128 bits nothing of this overflows.
        let wide = |n: usize| n as i128;
        let reach = wide(dilation) * (wide(kernel) - 1) + 1;
        if kernel == 0 || 2 * wide(before) > reach {
            let what = format!("a window of {kernel} elements with a padding of {before}");
            return Err(refuse(ErrorKind::Argument, op, &[x], what)
                .at(0, dim)
                .hint("the window needs an element, at most half of it padding"));
        }
        let free = wide(size) + 2 * wide(before) - reach;
        let rounded = if args.ceil_mode {
            free + wide(stride) - 1
        } else {
            free
        };
        let mut out = rounded.div_euclid(wide(stride)) + 1;
        // The last window starts at an element or in the padding before it.
        if args.ceil_mode && (out - 1) * wide(stride) >= wide(size) + wide(before) {
            out -= 1;
        }
        if size == 0 || out < 1 || out.max(reach) > wide(limit) {
            let what = format!(
                "the window spans {reach} elements, but there are {size} with a padding of {before}"
            );
            return Err(refuse(ErrorKind::Shape, op, &[x], what)
                .at(0, dim)
                .hint("pad more, or use a smaller window"));
        }
        Ok(Cover::Slide(Slide {
            size,
            kernel,
            stride,
            before,
            dilation,
            out: out as usize,
            padded,
        }))
    });
    each.collect()
}

/// Moves `dims` to the end, computes, and moves the result's dims back.
fn pooled(
    op: Op,
    x: &Raw,
    dims: &[usize],
    covers: &[Cover],
    kind: PoolKind,
    indices: bool,
) -> Result<(Raw, Option<Raw>)> {
    op.row().check_dtype(x.dtype())?;
    let moved = order(x.rank(), dims);
    let input = contiguous(&x.permute(&moved)?)?;
    let outer = x.rank() - dims.len();
    let mut shape = Shape::from_slice(input.shape());
    for (size, cover) in shape[outer..].iter_mut().zip(covers) {
        *size = cover.len();
    }
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    // The gradient needs the positions of the greatest elements.
    let kept = matches!(kind, PoolKind::Max) && has_gradient(x.dtype()) && is_wanted([x]);
    let mut places = if indices || kept {
        Some(Raw::empty(op.name(), &shape, DType::I64, x.device())?)
    } else {
        None
    };
    let job = PoolJob {
        op: op.name(),
        kind,
        dtype: x.dtype(),
        planes: count(&input.shape()[..outer]),
        size: three(1, &input.shape()[outer..]),
        covers: three(Cover::NONE, covers),
        x: input.as_ptr(),
        out: out.fresh_ptr(),
        indices: places.as_mut().map(|places| places.fresh_ptr().cast()),
    };
    if out.numel() > 0 {
        // SAFETY: the windows lie in the planes; the input is contiguous and outlives the call, the results are fresh
        // and have an element for each position of each plane.
        unsafe { backend(op.name(), x.device())?.pool(&job)? };
    }
    let back = inverse(&moved);
    let out = match (kind, &places) {
        (PoolKind::Max, Some(places)) => record_max_pool(op, out, &input, places, covers)?,
        (PoolKind::Max, None) => out,
        (PoolKind::Mean(divisor), _) => record_average_pool(op, out, &input, covers, divisor)?,
    };
    let places = places.filter(|_| indices);
    let places = places.map(|places| places.permute(&back)).transpose()?;
    Ok((out.permute(&back)?, places))
}

/// Computes the greatest element under each window, and with `indices` its row-major position among the elements of
/// `dims`.
///
/// # Errors
/// If sizes do not fit, the dtype has no order, or memory is missing.
pub fn max_pool(
    op: Op,
    x: &Raw,
    dims: &[usize],
    args: &MaxArgs<'_>,
    indices: bool,
) -> Result<(Raw, Option<Raw>)> {
    let covers = slide(op, x, dims, args, false)?;
    pooled(op, x, dims, &covers, PoolKind::Max, indices)
}

/// Computes the mean under each window.
///
/// # Errors
/// If sizes do not fit, the dtype has no mean, or memory is missing.
pub fn avg_pool(op: Op, x: &Raw, dims: &[usize], args: &AvgArgs<'_>) -> Result<Raw> {
    let ones = [1; 3];
    let covers = slide(
        op,
        x,
        dims,
        &MaxArgs {
            kernel: args.kernel,
            stride: args.stride,
            padding: args.padding,
            dilation: &ones[..dims.len().min(3)],
            ceil_mode: args.ceil_mode,
        },
        args.count_include_pad,
    )?;
    if args.divisor_override == Some(0) {
        return Err(refuse(ErrorKind::Argument, op, &[x], "a divisor of 0")
            .hint("give another number, or none to divide by the count"));
    }
    let kind = PoolKind::Mean(args.divisor_override);
    Ok(pooled(op, x, dims, &covers, kind, false)?.0)
}

/// Returns the parts into which an adaptive pool divides dims.
fn parts(op: Op, x: &Raw, dims: &[usize], sizes: &[usize]) -> Result<Vec<Cover>> {
    check_dims(op, x, dims)?;
    check_count(op, x, "output_size", sizes.len(), dims.len())?;
    let each = dims.iter().zip(sizes).map(|(&dim, &out)| {
        let size = x.shape()[dim];
        if size == 0 {
            return Err(refuse(ErrorKind::Shape, op, &[x], "no elements")
                .at(0, dim)
                .hint("a part has at least one element"));
        }
        Ok(Cover::Parts { size, out })
    });
    each.collect()
}

/// Computes the means of `sizes` equal parts of each dim.
///
/// # Errors
/// Like [`avg_pool`].
pub fn adaptive_avg(op: Op, x: &Raw, dims: &[usize], sizes: &[usize]) -> Result<Raw> {
    let covers = parts(op, x, dims, sizes)?;
    Ok(pooled(op, x, dims, &covers, PoolKind::Mean(None), false)?.0)
}

/// Computes the greatest elements of `sizes` equal parts of each dim, and with `indices` their positions.
///
/// # Errors
/// Like [`max_pool`].
pub fn adaptive_max(
    op: Op,
    x: &Raw,
    dims: &[usize],
    sizes: &[usize],
    indices: bool,
) -> Result<(Raw, Option<Raw>)> {
    let covers = parts(op, x, dims, sizes)?;
    pooled(op, x, dims, &covers, PoolKind::Max, indices)
}

/// Writes elements to their indices in planes of zeros with these `sizes`.
///
/// # Errors
/// If indices have another dtype or shape or are out of range, or memory is missing.
pub fn max_unpool(op: Op, x: &Raw, indices: &Raw, dims: &[usize], sizes: &[usize]) -> Result<Raw> {
    check_dims(op, x, dims)?;
    check_count(op, x, "output_size", sizes.len(), dims.len())?;
    op.row().check_dtype(x.dtype())?;
    let both = [x, indices];
    if indices.dtype() != DType::I64 {
        let what = format!("indices are i64, not {}", indices.dtype());
        return Err(refuse(ErrorKind::DType, op, &both, what).hint("use those of `max_pool`"));
    }
    if indices.shape() != x.shape() {
        let what = "elements and indices have different sizes";
        return Err(refuse(ErrorKind::Shape, op, &both, what).hint("use those of `max_pool`"));
    }
    same_device(op.name(), &both)?;
    let moved = order(x.rank(), dims);
    let (input, places) = (
        contiguous(&x.permute(&moved)?)?,
        contiguous(&indices.permute(&moved)?)?,
    );
    let outer = x.rank() - dims.len();
    let mut shape = Shape::from_slice(input.shape());
    shape[outer..].copy_from_slice(sizes);
    let mut out = Raw::zeros(op.name(), &shape, x.dtype(), x.device())?;
    let plane: usize = count(&input.shape()[outer..]);
    if plane > 0 && input.numel() > 0 {
        let job = UnpoolJob {
            op: op.name(),
            dtype: x.dtype(),
            count: input.numel(),
            plane,
            room: count(sizes),
            x: input.as_ptr(),
            indices: places.as_ptr().cast(),
            out: out.fresh_ptr(),
        };
        // SAFETY: as many indices as elements, both contiguous; the result is fresh and has a plane of `room` elements
        // for each of `plane`.
        unsafe { backend(op.name(), x.device())?.unpool(&job) }.map_err(|error| {
            let shapes = both.map(|x| x.shape());
            shapes.into_iter().fold(error, |error, shape| {
                error.operand(&Names::default(), shape)
            })
        })?;
    }
    record_max_unpool(op, out, &input, &places, dims.len())?.permute(&inverse(&moved))
}
