//! Gradients: from a tensor back to the leaves that it was computed from, and derivatives of functions.

mod backward;
mod checkpoint;
mod custom;
mod function;
mod leaf;
mod pass;
mod pending;
mod reach;
mod rules;
#[cfg(test)]
mod tests;

pub use crate::raw::graph::{HookHandle, enable_grad, is_grad_enabled, no_grad};
pub use backward::{backward, gradients};
pub use checkpoint::{Segment, checkpoint};
pub use custom::{Later, custom, custom_later};
pub use function::{
    Function, gradients_of_number, hessian, jacobian, jvp, one_number, per_sample, value_and_grad,
    vjp,
};
pub use leaf::LeafId;
pub use pass::BackwardOptions;
