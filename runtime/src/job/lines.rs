//! Lines that are sorted, selected from, searched, or compared.

use nomina_core::DType;

/// The operation on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// All elements, sorted.
    Sort { descending: bool },
    /// The first `count` elements of the sorted line.
    Top { largest: bool },
    /// The element at this position of the sorted line.
    Nth(usize),
    /// The lower median; NaN if the line has any, unless they are ignored.
    Median { ignore_nan: bool },
    /// The most frequent element.
    Mode,
    /// The running maximum or minimum; of equal elements the last.
    Extreme { greatest: bool },
}

/// A line operation's description for a backend: sizes, strides, addresses. No size is 0.
pub(crate) struct LineJob<'a> {
    /// The operator that errors name.
    pub op: &'static str,
    pub task: Task,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: *const u8,
    pub dtype: DType,
    pub dim: usize,
    /// The number of results of a line.
    pub count: usize,
    /// Null if only positions are wanted; otherwise of the operand's dtype.
    pub values: *mut u8,
    /// Null if only values are wanted.
    pub positions: *mut i64,
    /// The strides of both results, one per dim of the operand.
    pub out_strides: &'a [isize],
}

/// Rows of a contiguous operand.
#[derive(Clone, Copy)]
pub(crate) struct ContiguousRows {
    pub x: *const u8,
    pub dtype: DType,
    pub count: usize,
    /// The number of elements of a row.
    pub len: usize,
}

// SAFETY: the operand is only read.
unsafe impl Send for ContiguousRows {}
// SAFETY: as above.
unsafe impl Sync for ContiguousRows {}

/// A binary search in contiguous operands.
pub(crate) struct Search {
    pub sequence: *const u8,
    pub values: *const u8,
    pub dtype: DType,
    /// The length of each sequence; one sequence for all values, or one for every `per_sequence`
    /// values.
    pub len: usize,
    pub per_sequence: Option<usize>,
    /// The sorting permutation of the sequences; null if they are sorted.
    pub sorter: *const i64,
    /// Whether the position is after equal numbers, rather than before them.
    pub right: bool,
    pub count: usize,
}

// SAFETY: the operands are only read.
unsafe impl Sync for Search {}
