//! Operations whose work, or number of results, depends on the values of elements.

use nomina_core::{DType, Result};

use super::{ContiguousRows, Search, Unchecked};

/// The elements selected by a mask, in row-major order.
pub(crate) struct MaskJob<'a> {
    pub(crate) op: &'static str,
    pub(crate) mask: *const bool,
    pub(crate) shape: &'a [usize],
}

/// Groups of equal adjacent rows, in an order.
pub(crate) struct GroupJob {
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub(crate) op: &'static str,
    /// The start of each group, ascending, and the number of groups.
    pub(crate) starts: *const i64,
    pub(crate) groups: usize,
    /// The row numbers in the order; null for the original order.
    pub(crate) order: *const i64,
    pub(crate) count: usize,
    /// For each row, its group; for each group, its size.
    pub(crate) inverse: *mut i64,
    pub(crate) counts: *mut i64,
}

/// The operands of a binning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Binned {
    /// Integers from 0 to below the number of bins, counted as i64.
    Integers,
    /// Such integers with weights, which are summed; both f64.
    Weights(*const f64),
    /// Floats between two ends, counted as i64.
    Floats(f64, f64),
}

/// Counting into bins.
pub(crate) struct BinJob {
    pub(crate) op: &'static str,
    /// The dtype of `x`: i64, or f32 or f64 for floats.
    pub(crate) dtype: DType,
    pub(crate) x: *const u8,
    pub(crate) count: usize,
    pub(crate) bins: usize,
    pub(crate) what: Binned,
    pub(crate) out: *mut u8,
}

/// Quantiles of sorted lines.
pub(crate) struct QuantileJob {
    pub(crate) op: &'static str,
    /// The dtype of all operands: f32 or f64.
    pub(crate) dtype: DType,
    pub(crate) sorted: *const u8,
    pub(crate) q: *const u8,
    /// The number of quantiles, of lines, and of elements per line.
    pub(crate) count: usize,
    pub(crate) lines: usize,
    pub(crate) len: usize,
    pub(crate) ignore_nan: bool,
    pub(crate) by: Interpolation,
    pub(crate) out: *mut u8,
}

/// Quantiles of lines along a dim, in any order.
pub(crate) struct SelectJob<'a> {
    pub(crate) op: &'static str,
    /// The dtype of all operands: f32 or f64.
    pub(crate) dtype: DType,
    /// The sizes of the operand, none of them 0.
    pub(crate) shape: &'a [usize],
    pub(crate) strides: &'a [isize],
    pub(crate) x: *const u8,
    pub(crate) dim: usize,
    pub(crate) q: *const u8,
    /// The number of quantiles.
    pub(crate) count: usize,
    pub(crate) ignore_nan: bool,
    pub(crate) by: Interpolation,
    /// The results: for each quantile, one of each line in row-major order.
    pub(crate) out: *mut u8,
}

/// Returns the address of results, once their number is known.
pub(crate) type Room<'a, T> = &'a mut dyn FnMut(usize) -> Result<*mut T>;

/// The part of a backend whose results depend on the elements' values.
///
/// The caller of an unsafe method guarantees that operands and results are where the job says, on this device, and that
/// the results are not accessed elsewhere meanwhile.
pub(crate) trait DataDependent: Sync {
    /// Writes `count` numbers of an index, with negative ones counted from the end.
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

    /// Writes the indices of the elements where a mask holds: a row for each, with one number for each dim.
    ///
    /// # Safety
    /// See [`DataDependent`]; `room` has space for that many rows.
    unsafe fn nonzero(&self, job: &MaskJob<'_>, room: Room<'_, i64>) -> Result<()>;

    /// Writes the elements, of `size` bytes, of a tensor with these strides where a mask holds.
    ///
    /// # Safety
    /// See [`DataDependent`]; `room` has space for that many elements.
    unsafe fn masked_select(
        &self,
        job: &MaskJob<'_>,
        x: *const u8,
        size: usize,
        strides: &[isize],
        room: Room<'_, u8>,
    ) -> Result<()>;

    /// Writes the position of each value in its sequence.
    ///
    /// # Safety
    /// See [`DataDependent`]. On the host, the numbers of a sorter are positions of the sequence.
    unsafe fn search(&self, op: &'static str, job: &Search, out: *mut i64) -> Result<()>;

    /// Writes the row numbers in the order of their elements; the sort is stable.
    ///
    /// # Safety
    /// See [`DataDependent`].
    unsafe fn row_order(&self, op: &'static str, rows: ContiguousRows, out: *mut i64)
    -> Result<()>;

    /// Writes the positions, in the given or the original order of rows, of rows that differ from the previous one. A
    /// row with a NaN differs from all.
    ///
    /// # Safety
    /// See [`DataDependent`]; `order` is null or has a number for each row.
    unsafe fn row_starts(
        &self,
        op: &'static str,
        rows: ContiguousRows,
        order: *const i64,
        room: Room<'_, i64>,
    ) -> Result<()>;

    /// Writes the group of each row, and the size of each group.
    ///
    /// # Safety
    /// See [`DataDependent`].
    unsafe fn groups(&self, job: &GroupJob) -> Result<()>;

    /// Counts into bins.
    ///
    /// # Safety
    /// See [`DataDependent`]; integers are valid bins.
    unsafe fn bins(&self, job: &BinJob) -> Result<()>;

    /// Writes quantiles: for one quantile after the other, the result of each line.
    ///
    /// # Safety
    /// See [`DataDependent`]; no line is empty.
    unsafe fn quantiles(&self, job: &QuantileJob) -> Result<()>;

    /// Writes quantiles of lines that are not sorted, and returns true; or does nothing and returns false, if lines are to
    /// be sorted first.
    ///
    /// # Safety
    /// See [`DataDependent`]; no line is empty.
    unsafe fn select_quantiles(&self, job: &SelectJob<'_>) -> Result<bool>;
}

/// The interpolation of a quantile between two elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Linear.
    #[default]
    Linear,
    /// The lower element.
    Lower,
    /// The higher element.
    Higher,
    /// The midpoint of both.
    Midpoint,
    /// The nearer element; the even position in case of a tie.
    Nearest,
}
