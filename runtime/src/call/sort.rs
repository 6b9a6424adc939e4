//! Order along a dim, equal elements, places in sorted sequences.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::device::same_device;
use super::grad::{Addressing, Picked, evenly, never, recorded};
use super::reduce::address;
use super::{check, contiguous, index_select};
use crate::SmallVec;
use crate::call::backend::backend;
use crate::job::{GroupJob, LineJob, Rows, Search, Task};

use crate::plan::result_strides;
use crate::raw::Raw;
use crate::shape::{Shape, row_major};

#[cold]
fn refuse(kind: ErrorKind, op: Op, x: &Raw, what: impl Into<String>) -> Error {
    Error::new(kind, op.name(), what).operand(&Names::default(), x.shape())
}

/// Refuses what the operator does not take, and what has no order, whatever the operator.
fn check_dtype(op: Op, x: &Raw) -> Result<()> {
    if x.dtype().is_complex() {
        let what = format!("numbers of {} have no order", x.dtype());
        return Err(refuse(ErrorKind::DType, op, x, what).hint("take their `abs` first"));
    }
    op.row()
        .check_dtype(x.dtype())
        .map_err(|e| e.operand(&Names::default(), x.shape()))
}

/// A number is a line of one element.
fn as_line(x: &Raw, dim: usize) -> Result<Option<Raw>> {
    (x.rank() == 0 && dim == 0)
        .then(|| x.unsqueeze(0))
        .transpose()
}

/// Runs a task over the lines along `dim`, each with `count` results. `layout` are the results'
/// strides where they are not row-major.
fn lines(op: Op, task: Task, x: &Raw, dim: usize, count: usize, dense: bool) -> Result<(Raw, Raw)> {
    let mut shape = Shape::from_slice(x.shape());
    shape[dim] = count;
    let strides = if dense {
        result_strides(&shape, &[x.strides()])
    } else {
        row_major(&shape)
    };
    let make = |dtype| Raw::empty_strided(op.name(), &shape, strides.clone(), dtype, x.device());
    let (mut values, mut positions) = (make(x.dtype())?, make(DType::I64)?);
    let picked = |values, positions: Raw| {
        let rule = |_: &Raw| Picked::new(op, Addressing::Elements, x, dim, &positions);
        Ok((recorded(values, [x], rule)?, positions))
    };
    if x.numel() == 0 || count == 0 {
        return picked(values, positions);
    }
    let (to, at) = (address(&mut values), address(&mut positions));
    let backend = backend(op.name(), x.device())?;
    // SAFETY: the job describes a whole operand, and fresh results that no one else has.
    unsafe {
        backend.lines(&LineJob {
            op: op.name(),
            task,
            shape: x.shape(),
            strides: x.strides(),
            x: x.as_ptr(),
            dtype: x.dtype(),
            dim,
            count,
            values: to,
            positions: at.cast(),
            out_strides: &strides,
        })?;
    }
    picked(values, positions)
}

/// The elements along a dim in order, and where each stood; equal ones as they stood, NaN as the
/// greatest.
///
/// # Errors
/// A dim out of range, a complex dtype, missing memory.
pub fn sort(op: Op, x: &Raw, dim: usize, descending: bool) -> Result<(Raw, Raw)> {
    check_dtype(op, x)?;
    if let Some(row) = as_line(x, dim)? {
        let (values, positions) = sort(op, &row, 0, descending)?;
        return Ok((values.squeeze(0)?, positions.squeeze(0)?));
    }
    check::dim(op.name(), x.shape(), dim)?;
    let task = Task::Sort { descending };
    lines(op, task, x, dim, x.shape()[dim], true)
}

/// The `k` greatest or smallest elements along a dim, in order, and where they stand.
///
/// # Errors
/// A dim out of range, a `k` beyond its size, a complex dtype, missing memory.
pub fn topk(op: Op, x: &Raw, k: i64, dim: usize, largest: bool) -> Result<(Raw, Raw)> {
    check_dtype(op, x)?;
    if let Some(row) = as_line(x, dim)? {
        let (values, positions) = topk(op, &row, k, 0, largest)?;
        let number = |x: Raw| if k == 1 { x.squeeze(0) } else { Ok(x) };
        return Ok((number(values)?, number(positions)?));
    }
    check::dim(op.name(), x.shape(), dim)?;
    let size = x.shape()[dim];
    let count = usize::try_from(k).ok().filter(|&k| k <= size);
    let Some(count) = count else {
        let what = format!("{k} elements of {size} are asked for");
        return Err(refuse(ErrorKind::Index, op, x, what)
            .at(0, dim)
            .hint(format!("give a number from 0 to {size}")));
    };
    lines(op, Task::Top { largest }, x, dim, count, false)
}

