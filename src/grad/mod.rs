//! Derivatives of functions, and gradients of a graph that is there: a gradient has the dims of its tensor, in its type.
//!
//! A closure's argument counts for itself: what else was computed of the same tensor does not count, and no tensor's
//! [`grad`](crate::Tensor::grad) changes. Closures nest, for higher derivatives.
//!
//! | | |
//! |---|---|
//! | [`grad()`], [`value_and_grad`] | of a function that gives one number |
//! | [`gradients`] | of a number that was computed already |
//! | [`vjp`], [`jvp`] | products with a Jacobian, from the left and from the right |
//! | [`jacobian`], [`hessian`] | all of it, the input's dims primed |
//! | [`per_sample`] | a gradient for each sample |
//! | [`checkpoint`] | less memory, for a second way forward |

mod checkpoint;
mod first;
mod inputs;
mod matrix;
mod products;

pub use checkpoint::{checkpoint, try_checkpoint};
pub use first::{
    Loss, grad, gradients, try_grad, try_gradients, try_value_and_grad, value_and_grad,
};
pub use inputs::{Arguments, Inputs};
pub use matrix::{hessian, jacobian, per_sample, try_hessian, try_jacobian, try_per_sample};
pub use nomina_runtime::grad::{
    BackwardOptions, HookHandle, enable_grad, is_grad_enabled, no_grad,
};
pub use products::{jvp, try_jvp, try_vjp, vjp};
