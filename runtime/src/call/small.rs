//! The fastest path of an elementwise operator: for one or two small row-major tensors of one dtype on the host. Two
//! tensors have one shape, or the smaller one repeats and is first expanded to a block on the stack, as a number is.
//!
//! The checks are the fewest that recognise such a call. Elements are computed first, and the caller builds the tensor
//! in its final place: moves are most of the cost of a small tensor.

use nomina_core::DType;
use nomina_core::op::Op;

use super::arg::Arg;
use super::direct::{find, keeps, larger, repeated};
use crate::job::Constant;

use crate::cpu::pointwise::{Inputs, Kernel, SMALL, StackBlock, repeat, run_over_operand, spread};
use crate::raw::{Raw, Strided};
use crate::shape::product;
use crate::storage::Storage;

/// New elements and their dtype.
pub(crate) type Computed = (Storage, DType);

/// Returns the inputs of a loop that reads at most two.
#[inline(always)]
fn inputs(x: *const u8, y: *const u8) -> Inputs {
    [x, y, y, y]
}

/// Returns a tensor of new elements with the strides of `like`.
///
/// # Safety
/// `like` is row-major, has the same number of elements, and its lists own no allocation.
#[inline(always)]
pub(crate) unsafe fn wrap((storage, dtype): Computed, like: &Strided) -> Raw {
    // SAFETY: the caller's promise.
    unsafe { Raw::like_small(storage, dtype, like) }
}

/// Returns the number of elements of a row-major tensor whose lists own no allocation.
#[inline(always)]
pub(crate) fn count(layout: &Strided) -> Option<usize> {
    if layout.is_spilled() {
        return None;
    }
    layout.dense_count()
}

/// Applies an operator to one tensor; `None` if the call does not qualify.
#[must_use]
#[inline(always)]
pub fn small_unary(op: Op, x: &Raw) -> Option<Raw> {
    let made = unary_elements::<false>(op, x)?;
    // SAFETY: `unary_elements` checked it.
    Some(unsafe { wrap(made, x.layout()) })
}

/// Applies an operator to two operands; `None` if the call does not qualify.
#[must_use]
#[inline(always)]
pub fn small_binary(op: Op, x: Arg<'_>, y: Arg<'_>) -> Option<Raw> {
    if let (Arg::Tensor(x), Arg::Tensor(y)) = (x, y)
        && let Some(raw) = small_same_shape(op, x, y)
    {
        return Some(raw);
    }
    small_repeating(op, x, y)
}

/// Like [`small_binary`], for tensors of one shape.
#[must_use]
#[inline(always)]
pub fn small_same_shape(op: Op, x: &Raw, y: &Raw) -> Option<Raw> {
    if x.shape().len() != y.shape().len() {
        return None;
    }
    let made = same_shape_elements::<false>(op, x, y)?;
    // SAFETY: `same_shape_elements` checked it.
    Some(unsafe { wrap(made, x.layout()) })
}

/// Like [`small_binary`], for operands of different shapes.
#[must_use]
#[inline(always)]
pub fn small_repeating(op: Op, x: Arg<'_>, y: Arg<'_>) -> Option<Raw> {
    let (made, like) = repeating_elements::<false>(op, x, y)?;
    // SAFETY: `repeating_elements` checked it.
    Some(unsafe { wrap(made, like) })
}

/// Like [`small_unary`] and [`small_binary`], but also takes operands with nodes. The result is not recorded.
pub(crate) fn small_with_nodes(op: Op, args: &[Arg<'_>]) -> Option<Raw> {
    let (made, like) = match *args {
        [Arg::Tensor(x)] => (unary_elements::<true>(op, x)?, x.layout()),
        [Arg::Tensor(x), Arg::Tensor(y)] if x.shape() == y.shape() => {
            (same_shape_elements::<true>(op, x, y)?, x.layout())
        }
        [x, y] => repeating_elements::<true>(op, x, y)?,
        _ => return None,
    };
    // SAFETY: the function that computed the elements checked it.
    Some(unsafe { wrap(made, like) })
}

/// Applies an operator into the buffer of its only operand. Returns false, without changes, if the call does not
/// qualify.
#[must_use]
pub fn small_unary_in_place(op: Op, own: &mut Raw) -> bool {
    try_unary_in_place(op, own).is_some()
}

/// Like [`small_binary`], but into the buffer of `own`, which is the first operand, or the second if `behind`. Returns false,
/// without changes, if the call does not qualify.
#[must_use]
pub fn small_binary_in_place(op: Op, own: &mut Raw, other: Arg<'_>, behind: bool) -> bool {
    try_binary_in_place(op, own, other, behind).is_some()
}

/// Computes the elements of [`small_unary`]; with `ANY` also for operands with nodes.
#[inline(never)]
fn unary_elements<const ANY: bool>(op: Op, x: &Raw) -> Option<Computed> {
    if !ANY && x.requires_grad() {
        return None;
    }
    let input = x.on_host_ptr()?;
    let count = count(x.layout())?;
    let kernel = find(op, x.dtype(), 1)?;
    // SAFETY: `count` elements of `x`, of the dtype that the loop reads.
    unsafe { make(kernel, count, inputs(input, input)) }
}

#[inline(never)]
fn same_shape_elements<const ANY: bool>(op: Op, x: &Raw, y: &Raw) -> Option<Computed> {
    let fits = if ANY {
        x.dtype() == y.dtype()
    } else {
        x.is_plain_as(y)
    };
    if !fits || x.layout().is_spilled() {
        return None;
    }
    let inputs = inputs(x.on_host_ptr()?, y.on_host_ptr()?);
    let count = x.layout().dense_alike(y.layout())?;
    let kernel = find(op, x.dtype(), 2)?;
    // SAFETY: as in `unary_elements`, for both operands.
    unsafe { make(kernel, count, inputs) }
}

#[inline(never)]
fn repeating_elements<'a, const ANY: bool>(
    op: Op,
    x: Arg<'a>,
    y: Arg<'a>,
) -> Option<(Computed, &'a Strided)> {
    let recorded = |arg: &Arg<'_>| matches!(arg, Arg::Tensor(raw) if raw.requires_grad());
    if !ANY && (recorded(&x) || recorded(&y)) {
        return None;
    }
    let (whole, other, behind) = match (x, y) {
        (Arg::Tensor(a), Arg::Tensor(b))
            if std::ptr::eq(larger(b.layout(), a.layout()), b.layout()) =>
        {
            (b, &x, true)
        }
        (Arg::Tensor(a), _) => (a, &y, false),
        (_, Arg::Tensor(b)) => (b, &x, true),
        _ => return None,
    };
    let (input, dtype) = (whole.on_host_ptr()?, whole.dtype());
    let count = count(whole.layout())?;
    let kernel = find(op, dtype, 2)?;
    let mut block = StackBlock::NEW;
    let other = expanded(other, whole, count, &mut block)?;
    let inputs = if behind {
        inputs(other, input)
    } else {
        inputs(input, other)
    };
    // SAFETY: as in `unary_elements`, for both operands.
    let made = unsafe { make(kernel, count, inputs) }?;
    Some((made, whole.layout()))
}

