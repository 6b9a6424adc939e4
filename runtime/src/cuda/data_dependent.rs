//! The CUDA backend for operators whose result sizes depend on values.

use nomina_core::Result;

use super::gather::{Bounded, bound};
use super::{Cuda, count, search, select};
use crate::job::{
    BinJob, ContiguousRows, DataDependent, GroupJob, MaskJob, QuantileJob, Room, Search, SelectJob,
    Unchecked,
};

impl DataDependent for Cuda {
    unsafe fn indices(
        &self,
        index: *const i64,
        count: usize,
        as_what: &Unchecked,
        to: *mut i64,
    ) -> Result<()> {
        let (op, dims) = (as_what.op.name(), [(count, [8])].into_iter().collect());
        let to = Bounded::Indices(to);
        // SAFETY: the caller's promise. Kernels support one dim, so the result is true.
        unsafe { bound(self, op, index, &dims, Some(as_what), to, [0, 0])? };
        Ok(())
    }

    unsafe fn nonzero(&self, job: &MaskJob<'_>, room: Room<'_, i64>) -> Result<()> {
        // SAFETY: the caller's promise, here and below.
        unsafe { select::nonzero(self, job, room) }
    }

    unsafe fn masked_select(
        &self,
        job: &MaskJob<'_>,
        x: *const u8,
        size: usize,
        strides: &[isize],
        room: Room<'_, u8>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { select::masked_select(self, job, x, size, strides, room) }
    }

    unsafe fn search(&self, op: &'static str, job: &Search, out: *mut i64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { search::search(self, op, job, out) }
    }

    unsafe fn row_order(
        &self,
        op: &'static str,
        rows: ContiguousRows,
        out: *mut i64,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { search::row_order(self, op, rows, out) }
    }

    unsafe fn row_starts(
        &self,
        op: &'static str,
        rows: ContiguousRows,
        order: *const i64,
        room: Room<'_, i64>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { search::row_starts(self, op, rows, order, room) }
    }

    unsafe fn groups(&self, job: &GroupJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { search::groups(self, job) }
    }

    unsafe fn bins(&self, job: &BinJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { count::bins(self, job) }
    }

    unsafe fn quantiles(&self, job: &QuantileJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { count::quantiles(self, job) }
    }

    unsafe fn select_quantiles(&self, _: &SelectJob<'_>) -> Result<bool> {
        Ok(false)
    }
}
