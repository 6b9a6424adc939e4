//! Cumulative sums of a line of `f32`, accumulated in `f64`.
//!
//! Eight elements are summed at a time, as two halves: each element gets the element before it within its pair, then the
//! second pair gets the sum of the first, then the second half the sum of the first. Only one addition per eight elements
//! depends on the previous block. Every instruction set adds in this order.

use std::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{Level, level};

/// Elements of a block.
const LANES: usize = 8;

/// Writes the cumulative sums, starting from `acc`, to `out`, which has the same length; returns the last one.
#[inline]
pub(super) fn sums(acc: f64, xs: &[f32], out: &mut [MaybeUninit<f32>]) -> f64 {
    let (whole, rest) = xs.as_chunks::<LANES>();
    let (out, rest_out) = out.as_chunks_mut::<LANES>();
    let acc = many(acc, whole.len(), whole, out);
    if rest.is_empty() {
        return acc;
    }
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    let (sums, acc) = block(acc, last);
    for (out, sum) in rest_out.iter_mut().zip(sums) {
        out.write(sum as f32);
    }
    acc
}

/// Writes the cumulative sums of contiguous lines of `length` elements, each starting from zero. Returns false,
/// without having written anything, if the length is not a multiple of [`LANES`].
#[inline]
pub(super) fn lines(length: usize, xs: &[f32], out: &mut [MaybeUninit<f32>]) -> bool {
    let ((xs, rest), (out, _)) = (xs.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
    let whole = rest.is_empty() && length > 0 && length.is_multiple_of(LANES);
    if whole {
        many(0.0, length / LANES, xs, out);
    }
    whole
}

/// Computes whole blocks, `per_line` for each line; each line starts from `start`. Returns the last sum.
#[inline]
fn many(
    start: f64,
    per_line: usize,
    xs: &[[f32; LANES]],
    out: &mut [[MaybeUninit<f32>; LANES]],
) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if level() >= Level::Avx2 {
        // SAFETY: the machine has the instructions of the level.
        return unsafe { avx2(start, per_line, xs, out) };
    }
    portable(start, per_line, xs, out)
}

fn portable(
    start: f64,
    per_line: usize,
    xs: &[[f32; LANES]],
    out: &mut [[MaybeUninit<f32>; LANES]],
) -> f64 {
    let per_line = per_line.max(1);
    let mut last = start;
    for (xs, out) in xs.chunks(per_line).zip(out.chunks_mut(per_line)) {
        last = start;
        for (&xs, out) in xs.iter().zip(out) {
            let (sums, next) = block(last, xs);
            *out = sums.map(|sum| MaybeUninit::new(sum as f32));
            last = next;
        }
    }
    last
}

/// Returns the cumulative sums of a block, and the last of them.
#[inline(always)]
fn block(acc: f64, xs: [f32; LANES]) -> ([f64; LANES], f64) {
    let xs = xs.map(f64::from);
    let mut sums = [0.0; LANES];
    for half in [0, LANES / 2] {
        // Positions before the first count as zero; zeros of either sign then give the same result everywhere.
        let pair = |at: usize| [xs[half + at] + 0.0, xs[half + at + 1] + xs[half + at]];
        let ([a, b], [c, d]) = (pair(0), pair(2));
        sums[half..half + LANES / 2].copy_from_slice(&[a + 0.0, b + 0.0, c + b, d + b]);
    }
    let first = sums[LANES / 2 - 1];
    sums[LANES / 2..].iter_mut().for_each(|sum| *sum += first);
    (sums.map(|sum| acc + sum), acc + sums[LANES - 1])
}

