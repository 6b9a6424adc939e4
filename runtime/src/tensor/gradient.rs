//! Derivatives of functions of [`DynTensor`]s. Only the closure's argument counts: no tensor receives a gradient, and
//! other computations from the same tensors do not count.

use std::cell::Cell;
use std::sync::Arc;

use nomina_core::{Error, Name, Names, Result};

use super::{DynTensor, about};
use crate::autograd::{self as grad, BackwardOptions};
use crate::raw::Raw;

/// Computes the gradients of one number with respect to tensors it was computed from. Consumes its graph.
///
/// # Errors
/// [`ErrorKind::Gradient`](nomina_core::ErrorKind::Gradient) if `y` is not one real number, or was not computed from
/// one of `inputs`. Also if an operator has no derivative, or memory runs out.
pub fn gradients(y: &DynTensor, inputs: &[&DynTensor]) -> Result<Vec<DynTensor>> {
    let raws: Vec<&Raw> = inputs.iter().map(|x| &x.raw).collect();
    let found = grad::gradients_of_number(&y.raw, &raws, BackwardOptions::default());
    let found = found.map_err(|error| about(error, &[y]))?;
    let found = found.into_iter().zip(inputs);
    Ok(found
        .map(|(raw, x)| DynTensor::new(raw, x.names.clone()))
        .collect())
}

/// Computes the gradient of a function of one tensor that returns one number.
///
/// ```
/// use nomina_runtime::DynTensor;
/// use nomina_runtime::tensor::gradient::grad;
/// let x = DynTensor::from_vec(vec![1.0_f64, 2.0], &[2], ["N"])?;
/// let g = grad(|x| x.mul(x)?.sum(..), &x)?;
/// assert_eq!(g.to_vec::<f64>()?, [2.0, 4.0]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// Like [`value_and_grad`].
pub fn grad(f: impl Fn(&DynTensor) -> Result<DynTensor>, x: &DynTensor) -> Result<DynTensor> {
    let (raw, _) = of_one(f, &x.names, |f| {
        let (_, mut found) = grad::value_and_grad(f, &[&x.raw])?;
        Ok(found.swap_remove(0))
    })?;
    Ok(DynTensor::new(raw, x.names.clone()))
}

/// Computes the value of a function, which is one number, and its gradient with respect to each input.
///
/// # Errors
/// The errors of `f`; [`ErrorKind::Gradient`](nomina_core::ErrorKind::Gradient) if it does not return one real number,
/// or an operator has no derivative. Also if memory runs out.
pub fn value_and_grad(
    f: impl Fn(&[DynTensor]) -> Result<DynTensor>,
    inputs: &[&DynTensor],
) -> Result<(DynTensor, Vec<DynTensor>)> {
    let raws: Vec<&Raw> = inputs.iter().map(|x| &x.raw).collect();
    let names: Vec<&Names> = inputs.iter().map(|x| &x.names).collect();
    let ((y, found), own) = of_all(f, &names, |f| grad::value_and_grad(f, &raws))?;
    let found = found.into_iter().zip(names);
    let found = found.map(|(raw, names)| DynTensor::new(raw, names.clone()));
    Ok((DynTensor::new(y, own), found.collect()))
}

/// Computes the value of a function, and the gradient of the sum of its products with `seed`.
///
/// # Errors
/// Like [`value_and_grad`]; also if names, sizes or dtype of `seed` do not match the value.
pub fn vjp(
    f: impl Fn(&DynTensor) -> Result<DynTensor>,
    x: &DynTensor,
    seed: &DynTensor,
) -> Result<(DynTensor, DynTensor)> {
    let ((y, mut found), own) = of_one(f, &x.names, |f| grad::vjp(f, &[&x.raw], &seed.raw))?;
    nomina_core::rule::unify("vjp", &own, &seed.names)?;
    let found = DynTensor::new(found.swap_remove(0), x.names.clone());
    Ok((DynTensor::new(y, own), found))
}

/// Computes the value of a function, and its change if the input changes by `tangent`.
///
/// # Errors
/// Like [`value_and_grad`]; also if `tangent` does not match the input.
pub fn jvp(
    f: impl Fn(&DynTensor) -> Result<DynTensor>,
    x: &DynTensor,
    tangent: &DynTensor,
) -> Result<(DynTensor, DynTensor)> {
    nomina_core::rule::unify("jvp", &x.names, &tangent.names)?;
    let ((y, change), own) = of_one(f, &x.names, |f| grad::jvp(f, &[&x.raw], &[&tangent.raw]))?;
    Ok((DynTensor::new(y, own.clone()), DynTensor::new(change, own)))
}

