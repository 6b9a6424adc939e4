//! Tiles of 256-bit vectors, for processors with AVX2.
//!
//! Masked stores are slow on some of them, so that they are left for the edges of a result.

use std::arch::x86_64::*;

use nomina_core::DType;

use super::{Kernels, Shapes, Tile, VECTORS, instructions, moves, tile};
use crate::cpu::gemm::pack::Moves;

/// The most rows of a tile: with two vectors each they leave registers for `b` and `a`.
pub(in crate::cpu::gemm) const ROWS: usize = 6;
/// Packed rows are written as whole vectors, one over the end of the other.
const SPILLS: bool = true;

/// Lanes that are there, and those that are not.
const EDGE: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// The first `count` of eight.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn first(count: usize) -> __m256i {
    // SAFETY: eight words from one of the first nine of sixteen.
    unsafe { _mm256_loadu_si256(EDGE.as_ptr().add(8 - count.min(8)).cast()) }
}

/// Whether all lanes are there.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn full(mask: __m256i) -> bool {
    _mm256_movemask_epi8(mask) == -1
}

/// Of `f32`.
pub(in crate::cpu::gemm) mod single {
    use super::*;
    type Unit = f32;
    type Elem = f32;
    const DTYPE: DType = DType::F32;
    type Vector = __m256;
    type Mask = __m256i;
    const LANES: usize = 8;
    instructions! { "avx2,fma":
        zero() -> __m256 = _mm256_setzero_ps();
        nothing() -> __m256 = _mm256_setzero_ps();
        mask(cols: usize, v: usize) -> Mask = first(cols.saturating_sub(v * LANES).min(LANES));
        all(x: f32) -> __m256 = _mm256_set1_ps(x);
        madd(a: __m256, b: __m256, sum: __m256) -> __m256 = _mm256_fmadd_ps(a, b, sum);
        fused(a: __m256, b: __m256, sum: __m256) -> __m256 = _mm256_fmadd_ps(a, b, sum);
        times(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
    }
    instructions! { unsafe "avx2,fma":
        splat(x: *const f32) -> __m256 = _mm256_set1_ps(x.read());
        whole(x: *const f32) -> __m256 = _mm256_loadu_ps(x);
        load(mask: Mask, x: *const f32) -> __m256 = _mm256_maskload_ps(x, mask);
        read(mask: Mask, x: *const f32) -> __m256 = _mm256_maskload_ps(x, mask);
        put(mask: Mask, to: *mut f32, x: __m256) -> () = write(mask, to, x);
    }
    tile!("avx2,fma": 1 2 3 4 5 6);
    moves!("avx2,fma");

    /// # Safety
    /// There is room for the lanes of the mask.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn write(mask: Mask, to: *mut f32, x: __m256) {
        // SAFETY: the caller's promise.
        unsafe {
            if full(mask) {
                _mm256_storeu_ps(to, x);
            } else {
                _mm256_maskstore_ps(to, mask, x);
            }
        }
    }

    /// Rows become columns.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn transposed(rows: [__m256; 8]) -> [__m256; 8] {
        let (mut twos, mut fours, mut out) = (rows, rows, rows);
        for i in 0..4 {
            twos[2 * i] = _mm256_unpacklo_ps(rows[2 * i], rows[2 * i + 1]);
            twos[2 * i + 1] = _mm256_unpackhi_ps(rows[2 * i], rows[2 * i + 1]);
        }
        for i in 0..2 {
            for half in 0..2 {
                let (a, b) = (twos[4 * i + half], twos[4 * i + half + 2]);
                fours[4 * i + 2 * half] = _mm256_shuffle_ps::<0x44>(a, b);
                fours[4 * i + 2 * half + 1] = _mm256_shuffle_ps::<0xee>(a, b);
            }
        }
        for j in 0..4 {
            out[j] = _mm256_permute2f128_ps::<0x20>(fours[j], fours[4 + j]);
            out[4 + j] = _mm256_permute2f128_ps::<0x31>(fours[j], fours[4 + j]);
        }
        out
    }
}

/// Of `f64`.
pub(in crate::cpu::gemm) mod double {
    use super::*;
    type Unit = f64;
    type Elem = f64;
    const DTYPE: DType = DType::F64;
    type Vector = __m256d;
    type Mask = __m256i;
    const LANES: usize = 4;
    instructions! { "avx2,fma":
        zero() -> __m256d = _mm256_setzero_pd();
        nothing() -> __m256d = _mm256_setzero_pd();
        mask(cols: usize, v: usize) -> Mask = first(2 * cols.saturating_sub(v * LANES).min(LANES));
        all(x: f64) -> __m256d = _mm256_set1_pd(x);
        madd(a: __m256d, b: __m256d, sum: __m256d) -> __m256d = _mm256_fmadd_pd(a, b, sum);
        fused(a: __m256d, b: __m256d, sum: __m256d) -> __m256d = _mm256_fmadd_pd(a, b, sum);
        times(a: __m256d, b: __m256d) -> __m256d = _mm256_mul_pd(a, b);
    }
    instructions! { unsafe "avx2,fma":
        splat(x: *const f64) -> __m256d = _mm256_set1_pd(x.read());
        whole(x: *const f64) -> __m256d = _mm256_loadu_pd(x);
        load(mask: Mask, x: *const f64) -> __m256d = _mm256_maskload_pd(x, mask);
        read(mask: Mask, x: *const f64) -> __m256d = _mm256_maskload_pd(x, mask);
        put(mask: Mask, to: *mut f64, x: __m256d) -> () = write(mask, to, x);
    }
    tile!("avx2,fma": 1 2 3 4 5 6);
    moves!("avx2,fma");

    /// # Safety
    /// There is room for the lanes of the mask.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn write(mask: Mask, to: *mut f64, x: __m256d) {
        // SAFETY: the caller's promise.
        unsafe {
            if full(mask) {
                _mm256_storeu_pd(to, x);
            } else {
                _mm256_maskstore_pd(to, mask, x);
            }
        }
    }

    /// Rows become columns.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn transposed(rows: [__m256d; 4]) -> [__m256d; 4] {
        let (mut twos, mut out) = (rows, rows);
        for i in 0..2 {
            twos[2 * i] = _mm256_unpacklo_pd(rows[2 * i], rows[2 * i + 1]);
            twos[2 * i + 1] = _mm256_unpackhi_pd(rows[2 * i], rows[2 * i + 1]);
        }
        for j in 0..2 {
            out[j] = _mm256_permute2f128_pd::<0x20>(twos[j], twos[2 + j]);
            out[2 + j] = _mm256_permute2f128_pd::<0x31>(twos[j], twos[2 + j]);
        }
        out
    }
}
