//! Tiles of `bf16`: two steps per instruction, accumulated in `f32`, for processors with AVX-512 BF16.

use std::arch::x86_64::*;

use nomina_core::DType;

use super::pack::Moves;
use super::tile::avx512::{ROWS, SPILLS, VECTORS, bits, single};
use super::tile::{
    AS_IT_LIES, INDIRECT, Kernels, PACKED, SLIDING, Shapes, Tile, instructions, moves,
    no_assembly as in_assembly, prefetch, prefetch_panel, prefetch_result, tile,
};
use crate::cpu::simd::is_amd;

type Unit = u32;
type Elem = f32;
type Sums = __m512;
type Mask = __mmask16;
const DTYPE: DType = DType::BF16;
const LANES: usize = 16;

instructions! { "avx512f,avx512bf16":
    zero() -> __m512 = _mm512_setzero_ps();
    mask(cols: usize, v: usize) -> Mask = bits(cols, v, LANES) as Mask;
    nothing() -> __m512i = _mm512_setzero_si512();
    all(x: f32) -> __m512 = _mm512_set1_ps(x);
    madd(a: __m512i, b: __m512i, sum: __m512) -> __m512 =
        _mm512_dpbf16_ps(sum, halves(a), halves(b));
    fused(a: __m512, b: __m512, sum: __m512) -> __m512 = _mm512_fmadd_ps(a, b, sum);
    times(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
    add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
    relu(x: __m512) -> __m512 = _mm512_max_ps(zero(), x);
}
instructions! { unsafe "avx512f,avx512bf16":
    splat(x: *const u32) -> __m512i = _mm512_set1_epi32(x.read().cast_signed());
    whole(x: *const u32) -> __m512i = _mm512_loadu_si512(x.cast());
    load(mask: Mask, x: *const u32) -> __m512i = _mm512_maskz_loadu_epi32(mask, x.cast());
    read(mask: Mask, x: *const f32) -> __m512 = _mm512_maskz_loadu_ps(mask, x);
    write(mask: Mask, to: *mut f32, x: __m512) -> () = _mm512_mask_storeu_ps(to, mask, x);
    put(mask: Mask, to: *mut u32, x: __m512i) -> () =
        _mm512_mask_storeu_epi32(to.cast(), mask, x);
    put_whole(to: *mut u32, x: __m512i) -> () = _mm512_storeu_si512(to.cast(), x);
}
tile! { "avx512f,avx512bf16":
    1 [1 2 3 4 5 6 7 8 9 10 11 12] packed [2 4 6];
    2 [1 2 3 4 5 6 7 8 9 10 11 12] packed [2 4 6];
    3 [1 2 3 4 5 6] packed [2 4 6];
    4 [1 2 3 4 5 6] packed [2 4 6];
}
moves!("avx512f,avx512bf16");

/// Reinterprets the bits.
#[target_feature(enable = "avx512f,avx512bf16")]
#[inline]
fn halves(x: __m512i) -> __m512bh {
    // SAFETY: both are 64 bytes of any content.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(x) }
}

/// Transposes a block of 16 × 16 elements.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn transposed(rows: [__m512i; 16]) -> [__m512i; 16] {
    // SAFETY: vectors of 64 bytes of any content. Closures in `map` would not be inlined, because they lack the
    // target features.
    unsafe {
        let rows = std::mem::transmute::<[__m512i; 16], [__m512; 16]>(rows);
        std::mem::transmute::<[__m512; 16], [__m512i; 16]>(single::transposed(rows))
    }
}

/// Returns whether these tiles are faster than those of `f32`: on AMD processors they multiply at least twice as
/// fast, on Intel's half as fast.
pub(super) fn pay() -> bool {
    static PAY: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *PAY.get_or_init(|| is_amd() && is_x86_feature_detected!("avx512bf16"))
}
