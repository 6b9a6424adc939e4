//! Products of a few rows and a matrix whose columns are contiguous, such as the weight of a layer. Nothing is packed,
//! and each element of the matrix is read from memory once.
//!
//! The sums of a tile's rows and columns stay in registers; along the inner dim both operands are read in place. A sum
//! is accumulated per lane and then reduced across the lanes, so it depends neither on threads nor on its neighbours.

use std::arch::x86_64::*;

use super::CHEAP;
use super::arith::{Arith, ScaledUpdate};
use crate::cpu::reduce::split::for_each;
use crate::cpu::simd::{Level, level};
use crate::job::Product;

/// The most rows for which this path is used rather than tiles, which pack. Measured with 9 rows alone.
const ROWS: usize = 24;
/// The fewest steps for which a reduction across lanes pays.
const DEPTH: usize = 64;
/// The most columns of a task; they stay in the second-level cache while all rows are processed.
const TASK: usize = 24;
/// The most rows of a tile.
const TALL: usize = 9;

/// A function that computes the sums of a tile. Arguments: the first row, the distance between rows (`a_row`), the
/// first column, the distance between columns (`b_col`), the length of both, the sums, column by column.
type SumsFn<T> = unsafe fn(*const T, isize, *const T, isize, usize, *mut T);

/// The tiles of an instruction set: for each number of rows, the number of columns, the kernel of such a tile, and that
/// of a single column.
pub(super) struct FewRowTiles<T: 'static> {
    by_rows: &'static [(usize, SumsFn<T>, SumsFn<T>)],
}

macro_rules! tiles {
    ($room:ident, $features:literal, $t:ty, $lanes:literal,
     $zero:ident $load:ident $madd:ident $sum:ident, $($rows:literal $cols:literal)*) => {
        mod $room {
            use super::*;

            /// # Safety
            /// The processor has the instructions; rows and columns have `length` elements, and there is room for the
            /// sums.
            #[target_feature(enable = $features)]
            unsafe fn sums<const M: usize, const N: usize>(
                a: *const $t,
                a_row: isize,
                b: *const $t,
                b_col: isize,
                length: usize,
                out: *mut $t,
            ) {
                let mut sums = [[$zero(); M]; N];
                let whole = length / $lanes * $lanes;
                let mut at = 0;
                while at < whole {
                    // SAFETY: within the rows and columns.
                    unsafe {
                        let mut columns = [$zero(); N];
                        for j in 0..N {
                            let column = b.wrapping_offset(j as isize * b_col).wrapping_add(at);
                            columns[j] = $load(column);
                            // Prefetches the columns of the next tile while this one is summed.
                            let next = column.wrapping_offset(N as isize * b_col);
                            _mm_prefetch::<_MM_HINT_T0>(next.cast());
                        }
                        for i in 0..M {
                            let x = $load(a.wrapping_offset(i as isize * a_row).add(at));
                            for j in 0..N {
                                sums[j][i] = $madd(x, columns[j], sums[j][i]);
                            }
                        }
                    }
                    at += $lanes;
                }
                for j in 0..N {
                    for i in 0..M {
                        let mut sum = $sum(sums[j][i]);
                        for at in whole..length {
                            // SAFETY: as above.
                            unsafe {
                                let x = *a.wrapping_offset(i as isize * a_row).add(at);
                                let y = *b.wrapping_offset(j as isize * b_col).add(at);
                                sum = x.mul_add(y, sum);
                            }
                        }
                        // SAFETY: guaranteed by the caller.
                        unsafe { out.add(j * M + i).write(sum) };
                    }
                }
            }

            pub(super) const TILES: FewRowTiles<$t> = FewRowTiles {
                by_rows: &[$(($cols, sums::<$rows, $cols>, sums::<$rows, 1>)),*],
            };
        }
    };
}
// The tile sizes are chosen so that sums, the columns of a step and one row fit in the registers.
tiles!(single512, "avx512f", f32, 16, _mm512_setzero_ps _mm512_loadu_ps _mm512_fmadd_ps _mm512_reduce_add_ps,
    1 8 2 8 3 7 4 6 5 5 6 4 7 3 8 3 9 3);
