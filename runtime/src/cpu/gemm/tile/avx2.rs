//! Tiles of 256-bit vectors, for processors with AVX2.
//!
//! Masked stores are slow on some of them, so they are used only at the edges of a result.

use std::arch::x86_64::*;

use nomina_core::DType;

use super::complex::complex;
use super::{
    AS_IT_LIES, INDIRECT, Kernels, PACKED, SLIDING, SOON, Shapes, Tile, instructions, moves,
    prefetch, prefetch_panel, prefetch_result, tile,
};
use crate::cpu::gemm::pack::Moves;

/// Vectors in a row of a tile, and its rows. These leave registers for `b` and `a`.
pub(crate) const VECTORS: usize = 2;
pub(crate) const ROWS: usize = 6;
/// Steps of a pass: a tile's rows stay in a first-level cache of 32 KiB while panels pass. Common inner dims of 384 take one
/// pass.
pub(crate) const DEPTH: usize = 384;
/// These panels are 288 KiB; some second-level caches have half a mebibyte.
pub(crate) const PANELS: usize = 12;
pub(crate) const FETCH_PANELS: bool = false;
/// Packed rows are written as whole vectors that overlap the start of the next row.
pub(crate) const SPILLS: bool = true;

/// The source of masks: eight set lanes followed by eight clear ones.
const EDGE: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// Returns a mask of the first `count` of eight lanes.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(crate) fn first(count: usize) -> __m256i {
    // SAFETY: eight words from one of the first nine of sixteen.
    unsafe { _mm256_loadu_si256(EDGE.as_ptr().add(8 - count.min(8)).cast()) }
}

/// Returns whether all lanes are set.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(crate) fn full(mask: __m256i) -> bool {
    _mm256_movemask_epi8(mask) == -1
}

/// The steps of a whole tile in assembly, which is as fast in unoptimised builds.
macro_rules! in_assembly {
    ($packed:literal, $scalar:literal) => {
        /// # Safety
        /// The left operand is packed; each row of the right one has two vectors.
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        unsafe fn in_assembly(t: &Tile<Unit, Elem>) -> Option<[[Vector; VECTORS]; ROWS]> {
            let mut sums = [[zero(); VECTORS]; ROWS];
            let [[s0, s1], [s2, s3], [s4, s5], [s6, s7], [s8, s9], [s10, s11]] = &mut sums;
            // SAFETY: reads `depth` rows of both, as the caller guarantees; a prefetch may take any address.
            unsafe {
                std::arch::asm!(
                    "test {left}, {left}",
                    "jz 3f",
                    "2:",
                    concat!("vmovu", $packed, " ymm12, [{b}]"),
                    concat!("vmovu", $packed, " ymm13, [{b} + 32]"),
                    concat!("vbroadcast", $scalar, " ymm14, [{a}]"),
                    concat!("vbroadcast", $scalar, " ymm15, [{a} + {size}]"),
                    "prefetcht1 [{ahead}]",
                    "prefetcht0 [{b} + {soon}]",
                    concat!("vfmadd231", $packed, " ymm0, ymm14, ymm12"),
                    concat!("vfmadd231", $packed, " ymm1, ymm14, ymm13"),
                    concat!("vfmadd231", $packed, " ymm2, ymm15, ymm12"),
                    concat!("vfmadd231", $packed, " ymm3, ymm15, ymm13"),
                    concat!("vbroadcast", $scalar, " ymm14, [{a} + 2 * {size}]"),
                    concat!("vbroadcast", $scalar, " ymm15, [{a} + 3 * {size}]"),
                    "add {ahead}, {line}",
                    concat!("vfmadd231", $packed, " ymm4, ymm14, ymm12"),
                    concat!("vfmadd231", $packed, " ymm5, ymm14, ymm13"),
                    concat!("vfmadd231", $packed, " ymm6, ymm15, ymm12"),
                    concat!("vfmadd231", $packed, " ymm7, ymm15, ymm13"),
                    concat!("vbroadcast", $scalar, " ymm14, [{a} + 4 * {size}]"),
                    concat!("vbroadcast", $scalar, " ymm15, [{a} + 5 * {size}]"),
                    "add {a}, 6 * {size}",
                    "add {b}, {b_step}",
                    concat!("vfmadd231", $packed, " ymm8, ymm14, ymm12"),
                    concat!("vfmadd231", $packed, " ymm9, ymm14, ymm13"),
                    concat!("vfmadd231", $packed, " ymm10, ymm15, ymm12"),
                    concat!("vfmadd231", $packed, " ymm11, ymm15, ymm13"),
                    "dec {left}",
                    "jnz 2b",
                    "3:",
                    size = const size_of::<Unit>(),
                    soon = const SOON * VECTORS as isize * 32,
                    left = inout(reg) t.depth => _,
                    a = inout(reg) t.a => _,
                    b = inout(reg) t.b => _,
                    b_step = in(reg) t.b_step * size_of::<Unit>() as isize,
                    ahead = inout(reg) t.ahead.first => _,
                    line = in(reg) t.ahead.step,
                    inout("ymm0") *s0, inout("ymm1") *s1, inout("ymm2") *s2, inout("ymm3") *s3,
                    inout("ymm4") *s4, inout("ymm5") *s5, inout("ymm6") *s6, inout("ymm7") *s7,
                    inout("ymm8") *s8, inout("ymm9") *s9, inout("ymm10") *s10, inout("ymm11") *s11,
                    out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
                    options(nostack, readonly),
                );
            }
            Some(sums)
        }
    };
}

