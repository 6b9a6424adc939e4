//! A few short rows: no plan, no tiles, one thread. Elements are combined in the same order as by the driver or a
//! [`TransposedRows`](super::transposed_rows::TransposedRows), so results are bitwise equal.

use std::mem::MaybeUninit;

use super::reducer::{BLOCK, ROWS as SHORT, Reducer};
use super::whole::{LANES, Lanes};
use crate::job::ReduceJob;

/// The most rows. For more, the driver's planning pays.
const ROWS: usize = 64;

/// A buffer for one state, aligned for every type.
#[repr(C, align(64))]
struct StateBuffer([MaybeUninit<u8>; 256]);

/// A buffer for [`LANES`] short rows, aligned for every element type.
#[repr(C, align(64))]
struct RowsBuffer([MaybeUninit<u8>; SHORT * LANES * 16]);

/// A buffer for the results of those rows.
#[repr(C, align(64))]
struct ResultsBuffer([MaybeUninit<u8>; LANES * 16]);

/// Computes a job with row-major elements whose last dims are reduced without conversion. Returns false, without having
/// done anything, for other jobs.
///
/// # Safety
/// The requirements of [`super::execute`].
pub(super) unsafe fn execute(reducer: &dyn Reducer, job: &ReduceJob<'_>) -> bool {
    let Some([rows, columns]) = sizes(reducer, job) else {
        return false;
    };
    if columns <= SHORT {
        // SAFETY: guaranteed by the caller.
        unsafe { lanes(reducer, job, rows, columns) };
        return true;
    }
    let (size, out) = (job.dtype.size(), job.values_dtype.size());
    let mut state = StateBuffer([MaybeUninit::uninit(); 256]);
    let state: *mut u8 = state.0.as_mut_ptr().cast();
    for row in 0..rows {
        let xs = job.x.wrapping_add(row * columns * size);
        let place = |null: bool, of: *mut u8, size: usize| {
            if null {
                of
            } else {
                of.wrapping_add(row * size)
            }
        };
        let values = place(job.values.is_null(), job.values, out);
        let positions = place(
            job.positions.is_null(),
            job.positions.cast(),
            size_of::<i64>(),
        );
        // SAFETY: there is room for the state; the row's elements are contiguous and of the dtype that the reducer
        // loads; its results follow those of the rows before and have the reducer's dtype.
        unsafe {
            reducer.init(state, 1);
            reducer.row(state, xs, columns, 0);
            reducer.finish(state, 1, columns as f64, values, positions.cast());
        }
    }
    true
}

/// Computes rows of up to [`SHORT`] elements, one per lane.
///
/// # Safety
/// The requirements of [`super::execute`], for `rows` times `columns` row-major elements of the reducer's dtypes.
unsafe fn lanes(reducer: &dyn Reducer, job: &ReduceJob<'_>, rows: usize, columns: usize) {
    let (size, out) = (job.dtype.size(), job.values_dtype.size());
    // A single row need not be transposed: the other lanes read its elements, too, and their results are ignored.
    let apart = if rows == 1 { 1 } else { LANES };
    let mut at = [0_isize; SHORT];
    for (i, at) in at[..columns].iter_mut().enumerate() {
        *at = (i * apart) as isize;
    }
    let mut tile = RowsBuffer([MaybeUninit::uninit(); _]);
    let tile: *mut u8 = tile.0.as_mut_ptr().cast();
    let [mut values, mut positions] = [const { ResultsBuffer([MaybeUninit::uninit(); _]) }; 2];
    let room = |null: bool, results: &mut ResultsBuffer| {
        if null {
            std::ptr::null_mut()
        } else {
            results.0.as_mut_ptr().cast::<u8>()
        }
    };
    let values = room(job.values.is_null(), &mut values);
    let positions = room(job.positions.is_null(), &mut positions);
    for row in (0..rows).step_by(LANES) {
        let n = LANES.min(rows - row);
        // SAFETY: the rows are readable; the tile has room for them, and there is room for the results.
        unsafe {
            if rows == 1 {
                tile.copy_from_nonoverlapping(job.x, columns * size);
                tile.add(columns * size).write_bytes(0, LANES * size);
            } else {
                turn(job.x.add(row * columns * size), size, n, columns, tile);
            }
            let lanes = Lanes {
                xs: tile,
                step: 0,
                groups: 1,
                rows: &at[..columns],
                into: 0,
            };
            reducer.whole(&lanes, columns as f64, values, positions.cast());
            if !values.is_null() {
                let to = job.values.add(row * out);
                to.copy_from_nonoverlapping(values, n * out);
            }
            if !positions.is_null() {
                let to = job.positions.add(row);
                to.copy_from_nonoverlapping(positions.cast(), n);
            }
        }
    }
}

