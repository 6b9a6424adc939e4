//! The entries: one per kernel class.
//!
//! Operands are tensors without names and numbers. An entry checks dtypes, sizes and devices,
//! decides the result's dtype and layout, and calls the device's backend. Errors carry sizes;
//! callers that know names add them with `Error::with_names`.

mod arg;
mod convert;
mod factory;
mod pointwise;

#[cfg(test)]
mod tests;

pub use arg::{Arg, result_dtype};
pub use convert::{contiguous, copy_into, duplicate, fill, to_device, to_dtype};
pub use factory::{arange, eye, full, rand, randn};
pub use pointwise::{
    clamp, clamp_bounds, pointwise, pointwise_in_place, pointwise_into, pointwise_owned,
};
