//! Tiles: the part of a product that stays in registers, for processors with AVX-512.
//!
//! A tile has up to [`ROWS`] rows and two vectors of columns. For each step along the inner dim it
//! reads one row of `b`, side by side, and multiplies it by an element of each row of `a`, which
//! may lie anywhere. Columns beyond the last can be masked, so that nothing needs to be packed for
//! the edges' sake. A result is one chain of multiply-adds, whichever tile it is in.

use std::arch::x86_64::*;

use nomina_core::DType;

use super::pack::Moves;
use super::prefetch::Lines;

/// The most rows of a tile: with two vectors each they leave registers for `b` and `a`.
pub(super) const ROWS: usize = 12;
/// Vectors of a tile's row.
pub(super) const VECTORS: usize = 2;

/// `c = alpha a b + beta d`, for `rows × depth` times `depth × cols`.
///
/// `U` is what a step reads: an element, or a pair of 16-bit ones that are two steps at once.
#[derive(Clone, Copy)]
pub(super) struct Tile<U, E> {
    pub rows: usize,
    pub cols: usize,
    pub depth: usize,
    /// Its element of row `i` and step `l` is at `i a_row + l a_step`: where it is packed,
    /// at `i + l ROWS`.
    pub a: *const U,
    pub a_row: isize,
    pub a_step: isize,
    /// Row `l` starts at `l b_step`; its elements lie side by side.
    pub b: *const U,
    pub b_step: isize,
    /// Elements of a row lie side by side.
    pub c: *mut E,
    pub c_row: isize,
    pub alpha: E,
    pub beta: Option<E>,
    /// What `beta` multiplies: `c` itself, or a matrix whose columns lie side by side or are one.
    pub d: *const E,
    pub d_row: isize,
    pub d_one: bool,
    /// What is asked for meanwhile, into the second-level cache.
    pub ahead: Lines,
}

/// What computes a tile.
pub(super) type Kernel<U, E> = unsafe fn(&Tile<U, E>);

/// Kernels that read whole vectors of the right operand, and those that mask them; of these, those
/// that read the left operand where it lies, and those that read it packed; of these, by vectors
/// and by rows, less one each. What is masked, or computes addresses, costs a few percent.
pub(super) type Kernels<U, E> = [[Shapes<U, E>; 2]; 2];

/// Kernels by vectors, then by rows, less one each.
pub(super) type Shapes<U, E> = [[Kernel<U, E>; ROWS]; VECTORS];

