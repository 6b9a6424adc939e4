//! In-place operators on contiguous elements.

use std::mem::MaybeUninit;

use nomina_core::{DType, Scalar};

use super::contiguous::run_contiguous;
use super::kernel::Kernel;
use crate::cpu::pointwise::{ContiguousJob, Lane};

use crate::cpu::cast::Cast;

/// Elements that are widened at a time; they stay in the first-level cache.
const BLOCK: usize = 1024;

/// A block of the widest dtype that other dtypes are computed in: `f32`.
#[repr(C, align(64))]
struct WideBlock([MaybeUninit<f32>; BLOCK]);

/// Applies a kernel of two operands of its result's dtype to `n` contiguous elements, which the results replace, and `n`
/// others.
///
/// # Safety
/// The elements are valid for the dtype and aligned, nobody else accesses those at `ptr` meanwhile, and `other` does not
/// overlap them.
pub(crate) unsafe fn run_with(kernel: &Kernel, n: usize, ptr: *mut u8, other: *const u8) {
    debug_assert!(kernel.arity == 2 && kernel.reads_only(kernel.output));
    let job = ContiguousJob {
        count: n,
        dest: ptr,
        lanes: &[Lane::Whole(ptr.cast_const()), Lane::Whole(other)],
        in_place: true,
    };
    // SAFETY: guaranteed by the caller.
    unsafe { run_contiguous(kernel, &job) };
}

/// Applies a kernel of one dtype, of the elements and perhaps a number, to `n` contiguous elements. Elements of another
/// dtype are converted to the kernel's dtype and back.
///
/// # Safety
/// The elements are valid for their dtype and aligned, and nobody else accesses them meanwhile.
pub(crate) unsafe fn run_in_place(
    kernel: &Kernel,
    number: Option<Scalar>,
    dtype: DType,
    n: usize,
    ptr: *mut u8,
) {
    debug_assert!(kernel.arity == 1 + usize::from(number.is_some()));
    debug_assert!(kernel.inputs[0] == kernel.output);
    let run = |n, ptr: *mut u8| {
        let lanes = [
            Lane::Whole(ptr.cast_const()),
            Lane::Number(number.unwrap_or(Scalar::Bool(false))),
        ];
        let job = ContiguousJob {
            count: n,
            dest: ptr,
            lanes: &lanes[..kernel.arity],
            in_place: true,
        };
        // SAFETY: elements of the kernel's dtype, which are both its operand and its result.
        unsafe { run_contiguous(kernel, &job) };
    };
    if dtype == kernel.output {
        return run(n, ptr);
    }
    debug_assert!(kernel.output == DType::F32);
    let mut block = WideBlock([MaybeUninit::uninit(); BLOCK]);
    let wide = block.0.as_mut_ptr().cast::<u8>();
    let (there, back) = (Cast::new(dtype, DType::F32), Cast::new(DType::F32, dtype));
    let [size, wide_size] = there.sizes();
    for first in (0..n).step_by(BLOCK) {
        let count = BLOCK.min(n - first);
        let at = ptr.wrapping_offset(first as isize * size);
        // SAFETY: `count` of the elements, for which the block has room.
        unsafe {
            there.run(count, at, size, wide, wide_size);
            run(count, wide);
            back.run(count, wide, wide_size, at, size);
        }
    }
}
