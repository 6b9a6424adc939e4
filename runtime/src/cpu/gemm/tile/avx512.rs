//! Tiles of 512-bit vectors, for processors with AVX-512.

use std::arch::x86_64::*;

use nomina_core::DType;

use super::avx2;
use super::complex::complex;
use super::{
    AS_IT_LIES, INDIRECT, Kernels, PACKED, SLIDING, Shapes, Tile, instructions, moves,
    no_assembly as in_assembly, prefetch, prefetch_panel, prefetch_result, tile,
};
use crate::cpu::gemm::pack::Moves;

/// Vectors in a row of a tile, and its rows. These leave registers for `b` and `a`, and need ten loads for 24
/// multiply-adds: Ice Lake loads 1.13 vectors of 512 bits in a cycle and multiplies two.
pub(crate) const VECTORS: usize = 4;
pub(crate) const ROWS: usize = 6;
/// Steps of a pass.
pub(crate) const DEPTH: usize = 384;
/// These panels and the next ones are 384 KiB; second-level caches have a mebibyte and more.
pub(crate) const PANELS: usize = 2;
pub(crate) const FETCH_PANELS: bool = true;
const _: () = assert!(ROWS == avx2::ROWS, "both pack rows alike");
/// Masked stores cost nothing, so no store writes beyond its row.
pub(crate) const SPILLS: bool = false;

/// Returns a mask of the lanes of vector `v` that hold columns.
#[inline]
pub(crate) fn bits(cols: usize, v: usize, lanes: usize) -> u32 {
    let left = cols.saturating_sub(v * lanes).min(lanes);
    (1 << left) - 1
}

/// Tiles of `f32`.
pub(crate) mod single {
    use super::*;
    type Unit = f32;
    type Elem = f32;
    const DTYPE: DType = DType::F32;
    type Sums = __m512;
    type Mask = __mmask16;
    const LANES: usize = 16;
    instructions! { "avx512f":
        zero() -> __m512 = _mm512_setzero_ps();
        mask(cols: usize, v: usize) -> Mask = bits(cols, v, LANES) as Mask;
        nothing() -> __m512 = _mm512_setzero_ps();
        all(x: f32) -> __m512 = _mm512_set1_ps(x);
        madd(a: __m512, b: __m512, sum: __m512) -> __m512 = _mm512_fmadd_ps(a, b, sum);
        fused(a: __m512, b: __m512, sum: __m512) -> __m512 = _mm512_fmadd_ps(a, b, sum);
        times(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
        add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
        relu(x: __m512) -> __m512 = _mm512_max_ps(zero(), x);
        add_sub(a: __m512, b: __m512) -> __m512 = _mm512_fmaddsub_ps(_mm512_set1_ps(1.0), a, b);
        swapped(x: __m512) -> __m512 = _mm512_permute_ps::<0xb1>(x);
    }
    instructions! { unsafe "avx512f":
        splat(x: *const f32) -> __m512 = _mm512_set1_ps(x.read());
        whole(x: *const f32) -> __m512 = _mm512_loadu_ps(x);
        load(mask: Mask, x: *const f32) -> __m512 = _mm512_maskz_loadu_ps(mask, x);
        read(mask: Mask, x: *const f32) -> __m512 = _mm512_maskz_loadu_ps(mask, x);
        write(mask: Mask, to: *mut f32, x: __m512) -> () = _mm512_mask_storeu_ps(to, mask, x);
        put(mask: Mask, to: *mut f32, x: __m512) -> () = _mm512_mask_storeu_ps(to, mask, x);
        put_whole(to: *mut f32, x: __m512) -> () = _mm512_storeu_ps(to, x);
    }
    tile! { "avx512f":
        1 [1 2 3 4 5 6 7 8 9 10 11 12] packed [2 4 6];
        2 [1 2 3 4 5 6 7 8 9 10 11 12] packed [2 4 6];
        3 [1 2 3 4 5 6] packed [2 4 6];
        4 [1 2 3 4 5 6] packed [2 4 6];
    }
    // Vectors of eight lanes, of which six are used, not of sixteen.
    moves!("avx512f", short avx2::single::columns);

    /// Tiles of complex numbers of `f32`.
    pub(crate) mod complex {
        use super::*;
        complex! { "avx512f":
            1 [1 2 2 4 3 6];
            2 [1 2 2 4 3 6];
            3 [1 2 2 4 3 6];
            4 [1 2 2 4 3 6];
        }
    }

    /// Transposes a block of 16 × 16 elements.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(crate) fn transposed(rows: [__m512; 16]) -> [__m512; 16] {
        let (mut twos, mut fours, mut out) = (rows, rows, rows);
        for i in 0..8 {
            twos[2 * i] = _mm512_unpacklo_ps(rows[2 * i], rows[2 * i + 1]);
            twos[2 * i + 1] = _mm512_unpackhi_ps(rows[2 * i], rows[2 * i + 1]);
        }
        for i in 0..4 {
            for half in 0..2 {
                let (a, b) = (twos[4 * i + half], twos[4 * i + half + 2]);
                let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
                fours[4 * i + 2 * half] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
                fours[4 * i + 2 * half + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
            }
        }
        for j in 0..4 {
            let (a, b) = (fours[j], fours[4 + j]);
            let (c, d) = (fours[8 + j], fours[12 + j]);
            let even = [
                _mm512_shuffle_f32x4::<0x88>(a, b),
                _mm512_shuffle_f32x4::<0x88>(c, d),
            ];
            let odd = [
                _mm512_shuffle_f32x4::<0xdd>(a, b),
                _mm512_shuffle_f32x4::<0xdd>(c, d),
            ];
            out[j] = _mm512_shuffle_f32x4::<0x88>(even[0], even[1]);
            out[4 + j] = _mm512_shuffle_f32x4::<0x88>(odd[0], odd[1]);
            out[8 + j] = _mm512_shuffle_f32x4::<0xdd>(even[0], even[1]);
            out[12 + j] = _mm512_shuffle_f32x4::<0xdd>(odd[0], odd[1]);
        }
        out
    }
}

/// Tiles of `f64`.
pub(crate) mod double {
    use super::*;
    type Unit = f64;
    type Elem = f64;
    const DTYPE: DType = DType::F64;
    type Sums = __m512d;
    type Mask = __mmask8;
    const LANES: usize = 8;
    instructions! { "avx512f":
        zero() -> __m512d = _mm512_setzero_pd();
        mask(cols: usize, v: usize) -> Mask = bits(cols, v, LANES) as Mask;
        nothing() -> __m512d = _mm512_setzero_pd();
        all(x: f64) -> __m512d = _mm512_set1_pd(x);
        madd(a: __m512d, b: __m512d, sum: __m512d) -> __m512d = _mm512_fmadd_pd(a, b, sum);
        fused(a: __m512d, b: __m512d, sum: __m512d) -> __m512d = _mm512_fmadd_pd(a, b, sum);
        times(a: __m512d, b: __m512d) -> __m512d = _mm512_mul_pd(a, b);
        add(a: __m512d, b: __m512d) -> __m512d = _mm512_add_pd(a, b);
        relu(x: __m512d) -> __m512d = _mm512_max_pd(zero(), x);
        add_sub(a: __m512d, b: __m512d) -> __m512d = _mm512_fmaddsub_pd(_mm512_set1_pd(1.0), a, b);
        swapped(x: __m512d) -> __m512d = _mm512_permute_pd::<0x55>(x);
    }
    instructions! { unsafe "avx512f":
        splat(x: *const f64) -> __m512d = _mm512_set1_pd(x.read());
        whole(x: *const f64) -> __m512d = _mm512_loadu_pd(x);
        load(mask: Mask, x: *const f64) -> __m512d = _mm512_maskz_loadu_pd(mask, x);
        read(mask: Mask, x: *const f64) -> __m512d = _mm512_maskz_loadu_pd(mask, x);
        write(mask: Mask, to: *mut f64, x: __m512d) -> () = _mm512_mask_storeu_pd(to, mask, x);
        put(mask: Mask, to: *mut f64, x: __m512d) -> () = _mm512_mask_storeu_pd(to, mask, x);
        put_whole(to: *mut f64, x: __m512d) -> () = _mm512_storeu_pd(to, x);
    }
    tile! { "avx512f":
        1 [1 2 3 4 5 6 7 8 9 10 11 12] packed [2 4 6];
        2 [1 2 3 4 5 6 7 8 9 10 11 12] packed [2 4 6];
        3 [1 2 3 4 5 6] packed [2 4 6];
        4 [1 2 3 4 5 6] packed [2 4 6];
    }
    moves!("avx512f");

