//! Tiles: the part of a product that stays in registers.
//!
//! A tile has up to `ROWS` rows and two vectors of columns. For each step along the inner dim it
//! reads one row of `b`, side by side, and multiplies it by an element of each row of `a`, which
//! may lie anywhere. Columns beyond the last can be masked, so that nothing needs to be packed for
//! the edges' sake. A result is one chain of multiply-adds, whichever tile it is in.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
pub(super) mod complex;
pub(super) mod portable;

use super::prefetch::{LINE, Lines};

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
    /// at `i + l ROWS` of its kind.
    pub a: *const U,
    pub a_row: isize,
    pub a_step: isize,
    /// For kernels of [`INDIRECT`] rows: where each step's start, in units from `a` on.
    pub a_steps: *const usize,
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

/// How the left operand is read: where it lies; packed, a step's [`super::kind::Kind::ROWS`] side by side; or by a table of where
/// steps start, a step's rows side by side.
pub(super) const AS_IT_LIES: usize = 0;
pub(super) const PACKED: usize = 1;
pub(super) const INDIRECT: usize = 2;

/// What computes a tile.
pub(super) type Kernel<U, E> = unsafe fn(&Tile<U, E>);

/// The kernels of a kind of vectors.
pub(super) struct Kernels<U: 'static, E: 'static> {
    /// Those that read whole vectors of the right operand, and those that mask them; of these, those
    /// that read the left operand where it lies, and those that read it packed; of these, by vectors
    /// and by rows, less one each. Where rows are packed there are kernels for some numbers of them alone, which
    /// compute a few more than are there. What is masked, or computes addresses, costs a few percent.
    pub tiles: [[Shapes<U, E>; 2]; 2],
    /// Those that read the left operand [`INDIRECT`]ly, and whole panels of the right one; by rows, less one.
    pub indirect: &'static [Kernel<U, E>],
}

/// Kernels by vectors, then by rows, less one each.
pub(super) type Shapes<U, E> = [&'static [Kernel<U, E>]; VECTORS];

/// Steps before it is read that a row of the right operand is asked for: panels come from the second-level cache, and a
/// processor that sees by itself what comes next sees it late.
const SOON: isize = 32;
/// Steps of a tile that are worth asking for its part of the result before them.
const LONG: usize = 64;

/// Asks for the line of memory at an address, which need not be there, into the first-level cache, or the second where it is
/// `FAR`.
#[inline(always)]
pub(super) fn prefetch<const FAR: bool, T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, of any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match FAR {
            true => _mm_prefetch::<_MM_HINT_T1>(at.cast()),
            false => _mm_prefetch::<_MM_HINT_T0>(at.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Asks for what comes [`SOON`] behind a row of a panel.
#[inline(always)]
pub(super) fn prefetch_panel<T>(row: *const T, step: isize, elements: usize) {
    prefetch_row(row.wrapping_offset(SOON * step), elements);
}

/// Asks for elements that lie side by side.
#[inline(always)]
fn prefetch_row<T>(row: *const T, elements: usize) {
    for element in (0..elements).step_by(LINE / size_of::<T>()) {
        prefetch::<false, _>(row.wrapping_add(element));
    }
}

/// Asks for the tile's part of the result, which is there when the sums are.
#[inline(always)]
pub(super) fn prefetch_result<U, E>(t: &Tile<U, E>) {
    if t.depth < LONG {
        return;
    }
    for row in 0..t.rows {
        prefetch_row(t.c.wrapping_offset(row as isize * t.c_row), t.cols);
    }
}

/// That the steps of a tile are not in assembly.
///
/// # Safety
/// As of those that are.
#[inline(always)]
pub(super) unsafe fn no_assembly<U, E, S>(_: &Tile<U, E>) -> Option<S> {
    None
}

/// The kernels of a kind of vectors, for so many rows: of the types and functions of where it is called.
macro_rules! tile {
    ($($features:literal)?: $($rows:literal)*, packed $($packed:literal)*) => {
        /// The sums of a tile. Rows are one after the other, or `PAIRED`: real and imaginary parts of one.
        ///
        /// # Safety
        /// As of [`tile`].
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
            // Constants where rows lie side by side: then one address is all.
            let (a_row, a_step) = match LEFT {
                AS_IT_LIES => (t.a_row, t.a_step),
                _ => (1, ROWS as isize),
            };
            let (mut a, mut b, mut ahead) = (t.a, t.b, t.ahead.first);
            let mut sums = [[zero(); V]; M];
            for step in 0..t.depth {
                // SAFETY: the row of `b` has the columns of the mask; rows of `a` have this step, and so has its table.
                unsafe {
                    if LEFT == INDIRECT {
                        let parts = if PAIRED { 2 } else { 1 };
                        a = t.a.wrapping_add(t.a_steps.add(step).read() * parts);
                    }
                    let row: [Vector; V] = std::array::from_fn(|v| {
                        let b = b.wrapping_add(v * LANES);
                        if MASKED {
                            load(masks[v], b)
                        } else {
                            whole(b)
                        }
                    });
                    for i in 0..M {
                        let at = match PAIRED && LEFT == AS_IT_LIES {
                            true => (i / 2) as isize * a_row + (i % 2) as isize,
                            false => i as isize * a_row,
                        };
                        let x = splat(a.wrapping_offset(at));
                        for v in 0..V {
                            sums[i][v] = madd(x, row[v], sums[i][v]);
                        }
                    }
                }
                // Tiles of one vector have no room for another load in a step.
                if V == VECTORS {
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

        /// As [`steps`], in assembly where that is faster.
        ///
        /// # Safety
        /// As of [`tile`].
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
            // Without optimisation all of a packed tile is computed, of which the result takes its part.
            let whole_tile = (M, V) == (ROWS, VECTORS) || cfg!(unoptimized);
            let by_hand: Option<[[Sums; VECTORS]; ROWS]> = match LEFT == PACKED && !MASKED && whole_tile {
                // SAFETY: rows are packed, and two vectors of columns are there.
                true => unsafe { in_assembly(t) },
                false => None,
            };
            match by_hand {
                Some(sums) => std::array::from_fn(|i| std::array::from_fn(|v| sums[i][v])),
                // SAFETY: the caller's promise.
                None => unsafe { steps::<M, V, MASKED, LEFT, PAIRED>(t, masks) },
            }
        }

        /// # Safety
        /// The processor has the features; the tile's matrices lie where it says, and nobody else
        /// uses its part of `c` meanwhile.
        $(#[target_feature(enable = $features)])?
        unsafe fn tile<const M: usize, const V: usize, const MASKED: bool, const LEFT: usize>(
            t: &Tile<Unit, Elem>,
        ) {
            let masks = std::array::from_fn(|v| mask(t.cols, v));
            if LEFT == PACKED {
                prefetch_result(t);
            }
            // SAFETY: the caller's promise.
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
                        write(masks[v], c.wrapping_add(v * LANES), sum);
                    }
                }
            }
        }

        const fn kernels<const MASKED: bool>() -> [Shapes<Unit, Elem>; 2] {
            [
                [
                    &[$(tile::<$rows, 1, MASKED, AS_IT_LIES>),*],
                    &[$(tile::<$rows, 2, MASKED, AS_IT_LIES>),*],
                ],
                [
                    &[$(tile::<$packed, 1, MASKED, PACKED>),*],
                    &[$(tile::<$packed, 2, MASKED, PACKED>),*],
                ],
            ]
        }

        pub(in crate::cpu::gemm) const KERNELS: Kernels<Unit, Elem> = Kernels {
            tiles: [kernels::<false>(), kernels::<true>()],
            indirect: &[$(tile::<$rows, VECTORS, false, INDIRECT>),*],
        };
    };
}

/// Functions of one instruction each, for vectors of one kind; those of memory are unsafe.
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
            // SAFETY: the caller says that the memory is there.
            unsafe { $body }
        }
    )*};
}

