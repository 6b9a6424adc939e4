//! Gradients: back from a tensor to the leaves that it was computed of, and derivatives of functions.

mod backward;
mod checkpoint;
mod custom;
mod function;
mod leaf;
mod reach;
#[cfg(test)]
mod tests;

pub use crate::raw::graph::{HookHandle, enable_grad, is_grad_enabled, no_grad};
pub use backward::{BackwardOptions, backward, gradients};
pub use checkpoint::{Segment, checkpoint};
pub use custom::{Later, custom, custom_later};
pub use function::{
    Function, gradients_of_number, hessian, jacobian, jvp, one_number, per_sample, value_and_grad,
    vjp,
};
pub use leaf::LeafId;
