//! Prefetching the operands of the next product of a batch, and the next panels of a large one.
//!
//! A product of a batch is read once, from beyond the second-level cache, and is too short for the
//! hardware prefetcher: its rows are adjacent, but tiles read only a few columns of each.
use crate::job::Product;

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;
/// The most bytes of the next product's matrices that stay cached until it is computed.
const NEAR: usize = 512 << 10;
/// Cache lines still to be prefetched, as ranges of an address and a count.
#[derive(Clone, Copy)]
pub(super) struct Prefetch([(*const u8, usize); 3]);

/// Prefetches of one line per step of a tile: the first address, and the distance between lines in
/// bytes.
#[derive(Clone, Copy)]
pub(super) struct StepPrefetch {
    pub first: *const u8,
    pub step: isize,
}

impl StepPrefetch {
    /// Returns a no-op prefetch: a single address that is read anyway.
    pub(super) fn none<T>(near: *const T) -> Self {
        Self {
            first: near.cast(),
            step: 0,
        }
    }

    /// Returns prefetches of the first line of each row of a matrix, some rows ahead: rows that are far apart are no
    /// stream for the hardware prefetcher, but lines after the first are.
    pub(super) fn rows<T>(first: *const T, step: isize) -> Self {
        /// The distance in rows.
        const AHEAD: isize = 16;
        Self {
            first: first.wrapping_offset(AHEAD * step).cast(),
            step: step * size_of::<T>() as isize,
        }
    }
}

impl Prefetch {
    /// No lines.
    pub(super) const NONE: Self = Self([(std::ptr::null(), 0); 3]);

    /// Returns the lines of the matrices of `next` that `this` does not read, if they have no gaps
    /// and are small.
    pub(super) fn between(this: &Product, next: Option<&Product>) -> Self {
        let Some(next) = next else {
            return Self::NONE;
        };
        let Product { m, k, n, .. } = *next;
        let size = next.dtype.size();
        let all = [
            (this.a, next.a, [m, k]),
            (this.b, next.b, [k, n]),
            (this.c, next.c, [m, n]),
        ];
        let elements: usize = all.iter().map(|(_, _, [rows, cols])| rows * cols).sum();
        if elements > NEAR / size {
            return Self::NONE;
        }
        Self(all.map(|(this, next, [rows, cols])| {
            let dense = (next.cols == 1 && next.rows == cols as isize)
                || (next.rows == 1 && next.cols == rows as isize);
            let lines = (rows * cols * size).div_ceil(LINE);
            let wanted = dense && this.ptr != next.ptr;
            (next.ptr.cast_const(), if wanted { lines } else { 0 })
        }))
    }

    /// Returns the lines of some contiguous elements.
    pub(super) fn lines<T>(first: *const T, count: usize) -> Self {
        let lines = (count * size_of::<T>()).div_ceil(LINE);
        let mut all = Self::NONE;
        all.0[0] = (first.cast(), lines);
        all
    }

    /// Returns whether no lines remain.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&(_, left)| left == 0)
    }

    /// Takes `steps` of the remaining lines for one tile; if none are left, returns the address
    /// `near`.
    pub(super) fn take<T>(&mut self, steps: usize, near: *const T) -> StepPrefetch {
        let Some((first, left)) = self.0.iter_mut().find(|(_, left)| *left > 0) else {
            return StepPrefetch::none(near);
        };
        let lines = StepPrefetch {
            first: *first,
            step: LINE as isize,
        };
        *first = first.wrapping_add(steps * LINE);
        *left = left.saturating_sub(steps);
        lines
    }
}

#[cfg(test)]
mod tests {
    use nomina_core::{DType, Scalar};

    use super::super::Matrix;
    use super::*;

    fn matrix(at: usize, rows: isize, cols: isize) -> Matrix {
        Matrix {
            ptr: std::ptr::without_provenance_mut(at),
            rows,
            cols,
        }
    }

    #[test]
    fn every_line_of_what_is_new_and_dense_is_asked_for_once() {
        let this = Product {
            dtype: DType::F32,
            m: 10,
            k: 20,
            n: 30,
            a: matrix(4096, 20, 1),
            b: matrix(8192, 30, 1),
            c: matrix(16384, 30, 1),
            alpha: Scalar::Int(1),
            beta: None,
            addend: None,
            after: None,
        };
        let next = Product {
            // Contiguous by columns; shared; with gaps between rows.
            a: matrix(64 << 10, 1, 10),
            c: matrix(128 << 10, 31, 1),
            ..this
        };
        let mut ahead = Prefetch::between(&this, Some(&next));
        let near = 64 as *const f32;
        let mut seen = Vec::new();
        loop {
            let lines = ahead.take(5, near);
            if lines.step == 0 {
                assert_eq!(lines.first.addr(), 64);
                break;
            }
            seen.extend((0..5).map(|at| lines.first.addr() + at * lines.step as usize));
        }
        // 800 bytes are 13 lines, prefetched five at a time.
        let want: Vec<_> = (0..15).map(|at| (64 << 10) + 64 * at).collect();
        assert_eq!(seen, want);
        assert_eq!(Prefetch::between(&this, None).take(5, near).step, 0);
        let large = Product { m: 10_000, ..next };
        assert_eq!(Prefetch::between(&this, Some(&large)).take(5, near).step, 0);
    }
}
