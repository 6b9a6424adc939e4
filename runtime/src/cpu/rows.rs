//! Operands as rows: some dims enumerate the rows, the others run along them.
//!
//! A row is copied to a buffer in the dtype of the computation unless it already is contiguous and
//! has that dtype, so no operand is ever converted or reordered as a whole.

use nomina_core::{DType, Element};

use super::cast::Cast;
use super::parallel::Shared;
use crate::SmallVec;
use crate::job::Place;

/// The division of dims into those that enumerate rows and those along them, and the number of
/// rows.
pub(crate) struct RowDims {
    /// The sizes of the dims that enumerate rows, outermost first.
    kept: SmallVec<[usize; 8]>,
    /// The number of rows.
    pub(crate) count: usize,
    /// The number of elements of a row.
    pub(crate) len: usize,
}

/// The layout of one operand's rows. Strides are in bytes.
pub(crate) struct RowLayout {
    base: Shared,
    dtype: DType,
    kept: SmallVec<[isize; 8]>,
    /// Sizes and strides along a row, adjacent dims merged, innermost last; never empty.
    along: SmallVec<[(usize, isize); 4]>,
}

impl RowDims {
    /// Divides a shape into rows; `dims` run along them, in this order.
    pub(crate) fn new(shape: &[usize], dims: &[usize]) -> Self {
        let kept: SmallVec<[usize; 8]> = (0..shape.len())
            .filter(|dim| !dims.contains(dim))
            .map(|dim| shape[dim])
            .collect();
        Self {
            count: kept.iter().product(),
            len: dims.iter().map(|&dim| shape[dim]).product(),
            kept,
        }
    }

    /// Returns the layout of the rows in an operand of the shape.
    pub(crate) fn layout(
        &self,
        place: Place,
        shape: &[usize],
        strides: &[isize],
        dims: &[usize],
    ) -> RowLayout {
        let size = place.dtype.size() as isize;
        let kept = (0..shape.len())
            .filter(|dim| !dims.contains(dim))
            .map(|dim| strides[dim] * size)
            .collect();
        let mut along: SmallVec<[(usize, isize); 4]> = SmallVec::new();
        for &dim in dims.iter().filter(|&&dim| shape[dim] != 1) {
            let next = (shape[dim], strides[dim] * size);
            match along.last_mut() {
                Some(last) if last.1 == next.1 * next.0 as isize => {
                    *last = (last.0 * next.0, next.1);
                }
                _ => along.push(next),
            }
        }
        if along.is_empty() {
            along.push((1, size));
        }
        RowLayout {
            base: Shared(place.ptr),
            dtype: place.dtype,
            kept,
            along,
        }
    }

    /// Returns the offset of a row in bytes.
    fn offset(&self, lines: &RowLayout, mut row: usize) -> isize {
        let mut offset = 0;
        for (&size, &stride) in self.kept.iter().zip(&lines.kept).rev() {
            offset += (row % size) as isize * stride;
            row /= size;
        }
        offset
    }

    /// Returns the address of a row's first element.
    pub(crate) fn start(&self, lines: &RowLayout, row: usize) -> *mut u8 {
        lines.base.get().wrapping_offset(self.offset(lines, row))
    }

    /// Returns the elements of a row: in place if they are contiguous and have this dtype,
    /// otherwise copied to `buffer`, which has room for them.
    ///
    /// # Safety
    /// The row's elements are readable and nobody writes to them meanwhile.
    pub(crate) unsafe fn load<'a, T: Element>(
        &self,
        lines: &RowLayout,
        row: usize,
        buffer: &'a mut [T],
    ) -> &'a [T] {
        let start = self.start(lines, row);
        if lines.is_dense::<T>() {
            // SAFETY: contiguous elements of `T`, readable as the caller guarantees.
            return unsafe { std::slice::from_raw_parts(start.cast(), self.len) };
        }
        let cast = Cast::new(lines.dtype, T::DTYPE);
        let into = buffer.as_mut_ptr().cast::<u8>();
        lines.each(&mut |n, from, at, step| {
            // SAFETY: elements of the row, guaranteed by the caller; the buffer has room for all.
            unsafe {
                cast.run(
                    n,
                    start.wrapping_offset(from),
                    step,
                    into.add(at * size_of::<T>()),
                    size_of::<T>() as isize,
                );
            }
        });
        buffer
    }

    /// Writes a row.
    ///
    /// # Safety
    /// The row's elements are writable, and nobody else accesses them meanwhile.
    pub(crate) unsafe fn store<T: Element>(&self, lines: &RowLayout, row: usize, from: &[T]) {
        let start = self.start(lines, row);
        let cast = Cast::new(T::DTYPE, lines.dtype);
        let source = from.as_ptr().cast::<u8>();
        lines.each(&mut |n, to, at, step| {
            // SAFETY: elements of the row, guaranteed by the caller.
            unsafe {
                cast.run(
                    n,
                    source.add(at * size_of::<T>()),
                    size_of::<T>() as isize,
                    start.wrapping_offset(to),
                    step,
                );
            }
        });
    }
}

impl RowLayout {
    /// Returns whether rows are contiguous and have this dtype.
    pub(crate) fn is_dense<T: Element>(&self) -> bool {
        let [(_, step)] = self.along[..] else {
            return false;
        };
        self.dtype == T::DTYPE && (step == size_of::<T>() as isize || self.along[0].0 == 1)
    }

    /// Returns whether all rows are the same row.
    pub(crate) fn is_constant(&self) -> bool {
        self.kept.iter().all(|&stride| stride == 0)
    }

    /// Calls `f` on each run along a row: its length, its distance in bytes from the row's start,
    /// its index among the row's elements, its step.
    fn each(&self, f: &mut dyn FnMut(usize, isize, usize, isize)) {
        let Some((&(n, step), outer)) = self.along.split_last() else {
            return;
        };
        let runs: usize = outer.iter().map(|(size, _)| size).product();
        for run in 0..runs {
            let (mut left, mut offset) = (run, 0);
            for &(size, stride) in outer.iter().rev() {
                offset += (left % size) as isize * stride;
                left /= size;
            }
            f(n, offset, run * n, step);
        }
    }
}
