//! Tiles: the part of a product that stays in registers.
//!
//! A tile has a few rows and up to `VECTORS` vectors of columns. In each step along the inner dim it reads one contiguous
//! row of `b` and multiplies it by an element of each row of `a`, which has any strides. Columns beyond the last can be
//! masked, so edges never require packing. Each result is one chain of multiply-adds, regardless of the tile that
//! computes it.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
pub(super) mod complex;
pub(super) mod portable;

use super::prefetch::{LINE, StepPrefetch};
use crate::job::Residual;

/// One tile: `c = alpha a b + beta d`, for `rows × depth` times `depth × cols`, followed by a [`TileEnd`].
///
/// `U` is the unit read in one step: an element, or a pair of 16-bit elements that are two steps at once.
#[derive(Clone, Copy)]
pub(super) struct Tile<U, E> {
    pub rows: usize,
    pub cols: usize,
    pub depth: usize,
    /// The left operand. The element of row `i` and step `l` is at `i a_row + l a_step`, or at `i + l ROWS` of its kind
    /// if packed.
    pub a: *const U,
    pub a_row: isize,
    pub a_step: isize,
    /// The offset of each step, in units: for kernels of [`INDIRECT`] rows from `a`, for those of [`SLIDING`] columns from `b`.
    pub steps: *const usize,
    /// The right operand. Row `l` starts at `l b_step`; its elements are contiguous.
    pub b: *const U,
    pub b_step: isize,
    /// The result; the elements of a row are contiguous.
    pub c: *mut E,
    pub c_row: isize,
    pub alpha: E,
    pub beta: Option<E>,
    /// The operand multiplied by `beta`: `c` itself, or a matrix with contiguous columns or a single one (`d_one`).
    pub d: *const E,
    pub d_row: isize,
    pub d_one: bool,
    /// The operations that follow; none for complex numbers.
    pub end: TileEnd,
    /// Lines to prefetch into the second-level cache meanwhile; for kernels of [`INDIRECT`] rows, at the offset of each step.
    pub ahead: StepPrefetch,
}

/// The end of an epilogue that a tile applies to its results before it writes them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TileEnd {
    /// A tensor that is added.
    pub plus: Option<Residual>,
    /// Whether negative results are replaced by zero.
    pub relu: bool,
}

/// How the left operand is read: in place; packed, with the [`super::kind::Kind::ROWS`] elements of a step contiguous;
/// or through a table of step offsets, with the rows of a step contiguous.
pub(super) const AS_IT_LIES: usize = 0;
pub(super) const PACKED: usize = 1;
pub(super) const INDIRECT: usize = 2;
/// The left operand is read in place, and the rows of the right one through a table of step offsets: they may overlap.
pub(super) const SLIDING: usize = 3;

/// A function that computes a tile.
pub(super) type TileFn<U, E> = unsafe fn(&Tile<U, E>);

/// The kernels of a kind of vectors.
pub(super) struct Kernels<U: 'static, E: 'static> {
    /// Kernels by `[masked][packed]`: whether they mask the right operand's vectors, and whether they read the left
    /// operand packed or in place; then by vectors and rows, less one each. For packed rows there are kernels for some
    /// numbers of rows only, which may compute a few more rows than needed. Masking and computing addresses cost a few
    /// percent each.
    pub tiles: [[Shapes<U, E>; 2]; 2],
    /// Kernels that read the left operand [`INDIRECT`]ly and whole vectors of a panel of the right one.
    pub indirect: Shapes<U, E>,
    /// Kernels that read the columns of the right operand [`SLIDING`], in whole vectors; empty for complex numbers.
    pub sliding: Shapes<U, E>,
    /// Like `sliding`, for a single row; by vectors, less one. Two sums alone would be limited by the latency of their
    /// multiply-adds.
    pub sliding_row: &'static [TileFn<U, E>],
}

/// Kernels by vectors, then by rows, less one each. Narrow tiles may have more rows.
pub(super) type Shapes<U, E> = &'static [&'static [TileFn<U, E>]];

/// How many steps ahead a row of the right operand is prefetched: panels come from the second-level cache, and the
/// hardware prefetcher reacts late.
const SOON: isize = 32;
/// The fewest steps of a tile for which prefetching its part of the result pays.
const LONG: usize = 64;

