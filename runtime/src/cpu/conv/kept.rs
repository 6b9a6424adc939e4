//! A weight that stays packed between calls.

use super::group_product;
use crate::job::{ConvJob, KeptWeight, PackOrder, Packed};
use crate::memory::NoMemory;
use crate::memory::scratch::push;

/// Packs the weight of each group on `threads` threads.
///
/// # Safety
/// The requirements of [`super::convolve::execute`].
pub(super) unsafe fn pack(
    job: &ConvJob<'_>,
    order: PackOrder,
    threads: usize,
) -> Result<Vec<Packed>, NoMemory> {
    let mut all = Vec::new();
    for group in 0..job.groups {
        // SAFETY: guaranteed by the caller: the weight has the group's rows.
        let packed = unsafe { Packed::new(&group_product(job, group), order, threads)? };
        push(&mut all, packed)?;
    }
    Ok(all)
}

/// Returns whether an earlier call packed the weight in this order.
pub(super) fn is_kept(job: &ConvJob<'_>, order: PackOrder) -> bool {
    let packed = job.kept.and_then(|KeptWeight(kept)| kept.get());
    packed.is_some_and(|all| all.iter().all(|one| one.order == order))
}

/// Returns the weight of each group that the job keeps, packed by `pack` if this is the first call; `None` if the job keeps
/// nothing, or another order. All jobs that keep a weight have its sizes and groups.
pub(super) fn kept<'a>(
    job: &ConvJob<'a>,
    order: PackOrder,
    pack: impl FnOnce() -> Result<Vec<Packed>, NoMemory>,
) -> Result<Option<&'a [Packed]>, NoMemory> {
    let Some(KeptWeight(kept)) = job.kept else {
        return Ok(None);
    };
    if kept.get().is_none() {
        // Another thread may have been faster.
        let _ = kept.set(pack()?);
    }
    let all = kept.get().map(Vec::as_slice);
    Ok(all.filter(|all| all.iter().all(|one| one.order == order)))
}
