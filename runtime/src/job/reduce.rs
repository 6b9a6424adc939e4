//! Reductions and scans along dims.

use nomina_core::DType;
use nomina_core::op::{Op, class};

/// The kind of a reduction's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reducing {
    /// A number computed from all elements.
    Values(class::Reduce),
    /// The position of an element, and the element itself if it is wanted.
    Positions(class::ArgReduce),
}

/// A reduction's description for a backend: sizes, strides, addresses.
pub(crate) struct ReduceJob<'a> {
    /// The operator that was called.
    pub op: Op,
    pub by: Reducing,
    /// The dtype that elements are converted to.
    pub compute: DType,
    /// The correction of `var` and `std`, or the degree of `norm`.
    pub number: f64,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: *const u8,
    pub dtype: DType,
    /// Whether each dim is reduced.
    pub reduced: &'a [bool],
    /// The strides of the results, one per dim of `x`.
    pub out: &'a [isize],
    /// Null if only positions are wanted.
    pub values: *mut u8,
    pub values_dtype: DType,
    /// Null unless positions are wanted.
    pub positions: *mut i64,
}

/// A scan's description for a backend. The shape has at least one dim and no size 0.
pub(crate) struct ScanJob<'a> {
    pub op: class::Scan,
    /// The dtype that elements are converted to.
    pub compute: DType,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: *const u8,
    pub dtype: DType,
    pub dim: usize,
    pub out: *mut u8,
    pub out_strides: &'a [isize],
    pub out_dtype: DType,
}