macro_rules! tile {
    ($features:literal) => {
        /// # Safety
        /// The processor has the features; the tile's matrices lie where it says, and nobody else
        /// uses its part of `c` meanwhile.
        #[target_feature(enable = $features)]
        unsafe fn tile<const M: usize, const V: usize, const MASKED: bool, const PACKED: bool>(
            t: &Tile<Unit, Elem>,
        ) {
            // Constants where the rows are packed: then one address is all.
            let (a_row, a_step) = if PACKED {
                (1, ROWS as isize)
            } else {
                (t.a_row, t.a_step)
            };
            let (mut a, mut b, mut ahead) = (t.a, t.b, t.ahead.first);
            let masks: [Mask; V] = std::array::from_fn(|v| mask(t.cols, v));
            let mut sums = [[zero(); V]; M];
            for _ in 0..t.depth {
                // SAFETY: the row of `b` has the columns of the mask; rows of `a` have this step.
                unsafe {
                    let row: [Vector; V] = std::array::from_fn(|v| {
                        let b = b.wrapping_add(v * LANES);
                        if MASKED { load(masks[v], b) } else { whole(b) }
                    });
                    for i in 0..M {
                        let x = splat(a.wrapping_offset(i as isize * a_row));
                        for v in 0..V {
                            sums[i][v] = madd(x, row[v], sums[i][v]);
                        }
                    }
                }
                // Tiles of one vector have no room for another load in a step.
                if V == VECTORS {
                    _mm_prefetch::<_MM_HINT_T1>(ahead.cast());
                    ahead = ahead.wrapping_offset(t.ahead.step);
                }
                b = b.wrapping_offset(t.b_step);
                a = a.wrapping_offset(a_step);
            }
            let alpha = all(t.alpha);
            for i in 0..M {
                let c = t.c.wrapping_offset(i as isize * t.c_row);
                let d = t.d.wrapping_offset(i as isize * t.d_row);
                for v in 0..V {
                    let mut sum = times(alpha, sums[i][v]);
                    // SAFETY: `c` and `d` have the columns of the mask.
                    unsafe {
                        if let Some(beta) = t.beta {
                            let d = if t.d_one {
                                all(d.read())
                            } else {
                                read(masks[v], d.wrapping_add(v * LANES))
                            };
                            sum = fused(all(beta), d, sum);
                        }
                        write(masks[v], c.wrapping_add(v * LANES), sum);
                    }
                }
            }
        }

        /// The lanes of vector `v` that are columns.
        #[inline]
        fn mask(cols: usize, v: usize) -> Mask {
            let left = cols.saturating_sub(v * LANES).min(LANES);
            ((1_u32 << left) - 1) as Mask
        }

        const fn kernels<const MASKED: bool, const PACKED: bool>() -> Shapes<Unit, Elem> {
            [
                [
                    tile::<1, 1, MASKED, PACKED>,
                    tile::<2, 1, MASKED, PACKED>,
                    tile::<3, 1, MASKED, PACKED>,
                    tile::<4, 1, MASKED, PACKED>,
                    tile::<5, 1, MASKED, PACKED>,
                    tile::<6, 1, MASKED, PACKED>,
                    tile::<7, 1, MASKED, PACKED>,
                    tile::<8, 1, MASKED, PACKED>,
                    tile::<9, 1, MASKED, PACKED>,
                    tile::<10, 1, MASKED, PACKED>,
                    tile::<11, 1, MASKED, PACKED>,
                    tile::<12, 1, MASKED, PACKED>,
                ],
                [
                    tile::<1, 2, MASKED, PACKED>,
                    tile::<2, 2, MASKED, PACKED>,
                    tile::<3, 2, MASKED, PACKED>,
                    tile::<4, 2, MASKED, PACKED>,
                    tile::<5, 2, MASKED, PACKED>,
                    tile::<6, 2, MASKED, PACKED>,
                    tile::<7, 2, MASKED, PACKED>,
                    tile::<8, 2, MASKED, PACKED>,
                    tile::<9, 2, MASKED, PACKED>,
                    tile::<10, 2, MASKED, PACKED>,
                    tile::<11, 2, MASKED, PACKED>,
                    tile::<12, 2, MASKED, PACKED>,
                ],
            ]
        }

        pub(in super::super) const KERNELS: Kernels<Unit, Elem> = [
            [kernels::<false, false>(), kernels::<false, true>()],
            [kernels::<true, false>(), kernels::<true, true>()],
        ];
    };
}

/// Functions of one instruction each, for vectors of one kind; those of memory are unsafe.
macro_rules! instructions {
    ($features:literal: $($name:ident($($arg:ident: $t:ty),*) -> $out:ty = $body:expr;)*) => {$(
        #[target_feature(enable = $features)]
        #[inline]
        fn $name($($arg: $t),*) -> $out {
            $body
        }
    )*};
    (unsafe $features:literal: $($name:ident($($arg:ident: $t:ty),*) -> $out:ty = $body:expr;)*) => {$(
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn $name($($arg: $t),*) -> $out {
            // SAFETY: the caller says that the memory is there.
            unsafe { $body }
        }
    )*};
}

/// Moves of vectors into panels, for elements as wide as a lane.
macro_rules! moves {
    ($features:literal) => {
        /// Copies rows, `step` apart, to rows that are `apart`; zeros fill the last vector,
        /// as far as there is room in the row.
        ///
        /// # Safety
        /// The processor has the features; `cols` of each row are there; the panel has all rows.
        #[target_feature(enable = $features)]
        unsafe fn rows(
            from: *const Unit,
            step: isize,
            rows: usize,
            cols: usize,
            to: *mut Unit,
            apart: usize,
        ) {
            for row in 0..rows {
                let from = from.wrapping_offset(row as isize * step);
                let to = to.wrapping_add(row * apart);
                for v in 0..cols.div_ceil(LANES) {
                    // SAFETY: within the mask, as the caller promises.
                    unsafe {
                        let row = load(mask(cols, v), from.wrapping_add(v * LANES));
                        put(mask(apart, v), to.wrapping_add(v * LANES), row);
                    }
                }
            }
        }

        /// Copies columns whose elements lie side by side, `step` apart, to such rows.
        ///
        /// # Safety
        /// As of [`rows`].
        #[target_feature(enable = $features)]
        unsafe fn columns(
            from: *const Unit,
            step: isize,
            rows: usize,
            cols: usize,
            to: *mut Unit,
            apart: usize,
        ) {
            for top in (0..rows).step_by(LANES) {
                for left in (0..cols).step_by(LANES) {
                    let (wide, high) = (LANES.min(cols - left), LANES.min(rows - top));
                    let depth = mask(high, 0);
                    let mut block = [nothing(); LANES];
                    for (at, vector) in block.iter_mut().enumerate().take(wide) {
                        let from = from
                            .wrapping_offset((left + at) as isize * step)
                            .wrapping_add(top);
                        // SAFETY: within the mask, as the caller promises.
                        *vector = unsafe { load(depth, from) };
                    }
                    for (at, vector) in transposed(block).into_iter().enumerate().take(high) {
                        let to = to.wrapping_add((top + at) * apart + left);
                        // SAFETY: as above.
                        unsafe { put(mask(apart - left, 0), to, vector) };
                    }
                }
            }
        }

        pub(in super::super) const MOVES: Moves<Unit> = Moves {
            lanes: LANES,
            dtype: DTYPE,
            rows,
            columns,
        };
    };
}