/// Like [`portable`], with half a block per register; wider registers are slower on Zen 4.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(
    start: f64,
    per_line: usize,
    xs: &[[f32; LANES]],
    out: &mut [[MaybeUninit<f32>; LANES]],
) -> f64 {
    use std::arch::x86_64::{
        __m256d, _mm_loadu_ps, _mm_storeu_ps, _mm256_add_pd, _mm256_cvtpd_ps, _mm256_cvtps_pd,
        _mm256_cvtsd_f64, _mm256_permute2f128_pd, _mm256_permute4x64_pd, _mm256_set1_pd,
        _mm256_setzero_pd, _mm256_unpackhi_pd, _mm256_unpacklo_pd,
    };
    /// Returns the cumulative sums of four numbers.
    #[target_feature(enable = "avx2")]
    fn half(xs: __m256d) -> __m256d {
        let pairs = _mm256_add_pd(xs, _mm256_unpacklo_pd(_mm256_setzero_pd(), xs));
        let first = _mm256_permute2f128_pd::<0x08>(pairs, pairs);
        _mm256_add_pd(pairs, _mm256_unpackhi_pd(first, first))
    }
    /// The index of the last number, for every position.
    const LAST: i32 = 0xff;
    let per_line = per_line.max(1);
    let mut acc = _mm256_set1_pd(start);
    for (xs, out) in xs.chunks(per_line).zip(out.chunks_mut(per_line)) {
        acc = _mm256_set1_pd(start);
        for (xs, out) in xs.iter().zip(out) {
            let (x, out) = (xs.as_ptr(), out.as_mut_ptr().cast::<f32>());
            // SAFETY: `xs` has eight elements.
            let (low, high) = unsafe { (_mm_loadu_ps(x), _mm_loadu_ps(x.add(4))) };
            let low = half(_mm256_cvtps_pd(low));
            let first = _mm256_permute4x64_pd::<LAST>(low);
            let high = _mm256_add_pd(half(_mm256_cvtps_pd(high)), first);
            // SAFETY: `out` has room for eight elements.
            unsafe {
                _mm_storeu_ps(out, _mm256_cvtpd_ps(_mm256_add_pd(acc, low)));
                _mm_storeu_ps(out.add(4), _mm256_cvtpd_ps(_mm256_add_pd(acc, high)));
            }
            acc = _mm256_add_pd(acc, _mm256_permute4x64_pd::<LAST>(high));
        }
    }
    _mm256_cvtsd_f64(acc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(xs: &[f32]) -> (Vec<f32>, f64) {
        let mut out = vec![MaybeUninit::uninit(); xs.len()];
        let last = sums(1.0, xs, &mut out);
        // SAFETY: `sums` writes all elements.
        (
            out.iter().map(|x| unsafe { x.assume_init() }).collect(),
            last,
        )
    }

    #[test]
    fn running_sums_of_any_length() {
        for n in [0, 1, 7, 8, 9, 64, 100] {
            // Whole numbers, whose sums are exact in any order.
            let xs: Vec<f32> = (0..n).map(|i| ((i * 37) % 19) as f32 - 9.0).collect();
            let (found, last) = scanned(&xs);
            let mut sum = 1.0;
            for (found, &x) in found.iter().zip(&xs) {
                sum += f64::from(x);
                assert_eq!(f64::from(*found), sum);
            }
            assert_eq!(last, sum);
        }
    }

    #[test]
    fn what_is_not_finite_stays() {
        let mut xs = vec![1.0_f32; 20];
        xs[9] = f32::INFINITY;
        let (found, last) = scanned(&xs);
        assert!(
            found[..9].iter().all(|x| x.is_finite())
                && found[9..].iter().all(|&x| x == f32::INFINITY)
        );
        assert_eq!(last, f64::INFINITY);
        xs[12] = f32::NEG_INFINITY;
        let (found, last) = scanned(&xs);
        assert!(
            found[11] == f32::INFINITY && found[12..].iter().all(|x| x.is_nan()) && last.is_nan()
        );
    }

    #[test]
    fn every_instruction_set_adds_alike() {
        let xs: Vec<[f32; LANES]> = (0..40)
            .map(|i| std::array::from_fn(|j| ((i * 8 + j) as f32 * 0.37).sin() * 1e3))
            .collect();
        let mut one = vec![[MaybeUninit::uninit(); LANES]; xs.len()];
        let mut other = one.clone();
        for per_line in [1, 3, 40] {
            let last = [
                many(0.1, per_line, &xs, &mut one),
                portable(0.1, per_line, &xs, &mut other),
            ];
            assert_eq!(last[0].to_bits(), last[1].to_bits());
            for (one, other) in one.iter().flatten().zip(other.iter().flatten()) {
                // SAFETY: both were written.
                let (one, other) = unsafe { (one.assume_init(), other.assume_init()) };
                assert_eq!(one.to_bits(), other.to_bits());
            }
        }
    }
}
