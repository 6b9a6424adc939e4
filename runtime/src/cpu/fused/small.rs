//! Chains of small row-major tensors of one float dtype: loop by loop through blocks on the stack,
//! without a plan. What such a chain costs is mostly what is left out here.

use std::mem::MaybeUninit;

use nomina_core::op::Op;
use nomina_core::{DType, Element, Result, Scalar};

use crate::backend::Lane;
use crate::call::Node;
use crate::call::direct::{keeps, larger, repeated, same};
use crate::cpu::pointwise::{Inputs, Kernel, kernel};
use crate::raw::{Raw, Strided};
use crate::storage::Storage;

/// What the elements of a step may take. Beyond, the pass over cache blocks has earned what it
/// costs to begin.
const BYTES: usize = 1024;

/// As many steps as a chain may have.
const STEPS: usize = 16;

/// As many blocks for results between them, numbers, and operands that repeat.
const BLOCKS: usize = 10;

/// Room for the elements of a step.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Block([MaybeUninit<u8>; BYTES]);

/// The result, or the error of its memory; `None` where the chain must go the long way.
pub(crate) fn small(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
) -> Option<Result<Raw>> {
    match tensors.first()?.dtype() {
        DType::F32 => of::<f32>(program, tensors, numbers),
        DType::F64 => of::<f64>(program, tensors, numbers),
        _ => None,
    }
}

fn of<T: Element>(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
) -> Option<Result<Raw>> {
    let (&Node::Apply(last, args), before) = program.split_last()? else {
        return None;
    };
    let (like, repeats) = common::<T>(tensors)?;
    let count = like.dense_count()?;
    if count * size_of::<T>() > BYTES || before.len() >= STEPS {
        return None;
    }
    let mut blocks = [const { Block([MaybeUninit::uninit(); BYTES]) }; BLOCKS];
    let mut blocks = blocks
        .iter_mut()
        .map(|block| block.0.as_mut_ptr().cast::<u8>());
    let mut steps = Steps {
        at: [std::ptr::null(); STEPS],
        dtypes: [T::DTYPE; STEPS],
        numbers: 0,
        unread: 0,
    };
    for (i, node) in before.iter().enumerate() {
        steps.at[i] = match *node {
            Node::Tensor(tensor) if repeats => {
                let raw = tensors[tensor];
                match repeated(raw.as_ptr(), raw.layout(), like, count)? {
                    Lane::Whole(place) => place,
                    lane => {
                        let block = blocks.next()?;
                        // SAFETY: the tensor's elements, and a block with room for `count`.
                        unsafe { spread::<T>(&lane, block.cast(), count) };
                        block
                    }
                }
            }
            Node::Tensor(tensor) => tensors[tensor].as_ptr(),
            Node::Scalar(number) => {
                let value = Some(numbers[number]).filter(|&value| keeps(value, T::DTYPE))?;
                let block = blocks.next()?;
                // SAFETY: a block with room for `count`.
                unsafe { fill(block.cast(), T::from_scalar(value), count) };
                steps.numbers |= 1 << i;
                block
            }
            Node::To(to, of) => {
                steps.unread &= !(1 << of);
                if steps.dtypes[of] != to || steps.numbers & 1 << of != 0 {
                    return None;
                }
                steps.dtypes[i] = to;
                steps.at[of]
            }
            Node::Apply(op, args) => {
                let (kernel, inputs) = steps.apply::<T>(op, args)?;
                let block = blocks.next()?;
                // SAFETY: `count` elements of each, in the dtypes of the loop: tensors are dense, or
                // were spread; the block has room for as many, and overlaps none.
                unsafe { (kernel.pick())(count, block, inputs) };
                steps.dtypes[i] = kernel.output;
                block
            }
        };
        steps.unread |= 1 << i;
    }
    let (kernel, inputs) = steps.apply::<T>(last, args)?;
    // Each tensor has its part in the shape, since each is read.
    (steps.unread == 0).then(|| {
        let mut storage = Storage::cpu(last.name(), count * kernel.output.size())?;
        if let Some(dest) = storage.unique_ptr() {
            // SAFETY: as above; the result is new, and has room for `count`.
            unsafe { (kernel.pick())(count, dest, inputs) };
        }
        Ok(Raw {
            storage,
            layout: Strided {
                offset: 0,
                ..like.clone()
            },
            dtype: kernel.output,
        })
    })
}

/// What is known of the steps so far.
struct Steps {
    /// Where the elements are.
    at: [*const u8; STEPS],
    dtypes: [DType; STEPS],
    /// Steps that are numbers, a bit each.
    numbers: u32,
    /// Steps that no later one has read.
    unread: u32,
}

impl Steps {
    /// The loop of an operator that computes in `T`, and what it reads.
    // In place: a call would pass what the loop reads through memory, twice.
    #[inline(always)]
    fn apply<T: Element>(&mut self, op: Op, args: &[usize]) -> Option<(&'static Kernel, Inputs)> {
        let kernel = kernel(op, T::DTYPE)?;
        // What a mask fills may be smaller than the mask.
        let fits = kernel.arity == args.len() && op != Op::MaskedFill;
        if !fits || !op.row().dtypes.contains(T::DTYPE) {
            return None;
        }
        let mut inputs: Inputs = [std::ptr::null(); 4];
        let mut computes = false;
        for (i, &at) in args.iter().enumerate() {
            if self.dtypes[at] != kernel.inputs[i] {
                return None;
            }
            inputs[i] = self.at[at];
            computes |= self.dtypes[at] == T::DTYPE && self.numbers & 1 << at == 0;
            self.unread &= !(1 << at);
        }
        computes.then_some((kernel, inputs))
    }
}

/// A layout as the result's, of tensors of `T` on the host, and whether there are others.
#[inline]
fn common<'a, T: Element>(tensors: &[&'a Raw]) -> Option<(&'a Strided, bool)> {
    let (mut like, mut repeats) = (tensors.first()?.layout(), false);
    for raw in tensors {
        if raw.dtype() != T::DTYPE || !raw.device().is_cpu() {
            return None;
        }
        if !same(raw.layout(), like) {
            (like, repeats) = (larger(raw.layout(), like), true);
        }
    }
    Some((like, repeats))
}

/// Writes the elements of an operand that repeats as often as they stand for one.
///
/// # Safety
/// The operand's elements are readable; there is room for `count`, whole periods.
unsafe fn spread<T: Element>(lane: &Lane, block: *mut T, count: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match *lane {
            Lane::Rows(row, n) => {
                for first in (0..count).step_by(n) {
                    for i in 0..n {
                        block.add(first + i).write(row.cast::<T>().add(i).read());
                    }
                }
            }
            Lane::Columns(column, n) => {
                for i in 0..count / n {
                    fill(block.add(i * n), column.cast::<T>().add(i).read(), n);
                }
            }
            Lane::Whole(_) | Lane::Number(_) => unreachable!("neither repeats"),
        }
    }
}

/// Writes a number `n` times.
///
/// # Safety
/// There is room for `n` elements.
#[inline]
unsafe fn fill<T: Element>(block: *mut T, value: T, n: usize) {
    for i in 0..n {
        // SAFETY: the caller's promise.
        unsafe { block.add(i).write(value) };
    }
}
