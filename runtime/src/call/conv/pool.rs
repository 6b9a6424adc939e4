//! Pools: one number from the elements under a window.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result};

use super::convolve::positive;
use super::{check_count, check_dims, inverse, list, order, refuse, three};
use crate::backend::backend;
use crate::call::contiguous;
use crate::call::device::{by_host, same_device};
use crate::call::reduce::address;
use crate::cpu::conv::unpool;
use crate::raw::Raw;
use crate::shape::Shape;

/// How the window of a greatest element slides; one number for each dim.
#[derive(Clone, Copy, Debug)]
pub struct MaxArgs<'a> {
    /// The window's sizes.
    pub kernel: &'a [usize],
    /// From one position to the next.
    pub stride: &'a [usize],
    /// How far the window reaches beyond the first and the last element.
    pub padding: &'a [usize],
    /// From one element under the window to the next.
    pub dilation: &'a [usize],
    /// Whether a last window that starts inside counts though it reaches beyond.
    pub ceil_mode: bool,
}

/// How the window of a mean slides; one number for each dim.
#[derive(Clone, Copy, Debug)]
pub struct AvgArgs<'a> {
    /// The window's sizes.
    pub kernel: &'a [usize],
    /// From one position to the next.
    pub stride: &'a [usize],
    /// Zeros before the first and after the last element.
    pub padding: &'a [usize],
    /// Whether a last window that starts inside counts though it reaches beyond.
    pub ceil_mode: bool,
    /// Whether zeros outside are counted.
    pub count_include_pad: bool,
    /// What sums are divided by, instead of a count.
    pub divisor_override: Option<i64>,
}

/// What one position of a window covers of a dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first element.
    pub(crate) start: usize,
    /// How many elements.
    pub(crate) taps: usize,
    /// How many positions the mean counts.
    pub(crate) count: usize,
}

/// What becomes of the elements under a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    Max,
    /// Divided by this, or by the count.
    Mean(Option<i64>),
}

/// A pool for a backend: planes of three dims, row-major and one behind another.
pub(crate) struct PoolJob {
    /// Whose name an error bears.
    pub(crate) op: &'static str,
    pub(crate) kind: PoolKind,
    pub(crate) dtype: DType,
    pub(crate) planes: usize,
    pub(crate) size: [usize; 3],
    /// For each dim, what each position covers.
    pub(crate) spans: [Vec<Span>; 3],
    /// From one element under the window to the next.
    pub(crate) step: [usize; 3],
    pub(crate) x: *const u8,
    pub(crate) out: *mut u8,
    /// Where the greatest elements stand in their plane.
    pub(crate) indices: Option<*mut i64>,
}

// SAFETY: only addresses and numbers; whoever goes through them says why tasks do not meet.
unsafe impl Sync for PoolJob {}

/// The size of a pool's result and the window's dims, all checked.
struct Slide {
    size: usize,
    kernel: usize,
    stride: usize,
    before: usize,
    dilation: usize,
    out: usize,
}

fn slide(op: Op, x: &Raw, dims: &[usize], args: &MaxArgs<'_>) -> Result<Vec<Slide>> {
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
        let [kernel, stride, before, dilation] =
            [args.kernel[i], args.stride[i], args.padding[i], args.dilation[i]];
        positive(op, x, dim, stride, dilation)?;
        // In 128 bits nothing of this overflows.
        let wide = |n: usize| n as i128;
        let reach = wide(dilation) * (wide(kernel) - 1) + 1;
        if kernel == 0 || 2 * wide(before) > reach {
            let what = format!("a window of {kernel} elements with a padding of {before}");
            return Err(refuse(ErrorKind::Argument, op, &[x], what)
                .at(0, dim)
                .hint("the window has an element, and half of it is at most padding"));
        }
        let free = wide(size) + 2 * wide(before) - reach;
        let rounded = if args.ceil_mode { free + wide(stride) - 1 } else { free };
        let mut out = rounded.div_euclid(wide(stride)) + 1;
        // The last window starts at an element or in the padding before it.
        if args.ceil_mode && (out - 1) * wide(stride) >= wide(size) + wide(before) {
            out -= 1;
        }
        let limit = isize::MAX as i128;
        if size == 0 || out < 1 || out > limit || reach > limit {
            let what = format!(
                "the window spans {reach} elements, where there are {size} with a padding of {before}"
            );
            return Err(refuse(ErrorKind::Shape, op, &[x], what)
                .at(0, dim)
                .hint("pad more, or take a smaller window"));
        }
        Ok(Slide {
            size,
            kernel,
            stride,
            before,
            dilation,
            out: out as usize,
        })
    });
    each.collect()
}

