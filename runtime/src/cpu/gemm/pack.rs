//! Packing the operands of large products into the order in which tiles read them.

#[cfg(target_arch = "x86_64")]
use std::mem::MaybeUninit;

use nomina_core::DType;

use crate::cpu::cast::Cast;
#[cfg(target_arch = "x86_64")]
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::SmallScratch;
use crate::memory::NoMemory;

/// Part of an operand: its first element, its length `steps` along the inner dim, and its length `others` along the
/// other dim.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub ptr: *const u8,
    pub dtype: DType,
    pub steps: usize,
    pub step: isize,
    pub others: usize,
    pub other: isize,
}

/// Vectorised copies of elements of one dtype into a panel. Arguments: the source, the distance
/// between its rows or columns, the number of rows, the number of columns, the destination, the
/// distance between rows there.
#[derive(Clone, Copy)]
pub(super) struct Moves<U> {
    pub lanes: usize,
    pub dtype: DType,
    /// Copies rows whose elements are contiguous.
    pub rows: Move<U>,
    /// Copies columns whose elements are contiguous.
    pub columns: Move<U>,
}

type Move<U> = unsafe fn(*const U, isize, usize, usize, *mut U, usize);

/// Returns moves that copy element by element.
pub(super) const fn plain<U: Copy, const LANES: usize>(dtype: DType) -> Moves<U> {
    Moves {
        lanes: LANES,
        dtype,
        rows: plain_rows::<U, LANES>,
        columns: plain_columns::<U, LANES>,
    }
}

/// # Safety
/// Each source row has `cols` elements; the panel has room for all rows.
unsafe fn plain_rows<U: Copy, const LANES: usize>(
    from: *const U,
    step: isize,
    rows: usize,
    cols: usize,
    to: *mut U,
    apart: usize,
) {
    for row in 0..rows {
        let (from, to) = (
            from.wrapping_offset(row as isize * step),
            to.wrapping_add(row * apart),
        );
        // SAFETY: within the row, as the caller guarantees.
        unsafe {
            from.copy_to_nonoverlapping(to, cols);
            to.wrapping_add(cols)
                .write_bytes(0, rest::<LANES>(cols, apart));
        }
    }
}

/// # Safety
/// The requirements of [`plain_rows`].
unsafe fn plain_columns<U: Copy, const LANES: usize>(
    from: *const U,
    step: isize,
    rows: usize,
    cols: usize,
    to: *mut U,
    apart: usize,
) {
    for row in 0..rows {
        let to = to.wrapping_add(row * apart);
        for col in 0..cols {
            let from = from.wrapping_offset(col as isize * step).wrapping_add(row);
            // SAFETY: within the matrix, as the caller guarantees.
            unsafe { to.wrapping_add(col).write(from.read()) };
        }
        // SAFETY: as above.
        unsafe {
            to.wrapping_add(cols)
                .write_bytes(0, rest::<LANES>(cols, apart))
        };
    }
}

/// Returns the number of padding elements that complete a row's last vector, limited by the room in
/// the row.
fn rest<const LANES: usize>(cols: usize, apart: usize) -> usize {
    cols.next_multiple_of(LANES).min(apart) - cols
}

/// Packs a part step by step. The elements of a step are contiguous, and steps are `apart` elements
/// apart. Zeros pad the last vector of each step, limited by the room.
///
/// # Safety
/// The part is within its matrix; there is room for the steps; the processor has the instructions of
/// the moves.
pub(super) unsafe fn pack<U>(
    part: Part,
    to: *mut U,
    apart: usize,
    moves: Moves<U>,
) -> Result<(), NoMemory> {
    let Part {
        ptr,
        dtype,
        steps,
        step,
        others,
        other,
    } = part;
    let (from, unit) = (dtype.size() as isize, moves.dtype.size() as isize);
    let cast = Cast::new(dtype, moves.dtype);
    // SAFETY: guaranteed by the caller; the scratch has room for the columns.
    unsafe {
        match (dtype == moves.dtype, step, other) {
            (true, _, 1) => (moves.rows)(ptr.cast(), step, steps, others, to, apart),
            (true, 1, _) => (moves.columns)(ptr.cast(), other, steps, others, to, apart),
            (false, 1, _) => {
                // The padding keeps adjacent columns in different cache lines.
                let length = steps.next_multiple_of(16) + 16;
                let mut scratch = SmallScratch::bytes([others, length, moves.dtype.size()])?;
                let wide = scratch.as_mut_ptr().cast::<U>();
                for at in 0..others {
                    let source = ptr.wrapping_offset(at as isize * other * from);
                    let dest = wide.wrapping_add(at * length);
                    cast.run(steps, source, from, dest.cast(), unit);
                }
                (moves.columns)(wide, length as isize, steps, others, to, apart);
            }
            _ => {
                let rest = others.next_multiple_of(moves.lanes).min(apart) - others;
                for at in 0..steps {
                    let source = ptr.wrapping_offset(at as isize * step * from);
                    let dest = to.wrapping_add(at * apart);
                    cast.run(others, source, other * from, dest.cast(), unit);
                    dest.wrapping_add(others).write_bytes(0, rest);
                }
            }
        }
    }
    Ok(())
}

