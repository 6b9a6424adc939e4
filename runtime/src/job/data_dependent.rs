//! Operations whose work, or number of results, depends on the values of elements.

use nomina_core::{DType, Result};

use super::{Rows, Search, Unchecked};

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
pub(crate) trait DataDependent: Sync {
    /// Writes `count` numbers of an index, negative ones counted from the end.
    ///
    /// # Safety
    /// See [`DataDependent`]. On the host, indices were checked.
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
    /// See [`DataDependent`]; `room` has space for so many rows.
    unsafe fn nonzero(&self, job: &MaskJob<'_>, room: Room<'_, i64>) -> Result<()>;

    /// Writes the elements, of `size` bytes, of a tensor with these strides where a mask holds.
    ///
    /// # Safety
    /// See [`DataDependent`]; `room` has space for so many elements.
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
    /// See [`DataDependent`]. On the host, numbers of a sorter lie within a sequence.
    unsafe fn search(&self, op: &'static str, job: &Search, out: *mut i64) -> Result<()>;

    /// Writes the rows' numbers in the order of their elements, equal ones as they stand.
    ///
    /// # Safety
    /// See [`DataDependent`].
    unsafe fn row_order(&self, op: &'static str, rows: Rows, out: *mut i64) -> Result<()>;

    /// Writes where, in an order of rows or as they stand, each one begins that differs from the one
    /// before. A row with a NaN differs from all.
    ///
    /// # Safety
    /// See [`DataDependent`]; `order` is null or has a number for each row.
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
    /// See [`DataDependent`].
    unsafe fn groups(&self, job: &GroupJob) -> Result<()>;

    /// Counts into bins.
    ///
    /// # Safety
    /// See [`DataDependent`]; integers are those of bins.
    unsafe fn bins(&self, job: &BinJob) -> Result<()>;

    /// Writes quantiles: a line's for each, one quantile after the other.
    ///
    /// # Safety
    /// See [`DataDependent`]; no line is empty.
    unsafe fn quantiles(&self, job: &QuantileJob) -> Result<()>;
}

/// How a quantile between two elements is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// In proportion to the distances.
    #[default]
    Linear,
    /// The lower of both.
    Lower,
    /// The higher of both.
    Higher,
    /// The middle of both.
    Midpoint,
    /// The nearer of both; the even one where both are as near.
    Nearest,
}
