//! Order along a dim: sorting, selection, the most frequent element, running extremes.
//!
//! Elements are bits here: a [`Kind`] maps them to unsigned keys in the order of the dtype, NaN
//! last. A key and the position it came from make one number ([`Packed`]), so that sorting is
//! stable whatever the algorithm, and one algorithm serves all dtypes.

mod few;
mod key;
mod line;
mod lines;
mod packed;
mod rows;
mod search;
#[cfg(test)]
mod tests;
mod top;

use nomina_core::DType;

pub(crate) use key::Kind;
pub(crate) use lines::execute;
pub(crate) use rows::{Rows, groups};
pub(crate) use search::{Search, search};

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

/// Calls `$f` with the type of the bits of a dtype, and their kind.
macro_rules! by_bits {
    ($dtype:expr, $b:ident, $kind:ident => $body:expr) => {
        match $crate::cpu::sort::Kind::of($dtype) {
            (1, $kind) => {
                type $b = u8;
                $body
            }
            (2, $kind) => {
                type $b = u16;
                $body
            }
            (4, $kind) => {
                type $b = u32;
                $body
            }
            (_, $kind) => {
                type $b = u64;
                $body
            }
        }
    };
}
pub(crate) use by_bits;
