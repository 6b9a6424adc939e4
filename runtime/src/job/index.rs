//! Gathers and scatters.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names};

use super::Place;
use crate::plan::Plan;
use crate::shape::Shape;

/// The unit of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Positions along a dim of the first operand; negative indices count from its end.
    Dim(usize),
    /// Rows of a dim of the first operand, from 0 on.
    Rows(usize),
    /// Classes, from 0 on.
    Classes,
    /// Elements of a shape; negative positions count from the end.
    Elements,
}

/// An index that has not been checked yet: a device does so while it uses it.
#[derive(Clone, Debug)]
pub(crate) struct Unchecked {
    pub(crate) op: Op,
    pub(crate) counted: Counted,
    /// The exclusive upper bound of the index.
    pub(crate) size: usize,
    /// The shapes of the indexed operand and of the index.
    pub(crate) shapes: [Shape; 2],
}

impl Unchecked {
    /// Returns whether negative indices count from the end.
    pub(crate) fn wraps(&self) -> bool {
        !matches!(self.counted, Counted::Classes | Counted::Rows(_))
    }

    /// Returns the error of an index that is out of range.
    #[cold]
    pub(crate) fn error(&self, wrong: i64) -> Error {
        let size = self.size;
        let what = match self.counted {
            Counted::Dim(_) | Counted::Rows(_) => {
                format!("index {wrong} is out of range for size {size}")
            }
            Counted::Classes => format!("index {wrong} is out of range for {size} classes"),
            Counted::Elements => {
                let shape = &self.shapes[0];
                format!("position {wrong} is out of range for {size} elements of {shape:?}")
            }
        };
        let error = Error::new(ErrorKind::Index, self.op.name(), what);
        let shapes = match self.counted {
            Counted::Dim(_) | Counted::Rows(_) => &self.shapes[..],
            _ => &self.shapes[1..],
        };
        let error = shapes.iter().fold(error, |error, shape| {
            error.operand(&Names::default(), shape)
        });
        match self.counted {
            Counted::Dim(dim) => error.at(0, dim).hint(match size {
                0 => "the dim has no elements".to_owned(),
                _ => format!("indices go from -{size} to {}", size - 1),
            }),
            Counted::Rows(dim) => error.at(0, dim).hint(match size {
                0 => "the dim has no elements".to_owned(),
                _ => format!("indices go from 0 to {}, not from the end", size - 1),
            }),
            Counted::Classes => error.hint("indices must be in 0..number of classes"),
            Counted::Elements => error.hint("positions count the elements in row-major order"),
        }
    }
}

/// The operation that combines a value with the element an index names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Replaces the element; of several values, the last one stays.
    Set,
    /// Adds the value; for bool, a logical or.
    Add,
    /// Multiplies by the value.
    Mul,
    /// Keeps the larger; NaN wins.
    Max,
    /// Keeps the smaller; NaN wins.
    Min,
}

/// The indexed tensor (the target), the tensor whose elements are in the index's order (the other),
/// and the index. Steps are in bytes.
pub(crate) struct IndexJob {
    /// The operator that errors name.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub op: &'static str,
    /// The dims other than the indexed one: operand 0 is the target, 1 the other, 2 the index.
    pub rest: Plan,
    /// The number of positions along the index.
    pub count: usize,
    /// The strides of the other and of the index along the index.
    pub other_step: isize,
    pub index_step: isize,
    /// The target's stride along the indexed dim.
    pub target_step: isize,
    pub target: Place,
    pub other: Place,
    /// Values of `i64`, in range unless `unchecked` is set.
    pub index: *const i64,
    /// The check that a device still has to make; `None` on the host.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub unchecked: Option<Unchecked>,
    /// The smallest index, and the number of possible indices.
    pub low: i64,
    pub extent: usize,
    /// Whether every possible index names elements of the target, and no two of them the same.
    pub is_complete: bool,
}

// SAFETY: kernels write through it from several threads only to positions that no two of them
// share.
unsafe impl Sync for IndexJob {}
