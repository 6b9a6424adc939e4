//! Chains of elementwise operations.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use super::Place;

/// A step of a program. Steps name earlier ones by their places; the last is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<'a> {
    /// The tensor of this number.
    Tensor(usize),
    /// The number of this number.
    Scalar(usize),
    /// An elementwise operator on earlier steps.
    Apply(Op, &'a [usize]),
    /// An earlier step in another dtype.
    To(DType, usize),
}

/// A program for a device: what to compute, from where, and where to.
pub(crate) struct FusedJob<'a> {
    /// Whose name an error bears.
    pub(crate) op: &'static str,
    pub(crate) program: &'a [Node<'a>],
    /// The steps that the result needs.
    pub(crate) live: &'a [bool],
    pub(crate) known: &'a [Known],
    /// The tensors, and their strides under the result's shape.
    pub(crate) inputs: &'a [(Place, &'a [isize])],
    pub(crate) shape: &'a [usize],
    /// The result: dense, in the order that its strides say. Nowhere, where it is reduced.
    pub(crate) dest: Place,
    pub(crate) strides: &'a [isize],
    /// Earlier steps of the result's sizes that are stored, too, in its order: on the host alone.
    pub(crate) also: &'a [(usize, Place)],
}

/// What is known of a step.
#[derive(Clone, Copy)]
pub(crate) enum Known {
    Scalar(Scalar),
    Tensor {
        dtype: DType,
        /// The dtype that an operator computes in; that of the result elsewhere.
        compute: DType,
    },
}