pub(super) use instructions;
pub(super) use moves;
pub(super) use tile;

/// Of `f32`.
pub(super) mod single {
    use super::*;
    type Unit = f32;
    type Elem = f32;
    const DTYPE: DType = DType::F32;
    type Vector = __m512;
    type Mask = __mmask16;
    const LANES: usize = 16;
    instructions! { "avx512f":
        zero() -> __m512 = _mm512_setzero_ps();
        nothing() -> __m512 = _mm512_setzero_ps();
        all(x: f32) -> __m512 = _mm512_set1_ps(x);
        madd(a: __m512, b: __m512, sum: __m512) -> __m512 = _mm512_fmadd_ps(a, b, sum);
        fused(a: __m512, b: __m512, sum: __m512) -> __m512 = _mm512_fmadd_ps(a, b, sum);
        times(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
    }
    instructions! { unsafe "avx512f":
        splat(x: *const f32) -> __m512 = _mm512_set1_ps(x.read());
        whole(x: *const f32) -> __m512 = _mm512_loadu_ps(x);
        load(mask: Mask, x: *const f32) -> __m512 = _mm512_maskz_loadu_ps(mask, x);
        read(mask: Mask, x: *const f32) -> __m512 = _mm512_maskz_loadu_ps(mask, x);
        write(mask: Mask, to: *mut f32, x: __m512) -> () = _mm512_mask_storeu_ps(to, mask, x);
        put(mask: Mask, to: *mut f32, x: __m512) -> () = _mm512_mask_storeu_ps(to, mask, x);
    }
    tile!("avx512f");
    moves!("avx512f");

    /// Rows become columns.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(in super::super) fn transposed(rows: [__m512; 16]) -> [__m512; 16] {
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

/// Of `f64`.
pub(super) mod double {
    use super::*;
    type Unit = f64;
    type Elem = f64;
    const DTYPE: DType = DType::F64;
    type Vector = __m512d;
    type Mask = __mmask8;
    const LANES: usize = 8;
    instructions! { "avx512f":
        zero() -> __m512d = _mm512_setzero_pd();
        nothing() -> __m512d = _mm512_setzero_pd();
        all(x: f64) -> __m512d = _mm512_set1_pd(x);
        madd(a: __m512d, b: __m512d, sum: __m512d) -> __m512d = _mm512_fmadd_pd(a, b, sum);
        fused(a: __m512d, b: __m512d, sum: __m512d) -> __m512d = _mm512_fmadd_pd(a, b, sum);
        times(a: __m512d, b: __m512d) -> __m512d = _mm512_mul_pd(a, b);
    }
    instructions! { unsafe "avx512f":
        splat(x: *const f64) -> __m512d = _mm512_set1_pd(x.read());
        whole(x: *const f64) -> __m512d = _mm512_loadu_pd(x);
        load(mask: Mask, x: *const f64) -> __m512d = _mm512_maskz_loadu_pd(mask, x);
        read(mask: Mask, x: *const f64) -> __m512d = _mm512_maskz_loadu_pd(mask, x);
        write(mask: Mask, to: *mut f64, x: __m512d) -> () = _mm512_mask_storeu_pd(to, mask, x);
        put(mask: Mask, to: *mut f64, x: __m512d) -> () = _mm512_mask_storeu_pd(to, mask, x);
    }
    tile!("avx512f");
    moves!("avx512f");

    /// Rows become columns.
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