impl Slide {
    /// What each position covers; `padded` counts zeros outside, as far as the padding goes.
    fn spans(&self, op: Op, x: &Raw, padded: bool) -> Result<Vec<Span>> {
        let mut spans = list(op, x, self.out)?;
        let (size, before) = (self.size as i128, self.before as i128);
        let each = (0..self.out).map(|at| {
            let first = at as i128 * self.stride as i128 - before;
            let dilation = self.dilation as i128;
            let skipped = if first < 0 {
                (-first + dilation - 1) / dilation
            } else {
                0
            };
            let start = first + skipped * dilation;
            let fit = ((size - start + dilation - 1) / dilation).max(0);
            let taps = (self.kernel as i128 - skipped).min(fit).max(0);
            let end = (first + self.kernel as i128).min(size + before);
            let count = if padded { end - first } else { taps };
            Span {
                start: start.min(size) as usize,
                taps: taps as usize,
                count: count.max(0) as usize,
            }
        });
        spans.extend(each);
        Ok(spans)
    }
}

/// Brings `dims` behind the others, computes, and puts the result's dims to their places.
fn pooled(
    op: Op,
    x: &Raw,
    dims: &[usize],
    spans: Vec<Vec<Span>>,
    step: &[usize],
    kind: PoolKind,
    indices: bool,
) -> Result<(Raw, Option<Raw>)> {
    op.row().check_dtype(x.dtype())?;
    let moved = order(x.rank(), dims);
    let input = contiguous(&x.permute(&moved)?)?;
    let outer = x.rank() - dims.len();
    let mut shape = Shape::from_slice(input.shape());
    for (size, spans) in shape[outer..].iter_mut().zip(&spans) {
        *size = spans.len();
    }
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    let mut places = match indices {
        true => Some(Raw::empty(op.name(), &shape, DType::I64, x.device())?),
        false => None,
    };
    let one = Span {
        start: 0,
        taps: 1,
        count: 1,
    };
    let mut all = [vec![one], vec![one], vec![one]];
    for (at, spans) in spans.into_iter().enumerate() {
        all[3 - dims.len() + at] = spans;
    }
    let job = PoolJob {
        op: op.name(),
        kind,
        dtype: x.dtype(),
        planes: input.shape()[..outer].iter().product(),
        size: three(1, &input.shape()[outer..]),
        spans: all,
        step: three(1, step),
        x: input.as_ptr(),
        out: address(&mut out),
        indices: places.as_mut().map(|places| address(places).cast()),
    };
    if out.numel() > 0 {
        // SAFETY: spans lie in the planes; the input is contiguous and outlives the call, the
        // results are fresh and have an element for each position of each plane.
        unsafe { backend(op.name(), x.device())?.pool(&job)? };
    }
    let back = inverse(&moved);
    let places = places.map(|places| places.permute(&back)).transpose()?;
    Ok((out.permute(&back)?, places))
}

/// The greatest element under a window, and with `indices` where it stands among the elements of
/// `dims`, counted row-major.
///
/// # Errors
/// Sizes that do not fit, a dtype without order, missing memory.
pub fn max_pool(
    op: Op,
    x: &Raw,
    dims: &[usize],
    args: &MaxArgs<'_>,
    indices: bool,
) -> Result<(Raw, Option<Raw>)> {
    let slides = slide(op, x, dims, args)?;
    let spans = slides
        .iter()
        .map(|slide| slide.spans(op, x, false))
        .collect::<Result<_>>()?;
    pooled(op, x, dims, spans, args.dilation, PoolKind::Max, indices)
}

/// The mean under a window.
///
/// # Errors
/// Sizes that do not fit, a dtype that has no mean, missing memory.
pub fn avg_pool(op: Op, x: &Raw, dims: &[usize], args: &AvgArgs<'_>) -> Result<Raw> {
    let ones = [1; 3];
    let slides = slide(
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
    )?;
    if args.divisor_override == Some(0) {
        return Err(refuse(ErrorKind::Argument, op, &[x], "a divisor of 0")
            .hint("give another number, or none to divide by the count"));
    }
    let spans = slides
        .iter()
        .map(|slide| slide.spans(op, x, args.count_include_pad))
        .collect::<Result<_>>()?;
    let kind = PoolKind::Mean(args.divisor_override);
    Ok(pooled(op, x, dims, spans, &ones[..dims.len()], kind, false)?.0)
}

