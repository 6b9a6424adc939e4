//! Sorting, selection and search along a dim, and distinct elements.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::check::same_device;
use super::device::HostResult;
use super::{check, contiguous, index_select};
use crate::call::backend::backend;
use crate::job::{ContiguousRows, GroupJob, LineJob, Search, Task};
use crate::{Device, SmallVec};

use crate::plan::result_strides;
use crate::raw::Raw;
use crate::shape::{Shape, row_major};
use crate::tape::{Addressing, record_extreme, record_gather, record_no_derivative};

#[cold]
fn refuse(kind: ErrorKind, op: Op, x: &Raw, what: impl Into<String>) -> Error {
    Error::new(kind, op.name(), what).operand(&Names::default(), x.shape())
}

/// Checks that the operator takes the dtype, and that it has an order.
fn check_dtype(op: Op, x: &Raw) -> Result<()> {
    if x.dtype().is_complex() {
        let what = format!("{} has no order", x.dtype());
        return Err(refuse(ErrorKind::DType, op, x, what).hint("use `abs` first"));
    }
    op.row()
        .check_dtype(x.dtype())
        .map_err(|e| e.operand(&Names::default(), x.shape()))
}

/// Views a number as a line of one element.
fn as_line(x: &Raw, dim: usize) -> Result<Option<Raw>> {
    (x.rank() == 0 && dim == 0)
        .then(|| x.unsqueeze(0))
        .transpose()
}

/// Runs a task over the lines along `dim`, each with `count` results. `layout` are the results' strides if they are not
/// row-major.
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
        let way = Addressing::Elements;
        let values = record_gather(op, way, values, x, dim, &positions)?;
        Ok((values, positions))
    };
    if x.numel() == 0 || count == 0 {
        return picked(values, positions);
    }
    let (to, at) = (values.fresh_ptr(), positions.fresh_ptr());
    let backend = backend(op.name(), x.device())?;
    // SAFETY: the job describes a whole operand, and fresh results that nothing else shares.
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

/// Sorts the elements along a dim, stably and with NaN as the greatest, and returns the original positions.
///
/// # Errors
/// If the dim is out of range, the dtype is complex, or memory is missing.
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

/// Returns the `k` greatest or smallest elements along a dim in order, and their positions.
///
/// # Errors
/// If the dim is out of range, `k` exceeds its size, the dtype is complex, or memory is missing.
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
        let what = format!("{k} elements requested of {size}");
        return Err(refuse(ErrorKind::Index, op, x, what)
            .at(0, dim)
            .hint(format!("give a number from 0 to {size}")));
    };
    lines(op, Task::Top { largest }, x, dim, count, false)
}

/// Selects one element of each line along a dim, and its position.
fn select(op: Op, task: Task, x: &Raw, dim: usize, keepdim: bool) -> Result<(Raw, Raw)> {
    if let Some(row) = as_line(x, dim)? {
        return select(op, task, &row, 0, false);
    }
    check::dim(op.name(), x.shape(), dim)?;
    if x.shape()[dim] == 0 {
        return Err(refuse(ErrorKind::Index, op, x, "there are no elements")
            .at(0, dim)
            .hint("use a dim whose size is not 0"));
    }
    let (values, positions) = lines(op, task, x, dim, 1, false)?;
    if keepdim {
        return Ok((values, positions));
    }
    Ok((values.squeeze(dim)?, positions.squeeze(dim)?))
}

/// Returns the `k`-th smallest element along a dim, counted from 1, and its position.
///
/// # Errors
/// If the dim is out of range, `k` is not from 1 to its size, the dtype is complex, or memory is missing.
pub fn kthvalue(x: &Raw, k: i64, dim: usize, keepdim: bool) -> Result<(Raw, Raw)> {
    let op = Op::Kthvalue;
    check_dtype(op, x)?;
    let size = if x.rank() == 0 {
        1
    } else {
        x.shape().get(dim).copied().unwrap_or(0)
    };
    match usize::try_from(k).ok().and_then(|k| k.checked_sub(1)) {
        Some(n) if n < size || size == 0 => select(op, Task::Nth(n), x, dim, keepdim),
        _ => {
            let what = format!("no element {k} among {size}");
            Err(refuse(ErrorKind::Index, op, x, what)
                .at(0, dim)
                .hint(format!("give a number from 1 to {size}")))
        }
    }
}

/// Computes `median`, `nanmedian` or `mode` along a dim, and its position.
///
/// # Errors
/// If the dim is out of range or has no elements, the dtype is complex, or memory is missing.
pub fn typical(op: Op, x: &Raw, dim: usize, keepdim: bool) -> Result<(Raw, Raw)> {
    check_dtype(op, x)?;
    let task = match op {
        Op::Mode => Task::Mode,
        _ => Task::Median {
            ignore_nan: op == Op::Nanmedian,
        },
    };
    select(op, task, x, dim, keepdim)
}

/// Computes `median` or `nanmedian` of all elements; NaN if there are none.
///
/// # Errors
/// If there are no elements of an integer dtype, the dtype is complex, or memory is missing.
pub fn typical_of_all(op: Op, x: &Raw) -> Result<Raw> {
    check_dtype(op, x)?;
    if x.numel() == 0 {
        if x.dtype().is_integral() {
            return Err(refuse(ErrorKind::Index, op, x, "there are no elements")
                .hint("use a nonempty tensor"));
        }
        return super::full(&[], f64::NAN.into(), x.dtype(), x.device());
    }
    let line = x.clone().detach().reshape(&[x.numel()])?;
    record_extreme(op, typical(op, &line, 0, false)?.0, x)
}

