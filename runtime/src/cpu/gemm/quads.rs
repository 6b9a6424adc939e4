//! Tiles of bytes: four steps per instruction, accumulated in `i32`, for processors with AVX-512 VNNI. One operand is
//! unsigned, the other one signed.

use std::arch::x86_64::*;

use nomina_core::DType;

use super::pack::Moves;
use super::pairs::transposed;
use super::tile::avx512::{ROWS, SPILLS, VECTORS, bits};
use super::tile::{
    AS_IT_LIES, INDIRECT, Kernels, PACKED, SLIDING, Shapes, Tile, instructions, moves,
    no_assembly as in_assembly, prefetch, prefetch_panel, prefetch_result, tile,
};
use crate::cpu::simd::{Level, level};

type Unit = u32;
type Elem = i32;
type Sums = __m512i;
type Mask = __mmask16;
const DTYPE: DType = DType::I32;
const LANES: usize = 16;

instructions! { "avx512f,avx512vnni":
    zero() -> __m512i = _mm512_setzero_si512();
    mask(cols: usize, v: usize) -> Mask = bits(cols, v, LANES) as Mask;
    nothing() -> __m512i = _mm512_setzero_si512();
    all(x: i32) -> __m512i = _mm512_set1_epi32(x);
    dot(unsigned: __m512i, signed: __m512i, sum: __m512i) -> __m512i =
        _mm512_dpbusd_epi32(sum, unsigned, signed);
    fused(a: __m512i, b: __m512i, sum: __m512i) -> __m512i = add(times(a, b), sum);
    times(a: __m512i, b: __m512i) -> __m512i = _mm512_mullo_epi32(a, b);
    add(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
    relu(x: __m512i) -> __m512i = _mm512_max_epi32(zero(), x);
}
instructions! { unsafe "avx512f,avx512vnni":
    splat(x: *const u32) -> __m512i = _mm512_set1_epi32(x.read().cast_signed());
    whole(x: *const u32) -> __m512i = _mm512_loadu_si512(x.cast());
    load(mask: Mask, x: *const u32) -> __m512i = _mm512_maskz_loadu_epi32(mask, x.cast());
    read(mask: Mask, x: *const i32) -> __m512i = _mm512_maskz_loadu_epi32(mask, x);
    write(mask: Mask, to: *mut i32, x: __m512i) -> () = _mm512_mask_storeu_epi32(to, mask, x);
    put(mask: Mask, to: *mut u32, x: __m512i) -> () =
        _mm512_mask_storeu_epi32(to.cast(), mask, x);
    put_whole(to: *mut u32, x: __m512i) -> () = _mm512_storeu_si512(to.cast(), x);
}
moves!("avx512f,avx512vnni");

/// Defines tiles with one order of the operands of the dot product. Both operands are always packed.
macro_rules! tiles {
    ($($(#[$doc:meta])* $room:ident($a:ident, $b:ident) $unsigned:ident $signed:ident;)*) => {$(
        $(#[$doc])*
        pub(super) mod $room {
            use crate::cpu::gemm::quads::*;

            instructions! { "avx512f,avx512vnni":
                madd($a: __m512i, $b: __m512i, sum: __m512i) -> __m512i =
                    dot($unsigned, $signed, sum);
            }
            tile! { "avx512f,avx512vnni":
                1 [] packed [2 4 6];
                2 [] packed [2 4 6];
                3 [] packed [2 4 6];
                4 [] packed [2 4 6];
            }
        }
    )*};
}
tiles! {
    /// The left operand is unsigned.
    unsigned(a, b) a b;
    /// The left operand is signed.
    signed(a, b) b a;
}

/// Returns whether the processor has the instructions.
pub(super) fn exist() -> bool {
    static EXIST: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *EXIST.get_or_init(|| level() == Level::Avx512 && is_x86_feature_detected!("avx512vnni"))
}
