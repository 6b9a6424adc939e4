//! First derivatives of one number.

use nomina_core::dims::Dims;
use nomina_core::{Float, Result};
use nomina_macros::twin;
use nomina_runtime::grad::{self as tape, BackwardOptions};

use super::inputs::{Inputs, Lent, Looks, owned, typed};
use crate::Tensor;
use crate::tensor::grad::OneNumber;

/// A loss: a value without dims that has a gradient.
#[diagnostic::on_unimplemented(
    message = "backward starts from one number, and this loss has dims {Self}",
    label = "not one number",
    note = "take its sum or its mean in the closure: `.sum(..)`, `.mean(..)`"
)]
pub trait Loss: Dims {}
#[diagnostic::do_not_recommend]
impl Loss for () {}

/// Computes the gradient of a function with respect to its inputs: a tensor for one input, a tuple
/// for several.
///
/// ```
/// use nomina::grad::grad;
/// use nomina::prelude::*;
/// dims! { N, C, K }
/// let x = tensor!([[1., 2.], [3., -4.]]; N, C);
/// let w = tensor!([[1.], [0.5]]; C, K);
/// let g: Tensor<(C, K)> = grad(|w| x.contract(w, C).relu().sum(..), &w);
/// assert_eq!(g.to_vec(), [4.0, -2.0]);
/// ```
///
/// # Errors
/// If an operator has no derivative, or memory runs out.
#[twin(free)]
pub fn try_grad<I: Inputs, E: Loss, T: Float>(
    f: impl Fn(Lent<'_, I>) -> Tensor<E, T>,
    inputs: I,
) -> Result<I::Owned> {
    let looks = Looks::new(&inputs);
    let run = |f: tape::Function<'_>| tape::value_and_grad(f, &looks.raws);
    let ((_, found), _) = looks.run::<I::Owned, E, T, _>(f, run)?;
    Ok(owned(found, &looks.wilds))
}

/// Computes the value of a function and its gradient with respect to its inputs.
///
/// ```
/// use nomina::grad::value_and_grad;
/// use nomina::prelude::*;
/// dims! { N }
/// let (a, b) = (tensor!([1., 2.]; N), tensor!([3., 4.]; N));
/// let (y, (ga, gb)) = value_and_grad(|(a, b)| (a * b).sum(..), (&a, &b));
/// assert_eq!(y.item(), 11.0);
/// assert!(ga.equal(&b) && gb.equal(&a));
/// ```
///
/// # Errors
/// If an operator has no derivative, or memory runs out.
#[twin(free)]
pub fn try_value_and_grad<I: Inputs, E: Loss, T: Float>(
    f: impl Fn(Lent<'_, I>) -> Tensor<E, T>,
    inputs: I,
) -> Result<(Tensor<E, T>, I::Owned)> {
    let looks = Looks::new(&inputs);
    let run = |f: tape::Function<'_>| tape::value_and_grad(f, &looks.raws);
    let ((y, found), wild) = looks.run::<I::Owned, E, T, _>(f, run)?;
    Ok((typed(y, wild), owned(found, &looks.wilds)))
}

/// Computes the gradients of a number with respect to tensors it was computed from, without storing
/// them in leaves. Consumes the graph.
///
/// ```
/// use nomina::grad::gradients;
/// use nomina::prelude::*;
/// dims! { N }
/// let a = tensor!([1., 2.]; N).with_grad();
/// let b = &a * &a;
/// let (ga, gb) = gradients(&(&a * &b).sum(..), (&a, &b));
/// assert_eq!(ga.to_vec(), [3.0, 12.0]);
/// assert!(gb.equal(&a) && a.grad().is_none());
/// ```
///
/// # Errors
/// If the number was not computed of one of the inputs, an operator has no derivative, or memory
/// runs out.
#[twin(free)]
pub fn try_gradients<I: Inputs, E: OneNumber, T: Float>(
    y: &Tensor<E, T>,
    inputs: I,
) -> Result<I::Owned> {
    let looks = Looks::new(&inputs);
    let y = y.erased().raw;
    let found = tape::gradients_of_number(y, &looks.raws, BackwardOptions::default())?;
    Ok(owned(found, &looks.wilds))
}
