//! Products with a Jacobian that is not computed explicitly.

use nomina_core::dims::Dims;
use nomina_core::{Inexact, Result};
use nomina_macros::twin;
use nomina_runtime::grad as tape;

use super::inputs::{Inputs, Lent, Looks, owned, typed};
use crate::Tensor;

/// Computes the value of a function and the product of `seed` with its Jacobian: the gradient with
/// respect to the inputs if `seed` is the gradient of the value.
///
/// ```
/// use nomina::grad::vjp;
/// use nomina::prelude::*;
/// dims! { C, K }
/// let x = tensor!([1., 2.]; C);
/// let w = tensor!([[1., 2., 3.], [4., 5., 6.]]; C, K);
/// let seed = tensor!([1., 0., -1.]; K);
/// let (y, g) = vjp(|x| x.contract(&w, C), &x, &seed);
/// assert_eq!(y.to_vec(), [9.0, 12.0, 15.0]);
/// let g: Tensor<(C,)> = g;
/// assert_eq!(g.to_vec(), [-2.0, -2.0]);
/// ```
///
/// # Errors
/// If `seed` has other sizes than the value, an operator has no derivative, or memory runs out.
#[twin(free)]
pub fn try_vjp<I: Inputs, E: Dims, T: Inexact>(
    f: impl Fn(Lent<'_, I>) -> Tensor<E, T>,
    inputs: I,
    seed: &Tensor<E, T>,
) -> Result<(Tensor<E, T>, I::Owned)> {
    let looks = Looks::new(&inputs);
    let seed = seed.erased().raw;
    let run = |f: tape::Function<'_>| tape::vjp(f, &looks.raws, seed);
    let ((y, found), wild) = looks.run::<I::Owned, E, T, _>(f, run)?;
    Ok((typed(y, wild), owned(found, &looks.wilds)))
}

/// Computes the value of a function and the product of its Jacobian with `tangents`: the change of
/// the value if the inputs change by `tangents`.
///
/// ```
/// use nomina::grad::jvp;
/// use nomina::prelude::*;
/// dims! { C, K }
/// let x = tensor!([1., 2.]; C);
/// let w = tensor!([[1., 2., 3.], [4., 5., 6.]]; C, K);
/// let (_, change) = jvp(|x| x.contract(&w, C), &x, &tensor!([0., 2.]; C));
/// let change: Tensor<(K,)> = change;
/// assert_eq!(change.to_vec(), [8.0, 10.0, 12.0]);
/// ```
///
/// # Errors
/// If a tangent has other sizes than its input, an operator has no derivative, or memory runs out.
#[twin(free)]
pub fn try_jvp<I: Inputs, E: Dims, T: Inexact>(
    f: impl Fn(Lent<'_, I>) -> Tensor<E, T>,
    inputs: I,
    tangents: I,
) -> Result<(Tensor<E, T>, Tensor<E, T>)> {
    let (looks, tangents) = (Looks::new(&inputs), Looks::new(&tangents));
    let run = |f: tape::Function<'_>| tape::jvp(f, &looks.raws, &tangents.raws);
    let ((y, change), wild) = looks.run::<I::Owned, E, T, _>(f, run)?;
    Ok((typed(y, wild.clone()), typed(change, wild)))
}
