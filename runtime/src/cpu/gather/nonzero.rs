//! The indices of the true elements of a mask.

use crate::cpu::parallel::{GRAIN, Shared};
use crate::cpu::reduce::split::for_each;
use crate::memory::{NoMemory, Scratch};

fn range(chunk: usize, len: usize) -> std::ops::Range<usize> {
    chunk * GRAIN..len.min((chunk + 1) * GRAIN)
}

/// Counts the true elements of each chunk of a mask.
pub(crate) fn count(mask: &[bool]) -> Result<Scratch<usize>, NoMemory> {
    let mut counts = Scratch::new([mask.len().div_ceil(GRAIN)], 0)?;
    let shared = Shared(counts.as_mut_ptr().cast());
    for_each(counts.len(), GRAIN, &|chunk| {
        // Counts in lanes of bytes, which cannot overflow with 255 elements.
        let ones = |part: &[bool]| usize::from(part.iter().map(|&m| u8::from(m)).sum::<u8>());
        let count: usize = mask[range(chunk, mask.len())].chunks(255).map(ones).sum();
        // SAFETY: each chunk writes its own element.
        unsafe { shared.get().cast::<usize>().add(chunk).write(count) };
    });
    Ok(counts)
}

/// Writes the indices of the true elements of a mask of shape `shape`, one row for each, given the
/// count of each chunk. For a shape without dims, rows are empty.
///
/// # Safety
/// `out` has room for this number of rows of `shape.len()` numbers, and nobody else accesses it
/// meanwhile.
pub(crate) unsafe fn positions(
    mask: &[bool],
    counts: &[usize],
    shape: &[usize],
    out: *mut i64,
) -> Result<(), NoMemory> {
    let Some((&last, outer)) = shape.split_last() else {
        return Ok(());
    };
    let rank = shape.len();
    let mut starts = Scratch::new([counts.len()], 0)?;
    let mut total = 0;
    for (start, &count) in starts.iter_mut().zip(counts) {
        *start = total;
        total += count;
    }
    let out = Shared(out.cast());
    for_each(counts.len(), GRAIN, &|chunk| {
        if counts[chunk] == 0 {
            return;
        }
        let mut to = out.get().cast::<i64>().wrapping_add(starts[chunk] * rank);
        let mut index: crate::SmallVec<[i64; 8]> = crate::SmallVec::from_elem(0, rank);
        let mut row = usize::MAX;
        for at in range(chunk, mask.len()) {
            if !mask[at] {
                continue;
            }
            if at / last != row {
                row = at / last;
                let mut left = row;
                for (index, &size) in index[..rank - 1].iter_mut().zip(outer).rev() {
                    *index = (left % size) as i64;
                    left /= size;
                }
            }
            index[rank - 1] = (at % last) as i64;
            // SAFETY: guaranteed by the caller; each chunk owns its rows.
            unsafe {
                index.as_ptr().copy_to_nonoverlapping(to, rank);
                to = to.add(rank);
            }
        }
    });
    Ok(())
}
