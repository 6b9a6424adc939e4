//! Epilogues of products: an elementwise operator, whose own loops
//! run over rows that were just written.
//!
//! Elements are the same to the bit as those of the operator by itself, since it meets them in the
//! result's dtype, rounded.

use nomina_core::DType;

use crate::cpu::parallel::{GRAIN, Shared, split};
use crate::cpu::pointwise::{self, Kernel};
use crate::dispatch::arithmetic;
use crate::job::Product;

/// The operator of a product in its dtype.
#[derive(Clone, Copy)]
pub(super) struct After {
    kernel: &'static Kernel,
    dtype: DType,
}

impl After {
    /// That of a product; `None` where its elements stay as they are.
    pub(super) fn of(p: &Product) -> Option<Self> {
        let kernel = pointwise::kernel(p.after?, arithmetic(p.dtype))?;
        Some(Self {
            kernel,
            dtype: p.dtype,
        })
    }

    /// Takes `rows` rows of `n` adjacent elements through the operator, `apart` elements from each
    /// other.
    ///
    /// # Safety
    /// The elements are there, hold sums, and nobody else uses them meanwhile.
    pub(super) unsafe fn rows(self, ptr: *mut u8, apart: isize, rows: usize, n: usize) {
        // Rows without gaps are one.
        let (rows, n) = if apart == n as isize {
            (1, rows * n)
        } else {
            (rows, n)
        };
        let apart = apart * self.dtype.size() as isize;
        for row in 0..rows as isize {
            // SAFETY: the caller's promise.
            unsafe {
                pointwise::own_dense(self.kernel, self.dtype, n, ptr.wrapping_offset(row * apart));
            }
        }
    }
}

/// Takes a result that is complete through its operator, where it has one; on several threads if
/// `parallel`.
///
/// # Safety
/// As for [`super::run`]; the product was computed.
pub(super) unsafe fn whole(p: &Product, parallel: bool) {
    let Some(after) = After::of(p) else {
        return;
    };
    let (mut c, mut rows, mut cols) = (p.c, p.m, p.n);
    if cols == 1 || (c.cols != 1 && rows != 1) {
        (c, rows, cols) = (c.t(), cols, rows);
    }
    let mut apart = c.rows;
    if c.cols != 1 && cols != 1 {
        // Neither rows nor columns are adjacent: one by one.
        for col in 0..cols as isize {
            let at = c.shift(col * c.cols, p.dtype).ptr;
            // SAFETY: a column of the result.
            unsafe { after.rows(at, apart, rows, 1) };
        }
        return;
    }
    if rows == 1 || apart == cols as isize {
        (rows, cols) = (1, rows * cols);
        apart = cols as isize;
    }
    let start = Shared(c.ptr);
    let size = p.dtype.size() as isize;
    let some = |row: usize, first: usize, count: usize, high: usize| {
        let offset = (row as isize * apart + first as isize) * size;
        // SAFETY: part of the result, which no other range has.
        unsafe { after.rows(start.get().wrapping_offset(offset), apart, high, count) };
    };
    if !parallel {
        some(0, 0, cols, rows);
    } else if rows == 1 {
        split(cols, GRAIN, &|range| some(0, range.start, range.len(), 1));
    } else {
        let grain = (GRAIN / cols).max(1);
        split(rows, grain, &|range| {
            some(range.start, 0, cols, range.len())
        });
    }
}
