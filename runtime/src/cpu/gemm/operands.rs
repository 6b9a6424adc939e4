//! Parts of the matrices of a product by tiles.

use std::ops::Range;

use nomina_core::Element;

use super::engine::TiledProduct;
use super::epilogue::Epilogue;
use super::kind::Kind;
use super::pack::Part;
use crate::cpu::cast::Cast;
use crate::job::Matrix;
use crate::memory::NoMemory;

impl<K: Kind> TiledProduct<'_, K> {
    /// Reads the addend into a scratch (`read`), or writes the scratch to the result and applies the
    /// epilogue to each row.
    ///
    /// # Safety
    /// The scratch has the rows and columns.
    pub(super) unsafe fn exchange(
        &self,
        rows: &Range<usize>,
        cols: &Range<usize>,
        wide: *mut K::Elem,
        read: bool,
    ) {
        let p = self.p;
        let matrix = if read { p.addend.unwrap_or(p.c) } else { p.c };
        let n = cols.len();
        let (from, to) = if read {
            (self.result(), K::Elem::DTYPE)
        } else {
            (K::Elem::DTYPE, self.result())
        };
        let (cast, size) = (Cast::new(from, to), self.result().size() as isize);
        let after = Epilogue::new(p).filter(|_| !read);
        for row in rows.clone() {
            let outside = matrix.ptr.wrapping_offset(
                (row as isize * matrix.rows + cols.start as isize * matrix.cols) * size,
            );
            let inside = wide.wrapping_add((row - rows.start) * n).cast::<u8>();
            let step = size_of::<K::Elem>() as isize;
            // SAFETY: a row of the part and one of the scratch.
            unsafe {
                if read {
                    cast.run(n, outside, matrix.cols * size, inside, step);
                } else {
                    cast.run(n, inside, step, outside, matrix.cols * size);
                    if let Some(after) = after {
                        // One row of `n` adjacent elements, or `n` rows of one element.
                        let (rows, cols) = if matrix.cols == 1 { (1, n) } else { (n, 1) };
                        after.rows(outside, matrix.cols, rows, cols);
                    }
                }
            }
        }
    }

    /// Packs columns of the right operand. `depth` counts units.
    ///
    /// # Safety
    /// The requirements of [`Kind::pack`].
    pub(super) unsafe fn pack_right(
        &self,
        depth: Range<usize>,
        first: usize,
        cols: usize,
        to: *mut K::Unit,
    ) -> Result<(), NoMemory> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self.lowered {
                Some(lowered) => {
                    lowered.write(depth, first..first + cols, to.cast(), Self::WIDTH);
                    Ok(())
                }
                None => K::pack(self.part(self.p.b.t(), depth, first, cols), to, Self::WIDTH),
            }
        }
    }

    /// Packs rows of the left operand.
    ///
    /// # Safety
    /// The requirements of [`Kind::pack`] for each [`Kind::ROWS`] rows, which are [`TiledProduct::apart`]
    /// units apart.
    pub(super) unsafe fn pack_left(
        &self,
        rows: Range<usize>,
        depth: Range<usize>,
        to: *mut K::Unit,
    ) -> Result<(), NoMemory> {
        for row in rows.clone().step_by(K::ROWS) {
            let to = to.wrapping_add((row - rows.start) * Self::apart(depth.len()));
            let high = K::ROWS.min(rows.end - row);
            let part = self.part(self.p.a, depth.clone(), row, high);
            // SAFETY: guaranteed by the caller.
            unsafe { K::pack(part, to, K::ROWS)? };
        }
        Ok(())
    }

    fn part(&self, matrix: Matrix, depth: Range<usize>, first: usize, others: usize) -> Part {
        let from = depth.start * K::STEPS;
        let offset = first as isize * matrix.rows + from as isize * matrix.cols;
        Part {
            ptr: matrix
                .ptr
                .wrapping_offset(offset * self.p.dtype.size() as isize),
            dtype: self.p.dtype,
            steps: (depth.end * K::STEPS).min(self.p.k) - from,
            step: matrix.cols,
            others,
            other: matrix.rows,
        }
    }
}
