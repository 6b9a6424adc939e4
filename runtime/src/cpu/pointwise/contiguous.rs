//! Elementwise loops over contiguous operands and operands that repeat along them.

use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use nomina_core::{DType, Scalar};

use super::kernel::{Inputs, Kernel};
use crate::job::Constant;

use crate::cpu::parallel::{Shared, split_by_time};

use crate::shape::product;

/// Bytes of a block for the expanded elements of a repeating operand, or for in-place results.
const BLOCK: usize = 4096;

/// Like [`BLOCK`], for operations whose operands fit in a block as a whole.
pub(crate) const SMALL: usize = 256;

/// The number of operands of a loop.
const INPUTS: usize = 4;

/// A buffer on the stack, aligned for every element type.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct StackBlock<const N: usize>([MaybeUninit<u8>; N]);

impl<const N: usize> StackBlock<N> {
    pub(crate) const NEW: Self = Self([MaybeUninit::uninit(); N]);

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Calls the loop of `kernel` on contiguous elements.
#[inline]
pub(crate) unsafe fn run_contiguous(kernel: &Kernel, job: &ContiguousJob<'_>) {
    if kernel.is_shared(job.count) && job.lanes.iter().all(|lane| lane.period().is_none()) {
        // SAFETY: guaranteed by the caller.
        return unsafe { run_shared(kernel, job) };
    }
    // SAFETY: guaranteed by the caller.
    unsafe { run_on_one_thread(kernel, job) };
}

/// Like [`run_contiguous`], on several threads if that pays; no operand repeats.
///
/// # Safety
/// The requirements of [`run_contiguous`].
#[inline(never)]
unsafe fn run_shared(kernel: &Kernel, job: &ContiguousJob<'_>) {
    let (dest, lanes, in_place) = (Shared(job.dest), job.lanes, job.in_place);
    split_by_time(job.count, 1, &|range| {
        let at = |dtype: DType| product([range.start, dtype.size()]);
        let mut part = [Lane::Number(Scalar::Bool(false)); INPUTS];
        for (i, (part, lane)) in part.iter_mut().zip(lanes).enumerate() {
            *part = match *lane {
                Lane::Whole(place) => Lane::Whole(place.wrapping_add(at(kernel.inputs[i]))),
                lane => lane,
            };
        }
        let part = ContiguousJob {
            count: range.len(),
            dest: dest.get().wrapping_add(at(kernel.output)),
            lanes: &part[..lanes.len()],
            in_place,
        };
        // SAFETY: guaranteed by the caller for some of the elements; ranges do not overlap in the result.
        unsafe { run_on_one_thread(kernel, &part) };
    });
}

/// Like [`run_contiguous`], on one thread.
///
/// # Safety
/// The requirements of [`run_contiguous`].
#[inline]
unsafe fn run_on_one_thread(kernel: &Kernel, job: &ContiguousJob<'_>) {
    let mut ptrs: Inputs = [std::ptr::null(); INPUTS];
    let mut whole = true;
    for (ptr, lane) in ptrs.iter_mut().zip(job.lanes) {
        match *lane {
            Lane::Whole(place) => *ptr = place,
            _ => whole = false,
        }
    }
    if job.in_place && whole {
        whole = false;
        if let Some(run) = kernel.pick_own()
            && is_first(job.dest, &ptrs)
        {
            // SAFETY: the first operand is the result, and no other operand is.
            return unsafe { run(job.count, job.dest, ptrs) };
        }
    }
    // SAFETY: dense operands in the kernel's dtypes. For loops that read them in place, the result
    // overlaps none of them; the rest is guaranteed by the caller.
    unsafe {
        if whole {
            (kernel.pick())(job.count, job.dest, ptrs);
        } else if product([job.count, widest(kernel)]) <= SMALL {
            run_small(kernel, job);
        } else {
            run_in_blocks(kernel, job);
        }
    }
}

/// Calls the loop of `kernel` on `count` contiguous elements and writes the results over one of the
/// operands: over the first if `first`, otherwise over another. Returns false, without having done
/// anything, if there are too many elements for one thread or for a block.
///
/// # Safety
/// The operands have the kernel's dtypes, and `dest` overlaps no operand other than the one it overwrites.
#[inline]
pub(crate) unsafe fn run_over_operand(
    kernel: &Kernel,
    count: usize,
    dest: *mut u8,
    inputs: Inputs,
    first: bool,
) -> bool {
    if kernel.is_shared(count) {
        return false;
    }
    if first && let Some(run) = kernel.pick_own() {
        // SAFETY: the first operand is the result, and no other operand is.
        unsafe { run(count, dest, inputs) };
        return true;
    }
    let bytes = count * kernel.output.size();
    if bytes > SMALL {
        return false;
    }
    let mut result = StackBlock::<SMALL>::NEW;
    let result = result.as_mut_ptr();
    // SAFETY: guaranteed by the caller; results are staged in a separate block.
    unsafe {
        (kernel.pick())(count, result, inputs);
        copy_nonoverlapping(result, dest, bytes);
    }
    true
}

/// Returns whether the first operand is the result, and no other operand is.
pub(super) fn is_first(dest: *mut u8, inputs: &Inputs) -> bool {
    let same = |ptr: &*const u8| std::ptr::eq(*ptr, dest);
    same(&inputs[0]) && !inputs[1..].iter().any(same)
}

/// Returns the size of the largest element that passes through a block.
fn widest(kernel: &Kernel) -> usize {
    let inputs = kernel.inputs[..kernel.arity].iter();
    inputs.fold(kernel.output.size(), |most, dtype| most.max(dtype.size()))
}

/// Like [`run_contiguous`], for operands that fit in [`SMALL`] bytes.
///
/// # Safety
/// The requirements of [`run_contiguous`].
#[inline(never)]
unsafe fn run_small(kernel: &Kernel, job: &ContiguousJob<'_>) {
    let mut scratch = [StackBlock::<SMALL>::NEW; INPUTS];
    let mut result = StackBlock::<SMALL>::NEW;
    let (count, result) = (job.count, result.as_mut_ptr());
    let mut ptrs: Inputs = [std::ptr::null(); INPUTS];
    for (i, lane) in job.lanes.iter().enumerate() {
        // SAFETY: the blocks have room for all elements, which are whole periods.
        ptrs[i] = unsafe { spread(lane, kernel.inputs[i], count, scratch[i].as_mut_ptr()) };
    }
    let run = kernel.pick();
    // SAFETY: `count` elements of each; results that overlap an input are staged in a separate block.
    unsafe {
        if job.in_place {
            run(count, result, ptrs);
            copy_nonoverlapping(result, job.dest, count * kernel.output.size());
        } else {
            run(count, job.dest, ptrs);
        }
    }
}

/// Returns the address of `count` contiguous elements of an operand. A repeating operand is expanded into
/// `block`.
///
/// # Safety
/// The operand's elements are readable and have this dtype, there are whole periods of them, and `block`
/// is aligned and has room for all.
#[inline]
pub(crate) unsafe fn spread(lane: &Lane, dtype: DType, count: usize, block: *mut u8) -> *const u8 {
    let size = dtype.size();
    // SAFETY: guaranteed by the caller.
    unsafe {
        match *lane {
            Lane::Whole(place) => return place,
            Lane::Rows(row, n) => tile(row, n * size, block, count * size),
            Lane::Columns(column, n) => {
                for k in 0..count / n {
                    let source = column.add(k * size);
                    repeat(source, size, block.add(k * n * size), n);
                }
            }
            Lane::Number(value) => {
                let number = Constant::new(value, dtype);
                repeat(number.as_ptr(), size, block, count);
            }
        }
    }
    block
}

/// Like [`run_contiguous`], block by block: the loop reads repeating operands from memory and assumes that its
/// result overlaps no input.
///
/// # Safety
/// The requirements of [`run_contiguous`].
#[inline(never)]
unsafe fn run_in_blocks(kernel: &Kernel, job: &ContiguousJob<'_>) {
    let mut scratch = [StackBlock::<BLOCK>::NEW; INPUTS];
    let mut result = StackBlock::<BLOCK>::NEW;
    let blocks = scratch.each_mut().map(StackBlock::as_mut_ptr);
    let result = result.as_mut_ptr();
    let size = |i: usize| kernel.inputs[i].size();
    let (fits, out, run) = (BLOCK / widest(kernel), kernel.output.size(), kernel.pick());
    let period = job.lanes.iter().find_map(Lane::period);
    let period = period.unwrap_or(job.count);
    // Many short periods at a time, or part of a long one.
    let short = period <= fits;
    let (span, step) = if short {
        (job.count, fits / period * period)
    } else {
        (period, fits)
    };
    let step = step.min(span);
    for (i, lane) in job.lanes.iter().enumerate() {
        // SAFETY: the blocks have room for `step` elements, which are whole periods if these are short.
        unsafe {
            match *lane {
                Lane::Number(value) => {
                    let number = Constant::new(value, kernel.inputs[i]);
                    repeat(number.as_ptr(), size(i), blocks[i], step);
                }
                Lane::Rows(row, n) if short => {
                    tile(row, n * size(i), blocks[i], step * size(i));
                }
                _ => {}
            }
        }
    }
    let mut first = 0;
    while first < job.count {
        let mut at = 0;
        while at < span {
            let n = step.min(span - at);
            let mut ptrs = blocks.map(<*mut u8>::cast_const);
            for (i, lane) in job.lanes.iter().enumerate() {
                match *lane {
                    Lane::Whole(place) => ptrs[i] = place.wrapping_add((first + at) * size(i)),
                    Lane::Rows(row, _) if !short => ptrs[i] = row.wrapping_add(at * size(i)),
                    // SAFETY: one element of the column for each period that begins here.
                    Lane::Columns(column, _) if short => unsafe {
                        for k in 0..n / period {
                            let source = column.add((at / period + k) * size(i));
                            repeat(source, size(i), blocks[i].add(k * period * size(i)), period);
                        }
                    },
                    // SAFETY: the element of this period.
                    Lane::Columns(column, _) if at == 0 => unsafe {
                        repeat(
                            column.add(first / period * size(i)),
                            size(i),
                            blocks[i],
                            step,
                        );
                    },
                    Lane::Rows(..) | Lane::Columns(..) | Lane::Number(_) => {}
                }
            }
            let dest = job.dest.wrapping_add((first + at) * out);
            // SAFETY: `n` elements of operands or blocks; results that overlap an input are staged in a
            // separate block.
            unsafe {
                if job.in_place {
                    run(n, result, ptrs);
                    copy_nonoverlapping(result, dest, n * out);
                } else {
                    run(n, dest, ptrs);
                }
            }
            at += n;
        }
        first += span;
    }
}

/// Repeats `row` bytes until `all` bytes are written; `all` is a multiple of `row`.
///
/// # Safety
/// `row` bytes are readable; there is room for `all` bytes, which do not overlap them.
unsafe fn tile(source: *const u8, row: usize, block: *mut u8, all: usize) {
    if row <= 16 && row.is_power_of_two() {
        // SAFETY: guaranteed by the caller; the row is copied like an element.
        return unsafe { repeat(source, row, block, all / row) };
    }
    // SAFETY: guaranteed by the caller; each copy appends the bytes written so far, without overlap.
    unsafe {
        copy_nonoverlapping(source, block, row);
        let mut done = row;
        while done < all {
            let more = done.min(all - done);
            copy_nonoverlapping(block, block.add(done), more);
            done += more;
        }
    }
}

/// Writes an element `n` times.
///
/// # Safety
/// `size` bytes are readable, and there is room for `n * size`.
#[inline]
pub(crate) unsafe fn repeat(source: *const u8, size: usize, block: *mut u8, n: usize) {
    /// # Safety
    /// The requirements of [`repeat`], for the size of `W`.
    #[inline(always)]
    unsafe fn write<W: Copy>(source: *const u8, block: *mut u8, n: usize) {
        // SAFETY: guaranteed by the caller; a complex number is aligned like its parts, and so is a row.
        unsafe {
            let word = source.cast::<W>().read_unaligned();
            for i in 0..n {
                block.cast::<W>().add(i).write_unaligned(word);
            }
        }
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        match size {
            1 => write::<u8>(source, block, n),
            2 => write::<u16>(source, block, n),
            4 => write::<u32>(source, block, n),
            8 => write::<u64>(source, block, n),
            _ => write::<u128>(source, block, n),
        }
    }
}

/// How an operand of a dense operation corresponds to the result's elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lane {
    /// One element for each element of the result.
    Whole(*const u8),
    /// A number of elements, repeated cyclically.
    Rows(*const u8, usize),
    /// Elements that are each repeated a number of times.
    Columns(*const u8, usize),
    /// One number for all elements.
    Number(Scalar),
}

// SAFETY: it is only an address; code that reads through it ensures that nobody writes meanwhile.
unsafe impl Sync for Lane {}

impl Lane {
    /// Returns the number of result elements after which a row starts again or a column advances.
    #[inline]
    pub(crate) fn period(&self) -> Option<usize> {
        match *self {
            Self::Rows(_, n) | Self::Columns(_, n) => Some(n),
            Self::Whole(_) | Self::Number(_) => None,
        }
    }
}

/// An elementwise operation on contiguous elements in the dtypes of its loop.
pub(crate) struct ContiguousJob<'a> {
    /// The number of elements of the result.
    pub(crate) count: usize,
    pub(crate) dest: *mut u8,
    /// The operands. All periods are equal and divide the count.
    pub(crate) lanes: &'a [Lane],
    /// Whether a whole operand is the result itself.
    pub(crate) in_place: bool,
}
