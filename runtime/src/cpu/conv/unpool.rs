//! Unpooling: elements scattered to their indices.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use nomina_core::Result;

use crate::cpu::parallel::{GRAIN, split};
use crate::job::UnpoolJob;

/// Writes the elements of each plane to their indices.
///
/// # Safety
/// All elements and indices are in bounds of their buffers; nobody else accesses the result
/// meanwhile.
pub(crate) unsafe fn execute(job: &UnpoolJob) -> Result<()> {
    // SAFETY: guaranteed by the caller; elements are copied as bits of their size.
    unsafe {
        match job.dtype.size() {
            1 => unpool_as::<u8>(job),
            2 => unpool_as::<u16>(job),
            4 => unpool_as::<u32>(job),
            8 => unpool_as::<u64>(job),
            _ => unpool_as::<u128>(job),
        }
    }
}

unsafe fn unpool_as<T: Copy>(job: &UnpoolJob) -> Result<()> {
    let (wrong, bad) = (AtomicUsize::new(0), AtomicI64::new(0));
    split(job.count / job.plane, GRAIN / job.plane, &|range| {
        for plane in range {
            let out = job.out.cast::<T>().wrapping_add(plane * job.room);
            for at in plane * job.plane..(plane + 1) * job.plane {
                // SAFETY: there is an index for each element.
                let index = unsafe { job.indices.add(at).read() };
                match usize::try_from(index) {
                    Ok(place) if place < job.room => {
                        // SAFETY: within the plane, which this task owns.
                        unsafe { out.add(place).write(job.x.cast::<T>().add(at).read()) };
                    }
                    _ => {
                        bad.store(index, Ordering::Relaxed);
                        wrong.store(1, Ordering::Release);
                    }
                }
            }
        }
    });
    match wrong.load(Ordering::Acquire) {
        0 => Ok(()),
        _ => Err(UnpoolJob::outside(
            job.op,
            bad.load(Ordering::Relaxed),
            job.room,
        )),
    }
}
