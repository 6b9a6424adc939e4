//! Short rows transposed into columns, block by block in the first-level cache.
//!
//! A row of a few elements leaves most of a register empty. After transposition, one row per lane of a register is
//! computed at a time. Blocks are transposed by interleaving alone, which every instruction set does a register at a
//! time, for every width: interleaving the two halves of `n` elements moves the one at `p` to `2 * p mod (n - 1)`,
//! so that `r` interleavings transpose `2^r` rows.

use std::mem::MaybeUninit;

use super::simd::{Level, level, levels};

/// The number of rows computed side by side, for every instruction set.
pub(crate) const LANES: usize = 16;

/// The number of rows of a block is a multiple of this, so that every round reads whole registers.
pub(crate) const LEAST: usize = 2 * LANES;

/// The most bytes of a block; two blocks stay in the cache.
const BLOCK: usize = 16 << 10;

/// The most rows of a block.
const MOST: usize = 16 * LANES;

/// The size of a block of rows and the way to transpose it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transpose {
    size: usize,
    width: usize,
    rows: usize,
    /// Whether columns are contiguous, in the order of the rows. This takes few rounds if the width is a power of
    /// two. Otherwise columns are transposed in groups of [`LANES`] rows, which are not adjacent in the block.
    whole: bool,
}

impl Transpose {
    /// Creates the transposition of `rows` rows, or a suitable part of them, of `width` elements of `size` bytes.
    pub fn new(size: usize, width: usize, rows: usize) -> Self {
        let fit = BLOCK / (size * width);
        let most = if fit < 2 * LEAST {
            LEAST
        } else {
            MOST.min(1 << fit.ilog2())
        };
        let rows = rows.clamp(LEAST, most).next_power_of_two();
        Self {
            size,
            width,
            rows,
            whole: width.is_power_of_two() && width <= LANES,
        }
    }

    /// Returns the number of rows: a power of two, at least [`LEAST`].
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns whether results computed from columns are in the order of the rows.
    pub fn in_order(&self) -> bool {
        self.whole
    }

    /// Returns the distance between groups of lanes, in elements, for rows of `width` elements.
    pub fn group(&self, width: usize) -> usize {
        if self.whole { LANES } else { width * LANES }
    }

    /// Returns the distance between consecutive elements of a row, in elements.
    pub fn pitch(&self) -> usize {
        if self.whole { self.rows } else { LANES }
    }

    /// Returns the same transposition for elements of another size.
    pub fn of_size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// Transposes a block. Returns the address of the result: in one of the buffers, or that of the block if no
    /// round is needed.
    ///
    /// # Safety
    /// The block is readable, each buffer has room for one, and they do not overlap.
    pub unsafe fn turn(&self, block: *const u8, rooms: [*mut u8; 2]) -> *const u8 {
        let (rounds, step) = if self.whole {
            (self.width.ilog2(), apart(self.size))
        } else {
            (LANES.ilog2(), together(self.size))
        };
        let mut from = block;
        for round in 0..rounds {
            let to = rooms[round as usize % 2];
            // SAFETY: guaranteed by the caller.
            unsafe { step(from, self.rows * self.width, to) };
            from = to;
        }
        from
    }

    /// Transposes columns back to rows of `width` elements at `to`.
    ///
    /// # Safety
    /// The columns are readable, in the order in which [`Transpose::turn`] leaves such rows. `to` and each buffer
    /// have room for the same number of elements, and none of them overlap.
    pub unsafe fn back(&self, width: usize, columns: *const u8, rooms: [*mut u8; 2], to: *mut u8) {
        let (rounds, step) = if self.whole {
            (width.ilog2(), together(self.size))
        } else {
            (LANES.ilog2(), apart(self.size))
        };
        let n = self.rows * width;
        let mut from = columns;
        for round in 0..rounds {
            let to = if round + 1 == rounds {
                to
            } else {
                rooms[round as usize % 2]
            };
            // SAFETY: guaranteed by the caller.
            unsafe { step(from, n, to) };
            from = to;
        }
        if rounds == 0 {
            // SAFETY: guaranteed by the caller.
            unsafe { to.copy_from_nonoverlapping(columns, n * self.size) };
        }
    }
}

/// One round; arguments: source, number of elements, destination.
type Round = unsafe fn(*const u8, usize, *mut u8);

/// An element of the size of `T` at any address.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct TransposeUnit<T>(MaybeUninit<T>);

