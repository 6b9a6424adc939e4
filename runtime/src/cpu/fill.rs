//! New elements from numbers.

use nomina_core::{DType, Scalar};

use super::cast::{Cast, copy};
use super::constant::Constant;
use super::parallel::{GRAIN, Shared, split};
use crate::backend::{Place, arithmetic};
use crate::plan::Plan;
use crate::random::Stream;

/// Elements that are computed at a time, before they are converted to the destination's dtype.
const BLOCK: usize = 256;

/// Writes a number to operand 0 of a plan, whose operand 1 steps by zero.
///
/// # Safety
/// The plan's positions from `dest` on are writable.
pub(crate) unsafe fn fill(plan: &Plan, dest: Place, value: Scalar) {
    let constant = Constant::new(value, dest.dtype);
    let source = Place {
        ptr: constant.as_ptr().cast_mut(),
        dtype: dest.dtype,
    };
    // SAFETY: the one element that the source repeats lives until the copy is done.
    unsafe { copy(plan, dest, source) };
}

/// Writes `start`, `start + step`, and so on; integers in `i64`, others in `f64`, each from its
/// index, so that rounding does not add up.
///
/// # Safety
/// `n` adjacent elements at `dest` are writable.
pub(crate) unsafe fn arange(n: usize, dest: Place, start: Scalar, step: Scalar) {
    if dest.dtype.is_integral() {
        let (start, step) = (start.to_i64(), step.to_i64());
        let value = |i: usize| start.wrapping_add(step.wrapping_mul(i as i64));
        // SAFETY: the caller's promise.
        unsafe { by_index(n, dest, DType::I64, value) };
    } else {
        let (start, step) = (start.to_f64(), step.to_f64());
        // SAFETY: the caller's promise.
        unsafe { by_index(n, dest, DType::F64, |i| start + step * i as f64) };
    }
}

/// Writes `value(i)` to element `i`. `dtype` is `T`'s.
///
/// # Safety
/// `n` adjacent elements at `dest` are writable.
pub(crate) unsafe fn by_index<T: Copy + Default>(
    n: usize,
    dest: Place,
    dtype: DType,
    value: impl Fn(usize) -> T + Sync,
) {
    // SAFETY: passed on.
    unsafe {
        by_block(n, dest, dtype, 1, &|start, block: &mut [T]| {
            for (i, out) in block.iter_mut().enumerate() {
                *out = value(start + i);
            }
        });
    }
}

/// Lets `make` write blocks of elements, which start at multiples of `group`, and converts them.
/// `dtype` is `T`'s; `group` divides the block's length.
///
/// # Safety
/// `n` adjacent elements at `dest` are writable.
unsafe fn by_block<T: Copy + Default>(
    n: usize,
    dest: Place,
    dtype: DType,
    group: usize,
    make: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let cast = Cast::new(dtype, dest.dtype);
    let size = dest.dtype.size();
    let ptr = Shared(dest.ptr);
    let groups = n.div_ceil(group);
    split(groups, GRAIN / group / 4, &|range| {
        let end = n.min(range.end * group);
        for start in (range.start * group..end).step_by(BLOCK) {
            let mut block = [T::default(); BLOCK];
            make(start, &mut block);
            let count = BLOCK.min(end - start);
            // SAFETY: within the `n` elements; other ranges write to others.
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

/// Writes random numbers. Which number element `i` gets depends on the stream and `i` alone.
///
/// # Safety
/// `n` adjacent elements at `dest` are writable.
pub(crate) unsafe fn random(n: usize, dest: Place, stream: &Stream) {
    // SAFETY: passed on; a complex number is two adjacent real ones.
    unsafe {
        match dest.dtype {
            DType::F64 => by_block(n, dest, DType::F64, 2, &|i, out| stream.doubles(i, out)),
            DType::C64 => {
                let parts = Place {
                    dtype: DType::F32,
                    ..dest
                };
                by_block(2 * n, parts, DType::F32, 4, &|i, out| stream.floats(i, out));
            }
            DType::C128 => {
                let parts = Place {
                    dtype: DType::F64,
                    ..dest
                };
                by_block(2 * n, parts, DType::F64, 2, &|i, out| {
                    stream.doubles(i, out)
                });
            }
            other => {
                debug_assert_eq!(arithmetic(other), DType::F32, "checked by the caller");
                by_block(n, dest, DType::F32, 4, &|i, out| stream.floats(i, out));
            }
        }
    }
}