tiles!(double512, "avx512f", f64, 8, _mm512_setzero_pd _mm512_loadu_pd _mm512_fmadd_pd _mm512_reduce_add_pd,
    1 8 2 8 3 7 4 6 5 5 6 4 7 3 8 3 9 3);
tiles!(single256, "avx2,fma", f32, 8, _mm256_setzero_ps _mm256_loadu_ps _mm256_fmadd_ps across_single,
    1 6 2 5 3 3 4 3 5 2 6 2);
tiles!(double256, "avx2,fma", f64, 4, _mm256_setzero_pd _mm256_loadu_pd _mm256_fmadd_pd across_double,
    1 6 2 5 3 3 4 3 5 2 6 2);

/// Returns the sum of the lanes.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn across_single(x: __m256) -> f32 {
    let half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
    let pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
    _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)))
}

/// Returns the sum of the lanes.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn across_double(x: __m256d) -> f64 {
    let half = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
    _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)))
}

/// Returns the tiles of `f32` for this processor.
pub(super) fn single() -> Option<&'static FewRowTiles<f32>> {
    match level() {
        Level::Avx512 => Some(&single512::TILES),
        Level::Avx2 => Some(&single256::TILES),
        Level::Baseline => None,
    }
}

/// Returns the tiles of `f64` for this processor.
pub(super) fn double() -> Option<&'static FewRowTiles<f64>> {
    match level() {
        Level::Avx512 => Some(&double512::TILES),
        Level::Avx2 => Some(&double256::TILES),
        Level::Baseline => None,
    }
}

/// Computes the product and returns true if it has few rows or few columns and the other operand would otherwise have
/// to be packed.
///
/// # Safety
/// The requirements of [`super::multiply`].
pub(super) unsafe fn product<T: Arith>(p: &Product, tiles: &FewRowTiles<T>) -> bool {
    let fits = |p: &Product| {
        p.m <= ROWS && p.n >= p.m && p.k >= DEPTH && p.a.cols == 1 && p.b.rows == 1 && p.b.cols != 1
    };
    // Unoptimised builds do not keep the sums in registers.
    if cfg!(unoptimized) {
        return false;
    }
    if fits(p) {
        // SAFETY: guaranteed by the caller.
        unsafe { rows(p, tiles) };
        return true;
    }
    let flipped = p.flipped();
    if fits(&flipped) {
        // SAFETY: as above.
        unsafe { rows(&flipped, tiles) };
        return true;
    }
    false
}

unsafe fn rows<T: Arith>(p: &Product, tiles: &FewRowTiles<T>) {
    let scale = ScaledUpdate::<T>::new(p);
    // Splits rows as evenly as possible, so that no tile has a single row.
    let parts = p.m.div_ceil(tiles.by_rows.len().min(TALL));
    let part = |at: usize| (at * p.m / parts, (at + 1) * p.m / parts);
    let widest = |(first, end): (usize, usize)| tiles.by_rows[end - first - 1].0;
    // Chooses the task width that leaves the fewest columns over.
    let over = |task: &usize| (0..parts).map(|at| task % widest(part(at))).sum::<usize>();
    let task = (TASK * 2 / 3..=TASK).rev().min_by_key(over).unwrap_or(TASK);
    for_each(
        p.n.div_ceil(task),
        task.min(p.n) * p.m * p.k / CHEAP,
        &|index| {
            let columns = index * task..p.n.min((index + 1) * task);
            let mut sums = [T::ZERO; TASK * TALL];
            for (first, last) in (0..parts).map(part) {
                let rows = last - first;
                let (widest, whole, single) = tiles.by_rows[rows - 1];
                let mut at = columns.start;
                while at < columns.end {
                    let (step, kernel) = if columns.end - at >= widest {
                        (widest, whole)
                    } else {
                        (1, single)
                    };
                    let (a, b) = (p.a.at::<T>(first, 0), p.b.at::<T>(0, at));
                    // SAFETY: rows and columns are within the matrices, and each task owns its elements; a tile has a sum
                    // for each of its rows and columns.
                    unsafe {
                        kernel(a, p.a.rows, b, p.b.cols, p.k, sums.as_mut_ptr());
                        for (i, &sum) in sums.iter().enumerate().take(step * rows) {
                            scale.write(first + i % rows, at + i / rows, sum);
                        }
                    }
                    at += step;
                }
            }
        },
    );
}
