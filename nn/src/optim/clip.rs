//! Gradient clipping.

use nomina::Result;

use crate::call::ok;
use crate::module::Module;

/// The norm of all gradients of a model as one vector. Where it is more than `max_norm`, the gradients are scaled down to it.
///
/// # Errors
/// When memory is short; some gradients may be scaled then.
pub fn try_clip_grad_norm(model: &impl Module, max_norm: f64) -> Result<f64> {
    let params = model.params();
    let grads = || {
        params
            .iter()
            .filter_map(|(_, param)| Some((param, param.grad()?)))
    };
    let mut squares = 0.0;
    for (_, grad) in grads() {
        let norm = grad.norm(..)?.item()?.to_f64();
        squares += norm * norm;
    }
    let norm = f64::sqrt(squares);
    // PyTorch's: a norm of zero is no reason to divide by zero.
    let factor = max_norm / (norm + 1e-6);
    if factor < 1.0 {
        for (param, grad) in grads() {
            param.set_grad(&grad.mul(factor)?)?;
        }
    }
    Ok(norm)
}

/// [`try_clip_grad_norm`], whose norm may be of no interest.
///
/// # Panics
/// As there.
#[track_caller]
pub fn clip_grad_norm(model: &impl Module, max_norm: f64) -> f64 {
    ok(try_clip_grad_norm(model, max_norm))
}
