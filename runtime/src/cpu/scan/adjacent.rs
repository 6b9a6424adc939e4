//! Short contiguous lines, each scanned in its own memory order.

use nomina_core::Element;

use super::TILE;
use super::running::Running;
use crate::cpu::nontemporal::{BLOCK, NonTemporal};
use crate::cpu::reduce::plan::LinePlan;
use crate::cpu::reduce::reducer::{many, many_mut};
use crate::cpu::reduce::split::{Shared, SmallScratch, try_for_each_past};
use crate::job::ScanJob;
use crate::memory::NoMemory;
use crate::shape::product;

/// Scans short lines that are contiguous in the operand and in the result. Returns false, without having done anything,
/// for other layouts and if there is no loop for the length.
///
/// # Safety
/// The requirements of [`super::execute`].
pub(super) unsafe fn lines<R: Running>(
    job: &ScanJob<'_>,
    plan: &LinePlan,
) -> Result<bool, NoMemory> {
    let (t, size) = (R::T::DTYPE, size_of::<R::T>());
    let length = job.shape[job.dim];
    let [along] = plan.kept[..] else {
        return Ok(false);
    };
    let dense = [job.strides[job.dim], job.out_strides[job.dim]] == [1, 1]
        && [along.src, along.dst] == [length as isize; 2]
        && [job.dtype, job.out_dtype] == [t; 2];
    if !dense || length > TILE || !R::lines(length, &[], &mut []) {
        return Ok(false);
    }
    let high = TILE / length;
    let past = NonTemporal::for_bytes(product([along.size, length, 2, size]));
    let x = Shared(job.x.cast_mut().wrapping_offset(plan.src * size as isize));
    let out = Shared(job.out.wrapping_offset(plan.dst * size as isize));
    try_for_each_past(along.size.div_ceil(high), TILE, past, &|tile| {
        let n = high.min(along.size - tile * high) * length;
        let few = (BLOCK / (length * size)).max(1) * length;
        let mut scratch = SmallScratch::bytes([usize::from(past.is_some()), few, size])?;
        // SAFETY: the lines are within the operand and the result, and each tile owns its lines; the scratch has room
        // for some lines.
        unsafe {
            let at = tile * high * length * size;
            let (xs, out) = (many::<R::T>(x.get().add(at), n), out.get().add(at));
            let Some(past) = past else {
                R::lines(length, xs, many_mut(out, n));
                return Ok(());
            };
            // Few lines at a time, so that the processor reads the next ones while it writes.
            for (block, xs) in xs.chunks(few).enumerate() {
                let lines = scratch.as_mut_ptr();
                R::lines(length, xs, many_mut(lines, xs.len()));
                past.copy(lines, out.add(block * few * size), size_of_val(xs));
            }
        }
        Ok(())
    })?;
    Ok(true)
}
