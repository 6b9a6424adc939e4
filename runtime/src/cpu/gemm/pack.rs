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

/// Like [`pack`], but for units of several steps along the inner dim, each an element `E` widened to `BITS` bits; zeros complete
/// the last unit.
///
/// # Safety
/// The requirements of [`pack`]; the part's elements have the size of `E`.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn steps<E: Copy + Into<u32>, const BITS: usize>(
    part: Part,
    to: *mut u32,
    apart: usize,
    moves: Moves<u32>,
) -> Result<(), NoMemory> {
    let each = 32 / BITS;
    let is_wide = BITS == 8 * size_of::<E>();
    let first = part.ptr.cast::<E>();
    let units = part.steps.div_ceil(each);
    // SAFETY: guaranteed by the caller; the scratch has room for the columns.
    unsafe {
        if part.step == 1 && part.other != 1 {
            if is_wide && part.steps.is_multiple_of(each) && part.other % each as isize == 0 {
                // Columns made of whole units.
                let apart_units = part.other / each as isize;
                (moves.columns)(first.cast(), apart_units, units, part.others, to, apart);
                return Ok(());
            }
            let length = units.next_multiple_of(16) + 16;
            let mut scratch = SmallScratch::bytes([part.others, length, 4])?;
            let wide = scratch.as_mut_ptr().cast::<u32>();
            for other in 0..part.others {
                let dest = wide.wrapping_add(other * length);
                dest.wrapping_add(units - units.min(1)).write(0);
                let source = first.wrapping_offset(other as isize * part.other);
                if is_wide {
                    source.copy_to_nonoverlapping(dest.cast(), part.steps);
                } else {
                    // Only bytes are widened.
                    for step in 0..part.steps {
                        let element: u32 = source.add(step).read().into();
                        dest.cast::<u16>().add(step).write(element as u16);
                    }
                }
            }
            (moves.columns)(wide, length as isize, units, part.others, to, apart);
            return Ok(());
        }
        let rest = part.others.next_multiple_of(moves.lanes).min(apart) - part.others;
        for unit in 0..units {
            let dest = to.wrapping_add(unit * apart);
            let row =
                |step: usize| first.wrapping_offset((unit * each + step) as isize * part.step);
            let count = each.min(part.steps - unit * each);
            if count == each && part.other == 1 {
                // Rows whose elements are contiguous.
                let slice = |step| std::slice::from_raw_parts(row(step), part.others);
                let to = std::slice::from_raw_parts_mut(dest.cast(), part.others);
                match each {
                    2 => dispatch(Interleave::<_, 2, BITS> {
                        rows: [slice(0), slice(1)],
                        to,
                    }),
                    _ => dispatch(Interleave::<_, 4, BITS> {
                        rows: [slice(0), slice(1), slice(2), slice(3)],
                        to,
                    }),
                }
            } else {
                for other in 0..part.others {
                    let mut value = 0;
                    for step in 0..count {
                        let element = row(step).wrapping_offset(other as isize * part.other);
                        value |= element.read().into() << (step * BITS);
                    }
                    dest.wrapping_add(other).write(value);
                }
            }
            if rest > 0 {
                dest.wrapping_add(part.others).write_bytes(0, rest);
            }
        }
    }
    Ok(())
}

/// A kernel that interleaves rows of elements into units.
#[cfg(target_arch = "x86_64")]
struct Interleave<'a, E, const N: usize, const BITS: usize> {
    rows: [&'a [E]; N],
    to: &'a mut [MaybeUninit<u32>],
}

#[cfg(target_arch = "x86_64")]
impl<E: Copy + Into<u32>, const N: usize, const BITS: usize> Kernel for Interleave<'_, E, N, BITS> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for row in self.rows {
            assert_eq!(row.len(), self.to.len(), "a row of another length");
        }
        for (at, to) in self.to.iter_mut().enumerate() {
            let mut value = 0;
            for (step, row) in self.rows.iter().enumerate() {
                value |= row[at].into() << (step * BITS);
            }
            to.write(value);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[cfg(test)]
mod tests {
    use super::*;

    /// Packs a part of elements of several steps and checks the units against the definition.
    fn check<E: Copy + Into<u32>, const BITS: usize>(
        data: &[E],
        dtype: DType,
        [depth, others]: [usize; 2],
    ) {
        const LANES: usize = 16;
        let each = 32 / BITS;
        let apart = others.next_multiple_of(LANES);
        // Steps contiguous, others contiguous, and neither.
        for [step, other] in [[1, depth + 3], [others + 5, 1], [3, 3 * depth + 1], [1, 1]] {
            let part = Part {
                ptr: data.as_ptr().cast(),
                dtype,
                steps: depth,
                step: step as isize,
                others,
                other: other as isize,
            };
            let units = depth.div_ceil(each);
            let mut to = vec![0xdead_beef_u32; units * apart];
            let moves = plain::<u32, LANES>(DType::I32);
            // SAFETY: the part is within the data; there is room for the units, and for no more.
            unsafe { steps::<E, BITS>(part, to.as_mut_ptr(), apart, moves) }.unwrap();
            for unit in 0..units {
                for column in 0..apart {
                    let mut want = 0;
                    for at in 0..each.min(depth - unit * each) {
                        if column < others {
                            let element = data[(unit * each + at) * step + column * other];
                            want |= element.into() << (BITS * at);
                        }
                    }
                    let got = to[unit * apart + column];
                    assert_eq!(
                        got, want,
                        "{depth} {others} {step} {other}: {unit} {column}"
                    );
                }
            }
        }
    }

    #[test]
    fn units_of_several_steps_are_the_definition() {
        let bytes: Vec<u8> = (0..4096).map(|at| (at * 37 % 251) as u8).collect();
        let halves: Vec<u16> = (0..4096).map(|at| (at * 4999) as u16).collect();
        for depth in [1, 2, 3, 4, 5, 7, 8, 21] {
            for others in [1, 2, 6, 16, 17, 33] {
                check::<_, 8>(&bytes, DType::U8, [depth, others]);
                check::<_, 16>(&bytes, DType::U8, [depth, others]);
                check::<_, 16>(&halves, DType::BF16, [depth, others]);
            }
        }
    }
}
