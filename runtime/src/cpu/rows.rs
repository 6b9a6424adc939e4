//! Operands as rows: some dims say which row, the others lie along it.
//!
//! A row passes through a buffer in the dtype of the computation unless it lies there already, so
//! that no operand is converted or reordered as a whole.

use nomina_core::{DType, Element};

use super::cast::Cast;
use super::parallel::Shared;
use crate::SmallVec;
use crate::job::Place;

/// Which dims are which, and how many rows there are.
pub(crate) struct Rows {
    /// The sizes of the dims that say which row, outermost first.
    kept: SmallVec<[usize; 8]>,
    /// How many rows.
    pub(crate) count: usize,
    /// How many elements along a row.
    pub(crate) len: usize,
}

/// Where the rows of one operand lie. Strides are in bytes.
pub(crate) struct Lines {
    base: Shared,
    dtype: DType,
    kept: SmallVec<[isize; 8]>,
    /// Sizes and strides along a row, neighbours merged, innermost last; never none.
    along: SmallVec<[(usize, isize); 4]>,
}

impl Rows {
    /// The rows of a shape: `dims` lie along them, in this order.
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

    /// Where an operand of the shape has them.
    pub(crate) fn of(
        &self,
        place: Place,
        shape: &[usize],
        strides: &[isize],
        dims: &[usize],
    ) -> Lines {
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
        Lines {
            base: Shared(place.ptr),
            dtype: place.dtype,
            kept,
            along,
        }
    }

    /// The distance in bytes of a row from the first one.
    fn offset(&self, lines: &Lines, mut row: usize) -> isize {
        let mut offset = 0;
        for (&size, &stride) in self.kept.iter().zip(&lines.kept).rev() {
            offset += (row % size) as isize * stride;
            row /= size;
        }
        offset
    }

    /// The address of a row's first element.
    pub(crate) fn start(&self, lines: &Lines, row: usize) -> *mut u8 {
        lines.base.get().wrapping_offset(self.offset(lines, row))
    }

    /// The elements of a row: where they lie when they are dense and of this dtype, else in
    /// `buffer`, which has room for them.
    ///
    /// # Safety
    /// The row's elements are readable and nobody writes to them meanwhile.
    pub(crate) unsafe fn load<'a, T: Element>(
        &self,
        lines: &Lines,
        row: usize,
        buffer: &'a mut [T],
    ) -> &'a [T] {
        let start = self.start(lines, row);
        if lines.is_dense::<T>() {
            // SAFETY: dense elements of `T`, which the caller lets us read.
            return unsafe { std::slice::from_raw_parts(start.cast(), self.len) };
        }
        let cast = Cast::new(lines.dtype, T::DTYPE);
        let into = buffer.as_mut_ptr().cast::<u8>();
        lines.each(&mut |n, from, at, step| {
            // SAFETY: elements of the row, by the caller's promise; the buffer has room for all.
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
    /// The row's elements are writable, and nobody else reaches them meanwhile.
    pub(crate) unsafe fn store<T: Element>(&self, lines: &Lines, row: usize, from: &[T]) {
        let start = self.start(lines, row);
        let cast = Cast::new(T::DTYPE, lines.dtype);
        let source = from.as_ptr().cast::<u8>();
        lines.each(&mut |n, to, at, step| {
            // SAFETY: elements of the row, by the caller's promise.
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

impl Lines {
    /// Whether a row lies dense, in this dtype.
    pub(crate) fn is_dense<T: Element>(&self) -> bool {
        let [(_, step)] = self.along[..] else {
            return false;
        };
        self.dtype == T::DTYPE && (step == size_of::<T>() as isize || self.along[0].0 == 1)
    }

    /// Whether every row is the same one.
    pub(crate) fn is_constant(&self) -> bool {
        self.kept.iter().all(|&stride| stride == 0)
    }

    /// Calls `f` on each run along a row: its length, its distance in bytes from the row's start,
    /// its place among the row's elements, its step.
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
