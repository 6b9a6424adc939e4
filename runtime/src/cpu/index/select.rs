//! The elements selected by a mask.

use crate::cpu::parallel::GRAIN;
use crate::cpu::reduce::plan::{Loop, Loops, runs};
use crate::cpu::reduce::split::for_each;
use crate::memory::{NoMemory, Scratch};

/// The elements of a tensor at which a mask of the same shape is true, in row-major order.
///
/// The mask is contiguous; the tensor has any strides.
pub(crate) struct Selection<'a> {
    /// One boolean per element.
    pub mask: &'a [bool],
    /// The tensor's first element, and the size of an element.
    pub x: *const u8,
    pub size: usize,
    loops: Loops,
}

// SAFETY: the tensor is only read.
unsafe impl Sync for Selection<'_> {}

impl<'a> Selection<'a> {
    /// Creates a selection from a tensor of this shape, with strides in elements.
    pub fn new(
        mask: &'a [bool],
        x: *const u8,
        size: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Self {
        let mut loops = Loops::new();
        for (&size, &src) in shape.iter().zip(strides) {
            let next = Loop { size, src, dst: 0 };
            match loops.last_mut() {
                _ if size == 1 => {}
                Some(outer) if outer.src == src * size as isize => {
                    *outer = Loop {
                        size: outer.size * size,
                        ..next
                    };
                }
                _ => loops.push(next),
            }
        }
        Self {
            mask,
            x,
            size,
            loops,
        }
    }

    fn range(&self, chunk: usize) -> (usize, usize) {
        (chunk * GRAIN, self.mask.len().min((chunk + 1) * GRAIN))
    }
}

/// Counts the selected elements of each chunk.
pub(crate) fn count(selection: &Selection<'_>) -> Result<Scratch<usize>, NoMemory> {
    let chunks = selection.mask.len().div_ceil(GRAIN);
    let mut counts = Scratch::new([chunks], 0)?;
    let shared = crate::cpu::parallel::Shared(counts.as_mut_ptr().cast());
    for_each(chunks, GRAIN, &|chunk| {
        let (from, to) = selection.range(chunk);
        // Counts in lanes of bytes, which cannot overflow with 255 elements.
        let ones = |part: &[bool]| usize::from(part.iter().map(|&m| u8::from(m)).sum::<u8>());
        let count: usize = selection.mask[from..to].chunks(255).map(ones).sum();
        // SAFETY: each chunk writes its own element.
        unsafe { shared.get().cast::<usize>().add(chunk).write(count) };
    });
    Ok(counts)
}

/// Writes the selected elements contiguously, given the count of each chunk.
///
/// # Safety
/// The tensor is in bounds; `out` has room for the sum of `counts`, and nobody else accesses it
/// meanwhile.
pub(crate) unsafe fn scatter(
    selection: &Selection<'_>,
    counts: &[usize],
    out: *mut u8,
) -> Result<(), NoMemory> {
    let mut starts = Scratch::new([counts.len()], 0)?;
    let mut total = 0;
    for (start, &count) in starts.iter_mut().zip(counts) {
        *start = total;
        total += count;
    }
    let out = crate::cpu::parallel::Shared(out);
    for_each(counts.len(), GRAIN, &|chunk| {
        if counts[chunk] == 0 {
            return;
        }
        let to = out.get().wrapping_add(starts[chunk] * selection.size);
        // SAFETY: guaranteed by the caller; each chunk owns its part of `out`.
        unsafe {
            match selection.size {
                1 => chunk_of::<1>(selection, chunk, to),
                2 => chunk_of::<2>(selection, chunk, to),
                4 => chunk_of::<4>(selection, chunk, to),
                8 => chunk_of::<8>(selection, chunk, to),
                _ => chunk_of::<16>(selection, chunk, to),
            }
        }
    });
    Ok(())
}

unsafe fn chunk_of<const N: usize>(selection: &Selection<'_>, chunk: usize, mut to: *mut u8) {
    let (from, end) = selection.range(chunk);
    let step = selection.loops.last().map_or(0, |inner| inner.src) * N as isize;
    let mut at = from;
    runs(&selection.loops, from, end, |offset, n| {
        let mut x = selection.x.wrapping_offset(offset * N as isize);
        for &take in &selection.mask[at..at + n] {
            if take {
                // SAFETY: an element of the tensor; `to` has room for all selected elements.
                unsafe {
                    to.copy_from_nonoverlapping(x, N);
                    to = to.add(N);
                }
            }
            x = x.wrapping_offset(step);
        }
        at += n;
        true
    });
}

/// Returns whether two contiguous operands have equal elements.
pub(crate) fn same_elements<T: PartialEq + Sync>(a: &[T], b: &[T]) -> bool {
    use std::sync::atomic::{AtomicBool, Ordering};
    let differ = AtomicBool::new(false);
    let chunks = a.len().div_ceil(GRAIN);
    for_each(chunks, GRAIN, &|chunk| {
        let (from, to) = (chunk * GRAIN, a.len().min((chunk + 1) * GRAIN));
        if !differ.load(Ordering::Relaxed) && a[from..to] != b[from..to] {
            differ.store(true, Ordering::Relaxed);
        }
    });
    !differ.into_inner()
}
