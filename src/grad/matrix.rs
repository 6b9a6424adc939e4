//! Derivatives with more dims than their inputs.

use nomina_core::dims::{AllPrimes, Beside, Dims, Insert, Inserted, Joined, Of, OneDim, PrimeEach};
use nomina_core::{Float, Names, Result};
use nomina_macros::twin;
use nomina_runtime::grad as tape;

use super::first::Loss;
use super::inputs::{Looks, typed};
use crate::Tensor;
use crate::erased::{Known, names, wilds};

/// Computes the derivative of each element of a function's result with respect to each element of its input. The result
/// has the dims of the function's result, then those of the input, primed. The function is computed once, then one
/// backward pass per element of the result.
///
/// ```
/// use nomina::grad::jacobian;
/// use nomina::prelude::*;
/// dims! { C, K }
/// let w = tensor!([[1., 2., 3.], [4., 5., 6.]]; C, K);
/// let j: Tensor<(K, Prime<C>)> = jacobian(|x| x.contract(&w, C), &tensor!([0., 0.]; C));
/// assert!(j.rename(Prime(C), C).equal(&w.align_to((K, C))));
/// ```
///
/// # Errors
/// If result and input have more than 8 dims, an operator has no derivative, or memory runs out.
#[twin(free)]
pub fn try_jacobian<D: Dims + PrimeEach, E: Dims, T: Float>(
    f: impl Fn(&Tensor<D, T>) -> Tensor<E, T>,
    input: &Tensor<D, T>,
) -> Result<Tensor<Joined<E, AllPrimes<D>>, T>>
where
    AllPrimes<D>: Beside<E>,
{
    let looks = Looks::new(&input);
    let run = |f: tape::Function<'_>| tape::jacobian(f, looks.raws[0]);
    let (found, wild) = looks.run::<Tensor<D, T>, E, T, _>(f, run)?;
    let out = <Joined<E, AllPrimes<D>>>::STATIC;
    let wild = if out.wild {
        let own = names(wild.as_deref(), E::STATIC);
        let primes = Names::from_static(<AllPrimes<D>>::STATIC.names);
        wilds(Names::new(own.iter().chain(&primes).cloned())?, out)
    } else {
        None
    };
    Ok(typed(found, wild))
}

/// Computes the second derivatives of a function that returns one number: the dims of the input, then the same dims
/// primed.
///
/// ```
/// use nomina::grad::hessian;
/// use nomina::prelude::*;
/// dims! { C }
/// let h: Tensor<(C, Prime<C>)> = hessian(|x| (x * x * x).sum(..), &tensor!([1., 2.]; C));
/// assert_eq!(h.to_vec(), [6.0, 0.0, 0.0, 12.0]);
/// ```
///
/// # Errors
/// If there are more than 8 dims, an operator has no derivative, or memory runs out.
#[twin(free)]
pub fn try_hessian<D: Dims + PrimeEach, E: Loss, T: Float>(
    f: impl Fn(&Tensor<D, T>) -> Tensor<E, T>,
    input: &Tensor<D, T>,
) -> Result<Tensor<Joined<D, AllPrimes<D>>, T>>
where
    AllPrimes<D>: Beside<D>,
{
    let looks = Looks::new(&input);
    let run = |f: tape::Function<'_>| tape::hessian(f, looks.raws[0]);
    let (found, _) = looks.run::<Tensor<D, T>, E, T, _>(f, run)?;
    Ok(typed(found, None))
}

/// Computes a gradient for each sample. The function returns numbers along `N`, and its input
/// is expanded along `N`, in front of its own dims and without copying. The gradients have the same dims.
///
/// ```
/// use nomina::grad::per_sample;
/// use nomina::prelude::*;
/// dims! { N, C }
/// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
/// let g: Tensor<(N, C)> = per_sample(N.of(2), |w| (w * &x).sum(C), &tensor!([0.5, 1.]; C));
/// assert!(g.equal(&x));
/// ```
///
/// # Errors
/// If the function gives another number of numbers, an operator has no derivative, or memory runs out.
#[twin(free)]
pub fn try_per_sample<N: OneDim + Insert<D>, D: Dims, T: Float>(
    samples: Of<N>,
    f: impl Fn(&Tensor<Inserted<D, N>, T>) -> Tensor<(N,), T>,
    input: &Tensor<D, T>,
) -> Result<Tensor<Inserted<D, N>, T>> {
    let wild = if <Inserted<D, N>>::STATIC.wild {
        let first = Names::from_static(<(N,)>::STATIC.names);
        let own = input.erased().names();
        wilds(
            Names::new(first.iter().chain(&own).cloned())?,
            <Inserted<D, N>>::STATIC,
        )
    } else {
        None
    };
    let looks = Looks {
        raws: vec![input.erased().raw],
        wilds: vec![wild.clone()],
    };
    let run = |f: tape::Function<'_>| tape::per_sample(f, samples.size, looks.raws[0]);
    let (found, _) = looks.run::<Tensor<Inserted<D, N>, T>, (N,), T, _>(f, run)?;
    Ok(typed(found, wild))
}
