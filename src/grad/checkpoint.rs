//! Checkpoints: functions that are computed again during the backward pass.

use std::sync::{Arc, Mutex, PoisonError};

use nomina_core::dims::Dims;
use nomina_core::{Inexact, Result};
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::grad as tape;

use super::inputs::{Arguments, Inputs, Lent, Looks, typed};
use crate::Tensor;

/// Computes a function without recording it: nothing of its graph is kept, and the function is computed again, with the
/// same random numbers, when its gradient is needed. Recorded tensors that the closure captures also receive gradients.
///
/// The random numbers are the same for any generator that the closure uses on this thread. It may compute on other
/// threads, but must not draw there. `backward` returns an error if the closure draws other numbers the second time, or
/// uses other recorded tensors.
///
/// ```
/// use nomina::grad::checkpoint;
/// use nomina::prelude::*;
/// dims! { N }
/// let x = tensor!([1., 2.]; N).with_grad();
/// let w = tensor!([3., 4.]; N).with_grad();
/// let held = w.clone();
/// let y = checkpoint(move |x| x * x * &held, &x);
/// y.sum(..).backward();
/// assert_eq!(x.grad().unwrap().to_vec(), [6.0, 16.0]);
/// assert_eq!(w.grad().unwrap().to_vec(), [1.0, 4.0]);
/// ```
///
/// # Errors
/// If memory runs out, or the closure computes on other threads that draw random numbers.
#[twin(free)]
pub fn try_checkpoint<I: Inputs, E: Dims, T: Inexact>(
    f: impl Fn(Lent<'_, I>) -> Tensor<E, T> + Send + Sync + 'static,
    inputs: I,
) -> Result<Tensor<E, T>> {
    segment::<I::Owned, E, T>(&Looks::new(&inputs), f)
}

#[cfg_attr(debug_assertions, track_caller)]
fn segment<A: Arguments, E: Dims, T: Inexact>(
    looks: &Looks<'_>,
    f: impl Fn(A::Lent<'_>) -> Tensor<E, T> + Send + Sync + 'static,
) -> Result<Tensor<E, T>> {
    let wilds = looks.wilds.clone();
    let wild = Arc::new(Mutex::new(None));
    let own = Arc::clone(&wild);
    let f = move |raws: &[Raw]| {
        let y = f(A::own(raws, &wilds).lend());
        *own.lock().unwrap_or_else(PoisonError::into_inner) = y.erased().wild();
        Ok(y.erased().raw.clone())
    };
    let raw = tape::checkpoint(Arc::new(f), &looks.raws)?;
    let wild = wild.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok(typed(raw, wild))
}
