//! Chains of elementwise operators.
//!
//! A program becomes a list of dense loops over blocks. Each part of the result runs through all of
//! them while its blocks are in the first-level cache. The kernels are those of
//! [`super::pointwise`]; the only difference is that intermediate results go to a block instead of a
//! tensor, in the dtype that the tensor would have. The final values are written to the result, or
//! go block by block into a reduction and are never stored.

mod compile;
mod frame;
mod walk;

#[cfg(test)]
mod reduce_tests;
#[cfg(test)]
mod tests;

pub(crate) use frame::{execute, reduce};
#[cfg(feature = "cuda")]
pub(crate) use walk::WalkOperands;
