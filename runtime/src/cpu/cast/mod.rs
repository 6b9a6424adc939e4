//! Copies and conversions of runs of elements.
//!
//! All elements that are not already in the layout and dtype that a kernel needs pass through here:
//! 12 × 12 pairs of dtypes, each as a dense loop for every SIMD level. Strides are a copy of elements of a size.

mod copy;

#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;
use std::slice;

use nomina_core::DType;

use super::numeric::Convert;
use super::simd::{LEVELS, level, levels};
use crate::dispatch::with_dtype;

pub(crate) use copy::copy;

type DenseCast = unsafe fn(usize, *const u8, *mut u8);
type StridedCopy = unsafe fn(usize, *const u8, isize, *mut u8, isize);

/// Elements that are converted at a time if either side is not contiguous.
const STAGE: usize = 256;

/// A block of contiguous elements.
#[repr(C, align(64))]
struct Block([MaybeUninit<u8>; STAGE * size_of::<[u64; 2]>()]);

/// The loops that convert elements of one dtype to another.
#[derive(Clone, Copy)]
pub(crate) struct Cast {
    dense: DenseCast,
    /// Copies of elements of the first dtype, and of the second, between any strides.
    copy: [StridedCopy; 2],
    sizes: [isize; 2],
    copies: bool,
}

impl Cast {
    /// Returns the loops from one dtype to another.
    pub(crate) fn new(from: DType, to: DType) -> Self {
        let [copying, pasting] = [from, to].map(|dtype| copies_of(dtype.size()));
        let dense = if from == to {
            copying.0
        } else {
            converting(from, to)[level() as usize]
        };
        Self {
            dense,
            copy: [copying.1, pasting.1],
            sizes: [from.size() as isize, to.size() as isize],
            copies: from == to,
        }
    }

    /// Returns the sizes of an element before and after.
    pub(crate) fn sizes(&self) -> [isize; 2] {
        self.sizes
    }

    /// Returns whether elements are copied without conversion.
    pub(crate) fn copies(&self) -> bool {
        self.copies
    }

    /// Converts `n` elements from `source` to `dest`, where they are `steps` bytes apart. A source
    /// step of zero repeats one element.
    ///
    /// # Safety
    /// `n` elements at `source` are readable and valid, `n` at `dest` writable; they do not overlap.
    #[inline]
    pub(crate) unsafe fn run(
        &self,
        n: usize,
        source: *const u8,
        source_step: isize,
        dest: *mut u8,
        dest_step: isize,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if [source_step, dest_step] == self.sizes {
                (self.dense)(n, source, dest);
            } else if self.copies {
                (self.copy[0])(n, source, source_step, dest, dest_step);
            } else {
                self.staged(n, source, source_step, dest, dest_step);
            }
        }
    }

    /// Converts elements with strides: copies them to a block, converts them there, and copies them to their places.
    ///
    /// # Safety
    /// The requirements of [`Cast::run`].
    unsafe fn staged(
        &self,
        n: usize,
        source: *const u8,
        source_step: isize,
        dest: *mut u8,
        dest_step: isize,
    ) {
        let (mut before, mut after) = (
            MaybeUninit::<Block>::uninit(),
            MaybeUninit::<Block>::uninit(),
        );
        let (before, after) = (
            before.as_mut_ptr().cast::<u8>(),
            after.as_mut_ptr().cast::<u8>(),
        );
        let [from, to] = self.sizes;
        if source_step == 0 && n > 0 {
            // SAFETY: there is an element; its value is written to all places.
            unsafe {
                (self.dense)(1, source, after);
                (self.copy[1])(n, after, 0, dest, dest_step);
            }
            return;
        }
        let mut done = 0;
        while done < n {
            let count = STAGE.min(n - done);
            let mut read = source.wrapping_offset(done as isize * source_step);
            let place = dest.wrapping_offset(done as isize * dest_step);
            // SAFETY: `count` elements from the `done`th on are the caller's; the blocks have room for them.
            unsafe {
                if source_step != from {
                    (self.copy[0])(count, read, source_step, before, from);
                    read = before;
                }
                if dest_step == to {
                    (self.dense)(count, read, place);
                } else {
                    (self.dense)(count, read, after);
                    (self.copy[1])(count, after, to, place, dest_step);
                }
            }
            done += count;
        }
    }
}

/// Returns loops that copy elements of a size: contiguous ones, and any. Complex numbers have the alignment of their parts.
fn copies_of(size: usize) -> (DenseCast, StridedCopy) {
    macro_rules! sized {
        ($t:ty) => {{
            unsafe fn dense(n: usize, source: *const u8, dest: *mut u8) {
                // SAFETY: guaranteed by the caller.
                unsafe { source.copy_to_nonoverlapping(dest, n * size_of::<$t>()) }
            }
            (dense as DenseCast, strided::<$t> as StridedCopy)
        }};
    }
    match size {
        1 => sized!(u8),
        2 => sized!(u16),
        4 => sized!(u32),
        8 => sized!([u32; 2]),
        _ => sized!([u64; 2]),
    }
}

/// Returns the loops that convert contiguous elements.
fn converting(from: DType, to: DType) -> [DenseCast; LEVELS] {
    with_dtype!(from, A => with_dtype!(to, B => {
        levels!(fn(n: usize, source: *const u8, dest: *mut u8) {
            dense::<A, B>(n, source.cast(), dest.cast())
        })
    }))
}

/// Converts contiguous elements.
///
/// # Safety
/// The requirements of [`Cast::run`], with contiguous elements.
#[inline(always)]
unsafe fn dense<A: Convert<B>, B: Copy>(n: usize, source: *const A, dest: *mut B) {
    let mut i = 0;
    while i < n {
        // SAFETY: guaranteed by the caller; the destination may be uninitialised.
        unsafe { *dest.add(i) = (*source.add(i)).convert() };
        i += 1;
    }
}

/// Copies elements with strides.
///
/// # Safety
/// The requirements of [`Cast::run`].
unsafe fn strided<T: Copy>(
    n: usize,
    source: *const u8,
    source_step: isize,
    dest: *mut u8,
    dest_step: isize,
) {
    // SAFETY: all `n` elements are the caller's; the first is read only if there is one.
    unsafe {
        if source_step == 0 && dest_step == size_of::<T>() as isize && n > 0 {
            let value = MaybeUninit::new(*source.cast::<T>());
            slice::from_raw_parts_mut(dest.cast::<MaybeUninit<T>>(), n).fill(value);
            return;
        }
        // Unoptimised builds would call the functions of an iterator for each element.
        let mut i = 0;
        while i < n as isize {
            let from = source.wrapping_offset(i * source_step).cast::<T>();
            *dest.wrapping_offset(i * dest_step).cast::<T>() = *from;
            i += 1;
        }
    }
}
