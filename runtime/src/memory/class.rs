//! The sizes of blocks: multiples of 64 bytes up to a KiB, then eight per doubling, so that no
//! block is longer than asked for by more than an eighth.

use super::ALIGNMENT;

/// Sizes per doubling.
const STEPS: usize = 8;

/// How many classes there are: the last one holds what a process can address.
pub(super) const COUNT: usize = 312;

/// The number of the smallest size that has room for `bytes`, which are at least one. It is a class where
/// they are at most what a process can address.
#[inline]
pub(super) const fn of(bytes: usize) -> usize {
    let last = (bytes - 1) / ALIGNMENT;
    if last < STEPS {
        return last;
    }
    let shift = (last / STEPS).ilog2() as usize;
    shift * STEPS + (last >> shift)
}

/// The size of the blocks of a class.
#[inline]
pub(super) const fn size(class: usize) -> usize {
    if class < 2 * STEPS {
        return (class + 1) * ALIGNMENT;
    }
    let shift = class / STEPS - 1;
    ((class % STEPS + STEPS + 1) << shift) * ALIGNMENT
}

/// The number of the largest class whose blocks are no longer than `bytes`, which is a size.
pub(super) const fn of_size(bytes: usize) -> usize {
    let mut class = 0;
    while size(class) < bytes {
        class += 1;
    }
    class
}
