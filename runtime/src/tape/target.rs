//! The form that an operand's gradient must have.

use nomina_core::DType;

use crate::Device;
use crate::raw::Raw;
use crate::shape::Shape;

/// The sizes, dtype and device of an operand, which its gradient gets.
#[derive(Debug)]
pub(crate) struct GradTarget {
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
    pub(crate) device: Device,
}

impl GradTarget {
    pub(crate) fn new(operand: &Raw) -> Self {
        Self {
            shape: Shape::from_slice(operand.shape()),
            dtype: operand.dtype(),
            device: operand.device(),
        }
    }
}

/// Whether tensors of this dtype have gradients.
pub(crate) fn has_gradient(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}
