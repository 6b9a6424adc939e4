//! Short lines of elements, in pieces of constant lengths, which the compiler vectorises. A plain loop over eight
//! elements, the width of a small image, would process them one by one.

use super::number::{ConvNumber, Widen};

/// Elements of the longest piece.
const LONGEST: usize = 8;

/// An operation on `N` elements from `at` on.
trait Piece {
    /// Processes the elements.
    ///
    /// # Safety
    /// The elements are in bounds.
    unsafe fn piece<const N: usize>(&self, at: usize);
}

/// Applies an operation to each of `n` elements once.
///
/// # Safety
/// The elements are in bounds.
#[inline(always)]
unsafe fn pieces(n: usize, what: &impl Piece) {
    let mut at = 0;
    // SAFETY: guaranteed by the caller; the pieces are consecutive up to `n`.
    unsafe {
        while at + LONGEST <= n {
            what.piece::<LONGEST>(at);
            at += LONGEST;
        }
        if n & 4 != 0 {
            what.piece::<4>(at);
            at += 4;
        }
        if n & 2 != 0 {
            what.piece::<2>(at);
            at += 2;
        }
        if n & 1 != 0 {
            what.piece::<1>(at);
        }
    }
}

struct Copied<S, A>(*const S, *mut A);

impl<S: Widen<A>, A: ConvNumber> Piece for Copied<S, A> {
    #[inline(always)]
    unsafe fn piece<const N: usize>(&self, at: usize) {
        let mut out = [A::ZERO; N];
        // SAFETY: guaranteed by the caller.
        unsafe {
            let from = self.0.add(at).cast::<[S; N]>().read_unaligned();
            for (out, from) in out.iter_mut().zip(from) {
                *out = from.up();
            }
            self.1.add(at).cast::<[A; N]>().write_unaligned(out);
        }
    }
}

/// Copies elements that are two apart.
struct Alternate<S, A>(*const S, *mut A);

impl<S: Widen<A>, A: ConvNumber> Piece for Alternate<S, A> {
    #[inline(always)]
    unsafe fn piece<const N: usize>(&self, at: usize) {
        let mut out = [A::ZERO; N];
        // SAFETY: guaranteed by the caller; the last element that is read is the last that is copied.
        unsafe {
            let from = self.0.add(2 * at);
            let first = from.cast::<[S; N]>().read_unaligned();
            let last = from.add(N - 1).cast::<[S; N]>().read_unaligned();
            for (i, out) in out.iter_mut().enumerate() {
                let element = if i < N / 2 {
                    first[2 * i]
                } else {
                    last[2 * i + 1 - N]
                };
                *out = element.up();
            }
            self.1.add(at).cast::<[A; N]>().write_unaligned(out);
        }
    }
}

struct Zeros<A>(*mut A);

impl<A: ConvNumber> Piece for Zeros<A> {
    #[inline(always)]
    unsafe fn piece<const N: usize>(&self, at: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.0
                .add(at)
                .cast::<[A; N]>()
                .write_unaligned([A::ZERO; N])
        };
    }
}

struct Added<S, A>(*const S, *mut A);

impl<S: Widen<A>, A: ConvNumber> Piece for Added<S, A> {
    #[inline(always)]
    unsafe fn piece<const N: usize>(&self, at: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let to = self.1.add(at).cast::<[A; N]>();
            let from = self.0.add(at).cast::<[S; N]>().read_unaligned();
            let mut sums = to.read_unaligned();
            for (sum, from) in sums.iter_mut().zip(from) {
                *sum = sum.plus(from.up());
            }
            to.write_unaligned(sums);
        }
    }
}

/// Copies `n` elements, `step` apart, to a dense line.
///
/// # Safety
/// The elements are readable, the line is writable, and they do not overlap.
#[inline(always)]
pub(super) unsafe fn copy<S: Widen<A>, A: ConvNumber>(
    n: usize,
    from: *const S,
    step: isize,
    to: *mut A,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if step == 1 {
            pieces(n, &Copied(from, to));
        } else if step == 2 {
            pieces(n, &Alternate(from, to));
        } else {
            for i in 0..n {
                // A complex number that is copied as bits has a smaller alignment.
                let element = from.wrapping_offset(i as isize * step).read_unaligned();
                to.add(i).write_unaligned(element.up());
            }
        }
    }
}

/// Writes `n` zeros.
///
/// # Safety
/// There is room for them.
#[inline(always)]
pub(super) unsafe fn zeros<A: ConvNumber>(n: usize, to: *mut A) {
    // SAFETY: guaranteed by the caller.
    unsafe { pieces(n, &Zeros(to)) };
}

/// Adds a dense line of `n` elements to elements that are `stride` apart.
///
/// # Safety
/// The requirements of [`copy`].
#[inline(always)]
pub(super) unsafe fn add<S: Widen<A>, A: ConvNumber>(
    n: usize,
    from: *const S,
    to: *mut A,
    stride: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if stride == 1 {
            pieces(n, &Added(from, to));
        } else {
            for i in 0..n {
                let to = to.add(i * stride);
                to.write(to.read().plus(from.add(i).read().up()));
            }
        }
    }
}
