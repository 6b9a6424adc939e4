//! Operands turned before the crate `gemm` reads them.

use nomina_core::DType;

use super::kind::{Kind, Part};
use super::share::{Writable, room, share};
use crate::job::Matrix;
use crate::memory::{Block, NoMemory};

/// Columns of a matrix that lie side by side as a copy whose rows do, or nothing for others.
///
/// # Safety
/// The matrix has so many rows and columns; the processor has the instructions of the kind.
pub(super) unsafe fn turned<K: Kind>(
    b: Matrix,
    [rows, cols]: [usize; 2],
    dtype: DType,
    parallel: bool,
) -> Result<Option<(Block, Matrix)>, NoMemory> {
    if b.rows != 1 || K::AS_IS != Some(dtype) {
        return Ok(None);
    }
    let block = room([rows, cols, dtype.size()])?;
    let to = Writable(block.as_ptr().as_ptr().cast::<K::Unit>());
    // As many rows as a line of each column has.
    let high = 4 * K::LANES;
    let strip = |strip: usize| {
        let from = strip * high;
        let part = Part {
            ptr: b.at::<K::Unit>(from, 0).cast_const().cast(),
            dtype,
            steps: high.min(rows - from),
            step: 1,
            others: cols,
            other: b.cols,
        };
        // SAFETY: the strip's rows of the copy.
        unsafe { K::pack(part, to.get().add(from * cols), cols) }
    };
    let strips = rows.div_ceil(high);
    if parallel {
        share(strips, &strip)?;
    } else {
        (0..strips).try_for_each(strip)?;
    }
    let copy = Matrix {
        ptr: block.as_ptr().as_ptr(),
        rows: cols as isize,
        cols: 1,
    };
    Ok(Some((block, copy)))
}
