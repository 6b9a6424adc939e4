//! Products of integers and bool, and of tiny matrices of any type.

use super::arith::{Arith, ScaledUpdate};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::{SmallScratch, try_for_each};
use crate::job::Product;
use crate::memory::NoMemory;

/// Columns of a block of `b`.
const COLS: usize = 256;
/// Rows of a block of `b`.
const DEPTH: usize = 128;
/// Rows of `c` per task.
const ROWS: usize = 32;

/// Computes a product without blocking, for products so small that packing would cost more.
///
/// # Safety
/// The requirements of [`super::multiply`].
pub(super) unsafe fn tiny<T: Arith>(p: &Product) {
    let scale = ScaledUpdate::<T>::new(p);
    for i in 0..p.m {
        for j in 0..p.n {
            let mut sum = T::ZERO;
            for l in 0..p.k {
                // SAFETY: indices are within the matrices.
                sum = sum.plus(unsafe { p.a.at::<T>(i, l).read().times(p.b.at::<T>(l, j).read()) });
            }
            // SAFETY: as above.
            unsafe { scale.write(i, j, sum) };
        }
    }
}

/// Computes a product by blocks. Each task owns some rows and columns of `c` and packs the blocks
/// of `b` it needs.
///
/// # Safety
/// The requirements of [`super::multiply`].
pub(super) unsafe fn product<T: Arith>(p: &Product, parallel: bool) -> Result<(), NoMemory> {
    let (down, across) = (p.m.div_ceil(ROWS), p.n.div_ceil(COLS));
    let p = *p;
    let task = |index: usize| {
        let (i, j) = (index / across * ROWS, index % across * COLS);
        let (rows, cols) = (ROWS.min(p.m - i), COLS.min(p.n - j));
        let mut sums = SmallScratch::bytes([rows, cols, size_of::<T>()])?;
        let mut block = SmallScratch::bytes([DEPTH, cols, size_of::<T>()])?;
        let (sums, block) = (
            sums.as_mut_ptr().cast::<T>(),
            block.as_mut_ptr().cast::<T>(),
        );
        // SAFETY: the scratches have the sizes that are written; indices are within the matrices;
        // each task owns its part of `c`.
        unsafe {
            for at in 0..rows * cols {
                sums.add(at).write(T::ZERO);
            }
            for from in (0..p.k).step_by(DEPTH) {
                let depth = DEPTH.min(p.k - from);
                for l in 0..depth {
                    for c in 0..cols {
                        block
                            .add(l * cols + c)
                            .write(p.b.at::<T>(from + l, j + c).read());
                    }
                }
                for r in 0..rows {
                    dispatch(ProductRow {
                        sums: std::slice::from_raw_parts_mut(sums.add(r * cols), cols),
                        a: p.a.at::<T>(i + r, from),
                        stride: p.a.cols,
                        block: std::slice::from_raw_parts(block, depth * cols),
                    });
                }
            }
            let scale = ScaledUpdate::<T>::new(&p);
            for r in 0..rows {
                for c in 0..cols {
                    scale.write(i + r, j + c, sums.add(r * cols + c).read());
                }
            }
        }
        Ok(())
    };
    let work = if parallel { ROWS * COLS * p.k } else { 0 };
    try_for_each(down * across, work, &task)
}

/// One row of a block of `c`, to which the rows of a block of `b` are added, each times an element
/// of `a`.
struct ProductRow<'a, T> {
    sums: &'a mut [T],
    a: *const T,
    stride: isize,
    block: &'a [T],
}

impl<T: Arith> Kernel for ProductRow<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.sums.len();
        // SAFETY: `a` has an element for each row of the block.
        let a = |l: usize| unsafe { self.a.wrapping_offset(l as isize * self.stride).read() };
        let mut rows = self.block.chunks_exact(n);
        let (mut l, depth) = (0, rows.len());
        while l + 4 <= depth {
            let Some((b, c, d, e)) = rows
                .next()
                .and_then(|b| Some((b, rows.next()?, rows.next()?, rows.next()?)))
            else {
                break;
            };
            let w = [a(l), a(l + 1), a(l + 2), a(l + 3)];
            for i in 0..n {
                let first = w[0].times(b[i]).plus(w[1].times(c[i]));
                let second = w[2].times(d[i]).plus(w[3].times(e[i]));
                self.sums[i] = self.sums[i].plus(first.plus(second));
            }
            l += 4;
        }
        for row in rows {
            let w = a(l);
            for (sum, &b) in self.sums.iter_mut().zip(row) {
                *sum = sum.plus(w.times(b));
            }
            l += 1;
        }
    }
}
