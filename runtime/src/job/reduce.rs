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

/// The parts of a dim, each of which is reduced to one element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DimParts<'a> {
    /// Groups: the positions, one group after the other, and the end of each group among them. There is at least one.
    Groups {
        order: &'a [usize],
        ends: &'a [usize],
    },
    /// A window for each position: `size` positions from `left` before it on, as far as they are in the dim. If they have to
    /// be `whole`, others give NaN.
    Windows {
        size: usize,
        left: usize,
        whole: bool,
    },
}

/// A reduction of parts of a dim, for a backend.
pub(crate) struct PartsJob<'a> {
    /// The operator that was called.
    pub op: Op,
    pub by: class::Reduce,
    /// Whether extremes skip NaN; other reductions do so by themselves.
    pub skips_nan: bool,
    /// The dtype that elements are converted to.
    pub compute: DType,
    /// The correction of `var` and `std`.
    pub number: f64,
    /// The sizes of the operand, none of them 0.
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: *const u8,
    pub dtype: DType,
    /// The dim that is divided.
    pub dim: usize,
    pub parts: DimParts<'a>,
    /// The strides of the results, one per dim of `x`; that of the divided dim is from part to part.
    pub out: &'a [isize],
    pub values: *mut u8,
    pub values_dtype: DType,
}

/// The result of a reduction of pairs of elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pairing {
    /// The correlation.
    Correlation,
    /// The covariance, with a number that is subtracted from the count.
    Covariance(f64),
    /// The mean of the first operand, weighted by the second; NaN where weights sum to zero.
    WeightedMean,
}

/// A reduction of pairs of elements of two operands, for a backend.
pub(crate) struct PairJob<'a> {
    /// The operator that was called.
    pub op: Op,
    pub by: Pairing,
    /// Whether pairs with NaN are skipped; a weight that is NaN counts.
    pub skips_nan: bool,
    /// The dtype of both operands: f32 or f64.
    pub dtype: DType,
    /// The sizes of the first operand, none of them 0. It is row-major.
    pub shape: &'a [usize],
    pub x: *const u8,
    pub y: *const u8,
    pub y_strides: &'a [isize],
    /// Whether each dim is reduced.
    pub reduced: &'a [bool],
    /// The results, row-major.
    pub out: *mut f64,
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
