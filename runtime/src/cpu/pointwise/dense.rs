//! Operands that lie as the loop reads them.

use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use super::kernel::{Inputs, Kernel};
use crate::backend::{Dense, Input};
use crate::cpu::constant::Constant;

/// Bytes of a number that are written side by side, and of results in place.
const BLOCK: usize = 4096;

/// As many operands as a loop reads.
const INPUTS: usize = 4;

#[repr(C, align(64))]
struct Scratch([MaybeUninit<u8>; BLOCK]);

impl Scratch {
    const NEW: MaybeUninit<Self> = MaybeUninit::uninit();
}

/// Calls the loop of `kernel` on adjacent elements; false, and nothing has happened, where it
/// reads or writes other dtypes.
///
/// # Safety
/// As [`crate::backend::Backend::dense`].
#[inline]
pub(crate) unsafe fn dense(kernel: &Kernel, job: &Dense<'_>) -> bool {
    if kernel.arity != job.inputs.len() || kernel.output != job.dest.dtype {
        return false;
    }
    let mut ptrs: Inputs = [std::ptr::null(); INPUTS];
    let mut numbers = false;
    for ((ptr, input), &dtype) in ptrs.iter_mut().zip(job.inputs).zip(&kernel.inputs) {
        match input {
            Input::Tensor(place) if place.dtype == dtype => *ptr = place.ptr.cast_const(),
            Input::Tensor(_) => return false,
            Input::Scalar(_) => numbers = true,
        }
    }
    if numbers || job.in_place {
        // SAFETY: the caller's promise.
        unsafe { in_blocks(kernel, job, ptrs) };
    } else {
        // SAFETY: dense operands in the kernel's dtypes; the result overlaps none of them.
        unsafe { (kernel.pick())(job.count, job.dest.ptr, ptrs) };
    }
    true
}

/// The same, as many elements at a time as there is room for: the loop reads numbers from memory,
/// and assumes that its result overlaps no input.
///
/// # Safety
/// As [`dense`]; tensors have the kernel's dtypes.
unsafe fn in_blocks(kernel: &Kernel, job: &Dense<'_>, mut ptrs: Inputs) {
    let mut scratch = [Scratch::NEW; INPUTS];
    let mut result = Scratch::NEW;
    let size = |i: usize| kernel.inputs[i].size();
    let longest = (0..kernel.arity).map(size).max().unwrap_or(1);
    let out = kernel.output.size();
    let step = (BLOCK / longest.max(out)).min(job.count);
    let mut steps = [0; INPUTS];
    for (i, input) in job.inputs.iter().enumerate() {
        match *input {
            Input::Tensor(_) => steps[i] = size(i),
            Input::Scalar(value) => {
                let block = scratch[i].as_mut_ptr().cast::<u8>();
                let number = Constant::new(value, kernel.inputs[i]);
                // SAFETY: the block has room for `step` elements.
                unsafe { repeat(&number, size(i), block, step) };
                ptrs[i] = block;
            }
        }
    }
    let run = kernel.pick();
    let mut at = 0;
    while at < job.count {
        let n = step.min(job.count - at);
        let mut now = ptrs;
        for (ptr, step) in now.iter_mut().zip(steps) {
            *ptr = ptr.wrapping_add(at * step);
        }
        let dest = job.dest.ptr.wrapping_add(at * out);
        // SAFETY: `n` elements from `at` on, or of a number; results go through a block of their own
        // where they overlap the first input.
        unsafe {
            if job.in_place {
                let block = result.as_mut_ptr().cast::<u8>();
                run(n, block, now);
                copy_nonoverlapping(block, dest, n * out);
            } else {
                run(n, dest, now);
            }
        }
        at += n;
    }
}

/// Writes an element `n` times.
///
/// # Safety
/// There is room for `n` elements of `size` bytes, aligned for them.
unsafe fn repeat(number: &Constant, size: usize, block: *mut u8, n: usize) {
    /// # Safety
    /// As [`repeat`], for the size of `W`.
    unsafe fn write<W: Copy>(number: &Constant, block: *mut u8, n: usize) {
        // SAFETY: a number has 16 bytes, aligned to 16; the caller's promise.
        unsafe {
            let word = number.as_ptr().cast::<W>().read();
            for i in 0..n {
                block.cast::<W>().add(i).write(word);
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => write::<u8>(number, block, n),
            2 => write::<u16>(number, block, n),
            4 => write::<u32>(number, block, n),
            8 => write::<u64>(number, block, n),
            _ => write::<u128>(number, block, n),
        }
    }
}
