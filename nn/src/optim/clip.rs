//! Gradient clipping.

use nomina::{DType, DynTensor, NormOptions, Result};

use crate::call::ok;
use crate::module::Module;

/// A factor that every float dtype can represent.
const SMALL: f64 = 1e-4;

/// Computes the norm of all gradients of a model as one vector. If it exceeds `max_norm`, the gradients are scaled down
/// to that norm.
///
/// # Errors
/// If an allocation fails; some gradients may be scaled already.
pub fn try_clip_grad_norm(model: &impl Module, max_norm: f64) -> Result<f64> {
    let params = model.params();
    let grads = || {
        params
            .iter()
            .filter_map(|(_, param)| Some((param, param.grad()?)))
    };
    // In f64, where the norm of gradients of other dtypes cannot overflow.
    let mut norm = 0.0_f64;
    for (_, grad) in grads() {
        let wide = if grad.dtype().is_complex() {
            DType::C128
        } else {
            DType::F64
        };
        let options = NormOptions {
            dtype: Some(wide),
            ..NormOptions::default()
        };
        norm = norm.hypot(grad.norm_with(.., options)?.item()?.to_f64());
    }
    // Like PyTorch: avoids a division by zero if the norm is zero.
    let factor = max_norm / (norm + 1e-6);
    if factor < 1.0 {
        for (param, grad) in grads() {
            param.set_grad(&scaled(&grad, factor)?)?;
        }
    }
    Ok(norm)
}

/// Scales a gradient by a factor, which may be too small for the gradient's dtype.
fn scaled(grad: &DynTensor, factor: f64) -> Result<DynTensor> {
    let dtype = grad.dtype();
    if factor >= SMALL || matches!(dtype, DType::F64 | DType::C128) {
        return grad.mul(factor);
    }
    let wide = if dtype.is_complex() {
        DType::C128
    } else {
        DType::F64
    };
    grad.to_dtype(wide)?.mul(factor)?.to_dtype(dtype)
}

/// [`try_clip_grad_norm`] that panics on an error and does not require its result to be used.
///
/// # Panics
/// If [`try_clip_grad_norm`] fails.
#[track_caller]
pub fn clip_grad_norm(model: &impl Module, max_norm: f64) -> f64 {
    ok(try_clip_grad_norm(model, max_norm))
}
