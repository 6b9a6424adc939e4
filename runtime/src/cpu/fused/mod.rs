//! Chains of elementwise operators.
//!
//! A program becomes a list of dense loops over blocks; a part of the result runs through all of
//! them while its blocks are in the first-level cache. Kernels are those of [`super::pointwise`]:
//! what differs is only that results between go to a block instead of a tensor, in the dtype that
//! the tensor would have had. What comes out is written to the result, or goes block by block into a
//! reduction and is never stored.

mod compile;
mod frame;
mod walk;

#[cfg(test)]
mod reduce_tests;
#[cfg(test)]
mod tests;

pub(crate) use frame::{execute, reduce};
#[cfg(feature = "cuda")]
pub(crate) use walk::Operands;
