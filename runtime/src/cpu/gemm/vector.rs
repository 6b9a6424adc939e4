//! Products with a vector. Nothing is packed; the matrix is read once, in its own order.

use super::Large;
use super::arith::{Arith, ScaledUpdate};
use crate::cpu::reduce::reducer::many;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::{SmallScratch, for_each};
use crate::job::Product;
use crate::memory::NoMemory;

/// The elements of a matrix that take as long to read as one element of other work: a second thread pays later.
const READ: usize = 4;

/// Rows of a task if the matrix is read column by column.
const BLOCK: usize = 1024;

/// Rows shorter than this are read column by column, many rows at a time: a sum lane by lane would
/// cost more.
const SHORT: usize = 16;

/// Computes `c = alpha a b + beta c` for `n = 1`.
///
/// # Safety
/// The requirements of [`super::multiply`].
pub(super) unsafe fn mv<T: Large>(p: &Product) -> Result<(), NoMemory> {
    let p = *p;
    let scale = ScaledUpdate::<T>::new(&p);
    let packs = p.b.rows != 1;
    let mut packed = SmallScratch::bytes([usize::from(packs), p.k, size_of::<T>()])?;
    let mut b: *const T = p.b.at(0, 0);
    if packs {
        let to = packed.as_mut_ptr().cast::<T>();
        for l in 0..p.k {
            // SAFETY: the scratch has room for `k`; the index is within the vector.
            unsafe { to.add(l).write(p.b.at::<T>(l, 0).read()) };
        }
        b = to;
    }
    // SAFETY: `k` contiguous elements.
    let b = unsafe { many::<T>(b.cast(), p.k) };
    let b = DotVector(b);
    let by_row = p.a.cols == 1 || p.a.rows.abs() >= p.a.cols.abs();
    #[cfg(target_arch = "x86_64")]
    if let Some(dots) = T::dots().filter(|_| p.a.cols == 1) {
        let rows = super::dots::ROWS;
        for_each(p.m.div_ceil(rows), rows * p.k / READ, &|group| {
            let from = group * rows;
            let (count, mut sums) = (rows.min(p.m - from), [T::ZERO; super::dots::ROWS]);
            // SAFETY: the rows are within the matrix; each task owns its elements.
            unsafe {
                let a = p.a.at::<T>(from, 0).cast_const();
                dots(a, count, p.a.rows, b.0.as_ptr(), p.k, &mut sums);
                for (at, &sum) in sums.iter().enumerate().take(count) {
                    scale.write(from + at, 0, sum);
                }
            }
        });
        return Ok(());
    }
    if p.m < 8 || (by_row && p.k >= SHORT) {
        for_each(p.m, p.k, &|i| {
            let (a, stride) = (p.a.at::<T>(i, 0), p.a.cols);
            // SAFETY: the row is within the matrix; each task owns its element.
            unsafe {
                let sum = if stride == 1 {
                    dispatch(Dot(many(a.cast(), p.k), b.0))
                } else {
                    let one = |(l, &b): (usize, &T)| {
                        a.wrapping_offset(l as isize * stride).read().times(b)
                    };
                    b.0.iter().enumerate().map(one).fold(T::ZERO, T::plus)
                };
                scale.write(i, 0, sum);
            }
        });
        return Ok(());
    }
    for_each(p.m.div_ceil(BLOCK), BLOCK.min(p.m) * p.k, &|block| {
        let from = block * BLOCK;
        let rows = BLOCK.min(p.m - from);
        let mut sums = [T::ZERO; BLOCK];
        let sums = &mut sums[..rows];
        let a = p.a.at::<T>(from, 0);
        // SAFETY: the rows are within the matrix; each task owns its part of `c`.
        unsafe {
            dispatch(WeightedColumns {
                sums,
                a,
                rows: p.a.rows,
                cols: p.a.cols,
                b: b.0,
            });
            for (i, &sum) in sums.iter().enumerate() {
                scale.write(from + i, 0, sum);
            }
        }
    });
    Ok(())
}

/// A vector shared by tasks.
#[derive(Clone, Copy)]
struct DotVector<'a, T>(&'a [T]);

/// The inner product of two rows.
struct Dot<'a, T>(&'a [T], &'a [T]);

impl<T: Arith> Kernel for Dot<'_, T> {
    type Out = T;
    #[inline(always)]
    fn run(self) -> T {
        const LANES: usize = 64;
        let mut lanes = [T::ZERO; LANES];
        let (mut a, mut b) = (self.0.chunks_exact(LANES), self.1.chunks_exact(LANES));
        for (a, b) in (&mut a).zip(&mut b) {
            for i in 0..LANES {
                lanes[i] = lanes[i].plus(a[i].times(b[i]));
            }
        }
        for (i, (&a, &b)) in a.remainder().iter().zip(b.remainder()).enumerate() {
            lanes[i] = lanes[i].plus(a.times(b));
        }
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                lanes[i] = lanes[i].plus(lanes[i + width]);
            }
            width /= 2;
        }
        lanes[0]
    }
}

/// Columns of a matrix, which are added up, each times an element of the vector.
struct WeightedColumns<'a, T> {
    sums: &'a mut [T],
    a: *const T,
    rows: isize,
    cols: isize,
    b: &'a [T],
}

impl<T: Arith> Kernel for WeightedColumns<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.sums.len();
        for (l, &b) in self.b.iter().enumerate() {
            let a = self.a.wrapping_offset(l as isize * self.cols);
            if self.rows == 1 {
                // SAFETY: the creator of this struct guarantees that the elements are readable.
                let a = unsafe { many::<T>(a.cast(), n) };
                for (sum, &a) in self.sums.iter_mut().zip(a) {
                    *sum = sum.plus(a.times(b));
                }
            } else {
                for (i, sum) in self.sums.iter_mut().enumerate() {
                    // SAFETY: as above.
                    let a = unsafe { a.wrapping_offset(i as isize * self.rows).read() };
                    *sum = sum.plus(a.times(b));
                }
            }
        }
    }
}