/// One element of each line along a dim, and where it stands.
fn one(op: Op, task: Task, x: &Raw, dim: usize, keepdim: bool) -> Result<(Raw, Raw)> {
    if let Some(row) = as_line(x, dim)? {
        return one(op, task, &row, 0, false);
    }
    check::dim(op.name(), x.shape(), dim)?;
    if x.shape()[dim] == 0 {
        return Err(
            refuse(ErrorKind::Index, op, x, "no elements to choose from")
                .at(0, dim)
                .hint("take a dim whose size is not 0"),
        );
    }
    let (values, positions) = lines(op, task, x, dim, 1, false)?;
    if keepdim {
        return Ok((values, positions));
    }
    Ok((values.squeeze(dim)?, positions.squeeze(dim)?))
}

/// The `k`-th smallest element along a dim, counted from 1, and where it stands.
///
/// # Errors
/// A dim out of range, a `k` that is none of its elements, a complex dtype, missing memory.
pub fn kthvalue(x: &Raw, k: i64, dim: usize, keepdim: bool) -> Result<(Raw, Raw)> {
    let op = Op::Kthvalue;
    check_dtype(op, x)?;
    let size = if x.rank() == 0 {
        1
    } else {
        x.shape().get(dim).copied().unwrap_or(0)
    };
    match usize::try_from(k).ok().and_then(|k| k.checked_sub(1)) {
        Some(n) if n < size || size == 0 => one(op, Task::Nth(n), x, dim, keepdim),
        _ => {
            let what = format!("there is no element {k} of {size}");
            Err(refuse(ErrorKind::Index, op, x, what)
                .at(0, dim)
                .hint(format!("give a number from 1 to {size}")))
        }
    }
}

/// `median`, `nanmedian` or `mode` along a dim, and where it stands.
///
/// # Errors
/// A dim out of range or without elements, a complex dtype, missing memory.
pub fn typical(op: Op, x: &Raw, dim: usize, keepdim: bool) -> Result<(Raw, Raw)> {
    check_dtype(op, x)?;
    let task = match op {
        Op::Mode => Task::Mode,
        _ => Task::Median {
            ignore_nan: op == Op::Nanmedian,
        },
    };
    one(op, task, x, dim, keepdim)
}

/// `median` or `nanmedian` of all elements; NaN of none.
///
/// # Errors
/// No elements of an integer dtype, a complex dtype, missing memory.
pub fn typical_of_all(op: Op, x: &Raw) -> Result<Raw> {
    check_dtype(op, x)?;
    if x.numel() == 0 {
        if x.dtype().is_integral() {
            return Err(
                refuse(ErrorKind::Index, op, x, "no elements to choose from")
                    .hint("take a tensor that has some"),
            );
        }
        return super::full(&[], f64::NAN.into(), x.dtype(), x.device());
    }
    let line = x.clone().detach().reshape(&[x.numel()])?;
    evenly(op, typical(op, &line, 0, false)?.0, x)
}

/// The greatest or smallest element so far along a dim, and where it stands; of equal ones the
/// last.
///
/// # Errors
/// A dim out of range, a complex dtype, missing memory.
pub fn running_extreme(op: Op, x: &Raw, dim: usize) -> Result<(Raw, Raw)> {
    check_dtype(op, x)?;
    if let Some(row) = as_line(x, dim)? {
        let (values, positions) = running_extreme(op, &row, 0)?;
        return Ok((values.squeeze(0)?, positions.squeeze(0)?));
    }
    check::dim(op.name(), x.shape(), dim)?;
    let task = Task::Extreme {
        greatest: op == Op::Cummax,
    };
    lines(op, task, x, dim, x.shape()[dim], false)
}