/// Transposes up to [`LANES`] rows and fills missing rows with zeros.
///
/// # Safety
/// `rows` times `columns` elements of `size` bytes are readable; the tile has room for them.
unsafe fn turn(xs: *const u8, size: usize, rows: usize, columns: usize, tile: *mut u8) {
    macro_rules! of {
        ($t:ty) => {
            for column in 0..columns {
                // SAFETY: guaranteed by the caller; a tile is aligned, an operand need not be.
                unsafe {
                    let to = &mut *tile.cast::<[MaybeUninit<$t>; LANES]>().add(column);
                    *to = [const { MaybeUninit::zeroed() }; LANES];
                    for (row, to) in to[..rows].iter_mut().enumerate() {
                        let x = xs.cast::<MaybeUninit<$t>>().add(row * columns + column);
                        *to = x.read_unaligned();
                    }
                }
            }
        };
    }
    match size {
        1 => of!(u8),
        2 => of!(u16),
        4 => of!(u32),
        8 => of!(u64),
        _ => of!(u128),
    }
}

/// Returns the number of rows and the number of elements of each.
fn sizes(reducer: &dyn Reducer, job: &ReduceJob<'_>) -> Option<[usize; 2]> {
    let fits = job.dtype == reducer.load()
        && (job.values.is_null() || job.values_dtype == reducer.out())
        && reducer.state_size() <= size_of::<StateBuffer>();
    if !fits {
        return None;
    }
    let kept = job.reduced.iter().take_while(|&&gone| !gone).count();
    let (mut rows, mut columns, mut results) = (1_usize, 1_usize, 1_isize);
    for dim in (0..job.shape.len()).rev() {
        let expected = (rows * columns) as isize;
        let size = job.shape[dim];
        if size != 1 && job.strides[dim] != expected || rows * columns * size > ROWS * BLOCK {
            return None;
        }
        if dim >= kept {
            columns *= size;
        } else {
            if size != 1 && job.out[dim] != results {
                return None;
            }
            results *= size as isize;
            rows *= size;
        }
    }
    let last = job.reduced[kept..].iter().all(|&gone| gone);
    (last && rows <= ROWS && columns <= BLOCK).then_some([rows, columns])
}

#[cfg(test)]
mod tests {
    use nomina_core::DType;
    use nomina_core::op::Op;

    use super::super::tests::sample;
    use crate::call::{ReduceOptions, arg_position, arg_reduce, reduce};
    use crate::raw::Raw;

    fn bits(raw: &Raw) -> Vec<String> {
        raw.scalars().map(|x| format!("{x:?}")).collect()
    }

    /// Returns the same elements with a stride of two, which the driver gathers.
    fn gapped(x: &Raw) -> Raw {
        let shape: Vec<usize> = x.shape().iter().copied().chain([2]).collect();
        let mut wide = Raw::zeros("zeros", &shape, x.dtype(), x.device()).unwrap();
        let rank = x.rank();
        let part = wide.as_mut().unwrap().select(rank, 1).unwrap();
        crate::call::copy_into(part, x).unwrap();
        wide.select(rank, 1).unwrap()
    }

    #[test]
    fn short_rows_are_the_drivers_to_the_bit() {
        let shapes: &[&[usize]] = &[
            &[4, 4],
            &[1, 1],
            &[3, 1, 5],
            &[64, 17],
            &[2, 3, 40],
            &[5, 1000],
            &[1, 4096],
        ];
        let ops = [
            Op::Sum,
            Op::Mean,
            Op::Prod,
            Op::Amax,
            Op::Var,
            Op::Logsumexp,
            Op::Nansum,
            Op::CountNonzero,
        ];
        for shape in if cfg!(miri) { &shapes[..3] } else { shapes } {
            for dtype in [DType::F32, DType::F64] {
                let x = sample(shape, dtype, 3);
                let far = gapped(&x);
                let last = shape.len() - 1;
                let all: Vec<usize> = (0..shape.len()).collect();
                for op in ops {
                    for dims in [&[last][..], &all] {
                        let of = |x: &Raw| reduce(op, x, dims, false, ReduceOptions::default());
                        let (near, far) = (of(&x).unwrap(), of(&far).unwrap());
                        assert_eq!(bits(&near), bits(&far), "{op:?} of {shape:?} over {dims:?}");
                    }
                }
                let [near, far] = [&x, &far].map(|x| arg_reduce(Op::Max, x, last, true).unwrap());
                assert_eq!((bits(&near.0), bits(&near.1)), (bits(&far.0), bits(&far.1)));
                let at = |x: &Raw| arg_position(Op::Argmin, x, None, false).unwrap();
                assert_eq!(bits(&at(&x)), bits(&at(&gapped(&x))));
            }
        }
    }
}
