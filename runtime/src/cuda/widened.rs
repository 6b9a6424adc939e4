//! Conversion of weights and biases to the dtype in which our own kernels multiply.

use nomina_core::{DType, Result};

use super::Cuda;
use crate::dispatch::arithmetic;
use crate::job::{Backend, Place};
use crate::plan::Plan;
use crate::storage::DeviceBuffer;

/// An operand, and its block if it was converted.
pub(super) struct WidenedWeight {
    pub(super) at: *const u8,
    _block: Option<DeviceBuffer>,
}

/// Converts `count` elements to the dtype of [`arithmetic`], if it is another one.
///
/// # Safety
/// `count` contiguous elements are at `at`, on this device.
pub(super) unsafe fn widened(
    cuda: &'static Cuda,
    op: &'static str,
    dtype: DType,
    at: *const u8,
    count: usize,
) -> Result<WidenedWeight> {
    let wide = arithmetic(dtype);
    if wide == dtype {
        return Ok(WidenedWeight { at, _block: None });
    }
    let block = cuda.scratch(op, [count, wide.size()])?;
    let plan = Plan::new(&[count], &[(&[1], wide.size()), (&[1], dtype.size())]);
    let to = Place {
        ptr: block.as_ptr(),
        dtype: wide,
    };
    let from = Place {
        ptr: at.cast_mut(),
        dtype,
    };
    // SAFETY: the caller's promise; the block has the length of the copy.
    unsafe { Backend::copy(cuda, &plan, to, from)? };
    Ok(WidenedWeight {
        at: block.as_ptr(),
        _block: Some(block),
    })
}