/// Tiles of `f32`.
pub(crate) mod single {
    use super::*;
    type Unit = f32;
    type Elem = f32;
    const DTYPE: DType = DType::F32;
    type Vector = __m256;
    type Sums = __m256;
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
        add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
        relu(x: __m256) -> __m256 = _mm256_max_ps(zero(), x);
        add_sub(a: __m256, b: __m256) -> __m256 = _mm256_addsub_ps(a, b);
        swapped(x: __m256) -> __m256 = _mm256_permute_ps::<0xb1>(x);
    }
    instructions! { unsafe "avx2,fma":
        splat(x: *const f32) -> __m256 = _mm256_set1_ps(x.read());
        whole(x: *const f32) -> __m256 = _mm256_loadu_ps(x);
        load(mask: Mask, x: *const f32) -> __m256 = _mm256_maskload_ps(x, mask);
        read(mask: Mask, x: *const f32) -> __m256 = _mm256_maskload_ps(x, mask);
        put(mask: Mask, to: *mut f32, x: __m256) -> () = write(mask, to, x);
        put_whole(to: *mut f32, x: __m256) -> () = _mm256_storeu_ps(to, x);
    }
    tile! { "avx2,fma":
        1 [1 2 3 4 5 6] packed [2 4 6];
        2 [1 2 3 4 5 6] packed [2 4 6];
    }
    moves!("avx2,fma");

    /// Tiles of complex numbers of `f32`.
    pub(crate) mod complex {
        use super::*;
        complex! { "avx2,fma":
            1 [1 2 2 4 3 6];
            2 [1 2 2 4 3 6];
        }
    }
    in_assembly!("ps", "ss");

    /// # Safety
    /// There is room for the lanes of the mask.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn write(mask: Mask, to: *mut f32, x: __m256) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if full(mask) {
                _mm256_storeu_ps(to, x);
            } else {
                _mm256_maskstore_ps(to, mask, x);
            }
        }
    }

    /// Transposes a block of 8 × 8 elements.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(crate) fn transposed(rows: [__m256; 8]) -> [__m256; 8] {
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

/// Tiles of `f64`.
pub(crate) mod double {
    use super::*;
    type Unit = f64;
    type Elem = f64;
    const DTYPE: DType = DType::F64;
    type Vector = __m256d;
    type Sums = __m256d;
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
        add(a: __m256d, b: __m256d) -> __m256d = _mm256_add_pd(a, b);
        relu(x: __m256d) -> __m256d = _mm256_max_pd(zero(), x);
        add_sub(a: __m256d, b: __m256d) -> __m256d = _mm256_addsub_pd(a, b);
        swapped(x: __m256d) -> __m256d = _mm256_permute_pd::<0x5>(x);
    }
    instructions! { unsafe "avx2,fma":
        splat(x: *const f64) -> __m256d = _mm256_set1_pd(x.read());
        whole(x: *const f64) -> __m256d = _mm256_loadu_pd(x);
        load(mask: Mask, x: *const f64) -> __m256d = _mm256_maskload_pd(x, mask);
        read(mask: Mask, x: *const f64) -> __m256d = _mm256_maskload_pd(x, mask);
        put(mask: Mask, to: *mut f64, x: __m256d) -> () = write(mask, to, x);
        put_whole(to: *mut f64, x: __m256d) -> () = _mm256_storeu_pd(to, x);
    }
    tile! { "avx2,fma":
        1 [1 2 3 4 5 6] packed [2 4 6];
        2 [1 2 3 4 5 6] packed [2 4 6];
    }
    moves!("avx2,fma");

    /// Tiles of complex numbers of `f64`.
    pub(crate) mod complex {
        use super::*;
        complex! { "avx2,fma":
            1 [1 2 2 4 3 6];
            2 [1 2 2 4 3 6];
        }
    }
    in_assembly!("pd", "sd");

    /// # Safety
    /// There is room for the lanes of the mask.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn write(mask: Mask, to: *mut f64, x: __m256d) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if full(mask) {
                _mm256_storeu_pd(to, x);
            } else {
                _mm256_maskstore_pd(to, mask, x);
            }
        }
    }

    /// Transposes a block of 4 × 4 elements.
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