/// Computes the running maximum or minimum along a dim and its position, which is the last one among equal elements.
///
/// # Errors
/// If the dim is out of range, the dtype is complex, or memory is missing.
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

/// The result of [`unique`].
#[derive(Clone, Debug)]
pub struct UniqueElements {
    /// The distinct elements, or rows.
    pub values: Raw,
    /// For each element or row, the position of its value.
    pub inverse: Raw,
    /// The number of occurrences of each value.
    pub counts: Raw,
}

impl HostResult for UniqueElements {
    fn moved(self, device: Device) -> Result<Self> {
        Ok(Self {
            values: self.values.moved(device)?,
            inverse: self.inverse.moved(device)?,
            counts: self.counts.moved(device)?,
        })
    }
}

/// Returns the distinct elements, or with a dim the distinct slices along it: sorted, or with `consecutive` in their
/// original order without adjacent repetitions.
///
/// # Errors
/// If the dim is out of range, the dtype is complex, or memory is missing.
pub fn unique(op: Op, x: &Raw, dim: Option<usize>, consecutive: bool) -> Result<UniqueElements> {
    check_dtype(op, x)?;
    let found = match dim {
        Some(dim) => unique_slices(op, &x.clone().detach(), dim, consecutive)?,
        None => unique_elements(op, &x.clone().detach(), consecutive)?,
    };
    Ok(UniqueElements {
        values: record_no_derivative(op, found.values, [x])?,
        ..found
    })
}

fn unique_slices(op: Op, x: &Raw, dim: usize, consecutive: bool) -> Result<UniqueElements> {
    check::dim(op.name(), x.shape(), dim)?;
    let mut front: Vec<usize> = (0..x.rank()).collect();
    front.remove(dim);
    front.insert(0, dim);
    let rows = contiguous(&x.permute(&front)?)?;
    let (count, len) = (x.shape()[dim], crate::shape::count(&rows.shape()[1..]));
    let all = ContiguousRows {
        x: rows.as_ptr(),
        dtype: x.dtype(),
        count,
        len,
    };
    let order = (!consecutive).then(|| row_order(op, x, all)).transpose()?;
    let mut back: Vec<usize> = (1..x.rank()).collect();
    back.insert(dim, 0);
    let found = grouped(op, &rows, all, order.as_ref(), &[count], order.as_ref())?;
    Ok(UniqueElements {
        values: contiguous(&found.values.permute(&back)?)?,
        ..found
    })
}

fn unique_elements(op: Op, x: &Raw, consecutive: bool) -> Result<UniqueElements> {
    let count = x.numel();
    let flat = contiguous(x)?.reshape(&[count])?;
    let (line, order) = if consecutive {
        (flat, None)
    } else {
        let (values, positions) = sort(op, &flat, 0, false)?;
        (values, Some(positions))
    };
    let all = ContiguousRows {
        x: line.as_ptr(),
        dtype: x.dtype(),
        count,
        len: 1,
    };
    grouped(op, &line, all, None, x.shape(), order.as_ref())
}

/// Returns the numbers of rows in the order of their elements.
fn row_order(op: Op, x: &Raw, rows: ContiguousRows) -> Result<Raw> {
    let mut order = Raw::empty(op.name(), &[rows.count], DType::I64, x.device())?;
    let to = order.fresh_ptr().cast();
    // SAFETY: contiguous rows of the operand, and a fresh result with a number for each row.
    unsafe { backend(op.name(), x.device())?.row_order(op.name(), rows, to)? };
    Ok(order)
}

/// Finds groups of equal rows of a contiguous tensor whose rows are sorted, or are sorted by `sorted`. `shape` is that
/// of their original positions, and `order` the position of each.
fn grouped(
    op: Op,
    x: &Raw,
    rows: ContiguousRows,
    sorted: Option<&Raw>,
    shape: &[usize],
    order: Option<&Raw>,
) -> Result<UniqueElements> {
    let number = |x: Option<&Raw>| x.map_or(std::ptr::null(), |x| x.as_ptr().cast::<i64>());
    let new = |shape: &[usize]| Raw::empty(op.name(), shape, DType::I64, x.device());
    // Checked before anything is counted: there may be more rows without elements than fit into memory.
    let mut inverse = new(shape)?;
    let mut starts = new(&[0])?;
    let mut room = |count: usize| {
        starts = new(&[count])?;
        Ok(starts.fresh_ptr().cast())
    };
    let backend = backend(op.name(), x.device())?;
    if rows.count > 0 {
        // SAFETY: contiguous rows and their order, and a fresh result with as many numbers as requested.
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
            inverse: inverse.fresh_ptr().cast(),
            counts: counts.fresh_ptr().cast(),
        };
        // SAFETY: the starts of the groups of rows, their order, and fresh results.
        unsafe { backend.groups(&job)? };
    }
    let at = match sorted {
        Some(order) => index_select(op, order, 0, &starts)?,
        None => starts,
    };
    Ok(UniqueElements {
        values: index_select(op, x, 0, &at)?,
        inverse,
        counts,
    })
}

/// Returns the positions at which values would be inserted into sorted sequences: one sequence for all, or one for each
/// row of values.
///
/// # Errors
/// If dtypes differ, sizes do not match, or a sorter points outside of a sequence.
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
        let what = "all but the last sizes of sequences and values must be equal";
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
        // SAFETY: contiguous operands whose sizes and sorter were checked, and a fresh result. A device checks the
        // sorter itself.
        unsafe { backend.search(op.name(), &job, out.fresh_ptr().cast())? };
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
            let what = format!("the sorter has {at}, but a sequence has {len} elements");
            Err(refuse(ErrorKind::Index, op, sequence, what).hint("use `argsort`'s result"))
        }
    }
}
