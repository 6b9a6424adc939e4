//! What moves elements by what other elements say, and how many results there are may depend on it.
//!
//! Addresses are those of contiguous operands unless strides are given.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::Cpu;
use crate::call::{Interpolation, of_lines};
use crate::cpu::histogram::{of_floats, of_integers, of_weights};
use crate::cpu::sort::{Rows, Search, groups, search};
use crate::cpu::{gather, index};
use crate::memory::NoMemory;
use crate::shape::Shape;

/// What an index is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// A dim of the first operand; negative indices count from its end.
    Dim(usize),
    /// Classes, from 0 on.
    Classes,
    /// The elements of a shape; negative positions count from the end.
    Elements,
}

/// An index that nobody has checked yet: a device does so while it uses it.
#[derive(Clone, Debug)]
pub(crate) struct Unchecked {
    pub(crate) op: Op,
    pub(crate) counted: Counted,
    /// How many there are of what it counts.
    pub(crate) size: usize,
    /// The shapes of what is indexed and of the index.
    pub(crate) shapes: [Shape; 2],
}

impl Unchecked {
    /// Whether negative ones count from the end.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub(crate) fn wraps(&self) -> bool {
        self.counted != Counted::Classes
    }

    /// The error of an index that is out of range.
    #[cold]
    pub(crate) fn error(&self, wrong: i64) -> Error {
        let size = self.size;
        let what = match self.counted {
            Counted::Dim(_) => format!("index {wrong} is out of range for size {size}"),
            Counted::Classes => format!("index {wrong} is out of range for {size} classes"),
            Counted::Elements => {
                let shape = &self.shapes[0];
                format!("position {wrong} is out of range for {size} elements of {shape:?}")
            }
        };
        let error = Error::new(ErrorKind::Index, self.op.name(), what);
        let shapes = match self.counted {
            Counted::Dim(_) => &self.shapes[..],
            _ => &self.shapes[1..],
        };
        let error = shapes.iter().fold(error, |error, shape| {
            error.operand(&Names::default(), shape)
        });
        match self.counted {
            Counted::Dim(dim) => error.at(0, dim).hint(match size {
                0 => "the dim has no elements".to_owned(),
                _ => format!("indices go from -{size} to {}", size - 1),
            }),
            Counted::Classes => error.hint("indices go from 0 to below the number of classes"),
            Counted::Elements => error.hint("positions count the elements in row-major order"),
        }
    }
}

/// Elements where a mask holds, in row-major order.
pub(crate) struct MaskJob<'a> {
    pub(crate) op: &'static str,
    pub(crate) mask: *const bool,
    pub(crate) shape: &'a [usize],
}

/// Equal rows next to each other, in an order.
pub(crate) struct GroupJob {
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub(crate) op: &'static str,
    /// Where each group begins, ascending, and how many there are.
    pub(crate) starts: *const i64,
    pub(crate) groups: usize,
    /// The rows' numbers in their order; null where they stand so.
    pub(crate) order: *const i64,
    pub(crate) count: usize,
    /// For each row, its group; for each group, how many it has.
    pub(crate) inverse: *mut i64,
    pub(crate) counts: *mut i64,
}

/// What falls into bins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Binned {
    /// Whole numbers from 0 to below the number of bins, counted as i64.
    Integers,
    /// The weights of such numbers, added up; f64 both.
    Weights(*const f64),
    /// Floats between two ends, counted as i64.
    Floats(f64, f64),
}

/// Counting into bins.
pub(crate) struct BinJob {
    pub(crate) op: &'static str,
    /// i64, or f32 or f64 for floats.
    pub(crate) dtype: DType,
    pub(crate) x: *const u8,
    pub(crate) count: usize,
    pub(crate) bins: usize,
    pub(crate) what: Binned,
    pub(crate) out: *mut u8,
}

/// Quantiles of lines in order.
pub(crate) struct QuantileJob {
    pub(crate) op: &'static str,
    /// f32 or f64, of all operands.
    pub(crate) dtype: DType,
    pub(crate) sorted: *const u8,
    pub(crate) q: *const u8,
    /// How many quantiles, of how many lines, each of how many elements.
    pub(crate) count: usize,
    pub(crate) lines: usize,
    pub(crate) len: usize,
    pub(crate) ignore_nan: bool,
    pub(crate) by: Interpolation,
    pub(crate) out: *mut u8,
}

