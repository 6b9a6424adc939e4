//! Epilogues of products: an elementwise operator applied to rows that were just written.
//!
//! The epilogue uses the operator's own loops on elements already rounded to the result's dtype, so
//! results are bitwise equal to those of the separate operator. Tiles add a residual and apply ReLU themselves, with the
//! same results.

use nomina_core::op::Op;
use nomina_core::{DType, Element, Scalar};

use super::tile::TileEnd;
use crate::cpu::parallel::{GRAIN, Shared, split};
use crate::cpu::pointwise::{self, Kernel};
use crate::dispatch::arithmetic;
use crate::job::{FinalOp, Product, Residual};

/// Elements to which a residual is added at a time.
const PIECE: usize = 2048;

/// An epilogue and the dtype of its elements.
#[derive(Clone, Copy)]
pub(crate) struct Epilogue {
    kernel: Option<&'static Kernel>,
    number: Option<f64>,
    /// The kernel of sums, and what is added first.
    plus: Option<(&'static Kernel, Residual)>,
    dtype: DType,
}

impl Epilogue {
    /// Returns the epilogue of `p`, or `None` if it has none.
    pub(super) fn new(p: &Product) -> Option<Self> {
        Self::of_dtype(p.after?, p.dtype)
    }

    /// Splits the epilogue of `p` into what tiles that sum in `E` compute themselves, and the rest.
    pub(super) fn split<E: Element>(p: &Product) -> (TileEnd, Option<Self>) {
        let all = Self::new(p);
        let fits = p.dtype == E::DTYPE && p.dtype.is_float();
        let Some(after) = p.after.filter(|_| fits) else {
            return (TileEnd::default(), all);
        };
        let relu = after.op == Op::Relu;
        let end = TileEnd {
            plus: after.plus,
            relu,
        };
        let rest = all.map(|all| Self { plus: None, ..all });
        (end, rest.filter(|rest| rest.kernel.is_some() && !relu))
    }

    /// Returns the epilogue that applies an operator to elements of `dtype`, or `None` if no kernel computes it.
    pub(crate) fn of_dtype(after: FinalOp, dtype: DType) -> Option<Self> {
        let kernel = |op| pointwise::kernel(op, arithmetic(dtype));
        let plus = match after.plus {
            Some(residual) => Some((kernel(Op::Add)?, residual)),
            None => None,
        };
        let kernel = match after.op {
            Op::Add => None,
            op => Some(kernel(op)?),
        };
        Some(Self {
            kernel,
            number: after.number,
            plus,
            dtype,
        })
    }

    /// Applies the operator to `rows` rows of `n` adjacent elements; rows are `apart` elements
    /// apart.
    ///
    /// # Safety
    /// The elements are in bounds and hold sums, and nobody else uses them meanwhile.
    pub(crate) unsafe fn rows(self, ptr: *mut u8, apart: isize, rows: usize, n: usize) {
        // Rows without gaps are treated as one row.
        let (rows, n) = if apart == n as isize {
            (1, rows * n)
        } else {
            (rows, n)
        };
        let apart = apart * self.dtype.size() as isize;
        // With two passes, the elements stay in the first-level cache.
        let piece = if self.plus.is_some() { PIECE } else { n.max(1) };
        for (row, first) in
            (0..rows as isize).flat_map(|row| (0..n).step_by(piece).map(move |at| (row, at)))
        {
            let n = piece.min(n - first);
            let ptr = ptr.wrapping_offset(row * apart);
            let ptr = ptr.wrapping_add(first * self.dtype.size());
            let number = self.number.map(Scalar::Float);
            // SAFETY: guaranteed by the caller.
            unsafe {
                if let Some((add, residual)) = self.plus {
                    pointwise::run_with(add, n, ptr, residual.beside(ptr));
                }
                if let Some(kernel) = self.kernel {
                    pointwise::run_in_place(kernel, number, self.dtype, n, ptr);
                }
            }
        }
    }
}

/// Applies the epilogue, if any, to a complete result; on several threads if `parallel`.
///
/// # Safety
/// The requirements of [`super::multiply`]; the product was computed.
pub(super) unsafe fn apply_whole(p: &Product, parallel: bool) {
    let Some(after) = Epilogue::new(p) else {
        return;
    };
    let (mut c, mut rows, mut cols) = (p.c, p.m, p.n);
    if cols == 1 || (c.cols != 1 && rows != 1) {
        (c, rows, cols) = (c.t(), cols, rows);
    }
    let mut apart = c.rows;
    if c.cols != 1 && cols != 1 {
        // Neither rows nor columns are contiguous, so columns are processed one by one.
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
        // SAFETY: part of the result that no other range includes.
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