/// What [`unique`] found.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The different elements, or rows.
    pub values: Raw,
    /// For each element, or row, which of the values it is.
    pub inverse: Raw,
    /// How often each value stands.
    pub counts: Raw,
}

/// The different elements, or with a dim the different slices along it: in order, or as they stand
/// and only next to each other when `consecutive`.
///
/// # Errors
/// A dim out of range, a complex dtype, missing memory.
pub fn unique(op: Op, x: &Raw, dim: Option<usize>, consecutive: bool) -> Result<Unique> {
    check_dtype(op, x)?;
    let found = match dim {
        Some(dim) => unique_slices(op, &x.clone().detach(), dim, consecutive)?,
        None => unique_elements(op, &x.clone().detach(), consecutive)?,
    };
    Ok(Unique {
        values: never(op, found.values, [x])?,
        ..found
    })
}

fn unique_slices(op: Op, x: &Raw, dim: usize, consecutive: bool) -> Result<Unique> {
    check::dim(op.name(), x.shape(), dim)?;
    let mut front: Vec<usize> = (0..x.rank()).collect();
    front.remove(dim);
    front.insert(0, dim);
    let rows = contiguous(&x.permute(&front)?)?;
    let (count, len) = (x.shape()[dim], crate::shape::count(&rows.shape()[1..]));
    let all = Rows {
        x: rows.as_ptr(),
        dtype: x.dtype(),
        count,
        len,
    };
    let order = (!consecutive).then(|| row_order(op, x, all)).transpose()?;
    let mut back: Vec<usize> = (1..x.rank()).collect();
    back.insert(dim, 0);
    let found = grouped(op, &rows, all, order.as_ref(), &[count], order.as_ref())?;
    Ok(Unique {
        values: contiguous(&found.values.permute(&back)?)?,
        ..found
    })
}

fn unique_elements(op: Op, x: &Raw, consecutive: bool) -> Result<Unique> {
    let count = x.numel();
    let flat = contiguous(x)?.reshape(&[count])?;
    let (line, order) = if consecutive {
        (flat, None)
    } else {
        let (values, positions) = sort(op, &flat, 0, false)?;
        (values, Some(positions))
    };
    let all = Rows {
        x: line.as_ptr(),
        dtype: x.dtype(),
        count,
        len: 1,
    };
    grouped(op, &line, all, None, x.shape(), order.as_ref())
}

/// The numbers of rows in the order of their elements.
fn row_order(op: Op, x: &Raw, rows: Rows) -> Result<Raw> {
    let mut order = Raw::empty(op.name(), &[rows.count], DType::I64, x.device())?;
    let to = address(&mut order).cast();
    // SAFETY: contiguous rows of the operand, and a fresh result with a number for each.
    unsafe { backend(op.name(), x.device())?.row_order(op.name(), rows, to)? };
    Ok(order)
}

/// The groups of equal rows of a contiguous tensor, which are in order as they stand or by
/// `sorted`. `shape` is that of the places they come from, and `order` says which place each has.
fn grouped(
    op: Op,
    x: &Raw,
    rows: Rows,
    sorted: Option<&Raw>,
    shape: &[usize],
    order: Option<&Raw>,
) -> Result<Unique> {
    let number = |x: Option<&Raw>| x.map_or(std::ptr::null(), |x| x.as_ptr().cast::<i64>());
    let new = |shape: &[usize]| Raw::empty(op.name(), shape, DType::I64, x.device());
    // Before anything is counted: rows without elements may be more than there is memory for.
    let mut inverse = new(shape)?;
    let mut starts = new(&[0])?;
    let mut room = |count: usize| {
        starts = new(&[count])?;
        Ok(address(&mut starts).cast())
    };
    let backend = backend(op.name(), x.device())?;
    if rows.count > 0 {
        // SAFETY: contiguous rows and their order, and a fresh result of as many numbers as are asked
        // for.
        unsafe { backend.row_starts(op.name(), rows, number(sorted), &mut room)? };
    }
    let groups = starts.numel();
    let mut counts = new(&[groups])?;
    if groups > 0 {
        let job = GroupJob {
            op: op.name(),
            starts: starts.as_ptr().cast(),
            groups,
            order: number(order),
            count: rows.count,
            inverse: address(&mut inverse).cast(),
            counts: address(&mut counts).cast(),
        };
        // SAFETY: starts of groups of the rows, their order, and fresh results.
        unsafe { backend.groups(&job)? };
    }
    let at = match sorted {
        Some(order) => index_select(op, order, 0, &starts)?,
        None => starts,
    };
    Ok(Unique {
        values: index_select(op, x, 0, &at)?,
        inverse,
        counts,
    })
}

