//! Kernels of the host. They see pointers, sizes and strides; never a name.

pub(crate) mod cast;
pub(crate) mod constant;
pub(crate) mod fill;
pub(crate) mod numeric;
pub(crate) mod parallel;
pub(crate) mod pointwise;
pub(crate) mod simd;
