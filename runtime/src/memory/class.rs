//! The sizes of blocks: multiples of 64 bytes up to 1 KiB, then eight sizes per doubling, so that no block is longer
//! than requested by more than an eighth.

use super::ALIGNMENT;

/// Sizes per doubling.
const STEPS: usize = 8;

/// The number of classes: the last one covers the address space.
pub(super) const COUNT: usize = 312;

/// Returns the number of the smallest size that has room for `bytes`, which must not be zero. It is a valid class if
/// `bytes` fits into the address space.
#[inline]
pub(super) const fn for_bytes(bytes: usize) -> usize {
    let last = (bytes - 1) / ALIGNMENT;
    if last < STEPS {
        return last;
    }
    let shift = (last / STEPS).ilog2() as usize;
    shift * STEPS + (last >> shift)
}

/// Returns the size of the blocks of a class.
#[inline]
pub(super) const fn size(class: usize) -> usize {
    if class < 2 * STEPS {
        return (class + 1) * ALIGNMENT;
    }
    let shift = class / STEPS - 1;
    ((class % STEPS + STEPS + 1) << shift) * ALIGNMENT
}

/// Returns the class whose size is exactly `bytes`.
pub(super) const fn of_size(bytes: usize) -> usize {
    let mut class = 0;
    while size(class) < bytes {
        class += 1;
    }
    class
}