/// The parts into which an adaptive pool cuts a dim; neighbours may share an element.
fn parts(op: Op, x: &Raw, dims: &[usize], sizes: &[usize]) -> Result<Vec<Vec<Span>>> {
    check_dims(op, x, dims)?;
    check_count(op, x, "output_size", sizes.len(), dims.len())?;
    let each = dims.iter().zip(sizes).map(|(&dim, &out)| {
        let size = x.shape()[dim];
        if size == 0 {
            return Err(refuse(ErrorKind::Shape, op, &[x], "no elements")
                .at(0, dim)
                .hint("a part has at least one element"));
        }
        let mut spans = list(op, x, out)?;
        spans.extend((0..out).map(|at| {
            let (at, size, out) = (at as u128, size as u128, out as u128);
            let (start, end) = (at * size / out, ((at + 1) * size).div_ceil(out));
            let taps = (end - start) as usize;
            Span {
                start: start as usize,
                taps,
                count: taps,
            }
        }));
        Ok(spans)
    });
    each.collect()
}

/// The means of `sizes` equal parts of each dim.
///
/// # Errors
/// As [`avg_pool`].
pub fn adaptive_avg(op: Op, x: &Raw, dims: &[usize], sizes: &[usize]) -> Result<Raw> {
    let spans = parts(op, x, dims, sizes)?;
    let step = &[1; 3][..dims.len()];
    Ok(pooled(op, x, dims, spans, step, PoolKind::Mean(None), false)?.0)
}

/// The greatest elements of `sizes` equal parts of each dim, and with `indices` where they stand.
///
/// # Errors
/// As [`max_pool`].
pub fn adaptive_max(
    op: Op,
    x: &Raw,
    dims: &[usize],
    sizes: &[usize],
    indices: bool,
) -> Result<(Raw, Option<Raw>)> {
    let spans = parts(op, x, dims, sizes)?;
    let step = &[1; 3][..dims.len()];
    pooled(op, x, dims, spans, step, PoolKind::Max, indices)
}

/// Puts elements to their indices in planes of `sizes`, among zeros.
///
/// # Errors
/// Indices of another dtype or shape, or out of range; missing memory.
pub fn max_unpool(op: Op, x: &Raw, indices: &Raw, dims: &[usize], sizes: &[usize]) -> Result<Raw> {
    check_dims(op, x, dims)?;
    check_count(op, x, "output_size", sizes.len(), dims.len())?;
    op.row().check_dtype(x.dtype())?;
    let both = [x, indices];
    if indices.dtype() != DType::I64 {
        let what = format!("indices are i64, not {}", indices.dtype());
        return Err(refuse(ErrorKind::DType, op, &both, what).hint("take those of `max_pool`"));
    }
    if indices.shape() != x.shape() {
        let what = "elements and indices have different sizes";
        return Err(refuse(ErrorKind::Shape, op, &both, what).hint("take those of `max_pool`"));
    }
    same_device(op.name(), &both)?;
    if !x.device().is_cpu() {
        return by_host("max_unpool", &both, |host| {
            max_unpool(op, &host[0], &host[1], dims, sizes)
        });
    }
    let moved = order(x.rank(), dims);
    let (input, places) = (
        contiguous(&x.permute(&moved)?)?,
        contiguous(&indices.permute(&moved)?)?,
    );
    let outer = x.rank() - dims.len();
    let mut shape = Shape::from_slice(input.shape());
    shape[outer..].copy_from_slice(sizes);
    let mut out = Raw::zeros(op.name(), &shape, x.dtype(), x.device())?;
    let plane: usize = input.shape()[outer..].iter().product();
    let room: usize = sizes.iter().product();
    if plane > 0 && input.numel() > 0 {
        let Some(places) = places.as_slice::<i64>() else {
            let what = "the indices are not on the host";
            return Err(refuse(ErrorKind::Device, op, &both, what).hint("move them with `cpu`"));
        };
        input.check_host(op.name())?;
        let wrong = crate::dispatch::with_dtype!(x.dtype(), T => {
            match input.as_slice::<T>() {
                Some(from) => unpool(from, places, out.as_mut_slice::<T>()?, plane, room),
                None => None,
            }
        });
        if let Some(index) = wrong {
            let what = format!("index {index} where there are {room} elements");
            return Err(refuse(ErrorKind::Index, op, &both, what)
                .hint("give the sizes that the pool's input had"));
        }
    }
    out.permute(&inverse(&moved))
}