/// Returns the address of `count` elements of the smaller operand: its own if it has as many, else `block`, to which it
/// is expanded.
#[inline(always)]
fn expanded(
    other: &Arg<'_>,
    whole: &Raw,
    count: usize,
    block: &mut StackBlock<SMALL>,
) -> Option<*const u8> {
    let dtype = whole.dtype();
    if product([count, dtype.size()]) > SMALL {
        return None;
    }
    let lane = match *other {
        Arg::Scalar(value) if keeps(value, dtype) => {
            let number = Constant::new(value, dtype);
            let block = block.as_mut_ptr();
            // SAFETY: the number has this dtype, and the block has room for `count` of it.
            unsafe { repeat(number.as_ptr(), dtype.size(), block, count) };
            return Some(block);
        }
        Arg::Tensor(other) if other.dtype() == dtype => {
            repeated(other.on_host_ptr()?, other.layout(), whole.layout(), count)?
        }
        Arg::Scalar(_) | Arg::Tensor(_) => return None,
    };
    // SAFETY: the block has room for `count` elements, which are whole periods of the operand's.
    Some(unsafe { spread(&lane, dtype, count, block.as_mut_ptr()) })
}

/// Computes new elements from the elements at these addresses.
///
/// # Safety
/// Each address has `count` elements of the dtype that the loop reads.
#[inline(always)]
unsafe fn make(kernel: &Kernel, count: usize, inputs: Inputs) -> Option<Computed> {
    if kernel.is_shared(count) {
        return None;
    }
    let dtype = kernel.output;
    let (storage, dest) = Storage::small(product([count, dtype.size()]))?;
    // SAFETY: the caller's promise; a new buffer is long enough and overlaps nothing.
    unsafe { (kernel.pick())(count, dest, inputs) };
    Some((storage, dtype))
}

/// Returns the address of elements that the result of `kernel` may overwrite: of its dtype, unshared, and filling the
/// buffer, since a small part of a large buffer would keep all of it alive.
#[inline(always)]
fn own_place(own: &mut Raw, kernel: &Kernel, count: usize) -> Option<*mut u8> {
    if !own.fills_buffer(count) || kernel.output != own.dtype() {
        return None;
    }
    own.unique_on_host()
}

fn try_unary_in_place(op: Op, own: &mut Raw) -> Option<()> {
    if own.requires_grad() {
        return None;
    }
    let count = own.layout().dense_count()?;
    let kernel = find(op, own.dtype(), 1)?;
    let place = own_place(own, kernel, count)?;
    // SAFETY: the elements of `own`, which nothing else shares.
    unsafe { run_over_operand(kernel, count, place, inputs(place, place), true) }.then_some(())
}

#[inline(never)]
fn try_binary_in_place(op: Op, own: &mut Raw, other: Arg<'_>, behind: bool) -> Option<()> {
    if own.requires_grad() || matches!(other, Arg::Tensor(other) if other.requires_grad()) {
        return None;
    }
    let mut block = StackBlock::NEW;
    let (kernel, count, input) = match other {
        Arg::Tensor(other)
            if other.dtype() == own.dtype()
                && let Some(count) = own.layout().dense_alike(other.layout()) =>
        {
            (find(op, own.dtype(), 2)?, count, other.on_host_ptr()?)
        }
        _ => {
            let count = own.layout().dense_count()?;
            let kernel = find(op, own.dtype(), 2)?;
            (kernel, count, expanded(&other, own, count, &mut block)?)
        }
    };
    let place = own_place(own, kernel, count)?;
    let inputs = if behind {
        inputs(input, place)
    } else {
        inputs(place, input)
    };
    // SAFETY: the elements of `own`, which nothing else shares, so that those of the other operand are elsewhere, or in
    // the block.
    unsafe { run_over_operand(kernel, count, place, inputs, !behind) }.then_some(())
}

#[cfg(test)]
#[path = "small_tests.rs"]
mod tests;