/// Like [`pack`], but for pairs of 16-bit elements along the inner dim; an odd last element is
/// paired with zero.
///
/// # Safety
/// The requirements of [`pack`].
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn pairs(
    part: Part,
    to: *mut u32,
    apart: usize,
    moves: Moves<u32>,
) -> Result<(), NoMemory> {
    let units = part.steps.div_ceil(2);
    let at = |step: usize, other: usize| {
        let offset = step as isize * part.step + other as isize * part.other;
        // SAFETY: only called for elements of the part.
        unsafe { part.ptr.cast::<u16>().wrapping_offset(offset).read() }
    };
    // SAFETY: guaranteed by the caller; the scratch has room for the columns.
    unsafe {
        if part.step == 1 && part.other != 1 {
            if part.steps.is_multiple_of(2) && part.other % 2 == 0 {
                // Columns made of whole pairs.
                let from = part.ptr.cast::<u32>();
                (moves.columns)(from, part.other / 2, units, part.others, to, apart);
                return Ok(());
            }
            let length = units.next_multiple_of(16) + 16;
            let mut scratch = SmallScratch::bytes([part.others, length, 4])?;
            let wide = scratch.as_mut_ptr().cast::<u32>();
            for other in 0..part.others {
                let dest = wide.wrapping_add(other * length);
                dest.wrapping_add(units - units.min(1)).write(0);
                let source = part.ptr.cast::<u16>();
                let source = source.wrapping_offset(other as isize * part.other);
                source.copy_to_nonoverlapping(dest.cast(), part.steps);
            }
            (moves.columns)(wide, length as isize, units, part.others, to, apart);
            return Ok(());
        }
        let rest = part.others.next_multiple_of(moves.lanes).min(apart) - part.others;
        for unit in 0..units {
            let dest = to.wrapping_add(unit * apart);
            let both = 2 * unit + 1 < part.steps;
            if both && part.other == 1 {
                // Two rows whose elements are contiguous.
                let row = |step: usize| {
                    let first = part.ptr.cast::<u16>();
                    let first = first.wrapping_offset(step as isize * part.step);
                    std::slice::from_raw_parts(first, part.others)
                };
                let dest = std::slice::from_raw_parts_mut(dest.cast(), part.others);
                dispatch(Interleave {
                    rows: [row(2 * unit), row(2 * unit + 1)],
                    to: dest,
                });
            } else {
                for other in 0..part.others {
                    let low = u32::from(at(2 * unit, other));
                    let high = if both {
                        u32::from(at(2 * unit + 1, other))
                    } else {
                        0
                    };
                    dest.wrapping_add(other).write(low | high << 16);
                }
            }
            if rest > 0 {
                dest.wrapping_add(part.others).write_bytes(0, rest);
            }
        }
    }
    Ok(())
}

/// A kernel that interleaves two rows into pairs.
#[cfg(target_arch = "x86_64")]
struct Interleave<'a> {
    rows: [&'a [u16]; 2],
    to: &'a mut [MaybeUninit<u32>],
}

#[cfg(target_arch = "x86_64")]
impl Kernel for Interleave<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let [low, high] = self.rows;
        for ((to, &low), &high) in self.to.iter_mut().zip(low).zip(high) {
            to.write(u32::from(low) | u32::from(high) << 16);
        }
    }
}
