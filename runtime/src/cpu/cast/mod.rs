//! Copies and conversions of runs of elements.
//!
//! All elements that are not already in the layout and dtype that a kernel needs pass through here:
//! 12 × 12 pairs of dtypes, each as a dense loop for every SIMD level and as a strided one.

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
type StridedCast = unsafe fn(usize, *const u8, isize, *mut u8, isize);

/// The loops that convert elements of one dtype to another.
#[derive(Clone, Copy)]
pub(crate) struct Cast {
    dense: DenseCast,
    strided: StridedCast,
    sizes: [isize; 2],
    copies: bool,
}

impl Cast {
    /// Returns the loops from one dtype to another.
    pub(crate) fn new(from: DType, to: DType) -> Self {
        let (dense, strided) = if from == to {
            copying(from)
        } else {
            converting(from, to)
        };
        Self {
            dense: dense[level() as usize],
            strided,
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
            } else {
                (self.strided)(n, source, source_step, dest, dest_step);
            }
        }
    }
}

/// Returns loops that copy bits; only the size of the dtype matters.
fn copying(dtype: DType) -> ([DenseCast; LEVELS], StridedCast) {
    macro_rules! sized {
        ($t:ty) => {{
            unsafe fn dense(n: usize, source: *const u8, dest: *mut u8) {
                // SAFETY: guaranteed by the caller.
                unsafe { source.copy_to_nonoverlapping(dest, n * size_of::<$t>()) }
            }
            (
                [dense as DenseCast; LEVELS],
                strided::<$t, $t> as StridedCast,
            )
        }};
    }
    match dtype.size() {
        1 => sized!(u8),
        2 => sized!(UnalignedBits<u16>),
        4 => sized!(UnalignedBits<u32>),
        8 => sized!(UnalignedBits<u64>),
        _ => sized!(UnalignedBits<[u64; 2]>),
    }
}

/// The bits of a dtype whose alignment is only that of its parts.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct UnalignedBits<T>(T);

impl<T: Copy> Convert<UnalignedBits<T>> for UnalignedBits<T> {
    #[inline(always)]
    fn convert(self) -> Self {
        self
    }
}

fn converting(from: DType, to: DType) -> ([DenseCast; LEVELS], StridedCast) {
    with_dtype!(from, A => with_dtype!(to, B => {
        let dense = levels!(fn(n: usize, source: *const u8, dest: *mut u8) {
            dense::<A, B>(n, source.cast(), dest.cast())
        });
        (dense, strided::<A, B> as StridedCast)
    }))
}

/// Converts contiguous elements.
///
/// # Safety
/// The requirements of [`Cast::run`], with contiguous elements.
#[inline(always)]
unsafe fn dense<A: Convert<B>, B: Copy>(n: usize, source: *const A, dest: *mut B) {
    // SAFETY: guaranteed by the caller; the destination may be uninitialised.
    let (source, dest) = unsafe {
        let dest = dest.cast::<MaybeUninit<B>>();
        (
            slice::from_raw_parts(source, n),
            slice::from_raw_parts_mut(dest, n),
        )
    };
    for (dest, &source) in dest.iter_mut().zip(source) {
        dest.write(source.convert());
    }
}

/// Converts elements with strides.
///
/// # Safety
/// The requirements of [`Cast::run`].
unsafe fn strided<A: Convert<B>, B: Copy>(
    n: usize,
    source: *const u8,
    source_step: isize,
    dest: *mut u8,
    dest_step: isize,
) {
    if n == 0 {
        return;
    }
    // SAFETY: all `n` elements are the caller's; there is at least one.
    unsafe {
        if source_step == 0 {
            let value = source.cast::<A>().read().convert();
            if dest_step == size_of::<B>() as isize {
                slice::from_raw_parts_mut(dest.cast::<MaybeUninit<B>>(), n)
                    .fill(MaybeUninit::new(value));
                return;
            }
            for i in 0..n as isize {
                dest.offset(i * dest_step).cast::<B>().write(value);
            }
        } else {
            for i in 0..n as isize {
                let value = source.offset(i * source_step).cast::<A>().read().convert();
                dest.offset(i * dest_step).cast::<B>().write(value);
            }
        }
    }
}
