//! Reductions and scans along dims.

use nomina_core::DType;
use nomina_core::op::{Op, class};

/// What a backend computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reducing {
    /// A number of all elements.
    Values(class::Reduce),
    /// Where an element stands, with the element itself where it is asked for.
    Positions(class::ArgReduce),
}

/// A reduction as a backend sees it: sizes, strides, addresses.
pub(crate) struct ReduceJob<'a> {
    /// What was called.
    pub op: Op,
    pub by: Reducing,
    /// What elements are converted to.
    pub compute: DType,
    /// What `var` and `std` take off the count, or the degree of `norm`.
    pub number: f64,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: *const u8,
    pub dtype: DType,
    /// Which dims go.
    pub reduced: &'a [bool],
    /// The strides of the results, one per dim of `x`.
    pub out: &'a [isize],
    /// Null when only positions are asked for.
    pub values: *mut u8,
    pub values_dtype: DType,
    /// Null unless positions are asked for.
    pub positions: *mut i64,
}

/// A scan as a backend sees it. The shape has at least one dim and no size 0.
pub(crate) struct ScanJob<'a> {
    pub op: class::Scan,
    /// What elements are converted to.
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
