//! Order along a dim: sorting, the first few, one element, the mode, and running extremes. It chooses between the
//! kernels of `sort.cu`, `topk.cu` and `extreme.cu`.

use nomina_core::Result;

use super::context::Cuda;
use super::keyed::{AS_THEY_LIE, KeyedLines, keyed};
use super::module_call::ModuleCall;
use super::sort::{FIRST, MEDIAN, MODE, NTH, ShortSort, Sort};
use super::source::File;
use super::topk::{extreme, select};
use crate::job::{LineJob, Task};

/// Computes a job. Returns false, without computing, for more dims than kernels support.
///
/// # Safety
/// The operand and the results are on this device, as the job describes them, and nothing else uses the results.
pub(super) unsafe fn execute(cuda: &Cuda, job: &LineJob<'_>) -> Result<bool> {
    // SAFETY: the caller's promise.
    unsafe { sorted(cuda, job, u32::MAX) }
}

/// Like [`execute`], but keys of integers differ only in the lowest `width` bits.
///
/// # Safety
/// See [`execute`].
pub(super) unsafe fn sorted(cuda: &Cuda, job: &LineJob<'_>, width: u32) -> Result<bool> {
    let turn = match job.task {
        Task::Sort { descending: turn } | Task::Top { largest: turn } => turn,
        Task::Extreme { greatest } => !greatest,
        _ => false,
    };
    let Some((lines, across)) = KeyedLines::new(job, turn) else {
        return Ok(false);
    };
    let (count, len) = lines.sizes();
    let call = |file| ModuleCall::new(cuda, job.op, keyed(file, job.dtype), count * len);
    if matches!(job.task, Task::Extreme { .. }) {
        // SAFETY: the caller's promise, here and below.
        unsafe { extreme(&call(File::Extreme)?, job.dtype, lines, across)? };
        return Ok(true);
    }
    let (task, results, ignore_nan) = match job.task {
        Task::Nth(n) => (NTH, n, false),
        Task::Median { ignore_nan } => (MEDIAN, 0, ignore_nan),
        Task::Mode => (MODE, 0, false),
        _ => (FIRST, job.count, false),
    };
    let sort = Sort::new(call(File::Sort)?, job.dtype.size(), width);
    if sort.is_short(len) {
        let mut short = ShortSort::new(lines, AS_THEY_LIE, task, results);
        short.ignore_nan = ignore_nan.into();
        short.across = across.into();
        // SAFETY: the caller's promise.
        unsafe { sort.short(short)? };
        return Ok(true);
    }
    // If more than half of a line is needed, sorting all of it costs no more.
    let few = matches!(task, NTH | MEDIAN) || (task == FIRST && results <= len / 2);
    // SAFETY: the caller's promise.
    unsafe {
        if few {
            let top = call(File::TopK)?;
            select(&top, &sort, lines, job.dtype, task, results, ignore_nan)?;
        } else if task == MODE {
            sort.mode(lines)?;
        } else {
            sort.sort_long(lines, AS_THEY_LIE, results)?;
        }
    }
    Ok(true)
}
