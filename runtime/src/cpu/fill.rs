//! Filling tensors with constants and sequences.

use nomina_core::{DType, Scalar};

use super::cast::{Cast, copy};
use crate::job::{Constant, Place};

use super::parallel::{GRAIN, Shared, split};

use crate::plan::Plan;

/// Elements that are computed at a time before they are converted to the destination's dtype.
pub(super) const BLOCK: usize = crate::random::BLOCK;

/// Fills operand 0 of a plan with a number; operand 1 of the plan has step zero.
///
/// # Safety
/// The plan's positions of `dest` are writable.
pub(crate) unsafe fn fill(plan: &Plan, dest: Place, value: Scalar) {
    let constant = Constant::new(value, dest.dtype);
    let source = Place {
        ptr: constant.as_ptr().cast_mut(),
        dtype: dest.dtype,
    };
    // SAFETY: the source is one repeated element, which outlives the copy.
    unsafe { copy(plan, dest, source) };
}

/// Writes `start`, `start + step`, and so on; integers in `i64`, others in `f64`. Each element is
/// computed from its index, so rounding errors do not accumulate.
///
/// # Safety
/// `n` contiguous elements at `dest` are writable.
pub(crate) unsafe fn arange(n: usize, dest: Place, start: Scalar, step: Scalar) {
    if dest.dtype.is_integral() {
        let (start, step) = (start.to_i64(), step.to_i64());
        let value = |i: usize| start.wrapping_add(step.wrapping_mul(i as i64));
        // SAFETY: guaranteed by the caller.
        unsafe { by_index(n, dest, DType::I64, value) };
    } else {
        let (start, step) = (start.to_f64(), step.to_f64());
        // SAFETY: guaranteed by the caller.
        unsafe { by_index(n, dest, DType::F64, |i| start + step * i as f64) };
    }
}

/// Writes `value(i)` to element `i`. `dtype` is the dtype of `T`.
///
/// # Safety
/// `n` contiguous elements at `dest` are writable.
pub(crate) unsafe fn by_index<T: Copy + Default>(
    n: usize,
    dest: Place,
    dtype: DType,
    value: impl Fn(usize) -> T + Sync,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        by_block(n, dest, dtype, &|start, block: &mut [T; BLOCK]| {
            for (i, out) in block.iter_mut().enumerate() {
                *out = value(start + i);
            }
        });
    }
}

/// Calls `make` to write blocks of elements, which start at multiples of their length, and converts
/// them. `dtype` is the dtype of `T`.
///
/// # Safety
/// `n` contiguous elements at `dest` are writable.
pub(super) unsafe fn by_block<T: Copy + Default>(
    n: usize,
    dest: Place,
    dtype: DType,
    make: &(dyn Fn(usize, &mut [T; BLOCK]) + Sync),
) {
    let cast = Cast::new(dtype, dest.dtype);
    let size = dest.dtype.size();
    let ptr = Shared(dest.ptr);
    split(n.div_ceil(BLOCK), GRAIN / BLOCK / 4, &|range| {
        for start in (range.start * BLOCK..n.min(range.end * BLOCK)).step_by(BLOCK) {
            let mut block = [T::default(); BLOCK];
            make(start, &mut block);
            let count = BLOCK.min(n - start);
            // SAFETY: within the `n` elements; other ranges write to other elements.
            unsafe {
                let dest = ptr.get().add(start * size);
                cast.run(
                    count,
                    block.as_ptr().cast(),
                    size_of::<T>() as isize,
                    dest,
                    size as isize,
                );
            }
        }
    });
}