    /// Tiles of complex numbers of `f64`.
    pub(crate) mod complex {
        use super::*;
        complex! { "avx512f":
            1 [1 2 2 4 3 6];
            2 [1 2 2 4 3 6];
            3 [1 2 2 4 3 6];
            4 [1 2 2 4 3 6];
        }
    }

    /// Transposes a block of 8 × 8 elements.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn transposed(rows: [__m512d; 8]) -> [__m512d; 8] {
        let (mut twos, mut out) = (rows, rows);
        for i in 0..4 {
            twos[2 * i] = _mm512_unpacklo_pd(rows[2 * i], rows[2 * i + 1]);
            twos[2 * i + 1] = _mm512_unpackhi_pd(rows[2 * i], rows[2 * i + 1]);
        }
        for j in 0..2 {
            let (a, b) = (twos[j], twos[2 + j]);
            let (c, d) = (twos[4 + j], twos[6 + j]);
            let even = [
                _mm512_shuffle_f64x2::<0x88>(a, b),
                _mm512_shuffle_f64x2::<0x88>(c, d),
            ];
            let odd = [
                _mm512_shuffle_f64x2::<0xdd>(a, b),
                _mm512_shuffle_f64x2::<0xdd>(c, d),
            ];
            out[j] = _mm512_shuffle_f64x2::<0x88>(even[0], even[1]);
            out[2 + j] = _mm512_shuffle_f64x2::<0x88>(odd[0], odd[1]);
            out[4 + j] = _mm512_shuffle_f64x2::<0xdd>(even[0], even[1]);
            out[6 + j] = _mm512_shuffle_f64x2::<0xdd>(odd[0], odd[1]);
        }
        out
    }
}
