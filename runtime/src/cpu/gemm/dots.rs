//! Inner products of rows and a vector, for processors with AVX-512.
//!
//! Several rows share the loads of the vector and are streamed from memory together. Each row has
//! its own sums in a fixed order, so a result does not depend on its neighbours.

use std::arch::x86_64::*;

/// Rows that are processed together.
pub(super) const ROWS: usize = 4;

/// The bytes ahead of a row's elements that are prefetched.
const AHEAD: usize = 2048;

/// A function that computes the inner products of up to [`ROWS`] rows and a vector. Arguments: the
/// first row, the number of rows, the distance between rows, the vector, its length, the results.
pub(super) type Dots<T> = unsafe fn(*const T, usize, isize, *const T, usize, &mut [T; ROWS]);

macro_rules! dots {
    ($room:ident, $t:ty, $vector:ty, $mask:ty, $lanes:literal,
     $zero:ident $load:ident $some:ident $madd:ident $add:ident $sum:ident) => {
        mod $room {
            use super::*;

            /// # Safety
            /// The processor has AVX-512; rows and vector have `length` elements.
            #[target_feature(enable = "avx512f")]
            unsafe fn dots<const M: usize>(
                a: *const $t,
                apart: isize,
                b: *const $t,
                length: usize,
                out: &mut [$t; ROWS],
            ) {
                // Short rows are fetched ahead from the next rows, longer ones from their own.
                let ahead = if length > AHEAD / size_of::<$t>() {
                    (AHEAD / size_of::<$t>()) as isize
                } else {
                    M as isize * apart
                };
                let mut sums = [[$zero(); 2]; M];
                let whole = length / (2 * $lanes) * (2 * $lanes);
                for at in (0..whole).step_by(2 * $lanes) {
                    // SAFETY: within the rows and the vector.
                    unsafe {
                        let x = [$load(b.add(at)), $load(b.add(at + $lanes))];
                        for i in 0..M {
                            let a = a.wrapping_offset(i as isize * apart).wrapping_add(at);
                            let next = a.wrapping_offset(ahead);
                            _mm_prefetch::<_MM_HINT_T0>(next.cast());
                            _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add($lanes).cast());
                            sums[i][0] = $madd($load(a), x[0], sums[i][0]);
                            sums[i][1] = $madd($load(a.add($lanes)), x[1], sums[i][1]);
                        }
                    }
                }
                for half in 0..2 {
                    let at = whole + half * $lanes;
                    let lanes = length.saturating_sub(at).min($lanes);
                    let mask = ((1_u32 << lanes) - 1) as $mask;
                    // SAFETY: within the mask.
                    unsafe {
                        let x = $some(mask, b.wrapping_add(at));
                        for i in 0..M {
                            let a = a.wrapping_offset(i as isize * apart).wrapping_add(at);
                            sums[i][half] = $madd($some(mask, a), x, sums[i][half]);
                        }
                    }
                }
                for i in 0..M {
                    out[i] = $sum($add(sums[i][0], sums[i][1]));
                }
            }

            /// # Safety
            /// The requirements of [`Dots`]; the processor has AVX-512.
            pub(super) unsafe fn some(
                a: *const $t,
                rows: usize,
                apart: isize,
                b: *const $t,
                length: usize,
                out: &mut [$t; ROWS],
            ) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match rows {
                        1 => dots::<1>(a, apart, b, length, out),
                        2 => dots::<2>(a, apart, b, length, out),
                        3 => dots::<3>(a, apart, b, length, out),
                        _ => dots::<4>(a, apart, b, length, out),
                    }
                }
            }
        }
    };
}
dots!(single, f32, __m512, __mmask16, 16,
    _mm512_setzero_ps _mm512_loadu_ps _mm512_maskz_loadu_ps _mm512_fmadd_ps _mm512_add_ps _mm512_reduce_add_ps);
dots!(double, f64, __m512d, __mmask8, 8,
    _mm512_setzero_pd _mm512_loadu_pd _mm512_maskz_loadu_pd _mm512_fmadd_pd _mm512_add_pd _mm512_reduce_add_pd);

/// Inner products of `f32`.
pub(super) const SINGLE: Dots<f32> = single::some;
/// Inner products of `f64`.
pub(super) const DOUBLE: Dots<f64> = double::some;
