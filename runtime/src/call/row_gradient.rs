//! Gradients of normalised rows in one pass on the host.

use nomina_core::{DType, Element, Result};

use crate::SmallVec;
use crate::cpu;
use crate::cpu::norm_weight::NormRows;
use crate::cpu::reduce::real::BlockFloat;
use crate::job::{Place, RowGradient, RowGradientJob};
use crate::profile::Span;
use crate::raw::Raw;
use crate::shape::Shape;

/// The scales of a normalisation.
#[derive(Default)]
pub(crate) struct Scales<'a> {
    /// A weight that broadcasts to the operand's sizes.
    pub(crate) weight: Option<&'a Raw>,
    /// Two numbers of each row, as f64.
    pub(crate) numbers: Option<&'a Raw>,
}

/// Computes the gradient of the operand. Returns `None` on a device, or if the elements of a row are not contiguous; then lines compute
/// it.
///
/// # Errors
/// If memory is missing.
pub(crate) fn row_gradient(
    op: &'static str,
    by: RowGradient,
    saved: &Raw,
    grad: &Raw,
    dims: &[usize],
    scales: Scales<'_>,
) -> Result<Option<Raw>> {
    let last = saved.rank().checked_sub(1);
    let dense = last.is_some_and(|last| saved.strides()[last] == 1 && dims.contains(&last));
    let fits = saved.device().is_cpu() && grad.device().is_cpu() && saved.shape() == grad.shape();
    if !dense || !fits || saved.numel() == 0 {
        return Ok(None);
    }
    let mut dims: SmallVec<[usize; 8]> = dims.into();
    dims.sort_unstable();
    let place = |raw: &Raw| Place {
        ptr: raw.as_ptr().cast_mut(),
        dtype: raw.dtype(),
    };
    let weight = scales.weight.map(|raw| raw.broadcast_to(op, saved.shape()));
    let weight = weight.transpose()?;
    let mut out = Raw::empty(op, saved.shape(), saved.dtype(), saved.device())?;
    let to = Place {
        ptr: out.fresh_ptr(),
        dtype: out.dtype(),
    };
    let job = RowGradientJob {
        by,
        compute: saved.dtype(),
        shape: saved.shape(),
        dims: &dims,
        saved: (place(saved), saved.strides()),
        grad: (place(grad), grad.strides()),
        out: (to, out.strides()),
        weight: weight.as_ref().map(|raw| (place(raw), raw.strides())),
        numbers: scales
            .numbers
            .map_or(std::ptr::null(), |raw| raw.as_ptr().cast()),
    };
    let _span = Span::new(op);
    // SAFETY: the job describes whole operands of these sizes, and a fresh result that no one else has.
    let done = unsafe { cpu::row_gradients::execute(&job) };
    done.map_err(|error| error.in_op(op))?;
    Ok(Some(out))
}

/// Computes the gradient of the weight of rows that were normalised along their last `dims` dims, with the other dims of
/// size 1. `numbers` are the mean and the deviation of each row, as f64. Returns `None` on a device, or if elements are not
/// contiguous; then lines compute it.
///
/// # Errors
/// If memory is missing.
pub(crate) fn norm_weight_gradient(
    op: &'static str,
    x: &Raw,
    grad: &Raw,
    dims: usize,
    (numbers, eps): (&Raw, f64),
) -> Result<Option<Raw>> {
    let on_host = x.device().is_cpu() && grad.device().is_cpu();
    let alike = x.dtype() == grad.dtype() && x.shape() == grad.shape();
    let dense = x.is_contiguous() && grad.is_contiguous() && numbers.is_contiguous();
    if !on_host || !alike || !dense || x.numel() == 0 {
        return Ok(None);
    }
    match x.dtype() {
        DType::F32 => weight_gradient::<f32>(op, x, grad, dims, (numbers, eps)).map(Some),
        DType::F64 => weight_gradient::<f64>(op, x, grad, dims, (numbers, eps)).map(Some),
        _ => Ok(None),
    }
}

fn weight_gradient<T: BlockFloat + Element>(
    op: &'static str,
    x: &Raw,
    grad: &Raw,
    dims: usize,
    (numbers, eps): (&Raw, f64),
) -> Result<Raw> {
    let mut shape = Shape::from_slice(x.shape());
    shape[..x.rank() - dims].fill(1);
    let mut out = Raw::empty(op, &shape, x.dtype(), x.device())?;
    let width = out.numel();
    let to = out.fresh_ptr().cast::<T>();
    let _span = Span::new(op);
    // SAFETY: the operands are contiguous and on the host; the result is fresh, and nothing else shares it.
    let done = unsafe {
        let slice = |raw: &Raw| std::slice::from_raw_parts(raw.as_ptr().cast::<T>(), raw.numel());
        let rows = NormRows {
            x: slice(x),
            grad: slice(grad),
            stats: std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.numel()),
            width,
            eps,
        };
        to.write_bytes(0, width);
        rows.weight_gradient(std::slice::from_raw_parts_mut(to, width))
    };
    done.map_err(|error| error.in_op(op))?;
    Ok(out)
}
