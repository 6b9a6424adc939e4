//! Checks of indices, and the jobs that read and write at them.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use crate::call::backend::backend;
use crate::call::{ReduceOptions, check, contiguous, reduce, to_dtype};
use crate::cpu::gather::extremes;
use crate::job::{Counted, IndexJob, Place, Unchecked};
use crate::plan::Plan;
use crate::raw::Raw;
use crate::shape::{Shape, Strides, scaled_stride};

#[cold]
pub(super) fn refuse(kind: ErrorKind, op: Op, shapes: &[&[usize]], what: String) -> Error {
    let error = Error::new(kind, op.name(), what);
    shapes.iter().fold(error, |error, shape| {
        error.operand(&Names::default(), shape)
    })
}

/// Checks that an operand is on this device.
pub(super) fn same_device(op: Op, a: crate::Device, b: &Raw) -> Result<()> {
    if a == b.device() {
        return Ok(());
    }
    Err(check::mixed_devices(op.name(), a, b.device()))
}

/// Checks that values have the dtype of the tensor to which they are written.
pub(super) fn same_dtype(op: Op, own: (&[usize], DType), new: &Raw) -> Result<()> {
    if own.1 == new.dtype() {
        return Ok(());
    }
    let what = format!("values are {}, the tensor is {}", new.dtype(), own.1);
    Err(refuse(ErrorKind::DType, op, &[own.0, new.shape()], what)
        .hint("convert the values first, with `to`"))
}

/// Checks that an index has as many dims as the tensor.
pub(super) fn same_rank(op: Op, own: &[usize], index: &Raw) -> Result<()> {
    if own.len() == index.rank() {
        return Ok(());
    }
    let what = format!("index has {} dims, self {}", index.rank(), own.len());
    Err(refuse(ErrorKind::Rank, op, &[own, index.shape()], what)
        .hint("give an index of the tensor's rank"))
}

/// The most dims for which a device checks an index while it uses it; beyond, it is checked in a pass of its own.
pub(super) const DIMS: usize = 6;

/// Returns the index as `i64` with numbers from 0 to below the size of dim `dim` of `shape`. Negative numbers count
/// from the end, but `embedding` refuses them. A device is not waited for: it checks the index when it is used, unless
/// `here` is set.
pub(super) fn checked(
    op: Op,
    shape: &[usize],
    dim: usize,
    index: &Raw,
    here: bool,
) -> Result<(Raw, Option<Unchecked>)> {
    check::dim(op.name(), shape, dim)?;
    if !matches!(index.dtype(), DType::I32 | DType::I64) {
        let what = format!("an index of {}", index.dtype());
        return Err(refuse(ErrorKind::DType, op, &[shape, index.shape()], what)
            .hint("indices are i64 or i32: convert it with `to`"));
    }
    let index = to_dtype(index, DType::I64)?;
    let unchecked = Unchecked {
        op,
        counted: if op == Op::Embedding {
            Counted::Rows(dim)
        } else {
            Counted::Dim(dim)
        },
        size: shape[dim],
        shapes: [shape.into(), index.shape().into()],
    };
    if index.device().is_cpu() {
        let Some((low, high)) = bounds(&index)? else {
            return Ok((index, None));
        };
        let limit = i64::try_from(shape[dim]).unwrap_or(i64::MAX);
        let least = if unchecked.wraps() { -limit } else { 0 };
        if high >= limit || low < least {
            return Err(unchecked.error(if high >= limit { high } else { low }));
        }
        if low >= 0 {
            return Ok((index, None));
        }
    } else if !here && index.rank().max(shape.len()) <= DIMS {
        return Ok((index, Some(unchecked)));
    }
    Ok((from_start(&index, &unchecked)?, None))
}

/// Counts negative numbers of an index from the end. On a device, also checks them.
pub(super) fn from_start(index: &Raw, unchecked: &Unchecked) -> Result<Raw> {
    let op = unchecked.op.name();
    let index = contiguous(index)?;
    let mut out = Raw::empty(op, index.shape(), DType::I64, index.device())?;
    let (from, to) = (index.as_ptr().cast(), out.fresh_ptr().cast());
    if index.numel() > 0 {
        // SAFETY: a contiguous index, which was checked on the host, and a fresh result.
        unsafe { backend(op, index.device())?.indices(from, index.numel(), unchecked, to)? };
    }
    Ok(out)
}