/// Gives the place of results when it is known how many there are.
pub(crate) type Room<'a, T> = &'a mut dyn FnMut(usize) -> Result<*mut T>;

/// The part of a backend whose results depend on the elements' values.
///
/// Unsafe methods trust their caller that operands and results lie where a job says, on this device,
/// and that nobody else uses the results meanwhile.
pub(crate) trait Moves: Sync {
    /// Writes `count` numbers of an index, negative ones counted from the end.
    ///
    /// # Safety
    /// See [`Moves`]. On the host, indices were checked.
    unsafe fn indices(
        &self,
        index: *const i64,
        count: usize,
        as_what: &Unchecked,
        to: *mut i64,
    ) -> Result<()>;

    /// Writes the indices of the elements where a mask holds: a row for each, of one number for each
    /// dim.
    ///
    /// # Safety
    /// See [`Moves`]; `room` has space for so many rows.
    unsafe fn nonzero(&self, job: &MaskJob<'_>, room: Room<'_, i64>) -> Result<()>;

    /// Writes the elements, of `size` bytes, of a tensor with these strides where a mask holds.
    ///
    /// # Safety
    /// See [`Moves`]; `room` has space for so many elements.
    unsafe fn masked_select(
        &self,
        job: &MaskJob<'_>,
        x: *const u8,
        size: usize,
        strides: &[isize],
        room: Room<'_, u8>,
    ) -> Result<()>;