/// Prefetches the cache line at an address, which need not be valid, into the first-level cache, or into the
/// second-level one if `FAR`.
#[inline(always)]
pub(super) fn prefetch<const FAR: bool, T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, valid for any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        if FAR {
            _mm_prefetch::<_MM_HINT_T1>(at.cast())
        } else {
            _mm_prefetch::<_MM_HINT_T0>(at.cast())
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Prefetches the panel row that is [`SOON`] steps after `row`.
#[inline(always)]
pub(super) fn prefetch_panel<T>(row: *const T, step: isize, elements: usize) {
    prefetch_row(row.wrapping_offset(SOON * step), elements);
}

/// Prefetches contiguous elements.
#[inline(always)]
fn prefetch_row<T>(row: *const T, elements: usize) {
    for element in (0..elements).step_by(LINE / size_of::<T>()) {
        prefetch::<false, _>(row.wrapping_add(element));
    }
}

/// Prefetches the tile's part of the result, which then arrives by the time the sums are complete.
#[inline(always)]
pub(super) fn prefetch_result<U, E>(t: &Tile<U, E>) {
    if t.depth < LONG {
        return;
    }
    for row in 0..t.rows {
        prefetch_row(t.c.wrapping_offset(row as isize * t.c_row), t.cols);
    }
}

/// Returns `None`: the tile has no steps in assembly.
///
/// # Safety
/// The requirements of the versions in assembly.
#[inline(always)]
pub(super) unsafe fn no_assembly<U, E, S>(_: &Tile<U, E>) -> Option<S> {
    None
}

/// Defines the kernels of a kind of vectors for the given numbers of vectors and rows. Uses the types and functions at
/// the place of invocation.
macro_rules! tile {
    ($($features:literal)?: $($vectors:literal [$($rows:literal)*] packed [$($packed:literal)*];)*) => {
        /// Returns the sums of a tile. Rows are separate, or if `PAIRED`, alternately the real and imaginary parts of
        /// one row.
        ///
        /// # Safety
        /// The requirements of [`tile`].
        $(#[target_feature(enable = $features)])?
        #[inline]
        unsafe fn steps<
            const M: usize,
            const V: usize,
            const MASKED: bool,
            const LEFT: usize,
            const PAIRED: bool,
        >(
            t: &Tile<Unit, Elem>,
            masks: [Mask; V],
        ) -> [[Sums; V]; M] {
            // Constants if rows are contiguous: a single address register suffices.
            let (a_row, a_step) = match LEFT {
                AS_IT_LIES | SLIDING => (t.a_row, t.a_step),
                _ => (1, ROWS as isize),
            };
            let (mut a, mut b, mut ahead) = (t.a, t.b, t.ahead.first);
            let mut sums = [[zero(); V]; M];
            for step in 0..t.depth {
                // SAFETY: the row of `b` has the columns of the mask; the rows of `a` and the table have this step.
                unsafe {
                    if LEFT == INDIRECT {
                        let parts = if PAIRED { 2 } else { 1 };
                        let offset = t.steps.add(step).read() * parts;
                        a = t.a.wrapping_add(offset);
                        prefetch::<true, _>(t.ahead.first.cast::<Unit>().wrapping_add(offset));
                    }
                    if LEFT == SLIDING {
                        b = t.b.wrapping_add(t.steps.add(step).read());
                    }
                    // By loops, not closures, which lack the target features and might not be inlined.
                    let mut row = [nothing(); V];
                    for v in 0..V {
                        let b = b.wrapping_add(v * LANES);
                        row[v] = if MASKED {
                            load(masks[v], b)
                        } else {
                            whole(b)
                        };
                    }
                    for i in 0..M {
                        let at = if PAIRED && LEFT == AS_IT_LIES { (i / 2) as isize * a_row + (i % 2) as isize } else { i as isize * a_row };
                        let x = splat(a.wrapping_offset(at));
                        for v in 0..V {
                            sums[i][v] = madd(x, row[v], sums[i][v]);
                        }
                    }
                }
                // A step of a one-vector tile has no room for another load.
                if V == VECTORS && LEFT != INDIRECT {
                    prefetch::<true, _>(ahead);
                    ahead = ahead.wrapping_offset(t.ahead.step);
                    if LEFT == PACKED {
                        prefetch_panel(b, t.b_step, V * LANES);
                    }
                }
                b = b.wrapping_offset(t.b_step);
                a = a.wrapping_offset(a_step);
            }
            sums
        }

        /// Like [`steps`], but in assembly where that is faster.
        ///
        /// # Safety
        /// The requirements of [`tile`].
        $(#[target_feature(enable = $features)])?
        #[inline]
        unsafe fn sums<
            const M: usize,
            const V: usize,
            const MASKED: bool,
            const LEFT: usize,
            const PAIRED: bool,
        >(
            t: &Tile<Unit, Elem>,
            masks: [Mask; V],
        ) -> [[Sums; V]; M] {
            // Unoptimised builds compute every packed tile in full and use the needed part.
            let whole_tile = (M, V) == (ROWS, VECTORS) || cfg!(unoptimized);
            let by_hand: Option<[[Sums; VECTORS]; ROWS]> = match LEFT == PACKED && !MASKED && whole_tile {
                // SAFETY: rows are packed, and there are two vectors of columns.
                true => unsafe { in_assembly(t) },
                false => None,
            };
            match by_hand {
                Some(all) => {
                    let mut sums = [[zero(); V]; M];
                    for i in 0..M {
                        sums[i].copy_from_slice(&all[i][..V]);
                    }
                    sums
                }
                // SAFETY: guaranteed by the caller.
                None => unsafe { steps::<M, V, MASKED, LEFT, PAIRED>(t, masks) },
            }
        }

        /// # Safety
        /// The processor has the features; the tile's matrices are in bounds, and nobody else uses its part of `c`
        /// meanwhile.
        $(#[target_feature(enable = $features)])?
        unsafe fn tile<const M: usize, const V: usize, const MASKED: bool, const LEFT: usize>(
            t: &Tile<Unit, Elem>,
        ) {
            let mut masks = [mask(t.cols, 0); V];
            for v in 1..V {
                masks[v] = mask(t.cols, v);
            }
            if LEFT == PACKED {
                prefetch_result(t);
            }
            // SAFETY: guaranteed by the caller.
            let sums = unsafe { sums::<M, V, MASKED, LEFT, false>(t, masks) };
            let alpha = all(t.alpha);
            for i in 0..M {
                if LEFT == PACKED && i == t.rows {
                    break;
                }
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
                        if let Some(plus) = t.end.plus {
                            let plus = plus.beside(c.cast()).cast::<Elem>();
                            sum = add(sum, read(masks[v], plus.wrapping_add(v * LANES)));
                        }
                        if t.end.relu {
                            sum = relu(sum);
                        }
                        write(masks[v], c.wrapping_add(v * LANES), sum);
                    }
                }
            }
        }

        const fn kernels<const MASKED: bool>() -> [Shapes<Unit, Elem>; 2] {
            [
                &[$(&[$(tile::<$rows, $vectors, MASKED, AS_IT_LIES>),*]),*],
                &[$(&[$(tile::<$packed, $vectors, MASKED, PACKED>),*]),*],
            ]
        }

        pub(crate) const KERNELS: Kernels<Unit, Elem> = Kernels {
            tiles: [kernels::<false>(), kernels::<true>()],
            indirect: &[$(&[$(tile::<$rows, $vectors, false, INDIRECT>),*]),*],
            sliding: &[$(&[$(tile::<$rows, $vectors, false, SLIDING>),*]),*],
            sliding_row: &[
                tile::<1, 1, false, SLIDING>,
                tile::<1, 2, false, SLIDING>,
                tile::<1, 3, false, SLIDING>,
                tile::<1, 4, false, SLIDING>,
                tile::<1, 5, false, SLIDING>,
                tile::<1, 6, false, SLIDING>,
                tile::<1, 7, false, SLIDING>,
                tile::<1, 8, false, SLIDING>,
            ],
        };
    };
}

/// Defines functions of one instruction each for one kind of vectors; those that access memory are unsafe.
#[cfg(target_arch = "x86_64")]
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
            // SAFETY: the caller guarantees that the memory is accessible.
            unsafe { $body }
        }
    )*};
}

