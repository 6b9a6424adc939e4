//! Chains of elementwise operations.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use super::Place;

/// A step of a program. Steps refer to earlier ones by index; the last is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<'a> {
    /// The tensor with this index.
    Tensor(usize),
    /// The scalar with this index.
    Scalar(usize),
    /// An elementwise operator on earlier steps.
    Apply(Op, &'a [usize]),
    /// An earlier step converted to another dtype.
    To(DType, usize),
}

/// A program for a device, with its inputs and its destination.
pub(crate) struct FusedJob<'a> {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    pub(crate) program: &'a [Node<'a>],
    /// Whether each step contributes to the result.
    pub(crate) live: &'a [bool],
    pub(crate) known: &'a [Known],
    /// The tensors, and their strides over the result's shape.
    pub(crate) inputs: &'a [(Place, &'a [isize])],
    pub(crate) shape: &'a [usize],
    /// The result: dense, in the order of its strides. Unused if it is reduced.
    pub(crate) dest: Place,
    pub(crate) strides: &'a [isize],
    /// Earlier steps with the result's sizes that are stored too, in its order; only on the host.
    pub(crate) also: &'a [(usize, Place)],
}

/// Static information about a step.
#[derive(Clone, Copy)]
pub(crate) enum Known {
    Scalar(Scalar),
    Tensor {
        dtype: DType,
        /// The dtype that an operator computes in; for other steps the dtype of the result.
        compute: DType,
    },
}
