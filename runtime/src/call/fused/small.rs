//! Chains of small row-major tensors of one float dtype: loop by loop through blocks on the stack, with as little
//! overhead as possible, which dominates such chains.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use crate::call::direct::short;
use crate::call::direct::{keeps, larger, repeated, same};
use crate::call::small::{Computed, count, wrap};
use crate::cpu::pointwise::Lane;
use crate::cpu::pointwise::{Inputs, Kernel, StackBlock, spread};
use crate::job::Node;
use crate::raw::{Raw, Strided};
use crate::shape::product;
use crate::storage::Storage;

/// The most bytes of a step's elements. Beyond, the pass over cache blocks is worth its setup.
const BYTES: usize = 1024;

/// The most steps of a chain.
const STEPS: usize = 16;

/// The most blocks for intermediate results, numbers and repeated operands.
const BLOCKS: usize = 10;

/// Computes the result; `None` if the chain does not qualify.
#[inline(always)]
pub(crate) fn small(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> Option<Raw> {
    let (elements, like) = compute(program, tensors, numbers)?;
    // SAFETY: `compute` checked it.
    Some(unsafe { wrap(elements, like) })
}

/// Computes the elements, and returns a layout like theirs.
#[inline(never)]
fn compute<'a>(
    program: &[Node<'_>],
    tensors: &[&'a Raw],
    numbers: &[Scalar],
) -> Option<(Computed, &'a Strided)> {
    let (&Node::Apply(last, args), before) = program.split_last()? else {
        return None;
    };
    let (dtype, like, repeats) = common(tensors)?;
    let count = count(like)?;
    if product([count, dtype.size()]) > BYTES || before.len() >= STEPS {
        return None;
    }
    let mut blocks = [StackBlock::<BYTES>::NEW; BLOCKS];
    let mut blocks = blocks.iter_mut().map(StackBlock::as_mut_ptr);
    let mut steps = ChainState {
        at: [std::ptr::null(); STEPS],
        dtypes: [dtype; STEPS],
        dtype,
        numbers: 0,
        unread: 0,
    };
    for (i, node) in before.iter().enumerate() {
        steps.at[i] = match *node {
            Node::Tensor(tensor) if repeats => {
                let raw = *tensors.get(tensor)?;
                // Written part by part: a move of the whole just after it was written would stall.
                let lane = match repeated(raw.as_ptr(), raw.layout(), like, count)? {
                    Lane::Rows(row, n) => Some(Lane::Rows(row, n)),
                    Lane::Columns(column, n) => Some(Lane::Columns(column, n)),
                    Lane::Whole(_) | Lane::Number(_) => None,
                };
                match lane {
                    // SAFETY: the tensor's elements, and a block with room for `count`.
                    Some(lane) => unsafe { spread(&lane, dtype, count, blocks.next()?) },
                    None => raw.as_ptr(),
                }
            }
            Node::Tensor(tensor) => tensors.get(tensor)?.as_ptr(),
            Node::Scalar(number) => {
                let value = numbers.get(number).copied();
                let value = value.filter(|&value| keeps(value, dtype))?;
                steps.numbers |= 1 << i;
                // SAFETY: a block with room for `count`.
                unsafe { spread(&Lane::Number(value), dtype, count, blocks.next()?) }
            }
            Node::To(to, of) => {
                let elements = steps.elements(of)?;
                steps.unread &= !(1 << of);
                if steps.dtypes[of] != to || steps.numbers & 1 << of != 0 {
                    return None;
                }
                steps.dtypes[i] = to;
                elements
            }
            Node::Apply(op, args) => {
                let (kernel, inputs) = steps.apply(op, args)?;
                let block = blocks.next()?;
                // SAFETY: `count` elements of each, in the dtypes of the loop: tensors are dense or were expanded; the
                // block has room for `count` elements and overlaps none.
                unsafe { (kernel.pick())(count, block, inputs) };
                steps.dtypes[i] = kernel.output;
                block
            }
        };
        steps.unread |= 1 << i;
    }
    let (kernel, inputs) = steps.apply(last, args)?;
    // Each tensor takes part in the shape, since each is read.
    if steps.unread != 0 {
        return None;
    }
    let (storage, dest) = Storage::small(product([count, kernel.output.size()]))?;
    // SAFETY: as above; the result is new, and has room for `count`.
    unsafe { (kernel.pick())(count, dest, inputs) };
    Some(((storage, kernel.output), like))
}

/// The state of the steps so far.
struct ChainState {
    /// The addresses of the elements.
    at: [*const u8; STEPS],
    dtypes: [DType; STEPS],
    /// The dtype in which all steps compute.
    dtype: DType,
    /// A bit for each step that is a number.
    numbers: u32,
    /// A bit for each step that no later step has read.
    unread: u32,
}

impl ChainState {
    /// Returns the elements of a computed step; `None` for any other.
    #[inline(always)]
    fn elements(&self, step: usize) -> Option<*const u8> {
        self.at.get(step).copied().filter(|at| !at.is_null())
    }

    /// Returns the loop of an operator, and its inputs.
    // Inlined: a call would pass the inputs through memory twice.
    #[inline(always)]
    fn apply(&mut self, op: Op, args: &[usize]) -> Option<(&'static Kernel, Inputs)> {
        let kernel = short(op, self.dtype)?;
        // A mask may be larger than the operand that it fills.
        let fits = kernel.arity == args.len() && op != Op::MaskedFill;
        if !fits || !op.row().dtypes.contains(self.dtype) {
            return None;
        }
        let mut inputs: Inputs = [std::ptr::null(); 4];
        let mut computes = false;
        for (i, &at) in args.iter().enumerate() {
            inputs[i] = self.elements(at)?;
            if self.dtypes[at] != kernel.inputs[i] {
                return None;
            }
            computes |= self.dtypes[at] == self.dtype && self.numbers & 1 << at == 0;
            self.unread &= !(1 << at);
        }
        computes.then_some((kernel, inputs))
    }
}

/// Returns the float dtype of all tensors if they have one and are on the host; a layout like the result's; and whether
/// layouts differ.
#[inline]
fn common<'a>(tensors: &[&'a Raw]) -> Option<(DType, &'a Strided, bool)> {
    let first = tensors.first()?;
    let (dtype, mut like, mut repeats) = (first.dtype(), first.layout(), false);
    if !matches!(dtype, DType::F32 | DType::F64) {
        return None;
    }
    for raw in tensors {
        if raw.dtype() != dtype || !raw.device().is_cpu() {
            return None;
        }
        if !same(raw.layout(), like) {
            (like, repeats) = (larger(raw.layout(), like), true);
        }
    }
    Some((dtype, like, repeats))
}
