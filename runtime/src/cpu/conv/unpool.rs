//! Elements put back to their indices.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use crate::cpu::parallel::{GRAIN, Shared, split};

/// Puts the elements of each plane of `from` to their indices in a plane of `room` elements of
/// `out`. An index out of range, if there is one.
pub(crate) fn unpool<T: Copy + Send + Sync>(
    from: &[T],
    indices: &[i64],
    out: &mut [T],
    plane: usize,
    room: usize,
) -> Option<i64> {
    let (wrong, index) = (AtomicUsize::new(0), AtomicI64::new(0));
    let dest = Shared(out.as_mut_ptr().cast());
    let planes = from.len() / plane;
    assert!(out.len() == planes * room, "a plane for each");
    split(planes, GRAIN / plane, &|range| {
        for at in range {
            let elements = &from[at * plane..(at + 1) * plane];
            let places = &indices[at * plane..(at + 1) * plane];
            for (&value, &place) in elements.iter().zip(places) {
                match usize::try_from(place) {
                    Ok(place) if place < room => {
                        // SAFETY: within the plane, which is this task's own.
                        unsafe {
                            dest.get().cast::<T>().add(at * room + place).write(value);
                        }
                    }
                    _ => {
                        index.store(place, Ordering::Relaxed);
                        wrong.store(1, Ordering::Release);
                    }
                }
            }
        }
    });
    (wrong.load(Ordering::Acquire) != 0).then(|| index.load(Ordering::Relaxed))
}
