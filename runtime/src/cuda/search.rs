//! Search in sorted sequences, and equal rows: `search.cu`.

use nomina_core::{DType, Error, ErrorKind, Result};

use super::keyed::{keyed, modules_of};
use super::launch::Argument;
use super::module::Module;
use super::module_call::ModuleCall;
use super::source::File;
use super::{Cuda, order, select};
use crate::job::{ContiguousRows, GroupJob, LineJob, MaskJob, Room, Search, Task};

/// The arguments: `Search` of `search.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct SearchArgs {
    sequence: *const u8,
    values: *const u8,
    sorter: *const i64,
    out: *mut i64,
    count: u64,
    len: u64,
    each: u64,
    flag: *mut u8,
    record: u32,
    right: u32,
}

/// The arguments: `Rows` of `search.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct RowArgs {
    x: *const u8,
    order: *const i64,
    differs: *mut bool,
    column: *mut u8,
    sorted: *const i64,
    next: *mut i64,
    count: u64,
    len: u64,
    at: u64,
}

/// The arguments: `Groups` of `search.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct GroupArgs {
    starts: *const i64,
    order: *const i64,
    inverse: *mut i64,
    counts: *mut i64,
    count: u64,
    groups: u64,
}

// SAFETY: the structs of `search.cu`.
unsafe impl Argument for SearchArgs {}
// SAFETY: as above.
unsafe impl Argument for RowArgs {}
// SAFETY: as above.
unsafe impl Argument for GroupArgs {}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    modules_of(
        File::Search,
        &[
            c"search",
            c"rows_differ",
            c"rows_column",
            c"rows_follow",
            c"groups",
        ],
    )
}

fn module_call(cuda: &Cuda, op: &'static str, dtype: DType, count: usize) -> Result<ModuleCall> {
    ModuleCall::new(cuda, op, keyed(File::Search, dtype), count)
}

/// Searches for positions.
///
/// # Safety
/// See [`DataDependent::search`].
pub(super) unsafe fn search(
    cuda: &Cuda,
    op: &'static str,
    job: &Search,
    out: *mut i64,
) -> Result<()> {
    let call = module_call(cuda, op, job.dtype, job.count)?;
    let len = job.len;
    let sorted = (!job.sorter.is_null()).then(|| {
        call.cuda.may_raise(op, move |at| {
            let what = format!("the sorter has {at}, but a sequence has {len} elements");
            Error::new(ErrorKind::Index, op, what).hint("use `argsort`'s result")
        })
    });
    let raise = sorted.transpose()?;
    let args = SearchArgs {
        sequence: job.sequence,
        values: job.values,
        sorter: job.sorter,
        out,
        count: job.count as u64,
        len: len as u64,
        each: job.per_sequence.unwrap_or(0) as u64,
        flag: raise
            .as_ref()
            .map_or(std::ptr::null_mut(), |raise| raise.flag),
        record: raise.as_ref().map_or(0, |raise| raise.record),
        right: job.right.into(),
    };
    // SAFETY: the caller's promise.
    unsafe { call.each(c"search", job.count, &args) }
}

impl RowArgs {
    fn new(rows: ContiguousRows, order: *const i64) -> Self {
        Self {
            x: rows.x,
            order,
            differs: std::ptr::null_mut(),
            column: std::ptr::null_mut(),
            sorted: std::ptr::null(),
            next: std::ptr::null_mut(),
            count: rows.count as u64,
            len: rows.len as u64,
            at: 0,
        }
    }
}

/// Sorts rows by stable passes, from the last column to the first.
///
/// # Safety
/// See [`DataDependent::row_order`].
pub(super) unsafe fn row_order(
    cuda: &Cuda,
    op: &'static str,
    rows: ContiguousRows,
    out: *mut i64,
) -> Result<()> {
    let call = module_call(cuda, op, rows.dtype, rows.count)?;
    let column = call.scratch([rows.count, rows.dtype.size()])?;
    let (sorted, other) = (
        call.scratch([rows.count, 8])?,
        call.scratch([rows.count, 8])?,
    );
    // The last pass writes the result.
    let places = [out, other.as_ptr().cast()];
    let (shape, strides) = ([rows.count], [1]);
    let mut order = std::ptr::null();
    for at in (0..rows.len).rev() {
        let args = RowArgs {
            column: column.as_ptr(),
            sorted: sorted.as_ptr().cast(),
            next: places[at % 2],
            at: at as u64,
            ..RowArgs::new(rows, order)
        };
        let job = LineJob {
            op,
            task: Task::Sort { descending: false },
            shape: &shape,
            strides: &strides,
            x: column.as_ptr(),
            dtype: rows.dtype,
            dim: 0,
            count: rows.count,
            values: std::ptr::null_mut(),
            positions: sorted.as_ptr().cast(),
            out_strides: &strides,
        };
        // SAFETY: the caller's promise; the workspaces have room for a number and an element of each row.
        unsafe {
            call.each(c"rows_column", rows.count, &args)?;
            // Kernels support one dim, so the result is true.
            order::execute(cuda, &job)?;
            call.each(c"rows_follow", rows.count, &args)?;
        }
        order = args.next.cast_const();
    }
    if rows.len == 0 {
        let all: Vec<i64> = (0..rows.count as i64).collect();
        // SAFETY: the caller's promise: a number for each row.
        unsafe { cuda.write(op, out.cast(), all.as_ptr().cast(), all.len() * 8)? };
    }
    Ok(())
}

/// Marks the rows that differ from the row before.
///
/// # Safety
/// See [`DataDependent::row_starts`].
pub(super) unsafe fn row_starts(
    cuda: &Cuda,
    op: &'static str,
    rows: ContiguousRows,
    order: *const i64,
    room: Room<'_, i64>,
) -> Result<()> {
    let call = module_call(cuda, op, rows.dtype, rows.count.max(rows.count * rows.len))?;
    let differs = call.scratch([rows.count])?;
    let args = RowArgs {
        differs: differs.as_ptr().cast(),
        ..RowArgs::new(rows, order)
    };
    let mask = MaskJob {
        op,
        mask: differs.as_ptr().cast(),
        shape: &[rows.count],
    };
    // SAFETY: the caller's promise; the mask has room for each row.
    unsafe {
        call.each(c"rows_differ", rows.count, &args)?;
        select::nonzero(cuda, &mask, room)
    }
}

/// Writes the group of each row.
///
/// # Safety
/// See [`DataDependent::groups`].
pub(super) unsafe fn groups(cuda: &Cuda, job: &GroupJob) -> Result<()> {
    let call = module_call(cuda, job.op, DType::U8, job.count)?;
    let args = GroupArgs {
        starts: job.starts,
        order: job.order,
        inverse: job.inverse,
        counts: job.counts,
        count: job.count as u64,
        groups: job.groups as u64,
    };
    // SAFETY: the caller's promise.
    unsafe { call.each(c"groups", job.count, &args) }
}