/// Moves of vectors into panels, for elements as wide as a lane.
#[cfg(target_arch = "x86_64")]
macro_rules! moves {
    ($features:literal) => {
        /// The lanes of vector `v` for which a packed row has room.
        #[target_feature(enable = $features)]
        #[inline]
        fn within(apart: usize, v: usize) -> Mask {
            match apart {
                // What is beyond belongs to the next row, which is written later.
                ROWS if SPILLS => mask(LANES, 0),
                _ => mask(apart, v),
            }
        }

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
            /// Rows that are asked for ahead: they are too far apart for the processor to see what comes.
            const AHEAD: isize = 16;
            let (vectors, rest) = (cols / LANES, cols % LANES);
            for row in 0..rows {
                let from = from.wrapping_offset(row as isize * step);
                let to = to.wrapping_add(row * apart);
                _mm_prefetch::<_MM_HINT_T0>(from.wrapping_offset(AHEAD * step).cast());
                // SAFETY: within the row, as the caller promises.
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
            /// Elements that are asked for ahead in a column: each is read for too short a while for the processor to see it.
            const AHEAD: usize = 256 / size_of::<Unit>();
            for top in (0..rows).step_by(LANES) {
                // Backwards, for what is written beyond a row.
                for left in (0..cols).step_by(LANES).rev() {
                    let (wide, high) = (LANES.min(cols - left), LANES.min(rows - top));
                    let (depth, room) = (mask(high, 0), within(apart, left / LANES));
                    let mut block = [nothing(); LANES];
                    for (at, vector) in block.iter_mut().enumerate().take(wide) {
                        let from = from
                            .wrapping_offset((left + at) as isize * step)
                            .wrapping_add(top);
                        _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(AHEAD).cast());
                        // SAFETY: within the mask, as the caller promises.
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

        pub(in crate::cpu::gemm) const MOVES: Moves<Unit> = Moves {
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