/// Returns the least and the greatest number of an index.
pub(in crate::call) fn bounds(index: &Raw) -> Result<Option<(i64, i64)>> {
    if !index.device().is_cpu() {
        if index.numel() == 0 {
            return Ok(None);
        }
        let dims: Shape = (0..index.rank()).collect();
        let end = |op| reduce(op, index, &dims, false, ReduceOptions::default())?.item();
        return Ok(Some((end(Op::Amin)?.to_i64(), end(Op::Amax)?.to_i64())));
    }
    // Elements repeated by stride 0 are read once.
    let sizes = index.shape().iter().zip(index.strides());
    let seen: Shape = sizes
        .map(|(&size, &stride)| if stride == 0 { size.min(1) } else { size })
        .collect();
    let plan = Plan::new(&seen, &[(index.strides(), size_of::<i64>())]);
    // SAFETY: the plan holds positions of a tensor of `i64` on the host.
    Ok(unsafe { extremes(&plan, index.as_ptr().cast()) })
}

/// An operand of a job: its address and its strides in elements.
pub(super) struct JobOperand<'a> {
    pub(super) place: Place,
    pub(super) strides: &'a [isize],
}

impl<'a> JobOperand<'a> {
    /// An operand that is only read.
    pub(super) fn read(x: &'a Raw) -> Self {
        Self {
            place: Place {
                ptr: x.as_ptr().cast_mut(),
                dtype: x.dtype(),
            },
            strides: x.strides(),
        }
    }
}

/// Returns a job over an index that has all dims of the target. `shape` is the index's.
pub(super) fn along(
    op: Op,
    shape: &[usize],
    (dim, size): (usize, usize),
    target: &JobOperand<'_>,
    other: &JobOperand<'_>,
    (index, unchecked): (&Raw, Option<Unchecked>),
) -> IndexJob {
    let rest = |strides: &[isize]| -> Strides { without(strides, dim) };
    let sizes: Shape = without(shape, dim);
    let width = |part: &JobOperand<'_>| part.place.dtype.size();
    let step = |part: &JobOperand<'_>| scaled_stride(part.strides[dim], width(part));
    IndexJob {
        op: op.name(),
        rest: Plan::new(
            &sizes,
            &[
                (&rest(target.strides), width(target)),
                (&rest(other.strides), width(other)),
                (&rest(index.strides()), size_of::<i64>()),
            ],
        ),
        count: shape[dim],
        other_step: step(other),
        index_step: scaled_stride(index.strides()[dim], size_of::<i64>()),
        target_step: step(target),
        target: target.place,
        other: other.place,
        index: index.as_ptr().cast(),
        unchecked,
        low: 0,
        extent: size,
        is_complete: true,
    }
}

/// Returns the items without the one at `at`.
pub(super) fn without<T: Copy, L: FromIterator<T>>(items: &[T], at: usize) -> L {
    items[..at]
        .iter()
        .chain(&items[at + 1..])
        .copied()
        .collect()
}

/// Replaces the item at `at` by `new`.
pub(super) fn spliced<T: Copy, L: FromIterator<T>>(items: &[T], at: usize, new: &[T]) -> L {
    let (before, after) = (&items[..at], &items[at + 1..]);
    before.iter().chain(new).chain(after).copied().collect()
}

/// Expands a flat index to all dims of `shape`, repeated along all but `dim`.
pub(super) fn repeated(op: Op, index: &Raw, shape: &[usize], dim: usize) -> Result<Raw> {
    let mut strides = Strides::from_elem(0, shape.len());
    strides[dim] = index.strides()[0];
    index.as_strided(
        op.name(),
        index.dtype(),
        shape.into(),
        strides,
        index.offset(),
    )
}

/// Flattens an index.
pub(super) fn flat(index: &Raw) -> Result<Raw> {
    index.reshape(&[index.numel()])
}