/// Where values would stand in sorted sequences: one for all, or one for each row of values.
///
/// # Errors
/// Different dtypes, sizes that do not go together, a sorter that points out of a sequence.
pub fn searchsorted(
    op: Op,
    sequence: &Raw,
    values: &Raw,
    sorter: Option<&Raw>,
    right: bool,
) -> Result<Raw> {
    check_dtype(op, sequence)?;
    let operands = |e: Error| {
        e.operand(&Names::default(), sequence.shape())
            .operand(&Names::default(), values.shape())
    };
    if sequence.dtype() != values.dtype() {
        let what = format!(
            "a sequence of {} and values of {}",
            sequence.dtype(),
            values.dtype()
        );
        return Err(operands(Error::new(ErrorKind::DType, op.name(), what))
            .hint("convert one of them with `to`"));
    }
    let rank = sequence.rank();
    let rows = rank > 1;
    let fits = rank > 0
        && (!rows
            || (values.rank() == rank
                && values.shape()[..rank - 1] == sequence.shape()[..rank - 1]));
    if !fits {
        let what = "the sequences' sizes are not those of the values, but for the last";
        return Err(operands(Error::new(ErrorKind::Shape, op.name(), what))
            .hint("give one sequence, or one for each row of values"));
    }
    let len = sequence.shape()[rank - 1];
    let all = [Some(sequence), Some(values), sorter];
    let all: SmallVec<[&Raw; 3]> = all.into_iter().flatten().collect();
    same_device(op.name(), &all)?;
    let sorter = sorter.map(|sorter| check_sorter(op, sequence, sorter, len));
    let sorter = sorter.transpose()?;
    let (sequence, values) = (contiguous(sequence)?, contiguous(values)?);
    let mut out = Raw::empty(op.name(), values.shape(), DType::I64, values.device())?;
    let job = Search {
        sequence: sequence.as_ptr(),
        values: values.as_ptr(),
        dtype: values.dtype(),
        len,
        per_sequence: rows.then(|| values.shape()[rank - 1]),
        sorter: sorter
            .as_ref()
            .map_or(std::ptr::null(), |x| x.as_ptr().cast()),
        right,
        count: values.numel(),
    };
    if job.count > 0 {
        let backend = backend(op.name(), values.device())?;
        // SAFETY: contiguous operands, whose sizes and sorter were checked, and a fresh result. A
        // device checks the sorter itself.
        unsafe { backend.search(op.name(), &job, address(&mut out).cast())? };
    }
    Ok(out)
}

fn check_sorter(op: Op, sequence: &Raw, sorter: &Raw, len: usize) -> Result<Raw> {
    if sorter.dtype() != DType::I64 || sorter.shape() != sequence.shape() {
        let what = format!("a sorter of {} {:?}", sorter.dtype(), sorter.shape());
        let kind = if sorter.dtype() == DType::I64 {
            ErrorKind::Shape
        } else {
            ErrorKind::DType
        };
        return Err(refuse(kind, op, sequence, what)
            .hint("give one of i64 and of the sequence's sizes, as `argsort` gives"));
    }
    let sorter = contiguous(sorter)?;
    if !sorter.device().is_cpu() {
        return Ok(sorter);
    }
    let inside = |at: &i64| usize::try_from(*at).is_ok_and(|at| at < len);
    match sorter
        .as_slice::<i64>()
        .and_then(|all| all.iter().find(|at| !inside(at)))
    {
        None => Ok(sorter),
        Some(at) => {
            let what = format!("the sorter has {at}, where a sequence has {len} elements");
            Err(refuse(ErrorKind::Index, op, sequence, what).hint("use what `argsort` gives"))
        }
    }
}
