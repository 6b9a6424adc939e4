//! Gathers and scatters.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names};

use super::Place;
use crate::plan::Plan;
use crate::shape::Shape;

/// What an index is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// A dim of the first operand; negative indices count from its end.
    Dim(usize),
    /// The rows of a dim of the first operand, from 0 on.
    Rows(usize),
    /// Classes, from 0 on.
    Classes,
    /// The elements of a shape; negative positions count from the end.
    Elements,
}

/// An index that nobody has checked yet: a device does so while it uses it.
#[derive(Clone, Debug)]
pub(crate) struct Unchecked {
    pub(crate) op: Op,
    pub(crate) counted: Counted,
    /// How many there are of what it counts.
    pub(crate) size: usize,
    /// The shapes of what is indexed and of the index.
    pub(crate) shapes: [Shape; 2],
}

impl Unchecked {
    /// Whether negative ones count from the end.
    pub(crate) fn wraps(&self) -> bool {
        !matches!(self.counted, Counted::Classes | Counted::Rows(_))
    }

    /// The error of an index that is out of range.
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
                _ => format!(
                    "indices go from 0 to {}, and none counts from the end",
                    size - 1
                ),
            }),
            Counted::Classes => error.hint("indices go from 0 to below the number of classes"),
            Counted::Elements => error.hint("positions count the elements in row-major order"),
        }
    }
}

/// How a value is written to where an index says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// It replaces what is there; of several, the last stays.
    Set,
    /// It is added; of bool, whether either holds.
    Add,
    /// It is multiplied with what is there.
    Mul,
    /// The greater stays; NaN before all.
    Max,
    /// The smaller stays; NaN before all.
    Min,
}

/// The tensor that is indexed (the target), the one whose elements lie in the index's order (the
/// other), and the index. Steps are in bytes.
pub(crate) struct IndexJob {
    /// Whose name an error bears.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub op: &'static str,
    /// The dims beside the indexed one: operand 0 is the target, 1 the other, 2 the index.
    pub rest: Plan,
    /// The number of places along the index.
    pub count: usize,
    /// From one of these places to the next: in the other, in the index.
    pub other_step: isize,
    pub index_step: isize,
    /// How far one more in an index moves in the target.
    pub target_step: isize,
    pub target: Place,
    pub other: Place,
    /// Of `i64`, in range unless said.
    pub index: *const i64,
    /// What a device still has to check; never on the host.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub unchecked: Option<Unchecked>,
    /// What the least index is, and how many different ones there may be.
    pub low: i64,
    pub extent: usize,
    /// Whether each of these indices names elements of the target, and no two of them the same.
    pub is_complete: bool,
}

// SAFETY: kernels write through it from several threads only to places that no two of them share.
unsafe impl Sync for IndexJob {}
