//! Derivatives of functions, and gradients of an existing graph. A gradient has the dims of its
//! tensor in its type.
//!
//! Only the closure's argument counts: other computations from the same tensor do not, and no
//! tensor's [`grad`](crate::Tensor::grad) changes. Closures nest, for higher derivatives.
//!
//! | | |
//! |---|---|
//! | [`grad()`], [`value_and_grad`] | of a function that returns one number |
//! | [`gradients`] | of a number that was already computed |
//! | [`vjp`], [`jvp`] | products with a Jacobian, from the left and from the right |
//! | [`jacobian`], [`hessian`] | the whole matrix, with the input's dims primed |
//! | [`per_sample`] | a gradient for each sample |
//! | [`checkpoint`] | saves memory by computing a function twice |

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
