//! Kernels of the host. They see pointers, sizes and strides; never a name.

pub(crate) mod parallel;
