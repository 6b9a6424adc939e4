//! Lines that are sorted, selected from, searched, or compared.

use nomina_core::DType;

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// All elements in order.
    Sort { descending: bool },
    /// The first so many of the sorted line.
    Top { largest: bool },
    /// The element that stands at this position of the sorted line.
    Nth(usize),
    /// The lower median; NaN if there is any, unless those are left out.
    Median { ignore_nan: bool },
    /// The most frequent element.
    Mode,
    /// The greatest element so far, or the smallest; of equal ones the last.
    Extreme { greatest: bool },
}

/// Lines of an operand, as a backend sees them: sizes, strides, addresses. No size is 0.
pub(crate) struct LineJob<'a> {
    /// Whose name an error bears.
    pub op: &'static str,
    pub task: Task,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: *const u8,
    pub dtype: DType,
    pub dim: usize,
    /// How many results a line has.
    pub count: usize,
    /// Null when only positions are asked for; otherwise of the operand's dtype.
    pub values: *mut u8,
    /// Null when only values are asked for.
    pub positions: *mut i64,
    /// The strides of both results, one per dim of the operand.
    pub out_strides: &'a [isize],
}

/// Rows of a contiguous operand.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub x: *const u8,
    pub dtype: DType,
    pub count: usize,
    /// How many elements a row has.
    pub len: usize,
}

// SAFETY: the operand is only read.
unsafe impl Send for Rows {}
// SAFETY: as above.
unsafe impl Sync for Rows {}

/// A search, of contiguous operands.
pub(crate) struct Search {
    pub sequence: *const u8,
    pub values: *const u8,
    pub dtype: DType,
    /// How many numbers each sequence has; one sequence, or one for every so many values.
    pub len: usize,
    pub per_sequence: Option<usize>,
    /// The order in which sequences are sorted; null if they are as they stand.
    pub sorter: *const i64,
    /// Whether after equal numbers, or before them.
    pub right: bool,
    pub count: usize,
}

// SAFETY: the operands are only read.
unsafe impl Sync for Search {}
