//! Tiles of bytes widened to 16 bits: two steps per instruction, accumulated in `i32`, for processors with AVX2. Both operands
//! are unsigned.

use std::arch::x86_64::*;

use nomina_core::DType;

use super::pack::Moves;
use super::tile::avx2::{ROWS, SPILLS, VECTORS, first, full, single};
use super::tile::{
    AS_IT_LIES, INDIRECT, Kernels, PACKED, SLIDING, Shapes, Tile, instructions, moves,
    no_assembly as in_assembly, prefetch, prefetch_panel, prefetch_result, tile,
};

type Unit = u32;
type Elem = i32;
type Sums = __m256i;
type Mask = __m256i;
const DTYPE: DType = DType::I32;
const LANES: usize = 8;

instructions! { "avx2,fma":
    zero() -> __m256i = _mm256_setzero_si256();
    nothing() -> __m256i = _mm256_setzero_si256();
    mask(cols: usize, v: usize) -> Mask = first(cols.saturating_sub(v * LANES).min(LANES));
    all(x: i32) -> __m256i = _mm256_set1_epi32(x);
    madd(a: __m256i, b: __m256i, sum: __m256i) -> __m256i = add(sum, _mm256_madd_epi16(a, b));
    fused(a: __m256i, b: __m256i, sum: __m256i) -> __m256i = add(times(a, b), sum);
    times(a: __m256i, b: __m256i) -> __m256i = _mm256_mullo_epi32(a, b);
    add(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
    relu(x: __m256i) -> __m256i = _mm256_max_epi32(zero(), x);
}
instructions! { unsafe "avx2,fma":
    splat(x: *const u32) -> __m256i = _mm256_set1_epi32(x.read().cast_signed());
    whole(x: *const u32) -> __m256i = _mm256_loadu_si256(x.cast());
    load(mask: Mask, x: *const u32) -> __m256i = _mm256_maskload_epi32(x.cast(), mask);
    read(mask: Mask, x: *const i32) -> __m256i = _mm256_maskload_epi32(x, mask);
    put(mask: Mask, to: *mut u32, x: __m256i) -> () = write(mask, to.cast(), x);
    put_whole(to: *mut u32, x: __m256i) -> () = _mm256_storeu_si256(to.cast(), x);
}
tile! { "avx2,fma":
    1 [] packed [2 4 6];
    2 [] packed [2 4 6];
}
moves!("avx2,fma");

/// # Safety
/// There is room for the lanes of the mask.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn write(mask: Mask, to: *mut i32, x: __m256i) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if full(mask) {
            _mm256_storeu_si256(to.cast(), x);
        } else {
            _mm256_maskstore_epi32(to, mask, x);
        }
    }
}

/// Transposes a block of 8 × 8 elements.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn transposed(rows: [__m256i; 8]) -> [__m256i; 8] {
    // SAFETY: vectors of 32 bytes of any content. Closures in `map` would not be inlined, because they lack the target features.
    unsafe {
        let rows = std::mem::transmute::<[__m256i; 8], [__m256; 8]>(rows);
        std::mem::transmute::<[__m256; 8], [__m256i; 8]>(single::transposed(rows))
    }
}
