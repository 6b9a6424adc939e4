//! Gradients of normalised rows in one pass on the host.

use nomina_core::Result;

use crate::SmallVec;
use crate::cpu;
use crate::job::{Place, RowGradient, RowGradientJob};
use crate::profile::Span;
use crate::raw::Raw;

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
