//! Operations whose work or number of results depends on the values of elements.

use nomina_core::{DType, Result};

use super::histogram::{of_floats, of_integers, of_weights};
use super::quantile::{self, of_lines};
use super::sort::{groups, search};
use super::{Cpu, gather, index};
use crate::job::{
    BinJob, Binned, ContiguousRows, DataDependent, GroupJob, MaskJob, QuantileJob, Room, Search,
    SelectJob, Unchecked,
};
use crate::memory::NoMemory;

/// Returns a slice, or `None` if the address is null because the operand is absent.
///
/// # Safety
/// `len` elements are readable, or the address is null.
unsafe fn some<'a, T>(ptr: *const T, len: usize) -> Option<&'a [T]> {
    // SAFETY: guaranteed by the caller.
    (!ptr.is_null()).then(|| unsafe { std::slice::from_raw_parts(ptr, len) })
}

/// Copies a slice to `to`.
///
/// # Safety
/// There is room for `from` at `to`, which nobody else accesses.
unsafe fn store<T: Copy>(from: &[T], to: *mut T) {
    // SAFETY: guaranteed by the caller.
    unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
}

impl DataDependent for Cpu {
    unsafe fn indices(
        &self,
        index: *const i64,
        count: usize,
        as_what: &Unchecked,
        to: *mut i64,
    ) -> Result<()> {
        for i in 0..count {
            // SAFETY: guaranteed by the caller.
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
        // SAFETY: guaranteed by the caller.
        let mask = unsafe { some(job.mask, crate::shape::count(job.shape)) }.unwrap_or_default();
        let counts = gather::count(mask).map_err(missing)?;
        let out = room(counts.iter().sum())?;
        // SAFETY: guaranteed by the caller.
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
        // SAFETY: guaranteed by the caller.
        let mask = unsafe { some(job.mask, crate::shape::count(job.shape)) }.unwrap_or_default();
        let selection = index::Selection::new(mask, x, size, job.shape, strides);
        let counts = index::count(&selection).map_err(missing)?;
        let out = room(counts.iter().sum())?;
        // SAFETY: guaranteed by the caller.
        unsafe { index::scatter(&selection, &counts, out) }.map_err(missing)
    }

    unsafe fn search(&self, _: &'static str, job: &Search, out: *mut i64) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { search(job, out) };
        Ok(())
    }

    unsafe fn row_order(
        &self,
        op: &'static str,
        rows: ContiguousRows,
        out: *mut i64,
    ) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        let order = unsafe { rows.sorted() }.map_err(|error| error.in_op(op))?;
        // SAFETY: the output has one number per row.
        unsafe { store(&order, out) };
        Ok(())
    }

    unsafe fn row_starts(
        &self,
        op: &'static str,
        rows: ContiguousRows,
        order: *const i64,
        room: Room<'_, i64>,
    ) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        let starts = unsafe { rows.starts(some(order, rows.count)) };
        let starts = starts.map_err(|error| error.in_op(op))?;
        // SAFETY: the caller provides the room.
        unsafe { store(&starts, room(starts.len())?) };
        Ok(())
    }

    unsafe fn groups(&self, job: &GroupJob) -> Result<()> {
        // SAFETY: guaranteed by the caller.
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
        // SAFETY: guaranteed by the caller, here and below: elements of the job's dtype.
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
        // SAFETY: the output has one count per bin.
        unsafe { store(&counts, job.out.cast()) };
        Ok(())
    }

    unsafe fn quantiles(&self, job: &QuantileJob) -> Result<()> {
        macro_rules! of {
            ($t:ty) => {{
                // SAFETY: guaranteed by the caller: elements of the job's dtype.
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

    unsafe fn select_quantiles(&self, job: &SelectJob<'_>) -> Result<bool> {
        // SAFETY: guaranteed by the caller: elements of the job's dtype.
        let done = unsafe {
            match job.dtype {
                DType::F64 => quantile::execute::<f64>(job),
                _ => quantile::execute::<f32>(job),
            }
        };
        done.map_err(|error| error.in_op(job.op))?;
        Ok(true)
    }
}