/// Defines vectorised copies into panels, for elements as wide as a lane. `short` names the function that copies columns
/// into the rows of a packed left operand instead, if shorter vectors are faster there.
#[cfg(target_arch = "x86_64")]
macro_rules! moves {
    ($features:literal $(, short $short:path)?) => {
        /// Returns the lanes of vector `v` that fit in a packed row.
        #[target_feature(enable = $features)]
        #[inline]
        fn within(apart: usize, v: usize) -> Mask {
            match apart {
                // A spill goes into the next row, which is written later.
                ROWS if SPILLS => mask(LANES, 0),
                _ => mask(apart, v),
            }
        }

        /// Copies rows that are `step` apart to rows that are `apart`. Zeros pad the last vector, limited by the room
        /// in the row.
        ///
        /// # Safety
        /// The processor has the features; each source row has `cols` elements; the panel has room for all rows.
        #[target_feature(enable = $features)]
        unsafe fn rows(
            from: *const Unit,
            step: isize,
            rows: usize,
            cols: usize,
            to: *mut Unit,
            apart: usize,
        ) {
            /// The prefetch distance in rows; they are too far apart for the hardware prefetcher.
            const AHEAD: isize = 16;
            let (vectors, rest) = (cols / LANES, cols % LANES);
            for row in 0..rows {
                let from = from.wrapping_offset(row as isize * step);
                let to = to.wrapping_add(row * apart);
                _mm_prefetch::<_MM_HINT_T0>(from.wrapping_offset(AHEAD * step).cast());
                // SAFETY: within the row, as the caller guarantees.
                unsafe {
                    for v in 0..vectors {
                        put_whole(to.add(v * LANES), whole(from.add(v * LANES)));
                    }
                    if rest > 0 {
                        let row = load(mask(rest, 0), from.add(vectors * LANES));
                        put(within(apart, vectors), to.add(vectors * LANES), row);
                    }
                }
            }
        }

        /// Copies columns of contiguous elements, `step` apart, to such rows.
        ///
        /// # Safety
        /// The requirements of [`rows`].
        #[target_feature(enable = $features)]
        pub(crate) unsafe fn columns(
            from: *const Unit,
            step: isize,
            rows: usize,
            cols: usize,
            to: *mut Unit,
            apart: usize,
        ) {
            $(if apart == ROWS {
                // SAFETY: the requirements are equal; a processor with these instructions has those.
                return unsafe { $short(from, step, rows, cols, to, apart) };
            })?
            /// The prefetch distance in elements; a column is too short for the hardware prefetcher.
            const AHEAD: usize = 256 / size_of::<Unit>();
            for top in (0..rows).step_by(LANES) {
                // Backwards, because a vector may spill into the elements to its right.
                for left in (0..cols).step_by(LANES).rev() {
                    let (wide, high) = (LANES.min(cols - left), LANES.min(rows - top));
                    let (depth, room) = (mask(high, 0), within(apart, left / LANES));
                    let mut block = [nothing(); LANES];
                    for (at, vector) in block.iter_mut().enumerate().take(wide) {
                        let from = from
                            .wrapping_offset((left + at) as isize * step)
                            .wrapping_add(top);
                        _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(AHEAD).cast());
                        // SAFETY: within the mask, as the caller guarantees.
                        *vector = unsafe {
                            if high == LANES {
                                whole(from)
                            } else {
                                load(depth, from)
                            }
                        };
                    }
                    for (at, vector) in transposed(block).into_iter().enumerate().take(high) {
                        let to = to.wrapping_add((top + at) * apart + left);
                        // SAFETY: as above.
                        unsafe { put(room, to, vector) };
                    }
                }
            }
        }

        pub(crate) const MOVES: Moves<Unit> = Moves {
            lanes: LANES,
            dtype: DTYPE,
            rows,
            columns,
        };
    };
}

pub(super) use tile;
#[cfg(target_arch = "x86_64")]
pub(super) use {instructions, moves};