    /// Writes the place of each value in its sequence.
    ///
    /// # Safety
    /// See [`Moves`]. On the host, numbers of a sorter lie within a sequence.
    unsafe fn search(&self, op: &'static str, job: &Search, out: *mut i64) -> Result<()>;

    /// Writes the rows' numbers in the order of their elements, equal ones as they stand.
    ///
    /// # Safety
    /// See [`Moves`].
    unsafe fn row_order(&self, op: &'static str, rows: Rows, out: *mut i64) -> Result<()>;

    /// Writes where, in an order of rows or as they stand, each one begins that differs from the one
    /// before. A row with a NaN differs from all.
    ///
    /// # Safety
    /// See [`Moves`]; `order` is null or has a number for each row.
    unsafe fn row_starts(
        &self,
        op: &'static str,
        rows: Rows,
        order: *const i64,
        room: Room<'_, i64>,
    ) -> Result<()>;

    /// Writes which group each row belongs to, and how many each group has.
    ///
    /// # Safety
    /// See [`Moves`].
    unsafe fn groups(&self, job: &GroupJob) -> Result<()>;

    /// Counts into bins.
    ///
    /// # Safety
    /// See [`Moves`]; integers are those of bins.
    unsafe fn bins(&self, job: &BinJob) -> Result<()>;

    /// Writes quantiles: a line's for each, one quantile after the other.
    ///
    /// # Safety
    /// See [`Moves`]; no line is empty.
    unsafe fn quantiles(&self, job: &QuantileJob) -> Result<()>;
}

/// # Safety
/// `len` elements lie there, or the address is null, which stands for none asked for.
unsafe fn some<'a, T>(ptr: *const T, len: usize) -> Option<&'a [T]> {
    // SAFETY: the caller's promise.
    (!ptr.is_null()).then(|| unsafe { std::slice::from_raw_parts(ptr, len) })
}

/// # Safety
/// `from` fits in `to`, which nobody else uses.
unsafe fn store<T: Copy>(from: &[T], to: *mut T) {
    // SAFETY: the caller's promise.
    unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
}

impl Moves for Cpu {
    unsafe fn indices(
        &self,
        index: *const i64,
        count: usize,
        as_what: &Unchecked,
        to: *mut i64,
    ) -> Result<()> {
        for i in 0..count {
            // SAFETY: the caller's promise.
            unsafe {
                let at = index.add(i).read();
                let at = if at < 0 { at + as_what.size as i64 } else { at };
                to.add(i).write(at);
            }
        }
        Ok(())
    }

    unsafe fn nonzero(&self, job: &MaskJob<'_>, room: Room<'_, i64>) -> Result<()> {
        let missing = |error: NoMemory| error.in_op(job.op);
        // SAFETY: the caller's promise.
        let mask = unsafe { some(job.mask, crate::shape::count(job.shape)) }.unwrap_or_default();
        let counts = gather::count(mask).map_err(missing)?;
        let out = room(counts.iter().sum())?;
        // SAFETY: the caller's promise.
        unsafe { gather::positions(mask, &counts, job.shape, out) }.map_err(missing)
    }

    unsafe fn masked_select(
        &self,
        job: &MaskJob<'_>,
        x: *const u8,
        size: usize,
        strides: &[isize],
        room: Room<'_, u8>,
    ) -> Result<()> {
        let missing = |error: NoMemory| error.in_op(job.op);
        // SAFETY: the caller's promise.
        let mask = unsafe { some(job.mask, crate::shape::count(job.shape)) }.unwrap_or_default();
        let selection = index::Selection::new(mask, x, size, job.shape, strides);
        let counts = index::count(&selection).map_err(missing)?;
        let out = room(counts.iter().sum())?;
        // SAFETY: the caller's promise.
        unsafe { index::scatter(&selection, &counts, out) }.map_err(missing)
    }

    unsafe fn search(&self, _: &'static str, job: &Search, out: *mut i64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { search(job, out) };
        Ok(())
    }

    unsafe fn row_order(&self, op: &'static str, rows: Rows, out: *mut i64) -> Result<()> {
        // SAFETY: the caller's promise.
        let order = unsafe { rows.sorted() }.map_err(|error| error.in_op(op))?;
        // SAFETY: a number for each row.
        unsafe { store(&order, out) };
        Ok(())
    }

    unsafe fn row_starts(
        &self,
        op: &'static str,
        rows: Rows,
        order: *const i64,
        room: Room<'_, i64>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let starts = unsafe { rows.starts(some(order, rows.count)) };
        let starts = starts.map_err(|error| error.in_op(op))?;
        // SAFETY: the caller's promise of room.
        unsafe { store(&starts, room(starts.len())?) };
        Ok(())
    }

    unsafe fn groups(&self, job: &GroupJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            let starts = std::slice::from_raw_parts(job.starts, job.groups);
            let order = some(job.order, job.count);
            let inverse = std::slice::from_raw_parts_mut(job.inverse, job.count);
            let counts = std::slice::from_raw_parts_mut(job.counts, job.groups);
            groups(starts, order, inverse, counts);
        }
        Ok(())
    }

    unsafe fn bins(&self, job: &BinJob) -> Result<()> {
        let (n, bins) = (job.count, job.bins);
        // SAFETY: the caller's promise, here and below: elements of the job's dtype.
        let counts = unsafe {
            match (job.what, job.dtype) {
                (Binned::Weights(weights), _) => {
                    let x = std::slice::from_raw_parts(job.x.cast(), n);
                    let weights = std::slice::from_raw_parts(weights, n);
                    let sums = of_weights(x, weights, bins).map_err(|e| e.in_op(job.op))?;
                    store(&sums, job.out.cast());
                    return Ok(());
                }
                (Binned::Integers, _) => {
                    of_integers(std::slice::from_raw_parts(job.x.cast(), n), bins)
                }
                (Binned::Floats(low, high), DType::F64) => {
                    let x = std::slice::from_raw_parts(job.x.cast::<f64>(), n);
                    of_floats(x, low, high, bins)
                }
                (Binned::Floats(low, high), _) => {
                    let x = std::slice::from_raw_parts(job.x.cast::<f32>(), n);
                    of_floats(x, low as f32, high as f32, bins)
                }
            }
        };
        let counts = counts.map_err(|error| error.in_op(job.op))?;
        // SAFETY: a count for each bin.
        unsafe { store(&counts, job.out.cast()) };
        Ok(())
    }

    unsafe fn quantiles(&self, job: &QuantileJob) -> Result<()> {
        macro_rules! of {
            ($t:ty) => {{
                // SAFETY: the caller's promise: elements of the job's dtype.
                unsafe {
                    let all = job.sorted.cast::<$t>();
                    let all = std::slice::from_raw_parts(
                        all,
                        crate::shape::product([job.len, job.lines]),
                    );
                    let q = std::slice::from_raw_parts(job.q.cast::<$t>(), job.count);
                    let found = of_lines(all, q, job.len, job.lines, job.ignore_nan, job.by);
                    store(&found.map_err(|e| e.in_op(job.op))?, job.out.cast());
                }
            }};
        }
        match job.dtype {
            DType::F64 => of!(f64),
            _ => of!(f32),
        }
        Ok(())
    }
}