/// Computes the derivative of each element of a function's result with respect to each element of its input: the dims
/// of the result, then those of the input with primed names.
///
/// # Errors
/// Like [`value_and_grad`]; also if a name would occur twice, or there are too many dims.
pub fn jacobian(f: impl Fn(&DynTensor) -> Result<DynTensor>, x: &DynTensor) -> Result<DynTensor> {
    let (raw, own) = of_one(f, &x.names, |f| grad::jacobian(f, &x.raw))?;
    beside_primed(raw, &own, x)
}

/// Computes the second derivatives of a function that returns one number: the dims of the input, then the same dims
/// primed.
///
/// # Errors
/// Like [`jacobian`].
pub fn hessian(f: impl Fn(&DynTensor) -> Result<DynTensor>, x: &DynTensor) -> Result<DynTensor> {
    let (raw, _) = of_one(f, &x.names, |f| grad::hessian(f, &x.raw))?;
    beside_primed(raw, &x.names, x)
}

/// Computes the gradient of each of `count` numbers along `dim`. The function receives its input expanded along `dim`,
/// in front of the input's own dims; the gradients have the same dims.
///
/// # Errors
/// Like [`value_and_grad`]; also if the function's result is not along `dim` alone, or the input has such a dim.
pub fn per_sample(
    dim: &str,
    count: usize,
    f: impl Fn(&DynTensor) -> Result<DynTensor>,
    x: &DynTensor,
) -> Result<DynTensor> {
    let first = std::iter::once(Some(Name::new(dim)?));
    let names = Names::new(first.chain(x.names.iter().cloned()))?;
    let (raw, own) = of_one(f, &names, |f| grad::per_sample(f, count, &x.raw))?;
    nomina_core::rule::unify("per_sample", &own, &Names::new([names[0].clone()])?)?;
    Ok(DynTensor::new(raw, names))
}

/// Computes a function without recording it. It is computed again, with the same random numbers, when its gradient is
/// needed.
///
/// # Errors
/// Returns the errors of `f`, and an error if memory runs out or if `f` computes on other threads that draw random
/// numbers. `backward` fails if `f` draws otherwise the second time, or uses other recorded tensors.
pub fn checkpoint(
    f: impl Fn(&[DynTensor]) -> Result<DynTensor> + Send + Sync + 'static,
    inputs: &[&DynTensor],
) -> Result<DynTensor> {
    let names: Vec<Names> = inputs.iter().map(|x| x.names.clone()).collect();
    let out = Arc::new(std::sync::Mutex::new(Names::default()));
    let own = Arc::clone(&out);
    let f = move |raws: &[Raw]| {
        let args = raws.iter().zip(&names);
        let args: Vec<_> = args
            .map(|(raw, names)| DynTensor::new(raw.clone(), names.clone()))
            .collect();
        let y = f(&args)?;
        *crate::raw::graph::lock(&own) = y.names;
        Ok(y.raw)
    };
    let raws: Vec<&Raw> = inputs.iter().map(|x| &x.raw).collect();
    let raw = grad::checkpoint(Arc::new(f), &raws)?;
    let names = crate::raw::graph::lock(&out).clone();
    Ok(DynTensor::new(raw, names))
}

/// Calls `run` with a function without names. Returns its result and the names of the function's last value.
fn of_all<R>(
    f: impl Fn(&[DynTensor]) -> Result<DynTensor>,
    names: &[&Names],
    run: impl FnOnce(grad::Function<'_>) -> Result<R>,
) -> Result<(R, Names)> {
    let own = Cell::new(Names::default());
    let nameless = |raws: &[Raw]| {
        let args = raws.iter().zip(names);
        let args = args.map(|(raw, names)| DynTensor::new(raw.clone(), (*names).clone()));
        let y = f(&args.collect::<Vec<_>>())?;
        own.set(y.names);
        Ok(y.raw)
    };
    let found = run(&nameless);
    let own = own.into_inner();
    let named = |error: Error| error.with_names(std::iter::once(&own));
    Ok((found.map_err(named)?, own))
}

fn of_one<R>(
    f: impl Fn(&DynTensor) -> Result<DynTensor>,
    names: &Names,
    run: impl FnOnce(grad::Function<'_>) -> Result<R>,
) -> Result<(R, Names)> {
    of_all(|args| f(&args[0]), &[names], run)
}

/// Wraps a Jacobian with its names.
fn beside_primed(raw: Raw, own: &Names, x: &DynTensor) -> Result<DynTensor> {
    let mut names: Vec<Option<Name>> = own.iter().cloned().collect();
    for name in &x.names {
        let primed = name.as_ref().map(|name| Name::new(&format!("{name}'")));
        names.push(primed.transpose()?);
    }
    let names = Names::new(names).map_err(|error| error.in_op("jacobian"))?;
    Ok(DynTensor::new(raw, names))
}