/// Returns the round that interleaves the halves.
fn together(size: usize) -> Round {
    macro_rules! of {
        ($t:ty) => {
            levels!(fn(from: *const u8, n: usize, to: *mut u8) interleave::<$t>(from, n, to))
                [level() as usize]
        };
    }
    match size {
        // Interleaves bytes in registers of at most 256 bits: 512-bit registers would need shuffles across lanes.
        1 => levels!(fn(from: *const u8, n: usize, to: *mut u8) interleave::<u8>(from, n, to))
            [level().min(Level::Avx2) as usize],
        2 => of!(u16),
        4 => of!(u32),
        8 => of!(u64),
        _ => of!([u64; 2]),
    }
}

/// Returns the round that undoes the interleaving.
fn apart(size: usize) -> Round {
    macro_rules! of {
        ($t:ty) => {
            levels!(fn(from: *const u8, n: usize, to: *mut u8) separate::<$t>(from, n, to))
                [level() as usize]
        };
    }
    match size {
        1 => of!(u8),
        2 => of!(u16),
        4 => of!(u32),
        8 => of!(u64),
        _ => of!([u64; 2]),
    }
}

/// Interleaves the halves of `n` elements.
///
/// # Safety
/// The requirements of [`Transpose::turn`]; `n` is even.
#[inline(always)]
unsafe fn interleave<T: Copy>(from: *const u8, n: usize, to: *mut u8) {
    let half = n / 2;
    let from = from.cast::<TransposeUnit<T>>();
    // SAFETY: guaranteed by the caller; units may have any content and address.
    let (a, b, to) = unsafe {
        (
            std::slice::from_raw_parts(from, half),
            std::slice::from_raw_parts(from.add(half), half),
            std::slice::from_raw_parts_mut(to.cast::<[TransposeUnit<T>; 2]>(), half),
        )
    };
    for i in 0..half {
        to[i] = [a[i], b[i]];
    }
}

/// Separates even and odd elements: the inverse of [`interleave`].
///
/// # Safety
/// The requirements of [`interleave`].
#[inline(always)]
unsafe fn separate<T: Copy>(from: *const u8, n: usize, to: *mut u8) {
    let half = n / 2;
    let to = to.cast::<TransposeUnit<T>>();
    // SAFETY: as above.
    let (from, a, b) = unsafe {
        (
            std::slice::from_raw_parts(from.cast::<[TransposeUnit<T>; 2]>(), half),
            std::slice::from_raw_parts_mut(to, half),
            std::slice::from_raw_parts_mut(to.add(half), half),
        )
    };
    for i in 0..half {
        [a[i], b[i]] = from[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Copy + PartialEq + std::fmt::Debug>(width: usize, rows: usize, of: fn(usize) -> T) {
        let turn = Transpose::new(size_of::<T>(), width, rows);
        let (rows, n) = (turn.rows(), turn.rows() * width);
        let block: Vec<T> = (0..n).map(of).collect();
        let mut rooms = [block.clone(), block.clone()];
        let [a, b] = &mut rooms;
        let rooms = [a.as_mut_ptr().cast(), b.as_mut_ptr().cast()];
        // SAFETY: blocks of the same length.
        let turned = unsafe {
            let at = turn.turn(block.as_ptr().cast(), rooms);
            std::slice::from_raw_parts(at.cast::<T>(), n).to_vec()
        };
        for row in 0..rows {
            // Whole columns keep the order of rows; otherwise the rows of a group are not adjacent.
            let groups = rows / LANES;
            let (group, lane) = if turn.whole {
                (row / LANES, row % LANES)
            } else {
                (row % groups, row / groups)
            };
            for j in 0..width {
                let at = group * turn.group(width) + j * turn.pitch() + lane;
                assert_eq!(turned[at], block[row * width + j], "{rows} rows of {width}");
            }
        }
        let mut again = turned.clone();
        // SAFETY: as above.
        unsafe {
            turn.back(
                width,
                turned.as_ptr().cast(),
                rooms,
                again.as_mut_ptr().cast(),
            );
        }
        assert_eq!(again, block, "{rows} rows of {width}");
    }

    #[test]
    fn every_width_there_and_back() {
        let widths: &[usize] = if cfg!(miri) {
            &[1, 3, 4]
        } else {
            &[1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 32, 33, 100]
        };
        for &width in widths {
            for rows in [1, 32, 33, 64, 1000] {
                check(width, rows, |i| i as u8);
                check(width, rows, |i| i as u16);
                check(width, rows, |i| i as u32);
                check(width, rows, |i| i as u64);
                check(width, rows, |i| [i as u64, !i as u64]);
            }
        }
    }
}
